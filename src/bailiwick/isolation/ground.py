"""Where a class of work may be among nodes on which other work is: every rule, kept up to date.

Rules:

- Told of nodes that come and go, of work that begins and ends, and of what was left behind, it
  knows for any class and term which nodes are open to it; asking walks neither nodes nor work.
- It judges as :mod:`.judge` does, for somebody new who stays for the term. It counts on nobody
  else's end: others may renew, or take their time to go. So a rule with a window about how many
  may be together counts everybody of theirs.
- A node is open if every part of it is. Of others, what they are closed by: by a place that they
  are in, or only by parts of theirs (:meth:`Ground.closed_to`), of which :mod:`.inner` tells the
  open ones.
- Members of one gang are judged with each other as if each was in every part of its node: it is not
  known yet which it will get. So two that may not be in one cache do not come to one node.

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

from bailiwick.fleet.topology import INSIDE_HOST, PLACES, DomainKind
from bailiwick.isolation.compiled import CompiledPolicy, SubjectClass, Term
from bailiwick.isolation.inner import Crowd, InnerDomain, InnerDomains
from bailiwick.isolation.placements import Residue, Site
from bailiwick.isolation.presence import KEPT_MAX, KindPresence
from bailiwick.isolation.terrain import (
    INNER,
    UNKNOWN_PARTS,
    HeldParts,
    RulesBinding,
    SettledWork,
    Terrain,
)


class Ground:
    """Nodes, the work on them, and what a policy makes of that."""

    def __init__(self, compiled: CompiledPolicy) -> None:
        self.compiled = compiled
        self.everyone = 0
        self.version = 0
        self._shared = {kind: KindPresence(compiled, kind) for kind in compiled.shared_kinds}
        self.crowds = [Crowd(each) for each in compiled.spreads]
        self._left: list[int] = [0] * len(compiled.lingers)
        self._left_inside: list[int] = [0] * len(compiled.lingers)
        """The nodes that are, or of which a part is, theirs who left it, by rule."""
        kinds = {each.rule.kind for each in compiled.spreads}.union(
            self._shared, *(each.rule.kinds for each in compiled.lingers)
        )
        self.terrain = Terrain(kinds, zoned=tuple(self._shared))
        self.inner = InnerDomains(compiled, self.terrain.inner, crowds=self.crowds)
        self.work: dict[int, SettledWork] = {}
        self.residues: list[Residue] = []
        self.stays: dict[tuple[int, DomainKind, str], int] = {}
        """How much work there is that will leave something behind, by rule and domain."""
        self._bound: dict[int, RulesBinding] = {}

    # -- being told --------------------------------------------------------------------------

    def join(self, handle: int, site: Site) -> None:
        """A node is there."""
        with self._lifted(self._reaching(site)):
            self.everyone |= 1 << handle
            self.terrain.join(handle, site)
            self.inner.join(handle, site)
            for kind, presence in self._shared.items():
                presence.join(handle, self.terrain.zone(kind, handle))
        for crowd in self.crowds:
            self._fill(crowd, (handle,))
        self._moved()

    def leave(self, handle: int) -> None:
        """A node is gone, and all work on it, also such as was only to come."""
        for key in [key for key, work in self.work.items() if work.handle == handle]:
            self._take(key)
        with self._lifted(self._reaching(self.terrain.sites[handle])):
            for kind, presence in self._shared.items():
                presence.leave(handle, self.terrain.zone(kind, handle))
            self.everyone &= ~(1 << handle)
            self.terrain.leave(handle)
            self.inner.leave(handle)
        for crowd in self.crowds:
            crowd.full &= ~(1 << handle)
        self._moved()

    def _moved(self) -> None:
        if self.residues:
            self.use_residues(self.residues)
        self.version += 1

    def _reaching(self, site: Site) -> list[int]:
        """Work that may hold something of a fabric of the node."""
        there = self.terrain.joined_to(site)
        return [key for key, work in self.work.items() if work.handle in there] if there else []

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
        self._put(key, self.settled(member, handle, parts=parts, runs=runs))

    def settled(
        self, member: SubjectClass, handle: int, *, parts: HeldParts, runs: bool
    ) -> SettledWork:
        """What it is for work of the class to hold these parts of a node."""
        zones, held, touches = self.terrain.reached(handle, parts)
        kinds, spreads, lingers = self.bound_by(member.selected)
        inner: tuple[InnerDomain, ...] = ()
        if touches:  # else it is in no part of a machine that counts
            inner = tuple((kind, name) for kind in self.inner.kinds for name in held[kind])
        if not spreads and not lingers:
            return SettledWork(member, handle, parts, runs, kinds, zones, (), (), inner, touches)
        counted = [(n, each) for n in spreads for each in held[self.crowds[n].each.rule.kind]]
        kept = [
            (number, kind, name)
            for number in (lingers if runs else ())
            for kind in self.compiled.lingers[number].rule.kinds
            for name in held[kind]
        ]
        limits = kinds, zones, tuple(counted), tuple(kept)
        return SettledWork(member, handle, parts, runs, *limits, inner, touches)

    def bound_by(self, selected: int) -> RulesBinding:
        """What of the policy could ever matter to who is selected so."""
        found = self._bound.get(selected)
        if found is None:
            if len(self._bound) >= KEPT_MAX:
                self._bound.clear()
            compiled = self.compiled
            kinds = {k: each for k, each in self._shared.items() if each.concerns(selected)}
            spreads = tuple(n for n, each in enumerate(compiled.spreads) if selected & each.whose)
            lingers = tuple(n for n, each in enumerate(compiled.lingers) if selected & each.whose)
            found = self._bound[selected] = RulesBinding(kinds, spreads, lingers)
        return found

    def _put(self, key: int, work: SettledWork) -> None:
        """The work is there."""
        self.work[key] = work
        member, kinds = work.member, work.kinds
        for kind, zone in work.zones:
            presence = kinds.get(kind)
            if presence is not None and presence.begin(member, zone):
                self.version += 1
        for number, name in work.domains:
            self._count(number, name, 1)
        for kept in work.kept:
            self.stays[kept] = self.stays.get(kept, 0) + 1
        if work.touches:
            self.inner.begin(member, work.inner)
            self.inner.note(work.touches)

    def _take(self, key: int) -> SettledWork | None:
        """The work is there no more; nothing if it was not known."""
        work = self.work.pop(key, None)
        if work is None:
            return None
        member, kinds = work.member, work.kinds
        for kind, zone in work.zones:
            presence = kinds.get(kind)
            if presence is not None and presence.end(member, zone):
                self.version += 1
        for number, name in work.domains:
            self._count(number, name, -1)
        for kept in work.kept:
            self.stays[kept] -= 1
            if not self.stays[kept]:
                del self.stays[kept]
        if work.touches:
            self.inner.end(member, work.inner)
            self.inner.note(work.touches)
        return work

    def end(self, key: int) -> tuple[tuple[str, DomainKind, str], ...]:
        """The work is over, if it was known; by which rules it leaves something, and where."""
        work = self._take(key)
        if work is None or not work.kept:
            return ()
        lingers = self.compiled.lingers
        return tuple((lingers[number].rule.name, kind, name) for number, kind, name in work.kept)

    def add_residue(self, residue: Residue) -> None:
        """One more domain is theirs who left it."""
        for number, each in enumerate(self.compiled.lingers):
            if each.rule.name == residue.rule:
                self._close(number, residue.kind, residue.domain)
                self.residues.append(residue)

    def use_residues(self, residues: Iterable[Residue]) -> None:
        """These domains, and no others, are still theirs who left them."""
        residues = list(residues)
        if not residues and not self.residues:
            return
        self.residues = residues
        numbers = {each.rule.name: at for at, each in enumerate(self.compiled.lingers)}
        self._left, self._left_inside = [0] * len(numbers), [0] * len(numbers)
        for domain in self.inner.left:
            self.inner.note(self.terrain.nodes(*domain))
        self.inner.left.clear()
        for each in self.residues:
            if each.rule in numbers:
                self._close(numbers[each.rule], each.kind, each.domain)
        self.version += 1

    def _close(self, number: int, kind: DomainKind, name: str) -> None:
        """The domain is theirs whom the rule is about, and left it."""
        self.version += 1
        if kind not in INNER:
            self._left[number] |= self.terrain.bits(kind, name)
            return
        self._left_inside[number] |= self.terrain.bits(kind, name)
        self.inner.left[kind, name] = self.inner.left.get((kind, name), 0) | 1 << number
        self.inner.note(self.terrain.nodes(kind, name))

    def _count(self, number: int, name: str, sign: int) -> None:
        crowd = self.crowds[number]
        before = crowd.counts.get(name, 0)
        crowd.counts[name] = before + sign
        if not before + sign:
            del crowd.counts[name]
        kind, most = crowd.each.rule.kind, crowd.each.rule.most
        if max(before, before + sign) != most:
            return
        if kind in PLACES:
            bits = self.terrain.bits(kind, name)
            crowd.full = crowd.full | bits if before + sign >= most else crowd.full & ~bits
            self.version += 1
        else:
            self._fill(crowd, self.terrain.nodes(kind, name))

    def _fill(self, crowd: Crowd, handles: Iterable[int]) -> None:
        """Which of the nodes have a full domain."""
        rule = crowd.each.rule
        for handle in handles:
            names = self.terrain.on(handle, rule.kind)
            if any(crowd.counts.get(name, 0) >= rule.most for name in names):
                crowd.full |= 1 << handle
            else:
                crowd.full &= ~(1 << handle)
        self.version += 1

    # -- asking ------------------------------------------------------------------------------

    def open_to(self, member: SubjectClass, term: Term, *, devices: bool = True) -> int:
        """The nodes where somebody of the class may be for the term; labels are not asked here."""
        whole, parts = self.closed_to(member, term, devices=devices)
        return self.everyone & ~(whole | parts)

    def closed_to(
        self, member: SubjectClass, term: Term, *, devices: bool = True
    ) -> tuple[int, int]:
        """The nodes that are closed whatever is taken of them, and those of which a part is."""
        whole = parts = 0
        selected, everyone = member.selected, self.everyone
        kinds, spreads, lingers = self.bound_by(selected)
        for kind, presence in kinds.items():
            if kind not in INNER:
                whole |= presence.closed(member, term, everyone=everyone)
            elif devices or kind is not DomainKind.FABRIC:
                parts |= presence.closed(member, term, everyone=everyone)
        for number in spreads:
            crowd = self.crowds[number]
            if crowd.full and crowd.binds(selected, term, devices=devices):
                if crowd.each.rule.kind in INNER:
                    parts |= crowd.full
                else:
                    whole |= crowd.full
        for number, left in enumerate(self._left):
            if number not in lingers:
                whole, parts = whole | left, parts | self._left_inside[number]
        return whole, parts

    def beside(
        self, member: SubjectClass, term: Term, *, placed: Sequence[int], devices: bool = True
    ) -> int:
        """The nodes closed to one more of a gang whose others are to be on these nodes."""
        closed = 0
        for kind, presence in self._shared.items():
            if not devices and kind is DomainKind.FABRIC:
                continue
            if presence.meets_itself(member.selected, term):
                for name in self.tally(kind, placed):
                    closed |= self.terrain.bits(kind, name)
        for crowd in self.crowds:
            if not crowd.binds(member.selected, term, devices=devices):
                continue
            kind, most = crowd.each.rule.kind, crowd.each.rule.most
            for name, count in self.tally(kind, placed).items():
                if count + crowd.counts.get(name, 0) >= most:
                    closed |= self.terrain.bits(kind, name)
        return closed

    def tally(self, kind: DomainKind, placed: Sequence[int]) -> dict[str, int]:
        """How many of these would be in each domain."""
        found: dict[str, int] = {}
        for name in (name for handle in placed for name in self.terrain.on(handle, kind)):
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
            if kind is DomainKind.FABRIC and (not devices or self.terrain.has_lone_device(nodes)):
                continue
            found.append(most * len(self.terrain.names_of(kind, nodes)))
        return min(found, default=None)

    def by_rule(self, member: SubjectClass, term: Term, *, devices: bool = True) -> dict[str, int]:
        """The nodes that each rule closes to the class, be it in part, by its name."""
        found = self._by_rule(member, term, {*INNER} if devices else {*INSIDE_HOST})
        for number, each in enumerate(self.compiled.lingers):
            if not member.selected & each.whose:
                found[each.rule.name] = self._left[number] | self._left_inside[number]
        return {name: bits for name, bits in found.items() if bits}

    def broken_by(self, key: int, term: Term) -> set[str]:
        """The rules that work would break if it stayed where it is; what was left is not asked."""
        work = self.work[key]
        with self.without((key,), leaving=False):
            found = self._by_rule(work.member, term, set())
            names = {name for name, bits in found.items() if bits >> work.handle & 1}
            for domain in work.inner:
                names.update(self.inner.closed_by(work.member, term, domain=domain))
        return names

    def _by_rule(
        self, member: SubjectClass, term: Term, inner: Collection[DomainKind]
    ) -> dict[str, int]:
        """By rules about sharing and how many; of kinds inside a machine, only these."""
        found: dict[str, int] = {}
        for kind, presence in self._shared.items():
            if kind in INNER and kind not in inner:
                continue
            for name, bits in presence.by_rule(member, term, everyone=self.everyone):
                found[name] = found.get(name, 0) | bits
        for crowd in self.crowds:
            rule = crowd.each.rule
            counts = rule.kind not in INNER or rule.kind in inner
            if counts and crowd.each.binds(member.selected, term):
                found[rule.name] = crowd.full
        return found

    @contextmanager
    def without(self, keys: Collection[int], *, leaving: bool = True) -> Iterator[None]:
        """As if this work were over: where it leaves something behind, that is left.

        If it is not ``leaving``, it is as if it had never been.
        """
        left = list(self._left), list(self._left_inside), dict(self.inner.left)
        with self._lifted(keys) as gone:
            kept = {each for work in gone for each in work.kept} if leaving else ()
            for number, kind, name in kept:
                if (number, kind, name) not in self.stays:
                    self._close(number, kind, name)
            try:
                yield
            finally:
                self._left, self._left_inside, self.inner.left = left
                self.version += 1

    @contextmanager
    def _lifted(self, keys: Iterable[int]) -> Iterator[list[SettledWork]]:
        gone = [(key, work) for key in keys if (work := self._take(key)) is not None]
        try:
            yield [work for _, work in gone]
        finally:
            for key, work in gone:
                member, handle, parts, runs = work[:4]
                self._put(key, self.settled(member, handle, parts=parts, runs=runs))
