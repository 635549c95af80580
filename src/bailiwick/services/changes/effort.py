"""How busy this server is, and how long a page waits for news because of it.

Rules:

- Each word of news makes a page read what it shows again. All watchers together get so many in a
  second, in turn, and far fewer while the server is busy. So what open pages cost does not grow
  with how many there are, and they alone do not make it busy.
- Busy is this process's own processor time in the last seconds; or that who wanted to be woken was
  woken late, for where others have the processors there is none to spare either. A watcher can
  tell from its wait how many others watch, and nothing of what they see.

>>> clocks = iter([(0.0, 0.0), (1.0, 1.0), (2.0, 1.9), (3.0, 1.9), (9.0, 1.9)])
>>> effort = Effort(read=lambda: next(clocks))
>>> effort.pause_s(20, tick_s=1.0), effort.pause_s(200, tick_s=1.0), effort.pause_s(2, tick_s=1.0)
(1.0, 50.0, 1.0)
>>> effort.pause_s(200, tick_s=1.0)
4.0
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

WORDS_PER_S: Final = 4.0
"""To all watchers together, while the server is busy."""
WORDS_PER_S_MOST: Final = 50.0
"""While it is not."""
BUSY_SHARE: Final = 0.5
"""Of one processor's time; decisions are made on one."""
LATE_S: Final = 0.02
"""By so much, on average, is late."""
WINDOW_S: Final = 2.0


def _clocks() -> tuple[float, float]:
    return time.monotonic(), time.process_time()


@dataclass(slots=True)
class Effort:
    """What this process has been doing, looked at now and then."""

    read: Callable[[], tuple[float, float]] = _clocks
    """The time, and how much of a processor's this process has had."""
    _since: tuple[float, float] = field(init=False)
    _is_busy: bool = field(default=False, init=False)
    _late_s: float = field(default=0.0, init=False)
    _wakes: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._since = self.read()

    def woke(self, late_s: float) -> None:
        """Somebody was woken, so much later than wanted.

        >>> clocks = iter([(0.0, 0.0), (2.0, 0.1), (4.0, 0.2)])
        >>> effort = Effort(read=lambda: next(clocks))
        >>> effort.woke(0.01), effort.woke(0.05)
        (None, None)
        >>> effort.pause_s(200, tick_s=1.0), effort.pause_s(200, tick_s=1.0)
        (50.0, 4.0)
        """
        self._late_s += max(0.0, late_s)
        self._wakes += 1

    def pause_s(self, watchers: int, *, tick_s: float) -> float:
        """How long after a look one of so many watchers looks again."""
        words = WORDS_PER_S if self._busy() else WORDS_PER_S_MOST
        return max(tick_s, watchers / words)

    def _busy(self) -> bool:
        now_s, used_s = self.read()
        passed_s = now_s - self._since[0]
        if passed_s >= WINDOW_S:
            is_used = used_s - self._since[1] > BUSY_SHARE * passed_s
            self._is_busy = is_used or self._late_s > LATE_S * self._wakes
            self._since, self._late_s, self._wakes = (now_s, used_s), 0.0, 0
        return self._is_busy
