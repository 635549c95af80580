"""What people were told of budgets stands in rows, so that it is told once whoever leads."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from bailiwick.iam import Role, Scope
from bailiwick.kernel.money.commands import RemoveBudget
from bailiwick.kernel.people.commands import CreateTenant, SetMember
from bailiwick.reconcile.notices import reading
from bailiwick.reconcile.notices.reading import NoticeReader, NoticeSources
from bailiwick.runtime.runner import SystemClock
from bailiwick.store.job_rows import JobBook
from bailiwick.store.notices.inbox import Inbox
from bailiwick.store.notices.post import NoticePost
from bailiwick.store.notices.told import NOTHING_TOLD, ToldBudget
from bailiwick.store.sql_store import SqlStore
from bailiwick.vocab.errors import Unavailable
from tests.store.conftest import Place
from tests.unit.kernel.desk import Desk
from tests.unit.kernel.test_budgets import budget
from tests.unit.services.test_told_once import LOW, refunded

LAB = Scope("lab")


class Lines:
    """A journal that is read as far as it was let on."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    @property
    def size(self) -> int:
        return len(self.desk.lines)

    def read(self, first: int, limit: int) -> list[bytes]:
        return list(self.desk.lines[first : first + limit])


def leader(desk: Desk, store: SqlStore) -> NoticeReader:
    """Who has just begun to lead."""
    runner: Any = SimpleNamespace(
        lines=Lines(desk), read=lambda ask: ask(SimpleNamespace(state=desk.state))
    )
    post, jobs = NoticePost(store), JobBook(store)
    return NoticeReader(
        NoticeSources(
            runner=runner,
            store=store,
            jobs=jobs,
            post=post,
            clock=SystemClock(),
            fold=lambda: None,
        )
    )


def read_all(desk: Desk, store: SqlStore) -> list[Any]:
    """What is in the inbox of who looks after the budget, the oldest first, after a new leader."""
    reader = leader(desk, store)
    while reader.read_on():
        pass
    rows = Inbox(store).page("ann", before=None, limit=100)
    return [row.tiding.facts["spent_micros"] for row in rows][::-1]


def managed() -> Desk:
    desk = refunded()
    desk.do(CreateTenant("lab"))
    desk.do(SetMember("ann", Role.TENANT_ADMIN, "lab"))
    return desk


def test_each_leader_knows_what_those_before_it_told_of_a_budget(place: Place) -> None:
    desk = managed()
    assert read_all(desk, place.open()) == [808]
    desk.tick(1_115)
    assert read_all(desk, place.open()) == [808], "passed again, and told by nobody"
    desk.tick(1_137)
    assert read_all(desk, place.open()) == [808, 1_000]


def test_with_a_raised_limit_a_line_is_told_anew_by_whoever_leads(place: Place) -> None:
    desk = managed()
    assert read_all(desk, place.open()) == [808]
    desk.do(budget(2_000, **LOW))
    desk.tick(1_211)
    assert read_all(desk, place.open()) == [808]
    desk.tick(1_212)
    assert read_all(desk, place.open()) == [808, 1_600]


def test_one_record_at_a_time_and_all_at_once_tell_the_same(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = managed()
    desk.do(budget(1_000, project="p", thresholds=(800,), opening=900))
    desk.tick(1_115)
    desk.do(RemoveBudget("lab", "p"))
    monkeypatch.setattr(reading, "PAGE", 1)
    assert read_all(desk, place.open()) == [808, 900]
    post = NoticePost(place.open())
    assert (post.told_of(LAB).level, post.told_of(Scope("lab", "p"))) == (1, NOTHING_TOLD)


def test_who_reads_too_late_leaves_what_was_told_as_it_is(place: Place) -> None:
    post = NoticePost(place.open())
    assert post.begin(0) == 0
    post.take(0, 5, posts=[], now_ms=1, budgets={LAB: ToldBudget("t", 1)})
    with pytest.raises(Unavailable):
        post.take(0, 5, posts=[], now_ms=1, budgets={LAB: ToldBudget("t", 2)})
    assert post.told_of(LAB) == ToldBudget("t", 1)
    assert post.told_of(Scope("lab", "p")) == NOTHING_TOLD
