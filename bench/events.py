"""How long after its record an event reaches those who watch, beside a server that has other work.

A real server process; people who watch events over kept connections; changes of an app at a steady
rate, and lease requests beside them. A wait counts from the time in the event, when it was decided,
to its arrival: so the commit is in it. The reference in the same run is the watch of the journal.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

from bench.api import TENANT, Caller, Line, prepare, server
from bench.measure import percentile, say
from bench.report import Section, Table

WATCHERS, RATE, LOAD = 12, 20, 100
"""Who watch; events, and lease requests, in a second."""
SECONDS, SECONDS_QUICK = 20.0, 4.0
BAR_MS = 200
_MANIFEST = """
app: bench
version: 1.0.0
title: Bench
description: Says nothing
roles: {worker: {count: 1, shape: {cpus: 1}, artifact: service, command: [work]}}
artifacts: {service: {kind: oci, digest: "sha256:%s", source: main}}
runtime_backend: bare_metal
runbook: |
  # Symptom
  # Correlation id
  # Steps
""" % ("ab" * 32)


@dataclass(slots=True)
class Watcher:
    """One kept connection, and how long each event took to it."""

    path: str
    waits_ms: list[float] = field(default_factory=list)

    async def watch(self, host: str, port: int, token: str) -> None:
        """Read events until cancelled."""
        reader, writer = await asyncio.open_connection(host, port)
        words = f"GET {self.path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {token}\r\n\r\n"
        writer.write(words.encode())
        try:
            while line := await reader.readline():
                if line.startswith(b"data: "):
                    now_ms = time.time() * 1000
                    self._note(json.loads(line[6:]), now_ms)
        finally:
            writer.close()

    def _note(self, told: dict[str, object], now_ms: float) -> None:
        if "time" in told:
            at_ms = 1000 * datetime.fromisoformat(str(told["time"])).timestamp()
            self.waits_ms.append(now_ms - at_ms)
        elif told.get("kind") == "app_entitlement_set":
            self.waits_ms.append(now_ms - float(str(told["at_ms"])))


async def paced(rate: int, seconds: float, act: object) -> None:
    """Have something done so often in a second."""
    begin = time.perf_counter()
    for number in range(int(rate * seconds)):
        await asyncio.sleep(max(0.0, begin + number / rate - time.perf_counter()))
        await act()  # type: ignore[operator]


async def measure(address: str, code: str, seconds: float) -> dict[str, list[float]]:
    """The waits of those who watch events, and of one who watches the journal."""
    at = urlsplit(address)
    host, port = str(at.hostname), at.port or 0
    token = await prepare(host, port, code)
    line, caller = Line(host, port, token), Caller(Line(host, port, token))
    body: dict[str, object] = {"document": _MANIFEST, "visibility": "public"}
    status, content = await line.ask("POST", "/v1/apps", body)
    if status != 200:
        raise RuntimeError(f"{status}: {content[:300]!r}")

    async def change() -> None:
        body = {"app": "bench", "tenant": TENANT, "is_enabled": True}
        status, content = await line.ask("PUT", "/v1/entitlements", body)
        if status != 200:
            raise RuntimeError(f"{status}: {content[:300]!r}")

    watchers = [Watcher("/v1/events/watch") for _ in range(WATCHERS)]
    reference = Watcher("/v1/watch?kinds=app_entitlement_set")
    tasks = [asyncio.create_task(each.watch(host, port, token)) for each in (*watchers, reference)]
    await asyncio.sleep(1.0)
    await asyncio.gather(paced(RATE, seconds, change), paced(LOAD, seconds, caller.lease))
    await asyncio.sleep(1.0)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    wanted = int(RATE * seconds)
    if any(len(each.waits_ms) != wanted for each in (*watchers, reference)):
        raise RuntimeError("somebody was not told of everything")
    return {
        "events": [wait for each in watchers for wait in each.waits_ms],
        "journal": reference.waits_ms,
    }


def run(*, quick: bool = False) -> Section:
    """The section: from the record to who watches."""
    say(f"events: {WATCHERS} watchers, {RATE} events and {LOAD} lease requests a second")
    with tempfile.TemporaryDirectory() as folder, server(Path(folder)) as (address, code):
        waits = asyncio.run(measure(address, code, SECONDS_QUICK if quick else SECONDS))
    section = Section("events", "Events: from the record to who watches")
    title = f"ms from the decision to a watcher, {WATCHERS} of events and one of the journal"
    table = Table(title, ["watch", "p50", "p90", "p99", "max", "events"])
    for name, each in waits.items():
        figures = [*(percentile(each, p) for p in (50, 90, 99)), max(each)]
        table.rows.append([name, *(f"{ms:.1f}" for ms in figures), f"{len(each):,}"])
        section.data[f"{name}_p99_ms"] = figures[2]
    section.tables.append(table)
    p99 = percentile(waits["events"], 99)
    section.bar_at_most("p99 from a record to a watcher of events", p99, BAR_MS, unit=" ms")
    section.notes.append("the watchers, in Python too, share the two cores with the server")
    return section
