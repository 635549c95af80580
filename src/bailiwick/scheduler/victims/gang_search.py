"""The cheapest units whose end makes room for so many members on some nodes: branch and bound.

Rules:

- A unit on several nodes is at first charged in parts, one on each of them; so what a choice of
  offers costs is no more than what its units really cost, and the cheapest choice is a bound.
- If that choice takes all of a unit's parts or none, it is the answer. Otherwise there are two
  branches: the unit goes, and what it leaves is free; or it stays. The branch with the least bound
  is looked at first.
- Every choice, with its units whole and without those that it does not need, is an answer; the
  cheapest is kept. The search ends when no branch has a lower bound, or when ``WORK_MAX`` nodes have
  been looked at: then the least bound of those left is what is proven.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import NamedTuple, TypeAlias

from bailiwick.scheduler.handles import Shape
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.node_state import NodeEntry
from bailiwick.scheduler.victims.node_offers import (
    NodeOffers,
    NodeRoom,
    NodeUnit,
    fitting,
    make_offers,
    slots_in,
)
from bailiwick.scheduler.victims.supply import Offer, Piece, supply
from bailiwick.scheduler.victims.units import HeldPart, Judge, units_on

WORK_MAX = 12_000
"""Nodes that are looked at in all branches together."""

_NEVER = 1 << 100

Rooms: TypeAlias = Mapping[int, tuple[NodeEntry, NodeRoom]]
"""The nodes on which room is sought, by handle, and what is free there."""

_Decided: TypeAlias = dict[int, bool]
"""Units of which it is settled that they go, or stay."""


@dataclass(frozen=True, slots=True)
class GangVictims:
    """Leases to end for a gang, their cost, and what any choice costs at least."""

    lease_ids: tuple[int, ...]
    cost: int
    bound: int

    @property
    def exact(self) -> bool:
        """Whether no cheaper set exists for sure."""
        return self.bound == self.cost


class _Stake(NamedTuple):
    """A unit's part on one node: what it is charged there, and gives back there."""

    unit: int
    node: int
    here: NodeUnit


class _Solved(NamedTuple):
    """The cheapest offers in one branch: who goes, of whom only in part, and the bound."""

    units: frozenset[int]
    partial: Mapping[int, int]
    """Units that were not charged in full, and how much is missing."""
    bound: int


class GangSearch:
    """One question about some nodes of a ledger."""

    def __init__(
        self, ledger: CapacityLedger, shape: Shape, *, judge: Judge, rooms: Rooms
    ) -> None:
        self._shape = shape
        self._rooms = {handle: room for handle, (_, room) in rooms.items()}
        entries = [entry for entry, _ in rooms.values()]
        self._units = units_on(ledger, entries, judge=judge)
        self._stakes: list[_Stake] = []
        self._on: dict[int, list[int]] = {handle: [] for handle in rooms}
        self._of: list[list[int]] = []
        for number, unit in enumerate(self._units):
            self._of.append([])
            for node, part in self._parts(unit.parts).items():
                self._of[number].append(len(self._stakes))
                self._on[node].append(len(self._stakes))
                self._stakes.append(_Stake(number, node, part))
            self._charge(number, unit.cost)
        self._tables: dict[tuple[NodeRoom, tuple[NodeUnit, ...]], NodeOffers] = {}
        self._wanted = 0
        self._members = {handle: self._fitting(handle, ()) for handle in rooms}
        self._best: tuple[int, frozenset[int]] = (_NEVER, frozenset())

    def _parts(self, parts: Sequence[HeldPart]) -> dict[int, NodeUnit]:
        """What the leases of a unit give back on each node that counts."""
        found: dict[int, NodeUnit] = {}
        for node, shape, devices in parts:
            if node not in self._rooms:
                continue
            gifts = shape.cpu_milli, shape.mem_bytes, shape.block_bytes
            serving = [index for index, _ in self._rooms[node].devices]
            milli = {i: shape.device_milli for i in serving if devices >> i & 1}
            known = found.get(node)
            if known is not None:
                gifts = tuple(map(int.__add__, gifts, known.amounts))
                for index, amount in known.devices:
                    milli[index] = milli.get(index, 0) + amount
            found[node] = NodeUnit(0, gifts, tuple(sorted(milli.items())), ())
        return found

    def _charge(self, number: int, cost: int) -> None:
        """Part a unit's cost evenly among its nodes; together that is its cost."""
        stakes = self._of[number]
        for at, stake in enumerate(stakes):
            part = cost // len(stakes) + (at < cost % len(stakes))
            old = self._stakes[stake]
            self._stakes[stake] = old._replace(here=old.here._replace(cost=part))

    # -- the search --------------------------------------------------------------------------

    def answer(self, missing: int) -> GangVictims | None:
        """The cheapest units whose end makes room for so many members more, or ``None``."""
        self._wanted = missing
        branches: list[tuple[int, int, _Decided]] = [(0, 0, {})]
        work, serial, proven = 0, 0, _NEVER
        while branches and branches[0][0] < self._best[0] and work < WORK_MAX:
            least, _, decided = heappop(branches)
            work += len(self._rooms)
            solved = self._solve(decided, missing)
            if solved is None:
                continue
            self._offer(solved.units, missing)
            bound = max(least, solved.bound)
            if not solved.partial:
                proven = min(proven, bound)
                continue
            unit = max(solved.partial, key=lambda number: (solved.partial[number], -number))
            for goes in (True, False):
                serial += 1
                heappush(branches, (bound, serial, {**decided, unit: goes}))
        cost, units = self._best
        if cost == _NEVER:
            return None
        leases = sorted(i for number in units for i in self._units[number].lease_ids)
        bound = min([cost, proven, *(row[0] for row in branches)])
        return GangVictims(tuple(leases), cost, bound)

    def _solve(self, decided: _Decided, missing: int) -> _Solved | None:
        """The cheapest offers of all nodes, if these units go and those stay."""
        gone = frozenset(number for number, goes in decided.items() if goes)
        cost = sum(self._units[number].cost for number in gone)
        pieces: list[Piece] = []
        unseen: list[Piece] = []
        for handle, stakes in self._on.items():
            free = [s for s in stakes if self._stakes[s].unit not in decided]
            here = [s for s in stakes if self._stakes[s].unit in gone]
            table = self._table(handle, free, here)
            missing -= table.members - self._members[handle]
            piece = tuple(o._replace(units=tuple(free[n] for n in o.units)) for o in table.offers)
            pieces.append(piece)
            if table.unseen_cost is not None:
                unseen.append((Offer(table.unseen_cost, piece[-1].gives, ()),))
        found = supply((missing,), pieces)
        if found is None:
            return None
        bound = found.bound
        if unseen:  # a node may have cheaper ways that were not looked at
            relaxed = supply((missing,), [*pieces, *unseen])
            bound = min(bound, relaxed.bound if relaxed is not None else 0)
        charged: dict[int, int] = {}
        for stake in found.units:
            unit = self._stakes[stake].unit
            charged[unit] = charged.get(unit, 0) + self._stakes[stake].here.cost
        partial = {u: self._units[u].cost - paid for u, paid in charged.items()}
        partial = {unit: rest for unit, rest in partial.items() if rest}
        return _Solved(gone | charged.keys(), partial, cost + bound)

    def _table(self, handle: int, free: Sequence[int], gone: Sequence[int]) -> NodeOffers:
        """The ways to make room on a node; equal nodes have the same, so they are made once."""
        room = self._without(handle, gone)
        units = tuple(self._stakes[stake].here for stake in free)
        key = room, units
        if key not in self._tables:
            # What is known later may only be cheaper, so that an old table is never too small.
            self._tables[key] = make_offers(
                self._shape, room, units, wanted=self._wanted, cost_max=self._best[0]
            )
        return self._tables[key]

    # -- answers -----------------------------------------------------------------------------

    def _offer(self, units: Collection[int], missing: int) -> None:
        """Keep the units as the answer if they are cheaper, without those that are not needed."""
        chosen = set(units)
        for number in sorted(units, key=lambda number: (-self._units[number].cost, number)):
            if self._gain(chosen - {number}) >= missing:
                chosen.discard(number)
        cost = sum(self._units[number].cost for number in chosen)
        if cost < self._best[0]:
            self._best = cost, frozenset(chosen)

    def _gain(self, units: Collection[int]) -> int:
        """How many members more fit without these units."""
        stakes: dict[int, list[int]] = {}
        for number in units:
            for stake in self._of[number]:
                stakes.setdefault(self._stakes[stake].node, []).append(stake)
        return sum(self._fitting(node, here) - self._members[node] for node, here in stakes.items())

    def _fitting(self, handle: int, gone: Sequence[int]) -> int:
        room = self._without(handle, gone)
        slots = sum(slots_in(self._shape, milli) for _, milli in room.devices)
        return fitting(self._shape, room.amounts, slots=slots)

    def _without(self, handle: int, gone: Sequence[int]) -> NodeRoom:
        """The node as it would be if these parts of units had ended."""
        room = self._rooms[handle]
        if not gone:
            return room
        amounts, devices = room.amounts, dict(room.devices)
        for stake in gone:
            here = self._stakes[stake].here
            amounts = tuple(map(int.__add__, amounts, here.amounts))
            for index, milli in here.devices:
                devices[index] += milli
        return NodeRoom(amounts, tuple(devices.items()))
