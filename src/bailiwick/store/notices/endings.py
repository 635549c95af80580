"""Work that is over and of which nobody was told yet: jobs, arrays as one, graphs as one.

Rules:

- An array is told of once, when none of its tasks is left; its first task stands for it. A graph is
  told of when it is over, and again if it was tried again and is over then.
- An array ended as the gravest end of its tasks: one that was called back is cancelled, not failed.
- The other tasks of an array, and the jobs of a graph, are written down as told when they are made:
  a thousand of them are no thousand notices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Select, Update, and_, case, func, null, select, update

from bailiwick.store.graph_tables import graph_tasks, graphs
from bailiwick.store.tables import jobs
from bailiwick.vocab.graphs import GOOD, GraphPhase
from bailiwick.vocab.jobs import LIVE_PHASES, JobPhase
from bailiwick.vocab.notices import NoticeKind

_LIVE = [phase.value for phase in LIVE_PHASES]
_LIVE_GRAPHS = [phase.value for phase in GraphPhase if not phase.is_over]


_GRAVER: Final = (
    JobPhase.SUCCEEDED,
    JobPhase.PREEMPTED,
    JobPhase.EXPIRED,
    JobPhase.CANCELLED,
    JobPhase.REFUSED,
    JobPhase.LOST,
    JobPhase.FAILED,
)
"""How tasks of an array end, the gravest last."""


class EndedWork(NamedTuple):
    """A job or an array (``tasks`` of it), or a graph, that is over."""

    kind: NoticeKind
    number: int
    tenant: str
    project: str | None
    name: str | None
    submitter: str
    phase: str
    ended_ms: int | None
    exit_code: int | None = None
    tasks: int | None = None
    succeeded: int = 0


def ended_work(connection: Connection, limit: int) -> list[EndedWork]:
    """What is over, of which nobody was told yet."""
    found = [EndedWork(NoticeKind.JOB_ENDED, *row) for row in connection.execute(_jobs(limit))]
    heads = [row.job_id for row in connection.execute(_heads(limit))]
    found += [_array(connection, head) for head in heads]
    found += [EndedWork(NoticeKind.GRAPH_ENDED, *row) for row in connection.execute(_graphs(limit))]
    return found


def mark_told(connection: Connection, works: Sequence[EndedWork]) -> bool:
    """Write down that these were told; whether nobody else had."""
    jobs_over = [each.number for each in works if each.kind is NoticeKind.JOB_ENDED]
    graphs_over = [each for each in works if each.kind is NoticeKind.GRAPH_ENDED]
    marked = 0
    if jobs_over:
        which = and_(jobs.c.job_id.in_(jobs_over), jobs.c.is_told.is_(False))
        marked += connection.execute(update(jobs).where(which).values(is_told=True)).rowcount
    for work in graphs_over:
        marked += connection.execute(_as_read(work).values(is_told=True)).rowcount
    return marked == len(works)


def _as_read(work: EndedWork) -> Update:
    """A graph's row, while it is over as it was read: one that is tried again ends once more."""
    ended = graphs.c.ended_ms
    return update(graphs).where(
        graphs.c.graph_id == work.number,
        graphs.c.is_told.is_(False),
        graphs.c.phase == work.phase,
        ended.is_(None) if work.ended_ms is None else ended == work.ended_ms,
    )


def _jobs(limit: int) -> Select[Any]:
    names = ("job_id", "tenant", "project", "name", "submitter", "phase", "ended_ms", "exit_code")
    over = and_(jobs.c.is_told.is_(False), jobs.c.phase.not_in(_LIVE), jobs.c.array_id.is_(None))
    return select(*(jobs.c[each] for each in names)).where(over).order_by("job_id").limit(limit)


def _heads(limit: int) -> Select[tuple[int]]:
    """The first tasks of arrays of which none is left."""
    task = jobs.alias()
    left = and_(task.c.array_id == jobs.c.job_id, task.c.phase.in_(_LIVE))
    over = and_(
        jobs.c.is_told.is_(False), jobs.c.phase.not_in(_LIVE), jobs.c.array_id == jobs.c.job_id
    )
    rows = select(jobs.c.job_id).where(over, ~select(task.c.job_id).where(left).exists())
    return rows.order_by(jobs.c.job_id).limit(limit)


def _array(connection: Connection, head: int) -> EndedWork:
    good = func.sum(case((jobs.c.phase == JobPhase.SUCCEEDED.value, 1), else_=0))
    gravest = func.max(case({each.value: n for n, each in enumerate(_GRAVER)}, value=jobs.c.phase))
    told = func.count(), good, func.max(jobs.c.ended_ms), gravest
    counted = select(*told).where(jobs.c.array_id == head)
    tasks, succeeded, ended_ms, rank = connection.execute(counted).one()
    first = connection.execute(select(jobs).where(jobs.c.job_id == head)).one()
    phase = _GRAVER[rank]
    return EndedWork(
        NoticeKind.JOB_ENDED,
        head,
        first.tenant,
        first.project,
        first.name,
        first.submitter,
        phase.value,
        ended_ms,
        tasks=int(tasks),
        succeeded=int(succeeded),
    )


def _graphs(limit: int) -> Select[Any]:
    good = (
        select(func.count())
        .where(
            graph_tasks.c.graph_id == graphs.c.graph_id,
            graph_tasks.c.phase.in_([each.value for each in GOOD]),
        )
        .scalar_subquery()
    )
    names = ("graph_id", "tenant", "project", "name", "submitter", "phase", "ended_ms")
    over = and_(
        graphs.c.is_told.is_(False),
        graphs.c.phase.not_in(_LIVE_GRAPHS),
        graphs.c.rerun_asked.is_(None),
    )
    told = *(graphs.c[each] for each in names), null(), graphs.c.tasks, good
    return select(*told).where(over).order_by("graph_id").limit(limit)
