"""When and where a request will fit where policies close nodes that will open again.

Rules:

- A node counts from when it is open to the request, as far as is known now
  (:mod:`.openings`): what closes it is taken to leave when it says. Nodes that are open now are
  asked about, too: what is open may close in the term that the request will have then.
- Only some of the nodes that are closed are asked about: those where room was promised before, so
  that what was promised does not move, then those that have room first.
- Members of a gang that may not be together are given places one by one, as if all others had left,
  and then it is asked when those places are open and free together.
- What is found is open at that time to each member beside the others. If that cannot be found in a
  few tries, nothing is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from bailiwick.scheduler.backfill.foresight import RoomForeseen, RoomSought, foresee
from bailiwick.scheduler.backfill.openings import Expected, PoliciesAhead
from bailiwick.scheduler.backfill.projection import FutureRoom
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.request import PlacementRequest

PROBES_MAX = 8
"""How often nodes that are closed are asked about beyond those that would do for all members."""

NODES_MAX = 256
"""Nodes that are closed and asked about for one request."""

ROUNDS_MAX = 8
"""How often a time is corrected until all are content with it."""


@dataclass(slots=True)
class RuledForesight:
    """One question: when is there room for the request, as far as policies will let it in."""

    ledger: CapacityLedger
    sought: RoomSought
    """Its mask: the nodes that anything but policies leaves to the request."""
    request: PlacementRequest
    ahead: PoliciesAhead
    others: Sequence[Expected]
    """For whom room is kept before this one."""
    promised: Sequence[int]
    """Nodes where room was promised to the request."""
    _base: int = 0
    _open: int = 0
    _late: dict[int, int] = field(default_factory=dict)
    """From when on nodes are open that are not now."""

    def find(self) -> RoomForeseen | None:
        """The earliest time that is found, and where."""
        nodes = len(self.ledger.by_handle)
        every = (1 << nodes) - 1
        mask = self.sought.mask
        self._base = every if mask is None else int.from_bytes(mask, "little") & every
        self._open = self._base & self.ahead.open_now(self.request)
        if self.ahead.is_spread(self.request):
            return self._find_spread()
        self._probe()
        for _ in range(ROUNDS_MAX):
            found = self._earliest()
            if found is None or not self._correct(found):
                return found
        return None

    # -- members that may be together --------------------------------------------------------

    def _probe(self) -> None:
        """Ask about some of the nodes that are closed."""
        closed = self._base & ~self._open
        asked = [handle for handle in dict.fromkeys(self.promised) if closed >> handle & 1]
        sought, engine = self.sought, self.ledger.engine
        shape = self.ledger.handles.intern_shape(sought.shape)
        left = closed & ~_bits(asked)
        for _ in range(PROBES_MAX):
            if not left or len(asked) >= NODES_MAX:
                break
            mask, times = self._mask(left), (sought.now_ms, sought.until_ms)
            at_ms = engine.room_time(shape, 1, mask, *times)
            if at_ms is None:
                break
            rows = [handle for handle, _ in engine.room_nodes(shape, sought.members, mask, at_ms)]
            asked += rows
            left &= ~_bits(rows)
        for handle in asked[:NODES_MAX]:
            self._note(handle, self._opens(handle, sought.now_ms))

    def _opens(self, handle: int, from_ms: int) -> int | None:
        return self.ahead.opens(self.request, handle, from_ms=from_ms, others=self.others)

    def _note(self, handle: int, at_ms: int | None) -> None:
        """The node is open from then on, and not before."""
        self._open &= ~(1 << handle)
        self._late.pop(handle, None)
        if at_ms is not None and at_ms <= self.sought.until_ms:
            self._late[handle] = at_ms

    def _earliest(self) -> RoomForeseen | None:
        """When there is room on nodes that are open by then."""
        best: RoomForeseen | None = None
        for from_ms in sorted({self.sought.now_ms, *self._late.values()}):
            until_ms = self.sought.until_ms if best is None else best.at_ms - 1
            if from_ms > until_ms:
                break
            bits = self._open | _bits(h for h, at_ms in self._late.items() if at_ms <= from_ms)
            best = self._foresee(bits, from_ms, until_ms) or best
        return best

    def _foresee(
        self, bits: int, from_ms: int, until_ms: int, *, members: int | None = None
    ) -> RoomForeseen | None:
        if not bits:
            return None
        count = self.sought.members if members is None else members
        mask = self._mask(bits)
        sought = replace(self.sought, members=count, mask=mask, now_ms=from_ms, until_ms=until_ms)
        return foresee(self.ledger, sought)

    def _correct(self, found: RoomForeseen) -> bool:
        """Whether some node is not open at that time after all."""
        moved = False
        for handle in found.rooms:
            at_ms = self._opens(handle, found.at_ms)
            if at_ms != found.at_ms:
                self._note(handle, at_ms)
                moved = True
        return moved

    # -- members that may not ----------------------------------------------------------------

    def _find_spread(self) -> RoomForeseen | None:
        sought = self.sought
        ways = (
            (self._open, sought.now_ms),
            (self._base & _bits(self.promised), sought.until_ms),
            (self._open, sought.until_ms),
            (self._base, sought.until_ms),
        )
        best: RoomForeseen | None = None
        for bits, at_ms in ways:
            found = self._settled(bits, at_ms)
            if found is not None and (best is None or found.at_ms < best.at_ms):
                best = found
        return best

    def _settled(self, bits: int, at_ms: int) -> RoomForeseen | None:
        """Room on some of these nodes, as they are at a time; not on those that never open."""
        for _ in range(PROBES_MAX):
            places = self._places(bits, at_ms)
            if places is None:
                return None
            found = self._time_of(places)
            if not isinstance(found, int):
                return found
            bits &= ~(1 << found)
        return None

    def _places(self, bits: int, at_ms: int) -> list[int] | None:
        """A node for each member where there is room at that time, one beside the others."""
        shape = self.ledger.handles.intern_shape(self.sought.shape)
        placed, engine = list[int](), self.ledger.engine
        left = bits
        while len(placed) < self.sought.members:
            rows = engine.room_nodes(shape, 1, self._mask(left), at_ms) if left else []
            if not rows:
                return None
            handle, most = rows[0]
            placed.append(handle)
            if placed.count(handle) >= most:
                bits &= ~(1 << handle)
            left = bits & ~self.ahead.beside(self.request, placed, at_ms=at_ms)
        return placed

    def _time_of(self, places: Sequence[int]) -> RoomForeseen | int | None:
        """When all of these places are open and free; or a node that never is."""
        at_ms, until_ms = self.sought.now_ms, self.sought.until_ms
        for _ in range(ROUNDS_MAX):
            before_ms = at_ms
            for number, handle in enumerate(places):
                gang = Expected(self.request, tuple(places[:number]), at_ms, for_good=True)
                others = (*self.others, gang) if number else self.others
                found = self.ahead.opens(self.request, handle, from_ms=at_ms, others=others)
                if found is None or found > until_ms:
                    return handle
                at_ms = found
            rooms: dict[int, FutureRoom] = {}
            slack: dict[int, int] = {}
            for handle, count in Counter(places).items():
                room = self._foresee(1 << handle, at_ms, until_ms, members=count)
                if room is None:
                    return handle
                at_ms, slack = room.at_ms, room.slack
                rooms |= room.rooms
            if at_ms == before_ms:
                return RoomForeseen(at_ms, rooms, slack)
        return None

    def _mask(self, bits: int) -> bytearray:
        return bytearray(bits.to_bytes(len(self.ledger.by_handle) // 8 + 1, "little"))


def _bits(handles: Iterable[int]) -> int:
    bits = 0
    for handle in handles:
        bits |= 1 << handle
    return bits
