"""The one place for a search, and the process that searches.

Rules:

- One at a time on a server; whoever comes second is told so.
- The process gives way to everybody else, is bounded by itself, and holds nothing of ours but its
  two pipes. It ends when whoever asked leaves, when the server ends, and, because its input ends
  with us, also when the server is killed.
- A process that says nothing for longer than it may run is ended from here.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from bailiwick.vocab.errors import Unavailable

PROGRAM: Final = ("-m", "bailiwick.tools.isolation.searcher")
LINE_BYTES_MAX: Final = 2**20
SPARE_S: Final = 20.0
"""Above the time that a search has by its own clock."""


class SearchRunning(Exception):
    """The place is taken."""


@dataclass(slots=True, kw_only=True)
class SearchDesk:
    """Who searches now, and how far anybody may."""

    time_s: float = 120.0
    states_max: int = 40_000
    """Of one round."""
    _running: SearchProcess | None = field(default=None, init=False)

    @property
    def pid(self) -> int | None:
        """Of the process that searches now."""
        return None if self._running is None else self._running.pid

    @property
    def is_taken(self) -> bool:
        """Whether somebody searches."""
        return self._running is not None

    def take(self) -> SearchProcess:
        """The place, or a refusal; to be left once or more."""
        if self._running is not None:
            raise SearchRunning("somebody searches already: one search at a time on a server")
        self._running = SearchProcess(self)
        return self._running

    def leave(self, process: SearchProcess) -> None:
        """Give the place back, if it is his."""
        if self._running is process:
            self._running = None


@dataclass(slots=True, eq=False)
class SearchProcess:
    """One process, from when its place was taken; its lines are read by a thread that waits."""

    desk: SearchDesk
    _process: subprocess.Popen[bytes] | None = None
    _lines: asyncio.Queue[bytes] = field(default_factory=asyncio.Queue)
    _ends_s: float = 0.0

    @property
    def pid(self) -> int | None:
        """Of the process, once there is one."""
        return None if self._process is None else self._process.pid

    def start(self, wish: dict[str, Any]) -> None:
        """Begin to search."""
        told = {**wish, "states_max": self.desk.states_max, "time_s": self.desk.time_s}
        loop = asyncio.get_running_loop()
        self._ends_s = loop.time() + self.desk.time_s + SPARE_S
        words, pipe = [sys.executable, *PROGRAM], subprocess.PIPE
        try:
            self._process = process = subprocess.Popen(
                words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
            )
        except OSError as error:
            raise Unavailable("the search", str(error.strerror)) from None
        first = json.dumps(told).encode() + b"\n"
        work = (process, first, loop)
        threading.Thread(target=self._read, args=work, daemon=True, name="search").start()

    def _read(
        self, process: subprocess.Popen[bytes], first: bytes, loop: asyncio.AbstractEventLoop
    ) -> None:
        """Hand on what it says, and wait for it when it is over."""
        assert process.stdin is not None, "it is a pipe"
        assert process.stdout is not None, "it is a pipe"
        with process, suppress(OSError, RuntimeError):  # the loop is closed: nobody hears it
            process.stdin.write(first)
            process.stdin.flush()
            line = b"begin"
            while line:  # bounded by the time that the process has
                line = process.stdout.readline(LINE_BYTES_MAX)
                loop.call_soon_threadsafe(self._lines.put_nowait, line)

    @property
    def left_s(self) -> float:
        """How long it may still go on."""
        return self._ends_s - asyncio.get_running_loop().time()

    async def line(self) -> bytes:
        """What it says next; nothing once it is over."""
        return await self._lines.get()

    def leave(self) -> None:
        """End the process, and give the place back."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()  # which does nothing to one that has ended
        self.desk.leave(self)
