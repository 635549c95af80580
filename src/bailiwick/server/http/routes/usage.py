"""Routes for usage: what a tenant used, where the fleet went, what nodes counted, and findings."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Final

from fastapi import Query

from bailiwick.billing.lines import unit_of
from bailiwick.metering.counters import Counter, GpuCount
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Changing, Here
from bailiwick.server.http.params import (
    FromMs,
    Limit,
    NumberCursor,
    PathName,
    ToMs,
    number_in,
    spell_page,
)
from bailiwick.services import usage
from bailiwick.store.counter_rows import CounterEvent
from bailiwick.store.finding_rows import FindingRow
from bailiwick.vocab.words import ResourceKind
from bailiwick.wire import counting
from bailiwick.wire import usage as wire
from bailiwick.wire.base import INTEGER_MAX, NAME_PATTERN, Page

ROWS_MAX: Final = 1_000
"""Rows of one answer; the sum counts all."""
_MIB_MS = 2**20 * 1_000

WordQuery = Annotated[
    str | None, Query(pattern=NAME_PATTERN, description="Only findings of this word.")
]


@answers("usage.read")
async def read_usage(
    asked: Here, tenant: PathName, *, from_ms: FromMs = None, to_ms: ToMs = None
) -> wire.Usage:
    """What a tenant used in a period, by project, tag, generation and class, and its cost."""
    return _spell(
        await usage.read(asked, asked.tables, tenant=tenant, from_ms=from_ms, to_ms=to_ms)
    )


@answers("usage.fleet")
async def read_fleet_usage(asked: Here) -> wire.FleetUsage:
    """What of every kind and generation was leased, idle and unavailable, by cause."""
    report, size = await usage.read_fleet(asked, asked.tables)
    rows = [
        wire.FleetRow(
            kind=each.kind,
            generation=each.generation,
            unit=unit_of(each.kind).native,
            leased=str(each.leased),
            idle=str(each.idle),
            unavailable={
                cause.value: str(each.unavailable[cause]) for cause in sorted(each.unavailable)
            },
            capacity=str(each.capacity),
        )
        for each in report.equations
    ]
    return wire.FleetUsage(as_of_ms=report.span.to_ms, journal_size=size, rows=rows)


@answers("node.count")
async def report_counters(
    asked: Changing, node: PathName, *, body: counting.CounterReport
) -> counting.CountersTaken:
    """What was counted for leases on a node; the answer says how far it is stored."""

    def events() -> list[CounterEvent]:
        return [
            CounterEvent(body.epoch, each.sequence, _counter(node, each)) for each in body.counters
        ]

    found = await usage.count(asked, asked.tables, node=node, events=events)
    return counting.CountersTaken(node=node, epoch=found.epoch, acknowledged=found.acknowledged)


@answers("finding.list")
async def list_findings(
    asked: Here, *, finding: WordQuery = None, cursor: NumberCursor = None, limit: Limit = 100
) -> Page[counting.Finding]:
    """The findings that the caller may see, the newest first."""
    found = await usage.findings(
        asked, asked.tables, finding=finding, before=number_in(cursor), limit=limit
    )
    return spell_page(found, _finding)


def _counter(node: str, told: counting.CounterEvent) -> Counter:
    return Counter(
        told.lease_id,
        node,
        told.at_ms,
        told.from_ms,
        to_ms=told.to_ms,
        cpu_ms=told.cpu_ms,
        mem_peak_bytes=told.mem_peak_bytes,
        gpu_ms=told.gpu_ms,
        gpus=tuple(
            GpuCount(each.index, each.active_ms, each.busy_ms, each.until_ms) for each in told.gpus
        ),
    )


def _finding(row: FindingRow) -> counting.Finding:
    return counting.Finding(**asdict(row))


def _spell(found: usage.TenantUsage) -> wire.Usage:
    rated, running = found.rated, found.rated.metered.running
    rows = [_row(key, each, running) for key, each in found.rows.items()]
    rows.sort(key=lambda r: (-r.cost_micros, r.project or "", r.tag or "", str(r.generation)))
    return wire.Usage(
        tenant=found.tenant,
        from_ms=rated.period.from_ms,
        to_ms=rated.period.to_ms,
        as_of_ms=rated.prices.now_ms,
        journal_size=rated.metered.size,
        basis="metered",
        currency=rated.prices.book.currency,
        rows=rows[:ROWS_MAX],
        rows_left=max(0, len(rows) - ROWS_MAX),
        total=wire.Amounts(**_amounts(usage.UsageSum.of(found.rows.values()), running)),
    )


def _row(key: usage.UsageKey, found: usage.UsageSum, running: set[int]) -> wire.UsageRow:
    return wire.UsageRow(
        project=key.project,
        tag=key.tag,
        generation=key.generation,
        lease_class=key.lease_class,
        member=None if key.member is None else wire.LineMember.model_validate(key.member.plain()),
        **_amounts(found, running),
    )


def _amounts(found: usage.UsageSum, running: set[int]) -> dict[str, Any]:
    used = found.used
    amounts = {
        "gpu_micro_seconds": used[ResourceKind.GPU_MILLI],
        "cpu_milli_seconds": used[ResourceKind.CPU_MILLI] // 1_000,
        "mem_mib_seconds": used[ResourceKind.MEM_BYTES] // _MIB_MS,
        "block_mib_seconds": used[ResourceKind.BLOCK_BYTES] // _MIB_MS,
    }
    return {
        "leases": len(found.leases),
        "running": len(found.leases & running),
        **{name: min(amount, INTEGER_MAX) for name, amount in amounts.items()},
        "cost_micros": found.cost_micros,
    }
