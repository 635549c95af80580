"""Room that is kept for work whose victims are leaving: amounts and devices, never whole nodes.

Rules:

- A hold names the place of each member (node and devices) and the leases that leave for it. What it
  keeps of a node is what its members need there beyond what those leases still hold: the moment one
  of them ends, what it gave back is kept, and no more.
- The same for quota: of each row, what the request needs beyond what its victims still use of it.
- Two holds may count on the same leaving lease, if it gives back enough for both. The earlier one
  is served from it first.
- What is kept is taken from what is free, so nobody else is placed there, and everybody fits beside
  it. For its own request a hold is lifted; nothing else ever sees it lifted.
- Asking in a shadow (:meth:`Holds.shadow`) leaves everything as it was, whatever is asked.
- A hold that cannot be kept any more (a victim was fenced, a node closed or gone, a quota lowered)
  is broken: it keeps nothing, and its owner plans anew.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from bailiwick.fleet.node import GpuDevice
from bailiwick.scheduler.handles import Shape
from bailiwick.scheduler.quota_rows import ROW_AMOUNTS
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import InvariantBroken
from bailiwick.vocab.values import NodeId
from bailiwick.vocab.words import GENERATIONS

if TYPE_CHECKING:
    from bailiwick.scheduler.ledger import CapacityLedger


class Seat(NamedTuple):
    """The place of one member: a node, and the devices it is to get there, as bits."""

    node: NodeId
    devices: int


@dataclass(frozen=True, slots=True)
class Hold:
    """Room kept for one request: its members' places, and who leaves for it (ledger's ids)."""

    request: PlacementRequest
    seats: tuple[Seat, ...]
    victims: tuple[int, ...]


Amounts: TypeAlias = tuple[int, ...]
"""Of a node: cpu, memory, block, and milli of each device."""


class _Place(NamedTuple):
    """Where something is kept: a node by its handle, or a row of quota."""

    is_row: bool
    number: int


_Parts: TypeAlias = dict[_Place, list[int]]


class Holds:
    """All holds of one ledger, by the number their owner knows them by."""

    def __init__(self, ledger: CapacityLedger) -> None:
        self._ledger = ledger
        self._holds: dict[int, Hold] = {}
        self._needs: dict[int, _Parts] = {}
        self._victims: dict[int, dict[int, None]] = {}
        """Of each hold, the victims that are still there."""
        self._gives: dict[int, _Parts] = {}
        """What each of them gives back, and where."""
        self._kept: _Parts = {}

    def __contains__(self, key: int) -> bool:
        return key in self._holds

    def __len__(self) -> int:
        return len(self._holds)

    def get(self, key: int) -> Hold | None:
        """The hold, unless it was dropped or is broken."""
        return self._holds.get(key)

    def kept_on(self, node: str) -> Amounts:
        """What is kept on a node for all holds together: amounts, then milli of each device."""
        handle = self._ledger.handle_of(node)
        return tuple(self._kept.get(_Place(False, handle), ()))

    # -- changing ----------------------------------------------------------------------------

    def put(self, key: int, hold: Hold, *, now_ms: int) -> None:
        """Keep this room from now on. It must be there once the victims are gone."""
        if key in self._holds:
            raise InvariantBroken(f"hold {key} is there already")
        self._holds[key] = hold
        self._needs[key] = needs = self._needs_of(hold)
        self._victims[key] = dict.fromkeys(hold.victims)
        for lease_id in hold.victims:
            if lease_id not in self._gives:
                self._gives[lease_id] = self._gives_of(lease_id)
        self._refresh(needs, now_ms)
        if key not in self._holds:
            raise InvariantBroken(f"there is no room for hold {key}")

    def drop(self, key: int, *, now_ms: int) -> None:
        """Keep it no more; nothing happens if it was broken before."""
        if self._holds.pop(key, None) is None:
            return
        needs = self._needs.pop(key)
        victims = self._victims.pop(key)
        wanted = {lease_id for others in self._victims.values() for lease_id in others}
        for lease_id in victims:
            if lease_id not in wanted:
                del self._gives[lease_id]
        self._refresh(needs, now_ms)

    def lease_ended(self, lease_id: int, *, now_ms: int) -> None:
        """What a lease held is free, or will never be: it gives back nothing any more."""
        if self._gives.pop(lease_id, None) is None:
            return
        places: _Parts = {}
        for key, victims in self._victims.items():
            if lease_id in victims:
                del victims[lease_id]
                places |= self._needs[key]
        self._refresh(places, now_ms)

    def node_left(self, handle: int, *, now_ms: int) -> None:
        """Nothing can be kept on a node that departs."""
        place = _Place(False, handle)
        for key in [key for key, needs in self._needs.items() if place in needs]:
            self.drop(key, now_ms=now_ms)

    def _refresh(self, places: Iterable[_Place], now_ms: int) -> None:
        """Keep at these places what is to be kept; a hold for which there is no room is broken."""
        for place in sorted(places):
            wanted = self._wanted(place, self._holds)
            before = self._kept.get(place, [0] * len(wanted))
            change = [now - old for now, old in zip(wanted, before, strict=True)]
            if self._take(place, change, now_ms=now_ms):
                self._kept[place] = wanted
                if not any(wanted):
                    del self._kept[place]
                continue
            last = [key for key, needs in self._needs.items() if place in needs][-1]
            self.drop(last, now_ms=now_ms)
            self._refresh(places, now_ms)
            return

    def _wanted(
        self, place: _Place, keys: Iterable[int], *, gone: Collection[int] = ()
    ) -> list[int]:
        """What these holds must keep at a place, as long as those who leave have not left."""
        left: dict[int, list[int]] = {}
        total = [0] * self._width(place)
        for key in keys:
            need = list(self._needs[key].get(place, ()))
            for lease_id in self._victims[key] if need else ():
                gives = self._gives[lease_id].get(place)
                if gives is None or lease_id in gone:
                    continue
                rest = left.setdefault(lease_id, list(gives))
                for kind, lacking in enumerate(need):
                    used = min(lacking, rest[kind])
                    need[kind] -= used
                    rest[kind] -= used
            for kind, lacking in enumerate(need):
                total[kind] += lacking
        return total

    # -- asking ------------------------------------------------------------------------------

    @contextmanager
    def shadow(
        self, *, gone: Iterable[int] = (), lifted: Collection[int] = (), now_ms: int
    ) -> Iterator[None]:
        """The ledger as if these leases had ended and these holds were not there."""
        leaving = dict.fromkeys(gone)
        change: _Parts = {}
        for lease_id in leaving:
            for place, amounts in (self._gives.get(lease_id) or self._gives_of(lease_id)).items():
                found = change.setdefault(place, [0] * len(amounts))
                for kind, amount in enumerate(amounts):
                    found[kind] -= amount
        held = {place: None for needs in self._needs.values() for place in needs}
        others = [key for key in self._holds if key not in lifted]
        for place in held:
            wanted = self._wanted(place, others, gone=leaving)
            before = self._kept.get(place, [0] * len(wanted))
            found = change.setdefault(place, [0] * len(wanted))
            for kind, (now, old) in enumerate(zip(wanted, before, strict=True)):
                found[kind] += now - old
        quotas = self._ledger.quotas
        bursts = None if quotas is None else quotas.burst_memory()
        done: list[tuple[_Place, list[int]]] = []
        try:
            for place, amounts in sorted(change.items()):
                if not self._take(place, amounts, now_ms=now_ms):
                    raise InvariantBroken(f"{place} cannot give {amounts} in a shadow")
                done.append((place, amounts))
            yield
        finally:
            for place, amounts in reversed(done):
                if not self._take(place, [-amount for amount in amounts], now_ms=now_ms):
                    raise InvariantBroken(f"{place} cannot be put back as it was")
            if quotas is not None and bursts is not None:
                quotas.recall_bursts(bursts)

    # -- amounts -----------------------------------------------------------------------------

    def _take(self, place: _Place, amounts: list[int], *, now_ms: int) -> bool:
        """Take these amounts off what is free at a place, if they are there."""
        if not any(amounts):
            return True
        if not place.is_row:
            cpu, mem, block, *devices = (-amount for amount in amounts)
            try:
                self._ledger.engine.shift(place.number, cpu, mem, block, *devices)
            except ValueError:
                return False
            return True
        quotas = self._ledger.quotas
        if quotas is not None:
            quotas.keep(place.number, amounts, now_ms=now_ms)
        return True

    def _width(self, place: _Place) -> int:
        if place.is_row:
            return ROW_AMOUNTS
        entry = self._ledger.by_handle[place.number]
        if entry is None:
            raise InvariantBroken(f"node {place.number} departed with something kept on it")
        return 3 + len(entry.capacity.gpus)

    def _needs_of(self, hold: Hold) -> _Parts:
        needs: _Parts = {}
        shape = Shape.of(hold.request)
        row = self._ledger.prepare(hold.request).row
        for seat in hold.seats:
            handle = self._ledger.handle_of(seat.node)
            self._add(needs, handle, shape, devices=seat.devices, row=row)
        return needs

    def _gives_of(self, lease_id: int) -> _Parts:
        gives: _Parts = {}
        fields, handles = self._ledger.fields(lease_id), self._ledger.handles
        owner, quotas, row = handles.accounts.get(fields.account), self._ledger.quotas, -1
        if owner is not None and quotas is not None:
            row = quotas.row_of(owner.tenant, owner.project)
        shape = handles.shapes[fields.shape]
        self._add(gives, fields.node, shape, devices=fields.devices, row=row)
        return gives

    def _add(self, parts: _Parts, handle: int, shape: Shape, *, devices: int, row: int) -> None:
        """Add what one lease of this shape takes: of its node, and of its owner's quota."""
        place = _Place(False, handle)
        entry = self._ledger.by_handle[handle]
        assert entry is not None, "a lease is on a node that departed"
        gpus = entry.capacity.gpus
        found = parts.setdefault(place, [0] * (3 + len(gpus)))
        for kind, amount in enumerate((shape.cpu_milli, shape.mem_bytes, shape.block_bytes)):
            found[kind] += amount
        for index in range(len(gpus)):
            found[3 + index] += shape.device_milli * (devices >> index & 1)
        quotas = self._ledger.quotas
        for each in quotas.path_of(row) if quotas is not None and row >= 0 else ():
            charged = parts.setdefault(_Place(True, each), [0] * ROW_AMOUNTS)
            for kind, amount in enumerate(_charged(shape, gpus, devices)):
                charged[kind] += amount


def _charged(shape: Shape, gpus: Sequence[GpuDevice], devices: int) -> tuple[int, ...]:
    """What one lease counts as in a row, as the engine charges it: dimensions, generations."""
    by_generation = [0] * len(GENERATIONS)
    for index, gpu in enumerate(gpus):
        if devices >> index & 1:
            by_generation[GENERATIONS.index(gpu.generation)] += shape.device_milli
    amounts = (shape.cpu_milli, shape.mem_bytes, shape.block_bytes)
    return (*amounts, shape.device_count * shape.device_milli, shape.vram_bytes, 1, *by_generation)
