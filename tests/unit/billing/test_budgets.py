"""How a budget stands: a function of what was spent, told once per crossing by whoever asks it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.billing.budgets import HEALTHY, Budget, BudgetProgress, stand
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.words import BudgetState

B = BudgetState
BUDGET = Budget("acme", limit_micros=1_000, thresholds=(500, 900), from_ms=10, until_ms=20)


def at(spent: int, *, at_ms: int = 10, is_ending: bool = False) -> tuple[str, int]:
    found = stand(BUDGET, spent, at_ms=at_ms, is_ending=is_ending)
    return str(found.state), found.crossed


def test_a_budget_goes_from_healthy_through_its_thresholds_to_depleted() -> None:
    assert [at(spent) for spent in (0, 499, 500, 899, 900, 999, 1_000, 5_000)] == [
        ("healthy", 0),
        ("healthy", 0),
        ("low_balance", 1),
        ("low_balance", 1),
        ("low_balance", 2),
        ("low_balance", 2),
        ("depleted", 2),
        ("depleted", 2),
    ]


def test_while_work_is_being_ended_a_spent_budget_is_pending() -> None:
    assert at(1_000, is_ending=True) == ("auto_release_pending", 2)
    assert at(999, is_ending=True) == ("low_balance", 2)


def test_outside_its_period_a_budget_holds_nobody_back() -> None:
    assert [at(5_000, at_ms=at_ms)[0] for at_ms in (9, 10, 19, 20)] == [
        *("healthy", "depleted", "depleted", "healthy"),
    ]
    assert Budget("acme", limit_micros=1).is_on(2**60)


def test_with_a_limit_of_nothing_nothing_is_left() -> None:
    assert stand(Budget("acme", limit_micros=0), 0, at_ms=0, is_ending=False).state is B.DEPLETED


@given(st.lists(st.integers(0, 2_000), min_size=2), st.booleans())
def test_more_spent_never_stands_better(amounts: list[int], is_ending: bool) -> None:
    order = [B.HEALTHY, B.LOW_BALANCE, B.AUTO_RELEASE_PENDING, B.DEPLETED]
    found = [stand(BUDGET, n, at_ms=10, is_ending=is_ending) for n in sorted(amounts)]
    ranks = [(order.index(each.state), each.crossed) for each in found]
    assert all(one <= two for one, two in pairwise(ranks))


def test_a_span_is_cut_to_the_period() -> None:
    spans = [(0, 5), (0, 12), (12, 15), (15, 99), (30, 40)]
    assert [BUDGET.clip(*span) for span in spans] == [
        *((10, 10), (10, 12), (12, 15), (15, 20), (30, 30)),
    ]


@pytest.mark.parametrize(
    "bad",
    [
        {"limit_micros": -1},
        {"limit_micros": True},
        {"limit_micros": 2**53},
        {"cap_micros": -1},
        {"cap_micros": 1.5},
        {"from_ms": 5, "until_ms": 5},
        {"from_ms": -1},
        {"thresholds": (900, 500)},
        {"thresholds": (500, 500)},
        {"thresholds": (0,)},
        {"thresholds": (1_000,)},
        {"thresholds": tuple(range(1, 10))},
        {"thresholds": 5},
        {"tenant": "no name"},
        {"project": ""},
    ],
)
def test_a_budget_that_cannot_be_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue):
        Budget(**{"tenant": "acme", "limit_micros": 1, **bad})


def test_every_budget_begins_healthy() -> None:
    assert BudgetProgress() == HEALTHY
