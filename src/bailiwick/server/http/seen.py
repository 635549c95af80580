"""What can be seen of the server's own work: the timeline of a request, and the metrics.

Rules:

- A correlation id of which the caller may see nothing looks as if nobody ever used it.
- The preemptor of another tenant is not named, as in the journal's own listing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

from fastapi import Path
from fastapi.responses import PlainTextResponse
from starlette.requests import Request

from bailiwick.iam import FLEET, Scope
from bailiwick.journal.record import Record, parse_record
from bailiwick.ports import JournalStore
from bailiwick.server.http.asked import Asked, Here, House
from bailiwick.server.http.gauges import GaugeReader
from bailiwick.server.problems import hidden
from bailiwick.services.replica import View
from bailiwick.telemetry.metrics import CONTENT_TYPE
from bailiwick.telemetry.rows import RecordRow
from bailiwick.telemetry.telemetry import Telemetry
from bailiwick.telemetry.timeline import Entry, cut, merge, runs
from bailiwick.wire.base import PRINCIPAL_PATTERN
from bailiwick.wire.seen import Timeline, TimelineEntry

READS_MAX = 100
"""Pieces of the journal that one timeline reads."""

CorrelationId = Annotated[str, Path(pattern=PRINCIPAL_PATTERN)]


async def read_trace(asked: Here, correlation_id: CorrelationId) -> Timeline:
    """Request, decision, events, spans and log lines under one correlation id, by time."""
    asked.require_within(FLEET)
    telemetry = _telemetry(asked.house)
    found = await asyncio.to_thread(telemetry.find, correlation_id)
    seen = cut(
        found,
        principal=asked.principal.name,
        sees=lambda tenant, project: asked.may(Scope(tenant, project)),
    )
    if not (seen.spans or seen.logs or seen.records):
        if FLEET in asked.principal.roles:
            raise hidden()
        raise asked.refuse_hidden("foreign_scope" if any(found[:3]) else "not_found")
    records = await _records(asked, seen.records, correlation_id)
    is_cut = seen.is_cut or len(runs(seen.records)) > READS_MAX
    whole = asked.may(FLEET)
    entries = merge(
        seen.spans, seen.logs, records=[(each, _told(each, whole=whole)) for each in records]
    )
    return Timeline(
        correlation_id=correlation_id,
        entries=[_spelled(each) for each in entries],
        is_cut=is_cut,
    )


async def _records(asked: Asked, rows: list[RecordRow], correlation_id: str) -> list[Record]:
    """The records themselves; the index may be of another journal, so each is looked at."""
    pieces, store = runs(rows)[:READS_MAX], asked.house.looks.store
    lines: list[bytes] = []
    for first, count in pieces:
        lines += await asked.look(partial(_read, store, first=first, count=count))
    found = [parse_record(line.rstrip(b"\n")) for line in lines]
    return [
        each
        for each in found
        if each.correlation_id == correlation_id and asked.may(Scope(each.tenant, each.project))
    ]


def _read(store: JournalStore, view: View, *, first: int, count: int) -> list[bytes]:
    return store.read(first, max(0, min(count, view.state.size - first)))


def _told(record: Record, *, whole: bool) -> dict[str, Any]:
    body = {name: _thawed(value) for name, value in record.body.items()}
    if not whole and body.get("preemptor", record.tenant) != record.tenant:
        body["preemptor"] = "another"
    return {
        "tenant": record.tenant,
        "project": record.project,
        "actor": record.actor,
        "body": body,
    }


def _thawed(value: object) -> object:
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value


def _spelled(entry: Entry) -> TimelineEntry:
    return TimelineEntry(
        at_ms=entry.at_ms,
        source=entry.source.value,
        name=entry.name,
        duration_ms=None if entry.duration_us is None else entry.duration_us / 1000,
        details=dict(entry.details),
    )


async def read_metrics(asked: Here, request: Request) -> PlainTextResponse:
    """All metrics, in Prometheus' text format."""
    asked.require(FLEET)
    return await read_metrics_openly(request)


async def read_metrics_openly(request: Request) -> PlainTextResponse:
    """The same, where whoever can reach the server may see them."""
    house: House = request.app.state.house
    telemetry = _telemetry(house)
    reader: GaugeReader = request.app.state.gauges
    gauges = await reader.read(telemetry.metrics.last_approved)
    gauges.put("bailiwick_watchers", house.parts.watchers.count)
    return PlainTextResponse(telemetry.expose(gauges), media_type=CONTENT_TYPE)


def _telemetry(house: House) -> Telemetry:
    found = house.parts.telemetry
    if found is None:
        raise hidden()
    return found
