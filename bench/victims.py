"""Victim search: how long it takes, and whether its plans cost what an exhaustive search says.

A fleet is built full of small leases: mixed priorities and classes, GPU shares and whole devices,
young leases, fresh checkpoints, some gangs. Requests that fit nowhere then ask for victims, while
leases come and go between the questions.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from bailiwick.scheduler.engine import new_engine
from bailiwick.scheduler.engine.protocol import BEST_FIT, Engine, LeaseFields, VictimAnswer, traits
from bailiwick.scheduler.rights.eviction_table import evictable_by
from bailiwick.vocab.words import PRIORITIES, LeaseClass
from bench.measure import say
from bench.report import Section, Table

GIB = 2**30
HOUR_MS = 3_600_000
RUN_MIN_MS, FRESH_MS, DEPTH_MAX = 600_000, 300_000, 3
# cpu, mem, block, kinds of device; how many of a hundred machines
MACHINES = [
    ((96_000, 384 * GIB, 4096 * GIB, b""), 40),
    ((128_000, 1024 * GIB, 8192 * GIB, bytes([0] * 8)), 40),
    ((64_000, 512 * GIB, 4096 * GIB, bytes([1] * 4)), 15),
    ((48_000, 256 * GIB, 2048 * GIB, bytes([0, 0, 1, 1])), 5),
]
ALL_KINDS = 3
# parts of a machine that a request asks for
USUAL = [0.02, 0.05, 0.1, 0.25]
HARD = [0.5, 0.75]


@dataclass
class Fleet:
    """An engine full of leases, and what is needed to ask it and to change it."""

    engine: Engine
    rng: random.Random
    now: int
    shapes: dict[tuple[int, ...], int] = field(default_factory=dict)
    rows: list[tuple[int, ...]] = field(default_factory=list)
    leases: list[int] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    machine: list[int] = field(default_factory=list)
    leases_per_node: int = 0
    gang: int = 0

    def shape(self, cpu: int, mem: int, block: int, count: int, milli: int, kinds: int) -> int:
        """The handle of a shape, added when first used."""
        row = (cpu, mem, block, 0, count, milli, kinds, -1)
        if row not in self.shapes:
            self.shapes[row] = self.engine.add_shape(*row)
            self.rows.append(row)
        return self.shapes[row]


def build(nodes: int, leases_per_node: int, seed: int, which: str = "auto") -> Fleet:
    """A fleet of that many nodes, each filled with about so many leases."""
    fleet = Fleet(new_engine(which), random.Random(seed), 24 * HOUR_MS)
    fleet.leases_per_node = leases_per_node
    for machine, _ in MACHINES:
        fleet.engine.add_class(*machine)
    kinds = fleet.rng.choices(range(len(MACHINES)), [w for _, w in MACHINES], k=nodes)
    for kind in kinds:
        x = fleet.engine.add_node(kind)
        fleet.engine.set_eligible(x, 1)
        fleet.nodes.append(x)
        fleet.machine.append(kind)
    order = [x for x in fleet.nodes for _ in range(leases_per_node)]
    fleet.rng.shuffle(order)  # so that one node's leases lie scattered, as after months of use
    for x in order:
        _grant(fleet, x)
    for x in fleet.nodes:
        _top_up(fleet, x)
    return fleet


def _grant(fleet: Fleet, x: int) -> None:
    """One lease of a size such that ``leases_per_node`` of them fill the node."""
    rng = fleet.rng
    (cpu, mem, block, kinds), _ = MACHINES[fleet.machine[x]]
    part = 0.9 / fleet.leases_per_node
    want_cpu = max(250, int(cpu * part * rng.choice([0.25, 0.5, 1, 1, 1, 2])) // 250 * 250)
    want_mem = int(mem * part * rng.choice([0.25, 0.5, 1, 1, 2])) // (GIB // 4) * (GIB // 4)
    want_block = int(block * part * rng.choice([0, 0, 1])) // GIB * GIB
    count, milli = 0, 0
    if kinds and rng.random() < min(0.9, 3 * len(kinds) / fleet.leases_per_node):
        count, milli = rng.choice([(1, 100), (1, 250), (1, 250), (1, 500), (1, 1000), (2, 1000)])
    shape = fleet.shape(want_cpu, want_mem, want_block, count, milli, ALL_KINDS)
    _take(fleet, x, shape, lease_class=rng.choices(range(3), [15, 50, 35])[0])


def _top_up(fleet: Fleet, x: int) -> None:
    """Leave little free: what is left of the cores goes to one more lease or two."""
    for cpu in (16_000, 8_000, 4_000, 2_000, 1_000):
        _take(fleet, x, fleet.shape(cpu, GIB, 0, 0, 0, ALL_KINDS), lease_class=1)


def _take(fleet: Fleet, x: int, shape: int, *, lease_class: int) -> None:
    rng, engine = fleet.rng, fleet.engine
    gang = -1
    if rng.random() < 0.03:
        fleet.gang += rng.random() < 0.25
        gang = fleet.gang
    facts = traits(rng.choices(range(4), [40, 35, 20, 5])[0], lease_class, 0, rng.random() < 0.05)
    granted = fleet.now - rng.randrange(0, 4 * HOUR_MS)
    lease = engine.take(x, shape, 0, facts, granted, fleet.now + 24 * HOUR_MS, gang, -1)
    if lease < 0:
        return
    fleet.leases.append(lease)
    if rng.random() < 0.5:
        checkpoint = fleet.now - rng.randrange(0, HOUR_MS)
        engine.update_lease(lease, 0, 0, 1, fleet.now + 24 * HOUR_MS, checkpoint)


def churn(fleet: Fleet, changes: int) -> None:
    """Some leases end, others begin where they were, and the clock goes on."""
    rng, engine = fleet.rng, fleet.engine
    for _ in range(changes):
        at = rng.randrange(len(fleet.leases))
        fleet.leases[at], fleet.leases[-1] = fleet.leases[-1], fleet.leases[at]
        lease = fleet.leases.pop()
        found = engine.lease(lease)
        assert found is not None
        fields = LeaseFields._make(found)
        engine.release(lease)
        _take(fleet, fields.node, fields.shape, lease_class=fields.lease_class)
    fleet.now += rng.randrange(1000)


def ask(fleet: Fleet, parts: list[float]) -> tuple[int, int]:
    """A shape of about such a part of a machine that fits nowhere, and whom it may evict."""
    rng = fleet.rng
    while True:
        (cpu, mem, _, kinds), _ = MACHINES[rng.choices(range(4), [w for _, w in MACHINES])[0]]
        part = rng.choice(parts)
        count, milli = 0, 0
        if kinds:
            options = [(1, 250), (1, 500), (1, 900), *((n, 1000) for n in (1, 2, 4, 8))]
            count, milli = rng.choice([o for o in options if o[0] <= len(kinds)])
        wanted = rng.choice([ALL_KINDS, 1, 2])
        amounts = int(cpu * part) // 500 * 500, int(mem * part * rng.choice([0, 0.5, 1]))
        shape = fleet.shape(*amounts, 0, count, milli, wanted)
        if fleet.engine.find(BEST_FIT, shape, None) < 0:
            return shape, evictable_by(LeaseClass.STANDARD, PRIORITIES[rng.choice([1, 2, 3])])


def search(fleet: Fleet, shape: int, evictable: int) -> VictimAnswer:
    """The question every row asks."""
    terms = (fleet.now, RUN_MIN_MS, FRESH_MS, DEPTH_MAX)
    return fleet.engine.find_victims(shape, evictable, *terms, None, -1)


def measure(fleet: Fleet, *, parts: list[float], asks: int) -> dict[str, float]:
    """Milliseconds of CPU per search while leases come and go; the index is warm."""
    search(fleet, *ask(fleet, parts))
    times: list[float] = []
    found = exact = 0
    for _ in range(asks):
        churn(fleet, 20)
        shape, evictable = ask(fleet, parts)
        start = time.thread_time_ns()
        answer = search(fleet, shape, evictable)
        times.append((time.thread_time_ns() - start) / 1e6)
        if len(answer) == 4:
            found += 1
            exact += answer[3]
    times.sort()
    return {
        "p50_ms": statistics.median(times),
        "p90_ms": times[int(0.9 * asks)],
        "p99_ms": times[int(0.99 * asks)],
        "found": found / asks,
        "exact": exact / max(1, found),
    }


def cost_ratio(seed: int, *, asks: int) -> float:
    """The dearest plan of the compiled search against the pure engine's, on a small fleet."""
    twins = [build(12, 8, seed, which) for which in ("compiled", "pure")]
    worst = 1.0
    for _ in range(asks):
        answers = []
        for fleet in twins:
            churn(fleet, 3)
            answers.append(search(fleet, *ask(fleet, USUAL)))
        if len(answers[0]) == 4 and len(answers[1]) == 4 and answers[1][0]:
            worst = max(worst, answers[0][0] / answers[1][0])
    return worst


Held = list[tuple[int, int, tuple[int, int, int], int, int]]
"""Of one node: cost, slot, amounts, devices and milli of each lease that may be evicted."""


def held_by_node(fleet: Fleet, evictable: int) -> list[Held]:
    """What the plain heuristic needs to know, gathered before its clock starts."""
    rows = {handle: row for row, handle in fleet.shapes.items()}
    nodes: list[Held] = []
    for x in fleet.nodes:
        held: Held = []
        for lease in fleet.engine.leases_on(x):
            fields = fleet.engine.lease(lease)
            if fields is None:
                continue
            _, _, shape, _, devices, rank, lease_class, *_ = fields
            if not evictable >> (4 * lease_class + rank) & 1:
                continue
            row = rows[shape]
            base = 1000 * (1 + rank) if lease_class == 2 else 10_000 * 4**rank
            cost = base + row[4] * row[5] // 10 + row[0] // 1000
            held.append((cost, lease, (row[0], row[1], row[2]), devices, row[5]))
        nodes.append(sorted(held, reverse=True))
    return nodes


def plain_heuristic(fleet: Fleet, shape: int, nodes: list[Held]) -> int:
    """Per node: drop all who may go, put back the dearest first while the request still fits."""
    want = next(row for row, handle in fleet.shapes.items() if handle == shape)
    best = -1
    for x, held in zip(fleet.nodes, nodes, strict=True):
        _, _, cpu, mem, block, devices, _ = fleet.engine.node(x)
        kinds = MACHINES[fleet.machine[x]][0][3]
        free, device = [cpu, mem, block], list(devices)
        for _, _, amounts, bits, milli in held:
            _give(free, device, amounts, bits, milli)
        if not _fits(want, free, device, kinds):
            continue
        cost = 0
        for each, _, amounts, bits, milli in held:
            _give(free, device, [-a for a in amounts], bits, -milli)
            if not _fits(want, free, device, kinds):
                _give(free, device, amounts, bits, milli)
                cost += each
        best = cost if best < 0 or cost < best else best
    return best


def _give(
    free: list[int], device: list[int], amounts: Sequence[int], bits: int, milli: int
) -> None:
    for d, amount in enumerate(amounts):
        free[d] += amount
    for i in range(len(device)):
        if bits >> i & 1:
            device[i] += milli


def _fits(want: tuple[int, ...], free: list[int], device: list[int], kinds: bytes) -> bool:
    if free[0] < want[0] or free[1] < want[1] or free[2] < want[2]:
        return False
    usable = sum(d >= want[5] and want[6] >> k & 1 for d, k in zip(device, kinds, strict=True))
    return usable >= want[4]


def run(*, quick: bool = False) -> Section:
    """The section: usual and hard requests on large fleets, and the plain heuristic beside it."""
    section = Section("victims", "Victim search")
    table = Table(
        "milliseconds of CPU per search, leases coming and going",
        ["fleet", "requests", "p50", "p90", "p99", "found", "surely cheapest"],
    )
    section.tables.append(table)
    nodes, asks = (1000, 60) if quick else (10_000, 400)
    for leases in (11, 100):
        fleet = build(nodes, leases, seed=1)
        count = fleet.engine.counters()["leases"]
        for words, parts in (("usual", USUAL), ("hard", HARD)):
            say(f"victims: {nodes} nodes, {count} leases, {words} requests")
            found = measure(fleet, parts=parts, asks=asks)
            ms = [f"{found[p]:.2f}" for p in ("p50_ms", "p90_ms", "p99_ms")]
            shares = [f"{found['found']:.0%}", f"{found['exact']:.1%}"]
            table.rows.append([f"{nodes:,} nodes, {count:,} leases", words, *ms, *shares])
            section.data[f"{leases} leases a node, {words}"] = found
            if leases == 100 and words == "usual" and not quick:
                section.bar_at_most("p99 with a million leases", found["p99_ms"], 5, unit=" ms")
        if leases == 11:
            _beside_plain(section, fleet)
    section.bar_at_most("cost against the pure search", cost_ratio(3, asks=60), 1.0)
    section.notes.append(
        "usual: up to 8 GPUs and a quarter of a machine; hard: up to three quarters of a machine, "
        "where dozens of small leases must go and the search is longest."
    )
    return section


def _beside_plain(section: Section, fleet: Fleet) -> None:
    """The common heuristic in plain Python, on the same fleet and requests."""
    plain: list[float] = []
    ours: list[float] = []
    for _ in range(3):
        shape, evictable = ask(fleet, USUAL)
        nodes = held_by_node(fleet, evictable)
        start = time.thread_time()
        plain_heuristic(fleet, shape, nodes)
        plain.append(time.thread_time() - start)
        start = time.thread_time()
        search(fleet, shape, evictable)
        ours.append(time.thread_time() - start)
    ratio = statistics.median(plain) / statistics.median(ours)
    section.bar_at_least("against the plain heuristic", ratio, 100)
    section.data["plain_heuristic_ms"] = 1000 * statistics.median(plain)
