"""Evictions that nobody's arrival asked for: drains, repartitioning, policy, budgets, overruns.

Each function here says who would have to go, for exactly one of the nine reasons, and changes
nothing. :meth:`~.preemption.PreemptionManager.preempt` carries a plan out.

Rules:

- Operator and policy reasons take guaranteed leases too; quota and money reasons never do.
- Where an amount must come down, the cheapest leases that cover it go, and none that is not
  needed: cost as in :mod:`.victim_cost`.
- Leases that are being revoked already are not named again. One member of a gang means the gang.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from bailiwick.fleet.resources import NOTHING, Resources
from bailiwick.scheduler.burst import BurstOverrun
from bailiwick.scheduler.lease import Lease
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.quota_policy import QuotaScope
from bailiwick.scheduler.rights.excess import handles_in
from bailiwick.scheduler.victim_cost import VictimTerms, lease_cost
from bailiwick.vocab.transitions import RevokeState
from bailiwick.vocab.values import check_amount, check_kind
from bailiwick.vocab.words import Dimension, LeaseClass, PreemptionReason, Priority


@dataclass(frozen=True, slots=True)
class Victim:
    """A lease to be ended, and what its loss is reckoned at."""

    lease: Lease
    cost: int

    @property
    def lease_id(self) -> int:
        """The lease's id."""
        return self.lease.id

    @property
    def resources(self) -> Resources:
        """What it gives back."""
        return self.lease.resources


@dataclass(frozen=True, slots=True)
class EvictionPlan:
    """Who has to go, and the one reason why."""

    reason: PreemptionReason
    victims: tuple[Victim, ...]

    @property
    def freed(self) -> Resources:
        """What all victims give back together."""
        return sum((v.resources for v in self.victims), NOTHING)

    @property
    def cost(self) -> int:
        """What the loss of all victims is reckoned at."""
        return sum(v.cost for v in self.victims)


def plan_drain(ledger: CapacityLedger, node: str, *, now_ms: int) -> EvictionPlan:
    """Everything on a node that an operator drains."""
    return _plan(ledger, PreemptionReason.OPERATOR_DRAIN, ledger.leases(node=node), now_ms=now_ms)


def plan_maintenance(
    ledger: CapacityLedger,
    node: str,
    *,
    now_ms: int,
    spare_from: Priority = Priority.CRITICAL,
) -> EvictionPlan:
    """The non-essential work on a node whose maintenance window begins."""
    leases = [le for le in ledger.leases(node=node) if le.priority.rank < spare_from.rank]
    return _plan(ledger, PreemptionReason.MAINTENANCE_WINDOW, leases, now_ms=now_ms)


def plan_mig_change(
    ledger: CapacityLedger, node: str, *, devices: Iterable[int], now_ms: int
) -> EvictionPlan:
    """Whoever holds a share of the devices that an operator repartitions."""
    wanted = set(devices)
    leases = [le for le in ledger.leases(node=node) if wanted.intersection(le.devices)]
    reason = PreemptionReason.OPERATOR_MIG_PROFILE_CHANGE
    return _plan(ledger, reason, leases, now_ms=now_ms)


def plan_policy_recovery(ledger: CapacityLedger, node: str, *, now_ms: int) -> EvictionPlan:
    """Everything on a node that is no longer trusted."""
    reason = PreemptionReason.POLICY_VIOLATION_RECOVERY
    return _plan(ledger, reason, ledger.leases(node=node), now_ms=now_ms)


def plan_budget(
    ledger: CapacityLedger, tenant: str, *, now_ms: int, project: str | None = None
) -> EvictionPlan:
    """The work of a tenant (or project) without budget that agreed to end on that."""
    scope = QuotaScope.of(tenant, project)
    leases = [
        le
        for le in ledger.leases()
        if _owned(le, scope)
        and le.preemptible_on_budget
        and le.lease_class is not LeaseClass.GUARANTEED
    ]
    return _plan(ledger, PreemptionReason.BUDGET_EXHAUSTED, leases, now_ms=now_ms)


def plan_cost_cap(
    ledger: CapacityLedger,
    tenant: str,
    *,
    excess_micros: int,
    price_of: Callable[[Lease], int],
    now_ms: int,
    project: str | None = None,
) -> EvictionPlan:
    """The cheapest leases whose end brings a tenant (or project) back under its hard cost cap."""
    scope = QuotaScope.of(tenant, project)
    reason = PreemptionReason.COST_CAP_EVICTION
    return _cover(ledger, reason, scope, excess=excess_micros, amount_of=price_of, now_ms=now_ms)


def plan_burst(ledger: CapacityLedger, overrun: BurstOverrun, *, now_ms: int) -> EvictionPlan:
    """The cheapest leases of a tenant that is above its quota with no burst credit left."""
    return _cover(
        ledger,
        PreemptionReason.BURST_CREDIT_EXHAUSTED,
        overrun.scope,
        excess=overrun.excess,
        amount_of=lambda lease: amount_in(lease, overrun.dimension),
        now_ms=now_ms,
    )


def plan_rebalance(
    ledger: CapacityLedger, scope: QuotaScope, *, dimension: Dimension, excess: int, now_ms: int
) -> EvictionPlan:
    """The cheapest leases that bring a tenant or project back inside its envelope."""
    return _cover(
        ledger,
        PreemptionReason.QUOTA_REBALANCE,
        scope,
        excess=excess,
        amount_of=lambda lease: amount_in(lease, dimension),
        now_ms=now_ms,
    )


def amount_in(lease: Lease, dimension: Dimension) -> int:
    """What a lease counts for in one dimension of quota, in the row's own unit."""
    match dimension:
        case Dimension.CPU_MILLI:
            return lease.resources.cpu_milli
        case Dimension.MEM_BYTES:
            return lease.resources.mem_bytes
        case Dimension.BLOCK_BYTES:
            return lease.resources.block_bytes
        case Dimension.GPU_COUNT:
            return lease.resources.gpu_milli
        case Dimension.GPU_VRAM:
            return lease.vram_bytes
        case Dimension.LEASE_COUNT:
            return 1


def _plan(
    ledger: CapacityLedger, reason: PreemptionReason, leases: Iterable[Lease], *, now_ms: int
) -> EvictionPlan:
    check_kind("ledger", ledger, CapacityLedger)
    terms = VictimTerms(now_ms=check_amount("now_ms", now_ms))
    wanted = [le.id for le in leases if le.state is RevokeState.ACTIVE]
    members = (ledger.lease(i) for i in ledger.with_gangs(wanted))
    return EvictionPlan(reason, tuple(Victim(le, lease_cost(le, terms)) for le in members))


def _cover(
    ledger: CapacityLedger,
    reason: PreemptionReason,
    scope: QuotaScope,
    *,
    excess: int,
    amount_of: Callable[[Lease], int],
    now_ms: int,
) -> EvictionPlan:
    """Cheapest per amount first until the excess is covered, then put back what was not needed.

    What is being revoked already counts as covered: grace is no reason to evict twice.
    """
    check_amount("excess", excess)
    terms = VictimTerms(now_ms=check_amount("now_ms", now_ms))
    units: list[tuple[int, int, tuple[Lease, ...]]] = []
    seen: set[int] = set()
    for lease in _leases_in(ledger, scope):
        if lease.id in seen:
            continue
        if lease.state is not RevokeState.ACTIVE:
            excess -= amount_of(lease)
            continue
        unit = tuple(ledger.lease(i) for i in ledger.with_gangs([lease.id]))
        seen.update(le.id for le in unit)
        amount = sum(amount_of(le) for le in unit)
        if amount and all(_may_go(le) for le in unit):
            units.append((sum(lease_cost(le, terms) for le in unit), amount, unit))
    units.sort(key=lambda u: (Fraction(u[0], u[1]), -max(le.granted_ms for le in u[2]), u[2][0].id))
    chosen: list[tuple[int, int, tuple[Lease, ...]]] = []
    covered = 0
    for unit_row in units:
        if covered >= excess:
            break
        chosen.append(unit_row)
        covered += unit_row[1]
    for unit_row in sorted(chosen, key=lambda u: -u[0]):
        if covered - unit_row[1] >= excess:
            chosen.remove(unit_row)
            covered -= unit_row[1]
    leases = [le for _, _, unit in chosen for le in unit]
    return EvictionPlan(reason, tuple(Victim(le, lease_cost(le, terms)) for le in leases))


def _leases_in(ledger: CapacityLedger, scope: QuotaScope) -> Iterator[Lease]:
    """The leases of a scope; where they are charged to quotas, no other is looked at."""
    if ledger.quotas is None:
        return (lease for lease in ledger.leases() if _owned(lease, scope))
    return (ledger.lease(handle) for handle in handles_in(ledger, scope))


def _owned(lease: Lease, scope: QuotaScope) -> bool:
    return lease.tenant == scope.tenant and scope.project in (None, lease.project)


def _may_go(lease: Lease) -> bool:
    return lease.state is RevokeState.ACTIVE and lease.lease_class is not LeaseClass.GUARANTEED
