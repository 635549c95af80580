"""The job of one attempt of a task: what is asked for, what is run, what it is told; how it failed.

Rules:

- The same attempt makes the same job, however often it is asked: its key then makes it one.
- A program is told what it needs to go on and to make its effect once, in its environment:

  ======================  ===================================================================
  ``GRAPH_ID``            the graph's number
  ``TASK_NAME``           its own name, ``train[3]``
  ``TASK_KEY``            the same for every attempt: by this an effect is made once
  ``TASK_ATTEMPT``        1 for the first
  ``TASK_ITEM``, ``_INDEX``  of an element of a map
  ``TASK_CHECKPOINT``     where to save its work, and to go on from
  ``TASK_INPUT_NAME``     the content of the input of that name
  ======================  ===================================================================

- What happened to the machine, to the room or to the server is nobody's fault; what the program
  did is its own. What was refused stays refused, unless the task's policy says otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import assert_never

from bailiwick.batch import StartTask, Task, TaskGraph
from bailiwick.executors.port import JobSpec
from bailiwick.executors.registry import labels_for
from bailiwick.fleet.node import EXECUTOR_LABEL, NAME_LABEL
from bailiwick.kernel import Submit
from bailiwick.kernel.spelling import cores_of
from bailiwick.ports import JobRow, JobStore
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.services.jobs import JobDraft
from bailiwick.store.graph_rows import GraphRow, JobEnd, NewGraphRow, TaskRow
from bailiwick.vocab.errors import ErrorCode
from bailiwick.vocab.graphs import FailureCategory, TaskFault
from bailiwick.vocab.jobs import JobFault, JobPhase
from bailiwick.vocab.values import AccountingTag, ProjectId, TenantId

_WHERE = (EXECUTOR_LABEL, NAME_LABEL)
"""What a task says of its place, which counts only if the whole graph has none."""

_PASSING = frozenset(
    (ErrorCode.NOT_LEADER.value, ErrorCode.UNAVAILABLE.value, ErrorCode.DEPOSED.value)
)
"""Why a job was refused that nobody decided against: its server was replaced at that moment."""

_NOT_BEGUN = frozenset(
    (
        JobFault.PROGRAM_NOT_RUNNABLE.value,
        JobFault.DIRECTORY_NOT_USABLE.value,
        JobFault.LIMITS_NOT_POSSIBLE.value,
        JobFault.TOKEN_REFUSED.value,
        JobFault.NOT_KEPT_APART.value,
        JobFault.IMAGE_NOT_USABLE.value,
    )
)


def job_of(
    graph: NewGraphRow, task: Task, *, step: StartTask, graph_id: int, mem_bytes_per_core: int = 0
) -> JobDraft:
    """The job that this step asks for."""
    made, definition = _request(graph, task), task.definition
    return JobDraft(
        tenant=graph.tenant,
        project=graph.project,
        name=task.name,
        tag=definition.tag,
        request=Submit(made),
        command=task.command,
        env=task.env | _told(task, step, graph_id),
        cwd=definition.cwd,
        mem_bytes_per_core=mem_bytes_per_core,
    )


def first_jobs(graph: NewGraphRow, tasks: TaskGraph) -> list[JobDraft | None]:
    """What one task of each definition would be submitted as; nothing for an empty map."""
    found: list[JobDraft | None] = []
    for group in tasks.groups:
        if not group:
            found.append(None)
            continue
        task = tasks.tasks[group[0]]
        step = StartTask(task.name, 1, "-", "-", {}, task.checkpoint)
        found.append(job_of(graph, task, step=step, graph_id=1))
    return found


def check_jobs(graph: NewGraphRow, tasks: TaskGraph) -> None:
    """Refuse what could never be submitted, as far as that can be told beforehand."""
    for draft in first_jobs(graph, tasks):
        if draft is not None:
            JobSpec(1, argv=draft.command, token="-", env=draft.env)


def _request(graph: NewGraphRow, task: Task) -> PlacementRequest:
    definition, needs = task.definition, task.definition.needs
    labels = {k: v for k, v in needs.labels.items() if graph.executor is None or k not in _WHERE}
    labels = labels_for(graph.executor, labels)
    deadline = definition.deadline_ms
    return PlacementRequest(
        tenant=TenantId(graph.tenant),
        project=None if graph.project is None else ProjectId(graph.project),
        tag=None if definition.tag is None else AccountingTag(definition.tag),
        cpu_cores=cores_of(needs.cpu_milli),
        mem_bytes=needs.mem_bytes,
        block_bytes=needs.block_bytes,
        gpu_count=needs.gpu_count,
        gpu_milli=needs.gpu_milli,
        gpu_vram=needs.gpu_vram,
        generation=needs.generation,
        exclusivity=needs.exclusivity,
        labels=labels,
        priority=definition.priority,
        lease_class=needs.lease_class,
        ttl_ms=needs.ttl_ms,
        deadline_ms=None if deadline is None else graph.submitted_ms + deadline,
    )


def _told(task: Task, step: StartTask, graph_id: int) -> dict[str, str]:
    told = {
        "GRAPH_ID": str(graph_id),
        "TASK_NAME": task.name,
        "TASK_KEY": step.effect_key,
        "TASK_ATTEMPT": str(step.attempt),
    }
    if task.item is not None:
        told |= {"TASK_ITEM": task.item, "TASK_INDEX": str(task.index)}
    if step.checkpoint is not None:
        told["TASK_CHECKPOINT"] = step.checkpoint
    return told | {_input_name(name): content for name, content in step.inputs.items()}


def _input_name(name: str) -> str:
    return "TASK_INPUT_" + re.sub(r"[^A-Z0-9]", "_", name.upper())


ATTEMPTS_MAX = 1_000
"""Attempts that were followed by another, told of one graph: the last."""


@dataclass(frozen=True, slots=True)
class PastAttempt:
    """An attempt that was followed by another, as its job ended."""

    task: str
    attempt: int
    job: JobRow

    @property
    def category(self) -> FailureCategory:
        """Why there was another; a job that did its work did not tell what it made."""
        job = self.job
        end = JobEnd(job.job_id, job.phase, job.reason, job.exit_code, job.signal)
        return category_of(end) or FailureCategory.EXIT_CODE

    @property
    def reason(self) -> str | None:
        """The word for it, if there is one beside the category."""
        is_done = self.job.phase is JobPhase.SUCCEEDED
        return TaskFault.OUTPUT_MISSING.value if is_done else self.job.reason


def find_past_attempts(
    book: JobStore, graph: GraphRow, *, tasks: Iterable[TaskRow]
) -> list[PastAttempt]:
    """Those of these tasks, in the order in which they ended."""
    keys = {
        f"{graph.key_prefix}{task.name}/{number}": (task.name, number)
        for task in tasks
        for number in range(1, task.state.attempt)
    }
    rows = book.under_keys(graph.submitter, list(keys)) if keys else []
    found = [PastAttempt(*keys[job.key or ""], job) for job in rows]
    found.sort(key=lambda each: (each.job.ended_ms or 0, each.job.job_id))
    return found[-ATTEMPTS_MAX:]


def category_of(end: JobEnd) -> FailureCategory | None:
    """Why a job did not do its work; nothing if it did, or may yet."""
    match end.phase:
        case JobPhase.WAITING | JobPhase.STARTING | JobPhase.RUNNING | JobPhase.ENDING:
            return None
        case JobPhase.SUCCEEDED:
            return None
        case JobPhase.FAILED:
            return _failed(end.reason)
        case JobPhase.PREEMPTED:
            return FailureCategory.PREEMPTED
        case JobPhase.EXPIRED:
            return FailureCategory.TIMEOUT
        case JobPhase.LOST:
            return FailureCategory.NODE_LOST
        case JobPhase.CANCELLED:
            return FailureCategory.DENIED
        case JobPhase.REFUSED:
            is_passing = end.reason in _PASSING
            return FailureCategory.NODE_LOST if is_passing else FailureCategory.DENIED
        case _:
            assert_never(end.phase)


def _failed(reason: str | None) -> FailureCategory:
    if reason == JobFault.EXECUTOR_UNAVAILABLE.value:
        return FailureCategory.NODE_LOST
    if reason == JobFault.OUT_OF_MEMORY.value:
        return FailureCategory.OUT_OF_MEMORY
    return FailureCategory.DENIED if reason in _NOT_BEGUN else FailureCategory.EXIT_CODE
