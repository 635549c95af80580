"""Why a rule is broken or kept, or does not apply."""

from __future__ import annotations

from hypothesis import given

from bailiwick.isolation.explain import RuleVerdict, explain_policy
from bailiwick.isolation.judge import violations
from bailiwick.isolation.language.parser import parse_policy
from bailiwick.isolation.placement_json import PlacedWork
from bailiwick.isolation.placements import Placement, Residue, Site
from bailiwick.isolation.policy import Policy, Subject
from tests.support.isolation_policies import HOUR_MS, NOW_MS, policies, worlds

N1 = Site("n1", labels={"rack": "r1", "zone": "inner"})
BANK = PlacedWork("j1", Subject("bank", "vault"), "n1", until_ms=NOW_MS + HOUR_MS).on(N1)
LAB = PlacedWork("j2", Subject("lab"), "n1", until_ms=NOW_MS + HOUR_MS).on(N1)

RULES = {
    "dedicated host for tenant bank": ("broken", "j1 (bank/vault) and j2 (lab) share host n1"),
    "dedicated fabric for tenant bank": (
        "kept",
        "1 pair of j1, j2 may not share fabric: none does",
    ),
    "dedicated host for tenant acme": ("not_applicable", "nobody here is kept from anybody by it"),
    "dedicated host for tenant bank between 14:00 and 15:00": (
        "not_in_force",
        "its window does not open before the work that it is about ends",
    ),
    "dedicated host for tenant bank between 12:30 and 15:00": (
        "broken",
        "j1 (bank/vault) and j2 (lab) share host n1",
    ),
    "tenant bank only on nodes with zone=inner": ("kept", "j1: nodes with zone=inner"),
    "tenant bank only on nodes with zone=inner and a=b and c=d": (
        "broken",
        "j1 (bank/vault) on n1, which lacks a=b and c=d",
    ),
    "tenant bank only on nodes with a=b between 13:00 and 14:00": (
        "not_in_force",
        "its window does not open before j1 ends",
    ),
    "tenant acme only on nodes with a=b": ("not_applicable", "nobody here is tenant acme"),
    "at most 1 of anyone per rack": ("broken", "2 in rack r1, where 1 may be: j1, j2"),
    "at most 2 of anyone per rack": ("kept", "j1, j2: at most 2 in one rack, and 2 may be"),
    "keep host for tenant acme until scrubbed": ("not_applicable", "nothing is kept by it now"),
}


def told(text: str, residues: tuple[Residue, ...] = ()) -> list[tuple[str, str]]:
    policy = parse_policy(text)
    found = explain_policy(policy, [BANK, LAB], now_ms=NOW_MS, residues=residues)
    return [(each.verdict.value, each.why) for each in found]


def test_each_rule_says_how_it_stands_and_why() -> None:
    for text, expected in RULES.items():
        assert told(text) == [expected], text


def test_an_exception_says_what_it_allows() -> None:
    rule = "never share host among tenants\n"
    allow = "allow host between tenant {} and tenant lab owner o until {}"
    assert told(rule + allow.format("bank", "2027-01-31")) == [
        (
            "kept",
            "1 pair of j1, j2 may not share host: none does, but for 1 meeting that an exception "
            "allows",
        ),
        ("allows", "j1 (bank/vault) and j2 (lab) may share host n1, until 2027-01-31 (o)"),
    ]
    assert told(rule + allow.format("acme", "2027-01-31"))[1] == (
        "not_needed",
        "nothing here would be forbidden without it; it holds until 2027-01-31 (o)",
    )
    assert told(rule + allow.format("bank", "2026-11-01"))[1][0] == "expired"


def test_what_is_kept_after_work_left_is_explained() -> None:
    text = "k: keep host for tenant bank until scrubbed"
    domain = BANK.domains
    kept = Residue("k", next(k for k in domain if k.value == "host"), "n1", left_ms=0)
    assert told(text, (kept,)) == [
        ("broken", "j2 (lab) came into host n1, which is kept for tenant bank")
    ]
    elsewhere = Residue("k", kept.kind, "n2", left_ms=0)
    assert told(text, (elsewhere,)) == [
        ("kept", "host n2 kept for tenant bank, and nobody else came in")
    ]


@given(policies(), worlds)
def test_what_is_broken_is_what_the_judge_finds(
    policy: Policy, world: tuple[tuple[Site, ...], tuple[Placement, ...]]
) -> None:
    found = explain_policy(policy, world[1], now_ms=NOW_MS)
    assert [each.rule for each in found] == [
        each.name for each in (*policy.rules, *policy.exceptions)
    ]
    broken = [each for each in found if each.verdict is RuleVerdict.BROKEN]
    judged = violations(policy, world[1], now_ms=NOW_MS)
    assert {each for one in broken for each in one.meetings} == {*judged}
    assert all({*each.judged} >= {name for m in each.meetings for name in m.who} for each in broken)
