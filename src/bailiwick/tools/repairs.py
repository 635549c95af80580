"""Setting right what no server can, on a store, while nobody leads there.

Rules:

- Whoever leads keeps this out, and while it works nobody can lead. The whole journal is verified
  first. A journal with stamps is written to only with the key that makes them.
- The clock: two records, that it leads (no record is without its epoch), and the repair. What it
  does to each time is said in :mod:`bailiwick.vocab.clock_repair`.
- Records that no leader wrote are cut off, after they were kept for whoever looks into it; or
  accepted, by one record under a stamp. Without a single stamp that holds nothing is cut: then the
  key is more likely wrong than the journal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from bailiwick.kernel import Elect, Envelope
from bailiwick.ports import JournalStore, Leader
from bailiwick.runtime.rebuild import rebuild
from bailiwick.runtime.stamps import Stamps
from bailiwick.vocab.errors import Conflict

NAME = "repair"
_READ_MAX = 5_000


class CutStore(JournalStore, Protocol):
    """A store of which the end can be taken away."""

    def cut(self, size: int) -> None:
        """Keep only so many records; for whoever leads."""


@dataclass(frozen=True, slots=True)
class RepairedClock:
    """From which time to which, by which record; ``None`` if it was only tried."""

    before_ms: int
    after_ms: int
    seq: int | None
    leases: int


@dataclass(frozen=True, slots=True)
class AskedRepair:
    """What time it shall be, who says so, and why."""

    after_ms: int
    actor: str
    why: str
    dry_run: bool = False


def repair_clock(
    store: JournalStore,
    asked: AskedRepair,
    *,
    warn: Callable[[str], None],
    stamps: Stamps | None = None,
) -> RepairedClock:
    """Set the clock of the journal in a store that no server uses."""
    with _alone(store) as leader:
        if stamps is None and store.last_stamp(store.size()) is not None:
            hint = "name it with --key-file"
            raise Conflict("journal", "stamps", "it is written to only with its key", hint=hint)
        kernel, _ = rebuild(store, read_max=_READ_MAX, warn=warn, stamps=stamps)
        first, before_ms = kernel.state.size, kernel.state.clock_ms
        lines: list[bytes] = []
        if first:
            elect = Envelope(Elect(leader.epoch, NAME), asked.actor, NAME)
            lines += kernel.execute(elect, before_ms).lines
        outcome = kernel.repair_clock(asked.after_ms, actor=asked.actor, why=asked.why)
        lines += outcome.lines
        if not asked.dry_run:
            stamp = None if stamps is None else stamps.make(leader.epoch, lines, first=first)
            store.append(leader.epoch, first, lines, stamp=stamp)
    seq = None if asked.dry_run else first + len(lines) - 1
    return RepairedClock(before_ms, asked.after_ms, seq, len(kernel.state.leases))


def find_unproven(store: JournalStore, stamps: Stamps) -> tuple[int, list[bytes]]:
    """The first record that no leader of ours wrote, and all lines from there on."""
    size = store.size()
    first = stamps.first_unproven(store, size)
    return first, store.read(first, size - first)


def cut_unproven(
    store: CutStore,
    stamps: Stamps,
    *,
    keep: Callable[[int, list[bytes]], None],
    warn: Callable[[str], None],
) -> int:
    """Hand over what no leader wrote to ``keep``, then take it out; how many records that were."""
    with _alone(store):
        first, lines = find_unproven(store, stamps)
        if not lines:
            return 0
        if first == 0:
            hint = "name the servers' authority.pem with --key-file, or use --accept"
            raise Conflict("journal", "stamps", "not one of them is of this key", hint=hint)
        keep(first, lines)
        store.cut(first)
        rebuild(store, read_max=_READ_MAX, warn=warn, stamps=stamps)
        return len(lines)


def accept_unproven(
    store: JournalStore, stamps: Stamps, *, actor: str, warn: Callable[[str], None]
) -> int:
    """Put a stamp under the journal as it is; the number of the record that says who did."""
    with _alone(store) as leader:
        kernel, _ = rebuild(store, read_max=_READ_MAX, warn=warn)
        first, now_ms = kernel.state.size, kernel.state.clock_ms
        elect = Envelope(Elect(leader.epoch, NAME), actor, NAME)
        lines = list(kernel.execute(elect, now_ms).lines)
        store.append(
            leader.epoch, first, lines, stamp=stamps.make(leader.epoch, lines, first=first)
        )
        return first + len(lines) - 1


@contextmanager
def _alone(store: JournalStore) -> Iterator[Leader]:
    leader = store.lead(NAME, "")
    if leader is None:
        raise Conflict("store", "journal", "a server leads on it", hint="stop every server first")
    try:
        yield leader
    finally:
        store.resign()
