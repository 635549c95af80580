"""Small worlds for policies: few machines, tenants and labels, so that all meet all."""

from __future__ import annotations

from hypothesis import strategies as st

from bailiwick.fleet.topology import CacheDomain, DomainKind, NodeTopology
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
    Policy,
    PolicyException,
    Rule,
    Spread,
    Subject,
    WhoGroup,
    Window,
    WithLabel,
)

HOUR_MS = 3_600_000
SITES = (
    Site(
        "n1",
        NodeTopology((CacheDomain(4_000), CacheDomain(4_000, numa=1)), (0, 1, None)),
        ("blue", "red", "red"),
        {"rack": "r1", "zone": "in"},
    ),
    Site("n2", NodeTopology((CacheDomain(4_000),)), ("red", ""), {"rack": "r1"}),
    Site("n3", labels={"zone": "in"}),
)

tenants = st.sampled_from(("acme", "bank", "lab"))
subjects = st.builds(
    Subject,
    tenants,
    st.sampled_from((None, "x", "y")),
    st.sampled_from(({}, {"level": "low"}, {"level": "high"}, {"level": "acme"})),
)
_simple = st.one_of(
    st.builds(OfTenant, tenants),
    st.builds(OfProject, tenants, st.sampled_from(("x", "y"))),
    st.builds(WithLabel, st.just("level"), st.sampled_from(("low", "high"))),
)
who = st.one_of(
    _simple,
    st.just(Anyone()),
    st.builds(
        lambda several: WhoGroup("some", tuple(several)), st.lists(_simple, min_size=1, max_size=3)
    ),
)
kinds = st.lists(st.sampled_from(DomainKind), min_size=1, max_size=3, unique=True).map(tuple)
windows = st.none() | st.builds(
    Window,
    st.integers(0, 1439),
    st.integers(0, 1439),
    st.lists(st.integers(0, 6), min_size=1, unique=True).map(lambda days: tuple(sorted(days))),
)
_parties = st.one_of(
    st.just(EachTenant()),
    st.just(EachProject()),
    st.just(EachValue("level")),
    st.lists(who, min_size=2, max_size=3, unique=True).map(lambda some: Members(tuple(some))),
)


def _rule(name: str) -> st.SearchStrategy[Rule]:
    named, kind = st.just(name), st.sampled_from(DomainKind)
    labels = st.sampled_from(((("zone", "in"),), (("zone", "in"), ("rack", "r1"))))
    return st.one_of(
        st.builds(NeverShare, named, kinds, who, who | st.just(Others()), windows),
        st.builds(Distrust, named, kinds, _parties, windows),
        st.builds(Dedicated, named, kind, who, windows),
        st.builds(OnlyOn, named, who, labels, windows),
        st.builds(Spread, named, st.integers(0, 2), who, kind, windows),
        st.builds(Linger, named, kinds, who, st.none() | st.integers(1, 48 * HOUR_MS)),
    )


def _exception(name: str) -> st.SearchStrategy[PolicyException]:
    until = st.integers(0, 100 * HOUR_MS)
    return st.builds(PolicyException, st.just(name), kinds, who, who, st.just("alice"), until)


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Up to four rules and two exceptions, each with a name of its own."""
    rules = tuple(draw(_rule(f"rule-{n}")) for n in range(draw(st.integers(1, 4))))
    exceptions = tuple(draw(_exception(f"exception-{n}")) for n in range(draw(st.integers(0, 2))))
    return Policy(rules, exceptions)


@st.composite
def placements(draw: st.DrawFn, placement_id: str, *, now_ms: int = 0) -> Placement:
    """Work somewhere, of which not everything need be known."""
    site = draw(st.sampled_from(SITES))
    cores = range(site.topology.cache_count)
    caches = draw(st.none() | st.sets(st.sampled_from(cores), min_size=1))
    devices = draw(st.none() | st.sets(st.sampled_from(range(len(site.fabrics) or 1))))
    if devices is not None:
        devices = {index for index in devices if index < len(site.fabrics)}
    until_ms = draw(st.none() | st.integers(now_ms, now_ms + 100 * HOUR_MS))
    domains = site.domains(caches=caches, devices=devices)
    subject = draw(subjects)
    return Placement(placement_id, subject, site.node, domains, site.labels, now_ms, until_ms)
