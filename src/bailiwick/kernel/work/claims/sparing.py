"""Who gets his place back: claims that come to nothing, and victims that nobody counts on any more.

Rules:

- Nobody goes for nothing: before anybody's grace ends, it is asked whether the claimant could have
  the room then. If not, its claim ends, and it plans anew at the next look.
- A node that is cordoned is room for nobody, and what runs there goes on: a claim that needs it
  comes to nothing, and its victims stay. Where nodes are emptied (drained, maintained, not trusted)
  who was told to go goes.
- Whom only a quota made go, and whose owner is within it again before his grace is over, stays: a
  quota that was mistyped is set right in time. Not if the request could make him go anyway.
- A victim in grace whose room nobody counts on any more gets its lease back, with its old term.
"""

from __future__ import annotations

from collections.abc import Iterator

from bailiwick.journal.words import CancelCause
from bailiwick.kernel.events import Event
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.state import State
from bailiwick.kernel.work.claims.room import IN_GRACE, may_evict
from bailiwick.kernel.work.events import RequestBlocked, RequestCancelled
from bailiwick.kernel.work.lease_events import LeaseRestored
from bailiwick.scheduler.decision import (
    Approved,
    Denied,
    HeadroomKept,
    NodesBooked,
    NodesMaintained,
)
from bailiwick.scheduler.fairness import QueueEntry
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.reservation import CAPACITY_REASONS
from bailiwick.scheduler.rights.eviction_table import evictable_by
from bailiwick.scheduler.rights.excess import is_above_by
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.words import PreemptionReason


def come_to_nothing(state: State, entry: QueueEntry, *, now_ms: int) -> Denied | None:
    """Why a claimant cannot have the room it waits for, even when all have left that are to go.

    Its money is spent by now, its quota lowered, who is to go need not, or the room itself is none
    any more.
    """
    if entry.id not in state.ledger.holds:
        denied = state.admission.evaluate(entry.request, now_ms=now_ms)
        return denied if isinstance(denied, Denied) else state.blocked[entry.id]
    if _are_within_again(state, entry, now_ms):
        with state.guards.for_claimant(entry.id, now_ms=now_ms) as admission:
            denied = admission.evaluate(entry.request, now_ms=now_ms)
        return denied if isinstance(denied, Denied) else state.blocked[entry.id]
    with state.guards.for_claimant(entry.id, now_ms=now_ms, victims_gone=True) as admission:
        later = admission.evaluate(entry.request, now_ms=now_ms)
    if isinstance(later, Approved):
        return None
    shut = isinstance(later.detail, NodesMaintained | NodesBooked)
    if shut or later.reason not in CAPACITY_REASONS or _is_cordoned(state, entry.id, later):
        return later
    return None


def _is_cordoned(state: State, entry_id: int, later: Denied) -> bool:
    """Whether a node is cordoned without which the claimant cannot have its room.

    Where headroom is lacking, what a victim leaves on a cordoned node does not count as free.
    """
    claim = state.claims[entry_id]
    nodes = {str(seat.node) for seat in claim.seats}
    if isinstance(later.detail, HeadroomKept):
        nodes.update(state.node_of(i) for i in claim.victims if i in state.leases)
    return any(state.ledger.entry(node).mode is NodeMode.CORDONED for node in nodes)


def _are_within_again(state: State, entry: QueueEntry, now_ms: int) -> bool:
    """Whether victims had to go only for being above a quota, are so no more, and could stay."""
    request, seen = entry.request, set[int]()
    is_urgent = may_evict(state, request)
    for lease_id in state.claims[entry.id].victims:
        if lease_id in seen or lease_id not in state.terms:
            continue
        reason = state.ledger.revoking.get(state.handle(lease_id))
        if reason is not PreemptionReason.QUOTA_REBALANCE:
            continue
        members = state.with_gangs([lease_id])
        seen.update(members)  # a large gang is asked about once, not once for each member
        if is_urgent and _is_evictable(state, lease_id, request):
            continue
        if not all(_may_stay(state, member, now_ms) for member in members):
            continue
        owner = state.owner_of(lease_id)
        charged = [state.ledger.holds.charged(state.handle(member)) for member in members]
        amounts = [sum(each) for each in zip(*charged, strict=True)]
        if not is_above_by(state.quotas, amounts, tenant=str(owner.tenant), project=owner.project):
            return True
    return False


def _is_evictable(state: State, lease_id: int, request: PlacementRequest) -> bool:
    """Whether the request is so urgent that the lease may have to go whatever its quota."""
    fields = state.fields(lease_id)
    victims = evictable_by(request.lease_class, request.priority)
    return bool(victims >> 4 * fields.lease_class + fields.priority & 1)


def spare_victims(state: State, *, now_ms: int, limit: int) -> Iterator[Event]:
    """Before anybody's grace ends, claims that come to nothing end: nobody goes for them."""
    del limit
    for entry_id, claim in list(state.claims.items()):
        left = (i for i in claim.victims if i in state.leases)
        if not any(state.fields(i).expires_ms <= now_ms for i in left):
            continue
        entry = state.entry(entry_id)
        owner, denied = Owner.of(entry.request), come_to_nothing(state, entry, now_ms=now_ms)
        if entry.request.deadline_ms is not None and entry.request.deadline_ms < now_ms:
            yield RequestCancelled(owner, entry_id, CancelCause.DEADLINE_PASSED)
        elif denied is not None:
            yield RequestBlocked(owner, entry_id, denied)
    yield from restore_spared(state, now_ms=now_ms)


def restore_spared(state: State, *, now_ms: int) -> Iterator[Event]:
    """Victims in grace on whose room nobody counts any more get their leases back."""
    wanted = {lease_id for claim in state.claims.values() for lease_id in claim.victims}
    seen: set[int] = set()
    for lease_id in sorted(state.terms):
        members = state.with_gangs([lease_id]) if lease_id not in seen else []
        seen.update(members)
        if members and all(_may_stay(state, i, now_ms) and i not in wanted for i in members):
            for member in members:
                owner, told = state.owner_of(member), state.courses.evictions.get(member)
                by = None if told is None else told.preemptor
                generation = state.fields(member).generation + 1
                yield LeaseRestored(owner, member, generation, state.terms[member], by)


def _may_stay(state: State, lease_id: int, now_ms: int) -> bool:
    """Whether a lease had to go for work that waits, may still stay, and has time left."""
    reason = state.ledger.revoking.get(state.handle(lease_id))
    return (
        lease_id in state.terms
        and state.terms[lease_id] > now_ms
        and state.phase(lease_id) in IN_GRACE
        and reason is not None
        and reason.makes_room
        # What a cordon lets be renewed, it lets stay.
        and state.ledger.entry(state.node_of(lease_id)).renewal_closed_by is None
    )
