"""The journal: parse, call one service, spell the answer."""

from __future__ import annotations

from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Here
from bailiwick.server.http.params import Limit, NumberCursor, PathName, spell_page
from bailiwick.server.http.spelling import spell_record
from bailiwick.services import records
from bailiwick.wire.base import Page
from bailiwick.wire.work import JournalRecord


@answers("record.list")
async def list_records(
    asked: Here, tenant: PathName, *, cursor: NumberCursor = None, limit: Limit = 100
) -> Page[JournalRecord]:
    """A tenant's own records in the order of the journal; ``next`` is null at its end."""
    rows = await records.list_records(asked, tenant, first=int(cursor or 0), limit=limit)
    return spell_page(rows, spell_record)
