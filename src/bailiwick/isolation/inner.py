"""What is open of a node of which some part is closed: caches, memory nodes and fabrics one by one.

Rules:

- Work is in every domain of which it holds something. A domain is closed to a class if somebody is
  in it whom the class may not meet, if it is full, or if it is still theirs who left it.
- Cores under a cache are open if the cache and its memory node are. A device is open if its fabric
  and its memory node are; of one that does not tell which it is near, every memory node of it.
- Whoever takes only what is open breaks no rule with those who are there, and any other choice
  breaks one.
- Which nodes something changed on is written down in order, so that who keeps answers looks at
  those alone (:meth:`InnerDomains.changed_since`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from bailiwick.fleet.topology import DomainKind, cache_name, numa_name
from bailiwick.isolation.compiled import CompiledPolicy, LimitRule, SubjectClass, Term
from bailiwick.isolation.placements import Site
from bailiwick.isolation.policy import Spread

InnerDomain: TypeAlias = tuple[DomainKind, str]

CHANGES_MAX = 1 << 16
"""Changes that are remembered; who knows of none of them looks at every node."""

PAIRS_MAX = 1 << 14
"""Pairs of classes of which it is remembered where they may not meet."""


@dataclass(slots=True)
class Crowd:
    """One rule about how many: how many there are, and the nodes that are full."""

    each: LimitRule[Spread]
    counts: dict[str, int] = field(default_factory=dict)
    full: int = 0

    def binds(self, selected: int, term: Term, *, devices: bool) -> bool:
        """Whether it counts them; who holds no device is on no fabric."""
        if not devices and self.each.rule.kind is DomainKind.FABRIC:
            return False
        return self.each.binds(selected, term)


class OpenParts(NamedTuple):
    """The caches and the devices of a node that are open, as bits."""

    caches: int
    devices: int


class _Layout(NamedTuple):
    """What holding a part of a node is to be in: for each cache, and for each device."""

    caches: tuple[tuple[InnerDomain, ...], ...]
    devices: tuple[tuple[InnerDomain, ...], ...]
    domains: tuple[InnerDomain, ...]
    """All of these, each once."""


class InnerDomains:
    """Who is in which part of which machine, for the kinds that count."""

    def __init__(
        self,
        compiled: CompiledPolicy,
        kinds: Collection[DomainKind],
        *,
        crowds: Iterable[Crowd],
    ) -> None:
        self._compiled, self.kinds = compiled, frozenset(kinds)
        self._shared = self.kinds & compiled.shared_kinds
        self._classes: dict[InnerDomain, dict[SubjectClass, int]] = {}
        self.left: dict[InnerDomain, int] = {}
        """By which rules (bits, by their place) a domain is theirs who left it."""
        self._crowds = [crowd for crowd in crowds if crowd.each.rule.kind in self.kinds]
        self._layouts: dict[int, _Layout] = {}
        self._apart: dict[tuple[SubjectClass, SubjectClass, Term], frozenset[DomainKind]] = {}
        self._changes: list[int] = []
        self._forgotten = 0

    # -- being told --------------------------------------------------------------------------

    def join(self, handle: int, site: Site) -> None:
        """A node is there."""
        told, kinds = site.topology.caches, self.kinds
        caches = []
        for index in range(site.topology.cache_count):
            numa = told[index].numa if told else 0
            caches.append(_of(kinds, site, cache=index, numas=(numa,)))
        near, every = site.topology.gpu_numa, tuple({each.numa for each in told} or {0})
        devices = []
        for index, fabric in enumerate(site.fabrics):
            numa_or_none = near[index] if index < len(near) else None
            numas = every if numa_or_none is None else (numa_or_none,)
            devices.append(_of(kinds, site, fabric=fabric, numas=numas))
        every_one = dict.fromkeys(each for domains in (*caches, *devices) for each in domains)
        self._layouts[handle] = _Layout(tuple(caches), tuple(devices), tuple(every_one))
        self.note((handle,))

    def leave(self, handle: int) -> None:
        """A node is gone."""
        del self._layouts[handle]
        self.note((handle,))

    def begin(self, member: SubjectClass, domains: Iterable[InnerDomain]) -> None:
        """Work of the class is in these domains."""
        for domain in domains:
            there = self._classes.setdefault(domain, {})
            there[member] = there.get(member, 0) + 1

    def end(self, member: SubjectClass, domains: Iterable[InnerDomain]) -> None:
        """It is there no more."""
        for domain in domains:
            there = self._classes[domain]
            there[member] -= 1
            if not there[member]:
                del there[member]
                if not there:
                    del self._classes[domain]

    def note(self, handles: Iterable[int]) -> None:
        """Something changed on these nodes."""
        self._changes.extend(handles)
        if len(self._changes) > CHANGES_MAX:
            self._forgotten += len(self._changes)
            self._changes.clear()

    @property
    def serial(self) -> int:
        """Another one whenever something changed."""
        return self._forgotten + len(self._changes)

    def changed_since(self, serial: int) -> list[int] | None:
        """The nodes on which something changed since then; ``None``: it may be any."""
        if serial < self._forgotten:
            return None
        return self._changes[serial - self._forgotten :]

    # -- asking ------------------------------------------------------------------------------

    def open_parts(self, member: SubjectClass, term: Term, *, handle: int) -> OpenParts:
        """What of the node is open to somebody of the class for the term."""
        caches, devices, domains = self._layouts[handle]
        closed = {domain for domain in domains if self._is_closed(member, term, domain)}
        return OpenParts(_open_of(caches, closed), _open_of(devices, closed))

    def all_parts(self, handle: int) -> OpenParts:
        """All caches and devices of a node."""
        caches, devices, _ = self._layouts[handle]
        return OpenParts((1 << len(caches)) - 1, (1 << len(devices)) - 1)

    def _is_closed(self, member: SubjectClass, term: Term, domain: InnerDomain) -> bool:
        kind = domain[0]
        if kind in self._shared:
            for other in self._classes.get(domain, ()):
                if kind in self._apart_in(member, other, term):
                    return True
        if self._crowds and any(True for _ in self._full(member, term, domain)):
            return True
        left = self.left.get(domain, 0)
        for number, each in enumerate(self._compiled.lingers if left else ()):
            if left >> number & 1 and not member.selected & each.whose:
                return True
        return False

    def closed_by(self, member: SubjectClass, term: Term, *, domain: InnerDomain) -> Iterator[str]:
        """The rules that close a domain to the class, what was left behind apart."""
        kind = domain[0]
        for other in self._classes.get(domain, ()) if kind in self._shared else ():
            for rule, where in self._compiled.apart(member, other, term=term):
                if where is kind:
                    yield rule
        yield from self._full(member, term, domain)

    def _full(self, member: SubjectClass, term: Term, domain: InnerDomain) -> Iterator[str]:
        """The rules about how many by which the domain is full for the class."""
        kind, name = domain
        for crowd in self._crowds:
            rule = crowd.each.rule
            is_full = rule.kind is kind and crowd.counts.get(name, 0) >= rule.most
            if is_full and crowd.each.binds(member.selected, term):
                yield rule.name

    def _apart_in(self, one: SubjectClass, two: SubjectClass, term: Term) -> frozenset[DomainKind]:
        key = one, two, term
        found = self._apart.get(key)
        if found is None:
            if len(self._apart) >= PAIRS_MAX:
                self._apart.clear()
            apart = self._compiled.apart(one, two, term=term)
            found = self._apart[key] = frozenset(kind for _, kind in apart)
        return found


def _open_of(parts: Iterable[Iterable[InnerDomain]], closed: set[InnerDomain]) -> int:
    """The parts of which no domain is closed, as bits."""
    bits = 0
    for index, domains in enumerate(parts):
        if closed.isdisjoint(domains):
            bits |= 1 << index
    return bits


def _of(
    kinds: Collection[DomainKind],
    site: Site,
    *,
    numas: Iterable[int],
    cache: int | None = None,
    fabric: str = "",
) -> tuple[InnerDomain, ...]:
    """The domains that holding one part is to be in, of the kinds that count."""
    found = []
    if cache is not None and DomainKind.CACHE in kinds:
        found.append((DomainKind.CACHE, cache_name(site.node, cache)))
    if fabric and DomainKind.FABRIC in kinds:
        found.append((DomainKind.FABRIC, fabric))
    if DomainKind.NUMA in kinds:
        found += [(DomainKind.NUMA, numa_name(site.node, numa)) for numa in numas]
    return tuple(found)
