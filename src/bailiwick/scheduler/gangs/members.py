"""Where each member of a request goes: nodes the strategy likes best, on devices quota bears.

Rules:

- A gang is placed whole or not at all. Members are taken one by one, and given back unless all fit
  and are to be kept; whoever only asks leaves no trace.
- GPU memory counts as held. The least that any device of the fleet could count for was asked before
  a place is sought; here the very devices are. If they are more than quota bears, those with so
  little memory that it bears any of them are looked at.
- Who finds none of those is told to wait for its own quota if it could have larger ones by holding
  less; if it never could, it waits for the small ones like anybody who lacks room.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bailiwick.scheduler.decision import Approved, Denied
from bailiwick.scheduler.engine.protocol import ROUND_ROBIN
from bailiwick.scheduler.explain import capacity_denial
from bailiwick.scheduler.handles import Prepared, Shape
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.placement import PlacementScorer
from bailiwick.scheduler.quota_policy import QuotaDecision, WithinQuota
from bailiwick.scheduler.quota_rows import vram_of
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.values import NodeId


@dataclass(frozen=True, slots=True)
class MemberPlaces:
    """Finds places on one ledger, by one scorer."""

    ledger: CapacityLedger
    scorer: PlacementScorer

    def choose(
        self, request: PlacementRequest, *, now_ms: int, keep: bool, depth: int = 0
    ) -> Approved | Denied:
        """A place for every member, on devices whose memory quota bears.

        Only where the devices that the strategy likes best are more than quota bears, those with
        less memory are looked at.
        """
        ready = self.scorer.ready(self.ledger, request).at_depth(depth)
        if self._most_vram(ready) is None:
            return self._place(ready, now_ms=now_ms, keep=keep)
        found = self._place(ready, now_ms=now_ms, keep=False)
        if isinstance(found, Denied):
            return found
        bound = None
        answer = self._vram_answer(request, self._vram_of(request, found), now_ms)
        if not isinstance(answer, WithinQuota):
            bound = self._vram_borne(request, now_ms)
            if bound is None:
                return Denied.because(answer)
            found = self._place(ready, now_ms=now_ms, keep=False, vram_max=bound)
            if isinstance(found, Denied):
                return self._no_small_device(ready, found, now_ms=now_ms) or Denied.because(answer)
            answer = self._vram_answer(request, self._vram_of(request, found), now_ms)
        if keep:
            found = self._place(ready, now_ms=now_ms, keep=True, vram_max=bound)
        burst = answer.burst if isinstance(answer, WithinQuota) else 0
        return replace(found, burst=burst) if isinstance(found, Approved) else found

    def shape_of(self, request: PlacementRequest) -> Shape:
        """What one member takes, of the devices whose memory its quota could ever bear."""
        shape, most = Shape.of(request), self._most_vram(self.ledger.prepare(request))
        if most is None:
            return shape
        sizes = [s for s in self.ledger.handles.memories(shape) if vram_of(request, s) <= most]
        return shape._replace(vram_bytes_max=sizes[-1]) if sizes else shape

    def _most_vram(self, ready: Prepared) -> int | None:
        """The most GPU memory its owner could ever hold, if that bears on the request."""
        quotas = self.ledger.quotas
        if quotas is None or not ready.request.device_count:
            return None
        return quotas.most_vram(ready.row, ready.request)

    def _vram_of(self, request: PlacementRequest, found: Approved) -> int:
        places = zip(found.nodes, found.devices, strict=True)
        milli = request.device_milli
        return sum(self.ledger.entry(node).vram_held(bits, milli) for node, bits in places)

    def _vram_answer(self, request: PlacementRequest, vram: int, now_ms: int) -> QuotaDecision:
        quotas = self.ledger.quotas
        return (
            quotas.check(request, now_ms=now_ms, vram_bytes=vram)
            if quotas is not None
            else WithinQuota()
        )

    def _vram_borne(self, request: PlacementRequest, now_ms: int) -> int | None:
        """The most memory a device may have so that quota bears as many as are asked for."""
        for size in reversed(self.ledger.handles.memories(Shape.of(request))):
            if isinstance(self._vram_answer(request, vram_of(request, size), now_ms), WithinQuota):
                return size
        return None

    def _no_small_device(self, ready: Prepared, found: Denied, *, now_ms: int) -> Denied | None:
        """Why no device that quota bears is found, though larger ones are free.

        Who could have a larger one by holding less waits for its own quota. Who never could waits
        for a small one; nothing, if those can never serve it.
        """
        request, most = ready.request, self._most_vram(ready) or 0
        for size in self.ledger.handles.memories(Shape.of(request)):
            vram = vram_of(request, size)
            answer = self._vram_answer(request, vram, now_ms)
            if vram <= most and not isinstance(answer, WithinQuota):
                return Denied.because(answer)
        return found if found.reason.is_transient else None

    def _no_place(self, request: PlacementRequest, placed: int, shape: Shape | None) -> Denied:
        filters = self.scorer.filters
        return Denied.because(
            capacity_denial(self.ledger, request, filters=filters, placed=placed, shape=shape)
        )

    def _place(
        self, ready: Prepared, *, now_ms: int, keep: bool, vram_max: int | None = None
    ) -> Approved | Denied:
        """A place for every member, taken one by one; undone unless all fit and are kept."""
        ledger, request, narrow = self.ledger, ready.request, None
        seek = ready
        if vram_max is not None:
            narrow = Shape.of(request)._replace(vram_bytes_max=vram_max)
            handle = ledger.handles.intern_shape(narrow)
            ready = ledger.fresh(ready)  # a shape more may have swept others away
            seek = ready._replace(shape=handle)
        if request.gang_size == 1 and not keep:
            entry = ledger.find(seek, self.scorer.code)
            if entry is None:
                return self._no_place(request, 0, narrow)
            return Approved((entry.id,), devices=(self._devices_on(seek, entry.handle),))
        if keep:
            ledger.settle(request, now_ms)
        cursor = ledger.engine.cursor()
        gang = ledger.new_gang() if keep and request.gang_size > 1 else -1
        taken: list[int] = []
        nodes: list[NodeId] = []
        for _ in range(request.gang_size):
            member = seek
            if taken and self.scorer.gang_filters:
                member = self.scorer.next_member(seek, [ledger.fields(i).node for i in taken])
            lease_id = self._take_next(member, ready.shape, now_ms=now_ms, gang=gang)
            if lease_id < 0:
                break
            taken.append(lease_id)
            nodes.append(ledger.node_of(lease_id))
        whole = len(taken) == request.gang_size
        if whole and keep:
            return Approved(tuple(nodes), tuple(ledger.lease(i) for i in taken))
        devices = tuple(ledger.fields(i).devices for i in taken)
        for lease_id in reversed(taken):
            ledger.untake(lease_id)
        ledger.engine.cursor(cursor)
        if not whole:
            return self._no_place(request, len(taken), narrow)
        return Approved(tuple(nodes), devices=devices)

    def _devices_on(self, ready: Prepared, handle: int) -> int:
        """The devices the strategy would give one member on that node, as bits."""
        if not ready.request.device_count:
            return 0
        within = self.ledger.reach_of(ready).within(handle)
        scored = self.ledger.engine.score(self.scorer.code, ready.shape, handle, within)
        return scored[1] if scored is not None else -1

    def _take_next(self, seek: Prepared, shape: int, *, now_ms: int, gang: int) -> int:
        """Find a place for one member, and take there what the shape needs."""
        ledger = self.ledger
        entry = ledger.find(seek, self.scorer.code)
        if entry is None:
            return -1
        devices = self._devices_on(seek, entry.handle)
        if self.scorer.code == ROUND_ROBIN:
            ledger.engine.cursor(entry.handle + 1)
        ready = seek._replace(shape=shape)
        return ledger.take(entry, ready, now_ms=now_ms, gang=gang, devices=devices)
