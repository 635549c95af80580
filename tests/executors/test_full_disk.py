"""A job that fills the disk ends as any other, is cleared away, and leaves room for the next."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bailiwick.executors.local.executor import LocalExecutor
from bailiwick.executors.port import Exited
from bailiwick.executors.spares import Spares, save_atomically
from tests.executors.conftest import PATIENT
from tests.executors.jobs import ended, shell, text_of
from tests.support.waiting import until

FILL = "cat /dev/zero > full 2>/dev/null"
USE_UP = "n=0; while true > f$n; do n=$((n+1)); done 2>/dev/null"
"""All files that the file system can have."""


@pytest.fixture
def small(tmp_path: Path) -> Iterator[LocalExecutor]:
    """An executor whose jobs share a small file system."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m,nr_inodes=60", "tmpfs", str(place)]
    if os.getuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small file system is not allowed here")
    executor = LocalExecutor(place / "jobs", waits=PATIENT)
    try:
        yield executor
        for found in executor.adopt():
            executor.tear_down(found.lease_id)
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.parametrize("fill", [FILL, USE_UP], ids=["bytes", "files"])
def test_how_a_job_ended_that_filled_the_disk_is_known(small: LocalExecutor, fill: str) -> None:
    small.start(shell(1, f"{fill}; echo more than can be kept; exit 7"))
    found = ended(small, 1)
    assert (found.code, found.is_emptied) == (7, True)
    assert small.tear_down(1)
    small.forget(1)
    small.start(shell(2, "echo room"))
    assert ended(small, 2).code == 0
    assert text_of(small, 2) == "room\n"


@pytest.mark.parametrize("fill", [FILL, USE_UP], ids=["bytes", "files"])
def test_a_job_that_keeps_the_disk_full_is_torn_down(small: LocalExecutor, fill: str) -> None:
    small.start(shell(1, f"{fill}; exec sleep 1000"))
    until(lambda: is_full(small.output(1)[0].parent), "the disk is full")
    assert small.tear_down(1)
    status = small.status(1)
    assert isinstance(status, Exited)
    assert status.is_emptied
    small.forget(1)
    assert small.leases() == ()


def test_a_job_beside_it_goes_on_and_says_what_it_cannot_keep(small: LocalExecutor) -> None:
    go_on = "while [ ! -e /proc/$$/cwd/go ]; do sleep 0.05; done"
    small.start(shell(1, f"{go_on}; for i in 1 2 3 4 5 6 7 8 9; do echo $i $i $i; done; exit 3"))
    go = small.output(1)[0].parent / "work" / "go"
    go.touch()
    before = go.with_name("later")
    go.rename(before)
    small.start(shell(2, f"{FILL}; {USE_UP}; echo full; exec sleep 1000"))
    until(lambda: is_full(before.parent) and not can_make(before.parent), "nothing can be made")
    before.rename(go)
    assert ended(small, 1).code == 3
    assert small.tear_down(2)


def test_nothing_is_kept_back_of_a_job_that_is_over(executor: LocalExecutor, root: Path) -> None:
    executor.start(shell(1, "exit 0"))
    ended(executor, 1)
    assert [path.name for path in (root / "1").iterdir() if "spare" in path.name] == []


def test_without_spares_an_end_is_written_all_the_same(tmp_path: Path) -> None:
    end, mark = tmp_path / "exit.json", tmp_path / "mark"
    spares = Spares(str(end), str(mark))
    for path in tmp_path.iterdir():
        path.unlink()
    for number in range(4):
        spares.save_end({"code": number})
        assert end.read_text(encoding="ascii") == f'{{"code": {number}}}'
    spares.mark_cut()
    spares.mark_cut()
    spares.drop()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["exit.json", "mark"]


def test_a_file_that_is_cut_short_leaves_the_former_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "state.json"
    save_atomically(str(path), {"a": 1})
    with monkeypatch.context() as patched:
        patched.setattr("bailiwick.executors.spares.os.write", lambda fd, data: len(data) - 1)
        with pytest.raises(OSError, match="No space"):
            save_atomically(str(path), {"a": 2})
    assert path.read_text(encoding="ascii") == '{"a": 1}'
    assert list(tmp_path.iterdir()) == [path]


def is_full(folder: Path) -> bool:
    """Whether no more can be written there, or no further file be made."""
    room = os.statvfs(folder)
    return room.f_bavail == 0 or room.f_favail == 0


def can_make(folder: Path) -> bool:
    """Whether a further file can be made."""
    with contextlib.suppress(OSError):
        (folder / "one").touch()
        (folder / "one").unlink()
        return True
    return False
