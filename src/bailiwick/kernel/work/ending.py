"""How leases come to their end: evictions with grace, expiry, teardown, fences.

Rules:

- Every step is an edge of the revoke table, and is an event. One member of a gang takes all.
- With ``confirm_teardown``, and on a node with an executor of its own (``EXECUTOR_LABEL``), a lease
  that must go is torn down by an executor, who reports; until then nobody gets what it held, and
  without a report in time it is fenced. Elsewhere giving the numbers back is all there is, and
  happens at once.
- On a node with an executor even its holder cannot free a lease at once: what he gives back is torn
  down like what is taken from him, because something of his may still run. Its end is told as a
  release all the same. (The setting alone is about leases that are taken away: without an executor
  a holder's word is all there is.)
- A gang that loses a member with its node loses all of them. Those on other nodes are torn down
  like any that must go, and are free only once that was reported.
- A lease that has to go is told for whom: the tenant that claims its room, ``attestation`` if its
  node is not trusted, ``isolation`` (with the rule) if it is where it may not be, ``health`` (with
  the check) if its machine failed one, ``quota`` if its owner is brought back inside its own, else
  the operator or the scheduler, by the reason.
- Each generator here reads the state as its earlier events have left it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple

from bailiwick.fleet.node import EXECUTOR_LABEL
from bailiwick.kernel.events import Event
from bailiwick.kernel.state import State
from bailiwick.kernel.work import lease_events as le
from bailiwick.scheduler.engine.protocol import FLAG_PINNED, FLAG_RELEASED
from bailiwick.vocab.errors import Conflict
from bailiwick.vocab.transitions import RevokeState, check_revoke_change
from bailiwick.vocab.words import LEASE_CLASSES, LeaseClass, PreemptionReason

_OPERATOR, _SCHEDULER = "operator", "scheduler"


class EvictedBy(NamedTuple):
    """Who makes a lease go, and by which rule, if neither a claim nor the reason tells that."""

    preemptor: str
    rule: str | None = None


ATTESTATION = EvictedBy("attestation")
"""Who makes leases go from a node that is not trusted."""

QUOTA = EvictedBy("quota")
"""Who makes leases go that their owner holds above its quota, if nobody else waits for them."""

ISOLATION = "isolation"
"""Who makes leases go that are where the policy of isolation forbids them to be."""


def check_evictable(
    state: State, lease_ids: Iterable[int], *, reason: PreemptionReason
) -> list[int]:
    """The leases with their gangs, if each may be ended now for this reason; else the error."""
    members = state.with_gangs(list(lease_ids))
    for lease_id in members:
        check_revoke_change(state.phase(lease_id), RevokeState.REVOKE_WARNING)
        guaranteed = LEASE_CLASSES[state.fields(lease_id).lease_class] is LeaseClass.GUARANTEED
        if guaranteed and reason.spares_guaranteed:
            raise Conflict("lease", lease_id, f"is guaranteed; {reason} may not end it")
    return members


def evict(
    state: State,
    lease_ids: list[int],
    *,
    reason: PreemptionReason,
    now_ms: int,
    grace_ms: int | None,
    by: EvictedBy | None = None,
) -> Iterator[Event]:
    """Warn and begin the grace window of leases that were checked; with no grace, end them."""
    for lease_id in lease_ids:
        owner, fields = state.owner_of(lease_id), state.fields(lease_id)
        preemptor, rule = by or EvictedBy(_preemptor(state, lease_id, reason))
        told = partial(
            le.LeaseRevoked,
            *(owner, lease_id),
            reason=reason,
            preemptor=preemptor,
            generation=fields.generation,
            rule=rule,
        )
        warned = RevokeState.REVOKE_WARNING
        until = grace_end(state, lease_id, now_ms=now_ms, grace_ms=grace_ms)
        yield told(before=RevokeState.ACTIVE, after=warned)
        yield told(before=warned, after=RevokeState.GRACE_RUNNING, expires_ms=until)
        if until <= now_ms:
            yield from tear_down(
                state, lease_id, through=RevokeState.FORCED_TEARDOWN, now_ms=now_ms
            )


def evict_active(
    state: State,
    lease_ids: list[int],
    *,
    reason: PreemptionReason,
    now_ms: int,
    grace_ms: int | None,
    by: EvictedBy | None = None,
) -> Iterator[Event]:
    """Evict those that are not on their way out already, and their gangs."""
    active = active_with_gangs(state, lease_ids)
    yield from evict(state, active, reason=reason, now_ms=now_ms, grace_ms=grace_ms, by=by)


def active_with_gangs(state: State, lease_ids: list[int]) -> list[int]:
    """The leases and their gangs, but for those that are on their way out already."""
    return [i for i in state.with_gangs(lease_ids) if state.phase(i) is RevokeState.ACTIVE]


def grace_end(state: State, lease_id: int, *, now_ms: int, grace_ms: int | None) -> int:
    """Until when a lease may still run that has to go from now on."""
    grace = state.settings.grace_ms if grace_ms is None else grace_ms
    return int(min(state.fields(lease_id).expires_ms, now_ms + grace))


def runs_under_executor(state: State, lease_id: int) -> bool:
    """Whether the lease's node has an executor of its own."""
    return EXECUTOR_LABEL in state.ledger.entry(state.node_of(lease_id)).capacity.labels


def is_confirmed(state: State, lease_id: int) -> bool:
    """Whether somebody must report the lease's teardown before what it held is free."""
    return state.settings.confirm_teardown or runs_under_executor(state, lease_id)


def give_back(state: State, lease_id: int, *, now_ms: int) -> Iterator[Event]:
    """The holder does not want the lease any more: free now, or once its teardown is reported."""
    if not runs_under_executor(state, lease_id):
        yield _released(state, lease_id)
        return
    before, owner = state.phase(lease_id), state.owner_of(lease_id)
    # Its term ends now; in grace, its grace does.
    graced = before is RevokeState.GRACE_RUNNING
    through = RevokeState.FORCED_TEARDOWN if graced else RevokeState.EXPIRED
    check_revoke_change(before, through)
    reason = state.ledger.revoking.get(state.handle(lease_id))
    until = now_ms + state.settings.teardown_ms
    by = None if reason is None else _preemptor(state, lease_id, reason)
    yield le.LeaseRevoked(owner, lease_id, before, through, reason, until, True, by)


def end_with_gang(
    state: State, lease_ids: list[int], *, departed: str, now_ms: int
) -> Iterator[Event]:
    """Leases whose gang lost a member with its node: what runs under them has to be proven gone.

    Those that are on their way out already go on as they were.
    """
    through = {
        RevokeState.ACTIVE: RevokeState.EXPIRED,
        RevokeState.GRACE_RUNNING: RevokeState.FORCED_TEARDOWN,
    }
    until = now_ms + state.settings.teardown_ms
    for lease_id in lease_ids:
        before, owner = state.phase(lease_id), state.owner_of(lease_id)
        if before not in through:
            continue
        reason = state.ledger.revoking.get(state.handle(lease_id))
        by = None if reason is None else _preemptor(state, lease_id, reason)
        step = (before, through[before], reason, until)
        yield le.LeaseRevoked(owner, lease_id, *step, preemptor=by, departed=departed)


def tear_down(state: State, lease_id: int, *, through: RevokeState, now_ms: int) -> Iterator[Event]:
    """Take a lease to where its teardown begins and, if nobody must confirm it, to its end."""
    before, owner = state.phase(lease_id), state.owner_of(lease_id)
    check_revoke_change(before, through)
    reason = state.ledger.revoking.get(state.handle(lease_id))
    by = None if reason is None else _preemptor(state, lease_id, reason)
    if is_confirmed(state, lease_id):
        until = now_ms + state.settings.teardown_ms
        yield le.LeaseRevoked(owner, lease_id, before, through, reason, until, preemptor=by)
        return
    if reason is not None:  # a plain expiry says all in the record of its end
        yield le.LeaseRevoked(owner, lease_id, before, through, reason, preemptor=by)
    yield end_of(state, lease_id)


def end_of(state: State, lease_id: int) -> Event:
    """The last event of a lease whose resources are free."""
    fields, owner = state.fields(lease_id), state.owner_of(lease_id)
    if fields.flags & FLAG_RELEASED:
        return _released(state, lease_id)
    node, held = state.node_of(lease_id), state.ledger.resources_of(fields.shape)
    reason = state.ledger.revoking.get(state.handle(lease_id))
    if reason is None:
        return le.LeaseExpired(owner, lease_id, node, held)
    by, taken_by = _preemptor(state, lease_id, reason), _taken_by(state, lease_id, reason)
    tag = state.ledger.handles.accounts[fields.account].tag
    told = None if tag is None else str(tag)
    return le.LeasePreempted(owner, lease_id, node, held, reason, by, told, taken_by)


def _released(state: State, lease_id: int) -> Event:
    fields, owner = state.fields(lease_id), state.owner_of(lease_id)
    node, held = state.node_of(lease_id), state.ledger.resources_of(fields.shape)
    return le.LeaseReleased(owner, lease_id, node, held)


def fence_of(state: State, lease_id: int) -> Event:
    """The event of a lease whose resources nobody could confirm to be free."""
    fields, owner = state.fields(lease_id), state.owner_of(lease_id)
    node, held = state.node_of(lease_id), state.ledger.resources_of(fields.shape)
    reason = state.ledger.revoking.get(state.handle(lease_id))
    return le.LeaseFenced(owner, lease_id, node, held, reason)


def end_due(state: State, *, now_ms: int, limit: int) -> Iterator[Event]:
    """Whatever is due by time: grace that ran out, terms that are over, teardowns unreported."""
    engine = state.ledger.engine
    found = engine.expired(now_ms, limit)
    due = [h for h in found if not state.ledger.fields(h).flags & FLAG_PINNED][:limit]
    for lease_id in state.with_gangs([state.ids[handle] for handle in due]):
        match state.phase(lease_id):
            case RevokeState.GRACE_RUNNING:
                yield from tear_down(
                    state, lease_id, through=RevokeState.FORCED_TEARDOWN, now_ms=now_ms
                )
            case RevokeState.ACTIVE:
                yield from tear_down(state, lease_id, through=RevokeState.EXPIRED, now_ms=now_ms)
            case _ if state.fields(lease_id).expires_ms <= now_ms:
                yield fence_of(state, lease_id)


# -- for whom --------------------------------------------------------------------------------


def claimant_of(state: State, lease_id: int, *, reason: PreemptionReason | None) -> int | None:
    """The entry that counts on the room of a lease which has to go for work that waits."""
    if reason is None or not reason.makes_room:
        return None
    claims = state.claims.items()
    return next((entry_id for entry_id, claim in claims if lease_id in claim.victims), None)


def _preemptor(state: State, lease_id: int, reason: PreemptionReason) -> str:
    """For whom the lease has to go."""
    claimant = claimant_of(state, lease_id, reason=reason)
    if claimant is not None:
        return str(state.entry(claimant).request.tenant)
    told = state.courses.evictions.get(lease_id)
    if told is not None and told.preemptor is not None:
        return told.preemptor
    return _SCHEDULER if reason.spares_guaranteed else _OPERATOR


def _taken_by(state: State, lease_id: int, reason: PreemptionReason) -> le.TakenBy:
    claimant = claimant_of(state, lease_id, reason=reason)
    if claimant is None:
        return le.NOBODY
    return le.TakenBy(entry_id=claimant, depth=state.claims[claimant].depth)
