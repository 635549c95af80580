"""The cheapest units whose end makes room for so many members on some nodes: branch and bound.

Rules:

- A unit on several nodes is at first charged in parts, one on each of them; so what a choice of
  offers costs is no more than what its units really cost, and the cheapest choice is a bound.
- Which ways of a node are worth working out shows when the cheapest choice takes them: a choice is
  made by bounds, and made again until everything that it takes is known.
- If that choice takes all of a unit's parts or none, it is the answer. Otherwise there are two
  branches: the unit goes, and what it leaves is free; or it stays. The branch with the least bound
  is looked at first.
- Every choice, with its units whole and without those that it does not need, is an answer; the
  cheapest is kept. The search ends when no branch has a lower bound, or when ``WORK_MAX`` nodes
  have been looked at: then the least bound of those left is what is proven.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import NamedTuple, TypeAlias

from bailiwick.scheduler.handles import Shape
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.node_state import NodeEntry
from bailiwick.scheduler.victims.node_ways import (
    NodeFree,
    NodeUnit,
    NodeWays,
    fitting,
    needs_of,
    slots_in,
)
from bailiwick.scheduler.victims.supply import Offer, Piece, supply
from bailiwick.scheduler.victims.units import HeldPart, Judge, units_on

WORK_MAX = 12_000
"""Nodes that are looked at in all branches together."""

SETTLED_MAX = 64
"""Rounds in which ways are worked out that looked cheapest."""

_STRIDE = 1 << 20
_NEVER = 1 << 100

Rooms: TypeAlias = Mapping[int, tuple[NodeEntry, NodeFree]]
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


class _Node(NamedTuple):
    """The ways of one node, and the stakes that its units are."""

    ways: NodeWays
    stakes: list[int]

    def offers(self, at: int) -> Iterator[Offer]:
        """What each way costs at least, tagged by the node's place and the members it seats."""
        for more in range(1, self.ways.most + 1):
            yield Offer(self.ways.bound(more), (more,), (at * _STRIDE + more,))

    def knows(self, tag: int) -> bool:
        """Whether the way with this tag has been worked out."""
        return self.ways.is_settled(tag % _STRIDE)

    def stakes_of(self, more: int) -> list[int]:
        """Who goes for so many members more; everybody, if no way was found."""
        way = self.ways.settle(more)
        return self.stakes if way is None else [self.stakes[n] for n in way.units]


class _Solved(NamedTuple):
    """The cheapest offers in one branch: who goes, of whom only in part, and the bound."""

    units: frozenset[int]
    partial: Mapping[int, int]
    """Units that were not charged in full, and how much is missing."""
    bound: int


class GangSearch:
    """One question about some nodes of a ledger."""

    def __init__(self, ledger: CapacityLedger, shape: Shape, *, judge: Judge, rooms: Rooms) -> None:
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
        self._tables: dict[tuple[NodeFree, tuple[NodeUnit, ...]], NodeWays] = {}
        self._wanted = 0
        self.beyond: tuple[Piece, ...] = ()
        """What nodes that are not looked at might give, for no less than this."""
        self._members = {handle: self._fitting(handle, ()) for handle in rooms}
        self._best: tuple[int, frozenset[int]] = (_NEVER, frozenset())

    def _parts(self, parts: Sequence[HeldPart]) -> dict[int, NodeUnit]:
        """What the leases of a unit give back on each node that counts."""
        found: dict[int, NodeUnit] = {}
        for node, shape, devices in parts:
            if node not in self._rooms:
                continue
            gifts = needs_of(shape)
            serving = [index for index, _ in self._rooms[node].devices]
            milli = {i: shape.device_milli for i in serving if devices >> i & 1}
            known = found.get(node)
            if known is not None:
                gifts = tuple(map(int.__add__, gifts, known.amounts))
                for index, amount in known.devices:
                    milli[index] = milli.get(index, 0) + amount
            found[node] = NodeUnit(0, gifts, tuple(sorted(milli.items())))
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
        """The cheapest ways on all nodes, if these units go and those stay.

        Ways are chosen by what they cost at least. Those that are chosen are worked out, until all
        that are chosen have been.
        """
        gone = frozenset(number for number, goes in decided.items() if goes)
        nodes: list[_Node] = []
        for handle, stakes in self._on.items():
            free = [s for s in stakes if self._stakes[s].unit not in decided]
            here = [s for s in stakes if self._stakes[s].unit in gone]
            ways = self._ways(handle, free, here)
            missing -= ways.members - self._members[handle]
            if ways.most:
                nodes.append(_Node(ways, free))
        found = self._settle(nodes, missing)
        if found is None:
            return None
        chosen, least = found
        charged: dict[int, int] = {}
        for node, more in chosen:
            for stake in node.stakes_of(more):
                unit = self._stakes[stake].unit
                charged[unit] = charged.get(unit, 0) + self._stakes[stake].here.cost
        partial = {u: self._units[u].cost - paid for u, paid in charged.items()}
        partial = {unit: rest for unit, rest in partial.items() if rest}
        bound = least + sum(self._units[number].cost for number in gone)
        return _Solved(gone | charged.keys(), partial, bound)

    def _settle(
        self, nodes: Sequence[_Node], missing: int
    ) -> tuple[list[tuple[_Node, int]], int] | None:
        """The nodes and members of the cheapest choice, all worked out, and its bound."""
        pieces: list[Piece] = [tuple(node.offers(at)) for at, node in enumerate(nodes)]
        found = supply((missing,), pieces)
        for _ in range(SETTLED_MAX):
            tags = () if found is None else found.units
            unsettled = [tag for tag in tags if not nodes[tag // _STRIDE].knows(tag)]
            if not unsettled:
                break
            for at, more in (divmod(tag, _STRIDE) for tag in unsettled):
                nodes[at].ways.settle(more)
                pieces[at] = tuple(nodes[at].offers(at))
            found = supply((missing,), pieces)
        if found is None:
            return None
        bound = found.bound
        if self.beyond:
            relaxed = supply((missing,), [*pieces, *self.beyond])
            bound = min(bound, relaxed.bound if relaxed is not None else bound)
        return [(nodes[tag // _STRIDE], tag % _STRIDE) for tag in found.units], bound

    def _ways(self, handle: int, free: Sequence[int], gone: Sequence[int]) -> NodeWays:
        """The ways to make room on a node; equal nodes have the same, so they are made once."""
        room = self._without(handle, gone)
        units = tuple(self._stakes[stake].here for stake in free)
        if (room, units) not in self._tables:
            ways = NodeWays(self._shape, room, units, wanted=self._wanted)
            self._tables[room, units] = ways
        return self._tables[room, units]

    # -- answers -----------------------------------------------------------------------------

    def _offer(self, units: Collection[int], missing: int) -> None:
        """Keep the units as the answer if they are cheaper, without those that are not needed."""
        chosen = set(units)
        gone: dict[int, list[int]] = {}
        for stake in (stake for number in sorted(units) for stake in self._of[number]):
            gone.setdefault(self._stakes[stake].node, []).append(stake)
        fits = {node: self._fitting(node, here) for node, here in gone.items()}
        spare = sum(members - self._members[node] for node, members in fits.items()) - missing
        for number in sorted(units, key=lambda number: (-self._units[number].cost, number)):
            touched = {self._stakes[stake].node for stake in self._of[number]}
            rest = {n: [s for s in gone[n] if self._stakes[s].unit != number] for n in touched}
            less = {node: self._fitting(node, here) for node, here in rest.items()}
            loss = sum(fits[node] - members for node, members in less.items())
            if loss <= spare:
                chosen.discard(number)
                gone, fits, spare = {**gone, **rest}, {**fits, **less}, spare - loss
        cost = sum(self._units[number].cost for number in chosen)
        if cost < self._best[0]:
            self._best = cost, frozenset(chosen)

    def _fitting(self, handle: int, gone: Sequence[int]) -> int:
        room = self._without(handle, gone)
        slots = sum(slots_in(self._shape, milli) for _, milli in room.devices)
        return fitting(self._shape, room.amounts, slots=slots)

    def _without(self, handle: int, gone: Sequence[int]) -> NodeFree:
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
        return NodeFree(amounts, tuple(devices.items()))
