"""A run of a graph: it is told what happened, and answers what is to be done next.

Rules:

- ``next_steps`` depends on the run, the time and the results, and on nothing else: the same history
  gives the same steps. It costs what changes, not what there is.
- A task is started only when all it stands after is over as it asks, and at most once for each
  attempt. If that can no longer be, it is skipped, and what stands after it is judged in turn.
- Only tasks that may start are started, so only they hold anything; at most ``running_max`` at
  once, the more urgent first, then in the order in which they were written.
- Work whose digest (definition, inputs, what it stands after) was done before is not done again.
- When nothing is left the graph ends once: cancelled if that was asked, failed if a task failed
  that may not, else succeeded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush
from typing import assert_never

from bailiwick.batch.graph import Awaited, Task, TaskGraph, digest_of
from bailiwick.batch.steps import (
    CancelAsked,
    EndGraph,
    GraphStep,
    RerunAsked,
    RetryTask,
    StartTask,
    StopTask,
    TaskCheckpointed,
    TaskFailed,
    TaskResult,
    TaskSucceeded,
)
from bailiwick.batch.taking import inputs_of, is_met, result_of
from bailiwick.batch.task import Upstream, pause_ms
from bailiwick.batch.task_state import TaskState
from bailiwick.vocab.graphs import (
    FailureCategory,
    GraphPhase,
    TaskFault,
    TaskPhase,
)

Done = Mapping[str, Mapping[str, str]]
"""What was done before: the outputs of work by its digest."""


class GraphRun:
    """One run of a graph, from the first task to the last."""

    def __init__(
        self, graph: TaskGraph, *, graph_id: int, seed: int = 0, done: Done | None = None
    ) -> None:
        self.graph, self.graph_id, self.seed = graph, graph_id, seed
        self.phase = GraphPhase.RUNNING
        self.standings = [TaskState(len(task.awaited)) for task in graph.tasks]
        self.changed: set[int] = set()
        """Tasks that are not as they were when somebody last cleared this."""
        self._done: Done = done or {}
        self._submitted = 0
        self._ready: list[tuple[int, int]] = []
        self._due: list[tuple[int, int]] = []
        self._open = len(graph.tasks)
        self._left = [len(group) for group in graph.groups]
        self._of_group: list[list[int]] = [[] for _ in graph.groups]
        self._of_task: dict[int, list[int]] = {}
        for task in graph.tasks:
            for each in task.awaited:
                if each.task is None:
                    self._of_group[each.group].append(task.number)
                else:
                    self._of_task.setdefault(each.task, []).append(task.number)
        self._results: dict[int, str] = {}
        self._met: dict[tuple[int, Upstream], bool] = {}
        self._judge(self._at_first())

    def _at_first(self) -> list[int]:
        """Those that wait for nobody: an empty map is over before it began."""
        for group, left in enumerate(self._left):
            for number in self._of_group[group] if not left else ():
                self.standings[number].pending -= 1
        return [task.number for task in self.graph.tasks if not self.standings[task.number].pending]

    def resume(self, standings: Sequence[TaskState], phase: GraphPhase) -> None:
        """Go on from where an earlier life of this run was: all else follows from that."""
        self.standings, self.phase = list(standings), phase
        self._recount()
        self.changed.clear()

    def under_way(self) -> list[GraphStep]:
        """The steps of attempts that are not over, as they were told first.

        Whoever resumes a run does these again: it may have been cut short before it did them.
        """
        steps = list[GraphStep]()
        for task, found in zip(self.graph.tasks, self.standings, strict=True):
            if found.phase is not TaskPhase.SUBMITTED:
                continue
            if self.phase is GraphPhase.CANCELLING:
                steps.append(self._stop_of(task))
                continue
            inputs = inputs_of(task, self.graph, standings=self.standings)
            if inputs is not None:
                steps.append(self._start_of(task, inputs))
        return steps

    # -- reading -----------------------------------------------------------------------------

    def standing(self, name: str) -> TaskState:
        """How far that task has come."""
        return self.standings[self.graph.numbers[name]]

    def counts(self) -> Counter[TaskPhase]:
        """How many tasks are in which phase."""
        return Counter(each.phase for each in self.standings)

    @property
    def next_due_ms(self) -> int | None:
        """When something is to be done though nothing happens; nothing if never."""
        return self._due[0][0] if self._due else None

    def key_of(self, task: str, attempt: int) -> str:
        """The key under which an attempt is submitted once."""
        return f"graph-{self.graph_id}/{task}/{attempt}"

    # -- being told --------------------------------------------------------------------------

    def tell(self, result: TaskResult, now_ms: int) -> Iterable[GraphStep]:
        """Take up one thing that happened."""
        match result:
            case TaskSucceeded():
                return self._succeed(result, now_ms)
            case TaskFailed():
                return self._fail(result, now_ms)
            case TaskCheckpointed():
                number = self._submitted_as(result.task, result.attempt)
                if number is not None:
                    self.standings[number].reported = result.checkpoint
                    self.changed.add(number)
                return ()
            case CancelAsked():
                return self._cancel()
            case RerunAsked():
                self._rerun(result.tasks)
                return ()
            case _:
                assert_never(result)

    def _submitted_as(self, task: str, attempt: int) -> int | None:
        """The task's number, if that attempt is under way."""
        number = self.graph.numbers.get(task)
        if number is None:
            return None
        found = self.standings[number]
        is_it = found.phase is TaskPhase.SUBMITTED and found.attempt == attempt
        return number if is_it else None

    def _succeed(self, result: TaskSucceeded, now_ms: int) -> Iterable[GraphStep]:
        number = self._submitted_as(result.task, result.attempt)
        if number is None:
            return ()
        task = self.graph.tasks[number]
        wanted = task.definition.outputs
        if any(name not in result.outputs for name in wanted):
            word, code = TaskFault.OUTPUT_MISSING.value, FailureCategory.EXIT_CODE
            return self._fail(TaskFailed(result.task, result.attempt, code, 0, word), now_ms)
        found = self.standings[number]
        found.outputs = {name: result.outputs[name] for name in wanted}
        found.exit_code, found.category, found.reason = 0, None, None
        self._submitted -= 1
        self._end(number, TaskPhase.SUCCEEDED)
        return ()

    def _fail(self, result: TaskFailed, now_ms: int) -> Iterable[GraphStep]:
        number = self._submitted_as(result.task, result.attempt)
        if number is None:
            return ()
        found, policy = self.standings[number], self.graph.tasks[number].definition.retry
        found.category, found.reason = result.category, result.reason
        found.exit_code = result.exit_code
        found.checkpoint = found.reported
        self._submitted -= 1
        failures = found.failures = found.failures or Counter()
        before = failures[result.category]
        failures[result.category] += 1
        if self.phase is GraphPhase.CANCELLING:
            self._end(number, TaskPhase.CANCELLED)
            return ()
        if not policy.allows(result.category, before=before, exit_code=result.exit_code):
            self._end(number, TaskPhase.FAILED)
            return ()
        wait_ms = pause_ms(policy, seed=self.seed, task=result.task, failures=failures.total())
        at_ms = now_ms + wait_ms
        found.phase, found.due_ms = TaskPhase.BACKING_OFF, at_ms
        heappush(self._due, (at_ms, number))
        self.changed.add(number)
        told = result.category, result.exit_code, result.reason
        return (RetryTask(result.task, result.attempt, *told, at_ms),)

    def _cancel(self) -> list[GraphStep]:
        if self.phase is not GraphPhase.RUNNING:
            return []
        self.phase = GraphPhase.CANCELLING
        self._ready, self._due = [], []
        steps = list[GraphStep]()
        for task, found in zip(self.graph.tasks, self.standings, strict=True):
            if found.phase is TaskPhase.SUBMITTED:
                steps.append(self._stop_of(task))
            elif not found.phase.is_over:
                found.phase, found.due_ms = TaskPhase.CANCELLED, None
                self._open -= 1
                self.changed.add(task.number)
        return steps

    def _stop_of(self, task: Task) -> StopTask:
        attempt = self.standings[task.number].attempt
        return StopTask(task.name, attempt, self.key_of(task.name, attempt))

    def _rerun(self, names: frozenset[str] | None) -> None:
        """Everything that did not succeed, from those tasks on, is as if it had never begun."""
        if not self.phase.is_over:
            return
        marked = list[int]()
        for task, found in zip(self.graph.tasks, self.standings, strict=True):
            is_bad = found.phase in (TaskPhase.FAILED, TaskPhase.CANCELLED)
            if is_bad and (names is None or task.name in names):
                marked.append(task.number)
        chosen = set(marked)
        while marked:  # bounded: each task is marked once
            number = marked.pop()
            after = (
                *self._of_task.get(number, ()),
                *self._of_group[self.graph.tasks[number].group],
            )
            for each in after:
                if each not in chosen and not self.standings[each].phase.is_good:
                    chosen.add(each)
                    marked.append(each)
        if chosen:
            self._reset(chosen)

    def _reset(self, chosen: set[int]) -> None:
        self.phase = GraphPhase.RUNNING
        for number in chosen:
            found = self.standings[number]
            found.phase, found.failures, found.due_ms = TaskPhase.BLOCKED, None, None
            found.category = found.reason = found.exit_code = None
        self.changed |= chosen
        self._recount()

    def _recount(self) -> None:
        """Count anew what follows from the phases, and look at all that is not over."""
        self._results, self._met = {}, {}
        over = [each.phase.is_over for each in self.standings]
        self._open = over.count(False)
        self._left = [sum(not over[at] for at in group) for group in self.graph.groups]
        self._submitted = sum(each.phase is TaskPhase.SUBMITTED for each in self.standings)
        self._ready, self._due = [], []
        waiting = list[int]()
        for task, found in zip(self.graph.tasks, self.standings, strict=True):
            found.pending = sum(not self._is_over(each, over) for each in task.awaited)
            if found.phase is TaskPhase.BACKING_OFF and found.due_ms is not None:
                heappush(self._due, (found.due_ms, task.number))
            elif found.phase in (TaskPhase.BLOCKED, TaskPhase.READY) and not found.pending:
                waiting.append(task.number)
        self._judge(waiting)

    def _is_over(self, awaited: Awaited, over: Sequence[bool]) -> bool:
        return not self._left[awaited.group] if awaited.task is None else over[awaited.task]

    # -- deciding ----------------------------------------------------------------------------

    def _end(self, number: int, phase: TaskPhase) -> None:
        self._judge(self._close(number, phase))

    def _close(self, number: int, phase: TaskPhase) -> list[int]:
        """The task is over; those that wait for nothing more because of it."""
        found, group = self.standings[number], self.graph.tasks[number].group
        found.phase, found.due_ms = phase, None
        self.changed.add(number)
        self._open -= 1
        self._left[group] -= 1
        free = list[int]()
        after = self._of_group[group] if not self._left[group] else ()
        for each in (*self._of_task.get(number, ()), *after):
            waiting = self.standings[each]
            waiting.pending -= 1
            if not waiting.pending and waiting.phase is TaskPhase.BLOCKED:
                free.append(each)
        return free

    def _judge(self, numbers: list[int]) -> None:
        """These wait for nothing more: each is ready, done before, or can never be."""
        while numbers:  # bounded: each task is judged once
            task = self.graph.tasks[numbers.pop()]
            found = self.standings[task.number]
            if not all(self._is_met(each) for each in task.awaited):
                found.reason = TaskFault.UPSTREAM_UNFIT.value
                numbers += self._close(task.number, TaskPhase.SKIPPED)
                continue
            found.digest = digest_of(task, [self._result_of(each) for each in task.awaited])
            known = self._done.get(found.digest)
            if known is not None and all(name in known for name in task.definition.outputs):
                found.outputs, found.exit_code = dict(known), 0
                numbers += self._close(task.number, TaskPhase.REUSED)
                continue
            self._make_ready(task)

    def _make_ready(self, task: Task) -> None:
        self.standings[task.number].phase = TaskPhase.READY
        self.changed.add(task.number)
        heappush(self._ready, (-task.definition.priority.rank, task.number))

    def _is_met(self, awaited: Awaited) -> bool:
        # Asked by every element of a map about every element of another: answered once.
        key = awaited.place, awaited.upstream
        known = self._met.get(key)
        if known is None:
            known = self._met[key] = is_met(awaited.upstream, self._elements(awaited))
        return known

    def _result_of(self, awaited: Awaited) -> str:
        at = awaited.place
        known = self._results.get(at)
        if known is None:
            known = self._results[at] = result_of(self._elements(awaited))
        return known

    def _elements(self, awaited: Awaited) -> list[TaskState]:
        whole = self.graph.groups[awaited.group] if awaited.task is None else (awaited.task,)
        return [self.standings[at] for at in whole]

    def start_ready(self, now_ms: int) -> Iterable[GraphStep]:
        """Start what may start, as far as the graph's limit goes."""
        while self._due and self._due[0][0] <= now_ms:  # bounded by what pauses
            _, number = heappop(self._due)
            self.standings[number].due_ms = None
            self._make_ready(self.graph.tasks[number])
        steps = list[GraphStep]()
        most = self.graph.running_max
        while self._ready and self._submitted < most:  # bounded by what is ready
            task = self.graph.tasks[heappop(self._ready)[1]]
            inputs = inputs_of(task, self.graph, standings=self.standings)
            found = self.standings[task.number]
            if inputs is None:
                found.category, found.reason = FailureCategory.DENIED, TaskFault.INPUT_MISSING.value
                self._end(task.number, TaskPhase.FAILED)
                continue
            found.phase, found.attempt = TaskPhase.SUBMITTED, found.attempt + 1
            self.changed.add(task.number)
            self._submitted += 1
            steps.append(self._start_of(task, inputs))
        return steps

    def _start_of(self, task: Task, inputs: Mapping[str, str]) -> StartTask:
        found = self.standings[task.number]
        key, place = self.key_of(task.name, found.attempt), found.checkpoint or task.checkpoint
        effect = f"graph-{self.graph_id}/{task.name}"
        return StartTask(task.name, found.attempt, key, effect, inputs, place)

    def end_if_over(self) -> Iterable[GraphStep]:
        """Say once that nothing is left."""
        if self._open or self.phase.is_over:
            return ()
        if self.phase is GraphPhase.CANCELLING:
            self.phase = GraphPhase.CANCELLED
        else:
            pairs = zip(self.graph.tasks, self.standings, strict=True)
            failed = any(
                found.phase is TaskPhase.FAILED and not task.definition.may_fail
                for task, found in pairs
            )
            self.phase = GraphPhase.FAILED if failed else GraphPhase.SUCCEEDED
        return (EndGraph(self.phase),)


def next_steps(
    run: GraphRun, *, now_ms: int, results: Iterable[TaskResult] = ()
) -> list[GraphStep]:
    """What is to be done next, after these things happened."""
    steps = list[GraphStep]()
    for result in results:
        steps += run.tell(result, now_ms)
    if run.phase is GraphPhase.RUNNING:
        steps += run.start_ready(now_ms)
    steps += run.end_if_over()
    return steps
