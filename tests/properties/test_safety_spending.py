"""What the kernel says was spent and used is what the journal's own meter says, to the last unit.

The kernel adds as it goes, and takes off where it learns better; the meter owns every share of
every device at every instant, and billing's table and cards make money of that. They share the
cards and the table, and nothing else.
"""

from __future__ import annotations

from hashlib import sha256
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from bailiwick.kernel import Kernel, State, decode, digest_of, encode
from tests.support.money_histories import (
    LARGE,
    Scope,
    Trouble,
    metered_money,
    metered_usage,
)
from tests.support.naive_kernel import fold

STEPS = 60
seeds = st.integers(0, 2**32)
limits = st.sampled_from([(LARGE,), (LARGE, 40, 3)])


def spent(state: State, at_ms: int) -> dict[Scope, int]:
    """What the kernel says, exactly."""
    spending = state.spending
    return {scope: spending.spent(purse, at_ms) for scope, purse in spending.purses.items()}


@given(seeds, limits)
def test_what_was_spent_is_what_the_meter_says(seed: int, limits: tuple[int, ...]) -> None:
    trouble = Trouble(Random(seed), limits)
    trouble.begin()
    campus, moments = trouble.campus, []
    for is_looked_at in trouble.steps(STEPS):
        if is_looked_at:
            told = spent(campus.kernel.state, campus.now_ms)
            moments.append((len(campus.lines), campus.now_ms, told))
    records = campus.records
    for count, at_ms, told in moments[-5:]:
        assert told == metered_money(records[:count], at_ms)


@given(seeds)
def test_a_term_that_ran_out_costs_no_more_whether_or_not_anybody_noticed(seed: int) -> None:
    trouble = Trouble(Random(seed))
    trouble.begin()
    before: dict[Scope, int] = {}
    for is_looked_at in trouble.steps(STEPS):
        found = spent(trouble.campus.kernel.state, trouble.campus.now_ms)
        if is_looked_at:
            assert found == before
        before = found


@given(seeds, limits)
def test_a_state_read_back_has_spent_as_much_and_goes_on_alike(
    seed: int, limits: tuple[int, ...]
) -> None:
    trouble = Trouble(Random(seed), limits)
    trouble.begin()
    campus = trouble.campus
    for number, _ in enumerate(trouble.steps(STEPS)):
        if number % 20 == 19:
            data = encode(campus.kernel.state)
            again = decode(data, sha256(data).hexdigest())
            later = campus.now_ms + 90
            assert spent(again, later) == spent(campus.kernel.state, later)
            campus.kernel = Kernel(again, campus.kernel.chain.anchor(), simulated=True)
    replayed = Kernel()
    replayed.replay(campus.records)
    assert digest_of(replayed.state) == digest_of(campus.kernel.state)


@given(seeds, limits)
def test_the_records_of_money_follow_from_each_other(seed: int, limits: tuple[int, ...]) -> None:
    trouble = Trouble(Random(seed), limits)
    trouble.begin()
    for _ in trouble.steps(STEPS):
        pass
    fold(trouble.campus.records).compare(trouble.campus.kernel.state)


@given(seeds)
def test_fair_shares_count_the_time_that_the_meter_owns_to_a_lease(seed: int) -> None:
    """With a half-life that never ends nothing fades; reading rounds a sum down once."""
    trouble = Trouble(Random(seed))
    trouble.begin()
    campus = trouble.campus
    for _ in trouble.steps(STEPS):
        pass
    at_ms = campus.now_ms
    shares, metered = campus.kernel.state.shares, metered_usage(campus.records, at_ms)
    for scope in shares.running.keys() | metered.keys():
        _, usage = shares.share_and_usage(scope, at_ms)
        assert 0 <= metered.get(scope, 0) - usage <= 1, scope


def test_the_histories_have_in_them_what_they_are_about() -> None:
    kinds, words = set(), set()
    for seed in range(25):
        trouble = Trouble(Random(seed), (LARGE, 40, 3))
        trouble.begin()
        for _ in trouble.steps(STEPS):
            pass
        for record in trouble.campus.records:
            kinds.add(record.kind.value)
            words |= {record.body.get(name) for name in ("after", "reason", "detail")}
    assert {"rate_card_changed", "budget_changed", "lease_fenced", "node_departed"} < kinds
    assert {"low_balance", "auto_release_pending", "depleted", "cost_cap_exceeded"} < words
    assert {"budget_exhausted", "priority_preemption", "operator_drain"} < words
