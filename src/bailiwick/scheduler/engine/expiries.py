"""Which leases have run out, without a look at those that have not.

Rules:

- The slots of the leases are in blocks of 64, the blocks in groups of 64. Of each the earliest
  expiry is kept, or something earlier: a lease that is renewed or gone is not looked for.
- Whoever finds a minimum that is over looks below it, and puts it right. So asking costs the
  groups, and what has run out or was said to since.
- The order of the answer is that of the slots; it stops at the end of a block.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bailiwick.scheduler.engine.tables import LeaseRecord

BLOCK: Final = 64
"""Slots in a block, and blocks in a group."""

NO_EXPIRY: Final = 2**63 - 1


class Expiries:
    """The earliest expiry of each block of slots, and of each group of blocks."""

    def __init__(self) -> None:
        self._blocks: list[int] = []
        self._groups: list[int] = []

    def note(self, slot: int, expires: int) -> None:
        """The lease in this slot runs to then."""
        block, group = slot // BLOCK, slot // BLOCK // BLOCK
        if block == len(self._blocks):
            self._blocks.append(NO_EXPIRY)
        if group == len(self._groups):
            self._groups.append(NO_EXPIRY)
        self._blocks[block] = min(self._blocks[block], expires)
        self._groups[group] = min(self._groups[group], expires)

    def due(self, leases: Sequence[LeaseRecord | None], now: int, *, limit: int) -> list[int]:
        """Slots whose lease's expiry is at or before now; none after the block with the last."""
        found: list[int] = []
        for group, least in enumerate(self._groups):
            if len(found) >= limit:
                break
            if least <= now:
                self._look(group, leases, now, limit=limit, found=found)
        return found

    def _look(
        self,
        group: int,
        leases: Sequence[LeaseRecord | None],
        now: int,
        *,
        limit: int,
        found: list[int],
    ) -> None:
        end = min((group + 1) * BLOCK, len(self._blocks))
        for block in range(group * BLOCK, end):
            if self._blocks[block] > now or len(found) >= limit:
                continue
            least = NO_EXPIRY
            for slot in range(block * BLOCK, min((block + 1) * BLOCK, len(leases))):
                lease = leases[slot]
                if lease is None:
                    continue
                least = min(least, lease.expires)
                if lease.expires <= now:
                    found.append(slot)
            self._blocks[block] = least
        self._groups[group] = min(self._blocks[group * BLOCK : end])
