"""What a policy asks that this fleet cannot give, and whom it names that nobody knows.

Rules:

- Only rules that are in force at every hour make something impossible here, and who is let meet by
  an exception is not counted: what is told as never is never.
- Work is judged by the least that any work holds: one core under one cache, and no device. What
  even that cannot have, nothing can.
- A fleet too large to compare in full is believed to have room.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement, islice, product
from typing import Final, TypeAlias, assert_never

from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.judge import kinds_of
from bailiwick.isolation.language.spelling import spell_who
from bailiwick.isolation.language.text import nearest
from bailiwick.isolation.lint.findings import LintCode, LintFinding
from bailiwick.isolation.lint.meaning import Meaning, union
from bailiwick.isolation.lint.sorts import whos_of
from bailiwick.isolation.placements import Site
from bailiwick.isolation.policy import (
    Anyone,
    Dedicated,
    Distrust,
    Linger,
    Members,
    NeverShare,
    OfProject,
    OfTenant,
    OnlyOn,
    Policy,
    PolicyException,
    Rule,
    SharingRule,
    Spread,
    Who,
    WhoGroup,
    WithLabel,
)

COMPARED_MAX: Final = 200_000
"""Pairs of places that are looked at for one rule."""

Labels: TypeAlias = frozenset[tuple[str, str]]
Held: TypeAlias = tuple[frozenset[str], ...]
"""The domains that work holds, kind by kind."""


@dataclass(slots=True)
class Fleet:
    """The nodes, by the labels that work asks of them."""

    sites: Sequence[Site]
    _with: dict[Labels, list[Site]] = field(default_factory=dict)
    _places: dict[tuple[Labels, frozenset[DomainKind]], list[Held]] = field(default_factory=dict)

    def having(self, labels: Labels) -> list[Site]:
        """The nodes with all of these labels."""
        if labels not in self._with:
            self._with[labels] = [s for s in self.sites if labels <= {*s.labels.items()}]
        return self._with[labels]

    def domains(self, labels: Labels, kind: DomainKind) -> set[str]:
        """The domains of a kind on these nodes."""
        return {name for site in self.having(labels) for name in site.domains()[kind]}

    def places(self, labels: Labels, kinds: frozenset[DomainKind]) -> list[Held]:
        """What the least work would hold of these kinds, wherever it may run."""
        key = (labels, kinds)
        if key not in self._places:
            found: dict[Held, None] = {}
            for site in self.having(labels):
                for cache in range(site.topology.cache_count):
                    held = site.domains(caches=(cache,), devices=())
                    found[tuple(held[kind] for kind in sorted(kinds))] = None
            self._places[key] = [*found]
        return self._places[key]


def asked_of(meaning: Meaning) -> list[Labels]:
    """For each sort of work, the labels that its nodes must have at every hour."""
    rules = [
        rule
        for rule in meaning.policy.rules
        if isinstance(rule, OnlyOn) and meaning.is_always(rule)
    ]
    return [
        frozenset(
            label
            for rule in rules
            if meaning.whose[rule.name] >> index & 1
            for label in rule.labels
        )
        for index in range(len(meaning.sorts.subjects))
    ]


# -- nowhere to run --------------------------------------------------------------------------


def homeless(meaning: Meaning, fleet: Fleet) -> Iterator[LintFinding]:
    """Work for which the fleet has no node."""
    asking = [rule for rule in meaning.policy.rules if isinstance(rule, OnlyOn)]
    alone = {rule.name for rule in asking if not fleet.having(frozenset(rule.labels))}
    for rule in asking:
        if rule.name in alone:
            words = " and ".join(f"{key}={value}" for key, value in rule.labels)
            when = "" if meaning.is_always(rule) else " in its hours"
            yield LintFinding(
                LintCode.UNSATISFIABLE,
                rule.name,
                f"no node of the fleet has {words}: work of {spell_who(rule.whose)} can run "
                f"nowhere{when}",
                "label a node so, or ask for labels that the fleet has",
                rule.line,
            )
    told: set[Labels] = set()
    for index, labels in enumerate(asked_of(meaning)):
        rules = [r for r in asking if meaning.whose[r.name] >> index & 1 and meaning.is_always(r)]
        if labels in told or fleet.having(labels) or any(rule.name in alone for rule in rules):
            continue
        told.add(labels)
        names = " and ".join(f"'{rule.name}'" for rule in rules)
        yield LintFinding(
            LintCode.UNSATISFIABLE,
            rules[-1].name,
            f"no node of the fleet has all that {names} ask together: work of all can run nowhere",
            "label a node so, or ask less of the same work",
            rules[-1].line,
        )


def crowded_gangs(meaning: Meaning, fleet: Fleet, *, gang_max: int) -> Iterator[LintFinding]:
    """Spreading that leaves too little room for a gang of that size."""
    asked = asked_of(meaning)
    for rule in meaning.policy.rules:
        is_bound = isinstance(rule, Spread) and rule.kind is not DomainKind.FABRIC
        if not isinstance(rule, Spread) or not is_bound or not meaning.is_always(rule):
            continue  # work without devices holds no fabric, so any number of it runs
        whose = meaning.whose[rule.name]
        homes = {asked[i] for i in range(len(asked)) if whose >> i & 1}
        room = rule.most * max(len(fleet.domains(labels, rule.kind)) for labels in homes)
        if room < gang_max:
            yield LintFinding(
                LintCode.UNSATISFIABLE,
                rule.name,
                f"at most {room} of theirs run at a time on this fleet, so a gang of {gang_max} "
                "can never start",
                f"allow more per {rule.kind.value}, or run smaller gangs",
                rule.line,
            )


def never_together(meaning: Meaning, fleet: Fleet) -> Iterator[LintFinding]:
    """Rules for which, on this fleet, some work can only run while other work does not."""
    homes: dict[Labels, int] = {}
    for index, labels in enumerate(asked_of(meaning)):
        homes[labels] = homes.get(labels, 0) | 1 << index
    for rule in meaning.sharing:
        kinds = frozenset(kinds_of(rule))
        if meaning.is_always(rule) and any(
            not _can_part(fleet, kinds, (one, two))
            for one, two in combinations_with_replacement(homes, 2)
            if _are_apart(meaning, rule, (homes[one], homes[two]))
        ):
            yield _together(rule, kinds)


def _are_apart(meaning: Meaning, rule: SharingRule, sorts: tuple[int, int]) -> bool:
    """Whether the rule keeps work of these sorts apart that no exception lets meet."""
    first, second = sorts
    kinds = {*kinds_of(rule)}
    freed = [meaning.rows[e.name] for e in meaning.policy.exceptions if kinds & {*e.kinds}]
    for index, row in enumerate(meaning.rows[rule.name]):
        let = union(rows[index] for rows in freed)
        if first >> index & 1 and row & second & ~let:
            return True
    return False


def _can_part(fleet: Fleet, kinds: frozenset[DomainKind], asked: tuple[Labels, Labels]) -> bool:
    """Whether two can run at a time without sharing any of the kinds, or cannot run at all."""
    places = [fleet.places(labels, kinds) for labels in asked]
    if not all(places):
        return True  # that is told as work with nowhere to run
    compared = islice(product(*places), COMPARED_MAX + 1)
    for number, (one, two) in enumerate(compared):
        if number == COMPARED_MAX or not any(a & b for a, b in zip(one, two, strict=True)):
            return True
    return False


def _together(rule: SharingRule, kinds: frozenset[DomainKind]) -> LintFinding:
    words = " and ".join(kind.value for kind in DomainKind if kind in kinds)
    match rule:
        case Dedicated():
            who = f"{spell_who(rule.whose)} and anybody else"
        case NeverShare(first=first):
            who = f"{spell_who(first)} and whom it is kept apart from"
        case Distrust():
            who = "two whom it keeps apart"
        case _:
            assert_never(rule)
    return LintFinding(
        LintCode.NEVER_TOGETHER,
        rule.name,
        f"the fleet is too small for it: {who} can never run at the same time, for lack of "
        f"another {words}",
        f"add nodes that do not share {words} (nodes that do not tell theirs share one), or forbid "
        "a narrower kind",
        rule.line,
    )


# -- nobody knows them -----------------------------------------------------------------------


def unreachable(policy: Policy, tenants: frozenset[str]) -> Iterator[LintFinding]:
    """Rules, exceptions and groups that match no tenant that is known, and names nobody knows."""
    told: set[str] = set()
    for each in (*policy.groups, *policy.rules, *policy.exceptions):
        whos: list[Who]
        if isinstance(each, WhoGroup):
            line, whos, can_match = 0, [*each.members], _is_known(each, tenants)
        else:
            line, whos, can_match = each.line, whos_of(each), _can_match(each, tenants)
        unknown = [*dict.fromkeys(_unknown(whos, tenants))]
        if can_match:
            for name in (name for name in unknown if name not in told):
                text, fix = f"no tenant '{name}' is known", _meant([name], tenants)
                yield LintFinding(LintCode.UNKNOWN_TENANT, each.name, text, fix, line)
        else:
            names = " or ".join(f"tenant '{name}'" for name in unknown)
            why = f"no {names} is known" if names else "nobody of a group that it names is known"
            text = f"it has nobody: {why}" if line == 0 else f"it never applies: {why}"
            fix = _meant(unknown, tenants)
            yield LintFinding(LintCode.UNREACHABLE, each.name, text, fix, line)
        told |= {*unknown}


def _unknown(whos: Iterable[Who], tenants: frozenset[str]) -> Iterator[str]:
    """The tenants that are named, though not through a group, and that nobody knows."""
    for who in whos:
        if isinstance(who, OfTenant | OfProject) and who.tenant not in tenants:
            yield who.tenant


def _meant(names: Sequence[str], tenants: frozenset[str]) -> str:
    near = [found for name in names if (found := nearest(name, sorted(tenants)))]
    if near:
        return f"did you mean {' and '.join(near)}?"
    return "check the names, or create the tenant"


def _can_match(rule: Rule | PolicyException, tenants: frozenset[str]) -> bool:
    known = [_is_known(who, tenants) for who in whos_of(rule)]
    match rule:
        case Distrust(among=Members()):
            return sum(known) >= 2
        case Distrust():
            return True
        case NeverShare() | PolicyException() | Dedicated() | OnlyOn() | Spread() | Linger():
            return all(known)
        case _:
            assert_never(rule)


def _is_known(who: Who, tenants: frozenset[str]) -> bool:
    match who:
        case OfTenant() | OfProject():
            return who.tenant in tenants
        case WhoGroup():
            return any(_is_known(each, tenants) for each in who.members)
        case WithLabel() | Anyone():
            return True
        case _:
            assert_never(who)
