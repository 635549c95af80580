"""Nonces: one node's, used once, soon too old; and who is asked when."""

from __future__ import annotations

from collections import Counter
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.attestation.refresh import refresh_at
from bailiwick.services.gate.nonces import Nonces

LIFE_MS = 60_000


class Clock:
    """Moves when told."""

    def __init__(self) -> None:
        self.ms = 0

    def now_ms(self) -> int:
        return 10**12 + self.ms

    def elapsed_ms(self) -> int:
        return self.ms


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def nonces(clock: Clock) -> Nonces:
    numbers = count(1)
    return Nonces(clock, lambda size: next(numbers).to_bytes(size, "big"), nodes_max=3)


def test_a_nonce_counts_once_and_for_its_node_alone(nonces: Nonces) -> None:
    first = nonces.issue("n1", life_ms=LIFE_MS).value
    other = nonces.issue("n2", life_ms=LIFE_MS).value
    assert first != other
    assert not nonces.spend("n2", first)
    assert not nonces.spend("n3", first)
    assert nonces.spend("n1", first)
    assert not nonces.spend("n1", first)
    assert nonces.spend("n2", other)


def test_a_wrong_guess_spends_nothing(nonces: Nonces) -> None:
    nonce = nonces.issue("n1", life_ms=LIFE_MS).value
    for guess in (b"", nonce[:-1], nonce + b"\0", bytes(32)):
        assert not nonces.spend("n1", guess)
    assert nonces.is_own("n1", nonce)
    assert nonces.spend("n1", nonce)


def test_a_nonce_is_too_old_when_its_life_is_over(nonces: Nonces, clock: Clock) -> None:
    nonce = nonces.issue("n1", life_ms=LIFE_MS).value
    clock.ms = LIFE_MS - 1
    assert nonces.is_own("n1", nonce)
    clock.ms = LIFE_MS
    assert not nonces.is_own("n1", nonce)
    assert not nonces.spend("n1", nonce)


def test_a_new_nonce_takes_the_place_of_the_old(nonces: Nonces) -> None:
    first = nonces.issue("n1", life_ms=LIFE_MS).value
    second = nonces.issue("n1", life_ms=LIFE_MS).value
    assert not nonces.spend("n1", first)
    assert nonces.spend("n1", second)


def test_whoever_is_at_work_on_an_answer_is_told_the_same_nonce(
    nonces: Nonces, clock: Clock
) -> None:
    first = nonces.remind("n1", life_ms=LIFE_MS)
    clock.ms = LIFE_MS // 2
    again = nonces.remind("n1", life_ms=LIFE_MS)
    assert (again.value, again.left_ms) == (first.value, LIFE_MS // 2)
    clock.ms += 1  # less than half is left: it would not be enough for whoever begins now
    assert nonces.remind("n1", life_ms=LIFE_MS).value != first.value


def test_there_are_at_most_so_many(nonces: Nonces) -> None:
    found = {node: nonces.issue(node, life_ms=LIFE_MS).value for node in ("a", "b", "c", "d")}
    assert [nonces.spend(node, value) for node, value in found.items()] == [
        *(False, True, True, True)
    ]


# -- when ------------------------------------------------------------------------------------

AGES_MS = st.integers(10_000, 30 * 86_400_000)
NAMES = st.from_regex("[a-z0-9]{1,20}", fullmatch=True)


@given(NAMES, st.integers(0, 2**45), AGES_MS)
def test_the_point_lies_between_half_and_three_quarters_of_the_life(
    node: str, since_ms: int, age_ms: int
) -> None:
    point = refresh_at(node, since_ms=since_ms, until_ms=since_ms + age_ms)
    assert age_ms // 2 <= point - since_ms <= 3 * age_ms // 4 + 1
    assert point == refresh_at(node, since_ms=since_ms, until_ms=since_ms + age_ms)


@given(NAMES, st.integers(1, 2**45), st.integers(0, 10**6))
def test_what_is_over_is_due_at_once(node: str, since_ms: int, late_ms: int) -> None:
    assert refresh_at(node, since_ms=since_ms, until_ms=since_ms - late_ms) == since_ms


@pytest.mark.parametrize("age_ms", [120_000, 300_000, 3_600_000])
@pytest.mark.parametrize("start_ms", [0, 10**12 + 7])
def test_ten_thousand_nodes_that_began_at_once_are_spread_and_stay_so(
    start_ms: int, age_ms: int
) -> None:
    """Each beats every ten seconds, at a time of its own, and answers before the next beat."""
    nodes, beat_ms = 10_000, 10_000
    seconds: Counter[int] = Counter()
    for number in range(nodes):
        node, proven_ms, phase = f"node-{number}", start_ms, number * 7919 % beat_ms
        while proven_ms < start_ms + 8 * age_ms:
            point = refresh_at(node, since_ms=proven_ms, until_ms=proven_ms + age_ms)
            beat = point + (phase - point) % beat_ms  # the beat that tells it
            answered = beat + number % beat_ms
            assert answered <= proven_ms + age_ms, "it lapsed"
            seconds[(answered - start_ms) // 1000] += 1
            proven_ms = answered
    # At first all of them share a quarter of the age; later the whole of it.
    first, later = nodes * 4000 / age_ms, nodes * 1000 / (0.625 * age_ms + beat_ms)
    assert max(seconds.values()) <= first + 6 * first**0.5
    settled = [seconds[s] for s in range(5 * age_ms // 1000, 7 * age_ms // 1000)]
    assert max(settled) <= 1.25 * later + 6 * later**0.5
    assert sum(settled) / len(settled) == pytest.approx(later, rel=0.1)
