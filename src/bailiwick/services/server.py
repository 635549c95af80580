"""The server itself: how this replica stands, how the scheduler is set, what a request led to.

Rules:

- How a replica stands is answered by the one that was asked, whichever that is. The digest is made
  only on request: it reads the whole state.
- Settings are replaced as a whole; they count from then on, and judge nothing again.
- A correlation id of which the caller may see nothing looks as if nobody ever used it. A record
  tells what the journal's own listing would: nobody of another tenant is named.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Final

from bailiwick.iam import FLEET, Scope
from bailiwick.journal.record import Record, parse_record
from bailiwick.kernel import ChangeSettings, Done, Settings, digest_of
from bailiwick.ports import Leader
from bailiwick.runtime.replica import Role, View
from bailiwick.services.caller import Caller, Deferred, Hidden
from bailiwick.services.journal import tell_record
from bailiwick.telemetry.rows import RecordRow
from bailiwick.telemetry.telemetry import Telemetry
from bailiwick.telemetry.timeline import TimelineRow, cut, merge, runs


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaStanding:
    """One replica: what it does, who leads, and how much its state holds."""

    name: str
    address: str
    role: Role
    leader: Leader | None
    epoch: int
    size: int
    age_ms: int
    clock_ms: int
    nodes: int
    leases: int
    waiting: int
    digest: str | None


async def read_replica(caller: Caller, *, digest: bool) -> ReplicaStanding:
    """How this replica stands."""
    caller.require(FLEET)
    replica = caller.gateway.runner.replica

    def standing(view: View) -> ReplicaStanding:
        state = view.state
        return ReplicaStanding(
            name=replica.name,
            address=replica.address,
            role=view.role,
            leader=replica.leader,
            epoch=state.epoch,
            size=state.size,
            age_ms=max(0, view.age_ms),
            clock_ms=state.clock_ms,
            nodes=len(state.ledger.entries),
            leases=len(state.leases),
            waiting=len(state.line.entries),
            digest=digest_of(state) if digest else None,
        )

    return await caller.read(standing)


async def read_settings(caller: Caller) -> Settings:
    """How the scheduler works now."""
    caller.require(FLEET)
    return await caller.lookup(lambda view: view.state.settings)


async def set_settings(caller: Caller, settings: Deferred[Settings], *, seen: str | None) -> Done:
    """Replace all settings, if they are still what was ``seen``; they count from now on."""
    caller.require(FLEET)
    return await caller.change(ChangeSettings(settings(), seen))


READS_MAX: Final = 100
"""Pieces of the journal that one timeline reads."""


@dataclass(frozen=True, slots=True)
class Trace:
    """What a request led to, as far as the caller may see it."""

    entries: list[TimelineRow]
    is_cut: bool
    """Whether there was more than is told."""


async def read_trace(caller: Caller, telemetry: Telemetry | None, *, correlation_id: str) -> Trace:
    """Request, decision, events, spans and log lines under one correlation id, by time."""
    caller.require_within(FLEET)
    if telemetry is None:
        raise Hidden
    found = await asyncio.to_thread(telemetry.find, correlation_id)
    seen = cut(
        found,
        principal=caller.principal.name,
        sees=lambda tenant, project: caller.may(Scope(tenant, project)),
    )
    records = await _records(caller, seen.records, correlation_id=correlation_id)
    if not (seen.spans or seen.logs or records):
        if FLEET in caller.principal.roles:
            raise Hidden
        raise caller.refuse_hidden("foreign_scope" if any(found[:3]) else "not_found")
    is_cut = seen.is_cut or len(runs(seen.records)) > READS_MAX
    return Trace(list(merge(seen.spans, seen.logs, records=records)), is_cut)


async def _records(
    caller: Caller, rows: list[RecordRow], *, correlation_id: str
) -> list[tuple[Record, dict[str, Any]]]:
    """The records and what is told of each; the index may be of another journal, so all are read.

    One whose correlation id is masked (another evicted for his own request) is not told at all:
    that would say whose id it is.
    """
    pieces = runs(rows)[:READS_MAX]
    lines: list[bytes] = []
    for first, count in pieces:
        lines += await caller.records(first, count)
    found = []
    for record in (parse_record(line.rstrip(b"\n")) for line in lines):
        told = tell_record(record, whole=caller.may(FLEET))
        if told.correlation_id == correlation_id and caller.may(Scope(told.tenant, told.project)):
            fields = ("tenant", "project", "actor", "body")
            found.append((record, {name: getattr(told, name) for name in fields}))
    return found
