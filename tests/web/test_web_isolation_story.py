"""A way around the isolation policy, searched for and drawn as a story in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import Person, person
from tests.support.waiting import until
from tests.support.web_apps import look
from tests.support.web_world import World

LEAKY = (
    "apart: never share host between tenant bank and tenant press\n"
    "# one afternoon only\n"
    "visit: allow host between tenant bank and tenant press owner ann until 2030-01-01 "
    'because "an audit"'
)
LONG = "never share cache, rack, host among tenants\ntenant bank only on nodes with zone=in"
PROGRAM = b"bailiwick.tools.isolation.searcher"
SEARCH, CANCEL = "Search for a way around it", "Cancel the search"


@pytest.fixture
def officer(world: World) -> Iterator[Person]:
    """Somebody who may do all that the page offers."""
    with person(world.campus.browser, world.campus.server.address) as who:
        who.context.add_cookies(world.campus.admin.context.cookies())
        yield who


def write(who: Person, text: str) -> Any:
    """Open the page, and write a policy that is not set."""
    page = who.open("/isolation")
    page.get_by_label("The policy's text").fill(text)
    page.get_by_text("no mistakes").wait_for()
    return page


def searchers(world: World) -> list[int]:
    """Processes of this server that search."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
            if PROGRAM in words:
                parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
                found += [int(entry.name)] * (int(parent) == world.campus.server.pid)
        except OSError:
            continue  # it has just ended
    return found


def test_a_way_around_the_policy_is_a_story_that_can_be_seen_and_read(
    world: World, officer: Person
) -> None:
    before = world.campus.ask("GET", "/v1/isolation/policy")["version"]
    page = write(officer, LEAKY)
    page.get_by_role("button", name=SEARCH).click()
    page.get_by_text("1 way around it was found.").wait_for()
    story = page.get_by_role("region", name="Story 1")
    steps = story.get_by_role("list", name="Step by step").get_by_role("listitem")
    told = steps.all_inner_texts()
    assert len(told) == 4
    assert re.search(r"job J1 arrives\.", told[0])
    assert re.search(r"J2 is placed on n\d\.\d\.", told[3])
    spoken = story.locator("ol").aria_snapshot()
    assert "arrives." in spoken
    assert "waits" not in spoken, "the drawing is not read aloud beside the sentences"
    last = steps.nth(3).locator("[data-lane]")
    assert [each for each in last.all_inner_texts() if each.strip()] == ["J1 bank\nJ2 press"]
    story.get_by_text(re.compile("bank's J1 and press's J2 share host n1, which apart")).wait_for()
    marked = page.locator("pre [data-broken]").all_inner_texts()
    assert [text.partition(":")[0] for text in marked] == ["apart", "visit"]
    story.get_by_role("button", name="Go to line 1").click()
    chosen = "() => document.activeElement.value.slice("
    chosen += "document.activeElement.selectionStart, document.activeElement.selectionEnd)"
    assert page.evaluate(chosen) == LEAKY.split("\n", maxsplit=1)[0]
    for width, theme in ((1280, "light"), (390, "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=theme)
        page.locator(f"html[data-theme={theme}]").wait_for()
        officer.check_accessible()
        officer.check_width()
        story.scroll_into_view_if_needed()
        look(officer, f"isolation-story-{width}-{theme}")
    page.get_by_label("The policy's text").fill(LEAKY + "\n# more")
    page.locator("pre [data-broken]").first.wait_for(state="detached")
    assert world.campus.ask("GET", "/v1/isolation/policy")["version"] == before
    assert officer.faults() == []


def test_a_search_shows_how_far_it_is_and_ends_when_it_is_cancelled(
    world: World, officer: Person
) -> None:
    page = write(officer, LONG)
    page.get_by_role("button", name=SEARCH).click()
    page.get_by_role("progressbar", name="How far the search is").wait_for()
    page.get_by_text(re.compile(r"^Looking at every rule")).wait_for()
    until(lambda: searchers(world), "a process searches")
    officer.check_accessible()
    page.get_by_role("button", name=CANCEL).click()
    page.get_by_text("The search was ended before it was over.").wait_for()
    until(lambda: not searchers(world), "the process has ended")
    page.get_by_role("button", name=SEARCH).click()
    page.get_by_role("progressbar", name="How far the search is").wait_for()
    until(lambda: searchers(world), "the place is free again")
    officer.go("/security")
    until(lambda: not searchers(world), "it ends when the page is left")
    assert officer.faults() == []


def test_a_tight_policy_says_how_far_was_searched(officer: Person) -> None:
    page = write(officer, "vault: dedicated host for tenant bank")
    page.get_by_role("button", name=SEARCH).click()
    page.get_by_text(re.compile("^No way around it was found")).wait_for()
    rounds = page.get_by_role("list", name="How far was searched").get_by_role("listitem")
    told = rounds.all_inner_texts()
    assert any("2 jobs, any number of steps: nothing" in text for text in told)
    assert page.locator("pre [data-broken]").count() == 0
    page.get_by_label("The policy's text").fill("vault: dedicatet host for tenant bank")
    page.get_by_text("1 mistake").wait_for()
    assert page.get_by_role("button", name=SEARCH).is_disabled()
    officer.check_accessible()
    assert officer.faults() == []


def test_a_second_search_is_told_that_one_is_running(world: World, officer: Person) -> None:
    page = write(officer, LONG)
    page.get_by_role("button", name=SEARCH).click()
    until(lambda: searchers(world), "a process searches")
    campus = world.campus
    with person(campus.browser, campus.server.address) as other:
        other.context.add_cookies(campus.admin.context.cookies())
        other.forgives = ("/v1/isolation/search",)
        second = write(other, LONG)
        second.get_by_role("button", name=SEARCH).click()
        second.get_by_role("alert").get_by_text(re.compile("one search at a time")).wait_for()
        assert other.faults() == []
    page.get_by_role("button", name=CANCEL).click()
    until(lambda: not searchers(world), "the process has ended")
    assert officer.faults() == []
