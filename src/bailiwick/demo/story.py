"""What goes wrong, and what operators do about it: the timed events of a run.

Times are hours of a three-day run; a shorter or longer run is told at the same pace.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from bailiwick import (
    BurstOverrun,
    Dimension,
    Lease,
    NodeMode,
    QuotaScope,
    RevokeState,
    plan_budget,
    plan_burst,
    plan_cost_cap,
    plan_drain,
    plan_maintenance,
    plan_mig_change,
    plan_policy_recovery,
    plan_rebalance,
)
from bailiwick.demo.desk import MINUTE_MS, Desk
from bailiwick.demo.fleet import CLINICAL_NODES, HOUR_MS, PHYSICS_LATER
from bailiwick.demo.money import Grant, HourlyCap
from bailiwick.phrases.amounts import gpus

GRACE_MS = 10 * MINUTE_MS

GRANT_MICROS = 850 * 10**6
GRANT_MORE_MICROS = 1_500 * 10**6
CAP_MICROS = 60 * 10**6
CAP_LATER_MICROS = 24 * 10**6

OPERATOR, OWN_QUOTA, OWN_BUDGET = "operator", "own quota", "own budget"


class Story:
    """The operators of the campus, and its bad luck."""

    def __init__(self, desk: Desk, days: int) -> None:
        self.desk, self._hour_ms = desk, HOUR_MS * days // 3
        self.grant = Grant(desk.spending, "linguistics", GRANT_MICROS)
        self.cap = HourlyCap(desk.spending, "partner", CAP_MICROS)
        desk.quotas.set_budget_hook("linguistics", self.grant)
        desk.quotas.set_budget_hook("partner", self.cap)
        self._is_broke = False
        self._recovering: set[str] = set()

    def plan(self) -> None:
        """Put every event on the agenda."""
        self._at(14.6, lambda: self.drain(self._busiest("h100")))
        self._at(27.2, lambda: self.lose(self._busiest("a100")))
        self._at(33.5, lambda: self.repartition(self._busiest("a100")))
        for number in range(1, 5):
            self._at(37.0, partial(self.maintain, f"l40s-{number:02}"))
        self._at(43.7, lambda: self.quarantine(self._busiest("v100")))
        self._at(57.0, self.lower_quota)
        self._at(58.0, self.top_up)
        self._at(63.0, self.lower_cap)

    def _at(self, hours: float, action: Callable[[], None]) -> None:
        self.desk.agenda.at(int(hours * self._hour_ms), action)

    def _busiest(self, rack: str) -> str:
        """Bad luck strikes where it hurts: the rack's node with most leases."""
        nodes = [
            n
            for n in self.desk.ledger.nodes()
            if n.id.startswith(rack) and n.id not in CLINICAL_NODES
        ]
        return max(nodes, key=lambda n: (n.mode is NodeMode.ACCEPTING, n.lease_count)).id

    # -- machines ----------------------------------------------------------------------------

    def drain(self, node: str) -> None:
        """An operator empties a machine; one teardown on it will not be confirmed."""
        self.desk.teardown.armed.add(node)
        self._mode(node, NodeMode.DRAINING)
        plan = plan_drain(self.desk.ledger, node, now_ms=self.desk.now_ms)
        self.desk.evict(plan, by=OPERATOR, subject=node, grace_ms=GRACE_MS)
        self._when_empty(node, lambda: self._service(node, hours=2))

    def maintain(self, node: str) -> None:
        """A maintenance window begins; critical work may finish first."""
        self._mode(node, NodeMode.DRAINING)
        plan = plan_maintenance(self.desk.ledger, node, now_ms=self.desk.now_ms)
        self.desk.evict(plan, by=OPERATOR, subject=node, grace_ms=GRACE_MS)
        self._when_empty(node, lambda: self._service(node, hours=3))

    def repartition(self, node: str) -> None:
        """An operator cuts a machine's GPUs into partitions; it comes back as another kind."""
        self._mode(node, NodeMode.DRAINING)
        devices = range(len(self.desk.ledger.node(node).device_free_milli))
        plan = plan_mig_change(self.desk.ledger, node, devices=devices, now_ms=self.desk.now_ms)
        self.desk.evict(plan, by=OPERATOR, subject=node, grace_ms=GRACE_MS)
        self._when_empty(node, lambda: self._cut(node))

    def _cut(self, node: str) -> None:
        self.desk.depart(node)
        self.desk.register(node, partitionable=True)
        self._note(node, "GPUs repartitioned: takes partition_exclusive work from now on")

    def _service(self, node: str, *, hours: int) -> None:
        """Empty at last: into maintenance and back."""
        self.desk.teardown.armed.discard(node)
        self._mode(node, NodeMode.DRAINED)
        self._mode(node, NodeMode.MAINTENANCE)
        self.desk.agenda.after(hours * self._hour_ms, lambda: self._return(node))

    def _return(self, node: str) -> None:
        self._mode(node, NodeMode.RETURNING)
        self._mode(node, NodeMode.ACCEPTING)

    def _when_empty(self, node: str, then: Callable[[], None]) -> None:
        """Do that once the node holds nothing; a fence on it needs an operator first."""
        leases = list(self.desk.ledger.leases(node=node))
        if not leases:
            then()
        elif all(lease.state is RevokeState.FENCED for lease in leases):
            self._fence(node, leases)
        else:
            self.desk.agenda.after(MINUTE_MS, lambda: self._when_empty(node, then))

    def _fence(self, node: str, leases: list[Lease]) -> None:
        shares = sum(lease.resources.gpu_milli for lease in leases)
        self._mode(node, NodeMode.FENCE_LOST)
        self._note(node, f"a teardown was not confirmed: {gpus(shares)} fenced, nobody pays")
        self.desk.agenda.after(3 * self._hour_ms, lambda: self._clear(node, leases))

    def _clear(self, node: str, leases: list[Lease]) -> None:
        self._mode(node, NodeMode.MAINTENANCE)
        for lease in leases:
            cleared = self.desk.revoker.clear_fence(lease.id, now_ms=self.desk.now_ms)
            self.desk.seal.fence_cleared(cleared)
            self.desk.audit.cleared(lease)
        self._note(node, "power-cycled by an operator, fence cleared")
        self._return(node)

    def lose(self, node: str) -> None:
        """A machine dies; its work starts again elsewhere."""
        self.desk.depart(node)
        self._note(node, "departed: power supply failed, leases ended as node_departed")
        self.desk.agenda.after(8 * self._hour_ms, lambda: self.rejoin(node))

    def rejoin(self, node: str) -> None:
        """It comes back repaired."""
        self.desk.register(node)
        self._note(node, "registered again with a new power supply")

    def quarantine(self, node: str) -> None:
        """A machine's attestation no longer matches: nobody may stay on it, with no grace."""
        self.desk.ledger.set_quarantine(node, True)
        self.desk.seal.quarantine(node, "measurement_mismatch", at_ms=self.desk.now_ms)
        self._note(node, "quarantined: firmware measurement did not match")
        plan = plan_policy_recovery(self.desk.ledger, node, now_ms=self.desk.now_ms)
        self.desk.evict(plan, by="policy", subject=node, grace_ms=0)
        self.desk.agenda.after(13 * self._hour_ms, lambda: self.trust_again(node))

    def trust_again(self, node: str) -> None:
        """It was flashed and measured again."""
        self.desk.ledger.set_quarantine(node, False)
        self.desk.seal.quarantine(node, None, at_ms=self.desk.now_ms)
        self._note(node, "quarantine lifted: flashed, measured again, trusted")

    def _mode(self, node: str, mode: NodeMode) -> None:
        change = self.desk.ledger.set_mode(node, mode)
        self.desk.seal.mode(change, at_ms=self.desk.now_ms)
        self._note(node, f"{change.before} → {change.after}")

    def _note(self, node: str, what: str) -> None:
        self.desk.books.note(node, what, at_ms=self.desk.now_ms)

    # -- quota and money ---------------------------------------------------------------------

    def watch(self) -> None:
        """What is looked at every few minutes: burst credit and the grant."""
        now_ms = self.desk.now_ms
        for overrun in self.desk.quotas.burst_exhausted(now_ms):
            self._recover(overrun.scope.tenant, partial(self._end_burst, overrun))
        if self.grant.is_spent(now_ms) and not self._is_broke:
            self._is_broke = True
            plan = plan_budget(self.desk.ledger, self.grant.tenant, now_ms=now_ms)
            self.desk.evict(plan, by=OWN_BUDGET, subject=self.grant.tenant, grace_ms=GRACE_MS)

    def _recover(self, tenant: str, action: Callable[[], None]) -> None:
        """Once per grace window, or work already on its way out would be counted again."""
        if tenant in self._recovering:
            return
        self._recovering.add(tenant)
        self.desk.agenda.after(GRACE_MS + 1, lambda: self._recovering.discard(tenant))
        action()

    def _end_burst(self, overrun: BurstOverrun) -> None:
        plan = plan_burst(self.desk.ledger, overrun, now_ms=self.desk.now_ms)
        self.desk.evict(plan, by=OWN_QUOTA, subject=overrun.scope.tenant, grace_ms=GRACE_MS)

    def lower_quota(self) -> None:
        """The faculty moves half of physics' MI300 to others, at a time when it holds more."""
        tenant, ledger, now_ms = "physics", self.desk.ledger, self.desk.now_ms
        limit = next(li for li in PHYSICS_LATER.limits if li.dimension is Dimension.GPU_COUNT)
        leases = [lease for lease in ledger.leases() if lease.tenant == tenant]
        excess = sum(lease.resources.gpu_milli for lease in leases) - limit.amount
        if excess <= 0 and now_ms < 65 * self._hour_ms:
            self.desk.agenda.after(HOUR_MS // 2, self.lower_quota)
            return
        self.desk.set_quota(tenant, PHYSICS_LATER)
        plan = plan_rebalance(
            ledger,
            QuotaScope.of(tenant),
            dimension=Dimension.GPU_COUNT,
            excess=max(0, excess),
            now_ms=now_ms,
        )
        self.desk.evict(plan, by=OWN_QUOTA, subject=tenant, grace_ms=GRACE_MS)

    def top_up(self) -> None:
        """The grant's second instalment arrives."""
        self.grant.budget_micros += GRANT_MORE_MICROS
        self._is_broke = False

    def lower_cap(self) -> None:
        """The partner lowers what its work may cost an hour; the cheapest to lose goes."""
        self.cap.cap_micros = CAP_LATER_MICROS
        excess = self.desk.spending.rate(self.cap.tenant) - self.cap.cap_micros
        plan = plan_cost_cap(
            self.desk.ledger,
            self.cap.tenant,
            excess_micros=max(0, excess),
            price_of=lambda lease: self.desk.runs[lease.id].rate,
            now_ms=self.desk.now_ms,
        )
        self.desk.evict(plan, by=OWN_BUDGET, subject=self.cap.tenant, grace_ms=GRACE_MS)
