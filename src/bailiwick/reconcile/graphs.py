"""The loop that runs graphs: it reads how jobs ended, has the next steps chosen, and does them.

Rules:

- Level-triggered: a round starts from the rows. A run that is kept in memory is only quicker; it
  is thrown away and read anew whenever anything went wrong, or another has written the row.
- In this order: what was decided is sealed, then written down, then done. Whoever dies between
  decides the same again, and the keys of records and jobs make each of them one.
- A step that cannot be done now (the server is full, the store is away) stays to be done.
- A task is submitted for whoever submitted its graph, and only while he may submit there.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

from bailiwick.batch import (
    CancelAsked,
    EndGraph,
    GraphRun,
    GraphStep,
    RerunAsked,
    RetryTask,
    StartTask,
    StopTask,
    TaskFailed,
    TaskResult,
    load_graph,
    next_steps,
)
from bailiwick.batch.task_state import TaskState
from bailiwick.iam import Allowed, Permission, PrincipalKind, Scope, check_access
from bailiwick.kernel import Envelope
from bailiwick.kernel.work import graph_commands as gr
from bailiwick.ports import Clock
from bailiwick.reconcile.duties import breath_s
from bailiwick.reconcile.graph_ends import result_of
from bailiwick.runtime.replica import View
from bailiwick.runtime.runner import Runner
from bailiwick.services.authority import Principal
from bailiwick.services.graph_jobs import job_of
from bailiwick.services.graphs import Graphs, names_in
from bailiwick.store.graph_rows import GraphChange, GraphRow, TaskRow
from bailiwick.vocab.errors import (
    BailiwickError,
    Conflict,
    Damaged,
    InvariantBroken,
    LimitReached,
    NotFound,
)
from bailiwick.vocab.graphs import FailureCategory, GraphPhase, TaskFault, TaskPhase
from bailiwick.vocab.jobs import JobPhase

ACTOR = "graphs"
"""Who the kernel is told does this."""

POLL_S, IDLE_S = 0.2, 1.0
THREADS = 8


@dataclass(slots=True)
class _Live:
    """A graph that is under way, in memory."""

    row: GraphRow
    run: GraphRun
    jobs: dict[int, int] = field(default_factory=dict)
    """The job of each task's last attempt."""
    todo: list[GraphStep] = field(default_factory=list)
    results: list[TaskResult] = field(default_factory=list)
    """What was learnt while doing steps, for the next round."""

    @property
    def scope(self) -> dict[str, str | None]:
        """Whose it is."""
        return {"tenant": str(self.row.tenant), "project": self.row.project}


class GraphLoop:
    """Runs the graphs of one store; only while its replica leads."""

    def __init__(
        self,
        graphs: Graphs,
        runner: Runner,
        *,
        clock: Clock,
        say: Callable[[str], None] = lambda message: None,
    ) -> None:
        self._graphs, self._runner, self._clock, self._say = graphs, runner, clock, say
        self._book, self._jobs = graphs.book, graphs.jobs
        self._live: dict[int, _Live] = {}
        self._wake = threading.Event()

    @property
    def name(self) -> str:
        """What it is called in the log."""
        return "graphs"

    def run(self, stop: threading.Event) -> None:
        """Go on until told to stop; the jobs go on after that."""
        self._live.clear()  # another may have run them since the last time
        with self._graphs.listening(self._wake.set), self._jobs.listening(self._wake.set):
            while not stop.is_set():  # until told to stop
                self._wake.clear()
                began = time.monotonic()
                is_busy = self.once()
                breath = breath_s(time.monotonic() - began)
                self._wake.wait(POLL_S if is_busy else IDLE_S)
                stop.wait(breath)

    def once(self) -> bool:
        """One round over all graphs; whether any is under way."""
        due = self._book.due()
        for row in due:
            try:
                self._advance(row)
            except BailiwickError as error:
                self._live.pop(row.graph_id, None)
                if isinstance(error, InvariantBroken | Damaged):
                    raise
                self._say(f"graph {row.graph_id} is read again: {error}")
        for graph_id in self._live.keys() - {row.graph_id for row in due}:
            del self._live[graph_id]
        return bool(due)

    # -- one graph ---------------------------------------------------------------------------

    def _advance(self, row: GraphRow) -> None:
        live = self._live.get(row.graph_id)
        if live is None or live.row.version != row.version:
            live = self._live[row.graph_id] = self._take_up(row)
        live.row = row
        now_ms, run, before = self._clock.now_ms(), live.run, live.run.phase
        results = [*self._asked(row, run), *live.results, *self._ended(live)]
        live.results = []
        steps = next_steps(run, now_ms=now_ms, results=results)
        for step in steps:
            if isinstance(step, StartTask):
                live.jobs.pop(run.graph.numbers[step.task], None)
        self._seal(live, steps, now_ms)
        is_moved = run.changed or run.phase is not before or row.rerun_asked is not None
        if is_moved or not row.version:
            self._write(live, now_ms)
        if run.phase is GraphPhase.CANCELLING:
            live.todo = [step for step in live.todo if not isinstance(step, StartTask)]
        self._do(live, [*live.todo, *steps])
        if run.phase.is_over:
            self._live.pop(row.graph_id, None)

    def _take_up(self, row: GraphRow) -> _Live:
        """The run as its rows tell it, with what may have been cut short still to do."""
        graph = load_graph(self._graphs.get(row.graph_id).document)
        done = {} if row.reuses is None else self._book.done_in(row.reuses)
        run = GraphRun(graph, graph_id=row.graph_id, seed=row.graph_id, done=done)
        rows = self._book.tasks_of(row.graph_id)
        live = _Live(row, run)
        if not rows:
            return live
        standings = [TaskState(0) for _ in graph.tasks]
        for found in rows:
            standings[found.number] = found.state
            if found.job_id is not None:
                live.jobs[found.number] = found.job_id
        told = [each.phase for each in standings]
        run.resume(standings, row.phase)
        run.changed |= {at for at, was in enumerate(told) if run.standings[at].phase is not was}
        known = live.jobs
        live.todo = [
            step
            for step in run.under_way()
            if not (isinstance(step, StartTask) and run.graph.numbers[step.task] in known)
        ]
        return live

    def _asked(self, row: GraphRow, run: GraphRun) -> Iterable[TaskResult]:
        """What people want of it."""
        if row.rerun_asked is not None:
            names = names_in(row.rerun_asked)
            yield RerunAsked(frozenset(names) if names else None)
        elif row.cancel_asked and run.phase is GraphPhase.RUNNING:
            yield CancelAsked()

    def _ended(self, live: _Live) -> Iterable[TaskResult]:
        """What became of the jobs of attempts that are under way."""
        run = live.run
        by_job = {
            job_id: number
            for number, job_id in live.jobs.items()
            if run.standings[number].phase is TaskPhase.SUBMITTED
        }
        over = [end for end in self._book.ends(list(by_job)) if end.phase.is_over]
        if not over:
            return
        told = {(each.number, each.attempt): each for each in self._book.reports(run.graph_id)}
        for end in over:
            number = by_job[end.job_id]
            name, attempt = run.graph.tasks[number].name, run.standings[number].attempt
            report = told.get((number, attempt))
            if report is not None and report.checkpoint is not None:
                run.standings[number].reported = report.checkpoint
            outputs = {} if report is None else report.outputs
            result = result_of(name, attempt, end=end, outputs=outputs)
            if result is not None:
                yield result

    def _write(self, live: _Live, now_ms: int) -> None:
        run, row = live.run, live.row
        tasks = [
            TaskRow(at, run.graph.tasks[at].name, run.standings[at], live.jobs.get(at))
            for at in sorted(run.changed)
        ]
        change = GraphChange(
            phase=run.phase,
            tasks=tasks,
            ended_ms=now_ms if run.phase.is_over else None,
            rerun_taken=row.rerun_asked,
        )
        version = self._book.change(row, change)
        run.changed.clear()
        live.row = replace(row, version=version, phase=run.phase)

    # -- sealing -----------------------------------------------------------------------------

    def _seal(self, live: _Live, steps: Iterable[GraphStep], now_ms: int) -> None:
        """Have the journal tell what was decided, each once."""
        row, run = live.row, live.run
        own: dict[str, Any] = {"graph_id": row.graph_id, **live.scope}
        if not row.version:
            note = gr.NoteGraphSubmitted(**own, tasks=row.tasks, name=row.name)
            self._tell(row, note, "submitted")
        for step in steps:
            if isinstance(step, RetryTask):
                number = run.graph.numbers[step.task]
                retried = gr.NoteGraphTaskRetried(
                    **own,
                    task=step.task,
                    attempt=step.attempt,
                    category=step.category,
                    pause_ms=step.at_ms - now_ms,
                    exit_code=step.exit_code,
                    reason=step.reason,
                    job_id=live.jobs.get(number),
                )
                self._tell(row, retried, f"{number}/{step.attempt}/retried")
            elif isinstance(step, EndGraph):
                failed = run.counts()[TaskPhase.FAILED]
                ended = gr.NoteGraphEnded(**own, phase=step.phase, tasks=row.tasks, failed=failed)
                self._tell(row, ended, f"{row.version}/ended")

    def _tell(self, row: GraphRow, note: gr.GraphCommand, key: str) -> None:
        envelope = Envelope(note, ACTOR, row.correlation_id, row.key_prefix + key)
        self._runner.execute(envelope)

    # -- doing -------------------------------------------------------------------------------

    def _do(self, live: _Live, steps: Iterable[GraphStep]) -> None:
        """Carry out what can be; what cannot be now stays to be done."""
        live.todo = []
        starts = [step for step in steps if isinstance(step, StartTask)]
        for step in steps:
            if isinstance(step, StopTask):
                self._stop(live, step)
        if not starts:
            return
        if not self._may_submit(live.row):
            denied, word = FailureCategory.DENIED, TaskFault.NOT_PERMITTED.value
            live.results += [TaskFailed(s.task, s.attempt, denied, None, word) for s in starts]
            self._wake.set()
            return
        per_core = self._runner.read(lambda view: view.state.settings.job_mem_bytes_per_core)
        with ThreadPoolExecutor(min(THREADS, len(starts)), thread_name_prefix="graph") as pool:
            found = list(pool.map(lambda step: self._start(live, step, per_core), starts))
        made = {number: job_id for number, job_id in found if job_id is not None}
        live.jobs |= made
        self._book.note_jobs(live.row.graph_id, made)

    def _start(self, live: _Live, step: StartTask, per_core: int) -> tuple[int, int | None]:
        """Submit an attempt under its key; the task's number and the job's."""
        row, number = live.row, live.run.graph.numbers[step.task]
        task = live.run.graph.tasks[number]
        keys = row.submitter_keys
        who = Principal(
            row.submitter,
            PrincipalKind(row.submitter_kind),
            "-",
            {},
            None if keys is None else frozenset(map(Permission, keys)),
        )
        try:
            draft = job_of(row, task, step=step, graph_id=row.graph_id, mem_bytes_per_core=per_core)
            word = row.correlation_id
            made = self._jobs.submit(draft, principal=who, correlation_id=word, key=step.key)
        except BailiwickError as error:
            job_id = self._book.job_under(row.submitter, step.key)
            if job_id is not None and not isinstance(error, Conflict):
                return number, job_id  # its row tells the rest, now or later
            if error.retryable or isinstance(error, LimitReached):
                live.todo.append(step)
            else:
                denied = FailureCategory.DENIED
                failed = TaskFailed(step.task, step.attempt, denied, None, error.code.value)
                live.results.append(failed)
            return number, None
        return number, made.job.job_id

    def _stop(self, live: _Live, step: StopTask) -> None:
        row, number = live.row, live.run.graph.numbers[step.task]
        job_id = live.jobs.get(number) or self._book.job_under(row.submitter, step.key)
        if job_id is None:  # it was never submitted
            denied, word = FailureCategory.DENIED, JobPhase.CANCELLED.value
            live.results.append(TaskFailed(step.task, step.attempt, denied, None, word))
            self._wake.set()
            return
        live.jobs[number] = job_id
        try:
            self._jobs.cancel(job_id, actor=ACTOR, correlation_id=row.correlation_id)
        except (Conflict, NotFound):
            return  # it is over
        except BailiwickError as error:
            if not error.retryable:
                raise
            live.todo.append(step)

    def _may_submit(self, row: GraphRow) -> bool:
        """Whether who submitted the graph may still submit there."""

        def read(view: View) -> bool:
            directory = view.state.directory
            account = directory.accounts.get(row.submitter)
            is_account = row.submitter_kind == PrincipalKind.SERVICE_ACCOUNT.value
            if is_account and (account is None or not account.is_enabled):
                return False
            roles = directory.roles.get(row.submitter, {})
            scope = Scope(row.tenant, row.project)
            return isinstance(check_access(roles, Permission.QUEUE_SUBMIT, scope=scope), Allowed)

        return self._runner.read(read)
