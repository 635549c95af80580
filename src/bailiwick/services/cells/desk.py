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
    trouble: str | None = None
    """Why there is no reply now."""

    def is_fresh(self, epoch: int) -> bool:
        """Whether orders may be sent: the cell has replied in this epoch, and nothing failed."""
        return self.last is not None and self.epoch == epoch and self.trouble is None


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
