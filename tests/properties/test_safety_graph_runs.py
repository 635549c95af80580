"""A graph's run against a naive one that looks at everything, for every result, in any order."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from bailiwick.batch import (
    CancelAsked,
    EndGraph,
    GraphRun,
    GraphStep,
    RerunAsked,
    RetryPolicy,
    RetryTask,
    StartTask,
    StopTask,
    TaskDef,
    TaskFailed,
    TaskGraph,
    TaskResult,
    TaskSucceeded,
    Upstream,
    next_steps,
)
from bailiwick.vocab.graphs import FailureCategory, GraphPhase, TaskPhase, UpstreamResult
from bailiwick.vocab.words import Priority

MADE = "sha256:" + "0" * 64


@st.composite
def graphs(draw: st.DrawFn) -> TaskGraph:
    """Small graphs with maps, conditions, retries and outputs."""
    definitions: list[TaskDef] = []
    for number in range(draw(st.integers(1, 7))):
        over = draw(st.none() | st.integers(0, 3))
        after = list[Upstream]()
        for each in definitions:
            if not draw(st.booleans()):
                continue
            size = None if each.over is None else len(each.over)
            pairs = size is not None and size == over and draw(st.booleans())
            name = each.name
            if size and not pairs and draw(st.booleans()):
                name = f"{name}[{draw(st.integers(0, size - 1))}]"
            when = draw(st.sampled_from(UpstreamResult))
            codes = draw(st.sampled_from([(), (), (0,), (1, 2)]))
            after.append(Upstream(name, when, codes, pairs))
        definitions.append(
            TaskDef(
                f"t{number}",
                ("run",),
                over=None if over is None else tuple(map(str, range(over))),
                after=after,
                priority=draw(st.sampled_from(Priority)),
                retry=RetryPolicy(
                    retries=draw(
                        st.dictionaries(st.sampled_from(FailureCategory), st.integers(0, 2))
                    ),
                    exit_codes=draw(st.sampled_from([(), (1,)])),
                    pause_ms=draw(st.sampled_from([0, 10, 1000])),
                    pause_ms_max=4_000,
                ),
                may_fail=draw(st.booleans()),
            )
        )
    return TaskGraph(definitions, running_max=draw(st.integers(1, 6)))


Outcome = tuple[FailureCategory, int | None] | None
"""How an attempt ends: with a failure, or well."""


def outcome_of(seed: int, task: str, attempt: int) -> Outcome:
    """Chance, the same for the same attempt in whichever order things happen."""
    draw = Random(f"{seed}/{task}/{attempt}")
    if draw.random() < 0.5:
        return None
    category = draw.choice(list(FailureCategory))
    return category, draw.choice([1, 2]) if category is FailureCategory.EXIT_CODE else None


def naive_ends(graph: TaskGraph, seed: int) -> dict[str, TaskPhase]:
    """What becomes of every task, found by asking for each what became of those before it."""
    ends: dict[str, tuple[TaskPhase, int | None]] = {}
    while len(ends) < len(graph.tasks):
        for task in graph.tasks:
            if task.name in ends:
                continue
            asked = []
            for up in task.definition.upstreams:
                exact = [up.task] if up.task in graph.numbers else []
                if up.each:
                    exact = [f"{up.task}[{task.index}]"]
                names = exact or [t.name for t in graph.tasks if t.definition.name == up.task]
                asked.append((up, names))
            if any(name not in ends for _, names in asked for name in names):
                continue
            ends[task.name] = naive_end(task.name, task.definition, asked, ends, seed)
    return {name: phase for name, (phase, _) in ends.items()}


def naive_end(
    name: str,
    definition: TaskDef,
    asked: list[tuple[Upstream, list[str]]],
    ends: dict[str, tuple[TaskPhase, int | None]],
    seed: int,
) -> tuple[TaskPhase, int | None]:
    for up, names in asked:
        phases, codes = [ends[n][0] for n in names], [ends[n][1] for n in names]
        good = up.when is UpstreamResult.ENDED
        if up.when is UpstreamResult.SUCCEEDED:
            good = all(phase is TaskPhase.SUCCEEDED for phase in phases)
        elif up.when is UpstreamResult.FAILED:
            good = TaskPhase.FAILED in phases
        if not good or (up.exit_codes and not set(codes) <= set(up.exit_codes)):
            return TaskPhase.SKIPPED, None
    left = dict(definition.retry.retries)
    attempt = 1
    while True:
        outcome = outcome_of(seed, name, attempt)
        if outcome is None:
            return TaskPhase.SUCCEEDED, 0
        category, code = outcome
        hopeless = (
            category is FailureCategory.EXIT_CODE
            and definition.retry.exit_codes
            and code not in definition.retry.exit_codes
        )
        if hopeless or left.get(category, 0) == 0:
            return TaskPhase.FAILED, code
        left[category] -= 1
        attempt += 1


@dataclass
class World:
    """Whoever runs a graph: it ends attempts in any order, tells twice, and checks every step."""

    run: GraphRun
    seed: int
    draw: Random
    now_ms: int = 0
    live: dict[str, int] = field(default_factory=dict)
    started: set[tuple[str, int]] = field(default_factory=set)
    log: list[GraphStep] = field(default_factory=list)

    def take(self, steps: list[GraphStep]) -> None:
        for step in steps:
            match step:
                case StartTask():
                    assert (step.task, step.attempt) not in self.started, "once for each attempt"
                    assert step.task not in self.live
                    self.started.add((step.task, step.attempt))
                    self.live[step.task] = step.attempt
                    task = self.run.graph.task(step.task)
                    for each in task.awaited:
                        group = self.run.graph.groups[each.group]
                        for at in group if each.task is None else (each.task,):
                            assert self.run.standings[at].phase.is_over, "never before its upstream"
                case RetryTask():
                    assert self.now_ms <= step.at_ms <= self.now_ms + 4_000
                case StopTask():
                    assert self.live[step.task] == step.attempt
                case EndGraph():
                    assert not self.live
        self.log += steps
        assert len(self.live) <= self.run.graph.running_max
        held = {
            task.name
            for task, found in zip(self.run.graph.tasks, self.run.standings, strict=True)
            if found.phase is TaskPhase.SUBMITTED
        }
        assert held == self.live.keys(), "only what was started holds anything"

    def end_some(self) -> list[TaskResult]:
        told: list[TaskResult] = []
        names = sorted(self.live)
        for name in self.draw.sample(names, self.draw.randint(min(1, len(names)), len(names))):
            attempt = self.live.pop(name)
            outcome = outcome_of(self.seed, name, attempt)
            one: TaskResult = TaskSucceeded(name, attempt)
            if outcome is not None:
                one = TaskFailed(name, attempt, *outcome)
            told += [one] * self.draw.randint(1, 2)
        return told

    def go(self, *, most: int = 10_000) -> None:
        """Until the graph is over, or for so many rounds."""
        self.take(next_steps(self.run, now_ms=self.now_ms))
        for _ in range(most):
            if self.run.phase.is_over:
                return
            results = self.end_some()
            if not results:
                assert self.run.next_due_ms is not None, "something is always to come"
                self.now_ms = max(self.now_ms, self.run.next_due_ms)
            self.take(next_steps(self.run, now_ms=self.now_ms, results=results))
        assert most < 10_000, "it comes to an end"


seeds = st.integers(0, 2**32)


@settings(max_examples=150, deadline=None)
@given(graphs(), seeds, seeds)
def test_every_task_ends_as_the_naive_run_says_in_whatever_order(
    graph: TaskGraph, seed: int, order: int
) -> None:
    world = World(GraphRun(graph, graph_id=1, seed=seed), seed, Random(order))
    world.go()
    expected = naive_ends(graph, seed)
    found = {task.name: world.run.standing(task.name).phase for task in graph.tasks}
    assert found == expected
    bad = any(
        found[task.name] is TaskPhase.FAILED and not task.definition.may_fail
        for task in graph.tasks
    )
    ends = [step for step in world.log if isinstance(step, EndGraph)]
    assert ends == [EndGraph(GraphPhase.FAILED if bad else GraphPhase.SUCCEEDED)]
    assert next_steps(world.run, now_ms=world.now_ms) == []


@settings(max_examples=75, deadline=None)
@given(graphs(), seeds, seeds)
def test_the_same_history_gives_the_same_steps(graph: TaskGraph, seed: int, order: int) -> None:
    worlds = [World(GraphRun(graph, graph_id=1, seed=seed), seed, Random(order)) for _ in "ab"]
    for world in worlds:
        world.go()
    assert worlds[0].log == worlds[1].log


@settings(max_examples=100, deadline=None)
@given(graphs(), seeds, st.integers(0, 8))
def test_a_run_that_is_resumed_anywhere_goes_on_as_if_nothing_had_been(
    graph: TaskGraph, seed: int, rounds: int
) -> None:
    world = World(GraphRun(graph, graph_id=1, seed=seed), seed, Random(seed))
    world.go(most=rounds)
    again = GraphRun(graph, graph_id=1, seed=seed)
    again.resume(world.run.standings, world.run.phase)
    told = [step for step in world.log if isinstance(step, StartTask)]
    now = [step for step in told if world.live.get(step.task) == step.attempt]
    assert sorted(again.under_way(), key=repr) == sorted(now, key=repr), "the same steps again"
    world.run = again
    world.go()
    found = {task.name: again.standing(task.name).phase for task in graph.tasks}
    assert found == naive_ends(graph, seed)


@settings(max_examples=75, deadline=None)
@given(graphs(), seeds, st.integers(0, 8))
def test_a_cancelled_graph_starts_nothing_more_and_ends(
    graph: TaskGraph, seed: int, rounds: int
) -> None:
    world = World(GraphRun(graph, graph_id=1, seed=seed), seed, Random(seed))
    world.go(most=rounds)
    if world.run.phase.is_over:
        return
    before = len(world.started)
    world.take(next_steps(world.run, now_ms=world.now_ms, results=[CancelAsked()]))
    world.go()
    assert world.run.phase is GraphPhase.CANCELLED
    assert len(world.started) == before
    assert all(found.phase.is_over for found in world.run.standings)


@settings(max_examples=75, deadline=None)
@given(graphs(), seeds)
def test_what_was_done_is_not_done_again(graph: TaskGraph, seed: int) -> None:
    first = World(GraphRun(graph, graph_id=1, seed=seed), seed, Random(seed))
    first.go()
    good = [each for each in first.run.standings if each.phase is TaskPhase.SUCCEEDED]
    done = {each.digest: each.outputs for each in good if each.digest is not None}
    run = GraphRun(graph, graph_id=2, seed=seed, done=done)
    again = World(run, seed, Random(seed))
    again.go()
    for task in graph.tasks:
        was, now = first.run.standing(task.name).phase, run.standing(task.name).phase
        assert now is (TaskPhase.REUSED if was is TaskPhase.SUCCEEDED else was)


@settings(max_examples=75, deadline=None)
@given(graphs(), seeds)
def test_a_rerun_tries_what_failed_and_leaves_what_is_done(graph: TaskGraph, seed: int) -> None:
    world = World(GraphRun(graph, graph_id=1, seed=seed), seed, Random(seed))
    world.go()
    was = [found.phase for found in world.run.standings]
    attempts = [found.attempt for found in world.run.standings]
    world.take(next_steps(world.run, now_ms=world.now_ms, results=[RerunAsked()]))
    world.go()
    for task, phase, attempt in zip(graph.tasks, was, attempts, strict=True):
        found = world.run.standing(task.name)
        if phase is TaskPhase.SUCCEEDED:
            assert (found.phase, found.attempt) == (phase, attempt)
        elif phase is TaskPhase.FAILED and found.phase is not TaskPhase.SKIPPED:
            assert found.attempt > attempt
