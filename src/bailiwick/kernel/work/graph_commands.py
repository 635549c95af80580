"""Commands about graphs of tasks: what was decided about them is sealed, and nothing else.

What a task runs, and with which environment, is in none of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from bailiwick.journal.fields import INTEGER_MAX, NAME, TEXT
from bailiwick.kernel.checks import check_id, check_scope
from bailiwick.vocab.graphs import FailureCategory, GraphPhase
from bailiwick.vocab.values import check_integer, check_kind


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteGraphSubmitted:
    """A graph of so many tasks was taken up."""

    tenant: str
    project: str | None = None
    graph_id: int
    tasks: int
    name: str | None = None

    def __post_init__(self) -> None:
        check_scope(self.tenant, self.project)
        check_id("graph_id", self.graph_id)
        check_integer("tasks", self.tasks, low=0, high=INTEGER_MAX)
        if self.name is not None:
            NAME.check("name", self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteGraphTaskRetried:
    """An attempt of a task failed, why, and that there will be another after a pause."""

    tenant: str
    project: str | None = None
    graph_id: int
    task: str
    attempt: int
    category: FailureCategory
    pause_ms: int
    exit_code: int | None = None
    reason: str | None = None
    job_id: int | None = None

    def __post_init__(self) -> None:
        check_scope(self.tenant, self.project)
        check_id("graph_id", self.graph_id)
        TEXT.check("task", self.task)
        check_kind("category", self.category, FailureCategory)
        check_integer("attempt", self.attempt, low=1, high=INTEGER_MAX)
        check_integer("pause_ms", self.pause_ms, low=0, high=INTEGER_MAX)
        if self.exit_code is not None:
            check_integer("exit_code", self.exit_code, low=0, high=INTEGER_MAX)
        if self.reason is not None:
            NAME.check("reason", self.reason)
        if self.job_id is not None:
            check_id("job_id", self.job_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteGraphEnded:
    """Nothing is left of a graph: how it ended, and how many of its tasks failed."""

    tenant: str
    project: str | None = None
    graph_id: int
    phase: GraphPhase
    tasks: int
    failed: int

    def __post_init__(self) -> None:
        check_scope(self.tenant, self.project)
        check_id("graph_id", self.graph_id)
        check_kind("phase", self.phase, GraphPhase)
        for name in ("tasks", "failed"):
            check_integer(name, getattr(self, name), low=0, high=INTEGER_MAX)


GraphCommand: TypeAlias = NoteGraphSubmitted | NoteGraphTaskRetried | NoteGraphEnded
