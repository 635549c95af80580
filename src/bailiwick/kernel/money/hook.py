"""Whether its owner's money allows a request: what quota asks, for tenants that have a budget.

Rules:

- Budgets are asked before caps, and in each the project before its tenant.
- A budget looks at what was spent: with all of it gone, nothing begins. A cap looks ahead: spent,
  and what runs, and what others have to leave for, and the request, each to the end of its term or
  of the budget's period.
- A request that leaves its generation open is reckoned at the dearest one that could serve it.
- Asking changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from bailiwick.billing.rates import WHOLE, Charge, Used
from bailiwick.kernel.money.spending import Purse, Spending
from bailiwick.scheduler.handles import Shape
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.quota_policy import BudgetExhausted, CostCapExceeded, QuotaScope
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.words import HardwareGeneration


@dataclass(frozen=True, slots=True)
class MoneyHook:
    """The budgets of a tenant and its projects, as quota asks about them."""

    spending: Spending
    ledger: CapacityLedger

    def check(
        self, request: PlacementRequest, now_ms: int
    ) -> BudgetExhausted | CostCapExceeded | None:
        """The denial, or None when the money allows it."""
        found = self.spending.purses_of(request.tenant, request.project)
        purses = [purse for purse in found if purse.budget.is_on(now_ms)]
        for purse in purses:
            spent, limit = self.spending.spent_micros(purse, now_ms), purse.budget.limit_micros
            if spent >= limit:
                asked = _up(self._cost(purse, request, now_ms))
                return BudgetExhausted(limit, spent, asked, _scope(purse))
        for purse in purses:
            cap = purse.budget.cap_micros
            if cap is None:
                continue
            held = [each for each in self.ledger.holds.requests() if _pays(purse, each)]
            ahead = self.spending.projected(purse)
            ahead += sum(self._cost(purse, each, now_ms) for each in [request, *held])
            if ahead > cap * WHOLE:
                return CostCapExceeded(cap, _up(ahead), _scope(purse))
        return None

    def _cost(self, purse: Purse, request: PlacementRequest, now_ms: int) -> int:
        used = Used(
            cpu_milli_ms=request.cpu_milli,
            mem_byte_ms=request.mem_bytes,
            block_byte_ms=request.block_bytes,
            gpu_milli_ms=request.gpu_milli_total,
        )
        generation = request.generation
        if generation is None and request.device_count:
            card = self.spending.book.card_for(request.tenant, now_ms)
            serving = generations_for(self.ledger, request)
            generation = card.dearest(serving) or card.dearest(HardwareGeneration)
        charge = Charge(used.times(request.gang_size), generation, request.lease_class)
        return self.spending.cost(purse, [charge], from_ms=now_ms, to_ms=now_ms + request.ttl_ms)


def generations_for(
    ledger: CapacityLedger, request: PlacementRequest
) -> tuple[HardwareGeneration, ...]:
    """The generations of all devices in the fleet that could serve the request, free or not."""
    shape = Shape.of(request)
    if not shape.device_count:
        return ()
    found = {
        entry.capacity.gpus[index].generation
        for entry in ledger.class_samples()
        for index in ledger.serving(entry, shape)
    }
    return tuple(each for each in HardwareGeneration if each in found)


def _pays(purse: Purse, request: PlacementRequest) -> bool:
    tenant, project = purse.scope
    return tenant == request.tenant and project in (None, request.project)


def _scope(purse: Purse) -> QuotaScope:
    return QuotaScope.of(*purse.scope)


def _up(whole: int) -> int:
    """In micros, rounded up: what does not fit is told above what it does not fit in."""
    return -(-whole // WHOLE)
