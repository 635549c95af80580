"""What the leader of a home knows of its cells beside the journal, and who wakes it.

Rules:

- It is forgotten with the leader: the next one orders nothing in a cell before it had a reply of
  its own. Others only look at it, to show it.
- Whoever asks or withdraws wakes the leader, which else looks once a second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from bailiwick.kernel.cells.link import CellReply
from bailiwick.vocab.words import PendingReason


@dataclass(slots=True)
class CellContact:
    """How the leader stands with one cell."""

    since_ms: int
    """When it last heard of the cell, or began to lead; by a clock that never goes back."""
    last: CellReply | None = None
    """The last reply; without one nothing is ordered."""
    epoch: int = 0
    """The epoch of that reply."""
    heard_ms: int | None = None
    """The time of day of that reply."""
    free: tuple[int, int] = (0, 0)
    """Thousandths of GPUs and of cores that were free there."""
    doubts: int = 0
    """How often in a row its replies told of less than it had told of before."""
    refused: int | None = None
    """The first order of a letter that it did not take, and has not taken since."""
    refusals: int = 0
    """How often in a row it did not take a letter that begins with that order."""
    shunned_ms: int = 0
    """Until then nothing is ordered or asked of it: it went on not taking what it was ordered."""
    trouble: str | None = None
    """Why there is no reply now, or why nothing is given to it."""

    def is_fresh(self, epoch: int) -> bool:
        """Whether more may be given: it has replied in this epoch, and took what it was told."""
        is_heard = self.last is not None and self.epoch == epoch
        return is_heard and self.trouble is None and self.refused is None

    def note_refused(self, order: int) -> int:
        """It did not take a letter that begins with this order; how often in a row."""
        self.refusals = self.refusals + 1 if order == self.refused else 1
        self.refused = order
        return self.refusals

    def note_taken(self) -> None:
        """It did what a letter ordered, or there is nothing to order."""
        self.refused, self.refusals = None, 0


@dataclass(slots=True)
class CellDesk:
    """The contacts with all cells, and why requests wait."""

    contacts: dict[str, CellContact] = field(default_factory=dict)
    reasons: dict[int, PendingReason] = field(default_factory=dict)
    """What the cells said last of a request that is in none."""
    on_wake: Callable[[], None] = lambda: None

    def wake(self) -> None:
        """There is something to place, or to take back."""
        self.on_wake()

    def clear(self) -> None:
        """A leader begins, or ends: nothing is known."""
        self.contacts, self.reasons = {}, {}
