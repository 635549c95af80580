"""Which classes are where, by kind of domain, and which nodes that closes to a class: as bits.

Rules:

- Nodes are numbered; a set of them is an integer with a bit for each. A node is in one zone of each
  kind: its rack, itself. Of a kind of which a machine may have several, a zone is the machine with
  all it reaches: who comes there might get any part of it.
- Sets are kept up to date as work comes and goes: a class that comes to a zone, or the last of it
  that leaves, marks those sets that hang on it, and they are joined anew when somebody asks.
- Between every two parties there are no pairs to walk: a zone is nobody's, one party's, or closed
  to all. Only who is excepted from that has its zones looked at one by one, and only those in which
  something changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.compiled import (
    CompiledPolicy,
    Party,
    PartyRule,
    SubjectClass,
    Term,
    in_force,
)

ZoneKey: TypeAlias = int | str
_NO_TERM = Term(0, 0)

KEPT_MAX = 1024
"""Answers kept for classes and terms; beyond that all are worked out anew."""


@dataclass(slots=True)
class Zone:
    """Nodes that are one domain, and the classes that are there, with how many of each."""

    nodes: set[int] = field(default_factory=set)
    classes: dict[SubjectClass, int] = field(default_factory=dict)
    selected: dict[int, int] = field(default_factory=dict)
    parties: tuple[dict[Party, int], ...] = ()
    several: int = 0
    """Its nodes as bits, if there are several: of one alone that would be a waste."""

    @property
    def bits(self) -> int:
        """Its nodes."""
        return self.several or (1 << next(iter(self.nodes)) if self.nodes else 0)

    def change(self, handle: int, *, joins: bool) -> None:
        """A node is of it, or is no more."""
        bits = self.bits
        (self.nodes.add if joins else self.nodes.discard)(handle)
        bits = bits | 1 << handle if joins else bits & ~(1 << handle)
        self.several = bits if len(self.nodes) > 1 else 0


@dataclass(slots=True)
class _Somebody:
    """Some, by what selects them, and where any of them is."""

    found: list[int] = field(default_factory=list)
    bits: int = 0
    fresh: bool = False

    def where(self, within: dict[int, int]) -> int:
        """The nodes; joined anew only if one of them came or went."""
        if not self.fresh:
            self.bits, self.fresh = 0, True
            for selected in self.found:
                self.bits |= within.get(selected, 0)
        return self.bits


@dataclass(slots=True)
class _Enemies(_Somebody):
    """Who keeps some class away in some term: those of its own, and those it has with others."""

    selected: int = 0
    term: Term = _NO_TERM
    aloof: int = 0
    """The selectors of those who are apart from everybody else, and so from this class."""
    shared: _Somebody | None = None
    """All of these: most classes have the same, and one union serves them."""
    parties: tuple[PartyRule, ...] = ()
    """The rules between every two parties that are in force."""
    is_excepted: bool = False
    """Whether an exception may take it out of these."""


@dataclass(slots=True)
class _Spared:
    """The nodes that are closed to a class by its party, where exceptions are counted in."""

    changed: set[ZoneKey]
    ways: tuple[int, ...]
    """The ways to part in which it has a party."""
    own: tuple[Party, ...]
    """Its party in each way to part of the kind: where nobody is of another, nothing is closed."""
    free: dict[int, bool] = field(default_factory=dict)
    """Whether it is excepted from being kept apart from who is selected so."""
    closed: set[ZoneKey] = field(default_factory=set)
    bits: int = 0


class KindPresence:
    """Who is where, for one kind of domain."""

    def __init__(self, compiled: CompiledPolicy, kind: DomainKind) -> None:
        self._compiled, self._kind = compiled, kind
        self._pairs = [rule for rule in compiled.pairs if kind in rule.kinds]
        self._parties = [rule for rule in compiled.parties if kind in rule.kinds]
        self._ways = tuple(sorted({rule.way for rule in self._parties}))
        self.zones: dict[ZoneKey, Zone] = {}
        self.within: dict[int, int] = {}
        """The nodes of zones where somebody is who is selected so."""
        self._empty = 0
        self._own: dict[int, dict[Party, int]] = {way: {} for way in self._ways}
        self._forget()

    def _forget(self) -> None:
        self._enemies: dict[tuple[int, Term], _Enemies] = {}
        self._aloof: dict[int, _Somebody] = {}
        self._watched: dict[int, list[_Somebody]] = {}
        self._spared: dict[tuple[SubjectClass, Term], _Spared] = {}

    # -- being told --------------------------------------------------------------------------

    def join(self, handle: int, key: ZoneKey) -> None:
        """A node is in the zone."""
        zone = self.zones.get(key)
        if zone is None:
            zone = self.zones[key] = Zone(parties=tuple({} for _ in self._ways))
        zone.change(handle, joins=True)
        self._spared.clear()
        self._mark(key, zone, 1 << handle)

    def leave(self, handle: int, key: ZoneKey) -> None:
        """A node is in the zone no more."""
        zone, bit = self.zones[key], 1 << handle
        zone.change(handle, joins=False)
        self._empty &= ~bit
        self.within = {each: bits & ~bit for each, bits in self.within.items()}
        for own in self._own.values():
            own.update({party: bits & ~bit for party, bits in own.items()})
        if not zone.nodes and not zone.classes:
            del self.zones[key]
        self._forget()

    def _mark(self, key: ZoneKey, zone: Zone, bits: int) -> None:
        """Nodes are in the zone from now on, with whoever is there."""
        for selected in zone.selected:
            self._see(selected, self.within.get(selected, 0) | bits)
        if not zone.classes:
            self._empty |= bits
        for way, counts in zip(self._ways, zone.parties, strict=True):
            if len(counts) == 1:
                self._give(way, next(iter(counts)), bits)
        self._changed(key, zone)

    def begin(self, member: SubjectClass, key: ZoneKey) -> bool:
        """Work of the class began in the zone; whether it is the first of its class there."""
        zone, selected = self.zones[key], member.selected
        classes = zone.classes
        before = classes.get(member, 0)
        classes[member] = before + 1
        if before:
            return False
        bits = zone.bits
        if len(classes) == 1:
            self._empty ^= bits  # they were all in it
        count = zone.selected.get(selected, 0)
        zone.selected[selected] = count + 1
        if not count:
            self._see(selected, self.within.get(selected, 0) | bits)
        for way, counts in zip(self._ways, zone.parties, strict=True):
            party = member.parties[way]
            count = counts.get(party, 0)
            counts[party] = count + 1
            if count:
                continue
            if len(counts) == 1:
                self._give(way, party, bits)
            elif len(counts) == 2:
                self._take(way, next(each for each in counts if each != party), bits)
        self._changed(key, zone)
        return True

    def end(self, member: SubjectClass, key: ZoneKey) -> bool:
        """Work of the class left the zone; whether it was the last of its class there."""
        zone, selected = self.zones[key], member.selected
        classes = zone.classes
        count = classes[member] - 1
        if count:
            classes[member] = count
            return False
        bits = zone.bits
        del classes[member]
        if not classes:
            self._empty |= bits
        count = zone.selected[selected] - 1
        if count:
            zone.selected[selected] = count
        else:
            del zone.selected[selected]
            self._see(selected, self.within[selected] ^ bits)
        for way, counts in zip(self._ways, zone.parties, strict=True):
            party = member.parties[way]
            count = counts[party] - 1
            if count:
                counts[party] = count
                continue
            del counts[party]
            if not counts:
                self._take(way, party, bits)
            elif len(counts) == 1:
                self._give(way, next(iter(counts)), bits)
        self._changed(key, zone)
        return True

    def _give(self, way: int, party: Party, bits: int) -> None:
        own = self._own[way]
        own[party] = own.get(party, 0) | bits

    def _take(self, way: int, party: Party, bits: int) -> None:
        own = self._own[way]
        own[party] = own.get(party, 0) ^ bits
        if not own[party]:
            del own[party]

    def _see(self, selected: int, bits: int) -> None:
        """Where somebody is who is selected so has changed."""
        if selected not in self.within:
            for aloof, them in self._aloof.items():
                if selected & aloof:
                    self._watch(them, selected)
            for each in self._enemies.values():
                self._meet(each, selected)
        if bits:
            self.within[selected] = bits
        else:
            self.within.pop(selected, None)
        for watching in self._watched.get(selected, ()):
            watching.fresh = False

    def _watch(self, them: _Somebody, selected: int) -> None:
        """Who is selected so is one of them."""
        if selected not in them.found:
            them.found.append(selected)
            self._watched.setdefault(selected, []).append(them)
            them.fresh = False

    def _changed(self, key: ZoneKey, zone: Zone) -> None:
        if not self._spared:
            return
        alone = tuple([next(iter(each)) if len(each) == 1 else None for each in zone.parties])
        for each in self._spared.values():
            if each.own != alone or key in each.closed:
                each.changed.add(key)

    # -- asking ------------------------------------------------------------------------------

    def closed(self, member: SubjectClass, term: Term, *, everyone: int) -> int:
        """The nodes where the class would meet somebody whom it may not."""
        enemies = self._enemies_of(member.selected, term)
        bits = enemies.bits if enemies.fresh else enemies.where(self.within)
        if (shared := enemies.shared) is not None:
            bits |= shared.bits if shared.fresh else shared.where(self.within)
        if enemies.is_excepted:
            return bits | self._spared_of(member, term).bits
        for rule in enemies.parties:
            mine = self._own[rule.way].get(member.parties[rule.way], 0)
            bits |= everyone ^ (self._empty | mine)  # all of those are of everyone
        return bits

    def concerns(self, selected: int) -> bool:
        """Whether some rule could keep who is selected so from anybody, in this kind of domain."""
        return bool(self._parties) or any(
            rule.others or selected & (rule.first | rule.second | rule.members)
            for rule in self._pairs
        )

    def meets_itself(self, selected: int, term: Term) -> bool:
        """Whether two of them may not be together."""
        return any(kind is self._kind for _, kind in self._apart(selected, selected, term=term))

    def by_rule(
        self, member: SubjectClass, term: Term, *, everyone: int
    ) -> Iterator[tuple[str, int]]:
        """Each rule in force that closes nodes to the class, and which."""
        for rule in self._pairs:
            if not in_force(rule, term):
                continue
            bits = 0
            for selected, there in self.within.items():
                if rule.forbids(member.selected, selected) and not self._is_free(
                    member.selected, selected, term=term
                ):
                    bits |= there
            yield rule.name, bits
        enemies = self._enemies_of(member.selected, term)
        for party_rule in enemies.parties:
            if enemies.is_excepted:
                yield party_rule.name, self._spared_of(member, term).bits
            else:
                mine = self._own[party_rule.way].get(member.parties[party_rule.way], 0)
                yield party_rule.name, everyone & ~(self._empty | mine)

    def _apart(self, one: int, two: int, *, term: Term) -> Iterator[tuple[str, DomainKind]]:
        return self._compiled.pairs_apart(one, two, term=term)

    def _is_free(self, one: int, two: int, *, term: Term) -> bool:
        return self._kind in self._compiled.excepted(one, two, term=term)

    def _meet(self, enemies: _Enemies, selected: int) -> None:
        """Take somebody in, if it keeps the class away."""
        if not selected & enemies.aloof and any(
            kind is self._kind
            for _, kind in self._apart(enemies.selected, selected, term=enemies.term)
        ):
            self._watch(enemies, selected)

    def _enemies_of(self, selected: int, term: Term) -> _Enemies:
        found = self._enemies.get((selected, term))
        if found is None:
            if len(self._enemies) >= KEPT_MAX:
                self._forget()
            found = _Enemies(selected=selected, term=term)
            found.parties = tuple(rule for rule in self._parties if in_force(rule, term))
            found.is_excepted = bool(found.parties) and self._has_exception(selected, term)
            found.aloof = self._aloof_from(selected, term)
            found.shared = self._all_of(found.aloof) if found.aloof else None
            for other in self.within:
                self._meet(found, other)
            self._enemies[selected, term] = found
        return found

    def _aloof_from(self, selected: int, term: Term) -> int:
        """The selectors of those whom some rule keeps from everybody else, this one among them."""
        aloof = 0
        for rule in () if self._has_exception(selected, term) else self._pairs:
            if rule.others and not selected & rule.first and in_force(rule, term):
                aloof |= rule.first
        return aloof

    def _all_of(self, aloof: int) -> _Somebody:
        them = self._aloof.get(aloof)
        if them is None:
            them = self._aloof[aloof] = _Somebody()
            for other in self.within:
                if other & aloof:
                    self._watch(them, other)
        return them

    def _has_exception(self, selected: int, term: Term) -> bool:
        """Whether some exception that lasts could take it out of what rules say."""
        return any(
            term.exceptions >> index & 1
            and self._kind in each.kinds
            and selected & (each.first | each.second)
            for index, each in enumerate(self._compiled.exceptions)
        )

    def _spared_of(self, member: SubjectClass, term: Term) -> _Spared:
        found = self._spared.get((member, term))
        if found is None:
            if len(self._spared) >= KEPT_MAX:
                self._spared.clear()
            ways = {rule.way for rule in self._parties if in_force(rule, term)}
            own = tuple(member.parties[way] for way in self._ways)
            found = _Spared(set(self.zones), tuple(sorted(ways)), own)
            self._spared[member, term] = found
        for key in found.changed:
            zone = self.zones.get(key)
            if zone is not None:
                is_closed = self._parts(found, member, term=term, zone=zone)
                if is_closed != (key in found.closed):
                    (found.closed.add if is_closed else found.closed.discard)(key)
                    found.bits ^= zone.bits
        found.changed.clear()
        return found

    def _parts(self, kept: _Spared, member: SubjectClass, *, term: Term, zone: Zone) -> bool:
        """Whether somebody in the zone is of another party, and not excepted."""
        free = kept.free
        for other in zone.classes:
            if other is member or other.parties == member.parties:
                continue
            if other.selected not in free:
                free[other.selected] = self._is_free(member.selected, other.selected, term=term)
            if free[other.selected]:
                continue
            if any(other.parties[way] != member.parties[way] for way in kept.ways):
                return True
        return False
