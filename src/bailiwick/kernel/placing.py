"""Requests: admitted at once, queued, refused, or given room that others must leave first.

Rules:

- A request is admitted past nobody: while an entry of its own or a higher priority waits, it waits
  too (or, if it does not want to wait, takes only what a reservation leaves).
- Work urgent enough may evict; the room its victims leave is kept for it (a claim) until it starts.
- A waiting entry's blocker is told again only when it is another one, not at every look.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from bailiwick.journal.words import CancelCause
from bailiwick.kernel import events as ev
from bailiwick.kernel.commands import Cancel, Submit
from bailiwick.kernel.ending import check_evictable, evict
from bailiwick.kernel.events import MEMBERS_MAX, Event, Owner
from bailiwick.kernel.state import Claim, State
from bailiwick.scheduler.decision import Approved, Denied, HeadroomKept, VictimsLeaving
from bailiwick.scheduler.fairness import QueueEntry
from bailiwick.scheduler.preemption import Preemptable
from bailiwick.scheduler.quota_rows import demand_of
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.reservation import CAPACITY_REASONS, Turn
from bailiwick.vocab.errors import LimitReached
from bailiwick.vocab.transitions import RevokeState
from bailiwick.vocab.words import RESOURCE_KINDS, PreemptionReason

VICTIMS_MAX = 512
"""Leases that may have to go for one request."""

SEARCHES_MAX = 8
"""Searches for victims in one look at the line: each may take milliseconds."""

_GONE = RevokeState.FENCED


def submit(state: State, command: Submit, *, now_ms: int) -> Iterator[Event]:
    """Admit, queue or refuse a request."""
    request = command.request
    if not _stands_behind(state, request):
        decision = state.admission.evaluate(request, now_ms=now_ms)
    elif command.wait:
        # Only what can never run is told so at once; all else has its turn.
        free = state.admission.evaluate(request, now_ms=now_ms)
        hopeless = isinstance(free, Denied) and not free.reason.is_transient
        if not hopeless:
            yield _queue(state, request, None)
            return
        decision = free
    else:
        decision = _beside(state, request, now_ms)
    if isinstance(decision, Approved):
        yield from grant(state, request, approved=decision)
        return
    if not command.wait or not decision.reason.is_transient:
        yield ev.AdmissionDenied(request, decision, command.wait)
        return
    plan = _victims(state, request, decision, now_ms=now_ms)
    if plan is not None and _leave_at_once(state):
        victims = [v.lease_id for v in plan.victims]
        yield from _make_room(state, victims, preemptor=str(request.tenant), now_ms=now_ms)
        again = state.admission.evaluate(request, now_ms=now_ms)
        if isinstance(again, Approved):
            yield from grant(state, request, approved=again, depth=plan.depth)
        elif len(state.line.entries) < state.settings.queue_max:
            yield _queue(state, request, again)
        else:  # after an event nothing may be refused with an error
            yield ev.AdmissionDenied(request, again, command.wait)
        return
    entry_id = state.line.next_id
    yield _queue(state, request, decision)
    if plan is not None:
        yield from _claim(state, state.entry(entry_id), plan, now_ms=now_ms)


def cancel(state: State, command: Cancel) -> Iterator[Event]:
    """Take an entry out of the queue."""
    owner = Owner.of(state.entry(command.entry_id).request)
    yield ev.RequestCancelled(owner, command.entry_id, CancelCause.ASKED)


def grant(
    state: State,
    request: PlacementRequest,
    *,
    approved: Approved,
    entry_id: int | None = None,
    depth: int = 0,
) -> Iterator[Event]:
    """The leases of an approved request; a large gang's in several records."""
    total = len(approved.nodes)
    gang = state.gang_serial + 1 if request.gang_size > 1 else None
    first = state.lease_serial + 1
    for at in range(0, total, MEMBERS_MAX):
        end = min(at + MEMBERS_MAX, total)
        yield ev.AdmissionApproved(
            request,
            tuple(range(first + at, first + end)),
            approved.nodes[at:end],
            approved.devices[at:end],
            entry_id,
            gang,
            total - end,
            depth,
            approved.burst,
        )


def look_at_line(state: State, *, now_ms: int, limit: int) -> Iterator[Event]:
    """Start whoever may start, in fair order, and say what stands in the way of the others."""
    turn = Turn(state.admission, now_ms=now_ms, until_ms=now_ms + state.settings.horizon_ms)
    searches = SEARCHES_MAX
    for entry in _window(state, now_ms=now_ms, limit=limit):
        deadline = entry.request.deadline_ms
        if deadline is not None and deadline < now_ms:
            owner = Owner.of(entry.request)
            yield ev.RequestCancelled(owner, entry.id, CancelCause.DEADLINE_PASSED)
            continue
        if entry.id in state.claims:
            yield from _serve_claim(state, entry, state.claims[entry.id], now_ms=now_ms)
            continue
        decision = turn.ask(entry)
        if isinstance(decision, Approved):
            yield from grant(state, entry.request, approved=decision, entry_id=entry.id)
            turn.started(entry, zip(decision.nodes, decision.devices, strict=True))
            continue
        plan = None
        if searches:
            plan = _victims(state, entry.request, decision, now_ms=now_ms)
            searches -= plan is not None or _may_evict(state, entry.request)
        if plan is not None:
            yield from _claim(state, entry, plan, now_ms=now_ms)
            continue
        yield from _tell(state, entry, decision)
        yield from _tell_reservation(state, entry, turn, now_ms=now_ms)


def _queue(state: State, request: PlacementRequest, denied: Denied | None) -> Event:
    if len(state.line.entries) >= state.settings.queue_max:
        raise LimitReached("entries in the queue", state.settings.queue_max)
    return ev.RequestQueued(request, state.line.next_id, denied)


def _stands_behind(state: State, request: PlacementRequest) -> bool:
    """Whether an entry of at least its priority waits."""
    return any(not _is_before(request, e.request) for e in state.line.entries.values())


def _is_before(request: PlacementRequest, other: PlacementRequest) -> bool:
    return request.priority.rank > other.priority.rank


def _beside(state: State, request: PlacementRequest, now_ms: int) -> Approved | Denied:
    """What a request that will not wait may have of what those in line leave over."""
    turn = Turn(state.admission, now_ms=now_ms, until_ms=now_ms + state.settings.horizon_ms)
    newcomer = QueueEntry(state.line.next_id, request, now_ms)
    ahead = (e for e in state.line.order(now_ms) if not _is_before(request, e.request))
    for entry in islice(ahead, SEARCHES_MAX):
        if entry.id in state.claims or not isinstance(turn.ask(entry), Approved):
            continue
        # It starts at the next look; until then what it needs is not the newcomer's.
        columns = (state.ledger.free.as_tuple(), demand_of(entry.request), demand_of(request))
        rows = [r for r in zip(RESOURCE_KINDS, *columns, strict=False) if r[2] and r[3]]
        if rows and isinstance(turn.ask(newcomer), Approved):
            return Denied.because(HeadroomKept(*rows[-1]))
    return turn.ask(newcomer)


def _window(state: State, *, now_ms: int, limit: int) -> list[QueueEntry]:
    """Whom to look at: claimants, the first in order, and some of the rest, others each time."""
    line = state.line
    if len(line.entries) <= limit:
        return list(line.order(now_ms))
    head = list(islice(line.order(now_ms), limit - limit // 2))
    seen = {entry.id for entry in head}
    rest = [entry for entry in line.entries.values() if entry.id not in seen]
    start = now_ms // 1000 * (limit // 2) % max(len(rest), 1)
    others = (rest[start:] + rest[:start])[: limit // 2]
    missed = [line.entry(i) for i in state.claims if i not in {e.id for e in (*head, *others)}]
    return head + missed + others


# -- making room -----------------------------------------------------------------------------


def _may_evict(state: State, request: PlacementRequest) -> bool:
    return request.priority.rank >= max(state.settings.preempt_from.rank, 1)


def _victims(
    state: State, request: PlacementRequest, denied: Denied, *, now_ms: int
) -> Preemptable | None:
    """Whose end would make room, if the request may ask for that and it would help."""
    if denied.reason not in CAPACITY_REASONS or not _may_evict(state, request):
        return None
    filters = state.admission.scorer.filters
    found = state.preemption.find_victims(state.ledger, request, now_ms=now_ms, filters=filters)
    if not isinstance(found, Preemptable) or not 0 < len(found.victims) <= VICTIMS_MAX:
        return None
    return found if _leaves_headroom(state, request, found) else None


def _leaves_headroom(state: State, request: PlacementRequest, plan: Preemptable) -> bool:
    """Whether the request could start in the room the victims leave, and headroom be kept."""
    headroom = state.admission.headroom
    if request.priority.rank >= headroom.priority.rank:
        return True
    after, wanted = state.ledger.free + plan.freed, demand_of(request)
    rows = zip(after.as_tuple(), wanted, headroom.kept.as_tuple(), strict=False)
    return all(free - asked >= kept for free, asked, kept in rows if asked and kept)


def _leave_at_once(state: State) -> bool:
    return not state.settings.grace_ms and not state.settings.confirm_teardown


def _make_room(state: State, handles: list[int], *, preemptor: str, now_ms: int) -> Iterator[Event]:
    reason = PreemptionReason.PRIORITY_PREEMPTION
    members = check_evictable(state, [state.ids[h] for h in handles], reason=reason)
    for event in evict(state, members, reason=reason, now_ms=now_ms, grace_ms=None):
        if isinstance(event, ev.LeasePreempted):  # no claim tells yet for whom they go
            yield replace(event, preemptor=preemptor)
        else:
            yield event


def _claim(state: State, entry: QueueEntry, plan: Preemptable, *, now_ms: int) -> Iterator[Event]:
    """Begin to end the victims, and keep their nodes for the entry."""
    reason = PreemptionReason.PRIORITY_PREEMPTION
    ids = [state.ids[victim.lease_id] for victim in plan.victims]
    members = check_evictable(state, ids, reason=reason)
    nodes = {state.node_of(lease_id) for lease_id in members}
    if plan.node is not None:
        nodes.add(plan.node)
    denied = Denied.because(VictimsLeaving(len(members), now_ms + state.settings.grace_ms))
    owner = Owner.of(entry.request)
    yield ev.RequestBlocked(
        owner, entry.id, denied, tuple(members), tuple(sorted(nodes)), plan.depth
    )
    yield from evict(state, members, reason=reason, now_ms=now_ms, grace_ms=None)
    if _leave_at_once(state):
        yield from _serve_claim(state, entry, state.claims[entry.id], now_ms=now_ms)


def _serve_claim(state: State, entry: QueueEntry, claim: Claim, *, now_ms: int) -> Iterator[Event]:
    """Start the claimant once its victims are gone; if it still does not fit, it waits on."""
    for lease_id in claim.victims:
        if lease_id in state.leases and state.phase(lease_id) is not _GONE:
            return
    decision = _ask_claimant(state, entry, now_ms)
    if isinstance(decision, Approved):
        yield from grant(
            state, entry.request, approved=decision, entry_id=entry.id, depth=claim.depth
        )
        return
    yield ev.RequestBlocked(Owner.of(entry.request), entry.id, decision)


def _ask_claimant(state: State, entry: QueueEntry, now_ms: int) -> Approved | Denied:
    """What a claimant may have: its own claim and what is free, but nothing of another's claim."""
    others = {i: claim for i, claim in state.claims.items() if i != entry.id}
    if not others:
        return state.unguarded.evaluate(entry.request, now_ms=now_ms)
    state.claimed.put(others)
    try:
        return state.admission.evaluate(entry.request, now_ms=now_ms)
    finally:
        state.claimed.put(state.claims)


# -- telling ---------------------------------------------------------------------------------


def _tell(state: State, entry: QueueEntry, denied: Denied) -> Iterator[Event]:
    told = state.blocked[entry.id]
    if told is None or _sort_of(told) != _sort_of(denied):
        yield ev.RequestBlocked(Owner.of(entry.request), entry.id, denied)


def _sort_of(denied: Denied) -> str:
    """Which sort of obstacle this is; the ways of lacking room change with every look."""
    return "capacity" if denied.reason in CAPACITY_REASONS else denied.reason.value


def _tell_reservation(
    state: State, entry: QueueEntry, turn: Turn, *, now_ms: int
) -> Iterator[Event]:
    kept = turn.reservation
    if kept is None or kept.entry is not entry or state.line.holds(entry):
        return
    overdue = state.line.is_overdue(entry, now_ms)
    yield ev.RoomReserved(Owner.of(entry.request), entry.id, kept.at_ms, kept.nodes, overdue)
