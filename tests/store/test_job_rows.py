"""Jobs as rows: numbers given once, keys, phases that never go back, and a wiped environment."""

from __future__ import annotations

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import sqlalchemy as sa

from bailiwick.ports import JobChange, NewJobRow
from bailiwick.store.job_rows import PAGE_MAX, JobBook
from bailiwick.store.tables import jobs
from bailiwick.vocab.errors import Damaged, InvalidValue, LimitReached
from bailiwick.vocab.jobs import LIVE_PHASES, JobPhase
from tests.store.conftest import Place

SECRET = "hunter2-in-the-environment"
NEW = NewJobRow(
    tenant="lab",
    project="p",
    name="train",
    submitter="ann",
    submitter_kind="human",
    submitter_keys=("scheduler.lease.read", "scheduler.queue.submit"),
    correlation_id="c",
    key=None,
    digest="d",
    request={"command": "submit", "tenant": "lab", "request": {"resources": {"cpu_milli": 1}}},
    command=("python3", "-c", "print('ä')"),
    env={"PASSWORD": SECRET},
    cwd=None,
    tag=None,
    submitted_ms=1,
    since_seq=7,
)


def new(**changes: Any) -> NewJobRow:
    return dataclasses.replace(NEW, **changes)


def put(book: JobBook, **changes: Any) -> int:
    return book.insert(new(**changes), live_max=10**6).job_id


def end(book: JobBook, job_id: int, *, node: str = "n1", at_ms: int = 5) -> None:
    there = JobChange(phase=JobPhase.STARTING, lease_id=100 + job_id, node=node)
    assert book.change(job_id, there)
    assert book.change(job_id, JobChange(phase=JobPhase.SUCCEEDED, ended_ms=at_ms, exit_code=0))


def test_a_job_is_read_back_as_it_was_written(place: Place) -> None:
    store = place.open()
    job = JobBook(store).insert(NEW, live_max=1)
    found = JobBook(place.open()).get(job.job_id)
    assert found == job
    assert (job.phase, job.env, job.command) == (JobPhase.WAITING, NEW.env, NEW.command)
    assert job.request == NEW.request
    assert SECRET not in repr(job)
    assert JobBook(store).get(job.job_id + 1) is None


def test_numbers_grow_and_are_not_given_again(place: Place) -> None:
    store = place.open()
    book = JobBook(store)
    first, second = put(book), put(book)
    assert second > first
    with store.changing() as connection:
        connection.execute(sa.delete(jobs).where(jobs.c.job_id == second))
    assert put(book) > second


def test_the_same_key_of_the_same_submitter_is_the_same_job(place: Place) -> None:
    book = JobBook(place.open())
    job = book.insert(new(key="k"), live_max=1)
    assert book.insert(new(key="k", digest="other"), live_max=1) == job
    assert put(book, key="k", submitter="bob") != job.job_id
    assert put(book, key="l") != job.job_id
    assert put(book) != put(book)


def test_of_many_that_submit_under_one_key_at_once_one_makes_the_job(place: Place) -> None:
    books = [JobBook(place.open()) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda book: put(book, key="k"), books))
    assert len(set(found)) == 1


def test_jobs_that_are_not_over_are_bounded(place: Place) -> None:
    book = JobBook(place.open())
    job_id = put(book)
    with pytest.raises(LimitReached, match="1"):
        book.insert(NEW, live_max=1)
    assert book.change(job_id, JobChange(phase=JobPhase.CANCELLED))
    book.insert(NEW, live_max=1)


@pytest.mark.parametrize("phase", [p for p in JobPhase if p.is_over])
def test_a_job_that_is_over_does_not_change(place: Place, phase: JobPhase) -> None:
    book = JobBook(place.open())
    job_id = put(book)
    assert book.change(job_id, JobChange(phase=phase, reason="r", ended_ms=3))
    before = book.get(job_id)
    for other in JobPhase:
        assert not book.change(job_id, JobChange(phase=other), only_from=tuple(JobPhase))
    assert not book.change(job_id, JobChange(cancel_asked=True))
    assert book.get(job_id) == before


def test_a_change_names_the_phases_it_may_come_from(place: Place) -> None:
    book = JobBook(place.open())
    job_id = put(book)
    assert book.change(job_id, JobChange(phase=JobPhase.RUNNING, started_ms=2))
    late = JobChange(phase=JobPhase.STARTING, lease_id=1)
    assert not book.change(job_id, late, only_from=(JobPhase.WAITING,))
    found = book.get(job_id)
    assert found is not None
    assert (found.phase, found.lease_id, found.started_ms) == (JobPhase.RUNNING, None, 2)
    assert not book.change(10**6, late)


@pytest.mark.parametrize("phase", list(JobPhase))
def test_the_environment_is_wiped_once_it_is_not_needed(place: Place, phase: JobPhase) -> None:
    store = place.open()
    book = JobBook(store)
    job_id = put(book)
    assert book.change(job_id, JobChange(phase=phase))
    with store.reading() as connection:
        row = connection.execute(sa.select(jobs)).one()
    is_kept = phase in (JobPhase.WAITING, JobPhase.STARTING, JobPhase.ENDING)
    assert any(SECRET in str(value) for value in row) is is_kept


def test_pages_are_newest_first_and_hold_no_row_of_another(place: Place) -> None:
    book = JobBook(place.open())
    ids = {
        scope: [put(book, tenant=scope[0], project=scope[1]) for _ in range(2)]
        for scope in (("lab", "p"), ("lab", "q"), ("lab", None), ("rival", "p"))
    }
    everything = sorted((i for each in ids.values() for i in each), reverse=True)

    def listed(*args: Any, **more: Any) -> list[int]:
        return [job.job_id for job in book.page(*args, **more)]

    assert listed(None) == everything
    assert listed(None, limit=3) == everything[:3]
    assert listed(None, before=everything[2], limit=3) == everything[3:6]
    assert listed([("rival", None)]) == ids["rival", "p"][::-1]
    assert listed([("lab", "p")]) == ids["lab", "p"][::-1]
    assert set(listed([("lab", None)])) == set(everything) - set(ids["rival", "p"])
    both = [("lab", "q"), ("rival", "p")]
    assert set(listed(both)) == {*ids["lab", "q"], *ids["rival", "p"]}
    assert listed([]) == []
    with pytest.raises(InvalidValue, match="limit"):
        book.page(None, limit=PAGE_MAX + 1)


def test_live_jobs_and_those_of_leases(place: Place) -> None:
    book = JobBook(place.open())
    ids = [put(book) for _ in JobPhase]
    for job_id, phase in zip(ids, JobPhase, strict=True):
        assert book.change(job_id, JobChange(phase=phase, lease_id=1000 + job_id))
    assert [job.phase for job in book.live()] == list(LIVE_PHASES)
    wanted = [1000 + ids[0], 1000 + ids[-1], 5]
    assert [job.job_id for job in book.of_leases(wanted)] == [ids[0], ids[-1]]
    assert book.of_leases([]) == []


def test_what_is_old_or_beyond_the_newest_may_be_forgotten(place: Place) -> None:
    book = JobBook(place.open())
    ids = [put(book) for _ in range(5)]
    for age, job_id in enumerate(ids):
        end(book, job_id, at_ms=10 + age)
    end(book, put(book), node="n2")
    put(book)

    def named(**how: Any) -> list[int]:
        return [job.job_id for job in book.forgettable("n1", **how)]

    assert named(kept_max=10, before_ms=0) == []
    assert named(kept_max=10, before_ms=12) == ids[:2]
    assert named(kept_max=2, before_ms=0) == ids[:3]
    book.forget(100 + ids[0])
    assert named(kept_max=2, before_ms=12) == ids[1:3]
    found = book.get(ids[0])
    assert found is not None
    assert found.is_forgotten


def test_a_row_that_makes_no_sense_is_told_as_damaged(place: Place) -> None:
    store = place.open()
    book = JobBook(store)
    job_id = put(book)
    with store.changing() as connection:
        connection.execute(sa.update(jobs).values(phase="elsewhere"))
    with pytest.raises(Damaged, match=str(job_id)):
        book.get(job_id)
