"""Handlers for leases, the queue and a tenant's part of the journal.

Rules:

- To ask for a lease answers 201 (runs), 202 (waits) or 409 (refused, with the decision); a dry run
  answers 200 with what would happen, decided by the same code on the same state.
- A lease or entry of another is not there: same status, same words.
- What a tenant reads of the journal names nobody of another: who took its place is "another",
  and the numbers of the leases that went for it are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from fastapi.responses import JSONResponse
from pydantic import TypeAdapter

from bailiwick.iam import FLEET, Permission, Scope
from bailiwick.journal.kinds import RecordKind
from bailiwick.journal.record import Record, parse_record
from bailiwick.kernel import Cancel, Command, Granted, Queued, Release, Renew, ReportCheckpoint
from bailiwick.kernel import State as KernelState
from bailiwick.kernel import owner as ev
from bailiwick.kernel.answers import Refused
from bailiwick.kernel.codec import encode_answer
from bailiwick.kernel.spelling import amounts_of
from bailiwick.kernel.views import waiting_entry
from bailiwick.runtime.replica import ACTOR, View
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Asked, Changing, Here
from bailiwick.server.http.params import Limit, NumberCursor, PathName, PathNumber, ShortLimit
from bailiwick.server.http.plans import plan_of, spell_denial, spell_remedy, submit_of
from bailiwick.server.problems import Trouble
from bailiwick.services.decisions import ANOTHER
from bailiwick.vocab.errors import InvariantBroken
from bailiwick.vocab.words import PreemptionReason
from bailiwick.wire import answers as told
from bailiwick.wire import work as wire
from bailiwick.wire.base import Page
from bailiwick.wire.fleet import Held
from bailiwick.wire.problem import EdgeCode

Plain = dict[str, Any]

SCAN_MAX = 2_000
"""Records that are looked at for one page; a page may so have fewer rows than there are."""

_ANSWER: TypeAdapter[told.Granted | told.Queued] = TypeAdapter(told.Granted | told.Queued)

# -- leases ----------------------------------------------------------------------------------


@answers("lease.request")
async def request_lease(asked: Changing, body: wire.LeaseRequest) -> JSONResponse:
    """Ask for resources now or, with ``wait``, as soon as they are free."""
    scope = Scope.of(body.tenant, body.project)
    asked.require(scope)
    await asked.read(lambda view: view.state.directory.check_scope(scope))
    command = submit_of(body)
    if asked.dry_run:
        plan = await plan_of(asked, command)
        return JSONResponse(plan.model_dump(mode="json"), 200)
    answer = await asked.execute(command)
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


@answers("lease.list")
async def list_leases(
    asked: Here, *, cursor: NumberCursor = None, limit: Limit = 100
) -> Page[wire.Lease]:
    """The leases that the caller may see, oldest first."""
    asked.require_within(FLEET)
    after = int(cursor or 0)

    def read(view: View) -> tuple[list[Plain], str | None]:
        ids = view.leases.page(_seen_by(asked), after=after, limit=limit + 1)
        rows = [_lease_row(view.state, lease_id) for lease_id in ids[:limit]]
        return rows, str(ids[limit - 1]) if len(ids) > limit else None

    rows, following = await asked.read(read)
    return Page(items=[wire.Lease.model_validate(row) for row in rows], next=following)


@answers("lease.read")
async def read_lease(asked: Here, lease_id: PathNumber) -> wire.Lease:
    """One lease."""
    await _require_lease(asked, lease_id)
    return wire.Lease.model_validate(
        await asked.read(lambda view: _lease_row(view.state, lease_id))
    )


@answers("lease.renew")
async def renew_lease(asked: Changing, lease_id: PathNumber, *, body: wire.Renewal) -> told.Done:
    """Hold a lease for another term from now."""
    command = Renew(lease_id, body.ttl_ms, body.generation)
    await _require_lease(asked, lease_id, command)
    return await asked.do(command)


@answers("lease.release")
async def release_lease(asked: Changing, lease_id: PathNumber) -> told.Done:
    """Give a lease back."""
    await _require_lease(asked, lease_id, Release(lease_id))
    return await asked.do(Release(lease_id))


@answers("lease.checkpoint")
async def report_checkpoint(asked: Changing, lease_id: PathNumber) -> told.Done:
    """Say that the work is saved; during grace this ends the lease now."""
    await _require_lease(asked, lease_id, ReportCheckpoint(lease_id))
    return await asked.do(ReportCheckpoint(lease_id))


# -- the queue -------------------------------------------------------------------------------


@answers("queue.list")
async def list_queue(
    asked: Here, *, cursor: NumberCursor = None, limit: ShortLimit = 20
) -> Page[wire.QueueEntry]:
    """The waiting requests that the caller may see, oldest first."""
    asked.require_within(FLEET)
    after = int(cursor or 0)

    def read(view: View) -> tuple[list[Plain], str | None]:
        ids = view.waiting.page(_seen_by(asked), after=after, limit=limit + 1)
        found = [_entry_row(view, entry_id) for entry_id in ids[:limit]]
        return found, str(ids[limit - 1]) if len(ids) > limit else None

    rows, following = await asked.read(read)
    return Page(items=[wire.QueueEntry.model_validate(row) for row in rows], next=following)


@answers("queue.read")
async def read_entry(asked: Here, entry_id: PathNumber) -> wire.QueueEntry:
    """One waiting request: where it stands, what is in its way, when it may start."""
    await _require_entry(asked, entry_id)
    return wire.QueueEntry.model_validate(await asked.read(lambda view: _entry_row(view, entry_id)))


@answers("queue.cancel")
async def cancel_entry(asked: Changing, entry_id: PathNumber) -> told.Done:
    """Take a waiting request out of the queue."""
    await _require_entry(asked, entry_id, Cancel(entry_id))
    return await asked.do(Cancel(entry_id))


# -- the journal -----------------------------------------------------------------------------


@answers("record.list")
async def list_records(
    asked: Here, tenant: PathName, *, cursor: NumberCursor = None, limit: Limit = 100
) -> Page[wire.JournalRecord]:
    """A tenant's own records in the order of the journal; ``next`` is null at its end."""
    asked.require(Scope(tenant))
    first = int(cursor or 0)
    await asked.read(lambda view: view.state.directory.tenant(tenant))
    lines = await asked.records(first, SCAN_MAX)
    size = asked.house.gateway.journal.size
    everything = asked.holds(Permission.JOURNAL_READ)
    rows: list[wire.JournalRecord] = []
    seen = first
    for line in lines:
        if len(rows) == limit:
            break
        record = parse_record(line.rstrip(b"\n"))
        seen = record.seq + 1
        if record.tenant == tenant:
            rows.append(spell_record(record, whole=everything))
    return Page(items=rows, next=str(seen) if lines and seen < size else None)


def names_another(record: Record) -> bool:
    """Whether a tenant's record tells of somebody or something that may be another's."""
    body = record.body
    return (
        body.get("preemptor", record.tenant) != record.tenant
        or bool(body.get("victims"))
        or _has_foreign_actor(record)
    )


def _has_foreign_actor(record: Record) -> bool:
    """Who asked for the room may be of any tenant, and words its request as it likes."""
    evicted = record.body.get("reason") == PreemptionReason.PRIORITY_PREEMPTION
    return evicted and record.actor != ACTOR


def spell_record(record: Record, *, whole: bool) -> wire.JournalRecord:
    """A record as its owner may read it; ``whole`` for who may read everybody's."""
    body = {name: _thawed(value) for name, value in record.body.items()}
    if record.kind is RecordKind.ACCESS_TOKEN_ISSUED:
        del body["digest"]  # what a token is known by is in no answer
    actor, correlation_id = record.actor, record.correlation_id
    if not whole:
        if body.get("preemptor", record.tenant) != record.tenant:
            body["preemptor"] = ANOTHER
        if "victims" in body:
            body["victims"] = []
        if _has_foreign_actor(record):
            actor, correlation_id = ANOTHER, ANOTHER
    return wire.JournalRecord(
        seq=record.seq,
        at_ms=record.at_ms,
        kind=record.kind.value,
        tenant=record.tenant,
        project=record.project,
        actor=actor,
        correlation_id=correlation_id,
        body=body,
        prev_hash=record.prev_hash,
    )


def _thawed(value: object) -> object:
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value


# -- what they share -------------------------------------------------------------------------


def _seen_by(asked: Asked) -> Callable[[ev.Owner], bool] | None:
    """Whose rows the caller may see; ``None`` for everybody's."""
    return None if asked.may(FLEET) else lambda owner: asked.may(Scope(*owner))


async def _require_lease(asked: Asked, lease_id: int, command: Command | None = None) -> None:
    def owner(view: View) -> Scope | None:
        state = view.state
        return Scope(*state.owner_of(lease_id)) if lease_id in state.leases else None

    await asked.require_at(owner, command)


async def _require_entry(asked: Asked, entry_id: int, command: Command | None = None) -> None:
    def owner(view: View) -> Scope | None:
        entry = view.state.line.entries.get(entry_id)
        return None if entry is None else Scope(*ev.Owner.of(entry.request))

    await asked.require_at(owner, command)


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
        "blockers": [spell_denial(each) for each in entry.blockers],
        "fallen": dict(entry.fallen),
        "fitting": entry.fitting,
        "remedy": spell_remedy(entry.remedy),
        "estimate": told.Estimate(
            starts_ms=entry.estimate.starts_ms, basis=cast(Any, entry.estimate.basis.value)
        ),
    }
