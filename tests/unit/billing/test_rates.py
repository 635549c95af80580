"""What work costs: exact, in integers, rounded once, and never by accident free."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.billing.rates import (
    HOUR_MS,
    LIST_PRICES,
    CardWithdrawn,
    Charge,
    RateBook,
    RateCard,
    RateChange,
    Used,
    card_body,
    card_of,
    cost_of,
)
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


# --- many cards ---------------------------------------------------------------------------------

tenants = st.sampled_from([None, "a", "b"])
times = st.integers(0, 6)
changes = st.one_of(
    st.builds(
        lambda tenant, at_ms, name: replace(
            LIST_PRICES, tenant=tenant, effective_ms=at_ms, name=f"card-{name}"
        ),
        tenants,
        times,
        st.integers(0, 99),
    ),
    st.builds(CardWithdrawn, st.sampled_from(["a", "b"]), times, st.just("gone")),
)


def naive_card(rows: list[RateChange], tenant: str, at_ms: int) -> RateCard:
    """The last of the latest, of the tenant's own and else of the list."""
    for owner in (tenant, None):
        mine = [r for r in rows if r.tenant == owner and r.effective_ms <= at_ms]
        latest = max((r.effective_ms for r in mine), default=0)
        found = [r for r in mine if r.effective_ms == latest]
        if found and isinstance(found[-1], RateCard):
            return found[-1]
    return LIST_PRICES


@given(st.lists(changes, max_size=8), st.sampled_from(["a", "b", "c"]), times)
def test_the_latest_card_holds_and_a_tenants_own_before_the_list(
    rows: list[RateChange], tenant: str, at_ms: int
) -> None:
    assert RateBook(rows).card_for(tenant, at_ms) is naive_card(rows, tenant, at_ms)


@given(st.lists(changes, max_size=8), times, times)
def test_between_two_edges_prices_are_one(rows: list[RateChange], low: int, high: int) -> None:
    book = RateBook(rows)
    edges = book.edges(low, high)
    assert edges == tuple(sorted({r.effective_ms for r in rows if low < r.effective_ms < high}))
    for at_ms in range(low + 1, high):
        if at_ms not in edges:
            assert book.card_for("a", at_ms) is book.card_for("a", at_ms - 1)


def test_list_prices_underlie_every_book() -> None:
    book = RateBook([replace(LIST_PRICES, name="later", effective_ms=5)])
    assert [book.card_for("a", at_ms).name for at_ms in (0, 4, 5)] == ["list", "list", "later"]
    assert RateBook().card_for("a", 0) is LIST_PRICES


def test_a_withdrawn_card_holds_up_to_its_withdrawal_and_the_list_from_there() -> None:
    own = replace(LIST_PRICES, name="own", tenant="a", effective_ms=2)
    book = RateBook([own, CardWithdrawn("a", 4, "own")])
    assert [book.card_for("a", at_ms).name for at_ms in (1, 2, 3, 4)] == [
        *("list", "own", "own", "list"),
    ]
    assert [book.own_card("a", at_ms) for at_ms in (1, 3, 4)] == [None, own, None]


def test_a_book_has_one_currency() -> None:
    euro = replace(LIST_PRICES, currency="EUR")
    assert RateBook([euro]).currency == "EUR"
    assert RateBook().currency == "credit"
    with pytest.raises(InvalidValue, match="currency"):
        RateBook([euro, replace(LIST_PRICES, effective_ms=9)])
    with pytest.raises(InvalidValue, match="currency"):
        RateBook([replace(euro, tenant="a")])


@given(changes)
def test_a_change_is_read_back_from_its_record(change: RateChange) -> None:
    assert card_of(card_body(change)) == change


def test_a_record_that_lacks_a_price_or_has_one_too_many_is_no_card() -> None:
    body = card_body(LIST_PRICES)
    for name in body:
        with pytest.raises(InvalidValue, match=name):
            card_of({key: value for key, value in body.items() if key != name})
    for table in ("gpu_micros_per_hour", "class_per_mille"):
        with pytest.raises(InvalidValue, match=table):
            card_of(body | {table: {**body[table], "luck": 1}})
        with pytest.raises(InvalidValue, match=table):
            card_of(body | {table: 7})
    with pytest.raises(InvalidValue, match="of_tenant"):
        card_of({"card": "x", "effective_ms": 1, "withdrawn": 1})
