"""Room kept for entries that must wait, and who may start beside it.

Rules:

- The first entries that are denied for lack of capacity get a reservation each, up to a number: the
  earliest time by which leases, each ending at its expiry, have made room for it, and the nodes
  where. Each reckons with those before it: what they need is not there until they have ended.
- Those behind may start if they end by that time, or take nothing that any reservation needs, and
  close no place to whom it is kept for by a policy.
- Who may not have one (its last was lost a short while ago) is passed over.
- Asking changes nothing. :mod:`.queue` admits and :mod:`bailiwick.kernel` decides by the same turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import takewhile

from bailiwick.scheduler.admission import AdmissionController
from bailiwick.scheduler.backfill.kinds import RoomKind
from bailiwick.scheduler.backfill.openings import PoliciesAhead
from bailiwick.scheduler.backfill.reserved import Reservation, Reserved
from bailiwick.scheduler.decision import (
    AdmissionDecision,
    Approved,
    Denied,
    NodesKeptApart,
    ReservedForOthers,
)
from bailiwick.scheduler.fairness import QueueEntry
from bailiwick.scheduler.node_set import NodeSet
from bailiwick.scheduler.placement import PlacementScorer
from bailiwick.scheduler.queue import FairQueue
from bailiwick.scheduler.quota_policy import WithinQuota
from bailiwick.scheduler.quota_rows import demand_of
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.values import NodeId
from bailiwick.vocab.words import RESOURCE_KINDS, PendingReason

CAPACITY_REASONS = (PendingReason.WAITING_FOR_CAPACITY, PendingReason.FRAGMENTED)
"""Denials for which room can be kept or made."""

TRIES_MAX = 16
"""Entries for which a time is sought in one look."""


class Turn:
    """One look at the line: requests asked one by one, under no more than so many reservations.

    Asking changes nothing but the reservations; whoever starts an entry says so with ``started``.
    """

    def __init__(
        self, admission: AdmissionController, line: FairQueue, *, now_ms: int, until_ms: int
    ) -> None:
        self.admission, self.now_ms, self.until_ms = admission, now_ms, until_ms
        self._line, self._most = line, line.rules.reservations_max
        self._reserved: list[Reserved] = []
        self._tries = TRIES_MAX
        self._vain: set[object] = set()
        self._told: dict[object, Denied] = {}
        self._foreseen: dict[object, Reservation | None] = {}
        self._places: dict[tuple[RoomKind, tuple[int, ...]], bool] = {}
        self._kinds: dict[int, RoomKind] = {}
        self._starts = 0
        self._ahead: PoliciesAhead | None = None
        self._has_headroom = any(admission.headroom.kept.as_tuple())

    @property
    def reservations(self) -> tuple[Reservation, ...]:
        """For whom room is kept, in the order in which they asked."""
        return tuple(reserved.reservation for reserved in self._reserved)

    @property
    def is_full(self) -> bool:
        """Whether room can be kept for nobody else."""
        return len(self._reserved) >= self._most or not self._tries

    @property
    def version(self) -> tuple[int, ...]:
        """Another one whenever room was kept, given up or taken in this turn."""
        return self._starts, *(each.entry.id for each in self._reserved)

    def reservation_of(self, entry: QueueEntry) -> Reservation | None:
        """The room that is kept for one entry."""
        return next((each for each in self.reservations if each.entry is entry), None)

    def ask(self, entry: QueueEntry) -> AdmissionDecision:
        """Whether the entry may start; if it lacks capacity, room may be kept for it from now."""
        request, bound = entry.request, self._bound(entry.request)
        key = self._key(entry, bound)
        decision: AdmissionDecision
        if key in self._told and self._is_borne(request):
            decision = self._told[key]
        elif bound:
            decision = self._evaluate(request, bound)
        else:
            decision = self.admission.evaluate(request, now_ms=self.now_ms)
        if isinstance(decision, Denied):
            if not hasattr(decision.detail, "quota_violation"):  # that is its owner's own
                self._told[key] = decision
            if decision.reason in CAPACITY_REASONS and key not in self._vain:
                self._reserve(entry, key)
        return decision

    # -- what is known without asking --------------------------------------------------------

    def has_place(self, kind: RoomKind) -> bool:
        """Whether anybody in line who seeks this kind of room may find it now.

        A no holds for all of them: it is that of the shortest term. A yes is no promise: of quota,
        money and policies nobody has been asked.
        """
        ends_ms = self.now_ms + kind.shortest_ms
        bound = tuple(each for each in self._reserved if ends_ms > each.reservation.at_ms)
        return self._has_place(kind, kind.sample, bound)

    def may_find_place(self, entry: QueueEntry) -> bool:
        """The same for one entry, with its own term."""
        bound = self._bound(entry.request)
        return self._has_place(self._kind_of(entry), entry.request, bound)

    def is_in_vain(self, entry: QueueEntry) -> bool:
        """Whether room is known not to be there for the entry, now or within the horizon."""
        return self._key(entry, self._bound(entry.request)) in self._vain

    def _has_place(
        self, kind: RoomKind, request: PlacementRequest, bound: tuple[Reserved, ...]
    ) -> bool:
        key = kind, (self._starts, *(each.entry.id for each in bound))
        if key not in self._places:
            self._places[key] = self._seek(kind, request, bound)
        return self._places[key]

    def _seek(self, kind: RoomKind, request: PlacementRequest, bound: tuple[Reserved, ...]) -> bool:
        ledger, headroom = self.admission.ledger, self.admission.headroom
        if self._has_headroom and any(headroom.lacking(request, free=ledger.free)):
            return False
        sets = self._labelled(kind) + [each.room_for(request) for each in bound]
        shape, mask = ledger.handles.intern_shape(kind.shape), ledger.mask_within(sets)
        if kind.members == 1:
            return ledger.engine.find(self.admission.scorer.code, shape, mask) >= 0
        now_ms = self.now_ms
        return ledger.engine.room_time(shape, kind.members, mask, now_ms, now_ms) is not None

    def _labelled(self, kind: RoomKind) -> list[NodeSet]:
        labelled = self.admission.ledger.labelled
        return [labelled.nodes_with(label) for label in sorted(kind.labels)]

    def earliest(self, entry: QueueEntry) -> int | None:
        """Before when no room can be there for the entry; nothing if none can at all.

        Who would fit now has room in a moment.
        """
        ledger, kind = self.admission.ledger, self._kind_of(entry)
        mask = ledger.mask_within(self._labelled(kind))
        shape = ledger.handles.intern_shape(kind.shape)
        times = self.now_ms + 1, self.until_ms
        return ledger.engine.room_time(shape, kind.members, mask, *times)

    def _reserve(self, entry: QueueEntry, key: object) -> None:
        if self.is_full or not self._line.may_hold(entry, self.now_ms):
            return
        if self.reservation_of(entry) is not None:
            return
        self._tries -= 1
        planned = self._planned(entry, tuple(self._reserved), {})
        if planned is None:
            self._vain.add(key)
        else:
            self._reserved.append(planned)

    def foresee(self, entry: QueueEntry) -> Reservation | None:
        """When the entry could start after all for whom room is kept; nothing is kept for it."""
        key = self._key(entry, tuple(self._reserved)), entry.request.ttl_ms
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
        self, entry: QueueEntry, before: tuple[Reserved, ...], terms: Mapping[int, int]
    ) -> Reserved | None:
        ahead = self._look_ahead(terms)
        planned = Reserved(self.admission, entry, now_ms=self.now_ms, ahead=ahead, before=before)
        promise = self._line.promises.get(entry.id)
        nodes = () if promise is None else promise.nodes
        return planned if planned.find(self.until_ms, terms, promised=nodes) else None

    def _look_ahead(self, terms: Mapping[int, int]) -> PoliciesAhead:
        """What policies say of the time to come; one look serves all who ask without terms."""
        filters = self.admission.scorer.filters
        if terms:
            return PoliciesAhead(filters, now_ms=self.now_ms, terms=terms)
        if self._ahead is None:
            self._ahead = PoliciesAhead(filters, now_ms=self.now_ms, terms=terms)
        return self._ahead

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
        self._starts += 1

    def _bound(self, request: PlacementRequest) -> tuple[Reserved, ...]:
        """The reservations in whose way the request may be."""
        return tuple(each for each in self._reserved if each.binds(request))

    def _beside(self, bound: tuple[Reserved, ...]) -> AdmissionController:
        old = self.admission.scorer
        scorer = PlacementScorer(old.strategy, weights=old.weights, filters=(*old.filters, *bound))
        headroom = self.admission.headroom
        return AdmissionController(self.admission.ledger, scorer=scorer, headroom=headroom)

    def _evaluate(
        self, request: PlacementRequest, bound: tuple[Reserved, ...]
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
        if not rows:  # nothing that two want: beside it, who has it kept would be shut out
            return Denied.because(NodesKeptApart(len(self.admission.ledger)))
        return Denied.because(ReservedForOthers(*rows[0]))

    def _key(self, entry: QueueEntry, bound: tuple[Reserved, ...]) -> object:
        """Within one call nothing is given back: who asks the same after a no is told the same."""
        request, kept = entry.request, tuple(each.entry.id for each in bound)
        if self.admission.scorer.filters or request.deadline_ms is not None:
            return request, kept
        if request.device_count:
            most = self.admission.places.shape_of(request).vram_bytes_max
            if most is not None:
                return request, kept  # its quota is its own
        return self._kind_of(entry), kept

    def _kind_of(self, entry: QueueEntry) -> RoomKind:
        kind = self._kinds.get(entry.id)
        if kind is None:
            kind = self._kinds[entry.id] = self._line.kinds.of(entry)
        return kind

    def _is_borne(self, request: PlacementRequest) -> bool:
        quotas = self.admission.ledger.quotas
        if quotas is None:
            return True
        return isinstance(quotas.check(request, now_ms=self.now_ms), WithinQuota)


def bits_of(indices: Iterable[int]) -> int:
    """Device indices as a set of bits."""
    return sum(1 << index for index in indices)
