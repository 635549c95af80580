"""Bringing a tenant or project back inside its quota, when somebody says so: who goes, and who not.

A quota may be lowered under running work, and that goes on until its term is over. Rules:

- Who is above its quota in any dimension or generation gives up the cheapest leases that take the
  excess away, and none without need (:mod:`bailiwick.scheduler.rights.excess`).
- Guaranteed leases stay, and so does what is in cells, and what burst credit carries while there is
  any. A scope that is above its quota by these alone is told so, and nothing happens.
- Only leases that count in that very row go: of a project its own, of a tenant those of all its
  projects.
- At most :data:`VICTIMS_MAX` leases go by one command (a larger gang goes whole); who is still
  above afterwards is told so by the next look.
- Looking (:func:`foresee_rebalance`) asks the same code on the same state, and changes nothing.
- What waits is let in by the next look at the line: this command promises room to nobody.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from bailiwick.fleet.resources import Resources
from bailiwick.kernel.events import Event
from bailiwick.kernel.fleet.commands import RebalanceQuota
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.state import State
from bailiwick.kernel.work.ending import QUOTA, evict, grace_end
from bailiwick.scheduler.quota_policy import DIMENSIONS, QuotaScope
from bailiwick.scheduler.rights.excess import (
    Excess,
    HeldUnit,
    ScopeUnits,
    cover,
    covers,
    excess_of,
)
from bailiwick.vocab.errors import Conflict
from bailiwick.vocab.words import GENERATIONS, Dimension, HardwareGeneration, PreemptionReason

VICTIMS_MAX: Final = 1024
"""Leases that one command ends."""

TOLD_MAX: Final = 50
"""Leases that are told one by one."""


@dataclass(frozen=True, slots=True)
class RebalancePlan:
    """The units that go, by how much the scope is above its quota, and by how much afterwards."""

    excess: Excess
    units: tuple[HeldUnit, ...]
    rest: tuple[int, ...]
    """What remains of the excess once these, and all on their way out, have gone."""


def plan_for(state: State, command: RebalanceQuota, *, now_ms: int) -> RebalancePlan:
    """Who goes, if the scope is above its quota and anybody may go for that; else the error."""
    scope = QuotaScope.of(command.tenant, command.project)
    name = "/".join(each for each in (command.tenant, command.project) if each is not None)
    excess = excess_of(state.quotas, scope, now_ms=now_ms)
    if excess is None:
        why = "is not above its quota"
        raise Conflict("quota", name, why, hint="bailiwick quota show tells how it stands")
    held = ScopeUnits(state.ledger, scope, number=state.ids.__getitem__, now_ms=now_ms)
    rest = held.rest_of(excess)
    if not any(rest):
        why = "is above its quota only by leases that are on their way out"
        raise Conflict("quota", name, why, hint="wait until they have ended")
    units = _bounded(cover(held.units, rest))
    if not units:
        raise _stuck(state, scope, name=name, has_guaranteed=held.has_spared)
    for unit in units:
        rest = [over - gone for over, gone in zip(rest, unit.amounts, strict=True)]
    return RebalancePlan(excess, units, tuple(max(0, over) for over in rest))


def _stuck(state: State, scope: QuotaScope, *, name: str, has_guaranteed: bool) -> Conflict:
    """The error of a scope that nothing here can bring back inside: it tells what keeps it above.

    What is in a cell counts in the quota here, and is the cell's to end.
    """
    requests = (each.request for each in state.cells.requests.values() if each.is_charged)
    if not any(covers(scope, QuotaScope(each.tenant, each.project)) for each in requests):
        why = "is above its quota by guaranteed leases alone, which are not evicted for that"
        return Conflict("quota", name, why, hint="they end with their terms")
    beside = "guaranteed leases and by " if has_guaranteed else ""
    why = f"is above its quota by {beside}what it has in cells, where nothing is evicted from here"
    return Conflict("quota", name, why, hint="bailiwick cell requests tells what is where")


def _bounded(units: list[HeldUnit]) -> tuple[HeldUnit, ...]:
    taken, count = list[HeldUnit](), 0
    for unit in units:
        count += len(unit.handles)
        if taken and count > VICTIMS_MAX:
            break
        taken.append(unit)
    return tuple(taken)


def decide(state: State, command: RebalanceQuota, now_ms: int) -> Iterator[Event]:
    """The evictions that bring the scope back inside its quota."""
    plan = plan_for(state, command, now_ms=now_ms)
    ids = sorted(state.ids[handle] for unit in plan.units for handle in unit.handles)
    yield from evict(
        state,
        ids,
        reason=PreemptionReason.QUOTA_REBALANCE,
        now_ms=now_ms,
        grace_ms=command.grace_ms,
        by=QUOTA,
    )


# -- looking ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SurplusLease:
    """A lease that would go: whose it is, where, until when, what it holds, its loss reckoned."""

    lease_id: int
    owner: Owner
    node: str
    until_ms: int
    cost: int
    held: Resources


@dataclass(frozen=True, slots=True)
class Surplus:
    """By how much a scope is above one limit (in the row's unit), now and afterwards."""

    word: Dimension | HardwareGeneration
    over: int
    over_after: int


@dataclass(frozen=True, slots=True)
class RebalanceOutlook:
    """What bringing a scope back inside its quota would do."""

    surpluses: tuple[Surplus, ...]
    leaving: int
    gangs: int
    cost: int
    until_ms: int
    """When the last of those that would go has to be gone."""
    told: tuple[SurplusLease, ...]


def foresee_rebalance(state: State, command: RebalanceQuota, *, now_ms: int) -> RebalanceOutlook:
    """What the command would do now; what it would be refused with is raised."""
    now = max(now_ms, state.clock_ms)
    plan = plan_for(state, command, now_ms=now)
    costs = {unit.number: unit.cost for unit in plan.units}
    ids = sorted(state.ids[handle] for unit in plan.units for handle in unit.handles)
    until = {i: grace_end(state, i, now_ms=now, grace_ms=command.grace_ms) for i in ids}
    told = []
    for i in ids[:TOLD_MAX]:
        lease, owner = state.ledger.told(state.handle(i)), state.owner_of(i)
        cost = costs.get(i, 0)  # a gang's loss is told once, with its first member
        told.append(SurplusLease(i, owner, str(lease.node), until[i], cost, lease.resources))
    words: tuple[Dimension | HardwareGeneration, ...] = (*DIMENSIONS, *GENERATIONS)
    rows = zip(words, plan.excess.amounts, plan.rest, strict=True)
    return RebalanceOutlook(
        surpluses=tuple(Surplus(word, over, after) for word, over, after in rows if over),
        leaving=len(ids),
        gangs=sum(len(unit.handles) > 1 for unit in plan.units),
        cost=sum(unit.cost for unit in plan.units),
        until_ms=max(until.values()),
        told=tuple(told),
    )
