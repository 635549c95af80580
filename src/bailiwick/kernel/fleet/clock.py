"""How far time may go at once.

Rules:

- Time never goes back by a command. It goes forward by at most ``clock_step_ms`` from one command
  to the next, and by at most ``outage_ms`` where a leader begins: nobody tells the time while
  nobody leads. A journal that has no time yet takes any.
- Every command tells the time, also one that nothing follows from: a quiet night is many small
  steps.

>>> check_step(Settings(clock_step_ms=1_000), last_ms=5_000, now_ms=6_000, elects=False)
>>> check_step(Settings(clock_step_ms=1_000), last_ms=5_000, now_ms=6_001, elects=False)
Traceback (most recent call last):
bailiwick.vocab.errors.ClockJumped: the clock went from 5000 to 6001, by 1001 ms; at most 1000 ms \
are believed (set the server's clock right)
"""

from __future__ import annotations

from bailiwick.kernel.settings import Settings
from bailiwick.vocab.errors import ClockJumped


def check_step(settings: Settings, *, last_ms: int, now_ms: int, elects: bool) -> None:
    """Refuse a time that is too far ahead of the last one that was told."""
    most_ms = settings.outage_ms if elects else settings.clock_step_ms
    if last_ms and now_ms - last_ms > most_ms:
        raise ClockJumped(now_ms, last_ms, most_ms)
