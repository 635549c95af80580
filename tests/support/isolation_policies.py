"""Random policies, subjects, sites and placements of a small world, as hypothesis strategies.

Rules:

- Names are few, so that rules meet: what one rule says, another often says of the same.
- Every policy can be said in the language; each is in the form that reading a text gives.
- Times lie around ``NOW_MS``, a Monday noon (UTC), so that windows and exceptions matter.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from hypothesis import strategies as st

from bailiwick.fleet.topology import CacheDomain, DomainKind, NodeTopology
from bailiwick.isolation.language.statements import NamedRule
from bailiwick.isolation.placements import Placement, Site
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
    Parties,
    Policy,
    PolicyException,
    Spread,
    Subject,
    Who,
    WhoGroup,
    Window,
    WithLabel,
)

T = TypeVar("T")

MINUTE_MS, HOUR_MS, DAY_MS = 60_000, 3_600_000, 86_400_000
NOW_MS = 1_794_830_400_000  # 2026-11-16T12:00Z, a Monday

TENANTS = ("acme", "bank", "lab")
PROJECTS = ("red", "blue")
JOB_LABELS = {"team": ("x", "y"), "clearance": ("low", "high")}
NODE_LABELS = {"zone": ("inner", "outer"), "attested.boot": ("measured",)}

tenants = st.sampled_from(TENANTS)
kinds = st.sampled_from([*DomainKind])
kind_lists = st.lists(kinds, min_size=1, max_size=3, unique=True).map(tuple)


def labels(pool: dict[str, tuple[str, ...]]) -> st.SearchStrategy[dict[str, str]]:
    """Some labels of a pool, or none."""
    return st.fixed_dictionaries({}, optional={k: st.sampled_from(v) for k, v in pool.items()})


subjects: st.SearchStrategy[Subject] = st.builds(
    Subject, tenants, st.none() | st.sampled_from(PROJECTS), labels(JOB_LABELS)
)

members: st.SearchStrategy[OfTenant | OfProject | WithLabel] = st.one_of(
    st.builds(OfTenant, tenants),
    st.builds(OfProject, tenants, st.sampled_from(PROJECTS)),
    st.sampled_from([WithLabel(key, value) for key, vs in JOB_LABELS.items() for value in vs]),
)


def unique(
    elements: st.SearchStrategy[T], *, least: int, most: int
) -> st.SearchStrategy[tuple[T, ...]]:
    """Some of these, each once."""
    return st.lists(elements, min_size=least, max_size=most, unique_by=repr).map(tuple)


group_lists: st.SearchStrategy[tuple[WhoGroup, ...]] = unique(
    st.sampled_from(["g1", "g2"]), least=0, most=2
).flatmap(
    lambda names: st.tuples(
        *(st.builds(WhoGroup, st.just(name), unique(members, least=1, most=3)) for name in names)
    )
)


def whos(groups: tuple[WhoGroup, ...] = ()) -> st.SearchStrategy[Who]:
    """Whom a rule may be about."""
    named = [st.sampled_from(groups)] if groups else []
    return st.one_of(members, st.just(Anyone()), *named)


minutes = st.sampled_from([0, 1, 8 * 60, 12 * 60, 12 * 60 + 1, 18 * 60, 1439])
windows: st.SearchStrategy[Window] = st.builds(
    Window,
    minutes,
    minutes,
    st.sets(st.integers(0, 6), min_size=1).map(lambda days: tuple(sorted(days))),
)
maybe_windows = st.none() | windows


def parties(who: st.SearchStrategy[Who]) -> st.SearchStrategy[Parties]:
    """Those who distrust each other."""
    return st.one_of(
        st.just(EachTenant()),
        st.just(EachProject()),
        st.sampled_from([EachValue(key) for key in JOB_LABELS]),
        st.builds(Members, unique(who, least=2, most=4)),
    )


asked_labels: st.SearchStrategy[tuple[tuple[str, str], ...]] = unique(
    st.sampled_from([(key, value) for key, values in NODE_LABELS.items() for value in values]),
    least=1,
    most=2,
)


def sharing_rules(who: st.SearchStrategy[Who]) -> st.SearchStrategy[NamedRule]:
    """Rules about what two may not share."""
    return st.one_of(
        st.builds(NeverShare, st.just(""), kind_lists, who, who | st.just(Others()), maybe_windows),
        st.builds(Distrust, st.just(""), kind_lists, parties(who), maybe_windows),
        st.builds(Dedicated, st.just(""), kinds, who, maybe_windows),
    )


def other_rules(who: st.SearchStrategy[Who]) -> st.SearchStrategy[NamedRule]:
    """Rules about where, how many, and what is kept."""
    spans = st.sampled_from([1_000, 90_000, 10 * MINUTE_MS, HOUR_MS, 2 * DAY_MS])
    return st.one_of(
        st.builds(OnlyOn, st.just(""), who, asked_labels, maybe_windows),
        st.builds(Spread, st.just(""), st.integers(1, 3), who, kinds, maybe_windows),
        st.builds(Linger, st.just(""), kind_lists, who, st.none() | spans),
    )


def exceptions(who: st.SearchStrategy[Who]) -> st.SearchStrategy[PolicyException]:
    """Exceptions that ended, that end soon, and that last."""
    ends = st.sampled_from([-DAY_MS, -MINUTE_MS, 0, MINUTE_MS, HOUR_MS, 3 * DAY_MS, 99 * DAY_MS])
    return st.builds(
        PolicyException,
        st.just(""),
        kind_lists,
        who,
        who,
        st.sampled_from(["alice@example.org", "team:ops/2+x"]),
        ends.map(lambda end: NOW_MS + end),
        st.sampled_from(["", "joint", 'so "they" said', "\\ # é"]),
    )


@st.composite
def policies(draw: st.DrawFn, most: int = 5) -> Policy:
    """A policy, all names of which are unique; some are those of their place."""
    groups = draw(group_lists)
    who = whos(groups)
    rules = draw(st.lists(sharing_rules(who) | other_rules(who), max_size=most))
    allowed = draw(st.lists(exceptions(who), max_size=2))
    names = [
        draw(st.sampled_from([f"rule-{place}", f"named-{place}"]))
        for place in range(1, len(rules) + len(allowed) + 1)
    ]
    named = [replace(each, name=name) for each, name in zip([*rules, *allowed], names, strict=True)]
    return Policy(
        tuple(each for each in named if not isinstance(each, PolicyException)),
        tuple(each for each in named if isinstance(each, PolicyException)),
        groups,
    )


# -- worlds ----------------------------------------------------------------------------------


@st.composite
def sites(draw: st.DrawFn, most: int = 3) -> tuple[Site, ...]:
    """Nodes of a small fleet: one or two caches, some with GPUs, some that say where they are."""
    found = []
    for number in range(draw(st.integers(1, most))):
        caches = draw(st.sampled_from([0, 2, 3]))
        gpus = draw(st.integers(0, 3))
        topology = NodeTopology(tuple(CacheDomain(4_000, numa=at % 2) for at in range(caches)))
        fabrics = tuple(draw(st.sampled_from(["", "f1", "f2"])) for _ in range(gpus))
        places = draw(labels({"rack": ("r1", "r2"), "segment": ("s1",), "region": ("eu", "us")}))
        found.append(Site(f"n{number}", topology, fabrics, places | draw(labels(NODE_LABELS))))
    return tuple(found)


@st.composite
def placements(draw: st.DrawFn, fleet: tuple[Site, ...], most: int = 5) -> tuple[Placement, ...]:
    """Work on these nodes."""
    found = []
    for number in range(draw(st.integers(0, most))):
        site = draw(st.sampled_from(fleet))
        caches = st.sets(st.integers(0, site.topology.cache_count - 1), min_size=1)
        devices = st.sets(st.integers(0, max(len(site.fabrics) - 1, 0)))
        held = site.domains(
            caches=draw(st.none() | caches),
            devices=draw(st.none() | devices) if site.fabrics else None,
        )
        ends = st.sampled_from([1, MINUTE_MS, HOUR_MS, DAY_MS, 8 * DAY_MS])
        until = draw(st.none() | ends.map(lambda end: NOW_MS + end))
        found.append(Placement(str(number), draw(subjects), site.node, held, site.labels, 0, until))
    return tuple(found)


worlds = sites().flatmap(lambda fleet: st.tuples(st.just(fleet), placements(fleet)))
"""A fleet, and work on it."""
