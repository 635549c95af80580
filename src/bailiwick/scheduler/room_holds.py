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

from bailiwick.scheduler.handles import Shape
from bailiwick.scheduler.node_state import NodeEntry
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
class RoomHold:
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


@dataclass(slots=True)
class _Entry:
    """A hold with what it needs, and who of its victims is still there."""

    hold: RoomHold
    needs: _Parts
    victims: dict[int, None]


class Holds:
    """All holds of one ledger, by the number their owner knows them by."""

    def __init__(self, ledger: CapacityLedger) -> None:
        self._ledger = ledger
        self._entries: dict[int, _Entry] = {}
        self._gives: dict[int, _Parts] = {}
        """What each victim gives back, and where."""
        self._kept: _Parts = {}
        self._gone: frozenset[int] = frozenset()
        self._lifted: frozenset[int] = frozenset()
        """What is not there in the shadow that is looked at, if one is."""

    def __contains__(self, key: int) -> bool:
        return key in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def numbers(self) -> tuple[int, ...]:
        """The numbers of all holds."""
        return tuple(self._entries)

    def victims_of(self, key: int) -> tuple[int, ...]:
        """Who of those that leave for a hold is still there."""
        entry = self._entries.get(key)
        return () if entry is None else tuple(entry.victims)

    def requests(self) -> list[PlacementRequest]:
        """For whom something is kept; in a shadow, without those that are lifted in it."""
        return [e.hold.request for key, e in self._entries.items() if key not in self._lifted]

    def kept_on(self, handle: int) -> Amounts:
        """What is kept on a node for all holds together; nothing at all for none."""
        return tuple(self._kept.get(_Place(False, handle), ()))

    # -- changing ----------------------------------------------------------------------------

    def put(self, key: int, hold: RoomHold, *, now_ms: int) -> None:
        """Keep this room from now on. It must be there once the victims are gone."""
        if key in self._entries:
            raise InvariantBroken(f"hold {key} is there already")
        self._entries[key] = entry = self._entry(hold)
        for lease_id in hold.victims:
            self._gives.setdefault(lease_id, self._gives_of(lease_id))
        self._refresh(entry.needs, now_ms)
        if key not in self._entries:
            raise InvariantBroken(f"there is no room for hold {key}")

    def drop(self, key: int, *, now_ms: int) -> None:
        """Keep it no more; nothing happens if it was broken before."""
        entry = self._entries.pop(key, None)
        if entry is None:
            return
        wanted = {lease_id for other in self._entries.values() for lease_id in other.victims}
        for lease_id in entry.victims:
            if lease_id not in wanted:
                del self._gives[lease_id]
        self._refresh(entry.needs, now_ms)

    def lease_ended(self, lease_id: int, *, now_ms: int) -> None:
        """What a lease held is free."""
        if self._gives.pop(lease_id, None) is None:
            return
        places: _Parts = {}
        for entry in self._entries.values():
            if lease_id in entry.victims:
                del entry.victims[lease_id]
                places |= entry.needs
        self._refresh(places, now_ms)

    def lease_fenced(self, lease_id: int, *, now_ms: int) -> None:
        """What a lease held will never be free: nothing is kept for who counted on it."""
        for key in [key for key, entry in self._entries.items() if lease_id in entry.victims]:
            self.drop(key, now_ms=now_ms)

    def node_left(self, handle: int, *, now_ms: int) -> None:
        """Nothing can be kept on a node that departs."""
        place = _Place(False, handle)
        for key in [key for key, entry in self._entries.items() if place in entry.needs]:
            self.drop(key, now_ms=now_ms)

    def _refresh(self, places: Iterable[_Place], now_ms: int) -> None:
        """Keep at these places what is to be kept; a hold for which there is no room is broken."""
        for place in sorted(places):
            wanted = self._wanted(place, self._entries.values())
            change = _less(wanted, self._kept.get(place))
            if self._take(place, change, now_ms=now_ms):
                self._kept[place] = wanted
                if not any(wanted):
                    del self._kept[place]
                continue
            last = [key for key, entry in self._entries.items() if place in entry.needs][-1]
            self.drop(last, now_ms=now_ms)
            self._refresh(places, now_ms)
            return

    def _wanted(
        self, place: _Place, entries: Iterable[_Entry], *, gone: Collection[int] = ()
    ) -> list[int]:
        """What these holds must keep at a place, as long as those who leave have not left."""
        return self._serve(place, entries, gone=gone)[0]

    def _serve(
        self, place: _Place, entries: Iterable[_Entry], *, gone: Collection[int] = ()
    ) -> tuple[list[int], dict[int, list[int]]]:
        """What these holds must keep at a place, and what is left over of who leaves for them."""
        left: dict[int, list[int]] = {}
        total = [0] * self._width(place)
        for entry in entries:
            need = list(entry.needs.get(place, ()))
            for lease_id in entry.victims if need else ():
                gives = self._give(lease_id).get(place)
                if gives is None or lease_id in gone:
                    continue
                rest = left.setdefault(lease_id, list(gives))
                for kind, lacking in enumerate(need):
                    used = min(lacking, rest[kind])
                    need[kind] -= used
                    rest[kind] -= used
            for kind, lacking in enumerate(need):
                total[kind] += lacking
        return total, left

    # -- asking ------------------------------------------------------------------------------

    @contextmanager
    def shadow(
        self, *, gone: Iterable[int] = (), lifted: Iterable[int] = (), now_ms: int
    ) -> Iterator[None]:
        """The ledger as if these leases had ended and these holds were not there."""
        before = self._kept, self._gone, self._lifted
        newly = [lease_id for lease_id in dict.fromkeys(gone) if lease_id not in self._gone]
        self._gone |= frozenset(newly)
        self._lifted |= frozenset(lifted)
        change: _Parts = {}
        for lease_id in newly:
            for place, amounts in self._give(lease_id).items():
                change[place] = _less(change.get(place, [0] * len(amounts)), amounts)
        others = [entry for key, entry in self._entries.items() if key not in self._lifted]
        self._kept = {}
        for place in {place: None for entry in self._entries.values() for place in entry.needs}:
            self._kept[place] = wanted = self._wanted(place, others, gone=self._gone)
            more = _less(wanted, before[0].get(place))
            change[place] = _more(more, change.get(place))
        quotas = self._ledger.quotas
        bursts = None if quotas is None else quotas.bursts.memory()
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
                quotas.bursts.recall(bursts)
            self._kept, self._gone, self._lifted = before

    def charged(self, lease_id: int) -> tuple[int, ...]:
        """What a lease counts as in its owner's quota: by dimension, then by generation."""
        fields = self._ledger.fields(lease_id)
        entry = self._ledger.by_handle[fields.node]
        assert entry is not None, "a lease is on a node that departed"
        shape = self._ledger.handles.shapes[fields.shape]
        return _charged(shape, entry, fields.devices)

    def counted_on(self, hold: RoomHold, leaving: Sequence[int]) -> tuple[int, ...]:
        """Which of these leases a hold cannot do without, those named first being taken first.

        Asked in a shadow in which the holds that give way are lifted, and nobody has left yet.
        """
        entry = self._entry(hold)
        others = [each for key, each in self._entries.items() if key not in self._lifted]
        left = {place: self._serve(place, others)[1] for place in entry.needs}
        lacking = {p: _less(self._wanted(p, [entry]), self._free(p)) for p in entry.needs}

        def gives(lease_id: int, place: _Place) -> list[int] | None:
            return left[place].get(lease_id) or self._give(lease_id).get(place)

        chosen: list[int] = []
        for lease_id in leaving:
            if not any(_helps(lacking[place], gives(lease_id, place)) for place in lacking):
                continue
            chosen.append(lease_id)
            for place, amounts in lacking.items():
                lacking[place] = _less(amounts, gives(lease_id, place))
        for lease_id in list(chosen):  # an earlier one may be more than is needed by now
            back = {place: _more(short, gives(lease_id, place)) for place, short in lacking.items()}
            if all(amount <= 0 for amounts in back.values() for amount in amounts):
                chosen.remove(lease_id)
                lacking = back
        return tuple(chosen)

    def giving_way(self, hold: RoomHold, lower: Sequence[int]) -> tuple[int, ...] | None:
        """Which of these holds must be dropped, in this order, so that the hold can be put."""
        entry, dropped = self._entry(hold), dict[int, None]()
        for _ in range(len(lower) + 1):
            stay = [each for key, each in self._entries.items() if key not in dropped]
            short = [p for p in entry.needs if not self._bears(p, [*stay, entry])]
            if not short:
                return tuple(dropped)
            touching = (
                key
                for key in lower
                if key not in dropped and any(p in self._entries[key].needs for p in short)
            )
            next_one = next(touching, None)
            if next_one is None:
                return None
            dropped[next_one] = None
        return None

    def _bears(self, place: _Place, entries: Iterable[_Entry]) -> bool:
        """Whether a place has room for what all these must keep there."""
        change = _less(self._wanted(place, entries), self._kept.get(place))
        rows = zip(change, self._free(place), strict=True)
        return all(more <= free for more, free in rows if more > 0)

    def _free(self, place: _Place) -> list[int]:
        if not place.is_row:
            _, _, cpu, mem, block, devices, _ = self._ledger.engine.node(place.number)
            return [cpu, mem, block, *devices]
        quotas = self._ledger.quotas
        return [0] * ROW_AMOUNTS if quotas is None else quotas.table.left_in(place.number)

    def _entry(self, hold: RoomHold) -> _Entry:
        return _Entry(hold, self._needs_of(hold), dict.fromkeys(hold.victims))

    def _give(self, lease_id: int) -> _Parts:
        known = self._gives.get(lease_id)
        return self._gives_of(lease_id) if known is None else known

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

    def _needs_of(self, hold: RoomHold) -> _Parts:
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
        for each in quotas.table.path(row) if quotas is not None and row >= 0 else ():
            charged = parts.setdefault(_Place(True, each), [0] * ROW_AMOUNTS)
            for kind, amount in enumerate(_charged(shape, entry, devices)):
                charged[kind] += amount


def _less(amounts: Sequence[int], taken: Sequence[int] | None) -> list[int]:
    if taken is None:
        return list(amounts)
    return [amount - off for amount, off in zip(amounts, taken, strict=True)]


def _more(amounts: Sequence[int], added: Sequence[int] | None) -> list[int]:
    if added is None:
        return list(amounts)
    return [amount + more for amount, more in zip(amounts, added, strict=True)]


def _helps(lacking: Sequence[int], gives: Sequence[int] | None) -> bool:
    if gives is None:
        return False
    return any(short > 0 and given > 0 for short, given in zip(lacking, gives, strict=True))


def _charged(shape: Shape, entry: NodeEntry, devices: int) -> tuple[int, ...]:
    """What one lease counts as in a row, as the engine charges it: dimensions, generations."""
    by_generation = [0] * len(GENERATIONS)
    for index, gpu in enumerate(entry.capacity.gpus):
        if devices >> index & 1:
            by_generation[GENERATIONS.index(gpu.generation)] += shape.device_milli
    gpus = shape.device_count * shape.device_milli, entry.vram_held(devices, shape.device_milli)
    return (shape.cpu_milli, shape.mem_bytes, shape.block_bytes, *gpus, 1, *by_generation)
