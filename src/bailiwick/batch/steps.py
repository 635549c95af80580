"""What a run of a graph is told, and what it answers is to be done: two closed unions.

Rules:

- A result names the attempt that it is of. One of an attempt that is over already says nothing
  new, so whoever tells may tell twice.
- A step is to be done by whoever runs the graph, under the key that stands in it: done twice, it
  has one effect.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from bailiwick.vocab.graphs import FailureCategory, GraphPhase


@dataclass(frozen=True, slots=True)
class TaskSucceeded:
    """An attempt did its work and made these outputs."""

    task: str
    attempt: int
    outputs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TaskFailed:
    """An attempt did not do its work."""

    task: str
    attempt: int
    category: FailureCategory
    exit_code: int | None = None
    reason: str | None = None
    """The word for what exactly happened, if there is one."""


@dataclass(frozen=True, slots=True)
class TaskCheckpointed:
    """An attempt saved its work there; the next goes on from it."""

    task: str
    attempt: int
    checkpoint: str


@dataclass(frozen=True, slots=True)
class CancelAsked:
    """Somebody wants the whole graph to end."""


@dataclass(frozen=True, slots=True)
class RerunAsked:
    """Somebody wants what did not succeed to be tried again: these tasks, or all of them.

    What stands after them and did not succeed either is looked at anew.
    """

    tasks: frozenset[str] | None = None


TaskResult: TypeAlias = TaskSucceeded | TaskFailed | TaskCheckpointed | CancelAsked | RerunAsked


@dataclass(frozen=True, slots=True)
class StartTask:
    """Submit an attempt of a task."""

    task: str
    attempt: int
    key: str
    """Of this attempt: a submission under it is made once."""
    effect_key: str
    """Of the task, whatever the attempt: by this its effect is made once."""
    inputs: Mapping[str, str]
    """Content by the input's name."""
    checkpoint: str | None


@dataclass(frozen=True, slots=True)
class RetryTask:
    """An attempt failed, and there will be another at that time."""

    task: str
    attempt: int
    """The one that failed."""
    category: FailureCategory
    exit_code: int | None
    reason: str | None
    at_ms: int


@dataclass(frozen=True, slots=True)
class StopTask:
    """End an attempt: its graph is cancelled."""

    task: str
    attempt: int
    key: str


@dataclass(frozen=True, slots=True)
class EndGraph:
    """Nothing is left to do."""

    phase: GraphPhase


GraphStep: TypeAlias = StartTask | RetryTask | StopTask | EndGraph
