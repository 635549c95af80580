"""Pages that keep themselves new, for everybody: in a real browser, against a real server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.browser import Person, person
from tests.support.web_campus import Campus, log_in, web_campus

PLACE = "tenants/lab/projects/vision"
LIVE = "live"


@pytest.fixture(scope="module")
def campus(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Campus]:
    with web_campus(browser, tmp_path_factory.mktemp("live")) as made:
        for tenant in ("lab", "rival"):
            made.ask("POST", "/v1/tenants", {"tenant": tenant})
            made.ask("POST", f"/v1/tenants/{tenant}/projects", {"project": "vision"})
        yield made


def enter(campus: Campus, name: str, place: str) -> Any:
    """Somebody of a project in a browser of his own, and what its page asked for."""
    return person(campus.browser, campus.server.address), campus.code_for(
        name, "project_member", place
    )


def asked(who: Person) -> list[str]:
    """Every path that the page asks for from now on."""
    paths: list[str] = []
    who.page.on("request", lambda request: paths.append(request.url.removeprefix(who.address)))
    return paths


def top_line(who: Person, told: str) -> Any:
    """The top line once it says this."""
    found = who.page.get_by_role("status").get_by_text(told, exact=True)
    found.first.wait_for()
    return found


def test_a_members_page_is_live_and_shows_what_happens_in_his_project(campus: Campus) -> None:
    browser, code = enter(campus, "mia", PLACE)
    with browser as mia:
        log_in(mia, code)
        top_line(mia, LIVE)
        mia.open("/leases")
        mia.settle()
        wish = {"tenant": "lab", "project": "vision", "resources": {"cpu_milli": 100}}
        lease_id = campus.ask("POST", "/v1/leases", wish)["lease_ids"][0]
        mia.page.get_by_role("link", name=str(lease_id), exact=True).first.wait_for()
        assert mia.faults() == []


def test_a_page_of_another_tenant_asks_for_nothing_when_something_happens(campus: Campus) -> None:
    browser, code = enter(campus, "rob", "tenants/rival/projects/vision")
    mine, own_code = enter(campus, "max", PLACE)
    with browser as rob, mine as own:
        log_in(rob, code)
        log_in(own, own_code)
        for who in (rob, own):
            who.open("/tenants/lab" if who is own else "/tenants/rival")
            top_line(who, LIVE)
            who.settle()
        theirs, ours = asked(rob), asked(own)
        campus.ask("PATCH", f"/v1/{PLACE}", {"display_name": "seen by its own"})
        until_asked(own, ours, "/v1/tenants/lab")
        assert [path for path in theirs if "rival" in path] == []


def until_asked(who: Person, paths: list[str], start: str) -> None:
    """Wait until the page asked for such a path again."""
    for _ in range(600):
        if any(path.startswith(start) for path in paths):
            return
        who.page.wait_for_timeout(50)
    raise AssertionError(f"{start} was not asked for again: {paths}")


def test_a_lost_connection_is_told_and_goes_on_where_it_was(campus: Campus) -> None:
    browser, code = enter(campus, "lea", PLACE)
    with browser as lea:
        places: list[str | None] = []
        lea.page.on(
            "request",
            lambda request: (
                places.append(request.headers.get("last-event-id"))
                if request.url.endswith("/v1/changes")
                else None
            ),
        )
        log_in(lea, code)
        top_line(lea, LIVE)
        lea.forgives = (*lea.forgives, "/v1/", "ERR_INTERNET_DISCONNECTED", "Failed to fetch")
        lea.context.set_offline(True)
        lea.page.evaluate("() => window.stop()")
        top_line(lea, "connection lost, trying again")
        lea.context.set_offline(False)
        top_line(lea, LIVE)
        assert places[0] is None
        assert places[-1] is not None
        assert len(places[-1]) == 32


def test_a_revoked_session_ends_its_stream(campus: Campus) -> None:
    browser, code = enter(campus, "eve", PLACE)
    with browser as eve:
        log_in(eve, code)
        top_line(eve, LIVE)
        eve.forgives = (*eve.forgives, "/v1/")
        rows = campus.ask("GET", "/v1/tokens?limit=500")["items"]
        for row in rows:
            if row["principal"] == "eve" and not row["revoked"] and not row["single_use"]:
                campus.ask("DELETE", f"/v1/tokens/{row['token_id']}")
        top_line(eve, "not live: log in again")


def test_every_page_tells_what_happened_with_the_sealed_record_behind_it(campus: Campus) -> None:
    node = campus.ask("GET", "/v1/nodes")["items"][0]["node"]
    with person(campus.browser, campus.server.address) as who:
        who.context.add_cookies(campus.admin.context.cookies())
        pages = {
            f"/nodes/{node}": "node registered",
            "/tenants/lab": "tenant created",
            f"/{PLACE}": "project created",
        }
        for path, kind in pages.items():
            page = who.open(path)
            page.get_by_role("heading", name="What happened").wait_for()
            page.get_by_role("button", name=kind, exact=True).last.click()
            page.get_by_text(f'"kind": "{kind.replace(" ", "_")}"').wait_for()
            who.settle()
            who.check_accessible()
            who.check_width()
        assert who.faults() == []
