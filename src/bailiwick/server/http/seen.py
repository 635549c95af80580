"""What can be seen of the server's own work: the timeline of a request, and the metrics.

Rules:

- A correlation id of which the caller may see nothing looks as if nobody ever used it.
- A record tells what the journal's own listing would: nobody of another tenant is named.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import Path
from fastapi.responses import PlainTextResponse
from starlette.requests import Request

from bailiwick.iam import FLEET, Scope
from bailiwick.journal.record import Record, parse_record
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Asked, Here, House
from bailiwick.server.http.gauges import GaugeReader
from bailiwick.services.caller import Hidden
from bailiwick.services.records import tell_record
from bailiwick.telemetry.metrics import CONTENT_TYPE
from bailiwick.telemetry.rows import RecordRow
from bailiwick.telemetry.telemetry import Telemetry
from bailiwick.telemetry.timeline import TimelineRow, cut, merge, runs
from bailiwick.wire.base import PRINCIPAL_PATTERN
from bailiwick.wire.traces import Timeline, TimelineEntry

READS_MAX = 100
"""Pieces of the journal that one timeline reads."""

CorrelationId = Annotated[str, Path(pattern=PRINCIPAL_PATTERN)]


@answers("trace.read")
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
    records = await _records(asked, seen.records, correlation_id)
    if not (seen.spans or seen.logs or records):
        if FLEET in asked.principal.roles:
            raise Hidden()
        raise asked.refuse_hidden("foreign_scope" if any(found[:3]) else "not_found")
    is_cut = seen.is_cut or len(runs(seen.records)) > READS_MAX
    entries = merge(seen.spans, seen.logs, records=records)
    return Timeline(
        correlation_id=correlation_id,
        entries=[_spelled(each) for each in entries],
        is_cut=is_cut,
    )


async def _records(
    asked: Asked, rows: list[RecordRow], correlation_id: str
) -> list[tuple[Record, dict[str, Any]]]:
    """The records and what is told of each; the index may be of another journal, so all are read.

    One whose correlation id is masked (another evicted for his own request) is not told at all:
    that would say whose id it is.
    """
    pieces = runs(rows)[:READS_MAX]
    lines: list[bytes] = []
    for first, count in pieces:
        lines += await asked.records(first, count)
    found = []
    for record in (parse_record(line.rstrip(b"\n")) for line in lines):
        told = tell_record(record, whole=asked.may(FLEET))
        if told.correlation_id == correlation_id and asked.may(Scope(told.tenant, told.project)):
            fields = ("tenant", "project", "actor", "body")
            found.append((record, {name: getattr(told, name) for name in fields}))
    return found


def _spelled(entry: TimelineRow) -> TimelineEntry:
    return TimelineEntry(
        at_ms=entry.at_ms,
        source=entry.source.value,
        name=entry.name,
        duration_ms=None if entry.duration_us is None else entry.duration_us / 1000,
        details=dict(entry.details),
    )


@answers("metrics.read")
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
        raise Hidden()
    return found
