"""Asks the folded tables: which leases a tenant held, what was decided, what it used.

Rules:

- Every question names its tenant, and no answer holds a row of another.
- Pages are newest first, of at most 1,000 rows; the last row's number is the next page's
  ``before``. Rows that are added meanwhile move no page.
- Answers are as new as the last :func:`bailiwick.store.projections.advance_projections`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, Table, func, select

from bailiwick.store.sql_store import SqlStore
from bailiwick.store.tables import (
    decision_history,
    lease_history,
    projection_state,
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


@dataclass(frozen=True, slots=True)
class UsageRow:
    """What the ended leases of one project used; ``project`` is ``None`` outside any."""

    tenant: str
    project: str | None
    gpu_milli_ms: int
    cpu_milli_ms: int
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
    page = _Page(lease_history.c.lease_id, project, before, limit)
    return [LeaseRow(**row) for row in page.rows(store, tenant, where=where)]


def decisions_of(
    store: SqlStore,
    tenant: str,
    *,
    project: str | None = None,
    kind: str | None = None,
    before: int | None = None,
    limit: int = PAGE,
) -> list[DecisionRow]:
    """What was decided about a tenant, the newest first."""
    where = [] if kind is None else [decision_history.c.kind == kind]
    page = _Page(decision_history.c.seq, project, before, limit)
    return [DecisionRow(**row) for row in page.rows(store, tenant, where=where)]


def usage_of(store: SqlStore, tenant: str, *, limit: int = PAGE) -> list[UsageRow]:
    """What a tenant used, a row for each project, by name."""
    table = usage_by_tenant
    query = select(table).where(table.c.tenant == tenant).order_by(table.c.project)
    with store.reading() as connection:
        rows = connection.execute(query.limit(_checked(limit))).mappings().all()
    return [UsageRow(**{**row, "project": row["project"] or None}) for row in rows]


def projected_size(store: SqlStore) -> int:
    """How many records of the journal the tables know."""
    with store.reading() as connection:
        return connection.scalar(select(func.max(projection_state.c.size))) or 0


@dataclass(frozen=True, slots=True)
class _Page:
    key: Column[Any]
    project: str | None
    before: int | None
    limit: int

    def rows(self, store: SqlStore, tenant: str, *, where: list[Any]) -> list[dict[str, Any]]:
        table: Table = self.key.table
        query = select(table).where(table.c.tenant == tenant, *where)
        if self.project is not None:
            query = query.where(table.c.project == self.project)
        if self.before is not None:
            query = query.where(self.key < self.before)
        query = query.order_by(self.key.desc()).limit(_checked(self.limit))
        with store.reading() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]


def _checked(limit: int) -> int:
    if not 1 <= limit <= PAGE_MAX:
        raise InvalidValue("limit", limit, f"1 to {PAGE_MAX}")
    return limit
