"""What open dashboards cost the writer: its decisions per second with 0 and with 200 of them.

A real server process and callers that ask for leases as fast as they are answered. A dashboard does
over HTTP what an operator's home does in a browser: it keeps a stream of notices open, and after
each notice reads again what it shows. People's browsers run elsewhere, but here callers and
dashboards share the cores with the server: so the bar is on decisions per second of the server's
own processor time, and those per second by the clock stand beside it.

A round has three legs: one side, the other for twice as long, the first again. So what changes
evenly with time (a growing journal, a cache that warms) counts for both. Rounds begin with either
side in turn, and there is a round in which nobody watches either side: what that one finds is what
these figures are good for.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

from bench.api import TENANT, Caller, Line, closed_loop, prepare, server
from bench.measure import say
from bench.report import Section, Table

DASHBOARDS, PEOPLE = 200, 20
"""A principal may watch sixteen times; so there are some people with ten windows each."""
CALLERS, ROUNDS, ROUND_S, SETTLE_S = 16, 4, 60.0, 3.0
"""A round is longer than the time between two notices to one of so many."""
COST_BAR_PERCENT = 5.0
NAMES = ("cost", "notices/s", "reads/s")
PICTURE = "/v1/fleet/picture"
FIRST = (PICTURE, "/v1/queue?limit=20", "/v1/replica", "/v1/tenants?limit=500")
"""What the home of an operator reads when it is opened."""
AFTER_NEWS = (PICTURE, "/v1/queue?limit=20")
"""And what of it again, after news of leases."""
GPU_NODES, GPU_LEASES, WAITING = 50, 40, 20
"""What there is to be shown: nodes of eight GPUs, leases of eight, requests that wait."""


@dataclass(slots=True)
class Dashboard:
    """One open page."""

    host: str
    port: int
    token: str
    notices: int = 0
    reads: int = 0
    is_open: bool = False
    _etag: bytes | None = None

    async def stay_open(self) -> None:
        """Show all once, then again after each notice, until cancelled."""
        reader, writer = await asyncio.open_connection(self.host, self.port)
        words = (
            f"GET /v1/changes HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {self.token}\r\n\r\n"
        )
        writer.write(words.encode())
        try:
            await self._read_all(FIRST)
            self.is_open = True
            while heard := await reader.readline():
                if heard.startswith(b"event: change"):
                    self.notices += 1
                    await self._read_all(AFTER_NEWS)
        finally:
            writer.close()

    async def _read_all(self, paths: Sequence[str]) -> None:
        """Over a connection of its own: between notices the server closes what is idle."""
        line = Line(self.host, self.port, self.token)
        for path in paths:
            known = self._etag if path == PICTURE else None
            status, content = await line.ask("GET", path, known=known)
            if status not in {200, 304}:
                raise RuntimeError(f"{path}: {status}: {content[:300]!r}")
            if path == PICTURE and status == 200:
                self._etag = line.etag
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
class Leg:
    """One part of a round: how fast, and what dashboards heard and read meanwhile."""

    speed: Speed
    notices: int = 0
    reads: int = 0

    def __add__(self, other: Leg) -> Leg:
        return Leg(self.speed + other.speed, self.notices + other.notices, self.reads + other.reads)


@dataclass(frozen=True, slots=True)
class Round:
    """Decisions per second without and with dashboards, in turn."""

    name: str
    alone: Speed
    watched: Leg

    @property
    def cost_percent(self) -> float:
        """What the dashboards took of what the server can decide in a second of its time."""
        return 100 * (1 - self.watched.speed.per_cpu_s / self.alone.per_cpu_s)

    @property
    def by_clock_percent(self) -> float:
        """The same by the clock."""
        return 100 * (1 - self.watched.speed.per_s / self.alone.per_s)

    def row(self) -> list[str]:
        """As the table has it."""
        both, wall_s = (self.alone, self.watched.speed), self.watched.speed.wall_s
        speeds = [f"{s.per_s:,.0f}" for s in both] + [f"{s.per_cpu_s:,.0f}" for s in both]
        rates = [f"{self.watched.notices / wall_s:.1f}", f"{self.watched.reads / wall_s:.0f}"]
        return [self.name, *speeds, f"{self.cost_percent:.1f} %", *rates]


@dataclass(frozen=True, slots=True)
class Ground:
    """Where it is measured."""

    host: str
    port: int
    token: str
    tokens: list[str]

    def line(self) -> Line:
        """A connection of a caller."""
        return Line(self.host, self.port, self.token)

    async def alone(self, seconds: float) -> Leg:
        """With no dashboard open."""
        return Leg(await speed_of(self.line, seconds))

    async def watched(self, seconds: float) -> Leg:
        """With all of them open."""
        pages = [
            Dashboard(self.host, self.port, self.tokens[n % PEOPLE]) for n in range(DASHBOARDS)
        ]
        tasks = [asyncio.create_task(page.stay_open()) for page in pages]
        while not all(page.is_open for page in pages):
            for task in tasks:
                if task.done():
                    task.result()  # it failed
            await asyncio.sleep(0.1)
        await asyncio.sleep(SETTLE_S)
        seen = sum(page.notices for page in pages), sum(page.reads for page in pages)
        speed = await speed_of(self.line, seconds)
        notices = sum(page.notices for page in pages) - seen[0]
        reads = sum(page.reads for page in pages) - seen[1]
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task
        await asyncio.sleep(1.0)
        return Leg(speed, notices, reads)


async def fill(ground: Ground) -> None:
    """Something to be shown: GPUs, leases that hold them, and requests that wait."""
    line = ground.line()

    async def do(method: str, path: str, body: object) -> None:
        status, content = await line.ask(method, path, body)
        if status not in {200, 201, 202}:
            raise RuntimeError(f"{path}: {status}: {content[:300]!r}")

    room = {"limits": {"gpu_count": 8 * GPU_NODES, "lease_count": 10_000}}
    await do("PUT", f"/v1/tenants/{TENANT}/quota", room)
    gpus = [{"generation": "nvidia_hopper", "vram_bytes": 80 * 2**30}] * 8
    machine = {"resources": {"cpu_milli": 64_000, "mem_bytes": 2**40}, "gpus": gpus}
    for number in range(GPU_NODES):
        await do("POST", "/v1/nodes", {"node": f"gpu-{number}", **machine})
    term = {"tenant": TENANT, "ttl_ms": 86_400_000}
    for _ in range(GPU_LEASES):
        await do("POST", "/v1/leases", {**term, "gpu_count": 8, "wait": False})
    wish = {
        "gpu_count": 8,
        "gpu_generation": "nvidia_hopper",
        "gang_size": GPU_NODES - GPU_LEASES + 1,
    }
    for _ in range(WAITING):
        await do("POST", "/v1/leases", {**term, **wish, "wait": True})
    line.close()


async def measure(address: str, code: str, *, seconds: float, rounds: int) -> list[Round]:
    """Rounds in turn; the first is the one in which nobody watches."""
    at = urlsplit(address)
    host, port = str(at.hostname), at.port or 0
    token = await prepare(host, port, code)
    ground = Ground(host, port, token, await people(host, port, token))
    await fill(ground)
    await speed_of(ground.line, 3.0)  # warm
    found = []
    for number in range(rounds + 1):
        around, between = ground.alone, ground.alone if number == 0 else ground.watched
        if number % 2 == 0 and number > 0:
            around, between = between, around
        one, middle, other = [
            await leg(part)
            for leg, part in ((around, seconds / 2), (between, seconds), (around, seconds / 2))
        ]
        sides = [one + other, middle]
        if number % 2 == 0 and number > 0:
            sides.reverse()
        found.append(Round(str(number) if number else "nobody", sides[0].speed, sides[1]))
        say(f"dashboards: round {found[-1].name}: {found[-1].cost_percent:.1f} %")
    return found


def run(*, quick: bool = False) -> Section:
    """The section: decisions per second, alone and watched."""
    rounds, seconds = (2, ROUND_S) if quick else (ROUNDS, ROUND_S)
    say(f"dashboards: {DASHBOARDS} of them, {rounds} rounds with and without")
    with tempfile.TemporaryDirectory() as folder, server(Path(folder)) as (address, code):
        nobody, *found = asyncio.run(measure(address, code, seconds=seconds, rounds=rounds))
    section = Section("dashboards", f"{DASHBOARDS} open dashboards beside the writer")
    table = Table(
        f"lease requests and releases a second, {CALLERS} callers",
        [*("round", "without", "with", "of its time, without", "with"), *NAMES],
    )
    table.rows += [each.row() for each in (nobody, *found)]
    section.tables.append(table)
    cost = median(each.cost_percent for each in found)
    by_clock = median(each.by_clock_percent for each in found)
    section.data = {"cost_percent": cost, "cost_by_clock_percent": by_clock}
    section.data["nobody_percent"] = nobody.cost_percent
    what = f"{DASHBOARDS} dashboards, of the writer's decisions per second"
    section.bar_at_most(what, cost, COST_BAR_PERCENT, unit=" %")
    section.notes.append(f"by the clock, with 200 clients on the same cores: {by_clock:.1f} %")
    section.notes.append(f"a round in which nobody watched: {nobody.cost_percent:.1f} %")
    return section
