"""The hot path with the default strategy, fragmentation aware, on fleets from our own generator.

Fleets and requests are those of :mod:`bench.lists` (150 shapes, shares of GPUs among them), with
256 tenants under quota, a tenth of the requests held to a zone by a label, and 1 % of the nodes
closed. Rows:

- *filling*: from the empty fleet until 93 % of its GPU capacity has been asked for; the mean over
  all decisions, learning included.
- *steady*: place one, release one random lease, on the fleet so filled.
- *batch*, *admit*: as for best fit.
- *one-off*: requests no other request equals. Nothing is cached for them, so each costs one pass.
- *plain pass*: the same decision by scoring every node in the readable engine; the reference.
- *pure twin*: the readable engine with its caches, warm. Only at the smallest size: warming the
  caches of a large fleet in Python takes longer than this whole bench.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from time import thread_time
from typing import TYPE_CHECKING, cast

from bailiwick import (
    AdmissionController,
    CapacityLedger,
    PlacementRequest,
    PlacementScorer,
    Quota,
    QuotaManager,
    ResourceLimit,
    Strategy,
    TenantId,
)
from bench.drive import BLOCK, Driver, is_pure
from bench.lists import make_nodes, make_pods
from bench.measure import Sample, Tally, in_blocks, no_collection, say
from bench.report import Bar, Section, Table
from bench.workload import TENANTS, ZONES

if TYPE_CHECKING:
    from bailiwick.scheduler.engine.pure import PureEngine

CODE = PlacementScorer(Strategy.FRAGMENTATION_AWARE).code
SIZES = (1_200, 10_000, 100_000)
QUICK_SIZES = (1_200,)
ASKED = 0.93
LAB_US = {1_200: 9, 10_000: 15, 100_000: 24}
PLAIN_CALLS = {1_200: 40, 10_000: 10, 100_000: 3}

_PODS = make_pods(4000, seed=7)
_TENANTS = [TenantId(f"tenant-{i}") for i in range(TENANTS)]


@dataclass(slots=True)
class Requests:
    """An endless stream in which equal requests are one object."""

    seed: int
    labelled: float = 0.1
    kept: dict[tuple[object, ...], PlacementRequest] = field(default_factory=dict)

    def __iter__(self) -> Iterator[PlacementRequest]:
        rng = random.Random(self.seed)
        while True:
            tenant = rng.randrange(TENANTS)
            zone = rng.randrange(ZONES) if rng.random() < self.labelled else -1
            key = (rng.choice(_PODS), tenant, zone)
            if key not in self.kept:
                labels = {"zone": f"zone-{zone}"} if zone >= 0 else {}
                self.kept[key] = replace(key[0].request(), tenant=_TENANTS[tenant], labels=labels)
            yield self.kept[key]


def empty_fleet(nodes: int, engine: str) -> CapacityLedger:
    """The fleet without a lease; every shape is known, so that twins number them alike."""
    quotas = QuotaManager()
    limits = (ResourceLimit.gpu_count(max(64, nodes // 8)), ResourceLimit.lease_count(1_000_000))
    for tenant in _TENANTS:
        quotas.set_quota(tenant, Quota(limits=limits))
    ledger = CapacityLedger(quotas=quotas, engine=engine)
    for at, row in enumerate(make_nodes(nodes, seed=11)):
        labels = {"zone": f"zone-{at % ZONES}"}
        ledger.register_node(row.name, replace(row.capacity(), labels=labels))
        if at % 100 == 99:
            ledger.set_quarantine(row.name, True)
    for pod in dict.fromkeys(_PODS):
        ledger.prepare(replace(pod.request(), tenant=_TENANTS[0]))
    return ledger


def fill(nodes: int) -> tuple[Driver, list[tuple[PlacementRequest, int]], Sample]:
    """The filled fleet, who got which lease, and what a decision took on the way."""
    driver = Driver(empty_fleet(nodes, "auto"), CODE)
    gpus = sum(len(entry.capacity.gpus) for entry in driver.ledger.entries.values())
    steps: list[tuple[PlacementRequest, int]] = []
    tally, asked = Tally(), 0
    with no_collection():
        for ready in driver.blocks(Requests(3)):
            begin = thread_time()
            leases = [driver.ledger.place(one, CODE, now_ms=0) for one in ready]
            spent = thread_time() - begin
            taken = [(r.request, i) for r, i in zip(ready, leases, strict=True) if i >= 0]
            tally.add(spent, [int(1e9 * spent / len(ready))] * len(ready), len(taken))
            steps += taken
            asked += sum(one.request.gpu_milli_total for one in ready)
            if asked >= ASKED * 1000 * gpus:
                break
    driver.live = [lease for _, lease in steps]
    return driver, steps, tally.sample()


def pure_copy(driver: Driver, steps: list[tuple[PlacementRequest, int]]) -> Driver:
    """The same leases on the same devices in the readable engine, and the same lessons learned."""
    ledger = driver.ledger
    twin = Driver(empty_fleet(len(ledger), "pure"), CODE)
    with no_collection():
        for block in in_blocks(steps, BLOCK):
            ready = twin.prepare([request for request, _ in block])
            for (_, lease), one in zip(block, ready, strict=True):
                fields = ledger.fields(lease)
                entry = twin.ledger.by_handle[fields.node]
                assert entry is not None, "the twin must have the nodes of the other"
                twin.live.append(twin.ledger.take(entry, one, now_ms=0, devices=fields.devices))
    for shape in twin.ledger.handles.shapes:
        twin.ledger.engine.set_arrivals(shape, ledger.engine.shape_use(shape)[1])
    twin.ledger.engine.learning(*ledger.engine.learning())
    ledger.learn_now()
    twin.ledger.learn_now()
    return twin


def plain_pass(driver: Driver, twin: Driver, *, calls: int) -> tuple[Sample, int]:
    """The reference, and how many of its decisions differ from the cached ones."""
    tally, differ = Tally(), 0
    engine = cast("PureEngine", twin.ledger.engine)
    requests = list(islice(Requests(5), calls))
    pairs = zip(driver.prepare(requests), twin.prepare(requests), strict=True)
    for cached, plain in pairs:
        mask = twin.ledger.mask_of(plain)
        begin = thread_time()
        node = engine.scores.plain_find(CODE, engine.shapes[plain.shape], mask)
        spent = thread_time() - begin
        tally.add(spent, [int(1e9 * spent)], 1)
        for _ in range(2):  # the first question of a shape is a pass, the second uses its cache
            entry = driver.ledger.find(cached, CODE)
            differ += (entry.handle if entry else -1) != node
    return tally.sample(), differ


def one_off(driver: Driver, *, calls: int) -> Sample:
    """Shapes never seen before and never again."""
    odd = (
        replace(request, mem_bytes=request.mem_bytes + at + 1)
        for at, request in enumerate(islice(Requests(6, labelled=0.0), calls))
    )
    tally, ledger = Tally(), driver.ledger
    for request in odd:
        ready = ledger.prepare(request)
        begin = thread_time()
        lease = ledger.place(ready, CODE, now_ms=0)
        spent = thread_time() - begin
        tally.add(spent, [int(1e9 * spent)], lease >= 0)
        if lease >= 0:
            ledger.engine.release(lease)
    return tally.sample()


def measure_size(nodes: int, *, quick: bool) -> tuple[dict[str, Sample], int]:
    """Every row for one size, and how many decisions differed from the plain pass."""
    say(f"hot path, fragmentation aware: filling {nodes:,} nodes")
    driver, steps, filling = fill(nodes)
    calls, limit_s = (20_000, 3.0) if quick else (100_000, 8.0)
    found = {"filling": filling}
    say(f"hot path, fragmentation aware: {nodes:,} nodes, readable engine ({len(steps):,} leases)")
    twin = pure_copy(driver, steps)
    found["plain pass"], differ = plain_pass(driver, twin, calls=PLAIN_CALLS[nodes])
    if nodes == SIZES[0]:
        twin.place(islice(Requests(8), calls), limit_s=2 * limit_s)  # warms its caches
        found["pure twin"] = twin.place(islice(Requests(4), calls), limit_s=limit_s)
    del twin
    say(f"hot path, fragmentation aware: {nodes:,} nodes, one by one, batches, admit, one-offs")
    driver.place(islice(Requests(8), calls // 4), limit_s=limit_s)  # caches warm after learning
    found["steady"] = driver.place(islice(Requests(4), calls), limit_s=limit_s)
    size = min(BLOCK, max(32, len(driver.live) // 16))
    unlabelled = islice(Requests(5, labelled=0.0), calls // 2)
    found["batch"] = driver.batches(unlabelled, size=size, limit_s=limit_s)
    admission = AdmissionController(driver.ledger, scorer=PlacementScorer())
    admitted = driver.admit(admission, islice(Requests(7), calls // 10), limit_s=limit_s)
    found |= {f"admit, {word}": sample for word, sample in admitted.items()}
    found["one-off"] = one_off(driver, calls=40)
    return found, differ


def add_to(section: Section, *, quick: bool) -> None:
    """Measure, and put the rows and bars into the section."""
    sizes = QUICK_SIZES if quick or is_pure(CapacityLedger()) else SIZES
    found, differ = {}, 0
    for nodes in sizes:
        found[nodes], wrong = measure_size(nodes, quick=quick)
        differ += wrong
    table = Table(
        "Fragmentation aware: CPU us per decision (mean of all blocks), p50 / p99 us of one call",
        ["variant", *(f"{nodes:,} nodes" for nodes in sizes)],
    )
    for name in dict.fromkeys(name for rows in found.values() for name in rows):
        cells = [_cell(name, rows.get(name)) for rows in found.values()]
        table.rows.append([name, *cells])
    section.tables.append(table)
    section.data["fragmentation_aware"] = {
        str(nodes): {name: sample.as_dict() for name, sample in rows.items()}
        for nodes, rows in found.items()
    }
    _bars(section, found, differ)


def _cell(name: str, sample: Sample | None) -> str:
    if sample is None:
        return "-"
    if name == "filling":  # lessons make its blocks unlike each other, so only the mean tells
        return f"{sample.mean_us:,.1f}"
    if name in ("batch", "plain pass", "one-off"):
        return f"{1e6 / sample.per_s:,.1f}"
    each_us, mean_us = 1e6 / sample.per_s, sample.mean_us
    return f"{each_us:,.1f} ({mean_us:,.1f}), {sample.p50_us:,.1f}/{sample.p99_us:,.1f}"


def _bars(section: Section, found: dict[int, dict[str, Sample]], differ: int) -> None:
    section.bars.append(
        Bar("fragmentation aware, decisions unlike the plain pass", "0", str(differ), differ == 0)
    )
    if is_pure(CapacityLedger()):
        return  # the other bars are the compiled engine's
    for nodes, rows in found.items():
        lab = f"{nodes:,} nodes (twice the lab's {LAB_US[nodes]} us)"
        for row, each_us in (
            ("filling", rows["filling"].mean_us),
            ("steady", 1e6 / rows["steady"].per_s),
        ):
            what = f"fragmentation aware, {row}, {lab}"
            section.bar_at_most(what, each_us, 2 * LAB_US[nodes], unit=" us")
    if SIZES[-1] in found:
        growth = found[SIZES[0]]["steady"].per_s / found[SIZES[-1]]["steady"].per_s
        section.bar_at_most("fragmentation aware, 100,000 nodes against 1,200", growth, 4)
