"""One picture for everybody who sees the whole fleet: made once, spelled and packed once.

It is told by a digest of its content, never by a place in the journal: that it is the same as
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
from bailiwick.runtime.replica import View
from bailiwick.services.caller import Caller
from bailiwick.services.nodes import room_of
from bailiwick.services.picture.columns import PartSight, Plain, draw
from bailiwick.services.picture.shared import Made, Shared

PACKED_FROM_BYTES: Final = 500


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture as it is sent."""

    content: bytes
    packed: bytes | None
    """By gzip, if that is worth it."""
    digest: str


@dataclass(slots=True)
class PictureBook:
    """The newest picture of the whole fleet."""

    _whole: Shared[Picture] = field(default_factory=Shared, init=False)

    async def shown_to(self, caller: Caller) -> Picture:
        """What the caller may see: the one for all who see everything, or his own."""
        caller.require_within(FLEET)
        if _sees_all(caller):
            return await self._whole.get(caller, lambda: _made(caller, whole=True))
        return (await _made(caller, whole=False)).value


def _sees_all(caller: Caller) -> bool:
    keys = (Permission.LEASE_READ, Permission.QUEUE_READ)
    return caller.may(FLEET) and all(caller.holds(key) for key in keys)


async def _made(caller: Caller, *, whole: bool) -> Made[Picture]:
    def owns(owner: Owner) -> bool:
        return caller.holds(Permission.LEASE_READ, Scope(*owner))

    def read(view: View) -> Made[Plain]:
        begun = time.thread_time()
        sight = None if whole else PartSight(owns, room_of(caller, view))
        drawn = draw(view.state, view.now_ms, sight=sight)
        return Made(drawn, view.state.size, view.age_ms, time.thread_time() - begun)

    drawn = await caller.read(read)
    found, cost_s = await asyncio.to_thread(_spelled, drawn.value)
    return Made(found, drawn.size, drawn.age_ms, drawn.cost_s + cost_s)


def _spelled(drawn: Plain) -> tuple[Picture, float]:
    begun = time.thread_time()
    content = json.dumps(drawn, separators=(",", ":")).encode()
    is_long = len(content) >= PACKED_FROM_BYTES
    packed = gzip.compress(content, 1, mtime=0) if is_long else None
    digest = blake2b(content, digest_size=16).hexdigest()
    return Picture(content, packed, digest), time.thread_time() - begun
