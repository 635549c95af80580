"""Handler for what was found by comparing what nodes counted with the journal.

A finding belongs to the tenant and project of its lease. What belongs to none is the fleet's.
"""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Annotated

from fastapi import Query

from bailiwick.iam import FLEET
from bailiwick.runtime.replica import Role
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Here
from bailiwick.server.http.params import Limit, NumberCursor
from bailiwick.store.finding_rows import FindingRow
from bailiwick.vocab.errors import Unavailable
from bailiwick.wire import counting as wire
from bailiwick.wire.base import NAME_PATTERN, Page

WordQuery = Annotated[
    str | None, Query(pattern=NAME_PATTERN, description="Only findings of this word.")
]


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
