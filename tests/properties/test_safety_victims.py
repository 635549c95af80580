"""The victim search on the engine's integers, against every subset of leases on tiny clusters.

Safety: the plan costs what the cheapest subset costs and is the first of those; no victim is
forbidden; without the victims the shape really fits; no unit is superfluous; and where there is no
plan, each node is counted at the rule that blocks it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from bailiwick.scheduler.engine import has_compiled, new_engine
from bailiwick.scheduler.engine.protocol import (
    FLAG_ON_BUDGET,
    FLAG_PINNED,
    FLAG_RESERVED,
    NEVER,
    Engine,
    LeaseFields,
    traits,
)
from bailiwick.scheduler.rights.eviction_table import evictable_by
from bailiwick.vocab.words import PRIORITIES, LeaseClass

ENGINES = ["pure", *(["compiled"] if has_compiled() else [])]
NOW = 1000
PROTECTED, PRIORITY, RUN_TIME, DEPTH, LEGAL = range(2, 7)

# cpu, mem, block, kinds of device
CLASSES = [
    (4000, 8, 8, b""),
    (6000, 8, 0, bytes([0, 0])),
    (6000, 12, 8, bytes([0, 1, 1])),
    (8000, 8, 8, bytes([0] * 4)),
]
Shape = tuple[int, int, int, int, int, int, int, int]
Terms = tuple[int, int, int, int, int]
Answer = tuple[object, ...]


@st.composite
def shapes(draw: st.DrawFn, cpu: int, mem: int) -> Shape:
    count, milli = draw(
        st.sampled_from([(0, 0)] * 3 + [(1, 100), (1, 400), (1, 500), (1, 700)])
        | st.sampled_from([(1, 1000), (1, 1000), (2, 1000), (3, 1000)])
    )
    amounts = (
        draw(st.integers(0, cpu // 250)) * 250,
        draw(st.integers(0, mem)),
        draw(st.sampled_from([0, 0, 0, 1, 2])),
    )
    return *amounts, 0, count, milli, draw(st.sampled_from([3, 3, 1, 2])), -1


@dataclass
class Cluster:
    """One engine, and beside it all that was put in."""

    engine: Engine
    shapes: list[Shape]
    nodes: dict[int, int] = field(default_factory=dict)

    def leases(self) -> dict[int, LeaseFields]:
        found = {}
        for x in self.nodes:
            for lease in self.engine.leases_on(x):
                fields = self.engine.lease(lease)
                assert fields is not None
                found[lease] = fields
        return found


def by(rank: int, lease_class: LeaseClass = LeaseClass.STANDARD) -> int:
    """Whom a request of such a priority and class may evict."""
    return evictable_by(lease_class, PRIORITIES[rank])


leases = st.tuples(
    st.integers(0, 3),  # node
    st.integers(0, 5),  # shape
    st.sampled_from([0, 0, 0, 1, 1, 2, 3]),  # priority
    st.sampled_from([0, 1, 1, 1, 2, 2, 2]),  # class
    st.sampled_from([0] * 9 + [FLAG_RESERVED, FLAG_ON_BUDGET, FLAG_PINNED]),
    st.sampled_from([0, 0, 0, 1, 2]),  # depth
    st.sampled_from([0, NOW - 50, NOW - 5, NOW]),  # granted
    st.sampled_from([-1] * 6 + [1, 2]),  # gang
    st.sampled_from([None, None, (0, NEVER), (0, NOW - 40), (0, NOW - 41), (1, NOW - 1)]),
)


@st.composite
def clusters(draw: st.DrawFn, which: str) -> Cluster:
    small = draw(st.lists(shapes(cpu=2000, mem=3), min_size=1, max_size=6))
    large = draw(shapes(cpu=6000, mem=8))
    cluster = Cluster(new_engine(which), [*small, large])
    engine = cluster.engine
    for cls in CLASSES:
        engine.add_class(*cls)
    for cls in draw(st.lists(st.integers(0, len(CLASSES) - 1), min_size=1, max_size=3)):
        x = engine.add_node(cls)
        engine.set_eligible(x, 1)
        cluster.nodes[x] = cls
    for shape in cluster.shapes:
        engine.add_shape(*shape)
    for row in draw(st.lists(leases, max_size=10)):
        x, shape_index, priority, lease_class, flags, depth, granted, gang, update = row
        facts = traits(priority, lease_class, flags, depth)
        x, shape_index = x % len(cluster.nodes), shape_index % len(small)
        lease = engine.take(x, shape_index, 0, facts, granted, NOW + 9, gang, -1)
        if lease >= 0 and update is not None:
            engine.update_lease(lease, update[0], flags, 1, NOW + 9, update[1])
    for x in cluster.nodes:
        engine.set_eligible(x, draw(st.sampled_from([1, 1, 1, 1, 1, 0])))
    return cluster


# evictable, now, run_min, fresh, depth_max
terms = st.tuples(
    st.builds(by, st.sampled_from([1, 2, 2, 3, 3, 3, 0]), st.sampled_from(list(LeaseClass))),
    st.just(NOW),
    st.sampled_from([0, 0, 5, 50]),
    st.sampled_from([0, 40]),
    st.sampled_from([9, 9, 1, 2]),
)


def rule_of(lease: LeaseFields, asked: Terms) -> int:
    _, _, _, _, _, priority, lease_class, state, flags, depth, _, granted, _, _ = lease
    evictable, now, run_min, _, depth_max = asked
    if lease_class == 0 or state or flags & (FLAG_RESERVED | FLAG_PINNED):
        return PROTECTED
    if not evictable >> (4 * lease_class + priority) & 1:
        return PRIORITY
    if now - granted < run_min:
        return RUN_TIME
    return LEGAL if depth < depth_max else DEPTH


def cost_of(lease: LeaseFields, shape: Shape, asked: Terms) -> int:
    priority, lease_class, checkpoint = lease[5], lease[6], lease[13]
    base = 1000 * (1 + priority) if lease_class == 2 else 10_000 * 4**priority
    if checkpoint != NEVER and asked[1] - checkpoint <= asked[3]:
        base //= 2
    return base + shape[4] * shape[5] // 10 + shape[0] // 1000


def fits(cluster: Cluster, x: int, shape: Shape, gone: list[LeaseFields]) -> bool:
    """Whether the shape fits on the node without those leases, eligible or not."""
    _, _, cpu, mem, block, devices, _ = cluster.engine.node(x)
    free = list(devices)
    for lease in gone:
        held = cluster.shapes[lease[2]]
        cpu, mem, block = cpu + held[0], mem + held[1], block + held[2]
        for i in range(len(free)):
            free[i] += held[5] * (lease[4] >> i & 1)
    kinds = CLASSES[cluster.nodes[x]][3]
    found = sum(f >= shape[5] and shape[6] >> k & 1 for f, k in zip(free, kinds, strict=True))
    return cpu >= shape[0] and mem >= shape[1] and block >= shape[2] and found >= shape[4]


def units_on(cluster: Cluster, x: int, asked: Terms) -> list[tuple[int, int, list[int]]]:
    """The rule that protects it, the cost and the lease ids of every unit on the node."""
    everything = cluster.leases()
    units: dict[object, list[int]] = {}
    for lease in cluster.engine.leases_on(x):
        gang = everything[lease][3]
        units.setdefault(("gang", gang) if gang >= 0 else lease, []).append(lease)
    found = []
    for ids in units.values():
        gang = everything[ids[0]][3]
        members = [le for i, le in everything.items() if i in ids or (gang >= 0 and le[3] == gang)]
        rule = min(rule_of(member, asked) for member in members)
        cost = sum(cost_of(member, cluster.shapes[member[2]], asked) for member in members)
        found.append((rule, cost, ids))
    return found


def by_brute_force(
    cluster: Cluster, index: int, asked: Terms, mask: bytearray | None, exclude: int
) -> Answer:
    shape, everything = cluster.shapes[index], cluster.leases()
    best: tuple[int, int, list[int]] | None = None
    counts = [0] * 6
    for x, cls in cluster.nodes.items():
        cpu, mem, block, kinds = CLASSES[cls]
        if cpu < shape[0] or mem < shape[1] or block < shape[2]:
            counts[0] += 1
            continue
        if sum(shape[6] >> kind & 1 for kind in kinds) < shape[4]:
            counts[0] += 1
            continue
        masked = mask is not None and not mask[x >> 3] >> (x & 7) & 1
        if masked or x == exclude or not cluster.engine.node(x)[1]:
            counts[1] += 1
            continue
        units = units_on(cluster, x, asked)
        legal = [(cost, ids) for rule, cost, ids in units if rule == LEGAL]
        for count in range(len(legal) + 1):
            for chosen in combinations(legal, count):
                ids = sorted((i for _, some in chosen for i in some), key=lambda i: i & 0xFFFFFFFF)
                plan = (sum(cost for cost, _ in chosen), x, ids)
                if best is None or _order(plan) < _order(best):
                    gone = [everything[i] for i in ids]
                    best = plan if fits(cluster, x, shape, gone) else best
        for rule in range(PROTECTED, LEGAL):
            gone = [everything[i] for r, _, ids in units if r > rule for i in ids]
            if not fits(cluster, x, shape, gone):
                counts[rule] += 1
                break
    return (*best, True) if best is not None else tuple(counts)


def _order(plan: tuple[int, int, list[int]]) -> tuple[int, int, list[int]]:
    return plan[0], plan[1], [i & 0xFFFFFFFF for i in plan[2]]


def find(
    cluster: Cluster, index: int, asked: Terms, mask: bytearray | None, exclude: int
) -> Answer:
    return cluster.engine.find_victims(index, *asked, mask, exclude)


MASKS = st.none() | st.none() | st.binary(min_size=1, max_size=1).map(bytearray)


@pytest.mark.parametrize("which", ENGINES)
@given(st.data())
def test_the_plan_and_the_reasons_are_those_of_brute_force(which: str, data: st.DataObject) -> None:
    cluster = data.draw(clusters(which))
    index = len(cluster.shapes) - 1
    asked = data.draw(terms)
    mask, exclude = data.draw(MASKS), data.draw(st.sampled_from([-1, -1, 0]))
    found = find(cluster, index, asked, mask, exclude)
    event("plan" if len(found) == 4 else "no plan")
    assert found == by_brute_force(cluster, index, asked, mask, exclude)


@pytest.mark.parametrize("which", ENGINES)
@given(st.data())
def test_victims_are_allowed_and_needed_and_then_the_shape_fits(
    which: str, data: st.DataObject
) -> None:
    cluster = data.draw(clusters(which))
    index, asked = len(cluster.shapes) - 1, data.draw(terms)
    everything, engine = cluster.leases(), cluster.engine
    found = engine.find_victims(index, *asked, None, -1)
    assert cluster.leases() == everything, "searching changed something"
    if len(found) != 4:
        return
    cost, x, ids, exact = found
    assert exact
    slots = [i & 0xFFFFFFFF for i in ids]
    assert slots == sorted(set(slots))
    chosen = [unit for unit in units_on(cluster, x, asked) if unit[2][0] in ids]
    assert sorted(i for unit in chosen for i in unit[2]) == sorted(ids)
    assert all(rule == LEGAL for rule, _, _ in chosen)
    assert cost == sum(unit[1] for unit in chosen)
    for _, _, some in chosen:
        fewer = [everything[i] for i in ids if i not in some]
        assert not fits(cluster, x, cluster.shapes[index], fewer)
    for lease in ids:
        engine.release(lease)
    assert engine.take(x, index, 0, traits(3, 1), NOW, NOW + 9, -1, -1) >= 0


@pytest.mark.parametrize("which", ENGINES)
@given(st.data())
def test_a_search_knows_what_changed_since_the_last_one(which: str, data: st.DataObject) -> None:
    cluster = data.draw(clusters(which))
    engine, index = cluster.engine, len(cluster.shapes) - 1
    below, now, *rest = data.draw(terms)
    for _ in range(data.draw(st.integers(1, 6))):
        engine.find_victims(index, below, now, *rest, None, -1)
        held = list(cluster.leases())
        match data.draw(st.integers(0, 3)) if held else 3:
            case 0:
                engine.release(data.draw(st.sampled_from(held)))
            case 1:
                checkpoint = data.draw(st.sampled_from([NEVER, now, now - 39]))
                engine.update_lease(data.draw(st.sampled_from(held)), 0, 0, 1, NOW + 9, checkpoint)
            case 2:
                engine.update_lease(data.draw(st.sampled_from(held)), 1, 0, 1, NOW + 9, NEVER)
            case _:
                x, shape = data.draw(st.sampled_from(list(cluster.nodes))), 0
                facts = traits(0, data.draw(st.sampled_from([1, 2])))
                engine.take(x, shape, 0, facts, now, NOW + 9, -1, -1)
        now += data.draw(st.sampled_from([0, 1, 5, 45]))
    asked = (below, now, *rest)
    assert find(cluster, index, asked, None, -1) == by_brute_force(cluster, index, asked, None, -1)


@pytest.mark.parametrize("which", ENGINES)
def test_a_node_that_became_cheaper_is_not_passed_over(which: str) -> None:
    """What is remembered of a node may only ever be too low."""
    engine = new_engine(which)
    engine.add_class(64_000, 0, 0, bytes([0, 0]))
    for _ in range(2):
        engine.set_eligible(engine.add_node(0), 1)
    half = engine.add_shape(1000, 0, 0, 0, 1, 500, 1, -1)
    pair = engine.add_shape(1000, 0, 0, 0, 2, 1000, 1, -1)
    one = engine.add_shape(1000, 0, 0, 0, 1, 1000, 1, -1)
    spot, standard = traits(0, 2), traits(0, 1)
    dear = [engine.take(0, half, 0, standard, 0, NOW, -1, 1) for _ in range(2)]
    kept = engine.take(0, half, 0, spot, 0, NOW, -1, 2)
    engine.take(0, half, 0, standard, 0, NOW, -1, 2)
    cheap = engine.take(1, pair, 0, standard, 0, NOW, -1, -1)
    ask = (one, by(1), NOW, 0, 10, 9, None, -1)
    assert engine.find_victims(*ask) == (10_201, 1, [cheap], True)
    engine.release(dear[0])  # one of two on its device: the other alone is now cheaper
    assert engine.find_victims(*ask) == (10_051, 0, [dear[1]], True)
    engine.update_lease(cheap, 0, 0, 1, NOW, NOW)  # a fresh checkpoint halves its base
    assert engine.find_victims(*ask) == (5_201, 1, [cheap], True)
    engine.release(dear[1])
    assert engine.find_victims(*ask) == (0, 0, [], True)
    blocker = engine.take(0, one, 0, spot, NOW, NOW, -1, 1)
    assert engine.find_victims(*ask) == (1_101, 0, [blocker], True)
    assert engine.lease(kept) is not None


@pytest.mark.parametrize("which", ENGINES)
def test_a_lease_becomes_a_victim_when_it_has_run_long_enough(which: str) -> None:
    engine = new_engine(which)
    engine.add_class(4000, 0, 0, b"")
    engine.set_eligible(engine.add_node(0), 1)
    whole = engine.add_shape(4000, 0, 0, 0, 0, 0, 1, -1)
    quarter = engine.add_shape(250, 0, 0, 0, 0, 0, 1, -1)
    ids = [engine.take(0, quarter, 0, traits(0, 2), i, NOW, -1, -1) for i in range(16)]
    for now in range(100, 115):
        assert engine.find_victims(whole, by(1), now, 100, 0, 9, None, -1) == (0, 0, 0, 0, 1, 0)
    assert engine.find_victims(whole, by(1), 115, 100, 0, 9, None, -1) == (16_000, 0, ids, True)
    assert engine.find_victims(whole, by(1), 114, 100, 0, 9, None, -1) == (0, 0, 0, 0, 1, 0)
    assert engine.find_victims(quarter, by(1), 104, 100, 0, 9, None, -1) == (1000, 0, ids[:1], True)


@pytest.mark.parametrize("which", ENGINES)
def test_questions_that_make_no_sense_are_refused(which: str) -> None:
    engine = new_engine(which)
    engine.add_class(*CLASSES[0])
    for _ in range(9):
        engine.add_node(0)
    shape = engine.add_shape(1000, 0, 0, 0, 0, 0, 1, -1)
    with pytest.raises(IndexError):
        engine.find_victims(shape + 1, by(1), 0, 0, 0, 9, None, -1)
    for evictable in (-1, 1, 1 << 7, 1 << 12):
        with pytest.raises(IndexError):
            engine.find_victims(shape, evictable, 0, 0, 0, 9, None, -1)
    with pytest.raises(ValueError, match="mask"):
        engine.find_victims(shape, by(1), 0, 0, 0, 9, bytearray(1), -1)


@pytest.mark.parametrize("which", ENGINES)
def test_times_at_the_ends_of_their_range_do_not_overflow(which: str) -> None:
    engine = new_engine(which)
    engine.add_class(*CLASSES[0])
    engine.set_eligible(engine.add_node(0), 1)
    shape = engine.add_shape(4000, 0, 0, 0, 0, 0, 1, -1)
    lease = engine.take(0, shape, 0, traits(0, 2), 0, NOW, -1, -1)
    most = 2**63 - 1
    assert engine.find_victims(shape, by(1), 0, 0, most, 9, None, -1) == (1004, 0, [lease], True)
    assert engine.find_victims(shape, by(1), 0, most, 0, 9, None, -1) == (0, 0, 0, 0, 1, 0)
    assert engine.find_victims(shape, by(1), -most, 0, most, 9, None, -1) == (0, 0, 0, 0, 1, 0)
    engine.update_lease(lease, 0, 0, 1, NOW, most)
    assert engine.find_victims(shape, by(1), 0, 0, most, 9, None, -1) == (504, 0, [lease], True)
    assert engine.find_victims(shape, by(1), most, 0, 0, 9, None, -1) == (504, 0, [lease], True)
