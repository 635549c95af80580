"""Handlers that explain: why a request would not run, what became of a lease, what was decided.

Rules:

- To explain changes nothing and is never refused because the request would be: the answer says so.
- What became of a lease is told by the journal's own records, from its place in the queue to its
  end, also when it has ended. A lease of another is not there: same status, same words.
- A record that names leases of several owners (a node departed) is told with this lease alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, TypeVar

from fastapi import Query

from bailiwick.iam import FLEET, Permission, Scope
from bailiwick.journal.record import Record, parse_record
from bailiwick.journal.words import RecordKind
from bailiwick.kernel.work import plan as pl
from bailiwick.server.http.asked import Asked, Here, may_everywhere
from bailiwick.server.http.params import Limit, NumberCursor, PathName, PathNumber
from bailiwick.server.http.plans import (
    ANOTHER,
    Speller,
    card_now,
    spell_denial,
    spell_remedy,
    submit_of,
)
from bailiwick.server.http.work import spell_record
from bailiwick.services.replica import View
from bailiwick.store.history import DecisionRow, LeaseRow, decisions_of, lease_of, records_about
from bailiwick.store.sql_store import SqlStore
from bailiwick.vocab.errors import Unavailable
from bailiwick.vocab.words import PreemptionReason
from bailiwick.wire import asking as wire
from bailiwick.wire.base import Page
from bailiwick.wire.work import JournalRecord, LeaseRequest

T = TypeVar("T")

KindQuery = Annotated[
    str | None,
    Query(pattern="^[a-z_]{1,40}$", description="Only records of this kind."),
]


async def explain_request(asked: Here, body: LeaseRequest) -> wire.Explanation:
    """Why a request would run, wait or be refused now, and what would help; nothing changes."""
    scope = Scope.of(body.tenant, body.project)
    asked.require(scope)
    command = submit_of(body)

    def read(view: View) -> wire.Explanation:
        view.state.directory.check_scope(scope)
        found = pl.explain(view.state, command, now_ms=view.now_ms)
        fleet = pl.generations_for(view.state, command.request)
        speller = Speller(asked.principal, card_now(view, command))
        return wire.Explanation(
            blocker=None if found.blocker is None else spell_denial(found.blocker),
            blockers=[spell_denial(each) for each in found.blockers],
            nodes=found.fitting + sum(found.fallen.values()),
            fallen=dict(found.fallen),
            fitting=found.fitting,
            remedy=spell_remedy(found.remedy),
            plan=speller.spell(found.plan, command, fleet=fleet),
        )

    return await asked.look(read)


async def explain_lease(
    asked: Here, lease_id: PathNumber, *, cursor: NumberCursor = None, limit: Limit = 100
) -> Page[JournalRecord]:
    """What became of a lease and why: its records in order, from the queue to its end."""
    lease = await _require_lease(asked, lease_id)
    after = -1 if cursor is None else int(cursor)

    def read(store: SqlStore) -> list[bytes]:
        return records_about(store, lease, after=after, limit=limit + 1)

    lines = await ask_past(asked, read)
    whole = may_everywhere(asked.principal, Permission.JOURNAL_READ, scopes={FLEET})
    records = [parse_record(line.rstrip(b"\n")) for line in lines[:limit]]
    own = [record for record in records if _concerns(record, lease)]
    rows = [_alone(spell_record(record, whole=whole), lease_id) for record in own]
    return Page(items=rows, next=str(records[-1].seq) if len(lines) > limit else None)


async def list_decisions(
    asked: Here,
    tenant: PathName,
    *,
    kind: KindQuery = None,
    cursor: NumberCursor = None,
    limit: Limit = 100,
) -> Page[wire.Decision]:
    """What was decided about a tenant, the newest first; of projects, those one may see."""
    scope = Scope(tenant)
    asked.require_within(scope)
    await asked.look(lambda view: view.state.directory.tenant(tenant))
    projects, before = visible_projects(asked, tenant), None if cursor is None else int(cursor)

    def read(store: SqlStore) -> list[DecisionRow]:
        return decisions_of(
            store, tenant, projects=projects, kind=kind, before=before, limit=limit + 1
        )

    rows = await ask_past(asked, read)
    whole = may_everywhere(asked.principal, Permission.JOURNAL_READ, scopes={FLEET})
    shown = [_decision(row, whole=whole) for row in rows[:limit]]
    return Page(items=shown, next=str(shown[-1].seq) if len(rows) > limit else None)


# -- what they share -------------------------------------------------------------------------


async def ask_past(asked: Asked, read: Callable[[SqlStore], T]) -> T:
    """What ``read`` makes of the tables about the past."""
    past = asked.house.parts.past
    if past is None:
        raise Unavailable("the history", "this server keeps no tables of it")
    return await past.ask(asked.house.looks.runner.replica.role, read)


def visible_projects(asked: Asked, tenant: str) -> tuple[str, ...] | None:
    """The projects of the tenant in which the caller has the action's key; ``None`` for all."""
    if asked.may(Scope(tenant)):
        return None
    inside = (scope for scope in asked.principal.roles if scope.tenant == tenant)
    return tuple(sorted(s.project for s in inside if s.project is not None and asked.may(s)))


async def _require_lease(asked: Asked, lease_id: int) -> LeaseRow:
    """The lease, if it is one that the caller may see."""
    row = await ask_past(asked, lambda store: lease_of(store, lease_id))

    def owner(view: View) -> Scope | None:
        if row is not None:
            return Scope.of(row.tenant, row.project)
        state = view.state
        return Scope(*state.owner_of(lease_id)) if lease_id in state.leases else None

    asked.require(await asked.locate(owner))
    if row is None:  # a follower's tables are as new as the leader has made them
        raise Unavailable("the history", f"it does not know lease {lease_id} yet")
    return row


def _concerns(record: Record, lease: LeaseRow) -> bool:
    if record.kind is RecordKind.NODE_DEPARTED:
        return True
    return (record.tenant, record.project) == (lease.tenant, lease.project)


def _alone(row: JournalRecord, lease_id: int) -> JournalRecord:
    if row.kind != RecordKind.NODE_DEPARTED:
        return row
    return row.model_copy(update={"body": {**row.body, "lease_ids": [lease_id]}})


def _decision(row: DecisionRow, *, whole: bool) -> wire.Decision:
    told = asdict(row)
    del told["tenant"]
    if row.reason == PreemptionReason.PRIORITY_PREEMPTION and not whole:
        told["correlation_id"] = ANOTHER  # who asked for the room worded it, and may be anybody
    return wire.Decision(**told)
