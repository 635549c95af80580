"""A restart with a million leases: from the newest snapshot and the records after it.

A journal is written through the real leader (gangs, so that filling takes seconds), then a
snapshot, then a tail of single decisions. The restart is everything a new process does before it
can lead: load, check the digest against the journal, rebuild, verify and replay the tail. Wall
time. Beside it stands what the same leases take in memory.
"""

from __future__ import annotations

import gc
import tempfile
from pathlib import Path
from time import perf_counter

from bailiwick import GpuDevice, HardwareGeneration, NodeCapacity, PlacementRequest
from bailiwick.kernel import (
    ChangeSettings,
    Command,
    Envelope,
    RegisterNode,
    SetShare,
    Settings,
    Submit,
    digest_of,
)
from bailiwick.runtime.rebuild import rebuild
from bailiwick.runtime.replica import Pace, Replica, Role, Ticket
from bailiwick.runtime.runner import SystemClock
from bailiwick.store import open_store
from bench.measure import say
from bench.report import Section, Table

LEASES, LEASES_QUICK = 1_000_000, 50_000
TAIL = 20_000
GANG = 4_096
NODES = 2_500
TTL_MS = 10**10
RESTART_BAR_S, MEMORY_BAR = 20, 1_000


def _resident() -> int:
    """Bytes this process has in memory now."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


def _call(replica: Replica, *commands: Command) -> None:
    settled: list[Ticket] = []
    for command in commands:
        replica.submit(Ticket(Envelope(command, "bench", "fill"), settled.append))
    for _ in range(1000):
        if len(settled) == len(commands):
            break
        replica.step()
    for ticket in settled:
        if ticket.error is not None:
            raise ticket.error


def _fill(replica: Replica, leases: int) -> None:
    gpu = GpuDevice(HardwareGeneration.NVIDIA_HOPPER, 80 * 2**30)
    node = NodeCapacity(cpu_cores=256, mem_bytes=2**41, gpus=(gpu,) * 8)
    # More than a tenant may usually hold, and longer.
    many = Settings(tenant_lease_count=leases + TAIL, term_max_ms=TTL_MS)
    _call(replica, ChangeSettings(many))
    _call(replica, *(RegisterNode(f"node-{n}", node) for n in range(NODES)))
    done = turn = 0
    while done < leases:
        turn += 1
        gang = min(GANG, leases - done)
        request = PlacementRequest(
            tenant=f"tenant-{turn % 50}",  # type: ignore[arg-type]
            cpu_cores=0.25,
            mem_bytes=2**28,
            gpu_milli=10 if turn % 2 else 0,
            gang_size=gang,
            ttl_ms=TTL_MS,
        )
        _call(replica, Submit(request, wait=False))
        done += gang


def measure(leases: int, *, folder: str) -> dict[str, float]:
    """Seconds of a restart, of a snapshot, and bytes per lease."""
    calm = Pace(snapshot_every=10**12, tick_ms=10**12)
    store = open_store(folder)
    replica = Replica(store, SystemClock(), name="bench", pace=calm)
    while replica.role is not Role.LEADING:
        replica.step()
    before = _resident()
    _fill(replica, leases)
    gc.collect()
    figures = {"bytes_per_lease": (_resident() - before) / leases}
    say(f"restart: {leases:,} leases are held; making a snapshot")
    replica.pace = Pace(snapshot_every=1, tick_ms=10**12)
    begin = perf_counter()
    _call(replica, SetShare("tenant-1", 2))
    figures["snapshot_s"] = perf_counter() - begin
    replica.pace = calm
    tail = PlacementRequest(tenant="late", cpu_cores=0.25, mem_bytes=1, ttl_ms=TTL_MS)  # type: ignore[arg-type]
    for _ in range(TAIL // 500):
        _call(replica, *(Submit(tail, wait=False) for _ in range(500)))
    if replica.kernel is None:
        raise AssertionError("the replica lost its state")
    digest = digest_of(replica.kernel.state)
    store.close()
    del replica
    gc.collect()
    say("restart: starting again")
    begin = perf_counter()
    kernel, _ = rebuild(open_store(folder, read_only=True), read_max=5_000, warn=say)
    figures["restart_s"] = perf_counter() - begin
    figures["leases"] = len(kernel.state.leases)
    if digest_of(kernel.state) != digest:
        raise AssertionError("the rebuilt state is another one")
    return figures


def run(*, quick: bool = False) -> Section:
    """The section: restart, snapshot and memory."""
    leases = LEASES_QUICK if quick else LEASES
    say(f"restart: filling {leases:,} leases")
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(leases, folder=folder)
    section = Section("restart", "Restart from snapshot and tail", data=dict(figures))
    table = Table("SQLite, wall time; the rebuilt state has the same digest", ["what", "figure"])
    held = f"{figures['leases']:,.0f} leases, {TAIL:,} of them in the tail"
    table.rows = [
        ["held", held],
        ["restart", f"{figures['restart_s']:.1f} s"],
        ["snapshot (the leader does nothing else meanwhile)", f"{figures['snapshot_s']:.1f} s"],
        ["memory per live lease", f"{figures['bytes_per_lease']:,.0f} B"],
    ]
    section.tables.append(table)
    section.bar_at_most("restart", figures["restart_s"], RESTART_BAR_S, unit=" s")
    section.bar_at_most("memory per live lease", figures["bytes_per_lease"], MEMORY_BAR, unit=" B")
    return section
