"""Heartbeats: who is alive, late or gone, and the last proof of life."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.fleet.liveness import (
    Alive,
    Departed,
    HeartbeatRule,
    Late,
    check_liveness,
    next_departure_ms,
    plan_departures,
)
from bailiwick.kernel.fleet.commands import DepartNode
from bailiwick.vocab.errors import InvalidValue

SEEN = {"a": 100_000}


@pytest.mark.parametrize(
    ("silent_ms", "stands"),
    [
        (-5_000, Alive("a", 100_000)),  # the listener's clock went back
        (0, Alive("a", 100_000)),
        (9_999, Alive("a", 100_000)),
        (10_000, Late("a", 100_000, 1)),
        (29_999, Late("a", 100_000, 2)),
        (30_000, Departed("a", 100_000, 30_000)),
        (10**9, Departed("a", 100_000, 10**9)),
    ],
)
def test_a_node_is_late_after_one_beat_and_gone_after_three(silent_ms: int, stands: object) -> None:
    assert check_liveness(SEEN, 100_000 + silent_ms) == (stands,)


def test_the_longest_silent_comes_first_and_equals_go_by_name() -> None:
    seen = {"c": 5, "b": 9, "a": 9}
    assert [each.node for each in check_liveness(seen, 10)] == ["c", "a", "b"]


def test_a_departure_tells_the_last_proof_of_life_not_the_end_of_the_time_out() -> None:
    (gone,) = plan_departures({"a": 100_000, "b": 125_000}, 131_000)
    assert gone == Departed("a", 100_000, 31_000)
    assert DepartNode(gone.node, gone.last_seen_ms).last_seen_ms == 100_000


def test_silence_counts_only_while_somebody_listened() -> None:
    hour = 3_600_000
    assert plan_departures(SEEN, hour + 29_999, listening_since_ms=hour) == ()
    (gone,) = plan_departures(SEEN, hour + 30_000, listening_since_ms=hour)
    assert gone == Departed("a", 100_000, 30_000)


def test_another_rule_is_kept_to() -> None:
    rule = HeartbeatRule(beat_ms=1_000, timeout_ms=5_000)
    assert check_liveness(SEEN, 104_000, rule=rule) == (Late("a", 100_000, 4),)
    assert check_liveness(SEEN, 105_000, rule=rule) == (Departed("a", 100_000, 5_000),)


@pytest.mark.parametrize(
    ("beat_ms", "timeout_ms"), [(0, 30_000), (10_000, 19_999), (-1, 5), (True, 9), (1, 10**9)]
)
def test_a_rule_that_one_slow_beat_would_break_is_refused(beat_ms: int, timeout_ms: int) -> None:
    with pytest.raises(InvalidValue):
        HeartbeatRule(beat_ms, timeout_ms)


@pytest.mark.parametrize("wrong", [{"a": -1}, {"a": 1.5}, {"a b": 1}, {"a": True}])
def test_what_is_no_node_or_no_time_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(InvalidValue):
        check_liveness(wrong, 10)


TIMES = st.integers(0, 10**6)


@given(st.dictionaries(st.from_regex(r"[a-z]{1,4}", fullmatch=True), TIMES), TIMES, TIMES)
def test_nobody_departs_before_the_next_departure_and_somebody_does_then(
    seen: dict[str, int], now_ms: int, since_ms: int
) -> None:
    at_ms = next_departure_ms(seen, listening_since_ms=since_ms)
    gone = plan_departures(seen, now_ms, listening_since_ms=since_ms)
    assert bool(gone) == (at_ms is not None and now_ms >= at_ms)
    for each in gone:
        assert each.last_seen_ms == seen[each.node]
        assert each.last_seen_ms + 30_000 <= now_ms


@given(st.dictionaries(st.from_regex(r"[a-z]{1,4}", fullmatch=True), TIMES), TIMES, TIMES)
def test_a_beat_never_makes_a_node_less_alive(
    seen: dict[str, int], now_ms: int, later_ms: int
) -> None:
    before = {each.node for each in plan_departures(seen, now_ms)}
    beaten = {node: max(at, later_ms) for node, at in seen.items()}
    assert {each.node for each in plan_departures(beaten, now_ms)} <= before
