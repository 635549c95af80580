"""Requests: admitted at once, queued, refused, or given room that others must leave first.

Rules:

- What becomes of a new request is chosen by :mod:`.plan`; here it happens.
- Work urgent enough may evict; the room its victims leave is kept for it (a claim) until it starts.
- What becomes of room that is kept in reserve is told when it is given, postponed or lost.
- A waiting entry's blocker is told again only when it is another one, not at every look. Who is
  looked at, :mod:`.window` says.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import assert_never

from bailiwick.journal.fields import INTEGER_MAX
from bailiwick.journal.words import CancelCause
from bailiwick.kernel.events import Event
from bailiwick.kernel.owner import MEMBERS_MAX, Owner
from bailiwick.kernel.state import State
from bailiwick.kernel.work.claims.room import (
    RoomPlan,
    find_room,
    give_way,
    is_certain,
    may_evict,
)
from bailiwick.kernel.work.claims.sparing import come_to_nothing, restore_spared
from bailiwick.kernel.work.commands import Cancel, Submit
from bailiwick.kernel.work.cores import choose_cores
from bailiwick.kernel.work.ending import EvictedBy, evict
from bailiwick.kernel.work.events import (
    AdmissionApproved,
    AdmissionDenied,
    RequestBlocked,
    RequestCancelled,
    RequestQueued,
    RoomLost,
    RoomPostponed,
    RoomReserved,
)
from bailiwick.kernel.work.lease_events import LeasePreempted, TakenBy
from bailiwick.kernel.work.plan import (
    Grant,
    Preempt,
    Queue,
    Refuse,
    choose,
    leave_at_once,
    ready_by,
)
from bailiwick.kernel.work.window import SEARCHES_MAX, LineWindow
from bailiwick.scheduler.backfill.promises import (
    Promise,
    PromiseGiven,
    PromiseKept,
    PromiseLost,
    PromiseSlipped,
    judge,
)
from bailiwick.scheduler.decision import Approved, Denied, VictimsLeaving
from bailiwick.scheduler.fairness import QueueEntry
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.reservation import CAPACITY_REASONS, Turn
from bailiwick.vocab.transitions import RevokeState
from bailiwick.vocab.words import PreemptionReason, ReservationLoss

_GONE = RevokeState.FENCED


def submit(state: State, command: Submit, *, now_ms: int) -> Iterator[Event]:
    """Admit, queue or refuse a request."""
    request, choice = command.request, choose(state, command, now_ms=now_ms)
    match choice:
        case Grant():
            yield from grant(state, request, approved=choice.approved)
        case Refuse():
            yield AdmissionDenied(request, choice.denied, command.wait)
        case Queue():
            yield RequestQueued(request, state.line.next_id, choice.denied)
        case Preempt() if leave_at_once(state, choice.room):
            yield from _replace(state, command, choice.room, now_ms=now_ms)
            yield from _find_others_room(state, choice.room, now_ms=now_ms)
        case Preempt():
            entry_id = state.line.next_id
            yield RequestQueued(request, entry_id, choice.denied)
            yield from claim_room(state, state.entry(entry_id), room=choice.room, now_ms=now_ms)
            yield from _find_others_room(state, choice.room, now_ms=now_ms)
        case _:
            assert_never(choice)


def cancel(state: State, command: Cancel, *, now_ms: int) -> Iterator[Event]:
    """Take an entry out of the queue."""
    owner = Owner.of(state.entry(command.entry_id).request)
    yield RequestCancelled(owner, command.entry_id, CancelCause.ASKED)
    yield from restore_spared(state, now_ms=now_ms)


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
    seats = () if entry_id is None else state.guards.seats_of((entry_id,))
    cores = choose_cores(state, request, nodes=approved.nodes, without=seats)
    for at in range(0, total, MEMBERS_MAX):
        end = min(at + MEMBERS_MAX, total)
        yield AdmissionApproved(
            request,
            tuple(range(first + at, first + end)),
            approved.nodes[at:end],
            approved.devices[at:end],
            entry_id,
            gang,
            total - end,
            depth,
            approved.burst,
            cores[at:end],
        )


def look_at_line(state: State, *, now_ms: int, limit: int) -> Iterator[Event]:
    """Start whoever may start, in fair order, and say what stands in the way of the others."""
    if not state.line.entries:
        return
    turn = state.turn(now_ms)
    window = LineWindow(state, turn, limit=limit)
    for entry in window.read():
        deadline = entry.request.deadline_ms
        if deadline is not None and deadline < now_ms:
            owner = Owner.of(entry.request)
            yield RequestCancelled(owner, entry.id, CancelCause.DEADLINE_PASSED)
            continue
        if entry.id in state.claims and (yield from _serve_claim(state, entry, now_ms=now_ms)):
            continue
        decision = turn.ask(entry)
        if isinstance(decision, Approved):
            yield from grant(state, entry.request, approved=decision, entry_id=entry.id)
            turn.started(entry, zip(decision.nodes, decision.devices, strict=True))
            continue
        window.note(entry, decision)
        room = None
        if window.searches:
            room = find_room(state, entry.request, denied=decision, now_ms=now_ms, own=entry.id)
            window.searches -= room is not None or may_evict(state, entry.request)
        if room is not None:
            turn.withdraw(entry)
            yield from claim_room(state, entry, room=room, now_ms=now_ms)
            continue
        yield from _tell(state, entry, decision)
        if decision.reason in CAPACITY_REASONS:
            yield from _tell_reservation(state, entry, turn)
    yield from restore_spared(state, now_ms=now_ms)


# -- making room -----------------------------------------------------------------------------


def _replace(state: State, command: Submit, room: RoomPlan, *, now_ms: int) -> Iterator[Event]:
    """End the victims, and put the request in their place."""
    request = command.request
    yield from give_way(state, room, now_ms=now_ms)
    yield from _make_room(state, room, request=request, now_ms=now_ms)
    again = state.admission.evaluate(request, now_ms=now_ms)
    if isinstance(again, Approved):
        yield from grant(state, request, approved=again, depth=room.depth)
    elif len(state.line.entries) < state.settings.queue_max:
        yield RequestQueued(request, state.line.next_id, again)
    else:  # after an event nothing may be refused with an error
        yield AdmissionDenied(request, again, command.wait)


def _make_room(
    state: State, room: RoomPlan, *, request: PlacementRequest, now_ms: int
) -> Iterator[Event]:
    """End the victims now: no claim tells for whom, so it is told here."""
    reason, victims = PreemptionReason.PRIORITY_PREEMPTION, list(room.evicted)
    starts = is_certain(state, request, room=room, now_ms=now_ms)
    # Nobody else gets a lease before this request does.
    taken_by = TakenBy(lease_id=state.lease_serial + 1 if starts else None, depth=room.depth)
    by = EvictedBy(str(request.tenant))
    ends = evict(state, victims, reason=reason, now_ms=now_ms, grace_ms=None, by=by)
    for event in ends:
        yield replace(event, taken_by=taken_by) if isinstance(event, LeasePreempted) else event


def claim_room(
    state: State,
    entry: QueueEntry,
    *,
    room: RoomPlan,
    now_ms: int,
    reason: PreemptionReason = PreemptionReason.PRIORITY_PREEMPTION,
) -> Iterator[Event]:
    """Begin to end the victims, and keep the room for the entry."""
    yield from give_way(state, room, now_ms=now_ms)
    if not room.victims:  # others only kept it: it is there now
        yield from _start(state, entry, depth=room.depth, now_ms=now_ms)
        return
    owner, until = Owner.of(entry.request), ready_by(state, room, now_ms=now_ms)
    denied = Denied.because(VictimsLeaving(len(room.victims), until))
    at_once = leave_at_once(state, room)
    yield RequestBlocked(owner, entry.id, denied, room.victims, room.seats, room.depth)
    yield from evict(state, list(room.evicted), reason=reason, now_ms=now_ms, grace_ms=None)
    if at_once:
        yield from _serve_claim(state, entry, now_ms=now_ms)


def _find_others_room(state: State, room: RoomPlan, *, now_ms: int) -> Iterator[Event]:
    """Who gave way seeks room anew before the victims it counted on go for nothing."""
    waiting, searches = list(room.displaced), SEARCHES_MAX
    while waiting and searches:
        entry, searches = state.entry(waiting.pop(0)), searches - 1
        denied = state.blocked[entry.id]
        assert denied is not None, "who gave way was told so"
        other = find_room(state, entry.request, denied=denied, now_ms=now_ms, own=entry.id)
        if other is not None:
            yield from claim_room(state, entry, room=other, now_ms=now_ms)
            waiting += other.displaced
    yield from restore_spared(state, now_ms=now_ms)


def _serve_claim(state: State, entry: QueueEntry, *, now_ms: int) -> Generator[Event, None, bool]:
    """Start the claimant wherever it fits by now; whether it is to be left alone until then."""
    claim = state.claims[entry.id]
    if (yield from _start(state, entry, depth=claim.depth, now_ms=now_ms)):
        yield from restore_spared(state, now_ms=now_ms)
        return True
    stay = (i in state.leases and state.phase(i) is not _GONE for i in claim.victims)
    if not any(stay) or entry.id not in state.ledger.holds:
        return False  # the room cannot come about any more: it is sought anew
    denied = come_to_nothing(state, entry, now_ms=now_ms)
    if denied is not None:
        yield RequestBlocked(Owner.of(entry.request), entry.id, denied)
    return True


def _start(
    state: State, entry: QueueEntry, *, depth: int, now_ms: int
) -> Generator[Event, None, bool]:
    """Start an entry in what is free and what is kept for it; whether that could be."""
    with state.guards.for_claimant(entry.id, now_ms=now_ms) as admission:
        decision = admission.evaluate(entry.request, now_ms=now_ms)
    if isinstance(decision, Denied):
        return False
    yield from grant(state, entry.request, approved=decision, entry_id=entry.id, depth=depth)
    return True


# -- telling ---------------------------------------------------------------------------------


def _tell(state: State, entry: QueueEntry, denied: Denied) -> Iterator[Event]:
    told = state.blocked[entry.id]
    if told is None or _sort_of(told) != _sort_of(denied):
        yield RequestBlocked(Owner.of(entry.request), entry.id, denied)


def _sort_of(denied: Denied) -> str:
    """Which sort of obstacle this is; the ways of lacking room change with every look."""
    return "capacity" if denied.reason in CAPACITY_REASONS else denied.reason.value


def _is_being_left(state: State, promise: Promise) -> bool:
    """Whether a lease that was to end by the promised start has only to be torn down."""
    return any(
        state.node_of(lease_id) in promise.nodes
        and state.fields(lease_id).expires_ms > promise.starts_ms
        for lease_id in state.leaving
        if lease_id not in state.fenced
    )


def _tell_reservation(state: State, entry: QueueEntry, turn: Turn) -> Iterator[Event]:
    """Say what became of the room that is kept for an entry, if it is news."""
    line, now_ms, kept = state.line, turn.now_ms, turn.reservation_of(entry)
    if (kept is None and turn.is_full) or not line.may_promise(entry, now_ms):
        return
    owner = Owner.of(entry.request)
    promise, starts_ms = line.promises.get(entry.id), None if kept is None else kept.at_ms
    nodes = () if kept is None else kept.nodes[:MEMBERS_MAX]
    if promise is not None and _is_being_left(state, promise):
        return  # it is late only if that takes longer than it may
    change = judge(promise, starts_ms, slips_max=line.rules.slips_max, now_ms=now_ms)
    match change:
        case PromiseKept():
            pass
        case PromiseGiven():
            overdue = line.is_overdue(entry, now_ms)
            assert starts_ms is not None, "what is given is there"
            yield RoomReserved(owner, entry.id, starts_ms, nodes, overdue)
        case PromiseSlipped():
            assert starts_ms is not None, "what slips is there"
            yield RoomPostponed(owner, entry.id, starts_ms, nodes, change.slips)
        case PromiseLost():
            turn.withdraw(entry)
            until_ms = min(now_ms + line.rules.patience_ms, INTEGER_MAX)
            barred = change.cause is not ReservationLoss.BEYOND_HORIZON
            yield RoomLost(owner, entry.id, change.cause, until_ms if barred else None)
        case _:
            assert_never(change)
