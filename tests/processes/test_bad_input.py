"""What a process does with a store that is damaged, newer than itself, or full."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import sqlite3
import subprocess
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes.caller import CallFailed, spelled
from tests.processes.harness import Server, running
from tests.processes.judge import Judge
from tests.processes.load import node_command, submit_command
from tests.support.waiting import until


def alone(folder: Path, *arguments: str) -> Server:
    return Server(folder, "alone", "--data-dir", str(folder / "data"), *arguments)


def fill(server: Server, commands: int = 60) -> dict[str, object]:
    """Some history; the status at its end."""
    with server.client() as client:
        client.call(node_command("node-0"), key="node-0")
        for number in range(commands):
            command = submit_command(random.Random(number)) | {"wait": False}
            command["request"].pop("ttl_ms", None)
            client.call(command, key=f"fill-{number}")
        return client.status(digest=True)


@contextlib.contextmanager
def opened(server_folder: Path) -> Iterator[sqlite3.Connection]:
    """The database, to be damaged."""
    connection = sqlite3.connect(server_folder / "data" / "bailiwick.db")
    with contextlib.closing(connection), connection:
        yield connection


def other_content(data: bytes) -> bytes:
    """A part of a snapshot that is whole, but is not what was stored."""
    raw = bytearray(zlib.decompress(data))
    raw[len(raw) // 2] ^= 1
    return zlib.compress(bytes(raw))


@pytest.mark.parametrize("damage", [other_content, lambda data: data[:-9]], ids=["other", "torn"])
def test_a_damaged_snapshot_is_passed_over_with_a_warning(tmp_path: Path, damage: object) -> None:
    server = alone(tmp_path, "--snapshot-every", "20")
    with running(server):
        before = fill(server)

        def saved() -> bool:
            with opened(tmp_path) as connection:
                (count,) = connection.execute("SELECT count(*) FROM snapshot").fetchone()
                return bool(count >= 2)

        until(saved, "two snapshots are there")
        assert server.stop() == 0
        with opened(tmp_path) as connection:
            newest = "SELECT size, upload FROM snapshot ORDER BY size DESC LIMIT 1"
            size, upload = connection.execute(newest).fetchone()
            (data,) = connection.execute(
                "SELECT data FROM snapshot_chunk WHERE upload = ?", (upload,)
            ).fetchone()
            assert callable(damage)
            connection.execute(
                "UPDATE snapshot_chunk SET data = ? WHERE upload = ?", (damage(data), upload)
            )
        server.start()
        with server.client() as client:
            until(lambda: client.status()["role"] == "leading", "it leads")
            status = client.status(digest=True)
        assert f"snapshot {size} is passed over" in server.errors
        assert (status["leases"], status["nodes"]) == (before["leases"], before["nodes"])
        Judge(str(tmp_path / "data")).check_digest(status["size"], status["digest"])


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE journal SET line = CAST(replace(line, 'lab', 'lub') AS BLOB) WHERE seq = 17",
        "UPDATE journal SET line = replace(line, 'lab', 'lub') WHERE seq = 17",
        "UPDATE journal SET line = x'00ff0a' WHERE seq = 17",
        "DELETE FROM journal WHERE seq = 17",
        "UPDATE journal SET line = (SELECT line FROM journal WHERE seq = 18) WHERE seq = 17",
    ],
    ids=["changed", "text", "garbage", "missing", "copied"],
)
def test_a_damaged_journal_stops_the_start_and_says_where(tmp_path: Path, damage: str) -> None:
    server = alone(tmp_path)
    with running(server):
        fill(server, 25)
        assert server.stop() == 0
        with opened(tmp_path) as connection:
            assert connection.execute(damage).rowcount == 1
        server.start(wait=False)
        assert server.wait() == 1
        last = server.errors.splitlines()[-1]
        assert last.startswith("bailiwick: journal is damaged at record 17"), server.errors
        assert "Traceback" not in server.errors


def test_a_database_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    server = alone(tmp_path)
    with running(server):
        assert server.stop() == 0
        with opened(tmp_path) as connection:
            connection.execute("UPDATE alembic_version SET version_num = '9999'")
        server.start(wait=False)
        assert server.wait() == 1
        assert "the database has schema 9999" in server.errors
        assert "Traceback" not in server.errors


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    server = alone(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "bailiwick.db").write_bytes(b"not a database" * 1000)
    server.start(wait=False)
    try:
        assert server.wait() == 1
        assert "is damaged" in server.errors
        assert "Traceback" not in server.errors
    finally:
        server.close()


def check_that_it_waits_for_room(server: Server) -> None:
    """A caller is told in our words, may try again, and the process lives."""
    with server.client() as client:
        for number in range(3):
            asked = spelled(submit_command(random.Random(number)))
            with pytest.raises(CallFailed) as failed:
                client.ask_once(*asked, key=f"no-room-{number}")
            assert failed.value.retryable
            assert failed.value.code in ("unavailable", "not_leader"), failed.value
    assert server.runs


def check_that_it_goes_on(server: Server, folder: Path) -> None:
    with server.client() as client:
        answer = client.call(submit_command(random.Random(0)), key="no-room-0")
        assert answer["answer"] in ("granted", "queued", "refused")
        status = client.status(digest=True)
    judge = Judge(str(folder / "data"))
    judge.check([])
    judge.check_digest(status["size"], status["digest"])


def test_a_full_disk_is_told_and_waited_out(tmp_path: Path) -> None:
    server = alone(tmp_path)
    with running(server):
        fill(server)
        before = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (0, before[1]))  # not a byte more
        check_that_it_waits_for_room(server)
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, before)
        check_that_it_goes_on(server, tmp_path)
        assert server.stop() == 0


def test_a_file_system_without_room_is_told_and_waited_out(tmp_path: Path) -> None:
    place = tmp_path / "data"
    place.mkdir()
    # More than what is written before it is filled, however long that takes.
    mount = ["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", str(place)]
    if os.getuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small file system is not allowed here")
    try:
        server = alone(tmp_path)
        with running(server):
            fill(server)
            room = os.statvfs(place)
            filler = place / "filler"
            with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
                while file.write(b"\0" * room.f_bsize):
                    pass
            check_that_it_waits_for_room_of(server)
            filler.unlink()
            check_that_it_goes_on(server, tmp_path)
            assert server.stop() == 0
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def check_that_it_waits_for_room_of(server: Server) -> None:
    """As above, after what is left in files that have their room already is used up."""

    def refused() -> bool:
        with server.client() as client:
            try:
                client.ask_once(*spelled(submit_command(random.Random(1)) | {"wait": False}))
            except CallFailed as error:
                return error.retryable
        return False

    until(refused, "the room is used up")
    check_that_it_waits_for_room(server)
