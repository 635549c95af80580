"""The cheapest leases on one node whose end makes a request fit there, in pure Python.

Rules:

- A victim is neither guaranteed, reserved, pinned nor being revoked already; its class and priority
  are among those ``evictable`` by the preemptor; it has run for ``run_min``; and its cascade depth
  is below ``depth_max``. A gang goes whole: every member, wherever it is, must be a legal victim,
  and the loss of all of them is its cost.
- A lease costs 1000 times (1 + priority) if spot, else 10000 times 4 to the priority; half of that
  if it reported a checkpoint at most ``fresh`` ago; plus a tenth of its GPU milli-shares and one
  for each whole core.
- The least cost wins, then the lowest node handle, then the smallest slots in ascending order.
- With no plan, each node is counted at the first rule that, taken together with those before it,
  leaves too little to give back: hardware, closed, protected, priority, run time, depth.
- The search is exact until the steps that :mod:`.cover` allows are spent; then it says so, and only
  then may the compiled twin, which looks at the most promising nodes first, have another plan.
- On one node every choice of devices is tried (whole ones are cleared, a share is made up from
  victims on the device), and :mod:`.cover` supplies what is lacking besides.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from bailiwick.scheduler.engine.bestfit import allowed
from bailiwick.scheduler.engine.cover import INFINITE, STATES_MAX, Cover, CoverPlan, CoverUnit
from bailiwick.scheduler.engine.protocol import (
    CLASS_GUARANTEED,
    CLASS_SPOT,
    FLAG_PINNED,
    FLAG_RESERVED,
    NEVER,
    VictimAnswer,
)
from bailiwick.scheduler.engine.tables import LeaseRecord, NodeRecord, ShapeRecord, bits
from bailiwick.vocab.values import MILLI

if TYPE_CHECKING:
    from bailiwick.scheduler.engine.pure import PureEngine

_HARDWARE, _CLOSED, _PROTECTED, _PRIORITY, _RUN_TIME, _DEPTH, _LEGAL = range(7)


@dataclass(frozen=True, slots=True)
class Query:
    """Who asks, and what protects a lease."""

    shape: ShapeRecord
    evictable: int
    """Bit 4 * class + priority: such leases may be victims."""
    now: int
    run_min: int
    fresh: int
    depth_max: int


def victim_base(lease: LeaseRecord, query: Query) -> int:
    """What the loss of a lease is reckoned at, its size aside."""
    if lease.lease_class == CLASS_SPOT:
        base = 1000 * (1 + lease.priority)
    else:
        base = 10_000 * 4**lease.priority
    if lease.checkpoint != NEVER and query.now - lease.checkpoint <= query.fresh:
        base //= 2
    return base


def size_cost(shape: ShapeRecord) -> int:
    """What its size adds to that."""
    return shape.count * shape.milli // 10 + shape.cpu // 1000


def verdict(lease: LeaseRecord, query: Query) -> int:
    """The first rule that protects the lease, or that none does."""
    if lease.lease_class == CLASS_GUARANTEED or lease.state:
        return _PROTECTED
    if lease.flags & (FLAG_RESERVED | FLAG_PINNED):
        return _PROTECTED
    if not query.evictable >> (4 * lease.lease_class + lease.priority) & 1:
        return _PRIORITY
    if query.now - lease.granted < query.run_min:
        return _RUN_TIME
    return _DEPTH if lease.depth >= query.depth_max else _LEGAL


def below_of(evictable: int) -> int:
    """The least level that no such victim has: spot leases have 0, others their priority."""
    return 3 if evictable >> 6 & 1 else 2 if evictable >> 5 & 1 else int(evictable != 0)


class VictimSearch:
    """One question, asked of every node of an engine."""

    def __init__(self, engine: PureEngine, query: Query) -> None:
        self.engine = engine
        self.query = query
        self.steps = 0
        self.cut_short = False
        self.best: tuple[int, int, list[int]] | None = None
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
            if not self.cut_short and self._sums_suffice(self.engine.nodes[x]):
                self._open(x)
        if self.best is None:
            return self._blocked(set(open_nodes))
        cost, node, slots = self.best
        ids = [self.engine.reuse[slot] << 32 | slot for slot in slots]
        return cost, node, ids, not self.cut_short

    def _could(self, node: NodeRecord) -> bool:
        """Whether the empty machine could take the shape: whole devices, or a share of one."""
        shape, cls = self.query.shape, self.engine.classes[node.cls]
        if cls.cpu < shape.cpu or cls.mem < shape.mem or cls.block < shape.block:
            return False
        if shape.count > 1 and shape.milli < MILLI:
            return False
        return sum(shape.kinds >> kind & 1 for kind in cls.kind) >= shape.count

    def _sums_suffice(self, node: NodeRecord) -> bool:
        """Whether what is free and evictable covers the plain amounts, before a closer look."""
        shape, sums = self.query.shape, node.reclaim[: below_of(self.query.evictable)]
        wanted = ((node.cpu, shape.cpu), (node.mem, shape.mem), (node.block, shape.block))
        return all(free + sum(s[d] for s in sums) >= w for d, (free, w) in enumerate(wanted))

    # -- one node ------------------------------------------------------------------------------

    def _open(self, x: int) -> None:
        """Find the best plan on the node that beats those on the nodes before it."""
        units = [unit for rule, unit in self._units(x) if rule == _LEGAL]
        if not self._fits(x, units):
            return
        for rank, unit in enumerate(sorted(units, key=lambda u: u.slots[0])):
            unit.bit = 1 << (len(units) - 1 - rank)
        plan = CoverPlan(INFINITE if self.best is None else self.best[0] - 1, self.steps)
        self._choose_devices(x, units, plan)
        if plan.thinned and not plan.cut_short:
            plan.width = STATES_MAX
            self._choose_devices(x, units, plan)
        self.steps, self.cut_short = plan.steps, plan.cut_short
        if plan.cost < 0:
            return
        gone = [unit for unit in units if unit.bit & plan.units]
        if plan.cut_short:
            gone = self._put_back(x, gone)
        slots = sorted(slot for unit in gone for slot in unit.slots)
        self.best = (sum(unit.cost for unit in gone), x, slots)

    def _units(self, x: int) -> list[tuple[int, CoverUnit]]:
        """Every unit on the node with the first rule that protects it, newest lease first."""
        engine, query = self.engine, self.query
        found: dict[object, tuple[int, CoverUnit]] = {}
        for slot in reversed(engine.nodes[x].leases):
            lease = engine.leases[slot]
            assert lease is not None
            key = ("gang", lease.gang) if lease.gang >= 0 else slot
            if key not in found:
                members = self.gangs[lease.gang] if lease.gang >= 0 else [lease]
                rule = min(verdict(member, query) for member in members)
                base = sum(victim_base(member, query) for member in members)
                size = sum(size_cost(engine.shapes[member.shape]) for member in members)
                found[key] = rule, CoverUnit(base + size, base)
            _, unit = found[key]
            shape = engine.shapes[lease.shape]
            unit.slots = sorted([*unit.slots, slot])
            for d, amount in enumerate((shape.cpu, shape.mem, shape.block)):
                unit.gives[d] += amount
            for i in bits(lease.devices) if shape.milli else ():
                unit.shares[i] = unit.shares.get(i, 0) + shape.milli
        return list(found.values())

    def _choose_devices(self, x: int, units: list[CoverUnit], plan: CoverPlan) -> None:
        """Every choice of devices leaves one covering problem."""
        node, shape = self.engine.nodes[x], self.query.shape
        kinds = self.engine.classes[node.cls].kind
        lacking = [shape.cpu - node.cpu, shape.mem - node.mem, shape.block - node.block, 0]
        usable = [i for i, kind in enumerate(kinds) if shape.kinds >> kind & 1]
        wanted = shape.count - sum(node.device[i] >= shape.milli for i in usable)
        if wanted <= 0:
            Cover(plan, units, 0, lacking, -1).solve()
            return
        if not Cover(plan, units, 0, lacking, -1).can_win():
            return
        gaps = {i: shape.milli - node.device[i] for i in usable if node.device[i] < shape.milli}
        gaps = {i: g for i, g in gaps.items() if sum(u.shares.get(i, 0) for u in units) >= g}
        if shape.milli < MILLI:
            for i, gap in gaps.items():
                if not plan.cut_short:
                    Cover(plan, units, 0, [*lacking[:3], gap], i).solve()
            return
        for cleared in sorted(combinations(gaps, wanted), key=lambda c: c[::-1]):
            chosen = [unit for unit in units if not unit.shares.keys().isdisjoint(cleared)]
            if sum(unit.cost for unit in chosen) <= plan.limit and not plan.cut_short:
                Cover(plan, units, sum(unit.bit for unit in chosen), lacking, -1).solve()

    def _put_back(self, x: int, gone: list[CoverUnit]) -> list[CoverUnit]:
        """A plan cut short gives up what it does not need, the dearest first."""
        for unit in sorted(gone, key=lambda u: (-u.cost, u.bit)):
            rest = [other for other in gone if other is not unit]
            if self._fits(x, rest):
                gone = rest
        return gone

    def _fits(self, x: int, gone: Iterable[CoverUnit]) -> bool:
        """Whether the shape fits on the node without these units."""
        node, shape = self.engine.nodes[x], self.query.shape
        free = [node.cpu, node.mem, node.block]
        device = list(node.device)
        for unit in gone:
            for d in range(3):
                free[d] += unit.gives[d]
            for i, milli in unit.shares.items():
                device[i] += milli
        if free[0] < shape.cpu or free[1] < shape.mem or free[2] < shape.block:
            return False
        kinds = self.engine.classes[node.cls].kind
        found = (
            milli >= shape.milli and shape.kinds >> kind & 1
            for milli, kind in zip(device, kinds, strict=True)
        )
        return sum(found) >= shape.count

    # -- why not -------------------------------------------------------------------------------

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
