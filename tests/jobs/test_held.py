"""Held jobs, run for real: what comes after others, arrays, and further attempts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bailiwick.executors.port import Exited, JobStatus
from bailiwick.kernel import Envelope, Evict, ReportCheckpoint, decode_command
from bailiwick.kernel.people import commands as iam
from bailiwick.ports import AfterJob, JobFilter, JobRow, NewJobRow
from bailiwick.vocab.errors import Conflict, InvalidValue, LimitReached
from bailiwick.vocab.graphs import FailureCategory
from bailiwick.vocab.job_addresses import AfterNeed
from bailiwick.vocab.job_arrays import parse_array
from bailiwick.vocab.jobs import JobPhase as P
from bailiwick.vocab.words import PreemptionReason
from tests.jobs.house import TENANT, JobHouse, job_house, new_row
from tests.support.wide_open import wide_settings

WAITS = "until [ -e go ]; do sleep 0.02; done"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[JobHouse]:
    with job_house(tmp_path) as made:
        yield made


def after(job: JobRow, need: str = "ok", *, is_array: bool = False) -> tuple[AfterJob, ...]:
    return (AfterJob(job.job_id, is_array, AfterNeed(need)),)


def let_end(house: JobHouse, job: JobRow) -> None:
    """Have a job that waits for its file end."""
    lease_id = house.job(job).lease_id
    assert lease_id is not None
    (house.executor.output(lease_id)[0].parent / "work" / "go").touch()


def tasks_of(house: JobHouse, job: JobRow) -> list[JobRow]:
    """The tasks of an array, by their index."""
    found = house.jobs.book.page(None, which=JobFilter(array_id=job.array_id), limit=1000)
    return found[::-1]


def preempt(house: JobHouse, job: JobRow) -> None:
    """Take a running job's lease away."""
    lease_id = house.until(job, P.RUNNING).lease_id
    assert lease_id is not None
    house.do(Evict((lease_id,), PreemptionReason.PRIORITY_PREEMPTION))
    house.do(ReportCheckpoint(lease_id))


# -- after others ----------------------------------------------------------------------------


def test_a_job_waits_for_another_without_a_place_in_the_queue_and_then_runs(
    house: JobHouse,
) -> None:
    first = house.shell(WAITS)
    house.until(first, P.RUNNING)
    second = house.shell("echo next", after=after(first))
    house.once()
    found = house.job(second)
    assert (found.phase, found.is_held, found.entry_id) == (P.WAITING, True, None)
    assert found.reason == "waiting_for_jobs"
    let_end(house, first)
    found = house.until(second, P.SUCCEEDED)
    assert (house.output(found), found.asks, found.attempt) == ("next\n", 1, 1)
    house.quiet()


@pytest.mark.parametrize(
    ("code", "need", "phase"),
    [
        (0, "ok", P.SUCCEEDED),
        (3, "ok", P.REFUSED),
        (0, "failed", P.REFUSED),
        (3, "failed", P.SUCCEEDED),
        (0, "any", P.SUCCEEDED),
        (3, "any", P.SUCCEEDED),
    ],
)
def test_what_a_job_needs_of_another_decides_whether_it_ever_runs(
    house: JobHouse, code: int, need: str, phase: P
) -> None:
    first = house.shell(f"exit {code}")
    second = house.shell("true", after=after(first, need))
    third = house.shell("true", after=after(second, "any"))
    found = house.until(second, phase)
    assert found.reason == ("dependency_never_met" if phase is P.REFUSED else None)
    house.until(third, P.SUCCEEDED)
    house.quiet()


def test_a_held_job_is_cancelled_at_once_and_never_runs(house: JobHouse) -> None:
    first = house.shell(WAITS)
    second = house.shell("true", after=after(first))
    house.jobs.cancel(second.job_id, actor="ann", correlation_id="c")
    assert house.job(second).phase is P.CANCELLED
    let_end(house, house.until(first, P.RUNNING))
    house.quiet()
    assert house.kinds().count("lease_released") == 1


def test_a_job_whose_submitter_may_not_submit_any_more_is_not_let_go(house: JobHouse) -> None:
    first = house.shell(WAITS)
    second = house.shell("true", after=after(first))
    house.until(first, P.RUNNING)
    house.do(iam.SetMember("ann", None, TENANT, None))
    let_end(house, first)
    assert house.until(second, P.REFUSED).reason == "not_permitted"


@pytest.mark.parametrize("is_known", [False, True])
def test_a_held_job_that_was_let_go_by_a_server_that_died_runs_once(
    house: JobHouse, is_known: bool
) -> None:
    """It died before the kernel heard of it, or before the row learned the answer."""
    first = house.until(house.shell("true"), P.SUCCEEDED)
    second = house.shell("true", after=after(first))
    book = house.jobs.book
    assert book.held.release(second.job_id, now_ms=1_000, since_seq=0)
    assert not book.held.release(second.job_id, now_ms=1_000, since_seq=0)
    row = house.job(second)
    now_ms = house.runner.read(lambda view: view.now_ms)
    assert book.held.hold(second.job_id, asks=1, reason=None)
    assert book.held.release(second.job_id, now_ms=now_ms, since_seq=0)
    row = house.job(second)
    assert row.kernel_key == f"job-{second.job_id}/2"
    if is_known:
        command = decode_command(dict(row.request))
        house.runner.execute(Envelope(command, "ann", "c-1", row.kernel_key))
    assert house.until(second, P.SUCCEEDED).lease_id == 2
    house.quiet()


def test_a_loop_that_is_faster_than_the_submission_leaves_its_answer_without_effect(
    house: JobHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row is seen before it is known to be under way: asked for, run, failed, held again."""
    book, real = house.jobs.book, house.jobs.book.insert

    def insert(new: NewJobRow, *, live_max: int) -> JobRow:
        job = real(new, live_max=live_max)
        house.rounds(lambda: house.job(job).attempt == 2 or None, "the next attempt is held")
        return job

    monkeypatch.setattr(book, "insert", insert)
    job = house.shell("exit 7", retries=1, retry_on=(FailureCategory.EXIT_CODE,))
    assert (job.phase, job.is_held, job.lease_id, job.attempt) == (P.WAITING, True, None, 2)
    found = house.until(job, P.FAILED)
    assert (found.attempt, found.asks) == (2, 2)
    house.quiet()
    assert house.kinds().count("admission_approved") == 2


def test_another_job_under_the_key_of_one_that_was_cut_short_does_not_keep_it_from_being_asked_for(
    house: JobHouse,
) -> None:
    one = replace(new_row(house), key="k", asked_ms=house.runner.read(lambda view: view.now_ms))
    cut = house.jobs.book.insert(one, live_max=10)  # and the server died
    with pytest.raises(Conflict):
        house.submit("false", key="k")
    assert house.jobs.was_cut_short(house.job(cut))
    house.until(cut, P.SUCCEEDED)


# -- arrays ----------------------------------------------------------------------------------


def test_an_array_runs_each_task_once_with_its_index(house: JobHouse) -> None:
    text = 'echo "$BAILIWICK_ARRAY_ID $BAILIWICK_ARRAY_INDEX $BAILIWICK_ARRAY_COUNT"'
    text += '" $BAILIWICK_ARRAY_MIN $BAILIWICK_ARRAY_MAX"'
    head = house.shell(text, array=parse_array("2-8:3"))
    assert (head.array_id, head.array_index, head.phase) == (head.job_id, 2, P.WAITING)
    house.quiet()
    found = tasks_of(house, head)
    assert [(job.array_index, job.phase) for job in found] == [
        (index, P.SUCCEEDED) for index in (2, 5, 8)
    ]
    assert [house.output(job) for job in found] == [
        f"{head.job_id} {index} 3 2 8\n" for index in (2, 5, 8)
    ]


def test_no_more_tasks_of_an_array_are_under_way_than_may_be_at_once(house: JobHouse) -> None:
    head = house.shell(WAITS, array=parse_array("0-4%2"))
    for done in range(5):
        runs = house.rounds(lambda: running(house, head), "some run")
        assert len(runs) <= 2
        others = [job for job in tasks_of(house, head) if job.is_held]
        assert len(others) == max(0, 5 - done - 2)
        assert {job.reason for job in others} <= {"array_limit"}
        let_end(house, runs[0])
        house.until(runs[0], P.SUCCEEDED)
        house.once()
    house.quiet()


def running(house: JobHouse, head: JobRow) -> list[JobRow] | None:
    """The tasks that run, once all that have a place do."""
    live = [job for job in tasks_of(house, head) if not job.phase.is_over and not job.is_held]
    return live if live and all(job.phase is P.RUNNING for job in live) else None


def test_the_same_key_is_the_same_array_and_too_large_a_one_is_not_begun(tmp_path: Path) -> None:
    with job_house(tmp_path) as house:
        spec = parse_array("0-2")
        one = house.submit("true", key="k", array=spec).job
        assert house.submit("true", key="k", array=spec).job.job_id == one.job_id
        assert len(tasks_of(house, one)) == 3
        house.jobs._live_max = 4
        with pytest.raises(LimitReached):
            house.submit("true", array=spec)
        assert len(house.jobs.book.page(None)) == 3
        house.quiet()


def test_a_job_after_an_array_waits_for_every_task(house: JobHouse) -> None:
    head = house.shell('exit "$BAILIWICK_ARRAY_INDEX"', array=parse_array("0-1"))
    good = house.shell("true", after=after(head, "any", is_array=True))
    never = house.shell("true", after=after(head, is_array=True))
    house.until(good, P.SUCCEEDED)
    assert house.until(never, P.REFUSED).reason == "dependency_never_met"


def test_tasks_that_the_queue_does_not_take_stay_held(tmp_path: Path) -> None:
    with job_house(tmp_path, settings=wide_settings(waiting_max=1)) as house:
        head = house.shell(WAITS, array=parse_array("0-2"), cores=4)
        house.rounds(lambda: running_first(house, head), "one runs, one waits")
        found = tasks_of(house, head)
        assert [job.is_held for job in found] == [False, False, True]
        assert found[2].reason == "queue_limit"
        for job in found:
            let_end(house, house.until(job, P.RUNNING))
        house.quiet()
        assert {job.phase for job in tasks_of(house, head)} == {P.SUCCEEDED}


def running_first(house: JobHouse, head: JobRow) -> bool:
    first, second, third = tasks_of(house, head)
    waits = second.entry_id is not None and third.reason == "queue_limit"
    return first.phase is P.RUNNING and waits


# -- attempts --------------------------------------------------------------------------------


def test_a_preempted_job_is_tried_again_and_told_so(house: JobHouse) -> None:
    text = f'echo "$BAILIWICK_ATTEMPT $BAILIWICK_CHECKPOINT $SECRET"; {WAITS}'
    how: dict[str, Any] = {"retries": 2, "checkpoint": "/srv/c", "env": {"SECRET": "s"}}
    job = house.shell(text, **how)
    preempt(house, job)
    house.rounds(lambda: house.job(job).attempt == 2, "the next attempt")
    found = house.until(job, P.RUNNING)
    assert house.job(job).env == {"SECRET": "s"}
    text = house.rounds(lambda: t if "\n" in (t := house.output(found)) else None, "it tells")
    assert text == "2 /srv/c s\n"
    let_end(house, found)
    house.until(job, P.SUCCEEDED)
    house.quiet()
    (one,) = house.jobs.book.held.attempts([job.job_id])[job.job_id]
    assert (one.attempt, one.phase, one.reason) == (1, P.PREEMPTED, "priority_preemption")
    assert one.lease_id is not None
    assert one.lease_id != found.lease_id
    (earlier,) = house.jobs.book.of_leases([one.lease_id])
    assert (earlier.job_id, earlier.phase) == (job.job_id, P.PREEMPTED)
    assert house.job(job).env == {}
    assert house.kinds().count("lease_preempted") == 1


def test_tries_are_counted_and_then_it_is_over(house: JobHouse) -> None:
    job = house.shell("exit 7", retries=1, retry_on=(FailureCategory.EXIT_CODE,))
    found = house.until(job, P.FAILED)
    assert (found.attempt, found.exit_code, found.asks) == (2, 7, 2)
    house.quiet()


@pytest.mark.parametrize(("why", "attempts"), [("out_of_memory", 2), ("exit_code", 1)])
def test_a_job_that_its_memory_ended_is_tried_again_if_it_says_so(
    house: JobHouse, monkeypatch: pytest.MonkeyPatch, *, why: str, attempts: int
) -> None:
    """Not every machine has control groups that tell: here the executor says that it did."""
    real = house.executor.status

    def status(lease_id: int) -> JobStatus:
        found = real(lease_id)
        return replace(found, is_out_of_memory=True) if isinstance(found, Exited) else found

    monkeypatch.setattr(house.executor, "status", status)
    job = house.shell("kill -9 $$", retries=1, retry_on=(FailureCategory(why),))
    found = house.until(job, P.FAILED)
    assert (found.reason, found.signal, found.attempt) == ("out_of_memory", 9, attempts)
    house.quiet()


def test_what_a_job_did_not_name_is_not_tried_again(house: JobHouse) -> None:
    found = house.until(house.shell("exit 7", retries=3), P.FAILED)
    assert found.attempt == 1


def test_a_job_whose_node_is_lost_is_tried_again(house: JobHouse) -> None:
    job = house.shell(WAITS, retries=1)
    house.until(job, P.RUNNING)
    house.do(decode_command({"command": "depart_node", "node": "here"}))
    house.rounds(lambda: house.job(job).attempt == 2, "the next attempt")
    (one,) = house.jobs.book.held.attempts([job.job_id])[job.job_id]
    assert (one.phase, one.reason) == (P.LOST, "lease_gone")
    house.jobs.cancel(job.job_id, actor="ann", correlation_id="c")
    house.until(job, P.CANCELLED)


def test_a_cancelled_job_is_not_tried_again(house: JobHouse) -> None:
    job = house.until(house.shell(WAITS, retries=5), P.RUNNING)
    house.jobs.cancel(job.job_id, actor="ann", correlation_id="c")
    found = house.until(job, P.CANCELLED)
    assert found.attempt == 1
    house.quiet()


def test_what_an_earlier_attempt_left_is_forgotten_with_the_job(house: JobHouse) -> None:
    job = house.shell("exit 7", retries=1, retry_on=(FailureCategory.EXIT_CODE,))
    house.until(job, P.FAILED)
    house.quiet()
    found = house.jobs.book.forgettable("here", kept_max=0, before_ms=0)
    assert [each.attempt for each in found] == [2, 1]
    for each in found:
        assert each.lease_id is not None
        house.jobs.book.forget(each.lease_id)
    assert house.jobs.book.forgettable("here", kept_max=0, before_ms=0) == []


@pytest.mark.parametrize(
    "how",
    [
        {"retries": 101},
        {"retries": -1},
        {"retries": 1, "wait": False},
        {"array": parse_array("0-1"), "env": {"A": "x" * 70_000}},
        {"retries": 1, "retry_on": (FailureCategory.DENIED,)},
    ],
)
def test_what_cannot_be_held_is_refused(house: JobHouse, how: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue):
        house.submit("true", **how)
