"""What a source has told and nobody has confirmed yet: numbered, bounded, sent again.

Rules:

- Numbers begin at 0 in each epoch and have no gap; what a number stands for never changes.
- Only what was acknowledged is forgotten. When there is no more room nothing is added: counters
  are sums, so the next one tells all that this one would have.
- A server that knows a newer epoch has heard another that speaks for this node, or an earlier life
  of this one. Then a still newer one begins, and nothing old is sent under it.

>>> outbox = Outbox(epoch=5)
>>> outbox.add("a"), outbox.add("b"), outbox.batch()
(True, True, [(0, 'a'), (1, 'b')])
>>> outbox.settle(epoch=5, acknowledged=1)
>>> outbox.batch()
[(1, 'b')]
"""

from __future__ import annotations

from collections import deque
from typing import Final, Generic, TypeVar

T = TypeVar("T")

WAITING_MAX: Final = 1_024
BATCH: Final = 128
EPOCH_MAX: Final = 2**53 - 1


class Outbox(Generic[T]):
    """The events of one source, in this life of it."""

    def __init__(self, epoch: int) -> None:
        self.epoch = min(max(epoch, 1), EPOCH_MAX)
        self._first = 0
        self._waiting: deque[T] = deque()

    def add(self, event: T) -> bool:
        """Have something be told; whether there was room for it."""
        if len(self._waiting) >= WAITING_MAX:
            return False
        self._waiting.append(event)
        return True

    def batch(self) -> list[tuple[int, T]]:
        """The next to be sent, with their numbers; the same ones until they are acknowledged."""
        some = list(self._waiting)[:BATCH]
        return list(enumerate(some, self._first))

    def settle(self, *, epoch: int, acknowledged: int) -> None:
        """The server has all below this number of that epoch."""
        if epoch > self.epoch:
            self.epoch, self._first = min(epoch + 1, EPOCH_MAX), 0
            self._waiting.clear()
        while epoch == self.epoch and self._waiting and self._first < acknowledged:
            self._waiting.popleft()
            self._first += 1
