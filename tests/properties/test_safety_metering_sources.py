"""Nothing is lost and nothing doubled between many sources and the meter, on adversarial schedules:
lost, doubled and reordered events and acknowledgements, restarts, crashes around the commit.
"""

from __future__ import annotations

from typing import assert_never

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.metering.sources import (
    Conflicting,
    Due,
    Duplicate,
    Fenced,
    Forgotten,
    HeldBack,
    OfferAnswer,
    Position,
    SourceEvent,
    Sources,
    TooFarAhead,
)
from tests.simulation.metering import run_block
from tests.support.metering_schedules import Schedule
from tests.support.naive_sources import Key, NaiveSources

SHARDS, EACH = 20, 5_000


@given(seed=st.integers(0, 2**64), steps=st.integers(0, 400))
def test_each_event_counts_once_and_in_order_on_any_schedule(seed: int, steps: int) -> None:
    Schedule(seed).run(steps)


@pytest.mark.parametrize("shard", range(SHARDS))
def test_each_event_counts_once_on_a_hundred_thousand_schedules_with_every_fault(
    shard: int,
) -> None:
    seen = run_block(shard * EACH, EACH)
    # A schedule in which nothing goes wrong proves nothing.
    assert min(seen["crashes"], seen["restarts"], seen["events"]) > EACH
    assert seen["conflicts"] > EACH / 20


def test_the_shards_are_a_hundred_thousand_schedules() -> None:
    assert SHARDS * EACH >= 10**5


def model_answer(answer: OfferAnswer, *, was_accepted: bool) -> str:
    """What the model calls it; what is only held back is not in the model yet."""
    match answer:
        case Due():
            return "accepted"
        case HeldBack() | TooFarAhead():
            return "early"
        case Duplicate():
            return "duplicate"
        case Conflicting():
            return "conflict" if was_accepted else "early"
        case Fenced():
            return "fenced"
        case Forgotten():
            return "forgotten"
        case _:
            assert_never(answer)


keys = st.tuples(st.sampled_from("ab"), st.integers(1, 3), st.integers(0, 4))
offers = st.lists(st.tuples(keys, st.sampled_from([b"x", b"x", b"y"])), max_size=60)


@given(offers=offers, held_max=st.sampled_from([1, 2, 100]))
def test_each_answer_is_the_proven_models(offers: list[tuple[Key, bytes]], held_max: int) -> None:
    sources, naive = Sources(held_max=held_max), NaiveSources()
    for key, payload in offers:
        event = SourceEvent(*key, payload)
        was_accepted = key in naive.known
        answer = sources.offer(event)
        if isinstance(answer, HeldBack):
            naive.waiting.setdefault(key, event)
        said, accepted = naive.deliver(event)
        assert model_answer(answer, was_accepted=was_accepted) == said
        assert (list(answer.events) if isinstance(answer, Due) else []) == accepted
        if key[0] in naive.place:
            position = sources.position(key[0])
            assert (position.epoch, position.next_sequence) == naive.place[key[0]]


@given(offers=offers, remembered_max=st.integers(1, 5), cuts=st.sets(st.integers(0, 60)))
def test_with_a_short_memory_and_restarts_only_what_is_old_is_answered_otherwise(
    offers: list[tuple[Key, bytes]], remembered_max: int, cuts: set[int]
) -> None:
    """Nothing is held back here, so that a restart forgets nothing but what the bound lets go."""
    naive = NaiveSources()
    sources = Sources(held_max=1, remembered_max=remembered_max)
    committed: dict[str, Position] = {}
    for turn, (key, payload) in enumerate(offers):
        answer = sources.offer(SourceEvent(*key, payload))
        said, _ = naive.deliver(SourceEvent(*key, payload))
        heard = model_answer(answer, was_accepted=key in naive.known)
        newest = [each for each in naive.accepted if each.source == key[0]][-remembered_max:]
        is_known = key in [(each.source, each.epoch, each.sequence) for each in newest]
        if said not in ("duplicate", "conflict") or is_known:
            assert heard == said
        else:
            assert heard in ("forgotten", "fenced")
        positions = sources.uncommitted()
        committed |= {each.source: each for each in positions}
        sources.commit(positions)
        if turn in cuts:
            sources = Sources(committed.values(), held_max=1, remembered_max=remembered_max)
