"""Asks the folded tables: which leases a tenant held, what was decided, what it used.

Rules:

- Every question names its tenant, and no answer holds a row of another; but for :func:`lease_of`,
  with which one finds out whose a lease is.
- Pages are newest first, of at most 1,000 rows; the last row's number is the next page's
  ``before``. Rows that are added meanwhile move no page.
- Answers are as new as the last :func:`bailiwick.store.history.fold.advance_projections`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, Table, and_, func, or_, select

from bailiwick.store.sql_store import SqlStore
from bailiwick.store.tables import (
    decision_history,
    journal,
    lease_history,
    projection_state,
    record_index,
    usage_by_group,
    usage_by_tenant,
)
from bailiwick.vocab.errors import InvalidValue

PAGE = 100
PAGE_MAX = 1_000


@dataclass(frozen=True, slots=True)
class LeaseRow:
    """One lease, from grant to end; ``ended_ms`` is ``None`` while it is held."""

    lease_id: int
    tenant: str
    project: str | None
    node: str | None
    cpu_milli: int
    mem_bytes: int
    block_bytes: int
    gpu_milli: int
    priority: str
    lease_class: str
    tag: str | None
    granted_ms: int
    ended_ms: int | None
    end_cause: str | None
    end_reason: str | None
    gpu_generation: str | None
    entry_id: int | None


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """One decision about a tenant, and where in the journal it stands."""

    seq: int
    at_ms: int
    tenant: str
    project: str | None
    kind: str
    reason: str | None
    detail: str | None
    correlation_id: str | None
    entry_id: int | None
    lease_id: int | None
    """The lease, or the first of several."""


@dataclass(frozen=True, slots=True)
class UsageRow:
    """What the ended leases of one project used; ``project`` is ``None`` outside any."""

    tenant: str
    project: str | None
    gpu_milli_ms: int
    cpu_milli_ms: int
    leases_ended: int


@dataclass(frozen=True, slots=True)
class GroupRow:
    """What the ended leases of one project, tag, generation and class used."""

    tenant: str
    project: str | None
    tag: str | None
    gpu_generation: str | None
    lease_class: str
    cpu_milli_ms: int
    mem_byte_ms: int
    block_byte_ms: int
    gpu_milli_ms: int
    leases_ended: int


def leases_of(
    store: SqlStore,
    tenant: str,
    *,
    project: str | None = None,
    held: bool | None = None,
    before: int | None = None,
    limit: int = PAGE,
) -> list[LeaseRow]:
    """A tenant's leases, the newest id first; ``held`` picks those held still, or those ended."""
    ended = lease_history.c.ended_ms
    where = [] if held is None else [ended.is_(None) if held else ended.is_not(None)]
    page = _Page(lease_history.c.lease_id, _one(project), before, limit)
    return [LeaseRow(**row) for row in page.rows(store, tenant, where=where)]


def decisions_of(
    store: SqlStore,
    tenant: str,
    *,
    projects: Collection[str] | None = None,
    kind: str | None = None,
    before: int | None = None,
    limit: int = PAGE,
) -> list[DecisionRow]:
    """What was decided about a tenant (or these projects of it), the newest first."""
    where = [] if kind is None else [decision_history.c.kind == kind]
    page = _Page(decision_history.c.seq, projects, before, limit)
    return [DecisionRow(**row) for row in page.rows(store, tenant, where=where)]


def usage_of(store: SqlStore, tenant: str, *, limit: int = PAGE) -> list[UsageRow]:
    """What a tenant used, a row for each project, by name."""
    table = usage_by_tenant
    query = select(table).where(table.c.tenant == tenant).order_by(table.c.project)
    with store.reading() as connection:
        rows = connection.execute(query.limit(_checked(limit))).mappings().all()
    return [UsageRow(**{**row, "project": row["project"] or None}) for row in rows]


def usage_groups(
    store: SqlStore, tenant: str, *, projects: Collection[str] | None = None
) -> tuple[list[GroupRow], int]:
    """What a tenant (or these projects of it) used, by group, and how many records that knows."""
    table = usage_by_group
    query = select(table).where(table.c.tenant == tenant)
    if projects is not None:
        query = query.where(table.c.project.in_(sorted(projects)))
    # The size first: what is folded meanwhile is then in the rows, never missing from them.
    size = projected_size(store)
    with store.reading() as connection:
        rows = connection.execute(query.order_by(*table.primary_key)).mappings().all()
    return [_group(dict(row)) for row in rows], size


def _group(row: dict[str, Any]) -> GroupRow:
    for name in ("project", "tag", "gpu_generation"):
        row[name] = row[name] or None
    for name in ("cpu_milli_ms", "mem_byte_ms", "block_byte_ms", "gpu_milli_ms"):
        row[name] = int(row[name])
    return GroupRow(**row)


def lease_of(store: SqlStore, lease_id: int) -> LeaseRow | None:
    """One lease, held still or ended, whoever's it is; ``None`` if it never was."""
    query = select(lease_history).where(lease_history.c.lease_id == lease_id)
    with store.reading() as connection:
        row = connection.execute(query).mappings().one_or_none()
    return None if row is None else LeaseRow(**row)


def records_about(store: SqlStore, lease: LeaseRow, *, after: int, limit: int) -> list[bytes]:
    """The records past number ``after`` that name the lease or the entry it came from, in order."""
    index = record_index.c
    about = and_(index.subject == "lease", index.number == lease.lease_id)
    if lease.entry_id is not None:
        about = or_(about, and_(index.subject == "entry", index.number == lease.entry_id))
    query = (
        select(journal.c.line)
        .join(record_index, index.seq == journal.c.seq)
        .where(about, index.seq > after)
        .order_by(index.seq)
        .limit(_checked(limit))
    )
    with store.reading() as connection:
        return list(connection.scalars(query))


def projected_size(store: SqlStore) -> int:
    """How many records of the journal the tables know."""
    with store.reading() as connection:
        return connection.scalar(select(func.max(projection_state.c.size))) or 0


@dataclass(frozen=True, slots=True)
class _Page:
    key: Column[Any]
    projects: Collection[str] | None
    before: int | None
    limit: int

    def rows(self, store: SqlStore, tenant: str, *, where: list[Any]) -> list[dict[str, Any]]:
        table: Table = self.key.table
        query = select(table).where(table.c.tenant == tenant, *where)
        if self.projects is not None:
            query = query.where(table.c.project.in_(sorted(self.projects)))
        if self.before is not None:
            query = query.where(self.key < self.before)
        query = query.order_by(self.key.desc()).limit(_checked(self.limit))
        with store.reading() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]


def _one(project: str | None) -> tuple[str, ...] | None:
    return None if project is None else (project,)


def _checked(limit: int) -> int:
    if not 1 <= limit <= PAGE_MAX:
        raise InvalidValue("limit", limit, f"1 to {PAGE_MAX}")
    return limit
