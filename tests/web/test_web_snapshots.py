"""What the ten main pages look like, kept as digests and compared with a tolerance.

Each is a grid of 64 by 40 mean colours and the boxes of landmarks (``tests/support/page_digest``
says how close is close enough): a stylesheet that did not load, a panel that is gone or covers
another, a theme whose colours were swapped, a frame that broke are caught; another font, another
word or a figure that has grown is not. The data is the same on every machine (``web_world``).

To renew them after a change that was looked at, run this file with ``WRITE_SNAPSHOTS=1``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import Person, person
from tests.support.page_digest import Digest, differences, digest_of
from tests.support.web_campus import NOT_YET
from tests.support.web_world import World

KEPT = Path(__file__).parent / "snapshots"
MAIN = {
    "home": "/",
    "run": "/run",
    "queue-entry": "/queue/$id",
    "leases": "/leases",
    "node": "/nodes/$id",
    "tenant": "/tenants/$tenant",
    "invoice": "/tenants/$tenant/invoices/$invoice",
    "apps": "/apps/$app",
    "graph": "/graphs/$id",
}
"""Of the ten main pages those within the frame; the tenth is the login."""
LOOKS = ((1280, "light"), (390, "dark"))


@pytest.fixture(scope="module")
def scratch(browser: Any) -> Iterator[Any]:
    """A page under no policy, for sums."""
    page = browser.new_page()
    yield page
    page.close()


def compare(name: str, seen: Digest) -> list[str]:
    """What is not as it was; or keep what was seen, where somebody wants that."""
    path = KEPT / f"{name}.json"
    if os.environ.get("WRITE_SNAPSHOTS"):
        path.parent.mkdir(exist_ok=True)
        text = ",\n  ".join(json.dumps(each) for each in seen.cells)
        boxes = ",\n  ".join(json.dumps(each) for each in seen.boxes)
        path.write_text(f'{{"cells": [\n  {text}\n],\n"boxes": [\n  {boxes}\n]}}\n')
    kept = json.loads(path.read_text())
    return [f"{name}: {each}" for each in differences(Digest(**kept), seen)]


def look(who: Person, scratch: Any, name: str) -> list[str]:
    """One page in both looks."""
    found = []
    for width, theme in LOOKS:
        who.page.set_viewport_size({"width": width, "height": 900})
        who.page.emulate_media(color_scheme=theme)
        who.page.locator(f"html[data-theme={theme}]").wait_for()
        who.settle()
        who.rest()
        found += compare(f"{name}-{width}-{theme}", digest_of(who.page, scratch))
    return found


def test_the_main_pages_look_as_they_did(world: World, scratch: Any) -> None:
    campus = world.campus
    wrong = []
    with person(campus.browser, campus.server.address) as who:
        who.forgives = (NOT_YET,)
        who.open("/login")
        wrong += look(who, scratch, "login")
        who.context.add_cookies(campus.admin.context.cookies())
        who.open("/")
        for name, route in MAIN.items():
            who.go(world.paths[route])
            wrong += look(who, scratch, name)
    assert wrong == []


def test_another_layout_is_told_and_a_little_is_not(world: World, scratch: Any) -> None:
    """The comparison itself: by hand something is moved, taken away, painted over."""
    campus = world.campus
    with person(campus.browser, campus.server.address) as who:
        who.context.add_cookies(campus.admin.context.cookies())
        page = who.open("/")
        who.rest()
        kept = digest_of(page, scratch)
        page.evaluate("() => document.querySelector('h1').append(' and more')")
        assert differences(kept, digest_of(page, scratch)) == []
        page.evaluate("() => document.querySelector('main').classList.add('hidden')")
        assert differences(kept, digest_of(page, scratch))
        page.evaluate("() => document.querySelector('main').classList.remove('hidden')")
        page.evaluate("() => document.querySelector('aside').remove()")
        assert differences(kept, digest_of(page, scratch))
        page.evaluate("() => document.querySelector('link[rel=stylesheet]').remove()")
        assert len(differences(kept, digest_of(page, scratch))) > 1
