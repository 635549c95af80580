"""What follows from a try."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bailiwick.events.retrying import (
    Answered,
    Delivered,
    GivenUp,
    NotReached,
    RetryPace,
    SendOutcome,
    TryAgain,
    plan_after,
)
from bailiwick.vocab.apps import DeliveryFault

PACE = RetryPace()
chances = st.floats(0, 1, exclude_max=True)
outcomes: st.SearchStrategy[SendOutcome] = st.one_of(
    st.builds(Answered, st.integers(100, 599), st.none() | st.integers(0, 10**9), st.booleans()),
    st.builds(NotReached, st.sampled_from(list(DeliveryFault))),
)


@given(outcomes, st.integers(1, 20), st.integers(0, 2**50), chances)
def test_a_try_ends_well_or_is_bounded(
    outcome: SendOutcome, tries: int, now_ms: int, chance: float
) -> None:
    step = plan_after(outcome, tries=tries, now_ms=now_ms, chance=chance)
    good = isinstance(outcome, Answered) and 200 <= outcome.status < 300
    assert isinstance(step, Delivered) is good
    if isinstance(step, TryAgain):
        assert tries < PACE.tries_max
        assert not (isinstance(outcome, Answered) and outcome.is_final)
        assert PACE.first_ms <= step.at_ms - now_ms <= PACE.most_ms * 1.5
    if isinstance(step, GivenUp):
        is_final = isinstance(outcome, Answered) and outcome.is_final
        assert tries >= PACE.tries_max or step.fault is DeliveryFault.GONE or is_final


@given(st.integers(1, 30), chances)
def test_a_pause_grows_to_a_bound(tries: int, chance: float) -> None:
    plain = PACE.pause_ms(tries, 0.0)
    assert plain <= PACE.pause_ms(tries + 1, 0.0) <= PACE.most_ms
    assert plain <= PACE.pause_ms(tries, chance) < plain * 1.5 + 1


def test_a_receiver_that_names_a_pause_gets_it_within_bounds() -> None:
    busy = plan_after(Answered(429, 60), tries=1, now_ms=0, chance=0.0)
    assert busy == TryAgain(DeliveryFault.STATUS, 60_000)
    greedy = plan_after(Answered(503, 10**9), tries=1, now_ms=0, chance=0.0)
    assert greedy == TryAgain(DeliveryFault.STATUS, PACE.most_ms)
