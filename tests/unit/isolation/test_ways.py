"""The search for a way around a policy: its rounds, its excuses, and what it finds."""

from __future__ import annotations

import pytest

from bailiwick.isolation.language.parser import parse_policy
from bailiwick.isolation.model.excuses import excuses
from bailiwick.isolation.model.search import Looked, SearchResult, search, seek
from bailiwick.isolation.model.shape import FleetShape
from bailiwick.isolation.model.ways import (
    EXCUSES_MAX,
    RoundOver,
    WayQuestion,
    plan_rounds,
    seek_ways,
)
from bailiwick.isolation.model.world import ModelWorld, make_world

TIGHT = "vault: dedicated host for tenant bank"
ALLOWED = 'allow host between tenant a and tenant b owner o until 2030-01-01 because "x"'


def world_of(text: str) -> ModelWorld:
    return make_world(parse_policy(text), shape=FleetShape(hosts=1))


def over(text: str, *, states_max: int = 20_000) -> list[RoundOver]:
    world = world_of(text)
    rounds = plan_rounds(world, jobs=2, steps=6)
    told = seek_ways(world, rounds, states_max=states_max)
    return [each for each in told if isinstance(each, RoundOver)]


def test_an_excuse_is_found_and_the_history_breaks_the_policy_without_it_alone() -> None:
    found = over(f"apart: never share host among tenants\nvisit: {ALLOWED}")
    (way,) = [each for each in found if each.is_way]
    assert way.round.excuse is not None
    assert (way.round.excuse.rule, way.round.excuse.line) == ("visit", 2)
    assert way.history is not None
    assert {each.rule for each in way.history.broken} == {"apart"}
    assert {each.tenant for each in way.history.subjects} == {"a", "b"}
    rules = [each for each in found if each.round.question is WayQuestion.RULES]
    assert [(each.history, each.is_whole) for each in rules] == [(None, True)]


def test_an_exception_that_excuses_nobody_is_no_way() -> None:
    found = over(f"{TIGHT}\nvisit: {ALLOWED}")
    assert [each.round.question for each in found if each.round.excuse] == [WayQuestion.EXCUSE]
    assert [each for each in found if each.is_way] == []


@pytest.mark.parametrize(
    "rule",
    [
        "tenant bank only on nodes with zone=in between 08:00 and 18:00",
        "at most 1 of tenant bank per host between 22:00 and 04:00 on mon",
        "dedicated host for tenant bank between 08:00 and 18:00",
    ],
)
def test_the_hours_of_every_sort_of_rule_are_an_excuse(rule: str) -> None:
    (way,) = [each for each in over(f"r: {rule}") if each.is_way]
    assert way.round.excuse is not None
    assert way.round.excuse.says.startswith("r holds only between ")
    assert way.history is not None
    assert {each.rule for each in way.history.broken} == {"r"}


def test_each_excuse_is_taken_away_alone() -> None:
    policy = parse_policy(f"r: {TIGHT[7:]} between 08:00 and 18:00\n{ALLOWED}\n{ALLOWED}")
    found = excuses(policy)
    assert [each.line for each in found] == [1, 2, 3]
    assert [len(each.without.exceptions) for each in found] == [2, 1, 1]
    windows = [getattr(each.without.rules[0], "window", None) for each in found]
    assert [window is None for window in windows] == [True, False, False]


def test_a_scheduler_that_is_wrong_on_purpose_is_found_wrong_and_is_no_way() -> None:
    trials = [each for each in over(TIGHT) if each.round.fault is not None]
    assert {each.round.fault.name for each in trials if each.round.fault} == {
        "forgets_host",
        "frees_early",
    }
    assert all(each.history is not None for each in trials)
    assert not any(each.is_way or each.is_missed for each in trials)


def test_a_search_that_cannot_see_far_enough_misses_what_is_there() -> None:
    trials = [each for each in over(TIGHT, states_max=5) if each.round.fault is not None]
    assert all(each.is_missed for each in trials)


def test_there_are_so_many_rounds_at_most() -> None:
    text = "\n".join([f"apart: {TIGHT[7:]}", *(ALLOWED for _ in range(20))])
    rounds = plan_rounds(world_of(text), jobs=3, steps=4)
    asked = [each.question for each in rounds]
    assert asked.count(WayQuestion.EXCUSE) == EXCUSES_MAX
    assert [(each.jobs, each.steps) for each in rounds[:2]] == [(2, None), (3, 4)]


def test_a_search_tells_how_far_it_is_and_then_what_it_came_to() -> None:
    world = make_world(parse_policy(TIGHT))
    told = [*seek(world, jobs=2, depth=50)]
    looked = [each.states for each in told if isinstance(each, Looked)]
    assert looked == sorted(looked)
    assert len(looked) > 1
    assert told[-1] == search(world, jobs=2, depth=50)
    assert [each for each in told if isinstance(each, SearchResult)] == told[-1:]
