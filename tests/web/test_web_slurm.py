"""A real Slurm, made, used, grown and deleted by people in a browser.

The server, the agents, the operator and Slurm are real. What a page says is compared with what
Slurm itself says, asked inside its controller. To start a cluster is dear: one is there for all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from bailiwick.operators.slurm.wanted import CONTROLLER, PORTS
from tests.processes.caller import HttpCaller
from tests.support.browser import TRIED, Person, confirm, person
from tests.support.ports import free_ports
from tests.support.slurm_app import (
    ALL,
    FIRST,
    PROJECT,
    house,
    members,
    nothing_is_left,
    runs,
    slurm,
)
from tests.support.waiting import until
from tests.support.web_apps import look
from tests.support.web_campus import log_in

TENANT = "/v1/tenants/main"
TOLD_EVERY_S = 5
"""What jobs used is told that often: each hour would be too late for a test."""


@dataclass
class Seen:
    """A cluster, and whoever looks at it."""

    caller: HttpCaller
    pia: Person
    path: str = ""
    """Where the API has it."""
    where: str = ""
    """Where its page is."""

    @property
    def page(self) -> Any:
        return self.pia.page


def code_for(caller: HttpCaller, name: str, *, role: str, place: str) -> str:
    """A login code for somebody who has this role there."""
    caller.ask("PUT", f"{place}/members", {"member": name, "role": role}, key=f"role-{name}")
    wish = {"principal": name, "single_use": True, "ttl_s": 3_600}
    return str(caller.ask("POST", "/v1/tokens", wish, key=f"code-{name}")["token"])


def answer(page: Any, question: str) -> Any:
    """Ask its queue, and wait for what it says to that."""
    page.get_by_role("button", name=question, exact=True).click()
    page.get_by_role("button", name=question, exact=True, disabled=False).wait_for()
    return page.get_by_label("Answer", exact=True)


def submit(seen: Seen) -> str:
    """A job of hers that sleeps, as she would submit it at the command line; its number."""
    words = ("sbatch", "--parsable", "--output=/dev/null", "--mem=1", "--job-name=visible")
    body = {"argv": [*words, "--wrap=sleep 600"], "wait_s": 20, "within_s": 240}
    token = seen.caller.ask("POST", "/v1/tokens", {"principal": "pia"}, key="pia")["token"]
    with HttpCaller([seen.pia.address], token) as she:

        def said() -> Any:
            asked = she.ask("POST", f"{seen.path}/calls/submit", body, key="visible")
            return asked["call"]["reply"]

        reply = until(said, "her job is taken")
    assert reply["exit_code"] == 0, reply
    return str(reply["stdout"]).strip()


def test_a_slurm_is_made_used_grown_and_deleted_in_a_browser(browser: Any) -> None:
    with (
        house(options=("--tell-every", str(TOLD_EVERY_S))) as (caller, agents, operator, _),
        person(browser, operator.address) as pia,
    ):
        log_in(pia, code_for(caller, "pia", role="project_admin", place=PROJECT))
        seen = Seen(caller, pia)
        it_is_made_from_the_catalog(seen)
        its_members_come_up_and_its_operator_says_that_jobs_run(seen)
        a_job_is_seen_in_its_queue_and_in_what_was_used(seen)
        one_more_worker_joins_it(seen)
        its_page_fits_narrow_screens_and_the_dark(seen, browser)
        nobody_of_another_project_sees_any_of_it(seen, browser)
        it_is_deleted_and_its_page_says_so(seen)
        nothing_is_left(caller, agents, operator_keys=operator.keys)
        # A dry run of what is not whole is refused; what is gone is not found.
        pia.forgives += (f"{seen.path} ", f"{seen.path})", f"{seen.path}/")
        assert pia.faults() == []


def it_is_made_from_the_catalog(seen: Seen) -> None:
    page = seen.pia.open("/apps")
    page.get_by_role("link", name="slurm", exact=True).click()
    page.get_by_role("link", name="Run it in a project").click()
    page.get_by_label("Name", exact=True).fill("c")
    page.get_by_label("Version", exact=True).select_option(FIRST)
    page.get_by_label("How many: worker").fill("1")
    page.get_by_label("port (optional)").fill(str(free_ports(PORTS)[0]))
    page.get_by_label("kill_wait_s (optional)").fill("2")
    page.get_by_text("Seconds that a job has between").wait_for()
    page.get_by_text(TRIED).wait_for()
    seen.pia.check_accessible()
    look(seen.pia, "slurm-run-light-1280")
    assert seen.caller.ask("GET", ALL)["items"] == []
    page.get_by_role("button", name="Run it").click()
    page.get_by_role("heading", name=re.compile("^instance c")).wait_for()
    (made,) = seen.caller.ask("GET", ALL)["items"]
    assert (made["app"], made["version"], made["counts"]["worker"]) == ("slurm", FIRST, 1)
    seen.path = f"{ALL}/{made['instance_id']}"
    seen.where = str(page.url).removeprefix(seen.pia.address)


def its_members_come_up_and_its_operator_says_that_jobs_run(seen: Seen) -> None:
    page = seen.page
    done = page.get_by_role("list", name="Operations").get_by_role("listitem")
    done.filter(has_text=re.compile("^create")).wait_for()
    table = page.get_by_role("table", name="Members")
    for key in (CONTROLLER, "worker-0"):
        table.get_by_role("row", name=re.compile(key)).get_by_text("ready").wait_for()
    page.get_by_text("jobs run on all 1 workers").wait_for()
    page.get_by_text("running", exact=True).first.wait_for()
    done.filter(has_text=re.compile("^create.*succeeded")).wait_for()
    assert page.get_by_text("1 of 1 ready").count() == 2
    until(lambda: runs(seen.caller, seen.path, workers=1), "the server says the same")
    current = page.get_by_role("navigation", name="Pages").locator("[aria-current=page]")
    assert current.inner_text() == "Instances"


def a_job_is_seen_in_its_queue_and_in_what_was_used(seen: Seen) -> None:
    job = submit(seen)
    shown = answer(seen.page, "What runs and waits")
    until(lambda: re.search(rf"\b{job}\b.*\bvisible\b", shown.inner_text()), "the queue has it")
    known = seen.page.get_by_role("table", name="What its work used")
    row = known.get_by_role("row", name=re.compile("^job second"))
    until(lambda: re.search(r"\s[1-9][0-9]*\s", row.inner_text()), "it used seconds")
    seen.pia.check_accessible()
    look(seen.pia, "slurm-instance-light-1280")
    slurm(seen.caller, seen.path, "scancel", job)


def one_more_worker_joins_it(seen: Seen) -> None:
    page = seen.page
    page.get_by_role("button", name="Scale").click()
    page.get_by_label("How many: worker").fill("2")
    confirm(page, "Scale")
    page.get_by_text("2 of 2 ready").wait_for()
    page.get_by_text("jobs run on all 2 workers").wait_for()
    names = sorted(slurm(seen.caller, seen.path, "sinfo", "-hN", "-o", "%N").split())
    assert names == ["worker-0", "worker-1"]
    told = answer(page, "Its workers")
    until(lambda: all(each in told.inner_text() for each in names), "the page has both")
    assert {*members(seen.caller, seen.path)} == {CONTROLLER, *names}


def its_page_fits_narrow_screens_and_the_dark(seen: Seen, browser: Any) -> None:
    with person(browser, seen.pia.address, width=390, theme="dark") as who:
        who.context.add_cookies(seen.pia.context.cookies())
        who.open(seen.where).get_by_text("jobs run on all 2 workers").wait_for()
        answer(who.page, "Its workers").get_by_text("worker-1").wait_for()
        for width, theme in ((390, "dark"), (390, "light"), (1280, "dark")):
            who.page.set_viewport_size({"width": width, "height": 900})
            who.page.emulate_media(color_scheme=theme)
            who.rest()
            who.check_accessible()
            who.check_width()
            look(who, f"slurm-instance-{theme}-{width}")
        assert who.faults() == []


def nobody_of_another_project_sees_any_of_it(seen: Seen, browser: Any) -> None:
    seen.caller.ask("POST", f"{TENANT}/projects", {"project": "other"}, key="other")
    code = code_for(seen.caller, "eve", role="project_admin", place=f"{TENANT}/projects/other")
    with person(browser, seen.pia.address) as eve:
        log_in(eve, code)
        page = eve.open(seen.where)
        page.get_by_role("alert").first.wait_for()
        assert "worker-0" not in page.locator("main").inner_text()
        page = eve.open("/instances")
        page.get_by_text("No instances here").wait_for()
        assert page.get_by_role("link", name=re.compile(r"^c \(")).count() == 0


def it_is_deleted_and_its_page_says_so(seen: Seen) -> None:
    page = seen.page
    page.get_by_role("button", name="Delete it").click()
    confirm(page, "Delete it")
    page.get_by_role("heading", name="It is deleted").wait_for()
    assert page.get_by_role("alert").count() == 0
    page.get_by_text("app instance moved").first.wait_for()
    seen.pia.check_accessible()
    look(seen.pia, "slurm-gone-light-1280")
