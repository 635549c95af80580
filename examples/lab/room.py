"""Where a lab runs: one folder, and a room of processes that ends as a whole.

Rules:

- All processes of a lab are in a process namespace of their own. When its first one ends, however
  it ended, the system ends all others. That first one ends when whoever asked for the lab does,
  also after ``kill -9``.
- All files are in one folder. It is removed at the end; what a lab that was killed left of it is
  removed when the next one begins.
- There is one lab at a time for each user, by a lock that the system gives back.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
_BESIDE = '"$@" & wait $!; exit $?'
"""The first process of a room: it takes note of those that lost their parents."""
_AS_A_NODE = 'hostname "$0" 2>/dev/null; "$@" & wait $!; exit $?'


def default_folder() -> Path:
    """One for each user, with a short name: sockets lie below it."""
    return Path(tempfile.gettempdir()) / f"bw-lab-{os.getuid()}"


def in_a_room(command: list[str], *, node: str | None = None) -> list[str]:
    """The words that begin a command in a room of its own, which ends with it and with who asks."""
    own = [] if os.geteuid() == 0 else ["--user", "--map-current-user"]
    room = [
        *("setpriv", "--pdeathsig", "KILL", "unshare", *own),
        *("--pid", "--fork", "--kill-child=KILL", "--mount-proc"),
    ]
    if node is None:
        return [*room, "sh", "-c", _BESIDE, "lab", *command]
    return [*room, "--uts", "sh", "-c", _AS_A_NODE, node, *command]


@contextmanager
def clean_folder(folder: Path) -> Iterator[Path]:
    """An empty folder that is gone afterwards."""
    lock = folder.with_name(f"{folder.name}.lock")
    with lock.open("w") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            sys.exit(
                f"a lab runs already in {folder}: end it with Ctrl-C, or give another --folder"
            )
        try:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(mode=0o700)
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            lock.unlink()


def run_in(folder: Path, *, port: int) -> int:
    """Have the lab run in a room until told to end; how it ended."""
    words = [sys.executable, "-m", "examples.lab", "inside", str(folder), str(port)]
    room = subprocess.Popen(
        in_a_room(words),
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        # Ctrl-C is for who asked for the lab: he ends the room.
        start_new_session=True,
    )
    try:
        return room.wait()
    finally:
        room.kill()
        room.wait()
