"""Setting a journal's clock right, on its store, while nobody leads there.

Rules:

- Whoever leads keeps this out, and while it works nobody can lead. The whole journal is verified
  first.
- It writes two records: that it leads (no record is without its epoch), and the repair.
- What the repair does to each time is said in :mod:`bailiwick.vocab.clock_repair`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bailiwick.kernel import Elect, Envelope
from bailiwick.ports import JournalStore
from bailiwick.runtime.rebuild import rebuild
from bailiwick.vocab.errors import Conflict

NAME = "repair"
_READ_MAX = 5_000


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
    store: JournalStore, asked: AskedRepair, *, warn: Callable[[str], None]
) -> RepairedClock:
    """Set the clock of the journal in a store that no server uses."""
    leader = store.lead(NAME, "")
    if leader is None:
        raise Conflict("store", "journal", "a server leads on it", hint="stop every server first")
    try:
        kernel, _ = rebuild(store, read_max=_READ_MAX, warn=warn)
        first, before_ms = kernel.state.size, kernel.state.clock_ms
        lines: list[bytes] = []
        if first:
            elect = Envelope(Elect(leader.epoch, NAME), asked.actor, NAME)
            lines += kernel.execute(elect, before_ms).lines
        outcome = kernel.repair_clock(asked.after_ms, actor=asked.actor, why=asked.why)
        lines += outcome.lines
        if not asked.dry_run:
            store.append(leader.epoch, first, lines)
    finally:
        store.resign()
    seq = None if asked.dry_run else first + len(lines) - 1
    return RepairedClock(before_ms, asked.after_ms, seq, len(kernel.state.leases))
