"""Room for work that waits: where it can be made, and for whom it is kept.

Rules:

- Nobody has to go for nothing. Room is sought as if its victims were gone, by the same admission
  that lets the request start then: quota, money, headroom and policies are asked before, and what
  they gave is held for the claimant until it starts.
- Who is on his way out already is counted on before anybody else has to go.
- Room kept for more urgent work stays free of it: whoever leaves, anywhere, adds to what is free.
- Room counts if it is open to the request's term from when the last victim has left it: what is
  maintained, or booked by somebody else, too soon after that is room for nobody.
- A claim keeps what its request needs, and gives way to a more urgent request that needs the same.
  Whose claim gave way plans anew at the next look.
- A claimant starts wherever it fits first; its claim ends with that. Who then gets his place back,
  :mod:`.sparing` says.
- Asking changes nothing: every question is put to a shadow of the ledger.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bailiwick.kernel.events import Event
from bailiwick.kernel.guards import GuardedAdmission
from bailiwick.kernel.owner import MEMBERS_MAX, Owner
from bailiwick.kernel.state import State
from bailiwick.kernel.work.ending import grace_end, is_confirmed
from bailiwick.kernel.work.events import RequestBlocked
from bailiwick.scheduler.decision import Approved, Denied
from bailiwick.scheduler.node_set import NodeSet, tells_itself
from bailiwick.scheduler.preemption import Preemptable
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.reservation import CAPACITY_REASONS
from bailiwick.scheduler.rights.eviction_table import evictable_by
from bailiwick.scheduler.room_holds import RoomHold, Seat
from bailiwick.vocab.maintenance import WindowPhase
from bailiwick.vocab.transitions import RevokeState
from bailiwick.vocab.values import MILLI

VICTIMS_MAX = 512
"""Leases that may have to go for one request."""

SEATS_MAX = MEMBERS_MAX
"""Members of a gang for which room is made: a claim is told in one record."""

ROOMS_MAX = 8
"""Nodes on which room is sought for one request while policies forbid what is found."""

LOOK_MS = 5_000
"""How long after its last victim has left a claimant may have to wait for the look that starts it.
"""

IN_GRACE = (RevokeState.REVOKE_WARNING, RevokeState.GRACE_RUNNING)


@dataclass(frozen=True, slots=True)
class RoomPlan:
    """Room that can be made: each member's place, who has to go, who is going already."""

    seats: tuple[Seat, ...]
    evicted: tuple[int, ...]
    """Leases that are told to go, gangs whole."""
    leaving: tuple[int, ...]
    """Leases on their way out that are counted on besides."""
    displaced: tuple[int, ...]
    """Entries of less urgent requests whose claims give way."""
    depth: int
    loss_ratio_milli: int | None = MILLI
    """How dear the victims are at most, in thousandths of the cheapest; nothing if not known."""

    @property
    def victims(self) -> tuple[int, ...]:
        """All whose end the request waits for."""
        return tuple(sorted((*self.evicted, *self.leaving)))


def may_evict(state: State, request: PlacementRequest) -> bool:
    """Whether the request is urgent enough that some others may have to go for it."""
    if request.priority.rank < state.settings.preempt_from.rank:
        return False
    return evictable_by(request.lease_class, request.priority) != 0


def find_room(
    state: State, request: PlacementRequest, *, denied: Denied, now_ms: int, own: int | None = None
) -> RoomPlan | None:
    """How room can be made for a request that was denied; ``own`` is its entry, if it has one."""
    if denied.reason not in CAPACITY_REASONS or not may_evict(state, request):
        return None
    if request.gang_size > SEATS_MAX:
        return None
    search = RoomSearch(state, request, now_ms, own)
    return search.room()


class RoomSearch:
    """One search for room: as a rule, in the place of those whom the request may evict."""

    def __init__(
        self, state: State, request: PlacementRequest, now_ms: int, own: int | None
    ) -> None:
        self.state, self.request, self.now_ms = state, request, now_ms
        self.holds = state.ledger.holds
        rank = request.priority.rank
        ranks = {key: state.line.entry(key).request.priority.rank for key in self.holds.numbers()}
        lower = (key for key in ranks if ranks[key] < rank)
        # The least urgent gives way first, and of those the newest.
        self.lower = sorted(lower, key=lambda key: (ranks[key], -key))
        mine = [own] if own is not None and own in self.holds else []
        self.lifted = [*self.lower, *mine]
        self.leaving = [i for i in state.leaving if i not in state.fenced and self._counts(i)]

    def _counts(self, lease_id: int) -> bool:
        return self.state.ledger.entry(self.state.node_of(lease_id)).takes_leases

    def room(self) -> RoomPlan | None:
        """The cheapest room that policies let the request have."""
        shunned: list[str] = []
        for _ in range(ROOMS_MAX):
            found = self._try(shunned)
            if found is None:
                return None
            seats, evicted, ratio = found
            bad = self._forbidden(seats, evicted)
            if bad is None:
                room = self._made(seats, evicted, ratio)
                bad = None if room is None else self._shut_by_then(room)
                if bad is None:
                    return room
            shunned.append(bad)  # another node may do
        return None

    def _shut_by_then(self, room: RoomPlan) -> str | None:
        """A node of the room that is closed to the request's term once the victims have left."""
        state, now_ms = self.state, self.now_ms
        gone_ms = (_left_by(state, lease_id, now_ms=now_ms) for lease_id in room.victims)
        free_ms = max(gone_ms, default=now_ms)
        at_ms = free_ms + LOOK_MS if free_ms > now_ms else now_ms
        for seat in room.seats:
            ahead = state.maintenance.windows_of(seat.node)
            if any(w.phase is WindowPhase.PLANNED and w.closes_ms <= at_ms for w in ahead):
                return seat.node
        for policy in state.guards.policies:
            is_about_terms = tells_itself(policy)
            if not is_about_terms:
                continue
            policy.look(at_ms)
            nodes = policy.nodes_for(self.request)
            policy.look(now_ms)
            shut = (s.node for s in room.seats if not _is_in(nodes, state.ledger.handle_of(s.node)))
            found = next(shut, None)
            if found is not None:
                return found
        return None

    def _try(self, shunned: list[str]) -> tuple[tuple[Seat, ...], list[int], int | None] | None:
        state, request, now_ms = self.state, self.request, self.now_ms
        admission = state.guards.admission_in_room(request, lifted=self.lifted, shunned=shunned)
        gone = [state.handle(i) for i in self.leaving]
        with self.holds.shadow(gone=gone, lifted=self.lifted, now_ms=now_ms):
            decision = admission.evaluate(request, now_ms=now_ms)
            if isinstance(decision, Approved):
                return _seats(decision), [], MILLI
            if decision.reason not in CAPACITY_REASONS:
                return None
            found = self._victims(admission)
        if found is None:
            return None
        handles, ratio = found
        evicted = state.with_gangs([state.ids[handle] for handle in handles])
        gone += [state.handle(i) for i in evicted]
        with self.holds.shadow(gone=gone, lifted=self.lifted, now_ms=now_ms):
            decision = admission.evaluate(request, now_ms=now_ms)
        if isinstance(decision, Denied):
            return None
        return _seats(decision), evicted, ratio

    def _victims(self, admission: GuardedAdmission) -> tuple[list[int], int | None] | None:
        """Who has to go (by the ledger's ids) beside those who leave, and how dear they are."""
        found = self.state.preemption.find_victims(
            self.state.ledger,
            self.request,
            now_ms=self.now_ms,
            filters=admission.scorer.filters,
            headroom=admission.headroom,
        )
        if not isinstance(found, Preemptable) or not 0 < len(found.victims) <= VICTIMS_MAX:
            return None
        return [victim.lease_id for victim in found.victims], found.loss_ratio_milli

    def _forbidden(self, seats: tuple[Seat, ...], evicted: list[int]) -> str | None:
        """A node that a policy closes even when all are gone; for gangs, they were asked before."""
        guards = self.state.guards
        if not guards.policies or self.request.gang_size > 1:
            return None
        gone = [*self.leaving, *evicted, *guards.seats_of(self.lifted)]
        for seat in seats:
            if not guards.permits(self.request, seat, without=gone):
                return seat.node
        return None

    def _made(
        self, seats: tuple[Seat, ...], evicted: list[int], ratio: int | None
    ) -> RoomPlan | None:
        state, ledger = self.state, self.state.ledger
        handles = tuple(state.handle(i) for i in evicted)
        by_end = sorted(self.leaving, key=lambda i: (state.fields(i).expires_ms, i))
        with self.holds.shadow(lifted=self.lifted, now_ms=self.now_ms):
            hold = RoomHold(self.request, seats, handles)
            counted = self.holds.counted_on(hold, [state.handle(i) for i in by_end])
        hold = RoomHold(self.request, seats, (*handles, *counted))
        displaced = self.holds.giving_way(hold, self.lower)
        if displaced is None:
            return None
        elsewhere, displaced = self._for_headroom(hold, displaced, by_end)
        hold = RoomHold(self.request, seats, (*hold.victims, *elsewhere))
        leaving = tuple(sorted(state.ids[handle] for handle in (*counted, *elsewhere)))
        displaced += self._kept_apart(seats, [*evicted, *leaving], displaced)
        depth = 1 + max((ledger.fields(handle).depth for handle in hold.victims), default=-1)
        return RoomPlan(seats, tuple(evicted), leaving, displaced, depth, ratio)

    def _for_headroom(
        self, hold: RoomHold, displaced: tuple[int, ...], by_end: list[int]
    ) -> tuple[list[int], tuple[int, ...]]:
        """Who is counted on and who gives way besides: room elsewhere that is free for urgent work.

        As few as will do, those that leave first before those that leave last, and claims last.
        """
        if not self.state.admission.headroom.binds(self.request):
            return [], displaced
        handles = (self.state.handle(i) for i in by_end)
        more = [handle for handle in handles if handle not in hold.victims]
        for key in [None, *(key for key in self.lower if key not in displaced)]:
            displaced = displaced if key is None else (*displaced, key)
            if self._leaves_headroom((*hold.victims, *more), displaced):
                break
        few, many = 0, len(more)  # the more are gone, the more is free
        while few < many:
            half = (few + many) // 2
            if self._leaves_headroom((*hold.victims, *more[:half]), displaced):
                many = half
            else:
                few = half + 1
        chosen = more[:many]
        for handle in reversed(chosen[:-1]):
            rest = [other for other in chosen if other != handle]
            if self._leaves_headroom((*hold.victims, *rest), displaced):
                chosen = rest
        return chosen, displaced

    def _leaves_headroom(self, gone: tuple[int, ...], displaced: tuple[int, ...]) -> bool:
        """Whether the request leaves the headroom free, without those leases and these claims."""
        headroom, ledger = self.state.admission.headroom, self.state.ledger
        lifted = [*displaced, *(key for key in self.lifted if key not in self.lower)]
        with self.holds.shadow(gone=gone, lifted=lifted, now_ms=self.now_ms):
            return not any(headroom.lacking(self.request, free=ledger.free))

    def _kept_apart(
        self, seats: tuple[Seat, ...], gone: list[int], displaced: tuple[int, ...]
    ) -> tuple[int, ...]:
        """Whose claims give way besides, as a policy lets nobody of them be beside the request."""
        guards, found = self.state.guards, list[int]()
        for seat in dict.fromkeys(seats) if guards.policies else ():
            left = [key for key in self.lifted if key not in self.lower] + [*displaced, *found]
            without = [*gone, *guards.seats_of(left)]
            if guards.permits(self.request, seat, without=without):
                continue
            beside = (
                key
                for key in self.lower
                if any(other.node == seat.node for other in guards.claims[key].seats)
            )
            found += (key for key in beside if key not in displaced and key not in found)
        return tuple(found)


def _is_in(nodes: NodeSet | None, handle: int) -> bool:
    return nodes is None or handle in nodes


def _left_by(state: State, lease_id: int, *, now_ms: int) -> int:
    """When a victim's room is free at the latest, if its teardown is reported in time."""
    phase, ends_ms = state.phase(lease_id), state.fields(lease_id).expires_ms
    if phase is RevokeState.ACTIVE:
        ends_ms = grace_end(state, lease_id, now_ms=now_ms, grace_ms=None)
    elif phase not in IN_GRACE:
        return int(ends_ms)  # its teardown has begun, and that is its end
    return int(ends_ms) + (state.settings.teardown_ms if is_confirmed(state, lease_id) else 0)


def is_certain(state: State, request: PlacementRequest, *, room: RoomPlan, now_ms: int) -> bool:
    """Whether the request starts once all who leave the room are gone, by what is known now."""
    gone = [state.handle(lease_id) for lease_id in room.victims]
    with state.ledger.holds.shadow(gone=gone, lifted=room.displaced, now_ms=now_ms):
        admission = state.guards.admission_in_room(request)
        return isinstance(admission.evaluate(request, now_ms=now_ms), Approved)


def _seats(approved: Approved) -> tuple[Seat, ...]:
    places = zip(approved.nodes, approved.devices, strict=True)
    return tuple(Seat(node, devices) for node, devices in places)


# -- giving way ------------------------------------------------------------------------------


def give_way(state: State, room: RoomPlan, *, now_ms: int) -> Iterator[Event]:
    """Claims of less urgent requests end, in whose room a more urgent one is to be."""
    for entry_id in room.displaced:
        entry = state.entry(entry_id)
        denied = state.admission.evaluate(entry.request, now_ms=now_ms)
        told = denied if isinstance(denied, Denied) else state.blocked[entry_id]
        assert told is not None, "who has a claim was told why"
        yield RequestBlocked(Owner.of(entry.request), entry_id, told, gave_way=True)
