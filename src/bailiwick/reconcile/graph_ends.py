"""What the end of a job means for the task that it was an attempt of.

Rules:

- What happened to the machine, to the room or to the server is nobody's fault; what the program
  did is its own. What was refused stays refused, unless the task's policy says otherwise.
- A job that is not over means nothing yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from bailiwick.batch import TaskFailed, TaskResult, TaskSucceeded
from bailiwick.store.graph_rows import JobEnd
from bailiwick.vocab.errors import ErrorCode
from bailiwick.vocab.graphs import FailureCategory
from bailiwick.vocab.jobs import JobFault, JobPhase

_PASSING = frozenset(
    (ErrorCode.NOT_LEADER.value, ErrorCode.UNAVAILABLE.value, ErrorCode.DEPOSED.value)
)
"""Why a job was refused that nobody decided against: its server was replaced at that moment."""

_NOT_BEGUN = frozenset(
    (
        JobFault.PROGRAM_NOT_RUNNABLE.value,
        JobFault.DIRECTORY_NOT_USABLE.value,
        JobFault.LIMITS_NOT_POSSIBLE.value,
        JobFault.TOKEN_REFUSED.value,
        JobFault.NOT_KEPT_APART.value,
        JobFault.IMAGE_NOT_USABLE.value,
    )
)


def result_of(
    task: str, attempt: int, *, end: JobEnd, outputs: Mapping[str, str]
) -> TaskResult | None:
    """What became of an attempt; nothing while its job goes on."""
    if end.phase is JobPhase.SUCCEEDED:
        return TaskSucceeded(task, attempt, outputs)
    category = category_of(end)
    if category is None:
        return None
    reason = end.reason or (None if end.phase is JobPhase.FAILED else end.phase.value)
    return TaskFailed(task, attempt, category, end.exit_code, reason)


def category_of(end: JobEnd) -> FailureCategory | None:
    """Why a job did not do its work; nothing if it did, or may yet."""
    match end.phase:
        case JobPhase.WAITING | JobPhase.STARTING | JobPhase.RUNNING | JobPhase.ENDING:
            return None
        case JobPhase.SUCCEEDED:
            return None
        case JobPhase.FAILED:
            return _failed(end.reason)
        case JobPhase.PREEMPTED:
            return FailureCategory.PREEMPTED
        case JobPhase.EXPIRED:
            return FailureCategory.TIMEOUT
        case JobPhase.LOST:
            return FailureCategory.NODE_LOST
        case JobPhase.CANCELLED:
            return FailureCategory.DENIED
        case JobPhase.REFUSED:
            is_passing = end.reason in _PASSING
            return FailureCategory.NODE_LOST if is_passing else FailureCategory.DENIED
        case _:
            assert_never(end.phase)


def _failed(reason: str | None) -> FailureCategory:
    if reason == JobFault.EXECUTOR_UNAVAILABLE.value:
        return FailureCategory.NODE_LOST
    if reason == JobFault.OUT_OF_MEMORY.value:
        return FailureCategory.OUT_OF_MEMORY
    return FailureCategory.DENIED if reason in _NOT_BEGUN else FailureCategory.EXIT_CODE
