"""Victims for a gang: the cheapest leases whose end makes room for all members at once.

Members are equal, so how many of them fit on a node follows from its free amounts alone, and the
nodes are independent of each other. Rules:

- Up to ``UNITS_EXACT`` evictable units every subset is tried: the result is the cheapest.
- Beyond that two searches run and the cheaper wins: the engine's exact single-node search, asked
  for one distinct node per missing member, and on fleets of up to ``NODES_GREEDY`` nodes a greedy
  search that may put several members on one node. ``exact`` is then False.
- Nothing changes; the ledger's numbers are copied into a shadow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

from bailiwick.scheduler.handles import Prepared, Shape
from bailiwick.scheduler.lease import Lease
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.victim_cost import BlockedNodes, VictimTerms, lease_cost, may_be_victim
from bailiwick.vocab.values import MILLI

UNITS_EXACT = 12
NODES_GREEDY = 256


@dataclass(frozen=True, slots=True)
class GangVictims:
    """Leases to end for a gang, their cost, and whether no cheaper set exists for sure."""

    lease_ids: tuple[int, ...]
    cost: int
    exact: bool


@dataclass(slots=True)
class ShadowNode:
    """Free amounts of one suitable node; devices that cannot serve the shape are left out."""

    cpu: int
    mem: int
    block: int
    devices: dict[int, int]

    def give_back(self, lease: Lease) -> None:
        """As if the lease had ended."""
        self.cpu += lease.resources.cpu_milli
        self.mem += lease.resources.mem_bytes
        self.block += lease.resources.block_bytes
        for index in lease.devices:
            if index in self.devices:
                self.devices[index] += lease.resources.gpu_milli // len(lease.devices)

    def copy(self) -> ShadowNode:
        """The same amounts, to be changed apart."""
        return ShadowNode(self.cpu, self.mem, self.block, dict(self.devices))

    def members(self, shape: Shape) -> int:
        """How many members of this shape fit here."""
        most = 1 << 30
        for have, need in (
            (self.cpu, shape.cpu_milli),
            (self.mem, shape.mem_bytes),
            (self.block, shape.block_bytes),
        ):
            if need:
                most = min(most, have // need)
        if shape.device_count and shape.device_milli == MILLI:
            whole = sum(free == MILLI for free in self.devices.values())
            most = min(most, whole // shape.device_count)
        elif shape.device_count:
            most = min(most, sum(free // shape.device_milli for free in self.devices.values()))
        return most


@dataclass(slots=True, eq=False)
class EvictionUnit:
    """A lease, or a whole gang: what goes together, and what its loss is reckoned at."""

    leases: tuple[Lease, ...]
    cost: int


@dataclass(slots=True)
class Shadow:
    """Suitable nodes as they would be without some units."""

    shape: Shape
    nodes: dict[str, ShadowNode] = field(default_factory=dict)

    def without(self, units: Sequence[EvictionUnit]) -> Shadow:
        """A shadow in which these units have ended."""
        after = Shadow(self.shape, dict(self.nodes))
        touched: set[str] = set()
        for lease in (le for unit in units for le in unit.leases):
            if lease.node not in after.nodes:
                continue
            if lease.node not in touched:
                after.nodes[lease.node] = after.nodes[lease.node].copy()
                touched.add(lease.node)
            after.nodes[lease.node].give_back(lease)
        return after

    def members(self) -> int:
        """How many members fit on all nodes together."""
        return sum(node.members(self.shape) for node in self.nodes.values())


def find_gang_victims(
    ledger: CapacityLedger, ready: Prepared, *, terms: VictimTerms
) -> GangVictims | None:
    """The cheapest set found for all members of the prepared request, or ``None``."""
    size = ready.request.gang_size
    shadow = _shadow(ledger, ready)
    if shadow.members() >= size:
        return GangVictims((), 0, True)
    if len(shadow.nodes) > NODES_GREEDY:
        return _one_per_node(ledger, ready, terms, shadow=shadow)
    units = _units(ledger, shadow, ready, terms=terms)
    if shadow.without(units).members() < size:
        return None
    if len(units) <= UNITS_EXACT:
        return _exhaustive(shadow, units, size)
    options = [_greedy(shadow, units, size), _one_per_node(ledger, ready, terms, shadow=shadow)]
    return min((o for o in options if o is not None), key=lambda o: o.cost)


def _shadow(ledger: CapacityLedger, ready: Prepared) -> Shadow:
    shape = Shape.of(ready.request)
    mask = ledger.mask_of(ready)
    shadow = Shadow(shape)
    for entry in ledger.entries.values():
        handle = entry.handle
        serving = ledger.serving(entry, shape)
        if not entry.takes_leases or len(serving) < shape.device_count:
            continue
        if mask is not None and not mask[handle >> 3] >> (handle & 7) & 1:
            continue
        _, _, cpu, mem, block, devices, _ = ledger.engine.node(handle)
        shadow.nodes[entry.id] = ShadowNode(cpu, mem, block, {i: devices[i] for i in serving})
    return shadow


def _units(
    ledger: CapacityLedger, shadow: Shadow, ready: Prepared, *, terms: VictimTerms
) -> list[EvictionUnit]:
    units: list[EvictionUnit] = []
    seen: set[int] = set()
    for node in shadow.nodes:
        for lease in ledger.leases(node=node):
            if lease.id in seen:
                continue
            leases = tuple(ledger.lease(i) for i in ledger.with_gangs([lease.id]))
            seen.update(le.id for le in leases)
            if all(may_be_victim(le, terms, by=ready.request) for le in leases):
                units.append(EvictionUnit(leases, sum(lease_cost(le, terms) for le in leases)))
    return sorted(units, key=lambda u: (u.cost, u.leases[0].id))


def _result(units: Sequence[EvictionUnit], *, exact: bool) -> GangVictims:
    ids = sorted(le.id for unit in units for le in unit.leases)
    return GangVictims(tuple(ids), sum(unit.cost for unit in units), exact)


def _exhaustive(shadow: Shadow, units: list[EvictionUnit], size: int) -> GangVictims:
    best: tuple[EvictionUnit, ...] = tuple(units)
    best_cost = sum(unit.cost for unit in units)
    for count in range(1, len(units)):
        if sum(unit.cost for unit in units[:count]) >= best_cost:
            break  # units are sorted by cost: no set of this many can be cheaper
        for chosen in combinations(units, count):
            cost = sum(unit.cost for unit in chosen)
            if cost < best_cost and shadow.without(chosen).members() >= size:
                best, best_cost = chosen, cost
    return _result(best, exact=True)


def _greedy(shadow: Shadow, units: list[EvictionUnit], size: int) -> GangVictims:
    """Add the cheapest step that seats one more member; then put back what is not needed."""
    chosen: list[EvictionUnit] = []
    now = shadow
    for _ in range(size):
        if now.members() >= size:
            break
        steps = [_step(now, units, chosen, node=node) for node in now.nodes]
        step = min((s for s in steps if s), key=lambda s: sum(u.cost for u in s), default=None)
        if step is None:
            break
        chosen.extend(step)
        now = shadow.without(chosen)
    if now.members() < size:  # no node seats one more on its own: gangs must go together
        chosen = list(units)
    for unit in sorted(chosen, key=lambda u: -u.cost):
        rest = [u for u in chosen if u is not unit]
        if shadow.without(rest).members() >= size:
            chosen = rest
    return _result(chosen, exact=False)


def _step(
    now: Shadow, units: list[EvictionUnit], chosen: list[EvictionUnit], *, node: str
) -> list[EvictionUnit]:
    """The units to end so that this node seats one member more, or none if it cannot."""
    alone = Shadow(now.shape, {node: now.nodes[node]})
    wanted = alone.members() + 1
    step: list[EvictionUnit] = []
    for unit in units:
        if unit in chosen or all(le.node != node for le in unit.leases):
            continue
        step.append(unit)
        if alone.without(step).members() >= wanted:
            break
    if alone.without(step).members() < wanted:
        return []
    for unit in sorted(step, key=lambda u: -u.cost):
        rest = [u for u in step if u is not unit]
        if alone.without(rest).members() >= wanted:
            step = rest
    return step


def _one_per_node(
    ledger: CapacityLedger, ready: Prepared, terms: VictimTerms, *, shadow: Shadow
) -> GangVictims | None:
    """One distinct node per missing member, each found exactly by the engine."""
    free = {name: node.members(shadow.shape) for name, node in shadow.nodes.items()}
    missing = ready.request.gang_size - sum(free.values())
    open_nodes = ledger.node_set(name for name, members in free.items() if not members)
    wanted: dict[int, None] = {}
    try:
        for _ in range(missing):
            plan = ledger.search_victims(ready, terms, mask=open_nodes.bits)
            if isinstance(plan, BlockedNodes):
                return None
            open_nodes.discard(plan.node)
            wanted.update(dict.fromkeys(ledger.with_gangs(plan.lease_ids)))
    finally:
        ledger.node_sets.remove(open_nodes)
    cost = sum(lease_cost(ledger.lease(i), terms) for i in wanted)
    return GangVictims(tuple(sorted(wanted)), cost, False)
