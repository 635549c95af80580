"""Following the journal: a thread that hands each new durable record to whoever counts or indexes.

Rules:

- It never holds up the replica: being woken sets a flag. What came meanwhile is read in one go.
- What is no longer in memory is read from the store; if that fails it is tried again later.
- A record is handed over once, in order.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from bailiwick.vocab.errors import BailiwickError

READ_MAX = 1000
PAUSE_S = 0.05
"""How long news gathers, so that a busy journal is read in large pieces."""
IDLE_S = 1.0

Follow = Callable[[Mapping[str, Any]], None]
Begin = Callable[[int], int]
"""Where to begin, given the size of the journal when there first is one."""

ReadStore = Callable[[int, int], Sequence[bytes]]


class Feed(Protocol):
    """The end of the journal; ``bailiwick.runtime.feed`` is one."""

    @property
    def size(self) -> int:
        """How many records there are."""

    def read(self, first: int, limit: int) -> list[bytes] | None:
        """Lines from ``first`` on; ``None`` if they must be read elsewhere."""

    def listen(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Have ``wake`` called after every batch; call the result to end."""


class Follower:
    """One thread over one feed."""

    def __init__(self, feed: Feed, read_store: ReadStore, *, begin: Begin, follow: Follow) -> None:
        self._feed, self._read_store, self._follow = feed, read_store, follow
        self._begin, self._begun = begin, False
        self._next = 0
        self._wake, self._ending = threading.Event(), False
        self._moved = threading.Condition()
        self._unlisten = feed.listen(self._wake.set)
        self._thread = threading.Thread(target=self._run, name="telemetry-follow", daemon=True)
        self._thread.start()

    @property
    def next_seq(self) -> int:
        """The number of the record that is handed over next."""
        return self._next

    def catch_up(self, wait_s: float) -> bool:
        """Whether all that is durable now is handed over within the time."""
        until, size = time.monotonic() + wait_s, self._feed.size
        self._wake.set()
        with self._moved:
            return self._moved.wait_for(
                lambda: self._next >= size, max(0.0, until - time.monotonic())
            )

    def close(self) -> None:
        """Stop following."""
        self._unlisten()
        self._ending = True
        self._wake.set()
        self._thread.join(10.0)

    def _run(self) -> None:
        while not self._ending:  # until closed: this is the follower's own thread
            self._wake.wait(IDLE_S)
            self._wake.clear()
            try:
                while self._read_on() and not self._ending:  # bounded: the journal is finite
                    pass
            except BailiwickError:
                self._wake.set()  # the store is away: the next round asks again
            time.sleep(PAUSE_S)

    def _read_on(self) -> bool:
        if not self._begun:
            if self._feed.size == 0:
                return False  # the replica is still reading the store
            with self._moved:
                self._next, self._begun = self._begin(self._feed.size), True
                self._moved.notify_all()
        lines: Sequence[bytes] | None = self._feed.read(self._next, READ_MAX)
        if lines is None:
            lines = self._read_store(self._next, READ_MAX)
        for line in lines:
            self._follow(json.loads(line))
        if lines:
            with self._moved:
                self._next += len(lines)
                self._moved.notify_all()
        return len(lines) == READ_MAX
