"""A graph's file: YAML with the words of job files; what is wrong is told with its line.

Rules:

- Every mistake is told with its line and column; a word that is not known, with the nearest one.
- A file is small, is one document, names nothing twice and refers to nothing by alias: what is
  small to read stays small in memory.
- Amounts have units, as in job files: ``mem: 4GiB``, ``ttl: 30m``.

>>> graph = load_graph("tasks: {a: {command: [echo, hi]}, b: {command: [ls], after: [a]}}")
>>> [task.name for task in graph.tasks]
['a', 'b']
>>> load_graph("tasks: {a: {command: [ls], aftr: [b]}}")
Traceback (most recent call last):
...
bailiwick.batch.problems.GraphRefused: line 1, column 28: no word 'aftr'; did you mean after?
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NoReturn

from bailiwick.batch.graph import TaskGraph, check_named
from bailiwick.batch.problems import GraphProblem, GraphRefused, Place, nearest_name
from bailiwick.batch.task import MAP_MAX, ResourceReq, RetryPolicy, TaskDef, Upstream
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.graphs import FailureCategory, UpstreamResult
from bailiwick.vocab.units import parse_bytes, parse_cores, parse_gpus, parse_span
from bailiwick.vocab.words import Exclusivity, HardwareGeneration, LeaseClass, Priority

if TYPE_CHECKING:
    from ruamel.yaml.nodes import Node

FILE_BYTES_MAX: Final = 1 << 20
DEPTH_MAX: Final = 8

Fields = dict[str, Any]
Reader = Callable[[str, object], Fields]


def load_graph(text: str) -> TaskGraph:
    """The graph that a file says; refused with every mistake and its line."""
    size = len(text.encode())
    if size > FILE_BYTES_MAX:
        raise InvalidValue("graph file", f"{size} bytes", f"at most {FILE_BYTES_MAX}")
    found = _Document(text)
    problems = list[GraphProblem]()
    graph: TaskGraph | None = None
    plain = found.plain
    if not isinstance(plain, dict):
        problems.append(GraphProblem((), "expected words with values, such as tasks:"))
    else:
        tops = _read((), plain, _GRAPH, problems=problems)
        tasks = _read_tasks(plain.get("tasks"), problems)
        if not problems:
            try:
                graph = TaskGraph(tasks, **tops)
            except GraphRefused as error:
                problems += error.problems
            except InvalidValue as error:
                problems.append(GraphProblem((error.field,), str(error)))
        elif isinstance(plain.get("tasks"), dict):
            problems += check_named(tasks, [*plain["tasks"]])
    if graph is None or problems:
        raise GraphRefused(map(found.place, problems))
    return graph


# -- words -----------------------------------------------------------------------------------


def _text(word: str, value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InvalidValue(word, value, "one value")
    return repr(value) if isinstance(value, float) else str(value)


def _one(field: str, parse: Callable[[str, str], object]) -> Reader:
    return lambda word, value: {field: parse(word, _text(word, value))}


def _plain(field: str) -> Reader:
    return _one(field, lambda word, text: text)


def _word(field: str, kind: type[Any]) -> Reader:
    def read(word: str, value: object) -> Fields:
        text, words = _text(word, value), [each.value for each in kind]
        if text not in words:
            near = nearest_name(text, words)
            hint = f" (did you mean {near}?)" if near else ""
            raise InvalidValue(word, text, "one of " + ", ".join(words) + hint)
        return {field: kind(text)}

    return read


def _flag(field: str) -> Reader:
    def read(word: str, value: object) -> Fields:
        if not isinstance(value, bool):
            raise InvalidValue(word, value, "true or false")
        return {field: value}

    return read


def _number(field: str) -> Reader:
    def read(word: str, value: object) -> Fields:
        if type(value) is not int:
            raise InvalidValue(word, value, "a whole number")
        return {field: value}

    return read


def _list(word: str, value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _texts(field: str) -> Reader:
    return lambda word, value: {field: tuple(_text(word, each) for each in _list(word, value))}


def _pairs(field: str) -> Reader:
    def read(word: str, value: object) -> Fields:
        if not isinstance(value, Mapping):
            raise InvalidValue(word, "(not shown)", "names with values")
        return {field: {_text(word, name): _text(word, each) for name, each in value.items()}}

    return read


def _gpus(word: str, value: object) -> Fields:
    count, milli = parse_gpus(word, _text(word, value).removesuffix(".0"))
    return {"gpu_count": count, "gpu_milli": milli}


def _command(word: str, value: object) -> Fields:
    if isinstance(value, str):
        try:
            value = shlex.split(value)
        except ValueError as error:
            raise InvalidValue(word, value, f"words that a shell could split ({error})") from None
    if not isinstance(value, list):
        raise InvalidValue(word, value, "a program and its arguments")
    return {"command": tuple(_text(word, each) for each in value)}


def _map(word: str, value: object) -> Fields:
    """A list, or a number: as many elements, each with its own number."""
    if type(value) is int:
        if not 0 <= value <= MAP_MAX:
            raise InvalidValue(word, value, f"0 to {MAP_MAX} elements")
        return {"over": tuple(map(str, range(value)))}
    if not isinstance(value, list):
        raise InvalidValue(word, value, "a list, or how many elements")
    return {"over": tuple(_text(word, each) for each in value)}


def _codes(word: str, value: object) -> Fields:
    found = _list(word, value)
    if not all(type(each) is int for each in found):
        raise InvalidValue(word, value, "numbers from 0 to 255")
    return {"exit_codes": tuple(found)}


_GRAPH: Final[Mapping[str, Reader | None]] = {
    "name": _plain("name"),
    "running_max": _number("running_max"),
    "tasks": None,
}
_NEEDS: Final[Mapping[str, Reader]] = {
    "cpus": _one("cpu_milli", parse_cores),
    "mem": _one("mem_bytes", parse_bytes),
    "block": _one("block_bytes", parse_bytes),
    "gpus": _gpus,
    "vram": _one("gpu_vram", parse_bytes),
    "generation": _word("generation", HardwareGeneration),
    "exclusivity": _word("exclusivity", Exclusivity),
    "labels": _pairs("labels"),
    "class": _word("lease_class", LeaseClass),
    "ttl": _one("ttl_ms", parse_span),
}
_TASK: Final[Mapping[str, Reader | None]] = {
    "command": _command,
    "after": None,
    "map": _map,
    "env": _pairs("env"),
    "cwd": _plain("cwd"),
    "priority": _word("priority", Priority),
    "tag": _plain("tag"),
    "deadline": _one("deadline_ms", parse_span),
    "retry": None,
    "inputs": _pairs("inputs"),
    "outputs": _texts("outputs"),
    "checkpoint": _plain("checkpoint"),
    "may_fail": _flag("may_fail"),
}
_RETRY: Final[Mapping[str, Reader]] = {
    **{each.value: _number(each.value) for each in FailureCategory},
    "exit_codes": _codes,
    "pause": _one("pause_ms", parse_span),
    "pause_max": _one("pause_ms_max", parse_span),
    "jitter": _one("jitter_milli", parse_cores),
}
_AFTER: Final[Mapping[str, Reader]] = {
    "task": _plain("task"),
    "when": _word("when", UpstreamResult),
    "exit_codes": _codes,
    "each": _flag("each"),
}


# -- reading ---------------------------------------------------------------------------------


def _read(
    place: Place,
    found: Mapping[Any, Any],
    words: Mapping[str, Reader | None],
    *,
    problems: list[GraphProblem],
) -> Fields:
    """The fields of these words; those whose reader is none are read by others."""
    fields: Fields = {}
    for word, value in found.items():
        here = (*place, word)
        if word not in words:
            problems.append(GraphProblem(here, f"no word {word!r}", nearest_name(word, words)))
            continue
        reader = words[word]
        if reader is None:
            continue
        try:
            fields |= reader(word, value)
        except InvalidValue as error:
            problems.append(GraphProblem(here, str(error)))
    return fields


def _read_tasks(found: object, problems: list[GraphProblem]) -> list[TaskDef]:
    if not isinstance(found, dict):
        problems.append(GraphProblem(("tasks",), "tasks: expected names, each with its words"))
        return []
    tasks = list[TaskDef]()
    for name, each in found.items():
        task = _read_task(name, each, problems)
        if task is not None:
            tasks.append(task)
    return tasks


def _read_task(name: Any, found: object, problems: list[GraphProblem]) -> TaskDef | None:
    place, before = ("tasks", name), len(problems)
    if not isinstance(found, dict):
        problems.append(GraphProblem(place, f"task {name!r}: expected words with values"))
        return None
    if "command" not in found:
        problems.append(GraphProblem(place, f"task {name!r} has no command"))
    fields = _read(place, found, {**_TASK, **dict.fromkeys(_NEEDS)}, problems=problems)
    asked = {word: value for word, value in found.items() if word in _NEEDS}
    needs = _read(place, asked, _NEEDS, problems=problems)
    after = _read_after((*place, "after"), found.get("after", []), problems)
    retry = _read_retry((*place, "retry"), found.get("retry", {}), problems)
    if len(problems) > before:
        return None
    try:
        made = ResourceReq(**needs)
        return TaskDef(str(name), needs=made, after=after, retry=retry, **fields)
    except InvalidValue as error:
        word = error.field.partition(".")[0]
        here = (*place, word) if word in found else place
        problems.append(GraphProblem(here, str(error)))
        return None


def _read_after(place: Place, found: object, problems: list[GraphProblem]) -> list[Upstream]:
    after = list[Upstream]()
    for at, each in enumerate(_list("after", found)):
        here, before = (*place, at), len(problems)
        fields: Fields = {"task": each}
        if isinstance(each, dict):
            fields = _read(here, each, _AFTER, problems=problems)
            if "task" not in each:
                problems.append(GraphProblem(here, "after: no task is named"))
        if len(problems) > before:
            continue
        try:
            after.append(Upstream(**fields))
        except InvalidValue as error:
            problems.append(GraphProblem(here, str(error)))
    return after


def _read_retry(place: Place, found: object, problems: list[GraphProblem]) -> RetryPolicy:
    if not isinstance(found, dict):
        problems.append(GraphProblem(place, "retry: expected words with values, as exit_code: 2"))
        return RetryPolicy()
    fields = _read(place, found, _RETRY, problems=problems)
    named = {each: fields.pop(each.value) for each in FailureCategory if each.value in fields}
    try:
        return RetryPolicy(retries={**RetryPolicy().retries, **named}, **fields)
    except InvalidValue as error:
        problems.append(GraphProblem(place, str(error)))
        return RetryPolicy()


class _Document:
    """A text as plain values, and where each stands."""

    def __init__(self, text: str) -> None:
        from ruamel.yaml import YAML
        from ruamel.yaml.error import MarkedYAMLError, YAMLError

        self._places: dict[Place, tuple[int, int]] = {}
        self._met: set[Node] = set()
        reader = YAML(typ="safe", pure=True)
        try:
            node = reader.compose(text)
            self.plain = None if node is None else self._value(node, (), reader)
        except GraphRefused:
            raise
        except MarkedYAMLError as error:
            mark = error.problem_mark
            line, column = (1, 1) if mark is None else (mark.line + 1, mark.column + 1)
            what = (error.problem or "not YAML").splitlines()[0]
            raise GraphRefused([GraphProblem((), what, line=line, column=column)]) from None
        except (YAMLError, ValueError, RecursionError) as error:
            what = str(error).splitlines()[0] if str(error) else "not YAML"
            raise GraphRefused([GraphProblem((), what, line=1, column=1)]) from None

    def _value(self, node: Node, place: Place, reader: Any) -> Any:
        """The value of a node; each node is met once, so that no alias makes much of little."""
        from ruamel.yaml.nodes import MappingNode, SequenceNode

        start = node.start_mark.line + 1, node.start_mark.column + 1
        self._places.setdefault(place, start)
        if len(place) > DEPTH_MAX:
            self._refuse("too deep", start)
        if node in self._met:
            self._refuse("an alias; write it out", start)
        self._met.add(node)
        if isinstance(node, SequenceNode):
            return [self._value(n, (*place, at), reader) for at, n in enumerate(node.value)]
        if isinstance(node, MappingNode):
            found: dict[Any, Any] = {}
            for key, value in node.value:
                mark = key.start_mark.line + 1, key.start_mark.column + 1
                name = key.value
                if not isinstance(name, str):
                    self._refuse("expected a name", mark)
                if name in found:
                    self._refuse(f"{name!r} stands here twice", mark)
                self._places[(*place, name)] = mark
                found[name] = self._value(value, (*place, name), reader)
            return found
        return reader.constructor.construct_object(node)

    def _refuse(self, what: str, at: tuple[int, int]) -> NoReturn:
        raise GraphRefused([GraphProblem((), what, line=at[0], column=at[1])])

    def place(self, problem: GraphProblem) -> GraphProblem:
        """The problem with its line: that of the nearest thing around it that has one."""
        at = problem.place
        while at and at not in self._places:  # bounded by its length
            at = at[:-1]
        line, column = self._places.get(at, (1, 1))
        text, nearest = problem.text, problem.nearest
        return GraphProblem(problem.place, text, nearest, line=line, column=column)
