"""Where server processes of tests come from: one that has loaded the server forks for each start.

A kill test starts the same program dozens of times, and nearly all of a start is loading modules.
What is forked is a process of its own in every other respect: its number, its session, its files,
its signals, its end. How the installed command starts is tested in ``test_up``.

Run as a program (``python -m tests.processes.nursery FD``) it is that process. It ends with the
test run, however that ends, and everything that it has forked ends with it.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO, Any

from tests.support.waiting import WAIT_S, until

ROOT = Path(__file__).resolve().parents[2]
LOADED = (
    *("bailiwick.cli.main", "bailiwick.cli.commands.up", "bailiwick.server.process"),
    *("bailiwick.store.migrations", "sqlalchemy.dialects.sqlite.pysqlite"),
    *("sqlalchemy.dialects.postgresql.psycopg", "uvicorn.loops.uvloop"),
    *("uvicorn.protocols.http.httptools_impl", "uvicorn.lifespan.off"),
)
_PR_SET_PDEATHSIG = 1


# -- in the test -----------------------------------------------------------------------------


@dataclass
class Born:
    """A process that the nursery has forked, as ``subprocess`` would show it."""

    pid: int
    _nursery: Nursery = field(repr=False)
    _code: int | None = None

    def poll(self) -> int | None:
        """Its exit code, or less than zero by a signal; nothing while it runs."""
        if self._code is None:
            self._code = self._nursery.ask({"poll": self.pid})
        return self._code

    def wait(self) -> int:
        """Its exit code, once it has ended."""
        until(lambda: self.poll() is not None, f"process {self.pid} has ended")
        assert self._code is not None
        return self._code

    def send_signal(self, number: signal.Signals) -> None:
        """A signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)


class Nursery:
    """The test's end of the line."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        guard = shutil.which("setpriv")
        with theirs:
            self._process = subprocess.Popen(
                [
                    *([guard, "--pdeathsig", "KILL"] if guard else []),
                    *(sys.executable, "-m", "tests.processes.nursery", str(theirs.fileno())),
                ],
                stdin=subprocess.DEVNULL,
                cwd=ROOT,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        ours.settimeout(WAIT_S)
        self._line, self._lock = ours.makefile("rw"), threading.Lock()

    def ask(self, order: dict[str, Any]) -> Any:
        """What it answers."""
        with self._lock:
            _say(self._line, order)
            answer = self._line.readline()
        assert answer, "the process that starts servers is gone"
        return json.loads(answer)

    def start(self, arguments: Sequence[str], *, out: Path, err: Path) -> Born:
        """One more process, which runs the command with these arguments."""
        order = {"start": list(arguments), "out": str(out), "err": str(err)}
        return Born(self.ask(order), self)


@cache
def nursery() -> Nursery:
    """The one of this test process."""
    return Nursery()


def _say(line: IO[str], what: Any) -> None:
    line.write(json.dumps(what) + "\n")
    line.flush()


# -- in the nursery --------------------------------------------------------------------------


def _serve(control: socket.socket) -> list[str] | None:
    """Answer until the test is gone; in a process that was forked, what it is to run."""
    line = control.makefile("rw")
    for text in line:
        order = json.loads(text)
        if "poll" in order:
            _say(line, _poll(order["poll"]))
            continue
        parent = os.getpid()
        child = os.fork()
        if not child:
            with contextlib.suppress(OSError):
                line.close()
            control.close()
            _settle(parent, out=order["out"], err=order["err"])
            arguments: list[str] = order["start"]
            return arguments
        _say(line, child)
    return None


def _poll(pid: int) -> int | None:
    ended, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


def _settle(parent: int, *, out: str, err: str) -> None:
    """Be a process of one's own that dies with the nursery, and writes where it is told."""
    os.setsid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before that was asked for
        os._exit(1)
    for path, number in ((out, 1), (err, 2)):
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(file, number)
        os.close(file)


if __name__ == "__main__":
    for name in LOADED:
        importlib.import_module(name)
    assert threading.active_count() == 1, "a thread would be lost in what is forked"
    gc.freeze()
    given = _serve(socket.socket(fileno=int(sys.argv[1])))
    if given is not None:
        from bailiwick.cli.main import main

        main(given)
