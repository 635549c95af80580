"""Small worlds for policies: few tenants, nodes and labels, so that they meet often."""

from __future__ import annotations

from hypothesis import strategies as st

from bailiwick.fleet.topology import CacheDomain, DomainKind, NodeTopology
from bailiwick.isolation.judge import MINUTE_MS
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

TENANTS = ("a", "b", "c")
HOUR_MS = 60 * MINUTE_MS

_tenants = st.sampled_from(TENANTS)
_values = st.sampled_from(("red", "blue"))
_single = st.one_of(
    st.builds(OfTenant, _tenants),
    st.builds(OfProject, _tenants, st.sampled_from(("p", "q"))),
    st.builds(WithLabel, st.just("team"), _values),
)
who = st.one_of(
    _single,
    st.builds(WhoGroup, st.just("g"), st.lists(_single, min_size=1, max_size=2).map(tuple)),
    st.builds(Anyone),
)
subjects = st.builds(
    Subject,
    _tenants,
    st.sampled_from((None, "p", "q")),
    st.sampled_from(({}, {"team": "red"}, {"team": "blue"})),
)
windows = st.none() | st.builds(
    Window,
    st.sampled_from((0, 8 * 60, 22 * 60)),
    st.sampled_from((0, 9 * 60, 23 * 60)),
    st.sampled_from(((0, 1, 2, 3, 4, 5, 6), (0,), (3, 4))),
)
OUTER = (DomainKind.HOST, DomainKind.RACK, DomainKind.REGION)
INNER = (DomainKind.CACHE, DomainKind.NUMA, DomainKind.FABRIC)


def rules(
    name: str, *, kinds: tuple[DomainKind, ...], limits: bool = True
) -> st.SearchStrategy[Rule]:
    """One rule; without ``limits`` only rules about sharing."""
    one, some = st.sampled_from(kinds), st.lists(st.sampled_from(kinds), min_size=1, max_size=2)
    several, called = some.map(lambda found: tuple(dict.fromkeys(found))), st.just(name)
    parties = st.one_of(
        st.builds(Members, st.lists(who, min_size=2, max_size=3).map(tuple)),
        st.builds(EachTenant),
        st.builds(EachProject),
        st.builds(EachValue, st.just("team")),
    )
    sharing = st.one_of(
        st.builds(NeverShare, called, several, who, who | st.builds(Others), windows),
        st.builds(Distrust, called, several, parties, windows),
        st.builds(Dedicated, called, one, who, windows),
    )
    if not limits:
        return sharing
    return st.one_of(
        sharing,
        st.builds(OnlyOn, called, who, st.just((("zone", "inner"),)), windows),
        st.builds(Spread, called, st.integers(0, 2), who, one, st.none()),
        st.builds(Linger, called, several, who, st.sampled_from((None, HOUR_MS))),
    )


@st.composite
def policies(
    draw: st.DrawFn,
    *,
    kinds: tuple[DomainKind, ...] = OUTER,
    limits: bool = True,
    rules_max: int = 4,
) -> Policy:
    """A few rules and at most two exceptions."""
    count = draw(st.integers(1, rules_max))
    made = tuple(draw(rules(f"rule-{n}", kinds=kinds, limits=limits)) for n in range(1, count + 1))
    exceptions = tuple(
        PolicyException(
            f"allow-{number}",
            (draw(st.sampled_from(kinds)),),
            draw(who),
            draw(who),
            "alice",
            draw(st.sampled_from((0, HOUR_MS, 10 * HOUR_MS))),
        )
        for number in range(draw(st.integers(0, 2)))
    )
    return Policy(made, exceptions)


@st.composite
def sites(draw: st.DrawFn, *, count: int = 4, inner: bool = False) -> list[Site]:
    """Nodes in two racks; some say nothing of where they are."""
    found = []
    for number in range(count):
        labels = {}
        for key, values in (("rack", ("r1", "r2")), ("zone", ("inner", "outer"))):
            value = draw(st.sampled_from((*values, "")))
            if value:
                labels[key] = value
        topology, fabrics = NodeTopology(), ()
        if inner:
            caches = draw(st.sampled_from(((), (CacheDomain(1_000), CacheDomain(1_000, numa=1)))))
            topology = NodeTopology(caches, draw(st.sampled_from(((), (0, 1)))))
            fabrics = draw(st.sampled_from(((), ("", ""), ("x", "y"), (f"f{number}", "x"))))
        found.append(Site(f"n{number}", topology, fabrics, labels))
    return found


def placement(
    key: int,
    subject: Subject,
    site: Site,
    *,
    devices: tuple[int, ...] | None = None,
    caches: tuple[int, ...] | None = None,
    from_ms: int = 0,
    until_ms: int | None = None,
) -> Placement:
    """Work on a site."""
    return Placement(
        str(key),
        subject,
        site.node,
        site.domains(devices=devices, caches=caches),
        site.labels,
        from_ms,
        until_ms,
    )


__all__ = [
    "HOUR_MS",
    "INNER",
    "OUTER",
    "TENANTS",
    "Residue",
    "placement",
    "policies",
    "sites",
    "subjects",
]
