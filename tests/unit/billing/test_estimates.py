"""What work would cost: between the cheapest and the dearest that could serve it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.billing.estimates import EstimateRequest, estimate
from bailiwick.billing.rates import HOUR_MS, LIST_PRICES, Charge, Used, cost_of
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import GIB
from bailiwick.vocab.words import HardwareGeneration, LeaseClass
from tests.unit.billing.bill_makers import cards

HOPPER, ADA = HardwareGeneration.NVIDIA_HOPPER, HardwareGeneration.NVIDIA_ADA

wishes = st.builds(
    EstimateRequest,
    cpu_milli=st.integers(0, 10**6),
    mem_bytes=st.integers(0, 2**40),
    block_bytes=st.integers(0, 2**44),
    gpu_milli=st.sampled_from([0, 1, 500, 8_000]),
    members=st.integers(1, 64),
    ttl_ms=st.integers(0, 10**9),
    lease_class=st.sampled_from(LeaseClass),
    generations=st.frozensets(st.sampled_from(HardwareGeneration), max_size=3),
)


@given(cards(), wishes)
def test_an_estimate_is_the_least_and_the_most_that_it_can_come_to(
    card: Any, wish: EstimateRequest
) -> None:
    found = estimate(card, wish)
    one = Used.over(
        wish.ttl_ms,
        cpu_milli=wish.cpu_milli,
        mem_bytes=wish.mem_bytes,
        block_bytes=wish.block_bytes,
        gpu_milli=wish.gpu_milli,
    )
    could: list[HardwareGeneration | None] = (
        [*(wish.generations or HardwareGeneration)] if wish.gpu_milli else [None]
    )
    costs = [cost_of(card, [Charge(one, each, wish.lease_class)] * wish.members) for each in could]
    assert (found.low.micros, found.high.micros) == (min(costs), max(costs))
    assert {found.low.generation, found.high.generation} <= set(could)
    assert found.low.micros_per_hour <= found.high.micros_per_hour


def test_work_on_one_generation_has_one_price() -> None:
    wish = EstimateRequest(
        gpu_milli=500, members=4, ttl_ms=2 * HOUR_MS, generations=frozenset({HOPPER})
    )
    found = estimate(LIST_PRICES, wish)
    assert found.low == found.high
    assert (found.low.micros_per_hour, found.low.micros) == (4_800_000, 9_600_000)
    assert found.currency == "credit"


def test_an_open_generation_gives_a_range() -> None:
    wish = EstimateRequest(gpu_milli=1000, ttl_ms=HOUR_MS, generations=frozenset({HOPPER, ADA}))
    found = estimate(LIST_PRICES, wish)
    assert (found.low.generation, found.high.generation) == (ADA, HOPPER)


def test_work_without_gpus_asks_for_no_generation() -> None:
    wish = EstimateRequest(
        cpu_milli=2000, mem_bytes=8 * GIB, ttl_ms=HOUR_MS, lease_class=LeaseClass.SPOT
    )
    found = estimate(LIST_PRICES, wish)
    assert (found.low.generation, found.low.micros) == (None, 22_400)


@pytest.mark.parametrize("wrong", [{"ttl_ms": -1}, {"members": 0}, {"gpu_milli": 1.5}])
def test_a_wish_that_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue):
        EstimateRequest(**({"ttl_ms": 1} | wrong))
