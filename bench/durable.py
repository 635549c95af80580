"""Durable decisions: the whole way from a caller through the kernel to the disk and back.

Wall time, because waiting for the disk is the point. 64 callers each ask for a lease or give one
back and wait for the durable answer before they ask again; every decision is sealed. They call
from one event loop, and again as 64 threads. The reference in the same run differs in one thing:
its store forgets. The stores take turns in rounds, and the median round is told.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median

from bailiwick import GpuDevice, HardwareGeneration, InvalidValue, NodeCapacity, PlacementRequest
from bailiwick.kernel import Command, Envelope, Granted, RegisterNode, Release, Submit
from bailiwick.kernel.answers import Answer
from bailiwick.ports import JournalStore, Leader, StoredSnapshot
from bailiwick.runtime.gateway import Gateway
from bailiwick.runtime.replica import Pace, Replica, Role
from bailiwick.runtime.runner import Runner, SystemClock
from bailiwick.runtime.stamps import Stamps
from bailiwick.store import open_store
from bench.measure import percentile, say
from bench.report import Section, Table

CALLERS = 64
ROUNDS, ROUND_S = 5, 2.0
NODES = 200
HELD_MAX = 8
LIGHT_CALLS, LIGHT_PAUSE_S = 1_000, 0.004
SQLITE_BAR, POSTGRES_BAR, LIGHT_BAR_MS = 10_000, 3_000, 20


@dataclass(slots=True)
class ForgetfulStore:
    """A store that keeps nothing: the same decisions without durability."""

    records: int = 0
    epoch: int = 0
    written: list[int] = field(default_factory=list)

    def lead(self, name: str, address: str) -> Leader:
        """Always."""
        self.epoch += 1
        return Leader(self.epoch, name, address)

    def leader(self) -> None:
        """Nobody is remembered."""

    def resign(self) -> None:
        """Nothing to let go."""

    def append(
        self, epoch: int, first: int, lines: Sequence[bytes], *, stamp: bytes | None = None
    ) -> None:
        """Count, and forget."""
        del epoch, first, stamp
        self.records += len(lines)

    def size(self) -> int:
        """Nothing is there."""
        return 0

    def clock_ms(self) -> None:
        """It has no clock."""

    def read(self, first: int, limit: int) -> list[bytes]:
        """Nothing is there."""
        del first, limit
        return []

    def last_stamp(self, size: int) -> None:
        """None."""
        del size

    def save_snapshot(self, snapshot: StoredSnapshot) -> None:
        """Not kept."""
        del snapshot

    def snapshots(self) -> list[int]:
        """None."""
        return []

    def load_snapshot(self, size: int) -> None:
        """None."""
        del size

    def close(self) -> None:
        """Nothing to close."""


@dataclass(slots=True)
class Caller:
    """One party that asks for leases and gives them back, always waiting for the answer."""

    number: int
    held: list[int] = field(default_factory=list)
    asked: int = 0
    rng: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.number)

    def next(self) -> Envelope:
        """What it asks now."""
        self.asked += 1
        command: Command
        if len(self.held) >= HELD_MAX:
            command = Release(self.held.pop())
        else:
            cores, gpus = self.rng.choice((1, 2, 4)), self.rng.choice((0, 1, 1, 2))
            tenant = f"tenant-{self.number % 5}"
            command = Submit(
                PlacementRequest(tenant=tenant, cpu_cores=cores, mem_bytes=2**30, gpu_count=gpus),  # type: ignore[arg-type]
                wait=False,
            )
        return Envelope(command, "bench", f"{self.number}-{self.asked}")

    def take(self, answer: Answer) -> None:
        """What it was answered."""
        if isinstance(answer, Granted):
            self.held.extend(answer.lease_ids)


@contextmanager
def running(store: JournalStore) -> Iterator[Runner]:
    """A leader over the store with a small fleet."""
    replica = Replica(store, SystemClock(), name="bench", pace=Pace(snapshot_every=10**9))
    replica.stamps = Stamps(bytes(32))  # as every server does
    runner = Runner(replica)
    runner.start()
    if not runner.wait_for(Role.LEADING, wait_s=20):
        raise InvalidValue("store", "bench", "one that lets the bench lead")
    gpu = GpuDevice(HardwareGeneration.NVIDIA_HOPPER, 80 * 2**30)
    node = NodeCapacity(cpu_cores=64, mem_bytes=2**38, gpus=(gpu,) * 8)
    for number in range(NODES):
        runner.execute(Envelope(RegisterNode(f"node-{number}", node), "bench", "start"))
    try:
        yield runner
    finally:
        runner.stop()


def from_loop(runner: Runner, callers: list[Caller], seconds: float) -> float:
    """Decisions per second, all callers in one event loop."""

    async def one(caller: Caller, gateway: Gateway, until: float) -> int:
        done = 0
        while time.monotonic() < until:
            caller.take(await gateway.execute(caller.next()))
            done += 1
        return done

    async def together() -> float:
        gateway, begin = Gateway(runner, wait_s=30.0), time.monotonic()
        done = await asyncio.gather(*(one(c, gateway, begin + seconds) for c in callers))
        return sum(done) / (time.monotonic() - begin)

    return asyncio.run(together())


def from_threads(runner: Runner, callers: list[Caller], seconds: float) -> float:
    """Decisions per second, each caller a thread."""
    begin = time.monotonic()
    done = [0] * len(callers)

    def one(caller: Caller) -> None:
        while time.monotonic() < begin + seconds:
            caller.take(runner.execute(caller.next()))
            done[caller.number] += 1

    threads = [threading.Thread(target=one, args=(caller,)) for caller in callers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done) / (time.monotonic() - begin)


def light(runner: Runner, calls: int) -> list[float]:
    """Milliseconds of single calls with pauses in between: nobody shares their commit."""
    caller, waits = Caller(0), []
    for _ in range(calls):
        time.sleep(LIGHT_PAUSE_S)
        envelope, begin = caller.next(), time.perf_counter()
        caller.take(runner.execute(envelope))
        waits.append(1000 * (time.perf_counter() - begin))
    return waits


@contextmanager
def stores(folder: str) -> Iterator[dict[str, JournalStore]]:
    """The stores to compare; without PostgreSQL on this machine, one less."""
    found: dict[str, JournalStore] = {
        "no durability": ForgetfulStore(),
        "SQLite": open_store(folder),
    }
    server = None
    try:
        from tests.support.postgres import PostgresServer, find_programs

        programs = find_programs()
        if programs is not None:
            server = PostgresServer(programs)
            found["PostgreSQL"] = open_store(server.new_database())
        yield found
    finally:
        if server is not None:
            server.close()


def run(*, quick: bool = False) -> Section:
    """The section: durable decisions per second by store, and the latency of one."""
    seconds = ROUND_S / 4 if quick else ROUND_S
    rates: dict[str, list[float]] = {}
    waits: dict[str, list[float]] = {}
    modes: dict[str, Callable[..., float]] = {"event loop": from_loop, "threads": from_threads}
    with tempfile.TemporaryDirectory() as folder, stores(folder) as found:
        say(f"durable: {CALLERS} callers on {', '.join(found)}")
        runners = {name: running(store) for name, store in found.items()}
        opened = {name: manager.__enter__() for name, manager in runners.items()}
        try:
            for _ in range(ROUNDS):
                _round(opened, modes, rates, seconds=seconds)
            for name, runner in opened.items():
                say(f"durable: {name}, one caller")
                waits[name] = light(runner, LIGHT_CALLS // (4 if quick else 1))
        finally:
            for manager in runners.values():
                manager.__exit__(None, None, None)
    return _section(rates, waits)


def _round(
    opened: dict[str, Runner],
    modes: dict[str, Callable[..., float]],
    rates: dict[str, list[float]],
    *,
    seconds: float,
) -> None:
    for mode, measure in modes.items():
        for name, runner in opened.items():
            callers = [Caller(n) for n in range(CALLERS)]
            rates.setdefault(f"{name}, {mode}", []).append(measure(runner, callers, seconds))
            for caller in callers:
                for lease_id in caller.held:
                    runner.execute(Envelope(Release(lease_id), "bench", "end"))


def _section(rates: dict[str, list[float]], waits: dict[str, list[float]]) -> Section:
    section = Section("durable", "Durable decisions through the kernel")
    table = Table(
        f"sealed decisions per second with {CALLERS} callers, wall time, median of {ROUNDS} rounds",
        ["store, callers in", "per second", "best round", "of no durability"],
    )
    for name, each in rates.items():
        mode = name.partition(", ")[2]
        reference = median(rates[f"no durability, {mode}"])
        row = [name, f"{median(each):,.0f}", f"{max(each):,.0f}", f"{median(each) / reference:.2f}"]
        table.rows.append(row)
        section.data[name] = median(each)
    section.tables.append(table)
    single = Table("one durable decision under light load, ms", ["store", "p50", "p99", "max"])
    for name, each in waits.items():
        p50, p99 = percentile(each, 50), percentile(each, 99)
        single.rows.append([name, f"{p50:.2f}", f"{p99:.2f}", f"{max(each):.2f}"])
        section.data[f"{name}_p99_ms"] = p99
    section.tables.append(single)
    loop = "event loop"
    section.bar_at_least(
        "durable decisions, SQLite", median(rates[f"SQLite, {loop}"]), SQLITE_BAR, unit="/s"
    )
    if f"PostgreSQL, {loop}" in rates:
        rate = median(rates[f"PostgreSQL, {loop}"])
        section.bar_at_least("durable decisions, PostgreSQL", rate, POSTGRES_BAR, unit="/s")
    else:
        section.notes.append("PostgreSQL is not installed here, so it was not measured")
    p99 = percentile(waits["SQLite"], 99)
    section.bar_at_most("p99 of one durable decision", p99, LIGHT_BAR_MS, unit=" ms")
    section.notes.append("a disk that answers a flush from its cache flatters every figure here")
    return section
