"""Leases, requests for them, and what was decided: parse, call one service, spell the answer.

To ask for a lease answers 201 (runs), 202 (waits) or 409 (refused, with the decision); a dry run
answers 200 with what would happen, decided by the same code on the same state.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import Query
from fastapi.responses import JSONResponse

from bailiwick.kernel import Granted, Queued, Refused
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Changing, Here, InHouse
from bailiwick.server.http.params import Limit, NumberCursor, PathName, PathNumber, spell_page
from bailiwick.server.http.parsing import scope_of, submit_of
from bailiwick.server.http.spelling import (
    spell_answer,
    spell_denial,
    spell_done,
    spell_lease,
    spell_plan,
    spell_record,
    spell_remedy,
    trouble_of_refusal,
)
from bailiwick.services import decisions, leases, plans
from bailiwick.services.plans import PricedPlan
from bailiwick.store.history import DecisionRow
from bailiwick.vocab.words import PreemptionReason
from bailiwick.wire import work as wire
from bailiwick.wire.answers import Done
from bailiwick.wire.asking import Decision, Explanation
from bailiwick.wire.base import Page
from bailiwick.wire.fleet import Eviction, TeardownReport

KindQuery = Annotated[
    str | None,
    Query(pattern="^[a-z_]{1,40}$", description="Only records of this kind."),
]


@answers("lease.request")
async def request_lease(caller: Changing, body: wire.LeaseRequest) -> JSONResponse:
    """Ask for resources now or, with ``wait``, as soon as they are free."""
    found = await leases.request_lease(caller, scope_of(body), ask=lambda: submit_of(body))
    match found:
        case PricedPlan():
            return JSONResponse(spell_plan(found).model_dump(mode="json"), 200)
        case Granted() | Queued():
            status = 201 if isinstance(found, Granted) else 202
            return JSONResponse(spell_answer(found).model_dump(mode="json"), status)
        case Refused():
            raise trouble_of_refusal(found)


@answers("lease.list")
async def list_leases(
    caller: Here, *, cursor: NumberCursor = None, limit: Limit = 100
) -> Page[wire.Lease]:
    """The leases that the caller may see, oldest first."""
    rows = await leases.list_leases(caller, after=int(cursor or 0), limit=limit)
    return spell_page(rows, spell_lease)


@answers("lease.read")
async def read_lease(caller: Here, lease_id: PathNumber) -> wire.Lease:
    """One lease."""
    return spell_lease(await leases.read_lease(caller, lease_id))


@answers("lease.renew")
async def renew_lease(caller: Changing, lease_id: PathNumber, *, body: wire.Renewal) -> Done:
    """Hold a lease for another term from now."""
    return spell_done(
        await leases.renew_lease(caller, lease_id, ttl_ms=body.ttl_ms, generation=body.generation)
    )


@answers("lease.release")
async def release_lease(caller: Changing, lease_id: PathNumber) -> Done:
    """Give a lease back."""
    return spell_done(await leases.release_lease(caller, lease_id))


@answers("lease.checkpoint")
async def report_checkpoint(caller: Changing, lease_id: PathNumber) -> Done:
    """Say that the work is saved; during grace this ends the lease now."""
    return spell_done(await leases.report_checkpoint(caller, lease_id))


@answers("lease.evict")
async def evict_lease(caller: Changing, lease_id: PathNumber, *, body: Eviction) -> Done:
    """End a lease, and its gang, for one of the operator's reasons."""
    reason = PreemptionReason(body.reason)
    return spell_done(
        await leases.evict_lease(caller, lease_id, reason=reason, grace_ms=body.grace_ms)
    )


@answers("lease.clear_fence")
async def clear_fence(caller: Changing, lease_id: PathNumber) -> Done:
    """Say that you looked at what a fenced lease held, and that it is clean."""
    return spell_done(await leases.clear_fence(caller, lease_id))


@answers("lease.teardown")
async def report_teardown(caller: Changing, lease_id: PathNumber, *, body: TeardownReport) -> Done:
    """Say whether what a lease held is free; only that, or a fence, ends a confirmed teardown."""
    return spell_done(await leases.report_teardown(caller, lease_id, clean=body.clean))


# -- why -------------------------------------------------------------------------------------


@answers("request.explain")
async def explain_request(caller: Here, body: wire.LeaseRequest) -> Explanation:
    """Why a request would run, wait or be refused now, and what would help; nothing changes."""
    found, plan = await plans.explain_request(caller, scope_of(body), ask=lambda: submit_of(body))
    return Explanation(
        blocker=None if found.blocker is None else spell_denial(found.blocker),
        blockers=[spell_denial(each) for each in found.blockers],
        nodes=found.fitting + sum(found.fallen.values()),
        fallen=dict(found.fallen),
        fitting=found.fitting,
        remedy=spell_remedy(found.remedy),
        plan=spell_plan(plan),
    )


@answers("lease.explain")
async def explain_lease(
    caller: Here,
    lease_id: PathNumber,
    *,
    house: InHouse,
    cursor: NumberCursor = None,
    limit: Limit = 100,
) -> Page[wire.JournalRecord]:
    """What became of a lease and why: its records in order, from the queue to its end."""
    after = -1 if cursor is None else int(cursor)
    rows = await decisions.explain_lease(
        caller, lease_id, history=house.parts.history, after=after, limit=limit
    )
    return spell_page(rows, spell_record)


@answers("decision.list")
async def list_decisions(
    caller: Here,
    tenant: PathName,
    *,
    house: InHouse,
    kind: KindQuery = None,
    cursor: NumberCursor = None,
    limit: Limit = 100,
) -> Page[Decision]:
    """What was decided about a tenant, the newest first; of projects, those one may see."""
    rows = await decisions.list_decisions(
        caller,
        tenant,
        history=house.parts.history,
        kind=kind,
        before=None if cursor is None else int(cursor),
        limit=limit,
    )
    return spell_page(rows, _decision)


def _decision(row: DecisionRow) -> Decision:
    told = asdict(row)
    del told["tenant"]
    return Decision(**told)
