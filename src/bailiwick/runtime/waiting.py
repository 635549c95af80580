"""Waiting for something that others set, for so long at most.

``asyncio.wait_for`` is not used for it: on Python 3.11 it loses a cancellation that comes in the
moment in which what it waits for is done. A task that was to end then goes on, and whoever waits
for its end waits for ever.
"""

from __future__ import annotations

import asyncio


async def await_set(event: asyncio.Event, most_s: float) -> bool:
    """Wait until it is set; whether it is by then."""
    try:
        async with asyncio.timeout(most_s):
            return await event.wait()
    except TimeoutError:
        return False
