"""What would become of a waiting request, if things were otherwise: for who may read it."""

from __future__ import annotations

from bailiwick.services.caller import Caller
from bailiwick.services.queue import require_entry
from bailiwick.whatif.entry_trial import EntryTried, Supposed, try_entry
from bailiwick.whatif.trial import StateTrial


async def suppose(caller: Caller, entry_id: int, *, supposed: Supposed) -> EntryTried:
    """What would become of it; tried on a copy, which is thrown away."""
    await require_entry(caller, entry_id)

    def use(data: bytes, now_ms: int) -> EntryTried:
        return try_entry(StateTrial(data, now_ms=now_ms), entry_id, supposed=supposed)

    return await caller.copied(use)
