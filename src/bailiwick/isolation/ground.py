"""Where a class of work may be among nodes on which other work is: every rule, kept up to date.

Rules:

- Told of nodes that come and go, of work that begins and ends, and of what was left behind, it
  knows for any class and term which nodes are open to it; asking walks neither nodes nor work.
- It judges as :mod:`.judge` does, for somebody new who stays for the term. It counts on nobody
  else's end: others may renew, or take their time to go. So a rule with a window about how many
  may be together counts everybody of theirs.
- Below a node it does not choose: a node of which any part is closed to the class is closed. That
  is stricter than need be where parts are known, and never laxer.

>>> from bailiwick.isolation.policy import Dedicated, OfTenant, Policy, Subject
>>> compiled = CompiledPolicy(Policy((Dedicated("vault", DomainKind.HOST, OfTenant("bank")),)))
>>> bank, lab = (compiled.class_of(Subject(name)) for name in ("bank", "lab"))
>>> ground, term = Ground(compiled), compiled.term(0, 1_000)
>>> ground.join(0, Site("n0")), ground.join(1, Site("n1")), ground.begin(7, bank, 1)
(None, None, None)
>>> bin(ground.open_to(lab, term)), bin(ground.open_to(bank, term))
('0b1', '0b11')
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from bailiwick.fleet.topology import PLACES, DomainKind
from bailiwick.isolation.compiled import CompiledPolicy, LimitRule, SubjectClass, Term
from bailiwick.isolation.placements import Residue, Site
from bailiwick.isolation.policy import Spread
from bailiwick.isolation.presence import KEPT_MAX, KindPresence, ZoneKey

REACHES_MAX = 64
"""Ways to hold parts of one node that are remembered."""

_Reach: TypeAlias = tuple[
    tuple[tuple[DomainKind, ZoneKey], ...], Mapping[DomainKind, frozenset[str]]
]
_INNER = (DomainKind.CACHE, DomainKind.NUMA, DomainKind.FABRIC)


class Work(NamedTuple):
    """Work that is somewhere: its class, its node, and what it holds there."""

    member: SubjectClass
    handle: int
    devices: tuple[int, ...] | None
    caches: tuple[int, ...] | None
    runs: bool
    """Whether it is there, and not only to come: then it leaves something behind."""
    zones: tuple[tuple[DomainKind, ZoneKey], ...]
    domains: tuple[tuple[int, str], ...]
    """What it counts for, by the place of the rule about how many."""
    kept: tuple[tuple[int, DomainKind, str], ...]
    """The domains that it leaves something behind in, by the place of that rule."""


@dataclass(slots=True)
class _Many:
    """One rule about how many: how many there are, and the nodes that are full."""

    each: LimitRule[Spread]
    counts: dict[str, int] = field(default_factory=dict)
    full: int = 0


class Ground:
    """Nodes, the work on them, and what a policy makes of that."""

    def __init__(self, compiled: CompiledPolicy) -> None:
        self.compiled = compiled
        self.everyone = 0
        self.version = 0
        self._shared = {kind: KindPresence(compiled, kind) for kind in compiled.shared_kinds}
        self._many = [_Many(each) for each in compiled.spreads]
        self._left: list[int] = [0] * len(compiled.lingers)
        counted = {each.rule.kind for each in compiled.spreads}
        kept = {kind for each in compiled.lingers for kind in each.rule.kinds}
        self._kinds = tuple(kind for kind in DomainKind if kind in {*self._shared, *counted, *kept})
        self._sites: dict[int, Site] = {}
        self._on: dict[int, dict[DomainKind, frozenset[str]]] = {}
        self._nodes: dict[tuple[DomainKind, str], dict[int, None]] = {}
        self._work: dict[int, Work] = {}
        self._residues: tuple[Residue, ...] = ()
        self._stay: dict[tuple[int, DomainKind, str], int] = {}
        """How much work there is that will leave something behind, by rule and domain."""
        self._places: dict[tuple[DomainKind, str], int] = {}
        self._reaches: dict[int, dict[tuple[object, object], _Reach]] = {}
        self._limited: dict[int, tuple[tuple[int, ...], tuple[int, ...]]] = {}

    # -- being told --------------------------------------------------------------------------

    def join(self, handle: int, site: Site) -> None:
        """A node is there."""
        domains = {kind: found for kind, found in site.domains().items() if kind in self._kinds}
        with self._lifted(self._reaching(domains)):
            self._reaches.clear()
            self.everyone |= 1 << handle
            self._sites[handle], self._on[handle] = site, domains
            for kind, names in domains.items():
                for name in names:
                    self._nodes.setdefault((kind, name), {})[handle] = None
                    if kind in PLACES:
                        self._places[kind, name] = self._bits(kind, name) | 1 << handle
            for kind, presence in self._shared.items():
                presence.join(handle, self._zone(kind, handle))
        for many in self._many:
            self._fill(many, (handle,))
        if self._residues:
            self.use_residues(self._residues)
        self.version += 1

    def leave(self, handle: int) -> None:
        """A node is gone, and all work on it, also such as was only to come."""
        for key in [key for key, work in self._work.items() if work.handle == handle]:
            self._take(key)
        domains, bit = self._on[handle], 1 << handle
        with self._lifted(self._reaching(domains)):
            self._reaches.clear()
            for kind, presence in self._shared.items():
                presence.leave(handle, self._zone(kind, handle))
            self.everyone &= ~bit
            for kind, names in domains.items():
                for name in names:
                    del self._nodes[kind, name][handle]
                    if kind in PLACES:
                        self._places[kind, name] &= ~bit
                    if not self._nodes[kind, name]:
                        del self._nodes[kind, name]
            del self._sites[handle], self._on[handle]
        for many in self._many:
            many.full &= ~bit
        if self._residues:
            self.use_residues(self._residues)
        self.version += 1

    def _reaching(self, domains: dict[DomainKind, frozenset[str]]) -> list[int]:
        """Work on other nodes that holds something of these domains inside machines."""
        found = {name for kind in _INNER for name in domains.get(kind, ())}
        known = [name for name in found if (DomainKind.FABRIC, name) in self._nodes]
        if not known:
            return []
        handles = {at for name in known for at in self._nodes[DomainKind.FABRIC, name]}
        return [key for key, work in self._work.items() if work.handle in handles]

    def begin(
        self,
        key: int,
        member: SubjectClass,
        handle: int,
        *,
        devices: tuple[int, ...] | None = None,
        caches: tuple[int, ...] | None = None,
        runs: bool = True,
    ) -> None:
        """Work of a class began on a node; ``None`` for what it is not known which it holds."""
        self._put(key, self._made(member, handle, devices, caches, runs))

    def _made(
        self,
        member: SubjectClass,
        handle: int,
        devices: tuple[int, ...] | None,
        caches: tuple[int, ...] | None,
        runs: bool,
    ) -> Work:
        zones, held = self._reached(handle, devices, caches)
        spreads, lingers = self._limits_of(member.selected)
        counted = [
            (number, name)
            for number in spreads
            for name in held[self.compiled.spreads[number].rule.kind]
        ]
        kept = [
            (number, kind, name)
            for number in (lingers if runs else ())
            for kind in self.compiled.lingers[number].rule.kinds
            for name in held[kind]
        ]
        told = tuple(counted), tuple(kept)
        return Work(member, handle, devices, caches, runs, zones, *told)

    def _reached(
        self, handle: int, devices: tuple[int, ...] | None, caches: tuple[int, ...] | None
    ) -> _Reach:
        """The zones and domains of work that holds these parts of a node."""
        known = self._reaches.setdefault(handle, {})
        found = known.get((devices, caches))
        if found is None:
            held = self._on[handle]
            if any(kind in held for kind in _INNER):
                held = self._sites[handle].domains(caches=caches, devices=devices)
            zones: list[tuple[DomainKind, ZoneKey]] = []
            for kind in self._shared:
                if kind in _INNER:
                    reached = {at for name in held[kind] for at in self._nodes[kind, name]}
                    zones += ((kind, at) for at in sorted(reached))
                else:
                    zones.append((kind, self._zone(kind, handle)))
            if len(known) >= REACHES_MAX:
                known.clear()
            found = known[devices, caches] = tuple(zones), held
        return found

    def _limits_of(self, selected: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The places of the rules about how many, and about what lingers, that choose them."""
        found = self._limited.get(selected)
        if found is None:
            if len(self._limited) >= KEPT_MAX:
                self._limited.clear()
            spreads, lingers = (
                tuple(at for at, each in enumerate(rules) if selected & each.whose)
                for rules in (self.compiled.spreads, self.compiled.lingers)
            )
            found = self._limited[selected] = spreads, lingers
        return found

    def _put(self, key: int, work: Work) -> None:
        """The work is there."""
        self._work[key] = work
        for kind, zone in work.zones:
            if self._shared[kind].begin(work.member, zone):
                self.version += 1
        for number, name in work.domains:
            self._count(number, name, 1)
        for kept in work.kept:
            self._stay[kept] = self._stay.get(kept, 0) + 1

    def _take(self, key: int) -> Work | None:
        """The work is there no more; nothing if it was not known."""
        work = self._work.pop(key, None)
        if work is None:
            return None
        for kind, zone in work.zones:
            if self._shared[kind].end(work.member, zone):
                self.version += 1
        for number, name in work.domains:
            self._count(number, name, -1)
        for kept in work.kept:
            self._stay[kept] -= 1
            if not self._stay[kept]:
                del self._stay[kept]
        return work

    def end(self, key: int) -> bool:
        """The work is over, if it was known; whether it is such as leaves something behind."""
        work = self._take(key)
        return work is not None and bool(work.kept)

    def use_residues(self, residues: Iterable[Residue]) -> None:
        """These domains, and no others, are still theirs who left them."""
        residues = tuple(residues)
        if not residues and not self._residues:
            return
        self._residues = residues
        numbers = {each.rule.name: at for at, each in enumerate(self.compiled.lingers)}
        self._left = [0] * len(numbers)
        for each in self._residues:
            if each.rule in numbers:
                self._left[numbers[each.rule]] |= self._bits(each.kind, each.domain)
        self.version += 1

    def _zone(self, kind: DomainKind, handle: int) -> ZoneKey:
        return next(iter(self._on[handle][kind])) if kind in PLACES else handle

    def _bits(self, kind: DomainKind, name: str) -> int:
        if kind in PLACES:
            return self._places.get((kind, name), 0)
        bits = 0
        for handle in self._nodes.get((kind, name), ()):
            bits |= 1 << handle
        return bits

    def _count(self, number: int, name: str, sign: int) -> None:
        many = self._many[number]
        before = many.counts.get(name, 0)
        many.counts[name] = before + sign
        if not before + sign:
            del many.counts[name]
        kind, most = many.each.rule.kind, many.each.rule.most
        if max(before, before + sign) != most:
            return
        if kind in PLACES:
            bits = self._bits(kind, name)
            many.full = many.full | bits if before + sign >= most else many.full & ~bits
            self.version += 1
        else:
            self._fill(many, self._nodes.get((kind, name), ()))

    def _fill(self, many: _Many, handles: Iterable[int]) -> None:
        """Which of the nodes have a full domain."""
        rule = many.each.rule
        for handle in handles:
            names = self._on[handle][rule.kind]
            if any(many.counts.get(name, 0) >= rule.most for name in names):
                many.full |= 1 << handle
            else:
                many.full &= ~(1 << handle)
        self.version += 1

    # -- asking ------------------------------------------------------------------------------

    def open_to(self, member: SubjectClass, term: Term, *, devices: bool = True) -> int:
        """The nodes where somebody of the class may be for the term; labels are not asked here."""
        closed = 0
        for kind, presence in self._shared.items():
            if devices or kind is not DomainKind.FABRIC:
                closed |= presence.closed(member, term, everyone=self.everyone)
        for number in self._limits_of(member.selected)[0]:
            many = self._many[number]
            if many.full and self._counts(many, member, term, devices):
                closed |= many.full
        for each, bits in zip(self.compiled.lingers, self._left, strict=True):
            if bits and not member.selected & each.whose:
                closed |= bits
        return self.everyone & ~closed

    def beside(
        self, member: SubjectClass, term: Term, placed: Sequence[int], *, devices: bool = True
    ) -> int:
        """The nodes closed to one more of a gang whose others are to be on these nodes."""
        closed = 0
        for kind, presence in self._shared.items():
            if (devices or kind is not DomainKind.FABRIC) and presence.meets_itself(
                member.selected, term
            ):
                names = {name for handle in placed for name in self._on[handle][kind]}
                for name in names:
                    closed |= self._bits(kind, name)
        for many in self._many:
            if not self._counts(many, member, term, devices):
                continue
            kind, most, more = many.each.rule.kind, many.each.rule.most, dict[str, int]()
            for handle in placed:
                for name in self._on[handle][kind]:
                    more[name] = more.get(name, 0) + 1
            for name, count in more.items():
                if count + many.counts.get(name, 0) >= most:
                    closed |= self._bits(kind, name)
        return closed

    def most_members(self, member: SubjectClass, nodes: int, *, devices: bool = True) -> int | None:
        """How many of a gang could be on these nodes if nothing else was; ``None`` for any number.

        Only what is always in force counts.
        """
        always = Term(0, (1 << len(self.compiled.exceptions)) - 1)
        limits: list[tuple[DomainKind, int]] = []
        for kind, presence in self._shared.items():
            if presence.meets_itself(member.selected, always):
                limits.append((kind, 1))
        for many in self._many:
            if not many.each.window and member.selected & many.each.whose:
                limits.append((many.each.rule.kind, many.each.rule.most))
        least: int | None = None
        for kind, most in limits:
            if devices or kind is not DomainKind.FABRIC:
                seats = most * len(self._domains_of(kind, nodes))
                free = self._joined_to_none(nodes) if kind is DomainKind.FABRIC else False
                if not free:
                    least = seats if least is None else min(least, seats)
        return least

    def _domains_of(self, kind: DomainKind, nodes: int) -> set[str]:
        return {
            name
            for handle, domains in self._on.items()
            if nodes >> handle & 1
            for name in domains[kind]
        }

    def _joined_to_none(self, nodes: int) -> bool:
        """Whether some device of these nodes is of no fabric, so that its holder shares none."""
        return any(
            nodes >> handle & 1 and not all(site.fabrics) for handle, site in self._sites.items()
        )

    def by_rule(
        self, member: SubjectClass, term: Term, *, devices: bool = True, left: bool = True
    ) -> dict[str, int]:
        """The nodes that each rule closes to the class, by its name.

        Without ``left``, as if nothing had been left behind.
        """
        found: dict[str, int] = {}
        for kind, presence in self._shared.items():
            if devices or kind is not DomainKind.FABRIC:
                for name, bits in presence.by_rule(member, term, everyone=self.everyone):
                    found[name] = found.get(name, 0) | bits
        for many in self._many:
            if self._counts(many, member, term, devices):
                found[many.each.rule.name] = many.full
        for each, bits in zip(self.compiled.lingers, self._left, strict=True):
            if left and not member.selected & each.whose:
                found[each.rule.name] = bits
        return {name: bits for name, bits in found.items() if bits}

    @staticmethod
    def _counts(many: _Many, member: SubjectClass, term: Term, devices: bool) -> bool:
        if not devices and many.each.rule.kind is DomainKind.FABRIC:
            return False
        return many.each.binds(member.selected, term)

    @contextmanager
    def without(self, keys: Collection[int], *, leaving: bool = True) -> Iterator[None]:
        """As if this work were over: where it leaves something behind, that is left.

        If it is not ``leaving``, it is as if it had never been.
        """
        left, residues = list(self._left), self._residues
        with self._lifted(keys) as gone:
            kept = {each for work in gone for each in work.kept} if leaving else ()
            for number, kind, name in kept:
                if (number, kind, name) not in self._stay:
                    self._left[number] |= self._bits(kind, name)
            try:
                yield
            finally:
                self._left, self._residues = left, residues
                self.version += 1

    @contextmanager
    def _lifted(self, keys: Iterable[int]) -> Iterator[list[Work]]:
        gone = [(key, work) for key in keys if (work := self._take(key)) is not None]
        try:
            yield [work for _, work in gone]
        finally:
            for key, work in gone:
                self._put(key, self._made(*work[:5]))
