"""Live placements under a policy: told what came and went, it tells what is broken.

Rules:

- At every moment the open violations are those that :mod:`.judge` finds in the same placements and
  residues: the same predicate, kept up to date instead of reckoned anew.
- Work is sorted into classes that no rule tells apart, so a newcomer is compared with the classes
  in its domains, not with everybody there.
- What depends on the time (windows, exceptions) is looked at again whenever time passes.
- A domain that the last of a lingering rule's subjects left is kept as a residue until its time,
  or until it is said to have been scrubbed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeAlias, TypeVar

from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.compiled import CompiledPolicy, SubjectClass, Term
from bailiwick.isolation.judge import Violation, forbidden_kinds, in_force, kinds_of
from bailiwick.isolation.placements import Placement, Residue
from bailiwick.isolation.policy import (
    Dedicated,
    Distrust,
    Linger,
    NeverShare,
    OnlyOn,
    Policy,
    SharingRule,
    Spread,
    Subject,
)

_Domain: TypeAlias = tuple[DomainKind, str]
_Pair: TypeAlias = tuple[str, str]
_Apart: TypeAlias = tuple[frozenset[DomainKind], tuple[SharingRule, ...]]
_Kept: TypeAlias = tuple[str, DomainKind, str]
_Key = TypeVar("_Key")
_NONE: frozenset[str] = frozenset()
_KNOWN_MAX = 100_000
"""Subjects whose class is remembered."""
_EVER = Term(windows=-1, exceptions=0)
"""As if every window opened and no exception lasted."""


class _Classes:
    """The classes of a policy by number, so that comparing them costs little."""

    def __init__(self, compiled: CompiledPolicy) -> None:
        self._compiled = compiled
        self._known: dict[tuple[object, ...], int] = {}
        self._numbers: dict[SubjectClass, int] = {}
        self.classes: list[SubjectClass] = []
        self.samples: list[Subject] = []
        """One subject of each; any other is judged like it."""

    def of(self, subject: Subject) -> int:
        """The number of the subject's class."""
        told = (subject.tenant, subject.project, *subject.labels.items())
        found = self._known.get(told)
        if found is None:
            member = self._compiled.class_of(subject)
            found = self._numbers.setdefault(member, len(self.classes))
            if found == len(self.classes):
                self.classes.append(member)
                self.samples.append(subject)
            if len(self._known) >= _KNOWN_MAX:
                self._known.clear()
            self._known[told] = found
        return found


class _Bound(NamedTuple):
    """The rules that bind a class wherever the others are."""

    only_on: tuple[OnlyOn, ...]
    spreads: tuple[Spread, ...]
    lingers: tuple[Linger, ...]


class Auditor:
    """What is placed now, and which rules that breaks."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        rules = policy.rules
        self._compiled = CompiledPolicy(policy)
        self._classes = _Classes(self._compiled)
        self._sharing = [r for r in rules if isinstance(r, NeverShare | Distrust | Dedicated)]
        self._only_on = [rule for rule in rules if isinstance(rule, OnlyOn)]
        self._spreads = [rule for rule in rules if isinstance(rule, Spread)]
        self._lingers = {rule.name: rule for rule in rules if isinstance(rule, Linger)}
        self._kinds = tuple(sorted({kind for rule in self._sharing for kind in kinds_of(rule)}))
        self._between: dict[tuple[int, int], _Apart] = {}
        self._bound: dict[int, _Bound] = {}
        self.placements: dict[str, Placement] = {}
        self._in: dict[_Domain, dict[int, dict[str, None]]] = {}
        self._meetings: dict[_Pair, tuple[SharingRule, ...]] = {}
        """Who meet in some domain though some rule, at some time, keeps them apart."""
        self._partners: dict[str, set[str]] = {}
        self._lacking: dict[str, list[OnlyOn]] = {}
        """Who is on a node without the labels that a rule wants."""
        self._crowds: dict[tuple[Spread, str], dict[str, None]] = {}
        self._full: dict[tuple[Spread, str], None] = {}
        """Domains with more than a rule allows, if all of them count."""
        self._stays: dict[_Kept, dict[str, None]] = {}
        """By Linger rule and domain, who of its subjects is there."""
        self._residues: dict[_Kept, Residue] = {}

    # -- what happens ------------------------------------------------------------------------

    def place(self, placement: Placement) -> None:
        """Work came; if it was there already, it moved."""
        if placement.id in self.placements:
            self._take_out(placement.id)
        self.placements[placement.id] = placement
        number = self._classes.of(placement.subject)
        for kind in self._kinds:
            for domain in placement.domains.get(kind, ()):
                self._enter(placement.id, number, (kind, domain))
        bound = self._bound_by(number)
        for only_on in bound.only_on:
            if any(placement.labels.get(key) != value for key, value in only_on.labels):
                self._lacking.setdefault(placement.id, []).append(only_on)
        for key in _counted(placement, bound):
            crowd = self._crowds.setdefault(key, {})
            crowd[placement.id] = None
            if len(crowd) > key[0].most:
                self._full[key] = None
        for kept in _stayed(placement, bound):
            self._stays.setdefault(kept, {})[placement.id] = None

    def remove(self, placement_id: str, *, now_ms: int) -> None:
        """Work went; what it may have left behind is kept."""
        placement = self._take_out(placement_id)
        for kept in _stayed(placement, self._bound_by(self._classes.of(placement.subject))):
            if kept not in self._stays:
                for_ms = self._lingers[kept[0]].for_ms
                until_ms = None if for_ms is None else now_ms + for_ms
                before = self._residues.get(kept)
                # Who came in between, against the rule, is not there rightly for their coming back.
                left_ms = now_ms if before is None or before.is_over(now_ms) else before.left_ms
                self._residues[kept] = Residue(*kept, left_ms=left_ms, until_ms=until_ms)

    def update(self, placements: Mapping[str, Placement], *, now_ms: int) -> None:
        """All that is placed now, by id: what is new came, and what is missing went."""
        for placement_id in [each for each in self.placements if each not in placements]:
            self.remove(placement_id, now_ms=now_ms)
        for placement_id, placement in placements.items():
            if self.placements.get(placement_id) != placement:
                self.place(placement)

    def scrub(self, kind: DomainKind, domain: str) -> None:
        """Nothing is left in the domain of what was there."""
        for kept in [each for each in self._residues if each[1:] == (kind, domain)]:
            del self._residues[kept]

    # -- what is broken ----------------------------------------------------------------------

    def violations(self, *, now_ms: int) -> Iterator[Violation]:
        """All that is broken now."""
        for pair, rules in self._meetings.items():
            for rule in rules:
                yield from self._of_pair(pair, rule, now_ms=now_ms)
        for placement_id, wanted in self._lacking.items():
            placement = self.placements[placement_id]
            for only_on in wanted:
                if in_force(only_on.window, placement, now_ms=now_ms):
                    yield Violation(only_on.name, None, placement.node, (placement_id,))
        for key in self._full:
            yield from self._of_crowd(*key, now_ms=now_ms)
        yield from self._of_residues(now_ms)

    def residues(self, *, now_ms: int) -> tuple[Residue, ...]:
        """The domains that are still kept for who left them."""
        for kept in [kept for kept, each in self._residues.items() if each.is_over(now_ms)]:
            del self._residues[kept]
        return tuple(self._residues.values())

    def _of_pair(self, pair: _Pair, rule: SharingRule, *, now_ms: int) -> Iterator[Violation]:
        one, two = self.placements[pair[0]], self.placements[pair[1]]
        for kind in forbidden_kinds(self.policy, rule, pair=(one, two), now_ms=now_ms):
            for domain in one.domains.get(kind, _NONE) & two.domains.get(kind, _NONE):
                yield Violation(rule.name, kind, domain, pair)

    def _of_crowd(self, rule: Spread, domain: str, *, now_ms: int) -> Iterator[Violation]:
        crowd = (self.placements[each] for each in self._crowds[rule, domain])
        who = tuple(each.id for each in crowd if in_force(rule.window, each, now_ms=now_ms))
        if len(who) > rule.most:
            yield Violation(rule.name, rule.kind, domain, who)

    def _of_residues(self, now_ms: int) -> Iterator[Violation]:
        for residue in self.residues(now_ms=now_ms):
            rule = self._lingers[residue.rule]
            for each in self.placements.values():
                in_it = residue.domain in each.domains.get(residue.kind, ())
                came_later = each.from_ms >= residue.left_ms
                if in_it and came_later and not rule.whose.matches(each.subject):
                    yield Violation(rule.name, residue.kind, residue.domain, (each.id,))

    # -- where everybody is ------------------------------------------------------------------

    def _enter(self, placement_id: str, number: int, domain: _Domain) -> None:
        present = self._in.get(domain)
        if present is None:
            self._in[domain] = {number: {placement_id: None}}
            return
        for other, there in present.items():
            kinds, rules = self._between.get((number, other)) or self._compare(number, other)
            if domain[0] in kinds:
                for each in there:
                    self._meet(each, placement_id, rules)
        present.setdefault(number, {})[placement_id] = None

    def _meet(self, one: str, two: str, rules: tuple[SharingRule, ...]) -> None:
        if one != two:
            self._meetings[one, two] = rules
            self._partners.setdefault(one, set()).add(two)
            self._partners.setdefault(two, set()).add(one)

    def _compare(self, one: int, two: int) -> _Apart:
        """The rules that keep two classes apart at some time, and in which kinds of domain."""
        classes = self._classes.classes
        told = self._compiled.apart(classes[one], classes[two], term=_EVER)
        names, kinds = {name for name, _ in told}, frozenset(kind for _, kind in told)
        found = kinds, tuple(rule for rule in self._sharing if rule.name in names)
        self._between[one, two] = self._between[two, one] = found
        return found

    def _take_out(self, placement_id: str) -> Placement:
        placement = self.placements.pop(placement_id)
        number = self._classes.of(placement.subject)
        for kind in self._kinds:
            for domain in placement.domains.get(kind, ()):
                _drop(self._in[kind, domain], number, placement_id)
                if not self._in[kind, domain]:
                    del self._in[kind, domain]
        for other in self._partners.pop(placement_id, ()):
            self._partners[other].discard(placement_id)
            self._meetings.pop((placement_id, other), None)
            self._meetings.pop((other, placement_id), None)
        self._lacking.pop(placement_id, None)
        bound = self._bound_by(number)
        for key in _counted(placement, bound):
            _drop(self._crowds, key, placement_id)
            if len(self._crowds.get(key, ())) <= key[0].most:
                self._full.pop(key, None)
        for kept in _stayed(placement, bound):
            _drop(self._stays, kept, placement_id)
        return placement

    def _bound_by(self, number: int) -> _Bound:
        """The rules about one's own place that bind a class."""
        found = self._bound.get(number)
        if found is None:
            sample = self._classes.samples[number]
            found = self._bound[number] = _Bound(
                tuple(rule for rule in self._only_on if rule.whose.matches(sample)),
                tuple(rule for rule in self._spreads if rule.whose.matches(sample)),
                tuple(rule for rule in self._lingers.values() if rule.whose.matches(sample)),
            )
        return found


def _counted(placement: Placement, bound: _Bound) -> Iterator[tuple[Spread, str]]:
    for rule in bound.spreads:
        for domain in placement.domains.get(rule.kind, ()):
            yield rule, domain


def _stayed(placement: Placement, bound: _Bound) -> Iterator[_Kept]:
    for rule in bound.lingers:
        for kind in rule.kinds:
            for domain in placement.domains.get(kind, ()):
                yield rule.name, kind, domain


def _drop(rows: dict[_Key, dict[str, None]], key: _Key, placement_id: str) -> None:
    del rows[key][placement_id]
    if not rows[key]:
        del rows[key]
