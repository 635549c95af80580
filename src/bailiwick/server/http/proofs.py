"""Handlers for proofs: a signed checkpoint of the journal, and one record's way to its root.

Rules:

- Both are the files that ``bailiwick journal`` reads and checks: a C2SP checkpoint and tlog-proof.
  Whoever has the log's public key needs to trust nothing else, this server least.
- A tenant proves its own records. One of which it is not told all (who took its place) is proven
  only to somebody who may read the whole journal: a proof has the record's very bytes.
- The tree grows when it is asked for, a bounded number of records for one request; if there are
  more, it goes on by itself and the caller is told to try again. A server without a signing key
  proves nothing.
"""

from __future__ import annotations

import asyncio
from typing import Final

from fastapi.responses import PlainTextResponse

from bailiwick.iam import FLEET, Scope
from bailiwick.journal.keys import Signer
from bailiwick.journal.record import parse_record
from bailiwick.runtime.gateway import Gateway
from bailiwick.runtime.tree import JournalTree
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Asked, Here
from bailiwick.server.http.params import PathName, PathSeq
from bailiwick.services.caller import Hidden
from bailiwick.services.records import tell_record
from bailiwick.store.journal.proof import RecordProof
from bailiwick.vocab.errors import BailiwickError, NotFound, Unavailable

PAGES_MAX: Final = 10
"""Pages of records by which one request grows the tree, at most."""

_GROWING: Final[set[asyncio.Task[None]]] = set()
"""Kept only so that nobody clears away a task that runs."""


@answers("checkpoint.read")
async def read_checkpoint(asked: Here) -> PlainTextResponse:
    """The journal's size and root now, signed."""
    asked.require_within(FLEET)
    signer = _signer(asked)
    size = await asked.read(lambda view: view.state.size)
    await _grow(asked, size)
    return PlainTextResponse(asked.house.parts.tree.checkpoint(signer))


@answers("record.prove")
async def prove_record(asked: Here, tenant: PathName, *, seq: PathSeq) -> PlainTextResponse:
    """One of a tenant's records, with what proves that the journal has it."""
    asked.require(Scope(tenant))
    signer = _signer(asked)
    lines = await asked.records(seq, 1)
    canonical = lines[0].rstrip(b"\n") if lines else b""
    record = parse_record(canonical) if lines else None
    if record is None or record.tenant != tenant:
        raise Hidden()
    is_whole = tell_record(record, whole=False) == tell_record(record, whole=True)
    if not is_whole and not asked.may(FLEET):
        raise asked.refuse("the record tells of another tenant too", reason="tells_of_another")
    await _grow(asked, seq + 1)
    proof, checkpoint = asked.house.parts.tree.prove(seq, signer)
    whole = RecordProof(canonical, seq, proof.hashes, checkpoint)
    return PlainTextResponse(whole.text)


def _signer(asked: Asked) -> Signer:
    signer = asked.house.parts.signer
    if signer is None:
        raise NotFound("signing key", "of this server", hint="its operator starts it with one")
    return signer


async def _grow(asked: Asked, size: int) -> None:
    """Have the tree cover that many records, or say that it will."""
    gateway, tree = asked.house.gateway, asked.house.parts.tree
    for _ in range(PAGES_MAX):
        if tree.size >= size:
            return
        await _grow_page(gateway, tree)
    if tree.size >= size:
        return
    if tree.claim():
        task = asyncio.create_task(_go_on(gateway, tree, size=size))
        _GROWING.add(task)
        task.add_done_callback(_GROWING.discard)
    raise Unavailable("the proof", f"{tree.size} of {size} records are taken up so far")


async def _go_on(gateway: Gateway, tree: JournalTree, *, size: int) -> None:
    """Grow the tree while nobody waits, until it has what was asked for."""
    try:
        while tree.size < size:  # bounded by the records there are
            before = tree.size
            await _grow_page(gateway, tree)
            if tree.size == before:
                return
    except BailiwickError:
        return  # whoever asks next begins again
    finally:
        tree.release()


async def _grow_page(gateway: Gateway, tree: JournalTree) -> None:
    first = tree.size
    lines = await gateway.records(first, tree.page)
    # Hashing takes milliseconds, which other requests need not wait for.
    await asyncio.to_thread(tree.grow, lines, first=first)
