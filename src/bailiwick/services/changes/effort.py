"""How busy this server is, and how long a page waits for news because of it.

Rules:

- Each word of news makes a page read what it shows again. While the server has time, everybody has
  them at once; while it is busy, all watchers together get so many in a second, in turn. So what
  open pages cost does not grow with how many there are.
- Busy is this process's own processor time in the last seconds. A watcher can tell from its wait
  how many others watch, and nothing of what they see.

>>> clocks = iter([(0.0, 0.0), (1.0, 1.0), (2.0, 1.9), (3.0, 1.9), (9.0, 1.9)])
>>> effort = Effort(read=lambda: next(clocks))
>>> effort.pause_s(200, tick_s=1.0), effort.pause_s(200, tick_s=1.0), effort.pause_s(2, tick_s=1.0)
(1.0, 50.0, 1.0)
>>> effort.pause_s(200, tick_s=1.0)
1.0
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

WORDS_PER_S: Final = 4.0
"""To all watchers together, while the server is busy."""
BUSY_SHARE: Final = 0.5
"""Of one processor's time; decisions are made on one."""
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

    def __post_init__(self) -> None:
        self._since = self.read()

    def pause_s(self, watchers: int, *, tick_s: float) -> float:
        """How long after a look one of so many watchers looks again."""
        return max(tick_s, watchers / WORDS_PER_S) if self._busy() else tick_s

    def _busy(self) -> bool:
        now_s, used_s = self.read()
        passed_s = now_s - self._since[0]
        if passed_s >= WINDOW_S:
            self._is_busy = used_s - self._since[1] > BUSY_SHARE * passed_s
            self._since = now_s, used_s
        return self._is_busy
