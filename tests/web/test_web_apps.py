"""Apps, their instances, graphs and a shell inside a job, in a browser, against a real server.

Members and tasks are real processes on this machine; what a page says of them is compared with what
the server says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.browser import TRIED, Person, confirm, person
from tests.support.waiting import until
from tests.support.web_apps import add_app, come, look, manifest, publish
from tests.support.web_campus import Campus, web_campus

PLACE = "/v1/tenants/main/projects/default"
GRAPH = """
tasks:
  prep: {command: [/bin/sh, -c, 'true'], cpus: 0.05, mem: 16MiB}
  work:
    command: [/bin/sh, -c, 'test "$TASK_INDEX" != 5']
    map: 12
    after: [prep]
    cpus: 0.05
    mem: 16MiB
  last: {command: [/bin/sh, -c, 'true'], after: [work], cpus: 0.05, mem: 16MiB}
"""


@pytest.fixture(scope="module")
def campus(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Campus]:
    with web_campus(browser, tmp_path_factory.mktemp("apps")) as campus:
        add_app(campus, manifest(), tenant="main")
        publish(campus, manifest(version="1.1.0", upgrades=(("1.0.0", "1.1.0"),)))
        yield campus


@pytest.fixture(scope="module")
def pia(campus: Campus) -> Iterator[Person]:
    """She administers a project."""
    place = "tenants/main/projects/default"
    with person(campus.browser, campus.server.address) as who:
        yield come(campus, who, name="pia", role="project_admin", place=place)


@pytest.fixture(scope="module")
def instance(campus: Campus, pia: Person) -> str:
    """The page of an instance that she made with the form."""
    page = pia.open("/apps/hub/run")
    page.get_by_label("Name", exact=True).fill("demo")
    page.get_by_label("Version", exact=True).select_option("1.0.0")
    page.get_by_label("How many: worker").fill("2")
    page.get_by_label("depth (optional)").fill("12")
    page.get_by_role("alert").first.wait_for()  # the manifest has it at most 9
    page.get_by_label("depth (optional)").fill("3")
    page.get_by_label("colour (optional)").select_option("blue")
    page.get_by_text(TRIED).wait_for()
    page.get_by_text(re.compile("app instance create demo hub .*--set depth=3")).wait_for()
    look(pia, "run-app-light-1280")
    pia.check_accessible()
    assert campus.ask("GET", f"{PLACE}/instances")["items"] == []
    page.get_by_role("button", name="Run it").click()
    page.get_by_role("heading", name=re.compile("instance demo")).wait_for()
    return str(page.url).removeprefix(campus.server.address)


def made(campus: Campus) -> Any:
    return campus.ask("GET", f"{PLACE}/instances")["items"][0]


def test_the_catalog_leads_to_an_app_with_its_versions(campus: Campus) -> None:
    page = campus.admin.open("/apps")
    page.get_by_role("link", name="hub").click()
    page.get_by_role("heading", name="app hub").wait_for()
    rows = page.get_by_role("table", name="Versions").get_by_role("row")
    until(lambda: rows.count() == 3, "both versions are listed")
    page.get_by_text("1.0.0 to 1.1.0").wait_for()
    page.get_by_text("bailiwick app show hub --version 1.1.0").wait_for()


def test_what_counts_is_shown_with_who_said_it_and_can_be_changed(campus: Campus) -> None:
    line = {"app": "hub", "is_enabled": True, "tenant": "main", "overlay": {"instances_max": 7}}
    campus.ask("PUT", "/v1/entitlements", line)
    page = campus.admin.open("/apps/hub")
    page.get_by_label("What counts in the tenant").select_option("main")
    table = page.get_by_role("table", name="What counts for hub")
    row = table.get_by_role("row").filter(has_text="instances max")
    row.get_by_text("at most 7").wait_for()
    row.get_by_text("main", exact=True).wait_for()
    page.get_by_role("button", name="Disable it in main").click()
    page.get_by_text("No instance is created there any more").wait_for()
    page.get_by_text(TRIED).wait_for()
    where = {"app": "hub", "tenant": "main"}
    assert campus.ask("POST", "/v1/entitlements/explain", where)["is_enabled"]
    confirm(page, "Disable it in main")
    page.get_by_role("button", name="Enable it in main").click()
    confirm(page, "Enable it in main")
    page.get_by_role("button", name="Disable it in main").wait_for()
    row.get_by_text("at most 7").wait_for()


def test_an_instance_comes_up_with_its_members_and_operations(
    campus: Campus, pia: Person, instance: str
) -> None:
    page = pia.open(instance)
    page.get_by_text("2 of 2 ready").wait_for()
    page.get_by_text("running", exact=True).first.wait_for()
    members = page.get_by_role("table", name="Members")
    for key in ("worker-0", "worker-1"):
        members.get_by_role("row", name=re.compile(key)).get_by_text("ready").wait_for()
    operations = page.get_by_role("list", name="Operations")
    operations.get_by_text("create").first.wait_for()
    assert made(campus)["parameters"] == {"depth": 3, "colour": "blue"}
    look(pia, "instance-light-1280")
    pia.check_accessible()


def test_an_instance_is_scaled_upgraded_and_rolled_back(
    campus: Campus, pia: Person, instance: str
) -> None:
    page = pia.open(instance)
    page.get_by_role("button", name="Scale").click()
    page.get_by_label("How many: worker").fill("1")
    confirm(page, "Scale")
    page.get_by_text("1 of 1 ready").wait_for()
    page.get_by_role("button", name="Upgrade").click()
    page.get_by_label("To version").select_option("1.1.0")
    confirm(page, "Upgrade")
    until(lambda: made(campus)["version"] == "1.1.0", "another version is wanted")
    until(lambda: made(campus)["phase"] == "running", "it runs as that")
    page.get_by_role("list", name="Operations").get_by_text("upgrade").first.wait_for()
    page.get_by_role("button", name="Roll back").click()
    page.get_by_text("Its data is kept.").wait_for()
    confirm(page, "Roll back")
    until(lambda: made(campus)["version"] == "1.0.0", "it goes back")


def test_an_instance_is_deleted(campus: Campus, pia: Person, instance: str) -> None:
    page = pia.open("/instances")
    page.get_by_role("link", name=re.compile("demo")).click()
    page.get_by_role("button", name="Delete it").click()
    confirm(page, "Delete it")
    ended = {"deleting", "deleted"}
    until(
        lambda: {r["phase"] for r in campus.ask("GET", f"{PLACE}/instances")["items"]} <= ended,
        "it is on its way out",
    )
    assert instance
    # The page asks after what is gone by then.
    pia.forgives += ("/instances/",)


# -- graphs ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def graph(campus: Campus) -> int:
    """A graph of which one element fails; its number."""
    body = {"tenant": "main", "project": "default", "document": GRAPH}
    return int(campus.ask("POST", "/v1/graphs", body)["graph_id"])


def test_a_graph_is_drawn_live_and_told_in_a_table(campus: Campus, graph: int) -> None:
    page = campus.admin.open("/graphs")
    page.get_by_role("link", name=str(graph), exact=True).click()
    page.get_by_role("heading", name=f"graph {graph}").wait_for()
    drawing = page.get_by_label("Which waits for which").locator(".react-flow")
    drawing.get_by_text("prep", exact=True).wait_for()
    page.get_by_text("failed", exact=True).first.wait_for()
    stages = page.get_by_role("table", name="Stages")
    work = stages.get_by_role("row", name=re.compile("work prep"))
    work.get_by_text("11 succeeded, 1 failed").wait_for()
    until(lambda: _are_one_after_another(drawing, "x"), "each stage stands right of the one before")
    campus.admin.check_accessible()
    look(campus.admin, "graph-light-1280")
    page.get_by_text(f"bailiwick graph show graph-{graph}").wait_for()


def _are_one_after_another(drawing: Any, goes: str) -> bool:
    """Whether each stage is drawn once, in turn to the right (x) or downwards (y)."""
    found = [drawing.get_by_text(name, exact=True) for name in ("prep", "work", "last")]
    if any(each.count() != 1 for each in found):
        return False
    boxes = [each.bounding_box() for each in found]
    if None in boxes:  # drawn anew between two looks
        return False
    places = [box[goes] for box in boxes]
    return len(set(places)) == 3 and places == sorted(places)


def test_a_drawing_goes_downwards_on_a_narrow_screen_whatever_it_was_before(
    campus: Campus, graph: int
) -> None:
    page = campus.admin.open(f"/graphs/{graph}")
    drawing = page.get_by_label("Which waits for which").locator(".react-flow")
    try:
        for width, goes in ((1280, "x"), (390, "y"), (1280, "x")):
            page.set_viewport_size({"width": width, "height": 900})
            until(
                lambda goes=goes: _are_one_after_another(drawing, goes),  # type: ignore[misc]
                f"stages are drawn along {goes} at {width} pixels",
            )
            look(campus.admin, f"graph-turned-{width}")
    finally:
        page.set_viewport_size({"width": 1280, "height": 900})


def test_an_array_is_a_grid_that_keys_go_through(campus: Campus, graph: int) -> None:
    page = campus.admin.open(f"/graphs/{graph}")
    grid = page.get_by_role("group", name=re.compile("^Elements of work"))
    cells = grid.get_by_role("button")
    until(lambda: cells.count() == 12, "every element has a cell")
    failed = grid.get_by_role("button", name="work[5]: failed")
    failed.wait_for()
    cells.first.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    assert page.evaluate("() => document.activeElement.ariaLabel") == "work[5]: failed"
    page.keyboard.press("Enter")
    page.get_by_role("heading", name=re.compile("^job")).wait_for()
    page.get_by_text("exit code 1").wait_for()


def test_what_failed_of_a_graph_is_tried_again(campus: Campus, graph: int) -> None:
    page = campus.admin.open(f"/graphs/{graph}")
    page.get_by_role("button", name="Retry what failed").click()
    confirm(page, "Retry what failed")
    look_at = f"/v1/graphs/{graph}"
    again = {"running", "failed"}
    until(lambda: campus.ask("GET", look_at)["graph"]["phase"] in again, "it was taken up again")
    task = until(
        lambda: next(
            (t for t in campus.ask("GET", look_at)["tasks"] if t["attempt"] > 1),
            None,
        ),
        "the failed element has a second attempt",
    )
    assert task["name"] == "work[5]"


# -- a shell -----------------------------------------------------------------------------------


def test_a_shell_inside_a_running_job(campus: Campus) -> None:
    wish = {
        "tenant": "main",
        "project": "default",
        "command": ["/bin/sh", "-c", "WHERE=inside exec sleep 600"],
        "resources": {"mem_bytes": 2**26, "cpu_milli": 100},
    }
    job = campus.ask("POST", "/v1/jobs", wish)["job_id"]
    page = campus.admin.open(f"/jobs/{job}")
    page.get_by_role("button", name="Open a shell").click()
    wrote = page.get_by_label("What the shell wrote")
    line = page.get_by_label("A line for the shell")
    line.fill("echo $((6 * 7))-äh; echo wrong >&2")
    line.press("Enter")
    wrote.get_by_text("42-äh").wait_for()
    wrote.get_by_text("wrong", exact=True).wait_for()
    look(campus.admin, "shell-light-1280")
    campus.admin.check_accessible()
    line.fill("exit 3")
    line.press("Enter")
    page.get_by_text("ended with exit code 3").wait_for()
    campus.ask("DELETE", f"/v1/jobs/{job}")


def test_the_pages_did_nothing_wrong(campus: Campus, pia: Person) -> None:
    """The last of them: what the tests above saw of the pages that they share."""
    refused = ("/instances?dry_run=true",)  # what the manifest forbids was tried once
    pia.forgives += refused
    assert pia.faults() == []
    assert campus.admin.faults() == []
