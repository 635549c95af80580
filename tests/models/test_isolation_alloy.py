"""Alloy on models of policies: what holds is found to hold, and every seeded fault is found.

One run of each model is shared by all tests: Alloy takes seconds.
"""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest

from bailiwick.isolation.language.parser import parse_policy
from bailiwick.isolation.model.alloy import AlloyModel
from bailiwick.isolation.model.commands import CheckScope, Command
from bailiwick.isolation.model.history import ModelJob, ModelState, Phase, judge_state
from bailiwick.isolation.model.machine import ModelScheduler, replay
from bailiwick.isolation.model.shape import FleetShape
from bailiwick.isolation.model.world import ModelWorld, make_world, spell_subject
from bailiwick.isolation.policy import Subject
from bailiwick.tools.isolation.check import Found, make_model, run_check, run_commands
from tests.support.tools import need

CHECKED = """
vault: dedicated host for tenant bank
kept: keep host for tenant bank until scrubbed
nodes: tenant bank only on nodes with attested.boot=measured
"""
MEANING = """
group rivals = tenant acme, label team=blue
apart: never share cache among tenant acme, tenant umbrella, label team=blue
night: never share host between group rivals and others between 22:00 and 06:00
crowd: at most 1 of tenant umbrella per host
nodes: label team=blue only on nodes with zone=in between 22:00 and 06:00
friends: allow cache between tenant acme and tenant umbrella owner a until 2030-01-31 because "x"
"""
STATES = 60


@pytest.fixture(scope="module")
def found() -> dict[str, Found]:
    """What came of every command of one policy's model, in the smallest world that shows it."""
    need("alloy")
    world = make_world(parse_policy(CHECKED))
    model = _with_steps_of_faults(make_model(world, CheckScope(jobs=3, steps=3, fault_steps=6)))
    return {each.command.name: each for each in run_check(world, model)}


def _with_steps_of_faults(model: AlloyModel) -> AlloyModel:
    """The same, with the check of one step of each wrong scheduler, too."""
    named = {each.name: each for each in model.commands}
    whole, step = named["holds"], named["one_step"]
    commands, spelled = list(model.commands), dict(model.spelled)
    for name in (each.name for each in model.commands if each.fault is not None):
        told = model.spelled[name].replace(f" {name} ", f" step_{name} ")
        told = told.replace(whole.body, step.body).replace(named[name].steps, step.steps)
        spelled[f"step_{name}"] = told
        # Its history begins anywhere, so it is none to tell: that there is one is the answer.
        commands.append(Command(f"step_{name}", False, True, "one step is wrong"))
    return replace(model, commands=tuple(commands), spelled=spelled)


def test_everything_is_as_expected(found: dict[str, Found]) -> None:
    assert [name for name, each in found.items() if not each.is_met] == []


@pytest.mark.parametrize(
    ("fault", "rule"),
    [
        ("forgets_host", "vault"),
        ("frees_early", "vault"),
        ("claim_uncounted", "vault"),
        ("residue_forgotten", "kept"),
        ("relabel_unnoticed", "nodes"),
    ],
)
def test_a_seeded_fault_is_found_and_the_judge_agrees_which_rule_it_breaks(
    found: dict[str, Found], fault: str, rule: str
) -> None:
    history = found[f"fault_{fault}"].history
    assert history is not None
    assert rule in {each.rule for each in history.broken}


def test_one_step_from_a_sound_state_is_enough_to_find_every_seeded_fault(
    found: dict[str, Found],
) -> None:
    """So that one step keeps every rule says something: of a wrong scheduler it does not."""
    told = {name: each.is_found for name, each in found.items() if name.startswith("step_")}
    faults = [name for name in found if name.startswith("fault_")]
    assert told == dict.fromkeys((f"step_{name}" for name in faults), True)
    assert len(faults) >= 5


def test_the_scheduler_in_python_does_what_alloy_found_step_by_step(
    found: dict[str, Found],
) -> None:
    world = make_world(parse_policy(CHECKED))
    for each in found.values():
        if each.history is not None:
            machine = ModelScheduler(world, each.history.subjects, each.command.fault)
            replayed = replay(machine, each.history.steps)
            assert replayed == each.history
            states = zip(replayed.states, replayed.steps, strict=False)
            assert not any(machine.refused(state, step) for state, step in states)


# -- the predicates mean what the judge means ----------------------------------------------------


def _spelled(state: ModelState, subjects: list[Subject], words: dict[str, str]) -> str:
    """A state as a formula, and that it keeps every rule."""

    def some(names: list[str], empty: str = "none") -> str:
        return " + ".join(names) or empty

    jobs = [f"j{number}" for number in range(len(subjects))]
    parts = []
    for job, subject, held in zip(jobs, subjects, state.jobs, strict=True):
        seats = [words[name] for name in sorted(held.seats)]
        marks = [f"mark_{name}" for name in sorted(held.reach)]
        kept = held.phase is Phase.CLAIMING
        parts.append(f"{job}.subject = {words[spell_subject(subject)]}")
        parts.append(f"{job}.at = {'none' if kept else some(seats)}")
        parts.append(f"{job}.claim = {some(seats) if kept else 'none'}")
        parts.append(f"{job}.reach = {some(marks)}")
    for phase in (Phase.RUNNING, Phase.LEAVING, Phase.CLAIMING):
        named = [job for job, held in zip(jobs, state.jobs, strict=True) if held.phase is phase]
        parts.append(f"{phase.value.capitalize()} = {some(named)}")
    nodes = [f"{words[node]} -> {words[label]}" for node, label in sorted(state.labels)]
    parts.append(f"labelled = {some(nodes, 'none -> none')}")
    parts.append("no residue and no Waiting and no Down and isolated")
    return f"some disj {', '.join(jobs)} : Job | {' and '.join(parts)}"


def _random_state(chance: random.Random, world: ModelWorld) -> tuple[list[Subject], ModelState]:
    free = [seat.name for seat in world.seats]
    chance.shuffle(free)
    subjects, jobs = [], []
    for _ in range(3):
        phase = chance.choice([Phase.RUNNING, Phase.RUNNING, Phase.LEAVING, Phase.CLAIMING])
        reach = frozenset(mark for mark in world.marks if chance.random() < 0.5)
        named = world.subjects[: 2 if chance.random() < 0.6 else None]  # the two of most rules
        subjects.append(chance.choice(named))
        jobs.append(ModelJob(phase, frozenset({free.pop()}), reach))
    if jobs[0].phase is Phase.CLAIMING and jobs[1].phase is Phase.LEAVING:
        jobs[0] = replace(jobs[0], seats=jobs[1].seats)  # which leaves for it
    labels = frozenset((site.node, "zone=in") for site in world.sites if chance.random() < 0.6)
    return subjects, ModelState(tuple(jobs), labels=labels)


def test_states_keep_the_rules_of_the_model_just_when_the_judge_finds_none_broken() -> None:
    need("alloy")
    world = make_world(parse_policy(MEANING), shape=FleetShape(hosts=1, caches=2, seats=2))
    model = make_model(world, CheckScope(jobs=3))
    words = {name: word for word, name in model.atoms.items() if not word.startswith(_OTHER)}
    scope = re.split(r", \d+\.\.", model.spelled["holds"].partition("\n  for ")[2])[0]
    chance, commands, spelled = random.Random(16), [], {}
    for number in range(STATES):
        subjects, state = _random_state(chance, world)
        keeps = not judge_state(world, subjects, state=state)
        command = Command(f"s{number}", False, keeps, "a state")
        body = _spelled(state, subjects, words)
        commands.append(command)
        spelled[command.name] = f"run s{number} {{ {body} }}\n  for {scope}, 1..1 steps\n"
    assert {command.expects for command in commands} == {True, False}, "both kinds are asked"
    asked: AlloyModel = replace(model, commands=tuple(commands), spelled=spelled)
    told = {each.command.name: each for each in run_commands(world, asked, commands=commands)}
    assert [name for name, each in told.items() if not each.is_met] == []
    assert len(told) == STATES


_OTHER = ("by_", "bites_", "keep_", "mark_", "host_", "cache_")
"""Words of the model for what is no seat, node, label or subject."""
