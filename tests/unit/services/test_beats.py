"""Who has been silent for too long, against a reference that keeps every moment."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.fleet.liveness import Alive, Departed, HeartbeatRule, Late
from bailiwick.services.beats import Beats
from bailiwick.vocab.errors import InvalidValue, LimitReached

RULE = HeartbeatRule(beat_ms=10, timeout_ms=30)
DAY = 86_400_000


@dataclass
class TwoClocks:
    """A clock that never goes back, and a time of day that may jump."""

    elapsed: int = 1_000
    day: int = 5 * DAY

    def elapsed_ms(self) -> int:
        return self.elapsed

    def now_ms(self) -> int:
        return self.day


def test_a_node_is_alive_late_and_gone_and_its_last_beat_is_told_in_time_of_day() -> None:
    clock = TwoClocks()
    beats = Beats(clock, rule=RULE)
    assert beats.standing("a") is None
    beats.beat("a")
    seen = clock.day
    for elapsed, found in ((1_009, Alive("a", seen)), (1_010, Late("a", seen, 1))):
        clock.elapsed = elapsed
        assert beats.depart(elapsed) == ()
        assert beats.standing("a") == found
    for elapsed in (1_020, 1_029):
        assert beats.depart(elapsed) == ()
    clock.elapsed = 1_030
    assert beats.depart(1_030) == (Departed("a", seen, 30),)
    beats.forget("a")
    assert beats.depart(1_031) == ()
    assert beats.standing("a") is None


def test_a_time_of_day_that_jumps_makes_nobody_late() -> None:
    clock = TwoClocks()
    beats = Beats(clock, rule=RULE)
    beats.beat("a")
    clock.day += 9 * DAY
    assert isinstance(beats.standing("a"), Alive)
    assert beats.depart(clock.elapsed) == ()


def test_who_was_not_looking_cannot_say_that_somebody_was_silent() -> None:
    clock = TwoClocks()
    beats = Beats(clock, rule=RULE)
    beats.beat("a")
    assert beats.depart(1_500) == ()  # stopped for half a second, perhaps with beats in its ears
    clock.elapsed = 1_500
    assert isinstance(beats.standing("a"), Alive)
    for elapsed in range(1_505, 1_530, 5):
        assert beats.depart(elapsed) == ()
    assert [each.node for each in beats.depart(1_530)] == ["a"]


def test_a_new_leader_gives_everybody_a_whole_time_out() -> None:
    clock = TwoClocks()
    beats = Beats(clock, rule=RULE)
    beats.beat("a")
    clock.elapsed = 1_029
    beats.listen_anew()
    for elapsed in range(1_030, 1_059, 5):
        assert beats.depart(elapsed) == ()
    assert [each.node for each in beats.depart(1_059)] == ["a"]


def test_memory_is_bounded_and_names_are_names() -> None:
    beats = Beats(TwoClocks(), nodes_max=1)
    beats.beat("a")
    beats.beat("a")
    with pytest.raises(LimitReached):
        beats.beat("b")
    with pytest.raises(InvalidValue):
        beats.beat("no name")


@given(
    st.lists(
        st.tuples(
            st.integers(1, 25),
            st.sampled_from("abc"),
            st.sampled_from(("beat", "look", "look", "anew", "forget")),
        ),
        max_size=60,
    )
)
def test_who_is_gone_is_who_was_silent_while_somebody_looked(
    steps: list[tuple[int, str, str]],
) -> None:
    clock = TwoClocks()
    beats = Beats(clock, rule=RULE)
    heard: dict[str, int] = {}
    counted: dict[str, int] = {}  # by node: silence that counts
    looked = clock.elapsed
    for wait, node, what in steps:
        clock.elapsed += wait
        for each in counted:
            counted[each] += wait
        if what == "beat":
            beats.beat(node)
            heard[node], counted[node] = clock.day, 0
        elif what == "forget":
            beats.forget(node)
            heard.pop(node, None)
            counted.pop(node, None)
        elif what == "anew":
            beats.listen_anew()
            counted = dict.fromkeys(counted, 0)
            looked = clock.elapsed
        else:
            if clock.elapsed - looked > RULE.beat_ms:
                counted = dict.fromkeys(counted, 0)
            looked = clock.elapsed
            gone = {each.node: each.last_seen_ms for each in beats.depart(clock.elapsed)}
            silent = {each for each, ms in counted.items() if ms >= RULE.timeout_ms}
            assert gone == {each: heard[each] for each in silent}
        clock.day += wait
