"""What becomes of times where a journal's clock is set right.

Rules:

- A journal that was poisoned is repaired by a record (``clock_repaired``), and only by that does
  time go back. What was later than the repaired time, and is over, counts as of that time. What is
  still to end keeps the time it had left. What ended has ended: nothing comes back.
- A repair forward, over a long outage, leaves every time as it is.

>>> repair = ClockRepair(before_ms=9_000, after_ms=5_000)
>>> [repair.past(at_ms) for at_ms in (4_000, 8_000)]
[4000, 5000]
>>> [repair.end(at_ms) for at_ms in (4_000, 8_000, 9_300)]
[4000, 5000, 5300]
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClockRepair:
    """The journal's time is set from one to another."""

    before_ms: int
    after_ms: int

    @property
    def goes_back(self) -> bool:
        """Whether there are times that have not come now."""
        return self.after_ms < self.before_ms

    def past(self, at_ms: int) -> int:
        """When something happened, or was last counted, by the repaired clock."""
        return min(at_ms, self.after_ms) if self.goes_back else at_ms

    def end(self, at_ms: int) -> int:
        """When something ends that has not ended: as long after now as it was; at once if due."""
        if not self.goes_back or at_ms <= self.after_ms:
            return at_ms
        return self.after_ms + max(at_ms - self.before_ms, 0)
