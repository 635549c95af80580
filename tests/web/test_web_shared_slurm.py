"""One real Slurm that two projects share, made and used by people in a browser.

The tenant's administrator makes it in the flow of its own, both projects accept, one gives a worker
and takes it back. Each asks its own queue. What a page says is compared with what Slurm says, asked
inside its controller, and what is another project's is looked for on every page that is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from bailiwick.operators.slurm.manifest import SHARED_APP
from bailiwick.operators.slurm.wanted import CONTROLLER, PORTS
from tests.support.browser import TRIED, Person, confirm, person
from tests.support.ports import free_ports
from tests.support.slurm_shared_app import OWNER, VERSION, SharedApp, shared_app
from tests.support.waiting import until
from tests.support.web_apps import look
from tests.support.web_campus import log_in

RUNTIME = "/tenants/lab/runtimes/main"


@dataclass
class Shown:
    """The runtime, and three people who look at it."""

    app: SharedApp
    tina: Person
    """She administers the tenant."""
    alice: Person
    bob: Person


@contextmanager
def shown(browser: Any, app: SharedApp) -> Iterator[Shown]:
    with ExitStack() as stack:
        found = []
        for name in ("tina", "alice", "bob"):
            who = stack.enter_context(person(browser, app.server.address))
            wish = {"principal": name, "single_use": True, "ttl_s": 3_600}
            log_in(who, app.admin.ask("POST", "/v1/tokens", wish, key=f"code-{name}")["token"])
            found.append(who)
        yield Shown(app, *found)


def answer(page: Any, question: str) -> Any:
    """Ask the queue, and wait for what it says to that."""
    page.get_by_role("button", name=question, exact=True).click()
    page.get_by_role("button", name=question, exact=True, disabled=False).wait_for()
    return page.get_by_label("Answer", exact=True)


@pytest.mark.long
def test_two_projects_share_a_slurm_in_a_browser(browser: Any) -> None:
    with shared_app() as app, shown(browser, app) as people:
        the_tenant_makes_it_in_its_own_flow(people)
        app.let_operator_in()
        app.start_operator()
        both_projects_accept_and_one_gives_a_worker(people)
        whose_each_member_is_is_shown(people)
        each_sees_its_own_queue_and_nothing_of_the_other(people)
        one_takes_its_worker_back_and_leaves(people)
        the_tenant_deletes_it_and_nothing_is_left(people)
        for who in (people.tina, people.alice, people.bob):
            who.forgives += ("/v1/tenants/lab/runtimes/main",)
            assert who.faults() == []


def the_tenant_makes_it_in_its_own_flow(people: Shown) -> None:
    page = people.tina.open("/tenants/lab/share")
    page.get_by_role("radio", name=re.compile("^Shared by the tenant")).check()
    page.get_by_label("App", exact=True).select_option(SHARED_APP)
    page.get_by_label("Version", exact=True).select_option(VERSION)
    page.get_by_label("Name", exact=True).fill("main")
    page.locator("summary").first.click()
    first = {"port": free_ports(PORTS)[0], "kill_wait_s": 2, "min_job_age_s": 5}
    for name, value in first.items():
        page.get_by_label(f"{name} (optional)").fill(str(value))
    for project in ("vision", "audio"):
        page.get_by_role("checkbox", name=re.compile(f"^{project}")).check()
    page.get_by_label("Owner record").select_option(OWNER)
    page.get_by_label("Reserved: worker").fill("1")
    page.get_by_label("A withdrawn worker is back within, minutes").fill("1")
    page.get_by_role("checkbox", name=re.compile("I have read who owns it")).check()
    page.get_by_text(TRIED).wait_for()
    people.tina.check_accessible()
    page.get_by_role("button", name="Create main and allow 2 projects").click()
    page.get_by_role("heading", name="shared runtime main").wait_for()


def both_projects_accept_and_one_gives_a_worker(people: Shown) -> None:
    for who in (people.alice, people.bob):
        parts = who.open(RUNTIME).get_by_role("table", name="Projects with a part")
        parts.get_by_role("button", name="Accept").click()
        confirm(who.page, "Accept")
    page = people.alice.page
    page.get_by_role("button", name="Give a worker").click()
    confirm(page, "Give a worker")
    until(lambda: people.app.runs(2), "jobs came back from the reserved worker and from vision's")


def whose_each_member_is_is_shown(people: Shown) -> None:
    page = people.tina.open(RUNTIME)
    page.get_by_text("running", exact=True).first.wait_for()
    table = page.get_by_role("table", name="Controller and workers")
    for key, told in (
        (CONTROLLER, f"{OWNER} reserved"),
        ("worker-0", f"{OWNER} reserved"),
        ("vision-0", "vision given"),
    ):
        row = table.get_by_role("row", name=re.compile(f"^{key}"))
        row.get_by_text("ready", exact=True).wait_for()
        assert told in row.inner_text().replace("\n", " "), row.inner_text()
    for width, theme in ((390, "dark"), (390, "light"), (1280, "dark"), (1280, "light")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=theme)
        people.tina.rest()
        people.tina.check_accessible()
        people.tina.check_width()
        look(people.tina, f"slurm-runtime-{theme}-{width}")


def each_sees_its_own_queue_and_nothing_of_the_other(people: Shown) -> None:
    app = people.app
    jobs = {who: app.sbatch(who, "-J", f"of-{who}", seconds=600).job_id for who in ("alice", "bob")}
    assert all(jobs.values()), jobs
    for who, name, other in ((people.alice, "alice", "bob"), (people.bob, "bob", "alice")):
        project, theirs = ("vision", "audio") if name == "alice" else ("audio", "vision")
        page = who.open(RUNTIME)
        page.get_by_role("heading", name=f"Ask the queue of {project}").wait_for()
        link = page.get_by_role("link", name=re.compile("^[0-9]+$"))
        assert not [each for each in _targets(link) if "/instances/" in each], "it is not theirs"
        queue = answer(page, "What runs and waits")
        # Slurm writes eight letters of each.
        until(lambda: f"of-{name}"[:8] in queue.inner_text(), "the queue has it")  # noqa: B023
        text = page.locator("main").inner_text()
        assert f"of-{other}"[:8] not in text
        assert theirs not in text, "nothing of another project is on the page"
        who.check_accessible()
        look(who, f"slurm-runtime-{name}-light-1280")
    page = people.tina.open(RUNTIME)
    page.get_by_role("table", name="Controller and workers").wait_for()
    assert page.get_by_role("heading", name=re.compile("^Ask the queue")).count() == 0
    app.slurm("scancel", *jobs.values())


def _targets(links: Any) -> list[str]:
    return [str(each.get_attribute("href")) for each in links.all()]


def one_takes_its_worker_back_and_leaves(people: Shown) -> None:
    app, page = people.app, people.alice.open(RUNTIME)
    lease = app.members()["vision-0"]["lease_id"]
    row = page.get_by_role("row", name=re.compile("^vision-0"))
    row.get_by_role("button", name="Withdraw").click()
    confirm(page, "Withdraw")
    until(lambda: lease not in app.leases(), "the lease is back")
    row.wait_for(state="detached")
    until(lambda: app.runs(1), "the rest goes on")
    assert app.slurm("sinfo", "-hN", "-p", "vision", "-o", "%N").split() == ["worker-0"]
    page.get_by_role("button", name="Leave the runtime").click()
    confirm(page, "Leave the runtime")
    until(lambda: not app.phase_of("vision"), "it is detached")
    assert "vision" not in app.slurm("sacctmgr", "-nP", "show", "account", "format=account").split()
    page = people.bob.open(RUNTIME)
    answer(page, "Its workers").get_by_text("worker-0").wait_for()


def the_tenant_deletes_it_and_nothing_is_left(people: Shown) -> None:
    app, page = people.app, people.tina.open(RUNTIME)
    page.get_by_role("button", name="Delete it").click()
    confirm(page, "Delete it")
    page.get_by_text("Nothing is shared here yet").wait_for()
    until(lambda: not app.admin.ask("GET", "/v1/leases")["items"], "all leases are back")
    until(lambda: not app.inside_pids(), "no process of a member is left")
    until(lambda: not list((app.folder / "keys").iterdir()), "nor is its key")
