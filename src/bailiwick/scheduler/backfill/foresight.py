"""When and where members of a request will fit, if every lease ends at its expiry.

Rules:

- The engine knows that of all nodes. Those about which somebody else has more to say (room will be
  taken there meanwhile, or a lease is taken to end at another time) are asked about one by one,
  with what changes there, and only up to the time at which the others suffice.
- Headroom is the whole fleet's: a request that must leave some is reckoned with every lease.
- What fits now has room now.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import NamedTuple, TypeAlias

from bailiwick.scheduler.backfill.projection import FutureRoom, LeaseEnding, endings, milli_of
from bailiwick.scheduler.handles import Shape
from bailiwick.scheduler.ledger import CapacityLedger


class RoomStep(NamedTuple):
    """What comes back on a node at a time, or (less than nothing) is taken: amounts, the last of
    them milli of GPUs, and milli of each device."""

    at_ms: int
    node: int
    amounts: tuple[int, ...]
    milli: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RoomSought:
    """So many members of a shape, on these nodes, from now to then at the latest."""

    shape: Shape
    members: int
    mask: bytearray | None
    now_ms: int
    until_ms: int
    steps: Sequence[RoomStep] = ()
    """What others take and give back meanwhile."""
    terms: Mapping[int, int] | None = None
    """Ends that some leases (by handle) are taken to have instead of their own."""
    slack: Mapping[int, int] | None = None
    """By kind, what is free now beyond the request and the headroom it must leave."""


@dataclass(frozen=True, slots=True)
class RoomForeseen:
    """When there is room, the nodes where most fit first, as many as are needed, and the slack."""

    at_ms: int
    rooms: dict[int, FutureRoom]
    slack: dict[int, int]


Rooms: TypeAlias = dict[int, FutureRoom]


def foresee(ledger: CapacityLedger, sought: RoomSought) -> RoomForeseen | None:
    """The earliest time at which there is room, and where; nothing if there is none in time."""
    return walk(ledger, sought) if sought.slack else _Foresight(ledger, sought).find()


def walk(ledger: CapacityLedger, sought: RoomSought) -> RoomForeseen | None:
    """The same by looking at every node and every lease."""
    rooms = {
        node.handle: FutureRoom.now(ledger, node, shape=sought.shape)
        for node in ledger.entries.values()
        if node.takes_leases and _is_in(sought.mask, node.handle)
    }
    slack = dict(sought.slack or {})
    ends = endings(ledger, now_ms=sought.now_ms, until_ms=2**63)
    steps = [*_comings(ledger, ends, sought), *sought.steps]
    sweep = _Sweep(sought, rooms, steps, slack=slack)
    for at_ms, _ in sweep:
        if sweep.members >= sought.members and min(slack.values(), default=0) >= 0:
            return RoomForeseen(at_ms, _kept(rooms, sought.members), slack)
    return None


class _Sweep:
    """Rooms as time goes on: each time at which something changes, and the one before the next."""

    def __init__(
        self,
        sought: RoomSought,
        rooms: Rooms,
        steps: Iterable[RoomStep],
        *,
        slack: dict[int, int],
    ) -> None:
        self._sought, self._rooms, self._slack = sought, rooms, slack
        self._steps = sorted(steps, key=lambda step: step.at_ms)
        self.members = 0

    def __iter__(self) -> Iterator[tuple[int, int]]:
        now_ms, until_ms = self._sought.now_ms, self._sought.until_ms
        for room in self._rooms.values():
            room.members = room.fitting(self._sought.shape)
            self.members += room.members
        began_ms = now_ms
        for at_ms, together in groupby(self._steps, key=lambda step: max(step.at_ms, now_ms)):
            if at_ms > until_ms:
                break
            if at_ms > began_ms:
                yield began_ms, at_ms - 1
            for step in together:
                self._take(step)
            began_ms = at_ms
        if began_ms <= until_ms:
            yield began_ms, until_ms

    def _take(self, step: RoomStep) -> None:
        for kind in self._slack:
            self._slack[kind] += step.amounts[kind]
        room = self._rooms.get(step.node)
        if room is not None:
            room.change(step.amounts[:3], step.milli, sign=1)
            before, room.members = room.members, room.fitting(self._sought.shape)
            self.members += room.members - before


class _Foresight:
    """One question, asked of the engine."""

    def __init__(self, ledger: CapacityLedger, sought: RoomSought) -> None:
        self.ledger, self.sought = ledger, sought
        self.shape = ledger.handles.intern_shape(sought.shape)
        self.rows: dict[int, list[tuple[int, ...]]] = {}
        """What comes back on a node, or is taken, beside its leases as they say they end."""
        for step in sought.steps:
            rows = self.rows.setdefault(step.node, [])
            rows.append((step.at_ms, *step.amounts[:3], *step.milli))
        for lease, at_ms in (sought.terms or {}).items():
            self._end_at(lease, at_ms)
        self.mask = _without(sought.mask, self.rows, nodes=len(ledger.by_handle))

    def _end_at(self, lease: int, at_ms: int) -> None:
        """The lease ends then: what it gives back by its own word is taken again at once."""
        fields = self.ledger.fields(lease)
        node = self.ledger.by_handle[fields.node]
        width = len(node.capacity.gpus) if node is not None else 0
        cpu, mem, block, _ = self.ledger.resources_of(fields.shape).as_tuple()
        shape = self.ledger.handles.shapes[fields.shape]
        gives = (cpu, mem, block, *milli_of(shape, fields.devices, width=width))
        rows = self.rows.setdefault(fields.node, [])
        rows += [(fields.expires_ms, *(-each for each in gives)), (at_ms, *gives)]

    def find(self) -> RoomForeseen | None:
        """When the nodes of either sort have room together."""
        sought, when = self.sought, cache(self._when)
        latest = when(sought.members)
        if not self.rows:
            return None if latest is None else RoomForeseen(latest, self._kept({}, latest), {})
        changes = self._own(sought.until_ms if latest is None else latest)
        own: dict[int, int] = {}
        times = sorted(changes)
        for from_ms, next_ms in zip(times, [*times[1:], sought.until_ms + 1], strict=True):
            own.update(changes[from_ms])
            members, first = sum(own.values()), from_ms
            if members < sought.members:
                others = when(sought.members - members)
                if others is None:
                    continue
                first = max(first, others)
            if first < next_ms:
                return RoomForeseen(first, self._kept(own, first), {})
        return None

    def _when(self, need: int) -> int | None:
        """The first time at which so many fit on nodes that are none of ours."""
        sought, engine = self.sought, self.ledger.engine
        return engine.room_time(self.shape, need, self.mask, sought.now_ms, sought.until_ms)

    def _own(self, until_ms: int) -> dict[int, dict[int, int]]:
        """By time, the first of which is now, how many members fit on nodes of ours from then."""
        engine, sought = self.ledger.engine, self.sought
        changes: dict[int, dict[int, int]] = {sought.now_ms: {}}
        for handle in sorted(self.rows):
            node = self.ledger.by_handle[handle]
            if node is not None and node.takes_leases and _is_in(sought.mask, handle):
                steps = engine.room_steps(self.shape, handle, until_ms, self.rows[handle])
                for at, members in steps:
                    changes.setdefault(max(at, sought.now_ms), {})[handle] = members
        return changes

    def _kept(self, own: Mapping[int, int], at_ms: int) -> Rooms:
        """The rooms of both sorts, where most fit first, as many as are needed."""
        ledger, sought, left = self.ledger, self.sought, self.sought.members
        rows = ledger.engine.room_nodes(self.shape, left, self.mask, at_ms)
        found: Rooms = {}
        for handle, most in sorted([*rows, *own.items()], key=lambda row: (-row[1], row[0])):
            node, members = ledger.by_handle[handle], min(most, left)
            if node is None or not members:
                continue
            cpu, mem, block, devices = ledger.engine.room_on(handle, at_ms)
            serving = ledger.serving(node, sought.shape)
            room = FutureRoom(node, [cpu, mem, block], list(devices), serving, members)
            for row in (row for row in self.rows.get(handle, ()) if row[0] <= at_ms):
                room.change(row[1:4], row[4:], sign=1)
            found[handle] = room
            left -= members
        return found


def _kept(rooms: Rooms, members: int) -> Rooms:
    """The rooms where most fit, until all have a place; each with how many go there."""
    found = {}
    for handle, room in sorted(rooms.items(), key=lambda row: (-row[1].members, row[0])):
        room.members = min(room.members, members)
        if room.members:
            found[handle] = room
            members -= room.members
    return found


def _comings(
    ledger: CapacityLedger, ends: Iterable[LeaseEnding], sought: RoomSought
) -> Iterator[RoomStep]:
    """What comes back as leases end, some of them at other times than they say."""
    terms = sought.terms or {}
    for end in ends:
        at_ms = max(terms.get(end.lease, end.at_ms), sought.now_ms)
        if at_ms <= sought.until_ms:
            node, shape = ledger.by_handle[end.node], ledger.handles.shapes[end.shape]
            width = len(node.capacity.gpus) if node is not None else 0
            amounts = ledger.resources_of(end.shape).as_tuple()
            milli = milli_of(shape, end.devices, width=width)
            yield RoomStep(at_ms, end.node, amounts, milli)


def _is_in(mask: bytearray | None, handle: int) -> bool:
    return mask is None or bool(mask[handle >> 3] >> (handle & 7) & 1)


def _without(mask: bytearray | None, own: Iterable[int], *, nodes: int) -> bytearray | None:
    """The mask without these nodes."""
    left = sorted(own)
    if not left:
        return mask
    found = bytearray(b"\xff" * (nodes // 8 + 1)) if mask is None else bytearray(mask)
    for handle in left:
        found[handle >> 3] &= ~(1 << (handle & 7)) & 0xFF
    return found
