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
>>> ground.join(0, Site("n0")), ground.join(1, Site("n1")), ground.begin(7, bank, handle=1)
(None, None, None)
>>> bin(ground.open_to(lab, term)), bin(ground.open_to(bank, term))
('0b1', '0b11')
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from bailiwick.fleet.topology import PLACES, DomainKind
from bailiwick.isolation.compiled import CompiledPolicy, LimitRule, SubjectClass, Term
from bailiwick.isolation.placements import Residue, Site
from bailiwick.isolation.policy import Spread
from bailiwick.isolation.presence import KEPT_MAX, KindPresence, ZoneKey
from bailiwick.isolation.terrain import UNKNOWN_PARTS, HeldParts, Terrain


class SettledWork(NamedTuple):
    """Work that is somewhere: its class, its node, and what it holds there."""

    member: SubjectClass
    handle: int
    parts: HeldParts
    runs: bool
    """Whether it is there, and not only to come: then it leaves something behind."""
    zones: tuple[tuple[DomainKind, ZoneKey], ...]
    domains: tuple[tuple[int, str], ...]
    """What it counts for, by the place of the rule about how many."""
    kept: tuple[tuple[int, DomainKind, str], ...]
    """The domains that it leaves something behind in, by the place of that rule."""


class _Bound(NamedTuple):
    """What of the policy could ever matter to some: the rest need not know where they are."""

    kinds: dict[DomainKind, KindPresence]
    """The kinds of domain in which some rule keeps them from anybody."""
    spreads: tuple[int, ...]
    """The places of the rules about how many that choose them."""
    lingers: tuple[int, ...]
    """The same, of the rules about what lingers."""


@dataclass(slots=True)
class _Crowd:
    """One rule about how many: how many there are, and the nodes that are full."""

    each: LimitRule[Spread]
    counts: dict[str, int] = field(default_factory=dict)
    full: int = 0

    def binds(self, selected: int, term: Term, *, devices: bool) -> bool:
        """Whether it counts them; who holds no device is on no fabric."""
        if not devices and self.each.rule.kind is DomainKind.FABRIC:
            return False
        return self.each.binds(selected, term)


class Ground:
    """Nodes, the work on them, and what a policy makes of that."""

    def __init__(self, compiled: CompiledPolicy) -> None:
        self.compiled = compiled
        self.everyone = 0
        self.version = 0
        self._shared = {kind: KindPresence(compiled, kind) for kind in compiled.shared_kinds}
        self._crowds = [_Crowd(each) for each in compiled.spreads]
        self._left: list[int] = [0] * len(compiled.lingers)
        kinds = {each.rule.kind for each in compiled.spreads}.union(
            self._shared, *(each.rule.kinds for each in compiled.lingers)
        )
        self._terrain = Terrain(kinds, zoned=tuple(self._shared))
        self._work: dict[int, SettledWork] = {}
        self._residues: list[Residue] = []
        self._stay: dict[tuple[int, DomainKind, str], int] = {}
        """How much work there is that will leave something behind, by rule and domain."""
        self._bound: dict[int, _Bound] = {}

    # -- being told --------------------------------------------------------------------------

    def join(self, handle: int, site: Site) -> None:
        """A node is there."""
        with self._lifted(self._reaching(site)):
            self.everyone |= 1 << handle
            self._terrain.join(handle, site)
            for kind, presence in self._shared.items():
                presence.join(handle, self._terrain.zone(kind, handle))
        for crowd in self._crowds:
            self._fill(crowd, (handle,))
        self._moved()

    def leave(self, handle: int) -> None:
        """A node is gone, and all work on it, also such as was only to come."""
        for key in [key for key, work in self._work.items() if work.handle == handle]:
            self._take(key)
        with self._lifted(self._reaching(self._terrain.sites[handle])):
            for kind, presence in self._shared.items():
                presence.leave(handle, self._terrain.zone(kind, handle))
            self.everyone &= ~(1 << handle)
            self._terrain.leave(handle)
        for crowd in self._crowds:
            crowd.full &= ~(1 << handle)
        self._moved()

    def _moved(self) -> None:
        if self._residues:
            self.use_residues(self._residues)
        self.version += 1

    def _reaching(self, site: Site) -> list[int]:
        """Work that may hold something of a fabric of the node."""
        there = self._terrain.joined_to(site)
        return [key for key, work in self._work.items() if work.handle in there] if there else []

    def begin(
        self,
        key: int,
        member: SubjectClass,
        *,
        handle: int,
        parts: HeldParts = UNKNOWN_PARTS,
        runs: bool = True,
    ) -> None:
        """Work of a class began on a node, or (if it does not run) is to begin there."""
        self._put(key, self._settled(member, handle, parts=parts, runs=runs))

    def _settled(
        self, member: SubjectClass, handle: int, *, parts: HeldParts, runs: bool
    ) -> SettledWork:
        zones, held = self._terrain.reached(handle, parts)
        kinds, spreads, lingers = self._bound_by(member.selected)
        if len(kinds) < len(self._shared):
            zones = tuple(zone for zone in zones if zone[0] in kinds)
        if not spreads and not lingers:
            return SettledWork(member, handle, parts, runs, zones, (), ())
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
        return SettledWork(member, handle, parts, runs, zones, tuple(counted), tuple(kept))

    def _bound_by(self, selected: int) -> _Bound:
        """What of the policy could ever matter to who is selected so."""
        found = self._bound.get(selected)
        if found is None:
            if len(self._bound) >= KEPT_MAX:
                self._bound.clear()
            compiled = self.compiled
            kinds = {k: each for k, each in self._shared.items() if each.concerns(selected)}
            spreads = tuple(n for n, each in enumerate(compiled.spreads) if selected & each.whose)
            lingers = tuple(n for n, each in enumerate(compiled.lingers) if selected & each.whose)
            found = self._bound[selected] = _Bound(kinds, spreads, lingers)
        return found

    def _put(self, key: int, work: SettledWork) -> None:
        """The work is there."""
        self._work[key] = work
        for kind, zone in work.zones:
            if self._shared[kind].begin(work.member, zone):
                self.version += 1
        for number, name in work.domains:
            self._count(number, name, 1)
        for kept in work.kept:
            self._stay[kept] = self._stay.get(kept, 0) + 1

    def _take(self, key: int) -> SettledWork | None:
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

    def end(self, key: int) -> tuple[tuple[str, DomainKind, str], ...]:
        """The work is over, if it was known; by which rules it leaves something, and where."""
        work = self._take(key)
        lingers = self.compiled.lingers
        if work is None or not work.kept:
            return ()
        return tuple((lingers[number].rule.name, kind, name) for number, kind, name in work.kept)

    def add_residue(self, residue: Residue) -> None:
        """One more domain is theirs who left it."""
        for number, each in enumerate(self.compiled.lingers):
            if each.rule.name == residue.rule:
                self._left[number] |= self._terrain.bits(residue.kind, residue.domain)
                self._residues.append(residue)
                self.version += 1

    def use_residues(self, residues: Iterable[Residue]) -> None:
        """These domains, and no others, are still theirs who left them."""
        residues = list(residues)
        if not residues and not self._residues:
            return
        self._residues = residues
        numbers = {each.rule.name: at for at, each in enumerate(self.compiled.lingers)}
        self._left = [0] * len(numbers)
        for each in self._residues:
            if each.rule in numbers:
                self._left[numbers[each.rule]] |= self._terrain.bits(each.kind, each.domain)
        self.version += 1

    def _count(self, number: int, name: str, sign: int) -> None:
        crowd = self._crowds[number]
        before = crowd.counts.get(name, 0)
        crowd.counts[name] = before + sign
        if not before + sign:
            del crowd.counts[name]
        kind, most = crowd.each.rule.kind, crowd.each.rule.most
        if max(before, before + sign) != most:
            return
        if kind in PLACES:
            bits = self._terrain.bits(kind, name)
            crowd.full = crowd.full | bits if before + sign >= most else crowd.full & ~bits
            self.version += 1
        else:
            self._fill(crowd, self._terrain.nodes(kind, name))

    def _fill(self, crowd: _Crowd, handles: Iterable[int]) -> None:
        """Which of the nodes have a full domain."""
        rule = crowd.each.rule
        for handle in handles:
            names = self._terrain.on(handle, rule.kind)
            if any(crowd.counts.get(name, 0) >= rule.most for name in names):
                crowd.full |= 1 << handle
            else:
                crowd.full &= ~(1 << handle)
        self.version += 1

    # -- asking ------------------------------------------------------------------------------

    def open_to(self, member: SubjectClass, term: Term, *, devices: bool = True) -> int:
        """The nodes where somebody of the class may be for the term; labels are not asked here."""
        closed, bound = 0, self._bound_by(member.selected)
        for kind, presence in bound.kinds.items():
            if devices or kind is not DomainKind.FABRIC:
                closed |= presence.closed(member, term, everyone=self.everyone)
        for number in bound.spreads:
            crowd = self._crowds[number]
            if crowd.full and crowd.binds(member.selected, term, devices=devices):
                closed |= crowd.full
        for each, bits in zip(self.compiled.lingers, self._left, strict=True):
            if bits and not member.selected & each.whose:
                closed |= bits
        return self.everyone & ~closed

    def beside(
        self, member: SubjectClass, term: Term, *, placed: Sequence[int], devices: bool = True
    ) -> int:
        """The nodes closed to one more of a gang whose others are to be on these nodes."""
        closed = 0
        for kind, presence in self._shared.items():
            if not devices and kind is DomainKind.FABRIC:
                continue
            if presence.meets_itself(member.selected, term):
                for name in self._tally(kind, placed):
                    closed |= self._terrain.bits(kind, name)
        for crowd in self._crowds:
            if not crowd.binds(member.selected, term, devices=devices):
                continue
            kind, most = crowd.each.rule.kind, crowd.each.rule.most
            for name, count in self._tally(kind, placed).items():
                if count + crowd.counts.get(name, 0) >= most:
                    closed |= self._terrain.bits(kind, name)
        return closed

    def _tally(self, kind: DomainKind, placed: Sequence[int]) -> dict[str, int]:
        """How many of these would be in each domain."""
        found: dict[str, int] = {}
        for name in (name for handle in placed for name in self._terrain.on(handle, kind)):
            found[name] = found.get(name, 0) + 1
        return found

    def most_members(self, member: SubjectClass, nodes: int, *, devices: bool = True) -> int | None:
        """How many of a gang could be on these nodes if nothing else was; ``None`` for any number.

        Only what is always in force counts.
        """
        always = Term(0, (1 << len(self.compiled.exceptions)) - 1)
        limits = [
            (kind, 1)
            for kind, presence in self._shared.items()
            if presence.meets_itself(member.selected, always)
        ]
        limits += [
            (each.rule.kind, each.rule.most)
            for each in self.compiled.spreads
            if not each.window and member.selected & each.whose
        ]
        found: list[int] = []
        for kind, most in limits:
            if kind is DomainKind.FABRIC and (not devices or self._terrain.has_lone_device(nodes)):
                continue
            found.append(most * len(self._terrain.names_of(kind, nodes)))
        return min(found, default=None)

    def by_rule(
        self, member: SubjectClass, term: Term, *, devices: bool = True, left: bool = True
    ) -> dict[str, int]:
        """The nodes that each rule closes to the class, by its name.

        Without ``left``, as if nothing had been left behind.
        """
        found: dict[str, int] = {}
        for kind, presence in self._shared.items():
            if not devices and kind is DomainKind.FABRIC:
                continue
            for name, bits in presence.by_rule(member, term, everyone=self.everyone):
                found[name] = found.get(name, 0) | bits
        for crowd in self._crowds:
            if crowd.binds(member.selected, term, devices=devices):
                found[crowd.each.rule.name] = crowd.full
        for each, bits in zip(self.compiled.lingers, self._left, strict=True):
            if left and not member.selected & each.whose:
                found[each.rule.name] = bits
        return {name: bits for name, bits in found.items() if bits}

    @contextmanager
    def without(self, keys: Collection[int], *, leaving: bool = True) -> Iterator[None]:
        """As if this work were over: where it leaves something behind, that is left.

        If it is not ``leaving``, it is as if it had never been.
        """
        left = list(self._left)
        with self._lifted(keys) as gone:
            kept = {each for work in gone for each in work.kept} if leaving else ()
            for number, kind, name in kept:
                if (number, kind, name) not in self._stay:
                    self._left[number] |= self._terrain.bits(kind, name)
            try:
                yield
            finally:
                self._left = left
                self.version += 1

    @contextmanager
    def _lifted(self, keys: Iterable[int]) -> Iterator[list[SettledWork]]:
        gone = [(key, work) for key in keys if (work := self._take(key)) is not None]
        try:
            yield [work for _, work in gone]
        finally:
            for key, work in gone:
                member, handle, parts, runs = work[:4]
                self._put(key, self._settled(member, handle, parts=parts, runs=runs))
