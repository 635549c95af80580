"""Bookkeeping of a graph of tasks: how many a second, told one by one.

CPU time of one thread. Two maps, the second after the first element by element, with a task before
and one after: every start is answered by one result, told alone, as from jobs that end one by one.
Building the graph is not counted, making the run is. The reference is the sorter of the standard
library over the same tasks and edges: it keeps the order, and knows no attempt, condition, digest,
limit or priority.
"""

from __future__ import annotations

from collections import deque
from graphlib import TopologicalSorter
from time import thread_time

from bailiwick.batch import (
    GraphRun,
    StartTask,
    TaskDef,
    TaskGraph,
    TaskSucceeded,
    Upstream,
    next_steps,
)
from bailiwick.vocab.errors import InvariantBroken
from bailiwick.vocab.graphs import GraphPhase
from bench.measure import no_collection, say
from bench.report import Section, Table

BAR = 20_000
ELEMENTS, ELEMENTS_QUICK = 9_000, 1_000
ROUNDS = 5


def graph_of(elements: int) -> TaskGraph:
    """One task, two maps, one task."""
    items = tuple(map(str, range(elements)))
    return TaskGraph(
        [
            TaskDef("prep", ("prep",)),
            TaskDef("work", ("work", "{item}"), over=items, after=("prep",)),
            TaskDef("check", ("check", "{item}"), over=items, after=(Upstream("work", each=True),)),
            TaskDef("report", ("report",), after=("check",)),
        ]
    )


def drive(graph: TaskGraph) -> int:
    """Run it to its end; how many tasks were started."""
    run = GraphRun(graph, graph_id=1)
    live, count = deque(next_steps(run, now_ms=0)), 0
    while live:  # bounded: each task is started once
        step = live.popleft()
        if isinstance(step, StartTask):
            count += 1
            result = TaskSucceeded(step.task, step.attempt)
            live.extend(next_steps(run, now_ms=count, results=(result,)))
    if run.phase is not GraphPhase.SUCCEEDED or count != len(graph.tasks):
        raise InvariantBroken(f"{count} tasks were started, and the graph {run.phase}")
    return count


def sort(graph: TaskGraph) -> int:
    """The order alone, by the standard library."""
    sorter: TopologicalSorter[int] = TopologicalSorter()
    for task in graph.tasks:
        before = (
            graph.groups[each.group][0] if each.task is None else each.task for each in task.awaited
        )
        sorter.add(task.number, *before)
    sorter.prepare()
    count, ready = 0, deque(sorter.get_ready())
    while ready:  # bounded: each task is met once
        sorter.done(ready.popleft())
        count += 1
        ready.extend(sorter.get_ready())
    return count


def run(*, quick: bool = False) -> Section:
    """Both, several times, the quieter of them told."""
    graph = graph_of(ELEMENTS_QUICK if quick else ELEMENTS)
    say(f"graphs: {len(graph.tasks):,} tasks")
    rates: dict[str, float] = {}
    for name, way in (("run of the graph", drive), ("order alone (graphlib)", sort)):
        best = float("inf")
        for _ in range(ROUNDS):
            with no_collection():
                begin = thread_time()
                count = way(graph)
                best = min(best, thread_time() - begin)
        rates[name] = count / best
    rows = [[name, f"{rate:,.0f}"] for name, rate in rates.items()]
    section = Section("graphs", "Bookkeeping of task graphs")
    section.tables.append(Table("tasks a second", ["way", "a second"], rows))
    section.bar_at_least("tasks a second", rates["run of the graph"], BAR, unit="/s")
    section.data = {name: round(rate) for name, rate in rates.items()}
    return section
