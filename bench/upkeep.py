"""What the fleet's upkeep costs: what is planned, and quotas that were lowered.

- Beside a fleet of which few windows are announced, or few nodes booked, the same with very many:
  a submit has to take the same time, whatever its term and however many of them it runs into.
- Beside a short line of requests that lack room which others hold above their quota, a long one,
  of many owners: a tick may not take the more time for it. None of them can be helped, so all
  that is looked at is looked at in vain.
"""

from __future__ import annotations

import random

from bailiwick import NodeCapacity, PlacementRequest, Quota, ResourceLimit, TenantId
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
from bailiwick.kernel.people.commands import CreateProject, CreateTenant
from bailiwick.kernel.settings import Settings
from bailiwick.scheduler.rights.ceilings import OPEN
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

BAR, LINE_BAR = 1.5, 3.0
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
    _tell_ticks(section, quick=quick)
    return section


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
