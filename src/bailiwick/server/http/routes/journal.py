"""The journal: parse, call one service, spell the answer."""

from __future__ import annotations

from base64 import b64encode
from typing import Annotated

from fastapi import Query
from fastapi.responses import PlainTextResponse

from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Here
from bailiwick.server.http.params import Limit, NumberCursor, PathName, PathSeq, spell_page
from bailiwick.server.http.spelling import spell_record
from bailiwick.services import journal
from bailiwick.services.journal import ProofWish
from bailiwick.wire.base import INTEGER_MAX, Page
from bailiwick.wire.work import JournalConsistency, JournalRecord

Size = Annotated[int, Query(ge=0, le=INTEGER_MAX, description="How many records it had.")]


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


@answers("checkpoint.key")
async def read_key(asked: Here) -> PlainTextResponse:
    """By which key checkpoints are signed: name, id and key, as signed notes write it."""
    return PlainTextResponse(f"{journal.read_key(asked, signer=asked.house.parts.signer)}\n")


@answers("checkpoint.compare")
async def compare_checkpoints(asked: Here, old_size: Size, *, new_size: Size) -> JournalConsistency:
    """What shows that the journal of one size is the begin of the journal of another."""
    tree = asked.house.parts.tree
    found = await journal.compare_checkpoints(asked, tree, old_size=old_size, new_size=new_size)
    return JournalConsistency(
        old_size=found.old_size,
        new_size=found.new_size,
        hashes=[b64encode(each).decode("ascii") for each in found.hashes],
    )
