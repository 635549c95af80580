"""What is held costs: bytes per lease and per node, and what importing the library takes.

Every figure comes from a process of its own, as the difference of resident memory before and
after. The lease table doubles as it grows, so the bytes per lease depend on how full it is: they
are told for a full table (from 2**16 to 2**20 leases) and for a round million.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from bench.measure import say
from bench.report import Bar, Section, Table

ROOT = Path(__file__).resolve().parents[1]
LEASES = 1_000_000
FULL_FROM, FULL_TO = 2**16, 2**20
NODES = 100_000
STARTS = 15
LEASE_BAR_BYTES, IMPORT_BAR_MS = 64, 150

# Web, SQL, proof and screen packages: none may be loaded by `import bailiwick`.
FOREIGN = """
    fastapi starlette uvicorn httpx httpx2 requests aiohttp http.server urllib.request
    sqlalchemy alembic psycopg sqlite3 pydantic cryptography z3 numpy typer rich
"""


def resident_bytes() -> int:
    """Resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@dataclass(slots=True)
class PlainLease:
    """What one would write first: the fields of a lease, in a dict by id."""

    id: int
    node: int
    account: int
    shape: int
    gang: int
    devices: int
    priority: int
    lease_class: int
    state: int
    generation: int
    granted: int
    expires: int
    checkpoint: int


def _ledger_with_room(engine: str) -> tuple[object, Callable[[int], None]]:
    """A ledger, and a way to give it so many more leases."""
    from bailiwick import CapacityLedger, NodeCapacity, PlacementRequest, TenantId

    ledger = CapacityLedger(engine=engine)
    for i in range(1_000):
        ledger.register_node(f"node-{i}", NodeCapacity(cpu_cores=10_000, mem_bytes=2**44))
    ready = ledger.prepare(PlacementRequest(tenant=TenantId("lab"), cpu_cores=1, mem_bytes=2**30))
    take, traits, far = ledger.engine.take, ready.traits, 2**50

    def more(count: int) -> None:
        for i in range(count):
            take(i % 1_000, ready.shape, ready.account, traits, i, far + i, -1, 0)

    return ledger, more


def leases_full(engine: str) -> dict[str, float]:
    """Bytes per lease between two moments at which the table is exactly full."""
    held, more = _ledger_with_room(engine)
    more(FULL_FROM)
    before = resident_bytes()
    more(FULL_TO - FULL_FROM)
    return {"bytes": (resident_bytes() - before) / (FULL_TO - FULL_FROM), "held": bool(held)}


def leases_million(engine: str) -> dict[str, float]:
    """Bytes per lease over a million leases from none."""
    held, more = _ledger_with_room(engine)
    before = resident_bytes()
    more(LEASES)
    return {"bytes": (resident_bytes() - before) / LEASES, "held": bool(held)}


def leases_plain() -> dict[str, float]:
    """Bytes per lease as slotted dataclasses in a dict."""
    before = resident_bytes()
    held = {
        i: PlainLease(i, i % 1_000, 1, 1, -1, 0, 1, 1, 0, 1, 10**12 + i, 2 * 10**12 + i, -(2**63))
        for i in range(LEASES)
    }
    return {"bytes": (resident_bytes() - before) / LEASES, "held": len(held)}


def nodes_each(engine: str) -> dict[str, float]:
    """Bytes per node, inventory and labels included."""
    from bench.workload import Workload

    workload = Workload(NODES)
    before = resident_bytes()
    held = workload.ledger(engine)
    return {"bytes": (resident_bytes() - before) / NODES, "held": bool(held)}


PROBES: dict[str, Callable[..., dict[str, float]]] = {
    "leases_full": leases_full,
    "leases_million": leases_million,
    "leases_plain": leases_plain,
    "nodes_each": nodes_each,
}


def _fresh(code: str) -> dict[str, Any]:
    """What a new interpreter prints; compiled files may be written, as anywhere else."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def probe(name: str, *arguments: str) -> float:
    """Run one probe in a process of its own."""
    code = (
        "import gc, json; gc.disable(); from bench.memory import PROBES; "
        f"print(json.dumps(PROBES[{name!r}](*{arguments!r})))"
    )
    return float(_fresh(code)["bytes"])


def measure_import() -> tuple[list[float], list[str]]:
    """Import times of fresh interpreters, and foreign packages seen."""
    # The probe must load nothing first, so it is text here and not an import of this file.
    code = (
        "import sys; from time import perf_counter; before = perf_counter(); import bailiwick; "
        "spent = 1000 * (perf_counter() - before); import json; "
        f"foreign = [name for name in {FOREIGN.split()!r} if name in sys.modules]; "
        "print(json.dumps({'ms': spent, 'foreign': foreign}))"
    )
    _fresh(code)  # writes the compiled files
    told = [_fresh(code) for _ in range(STARTS)]
    foreign = sorted({name for one in told for name in one["foreign"]})
    return [float(one["ms"]) for one in told], foreign


def run(*, quick: bool = False) -> Section:
    """The whole section."""
    from bench.report import machine

    section = Section("memory", "Memory and start-up")
    compiled = machine()["engine"] == "compiled"
    rows: list[tuple[str, float]] = []

    def row(words: str, name: str, *arguments: str) -> float:
        say(f"memory: {words}")
        rows.append((words, probe(name, *arguments)))
        return rows[-1][1]

    engine = "compiled" if compiled else "pure"
    full = row(f"lease, {engine}, table full (65,536 to 1,048,576)", "leases_full", engine)
    row(f"lease, {engine}, 0 to 1,000,000", "leases_million", engine)
    plain = row("lease, slotted dataclass in a dict, 1,000,000", "leases_plain")
    if not quick:
        if compiled:
            row("lease, pure twin, 0 to 1,000,000", "leases_million", "pure")
        row(f"node, {engine}, 100,000 with labels and inventory", "nodes_each", engine)
    table = Table("Resident memory", ["what", "bytes each"], [[w, f"{b:,.1f}"] for w, b in rows])
    section.tables.append(table)
    say("memory: importing the library")
    times, foreign = measure_import()
    section.tables.append(
        Table(
            f"import bailiwick, {STARTS} fresh interpreters, wall",
            ["what", "value"],
            [
                ["median", f"{median(times):.0f} ms"],
                ["slowest", f"{max(times):.0f} ms"],
                ["web, SQL, proof or screen packages loaded", ", ".join(foreign) or "none"],
            ],
        )
    )
    section.data = {"bytes": dict(rows), "import_ms": times, "foreign": foreign}
    if compiled:
        met = round(full) <= LEASE_BAR_BYTES
        section.bars.append(Bar("bytes per lease", f"<= {LEASE_BAR_BYTES}", f"{full:.1f}", met))
        section.bar_at_least("the same, against a slotted dataclass in a dict", plain / full, 5)
    section.bar_at_most("import bailiwick, median", median(times), IMPORT_BAR_MS, unit=" ms")
    section.bars.append(
        Bar("foreign packages loaded by it", "none", ", ".join(foreign) or "none", not foreign)
    )
    return section
