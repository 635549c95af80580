"""The machines of a model: few, and with every kind of domain that a policy names.

Rules:

- A small world shows what a large one does: two that meet in a domain need that domain, one other,
  and seats in both. So a shape is a handful of machines, each cut into seats.
- A seat is the smallest piece of a machine that work holds: cores of one cache, and a device where
  the shape has fabrics. Work holds one seat or several of one machine.
- Where a policy names several kinds, two seats are found that share one of them and no other, as
  far as kinds can be apart: a cache is always of one host.
- A seat's name is its machine's and a number.
- Labels that a policy asks for are on every machine at first; in the model machines lose them.

>>> shape = parse_shape("hosts=2,caches=2")
>>> [seat.name for seat in seats_of(make_sites(shape))]
['n1.1', 'n1.2', 'n1.3', 'n1.4', 'n2.1', 'n2.2', 'n2.3', 'n2.4']
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import assert_never

from bailiwick.fleet.topology import PLACES, CacheDomain, DomainKind, NodeTopology
from bailiwick.isolation.placements import Site
from bailiwick.isolation.policy import (
    Dedicated,
    Distrust,
    Linger,
    NeverShare,
    OnlyOn,
    Policy,
    Spread,
)
from bailiwick.vocab.errors import InvalidValue

SEATS_MAX = 24
"""Seats of all machines together; more are not searched in any useful time."""

REDUCED_SEATS_MAX = 12
"""Seats that are kept of an operator's own fleet."""

_CORE_MILLI = 1_000
_COUNT_MAX = 8
_CACHE_SEATS_MAX = 4


@dataclass(frozen=True, slots=True)
class FleetShape:
    """How many of what: of the places for the whole fleet, of the rest for each machine."""

    hosts: int = 2
    caches: int = 1
    numas: int = 1
    fabrics: int = 0
    seats: int = 2
    """Seats under each cache."""
    racks: int = 1
    segments: int = 1
    regions: int = 1

    def __post_init__(self) -> None:
        for each in fields(self):
            value, least = getattr(self, each.name), 0 if each.name == "fabrics" else 1
            if not least <= value <= _COUNT_MAX:
                raise InvalidValue(f"shape: {each.name}", value, f"{least} to {_COUNT_MAX}")
        if self.hosts * self.caches * self.seats > SEATS_MAX:
            seats = self.hosts * self.caches * self.seats
            raise InvalidValue("shape", f"{seats} seats", f"at most {SEATS_MAX} in all")


@dataclass(frozen=True, slots=True)
class ModelSeat:
    """A piece of one machine, and the domains that work on it is in."""

    name: str
    node: str
    cache: int
    device: int | None
    domains: Mapping[DomainKind, frozenset[str]]


def parse_shape(text: str, *, base: FleetShape | None = None) -> FleetShape:
    """A shape as typed, such as ``hosts=3,racks=2``; what is left out is as in ``base``."""
    known = {each.name for each in fields(FleetShape)}
    found: dict[str, int] = {}
    for part in filter(None, text.split(",")):
        name, _, number = part.strip().partition("=")
        if name not in known:
            raise InvalidValue("shape", name, "one of " + ", ".join(sorted(known)))
        if not number.isascii() or not number.isdigit() or len(number) > 2:
            raise InvalidValue(f"shape: {name}", number, "a small whole number")
        found[name] = int(number)
    return replace(base or FleetShape(), **found)


def kinds_named(policy: Policy) -> frozenset[DomainKind]:
    """The kinds of domain that rules of the policy are about."""
    found: set[DomainKind] = set()
    for rule in policy.rules:
        match rule:
            case NeverShare(kinds=kinds) | Distrust(kinds=kinds) | Linger(kinds=kinds):
                found.update(kinds)
            case Dedicated(kind=kind) | Spread(kind=kind):
                found.add(kind)
            case OnlyOn():
                pass
            case _:
                assert_never(rule)
    return frozenset(found)


def labels_named(policy: Policy) -> tuple[tuple[str, str], ...]:
    """The labels that rules ask of nodes."""
    rules = (rule for rule in policy.rules if isinstance(rule, OnlyOn))
    return tuple(sorted({label for rule in rules for label in rule.labels}))


def default_shape(policy: Policy) -> FleetShape:
    """A small shape that has each kind that the policy names, shared by some and not by all."""
    kinds = kinds_named(policy)
    places = [kind for kind in PLACES if kind in kinds]
    caches = 1 + (DomainKind.CACHE in kinds) + (DomainKind.NUMA in kinds)
    hosts = max(2, 1 + len(places), 3 * bool(places))
    return FleetShape(
        hosts=hosts,
        caches=caches,
        numas=2 if DomainKind.NUMA in kinds else 1,
        fabrics=2 if DomainKind.FABRIC in kinds else 0,
        seats=_seats(policy, hosts=hosts, caches=caches),
        racks=2 if DomainKind.RACK in kinds else 1,
        segments=2 if DomainKind.SEGMENT in kinds else 1,
        regions=2 if DomainKind.REGION in kinds else 1,
    )


def _seats(policy: Policy, *, hosts: int, caches: int) -> int:
    """Under each cache: as many as two need who meet in it, or as a rule of numbers needs."""
    kinds = kinds_named(policy)
    within = {DomainKind.CACHE, DomainKind.NUMA, DomainKind.FABRIC, DomainKind.HOST} & kinds
    seats = 2 if within else 1
    if DomainKind.FABRIC in kinds and caches == 1:
        seats = 3  # two on one fabric, and one on another
    for rule in policy.rules:
        if isinstance(rule, Spread):
            # A place holds two machines at least; a cache, a memory node or a fabric may be one.
            caches_of_one = {DomainKind.HOST: caches}.get(rule.kind, 1)
            together = 2 * caches if rule.kind in PLACES else caches_of_one
            seats = max(seats, -(-(rule.most + 1) // together))
    return max(1, min(seats, _CACHE_SEATS_MAX, SEATS_MAX // (hosts * caches)))


def make_sites(shape: FleetShape, labels: Iterable[tuple[str, str]] = ()) -> tuple[Site, ...]:
    """The machines of a shape, all of them with these labels."""
    counts = {
        DomainKind.RACK: shape.racks,
        DomainKind.SEGMENT: shape.segments,
        DomainKind.REGION: shape.regions,
    }
    parted = [kind for kind in PLACES if counts[kind] > 1]
    per_host = shape.caches * shape.seats
    sites = []
    for index in range(shape.hosts):
        node = f"n{index + 1}"
        places = {kind.value: f"{kind.value}-1" for kind in PLACES}
        for turn, kind in enumerate(parted):
            # Machine 1 shares with each of the next ones one kind of place and no other.
            if index and (index - 1) % max(len(parted), 2) != turn:
                places[kind.value] = f"{kind.value}-{2 + (index - 1) % (counts[kind] - 1)}"
        caches = tuple(
            CacheDomain(shape.seats * _CORE_MILLI, numa=cache * shape.numas // shape.caches)
            for cache in range(shape.caches)
        )
        near = tuple(caches[seat // shape.seats].numa for seat in range(per_host))
        topology = NodeTopology(caches, near if shape.fabrics else ())
        fabrics = (
            tuple(f"{node}/fabric{seat % shape.fabrics}" for seat in range(per_host))
            if (shape.fabrics)
            else ()
        )
        sites.append(Site(node, topology, fabrics, {**dict(labels), **places}))
    return tuple(sites)


def seats_of(sites: Sequence[Site]) -> tuple[ModelSeat, ...]:
    """The seats of machines: one a device; without devices, as many under a cache as it has cores.

    Cores are counted whole, and of a large cache the first few only.
    """
    found = []
    for site in sites:
        caches = site.topology.caches
        wide = [
            index
            for index, cache in enumerate(caches or (CacheDomain(2 * _CORE_MILLI),))
            for _ in range(min(max(cache.cores_milli // _CORE_MILLI, 1), _CACHE_SEATS_MAX))
        ]
        devices = site.fabrics
        for place, cache in enumerate(wide):
            device = place if place < len(devices) else None
            domains = site.domains(caches=(cache,), devices=() if device is None else (device,))
            found.append(ModelSeat(f"{site.node}.{place + 1}", site.node, cache, device, domains))
    if len(found) > SEATS_MAX:
        raise InvalidValue("shape", f"{len(found)} seats", f"at most {SEATS_MAX} in all")
    return tuple(found)


def reduce_sites(sites: Sequence[Site], policy: Policy) -> tuple[Site, ...]:
    """A few machines of a fleet that stand for all: two of each sort, each with a few seats.

    Machines are of one sort if they have alike caches and devices, are in the same places, and
    have the same of the labels that the policy asks for.
    """
    kinds, asked = kinds_named(policy), {key for key, _ in labels_named(policy)}
    places = {kind.value for kind in PLACES if kind in kinds}
    chosen: dict[object, list[Site]] = {}
    for site in sites:
        small = _trimmed(site)
        told = {key: value for key, value in site.labels.items() if key in asked | places}
        groups = tuple(small.fabrics.index(name) for name in small.fabrics)
        sort = (small.topology, groups, tuple(sorted(told.items())))
        chosen.setdefault(sort, []).append(small)
    found: list[Site] = []
    for turn in range(2):
        for group in chosen.values():
            if turn < len(group) and len(_seats_alone([*found, group[turn]])) <= REDUCED_SEATS_MAX:
                found.append(group[turn])
    return tuple(found)


def _seats_alone(sites: Sequence[Site]) -> list[ModelSeat]:
    return [seat for site in sites for seat in seats_of((site,))]


def _trimmed(site: Site) -> Site:
    """The machine with two caches at most, of two memory nodes if it has them, and two cores each.

    Of its devices two of the first fabric and one of the next stay.
    """
    told = site.topology.caches
    first = told[:1]
    other = [cache for cache in told if cache.numa != told[0].numa] or [*told[1:]]
    caches = tuple(replace(cache, cores_milli=2 * _CORE_MILLI) for cache in (*first, *other[:1]))
    kept: list[int] = []
    for index, fabric in enumerate(site.fabrics):
        fabrics = [site.fabrics[each] for each in kept]
        most = 2 if not fabrics or fabric == fabrics[0] else 1
        if fabrics.count(fabric) < most and len(kept) < 2 * max(len(caches), 1):
            kept.append(index)
    near = tuple(
        site.topology.gpu_numa[each] for each in kept if each < len(site.topology.gpu_numa)
    )
    fabrics_kept = tuple(site.fabrics[each] for each in kept)
    return replace(site, topology=NodeTopology(caches, near), fabrics=fabrics_kept)
