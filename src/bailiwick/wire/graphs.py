"""Graphs of tasks on the wire: what is asked, how far each has come, what one would lead to."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bailiwick.vocab.graphs import FailureCategory, GraphPhase, TaskPhase
from bailiwick.vocab.jobs import Unhonoured
from bailiwick.wire.answers import Plan
from bailiwick.wire.base import Model, Name, Number, Within

_Phase = Annotated[GraphPhase, Field(strict=False)]
_TaskPhase = Annotated[TaskPhase, Field(strict=False)]
_Category = Annotated[FailureCategory, Field(strict=False)]
_Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
_TaskName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}(\[[0-9]{1,6}\])?$")]


class NewGraph(Model):
    """A graph, as its file is written; ``executor`` runs all of it, if it is named."""

    tenant: Name
    project: Name | None = None
    document: Annotated[str, Field(min_length=1, max_length=1 << 20)]
    """YAML; what is wrong with it is told with its line."""
    executor: Name | None = None
    """An executor's word, or the name of the one node on which all of it is to run."""
    reuses: Number | None = None
    """A graph of the same project: what it has done is not done again, unless it has changed."""


class Graph(Model):
    """A graph, and how many of its tasks are in which phase."""

    graph_id: int
    tenant: str
    project: str | None
    name: str | None
    submitter: str
    executor: str | None
    reuses: int | None
    phase: _Phase
    cancel_asked: bool
    tasks: int
    counts: dict[_TaskPhase, int]
    submitted_ms: int
    ended_ms: int | None


class GraphTask(Model):
    """One task: how far it has come, and why it failed or was tried again."""

    name: str
    stage: str
    """The definition that it is of: for an element of a map, the map."""
    phase: _TaskPhase
    attempt: int
    """The last that was begun; 0 before the first."""
    category: _Category | None
    reason: str | None
    exit_code: int | None
    failures: dict[_Category, int]
    """How often it failed, by category; a rerun begins anew."""
    due_ms: int | None
    """When it is tried again."""
    job_id: int | None
    """The job of the last attempt."""
    outputs: dict[str, str]
    checkpoint: str | None


class GraphStage(Model):
    """One definition of a graph: its tasks, and what they stand after."""

    name: str
    tasks: int
    after: list[str]


class PastAttempt(Model):
    """An attempt of a task that was followed by another: why, when, and where it ran."""

    task: str
    attempt: int
    category: _Category
    reason: str | None
    exit_code: int | None
    node: str | None
    job_id: int
    started_ms: int | None
    ended_ms: int | None


class GraphDetail(Model):
    """A graph with all of its tasks."""

    graph: Graph
    stages: list[GraphStage]
    tasks: list[GraphTask]
    tried_again: list[PastAttempt] = Field(default_factory=list)
    """In the order in which they ended; of very many, the last thousand."""


class NotHonoured(Model):
    """What nobody who may run it could give: what was asked for, and in which steps it is given."""

    what: Annotated[Unhonoured, Field(strict=False)]
    executor: str
    asked: int | str
    step: int | None


class PlannedStage(Model):
    """One definition: what one of its tasks would get now, and when it could start.

    ``starts_ms`` is counted from the submission, if every task takes as long as it may.
    """

    name: str
    tasks: int
    after: list[str]
    starts_ms: int
    ttl_ms: int
    plan: Plan | None
    unhonoured: NotHonoured | None = None
    """Why it would be refused before anybody is asked for a lease."""


class GraphPlan(Model):
    """What a graph would lead to; nothing was changed."""

    tasks: int
    stages: list[PlannedStage]
    critical_path: list[str]
    critical_ms: int
    currency: str | None
    micros_total: int
    """At most: every task once, as long as it may."""


class GraphRetry(Model):
    """Which tasks to try again; none named: all that did not succeed."""

    tasks: Annotated[list[_TaskName], Field(max_length=1_000)] = Field(default_factory=list)


class TaskReport(Model):
    """What an attempt says of itself: what it made, by content, and where it saved its work."""

    task: _TaskName
    attempt: Annotated[int, Within(1, 2**31)]
    outputs: Annotated[dict[Name, _Digest], Field(max_length=64)] = Field(default_factory=dict)
    checkpoint: Annotated[str, Field(pattern=r"^/", max_length=4095)] | None = None
