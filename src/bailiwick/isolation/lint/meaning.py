"""What rules say that others say already, that nobody can keep, or that nobody may have meant.

Rules:

- Shadowed: without the rule the same placements are forbidden. Two who share a cache share the host
  and the rack that it is in, so a rule about the wider kind says the narrower one, too, unless an
  exception takes back only the wider one.
- Of two rules that say the same the later one is shadowed.
- What is claimed is exact for placements on sites (:mod:`..placements`). A rule that is not told as
  shadowed may still be so where several windows only together cover its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import assert_never

from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.judge import kinds_of
from bailiwick.isolation.language.spelling import spell_who
from bailiwick.isolation.lint.findings import LintCode, LintFinding
from bailiwick.isolation.lint.sorts import ALWAYS, WIDER, Sorts, minutes_of
from bailiwick.isolation.policy import (
    Dedicated,
    Distrust,
    Linger,
    NeverShare,
    OnlyOn,
    Policy,
    PolicyException,
    Rule,
    SharingRule,
    Spread,
)


@dataclass(slots=True)
class Meaning:
    """A policy's rules over all sorts of work."""

    policy: Policy
    sorts: Sorts
    rows: dict[str, list[int]] = field(default_factory=dict)
    """By name of a rule about sharing, or of an exception."""
    minutes: dict[str, int] = field(default_factory=dict)
    whose: dict[str, int] = field(default_factory=dict)
    """By name of a rule about some work: which sorts."""

    def __post_init__(self) -> None:
        for exception in self.policy.exceptions:
            self.rows[exception.name] = self.sorts.rows(exception)
        for rule in self.policy.rules:
            if isinstance(rule, NeverShare | Distrust | Dedicated):
                self.rows[rule.name] = self.sorts.rows(rule)
            if isinstance(rule, Dedicated | OnlyOn | Spread | Linger):
                self.whose[rule.name] = self.sorts.matching(rule.whose.matches)
            window = None if isinstance(rule, Linger) else rule.window
            self.minutes[rule.name] = minutes_of(window)

    @property
    def sharing(self) -> list[SharingRule]:
        """The rules about sharing."""
        rules = self.policy.rules
        return [rule for rule in rules if isinstance(rule, NeverShare | Distrust | Dedicated)]

    def is_always(self, rule: Rule) -> bool:
        """Whether the rule is in force at every hour."""
        return self.minutes[rule.name] == ALWAYS

    def forbidden(
        self, kind: DomainKind, rules: Sequence[SharingRule], *, live: Sequence[PolicyException]
    ) -> list[int]:
        """For each sort, those that may not share the kind with it, for these rules.

        ``live`` are the exceptions that are believed to hold.
        """
        found = [0] * len(self.sorts.subjects)
        for wide in WIDER[kind]:
            stated = [self.rows[rule.name] for rule in rules if wide in kinds_of(rule)]
            freed = [self.rows[each.name] for each in live if wide in each.kinds]
            for index in range(len(found)) if stated else ():
                row = union(rows[index] for rows in stated)
                found[index] |= row & ~union(rows[index] for rows in freed)
        return found


def union(rows: Iterable[int]) -> int:
    """All that is in any of these sets."""
    found = 0
    for row in rows:
        found |= row
    return found


# -- said already ----------------------------------------------------------------------------


def shadowed(meaning: Meaning) -> Iterator[LintFinding]:
    """Rules that the others imply."""
    left = [rule for rule in meaning.policy.rules if not is_idle(meaning, rule)]
    for rule in reversed(left.copy()):
        others = [other for other in left if other is not rule]
        by = _implied_by(meaning, rule, others)
        if not by:
            continue
        left.remove(rule)
        names = " and ".join(f"'{each.name}'" for each in by)
        yield LintFinding(
            LintCode.SHADOWED,
            rule.name,
            f"it forbids nothing that {names} would not forbid without it",
            f"remove it, or say what it adds to {names}",
            rule.line,
        )


def _implied_by(meaning: Meaning, rule: Rule, others: Sequence[Rule]) -> list[Rule]:
    """One other rule that says all of this one, or else the several that do together."""
    for other in others:
        if _is_implied(meaning, rule, [other]):
            return [other]
    kept = [*others]
    if not _is_implied(meaning, rule, kept):
        return []
    for other in others:  # leave away whatever is not needed
        without = [each for each in kept if each is not other]
        if _is_implied(meaning, rule, without):
            kept = without
    return kept


def _is_implied(meaning: Meaning, rule: Rule, others: Sequence[Rule]) -> bool:
    minutes = meaning.minutes
    open_then = [o for o in others if not minutes[rule.name] & ~minutes[o.name]]
    match rule:
        case NeverShare() | Distrust() | Dedicated():
            sharing = [o for o in open_then if isinstance(o, NeverShare | Distrust | Dedicated)]
            return all(_covers(meaning, rule, sharing, kind=kind) for kind in kinds_of(rule))
        case OnlyOn():
            return all(
                not meaning.whose[rule.name]
                & ~union(
                    meaning.whose[o.name]
                    for o in open_then
                    if isinstance(o, OnlyOn) and label in o.labels
                )
                for label in rule.labels
            )
        case Spread():
            return any(
                isinstance(o, Spread)
                and o.most <= rule.most
                and o.kind in WIDER[rule.kind]
                and not meaning.whose[rule.name] & ~meaning.whose[o.name]
                for o in open_then
            )
        case Linger():
            return all(
                any(_keeps(meaning, rule, o, kind=kind) for o in others) for kind in rule.kinds
            )
        case _:
            assert_never(rule)


def _covers(
    meaning: Meaning, rule: SharingRule, others: Sequence[SharingRule], *, kind: DomainKind
) -> bool:
    needed = meaning.rows[rule.name]
    exceptions = meaning.policy.exceptions
    # An exception that frees the kind itself frees it from both; one that frees only what is wider
    # leaves the rule alone with what it says.
    live = [each for each in exceptions if kind not in each.kinds]
    said = meaning.forbidden(kind, others, live=live)
    return all(not row & ~found for row, found in zip(needed, said, strict=True))


def _keeps(meaning: Meaning, rule: Linger, other: Rule, *, kind: DomainKind) -> bool:
    if not isinstance(other, Linger) or kind not in other.kinds:
        return False
    if meaning.whose[rule.name] != meaning.whose[other.name]:
        return False  # wider ones let more in, narrower ones begin earlier
    if other.for_ms is None or rule.for_ms is None:
        return other.for_ms is None
    return other.for_ms >= rule.for_ms


# -- says nothing, or too much ---------------------------------------------------------------


def is_idle(meaning: Meaning, rule: Rule) -> bool:
    """Whether the rule keeps nobody from anybody."""
    return rule.name in meaning.rows and not any(meaning.rows[rule.name])


def idle(meaning: Meaning) -> Iterator[LintFinding]:
    """Rules about sharing that no two jobs can break."""
    for rule in meaning.sharing:
        if is_idle(meaning, rule):
            yield LintFinding(
                LintCode.NO_EFFECT,
                rule.name,
                "no two jobs are kept apart by it: whoever is on one side is on the other, too",
                "name two sides that differ",
                rule.line,
            )


def apart_from_itself(meaning: Meaning) -> Iterator[LintFinding]:
    """Rules that keep the jobs of one owner apart from each other."""
    for rule in meaning.sharing:
        if not isinstance(rule, NeverShare):
            continue
        own = next((i for i, row in enumerate(meaning.rows[rule.name]) if row >> i & 1), None)
        if own is None:
            continue
        kinds = " or ".join(kind.value for kind in rule.kinds)
        yield LintFinding(
            LintCode.APART_FROM_ITSELF,
            rule.name,
            f"work that is on both of its sides may not even share {kinds} with work of its own",
            f"if that is meant, rather say: at most 1 of WHOM per {rule.kinds[0].value}",
            rule.line,
        )


def overlapping(meaning: Meaning) -> Iterator[LintFinding]:
    """Sole tenancy for two that have work in common: it may share with neither."""
    alone = [rule for rule in meaning.sharing if isinstance(rule, Dedicated)]
    for one, two in combinations(alone, 2):
        first, second = meaning.whose[one.name], meaning.whose[two.name]
        is_partly = first & second and first & ~second and second & ~first
        at_once = meaning.minutes[one.name] & meaning.minutes[two.name]
        if one.kind is two.kind and is_partly and at_once:
            yield LintFinding(
                LintCode.OVERLAPPING,
                two.name,
                f"work that is of {spell_who(one.whose)} and of {spell_who(two.whose)} may share a "
                f"{one.kind.value} with no other work of either (see '{one.name}')",
                "take the common work out of one of them, or dedicate to a group of both",
                two.line,
            )


def contradictory(meaning: Meaning) -> Iterator[LintFinding]:
    """Rules about nodes that no node can keep together, whatever its labels are."""
    asking = [rule for rule in meaning.policy.rules if isinstance(rule, OnlyOn)]
    for rule in asking:
        if len({key for key, _ in rule.labels}) < len(rule.labels):
            yield LintFinding(
                LintCode.CONTRADICTORY,
                rule.name,
                "it asks two values of one label, and a node has one: that work can run nowhere",
                "ask one value of each label",
                rule.line,
            )
    for one, two in combinations(asking, 2):
        values = dict(one.labels)
        clash = next((k for k, v in two.labels if values.get(k, v) != v), None)
        both = meaning.whose[one.name] & meaning.whose[two.name]
        if clash and both and meaning.minutes[one.name] & meaning.minutes[two.name]:
            yield LintFinding(
                LintCode.CONTRADICTORY,
                two.name,
                f"it asks {clash}={dict(two.labels)[clash]} where '{one.name}' asks "
                f"{clash}={values[clash]}: work of both can run nowhere",
                "ask one value of each label of the same work",
                two.line,
            )


# -- exceptions ------------------------------------------------------------------------------


def idle_exceptions(meaning: Meaning) -> Iterator[LintFinding]:
    """Exceptions that let nobody share anything."""
    for exception in meaning.policy.exceptions:
        if not any(_frees(meaning, exception, rule) for rule in meaning.sharing):
            yield LintFinding(
                LintCode.EXCEPTION_WITHOUT_EFFECT,
                exception.name,
                "nothing is allowed by it that would be forbidden without it",
                "remove it, or let it name the kinds and the pair that a rule forbids (the wider "
                "kinds, too)",
                exception.line,
            )


def _frees(meaning: Meaning, exception: PolicyException, rule: SharingRule) -> bool:
    """Whether without the exception the rule forbids what is then allowed."""
    minutes = meaning.minutes
    also = [o for o in meaning.sharing if not minutes[rule.name] & ~minutes[o.name]]
    for kind in {*exception.kinds} & {*kinds_of(rule)}:
        still = meaning.forbidden(kind, also, live=meaning.policy.exceptions)
        pairs = zip(meaning.rows[rule.name], meaning.rows[exception.name], still, strict=True)
        if any(row & freed & ~kept for row, freed, kept in pairs):
            return True
    return False
