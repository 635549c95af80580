"""The built site in a real browser: it opens, draws, finds words, and asks no other host."""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from docs.tools.build import build_site
from tests.support.tools import need
from tests.support.waiting import WAIT_S

FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need("site-builder")
    need("browser")
    out = tmp_path_factory.mktemp("seen") / "site"
    build_site(out)
    return out


@pytest.fixture(scope="module")
def browser(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        context = play.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("profile"),
            executable_path=shutil.which("chromium"),
            headless=True,
            args=FLAGS,
        )
        context.set_default_timeout(WAIT_S * 1_000)
        yield context
        context.close()


class Quiet(SimpleHTTPRequestHandler):
    """A server of files that says nothing."""

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module", params=["served", "opened from the folder"])
def address(request: pytest.FixtureRequest, site: Path) -> Iterator[str]:
    if request.param != "served":
        yield site.as_uri()
        return
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    """A tab; whatever it asks of another host, and every mistake of a script, fails the test."""
    tab, wrong = browser.new_page(), []

    def asked(request: Any) -> None:
        if not request.url.startswith((address, "data:", "blob:", "about:")):
            wrong.append(f"asked for {request.url}")

    def answered(response: Any) -> None:
        if response.status >= 400:
            wrong.append(f"did not get {response.url}: {response.status}")

    tab.on("request", asked)
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on("response", answered)
    yield tab
    tab.close()
    assert wrong == []


def test_the_start_page_leads_every_person_on(page: Any, address: str) -> None:
    page.goto(f"{address}/index.html")
    assert page.title() == "Start - Bailiwick"
    headings = page.locator("article h3").all_inner_texts()
    people = [re.sub(r"\W+$", "", heading) for heading in headings]
    assert people == [
        "I run jobs",
        "I administer a tenant",
        "I run the fleet",
        "I answer for security",
        "I check the bills",
    ]
    page.locator("article").get_by_role("link", name="An operator's first hour").click()
    page.get_by_role("heading", name="1. Start a server").wait_for()


def test_a_diagram_is_a_drawing_with_its_words(page: Any, address: str) -> None:
    page.goto(f"{address}/concepts/leases.html")
    drawing = page.locator("article div.diagram svg")
    drawing.wait_for()
    words = drawing.text_content()
    for word in (
        "active",
        "revoke_warning",
        "grace_running",
        "torndown",
        "fenced",
        "work is saved",
    ):
        assert word in words, words
    assert page.locator("pre.diagram").count() == 0, "the source has made room for the drawing"


def test_every_diagram_can_be_drawn(page: Any, address: str, site: Path) -> None:
    sources = [p for p in site.rglob("*.html") if 'class="diagram"' in p.read_text("utf-8")]
    assert len(sources) >= 9
    for source in sorted(sources):
        page.goto(f"{address}/{source.relative_to(site).as_posix()}")
        wanted = source.read_text("utf-8").count('class="diagram"')
        page.locator("div.diagram svg").nth(wanted - 1).wait_for()
        assert page.locator("div.diagram svg").count() == wanted
        assert "Syntax error" not in page.locator("article").inner_text()


def test_search_finds_how_to_drain_a_node(page: Any, address: str) -> None:
    page.goto(f"{address}/index.html")
    page.get_by_role("button", name="Search").first.click()
    page.get_by_role("combobox", name="Search").fill("drain")
    results = page.get_by_role("listbox", name="Search results")
    results.get_by_text("bailiwick node drain").first.wait_for()
    results.get_by_text("Node modes").first.wait_for()


def test_what_is_copied_from_a_console_block_is_what_one_types(page: Any, address: str) -> None:
    page.goto(f"{address}/tutorials/operator.html")
    block = page.locator(".highlight code").nth(1)
    block.wait_for()
    text = block.evaluate(
        "code => { code.setAttribute('data-md-copying', ''); return code.innerText; }"
    )
    assert [line for line in text.splitlines() if line.strip()] == [
        "bailiwick login CODE",
        "bailiwick status",
    ]
