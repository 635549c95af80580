"""Jobs that run for real: what they find, how they end, and what the kernel is told of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bailiwick.billing.budgets import Budget
from bailiwick.executors.local.proc import Process
from bailiwick.executors.local.teardown import Census, Sight
from bailiwick.executors.port import Exited, JobSpec, Lost, LostReason
from bailiwick.executors.registry import DEFAULT
from bailiwick.iam import Role as IamRole
from bailiwick.kernel import (
    Cancel,
    Envelope,
    Evict,
    Queued,
    Release,
    Renew,
    ReportCheckpoint,
    ReportTeardown,
    SetBudget,
    Submit,
    decode_command,
)
from bailiwick.kernel.people import commands as iam
from bailiwick.ports import JobChange, JobRow
from bailiwick.reconcile.job_actions import STARTS_MAX, JobActions, JobTools
from bailiwick.reconcile.job_steps import JobVerdict
from bailiwick.reconcile.jobs import Retention
from bailiwick.reconcile.this_node import ThisNode
from bailiwick.runtime.replica import Replica, Role
from bailiwick.runtime.runner import Runner, SystemClock
from bailiwick.services.authority import Principal
from bailiwick.services.beats import Beats
from bailiwick.services.jobs import Jobs
from bailiwick.store import open_store
from bailiwick.store.job_rows import JobBook
from bailiwick.vocab.errors import Conflict, LimitReached, NotFound, NotLeader, Unavailable
from bailiwick.vocab.jobs import JobPhase as P
from bailiwick.vocab.words import PreemptionReason
from tests.jobs.house import (
    ANN,
    MANY,
    TENANT,
    JobHouse,
    draft_of,
    job_house,
    new_row,
    request_of,
    submit_many,
    submit_of,
)
from tests.support.waiting import WAIT_S, until
from tests.support.wide_open import wide_settings


@pytest.fixture
def house(tmp_path: Path) -> Iterator[JobHouse]:
    with job_house(tmp_path) as made:
        yield made


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def forever(house: JobHouse, **how: Any) -> tuple[JobRow, int]:
    """A job that runs until it is ended, and its process."""
    job = house.shell("echo pid $$; exec sleep 1000", **how)
    house.until(job, P.RUNNING)
    text = house.rounds(lambda: t if "\n" in (t := house.output(job)) else None, "it tells")
    return job, int(text.split()[1])


# -- by themselves ---------------------------------------------------------------------------


def test_a_job_runs_and_succeeds_and_gives_everything_back(house: JobHouse) -> None:
    found = house.submit("/bin/sh", "-c", "echo hello", name="greet")
    assert (found.job.phase, found.job.node, found.job.name) == (P.STARTING, "here", "greet")
    job = house.until(found.job, P.SUCCEEDED)
    assert (job.exit_code, job.signal, job.reason) == (0, None, None)
    assert job.started_ms is not None
    assert job.ended_ms is not None
    assert job.submitted_ms <= job.started_ms
    assert house.output(job) == "hello\n"
    house.quiet()
    assert house.kinds()[-1] == "lease_released"
    assert house.said == []


def test_a_failing_command_and_one_that_is_killed(house: JobHouse) -> None:
    failing, killed = house.shell("exit 3"), house.shell("kill -9 $$")
    job = house.until(failing, P.FAILED)
    assert (job.exit_code, job.signal, job.reason) == (3, None, None)
    job = house.until(killed, P.FAILED)
    assert (job.exit_code, job.signal) == (None, 9)
    house.quiet()


@pytest.mark.parametrize(
    ("argv", "how", "word"),
    [
        (["no-such-program"], {}, "program_not_runnable"),
        (["true"], {"cwd": "/no/such/folder"}, "directory_not_usable"),
    ],
)
def test_what_cannot_be_run_fails_with_a_word(
    house: JobHouse, argv: list[str], how: dict[str, str], word: str
) -> None:
    job = house.until(house.submit(*argv, **how).job, P.FAILED)
    assert (job.reason, job.exit_code, job.env) == (word, None, {})
    assert "cannot be run" in house.said[0]
    house.quiet()


def test_a_job_finds_its_lease_its_devices_its_server_and_a_token_that_counts(
    house: JobHouse,
) -> None:
    job = house.shell("env; pwd", gpus=2, env={"COLOUR": "blue"})
    house.until(job, P.SUCCEEDED)
    *lines, folder = house.output(job).splitlines()
    found = dict(line.split("=", 1) for line in lines)
    lease_id = str(house.job(job).lease_id)
    assert (found["COLOUR"], found["BAILIWICK_LEASE_ID"]) == ("blue", lease_id)
    assert found["CUDA_VISIBLE_DEVICES"] == "0,1"
    assert found["BAILIWICK_SERVER"] == "http://127.0.0.1:1"
    assert folder.endswith(f"/jobs/{lease_id}/work")
    token_id = house.job(job).token_id
    assert token_id is not None
    house.quiet()
    known = house.runner.read(lambda view: view.state.directory.tokens[token_id])
    assert (known.principal, known.revoked) == ("ann", True)


def test_the_token_is_the_submitters_and_carries_a_holders_keys_only(house: JobHouse) -> None:
    job = house.shell("echo $BAILIWICK_LEASE_TOKEN; exec sleep 1000")
    house.until(job, P.RUNNING)
    token = house.rounds(lambda: house.output(job).strip(), "the token is told")
    who = house.runner.read(
        lambda view: house.authority.identify(token, view.state.directory, now_ms=view.now_ms)
    )
    assert isinstance(who, Principal)
    assert who.name == "ann"
    assert sorted(who.keys or ()) == ["scheduler.lease.hold", "scheduler.lease.read"]


def test_the_token_is_for_the_one_lease_and_within_its_submitters_role(house: JobHouse) -> None:
    job = house.shell("exec sleep 1000")
    row = house.until(job, P.RUNNING)
    known = house.runner.read(lambda view: view.state.directory.tokens[row.token_id or ""])
    assert (known.lease_id, known.within) == (row.lease_id, (TENANT,))


@pytest.mark.parametrize("role", [None, IamRole.TENANT_AUDITOR])
def test_who_may_not_hold_leases_any_more_has_no_job_started(
    house: JobHouse, role: IamRole | None
) -> None:
    job = house.shell("touch ran")
    house.do(iam.SetMember("ann", role, TENANT, None))
    found = house.until(job, P.FAILED)
    assert (found.reason, found.token_id) == ("token_refused", None)
    assert "may not hold leases in lab any more" in house.said[0]
    house.quiet()


def test_no_job_is_over_while_its_token_still_counts(house: JobHouse, tmp_path: Path) -> None:
    job, _ = forever(house)
    runner = Runner(Replica(open_store(str(tmp_path / "data")), SystemClock(), name="two"))
    tools = JobTools(
        jobs=house.jobs,
        runner=runner,
        executor=house.executor,
        authority=house.authority,
        clock=SystemClock(),
        server="",
    )
    runner.start()
    try:
        assert runner.wait_for(Role.FOLLOWING, wait_s=WAIT_S)
        with pytest.raises(NotLeader):  # the kernel cannot be told
            JobActions(tools).end(house.job(job), verdict=JobVerdict(P.SUCCEEDED))
    finally:
        runner.stop()
    assert house.job(job).phase is P.RUNNING


def test_a_job_that_was_over_before_it_was_seen_to_run_has_begun_all_the_same(
    house: JobHouse,
) -> None:
    """Else nobody would be shown what it printed."""
    job = house.shell("echo ran")
    house.jobs.book.change(job.job_id, JobChange(phase=P.ENDING))  # as a teardown first notes
    ended = Exited(0, None, job.submitted_ms + 5, is_emptied=True)
    JobActions(house.loop.tools).end(job, verdict=JobVerdict(P.SUCCEEDED), status=ended)
    found = house.job(job)
    assert (found.phase, found.started_ms, found.ended_ms) == (
        P.SUCCEEDED,
        ended.ended_ms,
        ended.ended_ms,
    )


def test_the_environment_is_gone_from_the_row_once_the_job_runs(house: JobHouse) -> None:
    job = house.shell("echo $PASSWORD; exec sleep 1000", env={"PASSWORD": "hunter2"})
    assert house.job(job).env == {"PASSWORD": "hunter2"}
    assert house.until(job, P.RUNNING).env == {}
    house.rounds(lambda: house.output(job) == "hunter2\n", "the password is told")


def test_what_a_job_leaves_behind_is_ended_before_its_lease_is_free(house: JobHouse) -> None:
    job = house.shell("setsid sleep 1000 & echo $!")
    house.until(job, P.SUCCEEDED)
    house.quiet()
    assert not is_alive(int(house.output(job)))


def test_the_limits_of_a_lease_are_those_of_its_job(house: JobHouse) -> None:
    text = "import resource; print(resource.getrlimit(resource.RLIMIT_DATA)[0])"
    job = house.submit(sys.executable, "-c", text, mem_bytes=2**30).job
    house.until(job, P.SUCCEEDED)
    assert house.output(job) == f"{2**30}\n"


# -- waiting, cancelling, refusing -------------------------------------------------------------


def test_a_job_waits_for_room_and_then_runs(house: JobHouse) -> None:
    first, _ = forever(house, cores=4)
    found = house.submit("true", cores=4)
    assert found.job.phase is P.WAITING
    assert found.job.entry_id is not None
    house.loop.once()
    assert house.job(found.job).phase is P.WAITING
    house.jobs.cancel(first.job_id, actor="ann", correlation_id="c")
    house.until(found.job, P.SUCCEEDED)
    house.quiet()


def test_a_waiting_job_is_cancelled_at_once_and_never_runs(house: JobHouse) -> None:
    forever(house, cores=4)
    job = house.shell("echo ran", cores=4)
    cancelled = house.jobs.cancel(job.job_id, actor="ann", correlation_id="c")
    assert (cancelled.phase, cancelled.env) == (P.CANCELLED, {})
    assert house.jobs.cancel(job.job_id, actor="ann", correlation_id="c") == cancelled
    assert house.runner.read(lambda view: not view.state.line.entries)


def test_a_running_job_is_torn_down_and_then_cancelled(house: JobHouse) -> None:
    job, pid = forever(house)
    house.jobs.cancel(job.job_id, actor="ann", correlation_id="c")
    found = house.until(job, P.CANCELLED)
    assert found.signal == signal.SIGTERM
    assert not is_alive(pid)
    house.quiet()
    with pytest.raises(NotFound):
        house.jobs.cancel(999, actor="ann", correlation_id="c")


def test_a_job_that_is_over_cannot_be_cancelled(house: JobHouse) -> None:
    job = house.until(house.shell("true"), P.SUCCEEDED)
    with pytest.raises(Conflict, match="succeeded"):
        house.jobs.cancel(job.job_id, actor="ann", correlation_id="c")


def test_a_request_that_is_cancelled_behind_the_jobs_back_cancels_it(house: JobHouse) -> None:
    forever(house, cores=4)
    job = house.shell("true", cores=4)
    house.do(decode_command({"command": "cancel", "entry_id": job.entry_id}))
    house.until(job, P.CANCELLED)


def test_a_deadline_that_passes_in_the_queue_refuses_the_job(house: JobHouse) -> None:
    forever(house, cores=4)
    now = house.runner.read(lambda view: view.now_ms)
    job = house.shell("true", cores=4, deadline_ms=now + 1_500)
    assert house.until(job, P.REFUSED).reason == "deadline_passed"


def test_what_can_never_run_is_refused(house: JobHouse) -> None:
    found = house.submit("true", cores=400)
    assert (found.job.phase, found.job.reason) == (P.REFUSED, "exceeds_maximum")
    house.quiet()


def test_a_job_that_a_full_queue_does_not_take_is_refused(tmp_path: Path) -> None:
    with job_house(tmp_path, settings=wide_settings(queue_max=1)) as house:
        forever(house, cores=4)
        house.shell("true", cores=4)
        with pytest.raises(LimitReached):
            house.shell("true", cores=4)
        newest = house.jobs.book.page(None)[0]
        assert (newest.phase, newest.reason) == (P.REFUSED, "limit_reached")


def test_an_executor_that_is_out_of_order_is_tried_again_and_then_given_up(
    tmp_path: Path,
) -> None:
    with job_house(tmp_path) as house:
        house.loop.once()
        folder = tmp_path / "jobs"
        folder.rename(tmp_path / "away")
        folder.touch()  # no folder can be made under a file
        job = house.shell("true")
        assert house.until(job, P.FAILED).reason == "executor_unavailable"
        assert len([line for line in house.said if "tried again" in line]) == STARTS_MAX - 1
        folder.unlink()
        (tmp_path / "away").rename(folder)
        house.quiet()


def test_the_same_key_is_the_same_job(house: JobHouse) -> None:
    first = house.submit("true", key="k")
    again = house.submit("true", key="k")
    assert (again.job.job_id, again.answer) == (first.job.job_id, None)
    with pytest.raises(Conflict, match="another job"):
        house.submit("false", key="k")
    house.until(first.job, P.SUCCEEDED)
    assert house.submit("true", key="k").job.phase is P.SUCCEEDED


# -- taken away --------------------------------------------------------------------------------


def test_a_preempted_job_is_warned_and_ends_early_once_its_work_is_saved(house: JobHouse) -> None:
    text = (
        "until [ -e PREEMPTION ]; do sleep 0.02; done; cat PREEMPTION; touch saved; "
        "until [ -e never ]; do sleep 0.02; done"
    )
    job = house.until(house.shell(text), P.RUNNING)
    assert job.lease_id is not None
    house.do(Evict((job.lease_id,), PreemptionReason.PRIORITY_PREEMPTION))
    told = json.loads(house.rounds(lambda: house.output(job), "it is warned"))
    assert told["lease_id"] == job.lease_id
    assert house.job(job).phase is P.RUNNING  # it has its grace
    house.do(ReportCheckpoint(job.lease_id))
    found = house.until(job, P.PREEMPTED)
    assert found.reason == "priority_preemption"
    house.quiet()
    assert house.kinds()[-1] == "lease_preempted"


def test_a_job_whose_room_was_not_needed_has_its_warning_taken_back(house: JobHouse) -> None:
    text = (
        "until [ -e PREEMPTION ]; do sleep 0.02; done; echo warned; "
        "while [ -e PREEMPTION ]; do sleep 0.02; done; echo calm; sleep 1000"
    )
    job = house.until(house.shell(text), P.RUNNING)
    assert job.lease_id is not None
    answer = house.do(submit_of(cores=4, priority="critical"))
    assert isinstance(answer, Queued), answer
    house.rounds(lambda: "warned" in house.output(job) or None, "it is warned")
    house.do(Cancel(answer.entry_id))
    house.rounds(lambda: "calm" in house.output(job) or None, "its warning is taken back")
    assert house.job(job).phase is P.RUNNING
    assert house.kinds()[-1] == "lease_restored"


def test_when_grace_runs_out_the_job_is_ended(tmp_path: Path) -> None:
    with job_house(tmp_path, settings=wide_settings(grace_ms=300)) as house:
        job, pid = forever(house)
        house.do(Evict((house.job(job).lease_id,), PreemptionReason.OPERATOR_DRAIN))
        found = house.until(job, P.PREEMPTED)
        assert (found.reason, is_alive(pid)) == ("operator_drain", False)
        house.quiet()


def test_a_job_that_ended_with_its_budget_is_not_started_again_by_a_top_up(
    tmp_path: Path,
) -> None:
    with job_house(tmp_path, settings=wide_settings(grace_ms=0)) as house:
        ended, pid = forever(house, preemptible_on_budget=1)
        house.do(SetBudget(Budget(TENANT, limit_micros=0)))
        found = house.until(ended, P.PREEMPTED)
        assert (found.reason, is_alive(pid)) == ("budget_exhausted", False)
        waiting = house.shell("exit 0")
        for _ in range(3):
            house.loop.once()
        assert house.job(waiting).phase is P.WAITING
        house.do(SetBudget(Budget(TENANT, limit_micros=10**15)))
        house.until(waiting, P.SUCCEEDED)
        house.quiet()
        assert house.job(ended) == found
        assert house.kinds().count("admission_approved") == 2, "one each, and no second one"


def test_more_urgent_work_takes_the_place_only_once_it_is_empty(tmp_path: Path) -> None:
    with job_house(tmp_path, settings=wide_settings(grace_ms=0)) as house:
        job, pid = forever(house, cores=4)
        urgent = house.submit("true", cores=4, priority="high")
        assert urgent.job.phase is P.WAITING
        assert is_alive(pid)
        house.until(urgent.job, P.SUCCEEDED)
        assert house.job(job).phase is P.PREEMPTED
        assert not is_alive(pid)
        house.quiet()


def test_a_term_that_is_over_ends_the_job_as_expired(house: JobHouse) -> None:
    job, pid = forever(house)
    house.do(Renew(house.job(job).lease_id, 200))
    found = house.until(job, P.EXPIRED)
    assert (found.reason, is_alive(pid)) == (None, False)
    house.quiet()
    assert house.kinds()[-1] == "lease_expired"


def test_a_lease_that_is_renewed_goes_on(house: JobHouse) -> None:
    job, _ = forever(house, ttl_ms=60_000)
    lease_id = house.job(job).lease_id
    house.do(Renew(lease_id, 120_000))
    house.loop.once()
    assert house.job(job).phase is P.RUNNING


def test_to_give_back_a_jobs_lease_ends_the_job_before_anybody_gets_it(house: JobHouse) -> None:
    job, pid = forever(house, cores=4)
    house.do(Release(house.job(job).lease_id))
    waiting = house.submit("true", cores=4).job
    assert waiting.phase is P.WAITING  # nobody has looked yet whether it is free
    assert is_alive(pid)
    house.until(job, P.CANCELLED)
    house.until(waiting, P.SUCCEEDED)
    house.quiet()
    assert "lease_expired" not in house.kinds()


def test_a_lease_without_a_job_is_reported_clean(house: JobHouse) -> None:
    command = decode_command(request_of())
    assert isinstance(command, Submit)
    lease_id = house.do(command).lease_ids[0]
    house.loop.once()
    assert house.leases() == {lease_id: "active"}
    house.do(Release(lease_id))
    assert house.leases() == {lease_id: "expired"}
    house.quiet()


def test_a_teardown_that_cannot_be_confirmed_fences(tmp_path: Path) -> None:
    def blind(sight: Sight) -> Census:
        del sight
        return Census((), (Process(2**22, 0, 0, "?", 0, 1),))

    with job_house(tmp_path, look=blind) as house:
        job = house.shell("true")
        house.until(job, P.SUCCEEDED)
        lease_id = house.job(job).lease_id
        house.rounds(lambda: house.leases() == {lease_id: "fenced"}, "it is fenced")
        assert "could not be confirmed" in " ".join(house.said)
        assert house.said[-1] == f"something of lease {lease_id} may still run: it is fenced"


def test_a_node_that_departs_takes_its_jobs_with_it(house: JobHouse) -> None:
    job, pid = forever(house)
    house.do(decode_command({"command": "depart_node", "node": "here"}))
    found = house.until(job, P.LOST)
    assert (found.reason, is_alive(pid)) == ("lease_gone", False)


# -- after a death -------------------------------------------------------------------------------


def test_jobs_outlive_a_server_that_is_killed_and_are_found_by_the_next(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.jobs.house", str(tmp_path)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == "started\n"
    finally:
        server.kill()
        server.wait(WAIT_S)
    with job_house(tmp_path) as house:
        one, two, three = (house.jobs.get(n) for n in (1, 2, 3))
        assert house.until(three, P.FAILED).exit_code == 9
        assert house.until(two, P.RUNNING).lease_id is not None
        assert house.until(one, P.RUNNING).lease_id is not None
        work = house.executor.output(house.job(one).lease_id)[0].parent / "work"
        (work / "go").touch()
        assert house.until(one, P.FAILED).exit_code == 42
        assert house.output(one) == "begun\ndone\n"
        house.jobs.cancel(two.job_id, actor="ann", correlation_id="c")
        house.until(two, P.CANCELLED)
        house.quiet()


def test_each_of_many_jobs_runs_once_however_often_the_server_is_killed(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    command = [sys.executable, "-m", "tests.jobs.house", str(tmp_path), "many"]
    for lines in (0, 1, 6, 11, 20):
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            assert server.stdout.readline() == "started\n"
            until(lambda least=lines: least == 0 or len(ran(mark)) >= least, f"{lines} ran")
        finally:
            server.kill()
            server.wait(WAIT_S)
    with job_house(tmp_path) as house:
        jobs = submit_many(house, mark)
        house.quiet()
        assert sorted(ran(mark), key=int) == [str(n) for n in range(MANY)]
        assert {house.job(job).phase for job in jobs} == {P.SUCCEEDED}
        assert [job.job_id for job in house.jobs.book.page(None, limit=99)] == sorted(
            (job.job_id for job in jobs), reverse=True
        )
        assert house.kinds().count("lease_released") == MANY


def ran(mark: Path) -> list[str]:
    """Who ran so far."""
    return mark.read_text().split() if mark.exists() else []


@pytest.mark.parametrize("is_known", [False, True])
def test_a_submission_that_was_cut_short_is_finished_once(house: JobHouse, is_known: bool) -> None:
    """Its server died before the kernel heard of it, or before the row learned the answer."""
    row = house.jobs.book.insert(new_row(house), live_max=1)
    if is_known:
        command = decode_command(dict(row.request))
        house.runner.execute(Envelope(command, "ann", "c-1", f"job-{row.job_id}"))
    assert house.until(row, P.SUCCEEDED).lease_id == 1
    house.quiet()
    assert house.kinds().count("admission_approved") == 1


@pytest.mark.parametrize("waits", [False, True])
def test_a_term_that_was_over_before_the_row_knew_its_lease_is_told_as_that(
    house: JobHouse, waits: bool
) -> None:
    """Its server died after the kernel had granted, and was away for longer than the term."""
    if waits:
        house.do(decode_command(request_of(cores=4)))
    row = house.jobs.book.insert(new_row(house, ttl_ms=100), live_max=1)
    command = decode_command(dict(row.request))
    answer = house.runner.execute(Envelope(command, "ann", "c-1", f"job-{row.job_id}"))
    if waits:
        assert house.jobs.book.change(row.job_id, JobChange(entry_id=answer.entry_id))
        house.do(Release(1))
        house.do(ReportTeardown(1, True))
    until(lambda: [*house.leases().values()] == ["expired"], "the term is over")
    assert house.until(row, P.EXPIRED).started_ms is None
    house.quiet()


def test_an_answer_that_came_too_late_is_found_by_the_loop(house: JobHouse) -> None:
    wait_s, house.runner.wait_s = house.runner.wait_s, 0.0
    with pytest.raises(Unavailable):
        house.shell("true")
    house.runner.wait_s = wait_s
    (job,) = house.jobs.book.live()
    assert job.phase is P.WAITING
    house.until(job, P.SUCCEEDED)
    house.quiet()
    assert house.kinds().count("admission_approved") == 1


def test_a_replica_that_follows_takes_no_job(house: JobHouse, tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "data"))
    other = Runner(Replica(store, SystemClock(), name="two"))
    other.start()
    try:
        assert other.wait_for(Role.FOLLOWING, wait_s=WAIT_S)
        jobs = Jobs(JobBook(store), other, clock=SystemClock())
        with pytest.raises(NotLeader):
            jobs.submit(draft_of("true"), principal=ANN, correlation_id="c")
    finally:
        other.stop()
    newest = house.jobs.book.page(None)[0]
    assert (newest.phase, newest.reason) == (P.REFUSED, "not_leader")
    assert house.leases() == {}


def test_a_submission_that_was_cut_short_and_cancelled_does_not_run(house: JobHouse) -> None:
    row = house.jobs.book.insert(new_row(house), live_max=1)
    assert house.jobs.cancel(row.job_id, actor="ann", correlation_id="c").phase is P.WAITING
    assert house.until(row, P.CANCELLED).started_ms is None
    house.quiet()


def test_a_submission_that_was_cut_short_too_long_ago_is_lost(house: JobHouse) -> None:
    row = house.jobs.book.insert(new_row(house, submitted_ms=0), live_max=1)
    assert house.until(row, P.LOST).reason == "submission_unknown"
    assert house.leases() == {}


def test_a_start_that_was_cut_short_is_made_again(house: JobHouse, tmp_path: Path) -> None:
    job = house.shell("echo ran")
    folder = tmp_path / "jobs" / str(job.lease_id)
    folder.mkdir()  # as a server leaves it that dies before the supervisor is there
    assert house.executor.status(job.lease_id) == Lost(LostReason.NEVER_STARTED)
    house.until(job, P.SUCCEEDED)
    assert house.output(job) == "ran\n"


def test_what_no_lease_speaks_for_is_ended(house: JobHouse) -> None:
    started = house.executor.start(JobSpec(77, argv=("sleep", "1000"), token="t"))
    house.loop.once()
    until(lambda: isinstance(house.executor.status(77), Exited), "it is ended")
    house.rounds(lambda: not house.loop.is_busy, "nobody does anything")
    assert not is_alive(started.pid)


def test_old_jobs_are_forgotten_and_their_output_with_them(tmp_path: Path) -> None:
    with job_house(tmp_path, retention=Retention(jobs_max=1)) as house:
        ids = [house.until(house.shell("true"), P.SUCCEEDED).job_id for _ in range(3)]
        house.quiet()
        house.loop.forget_soon()
        want = [True, True, False]
        house.rounds(lambda: [house.jobs.get(i).is_forgotten for i in ids] == want, "two are")
        assert len(house.executor.adopt()) == 1


# -- as a duty of a server -----------------------------------------------------------------------


def test_a_loop_that_fails_leaves_no_heart_beating_behind_it(
    house: JobHouse, tmp_path: Path
) -> None:
    (tmp_path / "jobs").rmdir()
    (tmp_path / "jobs").touch()  # nothing can be found there, or started
    beats = Beats(SystemClock())
    duty = ThisNode(house.loop, beats, executor=DEFAULT, folder=tmp_path, node="here")
    try:
        with pytest.raises(Unavailable):
            duty.run(threading.Event())
        assert [each.name for each in threading.enumerate() if each.name == "beat"] == []
    finally:
        (tmp_path / "jobs").unlink()
