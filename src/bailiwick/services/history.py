"""Questions about the past: asked of the store's tables, beside the event loop and the kernel.

Rules:

- Only a leader folds the journal into the tables; it does so before it asks them, so its answers
  know everything that was durable when they were asked for. A follower asks them as they are.
- One folds at a time, a bounded number of records for each question. Whoever is further behind than
  that is told to come again (503): every question brings the tables nearer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from bailiwick.runtime.replica import Role
from bailiwick.store.history.fold import history_follower
from bailiwick.store.sql_store import SqlStore

T = TypeVar("T")

BATCH = 500
"""Records in one transaction; on SQLite, nobody can append meanwhile."""
ROUNDS_MAX = 40
TURN_S = 5.0
"""How long a question may fold, or wait for another that does."""


class History:
    """The way to the tables of one store; one for each application."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store
        self._follower = history_follower(store, batch=BATCH)

    async def ask(self, role: Role, read: Callable[[SqlStore], T]) -> T:
        """What ``read`` makes of the tables, by a replica of this role."""

        def run() -> T:
            if role is Role.LEADING:
                self.fold()
            return read(self._store)

        return await asyncio.to_thread(run)

    def fold(self) -> None:
        """Bring the tables as far as the journal; a leader alone may, and may have to repeat it."""
        self._follower.current(TURN_S, rounds=ROUNDS_MAX)
