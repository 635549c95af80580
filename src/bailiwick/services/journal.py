"""The journal: its records as their owner may read them, and what proves that it has them.

Rules:

- What a tenant reads of the journal names nobody of another: who took its place is "another", and
  the numbers of the leases that went for it are left out.
- Who may read the whole journal is told all of it, but for what a token is known by.
- A checkpoint and a proof are the files that ``bailiwick journal`` reads and checks: a C2SP
  checkpoint and tlog-proof. Whoever has the log's public key needs to trust nothing else, this
  server least.
- A tenant proves its own records. One of which it is not told all (who took its place) is proven
  only to somebody who may read the whole journal: a proof has the record's very bytes.
- Who reads any of the journal may have the public key, and what shows that the journal only grew
  since a checkpoint that he kept: both are hashes and numbers, and tell nothing of anybody.
- The tree grows when it is asked for, a bounded number of records for one request; if there are
  more, it goes on by itself and the caller is told to try again. A server without a signing key
  proves nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from bailiwick.iam import FLEET, Scope
from bailiwick.journal.keys import Signer, VerifierKey
from bailiwick.journal.kinds import RecordKind
from bailiwick.journal.merkle import ConsistencyProof
from bailiwick.journal.record import Record, parse_record
from bailiwick.kernel.work.ending import QUOTA
from bailiwick.runtime.gateway import Gateway
from bailiwick.runtime.replica import ACTOR
from bailiwick.runtime.tree import JournalTree
from bailiwick.services.caller import Caller, Hidden
from bailiwick.services.decisions import ANOTHER, sees_journal
from bailiwick.services.pages import Rows
from bailiwick.store.journal.proof import RecordProof
from bailiwick.vocab.errors import BailiwickError, NotFound, Unavailable
from bailiwick.vocab.values import check_integer
from bailiwick.vocab.words import MAKES_ROOM, PreemptionReason

PAGES_MAX: Final = 10
"""Pages of records by which one request grows the tree, at most."""

_GROWING: Final[set[asyncio.Task[None]]] = set()
"""Kept only so that nobody clears away a task that runs."""

SCAN_MAX = 2_000
"""Records that are looked at for one page; a page may so have fewer rows than there are."""


@dataclass(frozen=True, slots=True)
class ToldRecord:
    """One sealed fact, as it is told to somebody."""

    seq: int
    at_ms: int
    kind: RecordKind
    tenant: str | None
    project: str | None
    actor: str
    correlation_id: str
    body: dict[str, Any]
    prev_hash: str


async def list_records(caller: Caller, tenant: str, *, first: int, limit: int) -> Rows[ToldRecord]:
    """A tenant's own records in the order of the journal; no cursor at its end."""
    caller.require(Scope(tenant))
    await caller.read(lambda view: view.state.directory.tenant(tenant))
    lines = await caller.records(first, SCAN_MAX)
    size, whole = caller.gateway.journal.size, sees_journal(caller)
    rows: list[ToldRecord] = []
    seen = first
    for line in lines:
        if len(rows) == limit:
            break
        record = parse_record(line.rstrip(b"\n"))
        seen = record.seq + 1
        if record.tenant == tenant:
            rows.append(tell_record(record, whole=whole))
    return rows, str(seen) if lines and seen < size else None


def tell_record(record: Record, *, whole: bool) -> ToldRecord:
    """A record as its owner may read it; ``whole`` for who may read everybody's."""
    body = {name: _thawed(value) for name, value in record.body.items()}
    if record.kind is RecordKind.ACCESS_TOKEN_ISSUED:
        del body["digest"]  # what a token is known by is in no answer
    actor, correlation_id = record.actor, record.correlation_id
    if not whole:
        if "victims" in body:
            body["victims"] = []
        if _is_for_another(record):
            body |= {"preemptor": ANOTHER} if "preemptor" in body else {}
            for name in ("preemptor_entry_id", "preemptor_lease_id"):
                body.pop(name, None)
            if not body.get("released"):  # that its holder did
                actor = actor if actor == ACTOR else ANOTHER
                correlation_id = ANOTHER
    return ToldRecord(
        seq=record.seq,
        at_ms=record.at_ms,
        kind=record.kind,
        tenant=record.tenant,
        project=record.project,
        actor=actor,
        correlation_id=correlation_id,
        body=body,
        prev_hash=record.prev_hash,
    )


def _is_for_another(record: Record) -> bool:
    """Whether somebody of another tenant asked for the room, who words its request as it likes.

    A record that does not say who it was for (an old one) may be for anybody.
    """
    preemptor, reason = record.body.get("preemptor"), record.body.get("reason")
    if reason == PreemptionReason.QUOTA_REBALANCE and preemptor == QUOTA.preemptor:
        return False  # nobody's room but that of its own quota
    was_asked = reason in MAKES_ROOM or record.kind is RecordKind.LEASE_RESTORED
    return was_asked and preemptor != record.tenant


def _thawed(value: object) -> object:
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value


# -- proofs ----------------------------------------------------------------------------------


async def read_checkpoint(caller: Caller, tree: JournalTree, *, signer: Signer | None) -> bytes:
    """The journal's size and root now, signed."""
    caller.require_within(FLEET)
    key = _signing(signer)
    size = await caller.read(lambda view: view.state.size)
    await _grow(caller.gateway, tree, size=size)
    return tree.checkpoint(key)


def read_key(caller: Caller, *, signer: Signer | None) -> VerifierKey:
    """By which key the checkpoints of this journal are signed."""
    caller.require_within(FLEET)
    return VerifierKey.of(_signing(signer))


async def compare_checkpoints(
    caller: Caller, tree: JournalTree, *, old_size: int, new_size: int
) -> ConsistencyProof:
    """What shows that the journal of one size is the begin of the journal of another."""
    caller.require_within(FLEET)
    size = await caller.read(lambda view: view.state.size)
    check_integer("new_size", new_size, low=0, high=size)
    check_integer("old_size", old_size, low=0, high=new_size)
    await _grow(caller.gateway, tree, size=new_size)
    return tree.compare(old_size, new_size)


@dataclass(frozen=True, slots=True)
class ProofWish:
    """Which record of which tenant is to be proven."""

    tenant: str
    seq: int


async def prove_record(
    caller: Caller, tree: JournalTree, *, wish: ProofWish, signer: Signer | None
) -> bytes:
    """One of a tenant's records, with what proves that the journal has it."""
    caller.require(Scope(wish.tenant))
    key = _signing(signer)
    lines = await caller.records(wish.seq, 1)
    canonical = lines[0].rstrip(b"\n") if lines else b""
    record = parse_record(canonical) if lines else None
    if record is None or record.tenant != wish.tenant:
        raise Hidden
    is_whole = tell_record(record, whole=False) == tell_record(record, whole=True)
    if not is_whole and not caller.may(FLEET):
        raise caller.refuse("the record tells of another tenant too", reason="tells_of_another")
    await _grow(caller.gateway, tree, size=wish.seq + 1)
    proof, checkpoint = tree.prove(wish.seq, key)
    return RecordProof(canonical, wish.seq, proof.hashes, checkpoint).text


def _signing(signer: Signer | None) -> Signer:
    if signer is None:
        raise NotFound("signing key", "of this server", hint="its operator starts it with one")
    return signer


async def _grow(gateway: Gateway, tree: JournalTree, *, size: int) -> None:
    """Have the tree cover that many records, or say that it will."""
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
