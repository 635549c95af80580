"""Graphs of tasks: parse, call one service, spell the answer."""

from __future__ import annotations

from fastapi.responses import JSONResponse

from bailiwick.batch import TaskDef
from bailiwick.iam import Scope
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Changing, Here
from bailiwick.server.http.params import Limit, NumberCursor, PathNumber, number_in, spell_page
from bailiwick.server.http.spelling import spell_done, spell_plan
from bailiwick.services import graphs
from bailiwick.services.graph_jobs import PastAttempt
from bailiwick.services.graphs import GraphDraft, GraphStanding, PlannedStage, TaskStanding
from bailiwick.services.jobs.landing import refusal_of
from bailiwick.store.graph_rows import AttemptReport
from bailiwick.vocab.graphs import TaskPhase
from bailiwick.wire import graphs as wire
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page


@answers("graph.submit")
async def submit_graph(asked: Changing, body: wire.NewGraph) -> JSONResponse:
    """Take up a graph: each task is submitted as a job once what it stands after is over."""
    scope = Scope.of(body.tenant, body.project)
    if asked.dry_run:
        plan = await graphs.plan_graph(asked, scope=scope, ask=lambda: _draft(body))
        return JSONResponse(_plan(plan).model_dump(mode="json"), 200)
    kept = asked.house.parts.graphs
    found = await graphs.submit_graph(asked, kept, scope=scope, ask=lambda: _draft(body))
    return JSONResponse(_graph(found).model_dump(mode="json"), 201)


@answers("graph.plan")
async def plan_graph(asked: Here, body: wire.NewGraph) -> wire.GraphPlan:
    """What a graph would lead to: its longest path, its cost, and when each task could start."""
    scope = Scope.of(body.tenant, body.project)
    return _plan(await graphs.plan_graph(asked, scope=scope, ask=lambda: _draft(body)))


@answers("graph.list")
async def list_graphs(
    asked: Here, *, cursor: NumberCursor = None, limit: Limit = 100
) -> Page[wire.Graph]:
    """The graphs that the caller may see, newest first."""
    kept, before = asked.house.parts.graphs, number_in(cursor)
    return spell_page(await graphs.list_graphs(asked, kept, before=before, limit=limit), _graph)


@answers("graph.read")
async def read_graph(asked: Here, graph_id: PathNumber) -> wire.GraphDetail:
    """One graph with all of its tasks; what they run is not told."""
    found = await graphs.read_graph(asked, asked.house.parts.graphs, graph_id=graph_id)
    pairs = zip(found.graph.definitions, found.graph.groups, strict=True)
    return wire.GraphDetail(
        graph=_graph(found.standing),
        stages=[
            wire.GraphStage(name=each.name, tasks=len(group), after=_after(each))
            for each, group in pairs
        ],
        tasks=[_task(each) for each in found.tasks],
        tried_again=[_past(each) for each in found.tried_again],
    )


@answers("graph.cancel")
async def cancel_graph(asked: Changing, graph_id: PathNumber) -> Done:
    """End a graph: what waits is not begun, what runs is torn down soon after."""
    kept = asked.house.parts.graphs
    return spell_done(await graphs.cancel_graph(asked, kept, graph_id=graph_id))


@answers("graph.retry")
async def retry_graph(asked: Changing, graph_id: PathNumber, *, body: wire.GraphRetry) -> Done:
    """Try again what did not succeed, of a graph that is over."""
    kept = asked.house.parts.graphs
    return spell_done(
        await graphs.retry_graph(asked, kept, graph_id=graph_id, tasks=tuple(body.tasks))
    )


@answers("graph.report")
async def report_task(asked: Changing, graph_id: PathNumber, *, body: wire.TaskReport) -> Done:
    """What an attempt made, and where it saved its work; a job's own token is enough."""
    report = AttemptReport(0, body.attempt, body.outputs, body.checkpoint)
    kept = asked.house.parts.graphs
    return spell_done(
        await graphs.report_task(asked, kept, graph_id=graph_id, task=body.task, report=report)
    )


def _draft(body: wire.NewGraph) -> GraphDraft:
    return GraphDraft.read(
        body.document,
        tenant=body.tenant,
        project=body.project,
        executor=body.executor,
        reuses=body.reuses,
    )


def _after(definition: TaskDef) -> list[str]:
    return [each.task for each in definition.upstreams]


def _graph(found: GraphStanding) -> wire.Graph:
    row = found.row
    return wire.Graph(
        graph_id=row.graph_id,
        tenant=row.tenant,
        project=row.project,
        name=row.name,
        submitter=row.submitter,
        executor=row.executor,
        reuses=row.reuses,
        phase=row.told_phase,
        cancel_asked=row.cancel_asked,
        tasks=row.tasks,
        counts={phase: count for phase in TaskPhase if (count := found.counts[phase])},
        submitted_ms=row.submitted_ms,
        ended_ms=row.ended_ms,
    )


def _task(found: TaskStanding) -> wire.GraphTask:
    task, row = found.task, found.row
    state = None if row is None else row.state
    return wire.GraphTask(
        name=task.name,
        stage=task.definition.name,
        phase=TaskPhase.BLOCKED if state is None else state.phase,
        attempt=0 if state is None else state.attempt,
        category=None if state is None else state.category,
        reason=None if state is None else state.reason,
        exit_code=None if state is None else state.exit_code,
        failures={} if state is None else dict(state.failures or {}),
        due_ms=None if state is None else state.due_ms,
        job_id=None if row is None else row.job_id,
        outputs={} if state is None else dict(state.outputs),
        checkpoint=None if state is None else state.reported or state.checkpoint,
    )


def _past(found: PastAttempt) -> wire.PastAttempt:
    job = found.job
    return wire.PastAttempt(
        task=found.task,
        attempt=found.attempt,
        category=found.category,
        reason=found.reason,
        exit_code=job.exit_code,
        node=job.node,
        job_id=job.job_id,
        started_ms=job.started_ms,
        ended_ms=job.ended_ms,
    )


def _plan(found: graphs.GraphPlan) -> wire.GraphPlan:
    prices = [stage.plan.price for stage in found.stages if stage.plan is not None]
    return wire.GraphPlan(
        tasks=sum(stage.tasks for stage in found.stages),
        stages=[_stage(stage) for stage in found.stages],
        critical_path=list(found.path),
        critical_ms=found.path_ms,
        currency=prices[0].currency if prices else None,
        micros_total=found.micros_total,
    )


def _stage(found: PlannedStage) -> wire.PlannedStage:
    bad = None
    if found.unhonoured is not None:
        told = refusal_of(found.unhonoured)
        word = found.unhonoured.word
        bad = wire.NotHonoured(what=word, executor=told.executor, asked=told.asked, step=told.step)
    return wire.PlannedStage(
        name=found.name,
        tasks=found.tasks,
        after=list(found.after),
        starts_ms=found.starts_ms,
        ttl_ms=found.ttl_ms,
        plan=None if found.plan is None else spell_plan(found.plan),
        unhonoured=bad,
    )
