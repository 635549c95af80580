"""Jobs as rows, on either database; see :class:`bailiwick.ports.JobStore` for the promises.

Rules:

- Every change is one statement that names the phases it may come from, so no two can undo each
  other, and a job that is over stays as it is.
- A change of phase replaces the reason: what kept a job waiting is not why it ended.
- The environment is wiped by the same statement that says that the job is over, or that the last
  attempt that it may have runs.
- A caller's key is unique for each submitter in the table itself: of two that submit the same at
  once, one job is made.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from typing import Any

from sqlalchemy import Connection, Row, Table, and_, case, func, insert, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from bailiwick.ports import JobChange, JobFilter, JobRow, NewJobRow
from bailiwick.store.held_rows import HeldBook, parse_after_cell, spell_after_cell
from bailiwick.store.members.rows import MemberBook
from bailiwick.store.sql_store import SqlStore
from bailiwick.store.tables import job_attempts, jobs, work
from bailiwick.vocab.errors import Damaged, LimitReached
from bailiwick.vocab.graphs import GRAPH_KEY, FailureCategory
from bailiwick.vocab.jobs import LIVE_PHASES, JobPhase
from bailiwick.vocab.values import check_integer

PAGE_MAX = 1_000
FORGET_MAX = 100
"""Jobs that are named to be forgotten at once."""

_LIVE = tuple(phase.value for phase in LIVE_PHASES)
_NAMES = tuple(field.name for field in fields(JobRow))
_NO_ENV = "{}"


class JobBook:
    """The jobs of one database."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store
        self.members = MemberBook(store)
        self.held = HeldBook(store)

    def insert(self, new: NewJobRow, *, live_max: int) -> JobRow:
        """Write a job down; under a key that its submitter used before, the job of then."""
        return self._store.change_together(lambda c: _insert_once(c, new, live_max=live_max))

    def insert_array(self, new: NewJobRow, *, indices: Sequence[int], live_max: int) -> JobRow:
        """Write down a task for each index, all or none; the first stands for the array."""
        with self._store.changing() as connection:
            known = _known(connection, new)
            if known is not None:
                return known
            _check_room(connection, len(indices), live_max=live_max)
            first = replace(new, array_index=indices[0])
            job_id = _insert(connection, first)
            if job_id is None:
                return _taken(connection, new)
            own = update(jobs).where(jobs.c.job_id == job_id).values(array_id=job_id)
            connection.execute(own)
            others = _values(replace(new, key=None)) | {"array_id": job_id, "is_told": True}
            rows = [{**others, "array_index": index} for index in indices[1:]]
            if rows:
                connection.execute(insert(jobs), rows)
            return JobRow(**_shallow(first), job_id=job_id, array_id=job_id, asks=_asks(new))

    def get(self, job_id: int) -> JobRow | None:
        """That job."""
        query = select(jobs).where(jobs.c.job_id == job_id)
        with self._store.reading() as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else _job(row)

    def change(
        self,
        job_id: int,
        change: JobChange,
        *,
        only_from: Sequence[JobPhase] = LIVE_PHASES,
        only_ask: int | None = None,
    ) -> bool:
        """Write down what became known, if the job is in one of these phases; whether it was."""
        values = {name: value for name, value in asdict(change).items() if value is not None}
        if change.denial is not None:
            values["denial"] = json.dumps(dict(change.denial))
        if change.phase is not None:
            values |= {"phase": change.phase.value, "reason": change.reason}
            if change.phase.is_over:
                values["env"] = _NO_ENV
            elif change.phase is JobPhase.RUNNING:  # the next attempt needs it again
                is_last = jobs.c.attempt > jobs.c.retries
                values["env"] = case((is_last, _NO_ENV), else_=jobs.c.env)
        allowed = [phase.value for phase in only_from if not phase.is_over]
        which = and_(jobs.c.job_id == job_id, jobs.c.phase.in_(allowed))
        if only_ask is not None:  # and who is held again was asked for in vain, or ran already
            which = and_(which, jobs.c.asks == only_ask, jobs.c.asked_ms.is_not(None))
        statement = update(jobs).where(which).values(values)
        return self._store.change_together(lambda c: c.execute(statement).rowcount == 1)

    def page(
        self,
        scopes: Sequence[tuple[str, str | None]] | None,
        *,
        which: JobFilter | None = None,
        before: int | None = None,
        limit: int = 100,
    ) -> list[JobRow]:
        """Jobs of these tenants and projects (``None``: of all), the newest first."""
        check_integer("limit", limit, low=1, high=PAGE_MAX)
        query = select(jobs).order_by(jobs.c.job_id.desc()).limit(limit)
        query = query.where(*_clauses(which or JobFilter()))
        if before is not None:
            query = query.where(jobs.c.job_id < before)
        if scopes is not None:
            if not scopes:
                return []
            query = query.where(or_(*(_within(tenant, project) for tenant, project in scopes)))
        with self._store.reading() as connection:
            return [_job(row) for row in connection.execute(query)]

    def live(self) -> list[JobRow]:
        """All jobs that are neither held nor over, the oldest first."""
        asked = jobs.c.asked_ms.is_not(None)
        query = select(jobs).where(jobs.c.phase.in_(_LIVE), asked).order_by(jobs.c.job_id)
        with self._store.reading() as connection:
            return [_job(row) for row in connection.execute(query)]

    def of_leases(self, lease_ids: Sequence[int]) -> list[JobRow]:
        """The jobs under these leases, over or not; of an earlier attempt, as that one ended."""
        if not lease_ids:
            return []
        query = select(jobs).where(jobs.c.lease_id.in_(lease_ids)).order_by(jobs.c.job_id)
        earlier = _EARLIER.where(job_attempts.c.lease_id.in_(lease_ids))
        with self._store.reading() as connection:
            found = [_job(row) for row in connection.execute(query)]
            return found + [_earlier(row) for row in connection.execute(earlier)]

    def under_keys(self, submitter: str, keys: Sequence[str]) -> list[JobRow]:
        """The jobs that one submitted under these keys, the oldest first."""
        found = list[JobRow]()
        with self._store.reading() as connection:
            for first in range(0, len(keys), 500):
                which = and_(
                    jobs.c.submitter == submitter, jobs.c.key.in_(keys[first : first + 500])
                )
                found += [_job(row) for row in connection.execute(select(jobs).where(which))]
        return sorted(found, key=lambda job: job.job_id)

    def of_entries(self, entry_ids: Sequence[int]) -> dict[int, int]:
        """The number of the job that waits as each of these entries of the queue."""
        which = and_(jobs.c.phase == JobPhase.WAITING.value, jobs.c.entry_id.in_(entry_ids))
        with self._store.reading() as connection:
            rows = connection.execute(select(jobs.c.entry_id, jobs.c.job_id).where(which))
            return {row.entry_id: row.job_id for row in rows}

    def forgettable(self, node: str | None, *, kept_max: int, before_ms: int) -> list[JobRow]:
        """Some jobs that are over, beyond the newest so many or ended before then.

        Those of a node, or (``None``) of all that have an agent.
        """
        kept = and_(*_kept(jobs, node), jobs.c.phase.not_in(_LIVE))
        newest = select(jobs.c.job_id).where(kept).order_by(jobs.c.job_id.desc())
        with self._store.reading() as connection:
            edge = connection.scalar(newest.offset(kept_max).limit(1))
            old = jobs.c.ended_ms < before_ms
            which = old if edge is None else or_(old, jobs.c.job_id <= edge)
            query = select(jobs).where(kept, which).order_by(jobs.c.job_id).limit(FORGET_MAX)
            found = [_job(row) for row in connection.execute(query)]
            past = job_attempts.c.ended_ms < before_ms
            which = past if edge is None else or_(past, job_attempts.c.job_id <= edge)
            earlier = _EARLIER.where(*_kept(job_attempts, node), which).limit(FORGET_MAX)
            return found + [_earlier(row) for row in connection.execute(earlier)]

    def forget(self, lease_id: int) -> None:
        """What the executor kept of the job under this lease is gone."""
        which = and_(jobs.c.lease_id == lease_id, jobs.c.phase.not_in(_LIVE))
        earlier = job_attempts.c.lease_id == lease_id
        with self._store.changing() as connection:
            connection.execute(update(jobs).where(which).values(is_forgotten=True))
            connection.execute(update(job_attempts).where(earlier).values(is_forgotten=True))


_OF_ATTEMPT = (
    *("attempt", "phase", "reason", "lease_id", "node", "started_ms", "ended_ms"),
    *("exit_code", "signal", "is_forgotten"),
)
_EARLIER = (
    select(jobs, *(job_attempts.c[name].label(f"its_{name}") for name in _OF_ATTEMPT))
    .join(job_attempts, job_attempts.c.job_id == jobs.c.job_id)
    .order_by(job_attempts.c.job_id, job_attempts.c.attempt)
)


def _earlier(row: Row[Any]) -> JobRow:
    """A job as it was when an attempt that is over had ended."""
    told = {name: getattr(row, f"its_{name}") for name in _OF_ATTEMPT}
    return replace(_job(row), **{**told, "phase": JobPhase(told["phase"])}, entry_id=None)


def _kept(table: Table, node: str | None) -> tuple[Any, ...]:
    """Of what an executor still keeps something: on a node, or wherever an agent is."""
    by_agent = table.c.lease_id.in_(select(work.c.lease_id))
    return (
        by_agent if node is None else table.c.node == node,
        table.c.lease_id.is_not(None),
        table.c.is_forgotten.is_(False),
    )


def _clauses(which: JobFilter) -> list[Any]:
    names = ("tenant", "project", "submitter", "name", "array_id", "array_index")
    asked = {name: getattr(which, name) for name in names}
    found = [jobs.c[name] == value for name, value in asked.items() if value is not None]
    if which.phases is not None:
        found.append(jobs.c.phase.in_([phase.value for phase in which.phases]))
    return found


def _check_room(connection: Connection, wanted: int, *, live_max: int) -> None:
    count = select(func.count()).select_from(jobs).where(jobs.c.phase.in_(_LIVE))
    if connection.execute(count).scalar_one() + wanted > live_max:
        raise LimitReached("jobs that wait or run", live_max)


def _taken(connection: Connection, new: NewJobRow) -> JobRow:
    """The job of whoever used the key since we looked."""
    known = _known(connection, new)
    if known is None:
        raise Damaged("jobs", "a key", "it is taken, and by no job")
    return known


def _asks(new: NewJobRow) -> int:
    """How often the kernel was to be asked when the row was written."""
    return 0 if new.asked_ms is None else 1


def _within(tenant: str, project: str | None) -> Any:
    if project is None:
        return jobs.c.tenant == tenant
    return and_(jobs.c.tenant == tenant, jobs.c.project == project)


def _insert_once(connection: Connection, new: NewJobRow, *, live_max: int) -> JobRow:
    known = _known(connection, new)
    if known is not None:
        return known
    _check_room(connection, 1, live_max=live_max)
    job_id = _insert(connection, new)
    if job_id is None:
        return _taken(connection, new)
    return JobRow(**_shallow(new), job_id=job_id, asks=_asks(new))


def _known(connection: Connection, new: NewJobRow) -> JobRow | None:
    """The job that this submitter has under this key."""
    if new.key is None:
        return None
    which = and_(jobs.c.submitter == new.submitter, jobs.c.key == new.key)
    row = connection.execute(select(jobs).where(which)).one_or_none()
    return None if row is None else _job(row)


def _insert(connection: Connection, new: NewJobRow) -> int | None:
    """The number of the row; ``None`` if another has the key since we looked."""
    # Either database has the clause, each in a dialect of its own.
    own = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    statement: Any = insert(jobs) if new.key is None else own(jobs).on_conflict_do_nothing()
    found = connection.scalar(statement.values(_values(new)).returning(jobs.c.job_id))
    job_id: int | None = found
    return job_id


def _values(new: NewJobRow) -> dict[str, Any]:
    """A new row, as its cells are kept."""
    return _shallow(new) | {
        "request": json.dumps(dict(new.request)),
        "command": json.dumps(list(new.command)),
        "env": json.dumps(dict(new.env)),
        "submitter_keys": None if new.submitter_keys is None else " ".join(new.submitter_keys),
        "phase": JobPhase.WAITING.value,
        "cancel_asked": False,
        "is_forgotten": False,
        "after": spell_after_cell(new.after),
        "retry_on": " ".join(new.retry_on) or None,
        "asks": _asks(new),
        "is_told": (new.key or "").startswith(GRAPH_KEY),  # its graph is told of
    }


def _shallow(new: NewJobRow) -> dict[str, Any]:
    return {field.name: getattr(new, field.name) for field in fields(NewJobRow)}


def _job(row: Row[Any]) -> JobRow:
    found = {name: getattr(row, name) for name in _NAMES}
    try:
        found |= {
            "request": json.loads(row.request),
            "command": tuple(json.loads(row.command)),
            "env": json.loads(row.env),
            "phase": JobPhase(row.phase),
            "submitter_keys": _keys(row.submitter_keys),
            "denial": None if row.denial is None else json.loads(row.denial),
            "after": parse_after_cell(row.after),
            "retry_on": tuple(map(FailureCategory, (row.retry_on or "").split())),
        }
    except (ValueError, TypeError) as error:
        raise Damaged("jobs", f"job {row.job_id}", error) from error
    return JobRow(**found)


def _keys(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(text.split())
