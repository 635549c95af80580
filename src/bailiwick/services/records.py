"""Records of the journal as their owner may read them.

Rules:

- What a tenant reads of the journal names nobody of another: who took its place is "another", and
  the numbers of the leases that went for it are left out.
- Who may read the whole journal is told all of it, but for what a token is known by.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bailiwick.iam import Scope
from bailiwick.journal.kinds import RecordKind
from bailiwick.journal.record import Record, parse_record
from bailiwick.runtime.replica import ACTOR
from bailiwick.services.caller import Caller
from bailiwick.services.decisions import ANOTHER, sees_journal
from bailiwick.services.pages import Rows
from bailiwick.vocab.words import PreemptionReason

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
        if body.get("preemptor", record.tenant) != record.tenant:
            body["preemptor"] = ANOTHER
        if "victims" in body:
            body["victims"] = []
        if _has_foreign_actor(record):
            actor, correlation_id = ANOTHER, ANOTHER
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


def _has_foreign_actor(record: Record) -> bool:
    """Who asked for the room may be of any tenant, and words its request as it likes."""
    evicted = record.body.get("reason") == PreemptionReason.PRIORITY_PREEMPTION
    return evicted and record.actor != ACTOR


def _thawed(value: object) -> object:
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value
