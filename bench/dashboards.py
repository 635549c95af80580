"""What open dashboards cost the writer: its decisions per second with 0 and with 200 of them.

A real server process and callers that ask for leases as fast as they are answered, in rounds with
and without dashboards in turn, so that both see the same machine. A dashboard does over HTTP what
an operator's home does in a browser: it keeps a stream of notices open, and after each notice reads
again what it shows. People's browsers run elsewhere, but here callers and dashboards share the
cores with the server: so the bar is on decisions per second of the server's own processor time,
and those per second by the clock stand beside it.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

from bench.api import Caller, Line, closed_loop, prepare, server
from bench.measure import say
from bench.report import Section, Table

DASHBOARDS, PEOPLE = 200, 20
"""A principal may watch sixteen times; so there are some people with ten windows each."""
CALLERS, ROUNDS, ROUND_S, SETTLE_S = 16, 3, 60.0, 3.0
"""A round is longer than the time between two notices to one of so many."""
COST_BAR_PERCENT = 5.0
NAMES = ("cost", "notices/s", "reads/s")
READS = (
    *("/v1/nodes?limit=500", "/v1/leases?limit=500", "/v1/queue?limit=50"),
    *("/v1/replica", "/v1/tenants?limit=500"),
)
"""What the home of an operator shows."""


@dataclass(slots=True)
class Dashboard:
    """One open page."""

    host: str
    port: int
    token: str
    notices: int = 0
    reads: int = 0

    async def stay_open(self) -> None:
        """Show all once, then again after each notice, until cancelled."""
        reader, writer = await asyncio.open_connection(self.host, self.port)
        words = (
            f"GET /v1/changes HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {self.token}\r\n\r\n"
        )
        writer.write(words.encode())
        try:
            await self._read_all()
            while heard := await reader.readline():
                if heard.startswith(b"event: change"):
                    self.notices += 1
                    await self._read_all()
        finally:
            writer.close()

    async def _read_all(self) -> None:
        """Over a connection of its own: between notices the server closes what is idle."""
        line = Line(self.host, self.port, self.token)
        for path in READS:
            status, content = await line.ask("GET", path)
            if status != 200:
                raise RuntimeError(f"{path}: {status}: {content[:300]!r}")
            self.reads += 1
        line.close()


async def people(host: str, port: int, token: str) -> list[str]:
    """Tokens of operators."""
    line = Line(host, port, token)
    tokens = []
    for number in range(PEOPLE):
        name = f"operator-{number}"
        await line.ask("PUT", "/v1/members", {"member": name, "role": "fleet_admin"})
        wish = {"principal": name, "ttl_s": 3600}
        status, content = await line.ask("POST", "/v1/tokens", wish)
        if status not in {200, 201}:
            raise RuntimeError(f"{status}: {content[:300]!r}")
        tokens.append(str(json.loads(content)["token"]))
    line.close()
    return tokens


@dataclass(frozen=True, slots=True)
class Speed:
    """Decisions, and what time they took by the clock and of the server's processor."""

    decisions: float
    wall_s: float
    cpu_s: float

    @property
    def per_s(self) -> float:
        """By the clock."""
        return self.decisions / self.wall_s

    @property
    def per_cpu_s(self) -> float:
        """By the server's processor time."""
        return self.decisions / self.cpu_s

    def __add__(self, other: Speed) -> Speed:
        return Speed(
            self.decisions + other.decisions,
            self.wall_s + other.wall_s,
            self.cpu_s + other.cpu_s,
        )


def cpu_s(pid: int) -> float:
    """Processor time of a process so far."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def child() -> int:
    """The server, the one process that this one has started."""
    (pid,) = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return int(pid)


async def speed_of(lines: Callable[[], Line], seconds: float) -> Speed:
    """As fast as they go, over connections that are warm."""
    pid = child()
    callers = [Caller(lines()) for _ in range(CALLERS)]
    await closed_loop(callers, Caller.lease, 1.0)
    before, begin = cpu_s(pid), time.perf_counter()
    rate = await closed_loop(callers, Caller.lease, seconds)
    wall_s = time.perf_counter() - begin
    speed = Speed(rate * wall_s, wall_s, cpu_s(pid) - before)
    for caller in callers:
        if caller.held:
            await caller.lease()  # it gives back what it holds
        caller.line.close()
    return speed


@dataclass(frozen=True, slots=True)
class Round:
    """Decisions per second without and with dashboards, one after the other."""

    alone: Speed
    watched: Speed
    notices: int
    reads: int

    @property
    def cost_percent(self) -> float:
        """What the dashboards took of what the server can decide in a second of its time."""
        return 100 * (1 - self.watched.per_cpu_s / self.alone.per_cpu_s)


async def measure(address: str, code: str, *, seconds: float, rounds: int) -> list[Round]:
    """Rounds in turn."""
    at = urlsplit(address)
    host, port = str(at.hostname), at.port or 0
    token = await prepare(host, port, code)
    tokens = await people(host, port, token)
    found = []

    def line() -> Line:
        return Line(host, port, token)

    await speed_of(line, 1.0)  # warm
    for _ in range(rounds):
        before = await speed_of(line, seconds / 2)
        pages = [Dashboard(host, port, tokens[n % PEOPLE]) for n in range(DASHBOARDS)]
        tasks = [asyncio.create_task(page.stay_open()) for page in pages]
        while not all(page.reads >= len(READS) for page in pages):  # all are open
            for task in tasks:
                if task.done():
                    task.result()  # it failed
            await asyncio.sleep(0.1)
        await asyncio.sleep(SETTLE_S)
        seen = sum(page.notices for page in pages), sum(page.reads for page in pages)
        watched = await speed_of(line, seconds)
        notices = sum(page.notices for page in pages) - seen[0]
        reads = sum(page.reads for page in pages) - seen[1]
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task
        await asyncio.sleep(1.0)
        after = await speed_of(line, seconds / 2)
        found.append(Round(before + after, watched, notices, reads))
    return found


def run(*, quick: bool = False) -> Section:
    """The section: decisions per second, alone and watched."""
    rounds, seconds = (1, ROUND_S) if quick else (ROUNDS, ROUND_S)
    say(f"dashboards: {DASHBOARDS} of them, {rounds} rounds with and without")
    with tempfile.TemporaryDirectory() as folder, server(Path(folder)) as (address, code):
        found = asyncio.run(measure(address, code, seconds=seconds, rounds=rounds))
    section = Section("dashboards", f"{DASHBOARDS} open dashboards beside the writer")
    table = Table(
        f"lease requests and releases a second, {CALLERS} callers",
        [*("round", "without", "with", "of its time, without", "with"), *NAMES],
    )
    for number, each in enumerate(found, 1):
        rates = [f"{each.notices / seconds:.1f}", f"{each.reads / seconds:.0f}"]
        both = (each.alone, each.watched)
        speeds = [f"{s.per_s:,.0f}" for s in both] + [f"{s.per_cpu_s:,.0f}" for s in both]
        table.rows.append([str(number), *speeds, f"{each.cost_percent:.1f} %", *rates])
    section.tables.append(table)
    cost = median(each.cost_percent for each in found)
    by_clock = median(100 * (1 - each.watched.per_s / each.alone.per_s) for each in found)
    section.data = {"cost_percent": cost, "cost_by_clock_percent": by_clock}
    what = f"{DASHBOARDS} dashboards, of the writer's decisions per second"
    section.bar_at_most(what, cost, COST_BAR_PERCENT, unit=" %")
    section.notes.append(f"by the clock, with 200 clients on the same cores: {by_clock:.1f} %")
    return section
