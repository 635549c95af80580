"""Graphs of tasks: taken up, told about, ended, tried again, and planned beforehand.

Rules:

- To submit writes a row; the loop of the leader does the rest, so that no answer waits for a job.
- A graph that could never run is refused when it is submitted, with the line of each mistake. So is
  one of whose tasks one asks for what nobody who may run it could honour; a plan tells which.
- A graph of another is not there: same answer, same words.
- A graph's document is told to nobody, because it may hold secrets: jobs tell their commands.
- A plan asks the kernel once for each definition; what a map would cost is that for each element.
  How long a task takes is not known beforehand, so its time limit stands for it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from bailiwick.batch import Task, TaskGraph, load_graph
from bailiwick.executors.abilities import Honoured, NotHonoured
from bailiwick.iam import FLEET, Scope
from bailiwick.kernel import Done
from bailiwick.ports import Clock
from bailiwick.services.authority import Principal
from bailiwick.services.caller import Caller, Deferred
from bailiwick.services.graph_jobs import PastAttempt, check_jobs, find_past_attempts, first_jobs
from bailiwick.services.jobs import JobDraft, Jobs
from bailiwick.services.jobs.landing import WorkAsked, judge_landing, require_landing
from bailiwick.services.leases import check_scope
from bailiwick.services.pages import Rows, cut
from bailiwick.services.plans import PricedPlan, plan_request
from bailiwick.store.graph_rows import AttemptReport, GraphBook, GraphRow, NewGraphRow, TaskRow
from bailiwick.vocab.errors import Conflict, NotFound, Unavailable
from bailiwick.vocab.graphs import TaskPhase

LIVE_MAX = 1_000
"""Graphs that may be under way at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphDraft:
    """A graph as somebody wants it run."""

    tenant: str
    project: str | None
    document: str = field(repr=False)
    graph: TaskGraph = field(repr=False)
    executor: str | None = None
    reuses: int | None = None

    @classmethod
    def read(
        cls,
        document: str,
        *,
        tenant: str,
        project: str | None,
        executor: str | None = None,
        reuses: int | None = None,
    ) -> GraphDraft:
        """The graph of a document; refused with every mistake and its line."""
        return cls(
            tenant=tenant,
            project=project,
            document=document,
            graph=load_graph(document),
            executor=executor,
            reuses=reuses,
        )

    def row(
        self, principal: Principal, *, correlation_id: str, key: str | None, now_ms: int
    ) -> NewGraphRow:
        """What is written down of it first."""
        told = json.dumps([self.tenant, self.project, self.document, self.executor, self.reuses])
        keys = principal.keys
        return NewGraphRow(
            tenant=self.tenant,
            project=self.project,
            name=self.graph.name,
            submitter=principal.name,
            submitter_kind=principal.kind.value,
            submitter_keys=None if keys is None else tuple(sorted(keys)),
            correlation_id=correlation_id,
            key=key,
            digest=hashlib.sha256(told.encode()).hexdigest(),
            document=self.document,
            executor=self.executor,
            reuses=self.reuses,
            tasks=len(self.graph.tasks),
            submitted_ms=now_ms,
        )


@dataclass(frozen=True, slots=True)
class GraphStanding:
    """A graph, and how many of its tasks are in which phase."""

    row: GraphRow
    counts: Counter[TaskPhase]


@dataclass(frozen=True, slots=True)
class TaskStanding:
    """A task as it is written, and how far it has come; nothing if it has not begun."""

    task: Task
    row: TaskRow | None


@dataclass(frozen=True, slots=True)
class GraphDetail:
    """All of one graph but what it runs."""

    standing: GraphStanding
    graph: TaskGraph
    tasks: tuple[TaskStanding, ...]
    tried_again: tuple[PastAttempt, ...] = ()


@dataclass(frozen=True, slots=True)
class PlannedStage:
    """One definition of a planned graph: what one of its tasks would get, and when at the latest.

    ``starts_ms`` is counted from the submission, if everything takes as long as it may.
    """

    name: str
    tasks: int
    after: tuple[str, ...]
    starts_ms: int
    ttl_ms: int
    plan: PricedPlan | None
    """Nothing for an empty map, or for what cannot be honoured."""
    unhonoured: NotHonoured | None = None
    """What nobody who may run it could give."""


@dataclass(frozen=True, slots=True)
class GraphPlan:
    """What a graph would lead to."""

    stages: tuple[PlannedStage, ...]
    path: tuple[str, ...]
    path_ms: int
    micros_total: int
    """At most, if every task runs once and as long as it may."""


class Graphs:
    """The graphs of one replica; its calls may come from any thread."""

    def __init__(
        self, book: GraphBook, jobs: Jobs, *, clock: Clock, live_max: int = LIVE_MAX
    ) -> None:
        self.book, self.jobs = book, jobs
        self._clock, self._live_max = clock, live_max
        self._wakes: list[Callable[[], None]] = []

    def submit(
        self,
        draft: GraphDraft,
        *,
        principal: Principal,
        correlation_id: str,
        key: str | None = None,
    ) -> GraphRow:
        """Write a graph down, to be run from now on."""
        now_ms = self._clock.now_ms()
        new = draft.row(principal, correlation_id=correlation_id, key=key, now_ms=now_ms)
        check_jobs(new, draft.graph)
        self._check_reused(draft)
        row = self.book.insert(new, live_max=self._live_max)
        if row.digest != new.digest:
            raise Conflict(
                "idempotency key", key, "was used for another graph", hint="use a new one"
            )
        self.wake()
        return row

    def _check_reused(self, draft: GraphDraft) -> None:
        """Only work of the same project may be taken for one's own."""
        if draft.reuses is None:
            return
        found = self.book.get(draft.reuses)
        if found is None or (found.tenant, found.project) != (draft.tenant, draft.project):
            raise NotFound("graph", draft.reuses, hint="one of the same tenant and project")

    def get(self, graph_id: int) -> GraphRow:
        """That graph; one that is not there is an error."""
        found = self.book.get(graph_id)
        if found is None:
            raise NotFound("graph", graph_id)
        return found

    def cancel(self, graph_id: int, *, dry_run: bool = False) -> None:
        """Have all of it end."""
        row = self.get(graph_id)
        if row.phase.is_over:
            raise Conflict("graph", graph_id, f"is over: {row.phase}")
        if not dry_run:
            self.book.ask_cancel(graph_id)
            self.wake()

    def rerun(self, graph_id: int, names: Sequence[str], *, dry_run: bool = False) -> None:
        """Have what did not succeed tried again: these tasks, or all of them."""
        row = self.get(graph_id)
        if not row.told_phase.is_over:
            raise Conflict("graph", graph_id, f"is {row.told_phase}", hint="wait until it is over")
        known = load_graph(row.document).numbers if names else {}
        for name in names:
            if name not in known:
                raise NotFound("task", name)
        if not dry_run:
            self.book.ask_rerun(graph_id, names)
            self.wake()

    @contextmanager
    def listening(self, wake: Callable[[], None]) -> Iterator[None]:
        """Have ``wake`` called whenever there may be something to do for a graph."""
        self._wakes.append(wake)
        try:
            yield
        finally:
            self._wakes.remove(wake)

    def wake(self) -> None:
        """There may be something to do."""
        for wake in tuple(self._wakes):
            wake()


def names_in(wish: str) -> tuple[str, ...]:
    """The tasks that a wish to try again names; none for all that did not succeed."""
    return tuple(json.loads(wish))


# -- use cases -------------------------------------------------------------------------------


async def submit_graph(
    caller: Caller, graphs: Graphs | None, *, scope: Scope, ask: Deferred[GraphDraft]
) -> GraphStanding:
    """Take up a graph; its tasks are submitted as soon as what they stand after is over."""
    await check_scope(caller, scope)
    draft, kept = await asyncio.to_thread(ask), _kept(graphs)
    word, who = caller.correlation_id, caller.principal
    new = draft.row(who, correlation_id=word, key=None, now_ms=caller.clock.now_ms())
    firsts = await asyncio.to_thread(first_jobs, new, draft.graph)
    await require_landing(caller, [_work(job) for job in firsts if job is not None])
    row = await asyncio.to_thread(
        kept.submit, draft, principal=who, correlation_id=word, key=caller.key
    )
    (found,) = await _stand(kept, [row])
    return found


async def plan_graph(caller: Caller, *, scope: Scope, ask: Deferred[GraphDraft]) -> GraphPlan:
    """What a graph would lead to: its longest path, what it costs, when each could start."""
    await check_scope(caller, scope)
    draft = await asyncio.to_thread(ask)
    word, now_ms = caller.correlation_id, caller.clock.now_ms()
    new = draft.row(caller.principal, correlation_id=word, key=None, now_ms=now_ms)
    await asyncio.to_thread(check_jobs, new, draft.graph)
    graph = draft.graph
    lengths = {task.name: task.definition.needs.ttl_ms for task in graph.tasks}
    path_ms, path = graph.critical_path(lengths)
    starts = graph.latest_starts(lengths)
    stages, total = list[PlannedStage](), 0
    firsts = await asyncio.to_thread(first_jobs, new, graph)
    for definition, group, job in zip(graph.definitions, graph.groups, firsts, strict=True):
        plan: PricedPlan | None = None
        bad: NotHonoured | None = None
        if job is not None:
            (found,) = await judge_landing(caller, [_work(job)])
            bad = None if isinstance(found, Honoured) else found
            if bad is None:
                plan = await plan_request(caller, job.submit)
                total += plan.price.micros_total * len(group)
        begins = max((starts[at] for at in group), default=0)
        ttl_ms = definition.needs.ttl_ms
        after = tuple(each.task for each in definition.upstreams)
        stages.append(PlannedStage(definition.name, len(group), after, begins, ttl_ms, plan, bad))
    return GraphPlan(tuple(stages), path, path_ms, total)


async def list_graphs(
    caller: Caller, graphs: Graphs | None, *, before: int | None, limit: int
) -> Rows[GraphStanding]:
    """The graphs that the caller may see, newest first."""
    caller.require_within(FLEET)
    scopes: list[tuple[str, str | None]] | None = None
    if not caller.may(FLEET):
        own = [scope for scope in caller.principal.roles if caller.may(scope)]
        scopes = [(each.tenant, each.project) for each in own if each.tenant is not None]
    kept = _kept(graphs)
    rows = await asyncio.to_thread(kept.book.page, scopes, before=before, limit=limit + 1)
    some, following = cut(rows, limit, key=lambda row: row.graph_id)
    return await _stand(kept, some), following


async def read_graph(caller: Caller, graphs: Graphs | None, *, graph_id: int) -> GraphDetail:
    """One graph, with all of its tasks."""
    kept = _kept(graphs)
    row = await _require_graph(caller, kept, graph_id=graph_id)
    (standing,) = await _stand(kept, [row])
    rows = await asyncio.to_thread(kept.book.tasks_of, graph_id)
    graph = await asyncio.to_thread(load_graph, row.document)
    begun = {found.number: found for found in rows}
    tasks = tuple(TaskStanding(task, begun.get(task.number)) for task in graph.tasks)
    again = await asyncio.to_thread(find_past_attempts, kept.jobs.book, row, tasks=rows)
    return GraphDetail(standing, graph, tasks, tuple(again))


async def cancel_graph(caller: Caller, graphs: Graphs | None, *, graph_id: int) -> Done:
    """End a graph: what waits is not begun, what runs is torn down."""
    kept = _kept(graphs)
    await _require_graph(caller, kept, graph_id=graph_id)
    await asyncio.to_thread(kept.cancel, graph_id, dry_run=caller.dry_run)
    return Done(None)


async def retry_graph(
    caller: Caller, graphs: Graphs | None, *, graph_id: int, tasks: Sequence[str]
) -> Done:
    """Try again what did not succeed."""
    kept = _kept(graphs)
    await _require_graph(caller, kept, graph_id=graph_id)
    await asyncio.to_thread(kept.rerun, graph_id, tasks, dry_run=caller.dry_run)
    return Done(None)


async def report_task(
    caller: Caller, graphs: Graphs | None, *, graph_id: int, task: str, report: AttemptReport
) -> Done:
    """Keep what an attempt says of itself: its outputs by content, where it saved its work."""
    kept = _kept(graphs)
    lease_of = partial(_lease_of, kept, graph_id, task=task, attempt=report.attempt)
    caller.for_lease(await asyncio.to_thread(lease_of))
    row = await _require_graph(caller, kept, graph_id=graph_id)
    graph = await asyncio.to_thread(load_graph, row.document)
    number = graph.numbers.get(task)
    if number is None:
        raise NotFound("task", task)
    if caller.principal.name != row.submitter:  # whose jobs alone are attempts of it
        raise Conflict("graph", graph_id, "was submitted by another")
    found = await asyncio.to_thread(kept.book.task_of, graph_id, number)
    if found is None or (found.state.phase, found.state.attempt) != (
        TaskPhase.SUBMITTED,
        report.attempt,
    ):
        raise Conflict("task", task, f"has no attempt {report.attempt} under way")
    if not caller.dry_run:
        made = AttemptReport(number, report.attempt, report.outputs, report.checkpoint)
        await asyncio.to_thread(kept.book.report, graph_id, made)
    return Done(None)


def _work(job: JobDraft) -> WorkAsked:
    return WorkAsked(job.request.request, job.image)


async def _stand(graphs: Graphs, rows: Sequence[GraphRow]) -> list[GraphStanding]:
    counts = await asyncio.to_thread(graphs.book.counts, [row.graph_id for row in rows])
    found = list[GraphStanding]()
    for row in rows:
        begun = counts[row.graph_id]
        begun[TaskPhase.BLOCKED] += row.tasks - begun.total()
        found.append(GraphStanding(row, begun))
    return found


def _lease_of(graphs: Graphs, graph_id: int, *, task: str, attempt: int) -> int | None:
    """The lease under which an attempt runs, if it has one."""
    row = graphs.book.get(graph_id)
    if row is None:
        return None
    job_id = graphs.book.job_under(row.submitter, f"{row.key_prefix}{task}/{attempt}")
    return None if job_id is None else graphs.jobs.get(job_id).lease_id


async def _require_graph(caller: Caller, graphs: Graphs, *, graph_id: int) -> GraphRow:
    row = await asyncio.to_thread(graphs.book.get, graph_id)
    scope = None if row is None else Scope(row.tenant, row.project)
    caller.require(await caller.locate(lambda view: scope))
    assert row is not None  # it was located
    return row


def _kept(graphs: Graphs | None) -> Graphs:
    if graphs is None:
        raise Unavailable("graphs", "this server keeps none")
    return graphs
