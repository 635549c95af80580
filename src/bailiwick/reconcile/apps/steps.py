"""What is to be done next for one member of an instance: from what is known of it, nothing else.

Two things are known: the member (what the kernel says is wanted of it) and its job (how far that
has come). From each of their combinations one step follows, which brings the two nearer.

Rules:

- A member has one job in its life. When that ends by itself the member has failed, however it
  ended: a service that is wanted does not end.
- A member joins from when its job is submitted, and is ready while that runs. Whether what it
  serves is well, its operator says of the whole instance.
- One that is drained goes on until its operator removes it or its time is over; where no operator
  ever reported nobody else would end it, and it is ended at once.
- When the whole instance goes its members are ended once its operator has seen that it is to go, or
  the time for that is over; where none ever reported, at once.
- Nothing is begun for an instance that is paused, or whose app may not be used any more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, assert_never

from bailiwick.kernel.apps.instances import AppMember
from bailiwick.reconcile.job_steps import Rest
from bailiwick.store.members.app_jobs import AppJob
from bailiwick.vocab.apps import MemberPhase
from bailiwick.vocab.jobs import JobPhase

EXITED, JOB_GONE = "exited", "job_gone"
"""Why a member failed, where no word of its job says so."""


@dataclass(frozen=True, slots=True)
class StartJob:
    """Submit its job."""


@dataclass(frozen=True, slots=True)
class StopJob:
    """Have its job end."""

    job_id: int


@dataclass(frozen=True, slots=True)
class Move:
    """Tell the kernel how far it has come."""

    phase: MemberPhase
    lease_id: int | None = None
    job_id: int | None = None
    reason: str | None = None


MemberStep: TypeAlias = Rest | StartJob | StopJob | Move


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberTerms:
    """What counts for all members of an instance."""

    now_ms: int
    may_begin: bool
    """Whether something may be begun for it."""
    has_operator: bool
    """Whether an operator ever reported on it."""
    ends_all: bool = False
    """Whether all of it is to go, now."""


def plan_member(member: AppMember, job: AppJob | None, *, terms: MemberTerms) -> MemberStep:
    """The next step for a member; a job of ``None`` is not there."""
    if terms.ends_all and member.phase is not MemberPhase.REMOVED:
        return _end(job)
    match member.phase:
        case MemberPhase.REQUESTED | MemberPhase.JOINING | MemberPhase.READY:
            return _plan_wanted(member, job, terms)
        case MemberPhase.DRAINING:
            return _plan_leaving(member, job, terms)
        case MemberPhase.FAILED:
            return _stop(job)
        case MemberPhase.REMOVED:
            return Rest()
        case _:
            assert_never(member.phase)


def _plan_wanted(member: AppMember, job: AppJob | None, terms: MemberTerms) -> MemberStep:
    if job is None:
        if member.job_id is not None:
            return Move(MemberPhase.FAILED, reason=JOB_GONE)
        return StartJob() if terms.may_begin else Rest()
    if job.phase.is_over:
        # Its lease may be gone, and with it what the kernel could hold it against.
        return Move(MemberPhase.FAILED, None, job.job_id, reason_of(job))
    is_up = job.phase is JobPhase.RUNNING or member.phase is MemberPhase.READY
    wanted = MemberPhase.READY if is_up else MemberPhase.JOINING
    known = member.phase, member.lease_id, member.job_id
    if known == (wanted, job.lease_id or member.lease_id, job.job_id):
        return Rest()
    return Move(wanted, job.lease_id, job.job_id)


def _plan_leaving(member: AppMember, job: AppJob | None, terms: MemberTerms) -> MemberStep:
    is_late = member.deadline_ms is not None and terms.now_ms >= member.deadline_ms
    is_over = job is None or job.phase.is_over
    if is_over or member.forced or is_late or not terms.has_operator:
        return _end(job)
    return Rest()


def _end(job: AppJob | None) -> MemberStep:
    return Move(MemberPhase.REMOVED) if job is None or job.phase.is_over else _stop(job)


def _stop(job: AppJob | None) -> MemberStep:
    if job is None or job.phase.is_over or job.is_stopping:
        return Rest()
    return StopJob(job.job_id)


def reason_of(job: AppJob) -> str:
    """Why a member's job is over: its own word, the lease's, or how it ended."""
    if job.reason is not None:
        return job.reason
    return EXITED if job.phase in (JobPhase.SUCCEEDED, JobPhase.FAILED) else job.phase.value


PAUSE_MS, PAUSE_MS_MAX = 1_000, 300_000


def pause_ms(failures: int) -> int:
    """How long to wait before a component that failed so often in a row is tried again.

    >>> [pause_ms(count) for count in (1, 2, 3, 20)]
    [1000, 2000, 4000, 300000]
    """
    return min(PAUSE_MS << min(failures - 1, 20), PAUSE_MS_MAX)
