"""Looks through the histories of the model's scheduler for one that ends where it must not.

Rules:

- A search goes through all states that steps lead to, the shortest histories first, and through
  jobs of one subject but once: they are interchangeable. It is bounded in depth and in states.
- It says every few states how far it is, so that whoever waits sees it move and can end it.
- It judges by the policy that the scheduler keeps, or by another: so it is found what a policy
  lets happen that it would forbid without one of its excuses (:mod:`.excuses`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import Final

from bailiwick.isolation.model.faults import Fault
from bailiwick.isolation.model.history import ModelHistory, ModelState, judge_state
from bailiwick.isolation.model.machine import ModelScheduler, possible, replay
from bailiwick.isolation.model.world import ModelWorld
from bailiwick.isolation.policy import Policy
from bailiwick.isolation.trace import TraceStep

STATES_MAX: Final = 200_000
PACE: Final = 50
"""States between two words about how far it is."""


@dataclass(frozen=True, slots=True)
class Looked:
    """How far a search is: so many states, in histories of so many steps."""

    states: int
    steps: int


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search came to: the shortest history that breaks a rule, or none."""

    history: ModelHistory | None
    states: int
    """How many were looked at."""
    is_whole: bool
    """Whether all states that any number of steps leads to were looked at."""


def search(
    world: ModelWorld,
    *,
    jobs: int,
    depth: int,
    fault: Fault | None = None,
    states_max: int = STATES_MAX,
) -> SearchResult:
    """Look through every history of so many jobs, whoever they are, to a depth."""
    told = seek(world, jobs=jobs, depth=depth, fault=fault, states_max=states_max)
    return next(each for each in told if isinstance(each, SearchResult))


def seek(
    world: ModelWorld,
    *,
    jobs: int,
    depth: int,
    fault: Fault | None = None,
    judged: Policy | None = None,
    states_max: int = STATES_MAX,
) -> Iterator[Looked | SearchResult]:
    """The same, told as it goes; the result is the last. ``judged`` is another policy to judge by.

    A number of states is for all who may come together: who comes last has what is left of it.
    """
    bench = world if judged is None else replace(world, policy=judged)
    looked, whole = 0, True
    for subjects in combinations_with_replacement(world.subjects, jobs):
        machine = ModelScheduler(world, subjects, fault)
        walk = _Walk(machine, bench, depth, states_max - looked)
        found, count, is_whole = yield from walk.go(looked)
        looked, whole = looked + count, whole and is_whole
        if found is not None:
            yield SearchResult(_judged(machine, bench, found), looked, False)
            return
    yield SearchResult(None, looked, whole)


def _judged(machine: ModelScheduler, bench: ModelWorld, steps: list[TraceStep]) -> ModelHistory:
    """The history of these steps, with what the bench says of its end."""
    history = replay(machine, steps)
    last = {"state": history.states[-1], "before": history.states[-2]}
    return replace(history, broken=tuple(judge_state(bench, machine.subjects, **last)))


@dataclass(frozen=True, slots=True)
class _Walk:
    """Through what one cast of jobs can do."""

    machine: ModelScheduler
    bench: ModelWorld
    depth: int
    states_max: int

    def go(
        self, before: int
    ) -> Generator[Looked | SearchResult, None, tuple[list[TraceStep] | None, int, bool]]:
        """Steps that lead where the bench forbids it, if there are any; states; whether all."""
        machine = self.machine
        first = machine.first()
        came: dict[ModelState, tuple[ModelState, TraceStep] | None] = {first: None}
        alike: set[ModelState] = {_canonical(machine, first)}
        line, whole, done = deque([(first, 0)]), True, 0
        while line:  # bounded by states_max: each state enters once
            state, level = line.popleft()
            if level >= self.depth or len(came) >= self.states_max:
                whole = False
                continue
            done += 1
            if done % PACE == 0:
                yield Looked(before + len(came), level)
            for step in possible(machine, state):
                if machine.refused(state, step):
                    continue
                after = machine.apply(state, step)
                if judge_state(self.bench, machine.subjects, state=after, before=state):
                    return [*_way(came, state), step], len(came), False
                same = _canonical(machine, after)
                if same not in alike:
                    alike.add(same)
                    came[after] = (state, step)
                    line.append((after, level + 1))
        return None, len(came), whole


def _way(
    came: dict[ModelState, tuple[ModelState, TraceStep] | None], state: ModelState
) -> list[TraceStep]:
    steps: list[TraceStep] = []
    before = came[state]
    while before is not None:  # bounded by the depth of the search
        state, step = before
        steps.append(step)
        before = came[state]
    return steps[::-1]


def _canonical(machine: ModelScheduler, state: ModelState) -> ModelState:
    """One for all states in which jobs of one subject have changed places."""
    order = sorted(
        range(len(state.jobs)),
        key=lambda i: (
            machine.world.subjects.index(machine.subjects[i]),
            state.jobs[i].phase,
            sorted(state.jobs[i].seats),
            sorted(state.jobs[i].reach),
        ),
    )
    return replace(state, jobs=tuple(state.jobs[index] for index in order))
