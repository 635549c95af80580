"""Debian's Chromium as a person uses it: tabs that fail when a page does what it must not."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.waiting import WAIT_S

FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
]
TRIED = "Tried without effect"
GO = "path => { history.pushState({}, '', path); dispatchEvent(new PopStateEvent('popstate')); }"
REST = """async () => {
  const box = () => document.documentElement.outerHTML.length + ' ' + document.body.scrollHeight;
  for (let still = 0, tries = 0, last = ''; still < 3 && tries < 100; tries += 1) {
    await new Promise(done => setTimeout(done, 60));
    still = box() === last ? still + 1 : 0;
    last = box();
  }
}"""
AXE = Path(__file__).resolve().parents[2] / "web/node_modules/axe-core/axe.min.js"


@contextmanager
def chromium() -> Iterator[Any]:
    """One browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        yield browser
        browser.close()


@dataclass
class Person:
    """Somebody with a browser of his own: cookies, storage, and a list of what went wrong."""

    context: Any
    address: str
    page: Any
    wrong: list[str] = field(default_factory=list)
    forgives: tuple[str, ...] = ()
    """What the browser says that is expected here."""

    def open(self, path: str) -> Any:
        """Go to a page by its address, and wait until it has shown what it has to show."""
        self.page.goto(f"{self.address}{path}")
        self.settle()
        return self.page

    def go(self, path: str) -> Any:
        """Go to a page from the one that is open, as a link does it: nothing is loaded twice."""
        self.page.evaluate(GO, path)
        self.page.locator(f"main[data-shown='{path}']").wait_for()
        self.settle()
        return self.page

    def settle(self) -> None:
        """Wait until nothing on the page is loading."""
        self.page.locator("main").first.wait_for()
        self.page.locator("[aria-label=loading]").first.wait_for(state="detached")

    def rest(self) -> None:
        """Wait until nothing was drawn anew for a while: pictures are laid out after their data."""
        self.page.evaluate(REST)

    def check_accessible(self) -> None:
        """Let axe look; anything serious is wrong."""
        found = self.page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
        for each in found["violations"]:
            if each["impact"] in {"serious", "critical"}:
                where = [node["html"][:160] for node in each["nodes"][:3]]
                self.wrong.append(f"{self.page.url}: {each['id']}: {where}")

    def check_width(self) -> None:
        """The page itself never scrolls sideways."""
        wide = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
        if self.page.evaluate(wide) > 0:
            self.wrong.append(f"{self.page.url} is wider than its screen")

    def faults(self) -> list[str]:
        """What went wrong, but for what is forgiven."""
        return [each for each in self.wrong if not any(word in each for word in self.forgives)]


def confirm(page: Any, word: str) -> None:
    """In the dialog that is open: its dry run is told, then it is asked for, and the dialog closes.

    As long as it is open, all else is hidden from whoever asks by roles: a row would look gone
    before the server has even heard of it.
    """
    page.get_by_text(TRIED).wait_for()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name=word, exact=True).click()
    dialog.wait_for(state="detached")


@contextmanager
def person(
    browser: Any, address: str, *, width: int = 1280, theme: str = "light"
) -> Iterator[Person]:
    """A browser context of somebody's own; what it does wrong is found at the end by who asks."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme)
    context.set_default_timeout(WAIT_S * 1_000)
    context.add_init_script(path=str(AXE))
    who = Person(context, address, context.new_page())
    page = who.page

    def asked(request: Any) -> None:
        if not request.url.startswith((f"{address}/", "data:", "blob:", "about:")):
            who.wrong.append(f"asked for {request.url}")

    page.on("request", asked)
    page.on("pageerror", lambda error: who.wrong.append(f"{page.url}: {error}"))
    page.on("console", lambda said: _heard(who, said))
    yield who
    context.close()


def _heard(who: Person, said: Any) -> None:
    if said.type in {"error", "warning"}:
        who.wrong.append(f"{said.text} ({said.location.get('url', '')})")
