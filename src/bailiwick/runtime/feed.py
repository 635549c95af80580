"""The journal as it grows: what was just made durable, for everybody who wants to hear of it.

Rules:

- Only durable records are told, in order. The replica's thread hands them over; it
  never waits for a listener.
- The newest lines are kept in memory, a bounded number. Whoever is further behind reads the store.
- A listener is woken, not handed anything: it asks for what follows the last record it knows. So
  being woken twice, late, or for nothing does no harm.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice

from bailiwick.vocab.values import check_integer

KEPT_MAX = 20_000
"""Lines that are kept in memory."""


class Feed:
    """The end of the journal; ``publish`` from one thread, everything else from any."""

    def __init__(self, *, kept_max: int = KEPT_MAX) -> None:
        self._kept_max = check_integer("kept_max", kept_max, low=1, high=10**7)
        self._lock = threading.Lock()
        self._lines: deque[bytes] = deque()
        self._size = 0
        self._wakes: dict[int, Callable[[], None]] = {}
        self._serial = 0

    @property
    def size(self) -> int:
        """How many records the journal has, as far as was told."""
        return self._size

    def publish(self, first: int, lines: Sequence[bytes] = ()) -> None:
        """The journal is durable up to ``first``, and these lines after it.

        Without lines (a follower, a restart) whoever wants what is before reads the store.
        """
        with self._lock:
            if first + len(lines) <= self._size:
                return
            if first > self._size:
                self._lines.clear()
                self._size = first
            self._lines.extend(lines[self._size - first :])
            self._size = first + len(lines)
            for _ in range(len(self._lines) - self._kept_max):
                self._lines.popleft()
            wakes = list(self._wakes.values())
        for wake in wakes:
            wake()

    def read(self, first: int, limit: int) -> list[bytes] | None:
        """Up to ``limit`` lines from number ``first`` on; ``None`` if they must be read elsewhere.

        An empty list means that there is nothing after it yet.
        """
        with self._lock:
            oldest = self._size - len(self._lines)
            if first < oldest:
                return None
            return list(islice(self._lines, first - oldest, first - oldest + limit))

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
