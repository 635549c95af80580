"""The time that one replica believes in: skewed, jumping, and counted by a timer that may stand.

Rules:

- ``now_ms`` may be wrong by any amount and may jump either way.
- ``elapsed_ms`` never goes back. It runs a little fast or slow, and stands while it is paused.
- Asking for the time is a moment at which the world may do something else first: hold the asker
  up while others go on, or kill it. ``true_elapsed`` asks without that.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

EPOCH_MS = 1_800_000_000_000
"""What a clock that is right shows when a simulation begins."""


class SimClock:
    """One replica's clock over the world's true time."""

    def __init__(self, rng: Random, now: Callable[[], int], meanwhile: Callable[[], None]) -> None:
        self._now = now
        self._meanwhile = meanwhile
        self.skew_ms = self._skew_ms = rng.randrange(-3_000, 3_000)
        self._rate_ppm = rng.randrange(-500, 500)
        self._base = rng.randrange(10**9)
        self._born = now()
        self._paused_ms = 0
        self._pause_until = self._stood_at = 0
        self.last_elapsed = 0

    def now_ms(self) -> int:
        """The time of day, as this machine believes."""
        self._meanwhile()
        return max(EPOCH_MS + self._now() + self.skew_ms, 0)

    def elapsed_ms(self) -> int:
        """Milliseconds on the timer."""
        self._meanwhile()
        self.last_elapsed = self.true_elapsed()
        return self.last_elapsed

    def true_elapsed(self) -> int:
        """What the timer shows, asked by nobody in particular."""
        now = self._now()
        return self._at(self._stood_at if now < self._pause_until else now - self._paused_ms)

    def _at(self, when: int) -> int:
        ran = when - self._born
        return self._base + ran + ran * self._rate_ppm // 1_000_000

    def stand_still(self, span_ms: int) -> None:
        """Let the timer stand for a while (a machine that sleeps does not count)."""
        now = self._now()
        if now >= self._pause_until:
            self._stood_at = now - self._paused_ms
            self._pause_until = now + span_ms
            self._paused_ms += span_ms

    def put_right(self) -> None:
        """Somebody sets the clock to what it was at first, more or less right."""
        self.skew_ms = self._skew_ms

    def jump(self, by_ms: int) -> None:
        """Somebody sets the clock."""
        self.skew_ms += by_ms
