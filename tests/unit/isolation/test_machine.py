"""The model's scheduler in Python: its steps, what it refuses, and what a search of it finds."""

from __future__ import annotations

import pytest

from bailiwick.isolation.language.parser import parse_policy
from bailiwick.isolation.model.faults import parse_fault
from bailiwick.isolation.model.machine import ModelScheduler, replay
from bailiwick.isolation.model.search import search
from bailiwick.isolation.model.shape import FleetShape
from bailiwick.isolation.model.world import make_world
from bailiwick.isolation.trace import IsolationTrace, read_trace
from models.write import SEEDED, TRACES, seeded_trace


def load(name: str) -> IsolationTrace:
    return read_trace((TRACES / f"{name}.json").read_bytes())


def machine_of(trace: IsolationTrace, fault: str | None) -> ModelScheduler:
    world = make_world(parse_policy(trace.policy), sites=trace.sites)
    subjects = tuple(job.subject for job in trace.jobs)
    return ModelScheduler(world, subjects, None if fault is None else parse_fault(fault))


@pytest.mark.parametrize("name", SEEDED)
def test_the_committed_traces_are_what_the_search_finds(name: str) -> None:
    assert (TRACES / f"{name}.json").read_text() == seeded_trace(name), "python -m models.write"


@pytest.mark.parametrize("name", SEEDED)
def test_a_trace_ends_where_the_judge_says_and_nowhere_earlier(name: str) -> None:
    trace = load(name)
    machine = machine_of(trace, name)
    assert replay(machine, trace.steps).broken == trace.forbidden
    assert replay(machine, trace.steps[:-1]).broken == ()


@pytest.mark.parametrize("name", SEEDED)
def test_the_wrong_scheduler_does_every_step_and_the_right_one_does_not_get_there(
    name: str,
) -> None:
    trace = load(name)
    for fault, gets_there in ((name, True), (None, False)):
        machine = machine_of(trace, fault)
        history = replay(machine, trace.steps)
        done = zip(history.states, trace.steps, strict=False)
        refused = [step for state, step in done if machine.refused(state, step)]
        if gets_there:
            assert refused == []
        else:  # it refuses a step, or what it does in one (an eviction) keeps the rule
            assert refused or history.broken == ()


@pytest.mark.parametrize(
    ("rules", "shape"),
    [
        ("dedicated host for tenant bank", None),
        ("never share cache among tenants", FleetShape(hosts=1, caches=2, seats=2)),
        ("at most 1 of tenant bank per host", None),
        ("tenant bank only on nodes with zone=in", None),
        ("dedicated host for tenant bank between 08:00 and 18:00", FleetShape(hosts=1)),
        (
            "never share host among tenants\nallow host between tenant a and tenant b owner o "
            'until 2030-01-01 because "x"',
            FleetShape(hosts=1),
        ),
    ],
)
def test_no_number_of_steps_breaks_a_policy(rules: str, shape: FleetShape | None) -> None:
    found = search(make_world(parse_policy(rules), shape=shape), jobs=2, depth=1_000)
    assert found.history is None
    assert found.is_whole


def test_a_search_that_was_cut_short_says_so() -> None:
    world = make_world(parse_policy("dedicated host for tenant bank"))
    assert not search(world, jobs=2, depth=3).is_whole
    assert not search(world, jobs=2, depth=99, states_max=50).is_whole
