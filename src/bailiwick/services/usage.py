"""Usage: what a tenant used, where the whole fleet went, and what nodes counted beside that.

Rules:

- Usage comes from the meter, line by line as a bill would have it. A row adds lines up, and the
  total adds rows up, so they agree to the last micro.
- Who has the key in some projects only sees the usage of those.
- GPUs of which no generation is known are charged as ``other``.
- The fleet's sums are told with both sides of their equation, which are counted apart.
- A node counts for itself alone; its name is the source of its events. They are kept, then
  acknowledged: an answer that is lost costs nothing, the same events are taken once.
- A finding belongs to the tenant and project of its lease. What belongs to none is the fleet's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from bailiwick.billing.lines import RatedLine
from bailiwick.iam import FLEET, Scope
from bailiwick.metering.owners import Account
from bailiwick.metering.report import Report, ReportSpan, make_report
from bailiwick.metering.values import Use
from bailiwick.runtime.replica import Role
from bailiwick.services.caller import Caller, Deferred
from bailiwick.services.pages import Rows, cut
from bailiwick.services.rating import Rated, period_of, prices_in, rate_period
from bailiwick.services.tables import StoreTables
from bailiwick.store.counter_rows import CounterEvent, Receipt
from bailiwick.store.finding_rows import FindingRow
from bailiwick.store.meter_rows import MeterBook
from bailiwick.vocab.app_uses import MemberUse
from bailiwick.vocab.words import HardwareGeneration, LeaseClass, ResourceKind


class UsageKey(NamedTuple):
    """What rows of usage are told apart by."""

    project: str | None
    tag: str | None
    generation: HardwareGeneration | None
    lease_class: LeaseClass
    member: MemberUse | None


@dataclass(slots=True)
class UsageSum:
    """What was used in all, by which leases, and what that costs."""

    used: dict[ResourceKind, int] = field(default_factory=lambda: dict.fromkeys(ResourceKind, 0))
    leases: set[int] = field(default_factory=set)
    cost_micros: int = 0

    def add(self, line: RatedLine) -> None:
        """One line more."""
        self.used[line.key.kind] += line.used
        self.cost_micros += line.cost_micros

    @classmethod
    def of(cls, sums: Iterable[UsageSum]) -> UsageSum:
        """All of these together."""
        total = cls()
        for each in sums:
            total.leases |= each.leases
            total.cost_micros += each.cost_micros
            for kind, amount in each.used.items():
                total.used[kind] += amount
        return total


@dataclass(frozen=True, slots=True)
class TenantUsage:
    """What a tenant used in a period, by row, and from what that was made."""

    tenant: str
    rated: Rated
    rows: dict[UsageKey, UsageSum]


class FleetUsage(NamedTuple):
    """Where all of the fleet went, and of how many records that is."""

    report: Report
    journal_size: int


async def read(
    caller: Caller, tables: StoreTables, *, tenant: str, from_ms: int | None, to_ms: int | None
) -> TenantUsage:
    """What a tenant used in a period, by project, tag, generation, class and member; its cost."""
    caller.require_within(Scope(tenant))
    await caller.lookup(lambda view: view.state.directory.tenant(tenant))
    projects = caller.visible_projects(tenant)

    def wanted(account: Account) -> bool:
        return account.tenant == tenant and (projects is None or account.project in projects)

    period = await period_of(caller, from_ms=from_ms, to_ms=to_ms)
    rated = await rate_period(caller, tables.meter, wanted=wanted, period=period)
    return TenantUsage(tenant, rated, _rows(rated))


async def read_fleet(caller: Caller, tables: StoreTables) -> FleetUsage:
    """What of every kind and generation was leased, idle and unavailable, by cause."""
    caller.require(FLEET)
    now_ms = (await caller.lookup(prices_in)).now_ms
    return await asyncio.to_thread(_report, tables.meter, now_ms)


async def count(
    caller: Caller, tables: StoreTables, *, node: str, events: Deferred[list[CounterEvent]]
) -> Receipt:
    """Keep what was counted for leases on a node; the answer says how far it is kept."""
    caller.require_node(node)
    book = tables.counters
    await caller.lookup(lambda view: view.state.ledger.entry(node))
    told = events()
    if caller.dry_run:
        return await asyncio.to_thread(book.standing, node)
    return await asyncio.to_thread(book.take, node, told, now_ms=caller.clock.now_ms())


async def findings(
    caller: Caller, tables: StoreTables, *, finding: str | None, before: int | None, limit: int
) -> Rows[FindingRow]:
    """The findings that the caller may see, the newest first."""
    caller.require_within(FLEET)
    book, role = tables.findings, caller.gateway.role
    scopes: list[tuple[str, str | None]] | None = None
    if not caller.may(FLEET):
        own = [scope for scope in caller.principal.roles if caller.may(scope)]
        scopes = [(each.tenant, each.project) for each in own if each.tenant is not None]

    def page() -> list[FindingRow]:
        if role is Role.LEADING:
            book.advance()
        return book.page(scopes, finding=finding, before=before, limit=limit + 1)

    rows = await asyncio.to_thread(page)
    return cut(rows, limit, key=lambda row: row.seq)


def _report(book: MeterBook, now_ms: int) -> FleetUsage:
    """The meter's own sums and balances, which have to agree."""
    with book.current() as meter:
        at_ms = max(now_ms, meter.clock_ms)
        totals, balances = meter.meter.totals(at_ms), meter.meter.balances(at_ms)
        return FleetUsage(make_report(totals, balances, span=ReportSpan(0, at_ms)), meter.size)


def _rows(found: Rated) -> dict[UsageKey, UsageSum]:
    rows: dict[UsageKey, UsageSum] = {}
    for line in found.lines:
        key = line.key
        row = UsageKey(key.project, key.tag, key.generation, key.lease_class, key.member)
        rows.setdefault(row, UsageSum()).add(line)
    for use in found.metered.uses:
        if use.used:
            rows[_key_of(use)].leases |= found.metered.leases[use.account]
    return rows


def _key_of(use: Use) -> UsageKey:
    """The row that a use is counted in, as rating has it."""
    account, generation = use.account, use.account.generation
    if use.kind is ResourceKind.GPU_MILLI and generation is None:
        generation = HardwareGeneration.OTHER
    whose = account.project, account.tag
    return UsageKey(*whose, generation, account.lease_class, account.member)
