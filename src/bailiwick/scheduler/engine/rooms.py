"""When and where there will be room for a shape, if every lease ends at its expiry.

Rules:

- Of a shape and a node the steps are kept: how many members fit now, and from which time on how
  many more. They are good as long as nothing was taken or given back on the node and no lease on it
  has another term (``NodeRecord.version`` and ``terms``). So a question costs the nodes that
  changed, and one look at each of the others.
- A lease that is overdue may end any moment: it counts as ended now.
- Which nodes count is asked each time: those that take leases and are in the mask.
- About one node it can be asked what becomes of its steps if others take of it and give back: who
  has room kept there for somebody reckons so.
- Steps are kept for the last :data:`SHAPES_MAX` shapes that were asked about.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Final, TypeAlias

from bailiwick.scheduler.engine.bestfit import allowed
from bailiwick.scheduler.engine.tables import ClassRecord, ShapeRecord, bits

if TYPE_CHECKING:
    from bailiwick.scheduler.engine.arena import Arena

SHAPES_MAX: Final = 32
MEMBERS_MAX: Final = 2**30
"""More members than this are told as this many."""

Steps: TypeAlias = tuple[list[int], list[int]]
"""Times, of which the first is before all others, and how many members fit from each on."""

RoomThen: TypeAlias = tuple[int, int, int, tuple[int, ...]]
"""Free cpu, mem, block and milli of each device."""

_ALWAYS: Final = -(2**63)


class Rooms:
    """The steps of the shapes that were asked about."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._kept: dict[int, dict[int, tuple[int, Steps]]] = {}

    def drop(self, index: int) -> None:
        """The shape is gone, or another."""
        self._kept.pop(index, None)

    def time(
        self, index: int, need: int, mask: bytearray | None, *, now: int, until: int
    ) -> int | None:
        """The earliest time, from now to until, at which so many members fit."""
        found = [steps for _, steps in self._all(index, mask)]
        if self._count(found, until) < need or until < now:
            return None
        low, high = now, until
        while low < high:  # bounded: the span is halved
            middle = (low + high) // 2
            if self._count(found, middle) >= need:
                high = middle
            else:
                low = middle + 1
        return low

    def nodes(
        self, index: int, need: int, mask: bytearray | None, at: int
    ) -> list[tuple[int, int]]:
        """Nodes and how many members fit there at that time, most first, until there are enough."""
        rows = [(-_members(steps, at), x) for x, steps in self._all(index, mask)]
        found = []
        for less, x in sorted(row for row in rows if row[0]):
            if need <= 0:
                break
            found.append((x, -less))
            need += less
        return found

    def on(self, x: int, at: int) -> RoomThen:
        """What is free on a node once all that ends by then has ended."""
        arena, node = self._arena, self._arena.nodes[x]
        amounts, devices = [node.cpu, node.mem, node.block], list(node.device)
        for slot in node.leases:
            lease = arena.leases[slot]
            if lease is not None and lease.expires <= at:
                _give_back(amounts, devices, arena.shapes[lease.shape], lease.devices)
        cpu, mem, block = amounts
        return cpu, mem, block, tuple(devices)

    def steps(
        self, index: int, x: int, until: int, rows: Iterable[tuple[int, ...]]
    ) -> list[tuple[int, int]]:
        """How many members fit on a node from when on, if these rows come beside its leases."""
        arena, node = self._arena, self._arena.nodes[x]
        cls, shape = arena.classes[node.cls], arena.shapes[index]
        amounts, devices = [node.cpu, node.mem, node.block], list(node.device)
        changes = [(row[0], row[1:4], row[4:]) for row in rows]
        for slot in node.leases:
            lease = arena.leases[slot]
            if lease is not None:
                gone, milli = [0, 0, 0], [0] * len(devices)
                _give_back(gone, milli, arena.shapes[lease.shape], lease.devices)
                changes.append((lease.expires, tuple(gone), tuple(milli)))
        found = [(_ALWAYS, _fitting(cls, shape, amounts, devices))]
        changes.sort(key=lambda change: change[0])
        for at, together in groupby(changes, key=lambda change: change[0]):
            if at > until:
                break
            for _, more, shares in together:
                amounts = [a + b for a, b in zip(amounts, more, strict=True)]
                for i, each in enumerate(shares):
                    devices[i] += each
            members = _fitting(cls, shape, amounts, devices)
            if members != found[-1][1]:
                found.append((at, members))
        return found

    def _all(self, index: int, mask: bytearray | None) -> Iterator[tuple[int, Steps]]:
        kept = self._kept.pop(index, None)
        if kept is None:
            kept = {}
            if len(self._kept) >= SHAPES_MAX:
                del self._kept[next(iter(self._kept))]
        self._kept[index] = kept
        for x, node in enumerate(self._arena.nodes):
            if not node.eligible or not allowed(mask, x):
                continue
            key = node.version + node.terms
            if x not in kept or kept[x][0] != key:
                kept[x] = key, self._steps(index, x)
            yield x, kept[x][1]

    def _steps(self, index: int, x: int) -> Steps:
        arena, node = self._arena, self._arena.nodes[x]
        cls, shape = arena.classes[node.cls], arena.shapes[index]
        amounts, devices = [node.cpu, node.mem, node.block], list(node.device)
        times, counts = [_ALWAYS], [_fitting(cls, shape, amounts, devices)]
        leases = [lease for slot in node.leases if (lease := arena.leases[slot]) is not None]
        leases.sort(key=lambda lease: lease.expires)
        for expires, together in groupby(leases, key=lambda lease: lease.expires):
            for lease in together:
                _give_back(amounts, devices, arena.shapes[lease.shape], lease.devices)
            members = _fitting(cls, shape, amounts, devices)
            if members != counts[-1]:
                times.append(expires)
                counts.append(members)
        return times, counts

    @staticmethod
    def _count(found: list[Steps], at: int) -> int:
        return sum(_members(steps, at) for steps in found)


def _members(steps: Steps, at: int) -> int:
    times, counts = steps
    return counts[bisect_right(times, at) - 1]


def _give_back(amounts: list[int], devices: list[int], shape: ShapeRecord, held: int) -> None:
    for kind, amount in enumerate((shape.cpu, shape.mem, shape.block)):
        amounts[kind] += amount
    for i in bits(held) if held else ():
        devices[i] += shape.milli


def _fitting(cls: ClassRecord, shape: ShapeRecord, amounts: list[int], devices: list[int]) -> int:
    """How many members fit; they are equal, so it does not matter which devices go first.

    Where more is kept than is there, none does.
    """
    wanted = zip(amounts, (shape.cpu, shape.mem, shape.block), strict=True)
    counts = [max(free, 0) // need for free, need in wanted if need]
    if shape.count:
        serving = zip(devices, cls.kind, strict=True)
        fit = (max(free, 0) for free, kind in serving if shape.kinds >> kind & 1)
        slots = sum(free // shape.milli for free in fit)
        counts.append(slots // shape.count)
    return min([MEMBERS_MAX, *counts])
