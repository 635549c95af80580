"""The cheapest pieces for what is lacking, against every choice of offers."""

from __future__ import annotations

from itertools import product
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from bailiwick.scheduler.victims.supply import Offer, Piece, copies, supply


def cheapest(lacking: tuple[int, ...], pieces: list[Piece]) -> int | None:
    best = None
    for choice in product(*[(None, *piece) for piece in pieces]):
        taken = [offer for offer in choice if offer is not None]
        given_ = [sum(o.gives[d] for o in taken) for d in range(len(lacking))]
        cost = sum(o.cost for o in taken)
        enough = all(g >= lack for g, lack in zip(given_, lacking, strict=True))
        if enough and (best is None or cost < best):
            best = cost
    return best


@st.composite
def questions(draw: st.DrawFn) -> tuple[tuple[int, ...], list[Piece]]:
    kinds = draw(st.integers(1, 3))
    pieces: list[Piece] = []
    for number in range(draw(st.integers(0, 6))):
        offers: list[Offer] = []
        cost, gives = 0, (0,) * kinds
        for _ in range(draw(st.integers(1, 2))):
            cost += draw(st.integers(1, 12))
            gives = tuple(g + draw(st.integers(0, 5)) for g in gives)
            offers.append(Offer(cost, gives, (number,)))
        pieces.append(tuple(offers))
    return tuple(draw(st.lists(st.integers(0, 12), min_size=kinds, max_size=kinds))), pieces


@given(questions())
def test_the_answer_is_the_cheapest_and_says_so(
    question: tuple[tuple[int, ...], list[Piece]],
) -> None:
    lacking, pieces = question
    found, expected = supply(lacking, pieces), cheapest(lacking, pieces)
    if found is None:
        assert expected is None
        return
    assert (found.cost, found.bound) == (expected, expected)


@given(questions())
def test_with_too_few_states_the_bound_still_holds(
    question: tuple[tuple[int, ...], list[Piece]],
) -> None:
    lacking, pieces = question
    found = supply(lacking, pieces, widths=[1])
    expected = cheapest(lacking, pieces)
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        assert found.bound <= expected <= found.cost


def test_copies_are_any_number_of_units_that_are_equal() -> None:
    pieces = list(copies(10, (3,), units=range(100)))
    assert len(pieces) == 7
    assert sorted(unit for piece in pieces for unit in piece[0].units) == list(range(100))
    for lacking in range(1, 301):
        found = supply((lacking,), pieces)
        assert found is not None
        assert found.cost == found.bound == 10 * -(-lacking // 3) == 10 * len(found.units)


def test_much_that_is_nearly_equal_is_still_proven() -> None:
    draw = Random(7)
    pieces: list[Piece] = []
    for number in range(300):
        cores = draw.randint(1, 32)
        pieces.append((Offer(10_000 + cores, (1000 * cores,), (number,)),))
    found = supply((777_000,), pieces)
    assert found is not None
    assert found.cost == found.bound


def test_what_cannot_be_given_is_not_sought() -> None:
    assert supply((2, 1), [(Offer(1, (5, 0), (0,)),)]) is None
    assert supply((0, 0), []) is not None


def test_of_many_sorts_with_two_kinds_lacking_the_answer_is_near_the_bound() -> None:
    """Best value by one kind alone would leave the other to be bought twice."""
    pieces: list[Piece] = []
    for number in range(280):
        cores, memory = 1 + number % 7, 1 + number % 5
        pieces.extend(copies(1000 + cores, (1000 * cores, memory * 10**8), units=range(16)))
    found = supply((104_000, 11 * 10**9), pieces)
    assert found is not None
    assert 100 * found.cost <= 110 * found.bound
