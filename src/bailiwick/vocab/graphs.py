"""The closed words of graphs: how far a graph and its tasks have come, and why a task failed.

Rules:

- A task that is over stays so, unless somebody asks for it to be tried again.
- A failure has one of six categories; the word of what exactly happened stands beside it.

>>> TaskPhase.REUSED.is_over, TaskPhase.BACKING_OFF.is_over, TaskPhase.REUSED.is_good
(True, False, True)
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

GRAPH_KEY: Final = "graph-"
"""How the keys of all jobs of graphs begin."""


class GraphPhase(StrEnum):
    """How far a graph has come."""

    RUNNING = "running"
    CANCELLING = "cancelling"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_over(self) -> bool:
        """Whether nothing of it will run any more by itself."""
        return self not in (GraphPhase.RUNNING, GraphPhase.CANCELLING)


class TaskPhase(StrEnum):
    """How far a task has come."""

    BLOCKED = "blocked"
    READY = "ready"
    SUBMITTED = "submitted"
    BACKING_OFF = "backing_off"
    SUCCEEDED = "succeeded"
    REUSED = "reused"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"

    @property
    def is_over(self) -> bool:
        """Whether nothing will happen to the task by itself."""
        return self in OVER

    @property
    def is_good(self) -> bool:
        """Whether its work is done, now or in an earlier run."""
        return self in GOOD


OVER = frozenset(
    {
        TaskPhase.SUCCEEDED,
        TaskPhase.REUSED,
        TaskPhase.FAILED,
        TaskPhase.SKIPPED,
        TaskPhase.CANCELLED,
    }
)
GOOD = frozenset({TaskPhase.SUCCEEDED, TaskPhase.REUSED})


class FailureCategory(StrEnum):
    """Why an attempt of a task did not do its work; what to do about it is the task's policy."""

    NODE_LOST = "node_lost"
    PREEMPTED = "preempted"
    OUT_OF_MEMORY = "out_of_memory"
    EXIT_CODE = "exit_code"
    TIMEOUT = "timeout"
    DENIED = "denied"


RETRYABLE = (
    FailureCategory.PREEMPTED,
    FailureCategory.NODE_LOST,
    FailureCategory.EXIT_CODE,
    FailureCategory.OUT_OF_MEMORY,
    FailureCategory.TIMEOUT,
)
"""Why a job may be tried again; what was refused or cancelled stays so."""


class UpstreamResult(StrEnum):
    """What must have become of a task for one that stands after it to start."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    ENDED = "ended"


class TaskFault(StrEnum):
    """What is wrong with a task beyond what its job tells."""

    INPUT_MISSING = "input_missing"
    NOT_PERMITTED = "not_permitted"
    OUTPUT_MISSING = "output_missing"
    UPSTREAM_UNFIT = "upstream_unfit"
