"""The cheapest ways to make room for more members on one node.

Rules:

- Members of a gang are equal, so how many fit on a node follows from what is free there: of each
  amount, and of devices that may serve them.
- Units on such devices are taken or left one after the other, device by device. Of states that give
  back the same the cheapest stays, and none that another beats in everything. A device counts in
  milli-shares as long as units on it are still to come, and then as the members it serves. Of more
  than ``STATES_MAX`` states the cheapest stay; whatever was left out costs no less than those.
- What amounts are then lacking, the other units give (:mod:`.supply`).
- What a way costs at least is known at once; what it costs, and who goes, is worked out when it is
  asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from bailiwick.scheduler.handles import Shape
from bailiwick.scheduler.victims.supply import Amounts, Piece, SupplyPrices, copies, supply

STATES_MAX = 384
"""States of the devices of one node that are kept at a time."""

WIDTHS = (24,)
"""How many states are kept while amounts are covered: see :mod:`.supply`."""

_COMPARED = 48
_NEVER = 1 << 100


class NodeFree(NamedTuple):
    """What is free on a node: cpu, memory, block, and milli of each device that may serve."""

    amounts: Amounts
    devices: tuple[tuple[int, int], ...]


class NodeUnit(NamedTuple):
    """What a unit costs on a node, and what it gives back there."""

    cost: int
    amounts: Amounts
    devices: tuple[tuple[int, int], ...]


class Way(NamedTuple):
    """Who goes (by their place among the units), what that costs, and what it costs at least."""

    cost: int
    bound: int
    units: tuple[int, ...]


class _State(NamedTuple):
    """Units on devices that go, as bits, their cost, and what that gives back."""

    cost: int
    amounts: Amounts
    slots: int
    open: Amounts
    units: int

    @property
    def gifts(self) -> Amounts:
        return (*self.amounts, self.slots, *self.open)


def needs_of(shape: Shape) -> Amounts:
    """What one member takes, devices aside."""
    return shape.cpu_milli, shape.mem_bytes, shape.block_bytes


def fitting(shape: Shape, amounts: Sequence[int], *, slots: int) -> int:
    """How many members fit into these amounts and devices that serve so many."""
    rows = zip(amounts, needs_of(shape), strict=True)
    counts = [have // need for have, need in rows if need]
    if shape.device_count:
        counts.append(slots // shape.device_count)
    return min(counts, default=1 << 30)


def slots_in(shape: Shape, free_milli: int) -> int:
    """How often a device with so much free serves one device of the shape."""
    return free_milli // shape.device_milli if shape.device_count else 0


class NodeWays:
    """One node, and all that could go from it, for up to ``wanted`` members more."""

    def __init__(
        self, shape: Shape, room: NodeFree, units: Sequence[NodeUnit], *, wanted: int
    ) -> None:
        self._shape, self._room, self._units = shape, room, units
        self._base = sum(slots_in(shape, free) for _, free in room.devices)
        self.members = fitting(shape, room.amounts, slots=self._base)
        """How many fit as it is."""
        self.most = min(wanted, self._all_gone() - self.members)
        """How many more can be seated, if everybody goes."""
        self._caps = self._lacking(self.most, (0, 0, 0))
        self._unseen = _NEVER
        on_devices = [n for n, unit in enumerate(units) if unit.devices]
        self._states = self._of_devices(on_devices) if self.most else []
        self._pieces = tuple(self._others()) if self.most else ()
        self._prices = SupplyPrices(self._caps, self._pieces)
        self._prices.reckon_tails(self._pieces)
        self._settled: dict[int, Way | None] = {}
        self._bounds: dict[int, int] = {}

    def bound(self, more: int) -> int:
        """What seating so many members more costs at least."""
        if more not in self._bounds:
            least = self._unseen
            for state in self._enough(more):
                if state.cost >= least:
                    break
                lacking = self._lacking(more, state.amounts)
                least = min(least, state.cost + self._prices.least(0, lacking))
            self._bounds[more] = least
        return self._bounds[more]

    def is_settled(self, more: int) -> bool:
        """Whether it is known what so many members more cost."""
        return more in self._settled

    def settle(self, more: int) -> Way | None:
        """The cheapest way found to seat so many members more; ``None`` if none was found."""
        if more not in self._settled:
            way = self._settled[more] = self._settle(more)
            if way is not None:
                self._bounds[more] = way.bound
        return self._settled[more]

    def _settle(self, more: int) -> Way | None:
        best: tuple[int, int, tuple[int, ...]] | None = None
        least = self._unseen
        for state in self._enough(more):
            lacking = self._lacking(more, state.amounts)
            reach = state.cost + self._prices.least(0, lacking)
            if best is not None and reach >= best[0]:
                continue  # it cannot be cheaper
            found = supply(lacking, self._pieces, widths=WIDTHS)
            if found is None:
                continue
            least = min(least, state.cost + found.bound)
            if best is None or state.cost + found.cost < best[0]:
                best = state.cost + found.cost, state.units, found.units
        if best is None:
            return None
        cost, bits, others = best
        units = {n for n in range(len(self._units)) if bits >> n & 1}.union(others)
        return Way(cost, min(max(least, self.bound(more)), cost), tuple(sorted(units)))

    # -- amounts -----------------------------------------------------------------------------

    def _all_gone(self) -> int:
        amounts, free = self._room.amounts, dict(self._room.devices)
        for unit in self._units:
            amounts = tuple(map(int.__add__, amounts, unit.amounts))
            for index, milli in unit.devices:
                free[index] += milli
        slots = sum(slots_in(self._shape, milli) for milli in free.values())
        return fitting(self._shape, amounts, slots=slots)

    def _lacking(self, more: int, given: Amounts) -> Amounts:
        """Of each amount, what so many members more lack beyond what is free and given back."""
        rows = zip(self._needs_for(more), self._room.amounts, given, strict=True)
        return tuple(max(0, need - have - gift) if need else 0 for need, have, gift in rows)

    def _needs_for(self, more: int) -> Amounts:
        return tuple((self.members + more) * need for need in needs_of(self._shape))

    def _others(self) -> list[Piece]:
        """The units on no device that counts: equal ones together."""
        sorts: dict[tuple[int, Amounts], list[int]] = {}
        for number, unit in enumerate(self._units):
            gives = tuple(map(min, unit.amounts, self._caps))
            if not unit.devices and any(gives):
                sorts.setdefault((unit.cost, gives), []).append(number)
        pieces: list[Piece] = []
        for (cost, gives), numbers in sorts.items():
            pieces.extend(copies(cost, gives, units=numbers))
        return [
            tuple(o._replace(gives=tuple(map(min, o.gives, self._caps))) for o in piece)
            for piece in pieces
        ]

    # -- devices -----------------------------------------------------------------------------

    def _enough(self, more: int) -> list[_State]:
        """The states, cheapest first, in which devices serve so many members more."""
        wanted = (self.members + more) * self._shape.device_count - self._base
        return [state for state in self._states if state.slots >= wanted]

    def _of_devices(self, numbers: Sequence[int]) -> list[_State]:
        place = {index: at for at, (index, _) in enumerate(self._room.devices)}
        order = sorted(numbers, key=lambda n: (self._units[n].devices[0][0], n))
        last = {index: n for n in order for index, _ in self._units[n].devices}
        states = [_State(0, (0, 0, 0), 0, (0,) * len(place), 0)]
        for number in order:
            closing = [place[index] for index, n in last.items() if n == number]
            found: dict[Amounts, _State] = {}
            taking = (self._without(state, number, place) for state in states)
            for state in (self._shut(each, closing) for each in (*states, *taking)):
                known = found.get(state.gifts)
                if known is None or state.cost < known.cost:
                    found[state.gifts] = state
            states = _unbeaten(found)
            if len(states) > STATES_MAX:
                self._unseen = min(self._unseen, states[STATES_MAX].cost)
                del states[STATES_MAX:]
        return states

    def _without(self, state: _State, number: int, place: dict[int, int]) -> _State:
        unit = self._units[number]
        opened = list(state.open)
        for index, milli in unit.devices:
            opened[place[index]] += milli
        amounts = map(int.__add__, state.amounts, unit.amounts)
        return _State(
            state.cost + unit.cost,
            tuple(map(min, amounts, self._caps)),
            state.slots,
            tuple(opened),
            state.units | 1 << number,
        )

    def _shut(self, state: _State, closing: Sequence[int]) -> _State:
        """Nobody on these devices is still to come: what they serve is known."""
        if not closing:
            return state
        slots, opened = state.slots, list(state.open)
        for at in closing:
            free = self._room.devices[at][1]
            slots += slots_in(self._shape, free + opened[at]) - slots_in(self._shape, free)
            opened[at] = 0
        most = (self.members + self.most) * self._shape.device_count - self._base
        return state._replace(slots=min(slots, max(most, 0)), open=tuple(opened))


def _unbeaten(found: dict[Amounts, _State]) -> list[_State]:
    """The states, cheapest first, without those that another beats in everything."""
    kept: list[tuple[Amounts, _State]] = []
    for gifts, state in sorted(found.items(), key=lambda row: (row[1].cost, row[0])):
        near = islice(reversed(kept), _COMPARED)
        if not any(all(map(int.__ge__, other, gifts)) for other, _ in near):
            kept.append((gifts, state))
    return [state for _, state in kept]
