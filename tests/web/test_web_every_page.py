"""Every page that the router knows, in both themes and widths: accessible, at home, quiet, in form.

The list of pages is read from the router itself: a page that was added and is not opened here makes
a test fail. Whatever page is opened, it must ask no other host, say nothing wrong in the browser's
console, have nothing serious that axe finds, and be no wider than its screen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.browser import Person, person
from tests.support.web_apps import look
from tests.support.web_campus import NOT_YET, log_in
from tests.support.web_world import World, routes

CHOOSE = """([principal, tenant, project]) => localStorage.setItem('bailiwick.scope',
  JSON.stringify({principal, tenant, project}))"""
OF_LAB = re.compile(r"\b(?:vision|audio|notebooks|dept|lab)\b")
"""What only people of the one tenant may read anywhere."""
LOOKS = ((1280, "light"), (390, "dark"))
"""Each theme and each width once; colours do not hang on the width."""


@pytest.fixture(scope="module")
def admin(world: World) -> Iterator[Person]:
    """The administrator, who sees everything, in a window of his own."""
    with person(world.campus.browser, world.campus.server.address) as who:
        who.context.add_cookies(world.campus.admin.context.cookies())
        who.open("/")
        who.page.evaluate(CHOOSE, ["admin", "lab", "vision"])
        who.open("/")
        yield who


def show(who: Person, *, width: int, theme: str) -> None:
    """The same page in another window."""
    who.page.set_viewport_size({"width": width, "height": 900})
    who.page.emulate_media(color_scheme=theme)
    who.page.locator(f"html[data-theme={theme}]").wait_for()
    who.settle()


def test_no_page_of_the_router_is_forgotten(world: World) -> None:
    assert len(routes()) > 30
    assert set(world.paths) == set(routes())


def test_every_page_is_accessible_fits_and_does_nothing_wrong(world: World, admin: Person) -> None:
    for route in (*routes(), "/no/such/page"):
        admin.go(world.paths.get(route, route))
        admin.page.get_by_role("heading").first.wait_for()
        for width, theme in LOOKS:
            show(admin, width=width, theme=theme)
            admin.check_accessible()
            admin.check_width()
            look(admin, f"{route.strip('/').replace('/', '-') or 'home'}-{width}-{theme}")
    assert admin.faults() == []


def test_the_login_is_accessible_in_both_themes(world: World) -> None:
    with person(world.campus.browser, world.campus.server.address) as who:
        who.forgives = (NOT_YET,)
        who.open("/jobs")
        who.page.get_by_role("button", name="Log in", exact=True).wait_for()
        for width, theme in LOOKS:
            show(who, width=width, theme=theme)
            who.check_accessible()
            who.check_width()
            look(who, f"login-{width}-{theme}")
        assert who.faults() == []


def test_two_tenants_in_two_windows_see_nothing_of_each_other(world: World, admin: Person) -> None:
    """One opens every page, those of the other's objects too; no answer has a word of the other."""
    campus = world.campus
    with person(campus.browser, campus.server.address) as gus:
        log_in(gus, campus.code_for("gus", "tenant_admin", "tenants/field"))
        answers: list[Any] = []

        def note(answer: Any) -> None:
            answers.append(answer)

        gus.page.on("response", note)
        for route in routes():
            path = world.paths[route]
            gus.go(path)
            shown = gus.page.locator("main").inner_text()
            is_named = path.startswith("/tenants/lab")  # the page repeats what was typed
            assert is_named or not OF_LAB.search(shown), path
        told = [each for each in answers if "/v1/" in each.url and "watch" not in each.url]
        leaks = [(each.url, found[0]) for each in told if (found := _leak(each))]
        assert leaks == []
        foreign = [each for each in told if "/tenants/lab" in each.url]
        assert foreign
        assert {each.status for each in foreign} <= {403, 404}
        names = gus.page.get_by_label("Tenant", exact=True).locator("option").all_inner_texts()
        assert names == ["field"]
    # The same words are there for who may read them: the test looks for the right ones.
    assert OF_LAB.search(admin.go("/tenants/lab").locator("main").inner_text())


def _leak(answer: Any) -> list[str]:
    """What an answer says of the other tenant, with a little of what is around it."""
    if not answer.ok or "/v1/may?tenant=lab" in answer.url:  # that one repeats what was asked
        return []
    text = answer.text()
    return [text[max(0, m.start() - 60) : m.end() + 60] for m in OF_LAB.finditer(text)]
