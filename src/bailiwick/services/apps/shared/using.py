"""What projects used on whose workers of a shared runtime: told by its operator, read, settled.

Rules:

- The runtime's own operator tells it, and nobody else: what people could write by hand nobody could
  check against anything.
- A tenant's administrator reads all of it. Who may read some projects reads the rows in which one
  of them is the user or the source, and what those projects owe.
- What use is worth is for the tenant's people to say, with the digest of the rule that says it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from bailiwick.apps.shared.billing import digest_of_rule
from bailiwick.iam import PrincipalKind, Scope
from bailiwick.kernel import Done
from bailiwick.kernel.apps.shared.book import SharedRuntime, SharedSettlement
from bailiwick.kernel.apps.shared.use_commands import ReportSharedUse, SetSharedSettlement
from bailiwick.kernel.apps.shared.use_rules import check_units, rule_with
from bailiwick.metering.told.between import SharedUseKey, SharedUseReport
from bailiwick.runtime.replica import View
from bailiwick.services.apps.catalog import require_human
from bailiwick.services.apps.shared.runtimes import RuntimePlace, require_operated
from bailiwick.services.caller import Caller, Deferred
from bailiwick.services.rating import Period, period_of
from bailiwick.services.tables import StoreTables
from bailiwick.store.meter_rows import MeterBook


@dataclass(slots=True)
class UseSum:
    """What one project used of one unit on another's workers in a period."""

    quantity: int = 0
    beyond: int = 0
    micros: int = 0
    seqs: list[int] = field(default_factory=list)
    rules: set[int] = field(default_factory=set)

    def add(self, report: SharedUseReport) -> None:
        """One report more."""
        self.quantity += report.quantity
        self.beyond += report.beyond
        self.micros += report.micros
        self.seqs.append(report.seq)
        self.rules |= {report.rule_seq} - {0}


class RuntimeUse(NamedTuple):
    """Who used what on whose workers, as far as the caller may see it."""

    runtime: SharedRuntime
    period: Period
    told_until_ms: int
    settlement: SharedSettlement | None
    currency: str
    journal_size: int
    rows: dict[SharedUseKey, UseSum]
    balances: dict[str, int]
    """What each of the caller's projects owes."""


class SettlementDraft(NamedTuple):
    """The rule of a runtime as it would be."""

    rule: str
    digest: str
    currency: str


async def report(
    caller: Caller, place: RuntimePlace, *, command: Deferred[ReportSharedUse]
) -> Done:
    """Take what was used in a time that is over; the same again does nothing."""
    await require_operated(caller, place)
    if caller.principal.kind is not PrincipalKind.RUNTIME_OPERATOR:
        message = "who used whose workers is told by the runtime's own operator"
        raise caller.refuse(message, reason="needs_runtime_operator")
    return await caller.change(command())


async def read(
    caller: Caller,
    tables: StoreTables,
    *,
    place: RuntimePlace,
    span: tuple[int | None, int | None],
) -> RuntimeUse:
    """What was used in a period, by user, source and unit."""
    caller.require_within(Scope(place.tenant))
    visible = caller.visible_projects(place.tenant)
    period = await period_of(caller, from_ms=span[0], to_ms=span[1])
    held = await caller.lookup(place.find)
    currency = await caller.lookup(lambda view: view.state.spending.book.currency)
    number = held.runtime.id
    told, size = await asyncio.to_thread(_counted, tables.meter, period)
    rows: dict[SharedUseKey, UseSum] = {}
    balances: dict[str, int] = {}
    for key, each in told:
        seen = [p for p in (key.user, key.source) if visible is None or p in visible]
        if key.runtime_id != number or key.tenant != place.tenant or not seen:
            continue
        rows.setdefault(key, UseSum()).add(each)
        for project, micros in ((key.user, each.micros), (key.source, -each.micros)):
            if project in seen:
                balances[project] = balances.get(project, 0) + micros
    return RuntimeUse(
        held.runtime,
        period,
        held.use.told_until_ms,
        held.settlement,
        currency,
        size,
        dict(sorted(rows.items())),
        dict(sorted(balances.items())),
    )


def _counted(
    meter: MeterBook, period: Period
) -> tuple[list[tuple[SharedUseKey, SharedUseReport]], int]:
    with meter.current() as found:
        return found.used.counted_in(*period), found.size


async def plan(caller: Caller, place: RuntimePlace, *, rates: Mapping[str, int]) -> SettlementDraft:
    """The rule by which use would be settled; nothing is changed."""
    caller.require(Scope(place.tenant))

    def look(view: View) -> SettlementDraft:
        runtime = place.find(view).runtime
        check_units(view.state, runtime, units=rates)
        rule = rule_with(runtime, rates)
        return SettlementDraft(rule, digest_of_rule(rule), view.state.spending.book.currency)

    return await caller.lookup(look)


async def settle(
    caller: Caller, place: RuntimePlace, *, command: Deferred[SetSharedSettlement]
) -> Done:
    """Have use settled so from now on; who asks has accepted the rule."""
    caller.require(Scope(place.tenant))
    require_human(caller)
    return await caller.change(command())
