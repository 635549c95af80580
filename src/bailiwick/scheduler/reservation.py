"""Room kept for one entry that must wait, and who may start beside it.

Rules:

- The first entry that is denied for lack of capacity gets the reservation: the earliest time by
  which leases, each ending at its expiry, have made room for it, and the nodes where.
- Those behind it may start if they end by that time, or take nothing the reservation needs.
- Asking changes nothing. :mod:`.queue` admits and :mod:`bailiwick.kernel` decides by the same turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from bailiwick.scheduler.admission import AdmissionController
from bailiwick.scheduler.decision import AdmissionDecision, Approved, Denied, ReservedForOthers
from bailiwick.scheduler.fairness import QueueEntry
from bailiwick.scheduler.handles import Shape
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.node_set import NodeSet
from bailiwick.scheduler.node_state import NodeEntry
from bailiwick.scheduler.placement import PlacementScorer
from bailiwick.scheduler.quota_policy import WithinQuota
from bailiwick.scheduler.quota_rows import demand_of
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.values import NodeId
from bailiwick.vocab.words import RESOURCE_KINDS, PendingReason

CAPACITY_REASONS = (PendingReason.WAITING_FOR_CAPACITY, PendingReason.FRAGMENTED)
"""Denials for which room can be kept or made."""


@dataclass(frozen=True, slots=True)
class Reservation:
    """When, at the latest, an entry is to start, and the node where each member would fit."""

    entry: QueueEntry
    at_ms: int
    nodes: tuple[NodeId, ...]


def _amounts(shape: Shape) -> tuple[int, int, int]:
    return shape.cpu_milli, shape.mem_bytes, shape.block_bytes


@dataclass(slots=True)
class _Room:
    """What is free on one node, now or later, and its devices that may serve the shape asked."""

    node: NodeEntry
    amounts: list[int]
    devices: list[int]
    serving: tuple[int, ...]
    members: int = 0

    @classmethod
    def now(cls, ledger: CapacityLedger, node: NodeEntry, *, shape: Shape) -> _Room:
        _, _, cpu, mem, block, devices, _ = ledger.engine.node(node.handle)
        return cls(node, [cpu, mem, block], list(devices), ledger.serving(node, shape))

    def change(self, shape: Shape, devices: Iterable[int], *, sign: int) -> None:
        """What one lease holds comes back (``sign`` 1) or is taken (-1)."""
        for kind, amount in enumerate(_amounts(shape)):
            self.amounts[kind] += sign * amount
        for index in devices:
            self.devices[index] += sign * shape.device_milli

    def fitting(self, shape: Shape) -> int:
        """How many members fit; they are equal, so it does not matter which devices go first."""
        rows = zip(self.amounts, _amounts(shape), strict=True)
        counts = [free // need for free, need in rows if need]
        if shape.device_count:
            counts.append(self.slots(shape, self.serving) // shape.device_count)
        return min(counts)

    def slots(self, shape: Shape, devices: Iterable[int]) -> int:
        """How often these devices could serve one device of the shape."""
        return sum(self.devices[index] // shape.device_milli for index in devices)


class _Reserved:
    """When and where an entry will fit and, as a node filter, what that leaves to others."""

    def __init__(self, admission: AdmissionController, entry: QueueEntry, *, now_ms: int) -> None:
        self.ledger, self.entry, self.now_ms = admission.ledger, entry, now_ms
        request, old = entry.request, admission.scorer
        scorer = PlacementScorer(old.strategy, weights=old.weights, filters=(*old.filters, self))
        self._open, headroom = admission, admission.headroom
        self.beside = AdmissionController(self.ledger, scorer=scorer, headroom=headroom)
        self.shape = admission.places.shape_of(request)
        # By kind, what would be free beyond the request and the headroom it must leave.
        self._slack: dict[int, int] = {}
        if request.priority.rank < headroom.priority.rank:
            kept, free = headroom.kept.as_tuple(), self.ledger.free.as_tuple()
            for kind, wanted in enumerate(demand_of(request)[:4]):
                if kept[kind] and wanted:
                    self._slack[kind] = free[kind] - kept[kind] - wanted
        policies = [f.nodes_for(request) for f in old.filters]
        self._rooms: dict[int, _Room] = {}
        for node in self.ledger.entries.values():
            labelled = node.has_labels(request.labels)
            allowed = all(nodes is None or node.handle in nodes for nodes in policies)
            if node.takes_leases and labelled and allowed:
                self._rooms[node.handle] = _Room.now(self.ledger, node, shape=self.shape)
        self._sets: dict[tuple[Shape, int], NodeSet] = {}
        self.reservation = Reservation(entry, now_ms, ())
        self.terms: Mapping[int, int] = {}
        """Leases (by handle) that are taken to end then, whatever they say themselves."""

    def find(self, until_ms: int) -> bool:
        """Let leases end, earliest first, until the entry fits, and keep that room for it."""
        if self.entry.request.deadline_ms is not None:
            until_ms = min(until_ms, self.entry.request.deadline_ms)
        missing = self.entry.request.gang_size
        for room in self._rooms.values():
            room.members = room.fitting(self.shape)
            missing -= room.members
        for at_ms, endings in groupby(self._endings(until_ms), key=itemgetter(0)):
            missing -= sum(
                self._end(handle, shape, devices=d) for _, _, handle, shape, d in endings
            )
            if missing <= 0 and min(self._slack.values(), default=0) >= 0:
                self.reservation = Reservation(self.entry, at_ms, self._keep())
                return True
        return False

    def _endings(self, until_ms: int) -> list[tuple[int, int, int, int, int]]:
        """Time, lease, node, shape and devices of what ends by then, in that order."""
        found = []
        for node in self.ledger.entries.values():
            # Headroom looks at all nodes that take leases, a request only at those it may use.
            counts = node.handle in self._rooms or (self._slack and node.takes_leases)
            for lease in self.ledger.engine.leases_on(node.handle) if counts else ():
                fields = self.ledger.fields(lease)
                # What should have ended already may end any moment; what is fenced, never.
                at_ms = max(self.terms.get(lease, fields.expires_ms), self.now_ms)
                if at_ms <= until_ms:
                    found.append((at_ms, lease, node.handle, fields.shape, fields.devices))
        return sorted(found)

    def _end(self, handle: int, shape: int, *, devices: int) -> int:
        """Give back what a lease holds; how many more members of the entry fit on its node."""
        for kind, amount in enumerate(self.ledger.resources_of(shape).as_tuple()):
            if kind in self._slack:
                self._slack[kind] += amount
        room = self._rooms.get(handle)
        if room is None:
            return 0
        indices = [i for i in range(len(room.devices)) if devices >> i & 1]
        room.change(self.ledger.handles.shapes[shape], indices, sign=1)
        before, room.members = room.members, room.fitting(self.shape)
        return room.members - before

    def _keep(self) -> tuple[NodeId, ...]:
        """A node for each member, where most fit first; other rooms are of no more interest."""
        nodes: list[NodeId] = []
        rooms = sorted(self._rooms.items(), key=lambda row: (-row[1].members, row[0]))
        self._rooms = {}
        for handle, room in rooms:
            room.members = min(room.members, self.entry.request.gang_size - len(nodes))
            if room.members:
                self._rooms[handle] = room
                nodes.extend([room.node.id] * room.members)
        return tuple(nodes)

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

    def _spares(self, then: _Room, shape: Shape, *, members: int) -> bool:
        """Whether what is kept on a node stays, whichever devices the newcomers take of it."""
        now, need = _Room.now(self.ledger, then.node, shape=shape), self.shape
        landing = min(members, now.fitting(shape))
        rows = zip(then.amounts, _amounts(shape), _amounts(need), strict=True)
        if any(free - landing * taken < then.members * kept for free, taken, kept in rows if kept):
            return False
        if not (landing and shape.device_count and need.device_count):
            return True
        lost = []
        for index in set(now.serving).intersection(then.serving):
            free, copies = then.devices[index], min(landing, now.slots(shape, (index,)))
            rest = free - copies * shape.device_milli
            lost.append(free // need.device_milli - rest // need.device_milli)
        worst = sum(sorted(lost, reverse=True)[: landing * shape.device_count])
        return then.slots(need, then.serving) - worst >= then.members * need.device_count

    def evaluate(self, request: PlacementRequest) -> AdmissionDecision:
        """What the request would be answered, if it must take nothing that is kept."""
        freely = self._open.evaluate(request, now_ms=self.now_ms)
        if isinstance(freely, Denied):
            return freely
        decision = self.beside.evaluate(request, now_ms=self.now_ms)
        if isinstance(decision, Approved):
            return decision
        # The mask is ours and no policy, so it is not told as one.
        free, kept = self.ledger.free.as_tuple(), demand_of(self.entry.request)
        rows = zip(RESOURCE_KINDS, free, kept, demand_of(request), strict=False)
        # INVARIANT: one was kept away from the other, so there is something both want.
        return Denied.because(ReservedForOthers(*[row for row in rows if row[2] and row[3]][-1]))

    def note(self, request: PlacementRequest, places: Iterable[tuple[NodeId, int]]) -> None:
        """Somebody started beside the reservation: what it may still hold then is taken."""
        for kind in self._slack:
            self._slack[kind] -= demand_of(request)[kind]
            self._sets.clear()
        for node, bits in places:
            room = self._rooms.get(self.ledger.handle_of(node))
            if room is not None:
                indices = [i for i in range(len(room.devices)) if bits >> i & 1]
                room.change(Shape.of(request), indices, sign=-1)
                self._sets.clear()


class Turn:
    """One look at the line: requests asked one by one, under at most one reservation.

    Asking changes nothing but the reservation; whoever starts an entry says so with ``started``.
    """

    def __init__(self, admission: AdmissionController, *, now_ms: int, until_ms: int) -> None:
        self.admission, self.now_ms, self.until_ms = admission, now_ms, until_ms
        self._reserved: _Reserved | None = None
        self._told: dict[object, Denied] = {}

    @property
    def reservation(self) -> Reservation | None:
        """For whom room is kept, if for anybody."""
        return self._reserved.reservation if self._reserved is not None else None

    def ask(self, entry: QueueEntry) -> AdmissionDecision:
        """Whether the entry may start; the first that lacks capacity gets the reservation."""
        reserved = self._reserved
        bound = reserved is not None and reserved.binds(entry.request)
        key = self._key(entry.request, bound)
        if key in self._told:
            return self._told[key]
        if reserved is not None and bound:
            decision = reserved.evaluate(entry.request)
        else:
            decision = self.admission.evaluate(entry.request, now_ms=self.now_ms)
        if isinstance(decision, Denied):
            self._told[key] = decision
            if reserved is None and decision.reason in CAPACITY_REASONS:
                planned = _Reserved(self.admission, entry, now_ms=self.now_ms)
                self._reserved = planned if planned.find(self.until_ms) else None
        return decision

    def admission_for(self, entry: QueueEntry) -> AdmissionController:
        """Who would admit the entry in the way that ``ask`` answered."""
        reserved = self._reserved
        if reserved is not None and reserved.binds(entry.request):
            return reserved.beside
        return self.admission

    def started(self, entry: QueueEntry, places: Iterable[tuple[NodeId, int]]) -> None:
        """The entry got leases on these nodes, with these devices (as bits)."""
        if self._reserved is not None and self._reserved.binds(entry.request):
            self._reserved.note(entry.request, places)

    def _key(self, request: PlacementRequest, bound: bool) -> object:
        """Within one call nothing is given back: who asks the same after a no is told the same.

        Asking quota here also refuses a clock that went back before anything has started.
        """
        quotas, now_ms = self.admission.ledger.quotas, self.now_ms
        within = quotas is None or isinstance(quotas.check(request, now_ms=now_ms), WithinQuota)
        if self.admission.scorer.filters or request.deadline_ms is not None or not within:
            return request
        if (
            self.admission.places.shape_of(request).vram_bytes_max is not None
        ):  # its quota is its own
            return request
        labels = frozenset(request.labels.items())
        return Shape.of(request), request.gang_size, request.priority, labels, bound


def reserve_for(
    admission: AdmissionController,
    entry: QueueEntry,
    *,
    now_ms: int,
    until_ms: int,
    terms: Mapping[int, int] | None = None,
) -> Reservation | None:
    """When the entry could start if every lease ends at its expiry and nobody comes between.

    ``terms`` are the ends that some leases (by handle) would have instead of their own.
    """
    planned = _Reserved(admission, entry, now_ms=now_ms)
    planned.terms = terms or {}
    return planned.reservation if planned.find(until_ms) else None


def bits_of(indices: Iterable[int]) -> int:
    """Device indices as a set of bits."""
    return sum(1 << index for index in indices)
