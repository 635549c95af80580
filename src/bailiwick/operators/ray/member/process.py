"""Ray's processes under one member: begun, looked after, and ended with all that they started."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from types import TracebackType

from .rendering import agent_note

TERM_S = 3.5
"""How long Ray has to leave its cluster; the platform gives a member five seconds in all."""
KILL_S = 5.0
LOOK_S = 0.05
_SUBREAPER = 36


def adopt_orphans() -> None:
    """Have this process be the parent of all that lose theirs below it."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


class RayProcess:
    """Ray's own processes of one member, in a folder whose name is short enough for sockets.

    ``ray start`` leaves them to whoever adopts orphans. Those that Ray cannot do without are
    watched; others it begins again itself, or lives without. All of it is gone when this is left.
    """

    def __init__(self, member_id: int, *, is_head: bool) -> None:
        self.temp = tempfile.mkdtemp(prefix=f"ray-{member_id}-", dir="/tmp")
        self._vital = ("gcs_server", "raylet") if is_head else ("raylet",)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> RayProcess:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        until = time.monotonic() + TERM_S
        for name in reversed(self._vital):  # the node first: it says that it leaves
            _signal(signal.SIGTERM, name)
            while name in _below(os.getpid()).values() and time.monotonic() < until:
                _bury()
                time.sleep(LOOK_S)
        end_all()
        shutil.rmtree(self.temp, ignore_errors=True)

    def start(self, words: list[str], environment: dict[str, str]) -> None:
        """Begin it."""
        self._process = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL)

    @property
    def is_up(self) -> bool:
        """Whether it has begun."""
        return self._process is not None and self._process.poll() == 0

    def hasten(self, port: int) -> None:
        """Tell Ray's node what it waits for, as long as it begins."""
        for pid, name in _below(os.getpid()).items() if not self.is_up else ():
            if name == "raylet":
                note = agent_note(_words(pid), port=port)
                if note is not None and not os.path.exists(note[0]):
                    _write_whole(*note)

    def poll(self) -> int | None:
        """An exit code, if it did not begin or has ended."""
        assert self._process is not None
        code = self._process.poll()
        if code is None:
            return None
        _bury()
        there = _below(os.getpid()).values()
        return None if code == 0 and all(name in there for name in self._vital) else code or 1


def _words(pid: int) -> list[str]:
    """The words that began a process; none if it has just ended."""
    with suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read().decode("utf-8", "replace").split("\0")
    return []


def _write_whole(path: str, text: str) -> None:
    """Have a file there, if its folder is, and never a part of it."""
    scratch = f"{path}.{os.getpid()}"
    with suppress(OSError):
        with open(scratch, "w") as file:
            file.write(text)
        os.link(scratch, path)  # whoever was first stays
    with suppress(OSError):
        os.unlink(scratch)


def end_all() -> None:
    """Kill everything below this process, until nothing is left or time is over."""
    until = time.monotonic() + KILL_S
    while time.monotonic() < until:
        found = _below(os.getpid())
        _signal(signal.SIGKILL)
        _bury()
        if not found:
            return
        time.sleep(LOOK_S)


def _signal(number: signal.Signals, name: str | None = None) -> None:
    """Send it to all below this process, or to those that are called so."""
    for pid, called in _below(os.getpid()).items():
        if name in (None, called):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)


def _bury() -> None:
    """Take note of children that have ended."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:  # once for each
            pass


def _below(root: int) -> dict[int, str]:
    """Everything that this process started, and they, and so on; by what it is called."""
    parents = _parents()
    found: dict[int, str] = {}
    todo = [root]
    while todo:  # each process is below one other only
        above = todo.pop()
        below = {pid: name for pid, (parent, name) in parents.items() if parent == above}
        found |= below
        todo += below
    return found


def _parents() -> dict[int, tuple[int, str]]:
    """The parent of each process that lives and can be seen, and what it is called."""
    found = {}
    for number in os.listdir("/proc"):
        if number.isdecimal():
            with suppress(OSError, ValueError):  # it has just ended
                found[int(number)] = _parent(number)
    return found


def _parent(number: str) -> tuple[int, str]:
    with open(f"/proc/{number}/stat", "rb") as file:
        about, _, rest = file.read().rpartition(b")")
    state, parent = rest.split()[:2]
    if state == b"Z":
        raise ValueError("it has ended")
    return int(parent), about.partition(b"(")[2].decode("utf-8", "replace")
