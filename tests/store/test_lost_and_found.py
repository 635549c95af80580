"""What breaks: disks, files, servers, sessions and processes; and how the store comes back."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import psycopg
import pytest

from bailiwick.ports import Leader, StoredSnapshot
from bailiwick.store import sqlite_store
from bailiwick.store.sql_store import SqlStore
from bailiwick.vocab.errors import Damaged, Deposed, Unavailable
from tests.store.conftest import Place
from tests.support.full_disk import no_file_longer_than
from tests.support.postgres import PASSWORD, PostgresServer
from tests.support.waiting import until

LINE = b"x" * 599 + b"\n"
FULL_BYTES = 1_000_000
"""Of a file when the disk is full: more than an empty database has, with the log of its making."""


def led(store: SqlStore, name: str = "one") -> Leader:
    leader = store.lead(name, "")
    assert leader is not None
    return leader


def lead_in_time(store: SqlStore, name: str) -> Leader:
    """Lead as soon as the server has noticed that the last leader is gone, and the store that
    its connection is.
    """

    def ask() -> Leader | None:
        try:
            return store.lead(name, "")
        except Unavailable:
            return None

    return until(ask, "somebody can lead")


# --- processes -----------------------------------------------------------------------------------

APPENDING = """
import sys
from bailiwick.store import open_store
store = open_store(sys.argv[1])
leader = store.lead("child", "")
size = store.size()
while True:
    store.append(leader.epoch, size, [b"%d\\n" % number for number in range(size, size + 7)])
    size += 7
    print(size, flush=True)
"""


def test_a_leader_that_is_killed_loses_nothing_it_confirmed_and_another_leads(place: Place) -> None:
    follower = place.open()
    confirmed = 0
    for _ in range(3):
        child = subprocess.Popen(
            [sys.executable, "-c", APPENDING, place.url], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        for _ in range(20):
            confirmed = int(child.stdout.readline())
        assert follower.lead("follower", "") is None
        child.kill()
        rest = child.stdout.read()
        # The last line may be torn: only a whole one confirms anything.
        whole = rest[: rest.rfind("\n") + 1].split()
        confirmed = int(whole[-1]) if whole else confirmed
        child.wait()
        size = follower.size()
        assert size >= confirmed
        assert size % 7 == 0, "half a batch"
        # No more than that: what it had sent last may be committed meanwhile.
        assert follower.read(0, size) == [b"%d\n" % number for number in range(size)]
        leader = lead_in_time(follower, "follower")
        # What the dead one had sent may have been committed meanwhile; now it cannot any more.
        size = follower.size()
        assert size % 7 == 0, "half a batch"
        assert follower.read(0, size + 1) == [b"%d\n" % number for number in range(size)]
        follower.append(leader.epoch, size, [b"%d\n" % n for n in range(size, size + 7)])
        follower.resign()


# --- SQLite --------------------------------------------------------------------------------------


def append_for_ever(store: SqlStore, leader: Leader, confirmed: list[int]) -> None:
    for size in range(0, 640_000, 64):
        store.append(leader.epoch, size, [LINE] * 64)
        confirmed.append(size + 64)


def test_a_full_disk_is_unavailable_and_the_store_goes_on_when_there_is_room(
    sqlite_place: Place,
) -> None:
    store = sqlite_place.open()
    leader = led(store)
    confirmed: list[int] = []
    with no_file_longer_than(FULL_BYTES), pytest.raises(Unavailable):
        append_for_ever(store, leader, confirmed)
    assert confirmed, "the disk was full from the beginning"
    size = store.size()
    assert size in (confirmed[-1], confirmed[-1] + 64), "half a batch"
    with no_file_longer_than(FULL_BYTES), pytest.raises(Unavailable):
        store.save_snapshot(StoredSnapshot(1, "", "", os.urandom(2 * FULL_BYTES)))
    assert store.snapshots() == []
    store.append(leader.epoch, size, [LINE] * 64)
    assert store.read(0, size + 99) == [LINE] * (size + 64)
    store.close()
    assert sqlite_place.open().size() == size + 64


def test_a_database_that_another_writes_to_for_too_long_is_unavailable(
    sqlite_place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_store, "BUSY_S", 0.1)
    store = sqlite_place.open()
    leader = led(store)
    other = sqlite3.connect(Path(sqlite_place.url) / "bailiwick.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Unavailable, match="locked"):
        store.append(leader.epoch, 0, [LINE])
    with pytest.raises(Unavailable, match="locked"):
        store.lead("again", "")
    assert store.size() == 0, "reading needs no lock"
    other.execute("ROLLBACK")
    other.close()
    store.append(led(store).epoch, 0, [LINE])
    assert store.size() == 1


@pytest.mark.parametrize("read_only", [False, True])
def test_a_file_that_is_no_database_is_damaged_and_named(
    sqlite_place: Place, read_only: bool
) -> None:
    folder = Path(sqlite_place.url)
    (folder / "bailiwick.db").write_bytes(b"this is a letter to my aunt\n" * 400)
    with pytest.raises(Damaged, match=r"bailiwick\.db"):
        sqlite_place.open(read_only=read_only)
    assert (folder / "bailiwick.db").read_bytes().startswith(b"this is a letter")


def test_damaged_pages_are_found_when_they_are_read(sqlite_place: Place) -> None:
    store = sqlite_place.open()
    store.append(led(store).epoch, 0, [LINE] * 2_000)
    store.close()
    path = Path(sqlite_place.url) / "bailiwick.db"
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2 // 4096 * 4096)
        file.write(b"\xff" * 40_960)
    again = sqlite_place.open()
    with pytest.raises(Damaged):
        again.read(0, 2_000)


def test_a_directory_that_cannot_be_made_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(Unavailable):
        Place(str(tmp_path / "file" / "data")).open()


# --- PostgreSQL ----------------------------------------------------------------------------------


def sessions_of(server: PostgresServer, place: Place, name: str) -> list[tuple[object, ...]]:
    database = place.url.rpartition("/")[2]
    return server.run_sql(
        f"SELECT pid FROM pg_stat_activity WHERE application_name = '{name}'"
        f" AND datname = '{database}'"
    )


def test_a_stopped_server_is_unavailable_and_the_store_comes_back_with_it(
    postgres: PostgresServer, postgres_place: Place
) -> None:
    store, follower = postgres_place.open(), postgres_place.open(read_only=True)
    leader = led(store)
    store.append(leader.epoch, 0, [LINE] * 5)
    assert follower.size() == 5
    postgres.stop()
    try:
        calls = [
            lambda: store.append(leader.epoch, 5, [LINE]),
            store.size,
            follower.size,
            lambda: store.lead("one", ""),
            lambda: follower.read(0, 1),
            lambda: store.save_snapshot(StoredSnapshot(1, "", "", b"")),
            postgres_place.open,
        ]
        for call in calls:
            with pytest.raises(Unavailable) as raised:
                call()
            assert PASSWORD not in str(raised.value)
    finally:
        postgres.start()
    assert follower.read(0, 9) == [LINE] * 5
    assert store.size() == 5
    with pytest.raises(Deposed):
        store.append(leader.epoch, 5, [LINE])
    again = led(store)
    assert again.epoch > leader.epoch
    store.append(again.epoch, 5, [LINE])
    assert follower.size() == 6


def test_a_server_that_is_killed_keeps_what_it_confirmed(
    postgres: PostgresServer, postgres_place: Place
) -> None:
    store = postgres_place.open()
    leader = led(store)
    confirmed = [0]
    stopped = threading.Event()

    def work() -> None:
        while not stopped.is_set():
            try:
                store.append(leader.epoch, confirmed[0], [LINE] * 8)
            except (Unavailable, Deposed):
                return
            confirmed[0] += 8

    thread = threading.Thread(target=work)
    thread.start()
    until(lambda: confirmed[0] >= 80, "some are confirmed")
    try:
        postgres.kill9()
    finally:
        stopped.set()
        thread.join()
        postgres.start()
    size = store.size()
    assert size in (confirmed[0], confirmed[0] + 8)
    assert size > 0
    assert store.read(0, size) == [LINE] * size
    store.append(lead_in_time(store, "one").epoch, size, [LINE])


def test_a_leader_whose_session_is_ended_leads_no_more_and_another_can(
    postgres: PostgresServer, postgres_place: Place
) -> None:
    old, new = postgres_place.open(), postgres_place.open()
    before = led(old, "old")
    old.append(before.epoch, 0, [LINE])
    ((pid,),) = sessions_of(postgres, postgres_place, "bailiwick-leader")
    postgres.run_sql(f"SELECT pg_terminate_backend({pid}, 60000)")
    after = lead_in_time(new, "new")
    assert after.epoch == before.epoch + 1
    new.append(after.epoch, 1, [LINE])
    with pytest.raises(Unavailable):
        old.append(before.epoch, 1, [LINE])
    with pytest.raises(Deposed) as raised:
        old.append(before.epoch, 2, [LINE])
    assert raised.value.current == after.epoch
    assert old.lead("old", "") is None
    assert old.size() == 2
    new.resign()
    old.append(led(old, "old").epoch, 2, [LINE])


def test_readers_whose_sessions_are_ended_ask_again_by_themselves(
    postgres: PostgresServer, postgres_place: Place
) -> None:
    store = postgres_place.open()
    store.append(led(store).epoch, 0, [LINE])
    for (pid,) in sessions_of(postgres, postgres_place, "bailiwick"):
        postgres.run_sql(f"SELECT pg_terminate_backend({pid}, 60000)")
    assert store.read(0, 9) == [LINE]


def test_a_wait_that_is_too_long_is_unavailable_and_the_leader_still_leads(
    postgres_place: Place,
) -> None:
    place = Place(f"{postgres_place.url}?options=-c%20lock_timeout%3D200")
    store = place.open()
    leader = led(store)
    with psycopg.connect(postgres_place.url) as other:
        other.execute("SELECT * FROM writer FOR UPDATE")
        with pytest.raises(Unavailable, match="lock timeout"):
            store.append(leader.epoch, 0, [LINE])
    store.append(leader.epoch, 0, [LINE])
    assert store.size() == 1
    place.close()


def test_commits_are_durable_even_where_the_server_is_set_otherwise(
    postgres: PostgresServer, postgres_place: Place
) -> None:
    database = postgres_place.url.rpartition("/")[2]
    for said, kept in (("off", "on"), ("local", "local")):
        postgres.run_sql(f"ALTER DATABASE {database} SET synchronous_commit = '{said}'")
        with postgres_place.open().reading() as connection:
            found = connection.exec_driver_sql("SHOW synchronous_commit").scalar()
        assert found == kept


def test_an_address_is_shown_without_its_password(postgres_place: Place) -> None:
    store = postgres_place.open()
    assert PASSWORD not in store.where
    assert store.where.startswith("postgresql://keeper:***@")
