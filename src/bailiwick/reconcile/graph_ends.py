"""What the end of a job means for the task that it was an attempt of.

Rules:

- Why a job did not do its work is said in :mod:`bailiwick.services.graph_jobs`.
- A job that is not over means nothing yet.
"""

from __future__ import annotations

from collections.abc import Mapping

from bailiwick.batch import TaskFailed, TaskResult, TaskSucceeded
from bailiwick.services.graph_jobs import category_of
from bailiwick.store.graph_rows import JobEnd
from bailiwick.vocab.jobs import JobPhase


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
