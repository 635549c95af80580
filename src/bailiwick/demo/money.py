"""What work costs, and two purses that can say no: a grant that runs out, a cap on an hour's cost.

Money is whole millionths of a credit. Rates are kept per tenant as leases come and go, so that what
was spent up to any moment is one multiplication.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from bailiwick import BudgetExhausted, CostCapExceeded, PlacementRequest
from bailiwick.demo.fleet import HOUR_MS, price_micros_per_hour


@dataclass(slots=True)
class _Account:
    rate: int = 0
    spent_ms: int = 0
    since_ms: int = 0

    def settle(self, now_ms: int) -> None:
        """Charge what ran since the last change (in micros times milliseconds, so exactly)."""
        self.spent_ms += self.rate * (now_ms - self.since_ms)
        self.since_ms = now_ms


@dataclass(slots=True)
class Spending:
    """Micros an hour, and micros so far, of every tenant."""

    _accounts: dict[str, _Account] = field(default_factory=dict)

    def change(self, tenant: str, micros_per_hour: int, *, now_ms: int) -> None:
        """From now on the tenant spends this much more (or less) an hour."""
        account = self._accounts.setdefault(tenant, _Account())
        account.settle(now_ms)
        account.rate += micros_per_hour

    def rate(self, tenant: str) -> int:
        """Micros an hour at the moment."""
        return self._accounts.setdefault(tenant, _Account()).rate

    def spent(self, tenant: str, now_ms: int) -> int:
        """Micros spent so far."""
        account = self._accounts.setdefault(tenant, _Account())
        running_ms = account.rate * (now_ms - account.since_ms)
        return (account.spent_ms + running_ms) // HOUR_MS


@dataclass(slots=True)
class Grant:
    """A budget hook: so much money in all, and no request whose first hour it does not cover."""

    spending: Spending
    tenant: str
    budget_micros: int

    def check(self, request: PlacementRequest, now_ms: int) -> BudgetExhausted | None:
        """The denial, or None while the grant covers an hour of the request."""
        spent = self.spending.spent(self.tenant, now_ms)
        asked = price_micros_per_hour(request)
        if spent + asked <= self.budget_micros:
            return None
        return BudgetExhausted(self.budget_micros, spent, asked)

    def is_spent(self, now_ms: int) -> bool:
        """Whether nothing is left."""
        return self.spending.spent(self.tenant, now_ms) >= self.budget_micros


@dataclass(slots=True)
class HourlyCap:
    """A budget hook: all running work together may not cost more than this an hour."""

    spending: Spending
    tenant: str
    cap_micros: int

    def check(self, request: PlacementRequest, now_ms: int) -> CostCapExceeded | None:
        """The denial, or None while the hour stays under the cap."""
        del now_ms
        projected = self.spending.rate(self.tenant) + price_micros_per_hour(request)
        return CostCapExceeded(self.cap_micros, projected) if projected > self.cap_micros else None
