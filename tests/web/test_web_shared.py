"""A runtime that projects share, as people make and use it in a browser, against a real server.

The five things that the text asks of its pages are a test each: shared mode is chosen, projects are
chosen, controller and workers are chosen across projects, who may submit is shown, and so is who
owns and who pays. Then both sides consent, and a project gives a worker and takes it back. What a
test builds upon is a fixture: each holds on its own, in whatever process it runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.browser import TRIED, Person, confirm, person
from tests.support.waiting import until
from tests.support.web_apps import add_app, come, look, manifest
from tests.support.web_campus import Campus, web_campus

SHARE = "/tenants/campus/share"
RUNTIME = "/tenants/campus/runtimes/dept"
PROJECTS = ("it", "vision", "audio")


@pytest.fixture(scope="module")
def campus(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Campus]:
    with web_campus(browser, tmp_path_factory.mktemp("shared"), "--demo") as campus:
        campus.ask("POST", "/v1/tenants", {"tenant": "campus"})
        for project in PROJECTS:
            body = {"project": project, "display_name": f"The {project} group"}
            campus.ask("POST", "/v1/tenants/campus/projects", body)
        add_app(campus, manifest(), tenant="campus")
        yield campus


@pytest.fixture(scope="module")
def grace(campus: Campus) -> Iterator[Person]:
    """She administers the tenant."""
    with person(campus.browser, campus.server.address) as who:
        yield come(campus, who, name="grace", role="tenant_admin", place="tenants/campus")


@pytest.fixture(scope="module")
def ada(campus: Campus) -> Iterator[Person]:
    """She administers a project of it."""
    with person(campus.browser, campus.server.address) as who:
        yield come(
            campus, who, name="ada", role="project_admin", place="tenants/campus/projects/vision"
        )


def shown(campus: Campus) -> Any:
    return campus.ask("GET", "/v1/tenants/campus/runtimes/dept")


def choose_shared(who: Person) -> Any:
    """Begin the flow: shared mode, and what runs."""
    page = who.open(SHARE)
    page.get_by_role("radio", name=re.compile("^Shared by the tenant")).check()
    page.get_by_label("App", exact=True).select_option("hub")
    page.get_by_label("Version", exact=True).select_option("1.0.0")
    page.get_by_label("Name", exact=True).fill("dept")
    return page


def choose_all(who: Person) -> Any:
    """Everything but the acceptance."""
    page = choose_shared(who)
    for project in ("vision", "audio"):
        page.get_by_role("checkbox", name=re.compile(f"^{project}")).check()
    page.get_by_label("Owner record").select_option("it")
    page.get_by_label("Reserved: controller").fill("1")
    page.get_by_label("Reserved: worker").fill("2")
    page.get_by_label("Expected of vision").fill("3")
    page.get_by_role("list", name="Who pays an hour").wait_for()
    return page


# -- the five expectations of the text --------------------------------------------------------


def test_shared_mode_is_chosen_in_a_flow_of_its_own(grace: Person) -> None:
    page = grace.open("/runtimes")
    page.get_by_role("link", name="Share an app between projects").click()
    page.get_by_role("heading", name="How it is run").wait_for()
    assert page.get_by_role("radio", checked=True).count() == 0
    assert page.get_by_role("heading", name="What runs").count() == 0
    page.get_by_role("radio", name=re.compile("^For one project")).check()
    page.get_by_text("That has a form of its own").wait_for()
    assert page.get_by_role("heading", name="What runs").count() == 0
    page.get_by_role("radio", name=re.compile("^Shared by the tenant")).check()
    page.get_by_role("heading", name="What runs").wait_for()
    names = page.get_by_label("App", exact=True).locator("option")
    until(lambda: names.all_inner_texts() == ["choose one", "hub"], "what can be shared is listed")


def test_the_projects_with_a_part_are_chosen(grace: Person) -> None:
    page = choose_shared(grace)
    page.get_by_role("checkbox", name=re.compile("^vision")).check()
    page.get_by_text("each has a part once somebody of that project accepts it").wait_for()
    boxes = page.get_by_role("heading", name="Which projects have a part").locator("../..")
    assert boxes.get_by_role("checkbox").count() == len(PROJECTS)
    page.get_by_label("Expected of vision").wait_for()
    assert page.get_by_label("Expected of audio").count() == 0


def test_controller_and_workers_are_chosen_across_projects(grace: Person) -> None:
    page = choose_all(grace)
    table = page.get_by_role("table", name="Controller and workers")
    assert "reserved for all" in table.inner_text()
    whose = table.locator("tbody tr td:nth-child(2)").all_inner_texts()
    assert whose == ["it", "it", "audio", "vision"]
    page.get_by_label("Nodes for the controller").fill("nonsense")
    page.get_by_text("A label is written name=value.").wait_for()
    page.get_by_text("Choose an app, a version and an owner record").wait_for()
    page.get_by_label("Nodes for the controller").fill("")
    page.get_by_role("list", name="Who pays an hour").wait_for()


def test_who_may_submit_where_is_shown_before_and_after(grace: Person) -> None:
    page = choose_all(grace)
    table = page.get_by_role("table", name="Who may submit where")
    assert table.get_by_role("columnheader").all_inner_texts() == [
        "who submits",
        "to queues of audio",
        "to queues of vision",
    ]
    vision = table.get_by_role("row", name=re.compile("^vision"))
    assert vision.get_by_text("its own queues").count() == 1
    assert vision.get_by_text("audio has opened none").count() == 1
    page.get_by_text("All else is denied.").wait_for()


@pytest.fixture(scope="module")
def accepted(campus: Campus, grace: Person) -> str:
    """She has made the runtime in the browser; the digest that she accepted."""
    page = choose_all(grace)
    bill = page.get_by_role("list", name="Who pays an hour")
    for told in ("it pays", "vision pays", "2 × worker, reserved", "3 × worker, given by vision"):
        bill.get_by_text(told).first.wait_for()
    page.get_by_text("is its owner record and pays for the controller").wait_for()
    grace.check_accessible()
    look(grace, "share-light-1280")
    assert page.get_by_role("button", name=re.compile("^Create dept")).count() == 0
    accept = page.get_by_role("checkbox", name=re.compile("I have read who owns it"))
    accept.check()
    page.get_by_text(TRIED).wait_for()
    assert campus.ask("GET", "/v1/tenants/campus/runtimes")["items"] == []
    # Another wish is another bill: what was accepted does not count for it.
    page.get_by_label("Reserved: worker").fill("1")
    bill.get_by_text("1 × worker, reserved").wait_for()
    assert not accept.is_checked()
    accept.check()
    digest = page.get_by_text(re.compile("--accept [0-9a-f]{64}")).inner_text().split()[-1]
    page.get_by_role("button", name="Create dept and allow 2 projects").click()
    page.get_by_role("heading", name="shared runtime dept").wait_for()
    return str(digest)


def test_who_owns_it_and_who_pays_is_shown_and_accepted_by_its_digest(
    campus: Campus, accepted: str
) -> None:
    made = shown(campus)
    assert made["runtime"]["billing_digest"] == accepted
    assert (made["runtime"]["owner_project"], made["runtime"]["accepted_by"]) == ("it", "grace")
    parts = {row["project"]: row for row in made["attachments"]}
    assert {(p["phase"], p["allowed_by"]) for p in parts.values()} == {("requested", "grace")}
    assert set(parts) == {"vision", "audio"}


# -- a project's side --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def attached(campus: Campus, grace: Person, ada: Person, accepted: str) -> Person:
    """Vision has accepted its part; who did it."""
    assert accepted
    page = grace.open(RUNTIME)
    page.get_by_text("Somebody who administers").first.wait_for()
    parts = page.get_by_role("table", name="Projects with a part")
    row = parts.get_by_role("row", name=re.compile("vision"))
    assert row.get_by_role("button").all_inner_texts() == ["Detach"]
    page = ada.open(RUNTIME)
    parts = page.get_by_role("table", name="Projects with a part")
    assert "audio" not in parts.inner_text()
    parts.get_by_role("button", name="Accept").click()
    confirm(page, "Accept")
    parts.get_by_text("by ada").wait_for()
    return ada


def test_both_sides_consent_and_the_page_shows_both_names(campus: Campus, attached: Person) -> None:
    page = attached.open(RUNTIME)
    parts = page.get_by_role("table", name="Projects with a part")
    parts.get_by_text("by ada").wait_for()
    parts.get_by_text("by grace").wait_for()
    found = {row["project"]: row["phase"] for row in shown(campus)["attachments"]}
    assert found == {"vision": "attached", "audio": "requested"}


def test_a_project_gives_a_worker_and_takes_it_back(campus: Campus, attached: Person) -> None:
    ada = attached
    page = ada.open(RUNTIME)
    page.get_by_role("button", name="Give a worker").click()
    page.get_by_text("It stays vision's").wait_for()
    page.get_by_text(TRIED).wait_for()
    ada.check_accessible()
    look(ada, "give-light-1280")
    confirm(page, "Give a worker")
    members = page.get_by_role("table", name="Controller and workers")
    row = members.get_by_role("row", name=re.compile("vision-0"))
    row.get_by_text("given").wait_for()
    (worker,) = shown(campus)["workers"]
    assert (worker["project"], worker["phase"]) == ("vision", "contributed")
    row.get_by_role("button", name="Withdraw").click()
    page.get_by_text("Nobody has to consent.").wait_for()
    confirm(page, "Withdraw")
    gone = {"draining", "ended"}
    until(
        lambda: all(each["phase"] in gone for each in shown(campus)["workers"]),
        "the worker goes back",
    )
    row.get_by_role("button", name="Withdraw").wait_for(state="detached")


def test_a_queue_is_opened_by_its_own_project_and_closed_again(
    campus: Campus, attached: Person
) -> None:
    page = attached.open(RUNTIME)
    page.get_by_role("button", name="Open a queue").click()
    page.get_by_label("Or for the person").fill("dan")
    page.get_by_label("Limits (optional)").fill("jobs=1")
    confirm(page, "Open a queue")
    rights = page.get_by_role("table", name="Who may submit where")
    row = rights.get_by_role("row", name=re.compile("^dan"))
    row.get_by_text("main by guests").wait_for()
    row.get_by_text("at most 1 jobs").wait_for()
    page.get_by_role("button", name="End it").click()
    confirm(page, "End it")
    row.wait_for(state="detached")
    policies = [r["policy"] for r in shown(campus)["submit_rights"] if r["policy"]]
    assert policies == []


def test_a_member_is_told_where_he_may_submit(campus: Campus, attached: Person) -> None:
    assert attached
    with person(campus.browser, campus.server.address) as ben:
        come(campus, ben, name="ben", role="project_member", place="tenants/campus/projects/vision")
        page = ben.open(RUNTIME)
        page.get_by_text("May I submit, from vision").wait_for()
        page.get_by_role("status").get_by_text("yes").wait_for()
        assert page.get_by_role("button", name="Give a worker").count() == 0
        assert page.get_by_role("button", name="Delete it").count() == 0
        assert ben.faults() == []


def test_the_flow_and_the_runtime_fit_a_narrow_screen(
    campus: Campus, grace: Person, attached: Person
) -> None:
    with person(campus.browser, campus.server.address, width=390, theme="dark") as who:
        who.context.add_cookies(grace.context.cookies())
        for show in (lambda: who.open(RUNTIME), lambda: choose_all(who)):
            show()
            who.check_accessible()
            who.check_width()
        assert who.faults() == []


def test_a_project_leaves_and_the_tenant_ends_it(
    campus: Campus, grace: Person, attached: Person
) -> None:
    ada = attached
    page = ada.open(RUNTIME)
    page.get_by_role("button", name="Leave the runtime").click()
    confirm(page, "Leave the runtime")
    until(
        lambda: (
            "vision" not in {r["project"] for r in shown(campus)["attachments"]}
            or {r["phase"] for r in shown(campus)["attachments"] if r["project"] == "vision"}
            == {"detaching"}
        ),
        "vision leaves",
    )
    page = grace.open(RUNTIME)
    page.get_by_role("button", name="Delete it").click()
    page.get_by_text("It does not come back.").wait_for()
    confirm(page, "Delete it")
    page.get_by_role("heading", name="Shared runtimes of campus").wait_for()
    assert grace.faults() == []
    assert ada.faults() == []
