"""In the course of what an event of a tick happens: of the request, change or evidence behind it.

Rules:

- A command's events stand in the course of the command. Only a tick's are asked about here: nobody
  sent it.
- What happens to a waiting request stands in its own course, also that it starts.
- A lease that must go, goes in the course of who counts on its room now; if nobody does any more,
  or it goes for another reason, of what told it to go. If it gets its place back, likewise.
- Burst credit and money end leases in the course of the quota or budget that says so: the project's
  if that can have been it, else the tenant's.
- Evidence lapses in the course of the verdict that was given on it, and so does what follows.
- What time alone brings about (a term that is over) has no course but the tick's own.
"""

from __future__ import annotations

from collections.abc import Iterable

from bailiwick.kernel.events import Event
from bailiwick.kernel.fleet.events import NodeModeChanged
from bailiwick.kernel.money.events import BudgetStateChanged
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.state import State
from bailiwick.kernel.trust.events import AttestationVerdict, NodeQuarantined
from bailiwick.kernel.work import events as ev
from bailiwick.kernel.work import lease_events as le
from bailiwick.kernel.work.ending import ATTESTATION, claimant_of
from bailiwick.vocab.words import BudgetState, PreemptionReason


def course_of(state: State, event: Event) -> str | None:
    """The course of a tick's event that is about to be applied; ``None`` for the tick's own."""
    book = state.courses
    match event:
        case ev.AdmissionApproved() if event.entry_id is not None:
            return book.entries.get(event.entry_id)
        case ev.RequestBlocked() | ev.RequestCancelled() | ev.RoomReserved():
            return book.entries.get(event.entry_id)
        case le.LeaseRevoked(preemptor=ATTESTATION.preemptor):
            # Of a gang, who was on the closed node may have gone already, without any grace.
            own = _of_eviction(state, event.lease_id, event.reason)
            return own or _of_last_closed(state, state.trust.quarantines)
        case le.LeaseRevoked() | le.LeasePreempted() | le.LeaseFenced():
            return _of_eviction(state, event.lease_id, event.reason)
        case le.LeaseRestored():
            return _as_told(state, event.lease_id)
        case NodeModeChanged():
            return book.drains.get(event.node)
        case BudgetStateChanged():
            return book.budgets.get(event.owner)
        case AttestationVerdict():
            return book.evidence.get((event.node, event.evidence_kind))
        case NodeQuarantined():
            return _of_evidence(state, event)
        case _:
            return None


def _of_eviction(state: State, lease_id: int, reason: PreemptionReason | None) -> str | None:
    claimant = claimant_of(state, lease_id, reason=reason)
    if claimant is not None:
        return state.courses.entries.get(claimant)
    return _as_told(state, lease_id) or _of_reason(state, lease_id, reason)


def _as_told(state: State, lease_id: int) -> str | None:
    """In the course of what the lease was told to go, if it was."""
    told = state.courses.evictions.get(lease_id)
    return None if told is None else told.course


def _of_reason(state: State, lease_id: int, reason: PreemptionReason | None) -> str | None:
    """In the course of what a lease is told to go now that nobody claims."""
    owner, book = state.owner_of(lease_id), state.courses
    scopes = (owner, Owner(owner.tenant))
    match reason:
        case PreemptionReason.BURST_CREDIT_EXHAUSTED:
            return next((book.quotas[s] for s in scopes if s in book.quotas), None)
        case PreemptionReason.BUDGET_EXHAUSTED:
            return next((book.budgets.get(s) for s in scopes if _is_spent(state, s)), None)
        case PreemptionReason.COST_CAP_EVICTION:
            return next((book.budgets.get(s) for s in scopes if _has_cap(state, s)), None)
        case PreemptionReason.POLICY_VIOLATION_RECOVERY:
            gang = state.with_gangs([lease_id])
            return _of_last_closed(state, {str(state.node_of(member)) for member in gang})
        case _:
            return None


def _is_spent(state: State, scope: Owner) -> bool:
    purse = state.spending.purses.get((str(scope.tenant), scope.project))
    return purse is not None and purse.standing.state is BudgetState.AUTO_RELEASE_PENDING


def _has_cap(state: State, scope: Owner) -> bool:
    purse = state.spending.purses.get((str(scope.tenant), scope.project))
    return purse is not None and purse.budget.cap_micros is not None


def _of_last_closed(state: State, nodes: Iterable[str]) -> str | None:
    """In the course of what the last of these nodes was closed."""
    held, book = state.trust.quarantines, state.courses.quarantines
    closed = [node for node in nodes if node in held and node in book]
    newest = max(closed, key=lambda node: held[node].seq, default=None)
    return None if newest is None else book[newest]


def _of_evidence(state: State, event: NodeQuarantined) -> str | None:
    for kind, held in (state.trust.standing(event.node) or {}).items():
        if held.evidence == event.evidence:
            return state.courses.evidence.get((event.node, kind))
    return None
