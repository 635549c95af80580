"""The way to the past: leaders fold before they ask, followers never, each turn is bounded."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bailiwick.runtime.replica import Role
from bailiwick.services import history as module
from bailiwick.services.history import History
from bailiwick.store.history.questions import projected_size
from bailiwick.store.sql_store import SqlStore
from bailiwick.vocab.errors import Unavailable
from tests.support.fresh_store import open_fresh
from tests.support.kernel_histories import small_journal


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    with open_fresh(tmp_path) as opened:
        leader = opened.lead("one", "")
        assert leader is not None
        opened.append(leader.epoch, 0, small_journal().lines)
        yield opened


def ask(history: History, role: Role) -> int:
    return asyncio.run(history.ask(role, projected_size))


def test_a_leader_folds_everything_first_and_a_follower_nothing(store: SqlStore) -> None:
    history = History(store)
    assert ask(history, Role.FOLLOWING) == 0
    assert ask(history, Role.LEADING) == store.size()
    assert ask(history, Role.FOLLOWING) == store.size()


def test_who_is_far_behind_is_told_to_come_again_and_gets_there(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH", 10)
    monkeypatch.setattr(module, "ROUNDS_MAX", 1)
    history = History(store)
    for folded in range(10, store.size(), 10):
        with pytest.raises(Unavailable, match="being folded"):
            ask(history, Role.LEADING)
        assert projected_size(store) == folded
    assert ask(history, Role.LEADING) == store.size()


def test_many_at_once_all_see_everything(store: SqlStore) -> None:
    history = History(store)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: ask(history, Role.LEADING), range(8)))
    assert found == [store.size()] * 8
