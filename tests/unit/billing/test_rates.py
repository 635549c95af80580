"""What work costs: exact, in integers, rounded once, and never by accident free."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.billing.rates import HOUR_MS, LIST_PRICES, Charge, RateCard, Used, cost_of
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import GIB
from bailiwick.vocab.words import HardwareGeneration, LeaseClass

HOPPER = HardwareGeneration.NVIDIA_HOPPER

amounts = st.integers(0, 2**40)
useds = st.builds(
    Used,
    cpu_milli_ms=amounts,
    mem_byte_ms=st.integers(0, 2**80),
    block_byte_ms=st.integers(0, 2**80),
    gpu_milli_ms=amounts,
)
charges = st.builds(Charge, useds, st.sampled_from(HardwareGeneration), st.sampled_from(LeaseClass))


def naive_cost(card: RateCard, rows: list[Charge]) -> Fraction:
    """The same with fractions, resource by resource."""
    whole = Fraction(0)
    for row in rows:
        assert row.generation is not None
        hours = Fraction(1, HOUR_MS)
        gpus = Fraction(row.used.gpu_milli_ms, 1000) * hours
        cores = Fraction(row.used.cpu_milli_ms, 1000) * hours
        mem = Fraction(row.used.mem_byte_ms, GIB) * hours
        block = Fraction(row.used.block_byte_ms, GIB) * hours
        price = (
            gpus * card.gpu_micros_per_hour[row.generation]
            + cores * card.core_micros_per_hour
            + mem * card.mem_micros_per_gib_hour
            + block * card.block_micros_per_gib_hour
        )
        whole += price * Fraction(card.class_per_mille[row.lease_class], 1000)
    return whole


@given(st.lists(charges, max_size=4))
def test_a_cost_is_the_exact_one_rounded_to_the_nearest_even(rows: list[Charge]) -> None:
    assert cost_of(LIST_PRICES, rows) == round(naive_cost(LIST_PRICES, rows))


@given(useds, useds)
def test_a_cost_does_not_depend_on_how_work_was_split(one: Used, other: Used) -> None:
    apart = [Charge(one, HOPPER), Charge(other, HOPPER)]
    assert cost_of(LIST_PRICES, apart) == cost_of(LIST_PRICES, [Charge(one + other, HOPPER)])
    assert one.times(3) == one + one + one


def test_a_tie_goes_to_the_even_micro() -> None:
    free = dict.fromkeys(HardwareGeneration, 1)
    card = replace(LIST_PRICES, gpu_micros_per_hour=free)
    halves = [Used.over(HOUR_MS, gpu_milli=milli) for milli in (500, 1500, 2500)]
    assert [cost_of(card, [Charge(used, HOPPER)]) for used in halves] == [0, 2, 2]


@pytest.mark.parametrize("generation", list(HardwareGeneration))
def test_half_a_gpu_costs_half(generation: HardwareGeneration) -> None:
    def cost(milli: int) -> int:
        return cost_of(LIST_PRICES, [Charge(Used.over(HOUR_MS, gpu_milli=milli), generation)])

    assert 2 * cost(500) == cost(1000) == LIST_PRICES.gpu_micros_per_hour[generation]


def test_the_class_of_a_lease_changes_its_price() -> None:
    hour = Used.over(HOUR_MS, cpu_milli=1000, mem_bytes=10 * GIB, block_bytes=100 * GIB)
    found = {word: cost_of(LIST_PRICES, [Charge(hour, None, word)]) for word in LeaseClass}
    assert found == {
        LeaseClass.GUARANTEED: 65_000,
        LeaseClass.STANDARD: 50_000,
        LeaseClass.SPOT: 20_000,
    }


def test_gpus_of_no_known_generation_have_no_price() -> None:
    with pytest.raises(InvalidValue, match="generation"):
        cost_of(LIST_PRICES, [Charge(Used(gpu_milli_ms=1))])


def test_a_card_prices_everything_or_cannot_be_built() -> None:
    some = {HOPPER: 1}
    with pytest.raises(InvalidValue, match="also nvidia_volta"):
        replace(LIST_PRICES, gpu_micros_per_hour=some)
    with pytest.raises(InvalidValue, match="class_per_mille"):
        replace(LIST_PRICES, class_per_mille={LeaseClass.SPOT: 400})
    for wrong in (-1, 1.5, True, 10**16):
        with pytest.raises(InvalidValue, match="core_micros_per_hour"):
            replace(LIST_PRICES, core_micros_per_hour=wrong)


def test_the_dearest_of_several_is_found() -> None:
    ada = HardwareGeneration.NVIDIA_ADA
    assert LIST_PRICES.dearest([ada, HOPPER]) is HOPPER
    assert LIST_PRICES.dearest([]) is None
