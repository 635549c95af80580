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

from collections.abc import Mapping
from typing import Any, Final

from bailiwick.batch.graph import TaskGraph, check_named
from bailiwick.batch.problems import GraphProblem, GraphRefused, Place
from bailiwick.batch.task import MAP_MAX, ResourceReq, RetryPolicy, TaskDef, Upstream
from bailiwick.documents import MarkedDocument
from bailiwick.documents.words import (
    Fields,
    Reader,
    as_list,
    as_text,
    command,
    flag,
    gpus,
    number,
    one,
    pairs,
    plain,
    read_words,
    texts,
    word_of,
)
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.graphs import FailureCategory, UpstreamResult
from bailiwick.vocab.units import parse_bytes, parse_cores, parse_span
from bailiwick.vocab.words import Exclusivity, HardwareGeneration, LeaseClass, Priority

FILE_BYTES_MAX: Final = 1 << 20


def load_graph(text: str) -> TaskGraph:
    """The graph that a file says; refused with every mistake and its line."""
    size = len(text.encode())
    if size > FILE_BYTES_MAX:
        raise InvalidValue("graph file", f"{size} bytes", f"at most {FILE_BYTES_MAX}")
    found = MarkedDocument(text, refused=GraphRefused)
    problems = list[GraphProblem]()
    graph: TaskGraph | None = None
    top = found.plain
    if not isinstance(top, dict):
        problems.append(GraphProblem((), "expected words with values, such as tasks:"))
    else:
        tops = read_words((), top, words=_GRAPH, problems=problems)
        tasks = _read_tasks(top.get("tasks"), problems)
        if not problems:
            try:
                graph = TaskGraph(tasks, **tops)
            except GraphRefused as error:
                problems += error.problems
            except InvalidValue as error:
                problems.append(GraphProblem((error.field,), str(error)))
        elif isinstance(top.get("tasks"), dict):
            problems += check_named(tasks, [*top["tasks"]])
    if graph is None or problems:
        raise GraphRefused(map(found.place, problems))
    return graph


# -- words -----------------------------------------------------------------------------------


def _map(word: str, value: object) -> Fields:
    """A list, or a number: as many elements, each with its own number."""
    if type(value) is int:
        if not 0 <= value <= MAP_MAX:
            raise InvalidValue(word, value, f"0 to {MAP_MAX} elements")
        return {"over": tuple(map(str, range(value)))}
    if not isinstance(value, list):
        raise InvalidValue(word, value, "a list, or how many elements")
    return {"over": tuple(as_text(word, each) for each in value)}


def _codes(word: str, value: object) -> Fields:
    found = as_list(word, value)
    if not all(type(each) is int for each in found):
        raise InvalidValue(word, value, "numbers from 0 to 255")
    return {"exit_codes": tuple(found)}


_GRAPH: Final[Mapping[str, Reader | None]] = {
    "name": plain("name"),
    "running_max": number("running_max"),
    "tasks": None,
}
_NEEDS: Final[Mapping[str, Reader]] = {
    "cpus": one("cpu_milli", parse_cores),
    "mem": one("mem_bytes", parse_bytes),
    "block": one("block_bytes", parse_bytes),
    "gpus": gpus,
    "vram": one("gpu_vram", parse_bytes),
    "generation": word_of("generation", HardwareGeneration),
    "exclusivity": word_of("exclusivity", Exclusivity),
    "labels": pairs("labels"),
    "class": word_of("lease_class", LeaseClass),
    "ttl": one("ttl_ms", parse_span),
}
_TASK: Final[Mapping[str, Reader | None]] = {
    "command": command,
    "after": None,
    "map": _map,
    "env": pairs("env"),
    "cwd": plain("cwd"),
    "priority": word_of("priority", Priority),
    "tag": plain("tag"),
    "deadline": one("deadline_ms", parse_span),
    "retry": None,
    "inputs": pairs("inputs"),
    "outputs": texts("outputs"),
    "checkpoint": plain("checkpoint"),
    "may_fail": flag("may_fail"),
}
_RETRY: Final[Mapping[str, Reader]] = {
    **{each.value: number(each.value) for each in FailureCategory},
    "exit_codes": _codes,
    "pause": one("pause_ms", parse_span),
    "pause_max": one("pause_ms_max", parse_span),
    "jitter": one("jitter_milli", parse_cores),
}
_AFTER: Final[Mapping[str, Reader]] = {
    "task": plain("task"),
    "when": word_of("when", UpstreamResult),
    "exit_codes": _codes,
    "each": flag("each"),
}


# -- reading ---------------------------------------------------------------------------------


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
    fields = read_words(place, found, words={**_TASK, **dict.fromkeys(_NEEDS)}, problems=problems)
    asked = {word: value for word, value in found.items() if word in _NEEDS}
    needs = read_words(place, asked, words=_NEEDS, problems=problems)
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
    for at, each in enumerate(as_list("after", found)):
        here, before = (*place, at), len(problems)
        fields: Fields = {"task": each}
        if isinstance(each, dict):
            fields = read_words(here, each, words=_AFTER, problems=problems)
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
    fields = read_words(place, found, words=_RETRY, problems=problems)
    named = {each: fields.pop(each.value) for each in FailureCategory if each.value in fields}
    try:
        return RetryPolicy(retries={**RetryPolicy().retries, **named}, **fields)
    except InvalidValue as error:
        problems.append(GraphProblem(place, str(error)))
        return RetryPolicy()
