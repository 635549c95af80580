"""The nodes of a fleet and the domains that they are made of, or are in.

Rules:

- Nodes are numbered; a set of them is an integer with a bit for each.
- Work that holds part of a machine reaches every node that has something of the same domain: a
  memory fabric may join several.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple, TypeAlias

from bailiwick.fleet.topology import PLACES, DomainKind
from bailiwick.isolation.compiled import SubjectClass
from bailiwick.isolation.inner import InnerDomain
from bailiwick.isolation.placements import Site
from bailiwick.isolation.presence import KindPresence, ZoneKey

REACHES_MAX = 64
"""Ways to hold parts of one node that are remembered."""

INNER = (DomainKind.CACHE, DomainKind.NUMA, DomainKind.FABRIC)
"""Kinds of which a machine may have several."""

Domains: TypeAlias = Mapping[DomainKind, frozenset[str]]
Reach: TypeAlias = tuple[tuple[tuple[DomainKind, ZoneKey], ...], Domains, tuple[int, ...]]
"""Zones, domains, and the nodes on which it tells what parts work holds."""


class HeldParts(NamedTuple):
    """Which parts of a node work holds; ``None`` if it is not known which."""

    devices: tuple[int, ...] | None = None
    caches: tuple[int, ...] | None = None


UNKNOWN_PARTS = HeldParts()
"""Of work of which it is not known which parts of its node it holds."""


class RulesBinding(NamedTuple):
    """What of the policy could ever matter to some: the rest need not know where they are."""

    kinds: dict[DomainKind, KindPresence]
    """The kinds of domain in which some rule keeps them from anybody."""
    spreads: tuple[int, ...]
    """The places of the rules about how many that choose them."""
    lingers: tuple[int, ...]
    """The same, of the rules about what lingers."""


class SettledWork(NamedTuple):
    """Work that is somewhere: its class, its node, and what it holds there."""

    member: SubjectClass
    handle: int
    parts: HeldParts
    runs: bool
    """Whether it is there, and not only to come: then it leaves something behind."""
    kinds: Mapping[DomainKind, KindPresence]
    """Those that matter to it: of its zones only those of these kinds are told of it."""
    zones: tuple[tuple[DomainKind, ZoneKey], ...]
    domains: tuple[tuple[int, str], ...]
    """What it counts for, by the place of the rule about how many."""
    kept: tuple[tuple[int, DomainKind, str], ...]
    """The domains that it leaves something behind in, by the place of that rule."""
    inner: tuple[InnerDomain, ...]
    """The parts of machines that it is in."""
    touches: tuple[int, ...]
    """The nodes that have something of those."""


class Terrain:
    """Where nodes are, and what they are made of."""

    def __init__(self, kinds: Collection[DomainKind], *, zoned: Collection[DomainKind]) -> None:
        self._kinds, self._zoned = kinds, zoned
        self.sites: dict[int, Site] = {}
        self._on: dict[int, Domains] = {}
        self._nodes: dict[tuple[DomainKind, str], dict[int, None]] = {}
        self._places: dict[tuple[DomainKind, str], int] = {}
        self._reaches: dict[int, dict[HeldParts, Reach]] = {}
        self.inner = frozenset(kinds).intersection(INNER)
        """The kinds that count of which a machine may have several."""
        self._only_fabrics = self.inner == {DomainKind.FABRIC}
        self._outer: dict[int, tuple[tuple[DomainKind, ZoneKey], ...]] = {}
        """The zones of whatever is on a node."""
        self._bare: dict[int, Domains] = {}
        """The domains of work that holds no device."""

    def domains_of(self, site: Site) -> Domains:
        """All domains of a node, of the kinds that count."""
        return {kind: found for kind, found in site.domains().items() if kind in self._kinds}

    def join(self, handle: int, site: Site) -> None:
        """A node is there."""
        self._reaches.clear()
        self.sites[handle], self._on[handle] = site, self.domains_of(site)
        self._outer[handle] = tuple(
            (kind, self.zone(kind, handle)) for kind in self._zoned if kind not in INNER
        )
        self._bare[handle] = {**self._on[handle], DomainKind.FABRIC: frozenset()}
        for kind, name in self._names(handle):
            self._nodes.setdefault((kind, name), {})[handle] = None
            if kind in PLACES:
                self._places[kind, name] = self.bits(kind, name) | 1 << handle

    def leave(self, handle: int) -> None:
        """A node is gone."""
        self._reaches.clear()
        for kind, name in self._names(handle):
            there = self._nodes[kind, name]
            del there[handle]
            if kind in PLACES:
                self._places[kind, name] &= ~(1 << handle)
            if not there:
                del self._nodes[kind, name]
                self._places.pop((kind, name), None)
        del self.sites[handle], self._on[handle], self._outer[handle], self._bare[handle]

    def _names(self, handle: int) -> list[tuple[DomainKind, str]]:
        return [(kind, name) for kind, names in self._on[handle].items() for name in names]

    def on(self, handle: int, kind: DomainKind) -> frozenset[str]:
        """The domains of a kind that a node has, or is in."""
        return self._on[handle][kind]

    def zone(self, kind: DomainKind, handle: int) -> ZoneKey:
        """The zone of a node."""
        return next(iter(self._on[handle][kind])) if kind in PLACES else handle

    def nodes(self, kind: DomainKind, name: str) -> Iterable[int]:
        """The nodes that have something of a domain."""
        return self._nodes.get((kind, name), ())

    def bits(self, kind: DomainKind, name: str) -> int:
        """The same, as bits."""
        if kind in PLACES:
            return self._places.get((kind, name), 0)
        bits = 0
        for handle in self.nodes(kind, name):
            bits |= 1 << handle
        return bits

    def joined_to(self, site: Site) -> set[int]:
        """The nodes that have something of a fabric of this one."""
        names = self.domains_of(site).get(DomainKind.FABRIC, ())
        return {at for name in names for at in self.nodes(DomainKind.FABRIC, name)}

    def reached(self, handle: int, parts: HeldParts) -> Reach:
        """The zones and domains of work that holds these parts of a node."""
        if not self.inner:
            return self._outer[handle], self._on[handle], ()
        if self._only_fabrics and not parts.devices and parts.devices is not None:
            return self._outer[handle], self._bare[handle], ()
        known = self._reaches.get(handle)
        if known is None:
            known = self._reaches[handle] = {}
        found = known.get(parts)
        if found is None:
            held = self._held(handle, parts)
            zones = list(self._outer[handle])
            for kind in self._zoned:
                if kind in INNER:
                    there = {at for name in held[kind] for at in self.nodes(kind, name)}
                    zones += ((kind, at) for at in sorted(there))
            told = {handle} if self.inner & {DomainKind.CACHE, DomainKind.NUMA} else set()
            if DomainKind.FABRIC in self.inner:
                for name in held[DomainKind.FABRIC]:
                    told.update(self.nodes(DomainKind.FABRIC, name))
            if len(known) >= REACHES_MAX:
                known.clear()
            found = known[parts] = tuple(zones), held, tuple(sorted(told))
        return found

    def _held(self, handle: int, parts: HeldParts) -> Domains:
        """The domains of work that holds these parts; working out all kinds is dear."""
        site, (devices, caches) = self.sites[handle], parts
        if self._only_fabrics and devices is not None:
            fabrics = frozenset(filter(None, (site.fabrics[index] for index in devices)))
            return {**self._on[handle], DomainKind.FABRIC: fabrics}
        return site.domains(caches=caches, devices=devices)

    def names_of(self, kind: DomainKind, nodes: int) -> set[str]:
        """The domains of a kind on these nodes."""
        return {
            name
            for handle, domains in self._on.items()
            if nodes >> handle & 1
            for name in domains[kind]
        }

    def has_lone_device(self, nodes: int) -> bool:
        """Whether some device of these nodes is of no fabric, so that its holder shares none."""
        return any(
            nodes >> handle & 1 and not all(site.fabrics) for handle, site in self.sites.items()
        )
