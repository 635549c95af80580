"""What becomes of a request: chosen here, once, for those who do it and for those who only ask.

Rules:

- :func:`choose` changes nothing. :mod:`.requests` turns its choice into events; :func:`plan` tells
  it. So a plan is what the command, given right after on the same state, leads to.
- What the command would be refused with (an error) is refused here with the same error.
- A request is admitted past nobody: while an entry of its own or a higher priority waits, it waits
  too (or, if it does not want to wait, takes only what a reservation leaves).
- Ceilings come first: what an owner may not ask for is refused, whatever room there is.
- A plan names victims with their gangs; who may see their names is for others to decide.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias, assert_never

from bailiwick.kernel.money import hook as money_hook
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.state import State
from bailiwick.kernel.views import AHEAD_MAX, Estimate, ahead_of, estimate_newcomer
from bailiwick.kernel.work.claims.room import RoomPlan, find_room
from bailiwick.kernel.work.commands import Submit
from bailiwick.kernel.work.ending import check_evictable, is_confirmed
from bailiwick.kernel.work.own_room import name_own
from bailiwick.kernel.work.rights import check_asked, check_waiting
from bailiwick.scheduler.decision import Approved, Denied, ReservedForOthers
from bailiwick.scheduler.explain import NO_RULES, Remedy, RuleCounts, advise
from bailiwick.scheduler.fairness import QueueEntry
from bailiwick.scheduler.quota_rows import demand_of
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.reservation import Turn
from bailiwick.vocab.errors import LimitReached
from bailiwick.vocab.values import NodeId
from bailiwick.vocab.words import (
    RESOURCE_KINDS,
    FilterReason,
    HardwareGeneration,
    LeaseClass,
    PreemptionReason,
    Priority,
)

# -- choosing --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Grant:
    """It runs at once."""

    approved: Approved


@dataclass(frozen=True, slots=True)
class Preempt:
    """It runs in room that is made for it; without that, ``denied`` is in its way."""

    room: RoomPlan
    denied: Denied


@dataclass(frozen=True, slots=True)
class Queue:
    """It waits; ``None`` if only those before it are in its way."""

    denied: Denied | None


@dataclass(frozen=True, slots=True)
class Refuse:
    """It neither runs nor waits."""

    denied: Denied


Choice: TypeAlias = Grant | Preempt | Queue | Refuse


def choose(state: State, command: Submit, *, now_ms: int) -> Choice:
    """Whether the request runs, makes room, waits or is refused."""
    forbidden = check_asked(state, command.request)
    if forbidden is not None:
        return Refuse(Denied.because(forbidden))
    choice = _choose(state, command, now_ms=now_ms)
    waits = isinstance(choice, Queue)
    if isinstance(choice, Preempt):
        waits = not leave_at_once(state, choice.room)
    elsewhere = state.cells.waiting_of
    full = check_waiting(state, command.request, more=elsewhere) if waits else None
    return choice if full is None else Refuse(Denied.because(full))


def _choose(state: State, command: Submit, *, now_ms: int) -> Choice:
    request = command.request
    if not state.line.has_before(request.priority, now_ms):
        decision = state.admission.evaluate(request, now_ms=now_ms)
    elif command.wait:
        # Only what can never run is told so at once; all else has its turn.
        free = state.admission.evaluate(request, now_ms=now_ms)
        hopeless = isinstance(free, Denied) and not free.reason.is_transient
        if not hopeless:
            _check_queue(state)
            return Queue(None)
        decision = free
    else:
        decision = _beside(state, request, now_ms)
    if isinstance(decision, Approved):
        return Grant(decision)
    if not command.wait or not decision.reason.is_transient:
        return Refuse(decision)
    room = find_room(state, request, denied=decision, now_ms=now_ms)
    if room is None or not leave_at_once(state, room):
        _check_queue(state)
    if room is not None:
        check_evictable(state, room.evicted, reason=PreemptionReason.PRIORITY_PREEMPTION)
    return Queue(decision) if room is None else Preempt(room, decision)


def _check_queue(state: State) -> None:
    if len(state.line.entries) >= state.settings.queue_max:
        raise LimitReached("entries in the queue", state.settings.queue_max)


def _beside(state: State, request: PlacementRequest, now_ms: int) -> Approved | Denied:
    """What a request that will not wait may have of what those in line leave over."""
    turn = state.turn(now_ms)
    newcomer = QueueEntry(state.line.next_id, request, now_ms)
    freely = state.admission.evaluate(request, now_ms=now_ms)
    if isinstance(freely, Denied):
        return freely
    ahead = list(islice(ahead_of(state, request, now_ms=now_ms), AHEAD_MAX))
    if not any(_concerns(turn, entry, request) for entry in ahead):
        return freely
    for entry in ahead:
        if entry.id in state.claims or (turn.is_full and not turn.may_find_place(entry)):
            continue
        if not isinstance(turn.ask(entry), Approved):
            continue
        # It starts at the next look; until then what it needs is not the newcomer's.
        columns = (state.ledger.free.as_tuple(), demand_of(entry.request), demand_of(request))
        rows = [r for r in zip(RESOURCE_KINDS, *columns, strict=False) if r[2] and r[3]]
        if rows and isinstance(turn.ask(newcomer), Approved):
            return Denied.because(ReservedForOthers(*rows[-1]))
    return turn.ask(newcomer)


def _concerns(turn: Turn, entry: QueueEntry, request: PlacementRequest) -> bool:
    """Whether one who waits may start, or have room kept for it, before the request has ended.

    If nobody is like that, what is free is for the request.
    """
    earliest_ms = turn.earliest(entry)
    return earliest_ms is not None and earliest_ms <= turn.now_ms + request.ttl_ms


# -- making room -----------------------------------------------------------------------------


def leave_at_once(state: State, room: RoomPlan) -> bool:
    """Whether who has to go is gone within the same command."""
    if room.leaving:
        return False
    if not room.evicted:
        return True
    if state.settings.grace_ms or state.settings.confirm_teardown:
        return False
    return not any(is_confirmed(state, lease_id) for lease_id in room.evicted)


def ready_by(state: State, room: RoomPlan, *, now_ms: int) -> int:
    """When the last of those that leave the room has left it, at the latest."""
    ends = [state.fields(i).expires_ms for i in room.leaving]
    if room.evicted:
        ends.append(now_ms + state.settings.grace_ms)
    return max(ends, default=now_ms)


# -- telling ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PlannedVictim:
    """A lease that would have to go, and whose it is."""

    lease_id: int
    owner: Owner
    priority: Priority
    lease_class: LeaseClass


@dataclass(frozen=True, slots=True)
class GrantPlan:
    """It would run at once, each member on its node, with GPUs (if any) of that generation."""

    nodes: tuple[NodeId, ...]
    generations: tuple[HardwareGeneration | None, ...]


@dataclass(frozen=True, slots=True)
class PreemptPlan:
    """It would run on these nodes once the victims have gone, for which they have until then."""

    nodes: tuple[NodeId, ...]
    victims: tuple[PlannedVictim, ...]
    until_ms: int
    denied: Denied
    """What would be in its way if nobody went."""
    loss_ratio_milli: int | None
    """How dear the victims are at most, in thousandths of the cheapest; nothing if not known."""


@dataclass(frozen=True, slots=True)
class QueuePlan:
    """It would wait, and might start by our best guess."""

    denied: Denied | None
    estimate: Estimate


@dataclass(frozen=True, slots=True)
class RefusePlan:
    """It would neither run nor wait."""

    denied: Denied


Plan: TypeAlias = GrantPlan | PreemptPlan | QueuePlan | RefusePlan


def plan(state: State, command: Submit, *, now_ms: int) -> Plan:
    """What the command would lead to now; nothing changes."""
    now = max(now_ms, state.clock_ms)
    choice = choose(state, command, now_ms=now)
    match choice:
        case Grant():
            nodes, devices = choice.approved.nodes, choice.approved.devices
            kinds = tuple(_member(state, *each) for each in zip(nodes, devices, strict=True))
            return GrantPlan(nodes, kinds)
        case Preempt():
            room = choice.room
            nodes = tuple(seat.node for seat in room.seats)
            found = tuple(_victim(state, lease_id) for lease_id in room.evicted)
            until_ms, ratio = ready_by(state, room, now_ms=now), room.loss_ratio_milli
            return PreemptPlan(nodes, found, until_ms, choice.denied, ratio)
        case Queue():
            return QueuePlan(choice.denied, estimate_newcomer(state, command.request, now_ms=now))
        case Refuse():
            return RefusePlan(choice.denied)
        case _:
            assert_never(choice)


def _victim(state: State, lease_id: int) -> PlannedVictim:
    told = state.ledger.told(state.handle(lease_id))
    return PlannedVictim(lease_id, state.owner_of(lease_id), told.priority, told.lease_class)


def _member(state: State, node: NodeId, devices: int) -> HardwareGeneration | None:
    """The generation of the first of the devices, as a lease tells it."""
    gpus = state.ledger.entry(node).capacity.gpus
    return next((gpu.generation for i, gpu in enumerate(gpus) if devices >> i & 1), None)


def generations_for(state: State, request: PlacementRequest) -> tuple[HardwareGeneration, ...]:
    """The generations of all devices in the fleet that could serve the request, free or not."""
    return money_hook.generations_for(state.ledger, request)


@dataclass(frozen=True, slots=True)
class Explained:
    """A plan, everything that stands in the way, how the nodes fared, and what would help."""

    plan: Plan
    blocker: Denied | None
    """What must be cleared first; nothing if nothing but others in the line is in the way."""
    blockers: tuple[Denied, ...]
    fallen: Mapping[FilterReason, int]
    fitting: int
    remedy: Remedy
    rules: RuleCounts = NO_RULES
    """How many nodes each rule of a policy closes to it."""


def rules_closing(state: State, planned: Plan, *, command: Submit) -> RuleCounts:
    """The same of a plan, if the request would not run."""
    if isinstance(planned, GrantPlan | PreemptPlan):
        return NO_RULES
    return state.admission.rules_closing(command.request)


def explain(state: State, command: Submit, *, now_ms: int) -> Explained:
    """Why a request would run, wait or be refused now; nothing changes."""
    now = max(now_ms, state.clock_ms)
    planned = plan(state, command, now_ms=now)
    found = state.admission.explain(command.request, now_ms=now)
    denied = None if isinstance(planned, GrantPlan) else planned.denied
    blockers = found.blockers
    if denied is not None and denied not in blockers:
        blockers = tuple(sorted((*blockers, denied), key=lambda b: b.reason.rank))
    first = min(blockers, key=lambda b: b.reason.rank, default=None)
    remedy = found.remedy
    if first is not None:
        remedy = advise(first, found.fallen, fitting=found.fitting)
        remedy = name_own(state, command.request, blocker=first, remedy=remedy)
    return Explained(planned, first, blockers, found.fallen, found.fitting, remedy, found.rules)
