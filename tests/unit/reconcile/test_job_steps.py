"""What is done next for a job: from every combination one step, and never for ever."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import pytest

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
from bailiwick.reconcile import job_steps as js
from bailiwick.reconcile.job_actions import memory_of
from bailiwick.vocab.jobs import LIVE_PHASES, JobFault, JobPhase
from bailiwick.vocab.transitions import RevokeState as R
from bailiwick.vocab.words import PreemptionReason

JOB = JobRow(
    job_id=1,
    tenant="lab",
    project=None,
    name=None,
    submitter="ann",
    submitter_kind="human",
    submitter_keys=None,
    correlation_id="c",
    key=None,
    digest="d",
    request={},
    command=("true",),
    env={},
    cwd=None,
    tag=None,
    submitted_ms=0,
    since_seq=0,
    phase=JobPhase.STARTING,
    lease_id=7,
    node="here",
)
RUNS = Running(2, 3, "b")
REFUSED = Unstarted(JobFault.PROGRAM_NOT_RUNNABLE)
STATUSES: list[JobStatus | None] = [
    None,
    Starting(),
    REFUSED,
    RUNS,
    *(
        Exited(c, s, 9, e)
        for (c, s), e in product([(0, None), (3, None), (None, 9)], [True, False])
    ),
    *(Lost(reason) for reason in LostReason),
]
DRAIN = PreemptionReason.OPERATOR_DRAIN
LEASES: list[js.ObservedLease | None] = [None]
for _state in R:
    _taken = _state in (*js.LEAVING, R.FORCED_TEARDOWN, R.CHECKPOINT_REPORTED)
    for _released in (False, True) if _state in (R.EXPIRED, R.FORCED_TEARDOWN) else (False,):
        LEASES.append(
            js.ObservedLease(
                lease_id=7,
                state=_state,
                expires_ms=100,
                reason=DRAIN if _taken else None,
                is_released=_released,
            )
        )
JOBS: list[JobRow | None] = [None] + [
    replace(JOB, phase=phase, cancel_asked=asked, reason=reason)
    for phase in JobPhase
    for asked in (False, True)
    for reason in (None, "operator_drain")
]


@dataclass(frozen=True)
class World:
    """A job, its lease and its processes; steps are done to it as the real ones do them."""

    job: JobRow | None
    lease: js.ObservedLease | None
    status: JobStatus | None
    warned: bool
    is_clean: bool = True

    def plan(self) -> js.Step:
        return js.plan_job(self.job, self.lease, status=self.status, is_warned=self.warned)

    def gone(self) -> JobStatus | None:
        """What is left of the processes after a teardown."""
        if isinstance(self.status, Running):
            return Exited(None, 15, 9, self.is_clean)
        if isinstance(self.status, Starting):
            return Lost(LostReason.NEVER_STARTED)
        if isinstance(self.status, Exited):
            return replace(self.status, is_emptied=self.is_clean)
        return self.status

    def after(self, step: js.Step) -> World:
        job, lease = self.job, self.lease
        match step:
            case js.Start():
                assert job is not None
                assert lease is not None
                return replace(self, job=replace(job, phase=JobPhase.RUNNING), status=RUNS)
            case js.NoteRunning():
                assert job is not None
                return replace(self, job=replace(job, phase=JobPhase.RUNNING))
            case js.Warn():
                assert isinstance(self.status, Running)
                return replace(self, warned=True, status=replace(self.status, is_warned=True))
            case js.CallOff():
                assert isinstance(self.status, Running)
                return replace(self, warned=False, status=replace(self.status, is_warned=False))
            case js.TearDown() | js.End():
                assert job is not None
                ended = replace(job, phase=step.verdict.phase, reason=step.verdict.reason)
                left = self.gone() if isinstance(step, js.TearDown) else self.status
                return replace(self, job=ended, status=left)
            case js.GiveBack():
                assert lease is not None
                graced = lease.state in js.LEAVING
                state = R.FORCED_TEARDOWN if graced else R.EXPIRED
                return replace(self, lease=replace(lease, state=state, is_released=True))
            case js.ReportGone():
                assert lease is not None
                fenced = replace(lease, state=R.FENCED, reason=None)
                return replace(self, lease=None if self.is_clean else fenced, status=self.gone())
            case js.ClearStray():
                return replace(self, status=None)
            case _:
                raise AssertionError(f"{step} is not for a job with a lease")


@pytest.mark.parametrize("job", JOBS)
def test_from_anywhere_it_comes_to_rest_and_never_goes_back(job: JobRow | None) -> None:
    for found in product([job], LEASES, STATUSES, [False, True], [False, True]):
        go_on(World(*found))


def go_on(world: World) -> None:
    """Do what is to be done until nothing is."""
    found, order, starts = world, list(JobPhase), 0
    for _ in range(8):
        step = world.plan()
        if isinstance(step, js.Rest):
            break
        starts += isinstance(step, js.Start)
        before, world = world, world.after(step)
        assert world != before
        if before.job is not None and world.job is not None:
            was, now = before.job.phase, world.job.phase
            assert not was.is_over or was is now
            assert was.is_over or now.is_over or order.index(now) >= order.index(was)
    else:
        raise AssertionError(f"no end from {found}")
    assert starts <= 1
    check_rest(world)


def check_rest(world: World) -> None:
    """What is true of whatever nobody has anything to do for."""
    if world.job is not None and not world.job.phase.is_over:
        assert world.lease is not None
        assert world.lease.state in (R.ACTIVE, *js.LEAVING)
        if isinstance(world.status, Starting):  # ordered, and nobody wishes to end it
            assert world.lease.state is R.ACTIVE
            assert not world.job.cancel_asked
            return
        assert isinstance(world.status, Running)  # it runs, and it may
        is_active = world.lease.state is R.ACTIVE
        assert world.warned or is_active
        assert not (world.status.is_warned and is_active), "nobody is left with a false warning"
        assert not world.job.cancel_asked
        return
    if world.lease is None:
        assert js.is_harmless(world.status) or not world.is_clean
    else:
        assert world.lease.state not in js.TEARING  # nobody waits for a report
        assert world.job is None or world.lease.state not in (R.ACTIVE, *js.LEAVING)


@pytest.mark.parametrize("lease", [each for each in LEASES if each is not None])
def test_nothing_is_started_but_under_an_active_lease(lease: js.ObservedLease) -> None:
    for job, status in product(JOBS, STATUSES):
        step = js.plan_job(job, lease, status=status)
        if isinstance(step, js.Start):
            assert job is not None
            assert lease.state is R.ACTIVE
            assert job.phase in (JobPhase.WAITING, JobPhase.STARTING)
            assert not job.cancel_asked
            assert status in (None, Lost(LostReason.NEVER_STARTED))
            assert step.afresh is (status is not None)


def test_nothing_is_started_without_a_lease() -> None:
    for job, status in product(JOBS, STATUSES):
        assert not isinstance(js.plan_job(job, None, status=status), js.Start)


def test_a_lease_is_freed_only_when_no_job_lives_under_it() -> None:
    for job, lease, status in product(JOBS, LEASES, STATUSES):
        step = js.plan_job(job, lease, status=status)
        if isinstance(step, js.GiveBack | js.ReportGone):
            assert job is None or job.phase.is_over


def lease(
    state: R, reason: PreemptionReason | None = None, *, released: bool = False
) -> js.ObservedLease:
    return js.ObservedLease(
        lease_id=7, state=state, expires_ms=100, reason=reason, is_released=released
    )


ENDED, FAILED = Exited(0, None, 9, True), Exited(3, None, 9, True)
RUNNING = replace(JOB, phase=JobPhase.RUNNING)
ENDING = replace(JOB, phase=JobPhase.ENDING)


@pytest.mark.parametrize(
    ("job", "held", "status", "phase", "reason"),
    [
        (RUNNING, lease(R.ACTIVE), ENDED, "succeeded", None),
        (RUNNING, lease(R.ACTIVE), FAILED, "failed", None),
        (RUNNING, lease(R.ACTIVE), Exited(None, 9, 9, False), "failed", None),
        (RUNNING, lease(R.ACTIVE), Exited(None, 9, 9, True, True), "failed", "out_of_memory"),
        (RUNNING, lease(R.ACTIVE), Exited(0, None, 9, True, True), "succeeded", None),
        (RUNNING, lease(R.EXPIRED), ENDED, "succeeded", None),
        (RUNNING, lease(R.EXPIRED), RUNS, "expired", None),
        (RUNNING, lease(R.EXPIRED, released=True), RUNS, "cancelled", None),
        (RUNNING, lease(R.GRACE_RUNNING, DRAIN), ENDED, "preempted", "operator_drain"),
        (RUNNING, lease(R.FORCED_TEARDOWN, DRAIN), RUNS, "preempted", "operator_drain"),
        (RUNNING, lease(R.CHECKPOINT_REPORTED, DRAIN), RUNS, "preempted", "operator_drain"),
        (RUNNING, None, RUNS, "lost", "lease_gone"),
        (RUNNING, None, ENDED, "succeeded", None),
        (RUNNING, lease(R.ACTIVE), None, "lost", "folder_gone"),
        (RUNNING, lease(R.ACTIVE), Lost(LostReason.OTHER_BOOT), "lost", "other_boot"),
        (RUNNING, lease(R.ACTIVE), Lost(LostReason.PLACE_TAKEN), "preempted", "place_taken"),
        (RUNNING, lease(R.FENCED), RUNS, "expired", None),
        (replace(ENDING, reason="operator_drain"), lease(R.FENCED), ENDED, "preempted",
         "operator_drain"),
        (ENDING, lease(R.EXPIRED), Exited(None, 15, 9, True), "expired", None),
        (ENDING, lease(R.ACTIVE), FAILED, "failed", None),
        (replace(ENDING, cancel_asked=True), lease(R.ACTIVE), FAILED, "cancelled", None),
        (replace(RUNNING, cancel_asked=True), lease(R.ACTIVE), RUNS, "cancelled", None),
        (replace(RUNNING, cancel_asked=True), lease(R.ACTIVE), ENDED, "succeeded", None),
        (JOB, lease(R.GRACE_RUNNING, DRAIN), None, "preempted", "operator_drain"),
        (replace(JOB, cancel_asked=True), lease(R.ACTIVE), None, "cancelled", None),
        (replace(JOB, cancel_asked=True), lease(R.ACTIVE), Starting(), "cancelled", None),
        (JOB, lease(R.EXPIRED), Starting(), "expired", None),
        (JOB, lease(R.GRACE_RUNNING, DRAIN), Starting(), "preempted", "operator_drain"),
        (JOB, lease(R.ACTIVE), REFUSED, "failed", "program_not_runnable"),
    ],
)  # fmt: skip
def test_how_a_job_ended(
    job: JobRow,
    held: js.ObservedLease | None,
    status: JobStatus | None,
    phase: str,
    reason: str | None,
) -> None:
    step = js.plan_job(job, held, status=status)
    assert isinstance(step, js.End if status is None else js.TearDown)
    assert (step.verdict.phase, step.verdict.reason) == (phase, reason)


def test_a_job_that_was_ordered_is_left_alone_until_it_runs_or_is_over() -> None:
    assert js.plan_job(JOB, lease(R.ACTIVE), status=Starting()) == js.Rest()
    assert js.plan_job(JOB, lease(R.ACTIVE), status=RUNS) == js.NoteRunning()
    step = js.plan_job(JOB, lease(R.ACTIVE), status=ENDED)
    assert step == js.TearDown(js.JobVerdict(JobPhase.SUCCEEDED))


def test_a_job_that_runs_is_warned_once_and_left_alone() -> None:
    held = lease(R.GRACE_RUNNING, DRAIN)
    assert js.plan_job(RUNNING, held, status=RUNS) == js.Warn(100)
    assert js.plan_job(RUNNING, held, status=RUNS, is_warned=True) == js.Rest()
    assert js.plan_job(RUNNING, lease(R.ACTIVE), status=RUNS) == js.Rest()
    assert js.plan_job(JOB, lease(R.ACTIVE), status=RUNS) == js.NoteRunning()


def test_a_job_whose_lease_got_its_place_back_has_its_warning_taken_back() -> None:
    warned = replace(RUNS, is_warned=True)
    assert js.plan_job(RUNNING, lease(R.ACTIVE), status=warned) == js.CallOff()
    held = lease(R.GRACE_RUNNING, DRAIN)
    assert js.plan_job(RUNNING, held, status=warned, is_warned=True) == js.Rest()
    assert js.plan_job(RUNNING, held, status=warned) == js.Warn(100), "a new server says it again"


@pytest.mark.parametrize(
    ("asked", "entry", "step"),
    [
        (False, None, js.Resubmit()),
        (True, None, js.Resubmit()),
        (False, js.InQueue(), js.Rest()),
        (True, js.InQueue(), js.CancelEntry()),
        (True, js.Began(7, "here"), js.LearnLease(7, "here")),
        (False, js.Left(CancelCause.ASKED), js.End(js.JobVerdict(JobPhase.CANCELLED))),
        (
            False,
            js.Left(CancelCause.DEADLINE_PASSED),
            js.End(js.JobVerdict(JobPhase.REFUSED, "deadline_passed")),
        ),
        (False, js.Untold(), js.End(js.JobVerdict(JobPhase.LOST, "submission_unknown"))),
    ],
)
def test_what_follows_for_a_job_that_waits(
    asked: bool, entry: js.ObservedEntry | None, step: js.Step
) -> None:
    waiting = replace(JOB, phase=JobPhase.WAITING, lease_id=None, cancel_asked=asked)
    assert js.plan_entry(waiting, entry) == step


def test_every_live_phase_is_among_those_that_are_planned_for() -> None:
    assert {job.phase for job in JOBS if job is not None} >= set(LIVE_PHASES)


@pytest.mark.parametrize(
    ("held", "cpu_milli", "bound"), [(5, 9_000, 5), (0, 0, 7), (0, 1_000, 7), (0, 2_001, 21)]
)
def test_no_job_is_without_a_bound_on_its_memory(held: int, cpu_milli: int, bound: int) -> None:
    lease = js.ObservedLease(
        lease_id=7, state=R.ACTIVE, expires_ms=100, reason=None, cpu_milli=cpu_milli, mem_bytes=held
    )
    assert memory_of(lease, per_core=7) == bound
