"""Following the journal: every durable record once and in order, whatever fails in between."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from bailiwick.runtime.follower import EachRecord, Follower
from bailiwick.vocab.errors import Damaged, Unavailable
from tests.support.following import GrownJournal
from tests.support.waiting import WAIT_S, until


class Sums:
    """A fold that keeps its result and its place together, and fails when told to."""

    def __init__(self) -> None:
        self.kept: tuple[int, int] = (0, 0)
        self.fails_at: list[int] = []
        self.begun = 0

    def begin(self, size: int) -> int:
        self.begun += 1
        return self.kept[0]

    def take(self, first: int, lines: Sequence[bytes]) -> int:
        place, total = self.kept
        assert first == place
        for line in lines:
            if self.fails_at and place >= self.fails_at[0]:
                self.fails_at.pop(0)
                raise RuntimeError(f"at {place}")
            place, total = place + 1, total + len(line)
        self.kept = place, total
        return place


def seen_by(seen: list[int]) -> EachRecord:
    return EachRecord(lambda fact: seen.append(fact["seq"]), begin=lambda size: 0)


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("threaded", [True, False])
def test_every_record_is_handed_over_once_and_in_order(told: bool, threaded: bool) -> None:
    journal, seen = GrownJournal(), list[int]()
    follower = Follower(seen_by(seen), journal.durable, name="test")
    if threaded:
        follower.start()
    try:
        for count in (1, 3, 20, 2500):
            journal.away = int(threaded)
            journal.grow(count, told=told)
            assert follower.catch_up(WAIT_S)
    finally:
        follower.close()
    assert seen == list(range(2524))


def test_it_begins_where_it_is_told_once_there_is_a_journal() -> None:
    journal, seen = GrownJournal(), list[int]()
    begun = threading.Event()

    def begin(size: int) -> int:
        begun.set()
        return size - 2

    fold = EachRecord(lambda fact: seen.append(fact["seq"]), begin=begin)
    follower = Follower(fold, journal.durable, name="test")
    assert follower.catch_up(WAIT_S)
    assert not begun.is_set()
    journal.grow(10, told=False)
    assert follower.catch_up(WAIT_S)
    assert seen == [8, 9]


def test_a_fold_that_fails_goes_on_from_where_it_was_without_loss_or_double() -> None:
    journal, fold, told = GrownJournal(), Sums(), list[str]()
    fold.fails_at = [0, 7, 7, 120]
    follower = Follower(fold, journal.durable, name="sums", batch=10, warn=told.append)
    follower.start()
    try:
        journal.grow(200)
        until(lambda: fold.kept[0] == 200, "all are taken up")
    finally:
        follower.close()
    assert fold.kept == (200, sum(map(len, journal.lines)))
    assert fold.begun == 5
    assert len(told) == 4
    assert "sums" in told[0]


def test_of_records_told_one_by_one_only_the_one_that_failed_is_told_again() -> None:
    journal, seen = GrownJournal(), list[int]()
    fails = [3, 3, 8]

    def follow(fact: Mapping[str, Any]) -> None:
        if fails and fact["seq"] == fails[0]:
            fails.pop(0)
            raise RuntimeError("not now")
        seen.append(fact["seq"])

    follower = Follower(EachRecord(follow, begin=lambda size: 0), journal.durable, name="test")
    journal.grow(12)
    for _ in range(3):
        with pytest.raises(RuntimeError):
            follower.catch_up(WAIT_S)
    assert follower.catch_up(WAIT_S)
    assert seen == list(range(12))


def test_a_store_that_stays_away_is_waited_for_no_longer_than_the_caller_does() -> None:
    journal = GrownJournal(kept_max=1)
    journal.grow(5, told=False)
    journal.away = 10**6
    follower = Follower(Sums(), journal.durable, name="sums")
    with pytest.raises(Unavailable, match="it is away"):
        follower.catch_up(WAIT_S)
    follower.start()
    assert not follower.catch_up(0.1)
    with pytest.raises(Unavailable, match="sums"):
        follower.current(0.1)
    journal.away = 0
    assert follower.current(WAIT_S).kept[0] == 5
    follower.close()


def test_what_no_waiting_repairs_is_told_at_once() -> None:
    class Broken(Sums):
        def take(self, first: int, lines: Sequence[bytes]) -> int:
            raise Damaged("journal", "record 0", "it is not one")

    journal = GrownJournal()
    journal.grow(1)
    with pytest.raises(Damaged):
        Follower(Broken(), journal.durable, name="sums").catch_up(WAIT_S)


def test_who_asks_folds_no_more_than_so_many_batches() -> None:
    journal = GrownJournal()
    journal.grow(100)
    follower = Follower(Sums(), journal.durable, name="sums", batch=10)
    assert not follower.catch_up(WAIT_S, rounds=3)
    assert follower.position == 30
    assert follower.catch_up(WAIT_S, rounds=7)


def test_a_fold_that_others_move_too_is_asked_anew() -> None:
    journal, fold = GrownJournal(), Sums()
    journal.grow(20)
    follower = Follower(fold, journal.durable, name="sums", batch=5, shared=True)
    fold.kept = (10, 0)  # somebody else was here
    assert follower.current(WAIT_S).kept == (20, sum(map(len, journal.lines[10:])))
    fold.kept = (0, 0)  # and now threw it away
    assert follower.current(WAIT_S).kept == (20, sum(map(len, journal.lines)))
