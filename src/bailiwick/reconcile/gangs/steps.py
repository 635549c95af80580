"""What is to be done next for a gang: one job, a process under each of its leases.

It is chosen from the job's row, its members' rows, their leases and their processes, and from
nothing else. What each of them alone would come to is :mod:`bailiwick.reconcile.job_steps`' own.

Rules:

- All or nothing: a member is started only while each has its lease and nobody is to end. The job
  runs once all of them do.
- Ended together: the first thing that ends one ends all. It is written down before any of them is
  torn down, with its word or its exit code, and is how the job ended whatever the others do then.
- The job has succeeded if each of its members has ended with 0. One that has ended with 0 keeps its
  lease until the others have.
- Of several ends that are seen at once the one that explains the others counts: a wish, then a
  reason for which the kernel took a lease, then a node that is gone (what its gang holds elsewhere
  ends before its term), then a term that is over, then what was lost in another way, then what
  could not be begun, then the earliest exit.
- The job is over once each member was torn down, or that was tried in vain: what may be left of one
  fences its own lease alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from bailiwick.executors.port import Exited, JobStatus, Lost, LostReason, Running
from bailiwick.ports import JobRow
from bailiwick.reconcile import job_steps as js
from bailiwick.vocab.job_members import MemberRow
from bailiwick.vocab.jobs import JobFault, JobPhase
from bailiwick.vocab.transitions import RevokeState
from bailiwick.vocab.words import PreemptionReason


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenMember:
    """One member: its row, its lease (``None``: gone), and what its executor sees."""

    row: MemberRow
    lease: js.ObservedLease | None
    status: JobStatus | None
    is_warned: bool = False


@dataclass(frozen=True, slots=True)
class BeginEnd:
    """Write down how the job ends; then nobody starts any more, and all are torn down."""

    verdict: js.JobVerdict
    exit_code: int | None = None
    signal: int | None = None
    has_run: bool = False
    """Whether any member ran, and so may have printed something."""


@dataclass(frozen=True, slots=True)
class EndMember:
    """End all that is left of this member, and write down that it is over."""


WholeStep: TypeAlias = js.Rest | js.NoteRunning | BeginEnd | js.End
MemberStep: TypeAlias = js.Rest | js.Start | js.Warn | js.CallOff | EndMember


@dataclass(frozen=True, slots=True)
class GangPlan:
    """The next step for the job as one, and for each of its members."""

    whole: WholeStep
    members: tuple[MemberStep, ...]


def plan_gang(job: JobRow, members: tuple[SeenMember, ...]) -> GangPlan:
    """The next step for a job that is not over."""
    rests: tuple[MemberStep, ...] = (js.Rest(),) * len(members)
    if job.phase is JobPhase.ENDING:
        if all(each.row.ended_ms is not None for each in members):
            return GangPlan(js.End(as_noted(job)), rests)
        steps = [js.Rest() if each.row.ended_ms is not None else EndMember() for each in members]
        return GangPlan(js.Rest(), tuple(steps))
    has_run = [isinstance(each.status, Running | Exited) for each in members]
    end = _find_end(job, members)
    if end is not None:
        return GangPlan(replace(end, has_run=any(has_run)), rests)
    is_begun = job.phase is JobPhase.STARTING and all(has_run)
    whole = js.NoteRunning() if is_begun else js.Rest()
    return GangPlan(whole, tuple(_plan_member(job, each) for each in members))


def _plan_member(job: JobRow, member: SeenMember) -> MemberStep:
    """The next step of one while nobody is to end."""
    lease, status = member.lease, member.status
    if lease is None:
        return js.Rest()  # it has ended with 0; any other whose lease is gone is to end
    if status is None or status == Lost(LostReason.NEVER_STARTED):
        return js.Start(afresh=status is not None)
    if isinstance(status, Running) and job.phase is JobPhase.RUNNING:
        if lease.state in js.LEAVING and not member.is_warned:
            return js.Warn(lease.expires_ms)
        if lease.state is RevokeState.ACTIVE and status.is_warned:
            return js.CallOff()
    return js.Rest()


# -- how it ends -----------------------------------------------------------------------------

_WEIGHT: Final = {
    JobPhase.CANCELLED: 0,
    JobPhase.PREEMPTED: 1,
    JobPhase.EXPIRED: 3,
    JobPhase.LOST: 4,
    JobPhase.FAILED: 5,
}
_OF_A_NODE_GONE: Final = 2
_LAST: Final = _WEIGHT[JobPhase.FAILED]


def _find_end(job: JobRow, members: tuple[SeenMember, ...]) -> BeginEnd | None:
    """How the gang ends, if it must now."""
    found = [(js.judge(job, each.lease, status=each.status), each) for each in members]
    ends = [
        (verdict, each)
        for verdict, each in found
        if verdict is not None and verdict.phase is not JobPhase.SUCCEEDED
    ]
    if ends:
        verdict, first = min(ends, key=_urgency)
        status = first.status
        if verdict.phase is JobPhase.FAILED and isinstance(status, Exited):
            return BeginEnd(verdict, status.code, status.signal)
        return BeginEnd(verdict)
    if all(verdict is not None for verdict, _ in found):
        return BeginEnd(js.JobVerdict(JobPhase.SUCCEEDED), exit_code=0)
    return None


def _urgency(end: tuple[js.JobVerdict, SeenMember]) -> tuple[int, int, int]:
    verdict, member = end
    is_gone = verdict == js.JobVerdict(JobPhase.LOST, JobFault.LEASE_GONE.value)
    weight = _OF_A_NODE_GONE if is_gone else _WEIGHT[verdict.phase]
    status = member.status
    at_ms = status.ended_ms if isinstance(status, Exited) and weight == _LAST else -1
    return weight, at_ms, member.row.rank


def as_noted(job: JobRow) -> js.JobVerdict:
    """How a gang ends whose end was begun: what the row says since then."""
    if job.exit_code is not None or job.signal is not None:
        is_done = job.exit_code == 0
        return js.JobVerdict(JobPhase.SUCCEEDED if is_done else JobPhase.FAILED)
    if job.reason in (*PreemptionReason, LostReason.PLACE_TAKEN):
        return js.JobVerdict(JobPhase.PREEMPTED, job.reason)
    if job.reason in (*LostReason, JobFault.LEASE_GONE, JobFault.FOLDER_GONE):
        return js.JobVerdict(JobPhase.LOST, job.reason)
    if job.reason in tuple(JobFault):
        return js.JobVerdict(JobPhase.FAILED, job.reason)
    return js.JobVerdict(JobPhase.CANCELLED if job.cancel_asked else JobPhase.EXPIRED)
