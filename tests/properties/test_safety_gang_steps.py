"""Gangs: from whatever is found all of them end together, once, with one reason."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from bailiwick.executors.port import (
    Exited,
    JobStatus,
    Lost,
    LostReason,
    Running,
    Starting,
    Unstarted,
)
from bailiwick.ports import JobRow
from bailiwick.reconcile import job_steps as js
from bailiwick.reconcile.gangs import steps as gs
from bailiwick.vocab.job_members import MemberRow
from bailiwick.vocab.jobs import JobFault, JobPhase
from bailiwick.vocab.transitions import RevokeState as R
from bailiwick.vocab.words import PreemptionReason

DRAIN = PreemptionReason.OPERATOR_DRAIN
RUNS = Running(2, 3, "b")
STATUSES: list[JobStatus | None] = [
    None,
    Starting(),
    Unstarted(JobFault.PROGRAM_NOT_RUNNABLE),
    RUNS,
    replace(RUNS, is_warned=True),
    Exited(0, None, 5, True),
    Exited(0, None, 6, False),
    Exited(3, None, 7, True),
    Exited(4, None, 6, True),
    Exited(None, 9, 8, False),
    *(Lost(reason) for reason in LostReason),
]
HELD = [
    js.ObservedLease(lease_id=0, state=R.ACTIVE, expires_ms=100),
    js.ObservedLease(lease_id=0, state=R.GRACE_RUNNING, expires_ms=100, reason=DRAIN),
    js.ObservedLease(lease_id=0, state=R.FORCED_TEARDOWN, expires_ms=100, reason=DRAIN),
    js.ObservedLease(lease_id=0, state=R.EXPIRED, expires_ms=100),
    js.ObservedLease(lease_id=0, state=R.EXPIRED, expires_ms=100, is_released=True),
    js.ObservedLease(lease_id=0, state=R.FENCED, expires_ms=100),
    None,
]


@dataclass(frozen=True)
class World:
    """A job with its members; steps are done to it as the real ones do them."""

    job: JobRow
    members: tuple[gs.SeenMember, ...]

    def after(self, plan: gs.GangPlan) -> World:
        pairs = zip(self.members, plan.members, strict=True)
        members = tuple(_after(member, step) for member, step in pairs)
        return World(_whole(self.job, plan.whole), members)


def _after(member: gs.SeenMember, step: gs.MemberStep) -> gs.SeenMember:
    match step:
        case js.Start():
            return replace(member, status=RUNS)
        case js.Warn():
            return replace(member, status=replace(RUNS, is_warned=True), is_warned=True)
        case js.CallOff():
            return replace(member, status=RUNS)
        case gs.EndMember():
            status = member.status
            left = Exited(None, 15, 9, True) if isinstance(status, Running) else status
            return replace(member, row=replace(member.row, ended_ms=9), status=left)
        case js.Rest():
            return member


def _whole(job: JobRow, step: gs.WholeStep) -> JobRow:
    match step:
        case js.NoteRunning():
            return replace(job, phase=JobPhase.RUNNING)
        case gs.BeginEnd(verdict, code, signal, _):
            wished = job.cancel_asked or verdict.phase is JobPhase.CANCELLED
            ends = replace(job, phase=JobPhase.ENDING, reason=verdict.reason, cancel_asked=wished)
            return replace(ends, exit_code=code, signal=signal)
        case js.End(verdict):
            return replace(job, phase=verdict.phase, reason=verdict.reason)
        case js.Rest():
            return job


def row(rank: int) -> MemberRow:
    return MemberRow(job_id=1, rank=rank, lease_id=7 + rank, node=f"n{rank}")


JOB = JobRow(
    job_id=1, tenant="lab", project=None, name=None, submitter="ann", submitter_kind="human",
    submitter_keys=None, correlation_id="c", key=None, digest="d",
    request={"request": {"gang_size": 3}}, command=("true",), env={}, cwd=None, tag=None,
    submitted_ms=0, since_seq=0, phase=JobPhase.STARTING, lease_id=7, node="n0",
)  # fmt: skip

members = st.lists(
    st.builds(
        lambda held, status, warned: (held, status, warned),
        st.sampled_from(HELD),
        st.sampled_from(STATUSES),
        st.booleans(),
    ),
    min_size=2,
    max_size=4,
)


def naive_end(job: JobRow, world: tuple[gs.SeenMember, ...]) -> JobPhase | None:
    """How the gang ends by the words of its rules, without any cleverness."""
    alone = [js.judge(job, each.lease, status=each.status) for each in world]
    told = [verdict.phase for verdict in alone if verdict is not None]
    if not {JobPhase.CANCELLED, JobPhase.PREEMPTED} & {*told}:
        gone = js.JobVerdict(JobPhase.LOST, JobFault.LEASE_GONE.value)
        if gone in alone:  # what ends before its term elsewhere ends for that
            return JobPhase.LOST
    for phase in (JobPhase.CANCELLED, JobPhase.PREEMPTED, JobPhase.EXPIRED, JobPhase.LOST):
        if phase in told:
            return phase
    if JobPhase.FAILED in told:
        return JobPhase.FAILED
    return JobPhase.SUCCEEDED if len(told) == len(world) else None


@settings(max_examples=600, deadline=None)
@given(
    found=members,
    phase=st.sampled_from([JobPhase.STARTING, JobPhase.RUNNING]),
    cancel=st.booleans(),
)
def test_a_gang_ends_as_one_with_the_reason_of_the_first(
    found: list[tuple[js.ObservedLease | None, JobStatus | None, bool]],
    phase: JobPhase,
    cancel: bool,
) -> None:
    job = replace(JOB, phase=phase, cancel_asked=cancel)
    world = World(
        job,
        tuple(
            gs.SeenMember(row=row(rank), lease=held, status=status, is_warned=warned)
            for rank, (held, status, warned) in enumerate(found)
        ),
    )
    expected = naive_end(job, world.members)
    for _ in range(8):
        plan = gs.plan_gang(world.job, world.members)
        starts = [step for step in plan.members if isinstance(step, js.Start)]
        if expected is not None:
            assert not starts, "nobody is started of a gang that ends"
        for member, step in zip(world.members, plan.members, strict=True):
            if isinstance(step, js.Start):
                assert member.lease is not None
                assert member.lease.state is R.ACTIVE
                assert member.status in (None, Lost(LostReason.NEVER_STARTED))
                assert world.job.phase is JobPhase.STARTING
            if isinstance(step, gs.EndMember):
                assert world.job.phase is JobPhase.ENDING, "first the reason is written down"
        if isinstance(plan.whole, js.End):
            assert all(each.row.ended_ms is not None for each in world.members)
        before, world = world, world.after(plan)
        if world == before or world.job.phase.is_over:
            break
    else:
        raise AssertionError(f"no rest: {world}")
    if expected is not None:
        assert world.job.phase is expected
        return
    assert not world.job.phase.is_over
    for each in world.members:
        assert isinstance(each.status, Starting | Running | Exited)
        if not isinstance(each.status, Exited):
            assert each.lease is not None
            assert each.lease.state in (R.ACTIVE, *js.LEAVING)
    if all(isinstance(each.status, Running | Exited) for each in world.members):
        assert world.job.phase is JobPhase.RUNNING


@given(codes=st.lists(st.tuples(st.integers(0, 3), st.integers(1, 9)), min_size=2, max_size=5))
def test_its_exit_code_is_the_earliest_that_is_not_0(codes: list[tuple[int, int]]) -> None:
    active = HELD[0]
    seen = tuple(
        gs.SeenMember(row=row(rank), lease=active, status=Exited(code, None, at, True))
        for rank, (code, at) in enumerate(codes)
    )
    plan = gs.plan_gang(replace(JOB, phase=JobPhase.RUNNING), seen)
    assert isinstance(plan.whole, gs.BeginEnd)
    bad = sorted((at, rank, code) for rank, (code, at) in enumerate(codes) if code)
    assert plan.whole.exit_code == (bad[0][2] if bad else 0)
