"""A graph of tasks: maps are spread out, names are found, and what could never run is refused.

Rules:

- All that is wrong is told at once: names used twice, names that nobody has, circles (whole), maps
  that do not match, and more than is allowed.
- A task after a map is after all of its elements; ``train[3]`` is one of them. The number of edges
  grows with what is written, not with the product of two maps.
- The order of tasks is the order in which they were written, elements by number.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from graphlib import CycleError, TopologicalSorter
from hashlib import sha256
from typing import Final

from bailiwick.batch.problems import GraphProblem, GraphRefused, nearest_name
from bailiwick.batch.task import TaskDef, Upstream, split_name
from bailiwick.vocab.values import check_integer, check_name

DEFS_MAX: Final = 2_000
TASKS_MAX: Final = 20_000
"""Tasks of a graph, with every element of its maps."""
RUNNING_MAX: Final = 10_000


@dataclass(frozen=True, slots=True)
class Awaited:
    """What one task waits for: a group (all elements of a definition) or one task of it."""

    upstream: Upstream
    group: int
    task: int | None
    """None for the whole group."""

    @property
    def place(self) -> int:
        """A number for what is awaited: a task's own, or one below zero for a whole group."""
        return -1 - self.group if self.task is None else self.task


@dataclass(frozen=True, slots=True)
class Task:
    """One task that is run as one job for each attempt: a definition, or an element of its map."""

    name: str
    number: int
    group: int
    definition: TaskDef
    item: str | None
    index: int | None
    awaited: tuple[Awaited, ...]
    shared_digest: str = field(repr=False)

    def fill(self, text: str) -> str:
        """A text of the definition, with the element's own item and number in it."""
        if self.item is None:
            return text
        return text.replace("{index}", str(self.index)).replace("{item}", self.item)

    @property
    def command(self) -> tuple[str, ...]:
        """What it runs."""
        return tuple(map(self.fill, self.definition.command))

    @property
    def env(self) -> dict[str, str]:
        """What its environment is asked to have."""
        return {name: self.fill(value) for name, value in self.definition.env.items()}

    @property
    def checkpoint(self) -> str | None:
        """The folder that its attempts share."""
        path = self.definition.checkpoint
        return None if path is None else self.fill(path)

    def input_of(self, ref: str) -> tuple[str, str] | None:
        """The task and the output that an input names; nothing if it is content itself."""
        task, slash, output = ref.partition("/")
        return (self.fill(task), output) if slash else None


@dataclass(frozen=True, slots=True)
class TaskGraph:
    """Tasks in an order that can be kept. What is wrong with it is refused when it is made."""

    definitions: Sequence[TaskDef]
    name: str | None = field(default=None, kw_only=True)
    running_max: int = field(default=256, kw_only=True)
    """How many of its tasks may be submitted at a time."""
    tasks: tuple[Task, ...] = field(init=False, repr=False, compare=False)
    numbers: Mapping[str, int] = field(init=False, repr=False, compare=False)
    """Every task's number by its name."""
    groups: tuple[range, ...] = field(init=False, repr=False, compare=False)
    """The tasks of each definition."""

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "definitions", tuple(self.definitions))
        if self.name is not None:
            check_name("name", self.name)
        check_integer("running_max", self.running_max, low=1, high=RUNNING_MAX)
        problems = [*_check_names(self.definitions)]
        known = {each.name: each for each in self.definitions}
        for each in self.definitions:
            problems += _check_upstreams(each, known)
        if not problems:
            problems += _check_circles(self.definitions)
        if problems:
            raise GraphRefused(problems)
        tasks, groups = _spread(self.definitions)
        put(self, "tasks", tasks)
        put(self, "groups", groups)
        put(self, "numbers", {task.name: task.number for task in tasks})

    def task(self, name: str) -> Task:
        """The task of that name, which must be there."""
        return self.tasks[self.numbers[name]]

    def critical_path(self, lengths_ms: Mapping[str, int]) -> tuple[int, tuple[str, ...]]:
        """The longest way through the graph with these lengths: what no room makes shorter."""
        ends, before = self._ends(lengths_ms)
        if not ends:
            return 0, ()
        at: int | None = max(range(len(ends)), key=ends.__getitem__)
        total, path = ends[at or 0], list[str]()
        while at is not None:  # bounded: each is before the last one
            path.append(self.tasks[at].name)
            at = before[at]
        return total, tuple(reversed(path))

    def latest_starts(self, lengths_ms: Mapping[str, int]) -> list[int]:
        """When each task could start, by its number, if there is room and lengths are these."""
        ends, _ = self._ends(lengths_ms)
        return [ends[task.number] - lengths_ms.get(task.name, 0) for task in self.tasks]

    def _ends(self, lengths_ms: Mapping[str, int]) -> tuple[list[int], list[int | None]]:
        """When each task ends, and the one that it waited for longest."""
        by_group: dict[int, int] = {}  # the task of each group that ends last
        ends = [0] * len(self.tasks)
        before: list[int | None] = [None] * len(self.tasks)
        for group in _order(self.definitions):
            for number in self.groups[group]:
                task = self.tasks[number]
                last = (_last(each, by_group) for each in task.awaited)
                found = max(
                    (at for at in last if at is not None), key=ends.__getitem__, default=None
                )
                before[number] = found
                ends[number] = lengths_ms.get(task.name, 0) + (0 if found is None else ends[found])
            if self.groups[group]:
                by_group[group] = max(self.groups[group], key=ends.__getitem__)
        return ends, before


def digest_of(task: Task, results: Sequence[str]) -> str:
    """What tells this work from other work: all that is written of it, and what it works on."""
    # With its name: what it does to the world may be known by that, whatever it runs.
    own = task.name, task.item, task.command, sorted(task.env.items())
    told = [own, task.shared_digest, *results]
    return sha256(json.dumps(told).encode()).hexdigest()


def _shared_digest(definition: TaskDef) -> str:
    """What all elements of a definition have in common, once for all of them."""
    needs = asdict(definition.needs) | {"labels": sorted(definition.needs.labels.items())}
    inputs = sorted(definition.inputs.items())
    told = [definition.cwd, needs, definition.outputs, inputs]
    return sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


# -- checking --------------------------------------------------------------------------------


def _check_names(definitions: Sequence[TaskDef]) -> Iterable[GraphProblem]:
    if not 1 <= len(definitions) <= DEFS_MAX:
        yield GraphProblem(("tasks",), f"{len(definitions)} tasks are written, 1 to {DEFS_MAX} may")
    seen = set[str]()
    for each in definitions:
        if each.name in seen:
            yield GraphProblem(("tasks", each.name), f"the name {each.name!r} is used twice")
        seen.add(each.name)
    total = sum(1 if each.over is None else len(each.over) for each in definitions)
    if total > TASKS_MAX:
        text = f"{total} tasks with every element of its maps, at most {TASKS_MAX} may be"
        yield GraphProblem(("tasks",), text)


def _check_upstreams(each: TaskDef, known: Mapping[str, TaskDef]) -> Iterable[GraphProblem]:
    named = set[str]()
    for at, upstream in enumerate(each.upstreams):
        written = at < len(each.after)
        place = ("tasks", each.name, "after", at) if written else ("tasks", each.name, "inputs")
        name, index = split_name(upstream.task) or (upstream.task, None)
        found = known.get(name)
        if upstream.task in named:
            yield GraphProblem(place, f"{upstream.task!r} is named twice")
        named.add(upstream.task)
        if found is None:
            yield GraphProblem(place, f"no task {name!r}", nearest_name(name, known))
        elif index is not None and index >= len(found.over or ()):
            has = "is no map" if found.over is None else f"has {len(found.over)} elements"
            yield GraphProblem(place, f"no task {upstream.task!r}: {name!r} {has}")
        elif upstream.each and (index is not None or not _are_alike(each, found)):
            text = f"'each' asks for two maps of one length, {each.name!r} and {name!r} are not"
            yield GraphProblem(place, text)
    for name, ref in each.inputs.items():
        yield from _check_input(each, known, name=name, ref=ref)


def check_named(definitions: Iterable[TaskDef], names: Sequence[str]) -> Iterable[GraphProblem]:
    """Tasks that are named and nowhere written, where some cannot be read and so not checked."""
    for each in definitions:
        for at, upstream in enumerate(each.after):
            found = upstream if isinstance(upstream, str) else upstream.task
            name, _ = split_name(found) or (found, None)
            if name not in names:
                place = ("tasks", each.name, "after", at)
                yield GraphProblem(place, f"no task {name!r}", nearest_name(name, names))


def _are_alike(one: TaskDef, other: TaskDef) -> bool:
    return one.over is not None and other.over is not None and len(one.over) == len(other.over)


def _check_input(
    each: TaskDef, known: Mapping[str, TaskDef], *, name: str, ref: str
) -> Iterable[GraphProblem]:
    task, slash, output = ref.partition("/")
    base, index = split_name(task) or (task, None)
    if not slash or base not in known:
        return  # content itself, or told already
    found, place = known[base], ("tasks", each.name, "inputs", name)
    if output not in found.outputs:
        near = nearest_name(output, found.outputs)
        yield GraphProblem(place, f"task {base!r} makes no {output!r}", near)
    pairs = any(up.each and up.task == base for up in each.upstreams)
    if found.over is not None and index is None and not pairs:
        yield GraphProblem(place, f"{base!r} is a map: name an element, or stand after 'each'")


def _check_circles(definitions: Sequence[TaskDef]) -> Iterable[GraphProblem]:
    try:
        _order(definitions)
    except CycleError as error:
        circle = [definitions[at].name for at in error.args[1]]
        text = "each waits for the one before it, in a circle: " + " -> ".join(circle)
        yield GraphProblem(("tasks", circle[0]), text)


def _order(definitions: Sequence[TaskDef]) -> list[int]:
    """Groups, each after those it waits for."""
    at = {each.name: number for number, each in enumerate(definitions)}
    sorter: TopologicalSorter[int] = TopologicalSorter()
    for number, each in enumerate(definitions):
        sorter.add(number, *(at[(split_name(up.task) or ("", None))[0]] for up in each.upstreams))
    return list(sorter.static_order())


# -- spreading -------------------------------------------------------------------------------


def _spread(definitions: Sequence[TaskDef]) -> tuple[tuple[Task, ...], tuple[range, ...]]:
    sizes = [1 if each.over is None else len(each.over) for each in definitions]
    starts = [0]
    for size in sizes:
        starts.append(starts[-1] + size)
    groups = tuple(range(starts[at], starts[at + 1]) for at in range(len(sizes)))
    at = {each.name: number for number, each in enumerate(definitions)}
    tasks = list[Task]()
    for group, each in enumerate(definitions):
        shared, digest, upstreams = None, _shared_digest(each), each.upstreams
        is_paired = any(up.each for up in upstreams)
        for index, item in enumerate((None,) if each.over is None else each.over):
            if shared is None or is_paired:
                shared = tuple(_await(up, at, groups, index=index) for up in upstreams)
            name = each.name if item is None else f"{each.name}[{index}]"
            number = None if item is None else index
            tasks.append(Task(name, len(tasks), group, each, item, number, shared, digest))
    return tuple(tasks), groups


def _await(
    upstream: Upstream, at: Mapping[str, int], groups: Sequence[range], *, index: int
) -> Awaited:
    name, element = split_name(upstream.task) or ("", None)
    group = at[name]
    found = index if upstream.each else element
    return Awaited(upstream, group, None if found is None else groups[group][found])


def _last(awaited: Awaited, by_group: Mapping[int, int]) -> int | None:
    return by_group.get(awaited.group) if awaited.task is None else awaited.task
