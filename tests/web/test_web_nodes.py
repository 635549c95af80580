"""The page of a node: its health in sentences with numbers, its ticket, and what is ahead."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.browser import TRIED, Person, confirm, person
from tests.support.web_agents import BROKEN, WARM, ToldAgent, agent_of
from tests.support.web_apps import look
from tests.support.web_campus import Campus, log_in, web_campus
from tests.support.web_looks import check_looks

DAY_MS = 86_400_000
GPU = {"generation": "nvidia_hopper", "vram_bytes": 80 * 2**30, "partitionable": True}


@pytest.fixture(scope="module")
def campus(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Campus]:
    """Two tenants, and nodes that have no agent but who tells something for them."""
    with web_campus(browser, tmp_path_factory.mktemp("nodes")) as found:
        for tenant, project in (("lab", "vision"), ("field", "maps")):
            found.ask("POST", "/v1/tenants", {"tenant": tenant})
            found.ask("POST", f"/v1/tenants/{tenant}/projects", {"project": project})
        for name in ("g1", "g2", "g3"):
            node = {"node": name, "resources": {"cpu_milli": 8_000, "mem_bytes": 2**34}}
            found.ask("POST", "/v1/nodes", {**node, "gpus": [GPU] * 4})
        yield found


@pytest.fixture(scope="module")
def agent(campus: Campus) -> ToldAgent:
    return agent_of(campus, "g1")


@pytest.fixture
def admin(campus: Campus) -> Iterator[Person]:
    with person(campus.browser, campus.server.address) as who:
        who.context.add_cookies(campus.admin.context.cookies())
        who.open("/nodes")
        yield who


def now_ms() -> int:
    return int(time.time() * 1000)


def test_findings_are_told_in_sentences_with_their_numbers_as_they_come(
    agent: ToldAgent, admin: Person
) -> None:
    agent.tell_health()
    page = admin.go("/nodes/g1")
    health = page.get_by_role("region", name="Health")
    health.get_by_text("ok", exact=True).wait_for()
    health.get_by_text("none yet").wait_for()
    agent.tell_health(BROKEN, WARM)
    health.get_by_text("1 finding that fails it, 1 warning").wait_for()
    health.get_by_text(
        "GPU 0: memory errors that could not be corrected (3, and no more than 0 may be)"
    ).wait_for()
    health.get_by_text(
        "GPU 2: a GPU is too hot, or slowed down by heat (86, and no more than 85 may be)"
    ).wait_for()
    health.get_by_text("drained for its health").wait_for()
    assert admin.faults() == []


def test_a_node_is_tested_and_its_ticket_is_read(
    campus: Campus, agent: ToldAgent, admin: Person
) -> None:
    agent.tell_health(BROKEN, WARM)
    page = admin.go("/nodes/g1")
    health = page.get_by_role("region", name="Health")
    health.get_by_role("button", name="Have it tested").click()
    page.get_by_text(TRIED).wait_for()
    assert campus.ask("GET", "/v1/nodes/g1")["health"]["test"] is None
    confirm(page, "Have it tested")
    health.get_by_text(re.compile(r"^goes on \(asked\), at most until")).wait_for()
    test_id = campus.ask("GET", "/v1/nodes/g1")["health"]["test"]["test_id"]
    agent.tell("test", {"test_id": test_id, "findings": [BROKEN], "took_ms": 4_000})
    health.get_by_text(re.compile(r"^failed.*, after 4s \(asked\)$")).wait_for()
    check_looks(admin, "node-health")
    health.get_by_role("button", name="Read its ticket").click()
    ticket = page.get_by_label("The ticket's text")
    ticket.get_by_text("What to do next:").wait_for()
    told = campus.ask("GET", "/v1/nodes/g1/ticket")["text"]
    begin = told.index("What was found:")  # before that the time of asking is told
    assert ticket.inner_text().endswith(told[begin:])
    admin.check_accessible()
    look(admin, "node-ticket")
    assert admin.faults() == []


def test_what_is_ahead_is_told_and_of_whose_it_will_be_only_to_his_tenant(
    campus: Campus, admin: Person
) -> None:
    at = now_ms()
    window = {"window": "fans", "nodes": ["g2"], "text": "new fans"}
    times = {"starts_ms": at + 9 * DAY_MS, "ends_ms": at + 10 * DAY_MS}
    campus.ask("POST", "/v1/maintenance/windows", {**window, **times})
    booking = {"booking": "course", "nodes": ["g2"]}
    times = {"starts_ms": at + 2 * DAY_MS, "ends_ms": at + 3 * DAY_MS}
    where = "/v1/tenants/lab/projects/vision/bookings"
    campus.ask("POST", where, {**booking, **times})
    page = admin.go("/nodes/g2")
    ahead = page.get_by_role("region", name="What is ahead")
    for told in ("fans", "planned", "new fans", "course"):
        ahead.get_by_text(told, exact=True).first.wait_for()
    ahead.get_by_role("link", name="vision").wait_for()
    ahead.get_by_text("in 8d 23h").wait_for()
    check_looks(admin, "node-ahead")
    assert admin.faults() == []
    with person(campus.browser, campus.server.address) as gus:
        log_in(gus, campus.code_for("gus", "tenant_admin", "tenants/field"))
        page = gus.go("/nodes/g2")
        ahead = page.get_by_role("region", name="What is ahead")
        ahead.get_by_text("new fans").wait_for()
        ahead.get_by_text("in 1d 23h").wait_for()
        assert not re.search("course|vision|lab", ahead.inner_text())
        assert not page.get_by_role("region", name="Health").is_visible()
        assert gus.faults() == []


def test_gpus_that_are_to_be_divided_are_told_until_it_failed_or_was_called_off(
    campus: Campus, admin: Person
) -> None:
    wish = {"gpus": [0, 1], "profiles": ["3g.40gb", "4g.40gb"]}
    campus.ask("POST", "/v1/nodes/g3/mig", wish)
    page = admin.go("/nodes/g3")
    ahead = page.get_by_role("region", name="What is ahead")
    ahead.get_by_text("GPU 0, 1 into 3g.40gb, 4g.40gb").wait_for()
    ahead.get_by_text("repartitioning", exact=True).nth(1).wait_for()
    check_looks(admin, "node-mig")
    change = campus.ask("GET", "/v1/nodes/g3")["mig"]["change_id"]
    agent_of(campus, "g3").tell("mig/outcome", {"change_id": change, "cause": "in_use"})
    ahead.get_by_text("failed", exact=True).wait_for()
    ahead.get_by_text("something still runs on the GPU").wait_for()
    assert not ahead.get_by_role("button", name="Call it off").is_visible()
    campus.ask("POST", "/v1/nodes/g3/mig", {**wish, "profiles": []})
    ahead.get_by_text("GPU 0, 1 into one whole").wait_for()
    ahead.get_by_role("button", name="Call it off").click()
    page.get_by_text(TRIED).wait_for()
    assert campus.ask("GET", "/v1/nodes/g3")["mig"] is not None
    confirm(page, "Call it off")
    ahead.wait_for(state="detached")
    assert campus.ask("GET", "/v1/nodes/g3")["mig"] is None
    assert admin.faults() == []
