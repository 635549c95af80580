"""The hot path with best fit: one call per decision and in batches, beside a plain scan.

Quota, labels, a filter and closed nodes are on in every row (see :mod:`bench.workload`). Rows:

- *plain scan*: :class:`bench.plain.PlainScan`, the reference. It is measured three times, between
  the others, so that a busy minute of the machine does not decide a ratio.
- *pure twin*, *compiled*: ``ledger.place`` with requests made ready beforehand.
- *compiled, engine call*: the bare call into the engine, to see what the ledger adds.
- *compiled, batch*: ``place_batch`` of up to 1,024 requests (without labels and filters: a batch
  has none), then ``release_batch``.
- *compiled, admit*: ``AdmissionController.admit`` with request objects in and decisions out.
- *one lesson*: what one decision in thousands waits for (see ``bailiwick.scheduler.workload``).

The default strategy follows in :mod:`bench.scored`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from time import thread_time
from typing import TYPE_CHECKING, Any

from bailiwick import AdmissionController, PlacementScorer, Strategy
from bench import scored
from bench.drive import BLOCK, Driver, is_pure
from bench.measure import Cycles, Sample, Tally, in_blocks, no_collection, say
from bench.plain import PlainScan
from bench.report import Section, Table
from bench.workload import FILL, Ask, Workload

if TYPE_CHECKING:
    from bailiwick.scheduler.handles import Prepared

CODE = PlacementScorer(Strategy.BEST_FIT).code
SIZES = (100, 1_000, 10_000, 100_000)
QUICK_SIZES = (100, 1_000, 10_000)
PLAIN_CALLS = {100: 4000, 1_000: 1200, 10_000: 160, 100_000: 24}
BREAKDOWN_NODES = 10_000

Steps = list[tuple[Ask, int]]


def driver_for(workload: Workload, engine: str) -> Driver:
    """An empty fleet under that engine."""
    ledger, trusted = workload.ledger(engine)
    return Driver(ledger, CODE, (trusted,))


def fill(workload: Workload) -> tuple[Driver, Steps]:
    """Let best fit fill the fleet; also what was put on which node."""
    driver = driver_for(workload, "auto")
    ledger, steps = driver.ledger, []
    used, enough = 0, FILL * workload.cpu_milli
    asks = workload.stream(40 * len(workload.machines), seed=3)
    with no_collection():
        for block in in_blocks(asks, BLOCK):
            ready = driver.prepare([workload.request(ask) for ask in block])
            for ask, one in zip(block, ready, strict=True):
                lease = ledger.place(one, CODE, now_ms=0)
                if lease >= 0:
                    driver.live.append(lease)
                    steps.append((ask, ledger.fields(lease).node))
                    used += ask.cpu_milli
            if used >= enough:
                break
    return driver, steps


def pure_copy(driver: Driver, workload: Workload, steps: Steps) -> Driver:
    """The same leases on the same nodes in the readable engine, its lists built."""
    twin = driver_for(workload, "pure")
    with no_collection():
        for block in in_blocks(steps, BLOCK):
            ready = twin.prepare([workload.request(ask) for ask, _ in block])
            for (_, node), one in zip(block, ready, strict=True):
                entry = twin.ledger.by_handle[node]
                assert entry is not None, "the twin must have the nodes of the other"
                lease = twin.ledger.take(entry, one, now_ms=0)
                assert lease >= 0, "the twin must hold what the other holds"
                twin.live.append(lease)
    twin.ledger.engine.learning(*driver.ledger.engine.learning())
    twin.place(workload.requests(BLOCK, seed=9), limit_s=60)
    return twin


class Plain:
    """The reference on the same state, measured a slice at a time."""

    def __init__(self, workload: Workload, steps: Steps) -> None:
        scan = PlainScan(workload)
        live = [scan.take(node, ask) for ask, node in steps]
        count = PLAIN_CALLS[len(workload.machines)]
        size = max(3, count // 8)
        self.asks: Iterator[list[Ask]] = in_blocks(workload.stream(24 * size, seed=4), size)
        self.cycles = Cycles(scan.place, scan.release, live)

    def measure(self) -> Sample:
        """One more slice; the figures of all slices so far."""
        return self.cycles.run(islice(self.asks, 8), limit_s=60)


def measure_size(nodes: int, *, quick: bool) -> dict[str, Sample]:
    """Every row for one number of nodes."""
    say(f"hot path, best fit: filling {nodes:,} nodes")
    workload = Workload(nodes)
    driver, steps = fill(workload)
    calls, limit_s = (20_000, 2.0) if quick else (100_000, 5.0)
    plain = Plain(workload, steps)
    found = {"plain scan": plain.measure()}
    if not is_pure(driver.ledger):
        say(f"hot path, best fit: {nodes:,} nodes, compiled ({len(steps):,} leases)")
        found["compiled"] = driver.place(workload.requests(calls, seed=4), limit_s=limit_s)
        found["plain scan"] = plain.measure()
        found |= _around(driver, workload, calls=calls, limit_s=limit_s)
        found["one lesson"] = lesson(driver)
    found["plain scan"] = plain.measure()
    if is_pure(driver.ledger):
        twin = driver
    elif quick and nodes > 1_000:
        return found
    else:
        say(f"hot path, best fit: {nodes:,} nodes, pure twin")
        twin = pure_copy(driver, workload, steps)
    found["pure twin"] = twin.place(workload.requests(calls, seed=4), limit_s=2 * limit_s)
    return found


def _around(driver: Driver, workload: Workload, *, calls: int, limit_s: float) -> dict[str, Sample]:
    """The compiled engine called directly, in batches and through admission."""
    bare = workload.requests(calls, seed=5)
    open_to_all = workload.requests(calls, seed=6, restricted=False)
    size = min(BLOCK, max(32, len(driver.live) // 16))
    found = {
        "compiled, engine call": driver.call_engine(bare, limit_s=limit_s),
        "compiled, batch": driver.batches(open_to_all, size=size, limit_s=limit_s),
    }
    scorer = PlacementScorer(Strategy.BEST_FIT, filters=driver.filters)
    admission = AdmissionController(driver.ledger, scorer=scorer)
    asked = driver.admit(admission, workload.requests(calls // 4, seed=7), limit_s=limit_s)
    return found | {f"compiled, admit, {word}": sample for word, sample in asked.items()}


def lesson(driver: Driver) -> Sample:
    """``learn_now``: what a decision waits for when it is time to learn the workload again."""
    tally = Tally()
    for _ in range(3):
        begin = thread_time()
        driver.ledger.learn_now()
        spent = thread_time() - begin
        tally.add(spent, [int(1e9 * spent)], 0)
    return tally.sample()


def breakdown(nodes: int) -> list[tuple[str, float]]:
    """What each step around one decision costs, in CPU microseconds."""
    say(f"hot path: where the time goes, at {nodes:,} nodes")
    workload = Workload(nodes)
    driver, _ = fill(workload)
    ledger, engine = driver.ledger, driver.ledger.engine
    asks = list(workload.stream(4096, seed=8))
    requests = list(workload.requests(4096, seed=8))
    ready = driver.prepare(requests)
    masked = [one for one in ready if one.sets]
    plain = [one for one in ready if not one.sets]
    plain = [one for one in plain if engine.find(CODE, one.shape, None) >= 0]
    engine.learning(0, 2**40)  # no lesson falls due meanwhile: it has a row of its own

    def released(lease: int) -> None:
        if lease >= 0:
            engine.release(lease)

    def bare(one: Prepared) -> None:
        released(engine.place(CODE, one.shape, one.account, one.traits, 0, one.ttl_ms, -1, None))

    steps: tuple[tuple[str, Callable[[Any], object], Sequence[object]], ...] = (
        ("a Python call that does nothing", lambda _: None, plain),
        ("engine.find", lambda one: engine.find(CODE, one.shape, None), plain),
        (
            "engine.find with a mask",
            lambda o: engine.find(CODE, o.shape, ledger.mask_of(o)),
            masked,
        ),
        ("engine.place + engine.release", bare, plain),
        (
            "ledger.place + engine.release",
            lambda o: released(ledger.place(o, CODE, now_ms=0)),
            plain,
        ),
        ("the request object", lambda ask: ask.request(), asks),
        ("ledger.prepare", lambda request: ledger.prepare(request, driver.filters), requests),
        ("ledger.lease (the lease object)", ledger.lease, driver.live[:4096]),
    )
    return [(name, _each_us(call, items)) for name, call, items in steps]


def _each_us(call: Callable[[Any], object], items: Sequence[object]) -> float:
    best = 1e9
    for _ in range(3):
        with no_collection():
            begin = thread_time()
            for item in items:
                call(item)
            best = min(best, thread_time() - begin)
    return 1e6 * best / len(items)


def run(*, quick: bool = False) -> Section:
    """The whole section."""
    section = Section("hotpath", "Hot path: quota, labels, filter and closed nodes on")
    sizes = QUICK_SIZES if quick else SIZES
    found = {nodes: measure_size(nodes, quick=quick) for nodes in sizes}
    section.tables.append(_table(found))
    section.data["best_fit"] = {
        str(nodes): {name: sample.as_dict() for name, sample in rows.items()}
        for nodes, rows in found.items()
    }
    _bars(section, found)
    if not quick:
        steps = breakdown(BREAKDOWN_NODES)
        title = f"Around one best-fit decision, {BREAKDOWN_NODES:,} nodes, CPU us"
        table = Table(title, ["step", "us"], [[name, f"{us:,.2f}"] for name, us in steps])
        section.tables.append(table)
        section.data["breakdown_us"] = dict(steps)
    scored.add_to(section, quick=quick)
    return section


def _table(found: dict[int, dict[str, Sample]]) -> Table:
    table = Table(
        "Best fit: decisions/s (place + release, quieter blocks), p50 / p99 us of one call",
        ["variant", *(f"{nodes:,} nodes" for nodes in found)],
    )
    for name in dict.fromkeys(name for rows in found.values() for name in rows):
        cells = [_cell(name, rows.get(name)) for rows in found.values()]
        table.rows.append([name, *cells])
        if name == "compiled":  # lessons and scans fall into few blocks: tell them as well
            means = [f"{1e6 / rows[name].mean_us:,.0f}" for rows in found.values()]
            table.rows.append([f"{name}, mean of all blocks", *means])
    return table


def _cell(name: str, sample: Sample | None) -> str:
    if sample is None:
        return "-"
    if name.endswith("batch"):
        return f"{sample.per_s:,.0f}"
    if name == "one lesson":
        return f"{sample.p50_us / 1000:,.1f} ms"
    return f"{sample.per_s:,.0f}, {sample.p50_us:,.2f}/{sample.p99_us:,.2f}"


def _bars(section: Section, found: dict[int, dict[str, Sample]]) -> None:
    for nodes, name, bar in (
        (10_000, "compiled", 250),
        (100_000, "compiled", 1500),
        (100_000, "pure twin", 80),
    ):
        rows = found.get(nodes, {})
        if name in rows:
            ratio = rows["plain scan"].p50_us / rows[name].p50_us
            what = f"best fit, p50 of one call, {name} against the plain scan, {nodes:,}"
            section.bar_at_least(what, ratio, bar)
            cycles = rows[name].per_s / rows["plain scan"].per_s
            section.data[f"cycles of {name} against the plain scan, {nodes}"] = round(cycles, 1)
            section.notes.append(
                f"By throughput (place + release in CPU time) {name} is {cycles:,.0f}x the plain "
                f"scan at {nodes:,} nodes."
            )
    if "compiled" in found.get(100_000, {}):
        growth = found[100_000]["compiled"].p50_us / found[1_000]["compiled"].p50_us
        section.bar_at_most("best fit, p50 at 100,000 nodes against 1,000", growth, 2.5)
    if "compiled" in found.get(10_000, {}):
        rows = found[10_000]
        ratio = rows["compiled, batch"].per_s / rows["compiled"].per_s
        section.bar_at_least("best fit, batch against one call per decision, 10,000", ratio, 2)
