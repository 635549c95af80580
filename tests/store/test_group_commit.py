"""Changes that wait at the same time share a commit, and nothing else: no error, no undoing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import SQLAlchemyError

from bailiwick.store.group_commit import CHANGES_MAX, GroupCommit
from bailiwick.store.sqlite_store import SqliteStore
from bailiwick.vocab.errors import Conflict
from tests.support.waiting import until

Act = Callable[[Connection], int]
GOOD, REFUSED, WRONG = "good", "refused", "wrong"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path)
    with store.changing() as connection:
        connection.execute(text("CREATE TABLE kept (number INTEGER PRIMARY KEY)"))
    yield store
    store.close()


class Counted:
    """The store's transactions, counted; all of them wait while the turn is held."""

    def __init__(self, store: SqliteStore) -> None:
        self.turn, self.count, self._store = threading.RLock(), 0, store
        self.together = GroupCommit(self.changing, self.turn)

    @contextmanager
    def changing(self) -> Iterator[Connection]:
        self.count += 1
        with self._store.changing() as connection:
            yield connection

    def all_at_once(self, acts: list[Act]) -> list[Future[int]]:
        with ThreadPoolExecutor(len(acts)) as pool:
            with self.turn:
                futures = [pool.submit(self.together.run, act) for act in acts]
                until(lambda: len(self.together._waiting) == len(acts), "all of them wait")
            return futures


def act_of(number: int, kind: str) -> Act:
    def act(connection: Connection) -> int:
        connection.execute(text(f"INSERT INTO kept VALUES ({number})"))
        if kind == REFUSED:
            raise Conflict("number", number, "is not wanted")
        if kind == WRONG:
            connection.execute(text(f"INSERT INTO kept VALUES ({number})"))
        return number

    return act


def kept(store: SqliteStore) -> set[int]:
    with store.reading() as connection:
        return set(connection.scalars(text("SELECT number FROM kept")))


def test_all_that_wait_are_one_commit(store: SqliteStore) -> None:
    counted = Counted(store)
    found = counted.all_at_once([act_of(number, GOOD) for number in range(20)])
    assert [each.result() for each in found] == list(range(20))
    assert (counted.count, kept(store)) == (1, set(range(20)))


def test_so_many_at_most_are_one(store: SqliteStore) -> None:
    counted = Counted(store)
    counted.all_at_once([act_of(number, GOOD) for number in range(CHANGES_MAX + 1)])
    assert (counted.count, len(kept(store))) == (2, CHANGES_MAX + 1)


@pytest.mark.parametrize("seed", range(12))
def test_safety_each_is_told_what_it_would_be_told_alone(store: SqliteStore, seed: int) -> None:
    chance = Random(seed)
    kinds = chance.choices((GOOD, REFUSED, WRONG), (6, 2, seed % 3), k=15)
    found = Counted(store).all_at_once([act_of(n, kind) for n, kind in enumerate(kinds)])
    errors: dict[str, Any] = {REFUSED: Conflict, WRONG: (SQLAlchemyError, Exception)}
    for number, (kind, future) in enumerate(zip(kinds, found, strict=True)):
        if kind == GOOD:
            assert future.result() == number
        else:
            assert isinstance(future.exception(), errors[kind])
            assert kind == REFUSED or not isinstance(future.exception(), Conflict)
    assert kept(store) == {number for number, kind in enumerate(kinds) if kind == GOOD}


def test_an_answer_is_durable(store: SqliteStore, tmp_path: Path) -> None:
    assert store.change_together(act_of(7, GOOD)) == 7
    other = SqliteStore(tmp_path, read_only=True)
    assert kept(other) == {7}
    other.close()
