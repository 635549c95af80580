"""How far time may go at once, and what becomes of times where a journal's clock is set right.

Rules:

- Time never goes back by a command. It goes forward by at most ``clock_step_ms`` from one command
  to the next, and by at most ``outage_ms`` where a leader begins: nobody tells the time while
  nobody leads. A journal that has no time yet takes any.
- Every command tells the time, also one that nothing follows from: a quiet night is many small
  steps.
- A journal that was poisoned is repaired by a record (``clock_repaired``), and only by that does
  time go back. What was later than the repaired time, and is over, counts as of that time. What is
  still to end keeps the time it had left. What ended has ended: nothing comes back.

>>> repair = ClockRepair(before_ms=9_000, after_ms=5_000)
>>> [repair.past(at_ms) for at_ms in (4_000, 8_000)], [repair.end(at_ms) for at_ms in (4_000, 9_300)]
([4000, 5000], [4000, 5300])
>>> check_step(Settings(clock_step_ms=1_000), last_ms=5_000, now_ms=6_000, elects=False)
>>> check_step(Settings(clock_step_ms=1_000), last_ms=5_000, now_ms=6_001, elects=False)
Traceback (most recent call last):
bailiwick.vocab.errors.ClockJumped: the clock went from 5000 to 6001, by 1001 ms; at most 1000 ms \
are believed (set the server's clock right)
"""

from __future__ import annotations

from dataclasses import dataclass

from bailiwick.kernel.settings import Settings
from bailiwick.vocab.errors import ClockJumped


def check_step(settings: Settings, *, last_ms: int, now_ms: int, elects: bool) -> None:
    """Refuse a time that is too far ahead of the last one that was told."""
    most_ms = settings.outage_ms if elects else settings.clock_step_ms
    if last_ms and now_ms - last_ms > most_ms:
        raise ClockJumped(now_ms, last_ms, most_ms)


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
