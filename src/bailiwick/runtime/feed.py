"""The journal as it grows: what was just made durable, for everybody who wants to hear of it.

Rules:

- Only durable records are told, in order. The replica's thread hands them over; it
  never waits for a listener.
- The newest lines are kept in memory, a bounded number. Whoever is further behind reads the store.
- With its lines a replica hands on what they did, for a while: a second state in the same process
  need not read them.
- A listener is woken, not handed anything: it asks for what follows the last record it knows. So
  being woken twice, late, or for nothing does no harm.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from bailiwick.kernel.machine import Step
from bailiwick.vocab.values import check_integer

KEPT_MAX = 20_000
"""Lines that are kept in memory."""
STEPS_MAX = 4_000
"""Steps that are kept: far more than a second state is behind."""

T = TypeVar("T")


class Feed:
    """The end of the journal; ``publish`` from one thread, everything else from any."""

    def __init__(self, *, kept_max: int = KEPT_MAX) -> None:
        self._kept_max = check_integer("kept_max", kept_max, low=1, high=10**7)
        self._lock = threading.Lock()
        self._lines: deque[bytes] = deque()
        self._steps: deque[Step] = deque()
        self._size = 0
        self._wakes: dict[int, Callable[[], None]] = {}
        self._serial = 0

    @property
    def size(self) -> int:
        """How many records the journal has, as far as was told."""
        return self._size

    def publish(
        self, first: int, lines: Sequence[bytes] = (), *, steps: Sequence[Step] = ()
    ) -> None:
        """The journal is durable up to ``first``, and these lines after it; what each of them did.

        Without lines (a restart) whoever wants what is before reads the store.
        """
        with self._lock:
            if first + len(lines) <= self._size:
                return
            if first > self._size or len(steps) != len(lines):
                self._steps.clear()
            if first > self._size:
                self._lines.clear()
                self._size = first
            known = self._size - first
            self._lines.extend(lines[known:])
            self._steps.extend(steps[known:])
            self._size = first + len(lines)
            _trim(self._lines, self._kept_max)
            _trim(self._steps, STEPS_MAX)
            wakes = list(self._wakes.values())
        for wake in wakes:
            wake()

    def read(self, first: int, limit: int) -> list[bytes] | None:
        """Up to ``limit`` lines from number ``first`` on; ``None`` if they must be read elsewhere.

        An empty list means that there is nothing after it yet.
        """
        with self._lock:
            return _slice(self._lines, first - self._size, limit)

    def steps(self, first: int, limit: int) -> list[Step] | None:
        """What those lines did; ``None`` if they must be read."""
        with self._lock:
            return _slice(self._steps, first - self._size, limit)

    def listen(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Have ``wake`` called (in the replica's thread; it must be quick); call the result to end.

        It is called after every batch, for as long as nobody ended it.
        """
        with self._lock:
            self._serial += 1
            number = self._serial
            self._wakes[number] = wake

        def end() -> None:
            with self._lock:
                self._wakes.pop(number, None)

        return end


def _trim(kept: deque[T], most: int) -> None:
    for _ in range(len(kept) - most):
        kept.popleft()


def _slice(kept: deque[T], from_end: int, limit: int) -> list[T] | None:
    begin = len(kept) + from_end
    if begin < 0:
        return None
    # By index: who is near the end does not pay for what is before.
    return [kept[index] for index in range(begin, min(begin + limit, len(kept)))]


class LineStore(Protocol):
    """As much of a store as it takes to read the journal."""

    def size(self) -> int:
        """How many records there are."""

    def read(self, first: int, limit: int) -> list[bytes]:
        """Up to ``limit`` lines from number ``first`` on."""


class StoredLines:
    """The lines of a store, for whoever has no replica to tell how far they go."""

    def __init__(self, store: LineStore) -> None:
        self._store = store

    @property
    def size(self) -> int:
        """How many there are."""
        return self._store.size()

    def read(self, first: int, limit: int) -> Sequence[bytes]:
        """Up to ``limit`` lines from number ``first`` on; none at the end."""
        return self._store.read(first, limit)

    def listen(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Nobody tells of news: who wants to know asks."""
        del wake
        return lambda: None


class DurableLines:
    """All durable lines: from memory, or else from the store; from any thread."""

    def __init__(self, feed: Feed, read_store: Callable[[int, int], Sequence[bytes]]) -> None:
        self._feed, self._read_store = feed, read_store

    @property
    def size(self) -> int:
        """How many there are, as far as was told."""
        return self._feed.size

    def read(self, first: int, limit: int) -> Sequence[bytes]:
        """Up to ``limit`` lines from number ``first`` on; none at the end. It may wait for a disk.

        Never more than was published: a store may know of records a moment earlier.
        """
        found = self._feed.read(first, limit)
        if found is not None:
            return found
        return self._read_store(first, max(0, min(limit, self._feed.size - first)))

    def listen(self, wake: Callable[[], None]) -> Callable[[], None]:
        """As :meth:`Feed.listen`."""
        return self._feed.listen(wake)
