"""Room kept for entries that must wait, and who may start beside it.

Rules:

- The first entries that are denied for lack of capacity get a reservation each, up to a number: the
  earliest time by which leases, each ending at its expiry, have made room for it, and the nodes
  where. Each reckons with those before it: what they need is not there until they have ended.
- Those behind may start if they end by that time, or take nothing that any reservation needs.
- Who may not have one (its last was lost a short while ago) is passed over.
- Asking changes nothing. :mod:`.queue` admits and :mod:`bailiwick.kernel` decides by the same turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from bailiwick.scheduler.admission import AdmissionController
from bailiwick.scheduler.backfill.foresight import RoomSought, RoomStep, foresee
from bailiwick.scheduler.backfill.projection import FutureRoom, amounts_of, milli_of
from bailiwick.scheduler.decision import AdmissionDecision, Approved, Denied, ReservedForOthers
from bailiwick.scheduler.fairness import QueueEntry
from bailiwick.scheduler.handles import Shape
from bailiwick.scheduler.node_set import NodeSet
from bailiwick.scheduler.placement import PlacementScorer
from bailiwick.scheduler.quota_policy import WithinQuota
from bailiwick.scheduler.quota_rows import demand_of
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.values import NodeId
from bailiwick.vocab.words import RESOURCE_KINDS, PendingReason

CAPACITY_REASONS = (PendingReason.WAITING_FOR_CAPACITY, PendingReason.FRAGMENTED)
"""Denials for which room can be kept or made."""

TRIES_MAX = 16
"""Entries for which a time is sought in one look."""


@dataclass(frozen=True, slots=True)
class Reservation:
    """When, at the latest, an entry is to start, and the node where each member would fit."""

    entry: QueueEntry
    at_ms: int
    nodes: tuple[NodeId, ...]


class _Reserved:
    """When and where an entry will fit and, as a node filter, what that leaves to others."""

    def __init__(
        self,
        admission: AdmissionController,
        entry: QueueEntry,
        *,
        now_ms: int,
        before: Sequence[_Reserved] = (),
    ) -> None:
        self.ledger, self.entry, self.now_ms = admission.ledger, entry, now_ms
        request = entry.request
        self.shape = admission.places.shape_of(request)
        self._before = before
        # By kind, what would be free beyond the request and the headroom it must leave.
        self._slack: dict[int, int] = {}
        headroom = admission.headroom
        if request.priority.rank < headroom.priority.rank:
            kept, free = headroom.kept.as_tuple(), self.ledger.free.as_tuple()
            for kind, wanted in enumerate(demand_of(request)[:4]):
                if kept[kind] and wanted:
                    self._slack[kind] = free[kind] - kept[kind] - wanted
        self._ready = self.ledger.prepare(request, admission.scorer.filters)
        self._rooms: dict[int, FutureRoom] = {}
        self._sets: dict[tuple[Shape, int], NodeSet] = {}
        self.reservation = Reservation(entry, now_ms, ())

    # -- when and where ----------------------------------------------------------------------

    def find(self, until_ms: int, terms: Mapping[int, int]) -> bool:
        """Let leases end, earliest first, until the entry fits, and keep that room for it."""
        request = self.entry.request
        if request.deadline_ms is not None:
            until_ms = min(until_ms, request.deadline_ms)
        mask, steps = self.ledger.mask_of(self._ready), tuple(self._steps())
        soon_ms = self.now_ms + 1  # now it was denied
        sought = RoomSought(self.shape, request.gang_size, mask, soon_ms, until_ms, steps)
        found = foresee(self.ledger, replace(sought, terms=terms, slack=self._slack))
        if found is None:
            return False
        self._rooms, self._slack = found.rooms, found.slack
        rooms = self._rooms.values()
        nodes = tuple(room.node.id for room in rooms for _ in range(room.members))
        self.reservation = Reservation(self.entry, found.at_ms, nodes)
        return True

    def _steps(self) -> Iterator[RoomStep]:
        """What those before this one take meanwhile, and give back."""
        for other in self._before:
            kept = other.reservation
            # Who starts so early that it has ended by then is in nobody's way.
            from_ms = kept.at_ms - self.entry.request.ttl_ms + 1
            until_ms = kept.at_ms + other.entry.request.ttl_ms
            for node, amounts, milli in other.takes():
                less = tuple(-each for each in amounts), tuple(-each for each in milli)
                yield RoomStep(from_ms, node, *less)
                yield RoomStep(until_ms, node, amounts, milli)

    def takes(self) -> list[tuple[int, tuple[int, ...], tuple[int, ...]]]:
        """What the entry will take of each node once it has started: amounts, and of devices."""
        shape = self.shape
        demand = (*amounts_of(shape), shape.device_count * shape.device_milli)
        found = []
        for handle, room in self._rooms.items():
            amounts = tuple(room.members * amount for amount in demand)
            found.append((handle, amounts, tuple(room.milli_for(shape, room.members))))
        return found

    # -- who may start beside it -------------------------------------------------------------

    def binds(self, request: PlacementRequest) -> bool:
        """Whether the request, if it started now, might not have ended when the time comes."""
        return self.now_ms + request.ttl_ms > self.reservation.at_ms

    def nodes_for(self, request: PlacementRequest) -> NodeSet:
        """Where a request that may not have ended by then takes nothing that is kept."""
        shape, wanted = Shape.of(request), demand_of(request)
        key = shape, request.gang_size
        if key not in self._sets:
            self._sets[key] = members = NodeSet()
            if all(wanted[kind] <= left for kind, left in self._slack.items() if wanted[kind]):
                members.bits = bytearray(b"\xff" * (len(self.ledger.by_handle) // 8 + 1))
            for handle, room in self._rooms.items():
                if not self._spares(room, shape, members=request.gang_size):
                    members.discard(handle)
        return self._sets[key]

    def _spares(self, then: FutureRoom, shape: Shape, *, members: int) -> bool:
        """Whether what is kept on a node stays, whichever devices the newcomers take of it."""
        now, need = FutureRoom.now(self.ledger, then.node, shape=shape), self.shape
        landing = min(members, now.fitting(shape))
        rows = zip(then.amounts, amounts_of(shape), amounts_of(need), strict=True)
        if any(free - landing * taken < then.members * kept for free, taken, kept in rows if kept):
            return False
        if not (landing and shape.device_count and need.device_count):
            return True
        lost = []
        for index in set(now.serving).intersection(then.serving):
            free, copies = then.devices[index], min(landing, now.slots(shape, (index,)))
            rest = free - copies * shape.device_milli
            lost.append(max(free, 0) // need.device_milli - max(rest, 0) // need.device_milli)
        worst = sum(sorted(lost, reverse=True)[: landing * shape.device_count])
        return then.slots(need, then.serving) - worst >= then.members * need.device_count

    def note(self, request: PlacementRequest, places: Iterable[tuple[NodeId, int]]) -> None:
        """Somebody started beside the reservation: what it may still hold then is taken."""
        shape = Shape.of(request)
        for kind in self._slack:
            self._slack[kind] -= demand_of(request)[kind]
            self._sets.clear()
        for node, bits in places:
            room = self._rooms.get(self.ledger.handle_of(node))
            if room is not None:
                milli = milli_of(shape, bits, width=len(room.devices))
                room.change(amounts_of(shape), milli, sign=-1)
                self._sets.clear()


def _anybody(entry: QueueEntry) -> bool:
    del entry
    return True


class Turn:
    """One look at the line: requests asked one by one, under no more than so many reservations.

    Asking changes nothing but the reservations; whoever starts an entry says so with ``started``.
    """

    def __init__(
        self,
        admission: AdmissionController,
        *,
        now_ms: int,
        until_ms: int,
        most: int = 1,
        may_hold: Callable[[QueueEntry], bool] = _anybody,
    ) -> None:
        self.admission, self.now_ms, self.until_ms = admission, now_ms, until_ms
        self._most, self._may_hold = most, may_hold
        self._reserved: list[_Reserved] = []
        self._tries = TRIES_MAX
        self._vain: set[object] = set()
        self._told: dict[object, Denied] = {}
        self._foreseen: dict[object, Reservation | None] = {}

    @property
    def reservations(self) -> tuple[Reservation, ...]:
        """For whom room is kept, in the order in which they asked."""
        return tuple(reserved.reservation for reserved in self._reserved)

    @property
    def is_full(self) -> bool:
        """Whether room can be kept for nobody else."""
        return len(self._reserved) >= self._most or not self._tries

    def reservation_of(self, entry: QueueEntry) -> Reservation | None:
        """The room that is kept for one entry."""
        return next((each for each in self.reservations if each.entry is entry), None)

    def ask(self, entry: QueueEntry) -> AdmissionDecision:
        """Whether the entry may start; if it lacks capacity, room may be kept for it from now."""
        bound = self._bound(entry.request)
        key = self._key(entry.request, bound)
        decision: AdmissionDecision
        if key in self._told:
            decision = self._told[key]
        elif bound:
            decision = self._evaluate(entry.request, bound)
        else:
            decision = self.admission.evaluate(entry.request, now_ms=self.now_ms)
        if isinstance(decision, Denied):
            self._told[key] = decision
            if decision.reason in CAPACITY_REASONS and key not in self._vain:
                self._reserve(entry, key)
        return decision

    def _reserve(self, entry: QueueEntry, key: object) -> None:
        if self.is_full or not self._may_hold(entry) or self.reservation_of(entry) is not None:
            return
        self._tries -= 1
        planned = self._planned(entry, tuple(self._reserved), {})
        if planned is None:
            self._vain.add(key)
        else:
            self._reserved.append(planned)

    def foresee(self, entry: QueueEntry) -> Reservation | None:
        """When the entry could start after all for whom room is kept; nothing is kept for it."""
        key = self._key(entry.request, tuple(self._reserved)), entry.request.ttl_ms
        if key not in self._foreseen:
            planned = self._planned(entry, tuple(self._reserved), {})
            self._foreseen[key] = None if planned is None else planned.reservation
        found = self._foreseen[key]
        return None if found is None else replace(found, entry=entry)

    def again(self, entry: QueueEntry, terms: Mapping[int, int]) -> Reservation | None:
        """When the entry, for which room is kept, could start if these leases ended then.

        ``terms`` are the ends that some leases (by handle) would have instead of their own.
        """
        before = tuple(takewhile(lambda each: each.entry is not entry, self._reserved))
        planned = self._planned(entry, before, terms)
        return None if planned is None else planned.reservation

    def _planned(
        self, entry: QueueEntry, before: tuple[_Reserved, ...], terms: Mapping[int, int]
    ) -> _Reserved | None:
        planned = _Reserved(self.admission, entry, now_ms=self.now_ms, before=before)
        return planned if planned.find(self.until_ms, terms) else None

    def withdraw(self, entry: QueueEntry) -> None:
        """Room is kept for the entry no more; others may have it."""
        self._reserved = [each for each in self._reserved if each.entry is not entry]

    def admission_for(self, entry: QueueEntry) -> AdmissionController:
        """Who would admit the entry in the way that ``ask`` answered."""
        bound = self._bound(entry.request)
        return self._beside(bound) if bound else self.admission

    def started(self, entry: QueueEntry, places: Iterable[tuple[NodeId, int]]) -> None:
        """The entry got leases on these nodes, with these devices (as bits)."""
        taken = tuple(places)
        for reserved in self._bound(entry.request):
            reserved.note(entry.request, taken)
        self._foreseen.clear()

    def _bound(self, request: PlacementRequest) -> tuple[_Reserved, ...]:
        """The reservations of which the request must take nothing."""
        return tuple(each for each in self._reserved if each.binds(request))

    def _beside(self, bound: tuple[_Reserved, ...]) -> AdmissionController:
        old = self.admission.scorer
        scorer = PlacementScorer(old.strategy, weights=old.weights, filters=(*old.filters, *bound))
        headroom = self.admission.headroom
        return AdmissionController(self.admission.ledger, scorer=scorer, headroom=headroom)

    def _evaluate(
        self, request: PlacementRequest, bound: tuple[_Reserved, ...]
    ) -> AdmissionDecision:
        """What the request would be answered, if it must take nothing that is kept."""
        freely = self.admission.evaluate(request, now_ms=self.now_ms)
        if isinstance(freely, Denied):
            return freely
        decision = self._beside(bound).evaluate(request, now_ms=self.now_ms)
        if isinstance(decision, Approved):
            return decision
        # The mask is ours and no policy, so it is not told as one.
        free, wanted = self.admission.ledger.free.as_tuple(), demand_of(request)
        rows = []
        for reserved in bound:
            kept = demand_of(reserved.entry.request)
            columns = zip(RESOURCE_KINDS, free, kept, wanted, strict=False)
            rows += [row for row in columns if row[2] and row[3]][-1:]
        # INVARIANT: one was kept away from the others, so there is something that two want.
        return Denied.because(ReservedForOthers(*rows[0]))

    def _key(self, request: PlacementRequest, bound: tuple[_Reserved, ...]) -> object:
        """Within one call nothing is given back: who asks the same after a no is told the same.

        Asking quota here also refuses a clock that went back before anything has started.
        """
        quotas, now_ms = self.admission.ledger.quotas, self.now_ms
        within = quotas is None or isinstance(quotas.check(request, now_ms=now_ms), WithinQuota)
        kept = tuple(each.entry.id for each in bound)
        if self.admission.scorer.filters or request.deadline_ms is not None or not within:
            return request, kept
        if self.admission.places.shape_of(request).vram_bytes_max is not None:
            return request, kept  # its quota is its own
        labels = frozenset(request.labels.items())
        return Shape.of(request), request.gang_size, request.priority, labels, kept


def bits_of(indices: Iterable[int]) -> int:
    """Device indices as a set of bits."""
    return sum(1 << index for index in indices)
