"""What was decided: all that became of a lease, and all decisions about a tenant.

Rules:

- What became of a lease is told by the journal's own records, from its place in the queue to its
  end, also when it has ended. A lease of another is not there: same answer, same words.
- A record that names leases of several owners (a node departed) is told with this lease alone.
- Who asked for the room that a lease had to leave worded the correlation id, and may be anybody:
  only whoever may read the whole journal is told it.
"""

from __future__ import annotations

from dataclasses import replace

from bailiwick.iam import FLEET, Permission, Scope
from bailiwick.journal.kinds import RecordKind
from bailiwick.journal.record import Record, parse_record
from bailiwick.runtime.replica import View
from bailiwick.services.caller import Caller
from bailiwick.services.history import History
from bailiwick.services.pages import Rows, cut
from bailiwick.store.history.questions import (
    DecisionRow,
    LeaseRow,
    decisions_of,
    lease_of,
    records_about,
)
from bailiwick.vocab.errors import Unavailable
from bailiwick.vocab.words import MAKES_ROOM

ANOTHER = "another"
"""How somebody is told of whom the caller may not know."""


async def explain_lease(
    caller: Caller, history: History, *, lease_id: int, after: int, limit: int
) -> Rows[Record]:
    """What became of a lease and why: its records in order, from the queue to its end."""
    lease = await _require_lease(caller, history, lease_id)
    lines = await history.ask(
        caller.gateway.role,
        lambda store: records_about(store, lease, after=after, limit=limit + 1),
    )
    records = [parse_record(line.rstrip(b"\n")) for line in lines[:limit]]
    own = [_alone(record, lease_id) for record in records if _concerns(record, lease)]
    return own, str(records[-1].seq) if len(lines) > limit else None


async def page(
    caller: Caller,
    history: History,
    *,
    tenant: str,
    kind: str | None,
    before: int | None,
    limit: int,
) -> Rows[DecisionRow]:
    """What was decided about a tenant, the newest first; of projects, those one may see."""
    caller.require_within(Scope(tenant))
    await caller.lookup(lambda view: view.state.directory.tenant(tenant))
    projects = caller.visible_projects(tenant)
    rows = await history.ask(
        caller.gateway.role,
        lambda store: decisions_of(
            store, tenant, projects=projects, kind=kind, before=before, limit=limit + 1
        ),
    )
    sees_all = sees_journal(caller)
    shown = [row if sees_all else _masked(row) for row in rows]
    return cut(shown, limit, key=lambda row: row.seq)


def sees_journal(caller: Caller) -> bool:
    """Whether the caller may read the whole journal, and so may know of everybody in it."""
    return caller.holds(Permission.JOURNAL_READ, FLEET)


async def _require_lease(caller: Caller, history: History, lease_id: int) -> LeaseRow:
    """The lease, if it is one that the caller may see."""
    row = await history.ask(caller.gateway.role, lambda store: lease_of(store, lease_id))

    def owner(view: View) -> Scope | None:
        if row is not None:
            return Scope.of(row.tenant, row.project)
        state = view.state
        return Scope(*state.owner_of(lease_id)) if lease_id in state.leases else None

    caller.for_lease(lease_id)
    caller.require(await caller.locate(owner))
    if row is None:  # a follower's tables are as new as the leader has made them
        raise Unavailable("the history", f"it does not know lease {lease_id} yet")
    return row


def _concerns(record: Record, lease: LeaseRow) -> bool:
    if record.kind is RecordKind.NODE_DEPARTED:
        return True
    return (record.tenant, record.project) == (lease.tenant, lease.project)


def _alone(record: Record, lease_id: int) -> Record:
    if record.kind is not RecordKind.NODE_DEPARTED:
        return record
    return replace(record, body={**record.body, "lease_ids": (lease_id,)})


def _masked(row: DecisionRow) -> DecisionRow:
    made_room = row.reason in MAKES_ROOM
    if not made_room and row.kind != RecordKind.LEASE_RESTORED:
        return row
    return replace(row, correlation_id=ANOTHER)
