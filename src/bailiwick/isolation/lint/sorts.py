"""Every sort of work that a policy can tell apart, and which of them its rules keep apart.

Rules:

- Work of one sort is alike to every rule: the sorts are all combinations of the tenants, projects
  and labels that the policy names, and of two each that it does not name. Two are enough, since
  rules are about pairs: whatever two jobs there are, two sorts stand for them exactly.
- Sets of sorts are bits of one integer; a rule is, for each sort, the set of those it may not meet.
- Too many combinations (labels multiply) are not enumerated: :func:`sorts_of` says so by nothing.

>>> from bailiwick.isolation.language.parser import parse_policy
>>> sorts = sorts_of(parse_policy("never share host between tenant a and others"))
>>> [subject.tenant for subject in sorts.subjects]
['a', 'other-1', 'other-2']
>>> [bin(row) for row in sorts.rows(parse_policy("dedicated host for tenant a").rules[0])]
['0b110', '0b1', '0b1']
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Final, assert_never

from bailiwick.fleet.topology import PLACES, DomainKind
from bailiwick.isolation.judge import party_of
from bailiwick.isolation.policy import (
    DAY_MINUTES,
    Anyone,
    Dedicated,
    Distrust,
    EachProject,
    EachTenant,
    EachValue,
    Linger,
    Members,
    NeverShare,
    OfProject,
    OfTenant,
    OnlyOn,
    Others,
    Policy,
    PolicyException,
    Rule,
    SharingRule,
    Spread,
    Subject,
    Who,
    WhoGroup,
    Window,
    WithLabel,
)

SORTS_MAX: Final = 2_048
_WEEK_MINUTES: Final = 7 * DAY_MINUTES
ALWAYS: Final = (1 << _WEEK_MINUTES) - 1
"""Every minute of the week."""

_PLACES = frozenset(PLACES)
WIDER: Final[dict[DomainKind, frozenset[DomainKind]]] = {
    DomainKind.CACHE: _PLACES | {DomainKind.CACHE, DomainKind.NUMA, DomainKind.HOST},
    DomainKind.NUMA: _PLACES | {DomainKind.NUMA, DomainKind.HOST},
    DomainKind.FABRIC: frozenset({DomainKind.FABRIC}),  # one may join several hosts
    DomainKind.HOST: _PLACES | {DomainKind.HOST},
    **{kind: frozenset({kind}) for kind in PLACES},  # names of racks may come again elsewhere
}
"""What two share who share a domain of a kind, itself included."""


def minutes_of(window: Window | None) -> int:
    """The minutes of the week in which a rule is in force, as bits."""
    if window is None:
        return ALWAYS
    length = (window.to_minute - window.from_minute) % DAY_MINUTES or DAY_MINUTES
    found = 0
    for day in window.days:
        found |= ((1 << length) - 1) << (day * DAY_MINUTES + window.from_minute)
    return (found | found >> _WEEK_MINUTES) & ALWAYS


def whos_of(rule: Rule | PolicyException) -> list[Who]:
    """Everybody whom a rule names."""
    match rule:
        case NeverShare(first=first, second=second):
            return [first] if isinstance(second, Others) else [first, second]
        case PolicyException(first=first, second=second):
            return [first, second]
        case Distrust(among=among):
            return [*among.members] if isinstance(among, Members) else []
        case Dedicated() | OnlyOn() | Spread() | Linger():
            return [rule.whose]
        case _:
            assert_never(rule)


def simple(whos: Iterable[Who]) -> Iterator[OfTenant | OfProject | WithLabel]:
    """These, and the members of groups among them."""
    for who in whos:
        match who:
            case WhoGroup():
                yield from who.members
            case OfTenant() | OfProject() | WithLabel():
                yield who
            case Anyone():
                pass
            case _:
                assert_never(who)


@dataclass(frozen=True, slots=True)
class Sorts:
    """All sorts of work under one policy."""

    subjects: tuple[Subject, ...]
    tenants: tuple[str, ...]
    """Those that the policy names, and last the two that stand for all others."""
    everybody: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "everybody", (1 << len(self.subjects)) - 1)

    def matching(self, matches: Callable[[Subject], bool]) -> int:
        """The sorts of which this is so."""
        found = 0
        for index, subject in enumerate(self.subjects):
            found |= matches(subject) << index
        return found

    def rows(self, rule: SharingRule | PolicyException) -> list[int]:
        """For each sort, those that the rule keeps from it (or the exception lets meet it)."""
        match rule:
            case NeverShare(first=first, second=Others()) | Dedicated(whose=first):
                mine = self.matching(first.matches)
                return self._by_side(mine, self.everybody & ~mine)
            case (
                NeverShare(first=first, second=second) | PolicyException(first=first, second=second)
            ):
                assert not isinstance(second, Others), "told apart above"
                return self._by_side(self.matching(first.matches), self.matching(second.matches))
            case Distrust(among=Members(members=members)):
                return self._apart([self.matching(who.matches) for who in members])
            case Distrust(among=among):
                assert not isinstance(among, Members), "told apart above"
                return self._by_party(among)
            case _:
                assert_never(rule)

    def _by_side(self, first: int, second: int) -> list[int]:
        return [
            (second if first >> index & 1 else 0) | (first if second >> index & 1 else 0)
            for index in range(len(self.subjects))
        ]

    def _apart(self, members: list[int]) -> list[int]:
        anybody = 0
        for member in members:
            anybody |= member
        found = []
        for index in range(len(self.subjects)):
            row = anybody if anybody >> index & 1 else 0
            for member in members:
                row &= ~member if member >> index & 1 else self.everybody
            found.append(row)
        return found

    def _by_party(self, among: EachTenant | EachProject | EachValue) -> list[int]:
        parties = [party_of(among, subject) for subject in self.subjects]
        masks: dict[tuple[str, ...], int] = {}
        for index, party in enumerate(parties):
            masks[party] = masks.get(party, 0) | 1 << index
        return [self.everybody & ~masks[party] for party in parties]


def sorts_of(policy: Policy) -> Sorts | None:
    """All sorts of work that the policy can tell apart; nothing if they are too many."""
    named = [*simple(who for each in (*policy.rules, *policy.exceptions) for who in whos_of(each))]
    parties = [rule.among for rule in policy.rules if isinstance(rule, Distrust)]
    tenants = _unique(who.tenant for who in named if not isinstance(who, WithLabel))
    tenants = (*tenants, *_fresh("other", tenants))
    by_project = any(isinstance(among, EachProject) for among in parties)
    projects = {tenant: _projects(named, tenant, is_each=by_project) for tenant in tenants}
    labels = _labels(named, {among.key for among in parties if isinstance(among, EachValue)})
    count = sum(map(len, projects.values()))
    for _, values in labels:
        count *= len(values)
        if count > SORTS_MAX:
            return None
    if count > SORTS_MAX:
        return None
    keys = [key for key, _ in labels]
    subjects = [
        Subject(tenant, project, {k: v for k, v in zip(keys, chosen, strict=True) if v})
        for tenant in tenants
        for project in projects[tenant]
        for chosen in product(*(values for _, values in labels))
    ]
    return Sorts(tuple(subjects), tenants)


def _projects(
    named: list[OfTenant | OfProject | WithLabel], tenant: str, *, is_each: bool
) -> tuple[str | None, ...]:
    own = _unique(w.project for w in named if isinstance(w, OfProject) and w.tenant == tenant)
    return (None, *own, *(_fresh("project", own) if is_each else ()))


def _labels(
    named: list[OfTenant | OfProject | WithLabel], each: set[str]
) -> list[tuple[str, tuple[str, ...]]]:
    """The values of each label's key; empty is a job without it."""
    found = []
    pairs = [(who.key, who.value) for who in named if isinstance(who, WithLabel)]
    for key in _unique([*(key for key, _ in pairs), *sorted(each)]):
        values = _unique(value for other, value in pairs if other == key)
        found.append((key, ("", *values, *(_fresh("value", values) if key in each else ()))))
    return found


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _fresh(word: str, taken: Iterable[str]) -> tuple[str, ...]:
    """Two names that nobody has."""
    used = {*taken}
    names = (f"{word}-{number}" for number in range(1, len(used) + 3))
    free = [name for name in names if name not in used]
    return free[0], free[1]
