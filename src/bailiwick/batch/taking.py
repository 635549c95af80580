"""What a task takes from those before it: whether it may start, and with which content.

Rules:

- What is asked of a map is asked of all its elements; to have failed, of any of them.
- Of a task that reports outputs another takes only their content: made again to the same content,
  it changes nothing for whoever stands after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import assert_never

from bailiwick.batch.graph import Task, TaskGraph
from bailiwick.batch.task import Upstream
from bailiwick.batch.task_state import TaskState
from bailiwick.vocab.graphs import TaskPhase, UpstreamResult


def is_met(wanted: Upstream, found: Sequence[TaskState]) -> bool:
    """Whether these, which are over, are as was asked."""
    codes = wanted.exit_codes
    if codes and any(each.exit_code not in codes for each in found):
        return False
    match wanted.when:
        case UpstreamResult.SUCCEEDED:
            return all(each.phase.is_good for each in found)
        case UpstreamResult.FAILED:
            return any(each.phase is TaskPhase.FAILED for each in found)
        case UpstreamResult.ENDED:
            return True
        case _:
            assert_never(wanted.when)


def result_of(found: Sequence[TaskState]) -> str:
    """What a task has of others: their outputs if they tell any, else that very work."""
    told = sha256()
    for each in found:
        made = sorted(each.outputs.items()) if each.outputs else each.digest
        word = "good" if each.phase.is_good else each.phase.value
        told.update(f"{word} {made}\n".encode())
    return told.hexdigest()


def inputs_of(
    task: Task, graph: TaskGraph, *, standings: Sequence[TaskState]
) -> dict[str, str] | None:
    """The content of a task's inputs by name; nothing if one of them was not made."""
    found = dict[str, str]()
    for name, ref in task.definition.inputs.items():
        made = task.input_of(ref)
        if made is None:
            found[name] = ref
            continue
        maker, output = made
        number = graph.numbers.get(maker)
        if number is None:  # a map that it stands after element by element
            number = graph.numbers[f"{maker}[{task.index}]"]
        content = standings[number].outputs.get(output)
        if content is None:
            return None
        found[name] = content
    return found
