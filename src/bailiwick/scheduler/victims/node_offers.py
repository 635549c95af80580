"""The cheapest ways to make more or less room on one node.

Rules:

- Members of a gang are equal, so how many fit on a node follows from what is free there: of each
  amount, and of devices that may serve them.
- Units are taken or left one after the other, in the order of their devices. Of states that give
  back the same the cheapest stays, and none that another beats in everything. A device counts in
  milli-shares as long as units on it are still to come, and then as the members it serves.
- Of more than ``STATES_MAX`` states the cheapest stay. ``unseen_cost`` is then what anything that was
  left out costs at least.
- The last offer is that everybody goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from bailiwick.scheduler.handles import Shape
from bailiwick.scheduler.victims.supply import Amounts, Offer

STATES_MAX = 384
"""States of one node that are kept at a time."""

_COMPARED = 48


class NodeRoom(NamedTuple):
    """What is free on a node: cpu, memory, block, and milli of each device that may serve."""

    amounts: Amounts
    devices: tuple[tuple[int, int], ...]


class NodeUnit(NamedTuple):
    """What a unit costs here and gives back here; ``extra`` is what else is lacking of it."""

    cost: int
    amounts: Amounts
    devices: tuple[tuple[int, int], ...]
    extra: Amounts


@dataclass(frozen=True, slots=True)
class NodeOffers:
    """How many members fit as it is, and what more can be had; units by their place in the list."""

    members: int
    offers: tuple[Offer, ...]
    unseen_cost: int | None


class _State(NamedTuple):
    """What goes, as bits, its cost, and what that gives back; of a device, if more may come."""

    cost: int
    amounts: Amounts
    slots: int
    open: Amounts
    extra: Amounts
    units: int

    @property
    def gifts(self) -> Amounts:
        return (*self.amounts, self.slots, *self.open, *self.extra)


def fitting(shape: Shape, amounts: Sequence[int], *, slots: int) -> int:
    """How many members fit into these amounts and devices that serve so many."""
    needs = shape.cpu_milli, shape.mem_bytes, shape.block_bytes
    counts = [have // need for have, need in zip(amounts, needs, strict=True) if need]
    if shape.device_count:
        counts.append(slots // shape.device_count)
    return min(counts, default=1 << 30)


def slots_in(shape: Shape, free_milli: int) -> int:
    """How often a device with so much free serves one device of the shape."""
    return free_milli // shape.device_milli if shape.device_count else 0


def make_offers(
    shape: Shape, room: NodeRoom, units: Sequence[NodeUnit], *, wanted: int, cost_max: int
) -> NodeOffers:
    """What the node can be made to hold, up to so many members more, for less than ``cost_max``."""
    return _Table(shape, room, units, wanted=wanted).offers(cost_max)


class _Table:
    """One node, and all that could go from it."""

    def __init__(
        self, shape: Shape, room: NodeRoom, units: Sequence[NodeUnit], *, wanted: int
    ) -> None:
        self.shape, self.room, self.units = shape, room, units
        self._base = sum(slots_in(shape, free) for _, free in room.devices)
        self.members = fitting(shape, room.amounts, slots=self._base)
        self._most = self.members + wanted
        needs = shape.cpu_milli, shape.mem_bytes, shape.block_bytes
        rows = zip(needs, room.amounts, strict=True)
        self._caps = tuple(max(0, self._most * need - have) if need else 0 for need, have in rows)
        self._place = {index: at for at, (index, _) in enumerate(room.devices)}
        first = [min((i for i, _ in unit.devices), default=-1) for unit in units]
        self._order = sorted(range(len(units)), key=lambda number: (first[number], number))

    def offers(self, cost_max: int) -> NodeOffers:
        """Everything that may be of use."""
        extra = len(self.units[0].extra) if self.units else 0
        nothing = _State(0, (0, 0, 0), 0, (0,) * len(self._place), (0,) * extra, 0)
        states, unseen = [nothing], None
        last = {i: n for n in self._order for i, _ in self.units[n].devices}
        for number in self._order:
            closing = [index for index, n in last.items() if n == number]
            found: dict[Amounts, _State] = {}
            for state in states:
                for each in (state, self._without(state, number)):
                    shut = self._shut(each, closing)
                    known = found.get(shut.gifts)
                    if shut.cost < cost_max and (known is None or shut.cost < known.cost):
                        found[shut.gifts] = shut
            states = _unbeaten(found)
            if len(states) > STATES_MAX:
                cost = states[STATES_MAX].cost
                unseen = cost if unseen is None else min(unseen, cost)
                del states[STATES_MAX:]
        offers = [self._offer(state) for state in states if state.units]
        offers.append(self._everything())
        return NodeOffers(self.members, tuple(offers), unseen)

    def _without(self, state: _State, number: int) -> _State:
        unit = self.units[number]
        gains = map(int.__add__, state.amounts, unit.amounts)
        opened = list(state.open)
        for index, milli in unit.devices:
            opened[self._place[index]] += milli
        return _State(
            state.cost + unit.cost,
            tuple(map(min, gains, self._caps)),
            state.slots,
            tuple(opened),
            tuple(map(int.__add__, state.extra, unit.extra)),
            state.units | 1 << number,
        )

    def _shut(self, state: _State, closing: Sequence[int]) -> _State:
        """Nobody on these devices is still to come: what they serve is known."""
        if not closing:
            return state
        slots, opened = state.slots, list(state.open)
        for index in closing:
            at = self._place[index]
            free = self.room.devices[at][1]
            slots += slots_in(self.shape, free + opened[at]) - slots_in(self.shape, free)
            opened[at] = 0
        most = max(0, self._most * self.shape.device_count - self._base)
        return state._replace(slots=min(slots, most), open=tuple(opened))

    def _offer(self, state: _State) -> Offer:
        amounts = map(int.__add__, self.room.amounts, state.amounts)
        more = fitting(self.shape, tuple(amounts), slots=self._base + state.slots) - self.members
        units = tuple(n for n in range(len(self.units)) if state.units >> n & 1)
        return Offer(state.cost, (min(more, self._most - self.members), *state.extra), units)

    def _everything(self) -> Offer:
        amounts, free = list(self.room.amounts), dict(self.room.devices)
        for unit in self.units:
            amounts = [have + gift for have, gift in zip(amounts, unit.amounts, strict=True)]
            for index, milli in unit.devices:
                free[index] += milli
        slots = sum(slots_in(self.shape, milli) for milli in free.values())
        more = min(fitting(self.shape, amounts, slots=slots), self._most) - self.members
        extra = tuple(map(sum, zip(*(unit.extra for unit in self.units), strict=True)))
        cost = sum(unit.cost for unit in self.units)
        return Offer(cost, (more, *extra), tuple(range(len(self.units))))


def _unbeaten(found: dict[Amounts, _State]) -> list[_State]:
    """The states, cheapest first, without those that another beats in everything."""
    kept: list[tuple[Amounts, _State]] = []
    for gifts, state in sorted(found.items(), key=lambda row: (row[1].cost, row[0])):
        near = islice(reversed(kept), _COMPARED)
        if not any(all(map(int.__ge__, other, gifts)) for other, _ in near):
            kept.append((gifts, state))
    return [state for _, state in kept]
