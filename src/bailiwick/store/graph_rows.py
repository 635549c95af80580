"""Graphs and their tasks as rows, on either database.

Rules:

- A graph is written down once for each key of its submitter. What is asked of it later (to end, to
  be tried again) is written beside it, and taken up by whoever runs it.
- All that one round changes of a graph is one transaction, under the version that it started from:
  whoever was overtaken by another writes nothing, and reads again (``Stale``).
- A task without a row has not begun. What a task runs stands in the graph's document alone, which
  may hold secrets: it is told to nobody, and is kept as long as the graph, to try it again.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from sqlalchemy import Connection, Row, Table, and_, bindparam, func, literal, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from bailiwick.batch.task_state import TaskState
from bailiwick.store.graph_tables import graph_reports, graph_tasks, graphs
from bailiwick.store.sql_store import SqlStore
from bailiwick.store.tables import jobs
from bailiwick.vocab.errors import Damaged, LimitReached, Stale
from bailiwick.vocab.graphs import GRAPH_KEY, FailureCategory, GraphPhase, TaskPhase
from bailiwick.vocab.jobs import JobPhase
from bailiwick.vocab.values import check_integer

PAGE_MAX = 1_000
_AT_ONCE = 500
"""Numbers in one question."""
_LIVE = (GraphPhase.RUNNING.value, GraphPhase.CANCELLING.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewGraphRow:
    """A graph as it is first written down."""

    tenant: str
    project: str | None
    name: str | None
    submitter: str
    submitter_kind: str
    submitter_keys: tuple[str, ...] | None
    correlation_id: str
    key: str | None
    digest: str
    """Of all that was asked, to tell the same request from another under the same key."""
    document: str = field(repr=False)
    executor: str | None
    """Who runs its tasks; nothing for the usual one."""
    reuses: int | None = None
    """The graph whose work is not done again."""
    tasks: int
    submitted_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphRow(NewGraphRow):
    """A graph, and what is asked of it."""

    graph_id: int
    phase: GraphPhase = GraphPhase.RUNNING
    cancel_asked: bool = False
    rerun_asked: str | None = None
    """Names as a JSON list, empty for all that did not succeed; nothing if nobody asked."""
    version: int = 0
    ended_ms: int | None = None

    @property
    def told_phase(self) -> GraphPhase:
        """How far it has come; one that is about to be tried again is not over."""
        return self.phase if self.rerun_asked is None else GraphPhase.RUNNING

    @property
    def key_prefix(self) -> str:
        """How the keys of its jobs begin."""
        return f"{GRAPH_KEY}{self.graph_id}/"


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A task that has begun: how far it has come, and the job of its last attempt."""

    number: int
    name: str
    state: TaskState
    job_id: int | None


@dataclass(frozen=True, slots=True)
class JobEnd:
    """How far the job of an attempt has come."""

    job_id: int
    phase: JobPhase
    reason: str | None
    exit_code: int | None
    signal: int | None


@dataclass(frozen=True, slots=True)
class AttemptReport:
    """What an attempt said of itself."""

    number: int
    attempt: int
    outputs: Mapping[str, str]
    checkpoint: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphChange:
    """All that one round changes."""

    phase: GraphPhase
    tasks: Sequence[TaskRow]
    ended_ms: int | None
    rerun_taken: str | None = None
    """The wish to try again that was taken up."""


_NAMES = tuple(each.name for each in fields(GraphRow))
# A document may have a megabyte, and the loop looks several times a second.
_LIGHT = [
    literal("").label("document") if column.name == "document" else column for column in graphs.c
]


class GraphBook:
    """The graphs of one database."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store

    def insert(self, new: NewGraphRow, *, live_max: int) -> GraphRow:
        """Write a graph down; under a key that its submitter used before, the graph of then."""
        with self._store.changing() as connection:
            known = _known(connection, new)
            if known is not None:
                return known
            count = select(func.count()).select_from(graphs).where(graphs.c.phase.in_(_LIVE))
            if connection.execute(count).scalar_one() >= live_max:
                raise LimitReached("graphs that run", live_max)
            graph_id = _insert(connection, new)
            if graph_id is None:
                known = _known(connection, new)
                if known is None:
                    raise Damaged("graphs", "a key", "it is taken, and by no graph")
                return known
            return GraphRow(**_shallow(new), graph_id=graph_id)

    def get(self, graph_id: int) -> GraphRow | None:
        """That graph."""
        query = select(graphs).where(graphs.c.graph_id == graph_id)
        with self._store.reading() as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else _graph(row)

    def page(
        self,
        scopes: Sequence[tuple[str, str | None]] | None,
        *,
        before: int | None = None,
        limit: int = 100,
    ) -> list[GraphRow]:
        """Graphs of these tenants and projects (``None``: of all), the newest first; no texts."""
        check_integer("limit", limit, low=1, high=PAGE_MAX)
        query = select(*_LIGHT).order_by(graphs.c.graph_id.desc()).limit(limit)
        if before is not None:
            query = query.where(graphs.c.graph_id < before)
        if scopes is not None:
            if not scopes:
                return []
            query = query.where(or_(*(_within(tenant, project) for tenant, project in scopes)))
        with self._store.reading() as connection:
            return [_graph(row) for row in connection.execute(query)]

    def due(self) -> list[GraphRow]:
        """Those with something left to do, the oldest first; without their documents."""
        is_due = or_(graphs.c.phase.in_(_LIVE), graphs.c.rerun_asked.is_not(None))
        query = select(*_LIGHT).where(is_due).order_by(graphs.c.graph_id)
        with self._store.reading() as connection:
            return [_graph(row) for row in connection.execute(query)]

    def tasks_of(self, graph_id: int) -> list[TaskRow]:
        """The tasks that have begun, in their order."""
        which = graph_tasks.c.graph_id == graph_id
        query = select(graph_tasks).where(which).order_by(graph_tasks.c.number)
        with self._store.reading() as connection:
            return [_task(row) for row in connection.execute(query)]

    def task_of(self, graph_id: int, number: int) -> TaskRow | None:
        """That task, if it has begun."""
        which = and_(graph_tasks.c.graph_id == graph_id, graph_tasks.c.number == number)
        with self._store.reading() as connection:
            row = connection.execute(select(graph_tasks).where(which)).one_or_none()
        return None if row is None else _task(row)

    def done_in(self, graph_id: int) -> dict[str, Mapping[str, str]]:
        """The outputs of what a graph has done, by the digest of the work."""
        done = [(task.state.digest, task.state) for task in self.tasks_of(graph_id)]
        return {digest: state.outputs for digest, state in done if digest and state.phase.is_good}

    def counts(self, graph_ids: Sequence[int]) -> dict[int, Counter[TaskPhase]]:
        """How many tasks of each graph that have begun are in which phase."""
        found: dict[int, Counter[TaskPhase]] = {each: Counter() for each in graph_ids}
        columns = graph_tasks.c.graph_id, graph_tasks.c.phase
        query = select(*columns, func.count()).where(graph_tasks.c.graph_id.in_(graph_ids))
        with self._store.reading() as connection:
            for graph_id, phase, count in connection.execute(query.group_by(*columns)):
                found[graph_id][TaskPhase(phase)] = count
        return found

    def ask_cancel(self, graph_id: int) -> bool:
        """Have it end; whether it was not over."""
        which = and_(graphs.c.graph_id == graph_id, graphs.c.phase.in_(_LIVE))
        with self._store.changing() as connection:
            statement = update(graphs).where(which).values(cancel_asked=True)
            return connection.execute(statement).rowcount == 1

    def ask_rerun(self, graph_id: int, names: Sequence[str]) -> bool:
        """Have what did not succeed tried again; whether it was over."""
        which = and_(graphs.c.graph_id == graph_id, graphs.c.phase.not_in(_LIVE))
        wish = json.dumps(sorted(names))
        with self._store.changing() as connection:
            statement = update(graphs).where(which).values(rerun_asked=wish)
            return connection.execute(statement).rowcount == 1

    def change(self, graph: GraphRow, change: GraphChange) -> int:
        """Write down what a round decided; the version after it."""
        after: dict[str, Any] = {"phase": change.phase.value, "version": graph.version + 1}
        after["ended_ms"] = change.ended_ms
        if change.rerun_taken is not None:
            after["is_told"] = False  # it will be over once more
        which = and_(graphs.c.graph_id == graph.graph_id, graphs.c.version == graph.version)
        with self._store.changing() as connection:
            if connection.execute(update(graphs).where(which).values(after)).rowcount != 1:
                raise Stale("graph", graph.graph_id, held=graph.version, current="a later one")
            if change.rerun_taken is not None:
                taken = and_(
                    graphs.c.graph_id == graph.graph_id, graphs.c.rerun_asked == change.rerun_taken
                )
                statement = update(graphs).where(taken)
                # A wish to end was of the run before this one.
                connection.execute(statement.values(rerun_asked=None, cancel_asked=False))
            rows = [_spell(graph.graph_id, task) for task in change.tasks]
            if rows:  # all at once: whoever appends to the journal waits for this
                put = _insert_into(connection, graph_tasks)
                after = {name: put.excluded[name] for name in rows[0]}
                keys = ["graph_id", "number"]
                connection.execute(put.on_conflict_do_update(index_elements=keys, set_=after), rows)
        return graph.version + 1

    def note_jobs(self, graph_id: int, made: Mapping[int, int]) -> None:
        """The jobs of tasks' last attempts, by the tasks' numbers."""
        if not made:
            return
        which = and_(
            graph_tasks.c.graph_id == graph_id, graph_tasks.c.number == bindparam("of_task")
        )
        statement = update(graph_tasks).where(which).values(job_id=bindparam("of_job"))
        with self._store.changing() as connection:
            pairs = [{"of_task": number, "of_job": job_id} for number, job_id in made.items()]
            connection.execute(statement, pairs)

    # -- jobs and what they tell -------------------------------------------------------------

    def job_under(self, submitter: str, key: str) -> int | None:
        """The job that was submitted under this key."""
        query = select(jobs.c.job_id).where(jobs.c.submitter == submitter, jobs.c.key == key)
        with self._store.reading() as connection:
            return connection.scalar(query)

    def ends(self, job_ids: Sequence[int]) -> list[JobEnd]:
        """How far these jobs have come."""
        columns = jobs.c.job_id, jobs.c.phase, jobs.c.reason, jobs.c.exit_code, jobs.c.signal
        found = list[JobEnd]()
        with self._store.reading() as connection:
            for at in range(0, len(job_ids), _AT_ONCE):
                some = list(job_ids[at : at + _AT_ONCE])
                for row in connection.execute(select(*columns).where(jobs.c.job_id.in_(some))):
                    found.append(JobEnd(row[0], JobPhase(row[1]), row[2], row[3], row[4]))
        return found

    def report(self, graph_id: int, report: AttemptReport) -> None:
        """Keep what an attempt said of itself; said again, the later counts."""
        values = {
            "graph_id": graph_id,
            "number": report.number,
            "attempt": report.attempt,
            "outputs": json.dumps(dict(report.outputs)),
            "checkpoint": report.checkpoint,
        }
        with self._store.changing() as connection:
            put = _insert_into(connection, graph_reports).values(values)
            keys = ["graph_id", "number", "attempt"]
            connection.execute(put.on_conflict_do_update(index_elements=keys, set_=values))

    def reports(self, graph_id: int) -> list[AttemptReport]:
        """What attempts of a graph's tasks said."""
        query = select(graph_reports).where(graph_reports.c.graph_id == graph_id)
        with self._store.reading() as connection:
            return [
                AttemptReport(row.number, row.attempt, json.loads(row.outputs), row.checkpoint)
                for row in connection.execute(query)
            ]


# -- spelling --------------------------------------------------------------------------------


def _within(tenant: str, project: str | None) -> Any:
    if project is None:
        return graphs.c.tenant == tenant
    return and_(graphs.c.tenant == tenant, graphs.c.project == project)


def _known(connection: Connection, new: NewGraphRow) -> GraphRow | None:
    """The graph that this submitter has under this key."""
    if new.key is None:
        return None
    which = and_(graphs.c.submitter == new.submitter, graphs.c.key == new.key)
    row = connection.execute(select(graphs).where(which)).one_or_none()
    return None if row is None else _graph(row)


def _insert(connection: Connection, new: NewGraphRow) -> int | None:
    """The number of the row; ``None`` if another has the key since we looked."""
    values = _shallow(new) | {
        "submitter_keys": None if new.submitter_keys is None else " ".join(new.submitter_keys),
        "phase": GraphPhase.RUNNING.value,
        "cancel_asked": False,
        "version": 0,
    }
    statement = _insert_into(connection, graphs).on_conflict_do_nothing()
    graph_id: int | None = connection.scalar(statement.values(values).returning(graphs.c.graph_id))
    return graph_id


def _insert_into(connection: Connection, table: Table) -> Any:
    """Either database can insert or update, each in a dialect of its own."""
    own = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    return own(table)


def _shallow(new: NewGraphRow) -> dict[str, Any]:
    return {each.name: getattr(new, each.name) for each in fields(NewGraphRow)}


def _graph(row: Row[Any]) -> GraphRow:
    found = {name: getattr(row, name) for name in _NAMES}
    keys = row.submitter_keys
    found |= {
        "phase": GraphPhase(row.phase),
        "submitter_keys": None if keys is None else tuple(keys.split()),
    }
    return GraphRow(**found)


def _spell(graph_id: int, task: TaskRow) -> dict[str, Any]:
    state = task.state
    return {
        "graph_id": graph_id,
        "number": task.number,
        "name": task.name,
        "phase": state.phase.value,
        "attempt": state.attempt,
        "category": None if state.category is None else state.category.value,
        "reason": state.reason,
        "exit_code": state.exit_code,
        "due_ms": state.due_ms,
        "digest": state.digest,
        "outputs": json.dumps(dict(state.outputs)),
        "checkpoint": state.checkpoint,
        "reported": state.reported,
        "failures": json.dumps(state.failures or {}),
        "job_id": task.job_id,
    }


def _task(row: Row[Any]) -> TaskRow:
    state = TaskState(0)
    try:
        state.phase, state.attempt = TaskPhase(row.phase), row.attempt
        state.category = None if row.category is None else FailureCategory(row.category)
        state.reason, state.exit_code, state.due_ms = row.reason, row.exit_code, row.due_ms
        state.digest, state.outputs = row.digest, json.loads(row.outputs)
        state.checkpoint, state.reported = row.checkpoint, row.reported
        told = json.loads(row.failures)
        failures = {FailureCategory(word): count for word, count in told.items()}
        state.failures = Counter(failures) if failures else None
    except (ValueError, TypeError) as error:
        raise Damaged("graphs", f"task {row.name} of graph {row.graph_id}", error) from error
    return TaskRow(row.number, row.name, state, row.job_id)
