"""Room for whoever waits, out of what others hold above their quota: done by time, if it is set.

Rules:

- Off unless ``rebalance_ms`` is set. Then a request that has lacked capacity for so long gets room
  from scopes that are above their quota, whatever its priority: its owner is within his own quota,
  or it would not lack capacity.
- Nobody goes for nothing: the victims' room, with what is free, lets the request in by the same
  admission that starts it then, and is kept for it (a claim) until it does. If it comes to nothing,
  the victims stay; so they do if they are above no quota any more (:mod:`..work.claims.sparing`).
- Only units of scopes that are above their quota go, each only while its scope is above by
  something that it holds; never one guaranteed, never what burst credit carries, never of a scope
  that the request itself counts in. Each that goes is needed: without it there would be no room.
- Room that is promised to somebody else, or kept for him, is not counted on.
- One request is served in a tick; room is sought for at most :data:`TRIED_MAX`, of the
  :data:`LOOKED_MAX` that have lacked room for longest. Those that ask for the same are asked once,
  and who could not be helped is let be for a while (:mod:`.tries`). While nobody is above his
  quota, or nobody is to be asked, nothing is looked at: a tick reads the leases of those above
  their quota once or not at all, however many wait.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from heapq import nsmallest
from itertools import islice
from typing import Final

from bailiwick.kernel.events import Event
from bailiwick.kernel.fleet.tries import ask_of
from bailiwick.kernel.guards import GuardedAdmission
from bailiwick.kernel.state import State
from bailiwick.kernel.work.claims.room import SEATS_MAX, RoomPlan, RoomSearch
from bailiwick.kernel.work.requests import claim_room
from bailiwick.scheduler.decision import Approved
from bailiwick.scheduler.fairness import QueueEntry
from bailiwick.scheduler.handles import Shape
from bailiwick.scheduler.quota_policy import QuotaScope
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.rights.excess import (
    Excess,
    HeldUnit,
    ScopeUnits,
    covers,
    find_excesses,
    take_within,
)
from bailiwick.vocab.words import PreemptionReason

LOOKED_MAX: Final = 256
TRIED_MAX: Final = 4
"""Requests that are looked at, and ways of asking for which room is sought, at a tick."""

UNITS_MAX: Final = 64
"""Units that may go for one request, and that are looked at on one node."""

NODES_MAX, ROOMS_MAX = 16, 4
"""Nodes on which room is sought for one member, and of which the cheapest is taken."""


def rebalance_line(state: State, *, now_ms: int, limit: int) -> Iterator[Event]:
    """Make room for one who has waited for so long, if others hold it above their quota."""
    del limit
    wait_ms = state.settings.rebalance_ms
    if not wait_ms or not state.line.entries or not state.quotas.table.touched:
        return
    excesses, tries = find_excesses(state.quotas), state.help_tries
    tries.look(excesses)
    waiting = _to_be_asked(state, now_ms - wait_ms, now_ms=now_ms) if excesses else {}
    if not waiting:
        return
    surplus, sought = _Surplus(state, excesses, now_ms), 0
    for ask, entry in waiting.items():
        room = None
        if surplus.might_serve(entry.request):
            if sought == TRIED_MAX:
                return
            sought += 1
            room = _room_for(state, entry, surplus, now_ms=now_ms)
        if room is not None:
            tries.note_help(ask)
            reason = PreemptionReason.QUOTA_REBALANCE
            yield from claim_room(state, entry, room=room, now_ms=now_ms, reason=reason)
            return
        tries.note_failure(ask, ttl_ms=entry.request.ttl_ms, now_ms=now_ms)


def _to_be_asked(state: State, since_ms: int, *, now_ms: int) -> dict[Hashable, QueueEntry]:
    """Of those that have lacked room since then, one of each that asks for the same."""
    found: dict[Hashable, QueueEntry] = {}
    for entry in islice(state.line.short_since(since_ms), LOOKED_MAX):
        if entry.id in state.claims:
            continue
        # What is promised to others is not counted on, but what is to himself.
        own = entry.id if entry.id in state.line.promises else None
        ask, ttl_ms = (ask_of(entry.request), own), entry.request.ttl_ms
        if ask not in found and state.help_tries.may_ask(ask, ttl_ms=ttl_ms, now_ms=now_ms):
            found[ask] = entry
    return found


class _Surplus:
    """What is held above quotas, by whom, and the units that may go for it, by node."""

    def __init__(self, state: State, excesses: Iterable[Excess], now_ms: int) -> None:
        self._state = state
        self.rests: dict[QuotaScope, list[int]] = {}
        found: dict[int, HeldUnit] = {}
        for excess in excesses:
            number = state.ids.__getitem__
            held = ScopeUnits(state.ledger, excess.scope, number=number, now_ms=now_ms)
            rest = held.rest_of(excess)
            if any(rest):
                self.rests[excess.scope] = rest
                found |= {u.number: u for u in held.units if _counts(u, rest)}
        self._by_node: dict[str, list[HeldUnit]] = {}
        for unit in sorted(found.values(), key=lambda unit: (unit.cost, unit.number)):
            for node in unit.nodes:
                self._by_node.setdefault(node, []).append(unit)

    def might_serve(self, request: PlacementRequest) -> bool:
        """Whether any unit holds something on a node whose devices could serve the request."""
        return next(self._on_nodes(request), None) is not None

    def groups(self, request: PlacementRequest) -> Iterator[list[HeldUnit]]:
        """Units that might make room together, the cheapest first: on a node, or for a gang."""
        beside = self._rests_beside(request)
        if request.gang_size > 1:
            useful = {u.number: u for _, units in self._on_nodes(request) for u in units}
            in_order = nsmallest(UNITS_MAX, useful.values(), key=lambda u: (u.cost, u.number))
            yield take_within(in_order, beside)
            return
        for _, units in islice(self._on_nodes(request), NODES_MAX):
            yield take_within(units[:UNITS_MAX], beside)

    def _rests_beside(self, request: PlacementRequest) -> dict[QuotaScope, list[int]]:
        return {s: rest for s, rest in self.rests.items() if not covers(s, _owner(request))}

    def _on_nodes(self, request: PlacementRequest) -> Iterator[tuple[str, list[HeldUnit]]]:
        """Nodes of use, that with the cheapest unit first, with the units of others there."""
        ledger, shape = self._state.ledger, Shape.of(request)
        scopes = list(self._rests_beside(request))
        for node, units in self._by_node.items() if scopes else ():
            entry = ledger.entry(node)
            if not entry.takes_leases or not entry.has_labels(request.labels):
                continue
            if len(ledger.serving(entry, shape)) < shape.device_count:
                continue
            others = [u for u in units if any(covers(scope, u.scope) for scope in scopes)]
            if others:
                yield node, others


def _counts(unit: HeldUnit, rest: list[int]) -> bool:
    return any(amount and over for amount, over in zip(unit.amounts, rest, strict=True))


def _owner(request: PlacementRequest) -> QuotaScope:
    return QuotaScope(request.tenant, request.project)


class _SurplusSearch(RoomSearch):
    """A search for room in the place of those who hold more than they may."""

    def __init__(self, state: State, entry: QueueEntry, surplus: _Surplus, now_ms: int) -> None:
        super().__init__(state, entry.request, now_ms, None)
        self.lower, self.lifted = [], []  # what is kept for others stays theirs
        self._surplus = surplus

    def _victims(self, admission: GuardedAdmission) -> tuple[list[int], int | None] | None:
        found: list[list[HeldUnit]] = []
        for units in self._surplus.groups(self.request):
            if len(found) >= ROOMS_MAX:
                break
            if units and self._fits(admission, units):
                found.append(self._needed(admission, units))
        best = min(found, key=lambda units: sum(unit.cost for unit in units), default=None)
        return None if best is None else ([h for unit in best for h in unit.handles], None)

    def _needed(self, admission: GuardedAdmission, units: list[HeldUnit]) -> list[HeldUnit]:
        """Those of the units without which there would be no room; the dearest are spared first."""
        kept = list(units)
        for unit in reversed(units):
            rest = [each for each in kept if each is not unit]
            if rest and self._fits(admission, rest):
                kept = rest
        return kept

    def _fits(self, admission: GuardedAdmission, units: list[HeldUnit]) -> bool:
        gone = [handle for unit in units for handle in unit.handles]
        with self.holds.shadow(gone=gone, now_ms=self.now_ms):
            return isinstance(admission.evaluate(self.request, now_ms=self.now_ms), Approved)


def _room_for(
    state: State, entry: QueueEntry, surplus: _Surplus, *, now_ms: int
) -> RoomPlan | None:
    """The room that can be made for an entry, if nobody else is promised it."""
    if entry.request.gang_size > SEATS_MAX:
        return None
    room = _SurplusSearch(state, entry, surplus, now_ms).room()
    if room is None or not room.evicted or room.displaced:
        return None
    # Who has a claim is served by that, whatever he was promised before.
    others = (p for i, p in state.line.promises.items() if i != entry.id and i not in state.claims)
    promised = {node for promise in others for node in promise.nodes}
    return None if promised.intersection(seat.node for seat in room.seats) else room
