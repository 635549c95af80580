"""Questions about the past: asked of the store's tables, beside the event loop and the kernel.

Rules:

- Only a leader folds the journal into the tables; it does so before it asks them, so its answers
  know everything that was durable when they were asked for. A follower asks them as they are.
- One folds at a time, a bounded number of records for each question. Whoever is further behind than
  that is told to come again (503): every question brings the tables nearer.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

from bailiwick.runtime.replica import Role
from bailiwick.store.history import projected_size
from bailiwick.store.projections import advance_projections
from bailiwick.store.sql_store import SqlStore
from bailiwick.vocab.errors import Unavailable

T = TypeVar("T")

BATCH = 500
"""Records in one transaction; on SQLite, nobody can append meanwhile."""
ROUNDS_MAX = 40
TURN_S = 5.0
"""How long a question waits for another that folds."""


class History:
    """The way to the tables of one store; one for each application."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store
        self._turn = threading.Lock()

    async def ask(self, role: Role, read: Callable[[SqlStore], T]) -> T:
        """What ``read`` makes of the tables, by a replica of this role."""

        def run() -> T:
            if role is Role.LEADING:
                self._advance(self._store)
            return read(self._store)

        return await asyncio.to_thread(run)

    def _advance(self, store: SqlStore) -> None:
        wanted = store.size()
        if projected_size(store) >= wanted:
            return
        if not self._turn.acquire(timeout=TURN_S):
            raise Unavailable("the history", "others are folding it")
        try:
            for _ in range(ROUNDS_MAX):
                if projected_size(store) >= wanted or not advance_projections(store, BATCH):
                    return
        finally:
            self._turn.release()
        if projected_size(store) < wanted:
            raise Unavailable("the history", "it is being folded from the journal")
