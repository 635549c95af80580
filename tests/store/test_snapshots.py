"""Snapshots in the store: whole or not there, the last three, and no hindrance to the journal."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import pytest
from sqlalchemy import delete, func, select, update

from bailiwick.ports import StoredSnapshot
from bailiwick.store import snapshot_rows
from bailiwick.store.sql_store import SqlStore
from bailiwick.store.tables import snapshot, snapshot_chunk
from bailiwick.vocab.errors import Unavailable
from tests.store.conftest import Place


def make_snapshot(size: int, data: bytes = b"state") -> StoredSnapshot:
    return StoredSnapshot(size, f"anchor of {size}", f"digest of {size}", data)


def count_chunks(store: SqlStore) -> int:
    with store.reading() as connection:
        return connection.scalar(select(func.count()).select_from(snapshot_chunk)) or 0


def test_a_snapshot_comes_back_after_the_store_is_opened_again(place: Place) -> None:
    store = place.open()
    store.save_snapshot(make_snapshot(7))
    store.close()
    assert place.open().load_snapshot(7) == make_snapshot(7)


def test_thirty_megabytes_come_back_byte_by_byte(place: Place) -> None:
    # Half of it cannot be compressed, the other half can.
    data = os.urandom(15_000_000) + bytes(15_000_001)
    store = place.open()
    store.save_snapshot(make_snapshot(1, data))
    assert count_chunks(store) == 8
    loaded = store.load_snapshot(1)
    assert loaded is not None
    assert loaded.data == data


@pytest.mark.parametrize("length", [0, 1, 100, 101, 200])
def test_every_length_comes_back(
    place: Place, length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot_rows, "PART_BYTES", 100)
    made = make_snapshot(3, bytes(length))
    store = place.open()
    store.save_snapshot(made)
    assert store.load_snapshot(3) == made


def test_the_last_three_are_kept_and_the_rows_of_others_are_gone(place: Place) -> None:
    store = place.open()
    for size in (10, 40, 20, 30, 50):
        store.save_snapshot(make_snapshot(size))
    assert store.snapshots() == [50, 40, 30]
    assert store.load_snapshot(10) is None
    assert store.load_snapshot(40) == make_snapshot(40)
    assert count_chunks(store) == 3


def test_a_snapshot_of_the_same_size_takes_the_place_of_the_older(place: Place) -> None:
    store = place.open()
    store.save_snapshot(make_snapshot(5, b"old"))
    store.save_snapshot(make_snapshot(5, b"new"))
    assert store.snapshots() == [5]
    assert store.load_snapshot(5) == make_snapshot(5, b"new")
    assert count_chunks(store) == 1


def test_a_snapshot_is_not_seen_before_it_is_whole_and_what_a_crash_left_is_swept(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot_rows, "PART_BYTES", 10)
    store = place.open()
    for step in islice(snapshot_rows.saving_steps(make_snapshot(9, bytes(50))), 3):
        with store.changing() as connection:
            step(connection)
    assert store.snapshots() == []
    assert count_chunks(store) == 3
    store.save_snapshot(make_snapshot(10))
    assert store.snapshots() == [10]
    assert count_chunks(store) == 1


def test_a_snapshot_whose_parts_were_swept_meanwhile_is_not_published(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot_rows, "PART_BYTES", 10)
    store = place.open()
    steps = list(islice(snapshot_rows.saving_steps(make_snapshot(9, bytes(20))), 3))
    for step in steps[:2]:
        with store.changing() as connection:
            step(connection)
    place.open().save_snapshot(make_snapshot(10))
    with pytest.raises(Unavailable), store.changing() as connection:
        steps[2](connection)
    assert store.snapshots() == [10]


@pytest.mark.parametrize("loss", ["a part", "the end of a part", "all parts"])
def test_a_snapshot_that_has_lost_something_is_as_good_as_gone(
    place: Place, loss: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot_rows, "PART_BYTES", 10)
    store = place.open()
    store.save_snapshot(make_snapshot(4, bytes(50)))
    change = {
        "a part": delete(snapshot_chunk).where(snapshot_chunk.c.part == 2),
        "the end of a part": update(snapshot_chunk).values(data=b"x"),
        "all parts": delete(snapshot_chunk),
    }[loss]
    with store.changing() as connection:
        connection.execute(change)
    assert store.load_snapshot(4) is None


def test_a_failed_save_leaves_the_older_snapshots(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = place.open()
    store.save_snapshot(make_snapshot(1))

    def fail(*_: object, **__: object) -> None:
        raise Unavailable("the test", "it says so")

    monkeypatch.setattr(snapshot_rows, "_publish", fail)
    with pytest.raises(Unavailable):
        store.save_snapshot(make_snapshot(2))
    monkeypatch.undo()
    assert store.snapshots() == [1]
    store.save_snapshot(make_snapshot(3))
    assert store.snapshots() == [3, 1]
    with store.reading() as connection:
        rows = connection.execute(select(snapshot.c.size, snapshot.c.parts)).all()
    assert {tuple(row) for row in rows} == {(3, 1), (1, 1)}
    assert count_chunks(store) == 2


def test_records_are_appended_while_a_snapshot_is_saved(place: Place) -> None:
    store = place.open()
    leader = store.lead("one", "")
    assert leader is not None
    with ThreadPoolExecutor(1) as pool:
        saving = pool.submit(store.save_snapshot, make_snapshot(1, os.urandom(24 << 20)))
        appended = 0
        while not saving.done():
            store.append(leader.epoch, appended, [b"line\n"])
            appended += 1
        saving.result()
    assert appended >= 6, "the journal waited for the snapshot"
    assert store.size() == appended
