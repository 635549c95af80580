"""The pages as a browser meets them: the first view, a long table, and the fleet as a picture.

Chromium against a real server process with a fleet that was made through the API: 10,000 nodes with
eight GPUs each, and 100,000 leases. Nothing is faked between the page and the journal: the table
fetches its rows page by page as it is scrolled.

A frame is the time between two calls of ``requestAnimationFrame``. On a busy machine frames are
late whatever a page does: so the same is measured of a page that does nothing, and where that one
is over the bar, frames are not judged. The processor time of the page's own thread for a frame
stands beside; no other process is in it. Needs Chromium (``make test-tools``) and a built web.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from bailiwick import InvalidValue
from bench.api import Line, login, server
from bench.measure import percentile, say
from bench.report import Section, Table

NODES, NODES_QUICK = 10_000, 1_000
LEASES, LEASES_QUICK = 100_000, 5_000
GANG, LINES = 50, 8
VIEWS = 5
FIRST_VIEW_BAR_S, FIRST_VIEW_BAR_BYTES, FRAME_BAR_MS = 1.0, 300_000, 50.0
WAIT_MS = 600_000
TENANTS = ("bench", "other", "third")
GPU = {"generation": "nvidia_hopper", "vram_bytes": 80 * 2**30, "model": "H100"}

FRAMES = """async ({step, most, selector}) => {
  const scrolled = selector && document.querySelector(selector);
  const took = [];
  let last = await new Promise(requestAnimationFrame);
  for (let frame = 0; frame < most; frame += 1) {
    if (scrolled) scrolled.scrollTop += step;
    const now = await new Promise(requestAnimationFrame);
    took.push(now - last);
    last = now;
  }
  return took;
}"""
TO_THE_END = """async selector => {
  const table = document.querySelector(selector);
  const rows = () => Math.round(table.scrollHeight / 36);
  const took = [];
  let last = await new Promise(requestAnimationFrame);
  let still = 0;
  for (let had = rows(); still < 600; ) {
    table.scrollTop = table.scrollHeight;
    const now = await new Promise(requestAnimationFrame);
    took.push(now - last);
    last = now;
    still = rows() > had ? 0 : still + 1;
    had = rows();
    if (had > %d) break;
  }
  return took;
}"""
ROWS = "selector => Math.round(document.querySelector(selector).scrollHeight / 36) - 1"
RECOLOUR = """async words => {
  const took = [];
  for (const word of words) {
    const button = [...document.querySelectorAll('[role=radio]')].find(
      each => each.textContent === word);
    await new Promise(requestAnimationFrame);
    const began = performance.now();
    button.click();
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    took.push(performance.now() - began);
  }
  return took;
}"""


async def each_of(lines: list[Line], calls: list[tuple[str, str, object]]) -> None:
    """Ask for all of it, over several kept connections."""
    left = iter(calls)

    async def work(line: Line) -> None:
        for method, path, body in left:
            status, content = await line.ask(method, path, body)
            if status not in {200, 201}:
                raise RuntimeError(f"{path}: {status}: {content[:300]!r}")

    await asyncio.gather(*map(work, lines))


async def fill(address: str, code: str, *, nodes: int, leases: int) -> str:
    """The fleet and its leases; a login code for the browser."""
    at = urlsplit(address)
    host, port = str(at.hostname), at.port or 0
    token = await login(host, port, code)
    lines = [Line(host, port, token) for _ in range(LINES)]
    await each_of(lines[:1], [("POST", "/v1/tenants", {"tenant": name}) for name in TENANTS])
    room = {"limits": {"lease_count": leases, "gpu_count": 8 * nodes}}
    await each_of(lines[:1], [("PUT", f"/v1/tenants/{name}/quota", room) for name in TENANTS])
    machine = {"resources": {"cpu_milli": 64_000, "mem_bytes": 2**40}, "gpus": [GPU] * 8}
    names = [f"node-{number:05}" for number in range(nodes)]
    await each_of(lines, [("POST", "/v1/nodes", {"node": name, **machine}) for name in names])
    say(f"pages: {nodes:,} nodes are there")
    wish = {"resources": {"cpu_milli": 500}, "gang_size": GANG, "ttl_ms": 86_400_000}
    wishes = [{"tenant": TENANTS[n % 3], "wait": False, **wish} for n in range(leases // GANG)]
    held = [{"tenant": name, "gpu_count": 8, "wait": False} for name in TENANTS * (nodes // 10)]
    await each_of(lines, [("POST", "/v1/leases", each) for each in (*held, *wishes)])
    say(f"pages: {leases:,} leases are there")
    again = {"principal": "admin", "single_use": True, "ttl_s": 3600}
    _, content = await lines[0].ask("POST", "/v1/tokens", again)
    for line in lines:
        line.close()
    found = re.search(rb'"token": ?"([^"]+)"', content)
    if found is None:
        raise RuntimeError(f"no code: {content[:300]!r}")
    return found[1].decode()


@dataclass(frozen=True, slots=True)
class Frames:
    """Milliseconds between frames, and of the page's own thread for all of them."""

    took: list[float]
    cpu_ms: float

    def row(self, name: str) -> list[str]:
        """As the table has it."""
        over = sum(1 for each in self.took if each > FRAME_BAR_MS)
        figures = [percentile(self.took, p) for p in (50, 99)]
        words = [*(f"{ms:.1f}" for ms in figures), f"{self.longest:.1f}"]
        return [name, *words, f"{over} of {len(self.took):,}", f"{self.cpu_each:.1f}"]

    @property
    def longest(self) -> float:
        """The worst of them."""
        return max(self.took)

    @property
    def cpu_each(self) -> float:
        """Of the page's own thread, for one."""
        return self.cpu_ms / len(self.took)


@dataclass(slots=True)
class Found:
    """What was measured."""

    bare_ms: list[float]
    view_ms: list[float]
    view_bytes: int
    idle: Frames
    loading: Frames
    rows: int
    scrolling: Frames
    panning: Frames
    recolouring: Frames


async def first_views(browser: Any, address: str, cookies: Any) -> tuple[list[float], int]:
    """Milliseconds until an operator's home is drawn, in a browser that has nothing of it."""
    took, weights = [], []
    for _ in range(VIEWS):
        context = await browser.new_context(viewport={"width": 1280, "height": 900})
        await context.add_cookies(cookies)
        page = await context.new_page()
        await page.goto(address, wait_until="commit")
        await page.get_by_role("heading", name="Fleet").wait_for()
        took.append(float(await page.evaluate("() => performance.now()")))
        files = await page.evaluate(
            """() => performance.getEntriesByType('resource').concat(
              performance.getEntriesByType('navigation'))
              .filter(each => !each.name.includes('/v1/'))
              .reduce((sum, each) => sum + each.transferSize, 0)"""
        )
        weights.append(int(files))
        await context.close()
    return took, max(weights)


class Watched:
    """A page, and what its thread has used."""

    def __init__(self, page: Any, talk: Any) -> None:
        self.page, self._talk = page, talk

    async def cpu_ms(self) -> float:
        """So far."""
        told = await self._talk.send("Performance.getMetrics")
        spent = next(each["value"] for each in told["metrics"] if each["name"] == "TaskDuration")
        return 1000 * float(spent)

    async def frames(self, script: str, wish: object) -> Frames:
        """Of a script that answers with the time of each."""
        before = await self.cpu_ms()
        took = await self.page.evaluate(script, wish)
        return Frames(took, await self.cpu_ms() - before)


async def browse(address: str, code: str, *, leases: int) -> Found:
    """Everything, in one browser."""
    from playwright.async_api import async_playwright

    flags = ["--no-sandbox", "--disable-gpu"]
    async with async_playwright() as play:
        path = shutil.which("chromium")
        browser = await play.chromium.launch(executable_path=path, args=flags)
        context = await browser.new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(WAIT_MS)
        page = await context.new_page()
        bare = []
        for _ in range(VIEWS):
            await page.goto(f"{address}/healthz")
            bare.append(float(await page.evaluate("() => performance.now()")))
        talk = await context.new_cdp_session(page)
        await talk.send("Performance.enable", {"timeDomain": "threadTicks"})
        watched = Watched(page, talk)
        idle = await watched.frames(FRAMES, {"step": 0, "most": 300, "selector": None})
        await page.goto(f"{address}/#code={code}")
        await page.get_by_role("button", name="Log in", exact=True).click()
        await page.get_by_role("navigation", name="Pages").wait_for()
        views, weight = await first_views(browser, address, await context.cookies())
        say("pages: the first view is measured; the picture of the fleet")
        await page.get_by_role("img", name=re.compile("nodes with GPUs")).wait_for()
        picture = "div:has(> canvas)"
        pan = {"step": 40, "most": 200, "selector": picture}
        panning = await watched.frames(FRAMES, pan)
        recolouring = await watched.frames(RECOLOUR, ["class", "state", "tenant"] * 3)
        say("pages: the table, to its end")
        await page.goto(f"{address}/leases")
        table = "[role=table]"
        await page.locator(f"{table} [role=cell]").first.wait_for()
        loading = await watched.frames(TO_THE_END % (leases - 200), table)
        rows = int(await page.evaluate(ROWS, table))
        say(f"pages: {rows:,} rows are there, and back through all of them")
        down = {"step": -max(400, rows * 36 // 1200), "most": 1200, "selector": table}
        scrolling = await watched.frames(FRAMES, down)
        await browser.close()
    return Found(bare, views, weight, idle, loading, rows, scrolling, panning, recolouring)


def measure(*, nodes: int, leases: int) -> Found:
    """A server, filled, and a browser before it."""

    async def whole(address: str, code: str) -> Found:
        again = await fill(address, code, nodes=nodes, leases=leases)
        return await browse(address, again, leases=leases)

    with tempfile.TemporaryDirectory() as folder, server(Path(folder)) as (address, code):
        return asyncio.run(whole(address, code))


def run(*, quick: bool = False) -> Section:
    """The section: first view, table, picture."""
    if shutil.which("chromium") is None:
        raise InvalidValue("chromium", None, "Chromium (make test-tools)")
    nodes, leases = (NODES_QUICK, LEASES_QUICK) if quick else (NODES, LEASES)
    say(f"pages: a fleet of {nodes:,} nodes and {leases:,} leases, through the API")
    found = measure(nodes=nodes, leases=leases)
    section = Section("pages", "The pages in Chromium")
    view, bare = median(found.view_ms), median(found.bare_ms)
    first = Table("the first view of an operator's home", ["what", "ms", "KB, compressed"])
    first.rows.append(["a bare answer of the same server", f"{bare:.0f}", "-"])
    first.rows.append(["the home, nothing cached", f"{view:.0f}", f"{found.view_bytes / 1000:.0f}"])
    section.tables.append(first)
    headings = ["what", "p50", "p99", "longest", "over 50 ms", "own CPU, each"]
    table = Table("ms between two frames", headings)
    table.rows.append(found.idle.row("a page that does nothing"))
    table.rows.append(found.loading.row(f"rows fetched to the end ({found.rows:,})"))
    table.rows.append(found.scrolling.row(f"scrolled through {found.rows:,} rows"))
    table.rows.append(found.panning.row(f"the picture of {nodes:,} nodes, scrolled"))
    table.rows.append(found.recolouring.row("the picture, coloured anew"))
    section.tables.append(table)
    section.data = {"view_ms": view, "bare_ms": bare, "view_bytes": found.view_bytes}
    section.data |= {"longest_ms": found.scrolling.longest, "idle_ms": found.idle.longest}
    section.data |= {"cpu_ms": found.scrolling.cpu_each, "picture_ms": found.panning.longest}
    section.bar_at_most("first view", view / 1000, FIRST_VIEW_BAR_S, unit=" s")
    kilobytes, most = found.view_bytes / 1000, FIRST_VIEW_BAR_BYTES / 1000
    section.bar_at_most("first view, compressed", kilobytes, most, unit=" KB")
    what = f"longest frame while {found.rows:,} leases are scrolled"
    section.bar_at_most(what, found.scrolling.longest, FRAME_BAR_MS, unit=" ms")
    what = f"longest frame of the picture of {nodes:,} nodes, scrolled"
    section.bar_at_most(what, found.panning.longest, FRAME_BAR_MS, unit=" ms")
    if found.idle.longest > FRAME_BAR_MS:
        section.bars[2:] = [replace(bar, met=None) for bar in section.bars[2:]]
        section.notes.append("frames are not judged: a page that does nothing had late ones, too")
    return section
