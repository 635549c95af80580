"""What a cell could do for a request, and which of several cells gets it.

Rules:

- Asking changes nothing: it is the cell's own choice (:mod:`..work.plan`), not carried out. So an
  offer knows guards, claims, reservations and the depth of cascades as the cell itself does.
- Not every cell is asked about every request: first the few with the most free, as they told last
  (:func:`asked_first`). Only if none of them can start it, all are. So what a cell has to answer
  does not grow with the fleet.
- Who can start it at once gets it: of those, the one with the most free GPU, then CPU.
- Else one cell makes room: the one whose victims are cheapest. It is the only one that evicts.
- Else it waits in the line of the cell that can tell the earliest start, where room is kept for it
  like for anybody; if none can tell, it stays where any cell can have it.
- What no cell can ever run is told so only if all cells were asked.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias, assert_never

from bailiwick.kernel.state import State
from bailiwick.kernel.views import estimate_newcomer
from bailiwick.kernel.work.claims.room import RoomPlan
from bailiwick.kernel.work.commands import Submit
from bailiwick.kernel.work.plan import Grant, Preempt, Queue, Refuse, choose, ready_by
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.victim_cost import VictimTerms, lease_cost
from bailiwick.vocab.errors import LimitReached
from bailiwick.vocab.words import PendingReason

ASKED_FIRST: Final = 2
"""Cells that are asked before all are."""


@dataclass(frozen=True, slots=True)
class CanStart:
    """It would run there at once."""

    free_gpu_milli: int
    free_cpu_milli: int


@dataclass(frozen=True, slots=True)
class CanMakeRoom:
    """It would run there once others had left, whose loss is reckoned at ``cost``."""

    cost: int
    ready_ms: int


@dataclass(frozen=True, slots=True)
class CanWait:
    """It would wait there, and start by then as far as can be told."""

    starts_ms: int | None
    reason: PendingReason


@dataclass(frozen=True, slots=True)
class CannotRun:
    """It may neither run nor wait there."""

    reason: PendingReason


Offer: TypeAlias = CanStart | CanMakeRoom | CanWait | CannotRun


def offer(state: State, request: PlacementRequest, *, now_ms: int) -> Offer:
    """What this plane could do for a request; nothing changes."""
    if isinstance(choose(state, Submit(request, wait=False), now_ms=now_ms), Grant):
        free = state.ledger.free
        return CanStart(free.gpu_milli, free.cpu_milli)
    try:
        choice = choose(state, Submit(request), now_ms=now_ms)
    except LimitReached:
        return CannotRun(PendingReason.WAITING_FOR_CAPACITY)
    match choice:
        case Grant() | Queue():
            estimate = estimate_newcomer(state, request, now_ms=now_ms)
            denied = choice.denied if isinstance(choice, Queue) else None
            reason = PendingReason.NOT_YET_LOOKED_AT if denied is None else denied.reason
            return CanWait(estimate.starts_ms, reason)
        case Preempt(room=room):
            cost = _cost_of(state, room, now_ms=now_ms)
            return CanMakeRoom(cost, ready_by(state, room, now_ms=now_ms))
        case Refuse(denied=why):
            return CannotRun(why.reason)
        case _:
            assert_never(choice)


def _cost_of(state: State, room: RoomPlan, *, now_ms: int) -> int:
    terms = VictimTerms(now_ms, fresh_checkpoint_ms=state.settings.fresh_checkpoint_ms)
    leases = (state.ledger.lease(state.handle(lease_id)) for lease_id in room.evicted)
    return sum(lease_cost(lease, terms) for lease in leases)


# -- choosing --------------------------------------------------------------------------------


def asked_first(free: Mapping[str, tuple[int, int]]) -> list[str]:
    """The few cells to ask before all, by free GPU and CPU as each told last."""
    return heapq.nsmallest(
        ASKED_FIRST, free, key=lambda cell: (-free[cell][0], -free[cell][1], cell)
    )


@dataclass(frozen=True, slots=True)
class ChosenCell:
    """The one cell that gets the request; ``waits``: into its line, if it cannot start at once."""

    cell: str
    waits: bool


@dataclass(frozen=True, slots=True)
class NoCell:
    """No cell can have it now; ``never``: none ever could."""

    reason: PendingReason
    never: bool


def choose_cell(
    offers: Mapping[str, Offer], *, silent: Collection[str] = ()
) -> ChosenCell | NoCell:
    """Who gets the request; ``silent`` are the cells that gave no answer."""
    best: tuple[tuple[int, ...], str] | None = None
    for cell, each in offers.items():
        rank = _rank(each)
        if rank is not None and (best is None or (rank, cell) < best):
            best = rank, cell
    if best is not None:
        return ChosenCell(best[1], waits=best[0][0] > 0)
    reasons = [each.reason for each in offers.values() if isinstance(each, CanWait | CannotRun)]
    waiting = PendingReason.WAITING_FOR_CAPACITY
    reason = max(reasons, key=lambda reason: reason.rank, default=waiting)
    return NoCell(reason, never=bool(reasons) and not silent and not reason.is_transient)


def _rank(each: Offer) -> tuple[int, ...] | None:
    """The smallest is best; nothing if it is no use to have it there now."""
    match each:
        case CanStart():
            return 0, -each.free_gpu_milli, -each.free_cpu_milli
        case CanMakeRoom():
            return 1, each.cost, each.ready_ms
        case CanWait(starts_ms=starts_ms):
            return None if starts_ms is None else (2, starts_ms, 0)
        case CannotRun():
            return None
        case _:
            assert_never(each)
