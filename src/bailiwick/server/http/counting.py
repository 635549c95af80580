"""Handlers for what nodes count, and for what was found by comparing it with the journal.

Rules:

- A node counts for itself alone; its name is the source of its events. They are kept, then
  acknowledged: an answer that is lost costs nothing, the same events are taken once.
- A finding belongs to the tenant and project of its lease. What belongs to none is the fleet's.
"""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Annotated

from fastapi import Query

from bailiwick.iam import FLEET
from bailiwick.metering.counters import counter_of
from bailiwick.runtime.replica import Role
from bailiwick.server.http.answering import answers
from bailiwick.server.http.asked import Asked, Changing, Here
from bailiwick.server.http.operate import require_node
from bailiwick.server.http.params import Limit, NumberCursor, PathName
from bailiwick.store.counter_rows import CounterBook, CounterEvent
from bailiwick.store.finding_rows import FindingRow
from bailiwick.vocab.errors import Unavailable
from bailiwick.wire import counting as wire
from bailiwick.wire.base import NAME_PATTERN, Page

WordQuery = Annotated[
    str | None, Query(pattern=NAME_PATTERN, description="Only findings of this word.")
]


@answers("node.count")
async def report_counters(
    asked: Changing, node: PathName, *, body: wire.CounterReport
) -> wire.CountersTaken:
    """What was counted for leases on a node; the answer says how far it is stored."""
    require_node(asked, node)
    book = _counters(asked)
    await asked.read(lambda view: view.state.ledger.entry(node))
    events = [_event(body.epoch, node, each) for each in body.counters]
    if asked.dry_run:
        found = await asyncio.to_thread(book.standing, node)
    else:
        now_ms = asked.house.door.clock.now_ms()
        found = await asyncio.to_thread(book.take, node, events, now_ms=now_ms)
    return wire.CountersTaken(node=node, epoch=found.epoch, acknowledged=found.acknowledged)


def _counters(asked: Asked) -> CounterBook:
    book = asked.house.parts.counters
    if book is None:
        raise Unavailable("counters", "this server keeps none")
    return book


def _event(epoch: int, node: str, told: wire.CounterEvent) -> CounterEvent:
    plain = told.model_dump(exclude={"sequence"}, exclude_none=True)
    return CounterEvent(epoch, told.sequence, counter_of({**plain, "node": node}))


@answers("finding.list")
async def list_findings(
    asked: Here, *, finding: WordQuery = None, cursor: NumberCursor = None, limit: Limit = 100
) -> Page[wire.Finding]:
    """The findings that the caller may see, the newest first."""
    asked.require_within(FLEET)
    book = asked.house.parts.findings
    if book is None:
        raise Unavailable("findings", "this server keeps no table of them")
    scopes: list[tuple[str, str | None]] | None = None
    if not asked.may(FLEET):
        own = [scope for scope in asked.principal.roles if asked.may(scope)]
        scopes = [(each.tenant, each.project) for each in own if each.tenant is not None]
    before = None if cursor is None else int(cursor)
    role = asked.house.gateway.role

    def read() -> list[FindingRow]:
        if role is Role.LEADING:
            book.advance()
        return book.page(scopes, finding=finding, before=before, limit=limit + 1)

    rows = await asyncio.to_thread(read)
    following = str(rows[limit - 1].seq) if len(rows) > limit else None
    return Page(items=[wire.Finding(**asdict(row)) for row in rows[:limit]], next=following)
