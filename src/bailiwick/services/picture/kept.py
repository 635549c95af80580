"""One picture for everybody who sees the whole fleet: made once, spelled and packed once.

Rules:

- Whoever asks is shown all that was durable when he asked. A picture that was kept is shown only
  while the journal has not grown since, and not for long (what was proven lapses by time alone).
- Making them takes at most one part in ``SHARE`` of a processor, however many ask: after one was
  made the next waits, and whoever comes meanwhile is shown that same one.
- It is told by a digest of its content, never by a place in the journal: that it is the same as
  before tells nobody how much others did.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import time
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

from bailiwick.iam import FLEET, Permission, Scope
from bailiwick.kernel.owner import Owner
from bailiwick.runtime.replica import Role, View
from bailiwick.services.caller import Caller
from bailiwick.services.nodes import room_of
from bailiwick.services.picture.columns import PartSight, Plain, draw

SHARE: Final = 25
"""After one was made, so many times as long passes until the next."""
WAIT_S_MAX: Final = 3.0
KEPT_S: Final = 5.0
PACKED_FROM_BYTES: Final = 500


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture as it is sent."""

    content: bytes
    packed: bytes | None
    """By gzip, if that is worth it."""
    digest: str
    size: int
    """How many records it tells of."""
    age_ms: int
    cost_s: float
    """How much of a processor's time it took."""


@dataclass(slots=True)
class PictureBook:
    """The newest picture of the whole fleet; to be used from one event loop at a time."""

    _kept: Picture | None = field(default=None, init=False)
    _made_s: float = field(default=0.0, init=False)
    _loop: asyncio.AbstractEventLoop | None = field(default=None, init=False)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def shown_to(self, caller: Caller) -> Picture:
        """What the caller may see: the one for all who see everything, or his own."""
        caller.require_within(FLEET)
        if not _sees_all(caller):
            return await _made(caller, whole=False)
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop, self._turn = loop, asyncio.Lock()
        size = caller.gateway.journal.size
        async with self._turn:
            found = self._kept
            if found is None or found.size < size or loop.time() - self._made_s > KEPT_S:
                await self._rest(loop)
                found = self._kept = await _made(caller, whole=True)
                self._made_s = loop.time()
        if caller.gateway.role is not Role.LEADING:
            caller.age_ms = found.age_ms + int(1000 * (loop.time() - self._made_s))
        return found

    async def _rest(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._kept is not None:
            since_s = loop.time() - self._made_s
            await asyncio.sleep(rest_s(self._kept.cost_s, since_s=since_s))


def rest_s(cost_s: float, *, since_s: float) -> float:
    """How long still until the next may be made, after one that cost so much.

    >>> rest_s(0.02, since_s=0.1), rest_s(0.02, since_s=9.0), rest_s(1.0, since_s=0.0)
    (0.4, 0.0, 3.0)
    """
    return max(0.0, min(WAIT_S_MAX, SHARE * cost_s) - since_s)


def _sees_all(caller: Caller) -> bool:
    keys = (Permission.LEASE_READ, Permission.QUEUE_READ)
    return caller.may(FLEET) and all(caller.holds(key) for key in keys)


async def _made(caller: Caller, *, whole: bool) -> Picture:
    def owns(owner: Owner) -> bool:
        return caller.holds(Permission.LEASE_READ, Scope(*owner))

    def read(view: View) -> tuple[Plain, int, int, float]:
        begun = time.thread_time()
        sight = None if whole else PartSight(owns, room_of(caller, view))
        drawn = draw(view.state, view.now_ms, sight=sight)
        return drawn, view.state.size, view.age_ms, time.thread_time() - begun

    drawn, size, age_ms, cost_s = await caller.read(read)
    return await asyncio.to_thread(_spelled, drawn, size, age_ms=age_ms, cost_s=cost_s)


def _spelled(drawn: Plain, size: int, *, age_ms: int, cost_s: float) -> Picture:
    begun = time.thread_time()
    content = json.dumps(drawn, separators=(",", ":")).encode()
    is_long = len(content) >= PACKED_FROM_BYTES
    packed = gzip.compress(content, 1, mtime=0) if is_long else None
    digest = blake2b(content, digest_size=16).hexdigest()
    cost_s += time.thread_time() - begun
    return Picture(content, packed, digest, size, age_ms, cost_s)
