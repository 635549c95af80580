"""Requests that wait: parse, call one service, spell the answer."""

from __future__ import annotations

from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Changing, Here
from bailiwick.server.http.foreseen import spell_what_if
from bailiwick.server.http.params import NumberCursor, PathNumber, ShortLimit, spell_page
from bailiwick.server.http.spelling import spell_done, spell_entry
from bailiwick.services import queue
from bailiwick.services.foreseeing.entries import suppose as suppose_entry
from bailiwick.whatif import entry_trial
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page
from bailiwick.wire.foreseen import Supposed, WhatIf
from bailiwick.wire.work import QueueEntry


@answers("queue.list")
async def list_queue(
    asked: Here, *, cursor: NumberCursor = None, limit: ShortLimit = 20
) -> Page[QueueEntry]:
    """The waiting requests that the caller may see, oldest first."""
    rows = await queue.list_entries(
        asked, after=int(cursor or 0), limit=limit, heads=asked.house.parts.heads
    )
    jobs = await queue.jobs_waiting(asked.house.parts.jobs, rows[0])
    return spell_page(rows, lambda entry: spell_entry(entry, job_id=jobs.get(entry.id)))


@answers("queue.read")
async def read_entry(asked: Here, entry_id: PathNumber) -> QueueEntry:
    """One waiting request: where it stands, what is in its way, when it may start."""
    found = await queue.read_entry(asked, entry_id)
    jobs = await queue.jobs_waiting(asked.house.parts.jobs, [found])
    return spell_entry(found, job_id=jobs.get(entry_id))


@answers("queue.whatif")
async def suppose(asked: Here, entry_id: PathNumber, *, body: Supposed) -> WhatIf:
    """What would become of a waiting request if what is supposed were so; nothing is changed."""
    wanted = entry_trial.Supposed(
        quota=dict(body.quota), nodes=body.nodes, generation=body.generation
    )
    return spell_what_if(body, await suppose_entry(asked, entry_id, supposed=wanted))


@answers("queue.cancel")
async def cancel_entry(asked: Changing, entry_id: PathNumber) -> Done:
    """Take a waiting request out of the queue."""
    return spell_done(await queue.cancel_entry(asked, entry_id))
