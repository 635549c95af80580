"""What is kept about money says what a look at every lease and every purse would say.

The naive readers here are the sums themselves: all that runs to its term, lease by lease, and every
purse looked at with every tick.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.bench.grown_fleet import CAPPED, GrownFleet
from bailiwick.billing.budgets import Budget
from bailiwick.billing.rates import LIST_PRICES, Charge, RateBook, Used
from bailiwick.kernel import State, Submit, Tick
from bailiwick.kernel.money.purse_watch import PurseWatch
from bailiwick.kernel.money.rules import look_at_purse
from bailiwick.kernel.money.spending import Holding, Purse, Spending
from bailiwick.vocab.words import LeaseClass
from tests.support.money_histories import LARGE, Trouble

STEPS = 60
seeds = st.integers(0, 2**32)
limits = st.sampled_from([(LARGE,), (LARGE, 40, 3), (LARGE, 2_000, 200, 20)])


def naive_projected(spending: Spending, purse: Purse, at_ms: int) -> int:
    """What was spent by then, and what everything that runs will cost from then on."""
    ahead = sum(spending.ahead(purse, each, from_ms=at_ms) for each in purse.running.values())
    return spending.spent(purse, at_ms) + ahead


@given(seeds, limits)
def test_what_will_be_spent_is_the_sum_over_all_leases(seed: int, limits: tuple[int, ...]) -> None:
    trouble = Trouble(Random(seed), limits)
    trouble.begin()
    for _ in trouble.steps(STEPS):
        spending, now = trouble.campus.kernel.state.spending, trouble.campus.now_ms
        for purse in spending.purses.values():
            kept = spending.projected(purse)
            for later in (0, 1, 9, 60, 700):
                assert kept == naive_projected(spending, purse, now + later)


def resting(state: State, now_ms: int) -> list[Purse]:
    """The purses that nobody would look at now."""
    watch, found = state.spending.watch, []
    for scope, purse in state.spending.purses.items():
        key = scope[0], scope[1] is None, scope[1] or ""
        if key not in watch._awake and watch._alarms.get(key, now_ms + 1) > now_ms:
            found.append(purse)
    return found


@given(seeds, limits)
def test_a_look_at_a_purse_that_rests_finds_nothing(seed: int, limits: tuple[int, ...]) -> None:
    trouble = Trouble(Random(seed), limits)
    trouble.begin()
    for _ in trouble.steps(STEPS):
        state, now = trouble.campus.kernel.state, trouble.campus.now_ms
        for purse in resting(state, now):
            assert next(look_at_purse(state, purse, now_ms=now), None) is None


class Sleepless(PurseWatch):
    """Everybody is looked at with every tick."""

    def __init__(self, spending: Spending) -> None:
        super().__init__()
        self.spending = spending

    def due(self, now_ms: int):  # type: ignore[no-untyped-def]
        """All, in order."""
        self.spending.wake_all()
        return super().due(now_ms)


@given(seeds, limits)
def test_a_kernel_that_looks_at_every_purse_writes_the_same_journal(
    seed: int, limits: tuple[int, ...]
) -> None:
    def lines(*, sleepless: bool) -> list[bytes]:
        trouble = Trouble(Random(seed), limits)
        spending = trouble.campus.kernel.state.spending
        if sleepless:
            spending.watch = Sleepless(spending)
        trouble.begin()
        for _ in trouble.steps(STEPS):
            pass
        return trouble.campus.lines

    assert lines(sleepless=False) == lines(sleepless=True)


def test_neither_a_capped_request_nor_a_tick_looks_at_what_runs() -> None:
    class Unread(dict):  # type: ignore[type-arg]
        def values(self):  # type: ignore[no-untyped-def]
            pytest.fail("every lease was looked at")

    fleet = GrownFleet(100)
    fleet.do(Tick())
    purse = fleet.state.spending.purses[CAPPED, None]
    assert len(purse.running) > 40
    purse.running = Unread(purse.running)
    for _ in range(3):
        fleet.live()
        fleet.do(Tick())
        fleet.do(Submit(fleet.small(CAPPED), wait=False))
    fleet.state.spending.projected(purse)


def core(lease_id: int, *, since_ms: int, expires_ms: int, **more: Any) -> Holding:
    """A lease of one core, as money sees it."""
    charge = Charge(Used(cpu_milli_ms=1000), None, LeaseClass.STANDARD)
    terms = {"earlier": (), "is_charged": True, "ends_on_budget": False, **more}
    return Holding(lease_id, "a", None, (charge,), since_ms, expires_ms, **terms)


def test_what_is_refunded_will_not_be_spent() -> None:
    spending = Spending()
    spending.open(Budget("a", limit_micros=LARGE), opening_micros=0, at_ms=0)
    purse = spending.purses["a", None]
    spending.start(core(1, since_ms=0, expires_ms=900))
    spending.stop(1, until_ms=600, at_ms=600)
    spending.start(core(2, since_ms=600, expires_ms=5_000))
    before = spending.projected(purse)
    spending.refund(core(1, since_ms=600, expires_ms=900, earlier=((0, 600),)), 200)
    assert spending.projected(purse) == naive_projected(spending, purse, 700) < before


def test_a_purse_rests_no_longer_than_until_prices_change() -> None:
    spending = Spending()
    free = replace(LIST_PRICES, core_micros_per_hour=0, effective_ms=5)
    dear = replace(LIST_PRICES, core_micros_per_hour=10**9, effective_ms=700)
    spending.use_book(RateBook((free, dear)), 5)
    budget = Budget("a", limit_micros=LARGE, thresholds=(1,), until_ms=9_000)
    spending.open(budget, opening_micros=0, at_ms=5)
    purse = spending.purses["a", None]
    assert spending.quiet_until_ms(purse, 5) == 9_000
    spending.start(core(1, since_ms=5, expires_ms=5_000))
    assert spending.quiet_until_ms(purse, 5) == 700
    assert spending.quiet_until_ms(purse, 700) == 9_000
    assert spending.quiet_until_ms(purse, 9_000) is None
