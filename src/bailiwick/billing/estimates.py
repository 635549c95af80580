"""What work would cost, before anybody asks for it.

Rules:

- The price is that of the whole term that is asked for. Work that ends early costs less.
- Where the generation is open, the cost lies between that of the cheapest and that of the dearest
  that could serve it; with no generation given, any could.
- The prices are a card's, and the rounding is that of every cost.

>>> from bailiwick.billing.rates import LIST_PRICES
>>> found = estimate(LIST_PRICES, EstimateRequest(gpu_milli=2_000, ttl_ms=HOUR_MS))
>>> (found.low.generation.value, found.low.micros), (found.high.generation.value, found.high.micros)
(('nvidia_turing', 500000), ('nvidia_rubin', 10000000))
"""

from __future__ import annotations

from dataclasses import dataclass

from bailiwick.billing.rates import HOUR_MS, Charge, RateCard, Used, cost_of
from bailiwick.vocab.values import check_amount, check_integer
from bailiwick.vocab.words import HardwareGeneration, LeaseClass


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateRequest:
    """What each of ``members`` would hold, and for how long."""

    cpu_milli: int = 0
    mem_bytes: int = 0
    block_bytes: int = 0
    gpu_milli: int = 0
    members: int = 1
    ttl_ms: int
    lease_class: LeaseClass = LeaseClass.STANDARD
    generations: frozenset[HardwareGeneration] = frozenset()
    """Those that would do; none given: all."""

    def __post_init__(self) -> None:
        for name in ("cpu_milli", "mem_bytes", "block_bytes", "gpu_milli", "ttl_ms"):
            check_amount(name, getattr(self, name))
        check_integer("members", self.members, low=1, high=10**6)


@dataclass(frozen=True, slots=True)
class Cost:
    """What the work costs on one generation; none, where it needs no GPU."""

    generation: HardwareGeneration | None
    micros_per_hour: int
    micros: int


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """What the work costs at least and at most, in micros of the currency."""

    currency: str
    low: Cost
    high: Cost


def estimate(card: RateCard, wish: EstimateRequest) -> CostEstimate:
    """What this would cost at the prices of this card."""
    if not wish.gpu_milli:
        only = _cost_on(card, wish, None)
        return CostEstimate(card.currency, only, only)
    could = [each for each in HardwareGeneration if each in wish.generations]
    costs = [_cost_on(card, wish, each) for each in could or HardwareGeneration]
    return CostEstimate(card.currency, min(costs, key=_order), max(costs, key=_order))


def _order(cost: Cost) -> tuple[int, int]:
    # Short work may cost the same micro on all of them; then the hour decides.
    return cost.micros, cost.micros_per_hour


def _cost_on(card: RateCard, wish: EstimateRequest, generation: HardwareGeneration | None) -> Cost:
    def cost(span_ms: int) -> int:
        one = Used.over(
            span_ms,
            cpu_milli=wish.cpu_milli,
            mem_bytes=wish.mem_bytes,
            block_bytes=wish.block_bytes,
            gpu_milli=wish.gpu_milli,
        )
        return cost_of(card, [Charge(one.times(wish.members), generation, wish.lease_class)])

    return Cost(generation, cost(HOUR_MS), cost(wish.ttl_ms))
