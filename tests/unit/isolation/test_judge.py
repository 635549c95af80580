"""What each rule of a policy means, in sentences: the reference that all else is tested against."""

from __future__ import annotations

import pytest

from bailiwick.fleet.topology import CacheDomain, DomainKind, NodeTopology
from bailiwick.isolation.judge import Violation, opens_within, violations
from bailiwick.isolation.placements import Placement, Residue, Site
from bailiwick.isolation.policy import (
    Anyone,
    Dedicated,
    Distrust,
    EachProject,
    EachTenant,
    EachValue,
    Linger,
    Members,
    NeverShare,
    OfProject,
    OfTenant,
    OnlyOn,
    Others,
    Policy,
    PolicyException,
    Rule,
    Spread,
    Subject,
    WhoGroup,
    Window,
    WithLabel,
)

MINUTE_MS = 60_000
DAY_MS = 1440 * MINUTE_MS
MONDAY_MS = 1_000 * 7 * DAY_MS + 4 * DAY_MS
TWO_CACHES = NodeTopology((CacheDomain(8_000), CacheDomain(8_000, numa=1)))
ACME, BANK, LAB = Subject("acme"), Subject("bank"), Subject("lab")
HOST, CACHE, FABRIC, RACK = DomainKind.HOST, DomainKind.CACHE, DomainKind.FABRIC, DomainKind.RACK


def on(
    site: Site,
    number: int,
    subject: Subject,
    *,
    caches: tuple[int, ...] | None = None,
    devices: tuple[int, ...] | None = None,
    until_ms: int | None = None,
    from_ms: int = 0,
) -> Placement:
    domains = site.domains(caches=caches, devices=devices)
    return Placement(str(number), subject, site.node, domains, site.labels, from_ms, until_ms)


def broken(*rules: Rule, placed: list[Placement], now_ms: int = 0) -> list[tuple[str, ...]]:
    """Who breaks which rule."""
    return [(v.rule, *v.who) for v in violations(Policy(rules), placed, now_ms=now_ms)]


@pytest.fixture
def site() -> Site:
    return Site("n1", TWO_CACHES, ("blue", "blue", "red", ""), {"rack": "r1"})


def test_two_who_may_not_share_a_host_do_so_on_one_machine_and_not_on_two(site: Site) -> None:
    rule = NeverShare("apart", (HOST,), OfTenant("acme"), OfTenant("bank"))
    elsewhere = Site("n2", labels={"rack": "r1"})
    assert broken(rule, placed=[on(site, 1, ACME), on(site, 2, BANK)]) == [("apart", "1", "2")]
    assert broken(rule, placed=[on(site, 1, BANK), on(site, 2, ACME)]) == [("apart", "1", "2")]
    assert broken(rule, placed=[on(site, 1, ACME), on(elsewhere, 2, BANK)]) == []
    assert broken(rule, placed=[on(site, 1, ACME), on(site, 2, LAB)]) == []


def test_beside_each_other_under_different_caches_no_cache_is_shared(site: Site) -> None:
    rule = Distrust("caches", (CACHE,), EachTenant())
    beside = [on(site, 1, ACME, caches=(0,)), on(site, 2, BANK, caches=(1,))]
    assert broken(rule, placed=beside) == []
    across = [on(site, 1, ACME, caches=(0, 1)), on(site, 2, BANK, caches=(1,))]
    (found,) = violations(Policy((rule,)), across, now_ms=0)
    assert found == Violation("caches", CACHE, "n1/cache1", ("1", "2"))


def test_work_of_which_the_cache_is_not_known_is_under_all_of_them(site: Site) -> None:
    rule = Distrust("caches", (CACHE,), EachTenant())
    placed = [on(site, 1, ACME, caches=(0,)), on(site, 2, BANK)]
    assert broken(rule, placed=placed) == [("caches", "1", "2")]


def test_a_fabric_is_shared_by_its_devices_and_no_others(site: Site) -> None:
    rule = NeverShare("fabrics", (FABRIC,), OfTenant("acme"), Others())
    same = [on(site, 1, ACME, devices=(0,)), on(site, 2, BANK, devices=(1,))]
    assert broken(rule, placed=same) == [("fabrics", "1", "2")]
    other = [on(site, 1, ACME, devices=(0,)), on(site, 2, BANK, devices=(2,))]
    assert broken(rule, placed=other) == []
    alone = [on(site, 1, ACME, devices=(3,)), on(site, 2, BANK, devices=(3,))]
    assert broken(rule, placed=alone) == []


def test_a_fabric_that_spans_machines_is_shared_across_them() -> None:
    first, second = Site("n1", fabrics=("pod",)), Site("n2", fabrics=("pod",))
    rule = Dedicated("pods", FABRIC, OfTenant("bank"))
    placed = [on(first, 1, BANK, devices=(0,)), on(second, 2, LAB, devices=(0,))]
    assert broken(rule, placed=placed) == [("pods", "1", "2")]


def test_a_device_whose_memory_node_is_not_known_may_be_near_any(site: Site) -> None:
    rule = Distrust("memory", (DomainKind.NUMA,), EachTenant())
    placed = [on(site, 1, ACME, caches=(0,), devices=()), on(site, 2, BANK, caches=(1,))]
    assert broken(rule, placed=placed) == [("memory", "1", "2")]


def test_machines_that_do_not_say_their_rack_share_it() -> None:
    rule = Distrust("racks", (RACK,), EachTenant())
    silent, also, told = Site("n1"), Site("n2"), Site("n3", labels={"rack": "r3"})
    assert broken(rule, placed=[on(silent, 1, ACME), on(also, 2, BANK)]) == [("racks", "1", "2")]
    assert broken(rule, placed=[on(silent, 1, ACME), on(told, 2, BANK)]) == []


def test_sole_tenancy_bears_only_its_own(site: Site) -> None:
    rule = Dedicated("vault", HOST, OfTenant("bank"))
    assert broken(rule, placed=[on(site, 1, BANK), on(site, 2, BANK)]) == []
    assert broken(rule, placed=[on(site, 1, BANK), on(site, 2, LAB)]) == [("vault", "1", "2")]
    assert broken(rule, placed=[on(site, 1, ACME), on(site, 2, LAB)]) == []


def test_members_are_apart_unless_one_belongs_to_both(site: Site) -> None:
    red = WhoGroup("red", (OfTenant("acme"), OfProject("lab", "x")))
    rule = Distrust("teams", (HOST,), Members((red, OfTenant("lab"))))
    assert broken(rule, placed=[on(site, 1, ACME), on(site, 2, LAB)]) == [("teams", "1", "2")]
    both = Subject("lab", "x")
    assert broken(rule, placed=[on(site, 1, both), on(site, 2, LAB)]) == []
    assert broken(rule, placed=[on(site, 1, both), on(site, 2, ACME)]) == []


def test_projects_of_one_tenant_are_parties_and_so_is_work_outside_them(site: Site) -> None:
    rule = Distrust("projects", (HOST,), EachProject())
    one, two = Subject("lab", "x"), Subject("lab", "y")
    assert broken(rule, placed=[on(site, 1, one), on(site, 2, two)]) == [("projects", "1", "2")]
    assert broken(rule, placed=[on(site, 1, one), on(site, 2, LAB)]) == [("projects", "1", "2")]
    assert broken(rule, placed=[on(site, 1, LAB), on(site, 2, LAB)]) == []


def test_who_leaves_a_label_out_meets_nobody_but_its_own_unlabelled_work(site: Site) -> None:
    rule = Distrust("levels", (HOST,), EachValue("level"))
    low, high = Subject("acme", labels={"level": "low"}), Subject("lab", labels={"level": "high"})
    also = Subject("lab", labels={"level": "low"})
    assert broken(rule, placed=[on(site, 1, low), on(site, 2, high)]) == [("levels", "1", "2")]
    assert broken(rule, placed=[on(site, 1, low), on(site, 2, also)]) == []
    assert broken(rule, placed=[on(site, 1, low), on(site, 2, ACME)]) == [("levels", "1", "2")]
    assert broken(rule, placed=[on(site, 1, ACME), on(site, 2, BANK)]) == [("levels", "1", "2")]
    assert broken(rule, placed=[on(site, 1, ACME), on(site, 2, ACME)]) == []


def test_an_empty_value_is_no_way_to_pass_for_unlabelled_work_of_another(site: Site) -> None:
    rule = Distrust("levels", (HOST,), EachValue("level"))
    placed = [on(site, 1, Subject("acme", labels={"level": "bank"})), on(site, 2, BANK)]
    assert broken(rule, placed=placed) == [("levels", "1", "2")]


def test_work_may_be_bound_to_nodes_with_every_one_of_some_labels(site: Site) -> None:
    rule = OnlyOn("inner", OfTenant("bank"), (("attested.boot", "measured"), ("zone", "in")))
    half = Site("n2", labels={"attested.boot": "measured"})
    whole = Site("n3", labels={"attested.boot": "measured", "zone": "in"})
    assert broken(rule, placed=[on(half, 1, BANK)]) == [("inner", "1")]
    assert broken(rule, placed=[on(whole, 1, BANK), on(site, 2, LAB)]) == []


def test_a_domain_may_be_limited_to_so_many_leases(site: Site) -> None:
    rule = Spread("few", 2, OfTenant("acme"), RACK)
    other = Site("n2", labels={"rack": "r1"})
    two = [on(site, 1, ACME), on(other, 2, ACME), on(site, 3, LAB)]
    assert broken(rule, placed=two) == []
    assert broken(rule, placed=[*two, on(site, 4, ACME)]) == [("few", "1", "2", "4")]


def test_a_domain_that_was_left_is_kept_until_its_time_or_until_scrubbed(site: Site) -> None:
    policy = Policy((Linger("rest", (HOST,), OfTenant("bank"), for_ms=600),))
    came, returned = on(site, 1, LAB, from_ms=200), on(site, 2, BANK, from_ms=200)
    left = Residue("rest", HOST, "n1", left_ms=100, until_ms=700)

    def who(residue: Residue, now_ms: int) -> list[tuple[str, ...]]:
        found = violations(policy, [came, returned], now_ms=now_ms, residues=[residue])
        return [each.who for each in found]

    assert who(left, 699) == [("1",)]
    assert who(left, 700) == []
    assert who(Residue("rest", HOST, "n1", left_ms=100), 10**9) == [("1",)]
    assert who(Residue("rest", HOST, "n2", left_ms=100), 300) == []


def test_who_was_there_before_the_others_left_need_not_go(site: Site) -> None:
    policy = Policy((Linger("rest", (HOST,), OfTenant("bank"), for_ms=None),))
    left = Residue("rest", HOST, "n1", left_ms=100)
    placed = [on(site, 1, LAB, from_ms=50)]
    assert violations(policy, placed, now_ms=200, residues=[left]) == []


# -- when ------------------------------------------------------------------------------------

OFFICE = Window(8 * 60, 18 * 60, (0, 1, 2, 3, 4))
NIGHT = Window(22 * 60, 6 * 60, (4,))


@pytest.mark.parametrize(
    ("day", "minute", "is_open"),
    [
        (0, 8 * 60 - 1, False),
        (0, 8 * 60, True),
        (0, 18 * 60 - 1, True),
        (0, 18 * 60, False),
        (5, 12 * 60, False),
    ],
)
def test_a_window_is_open_from_its_first_minute_to_before_its_last(
    day: int, minute: int, is_open: bool
) -> None:
    at_ms = MONDAY_MS + (day * 1440 + minute) * MINUTE_MS
    assert opens_within(OFFICE, at_ms, to_ms=at_ms + 1) is is_open


def test_a_window_past_midnight_counts_for_the_day_on_which_it_began() -> None:
    def is_open(day: int, hour: int) -> bool:
        at_ms = MONDAY_MS + (day * 24 + hour) * 60 * MINUTE_MS
        return opens_within(NIGHT, at_ms, to_ms=at_ms + 1)

    assert [is_open(4, 21), is_open(4, 23), is_open(5, 5), is_open(5, 6)] == [
        False,
        True,
        True,
        False,
    ]
    assert not is_open(4, 3)
    sunday = Window(22 * 60, 6 * 60, (6,))
    monday_ms = MONDAY_MS + 3 * 60 * MINUTE_MS
    assert opens_within(sunday, monday_ms, to_ms=monday_ms + 1)


def test_work_that_would_still_run_when_a_window_opens_is_judged_by_it(site: Site) -> None:
    rule = Distrust("by day", (HOST,), EachTenant(), OFFICE)
    seven_ms = MONDAY_MS + 7 * 60 * MINUTE_MS

    def of(hours: int) -> list[tuple[str, ...]]:
        until_ms = seven_ms + hours * 60 * MINUTE_MS
        placed = [on(site, 1, ACME, until_ms=until_ms), on(site, 2, BANK, until_ms=10**15)]
        return broken(rule, placed=placed, now_ms=seven_ms)

    assert of(1) == []
    assert of(2) == [("by day", "1", "2")]


def test_of_work_without_a_known_end_only_the_present_is_judged(site: Site) -> None:
    rule = Distrust("by day", (HOST,), EachTenant(), OFFICE)
    placed = [on(site, 1, ACME), on(site, 2, BANK)]
    assert broken(rule, placed=placed, now_ms=MONDAY_MS) == []
    assert broken(rule, placed=placed, now_ms=MONDAY_MS + 9 * 60 * MINUTE_MS) != []


def test_an_exception_frees_its_pair_for_its_kinds_until_it_ends(site: Site) -> None:
    rule = NeverShare("apart", (HOST, RACK), Anyone(), Anyone())
    joint = PolicyException("joint", (HOST,), OfTenant("acme"), OfTenant("bank"), "alice", 1_000)
    policy = Policy((rule,), (joint,))

    def kinds(one: Subject, two: Subject, until_ms: int) -> list[str]:
        placed = [on(site, 1, one, until_ms=until_ms), on(site, 2, two, until_ms=until_ms)]
        return [str(found.kind) for found in violations(policy, placed, now_ms=0)]

    assert kinds(ACME, BANK, 1_000) == ["rack"]
    assert kinds(BANK, ACME, 1_000) == ["rack"]
    assert kinds(ACME, BANK, 1_001) == ["host", "rack"]
    assert kinds(ACME, LAB, 1_000) == ["host", "rack"]


def test_labels_name_work_across_tenants(site: Site) -> None:
    rule = NeverShare("teams", (HOST,), WithLabel("team", "red"), WithLabel("team", "blue"))
    red, blue = Subject("lab", labels={"team": "red"}), Subject("lab", labels={"team": "blue"})
    assert broken(rule, placed=[on(site, 1, red), on(site, 2, blue)]) == [("teams", "1", "2")]
