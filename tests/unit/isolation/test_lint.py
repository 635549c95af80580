"""What is found about a policy: each finding by an example, and what is claimed by the judge."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, combinations_with_replacement, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.fleet.topology import CacheDomain, DomainKind, NodeTopology
from bailiwick.isolation.judge import kinds_of, violations
from bailiwick.isolation.language.parser import parse_policy
from bailiwick.isolation.lint.findings import LintCode, LintFinding, LintSeverity
from bailiwick.isolation.lint.linter import LintWorld, lint_policy
from bailiwick.isolation.lint.meaning import Meaning
from bailiwick.isolation.lint.openings import openings
from bailiwick.isolation.lint.sorts import WIDER, minutes_of, sorts_of
from bailiwick.isolation.placements import Placement, Site
from bailiwick.isolation.policy import (
    Anyone,
    Dedicated,
    Distrust,
    NeverShare,
    OfProject,
    OfTenant,
    Policy,
    PolicyException,
    Subject,
    Window,
)
from tests.support.isolation_policies import (
    DAY_MS,
    NOW_MS,
    policies,
    sites,
    subjects,
    windows,
    worlds,
)

C, H = LintCode, DomainKind
TWO_CACHES = NodeTopology((CacheDomain(1000), CacheDomain(1000, numa=1)))
ONE_RACK = (Site("n1", TWO_CACHES, (), {"zone": "inner"}), Site("n2"))
BANKS = frozenset({"acme", "bank"})


def found(text: str, world: LintWorld | None = None) -> list[LintFinding]:
    return lint_policy(parse_policy(text), world)


def codes(text: str, world: LintWorld | None = None) -> list[tuple[LintCode, str]]:
    return [
        (each.code, each.rule) for each in found(text, world) if each.code is not C.NOT_FORBIDDEN
    ]


ALLOW = "allow {} between tenant a and tenant b owner o until 2027-01-31"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tenant a only on nodes with z=1 and z=2", [(C.CONTRADICTORY, "rule-1")]),
        (
            "tenant a only on nodes with z=1\nproject a/p only on nodes with z=2",
            [(C.CONTRADICTORY, "rule-2")],
        ),
        ("tenant a only on nodes with z=1\ntenant b only on nodes with z=2", []),
        (
            "anyone only on nodes with z=1 between 08:00 and 09:00\n"
            "tenant b only on nodes with z=2 between 09:00 and 10:00",
            [],
        ),
        ("never share host between anyone and others", [(C.NO_EFFECT, "rule-1")]),
        ("dedicated host for anyone", [(C.NO_EFFECT, "rule-1")]),
        ("never share host among tenant a, anyone", [(C.NO_EFFECT, "rule-1")]),
        (
            "never share host between tenant a and project a/p",
            [(C.APART_FROM_ITSELF, "rule-1")],
        ),
        (
            "dedicated host for tenant a\ndedicated host for label x=1",
            [(C.OVERLAPPING, "rule-2")],
        ),
        ("dedicated host for tenant a\ndedicated host for project a/p", []),
        (
            "never share cache between tenant a and tenant b\nnever share host among tenants",
            [(C.SHADOWED, "rule-1")],
        ),
        (
            "never share fabric between tenant a and tenant b\nnever share host among tenants",
            [],
        ),
        (
            "never share host among tenants\nnever share host among tenants\n",
            [(C.SHADOWED, "rule-2")],
        ),
        (
            "never share cache between tenant a and tenant b\nnever share host among tenants\n"
            + ALLOW.format("host"),
            [],
        ),
        (
            "x: never share host between tenant a and tenant b\n"
            "y: never share host between tenant a and tenant c\n"
            "z: never share host between tenant a and group g\n"
            "group g = tenant b, tenant c",
            [(C.SHADOWED, "z")],
        ),
        (
            "dedicated host for tenant a\n"
            "dedicated cache for tenant a between 08:00 and 09:00 on mon",
            [(C.SHADOWED, "rule-2")],
        ),
        (
            "dedicated cache for tenant a\ndedicated host for tenant a between 08:00 and 09:00",
            [],
        ),
        (
            "anyone only on nodes with z=1\ntenant a only on nodes with z=1",
            [(C.SHADOWED, "rule-2")],
        ),
        ("at most 2 of tenant a per host\nat most 1 of anyone per rack", [(C.SHADOWED, "rule-1")]),
        ("at most 1 of tenant a per host\nat most 2 of anyone per rack", []),
        (
            "keep host for tenant a 1h after it left\nkeep cache, host for tenant a until scrubbed",
            [(C.SHADOWED, "rule-1")],
        ),
        ("keep host for tenant a 1h after it left\nkeep host for anyone until scrubbed", []),
        ("group g = tenant a", [(C.UNUSED_GROUP, "g")]),
        (
            "never share host among tenants\n" + ALLOW.format("cache"),
            [(C.EXCEPTION_WITHOUT_EFFECT, "rule-2")],
        ),
        ("never share cache, host among tenants\n" + ALLOW.format("cache, host"), []),
        (
            "dedicated host for tenant c\n" + ALLOW.format("host"),
            [(C.EXCEPTION_WITHOUT_EFFECT, "rule-2")],
        ),
    ],
)
def test_what_is_wrong_with_the_rules_alone(
    text: str, expected: list[tuple[LintCode, str]]
) -> None:
    assert codes(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tenant a only on nodes with zone=outer", [(C.UNSATISFIABLE, "rule-1")]),
        ("tenant a only on nodes with zone=inner", []),
        ("dedicated rack for tenant bank", [(C.NEVER_TOGETHER, "rule-1")]),
        ("dedicated host for tenant bank", []),
        (
            "dedicated host for tenant bank\nanyone only on nodes with zone=inner",
            [(C.NEVER_TOGETHER, "rule-1")],
        ),
        ("dedicated cache for tenant bank\nanyone only on nodes with zone=inner", []),
        ("dedicated fabric for tenant bank", []),
        ("at most 1 of tenant a per host", [(C.UNSATISFIABLE, "rule-1")]),
        ("at most 2 of tenant a per host", []),
        ("at most 1 of tenant a per cache", []),
    ],
)
def test_what_the_fleet_cannot_give(text: str, expected: list[tuple[LintCode, str]]) -> None:
    assert codes(text, LintWorld(sites=ONE_RACK, gang_max=3)) == expected


def test_who_is_not_known_is_told_with_who_may_have_been_meant() -> None:
    text = (
        "group g = tenant nobody, project nowhere/p\n"
        "dedicated host for group g\n"
        "never share host among tenant acme, tenant bnak, tenant bank\n"
        "dedicated rack for tenant bnak"
    )
    told = found(text, LintWorld(tenants=BANKS))
    assert [(each.code, each.rule, each.fix) for each in told if each.rule] == [
        (C.UNREACHABLE, "g", "check the names, or create the tenant"),
        (C.UNREACHABLE, "rule-1", "check the names, or create the tenant"),
        (C.UNKNOWN_TENANT, "rule-2", "did you mean bank?"),
        (C.UNREACHABLE, "rule-3", "did you mean bank?"),
    ]
    assert [each.sentence for each in told[:2]] == [
        "it has nobody: no tenant 'nobody' or tenant 'nowhere' is known",
        "it never applies: nobody of a group that it names is known",
    ]


def test_exceptions_that_ended_or_end_soon_are_told() -> None:
    rule = "never share host among tenants\n"
    world = LintWorld(now_ms=NOW_MS)
    until = "allow host between tenant a and tenant b owner o until "
    assert codes(rule + until + "2026-11-16T12:00", world) == [(C.EXCEPTION_EXPIRED, "rule-2")]
    assert codes(rule + until + "2026-11-30T12:00", world) == [(C.EXCEPTION_ENDS_SOON, "rule-2")]
    assert codes(rule + until + "2026-12-01", world) == []


def test_what_is_left_open_is_told_plainly() -> None:
    assert [each.sentence for each in found("")] == [
        "any two tenants that no rule names may share cache, numa, fabric, host, rack, segment, "
        "region"
    ]
    text = (
        "never share cache, fabric among tenants\n"
        "never share host between tenant acme and others between 08:00 and 18:00\n"
    )
    assert [each.sentence for each in found(text)] == [
        "acme and a tenant that no rule names may share rack, segment, region, and sometimes numa, "
        "host (it depends on project, label or hour)",
        "any two tenants that no rule names may share numa, host, rack, segment, region",
    ]
    half = "never share region among tenants between {}"
    both = half.format("00:00 and 12:00") + "\n" + half.format("12:00 and 24:00")
    assert "may share fabric" in found(both)[-1].sentence
    assert "region" not in found(both)[-1].sentence


def test_every_finding_has_its_severity_and_a_fix() -> None:
    told = found("tenant a only on nodes with z=1 and z=2\ndedicated host for anyone")
    assert [each.severity for each in told] == [
        LintSeverity.ERROR,
        LintSeverity.WARNING,
        LintSeverity.NOTE,
        *([LintSeverity.NOTE] * (len(told) - 3)),
    ]
    assert all(each.fix for each in told[:2])


def test_too_many_labels_are_not_compared_and_that_is_said() -> None:
    labels = ", ".join(f"label k{n}=v" for n in range(12))
    told = found(f"group g = {labels}\ndedicated host for group g")
    assert [each.code for each in told] == [C.NOT_COMPARED]


# -- against the judge -----------------------------------------------------------------------


def _meeting(one: Subject, two: Subject, kind: DomainKind) -> list[Placement]:
    """Two that share a domain of a kind, what it is part of, and nothing else."""
    return [
        Placement(name, subject, "n", {each: frozenset({"d"}) for each in WIDER[kind]})
        for name, subject in (("1", one), ("2", two))
    ]


PEOPLE = (
    Subject("acme"),
    Subject("acme", "red"),
    Subject("acme", None, {"team": "x"}),
    Subject("bank", "blue", {"clearance": "high"}),
    Subject("bank"),
    Subject("lab", None, {"team": "x"}),
    Subject("stranger"),
)


@given(policies(most=4), worlds)
def test_without_a_shadowed_rule_or_an_idle_exception_the_same_is_forbidden(
    policy: Policy, world: tuple[tuple[Site, ...], tuple[Placement, ...]]
) -> None:
    idle = (C.SHADOWED, C.NO_EFFECT, C.EXCEPTION_WITHOUT_EFFECT)
    names = {each.rule for each in lint_policy(policy) if each.code in idle}
    rules = tuple(rule for rule in policy.rules if rule.name not in names)
    exceptions = tuple(each for each in policy.exceptions if each.name not in names)
    lean = replace(policy, rules=rules, exceptions=exceptions)
    pairs = [*combinations_with_replacement(PEOPLE, 2)] if names else []
    meetings = [_meeting(*pair, kind) for pair in pairs for kind in DomainKind]
    for placements in [world[1], *meetings]:
        before = violations(policy, placements, now_ms=NOW_MS)
        after = violations(lean, placements, now_ms=NOW_MS)
        assert bool(before) == bool(after)


@given(policies(most=3))
def test_a_rule_that_is_not_told_as_shadowed_forbids_something_of_its_own(policy: Policy) -> None:
    rules = tuple(
        replace(rule, window=None)
        for rule in policy.rules
        if isinstance(rule, NeverShare | Distrust | Dedicated)
    )
    bare = Policy(rules, (), policy.groups)
    idle = {each.rule for each in lint_policy(bare) if each.code in (C.SHADOWED, C.NO_EFFECT)}
    left = tuple(rule for rule in rules if rule.name not in idle)
    sorts = sorts_of(bare)
    assert sorts is not None
    for rule in left:
        rest = replace(bare, rules=tuple(other for other in left if other is not rule))
        assert any(
            violations(Policy((rule,)), met, now_ms=0) and not violations(rest, met, now_ms=0)
            for kind in kinds_of(rule)
            for one, two in combinations_with_replacement(sorts.subjects, 2)
            for met in [_meeting(one, two, kind)]
        ), rule


FEW = st.sampled_from([OfTenant("acme"), OfProject("acme", "red"), OfTenant("bank"), Anyone()])
NESTED = st.sampled_from([(H.CACHE,), (H.HOST,), (H.CACHE, H.HOST), (H.RACK,)])
NESTED_RULES = st.builds(NeverShare, st.just(""), NESTED, FEW, FEW) | st.builds(
    Dedicated, st.just(""), st.sampled_from([H.CACHE, H.HOST, H.RACK]), FEW
)
NESTED_EXCEPTIONS = st.builds(
    PolicyException, st.just(""), NESTED, FEW, FEW, st.just("alice"), st.just(NOW_MS + DAY_MS)
)


@given(st.lists(NESTED_RULES, min_size=2, max_size=3), st.lists(NESTED_EXCEPTIONS, max_size=2))
def test_a_rule_is_shadowed_exactly_if_it_adds_nothing_whichever_exceptions_last(
    rules: list[NeverShare | Dedicated], allowed: list[PolicyException]
) -> None:
    named = tuple(replace(rule, name=f"rule-{at}") for at, rule in enumerate(rules))
    freed = tuple(replace(each, name=f"free-{at}") for at, each in enumerate(allowed))
    policy = Policy(named, freed)
    told = {each.rule for each in lint_policy(policy) if each.code in (C.SHADOWED, C.NO_EFFECT)}
    left = tuple(rule for rule in named if rule.name not in told)
    sorts = sorts_of(policy)
    assert sorts is not None
    lasting = [few for size in range(len(freed) + 1) for few in combinations(freed, size)]
    met = [
        _meeting(one, two, kind)
        for one, two in combinations_with_replacement(sorts.subjects, 2)
        for kind in (H.CACHE, H.HOST, H.RACK)
    ]

    def forbidden(some: tuple[NeverShare | Dedicated, ...]) -> list[bool]:
        held = product(lasting, met)
        return [bool(violations(Policy(some, few), two, now_ms=NOW_MS)) for few, two in held]

    everything = forbidden(named)
    assert forbidden(left) == everything
    for rule in left:
        assert forbidden(tuple(other for other in left if other is not rule)) != everything


def _least(fleet: tuple[Site, ...], subject: Subject, name: str) -> list[Placement]:
    return [
        Placement(name, subject, site.node, site.domains(caches=(at,), devices=()), site.labels)
        for site in fleet
        for at in range(site.topology.cache_count)
    ]


@given(policies(most=3), sites())
def test_what_is_told_as_never_is_never_and_nothing_else_is(
    policy: Policy, fleet: tuple[Site, ...]
) -> None:
    rules = tuple(replace(r, window=None) for r in policy.rules if hasattr(r, "window"))
    bare = Policy(rules, (), policy.groups)
    told = {
        code: {each.rule for each in lint_policy(bare, LintWorld(fleet)) if each.code is code}
        for code in (C.UNSATISFIABLE, C.NEVER_TOGETHER, C.CONTRADICTORY)
    }
    sorts = sorts_of(bare)
    assert sorts is not None
    only_on = replace(bare, rules=tuple(r for r in rules if hasattr(r, "labels")))
    homes = {
        name: [
            [p for p in _least(fleet, s, name) if not violations(only_on, [p], now_ms=0)]
            for s in sorts.subjects
        ]
        for name in "12"
    }
    assert any(not each for each in homes["1"]) == bool(told[C.UNSATISFIABLE])
    for rule in rules:
        if not isinstance(rule, NeverShare | Distrust | Dedicated):
            continue
        never = any(
            homes["1"][one]
            and homes["2"][two]
            and all(
                violations(Policy((rule,)), [*both], now_ms=0)
                for both in product(homes["1"][one], homes["2"][two])
            )
            for one, two in combinations_with_replacement(range(len(sorts.subjects)), 2)
        )
        assert never == (rule.name in told[C.NEVER_TOGETHER])


@given(policies(most=4), subjects, subjects, st.integers(0, 7 * 24 * 60))
def test_what_is_told_as_left_open_is_open_and_what_is_not_is_not(
    policy: Policy, one: Subject, two: Subject, minute: int
) -> None:
    now_ms = NOW_MS + minute * 60_000
    sorts = sorts_of(policy)
    assert sorts is not None
    told = openings(Meaning(policy, sorts), now_ms=now_ms)
    first, second = sorts.tenants[-2:]
    names = {one.tenant: one.tenant, two.tenant: two.tenant}
    strangers = [name for name in names if name not in sorts.tenants]
    names |= dict(zip(strangers, (first, second), strict=False))
    pair = {names[one.tenant], names[two.tenant]}
    rules = tuple(r for r in policy.rules if isinstance(r, NeverShare | Distrust | Dedicated))
    sharing = replace(policy, rules=rules)
    for opening in (each for each in told if {each.first, each.second} == pair):
        for kind in DomainKind:
            forbidden = bool(violations(sharing, _meeting(one, two, kind), now_ms=now_ms))
            if kind in opening.always:
                assert not forbidden
            elif kind not in opening.partly:
                assert forbidden


@given(windows)
def test_the_minutes_of_a_window_are_those_in_which_it_is_open(window: Window) -> None:
    from bailiwick.isolation.judge import opens_within

    monday = 4 * DAY_MS
    minutes = minutes_of(window)
    for minute in range(0, 7 * 1440, 7):
        at = monday + minute * 60_000
        assert opens_within(window, at, to_ms=at + 1) == bool(minutes >> minute & 1)
