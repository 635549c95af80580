"""What the outside must provide: a clock, and a place where the journal lasts.

Rules every :class:`JournalStore` keeps, whatever it is made of:

- ``append`` returns only when the lines are durable. All of a batch is kept, or none of it.
- One writer: a batch carries the epoch of its leader, and is refused with ``Deposed`` once a later
  epoch exists, whatever the deposed leader believes. Numbers have no gap: a batch that does not
  begin where the journal ends is refused in the same way.
- ``Unavailable`` means that the outcome is not known: the batch may be there or not. Whoever gets
  it reads the journal again before writing on.
- A snapshot is a cache. A store may lose it, and may hand back a damaged one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Leader:
    """Who may append: its epoch (a later one deposes it), its name, and where it is reached."""

    epoch: int
    name: str
    address: str


@dataclass(frozen=True, slots=True)
class StoredSnapshot:
    """The state after the first ``size`` records, as bytes, and the anchor of the journal there."""

    size: int
    anchor: str
    digest: str
    data: bytes


class Clock(Protocol):
    """The time of day. It may jump; whoever keeps order must not rely on it."""

    def now_ms(self) -> int:
        """Milliseconds since 1970, as this machine believes."""

    def elapsed_ms(self) -> int:
        """Milliseconds since some moment, never going back: for timers."""


class JournalStore(Protocol):
    """Where the journal and its snapshots last."""

    def lead(self, name: str, address: str) -> Leader | None:
        """Try to become the writer, with a new epoch; ``None`` while somebody else is."""

    def leader(self) -> Leader | None:
        """The last leader that was made, reachable or not; ``None`` if there never was one."""

    def resign(self) -> None:
        """Let another lead; a store that does not lead does nothing."""

    def append(self, epoch: int, first: int, lines: Sequence[bytes]) -> None:
        """Keep these records, the first being number ``first``. A line ends in a newline.

        With no lines it only makes sure that this epoch may still write.
        """

    def size(self) -> int:
        """How many records there are."""

    def read(self, first: int, limit: int) -> list[bytes]:
        """Up to ``limit`` lines from number ``first`` on, in order and without a gap."""

    def save_snapshot(self, snapshot: StoredSnapshot) -> None:
        """Keep this snapshot, and forget older ones but the last few."""

    def snapshots(self) -> list[int]:
        """Sizes of the snapshots that are kept, newest first."""

    def load_snapshot(self, size: int) -> StoredSnapshot | None:
        """That snapshot, or ``None`` if it is gone."""

    def close(self) -> None:
        """Let go of everything; leadership ends."""
