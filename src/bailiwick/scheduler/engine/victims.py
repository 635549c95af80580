"""The cheapest leases on one node whose end makes a request fit there, in pure Python.

Rules:

- A victim is neither guaranteed, reserved, pinned nor being revoked already; its priority is
  strictly below the preemptor's; it has run for ``run_min``; and its cascade depth is below
  ``depth_max``. A gang goes whole: every member, wherever it is, must be a legal victim, and the
  loss of all of them is its cost.
- A lease costs 1000 times (1 + priority) if spot, else 10000 times 4 to the priority; half of that
  if it reported a checkpoint at most ``fresh`` ago; plus a tenth of its GPU milli-shares and one
  for each whole core.
- The least cost wins, then the lowest node handle, then the smallest slots in ascending order.
- With no plan, each node is counted at the first rule that, taken together with those before it,
  leaves too little to give back: hardware, closed, protected, priority, run time, depth.
- The search is exact until ``STEPS_MAX`` steps are spent on it; then it says so.

This is the readable reference. The compiled twin finds the same plans by bounds kept per node.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bailiwick.scheduler.engine.bestfit import allowed
from bailiwick.scheduler.engine.protocol import (
    CLASS_GUARANTEED,
    CLASS_SPOT,
    FLAG_PINNED,
    FLAG_RESERVED,
    NEVER,
    VictimAnswer,
)
from bailiwick.scheduler.engine.tables import LeaseRecord, NodeRecord, ShapeRecord, bits

if TYPE_CHECKING:
    from bailiwick.scheduler.engine.pure import PureEngine

STEPS_MAX = 200_000
_HARDWARE, _CLOSED, _PROTECTED, _PRIORITY, _RUN_TIME, _DEPTH, _LEGAL = range(7)


@dataclass(frozen=True, slots=True)
class Query:
    """Who asks, and what protects a lease."""

    shape: ShapeRecord
    priority: int
    now: int
    run_min: int
    fresh: int
    depth_max: int


@dataclass(frozen=True, slots=True)
class Unit:
    """A lease, or all members of a gang on the node: what goes together, and its cost."""

    cost: int
    slots: tuple[int, ...]
    gives: tuple[int, int, int]
    shares: tuple[tuple[int, int], ...]


def victim_cost(lease: LeaseRecord, shape: ShapeRecord, query: Query) -> int:
    """What the loss of one lease is reckoned at."""
    if lease.lease_class == CLASS_SPOT:
        base = 1000 * (1 + lease.priority)
    else:
        base = 10_000 * 4**lease.priority
    if lease.checkpoint != NEVER and query.now - lease.checkpoint <= query.fresh:
        base //= 2
    return base + shape.count * shape.milli // 10 + shape.cpu // 1000


def verdict(lease: LeaseRecord, query: Query) -> int:
    """The first rule that protects the lease, or that none does."""
    if lease.lease_class == CLASS_GUARANTEED or lease.state:
        return _PROTECTED
    if lease.flags & (FLAG_RESERVED | FLAG_PINNED):
        return _PROTECTED
    if lease.priority >= query.priority:
        return _PRIORITY
    if query.now - lease.granted < query.run_min:
        return _RUN_TIME
    return _DEPTH if lease.depth >= query.depth_max else _LEGAL


class VictimSearch:
    """One question, asked of every node of an engine."""

    def __init__(self, engine: PureEngine, query: Query) -> None:
        self.engine = engine
        self.query = query
        self.steps = 0
        self.best: tuple[int, int, tuple[int, ...]] | None = None
        self.gangs: dict[int, list[LeaseRecord]] = {}
        for lease in engine.leases:
            if lease is not None and lease.gang >= 0:
                self.gangs.setdefault(lease.gang, []).append(lease)

    def answer(self, mask: bytearray | None, exclude: int) -> VictimAnswer:
        """The plan, or the number of nodes at each rule."""
        open_nodes = [
            x
            for x, node in enumerate(self.engine.nodes)
            if node.eligible and x != exclude and allowed(mask, x) and self._could(node)
        ]
        for x in open_nodes:
            self._search(x)
        if self.best is None:
            return self._blocked(set(open_nodes))
        cost, node, slots = self.best
        ids = [self.engine.reuse[slot] << 32 | slot for slot in slots]
        return cost, node, ids, self.steps < STEPS_MAX

    def _could(self, node: NodeRecord) -> bool:
        shape, cls = self.query.shape, self.engine.classes[node.cls]
        if cls.cpu < shape.cpu or cls.mem < shape.mem or cls.block < shape.block:
            return False
        return sum(shape.kinds >> kind & 1 for kind in cls.kind) >= shape.count

    def _units(self, x: int) -> list[tuple[int, Unit]]:
        """Every unit on the node with the first rule that protects it."""
        engine = self.engine
        found: dict[object, list[int]] = {}
        for slot in sorted(engine.nodes[x].leases):
            lease = engine.leases[slot]
            assert lease is not None
            found.setdefault(("gang", lease.gang) if lease.gang >= 0 else slot, []).append(slot)
        units = []
        for slots in found.values():
            here = [lease for lease in (engine.leases[s] for s in slots) if lease is not None]
            all_members = self.gangs[here[0].gang] if here[0].gang >= 0 else here
            rule = min(verdict(lease, self.query) for lease in all_members)
            shapes = engine.shapes
            cost = sum(victim_cost(le, shapes[le.shape], self.query) for le in all_members)
            given = [shapes[le.shape] for le in here]
            gives = (sum(s.cpu for s in given), sum(s.mem for s in given))
            shares = [(i, shapes[le.shape].milli) for le in here for i in bits(le.devices)]
            block = sum(s.block for s in given)
            units.append((rule, Unit(cost, tuple(slots), (*gives, block), tuple(shares))))
        return units

    def _fits(self, x: int, gone: list[Unit]) -> bool:
        """Whether the shape fits on the node without these units."""
        node, shape = self.engine.nodes[x], self.query.shape
        cls = self.engine.classes[node.cls]
        if node.cpu + sum(u.gives[0] for u in gone) < shape.cpu:
            return False
        if node.mem + sum(u.gives[1] for u in gone) < shape.mem:
            return False
        if node.block + sum(u.gives[2] for u in gone) < shape.block:
            return False
        device = list(node.device)
        for unit in gone:
            for i, milli in unit.shares:
                device[i] += milli
        found = sum(
            free >= shape.milli and shape.kinds >> kind & 1
            for free, kind in zip(device, cls.kind, strict=True)
        )
        return found >= shape.count

    def _search(self, x: int) -> None:
        """Branch and bound over the legal units of one node, cheapest first."""
        units = sorted(
            (unit for rule, unit in self._units(x) if rule == _LEGAL),
            key=lambda unit: (unit.cost, unit.slots),
        )
        if not self._fits(x, units):
            return
        pending: list[tuple[int, int, list[Unit]]] = [(0, 0, [])]
        while pending and self.steps < STEPS_MAX:
            self.steps += 1
            at, cost, chosen = pending.pop()
            if self.best is not None and cost > self.best[0]:
                continue
            if self._fits(x, chosen):
                self._offer(x, cost, chosen)
                continue
            if at == len(units) or not self._fits(x, chosen + units[at:]):
                continue
            if self.best is not None and cost + units[at].cost > self.best[0]:
                continue  # every further unit costs at least as much as this one
            pending.append((at + 1, cost, chosen))
            pending.append((at + 1, cost + units[at].cost, [*chosen, units[at]]))

    def _offer(self, x: int, cost: int, chosen: list[Unit]) -> None:
        slots = tuple(sorted(slot for unit in chosen for slot in unit.slots))
        if self.best is None or (cost, x, slots) < self.best:
            self.best = (cost, x, slots)

    def _blocked(self, open_nodes: set[int]) -> VictimAnswer:
        counts = [0] * (_LEGAL + 1)
        for x, node in enumerate(self.engine.nodes):
            if not node.alive:
                continue
            if not self._could(node):
                counts[_HARDWARE] += 1
            elif x not in open_nodes:
                counts[_CLOSED] += 1
            else:
                counts[self._blocking_rule(x)] += 1
        hardware, closed, protected, priority, run_time, depth, _ = counts
        return hardware, closed, protected, priority, run_time, depth

    def _blocking_rule(self, x: int) -> int:
        """The first rule that, with those before it, leaves too little to give back."""
        units = self._units(x)
        for rule in range(_PROTECTED, _LEGAL):
            if not self._fits(x, [unit for r, unit in units if r > rule]):
                return rule
        return _LEGAL
