"""Who has to go so that what runs keeps a policy: by which rule, in which domain, beside whom.

Rules:

- The oldest stay: work is looked at by age, and goes if it may not be beside what stays so far. So
  of a pair the later goes, and of too many in one domain the latest. Work on the wrong nodes goes
  by itself.
- Members of a gang stay or go together; a gang is as old as its oldest member.
- What cannot be made to go (its teardown failed) stays, and comes first. What is leaving already is
  not asked about: it neither goes again nor makes anybody else go.
- Every end is known: this is about leases.
- The meaning of every rule is :mod:`.judge`'s; what stays breaks none. Only the way to find it is
  another: work is held against the kinds of subjects in its own domains, not against all other
  work, so that it takes a step per lease and not one per pair.

>>> from bailiwick.isolation.policy import Dedicated, OfTenant
>>> host = {DomainKind.HOST: frozenset({"n1"})}
>>> names = ("lab", "bank")
>>> work = [Placement(name, Subject(name), "n1", host, until_ms=9) for name in names]
>>> policy = Policy((Dedicated("vault", DomainKind.HOST, OfTenant("bank")),))
>>> [(b.who.id, b.partners) for b in who_must_go(policy, [[each] for each in work], now_ms=0)]
[('bank', ('lab',))]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias, assert_never

from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.judge import (
    forbidden_kinds,
    in_force,
    kinds_of,
    opens_within,
    party_of,
)
from bailiwick.isolation.placements import Placement, Residue
from bailiwick.isolation.policy import (
    Dedicated,
    Distrust,
    Linger,
    Members,
    NeverShare,
    OnlyOn,
    Others,
    Policy,
    SharingRule,
    Spread,
    Subject,
)

PARTNERS_MAX = 16
"""Others in the domain that one breach names."""

Unit: TypeAlias = Sequence[Placement]
"""Work that stays or goes together."""

_Mark: TypeAlias = tuple[object, ...]
_Undo: TypeAlias = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Breach:
    """Work that has to go: the rule it breaks, where, and beside whom."""

    who: Placement
    rule: str
    kind: DomainKind | None
    """None for a rule about a node's labels."""
    domain: str
    partners: tuple[str, ...] = ()
    """Who stays there: the oldest of them if they are many. Nobody, for what was left behind."""
    unit: tuple[str, ...] = ()
    """All that go with it, itself among them."""


def who_must_go(
    policy: Policy,
    units: Iterable[Unit],
    *,
    now_ms: int,
    residues: Iterable[Residue] = (),
    fixed: Iterable[Placement] = (),
) -> list[Breach]:
    """What has to go of these, the oldest first; ``fixed`` is there and cannot be made to go."""
    room = _Room(policy, now_ms, residues)
    for each in fixed:
        room.put(each)
    found: list[Breach] = []
    for unit in units:
        breach = room.put_all(unit)
        if breach is not None:
            found.append(breach)
    return found


class _Room:
    """What stays so far, by the domains that it is in."""

    def __init__(self, policy: Policy, now_ms: int, residues: Iterable[Residue]) -> None:
        self._now_ms = now_ms
        self._meeting = _Meeting(policy, now_ms)
        self._order = {rule.name: place for place, rule in enumerate(policy.rules)}
        self._only = [rule for rule in policy.rules if isinstance(rule, OnlyOn)]
        self._spread = [rule for rule in policy.rules if isinstance(rule, Spread)]
        self._there: dict[tuple[DomainKind, str], dict[_Mark, Placement]] = {}
        """In each domain, of each sort of subject, the work that stays longest."""
        self._many: dict[tuple[str, str], list[str]] = {}
        lingers = {rule.name: rule for rule in policy.rules if isinstance(rule, Linger)}
        self._left: dict[tuple[DomainKind, str], list[tuple[Residue, Linger]]] = {}
        for each in residues:
            is_over = each.until_ms is not None and each.until_ms <= now_ms
            if each.rule in lingers and not is_over:
                told = self._left.setdefault((each.kind, each.domain), [])
                told.append((each, lingers[each.rule]))

    def put_all(self, unit: Unit) -> Breach | None:
        """Let all of a unit stay, or, if one may not, none of it."""
        undo: list[_Undo] = []
        for each in unit:
            found = min(self._breaches(each), key=self._rank, default=None)
            if found is not None:
                for take_back in reversed(undo):
                    take_back()
                return replace(found, unit=tuple(member.id for member in unit))
            self.put(each, undo)
        return None

    def put(self, work: Placement, undo: list[_Undo] | None = None) -> None:
        """The work stays."""
        undo = [] if undo is None else undo
        for kind in self._meeting.kinds:
            mark = self._meeting.mark(kind, work.subject)
            for domain in work.domains.get(kind, ()):
                there = self._there.setdefault((kind, domain), {})
                known = there.get(mark)
                if known is None:
                    there[mark] = work
                    undo.append(partial(there.pop, mark))
                elif _end(work) > _end(known):
                    there[mark] = work
                    undo.append(partial(there.__setitem__, mark, known))
        for rule in self._spread:
            for domain in self._counted(rule, work):
                ids = self._many.setdefault((rule.name, domain), [])
                ids.append(work.id)
                undo.append(ids.pop)

    def _rank(self, breach: Breach) -> tuple[int, str, str]:
        return self._order[breach.rule], breach.kind or "", breach.domain

    def _breaches(self, work: Placement) -> Iterator[Breach]:
        """Every rule that the work breaks beside what stays."""
        for rule in self._only:
            lacks = any(work.labels.get(key) != value for key, value in rule.labels)
            if lacks and self._binds(rule, work):
                yield Breach(work, rule.name, None, work.node)
        for limit in self._spread:
            for domain in self._counted(limit, work):
                ids = self._many.get((limit.name, domain), [])
                if len(ids) >= limit.most:
                    partners = tuple(ids[:PARTNERS_MAX])
                    yield Breach(work, limit.name, limit.kind, domain, partners)
        for kind, domain in _held(work, self._meeting.kinds):
            for mark, other in self._there.get((kind, domain), {}).items():
                for name in self._meeting.apart(kind, work, mark=mark, other=other):
                    yield Breach(work, name, kind, domain, (other.id,))
        yield from self._disturbed(work)

    def _disturbed(self, work: Placement) -> Iterator[Breach]:
        for kind, domain in _held(work, work.domains) if self._left else ():
            for residue, rule in self._left.get((kind, domain), ()):
                came_later = work.from_ms >= residue.left_ms
                if came_later and not rule.whose.matches(work.subject):
                    yield Breach(work, rule.name, kind, domain)

    def _counted(self, rule: Spread, work: Placement) -> Iterable[str]:
        return work.domains.get(rule.kind, ()) if self._binds(rule, work) else ()

    def _binds(self, rule: OnlyOn | Spread, work: Placement) -> bool:
        return rule.whose.matches(work.subject) and in_force(rule.window, work, now_ms=self._now_ms)


class _Meeting:
    """Which rules keep two sorts of subjects apart, asked of the judge once for each two sorts.

    A sort is all that any rule about sharing a kind of domain, or an exception from it, tells of a
    subject. Work that stays longer is judged by more windows and fewer exceptions, never by less:
    so who may be beside the one of a sort that stays longest may be beside all of it.
    """

    def __init__(self, policy: Policy, now_ms: int) -> None:
        self._policy, self._now_ms = policy, now_ms
        self._rules: dict[DomainKind, list[SharingRule]] = {}
        for rule in policy.rules:
            if isinstance(rule, NeverShare | Distrust | Dedicated):
                for kind in kinds_of(rule):
                    self._rules.setdefault(kind, []).append(rule)
        self.kinds = tuple(kind for kind in DomainKind if kind in self._rules)
        self._windows = {r.window for of in self._rules.values() for r in of if r.window}
        self._marks: dict[tuple[object, ...], _Mark] = {}
        self._known: dict[tuple[object, ...], tuple[str, ...]] = {}
        self._terms: dict[int, tuple[bool, ...]] = {}

    def mark(self, kind: DomainKind, subject: Subject) -> _Mark:
        """The sort of a subject."""
        labels = frozenset(subject.labels.items()) if subject.labels else None
        key = kind, subject.tenant, subject.project, labels
        found = self._marks.get(key)
        if found is None:
            told: list[object] = [_seen_by(rule, subject) for rule in self._rules[kind]]
            told += (
                (each.first.matches(subject), each.second.matches(subject))
                for each in self._policy.exceptions
                if kind in each.kinds
            )
            self._marks[key] = found = tuple(told)
        return found

    def apart(
        self, kind: DomainKind, work: Placement, *, mark: _Mark, other: Placement
    ) -> tuple[str, ...]:
        """The rules by which the work may not share a domain of the kind with the other."""
        term = self._term(min(_end(work), _end(other)))
        key = kind, self.mark(kind, work.subject), mark, term
        found = self._known.get(key)
        if found is None:
            pair, now_ms = (work, other), self._now_ms
            self._known[key] = found = tuple(
                rule.name
                for rule in self._rules[kind]
                if kind in forbidden_kinds(self._policy, rule, pair=pair, now_ms=now_ms)
            )
        return found

    def _term(self, end_ms: int) -> tuple[bool, ...]:
        """What is in force at any time until then."""
        if not self._windows and not self._policy.exceptions:
            return ()
        found = self._terms.get(end_ms)
        if found is None:
            until = max(end_ms, self._now_ms + 1)
            self._terms[end_ms] = found = (
                *(opens_within(each, self._now_ms, to_ms=until) for each in self._windows),
                *(each.until_ms >= until for each in self._policy.exceptions),
            )
        return found


def _seen_by(rule: SharingRule, subject: Subject) -> object:
    """All that the rule tells of a subject."""
    match rule:
        case NeverShare(first=first, second=Others()) | Dedicated(whose=first):
            return first.matches(subject)
        case NeverShare(first=first, second=second):
            assert not isinstance(second, Others), "told apart above"
            return first.matches(subject), second.matches(subject)
        case Distrust(among=Members(members=members)):
            return tuple(who.matches(subject) for who in members)
        case Distrust(among=among):
            assert not isinstance(among, Members), "told apart above"
            return party_of(among, subject)
        case _:
            assert_never(rule)


def _held(work: Placement, kinds: Iterable[DomainKind]) -> Iterator[tuple[DomainKind, str]]:
    """The domains of these kinds that the work is in."""
    return ((kind, domain) for kind in kinds for domain in work.domains.get(kind, ()))


def _end(work: Placement) -> int:
    """When the work ends."""
    assert work.until_ms is not None, "a lease has a term"
    return work.until_ms
