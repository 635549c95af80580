"""Which projects of a tenant may not meet inside an app that they share."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from bailiwick.isolation.language.parser import parse_policy
from bailiwick.services.apps.shared.parting import AHEAD_MS, PartedProjects, parted

PROJECTS = ("audio", "text", "vision")
NOW_MS = 1_790_000_000_000


def pairs(text: str, *, now_ms: int = NOW_MS) -> dict[tuple[str, str], set[str]]:
    """Who is kept apart by a policy, and on what."""
    found = parted(parse_policy(text), "lab", projects=PROJECTS, now_ms=now_ms)
    assert all(isinstance(each, PartedProjects) for each in found)
    return {(each.one, each.other): {str(kind) for kind in each.kinds} for each in found}


def test_nobody_is_kept_apart_without_a_rule_or_by_rules_about_others() -> None:
    assert pairs("") == {}
    assert pairs("never share fabric among tenants") == {}
    assert pairs("never share rack among tenant acme, tenant lab") == {}


def test_a_rule_about_projects_parts_every_two_of_them() -> None:
    every = {pair: {"fabric"} for pair in combinations(PROJECTS, 2)}
    assert pairs("never share fabric among projects") == every


def test_a_rule_about_two_parts_those_and_on_all_that_it_names() -> None:
    text = """
never share fabric among project lab/text, project lab/audio
never share rack among project lab/text, project lab/audio
never share rack among project lab/vision, project acme/audio
"""
    assert pairs(text) == {("audio", "text"): {"fabric", "rack"}}


def test_an_exception_counts_only_if_it_lasts_for_a_day_more() -> None:
    text = """
never share fabric among projects
allow fabric between project lab/audio and project lab/text owner ann until 2026-12-01
    because "one paper"
"""
    end_ms = 1_796_083_200_000  # 2026-12-01
    assert ("audio", "text") not in pairs(text, now_ms=end_ms - AHEAD_MS - 60_000)
    assert pairs(text, now_ms=end_ms - AHEAD_MS + 60_000)["audio", "text"] == {"fabric"}


@given(st.sets(st.sampled_from(PROJECTS)))
def test_only_those_that_are_asked_about_are_told(asked: set[str]) -> None:
    policy = parse_policy("never share fabric among projects")
    found = parted(policy, "lab", projects=asked, now_ms=NOW_MS)
    assert [each[:2] for each in found] == [*combinations(sorted(asked), 2)]
