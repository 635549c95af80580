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

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias, TypeVar

from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.judge import (
    Violation,
    forbidden_kinds,
    forbids,
    in_force,
    kinds_of,
    party_of,
)
from bailiwick.isolation.placements import Placement, Residue
from bailiwick.isolation.policy import (
    Dedicated,
    Distrust,
    EachValue,
    Linger,
    Members,
    NeverShare,
    OnlyOn,
    Others,
    Policy,
    SharingRule,
    Spread,
    Subject,
    Who,
    WhoGroup,
    WithLabel,
)

_Class: TypeAlias = tuple[object, ...]
_Domain: TypeAlias = tuple[DomainKind, str]
_Pair: TypeAlias = tuple[str, str]
_Kept: TypeAlias = tuple[str, DomainKind, str]
_Key = TypeVar("_Key")
_NONE: frozenset[str] = frozenset()


class SubjectClasses:
    """Which subjects no rule of a policy tells apart."""

    def __init__(self, policy: Policy) -> None:
        self._selectors = tuple(dict.fromkeys(_selectors(policy)))
        rules = [rule for rule in policy.rules if isinstance(rule, Distrust)]
        parties = (rule.among for rule in rules)
        self._parties = tuple(dict.fromkeys(p for p in parties if not isinstance(p, Members)))
        keys = {who.key for who in _simple(self._selectors) if isinstance(who, WithLabel)}
        keys.update(party.key for party in self._parties if isinstance(party, EachValue))
        self._keys = sorted(keys)
        self._known: dict[tuple[object, ...], _Class] = {}
        self._samples: dict[_Class, Subject] = {}

    def of(self, subject: Subject) -> _Class:
        """The class of a subject."""
        labels = subject.labels
        told = (subject.tenant, subject.project, *(labels.get(key) for key in self._keys))
        found = self._known.get(told)
        if found is None:
            matches = tuple(who.matches(subject) for who in self._selectors)
            parties = tuple(party_of(party, subject) for party in self._parties)
            found = self._known[told] = (matches, parties)
            self._samples.setdefault(found, subject)
        return found

    def sample(self, subject_class: _Class) -> Subject:
        """One of the class; any other is judged like it."""
        return self._samples[subject_class]


def _selectors(policy: Policy) -> Iterator[Who]:
    for rule in policy.rules:
        match rule:
            case NeverShare(first=first, second=second):
                yield first
                if not isinstance(second, Others):
                    yield second
            case Distrust(among=Members(members=members)):
                yield from members
            case Dedicated(whose=whose) | OnlyOn(whose=whose) | Spread(whose=whose):
                yield whose
            case Linger(whose=whose):
                yield whose
            case Distrust():
                pass
    for exception in policy.exceptions:
        yield from (exception.first, exception.second)


def _simple(selectors: Iterable[Who]) -> Iterator[Who]:
    for who in selectors:
        if isinstance(who, WhoGroup):
            yield from who.members
        else:
            yield who


class Auditor:
    """What is placed now, and which rules that breaks."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        rules = policy.rules
        self._classes = SubjectClasses(policy)
        self._sharing = [r for r in rules if isinstance(r, NeverShare | Distrust | Dedicated)]
        self._only_on = [rule for rule in rules if isinstance(rule, OnlyOn)]
        self._spreads = [rule for rule in rules if isinstance(rule, Spread)]
        self._lingers = {rule.name: rule for rule in rules if isinstance(rule, Linger)}
        self._kinds = tuple(sorted({kind for rule in self._sharing for kind in kinds_of(rule)}))
        self._between: dict[tuple[_Class, _Class], tuple[SharingRule, ...]] = {}
        self.placements: dict[str, Placement] = {}
        self._in: dict[_Domain, dict[_Class, dict[str, None]]] = {}
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
        subject_class = self._classes.of(placement.subject)
        for kind in self._kinds:
            for domain in placement.domains.get(kind, ()):
                self._enter(placement.id, subject_class, (kind, domain))
        for only_on in self._only_on:
            lacks = any(placement.labels.get(key) != value for key, value in only_on.labels)
            if lacks and only_on.whose.matches(placement.subject):
                self._lacking.setdefault(placement.id, []).append(only_on)
        for key in self._counted(placement):
            crowd = self._crowds.setdefault(key, {})
            crowd[placement.id] = None
            if len(crowd) > key[0].most:
                self._full[key] = None
        for kept in self._stayed(placement):
            self._stays.setdefault(kept, {})[placement.id] = None

    def remove(self, placement_id: str, *, now_ms: int) -> None:
        """Work went; what it may have left behind is kept."""
        placement = self._take_out(placement_id)
        for kept in self._stayed(placement):
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

    def _enter(self, placement_id: str, subject_class: _Class, domain: _Domain) -> None:
        present = self._in.setdefault(domain, {})
        for other_class, others in present.items():
            rules = self._rules_between(subject_class, other_class)
            if any(domain[0] in kinds_of(rule) for rule in rules):
                for other in others:
                    self._meet(other, placement_id, rules)
        present.setdefault(subject_class, {})[placement_id] = None

    def _meet(self, one: str, two: str, rules: tuple[SharingRule, ...]) -> None:
        if one != two:
            self._meetings[one, two] = rules
            self._partners.setdefault(one, set()).add(two)
            self._partners.setdefault(two, set()).add(one)

    def _rules_between(self, one: _Class, two: _Class) -> tuple[SharingRule, ...]:
        found = self._between.get((one, two))
        if found is None:
            pair = self._classes.sample(one), self._classes.sample(two)
            found = tuple(rule for rule in self._sharing if forbids(rule, pair))
            self._between[one, two] = found
        return found

    def _take_out(self, placement_id: str) -> Placement:
        placement = self.placements.pop(placement_id)
        subject_class = self._classes.of(placement.subject)
        for kind in self._kinds:
            for domain in placement.domains.get(kind, ()):
                _drop(self._in[kind, domain], subject_class, placement_id)
                if not self._in[kind, domain]:
                    del self._in[kind, domain]
        for other in self._partners.pop(placement_id, ()):
            self._partners[other].discard(placement_id)
            self._meetings.pop((placement_id, other), None)
            self._meetings.pop((other, placement_id), None)
        self._lacking.pop(placement_id, None)
        for key in self._counted(placement):
            _drop(self._crowds, key, placement_id)
            if len(self._crowds.get(key, ())) <= key[0].most:
                self._full.pop(key, None)
        for kept in self._stayed(placement):
            _drop(self._stays, kept, placement_id)
        return placement

    def _counted(self, placement: Placement) -> Iterator[tuple[Spread, str]]:
        for rule in self._spreads:
            if rule.whose.matches(placement.subject):
                for domain in placement.domains.get(rule.kind, ()):
                    yield rule, domain

    def _stayed(self, placement: Placement) -> Iterator[_Kept]:
        for rule in self._lingers.values():
            if rule.whose.matches(placement.subject):
                held = ((kind, placement.domains.get(kind, ())) for kind in rule.kinds)
                yield from ((rule.name, kind, domain) for kind, all_of in held for domain in all_of)


def _drop(rows: dict[_Key, dict[str, None]], key: _Key, placement_id: str) -> None:
    del rows[key][placement_id]
    if not rows[key]:
        del rows[key]
