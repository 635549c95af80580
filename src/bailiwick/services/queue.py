"""Requests that wait: where they stand, what is in their way, and how they leave the queue.

An entry of another is not there: same answer, same words.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from bailiwick.iam import FLEET, Scope
from bailiwick.kernel import Cancel, Command, Done
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.views import WaitingEntry, waiting_entries, waiting_entry
from bailiwick.runtime.replica import View
from bailiwick.services.caller import Caller
from bailiwick.services.jobs import Jobs
from bailiwick.services.leases import seen_by
from bailiwick.services.pages import Rows
from bailiwick.services.picture.shared import Made, Shared


@dataclass(slots=True)
class QueueHeads:
    """The front of the whole line, made once for all who see all of it; by how much was asked."""

    _kept: dict[int, Shared[Rows[WaitingEntry]]] = field(default_factory=dict, init=False)

    def of(self, limit: int) -> Shared[Rows[WaitingEntry]]:
        """Where the first so many are kept; a page has a bounded length, so there are few."""
        return self._kept.setdefault(limit, Shared())


async def list_entries(
    caller: Caller, *, after: int, limit: int, heads: QueueHeads | None = None
) -> Rows[WaitingEntry]:
    """The waiting requests that the caller may see, oldest first."""
    caller.require_within(FLEET)

    def read(view: View) -> Made[Rows[WaitingEntry]]:
        begun = time.thread_time()
        ids = view.waiting.page(seen_by(caller), after=after, limit=limit + 1)
        found = waiting_entries(view.state, ids[:limit], now_ms=view.now_ms)
        rows = list(found), str(ids[limit - 1]) if len(ids) > limit else None
        return Made(rows, view.state.size, view.age_ms, time.thread_time() - begun)

    if heads is not None and after == 0 and caller.may(FLEET):
        return await heads.of(limit).get(caller, lambda: caller.read(read))
    return (await caller.read(read)).value


async def read_entry(caller: Caller, entry_id: int) -> WaitingEntry:
    """One waiting request: where it stands, what is in its way, when it may start."""
    await require_entry(caller, entry_id)
    return await caller.read(lambda view: waiting_entry(view.state, entry_id, now_ms=view.now_ms))


async def jobs_waiting(jobs: Jobs | None, entries: Sequence[WaitingEntry]) -> dict[int, int]:
    """The jobs that wait as these entries, by the entry; whoever sees the one sees the other."""
    if jobs is None or not entries:
        return {}
    return await asyncio.to_thread(jobs.book.of_entries, [entry.id for entry in entries])


async def cancel_entry(caller: Caller, entry_id: int) -> Done:
    """Take a waiting request out of the queue."""
    command = Cancel(entry_id)
    await require_entry(caller, entry_id, command=command)
    return await caller.change(command)


async def require_entry(caller: Caller, entry_id: int, *, command: Command | None = None) -> None:
    """Go on only if the caller has the action's key where the request waits."""

    def owner(view: View) -> Scope | None:
        entry = view.state.line.entries.get(entry_id)
        return None if entry is None else Scope(*Owner.of(entry.request))

    await caller.require_at(owner, command)
