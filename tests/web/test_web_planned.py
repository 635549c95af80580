"""What is planned, in a browser: maintenance with calendars, bookings with series."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.support.browser import TRIED, Person, confirm, person
from tests.support.waiting import until
from tests.support.web_campus import ASK, Campus, log_in, web_campus
from tests.support.web_looks import check_looks

DAY_MS = 86_400_000
LAB, FIELD = "/v1/tenants/lab/projects/vision", "/v1/tenants/field/projects/maps"
GPU = {"generation": "nvidia_hopper", "vram_bytes": 80 * 2**30}


@pytest.fixture(scope="module")
def campus(browser: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Campus]:
    """Two tenants and three nodes, of which some are maintained and booked."""
    with web_campus(browser, tmp_path_factory.mktemp("planned")) as found:
        for tenant, project in (("lab", "vision"), ("field", "maps")):
            found.ask("POST", "/v1/tenants", {"tenant": tenant})
            found.ask("POST", f"/v1/tenants/{tenant}/projects", {"project": project})
        for name in ("g1", "g2", "g3"):
            node = {"node": name, "resources": {"cpu_milli": 8_000, "mem_bytes": 2**34}}
            found.ask("POST", "/v1/nodes", {**node, "gpus": [GPU] * 4})
        yield found


@pytest.fixture
def admin(campus: Campus) -> Iterator[Person]:
    with person(campus.browser, campus.server.address) as who:
        who.context.add_cookies(campus.admin.context.cookies())
        who.open("/")
        yield who


def ahead(days: int) -> dict[str, int]:
    """A day, so many days from now."""
    starts_ms = int(time.time() * 1000) + days * DAY_MS
    return {"starts_ms": starts_ms, "ends_ms": starts_ms + DAY_MS}


def windows(campus: Campus) -> set[str]:
    return {row["window"] for row in campus.ask("GET", "/v1/maintenance/windows")["items"]}


def test_windows_are_listed_as_they_come_and_cancelled_on_their_page(
    campus: Campus, admin: Person
) -> None:
    page = admin.go("/maintenance")
    page.get_by_text("No maintenance is planned").wait_for()
    fans = {"window": "fans", "nodes": ["g1", "g2"], "text": "new fans", "lead_ms": 1_800_000}
    campus.ask("POST", "/v1/maintenance/windows", {**fans, **ahead(9)})
    page.get_by_role("link", name="fans").wait_for()
    sooner = {"window": "power", "nodes": ["g3"]}
    campus.ask("POST", "/v1/maintenance/windows", {**sooner, **ahead(2)})
    page.get_by_role("link", name="power").wait_for()
    told = page.get_by_role("table", name="Windows of maintenance").get_by_role("row")
    assert [row.split()[0] for row in told.all_inner_texts()] == ["window", "power", "fans"]
    page.get_by_role("link", name="fans").click()
    page.get_by_text("30m before").wait_for()
    page.get_by_role("link", name="g2").wait_for()
    check_looks(admin, "window")
    page.get_by_role("button", name="Cancel it").click()
    page.get_by_text(TRIED).wait_for()
    assert windows(campus) == {"fans", "power"}
    confirm(page, "Cancel it")
    page.locator("main[data-shown='/maintenance']").wait_for()
    page.get_by_role("link", name="power").wait_for()
    assert windows(campus) == {"power"}
    assert not page.get_by_role("link", name="fans").is_visible()
    assert admin.faults() == []


def test_a_calendar_is_listed_with_its_rule_and_withdrawn(campus: Campus, admin: Person) -> None:
    rule = "monthly on 1st sat at 06:00 for 4h in Europe/Berlin"
    wish = {"rule": rule, "labels": ["rack=r1"], "text": "firmware"}
    campus.ask("PUT", "/v1/maintenance/calendars/firmware", wish)
    page = admin.go("/maintenance")
    for told in (rule, "rack=r1", "28d"):
        page.get_by_role("cell", name=told, exact=True).wait_for()
    check_looks(admin, "maintenance")
    page.get_by_role("button", name="Withdraw it").click()
    confirm(page, "Withdraw it")
    page.get_by_text("No calendar").wait_for()
    assert campus.ask("GET", "/v1/maintenance/calendars")["items"] == []
    assert admin.faults() == []


def test_a_tenant_reads_what_is_announced_and_cannot_change_it(campus: Campus) -> None:
    wish = {"window": "cables", "nodes": ["g1"], "text": "new cables"}
    campus.ask("POST", "/v1/maintenance/windows", {**wish, **ahead(20)})
    with person(campus.browser, campus.server.address) as gus:
        log_in(gus, campus.code_for("gus", "tenant_admin", "tenants/field"))
        page = gus.go("/maintenance")
        page.get_by_text("new cables").wait_for()
        page.get_by_role("link", name="cables", exact=True).click()
        page.get_by_role("heading", name="window cables").wait_for()
        assert not page.get_by_role("button", name="Cancel it").is_visible()
        assert gus.faults() == []


def bookings(campus: Campus) -> set[str]:
    return {row["booking"] for row in campus.ask("GET", "/v1/bookings")["items"]}


def test_a_booking_is_seen_by_its_tenant_alone_and_cancelled_on_its_page(
    campus: Campus, admin: Person
) -> None:
    wish = {"booking": "course", "nodes": ["g1", "g2"], "text": "the autumn's", "wait_ms": 900_000}
    campus.ask("POST", f"{LAB}/bookings", {**wish, **ahead(40)})
    campus.ask("POST", f"{FIELD}/bookings", {"booking": "survey", "count": 1, **ahead(40)})
    page = admin.go("/bookings")
    page.get_by_role("link", name="survey").wait_for()
    check_looks(admin, "bookings")
    with person(campus.browser, campus.server.address) as ida:
        log_in(ida, campus.code_for("ida", "tenant_admin", "tenants/field"))
        shown = ida.go("/bookings")
        shown.get_by_role("link", name="survey").wait_for()
        assert "course" not in shown.locator("main").inner_text()
        shown.get_by_role("link", name="survey").click()
        shown.get_by_role("button", name="Cancel it").wait_for()
        assert ida.faults() == []
    with person(campus.browser, campus.server.address) as eva:
        log_in(eva, campus.code_for("eva", "project_member", "tenants/lab/projects/vision"))
        shown = eva.go("/tenants/lab/projects/vision/bookings/course")
        shown.get_by_text("given back after 15m without use").wait_for()
        assert not shown.get_by_role("button", name="Cancel it").is_visible()
        assert eva.faults() == []
    page.get_by_role("link", name="course").click()
    page.get_by_role("link", name="g2").wait_for()
    check_looks(admin, "booking")
    page.get_by_role("button", name="Cancel it").click()
    page.get_by_text(TRIED).wait_for()
    assert bookings(campus) == {"course", "survey"}
    confirm(page, "Cancel it")
    page.locator("main[data-shown='/bookings']").wait_for()
    page.get_by_role("link", name="survey").wait_for()
    assert bookings(campus) == {"survey"}
    assert admin.faults() == []


def book_soon(campus: Campus, wish: dict[str, object]) -> None:
    """From a moment that is ahead still when the server hears of it, however slow the machine."""
    for lead_ms in (2_000, 15_000, 60_000):
        starts_ms = int(time.time() * 1000) + lead_ms
        body = {**wish, "starts_ms": starts_ms, "ends_ms": starts_ms + 3_600_000}
        [(status, answer)] = campus.admin.page.evaluate(ASK, [["POST", f"{LAB}/bookings", body]])
        if status == 200:
            return
    raise AssertionError(answer)


def test_nodes_that_nobody_used_are_told_as_given_back(campus: Campus, admin: Person) -> None:
    lease = {"tenant": "lab", "project": "vision", "gpu_count": 1, "ttl_ms": 3_600_000}
    campus.ask("POST", "/v1/leases", lease)
    node = campus.ask("GET", "/v1/leases")["items"][0]["node"]
    book_soon(campus, {"booking": "due", "nodes": ["g1", "g2", "g3"], "wait_ms": 1_000})
    page = admin.go("/tenants/lab/projects/vision/bookings/due")
    back = [name for name in ("g1", "g2", "g3") if name != node]
    until(lambda: campus.ask("GET", f"{LAB}/bookings/due")["given_back"] == back, "given back")
    page.get_by_text("4", exact=True).wait_for()  # the GPUs of the one node that is left
    nodes = page.get_by_role("region", name="Which nodes")
    assert nodes.get_by_role("link").all_inner_texts() == [node, *back]
    assert admin.faults() == []


def test_a_series_tells_its_times_and_why_one_is_not_booked(campus: Campus, admin: Person) -> None:
    rule = "daily at 09:00 for 2h in Europe/Berlin"
    wish = {"rule": rule, "nodes": ["g1"], "ahead_days": 5}
    campus.ask("PUT", f"{LAB}/booking-series/class", wish)
    other = {"rule": "daily at 10:00 for 2h in Europe/Berlin", "nodes": ["g1"], "ahead_days": 3}
    until(lambda: campus.ask("GET", f"{LAB}/booking-series/class")["booked_ms"], "it is booked")
    campus.ask("PUT", f"{FIELD}/booking-series/lab-hours", other)
    page = admin.go("/bookings")
    page.get_by_text(rule).wait_for()
    page.get_by_role("link", name="lab-hours").click()
    page.get_by_role("table", name="Times that are not booked").wait_for()
    check_looks(admin, "series")
    page.get_by_role("button", name="Withdraw it").click()
    confirm(page, "Withdraw it")
    page.locator("main[data-shown='/bookings']").wait_for()
    page.get_by_role("link", name="class", exact=True).wait_for()
    left = [row["series"] for row in campus.ask("GET", "/v1/booking-series")["items"]]
    assert left == ["class"]
    check_looks(admin, "bookings-series")
    assert admin.faults() == []
