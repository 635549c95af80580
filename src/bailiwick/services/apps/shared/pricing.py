"""What an hour of a shared runtime's members costs at the prices of now, for its plan.

The rule that is accepted names no price: what is used is charged by the rate card in force then.
"""

from __future__ import annotations

from typing import NamedTuple

from bailiwick.apps.shared.billing import ReservedLine
from bailiwick.billing.estimates import EstimateRequest, estimate
from bailiwick.billing.rates import HOUR_MS, RateCard


class HourPrice(NamedTuple):
    """What one member costs in an hour."""

    micros: int
    is_upper_bound: bool


def hour_of(card: RateCard, line: ReservedLine) -> HourPrice:
    """The price of one member of a role; where its GPUs are open, that of the dearest."""
    shape = line.held
    wish = EstimateRequest(
        cpu_milli=shape.cpu_milli,
        mem_bytes=shape.mem_bytes,
        block_bytes=shape.block_bytes,
        gpu_milli=shape.gpu_milli or 1_000 * shape.gpu_count,
        ttl_ms=HOUR_MS,
        lease_class=shape.lease_class,
        generations=frozenset() if shape.generation is None else frozenset((shape.generation,)),
    )
    found = estimate(card, wish)
    return HourPrice(found.high.micros_per_hour, found.low != found.high)
