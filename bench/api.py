"""The control plane as a caller meets it: a real server process, asked over HTTP.

``bailiwick up`` runs as it does for anybody (durable, sealed, logged, traced), and a caller with
kept connections shares the two cores with it. Requests are lease requests and releases in turn.
At a steady rate a request's time counts from when it was due, so a server that stalls is charged
for everybody it kept waiting. The reference in the same run is the cheapest route there is.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

from bailiwick.iam import FLEET, Permission, Role, Scope, check_access
from bench.measure import percentile, say
from bench.report import Section, Table

RATE, RATE_BAR_MS = 500, 100
CALLERS, ROUNDS, ROUND_S = 32, 3, 4.0
STEADY_S = 20.0
HELP_RUNS, HELP_BAR_MS = 9, 300
CHECKS, CHECK_BAR_US = 50_000, 20
NODES = 50
TENANT = "bench"
START_S = 120.0

_LISTENS = re.compile(r"^Bailiwick listens on (\S+) as ", re.MULTILINE)
_LOGIN = re.compile(r"^  bailiwick login (?:--server \S+ )?(\S+)$", re.MULTILINE)
_ETAG = re.compile(rb"^etag: (\S+)", re.IGNORECASE | re.MULTILINE)
_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


class Line:
    """One kept connection."""

    def __init__(self, host: str, port: int, token: str) -> None:
        self._where, self._token = (host, port), token
        self.etag: bytes | None = None
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(
        self, method: str, path: str, body: object = None, *, known: bytes | None = None
    ) -> tuple[int, bytes]:
        """Status and content of an answer; nothing of one that is still the ``known``."""
        if self._streams is None:
            self._streams = await asyncio.open_connection(*self._where)
        reader, writer = self._streams
        data = b"" if body is None else json.dumps(body).encode()
        writer.write(
            f"{method} {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {self._token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n".encode()
            + (b"" if known is None else b"If-None-Match: " + known + b"\r\n")
            + b"\r\n"
            + data
        )
        head = await reader.readuntil(b"\r\n\r\n")
        found, tag = _LENGTH.search(head), _ETAG.search(head)
        self.etag = None if tag is None else tag[1]
        content = await reader.readexactly(int(found[1])) if found else b""
        return int(head[9:12]), content

    def close(self) -> None:
        """Hang up."""
        if self._streams is not None:
            self._streams[1].close()


@dataclass(slots=True)
class Caller:
    """Asks for a lease, then gives it back, and so on."""

    line: Line
    held: list[int] = field(default_factory=list)

    async def lease(self) -> None:
        """One request."""
        if self.held:
            path = f"/v1/leases/{self.held.pop()}"
            status, content = await self.line.ask("DELETE", path)
            wanted = 200
        else:
            body = {"tenant": TENANT, "resources": {"cpu_milli": 100}, "wait": False}
            status, content = await self.line.ask("POST", "/v1/leases", body)
            wanted = 201
        if status != wanted:
            raise RuntimeError(f"{status}: {content[:300]!r}")
        if wanted == 201:
            self.held = json.loads(content)["lease_ids"]

    async def health(self) -> None:
        """The cheapest request there is."""
        status, _ = await self.line.ask("GET", "/healthz")
        if status != 200:
            raise RuntimeError(status)


Request = Callable[[Caller], Awaitable[None]]


async def closed_loop(callers: list[Caller], request: Request, seconds: float) -> float:
    """Requests per second when each caller asks again as soon as it is answered."""
    begin = time.perf_counter()

    async def one(caller: Caller) -> int:
        done = 0
        while time.perf_counter() - begin < seconds:
            await request(caller)
            done += 1
        return done

    done = await asyncio.gather(*(one(caller) for caller in callers))
    return sum(done) / (time.perf_counter() - begin)


async def steady(callers: list[Caller], request: Request, seconds: float) -> list[float]:
    """Milliseconds from when each request was due, at a steady rate."""
    begin, waits = time.perf_counter() + 0.1, []
    numbers = iter(range(int(RATE * seconds)))

    async def one(caller: Caller) -> None:
        for number in numbers:
            due = begin + number / RATE
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            await request(caller)
            waits.append(1000 * (time.perf_counter() - due))

    await asyncio.gather(*(one(caller) for caller in callers))
    return waits


@contextmanager
def server(folder: Path, *words: str) -> Iterator[tuple[str, str]]:
    """A real server process, with no node unless these words say so: its address, and a login."""
    out = folder / "out"
    with out.open("wb") as stdout, (folder / "err").open("wb") as stderr:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "bailiwick.cli.main", "up", "--port", "0"),
                *("--data-dir", str(folder / "data"), *(words or ("--no-node",))),
            ],
            stdout=stdout,
            stderr=stderr,
        )
    try:
        until = time.monotonic() + START_S
        while not (login := _LOGIN.search(out.read_text())):
            if time.monotonic() > until or process.poll() is not None:
                raise RuntimeError((folder / "err").read_text()[-2000:])
            time.sleep(0.05)
        listens = _LISTENS.search(out.read_text())
        assert listens is not None
        yield listens[1], login[1]
    finally:
        process.terminate()
        process.wait(START_S)


async def login(host: str, port: int, code: str) -> str:
    """The session's token."""
    first = Line(host, port, "none")
    _, content = await first.ask("POST", "/v1/login", {"code": code})
    first.close()
    return str(json.loads(content)["token"])


async def prepare(host: str, port: int, code: str) -> str:
    """Log in, and make a tenant and machines to ask for; the session's token."""
    token = await login(host, port, code)
    line = Line(host, port, token)
    await line.ask("POST", "/v1/tenants", {"tenant": TENANT})
    for number in range(NODES):
        body = {"node": f"node-{number}", "resources": {"cpu_milli": 64_000}}
        status, content = await line.ask("POST", "/v1/nodes", body)
        if status != 200:
            raise RuntimeError(f"{status}: {content[:300]!r}")
    line.close()
    return token


def measure_api(*, quick: bool) -> tuple[list[float], dict[str, list[float]]]:
    """Waits at the steady rate, and requests per second as fast as they go."""
    short = 4 if quick else 1

    async def whole(address: str, code: str) -> tuple[list[float], dict[str, list[float]]]:
        at = urlsplit(address)
        host, port = str(at.hostname), at.port or 0
        token = await prepare(host, port, code)
        callers = [Caller(Line(host, port, token)) for _ in range(CALLERS)]
        rates: dict[str, list[float]] = {"leases": [], "healthz": []}
        await closed_loop(callers, Caller.lease, 1.0)  # warm
        waits = await steady(callers, Caller.lease, STEADY_S / short)
        for _ in range(ROUNDS):
            rates["leases"].append(await closed_loop(callers, Caller.lease, ROUND_S / short))
            rates["healthz"].append(await closed_loop(callers, Caller.health, ROUND_S / short))
        for caller in callers:
            caller.line.close()
        return waits, rates

    with tempfile.TemporaryDirectory() as folder, server(Path(folder)) as (address, code):
        return asyncio.run(whole(address, code))


def measure_help() -> list[float]:
    """Milliseconds of ``bailiwick --help``, start to end, of fresh processes."""
    command = [sys.executable, "-m", "bailiwick.cli.main", "--help"]
    took = []
    for _ in range(HELP_RUNS):
        begin = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, "TERM": "dumb"})
        took.append(1000 * (time.perf_counter() - begin))
    return took


def measure_check() -> float:
    """Microseconds of one permission check, of somebody with a role in many projects."""
    roles = {Scope("tenant", f"project-{n}"): Role.PROJECT_MEMBER for n in range(50)}
    roles |= {Scope(f"other-{n}"): Role.TENANT_AUDITOR for n in range(50)}
    where = [Scope("tenant", "project-49"), Scope("tenant"), Scope("stranger", "p"), FLEET]
    begin = time.perf_counter()
    for number in range(CHECKS):
        check_access(roles, Permission.QUEUE_SUBMIT, scope=where[number % 4], keys=None)
    return 1e6 * (time.perf_counter() - begin) / CHECKS


def run(*, quick: bool = False) -> Section:
    """The section: requests over HTTP, the start of the command line, one permission check."""
    say(f"api: {CALLERS} callers of a real server process")
    waits, rates = measure_api(quick=quick)
    say("api: --help and the permission check")
    took, check_us = measure_help(), measure_check()
    section = Section("api", "The control plane over HTTP")
    rows = [percentile(waits, p) for p in (50, 90, 99)]
    table = Table(f"lease request or release at {RATE}/s, ms", ["p50", "p90", "p99", "max"])
    table.rows.append([f"{ms:.1f}" for ms in (*rows, max(waits))])
    section.tables.append(table)
    most = Table(
        f"requests per second as fast as {CALLERS} callers ask, median of {ROUNDS} rounds",
        ["route", "per second", "of healthz"],
    )
    reference = median(rates["healthz"])
    for name, each in rates.items():
        most.rows.append([name, f"{median(each):,.0f}", f"{median(each) / reference:.2f}"])
        section.data[name] = median(each)
    section.tables.append(most)
    section.data |= {"p99_ms": rows[2], "help_ms": median(took), "check_us": check_us}
    section.bar_at_least("lease requests over HTTP", median(rates["leases"]), RATE, unit="/s")
    section.bar_at_most(f"p99 at {RATE} requests/s", rows[2], RATE_BAR_MS, unit=" ms")
    section.bar_at_most("bailiwick --help", median(took), HELP_BAR_MS, unit=" ms")
    section.bar_at_most("one permission check", check_us, CHECK_BAR_US, unit=" us")
    section.notes.append("the caller, in Python too, uses about half of one of the two cores")
    return section
