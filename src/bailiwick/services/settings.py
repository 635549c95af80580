"""The scheduler's settings: read them, or replace them all; they judge nothing again."""

from __future__ import annotations

from bailiwick.iam import FLEET
from bailiwick.kernel import ChangeSettings, Done, Settings
from bailiwick.services.caller import Caller, Deferred


async def read(caller: Caller) -> Settings:
    """How the scheduler works now."""
    caller.require(FLEET)
    return await caller.read(lambda view: view.state.settings)


async def put(caller: Caller, settings: Deferred[Settings], *, seen: str | None) -> Done:
    """Replace all settings, if they are still what was ``seen``; they count from now on."""
    caller.require(FLEET)
    return await caller.change(ChangeSettings(settings(), seen))
