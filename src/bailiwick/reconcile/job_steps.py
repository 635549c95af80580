"""What is to be done next for one job: chosen from what is known of it, and nothing else.

Three things are known: the job's row (what was wished, how far it has come), its lease (what the
kernel says) and its processes (what the executor sees). From any of their combinations one step
follows, and each step brings the three nearer to one another.

Rules:

- A job is started once, and only while its lease is active.
- A warning stands only while the lease is on its way out: if it gets its place back, the warning
  is taken back.
- A job that is warned runs on. It is torn down when the kernel says so, when its user does, or when
  it has ended by itself: something that it started may still be there.
- The row tells its end before the lease is given back or its teardown reported, so that whoever
  finds a lease without a job that lives may always free it.
- A lease that waits for a teardown gets its report, whether or not a job was ever under it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from bailiwick.executors.port import (
    Exited,
    JobStatus,
    Lost,
    LostReason,
    Running,
    Starting,
    Unstarted,
)
from bailiwick.journal.words import CancelCause
from bailiwick.ports import JobRow
from bailiwick.vocab.jobs import JobFault, JobPhase
from bailiwick.vocab.transitions import RevokeState
from bailiwick.vocab.words import PreemptionReason

TEARING = (RevokeState.FORCED_TEARDOWN, RevokeState.CHECKPOINT_REPORTED, RevokeState.EXPIRED)
"""A lease in one of these waits for the report of its teardown."""

LEAVING = (RevokeState.REVOKE_WARNING, RevokeState.GRACE_RUNNING)
"""A lease in one of these has to go, and has time left for it."""

# -- what is known ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedLease:
    """A lease on a node where jobs are run, as the kernel has it."""

    lease_id: int
    node: str = ""
    state: RevokeState
    expires_ms: int
    reason: PreemptionReason | None = None
    """Why it is being taken away."""
    is_released: bool = False
    devices: tuple[int, ...] = ()
    mem_bytes: int = 0
    cpu_milli: int = 0


@dataclass(frozen=True, slots=True)
class InQueue:
    """It stands in the queue."""


@dataclass(frozen=True, slots=True)
class Began:
    """It left the queue with a lease."""

    lease_id: int
    node: str
    others: tuple[tuple[int, str], ...] = ()
    """The leases of the further members of a gang, and their nodes."""


@dataclass(frozen=True, slots=True)
class Left:
    """It left the queue without one."""

    cause: CancelCause


@dataclass(frozen=True, slots=True)
class Untold:
    """It is not in the queue, and nothing tells what became of it."""


ObservedEntry: TypeAlias = InQueue | Began | Left | Untold

# -- what is to be done ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class JobVerdict:
    """How a job ended, and the word for why if it was not its own doing."""

    phase: JobPhase
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Rest:
    """Nothing."""


@dataclass(frozen=True, slots=True)
class Resubmit:
    """Ask the kernel again for a job of which it may have heard or not."""


@dataclass(frozen=True, slots=True)
class CancelEntry:
    """Take it out of the queue."""


@dataclass(frozen=True, slots=True)
class LearnLease:
    """Write down the lease that it got; a gang, all of them."""

    lease_id: int
    node: str
    others: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Start:
    """Run it; ``afresh`` if a start was cut short before anything ran."""

    afresh: bool = False


@dataclass(frozen=True, slots=True)
class NoteRunning:
    """Write down that it runs."""


@dataclass(frozen=True, slots=True)
class Warn:
    """Tell it that it must be gone by then."""

    until_ms: int


@dataclass(frozen=True, slots=True)
class CallOff:
    """Take its warning back: its lease got its place back."""


@dataclass(frozen=True, slots=True)
class TearDown:
    """End all that is left of it, and then write down how it ended."""

    verdict: JobVerdict


@dataclass(frozen=True, slots=True)
class End:
    """Write down how it ended; there is nothing to tear down."""

    verdict: JobVerdict


@dataclass(frozen=True, slots=True)
class GiveBack:
    """Its job is over: the lease is not needed any more."""


@dataclass(frozen=True, slots=True)
class ReportGone:
    """See that nothing of it is left, and report that to the kernel."""


@dataclass(frozen=True, slots=True)
class ClearStray:
    """End what no lease and no job speaks for."""


Step: TypeAlias = (
    Rest
    | Resubmit
    | CancelEntry
    | LearnLease
    | Start
    | NoteRunning
    | Warn
    | CallOff
    | TearDown
    | End
    | GiveBack
    | ReportGone
    | ClearStray
)

# -- choosing --------------------------------------------------------------------------------


def plan_entry(job: JobRow, entry: ObservedEntry | None) -> Step:
    """The next step for a job that has no lease yet; ``None``: it was never given an entry."""
    match entry:
        case None:
            return Resubmit()
        case InQueue():
            return CancelEntry() if job.cancel_asked else Rest()
        case Began():
            return LearnLease(entry.lease_id, entry.node, entry.others)
        case Left(CancelCause.ASKED):
            return End(JobVerdict(JobPhase.CANCELLED))
        case Left():
            return End(JobVerdict(JobPhase.REFUSED, entry.cause.value))
        case Untold():
            return End(JobVerdict(JobPhase.LOST, JobFault.SUBMISSION_UNKNOWN.value))


def plan_job(
    job: JobRow | None,
    lease: ObservedLease | None,
    *,
    status: JobStatus | None,
    is_warned: bool = False,
) -> Step:
    """The next step for a lease of this node and the job under it, if there is one.

    A lease of ``None`` is gone; a status of ``None`` means that the executor knows of no such job.
    """
    if job is None or job.phase.is_over:
        return _plan_leftover(job, lease, status)
    verdict = judge(job, lease, status=status)
    if verdict is not None:
        return End(verdict) if status is None else TearDown(verdict)
    if isinstance(status, Starting):
        return Rest()
    if isinstance(status, Running):
        if job.phase is not JobPhase.RUNNING:
            return NoteRunning()
        if lease is not None and lease.state in LEAVING and not is_warned:
            return Warn(lease.expires_ms)
        if lease is not None and lease.state is RevokeState.ACTIVE and status.is_warned:
            return CallOff()
        return Rest()
    return Start(afresh=status is not None)


def _plan_leftover(
    job: JobRow | None, lease: ObservedLease | None, status: JobStatus | None
) -> Step:
    """The next step where no job lives: none ever did, or it is over."""
    if lease is None:
        return Rest() if is_harmless(status) else ClearStray()
    if lease.state in TEARING:
        return ReportGone()
    if job is not None and (lease.state is RevokeState.ACTIVE or lease.state in LEAVING):
        return GiveBack()
    return Rest()


def is_harmless(status: JobStatus | None) -> bool:
    """Whether surely nothing of the job lives."""
    match status:
        case None | Unstarted() | Exited(is_emptied=True):
            return True
        case Lost(LostReason.NEVER_STARTED | LostReason.OTHER_BOOT):
            return True
        case _:
            return False


def judge(
    job: JobRow, lease: ObservedLease | None, *, status: JobStatus | None
) -> JobVerdict | None:
    """How the job ends, if it must; what it does by itself counts until somebody ends it."""
    by_itself = job.phase is not JobPhase.ENDING
    taken = lease is not None and lease.reason is not None and not lease.is_released
    if isinstance(status, Exited) and by_itself and not taken:
        return _by_exit(status)
    if job.cancel_asked or (lease is not None and lease.is_released):
        return JobVerdict(JobPhase.CANCELLED)
    if lease is None:
        return JobVerdict(JobPhase.LOST, JobFault.LEASE_GONE.value)
    runs = isinstance(status, Running) and by_itself
    if lease.reason is not None and not (runs and lease.state in LEAVING):
        return JobVerdict(JobPhase.PREEMPTED, lease.reason.value)
    if lease.state is RevokeState.EXPIRED:
        return JobVerdict(JobPhase.EXPIRED)
    if lease.state not in (RevokeState.ACTIVE, *LEAVING):  # a fence has forgotten why
        return _as_noted(job)
    return _by_processes(job, status)


def _by_exit(status: Exited) -> JobVerdict:
    if status.code == 0:
        return JobVerdict(JobPhase.SUCCEEDED)
    reason = JobFault.OUT_OF_MEMORY.value if status.is_out_of_memory else None
    return JobVerdict(JobPhase.FAILED, reason)


def _as_noted(job: JobRow) -> JobVerdict:
    """What was written down when its end began."""
    if job.reason in (*PreemptionReason, LostReason.PLACE_TAKEN):
        return JobVerdict(JobPhase.PREEMPTED, job.reason)
    return JobVerdict(JobPhase.EXPIRED)


def _by_processes(job: JobRow, status: JobStatus | None) -> JobVerdict | None:
    """How a job ended that nobody wished to end."""
    match status:
        case Exited():
            return _by_exit(status)
        case Lost(LostReason.NEVER_STARTED):
            was_there = job.phase in (JobPhase.RUNNING, JobPhase.ENDING)
            return JobVerdict(JobPhase.LOST, status.reason.value) if was_there else None
        case Lost(LostReason.PLACE_TAKEN):
            return JobVerdict(JobPhase.PREEMPTED, status.reason.value)
        case Lost():
            return JobVerdict(JobPhase.LOST, status.reason.value)
        case Unstarted():
            return JobVerdict(JobPhase.FAILED, status.fault.value)
        case Running() | Starting():
            # An end that was begun for a reason nobody knows any more is brought to its end.
            is_ending = job.phase is JobPhase.ENDING
            return JobVerdict(JobPhase.LOST, JobFault.LEASE_GONE.value) if is_ending else None
        case None:
            was_there = job.phase in (JobPhase.RUNNING, JobPhase.ENDING)
            return JobVerdict(JobPhase.LOST, JobFault.FOLDER_GONE.value) if was_there else None
