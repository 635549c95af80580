"""Who has to go so that what stays keeps a policy: no more, no fewer, and the latest first."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from bailiwick.isolation.judge import violations
from bailiwick.isolation.placements import Placement, Residue
from bailiwick.isolation.policy import (
    Anyone,
    Dedicated,
    Linger,
    NeverShare,
    OfTenant,
    Policy,
    PolicyException,
    Subject,
)
from bailiwick.isolation.recovery import Breach, who_must_go
from bailiwick.vocab.words import DomainKind
from tests.support.isolation_worlds import HOUR_MS, placements, policies

HOST = DomainKind.HOST
NOW = 50 * HOUR_MS


def work(number: int, tenant: str, node: str = "n1", *, from_ms: int = 0) -> Placement:
    held, until_ms = {HOST: frozenset({node})}, NOW + 9
    return Placement(str(number), Subject(tenant), node, held, from_ms=from_ms, until_ms=until_ms)


def gone(found: list[Breach]) -> list[str]:
    return [member for breach in found for member in breach.unit]


def test_of_a_pair_the_later_goes_and_who_is_beside_nobody_then_stays() -> None:
    policy = Policy(
        (
            NeverShare("one", (HOST,), OfTenant("a"), OfTenant("b")),
            NeverShare("two", (HOST,), OfTenant("b"), OfTenant("c")),
        )
    )
    units = [[work(1, "a")], [work(2, "b")], [work(3, "c")]]
    (found,) = who_must_go(policy, units, now_ms=NOW)
    assert (found.who.id, found.rule, found.kind, found.domain) == ("2", "one", HOST, "n1")
    assert found.partners == ("1",)


def test_a_gang_goes_whole_and_is_as_old_as_its_oldest() -> None:
    policy = Policy((Dedicated("vault", HOST, OfTenant("bank")),))
    gang = [work(1, "lab", "n1"), work(4, "lab", "n2")]
    found = who_must_go(policy, [gang, [work(2, "bank", "n2")], [work(3, "bank")]], now_ms=NOW)
    assert gone(found) == ["2", "3"]
    found = who_must_go(policy, [[work(2, "bank", "n2")], gang], now_ms=NOW)
    assert gone(found) == ["1", "4"]


def test_who_cannot_be_made_to_go_stays_whoever_came_first() -> None:
    policy = Policy((Dedicated("vault", HOST, OfTenant("bank")),))
    found = who_must_go(policy, [[work(1, "lab")]], now_ms=NOW, fixed=[work(2, "bank")])
    assert gone(found) == ["1"]
    assert found[0].partners == ("2",)


def test_who_came_after_they_left_goes_and_who_was_there_stays() -> None:
    policy = Policy((Linger("ash", (HOST,), OfTenant("bank"), None),))
    left = [Residue("ash", HOST, "n1", left_ms=NOW - 5)]
    units = [[work(1, "lab", from_ms=NOW - 6)], [work(2, "lab", from_ms=NOW - 5)]]
    (found,) = who_must_go(policy, units, now_ms=NOW, residues=left)
    assert (found.who.id, found.rule, found.domain, found.partners) == ("2", "ash", "n1", ())


def test_whom_only_an_exception_tells_apart_are_told_apart() -> None:
    rule = NeverShare("one", (HOST,), OfTenant("a"), Anyone())
    excepted = PolicyException("but", (HOST,), OfTenant("a"), OfTenant("b"), "alice", 2 * NOW)
    longer = replace(work(1, "b"), until_ms=NOW + 99)
    units = [[longer], [work(2, "c")], [work(3, "a")]]
    (found,) = who_must_go(Policy((rule,), (excepted,)), units, now_ms=NOW)
    assert (found.who.id, found.partners) == ("3", ("2",))


residues = st.builds(
    Residue,
    st.sampled_from(("rule-0", "rule-1")),
    st.sampled_from((HOST, DomainKind.RACK)),
    st.sampled_from(("n1", "n2", "r1")),
    st.integers(NOW - 3, NOW),
    st.none() | st.integers(NOW, NOW + 3),
)


@given(
    policies(),
    st.lists(placements("x", now_ms=NOW), max_size=9),
    st.lists(residues, max_size=2),
    st.data(),
)
def test_what_stays_keeps_the_policy_and_nobody_goes_who_might_stay(
    policy: Policy, rough: list[Placement], left: list[Residue], data: st.DataObject
) -> None:
    runs = [
        replace(each, id=str(number), from_ms=NOW - number % 3, until_ms=each.until_ms or NOW + 1)
        for number, each in enumerate(rough)
    ]
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=9, max_size=9))
    units, at = [], 0
    for size in sizes:
        units.append(runs[at : at + size])
        at += size
    units = [unit for unit in units if unit]
    cut = data.draw(st.integers(0, 1))
    fixed = [each for unit in units[:cut] for each in unit]
    found = who_must_go(policy, units[cut:], now_ms=NOW, residues=left, fixed=fixed)
    goes = {each.unit: each for each in found}
    stays = list(fixed)
    for unit in units[cut:]:
        key = tuple(each.id for each in unit)
        before = _broken(policy, stays, left)
        added = [v for v in _broken(policy, [*stays, *unit], left) if v not in before]
        if key not in goes:
            assert not added, "it stays, and breaks a rule"
            stays += unit
            continue
        assert added, "it goes, and broke no rule"
        told = goes[key]
        named = [v for v in added if (v[0], v[1], v[2]) == (told.rule, told.kind, told.domain)]
        assert any(told.who.id in v[3] for v in named)
        assert all(partner in {each.id for each in [*stays, *unit]} for partner in told.partners)


def _broken(policy: Policy, runs: list[Placement], left: list[Residue]) -> list[tuple[object, ...]]:
    found = violations(policy, runs, now_ms=NOW, residues=left)
    return [(each.rule, each.kind, each.domain, each.who) for each in found]
