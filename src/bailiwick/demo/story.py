"""What goes wrong, and what operators do about it: the timed events of a run.

Times are hours of a three-day run; a shorter or longer run is told at the same pace.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from bailiwick import (
    Dimension,
    NodeMode,
    PreemptionReason,
    QuotaScope,
    RevokeState,
    plan_rebalance,
)
from bailiwick.billing.budgets import Budget
from bailiwick.billing.rates import WHOLE
from bailiwick.demo.driver import Driver
from bailiwick.demo.fleet import CLINICAL_NODES, HOUR_MS, MINUTE_MS, PHYSICS_LATER, capacity_of
from bailiwick.kernel import (
    ChangeMode,
    ClearFence,
    Command,
    DepartNode,
    Evict,
    LiftQuarantine,
    Quarantine,
    RegisterNode,
    SetBudget,
    SetQuota,
)
from bailiwick.phrases.amounts import gpus

GRACE_MS = 10 * MINUTE_MS

GRANT_MICROS = 850 * 10**6
GRANT_MORE_MICROS = 1_500 * 10**6
PARTNER_MICROS = 10_000 * 10**6


class Story:
    """The operators of the campus, and its bad luck."""

    def __init__(self, driver: Driver, days: int) -> None:
        self._driver, self._hour_ms = driver, HOUR_MS * days // 3

    def plan(self) -> None:
        """Set the budgets, and put every event on the agenda."""
        self._budget("linguistics", GRANT_MICROS)
        self._budget("partner", PARTNER_MICROS)
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
        self._driver.agenda.at(int(hours * self._hour_ms), action)

    def _after(self, hours: float, action: Callable[[], None]) -> None:
        self._driver.agenda.after(int(hours * self._hour_ms), action)

    def _tell(self, command: Command, subject: str = "") -> None:
        self._driver.tell(command, actor="operator", subject=subject)
        self._driver.wake(self._driver.now_ms + 1)

    def _note(self, node: str, what: str) -> None:
        self._driver.books.note(node, what, at_ms=self._driver.now_ms)

    def _busiest(self, rack: str) -> str:
        """Bad luck strikes where it hurts: the rack's node with most leases."""
        nodes = [
            n
            for n in self._driver.state.ledger.nodes()
            if n.id.startswith(rack) and n.id not in CLINICAL_NODES
        ]
        return max(nodes, key=lambda n: (n.mode is NodeMode.ACCEPTING, n.lease_count)).id

    # -- machines ----------------------------------------------------------------------------

    def drain(self, node: str) -> None:
        """An operator empties a machine; one teardown on it will fail."""
        self._driver.stuck.add(node)
        self._empty(node, PreemptionReason.OPERATOR_DRAIN)
        self._when_empty(node, lambda: self._service(node, hours=2))

    def maintain(self, node: str) -> None:
        """A maintenance window begins; critical work may finish first."""
        self._empty(node, PreemptionReason.MAINTENANCE_WINDOW)
        self._when_empty(node, lambda: self._service(node, hours=3))

    def repartition(self, node: str) -> None:
        """An operator cuts a machine's GPUs into partitions; it comes back as another kind."""
        self._empty(node, PreemptionReason.OPERATOR_MIG_PROFILE_CHANGE)
        self._when_empty(node, lambda: self._cut(node))

    def _empty(self, node: str, reason: PreemptionReason) -> None:
        drain = ChangeMode(node, NodeMode.DRAINING, reason=reason, grace_ms=GRACE_MS)
        self._tell(drain, subject=node)

    def _cut(self, node: str) -> None:
        self._tell(DepartNode(node))
        self._tell(RegisterNode(node, capacity_of(node, partitionable=True)))
        self._note(node, "GPUs repartitioned: takes partition_exclusive work from now on")

    def _service(self, node: str, *, hours: int) -> None:
        """Empty at last: into maintenance and back."""
        self._driver.stuck.discard(node)
        self._tell(ChangeMode(node, NodeMode.MAINTENANCE))
        self._after(hours, lambda: self._return(node))

    def _return(self, node: str) -> None:
        self._tell(ChangeMode(node, NodeMode.RETURNING))
        self._tell(ChangeMode(node, NodeMode.ACCEPTING))

    def _when_empty(self, node: str, then: Callable[[], None]) -> None:
        """Do that once the kernel calls the node drained; a fence on it needs an operator first."""
        state = self._driver.state
        leases = state.leases_on(node)
        if state.ledger.entry(node).mode is NodeMode.DRAINED:
            then()
        elif leases and all(state.phase(i) is RevokeState.FENCED for i in leases):
            self._fence(node, leases)
        else:
            self._driver.agenda.after(MINUTE_MS, lambda: self._when_empty(node, then))

    def _fence(self, node: str, leases: list[int]) -> None:
        ledger, handle = self._driver.state.ledger, self._driver.state.handle
        shares = sum(ledger.lease(handle(i)).resources.gpu_milli for i in leases)
        self._tell(ChangeMode(node, NodeMode.FENCE_LOST))
        self._note(node, f"a teardown failed: {gpus(shares)} fenced, nobody pays")
        self._after(3, lambda: self._clear(node, leases))

    def _clear(self, node: str, leases: list[int]) -> None:
        self._tell(ChangeMode(node, NodeMode.MAINTENANCE))
        for lease_id in leases:
            self._tell(ClearFence(lease_id))
        self._note(node, "power-cycled by an operator, fence cleared")
        self._return(node)

    def lose(self, node: str) -> None:
        """A machine dies; its work starts again elsewhere."""
        self._tell(DepartNode(node))
        self._note(node, "departed: power supply failed, leases ended as node_departed")
        self._after(8, lambda: self.rejoin(node))

    def rejoin(self, node: str) -> None:
        """It comes back repaired."""
        self._tell(RegisterNode(node, capacity_of(node)))
        self._note(node, "registered again with a new power supply")

    def quarantine(self, node: str) -> None:
        """A machine's attestation no longer matches: nobody may stay on it, with no grace."""
        self._note(node, "quarantined: firmware measurement did not match")
        self._tell(Quarantine(node, "measurement_mismatch", grace_ms=0), subject=node)
        self._after(13, lambda: self.trust_again(node))

    def trust_again(self, node: str) -> None:
        """It was flashed and measured again, and somebody answers for it."""
        why = "flashed and measured again"
        self._tell(LiftQuarantine(node, override=True, note=why))
        self._note(node, f"quarantine lifted: {why}, trusted")

    # -- quota and money ---------------------------------------------------------------------

    def _budget(self, tenant: str, limit_micros: int, cap_micros: int | None = None) -> None:
        until_ms = self._driver.end_ms
        self._tell(
            SetBudget(
                Budget(tenant, limit_micros=limit_micros, cap_micros=cap_micros, until_ms=until_ms)
            )
        )

    def lower_quota(self) -> None:
        """The faculty moves half of physics' MI300 to others, at a time when it holds more."""
        tenant, state, now_ms = "physics", self._driver.state, self._driver.now_ms
        room = state.quotas.headroom(tenant).dimensions[Dimension.GPU_COUNT]
        limit = next(li for li in PHYSICS_LATER.limits if li.dimension is Dimension.GPU_COUNT)
        excess = room.used * 1_000 - limit.amount
        if excess <= 0 and now_ms < 65 * self._hour_ms:
            self._driver.agenda.after(HOUR_MS // 2, self.lower_quota)
            return
        self._tell(SetQuota(tenant, PHYSICS_LATER))
        plan = plan_rebalance(
            state.ledger,
            QuotaScope.of(tenant),
            dimension=Dimension.GPU_COUNT,
            excess=max(0, excess),
            now_ms=now_ms,
        )
        if plan.victims:
            ids = tuple(state.ids[victim.lease_id] for victim in plan.victims)
            self._tell(Evict(ids, plan.reason, GRACE_MS))

    def top_up(self) -> None:
        """The grant's second instalment arrives."""
        self._budget("linguistics", GRANT_MICROS + GRANT_MORE_MICROS)

    def lower_cap(self) -> None:
        """The partner caps its bill at half of what it is still heading for."""
        now_ms, spending = self._driver.now_ms, self._driver.state.spending
        purse = spending.purses["partner", None]
        spent = spending.spent_micros(purse, now_ms)
        heading = spending.projected(purse) // WHOLE
        self._budget("partner", PARTNER_MICROS, cap_micros=(spent + heading) // 2)
