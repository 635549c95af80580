"""The meter and the bill: folding, rating, keeping, and a whole month of a large fleet.

CPU time of one thread for folding and rating (the quieter quartile of the blocks, and their mean
beside it), wall time where a disk is waited for. The records of
:mod:`bench.fleet_month` are made beforehand, block by block, outside the time that is taken. The
reference in the same run is the readable core, which is the one that the proof speaks of.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from time import perf_counter, process_time, thread_time
from typing import NamedTuple

from bailiwick.billing.audits import rebuild
from bailiwick.billing.bills import PeriodBill
from bailiwick.billing.invoices import Invoice, InvoiceHead
from bailiwick.billing.rates import RateBook
from bailiwick.journal import Chain, Context, RecordKind
from bailiwick.metering import JournalMeter, Meter
from bailiwick.metering.core import has_compiled, new_core
from bailiwick.metering.owners import IDLE, Account, Leased
from bailiwick.metering.values import Share
from bailiwick.store import open_store
from bailiwick.store.meter_rows import MeterBook
from bailiwick.store.sql_store import SqlStore
from bailiwick.tools.invoices import read_money
from bailiwick.tools.record_source import open_source
from bailiwick.vocab.words import LeaseClass, ResourceKind
from bench.fleet_month import MONTH_MS, START_MS, TENANTS, FleetMonth, Told
from bench.measure import QUIET, in_blocks, no_collection, percentile, say
from bench.memory import resident_bytes
from bench.report import Section, Table

LEASES, LEASES_QUICK = 1_000_000, 60_000
KEPT, KEPT_QUICK = 40_000, 5_000
BLOCK = 5_000
CHECKED, CHECKED_QUICK = 100_000, 10_000
FOLD_BAR_S, KEEP_BAR, MONTH_BAR_S, CHECK_BAR_MS = 10, 10_000, 60, 100


class Folded(NamedTuple):
    """CPU seconds: by the quieter quartile of the blocks, and by their mean."""

    quiet_s: float
    mean_s: float


def fold(records: Iterable[Told], bill: PeriodBill, *, mark: int = 0) -> tuple[Folded, list[int]]:
    """What folding took, and resident memory after so many records and at the end."""
    blocks, held, count = [], [], 0
    for block in in_blocks(records, BLOCK):
        with no_collection():
            begin = thread_time()
            for record in block:
                bill.add(record)
            blocks.append((thread_time() - begin) / len(block))
        count += len(block)
        if mark and count >= mark:
            held.append(resident_bytes())
            mark = 0
    mean = sum(blocks) / len(blocks)
    return Folded(count * percentile(blocks, QUIET), count * mean), [*held, resident_bytes()]


def folding(leases: int) -> tuple[dict[str, float], list[int]]:
    """Seconds for so many leases, folded and rated; with the readable core for a tenth."""
    found: dict[str, float] = {}
    to_ms = START_MS + MONTH_MS
    say(f"metering: {leases:,} leases, folded and rated")
    bill = PeriodBill(RateBook(), from_ms=START_MS, to_ms=to_ms)
    took, memory = fold(FleetMonth(leases), bill, mark=leases // 5)
    found["fold"], found["mean"] = took
    begin = thread_time()
    lines = bill.lines()
    found["rate"] = thread_time() - begin
    found["lines"] = len(lines)
    bill.meter.check()
    if has_compiled():
        say("metering: the readable core, a tenth of them")
        pure = PeriodBill(RateBook(), from_ms=START_MS, to_ms=to_ms)
        pure.meter = JournalMeter(
            Meter(pure.meter.meter.edges, core=new_core(pure.meter.meter.edges, which="pure"))
        )
        took, _ = fold(FleetMonth(leases // 10), pure)
        found["pure"], found["pure_mean"] = 10 * took.quiet_s, 10 * took.mean_s
    return found, memory


def sealed(records: Iterable[Told]) -> Iterator[bytes]:
    """The same records as a journal has them."""
    chain = Chain()
    for each in records:
        context = Context("scheduler", f"req-{each.seq:08}", each.tenant, each.project)
        done = chain.seal(RecordKind(each.kind), context, at_ms=each.at_ms, body=each.body)
        yield done.line


def keeping(leases: int, store: SqlStore) -> tuple[int, float]:
    """Segments that were kept, and the wall seconds of reading, folding and keeping them."""
    leader = store.lead("bench", "")
    if leader is None:
        return 0, 0.0
    first, segments, seconds, book = 0, 0, 0.0, MeterBook(store)
    for lines in in_blocks(sealed(FleetMonth(leases, nodes=200)), 2_000):
        store.append(leader.epoch, first, lines)
        first += len(lines)
        begin = perf_counter()
        segments += book.keep()[1]
        seconds += perf_counter() - begin
    return segments, seconds


def month(leases: int, path: Path) -> dict[str, float]:
    """Everybody's invoices of a month from a journal in a file, verified before it counts."""
    say(f"metering: the journal of a month, {leases:,} leases on {10_000:,} GPUs")
    found = {"records": 0.0}
    with path.open("wb") as file:
        for line in sealed(FleetMonth(leases)):
            file.write(line)
            found["records"] += 1
    say("metering: everybody's invoices from that file")
    begin = process_time()
    with open_source(str(path)) as source:  # which verifies it
        prices = read_money(source).prices
        heads = [
            InvoiceHead(
                invoice_id=f"{tenant}-2026-11",
                tenant=tenant,
                from_ms=START_MS,
                to_ms=START_MS + MONTH_MS,
                currency=prices.book(source.size).currency,
                journal_size=source.size,
            )
            for tenant in TENANTS
        ]
        built = [each for _, each in rebuild(heads, prices=prices, records=source.plain())]
    found |= {"seconds": process_time() - begin, "invoices": len(built)}
    found["lines"] = sum(len(each.lines) for each in built if isinstance(each, Invoice))
    return found


def run(*, quick: bool = False) -> Section:
    """The section: fold and rate, keep, and bill a month."""
    section = Section("metering", "The meter and the bill")
    leases = LEASES_QUICK if quick else LEASES
    took, memory = folding(leases)
    whole = took["fold"] + took["rate"]
    grown = (memory[-1] - memory[0]) / 2**20
    table = Table(
        f"{leases:,} lease intervals folded and rated, CPU time",
        ["core", "fold, s", "mean of all blocks, s", "rate, s", "leases per s"],
    )
    row = ["used", f"{took['fold']:.2f}", f"{took['mean']:.2f}", f"{took['rate']:.2f}"]
    table.rows.append([*row, _rate(leases, whole)])
    if "pure" in took:
        row = ["readable (a tenth, times ten)", f"{took['pure']:.2f}", f"{took['pure_mean']:.2f}"]
        table.rows.append([*row, "", _rate(leases, took["pure"])])
    section.tables.append(table)
    section.notes.append(
        f"Memory grew by {grown:.1f} MiB between a tenth of the records and all of them; "
        f"{took['lines']:,.0f} lines were rated."
    )
    section.data |= {"fold_and_rate_s": whole, "memory_grown_mib": grown}
    _check(section, quick=quick)
    _keep(section, quick=quick)
    _month(section, leases=leases // 2)
    if not quick:
        section.bar_at_most("1,000,000 leases folded and rated", whole, FOLD_BAR_S, unit=" s")
    return section


def _rate(count: float, seconds: float) -> str:
    return f"{count / seconds:,.0f}"


def _check(section: Section, *, quick: bool) -> None:
    """What it costs to check the meter, which is done at every keep and for every invoice."""
    leases = CHECKED_QUICK if quick else CHECKED
    say(f"metering: the check, with {leases:,} leases that run")
    parts, seconds = checking(leases)
    row = [f"{leases:,}", f"{parts:,}", f"{1_000 * seconds:.1f}"]
    table = Table("the check before every keep and invoice", ["leases", "parts", "ms"], [row])
    section.tables.append(table)
    section.data["check_ms"] = 1_000 * seconds
    if not quick and has_compiled():
        name = f"the meter of {leases:,} leases checked"
        section.bar_at_most(name, 1_000 * seconds, CHECK_BAR_MS, unit=" ms")


def checking(leases: int) -> tuple[int, float]:
    """How many parts a meter of so many running leases has, and CPU seconds of one check."""
    meter, gpus = Meter(), 8
    nodes = max(1, leases // 100)
    held = [
        [
            meter.open(Share(f"n{n}", ResourceKind.CPU_MILLI), 10**6, owner=IDLE, at_ms=0),
            *(
                meter.open(Share(f"n{n}", ResourceKind.GPU_MILLI, i), 1_000, owner=IDLE, at_ms=0)
                for i in range(gpus)
            ),
        ]
        for n in range(nodes)
    ]
    for number in range(leases):
        pools, payer = held[number % nodes], TENANTS[number % len(TENANTS)]
        owner = Leased(number, Account(payer, None, None, LeaseClass.STANDARD, None))
        for pool in (pools[0], pools[1 + number // nodes % gpus]):
            meter.take(pool, 10, owner=owner, at_ms=number + 1)
    took = []
    for _ in range(5):
        begin = thread_time()
        meter.check(leases + 1)
        took.append(thread_time() - begin)
    return len(meter.core.rows()), min(took)


def _keep(section: Section, *, quick: bool) -> None:
    table = Table(
        "segments kept durably with how far the fold has come, wall time",
        ["store", "segments", "per second"],
    )
    leases = KEPT_QUICK if quick else KEPT
    for name, count, seconds in _kept(leases):
        table.rows.append([name, f"{count:,}", _rate(count, seconds)])
        section.data[f"segments_{name}"] = count / seconds
        section.bar_at_least(f"durable segments, {name}", count / seconds, KEEP_BAR, unit="/s")
    section.tables.append(table)


def _kept(leases: int) -> Iterator[tuple[str, int, float]]:
    from tests.support.postgres import PostgresServer, find_programs

    say(f"metering: keeping the segments of {leases:,} leases")
    with tempfile.TemporaryDirectory() as folder, open_store(folder) as store:
        yield "SQLite", *keeping(leases, store)
    programs = find_programs()
    if programs is not None:
        server = PostgresServer(programs)
        try:
            with open_store(server.new_database()) as store:
                yield "PostgreSQL", *keeping(leases, store)
        finally:
            server.close()


def _month(section: Section, *, leases: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = month(leases, Path(folder) / "journal.jsonl")
    section.tables.append(
        Table(
            "a month of 10,000 GPUs invoiced from its journal, verified first, CPU time",
            ["records", "invoices", "lines", "seconds"],
            [
                [
                    f"{found['records']:,.0f}",
                    f"{found['invoices']:,.0f}",
                    f"{found['lines']:,.0f}",
                    f"{found['seconds']:.1f}",
                ]
            ],
        )
    )
    section.data["month_s"] = found["seconds"]
    section.bar_at_most("a month of 10,000 GPUs", found["seconds"], MONTH_BAR_S, unit=" s")
