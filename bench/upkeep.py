"""What the fleet's upkeep costs: what is planned, and quotas that were lowered.

- Beside a fleet of which few windows are announced, or few nodes booked, the same with very many:
  a submit has to take the same time, whatever its term and however many of them it runs into.
- Beside a fleet where nothing runs, a booking in one with four leases on every node: one that is
  made (they end before), and one that is refused (they do not). Leases that end before may cost
  little, and the others no more than a look each.
- Beside a short line of requests that lack room which others hold above their quota, a long one,
  of many owners: a tick may not take the more time for it. None of them can be helped, so all
  that is looked at is looked at in vain.
"""

from __future__ import annotations

import random
from contextlib import suppress

from bailiwick import NodeCapacity, PlacementRequest, Quota, ResourceLimit, TenantId
from bailiwick.fleet.node import GpuDevice
from bailiwick.kernel import (
    Book,
    ChangeSettings,
    Command,
    Envelope,
    Kernel,
    PlanWindow,
    RegisterNode,
    SetQuota,
    Submit,
    Tick,
)
from bailiwick.kernel.bookings.refusals import BookingRefused
from bailiwick.kernel.people.commands import CreateProject, CreateTenant
from bailiwick.kernel.settings import Settings
from bailiwick.scheduler.rights.ceilings import OPEN
from bailiwick.vocab.words import HardwareGeneration
from bench.measure import Rate, rate, say
from bench.report import Section, Table

NODES, SUBMITS = 4_000, 4_000
NODES_QUICK, SUBMITS_QUICK = 1_000, 600
FEW, MANY = 10, 1_900
NAMED = 40
"""Nodes of one window."""

LEASES, TICKS = 10_000, 120
LEASES_QUICK, TICKS_QUICK = 1_000, 30
SHORT, LONG, OWNERS = 32, 256, 32
"""Requests that wait, and of how many tenants."""

BOOKS, BOOKED_LEASES = 40, 4
BOOKS_QUICK = 10
"""Bookings that are asked for, and leases on each node."""

BAR, LINE_BAR = 1.5, 3.0
MADE_BAR, REFUSED_BAR = 3.0, 8.0
MINUTE_MS = 60_000
LAB = TenantId("lab")
NODE = NodeCapacity(cpu_cores=256, mem_bytes=10**12)


def planned(windows: int, *, nodes: int) -> Kernel:
    """A fleet with so many windows, a minute apart from each other, of one half of its nodes."""
    say(f"upkeep: {nodes:,} nodes, {windows:,} windows")
    kernel, rng = Kernel(simulated=True), random.Random(4)
    for number in range(nodes):
        kernel.execute(Envelope(RegisterNode(f"n{number}", NODE)), 1)
    for number in range(windows):
        names = tuple(f"n{each}" for each in sorted(rng.sample(range(nodes // 2), NAMED)))
        starts_ms = (number + 30) * MINUTE_MS
        window = PlanWindow(f"w{number}", names, starts_ms, starts_ms + MINUTE_MS, 1_000)
        kernel.execute(Envelope(window), 1)
    return kernel


def booked(bookings: int, *, nodes: int) -> Kernel:
    """A fleet with so many bookings of some projects, each of a machine, a minute apart."""
    say(f"upkeep: {nodes:,} nodes, {bookings:,} bookings")
    kernel = Kernel(simulated=True)
    kernel.execute(Envelope(ChangeSettings(Settings(tenant_cpu_milli=10**9))), 1)
    for number in range(nodes):
        kernel.execute(Envelope(RegisterNode(f"n{number}", NODE)), 1)
    for tenant in range(OWNERS):
        kernel.execute(Envelope(CreateTenant(f"t{tenant}")), 1)
        kernel.execute(Envelope(CreateProject(f"t{tenant}", "p")), 1)
    for number in range(bookings):
        starts_ms = (number + 30) * MINUTE_MS
        times = starts_ms, starts_ms + MINUTE_MS
        owner, own = f"t{number % OWNERS}", (f"n{number % (nodes // 2)}",)
        kernel.execute(Envelope(Book(f"b{number}", owner, "p", *times, nodes=own)), 1)
    return kernel


def submit_rate(kernel: Kernel, count: int, *, submits: int) -> Rate:
    """Submits of all terms, from ones that run into nothing planned to ones that run into all."""
    rng = random.Random(5)
    terms = [rng.randrange(1, 30 + count + 10) * MINUTE_MS for _ in range(submits)]

    def submit(term_ms: int) -> None:
        kernel.execute(
            Envelope(Submit(PlacementRequest(tenant=LAB, cpu_cores=1, ttl_ms=term_ms))), 2
        )

    return rate(submit, terms, block=100)


def book_rate(leases: int, *, nodes: int, books: int, after_ms: int) -> Rate:
    """Bookings of a fleet with so many leases on each node, which begin so long after their end."""
    say(f"upkeep: {nodes:,} nodes, {leases} leases on each, bookings {after_ms} ms after them")
    kernel, term_ms = Kernel(simulated=True), 1_000 * MINUTE_MS
    device = GpuDevice(HardwareGeneration.NVIDIA_HOPPER)
    machine = NodeCapacity(cpu_cores=64, mem_bytes=10**12, gpus=(device,) * BOOKED_LEASES)
    most = Settings(tenant_gpu_count=10**6, tenant_lease_count=10**6, tenant_cpu_milli=10**9)
    kernel.execute(Envelope(ChangeSettings(most)), 1)
    for number in range(nodes):
        kernel.execute(Envelope(RegisterNode(f"n{number}", machine)), 1)
    for _ in range(leases * nodes):
        asked = PlacementRequest(tenant=LAB, cpu_cores=1, gpu_count=1, ttl_ms=term_ms)
        kernel.execute(Envelope(Submit(asked)), 1)

    def book(number: int) -> None:
        starts_ms = term_ms + after_ms + number
        times = starts_ms, starts_ms + MINUTE_MS
        command = Book(f"b{number}", f"t{number % OWNERS}", "p", *times, count=1)
        with suppress(BookingRefused):
            kernel.execute(Envelope(command), 2)

    measured = rate(book, range(books), block=books)
    made = len(kernel.state.bookings.bookings)
    assert made == (0 if leases and after_ms < 0 else books)
    return measured


def tick_rate(waiting: int, *, leases: int, ticks: int) -> Rate:
    """Ticks a second apart, while so many wait for room that others hold above their quota."""
    say(f"upkeep: {leases:,} leases, half of them above a quota, and {waiting} who wait")
    kernel, per_node = Kernel(simulated=True), 20

    def do(command: Command, now_ms: int = 1) -> None:
        kernel.execute(Envelope(command), now_ms)

    do(ChangeSettings(Settings(rebalance_ms=MINUTE_MS, queue_max=10_000)))
    for number in range(leases // per_node):
        do(RegisterNode(f"n{number}", NodeCapacity(cpu_cores=per_node, mem_bytes=10**12)))
    for tenant in ("hog", "own", *(f"late-{number}" for number in range(OWNERS))):
        do(SetQuota(tenant, Quota((ResourceLimit.cpu_cores(10**6),), ceiling=OPEN)))
    for _ in range(leases):
        do(Submit(PlacementRequest(tenant=TenantId("hog"), cpu_cores=1, ttl_ms=10**9)))
    do(RegisterNode("large", NodeCapacity(cpu_cores=2 * per_node, mem_bytes=10**12)))
    do(Submit(PlacementRequest(tenant=TenantId("own"), cpu_cores=2 * per_node, ttl_ms=10**9)))
    for number in range(waiting):
        owner = TenantId(f"late-{number % OWNERS}")
        do(Submit(PlacementRequest(tenant=owner, cpu_cores=per_node + 1, ttl_ms=10**9)))
    do(SetQuota("hog", Quota((ResourceLimit.cpu_cores(leases // 2),), ceiling=OPEN)))
    assert len(kernel.state.line.entries) == waiting
    turns = [2 * MINUTE_MS + 1_000 * number for number in range(ticks)]
    return rate(lambda now_ms: do(Tick(), now_ms), turns, block=ticks)


def run(*, quick: bool = False) -> Section:
    """The section."""
    nodes, submits = (NODES_QUICK, SUBMITS_QUICK) if quick else (NODES, SUBMITS)
    section = Section("upkeep", "What upkeep costs")
    for what, make in (("windows", planned), ("bookings", booked)):
        rates = {
            count: submit_rate(make(count, nodes=nodes), count, submits=submits)
            for count in (0, FEW, MANY)
        }
        table = Table("a submit, microseconds of CPU", [what, "quieter quartile", "times without"])
        for count, measured in rates.items():
            ratio = rates[0].quiet / measured.quiet
            table.rows.append([f"{count:,}", f"{1e6 / measured.quiet:,.1f}", f"{ratio:.2f}"])
        section.tables.append(table)
        ratio = rates[FEW].quiet / rates[MANY].quiet
        section.data[f"{what}_ratio"] = ratio
        section.bar_at_most(f"a submit beside {MANY:,} {what}, beside {FEW}", ratio, BAR)
    _tell_books(section, quick=quick)
    _tell_ticks(section, quick=quick)
    return section


def _tell_books(section: Section, *, quick: bool) -> None:
    nodes, books = (NODES_QUICK, BOOKS_QUICK) if quick else (NODES, BOOKS)
    table = Table("a booking, milliseconds of CPU", ["leases on each node", "mean", "times none"])
    later_ms, sooner_ms = 10 * MINUTE_MS, -10 * MINUTE_MS
    rows = (
        ("none", 0, later_ms, None, ""),
        (f"{BOOKED_LEASES} that end before: made", BOOKED_LEASES, later_ms, MADE_BAR, "made"),
        (f"{BOOKED_LEASES} that do not: refused", BOOKED_LEASES, sooner_ms, REFUSED_BAR, "refused"),
    )
    plain = 0.0
    for what, leases, after_ms, bar, word in rows:
        measured = book_rate(leases, nodes=nodes, books=books, after_ms=after_ms)
        plain = plain or measured.mean
        ratio = plain / measured.mean
        table.rows.append([what, f"{1e3 / measured.mean:,.2f}", f"{ratio:.2f}"])
        if bar is not None:
            section.data[f"booking_{word}_ratio"] = ratio
            told = f"a booking that is {word} beside {BOOKED_LEASES} leases a node, beside none"
            section.bar_at_most(told, ratio, bar)
    section.tables.append(table)


def _tell_ticks(section: Section, *, quick: bool) -> None:
    leases, ticks = (LEASES_QUICK, TICKS_QUICK) if quick else (LEASES, TICKS)
    few, many = (tick_rate(count, leases=leases, ticks=ticks) for count in (SHORT, LONG))
    table = Table("a tick, milliseconds of CPU", ["who wait", "mean", "times the short line"])
    for count, measured in ((SHORT, few), (LONG, many)):
        ratio = few.mean / measured.mean
        table.rows.append([f"{count:,}", f"{1e3 / measured.mean:,.2f}", f"{ratio:.2f}"])
    section.tables.append(table)
    section.data["line_ratio"] = few.mean / many.mean
    what = f"a tick with {LONG} who wait for others' surplus, beside {SHORT}"
    section.bar_at_most(what, few.mean / many.mean, LINE_BAR)
