"""Leases: parse, call one service, spell the answer.

To ask for a lease answers 201 (runs), 202 (waits) or 409 (refused, with the decision); a dry run
answers 200 with what would happen, decided by the same code on the same state. A renewal that is
denied answers 409 in the same way; the lease keeps its term.
"""

from __future__ import annotations

from fastapi.responses import JSONResponse

from bailiwick.kernel import Granted, Queued, Refused
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Changing, Here
from bailiwick.server.http.params import Limit, NumberCursor, OnNode, PathNumber, spell_page
from bailiwick.server.http.parsing import scope_of, submit_of
from bailiwick.server.http.spelling import (
    spell_answer,
    spell_done,
    spell_lease,
    spell_plan,
    trouble_of_refusal,
)
from bailiwick.services import leases
from bailiwick.services.plans import PricedPlan
from bailiwick.vocab.words import PreemptionReason
from bailiwick.wire import work as wire
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page
from bailiwick.wire.fleet import Eviction, TeardownReport


@answers("lease.request")
async def request_lease(asked: Changing, body: wire.LeaseRequest) -> JSONResponse:
    """Ask for resources now or, with ``wait``, as soon as they are free."""
    found = await leases.request_lease(asked, scope_of(body), ask=lambda: submit_of(body))
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
    asked: Here, *, cursor: NumberCursor = None, limit: Limit = 100, node: OnNode = None
) -> Page[wire.Lease]:
    """The leases that the caller may see, oldest first."""
    rows = await leases.list_leases(asked, after=int(cursor or 0), limit=limit, node=node)
    return spell_page(rows, spell_lease)


@answers("lease.read")
async def read_lease(asked: Here, lease_id: PathNumber) -> wire.Lease:
    """One lease."""
    return spell_lease(await leases.read_lease(asked, lease_id))


@answers("lease.renew")
async def renew_lease(asked: Changing, lease_id: PathNumber, *, body: wire.Renewal) -> Done:
    """Hold a lease for another term from now, if the time it adds is allowed."""
    found = await leases.renew_lease(
        asked, lease_id, ttl_ms=body.ttl_ms, generation=body.generation
    )
    if isinstance(found, Refused):
        raise trouble_of_refusal(found)
    return spell_done(found)


@answers("lease.release")
async def release_lease(asked: Changing, lease_id: PathNumber) -> Done:
    """Give a lease back."""
    return spell_done(await leases.release_lease(asked, lease_id))


@answers("lease.checkpoint")
async def report_checkpoint(asked: Changing, lease_id: PathNumber) -> Done:
    """Say that the work is saved; during grace this ends the lease now."""
    return spell_done(await leases.report_checkpoint(asked, lease_id))


@answers("lease.evict")
async def evict_lease(asked: Changing, lease_id: PathNumber, *, body: Eviction) -> Done:
    """End a lease, and its gang, for one of the operator's reasons."""
    reason = PreemptionReason(body.reason)
    return spell_done(
        await leases.evict_lease(asked, lease_id, reason=reason, grace_ms=body.grace_ms)
    )


@answers("lease.clear_fence")
async def clear_fence(asked: Changing, lease_id: PathNumber) -> Done:
    """Say that you looked at what a fenced lease held, and that it is clean."""
    return spell_done(await leases.clear_fence(asked, lease_id))


@answers("lease.teardown")
async def report_teardown(asked: Changing, lease_id: PathNumber, *, body: TeardownReport) -> Done:
    """Say whether what a lease held is free; only that, or a fence, ends a confirmed teardown."""
    return spell_done(await leases.report_teardown(asked, lease_id, clean=body.clean))
