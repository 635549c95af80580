"""Room that is kept for one entry, and what that leaves to others.

Rules:

- It is there at the earliest time by which leases, each ending at its expiry, have made room for
  the entry where policies let it be by then. It reckons with those before it: what they need is not
  there until they have ended, and where they will be counts for policies, too.
- Others who may not have ended by then, with all that a policy lets linger of them, take nothing
  that is kept, and go nowhere where they would close a place that is kept.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bailiwick.scheduler.admission import AdmissionController
from bailiwick.scheduler.backfill.foresight import RoomSought, RoomStep, foresee
from bailiwick.scheduler.backfill.openings import Expected, PoliciesAhead
from bailiwick.scheduler.backfill.projection import FutureRoom, amounts_of, milli_of
from bailiwick.scheduler.backfill.ruled import RuledForesight
from bailiwick.scheduler.fairness import QueueEntry
from bailiwick.scheduler.handles import Shape
from bailiwick.scheduler.node_set import NodeSet
from bailiwick.scheduler.quota_rows import demand_of
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.values import NodeId

NodeTake: TypeAlias = tuple[int, tuple[int, ...], tuple[int, ...]]
"""A node, and what is taken of it: amounts, and milli of each device."""


@dataclass(frozen=True, slots=True)
class Reservation:
    """When, at the latest, an entry is to start, and the node where each member would fit."""

    entry: QueueEntry
    at_ms: int
    nodes: tuple[NodeId, ...]


class Reserved:
    """When and where an entry will fit and, as a node filter, what that leaves to others."""

    def __init__(
        self,
        admission: AdmissionController,
        entry: QueueEntry,
        *,
        now_ms: int,
        ahead: PoliciesAhead,
        before: Sequence[Reserved] = (),
    ) -> None:
        self.ledger, self.entry, self.now_ms = admission.ledger, entry, now_ms
        self._ahead = ahead
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
        self._ready = self.ledger.prepare(request, ahead.lasting)
        self._rooms: dict[int, FutureRoom] = {}
        self._taken: list[NodeTake] | None = None
        self._sets: dict[Hashable, NodeSet] = {}
        self.reservation = Reservation(entry, now_ms, ())

    # -- when and where ----------------------------------------------------------------------

    def find(
        self, until_ms: int, terms: Mapping[int, int], *, promised: Iterable[str] = ()
    ) -> bool:
        """Let leases end, earliest first, until the entry fits, and keep that room for it.

        Where it was ``promised`` room, policies are asked about first.
        """
        request = self.entry.request
        if request.deadline_ms is not None:
            until_ms = min(until_ms, request.deadline_ms)
        mask, steps = self.ledger.mask_of(self._ready), tuple(self._steps())
        soon_ms = self.now_ms + 1  # now it was denied
        what = self.shape, request.gang_size, mask
        sought = RoomSought(*what, soon_ms, until_ms, steps, terms, self._slack)
        if self._ahead.policies:
            entries = self.ledger.entries
            nodes = [entries[NodeId(name)].handle for name in promised if name in entries]
            kept = tuple(other.expected for other in self._before)
            ruled = RuledForesight(self.ledger, sought, request, self._ahead, kept, nodes)
            found = ruled.find()
        else:
            found = foresee(self.ledger, sought)
        if found is None:
            return False
        self._rooms, self._slack = found.rooms, found.slack
        rooms = self._rooms.values()
        names = tuple(room.node.id for room in rooms for _ in range(room.members))
        self.reservation = Reservation(self.entry, found.at_ms, names)
        return True

    @property
    def expected(self) -> Expected:
        """Who is to come, where and from when."""
        rooms = self._rooms.items()
        nodes = tuple(handle for handle, room in rooms for _ in range(room.members))
        return Expected(self.entry.request, nodes, self.reservation.at_ms)

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

    def takes(self) -> list[NodeTake]:
        """What the entry will take of each node once it has started: amounts, and of devices."""
        if self._taken is None:
            shape, self._taken = self.shape, []
            demand = (*amounts_of(shape), shape.device_count * shape.device_milli)
            for handle, room in self._rooms.items():
                amounts = tuple(room.members * amount for amount in demand)
                milli = tuple(room.milli_for(shape, room.members))
                self._taken.append((handle, amounts, milli))
        return self._taken

    # -- who may start beside it -------------------------------------------------------------

    def binds(self, request: PlacementRequest) -> bool:
        """Whether a request that starts now may be in the way of the entry when that is to start.

        What it leaves behind may be, after it has ended.
        """
        ends_ms = self.now_ms + request.ttl_ms
        if ends_ms > self.reservation.at_ms or not self._ahead.policies:
            return ends_ms > self.reservation.at_ms
        return ends_ms + self._ahead.tail_ms(request) > self.reservation.at_ms

    def nodes_for(self, request: PlacementRequest) -> NodeSet:
        """Where a request that may not have ended by then is in nobody's way."""
        if not self._ahead.policies:
            return self.room_for(request)
        key = Shape.of(request), request.gang_size, self._ahead.key(request)
        if key not in self._sets:
            others = [other.expected for other in self._before]
            shut = self._ahead.shut(request, self.expected, others=others)
            room = self.room_for(request)
            if not shut:
                self._sets[key] = room
            else:
                self._sets[key] = members = NodeSet()
                bits = int.from_bytes(room.bits, "little") & ~shut
                members.bits = bytearray(bits.to_bytes(len(room.bits), "little"))
        return self._sets[key]

    def room_for(self, request: PlacementRequest) -> NodeSet:
        """The same, as far as what is kept is taken."""
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
        if self._ahead.policies:
            self._sets.clear()
        for kind in self._slack:
            self._slack[kind] -= demand_of(request)[kind]
            self._sets.clear()
        for node, bits in places:
            room = self._rooms.get(self.ledger.handle_of(node))
            if room is not None:
                milli = milli_of(shape, bits, width=len(room.devices))
                room.change(amounts_of(shape), milli, sign=-1)
                self._sets.clear()
                self._taken = None
