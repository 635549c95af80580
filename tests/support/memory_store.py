"""A journal store in memory that keeps the port's rules, and can be slow or fail when told to."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from bailiwick.ports import Leader, StoredSnapshot, StoredStamp
from bailiwick.vocab.errors import Deposed, Unavailable
from tests.support.waiting import WAIT_S


@dataclass(slots=True)
class MemoryStore:
    """What several stores over one "database" would share, for one of them."""

    lines: list[bytes] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)
    stamps: dict[int, StoredStamp] = field(default_factory=dict)
    kept: dict[int, StoredSnapshot] = field(default_factory=dict)
    known: Leader | None = None
    lets_lead: bool = True
    fails: int = 0
    """Calls of ``append`` with lines that are to fail; below zero, all of them."""
    keeps_when_failing: bool = False
    is_away: bool = False
    """Whether nothing at all can be appended, not even a heartbeat."""
    gate: threading.Event = field(default_factory=threading.Event)
    """Closed, ``append`` waits: for tests that look at what happens meanwhile."""
    at_gate: threading.Event = field(default_factory=threading.Event)
    """Set once somebody waits there."""
    closed: bool = False
    told_ms: int | None = None
    """What time it is there; ``None`` if it has no clock."""

    def __post_init__(self) -> None:
        self.gate.set()

    def hold_next(self) -> None:
        """Close the gate, and wait until somebody stands before it."""
        self.at_gate.clear()
        self.gate.clear()
        assert self.at_gate.wait(WAIT_S), "nobody appends anything"

    def lead(self, name: str, address: str) -> Leader | None:
        """A new epoch, unless somebody else is said to lead."""
        if not self.lets_lead:
            return None
        epoch = 1 if self.known is None else self.known.epoch + 1
        self.known = Leader(epoch, name, address)
        return self.known

    def leader(self) -> Leader | None:
        """The last that was made."""
        return self.known

    def clock_ms(self) -> int | None:
        """What a test says."""
        return self.told_ms

    def resign(self) -> None:
        """Nothing to let go."""

    def append(
        self, epoch: int, first: int, lines: Sequence[bytes], *, stamp: bytes | None = None
    ) -> None:
        """Keep the lines, if the epoch and the number are right and no fault was asked for."""
        if not self.gate.is_set():
            self.at_gate.set()
        if not self.gate.wait(WAIT_S):
            raise AssertionError("the test left the gate closed")
        if self.known is None or epoch != self.known.epoch or first != len(self.lines):
            raise Deposed(epoch, self.known.epoch if self.known is not None else 0)
        # A heartbeat has no lines; a counted fault is meant for who writes.
        counted = self.fails != 0 and bool(lines)
        self.fails -= counted and self.fails > 0
        failing = counted or self.is_away
        if not failing or self.keeps_when_failing:
            self.lines.extend(lines)
            if stamp is not None:
                self.stamps[len(self.lines)] = StoredStamp(len(self.lines), epoch, stamp)
            if lines:
                self.batches.append(len(lines))
        if failing:
            raise Unavailable("the store", "as the test asked")

    def size(self) -> int:
        """How many lines there are."""
        return len(self.lines)

    def read(self, first: int, limit: int) -> list[bytes]:
        """Lines from there on."""
        return self.lines[first : first + limit]

    def last_stamp(self, size: int) -> StoredStamp | None:
        """The newest up to there."""
        return max(
            (each for each in self.stamps.values() if each.size <= size),
            key=lambda each: each.size,
            default=None,
        )

    def save_snapshot(self, snapshot: StoredSnapshot) -> None:
        """Keep it."""
        self.kept[snapshot.size] = snapshot

    def snapshots(self) -> list[int]:
        """Newest first."""
        return sorted(self.kept, reverse=True)

    def load_snapshot(self, size: int) -> StoredSnapshot | None:
        """The one of that size."""
        return self.kept.get(size)

    def close(self) -> None:
        """Remember that it was closed."""
        self.closed = True
