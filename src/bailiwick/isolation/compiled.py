"""A policy made ready for deciding: classes of subjects, terms, and who may not meet whom.

Rules:

- Subjects whom no selector, party or exception tells apart are one class. What follows from the
  policy for one of a class follows for all of it.
- A term says which windows open, and which exceptions last, from now to the end of some work. There
  are few of them, so what follows from one can be kept.
- The answers are those of :mod:`.judge`, which is the one meaning of every rule.

>>> from bailiwick.fleet.topology import DomainKind
>>> from bailiwick.isolation.policy import Dedicated, OfTenant
>>> compiled = CompiledPolicy(Policy((Dedicated("vault", DomainKind.HOST, OfTenant("bank")),)))
>>> bank, lab = (compiled.class_of(Subject(name)) for name in ("bank", "lab"))
>>> compiled.apart(bank, lab, term=compiled.term(0, 1_000)), lab == compiled.class_of(Subject("x"))
(frozenset({('vault', <DomainKind.HOST: 'host'>)}), True)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeAlias, TypeVar, assert_never

from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.judge import kinds_of, opens_within, party_of
from bailiwick.isolation.policy import (
    Dedicated,
    Distrust,
    EachProject,
    EachTenant,
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
    Window,
)

Party: TypeAlias = tuple[str, ...]
Each: TypeAlias = EachTenant | EachProject | EachValue


class SubjectClass(NamedTuple):
    """Which selectors choose the subject, as bits, and which party it is of in each way to part."""

    selected: int
    parties: tuple[Party, ...]


class Term(NamedTuple):
    """The windows that open within some time, and the exceptions that last over it, as bits."""

    windows: int
    exceptions: int


@dataclass(frozen=True, slots=True)
class PairRule:
    """A rule about sharing that only selectors decide on."""

    name: str
    kinds: frozenset[DomainKind]
    window: int
    """The bit of its window; zero if it is always in force."""
    first: int = 0
    second: int = 0
    others: bool = False
    members: int = 0

    def forbids(self, one: int, two: int) -> bool:
        """Whether it keeps apart who is selected so, while it is in force."""
        if self.members:
            ones, twos = one & self.members, two & self.members
            return bool(ones and twos) and not ones & twos
        if self.others:
            return bool(one & self.first) != bool(two & self.first)
        if one & self.first and two & self.second:
            return True
        return bool(two & self.first and one & self.second)


@dataclass(frozen=True, slots=True)
class PartyRule:
    """A rule about sharing between every two parties of one sort."""

    name: str
    kinds: frozenset[DomainKind]
    window: int
    way: int
    """Which of a class's parties counts."""


def in_force(rule: PairRule | PartyRule, term: Term) -> bool:
    """Whether the rule counts at any time of the term."""
    return not rule.window or bool(term.windows & rule.window)


@dataclass(frozen=True, slots=True)
class ExceptedPair:
    """Whom no rule about sharing keeps apart, in these kinds of domain."""

    kinds: frozenset[DomainKind]
    first: int
    second: int
    until_ms: int

    def is_about(self, one: int, two: int) -> bool:
        """Whether the pair is the one that is excepted."""
        if one & self.first and two & self.second:
            return True
        return bool(two & self.first and one & self.second)


AnyLimit = TypeVar("AnyLimit", OnlyOn, Spread, Linger)


@dataclass(frozen=True, slots=True)
class LimitRule(Generic[AnyLimit]):
    """A rule about where, how many, or how long after: whom it chooses, and while what is open."""

    rule: AnyLimit
    whose: int
    window: int = 0

    def binds(self, selected: int, term: Term) -> bool:
        """Whether it is in force for them at any time of the term."""
        return bool(selected & self.whose) and (not self.window or bool(term.windows & self.window))


class CompiledPolicy:
    """What a policy says, by class and term."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._selectors: dict[Who, int] = {}
        self._ways: dict[Each, int] = {}
        self._windows: dict[Window, int] = {}
        self.pairs: list[PairRule] = []
        self.parties: list[PartyRule] = []
        self.only_on: list[LimitRule[OnlyOn]] = []
        self.spreads: list[LimitRule[Spread]] = []
        self.lingers: list[LimitRule[Linger]] = []
        for rule in policy.rules:
            match rule:
                case NeverShare() | Distrust() | Dedicated():
                    self._add_sharing(rule)
                case OnlyOn(whose=whose, window=window):
                    self.only_on.append(LimitRule(rule, self._bit(whose), self._window(window)))
                case Spread(whose=whose, window=window):
                    self.spreads.append(LimitRule(rule, self._bit(whose), self._window(window)))
                case Linger():
                    self.lingers.append(LimitRule(rule, self._bit(rule.whose)))
                case _:
                    assert_never(rule)
        self.exceptions = [
            ExceptedPair(
                frozenset(each.kinds), self._bit(each.first), self._bit(each.second), each.until_ms
            )
            for each in policy.exceptions
        ]

    @property
    def shared_kinds(self) -> frozenset[DomainKind]:
        """The kinds of domain that any rule about sharing is about."""
        kinds = [rule.kinds for rule in self.pairs] + [rule.kinds for rule in self.parties]
        return frozenset().union(*kinds)

    def _add_sharing(self, rule: SharingRule) -> None:
        name, kinds, window = rule.name, frozenset(kinds_of(rule)), self._window(rule.window)
        match rule:
            case Distrust(among=Members(members=members)):
                bits = 0
                for who in members:
                    bits |= self._bit(who)
                self.pairs.append(PairRule(name, kinds, window, members=bits))
            case Distrust(among=among):
                assert not isinstance(among, Members), "told apart above"
                way = self._ways.setdefault(among, len(self._ways))
                self.parties.append(PartyRule(name, kinds, window, way))
            case NeverShare(first=first, second=Others()) | Dedicated(whose=first):
                self.pairs.append(PairRule(name, kinds, window, self._bit(first), others=True))
            case NeverShare(first=first, second=second):
                assert not isinstance(second, Others), "told apart above"
                sides = self._bit(first), self._bit(second)
                self.pairs.append(PairRule(name, kinds, window, *sides))
            case _:
                assert_never(rule)

    def _bit(self, who: Who) -> int:
        return 1 << self._selectors.setdefault(who, len(self._selectors))

    def _window(self, window: Window | None) -> int:
        return 0 if window is None else 1 << self._windows.setdefault(window, len(self._windows))

    # -- asking ------------------------------------------------------------------------------

    def class_of(self, subject: Subject) -> SubjectClass:
        """The class of a subject."""
        selected = 0
        for who, index in self._selectors.items():
            if who.matches(subject):
                selected |= 1 << index
        return SubjectClass(selected, tuple(party_of(way, subject) for way in self._ways))

    def term(self, now_ms: int, until_ms: int | None) -> Term:
        """What is in force at any time from now to then; of an end nobody knows, only now."""
        end_ms = now_ms + 1 if until_ms is None else max(until_ms, now_ms + 1)
        windows = exceptions = 0
        for window, index in self._windows.items():
            if opens_within(window, now_ms, to_ms=end_ms):
                windows |= 1 << index
        for index, each in enumerate(self.exceptions):
            if each.until_ms >= end_ms:
                exceptions |= 1 << index
        return Term(windows, exceptions)

    def excepted(self, one: int, two: int, *, term: Term) -> frozenset[DomainKind]:
        """The kinds of domain that who is selected so may share whatever rules say."""
        kinds: frozenset[DomainKind] = frozenset()
        for index, each in enumerate(self.exceptions if term.exceptions else ()):
            if term.exceptions >> index & 1 and each.is_about(one, two):
                kinds |= each.kinds
        return kinds

    def pairs_apart(self, one: int, two: int, *, term: Term) -> Iterator[tuple[str, DomainKind]]:
        """The rules that keep who is selected so apart whatever their parties, and where."""
        free = self.excepted(one, two, term=term)
        for rule in self.pairs:
            if (not rule.window or term.windows & rule.window) and rule.forbids(one, two):
                yield from ((rule.name, kind) for kind in rule.kinds - free)

    def apart(
        self, one: SubjectClass, two: SubjectClass, *, term: Term
    ) -> frozenset[tuple[str, DomainKind]]:
        """Every rule that keeps the two apart within the term, with the kind of domain."""
        found = set(self.pairs_apart(one.selected, two.selected, term=term))
        free = self.excepted(one.selected, two.selected, term=term)
        for rule in self.parties:
            open_then = not rule.window or bool(term.windows & rule.window)
            if open_then and one.parties[rule.way] != two.parties[rule.way]:
                found.update((rule.name, kind) for kind in rule.kinds - free)
        return frozenset(found)
