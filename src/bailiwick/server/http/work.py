"""Handlers for leases, the queue and a tenant's part of the journal.

Rules:

- To ask for a lease answers 201 (runs), 202 (waits) or 409 (refused, with the decision); a dry run
  answers 200 with what would happen, decided by the same code on the same state.
- A lease or entry of another is not there: same status, same words.
- What a tenant reads of the journal names no other tenant: who took its place is "another".
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import Any, cast

from fastapi.responses import JSONResponse
from pydantic import TypeAdapter

from bailiwick.iam import FLEET, Permission, Scope
from bailiwick.journal.record import Record, parse_record
from bailiwick.kernel import Cancel, Command, Granted, Queued, Release, Renew, ReportCheckpoint
from bailiwick.kernel import State as KernelState
from bailiwick.kernel import events as ev
from bailiwick.kernel.answers import Refused
from bailiwick.kernel.codec import decode_command, encode_answer
from bailiwick.kernel.request_body import amounts_of, denial_body
from bailiwick.kernel.views import waiting_entry
from bailiwick.server.http.asked import Asked, Changing, Here, may_everywhere
from bailiwick.server.http.params import Limit, NumberCursor, PathName, PathNumber, ShortLimit
from bailiwick.server.problems import Trouble
from bailiwick.services.replica import View
from bailiwick.vocab.errors import InvariantBroken
from bailiwick.wire import answers as told
from bailiwick.wire import work as wire
from bailiwick.wire.base import Page
from bailiwick.wire.fleet import Held
from bailiwick.wire.problem import EdgeCode

Plain = dict[str, Any]

SCAN_MAX = 2_000
"""Records that are looked at for one page; a page may so have fewer rows than there are."""

_PLAN: TypeAdapter[told.Plan] = TypeAdapter(told.Plan)
_ANSWER: TypeAdapter[told.Granted | told.Queued] = TypeAdapter(told.Granted | told.Queued)
_DENIAL: TypeAdapter[told.Denial] = TypeAdapter(told.Denial)

# -- leases ----------------------------------------------------------------------------------


async def request_lease(asked: Changing, body: wire.LeaseRequest) -> JSONResponse:
    """Ask for resources, now or (``wait``) as soon as they can be had."""
    scope = Scope.of(body.tenant, body.project)
    asked.require(scope)
    await asked.look(lambda view: view.state.directory.check_scope(scope))
    command = _submit(body)
    if asked.dry_run:
        plan = _plan(await asked.house.looks.rehearse(command))
        return JSONResponse(plan.model_dump(mode="json"), 200)
    answer = await asked.call(command)
    match answer:
        case Granted() | Queued():
            status = 201 if isinstance(answer, Granted) else 202
            spelled = _ANSWER.validate_python(encode_answer(answer))
            return JSONResponse(spelled.model_dump(mode="json"), status)
        case Refused():
            decision = told.Refused.model_validate(encode_answer(answer))
            reason = answer.denied.reason
            message = f"refused: {reason.value}, {decision.denied.detail}"
            raise Trouble(
                EdgeCode.REFUSED, message, decision=decision, retryable=reason.is_transient
            )
        case _:
            raise InvariantBroken(f"a request was answered with {answer}")


async def list_leases(
    asked: Here, *, cursor: NumberCursor = None, limit: Limit = 100
) -> Page[wire.Lease]:
    """The leases that the caller may see, oldest first."""
    asked.require_within(FLEET)
    after = int(cursor or 0)

    def read(view: View) -> tuple[list[Plain], str | None]:
        state, may = view.state, _Seen(asked)
        own = (i for i in state.leases if i > after and may(state.owner_of(i)))
        ids = heapq.nsmallest(limit + 1, own)
        rows = [_lease_row(state, lease_id) for lease_id in ids[:limit]]
        return rows, str(ids[limit - 1]) if len(ids) > limit else None

    rows, following = await asked.look(read)
    return Page(items=[wire.Lease.model_validate(row) for row in rows], next=following)


async def read_lease(asked: Here, lease_id: PathNumber) -> wire.Lease:
    """One lease."""
    await _require_lease(asked, lease_id)
    return wire.Lease.model_validate(
        await asked.look(lambda view: _lease_row(view.state, lease_id))
    )


async def renew_lease(asked: Changing, lease_id: PathNumber, *, body: wire.Renewal) -> told.Done:
    """Hold a lease for another term from now."""
    await _require_lease(asked, lease_id)
    return await asked.do(Renew(lease_id, body.ttl_ms, body.generation))


async def release_lease(asked: Changing, lease_id: PathNumber) -> told.Done:
    """Give a lease back."""
    await _require_lease(asked, lease_id)
    return await asked.do(Release(lease_id))


async def report_checkpoint(asked: Changing, lease_id: PathNumber) -> told.Done:
    """Say that the work is saved; during grace this ends the lease now."""
    await _require_lease(asked, lease_id)
    return await asked.do(ReportCheckpoint(lease_id))


# -- the queue -------------------------------------------------------------------------------


async def list_queue(
    asked: Here, *, cursor: NumberCursor = None, limit: ShortLimit = 20
) -> Page[wire.QueueEntry]:
    """The waiting requests that the caller may see, oldest first."""
    asked.require_within(FLEET)
    after = int(cursor or 0)

    def read(view: View) -> tuple[list[Plain], str | None]:
        entries, may = view.state.line.entries, _Seen(asked)
        rows = (e for e in entries.values() if e.id > after and may(ev.Owner.of(e.request)))
        ids = heapq.nsmallest(limit + 1, (entry.id for entry in rows))
        found = [_entry_row(view, entry_id) for entry_id in ids[:limit]]
        return found, str(ids[limit - 1]) if len(ids) > limit else None

    rows, following = await asked.look(read)
    return Page(items=[wire.QueueEntry.model_validate(row) for row in rows], next=following)


async def read_entry(asked: Here, entry_id: PathNumber) -> wire.QueueEntry:
    """One waiting request: where it stands, what is in its way, when it may start."""
    await _require_entry(asked, entry_id)
    return wire.QueueEntry.model_validate(await asked.look(lambda view: _entry_row(view, entry_id)))


async def cancel_entry(asked: Changing, entry_id: PathNumber) -> told.Done:
    """Take a waiting request out of the queue."""
    await _require_entry(asked, entry_id)
    return await asked.do(Cancel(entry_id))


# -- the journal -----------------------------------------------------------------------------


async def list_records(
    asked: Here, tenant: PathName, *, cursor: NumberCursor = None, limit: Limit = 100
) -> Page[wire.JournalRecord]:
    """A tenant's own records in the order of the journal; ``next`` is null at its end."""
    asked.require(Scope(tenant))
    first, store = int(cursor or 0), asked.house.looks.store

    def read(view: View) -> tuple[list[bytes], int]:
        view.state.directory.tenant(tenant)
        return store.read(first, SCAN_MAX), view.state.size

    lines, size = await asked.look(read)
    everything = may_everywhere(asked.principal, Permission.JOURNAL_READ, scopes={FLEET})
    rows: list[wire.JournalRecord] = []
    seen = first
    for line in lines:
        if len(rows) == limit:
            break
        record = parse_record(line.rstrip(b"\n"))
        seen = record.seq + 1
        if record.tenant == tenant:
            rows.append(_record(record, whole=everything))
    return Page(items=rows, next=str(seen) if lines and seen < size else None)


def _record(record: Record, *, whole: bool) -> wire.JournalRecord:
    body = {name: _thawed(value) for name, value in record.body.items()}
    if not whole and body.get("preemptor", record.tenant) != record.tenant:
        body["preemptor"] = "another"
    return wire.JournalRecord(
        seq=record.seq,
        at_ms=record.at_ms,
        kind=record.kind.value,
        tenant=record.tenant,
        project=record.project,
        actor=record.actor,
        correlation_id=record.correlation_id,
        body=body,
        prev_hash=record.prev_hash,
    )


def _thawed(value: object) -> object:
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value


# -- what they share -------------------------------------------------------------------------


class _Seen:
    """Whether rows of an owner are seen, asked once for each owner."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._known: dict[ev.Owner, bool] = {}

    def __call__(self, owner: ev.Owner) -> bool:
        found = self._known.get(owner)
        if found is None:
            found = self._known[owner] = self._asked.may(Scope(*owner))
        return found


async def _require_lease(asked: Asked, lease_id: int) -> None:
    def owner(view: View) -> Scope | None:
        state = view.state
        return Scope(*state.owner_of(lease_id)) if lease_id in state.leases else None

    asked.require(await asked.locate(owner))


async def _require_entry(asked: Asked, entry_id: int) -> None:
    def owner(view: View) -> Scope | None:
        entry = view.state.line.entries.get(entry_id)
        return None if entry is None else Scope(*ev.Owner.of(entry.request))

    asked.require(await asked.locate(owner))


def _submit(body: wire.LeaseRequest) -> Command:
    request = body.model_dump(
        mode="json", exclude={"tenant", "project", "wait"}, exclude_defaults=True
    )
    request |= {
        "resources": body.resources.model_dump(),
        "priority": body.priority.value,
        "lease_class": body.lease_class.value,
    }
    if body.preemptible_on_budget:
        request["preemptible_on_budget"] = 1
    plain: Plain = {"command": "submit", "tenant": body.tenant, "wait": body.wait}
    if body.project is not None:
        plain["project"] = body.project
    return decode_command(plain | {"request": request})


def _plan(event: ev.Event | None) -> told.Plan:
    match event:
        case ev.AdmissionApproved():
            nodes = [str(node) for node in event.nodes]
            return told.WouldGrant(plan="grant", nodes=nodes)
        case ev.RequestQueued():
            why = None if event.denied is None else denial_body(event.denied)
            return _PLAN.validate_python({"plan": "queue", "denied": why})
        case ev.AdmissionDenied():
            return _PLAN.validate_python({"plan": "refuse", "denied": denial_body(event.denied)})
        case _:
            return told.WouldPreempt(plan="preempt")


def _lease_row(state: KernelState, lease_id: int) -> Plain:
    lease, owner = state.ledger.told(state.handle(lease_id)), state.owner_of(lease_id)
    return {
        "lease_id": lease_id,
        "tenant": str(owner.tenant),
        "project": None if owner.project is None else str(owner.project),
        "node": str(lease.node),
        "resources": Held(**amounts_of(lease.resources)),
        "devices": list(lease.devices),
        "priority": lease.priority,
        "lease_class": lease.lease_class,
        "state": lease.state,
        "generation": lease.generation,
        "granted_ms": lease.granted_ms,
        "expires_ms": lease.expires_ms,
        "gang": lease.gang,
    }


def _entry_row(view: View, entry_id: int) -> Plain:
    entry = waiting_entry(view.state, entry_id, now_ms=view.now_ms)
    project = entry.request.project
    return {
        "entry_id": entry.id,
        "tenant": str(entry.request.tenant),
        "project": None if project is None else str(project),
        "submitted_ms": entry.submitted_ms,
        "position": entry.position,
        "reason": entry.reason,
        "blockers": [_DENIAL.validate_python(denial_body(each)) for each in entry.blockers],
        "estimate": wire.Estimate(
            starts_ms=entry.estimate.starts_ms, basis=cast(Any, entry.estimate.basis.value)
        ),
    }
