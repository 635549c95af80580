"""A page of leases: the same cost out of a thousand as out of a hundred thousand.

The read model's indexes find the numbers of a page, and each lease on it is told as the API tells
it. Measured are the first page, one after a quarter and one after half of the leases, for a caller
who sees everything and for one of five tenants. Beside each stands the same page found by walking
all leases. CPU time of the reading thread; the same pages must come out of both.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import thread_time

from bailiwick import InvariantBroken, NodeCapacity, PlacementRequest
from bailiwick.kernel import Envelope, Kernel, RegisterNode, Settings, State, Submit
from bailiwick.kernel.owner import Owner
from bailiwick.runtime.indexes import ByOwner, Indexes, Scan, scan_leases
from bench.measure import no_collection, percentile, say
from bench.report import Section, Table

SIZES, SIZES_QUICK = (1_000, 100_000), (1_000, 20_000)
PAGE, TENANTS, NODES = 100, 5, 100
BLOCKS, PAGES_IN_BLOCK, SCANS = 40, 10, 5
SAME_BAR = 1.5
NOW_MS = 10**12

See = Callable[[Owner], bool] | None


def fill(leases: int) -> tuple[State, Indexes]:
    """A state with so many leases, of every tenant in turn, and its indexes."""
    kernel = Kernel(State(Settings(tenant_lease_count=leases)))
    node = NodeCapacity(cpu_cores=512, mem_bytes=2**40)
    for number in range(NODES):
        kernel.execute(Envelope(RegisterNode(f"node-{number}", node), "bench", "fill"), NOW_MS)
    for turn in range(0, leases, 10):
        request = PlacementRequest(
            tenant=f"tenant-{turn // 10 % TENANTS}",  # type: ignore[arg-type]
            cpu_cores=0.25,
            gang_size=10,
            ttl_ms=10**8,
        )
        kernel.execute(Envelope(Submit(request, wait=False), "bench", "fill"), NOW_MS)
    if len(kernel.state.leases) != leases:
        raise InvariantBroken(f"{len(kernel.state.leases)} leases instead of {leases}")
    return kernel.state, Indexes(kernel.state)


def own(owner: Owner) -> bool:
    """What one tenant's people see."""
    return str(owner.tenant) == "tenant-1"


def read_page(state: State, found: ByOwner | Scan, sees: See, *, after: int) -> list[int]:
    """One page, with every lease on it told."""
    numbers = found.page(sees, after=after, limit=PAGE)
    for number in numbers:
        state.ledger.told(state.handle(number))
        state.owner_of(number)
    return numbers


def measure(state: State, indexes: Indexes, sees: See) -> tuple[float, float]:
    """Microseconds of a page by the index and by a scan; over its three places."""
    last = max(state.leases)
    places = [0, last // 4, last // 2]
    indexed, scanned = [], []
    with no_collection():
        for _ in range(BLOCKS):
            begin = thread_time()
            for turn in range(PAGES_IN_BLOCK):
                read_page(state, indexes.leases, sees, after=places[turn % 3])
            indexed.append((thread_time() - begin) / PAGES_IN_BLOCK * 1e6)
        for turn in range(SCANS):
            begin = thread_time()
            read_page(state, scan_leases(state), sees, after=places[turn % 3])
            scanned.append((thread_time() - begin) * 1e6)
    for place in places:
        one = read_page(state, indexes.leases, sees, after=place)
        if one != read_page(state, scan_leases(state), sees, after=place):
            raise InvariantBroken(f"the page after {place} is not that of a scan")
    return percentile(indexed, 25), median(scanned)


def run(*, quick: bool = False) -> Section:
    """The section."""
    section = Section("reads", "A page of 100 leases")
    table = Table("Microseconds a page", ["leases", "who", "by the index", "by a scan", "ratio"])
    section.tables.append(table)
    costs: dict[str, list[float]] = {"everybody's": [], "one tenant's": []}
    for size in SIZES_QUICK if quick else SIZES:
        say(f"filling {size:,} leases")
        state, indexes = fill(size)
        for who, sees in (("everybody's", None), ("one tenant's", own)):
            indexed, scanned = measure(state, indexes, sees)
            costs[who].append(indexed)
            row = [f"{size:,}", who, f"{indexed:,.0f}", f"{scanned:,.0f}"]
            table.rows.append([*row, f"{scanned / indexed:,.1f}x"])
    for who, (few, many) in costs.items():
        what = f"a page of {who} leases, out of the most against out of the fewest"
        section.bar_at_most(what, many / few, SAME_BAR)
    section.data["page_us"] = costs
    return section
