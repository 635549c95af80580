"""Copies of the state, for whoever wants to try something on one.

Rules:

- A copy is bytes, written by the read model between two reads. What is made of them is nobody's but
  the caller's, so nothing that is done with it can change a state that anybody reads or decides on.
- A copy costs what the state is large, so there is none of a state with more than
  :data:`COPIED_MAX` nodes, leases and waiting requests, and one caller at a time has one;
  :data:`WAITING_MAX` more wait, and whoever comes then is told to come again.
- What a caller does with its copy runs in a thread of its own, so that no read waits for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bailiwick.kernel.snapshot import encode
from bailiwick.kernel.state import State
from bailiwick.vocab.errors import LimitReached, Unavailable

COPIED_MAX = 25_000
"""Nodes, leases and waiting requests of a state that is copied."""
WAITING_MAX = 4
"""Callers that wait for their turn."""


def size_of(state: State) -> int:
    """How many nodes, leases and waiting requests there are."""
    return len(state.ledger) + len(state.leases) + len(state.line.entries)


def copy_of(state: State) -> bytes:
    """The state as bytes, if it is not too large."""
    if size_of(state) > COPIED_MAX:
        raise LimitReached("nodes, leases and waiting requests of a state to try on", COPIED_MAX)
    return encode(state)


class OneAtATime:
    """Lets one through, has a few wait, and turns the others away; for one event loop."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._asked = 0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Go on when it is one's turn."""
        if self._asked > WAITING_MAX:
            raise Unavailable("a copy of the state", "others are trying things; ask again")
        self._asked += 1
        try:
            async with self._lock:
                yield
        finally:
            self._asked -= 1
