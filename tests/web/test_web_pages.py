"""The web in a real browser, against a real server with the simulated campus.

One server and one browser for all of it. Whatever page a test opens, it must ask no other host and
say nothing wrong in the browser's console. Every single page is opened in ``test_web_every_page``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.browser import TRIED, confirm, person
from tests.support.waiting import until
from tests.support.web_campus import Campus, log_in, web_campus


@pytest.fixture(scope="module")
def campus(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Campus]:
    with web_campus(browser, tmp_path_factory.mktemp("web"), "--demo") as campus:
        yield campus


@pytest.fixture(scope="module")
def stuck(campus: Campus) -> int:
    """A request of main that waits for quota; its number in the queue."""
    campus.ask("PUT", "/v1/tenants/main/quota", {"limits": {"gpu_count": 1}})
    wish = {"tenant": "main", "project": "default", "gpu_count": 1, "ttl_ms": 3_600_000}
    for _ in range(2):
        campus.ask("POST", "/v1/leases", wish)

    def found() -> int | None:
        rows = campus.ask("GET", "/v1/queue?limit=50")["items"]
        return next((row["entry_id"] for row in rows if row["tenant"] == "main"), None)

    return until(found, "the second one waits")


def test_the_session_is_a_cookie_that_no_script_reads(campus: Campus) -> None:
    (cookie,) = campus.admin.context.cookies()
    assert cookie["name"] == "__Host-bailiwick"
    assert (cookie["httpOnly"], cookie["secure"], cookie["sameSite"]) == (True, True, "Strict")
    seen = "() => document.cookie + JSON.stringify({...localStorage, ...sessionStorage})"
    assert cookie["value"] not in campus.admin.page.evaluate(seen)


def test_an_operator_sees_the_fleet_and_may_colour_it(campus: Campus) -> None:
    page = campus.admin.open("/")
    page.get_by_role("img", name=re.compile("nodes with GPUs, coloured by tenant")).wait_for()
    page.get_by_role("radio", name="state").click()
    page.get_by_role("img", name=re.compile("coloured by state")).wait_for()
    page.get_by_text("live", exact=True).wait_for()


def test_a_member_runs_something_with_the_plan_first_and_reads_its_output(campus: Campus) -> None:
    code = campus.code_for("mia", "project_member", "tenants/main/projects/default")
    with person(campus.browser, campus.server.address) as mia:
        log_in(mia, code)
        mia.forgives += ("/v1/queue/",)  # asked for when it has just left the line
        page = mia.page
        page.get_by_role("heading", name="main / default").wait_for()
        assert "Nodes" in page.get_by_role("navigation").inner_text()
        assert "Journal" not in page.get_by_role("navigation").inner_text()
        mia.check_accessible()
        page.get_by_role("link", name="Run something").first.click()
        page.get_by_label("Command").fill("""sh -c "echo hello from the web; sleep 0.1" """)
        page.get_by_label("Memory, GiB").fill("0.1")
        page.get_by_text(re.compile("runs at once|would wait")).wait_for()
        mia.check_accessible()
        page.get_by_role("button", name="Submit").click()
        page.get_by_label("What the job printed").get_by_text("hello from the web").wait_for()
        page.get_by_text("succeeded").first.wait_for()
        mia.check_accessible()
        job = page.url.rsplit("/", 1)[1]
        assert mia.faults() == []
    others_see_nothing_of(campus, job)


def others_see_nothing_of(campus: Campus, job: str) -> None:
    """Somebody of another tenant, in a browser of his own."""
    campus.ask("POST", "/v1/tenants", {"tenant": "rival"})
    with person(campus.browser, campus.server.address) as bob:
        log_in(bob, campus.code_for("bob", "tenant_admin", "tenants/rival"))
        for path, told in (("/jobs", "No jobs here"), ("/leases", "No leases here")):
            bob.open(path).get_by_text(told).wait_for()
        names = bob.page.get_by_label("Tenant", exact=True).locator("option").all_inner_texts()
        assert names == ["rival"]
        assert bob.faults() == []
        page = bob.open(f"/jobs/{job}")
        page.get_by_role("alert").get_by_text("no such thing, or it is not yours to see").wait_for()
        page.get_by_role("button", name="Copy the error").wait_for()


def test_what_waits_says_the_one_thing_that_would_unblock_it(campus: Campus, stuck: int) -> None:
    page = campus.admin.open(f"/queue/{stuck}")
    page.get_by_text("waiting for quota").first.wait_for()
    page.get_by_text(re.compile("end leases of your own by 1 GPU")).wait_for()
    page.get_by_role("table", name="How many nodes fell at which filter").wait_for()
    page.get_by_text(f"bailiwick explain entry-{stuck}").wait_for()


def test_a_change_is_tried_first_and_asked_for_then(campus: Campus) -> None:
    page = campus.admin.open("/nodes/demo-v100-01")
    page.get_by_role("button", name="Drain it").click()
    page.get_by_text(TRIED).wait_for()
    campus.admin.check_accessible()
    assert campus.ask("GET", "/v1/nodes/demo-v100-01")["mode"] == "accepting"
    confirm(page, "Drain it")
    page.get_by_role("button", name="Open it again").wait_for()
    assert campus.ask("GET", "/v1/nodes/demo-v100-01")["mode"] in {"draining", "drained"}


def test_everything_is_reached_by_keys_alone(campus: Campus) -> None:
    page = campus.admin.open("/jobs")
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Find").wait_for()
    page.keyboard.type("geno")
    page.get_by_role("option", name="genomics").first.wait_for()
    campus.admin.check_accessible()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="tenant genomics").wait_for()
    page.keyboard.press("g")
    page.keyboard.press("l")
    page.get_by_role("heading", name="Leases").wait_for()
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keys").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("dialog", name="Keys").wait_for(state="detached")


def test_a_chosen_theme_is_remembered(campus: Campus) -> None:
    page = campus.admin.open("/tenants")
    for _ in range(2):
        page.get_by_role("button", name=re.compile("^Theme")).click()
    page.reload()
    campus.admin.settle()
    assert page.locator("html").get_attribute("data-theme") == "dark"


def test_a_lost_connection_is_shown_and_comes_back(campus: Campus) -> None:
    page = campus.admin.open("/leases")
    page.get_by_text("live", exact=True).wait_for()
    campus.admin.forgives += ("Failed to load resource", "net::ERR")  # while it is away
    campus.server.stop()
    page.get_by_text("connection lost, trying again").wait_for()
    campus.server.start()
    page.get_by_text("live", exact=True).wait_for()


def test_the_administrators_pages_did_nothing_wrong(campus: Campus) -> None:
    """The last of them: what the tests above saw of the page that all of them share."""
    assert campus.admin.faults() == []
