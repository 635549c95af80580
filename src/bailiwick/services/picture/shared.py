"""One answer for all who may see the same: made once for everybody who asks within a moment.

Rules:

- Whoever asks is told all that was durable when he asked. An answer that was kept is given only
  while the journal has not grown since, and not for long (some of it moves by time alone).
- Making them takes at most one part in ``SHARE`` of a processor, however many ask: after one was
  made the next waits, and whoever comes meanwhile is given that same one.
- Who may be given it is for its user to judge, before he asks here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, Generic, NamedTuple, TypeVar

from bailiwick.runtime.replica import Role
from bailiwick.services.caller import Caller

SHARE: Final = 25
"""After one was made, so many times as long passes until the next."""
WAIT_S_MAX: Final = 3.0
KEPT_MS: Final = 2_000

T = TypeVar("T")


class Made(NamedTuple, Generic[T]):
    """An answer, how many records it tells of, how old it may be, and what it cost."""

    value: T
    size: int
    age_ms: int
    cost_s: float
    """Of a processor's time."""


@dataclass(slots=True)
class Shared(Generic[T]):
    """The newest answer; to be used from one event loop at a time."""

    _kept: Made[T] | None = field(default=None, init=False)
    _made_ms: int = field(default=0, init=False)
    _made_s: float = field(default=0.0, init=False)
    _loop: asyncio.AbstractEventLoop | None = field(default=None, init=False)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def get(self, caller: Caller, make: Callable[[], Awaitable[Made[T]]]) -> T:
        """The answer as of now; ``make`` is called if there is none."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:  # of a loop that ended, with its times
            self._loop, self._turn, self._kept = loop, asyncio.Lock(), None
        size = caller.gateway.journal.size
        async with self._turn:
            found = self._kept
            if found is None or found.size < size or self._is_old(caller):
                if found is not None:
                    since_s = loop.time() - self._made_s
                    await asyncio.sleep(rest_s(found.cost_s, since_s=since_s))
                found = self._kept = await make()
                self._made_ms, self._made_s = caller.clock.now_ms(), loop.time()
        if caller.gateway.role is not Role.LEADING:
            caller.age_ms = found.age_ms + int(1000 * (loop.time() - self._made_s))
        return found.value

    def _is_old(self, caller: Caller) -> bool:
        return abs(caller.clock.now_ms() - self._made_ms) > KEPT_MS


def rest_s(cost_s: float, *, since_s: float) -> float:
    """How long still until the next may be made, after one that cost so much.

    >>> rest_s(0.02, since_s=0.1), rest_s(0.02, since_s=9.0), rest_s(1.0, since_s=0.0)
    (0.4, 0.0, 3.0)
    """
    return max(0.0, min(WAIT_S_MAX, SHARE * cost_s) - since_s)
