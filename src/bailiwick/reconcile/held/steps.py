"""What is to be done with held jobs, and whether one that ended is tried again: pure choices.

Rules:

- A job is let go once every job that it comes after is over as it needs, its time to be tried again
  has come, and fewer tasks of its array are under way than may be at once.
- One that comes after a job which ended otherwise can never run: it ends as refused, with the word
  for that. So does one that comes after a job of which nothing is known any more.
- Of an array every task must have ended as is needed; the first that did not settles it.
- The oldest goes first, so the tasks of an array go in the order of their indices.
- Tried again is who has a try left, ended for a reason that it named, and is not to be cancelled.
  Who was preempted goes back at once, others after a pause that grows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bailiwick.ports import AfterJob, HeldFacts, HeldJob, JobRow
from bailiwick.reconcile.job_steps import JobVerdict
from bailiwick.services.graph_jobs import category_of
from bailiwick.store.graph_rows import JobEnd
from bailiwick.vocab.graphs import FailureCategory
from bailiwick.vocab.jobs import HeldReason, JobFault, JobPhase

PAUSE_MS, PAUSE_MS_MAX = 1_000, 60_000


@dataclass(frozen=True, slots=True)
class LetGo:
    """Ask the kernel for it."""

    job_id: int


@dataclass(frozen=True, slots=True)
class EndHeld:
    """It will never run."""

    job_id: int
    phase: JobPhase
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class KeepHeld:
    """It stays where it is, for this reason."""

    job_id: int
    reason: HeldReason


HeldStep: TypeAlias = LetGo | EndHeld | KeepHeld

_NEVER = JobFault.DEPENDENCY_NEVER_MET.value


def plan_held(held: Sequence[HeldJob], facts: HeldFacts, *, now_ms: int) -> list[HeldStep]:
    """A step for each held job, in their order."""
    under_way = Counter(facts.under_way)
    steps: list[HeldStep] = []
    for job in held:
        step = _plan_one(job, facts, under_way=under_way, now_ms=now_ms)
        if isinstance(step, LetGo) and job.array_id is not None:
            under_way[job.array_id] += 1
        steps.append(step)
    return steps


def _plan_one(job: HeldJob, facts: HeldFacts, *, under_way: Counter[int], now_ms: int) -> HeldStep:
    if job.cancel_asked:
        return EndHeld(job.job_id, JobPhase.CANCELLED)
    waits = False
    for each in job.after:
        is_met = _is_met(each, facts)
        if is_met is False:
            return EndHeld(job.job_id, JobPhase.REFUSED, _NEVER)
        waits = waits or is_met is None
    if waits:
        return KeepHeld(job.job_id, HeldReason.WAITING_FOR_JOBS)
    if job.retry_at_ms is not None and job.retry_at_ms > now_ms:
        return KeepHeld(job.job_id, HeldReason.BETWEEN_ATTEMPTS)
    is_bound = job.limit is not None and job.array_id is not None
    if is_bound and under_way[job.array_id or 0] >= (job.limit or 0):
        return KeepHeld(job.job_id, HeldReason.ARRAY_LIMIT)
    return LetGo(job.job_id)


def _is_met(after: AfterJob, facts: HeldFacts) -> bool | None:
    """Whether what comes before ended as it must; ``None`` while that is open."""
    if after.is_array:
        phases = facts.arrays.get(after.job_id, frozenset())
    else:
        found = facts.phases.get(after.job_id)
        phases = frozenset() if found is None else frozenset((found,))
    if not phases:
        return False
    over = [phase for phase in phases if phase.is_over]
    if not all(after.need.is_met_by(phase) for phase in over):
        return False
    return True if len(over) == len(phases) else None


def plan_retry(job: JobRow, verdict: JobVerdict, *, now_ms: int) -> int | None:
    """When a job whose attempt ended so is tried again; ``None``: it is over."""
    if job.cancel_asked or job.attempt > job.retries:
        return None
    end = JobEnd(job.job_id, verdict.phase, verdict.reason, None, None)
    category = category_of(end)
    if category not in job.retry_on:
        return None
    if category is FailureCategory.PREEMPTED:
        return now_ms
    return now_ms + min(PAUSE_MS_MAX, PAUSE_MS << min(job.attempt - 1, 16))
