"""The journal: parse, call one service, spell the answer."""

from __future__ import annotations

from fastapi.responses import PlainTextResponse

from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Here
from bailiwick.server.http.params import Limit, NumberCursor, PathName, PathSeq, spell_page
from bailiwick.server.http.spelling import spell_record
from bailiwick.services import journal
from bailiwick.services.journal import ProofWish
from bailiwick.wire.base import Page
from bailiwick.wire.work import JournalRecord


@answers("record.list")
async def list_records(
    asked: Here, tenant: PathName, *, cursor: NumberCursor = None, limit: Limit = 100
) -> Page[JournalRecord]:
    """A tenant's own records in the order of the journal; ``next`` is null at its end."""
    rows = await journal.list_records(asked, tenant, first=int(cursor or 0), limit=limit)
    return spell_page(rows, spell_record)


@answers("checkpoint.read")
async def read_checkpoint(asked: Here) -> PlainTextResponse:
    """The journal's size and root now, signed."""
    parts = asked.house.parts
    found = await journal.read_checkpoint(asked, parts.tree, signer=parts.signer)
    return PlainTextResponse(found)


@answers("record.prove")
async def prove_record(asked: Here, tenant: PathName, *, seq: PathSeq) -> PlainTextResponse:
    """One of a tenant's records, with what proves that the journal has it."""
    parts, wish = asked.house.parts, ProofWish(tenant, seq)
    found = await journal.prove_record(asked, parts.tree, wish=wish, signer=parts.signer)
    return PlainTextResponse(found)
