"""What was decided: everything that became of a lease, and all decisions about a tenant.

Rules:

- What became of a lease is told by the journal's own records, from its place in the queue to its
  end, also when it has ended. A lease of another is not there: same answer, same words.
- A record that names leases of several owners (a node departed) is told with this lease alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from bailiwick.iam import Scope
from bailiwick.journal.kinds import RecordKind
from bailiwick.journal.record import Record, parse_record
from bailiwick.runtime.replica import View
from bailiwick.services.caller import Caller
from bailiwick.services.history import History
from bailiwick.services.leases import lease_scope
from bailiwick.services.pages import Rows, cut
from bailiwick.services.plans import ANOTHER
from bailiwick.services.records import ToldRecord, reads_all, tell_record
from bailiwick.store.history import DecisionRow, LeaseRow, decisions_of, lease_of, records_about
from bailiwick.store.sql_store import SqlStore
from bailiwick.vocab.errors import Unavailable
from bailiwick.vocab.words import PreemptionReason

T = TypeVar("T")


async def explain_lease(
    caller: Caller, lease_id: int, *, history: History | None, after: int, limit: int
) -> Rows[ToldRecord]:
    """What became of a lease and why: its records in order, from the queue to its end."""
    lease = await _require_lease(caller, lease_id, history=history)

    def read(store: SqlStore) -> list[bytes]:
        return records_about(store, lease, after=after, limit=limit + 1)

    lines = await ask_history(caller, read, history=history)
    whole = reads_all(caller)
    records, following = cut(
        [parse_record(line.rstrip(b"\n")) for line in lines], limit, key=lambda row: row.seq
    )
    own = [record for record in records if _concerns(record, lease)]
    return [_alone(tell_record(record, whole=whole), lease_id) for record in own], following


async def list_decisions(
    caller: Caller,
    tenant: str,
    *,
    history: History | None,
    kind: str | None,
    before: int | None,
    limit: int,
) -> Rows[DecisionRow]:
    """What was decided about a tenant, the newest first; of projects, those one may see."""
    caller.require_within(Scope(tenant))
    await caller.read(lambda view: view.state.directory.tenant(tenant))
    projects = visible_projects(caller, tenant)

    def read(store: SqlStore) -> list[DecisionRow]:
        return decisions_of(
            store, tenant, projects=projects, kind=kind, before=before, limit=limit + 1
        )

    rows, following = cut(
        await ask_history(caller, read, history=history), limit, key=lambda row: row.seq
    )
    return (rows if reads_all(caller) else [_masked(row) for row in rows]), following


# -- what they share -------------------------------------------------------------------------


async def ask_history(
    caller: Caller, read: Callable[[SqlStore], T], *, history: History | None
) -> T:
    """What ``read`` makes of the tables about the past."""
    if history is None:
        raise Unavailable("the history", "this server keeps no tables of it")
    return await history.ask(caller.gateway.role, read)


def visible_projects(caller: Caller, tenant: str) -> tuple[str, ...] | None:
    """The projects of the tenant in which the caller has the action's key; ``None`` for all."""
    if caller.may(Scope(tenant)):
        return None
    inside = (scope for scope in caller.principal.roles if scope.tenant == tenant)
    return tuple(sorted(s.project for s in inside if s.project is not None and caller.may(s)))


async def _require_lease(caller: Caller, lease_id: int, *, history: History | None) -> LeaseRow:
    """The lease, if it is one that the caller may see."""
    row = await ask_history(caller, lambda store: lease_of(store, lease_id), history=history)

    def owner(view: View) -> Scope | None:
        if row is not None:
            return Scope.of(row.tenant, row.project)
        return lease_scope(view.state, lease_id)

    caller.require(await caller.locate(owner))
    if row is None:  # a follower's tables are as new as the leader has made them
        raise Unavailable("the history", f"it does not know lease {lease_id} yet")
    return row


def _concerns(record: Record, lease: LeaseRow) -> bool:
    if record.kind is RecordKind.NODE_DEPARTED:
        return True
    return (record.tenant, record.project) == (lease.tenant, lease.project)


def _alone(told: ToldRecord, lease_id: int) -> ToldRecord:
    if told.kind is not RecordKind.NODE_DEPARTED:
        return told
    return replace(told, body={**told.body, "lease_ids": [lease_id]})


def _masked(row: DecisionRow) -> DecisionRow:
    if row.reason != PreemptionReason.PRIORITY_PREEMPTION:
        return row
    return replace(row, correlation_id=ANOTHER)  # who asked for the room worded it: anybody
