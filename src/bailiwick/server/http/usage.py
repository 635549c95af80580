"""Handlers for usage: what a tenant used, and where the whole fleet went.

Rules:

- Usage comes from the meter, line by line as a bill would have it. A row adds lines up, and the
  total adds rows up, so they agree to the last micro.
- Who has the key in some projects only sees the usage of those.
- GPUs of which no generation is known are charged as ``other``.
- The fleet's sums are told with both sides of their equation, which are counted apart.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from bailiwick.billing.lines import RatedLine, unit_of
from bailiwick.iam import FLEET, Scope
from bailiwick.metering.owners import Account
from bailiwick.metering.report import Report, Span, make_report
from bailiwick.metering.values import Use
from bailiwick.server.http.answering import answers
from bailiwick.server.http.billed import (
    FromMs,
    Period,
    Rated,
    ToMs,
    meter_of,
    period_of,
    rate_period,
    see_prices,
)
from bailiwick.server.http.context import Here
from bailiwick.server.http.params import PathName
from bailiwick.services.decisions import visible_projects
from bailiwick.store.meter_rows import MeterBook
from bailiwick.vocab.words import HardwareGeneration, LeaseClass, ResourceKind
from bailiwick.wire import usage as wire
from bailiwick.wire.base import INTEGER_MAX

ROWS_MAX: Final = 1_000
"""Rows of one answer; the sum counts all."""
_MIB_MS = 2**20 * 1_000

Key = tuple[str | None, str | None, HardwareGeneration | None, LeaseClass]
"""Project, tag, generation and lease class."""


@dataclass(slots=True)
class _Sum:
    used: dict[ResourceKind, int] = field(default_factory=dict)
    leases: set[int] = field(default_factory=set)
    cost_micros: int = 0

    def add(self, line: RatedLine) -> None:
        kind = line.key.kind
        self.used[kind] = self.used.get(kind, 0) + line.used
        self.cost_micros += line.cost_micros


@answers("usage.read")
async def read_usage(
    asked: Here, tenant: PathName, *, from_ms: FromMs = None, to_ms: ToMs = None
) -> wire.Usage:
    """What a tenant used in a period, by project, tag, generation and class, and its cost."""
    asked.require_within(Scope(tenant))
    await asked.read(lambda view: view.state.directory.tenant(tenant))
    projects = visible_projects(asked, tenant)

    def wanted(account: Account) -> bool:
        return account.tenant == tenant and (projects is None or account.project in projects)

    period = await period_of(asked, from_ms=from_ms, to_ms=to_ms)
    return _spell(tenant, await rate_period(asked, wanted, period=period), period=period)


@answers("usage.fleet")
async def read_fleet_usage(asked: Here) -> wire.FleetUsage:
    """What of every kind and generation was leased, idle and unavailable, by cause."""
    asked.require(FLEET)
    now_ms = (await asked.read(see_prices)).now_ms
    found, size = await asyncio.to_thread(_report, meter_of(asked), now_ms)
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
        for each in found.equations
    ]
    return wire.FleetUsage(as_of_ms=found.span.to_ms, journal_size=size, rows=rows)


def _report(book: MeterBook, now_ms: int) -> tuple[Report, int]:
    """The meter's own sums and balances, which have to agree, and of how many records."""
    with book.current() as meter:
        at_ms = max(now_ms, meter.clock_ms)
        totals, balances = meter.meter.totals(at_ms), meter.meter.balances(at_ms)
        return make_report(totals, balances, span=Span(0, at_ms)), meter.size


def _spell(tenant: str, found: Rated, *, period: Period) -> wire.Usage:
    groups: dict[Key, _Sum] = {}
    for line in found.lines:
        key = line.key.project, line.key.tag, line.key.generation, line.key.lease_class
        groups.setdefault(key, _Sum()).add(line)
    for use in found.metered.uses:
        if use.used:
            groups[_key_of(use)].leases |= found.metered.leases[use.account]
    running = found.metered.running
    rows = [
        wire.UsageRow(
            project=key[0],
            tag=key[1],
            generation=key[2],
            lease_class=key[3],
            **_amounts([each], running),
        )
        for key, each in groups.items()
    ]
    rows.sort(key=lambda r: (-r.cost_micros, r.project or "", r.tag or "", str(r.generation)))
    return wire.Usage(
        tenant=tenant,
        from_ms=period.from_ms,
        to_ms=period.to_ms,
        as_of_ms=found.prices.now_ms,
        journal_size=found.metered.size,
        basis="metered",
        currency=found.prices.book.currency,
        rows=rows[:ROWS_MAX],
        rows_left=max(0, len(rows) - ROWS_MAX),
        total=wire.Amounts(**_amounts(groups.values(), running)),
    )


def _key_of(use: Use) -> Key:
    """The row that a use is counted in, as rating has it."""
    account, generation = use.account, use.account.generation
    if use.kind is ResourceKind.GPU_MILLI and generation is None:
        generation = HardwareGeneration.OTHER
    return account.project, account.tag, generation, account.lease_class


def _amounts(groups: Iterable[_Sum], running: set[int]) -> dict[str, Any]:
    leases: set[int] = set()
    used = dict.fromkeys(ResourceKind, 0)
    cost_micros = 0
    for group in groups:
        leases |= group.leases
        cost_micros += group.cost_micros
        for kind, amount in group.used.items():
            used[kind] += amount
    amounts = {
        "gpu_micro_seconds": used[ResourceKind.GPU_MILLI],
        "cpu_milli_seconds": used[ResourceKind.CPU_MILLI] // 1_000,
        "mem_mib_seconds": used[ResourceKind.MEM_BYTES] // _MIB_MS,
        "block_mib_seconds": used[ResourceKind.BLOCK_BYTES] // _MIB_MS,
    }
    return {
        "leases": len(leases),
        "running": len(leases & running),
        **{name: min(amount, INTEGER_MAX) for name, amount in amounts.items()},
        "cost_micros": cost_micros,
    }
