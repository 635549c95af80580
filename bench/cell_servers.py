"""Cells as real servers: how long a request to all of them takes until a cell holds it.

A home and some cells, each a ``bailiwick up`` of its own with 1,000 machines, over HTTP on one
computer. What counts is the time from asking the home to its knowing the leases, beside asking one
cell directly in the same run. A home asks no more than a few cells about a request that one of
them can start, however many it has, so more servers would be more letters once a second, and
nothing else; what a hundred cells cost in choosing is in the section ``cells``.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from bench.api import TENANT, Line, login, server
from bench.measure import percentile, say
from bench.report import Section, Table

CELLS, NODES, TIMES = 4, 1_000, 300
NODES_QUICK, TIMES_QUICK = 50, 40
BAR = 2.0
POLL_S, WAIT_S = 0.002, 60.0
UNASKED_S = 0.005
"""So long the home is not asked at all: to answer takes it away from what is measured."""
QUIET_S = 0.05
"""Nothing is under way when the next is asked."""

BODY = {"tenant": TENANT, "resources": {"cpu_milli": 100}, "ttl_ms": 3_600_000}


@dataclass(slots=True)
class Plane:
    """One server, and its administrator's line to it."""

    address: str
    call: Callable[[], Line]
    line: Line

    async def ask(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """The answer, which has to be one."""
        status, content = await self.line.ask(method, path, body)
        if status >= 300:
            raise RuntimeError(f"{method} {path}: {status}: {content[:300]!r}")
        found: dict[str, Any] = json.loads(content or b"{}")
        return found


async def enter(address: str, code: str) -> Plane:
    """Log in, and make the tenant."""
    at = urlsplit(address)
    host, port = str(at.hostname), at.port or 0
    call = partial(Line, host, port, await login(host, port, code))
    plane = Plane(address, call, call())
    await plane.ask("POST", "/v1/tenants", {"tenant": TENANT})
    return plane


async def furnish(cell: Plane, *, nodes: int) -> str:
    """Machines, and an account that may be its home; the account's key."""
    cell.line = cell.call()  # one that was idle for long is hung up
    for number in range(nodes):
        body = {"node": f"n{number}", "resources": {"cpu_milli": 64_000}}
        await cell.ask("POST", "/v1/nodes", body)
    role = {"role": "home", "level": "fleet", "keys": ["scheduler.cell.home"]}
    await cell.ask("PUT", "/v1/roles", role)
    await cell.ask("POST", "/v1/service-accounts", {"account": "campus"})
    await cell.ask("PUT", "/v1/members", {"member": "campus", "role": "home"})
    made = await cell.ask("POST", "/v1/service-accounts/campus/keys", {})
    return str(made["key"])


async def until(look: Callable[[], Awaitable[bool]], what: str) -> None:
    """Wait until it is so."""
    end = time.monotonic() + WAIT_S
    while not await look():
        if time.monotonic() > end:
            raise RuntimeError(f"not within {WAIT_S:g} s: {what}")
        await asyncio.sleep(POLL_S)


async def ask_one(cell: Plane) -> float:
    """Milliseconds until a cell that is asked directly has given a lease; it is given back."""
    begin = time.perf_counter()
    found = await cell.ask("POST", "/v1/leases", BODY | {"wait": False})
    took = 1000 * (time.perf_counter() - begin)
    await cell.ask("DELETE", f"/v1/leases/{found['lease_ids'][0]}")
    return took


async def ask_all(home: Plane) -> float:
    """Milliseconds until the home knows in which cell a request has its lease; it is withdrawn."""
    begin = time.perf_counter()
    number = (await home.ask("POST", "/v1/global/requests", BODY))["global_id"]
    path = f"/v1/global/requests/{number}"

    async def is_held() -> bool:
        return bool((await home.ask("GET", path))["status"] == "held")

    async def is_over() -> bool:
        return (await home.line.ask("GET", path))[0] == 404

    await asyncio.sleep(UNASKED_S)
    await until(is_held, f"request {number} is held")
    took = 1000 * (time.perf_counter() - begin)
    await home.ask("DELETE", path)
    await until(is_over, f"request {number} is given back")
    await asyncio.sleep(QUIET_S)
    return took


async def round_trip(cell: Plane) -> float:
    """Milliseconds of the cheapest request there is."""
    begin = time.perf_counter()
    await cell.line.ask("GET", "/healthz")
    return 1000 * (time.perf_counter() - begin)


async def measure(
    planes: list[tuple[str, str]], keys: Path, *, nodes: int, times: int
) -> dict[str, list[float]]:
    """Milliseconds of each, in turn."""
    home, *cells = [await enter(*each) for each in planes]
    for number, cell in enumerate(cells):
        name = f"cell-{number}"
        (keys / name).write_text(f"{cell.address} campus {await furnish(cell, nodes=nodes)}\n")
        home.line = home.call()
        await home.ask("POST", "/v1/cells", {"cell": name, "url": cell.address})

        async def is_reached(path: str = f"/v1/cells/{name}") -> bool:
            return bool((await home.ask("GET", path))["standing"] == "reachable")

        await until(is_reached, f"{name} is reached")
    for plane in (home, *cells):
        plane.line = plane.call()
    took: dict[str, list[float]] = {"round trip": [], "one cell": [], "all cells": []}
    for turn in range(times):
        cell = cells[turn % len(cells)]
        took["round trip"].append(await round_trip(cell))
        took["one cell"].append(await ask_one(cell))
        took["all cells"].append(await ask_all(home))
    for plane in (home, *cells):
        plane.line.close()
    return took


def run(*, quick: bool = False) -> Section:
    """The section: a request to all cells beside a request to one."""
    nodes, times = (NODES_QUICK, TIMES_QUICK) if quick else (NODES, TIMES)
    say(f"cell_servers: a home and {CELLS} cells of {nodes:,} machines, each a server")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        keys = folder / "keys"
        for name in ("keys", "home", *(f"cell-{n}" for n in range(CELLS))):
            (folder / name).mkdir(mode=0o700)
        words = ("--no-node", "--cell-keys", str(keys))
        planes = [stack.enter_context(server(folder / "home", *words))]
        planes += [stack.enter_context(server(folder / f"cell-{n}")) for n in range(CELLS)]
        took = asyncio.run(measure(planes, keys, nodes=nodes, times=times))
    section = Section("cell_servers", "A request to all cells, as real servers")
    table = Table("milliseconds", ["what", "p25", "p50", "p90"])
    for what, each in took.items():
        table.rows.append([what, *(f"{percentile(each, p):.1f}" for p in (25, 50, 90))])
    section.tables.append(table)
    trip, one, everywhere = (median(each) for each in took.values())
    ratio = everywhere / (one + trip)
    section.data = {"ratio": ratio, "all_ms": everywhere, "one_ms": one, "trip_ms": trip}
    section.notes.append(
        f"{CELLS} cells of {nodes:,} machines and their home share this computer's processors. "
        "Each of these requests is asked alone."
    )
    section.bar_at_most("all cells, beside one cell's decision and a round trip", ratio, BAR)
    return section
