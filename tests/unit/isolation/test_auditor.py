"""The auditor: whatever comes, moves, goes, is scrubbed, or when, it finds what the judge finds."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.auditor import Auditor
from bailiwick.isolation.judge import Violation, violations
from bailiwick.isolation.placements import Placement, Residue, Site
from bailiwick.isolation.policy import Distrust, EachTenant, Linger, OfTenant, Policy, Subject
from tests.support.isolation_worlds import HOUR_MS, SITES, placements, policies

IDS = ("1", "2", "3", "4", "5")


def plain(found: Iterable[Violation]) -> list[tuple[str, str, str, tuple[str, ...]]]:
    """Violations without the order of those who commit them."""
    rows = ((v.rule, str(v.kind), v.domain, tuple(sorted(v.who))) for v in found)
    return sorted(rows)


@given(policies(), st.data())
def test_the_auditor_finds_what_the_judge_finds(policy: Policy, data: st.DataObject) -> None:
    auditor, now_ms = Auditor(policy), 0
    there: dict[str, Placement] = {}
    for _ in range(data.draw(st.integers(1, 10))):
        now_ms += data.draw(st.integers(0, 30 * HOUR_MS))
        match data.draw(st.sampled_from(("place", "place", "place", "remove", "scrub", "update"))):
            case "place":
                one = data.draw(placements(data.draw(st.sampled_from(IDS)), now_ms=now_ms))
                there.pop(one.id, None)
                there[one.id] = one
                auditor.place(one)
            case "remove" if there:
                gone = data.draw(st.sampled_from(sorted(there)))
                del there[gone]
                auditor.remove(gone, now_ms=now_ms)
            case "scrub" if auditor.residues(now_ms=now_ms):
                left = data.draw(st.sampled_from(auditor.residues(now_ms=now_ms)))
                auditor.scrub(left.kind, left.domain)
            case "update":
                ids = data.draw(st.sets(st.sampled_from(IDS)))
                stay = {each: there[each] for each in ids if each in there}
                new = {i: data.draw(placements(i, now_ms=now_ms)) for i in ids if i not in there}
                there = {**stay, **new}
                auditor.update(there, now_ms=now_ms)
        residues = auditor.residues(now_ms=now_ms)
        known = violations(policy, [*there.values()], now_ms=now_ms, residues=residues)
        assert plain(auditor.violations(now_ms=now_ms)) == plain(known)
        assert auditor.placements == there


def on(site: Site, number: int, tenant: str, *, from_ms: int) -> Placement:
    return Placement(str(number), Subject(tenant), site.node, site.domains(), {}, from_ms)


def test_what_leaves_is_kept_only_when_the_last_has_left() -> None:
    auditor = Auditor(Policy((Linger("rest", (DomainKind.HOST,), OfTenant("bank"), 100),)))
    for number in (1, 2):
        auditor.place(on(SITES[0], number, "bank", from_ms=0))
    auditor.remove("1", now_ms=10)
    assert auditor.residues(now_ms=10) == ()
    auditor.remove("2", now_ms=20)
    assert auditor.residues(now_ms=119) == (Residue("rest", DomainKind.HOST, "n1", 20, 120),)
    assert auditor.residues(now_ms=120) == ()


def test_an_intruder_is_not_forgiven_because_the_owner_came_back_and_left_again() -> None:
    auditor = Auditor(Policy((Linger("rest", (DomainKind.HOST,), OfTenant("bank"), None),)))
    auditor.place(on(SITES[0], 1, "bank", from_ms=0))
    auditor.remove("1", now_ms=10)
    auditor.place(on(SITES[0], 2, "lab", from_ms=20))
    auditor.place(on(SITES[0], 3, "bank", from_ms=30))
    auditor.remove("3", now_ms=40)
    assert [found.who for found in auditor.violations(now_ms=50)] == [("2",)]


def test_nothing_is_left_in_the_books_after_everybody_has_gone() -> None:
    auditor = Auditor(Policy((Distrust("apart", (DomainKind.HOST,), EachTenant()),)))
    for number, tenant in enumerate(("acme", "bank", "lab")):
        auditor.place(on(SITES[0], number, tenant, from_ms=0))
    assert len([*auditor.violations(now_ms=0)]) == 3
    auditor.update({}, now_ms=1)
    assert [*auditor.violations(now_ms=1)] == []
    assert not auditor._in
    assert not auditor._meetings
    assert not any(auditor._partners.values())
