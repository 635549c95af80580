"""Which instance is looked at next: a queue of keys that are due, each with one worker at a time.

Rules:

- A key is in the queue once, however often it is added. The earliest time that was asked for
  counts.
- A key that a worker has is given to no other. What is added meanwhile waits until the worker is
  done, and is due then: nothing that was heard of is lost.
- Of those that are due the one that has been due for longest comes first, and of equals the one
  that was added first. So none waits for ever.
- A key that is forgotten comes back only if it is added again; the worker that has it keeps it.
- No clock is read here and nobody waits here: whoever asks says what time it is.

>>> queue = WorkQueue()
>>> queue.add(7, due=1.0)
>>> queue.take(0.5), queue.take(1.0), queue.take(1.0)
(None, 7, None)
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field


@dataclass(slots=True)
class WorkQueue:
    """Keys and when each is due."""

    _due: dict[int, tuple[float, int]] = field(default_factory=dict)
    """By key: when, and as which."""
    _heap: list[tuple[float, int, int]] = field(default_factory=list)
    """When, as which, and the key; what is no longer so is passed over."""
    _taken: set[int] = field(default_factory=set)
    _later: dict[int, float] = field(default_factory=dict)
    """What was added while a worker had it."""
    _gone: set[int] = field(default_factory=set)
    """What was forgotten while a worker had it."""
    _failures: dict[int, int] = field(default_factory=dict)
    _serial: int = 0

    def __len__(self) -> int:
        """How many wait, due or not."""
        return len(self._due)

    @property
    def taken(self) -> frozenset[int]:
        """Which are with a worker."""
        return frozenset(self._taken)

    def add(self, key: int, *, due: float) -> None:
        """Have a key looked at, no later than this if it waits already."""
        if key in self._taken:
            self._later[key] = min(due, self._later.get(key, due))
            return
        known = self._due.get(key)
        if known is None or due < known[0]:
            self._serial += 1
            self._due[key] = due, self._serial
            heapq.heappush(self._heap, (due, self._serial, key))

    def take(self, now: float) -> int | None:
        """The next key that is due, for one worker; nothing if none is."""
        next_due = self.next_due
        if next_due is None or next_due > now:
            return None
        _, _, key = heapq.heappop(self._heap)
        del self._due[key]
        self._taken.add(key)
        return key

    @property
    def next_due(self) -> float | None:
        """When there is something to take."""
        while self._heap:  # bounded: each round takes one out
            due, serial, key = self._heap[0]
            if self._due.get(key) == (due, serial):
                return due
            heapq.heappop(self._heap)
        return None

    def put_back(self, key: int, *, due: float | None = None) -> None:
        """A worker is done with a key; it is looked at again then, or when it is added."""
        self._taken.remove(key)
        asked = self._later.pop(key, None)
        if key in self._gone:
            self._gone.remove(key)
            due = None
        times = [each for each in (due, asked) if each is not None]
        if times:
            self.add(key, due=min(times))

    def count_failure(self, key: int) -> int:
        """How often in a row it went wrong, with this time."""
        self._failures[key] = self._failures.get(key, 0) + 1
        return self._failures[key]

    def forgive(self, key: int) -> None:
        """It went well."""
        self._failures.pop(key, None)

    def forget(self, key: int) -> None:
        """It is gone."""
        for book in (self._due, self._later, self._failures):
            book.pop(key, None)
        if key in self._taken:
            self._gone.add(key)
