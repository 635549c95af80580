"""Whether placements keep a policy: the one meaning of every rule.

Rules:

- Everything that enforces, models or audits a policy is tested against this module, which is
  written to be read, not to be fast.
- Work is judged by every rule in force at any time from now to its end: a window that opens before
  the work ends, or an exception that ends before it does, counts already. Of work whose end is not
  known only the present is judged.
- Who breaks a rule about sharing are two; of a rule about where or how many, one or several.
- A pair of leases of one gang are two placements like any others.

>>> from bailiwick.isolation.policy import Dedicated, OfTenant
>>> bank = Placement("1", Subject("bank"), "n1", {DomainKind.HOST: frozenset({"n1"})})
>>> lab = Placement("2", Subject("lab"), "n1", {DomainKind.HOST: frozenset({"n1"})})
>>> policy = Policy((Dedicated("vault", DomainKind.HOST, OfTenant("bank")),))
>>> [(found.rule, found.domain, found.who) for found in violations(policy, [bank, lab], now_ms=0)]
[('vault', 'n1', ('1', '2'))]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import assert_never

from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.placements import Placement, Residue
from bailiwick.isolation.policy import (
    DAY_MINUTES,
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
    Parties,
    Policy,
    SharingRule,
    Spread,
    Subject,
    Window,
)

MINUTE_MS = 60_000
_DAY_MS = DAY_MINUTES * MINUTE_MS
_WEEK_MS = 7 * _DAY_MS
_MONDAY_MS = 4 * _DAY_MS
"""The first Monday after the epoch, which was a Thursday."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One rule that is broken in one domain, and by whom."""

    rule: str
    kind: DomainKind | None
    """None for a rule about a node's labels."""
    domain: str
    who: tuple[str, ...]


def violations(
    policy: Policy,
    placements: Sequence[Placement],
    *,
    now_ms: int,
    residues: Iterable[Residue] = (),
) -> list[Violation]:
    """Every way in which these placements, as they are now, break the policy."""
    found = [*_shared(policy, placements, now_ms=now_ms)]
    for rule in policy.rules:
        match rule:
            case OnlyOn():
                found += _misplaced(rule, placements, now_ms=now_ms)
            case Spread():
                found += _crowded(rule, placements, now_ms=now_ms)
            case Linger() | NeverShare() | Distrust() | Dedicated():
                pass
            case _:
                assert_never(rule)
    return [*found, *_disturbed(policy, placements, residues, now_ms=now_ms)]


def forbidden_kinds(
    policy: Policy, rule: SharingRule, *, pair: tuple[Placement, Placement], now_ms: int
) -> frozenset[DomainKind]:
    """The kinds of domain that the two may not share for the rule, the exceptions counted in."""
    subjects, end_ms = (pair[0].subject, pair[1].subject), _end_ms(pair, now_ms)
    if rule.window is not None and not opens_within(rule.window, now_ms, to_ms=end_ms):
        return frozenset()
    if not forbids(rule, subjects):
        return frozenset()
    kinds = frozenset(kinds_of(rule))
    for exception in policy.exceptions:
        lasts = exception.until_ms >= end_ms  # else it ends while both are there
        if lasts and _is_pair(exception.first.matches, exception.second.matches, subjects):
            kinds -= set(exception.kinds)
    return kinds


def kinds_of(rule: SharingRule) -> tuple[DomainKind, ...]:
    """The kinds of domain that the rule is about."""
    return (rule.kind,) if isinstance(rule, Dedicated) else rule.kinds


def forbids(rule: SharingRule, pair: tuple[Subject, Subject]) -> bool:
    """Whether the rule, while it is in force, keeps work of these apart."""
    one, two = pair
    match rule:
        case NeverShare(first=first, second=Others()):
            return first.matches(one) != first.matches(two)
        case NeverShare(first=first, second=second):
            assert not isinstance(second, Others), "told apart above"
            return _is_pair(first.matches, second.matches, pair)
        case Dedicated(whose=whose):
            return whose.matches(one) != whose.matches(two)
        case Distrust(among=among):
            return _are_parties(among, pair)
        case _:
            assert_never(rule)


def party_of(among: EachTenant | EachProject | EachValue, subject: Subject) -> tuple[str, ...]:
    """Which party the subject is of; two are apart if these differ."""
    match among:
        case EachTenant():
            return (subject.tenant,)
        case EachProject():
            return (subject.tenant, subject.project or "")
        case EachValue(key=key):
            value = subject.labels.get(key)
            return ("", subject.tenant) if value is None else (value,)
        case _:
            assert_never(among)


def _are_parties(among: Parties, pair: tuple[Subject, Subject]) -> bool:
    one, two = pair
    if not isinstance(among, Members):
        return party_of(among, one) != party_of(among, two)
    ones = {index for index, who in enumerate(among.members) if who.matches(one)}
    twos = {index for index, who in enumerate(among.members) if who.matches(two)}
    return bool(ones and twos) and not ones & twos


def _is_pair(
    first: Callable[[Subject], bool],
    second: Callable[[Subject], bool],
    pair: tuple[Subject, Subject],
) -> bool:
    one, two = pair
    return (first(one) and second(two)) or (first(two) and second(one))


def _shared(policy: Policy, placements: Sequence[Placement], *, now_ms: int) -> Iterator[Violation]:
    rules = [rule for rule in policy.rules if isinstance(rule, NeverShare | Distrust | Dedicated)]
    for rule, (one, two) in product(rules, combinations(placements, 2)):
        for kind in sorted(forbidden_kinds(policy, rule, pair=(one, two), now_ms=now_ms)):
            both = one.domains.get(kind, frozenset()) & two.domains.get(kind, frozenset())
            for domain in sorted(both):
                yield Violation(rule.name, kind, domain, (one.id, two.id))


def _misplaced(
    rule: OnlyOn, placements: Sequence[Placement], *, now_ms: int
) -> Iterator[Violation]:
    for each in placements:
        lacks = any(each.labels.get(key) != value for key, value in rule.labels)
        if (
            lacks
            and rule.whose.matches(each.subject)
            and in_force(rule.window, each, now_ms=now_ms)
        ):
            yield Violation(rule.name, None, each.node, (each.id,))


def _crowded(rule: Spread, placements: Sequence[Placement], *, now_ms: int) -> Iterator[Violation]:
    held: dict[str, list[str]] = {}
    for each in placements:
        if rule.whose.matches(each.subject) and in_force(rule.window, each, now_ms=now_ms):
            for domain in each.domains.get(rule.kind, ()):
                held.setdefault(domain, []).append(each.id)
    for domain, who in sorted(held.items()):
        if len(who) > rule.most:
            yield Violation(rule.name, rule.kind, domain, tuple(who))


def _disturbed(
    policy: Policy, placements: Sequence[Placement], residues: Iterable[Residue], *, now_ms: int
) -> Iterator[Violation]:
    rules = {rule.name: rule for rule in policy.rules if isinstance(rule, Linger)}
    for residue in residues:
        rule = rules.get(residue.rule)
        if rule is None or residue.is_over(now_ms):
            continue
        for each in placements:
            came_later = each.from_ms >= residue.left_ms
            in_it = residue.domain in each.domains.get(residue.kind, ())
            if came_later and in_it and not rule.whose.matches(each.subject):
                yield Violation(rule.name, residue.kind, residue.domain, (each.id,))


# -- when ------------------------------------------------------------------------------------


def in_force(window: Window | None, placement: Placement, *, now_ms: int) -> bool:
    """Whether the window is open at any time from now to the end of the work."""
    end_ms = _end_ms((placement,), now_ms)
    return window is None or opens_within(window, now_ms, to_ms=end_ms)


def opens_within(window: Window, from_ms: int, *, to_ms: int) -> bool:
    """Whether the window is open at any time from then to before ``to_ms``."""
    length = (window.to_minute - window.from_minute) % DAY_MINUTES or DAY_MINUTES
    if to_ms - from_ms >= _WEEK_MS:
        return bool(window.days)
    begin = (from_ms - _MONDAY_MS) % _WEEK_MS
    end = begin + max(to_ms - from_ms, 1)
    for day in window.days:
        opens = (day * DAY_MINUTES + window.from_minute) * MINUTE_MS
        for week in (-_WEEK_MS, 0, _WEEK_MS):
            if opens + week < end and opens + week + length * MINUTE_MS > begin:
                return True
    return False


def _end_ms(together: Sequence[Placement], now_ms: int) -> int:
    """Until when all are there for certain: for now, if nobody knows."""
    ends = (each.until_ms for each in together if each.until_ms is not None)
    return max(min(ends, default=now_ms), now_ms + 1)
