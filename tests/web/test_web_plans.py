"""Plans before deeds, in a real browser: what a change would do, and what would help who waits.

One server with the simulated campus, one browser. What is shown is held against what the API says
and against what then happens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.browser import TRIED, person
from tests.support.waiting import until
from tests.support.web_campus import Campus, log_in, web_campus


@pytest.fixture(scope="module")
def campus(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Campus]:
    with web_campus(browser, tmp_path_factory.mktemp("plans"), "--demo") as campus:
        campus.ask("PUT", "/v1/tenants/main/quota", {"limits": {"gpu_count": 1}})
        yield campus


@pytest.fixture(scope="module")
def stuck(campus: Campus) -> int:
    """A request of main that waits for quota; its number in the queue."""
    wish = {"tenant": "main", "project": "default", "gpu_count": 1, "ttl_ms": 3_600_000}
    for _ in range(2):
        campus.ask("POST", "/v1/leases", wish)

    def found() -> int | None:
        rows = campus.ask("GET", "/v1/queue?limit=50")["items"]
        mine = (row for row in rows if row["tenant"] == "main")
        return next((row["entry_id"] for row in mine if row["blockers"]), None)

    return until(found, "the second one waits")


def outlook(page: Any) -> Any:
    return page.get_by_role("dialog").get_by_role("region", name="What would follow")


def test_a_slider_says_what_would_become_of_a_request(campus: Campus, stuck: int) -> None:
    page = campus.admin.open(f"/queue/{stuck}")
    panel = page.get_by_role("region", name="What if")
    panel.get_by_text("Move a slider").wait_for()
    panel.get_by_label(re.compile("New nodes")).fill("1")
    panel.get_by_text("It would still wait").wait_for()
    panel.get_by_text(re.compile("Each new node: [0-9]+ x ")).wait_for()
    panel.get_by_label(re.compile("More quota")).fill("4")
    panel.get_by_text("It would start at once").wait_for()
    campus.admin.check_accessible()
    assert campus.ask("GET", f"/v1/queue/{stuck}")["entry_id"] == stuck, "it waits all the same"
    names = [row["node"] for row in campus.ask("GET", "/v1/nodes?limit=500")["items"]]
    assert not [name for name in names if name.startswith("whatif")]


def test_a_quota_is_changed_on_the_tenants_page_after_its_consequence_was_shown(
    campus: Campus, stuck: int
) -> None:
    page = campus.admin.open("/tenants/main")
    page.get_by_role("button", name="Change the quota").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("GPUs", exact=True).fill("0")
    outlook(page).get_by_text("waiting would help no more").wait_for()
    outlook(page).get_by_text("would not be renewed").wait_for()
    campus.admin.check_accessible()
    dialog.get_by_label("GPUs", exact=True).fill("8")
    outlook(page).get_by_text("At once 1 waiting request would start").wait_for()
    outlook(page).get_by_role("link", name=str(stuck), exact=True).wait_for()
    assert campus.ask("GET", "/v1/tenants/main/quota")["quota"]["limits"]["gpu_count"] == 1
    dialog.get_by_role("button", name="Change the quota").click()
    dialog.wait_for(state="detached")
    assert campus.ask("GET", "/v1/tenants/main/quota")["quota"]["limits"]["gpu_count"] == 8

    def has_left() -> bool:
        rows = campus.ask("GET", "/v1/queue?limit=50")["items"]
        return all(row["entry_id"] != stuck for row in rows)

    until(has_left, "it starts, as was said")


def test_a_budget_is_set_with_what_it_would_do_shown_first(campus: Campus) -> None:
    page = campus.admin.open("/tenants/main/projects/default")
    page.get_by_role("button", name="Set a budget").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Limit").fill("0.01")
    outlook(page).get_by_text(re.compile("Used up|does not use it up")).wait_for()
    dialog.get_by_label("Limit").fill("5000")
    outlook(page).get_by_text(re.compile("heading for")).wait_for()
    campus.admin.check_accessible()
    dialog.get_by_role("button", name="Set a budget").click()
    dialog.wait_for(state="detached")
    found = campus.ask("GET", "/v1/tenants/main/projects/default/budget")
    assert found["budget"]["limit_micros"] == 5_000_000_000
    page.get_by_role("button", name="Change the budget").wait_for()


def test_a_role_is_given_and_taken_on_the_projects_page(campus: Campus) -> None:
    page = campus.admin.open("/tenants/main/projects/default")
    page.get_by_role("button", name="Give a role").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Who").fill("ines")
    dialog.get_by_label("Role").select_option("project_viewer")
    dialog.get_by_text(re.compile("count at once|is offered")).wait_for()
    dialog.get_by_role("button", name="Give a role").click()
    dialog.wait_for(state="detached")
    page.get_by_role("button", name="Remove ines").click()
    dialog.get_by_text(TRIED).wait_for()
    dialog.get_by_role("button", name="Remove ines").click()
    dialog.wait_for(state="detached")
    page.get_by_role("button", name="Remove ines").wait_for(state="detached")
    members = campus.ask("GET", "/v1/tenants/main/projects/default/members")["items"]
    assert "ines" not in {row["member"] for row in members}


def test_a_drain_shows_whom_it_would_end_before_it_is_asked_for(campus: Campus) -> None:
    def busy() -> str | None:
        rows = campus.ask("GET", "/v1/leases?limit=200")["items"]
        held = (row["node"] for row in rows if row["state"] == "active" and row["devices"])
        return next(held, None)

    node = until(busy, "something runs on a node with GPUs")
    page = campus.admin.open(f"/nodes/{node}")
    page.get_by_role("button", name="Drain it").click()
    outlook(page).get_by_text(re.compile("leases? would be ended, the last")).wait_for()
    outlook(page).get_by_text(re.compile(r"in the fleet: [0-9.,]+ now, ")).wait_for()
    campus.admin.check_accessible()
    page.get_by_role("button", name="Leave it").click()
    assert campus.ask("GET", f"/v1/nodes/{node}")["mode"] == "accepting"
    page.get_by_role("button", name="Cordon it").click()
    outlook(page).get_by_text("No lease would be ended").wait_for()


def test_a_job_file_fills_the_form_and_its_mistakes_have_a_line(campus: Campus) -> None:
    page = campus.admin.open("/run")
    page.locator("form").get_by_label(re.compile("^Tenant")).select_option("main")
    page.get_by_text("From a job file").click()
    field = page.get_by_label("Job file", exact=True)
    field.fill("command: [echo, hi]\ngpu: 1\n")
    page.get_by_role("button", name="Read it").click()
    page.get_by_text("line 2, column 1: gpu: no such word; did you mean gpus?").wait_for()
    text = "command: sh -c 'echo from a file, $WORD'\nmem: 64MiB\nenv: {WORD: seven}\n"
    field.fill(text)
    page.get_by_role("button", name="Read it").click()
    page.get_by_text("Also from the file: env.").wait_for()
    assert page.get_by_label("Memory, GiB").input_value() == "0.0625"
    page.get_by_text(re.compile("runs at once|would wait")).wait_for()
    campus.admin.check_accessible()
    campus.admin.forgives += ("/v1/queue/",)  # asked for when it has just left the line
    page.get_by_role("button", name="Submit").click()
    page.get_by_label("What the job printed").get_by_text("from a file, seven").wait_for()


def test_who_may_only_look_is_offered_no_change_and_told_nothing_of_others(
    campus: Campus, stuck: int
) -> None:
    code = campus.code_for("vera", "project_viewer", "tenants/main/projects/default")
    with person(campus.browser, campus.server.address, theme="dark") as vera:
        log_in(vera, code)
        vera.page.set_viewport_size({"width": 390, "height": 844})
        page = vera.open("/tenants/main/projects/default")
        page.get_by_role("heading", name="Quota").wait_for()
        for name in ("Change the quota", "Set a budget", "Change the budget", "Give a role"):
            assert page.get_by_role("button", name=name).count() == 0, name
        vera.check_accessible()
        vera.check_width()
        assert vera.faults() == []
    del stuck


def test_the_administrators_pages_did_nothing_wrong(campus: Campus) -> None:
    assert campus.admin.faults() == []
