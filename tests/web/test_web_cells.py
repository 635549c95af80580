"""The cells of a plane in a browser: two real planes, one the other's cell, and a request."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

from tests.processes.harness import Server, running
from tests.support.browser import TRIED, Person, confirm, person
from tests.support.web_campus import Campus, log_in, web_campus
from tests.support.web_looks import check_looks

CORES = {"cpu_milli": 16_000, "mem_bytes": 2**36}


@dataclass(frozen=True, slots=True)
class Planes:
    """The home, whose pages are looked at, and a cell of it."""

    home: Campus
    east: Server

    def furnish(self, keys: Path) -> None:
        """A machine in the cell, and somebody who may be its home."""
        role = {"role": "home", "level": "fleet", "keys": ["scheduler.cell.home"]}
        calls = [
            ("POST", "/v1/nodes", {"node": "east-1", "resources": CORES}),
            ("PUT", "/v1/roles", role),
            ("POST", "/v1/service-accounts", {"account": "campus"}),
            ("PUT", "/v1/members", {"member": "campus", "role": "home"}),
            ("POST", "/v1/service-accounts/campus/keys", {}),
        ]
        with self.east.client() as caller:
            for method, path, body in calls:
                made = caller.ask(method, path, body, key=uuid4().hex)
        file = keys / "east"
        file.touch(mode=0o600)
        file.write_text(f"{self.east.address} campus {made['key']}\n")


@pytest.fixture(scope="module")
def planes(browser: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Planes]:
    folder = tmp_path_factory.mktemp("cells")
    keys, own = folder / "keys", folder / "east"
    keys.mkdir()
    own.mkdir()
    east = Server(own, "east", "--data-dir", str(own / "data"))
    with running(east), web_campus(browser, folder, "--cell-keys", str(keys)) as home:
        made = Planes(home, east)
        made.furnish(keys)
        home.ask("POST", "/v1/tenants", {"tenant": "lab"})
        yield made


@pytest.fixture
def admin(planes: Planes) -> Iterator[Person]:
    with person(planes.home.browser, planes.home.server.address) as who:
        who.context.add_cookies(planes.home.admin.context.cookies())
        who.open("/")
        yield who


def test_cells_are_told_as_they_are_met_asked_and_lost(planes: Planes, admin: Person) -> None:
    ask = planes.home.ask
    page = admin.go("/cells")
    page.get_by_text("This plane has no cell").wait_for()
    page.get_by_text("Nothing is asked of all cells").wait_for()
    ask("POST", "/v1/cells", {"cell": "east", "url": planes.east.address})
    ask("POST", "/v1/cells", {"cell": "west", "url": "http://127.0.0.1:9"})
    row = page.get_by_role("table", name="Cells").get_by_role("row")
    row.filter(has_text="east").get_by_text("reachable").wait_for()
    row.filter(has_text="west").get_by_text("cut off").wait_for()
    wish = {"tenant": "lab", "resources": {"cpu_milli": 2_000, "mem_bytes": 2**30}}
    ask("POST", "/v1/global/requests", {**wish, "ttl_ms": 3_600_000})
    asked = page.get_by_role("table", name="Requests to all cells").get_by_role("row").nth(1)
    asked.get_by_text("held").wait_for()
    asked.get_by_text("2 cores, 1 GiB of memory").wait_for()
    check_looks(admin, "cells")
    asked.get_by_role("link", name="east").click()
    page.get_by_role("table", name="Requests that it has").get_by_text("held").wait_for()
    page.get_by_text("0 GPUs, 14 cores").wait_for()
    assert not page.get_by_role("button", name=re.compile("Part with|Give it up")).is_visible()
    check_looks(admin, "cell")
    admin.go("/cells/west")
    page.get_by_text("It has none").wait_for()
    page.get_by_role("button", name="Part with it").click()
    confirm(page, "Part with it")
    page.locator("main[data-shown='/cells']").wait_for()
    page.get_by_role("link", name="east").first.wait_for()
    assert [each["cell"] for each in ask("GET", "/v1/cells")["items"]] == ["east"]
    planes.east.pause()
    try:
        page.get_by_role("link", name="east").first.click()
        page.get_by_role("button", name="Give it up as lost").click()
        page.get_by_text("Give up east with 1 request?").wait_for()
        page.get_by_text(TRIED).wait_for()
        admin.check_accessible()
    finally:
        planes.east.resume()
    assert admin.faults() == []


def test_who_has_no_key_for_cells_has_no_page_of_them(planes: Planes) -> None:
    home = planes.home
    with person(home.browser, home.server.address) as gus:
        log_in(gus, home.code_for("gus", "tenant_admin", "tenants/lab"))
        pages = gus.page.get_by_role("navigation", name="Pages").inner_text()
        assert "Bookings" in pages
        assert "Cells" not in pages
        assert gus.faults() == []
