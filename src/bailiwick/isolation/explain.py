"""For each rule of a policy: whether it applies to placements, why, with whom, in which domain.

Rules:

- What is broken is what the judge finds (:mod:`.judge`), no more and no less.
- A rule that is kept says whom it judged, and what kept it; one that judged nobody says why not.
- An exception says which meetings it allows that a rule would forbid.
- It is for looking at some placements: those of one domain are compared two by two.

>>> from bailiwick.isolation.language.parser import parse_policy
>>> policy = parse_policy("vault: dedicated host for tenant bank")
>>> [(each.verdict.value, each.why) for each in explain_policy(policy, [], now_ms=0)]
[('not_applicable', 'nobody here is kept from anybody by it')]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import combinations, combinations_with_replacement, product
from typing import Final, TypeAlias, assert_never

from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.judge import (
    Violation,
    forbidden_kinds,
    forbids,
    in_force,
    kinds_of,
    violations,
)
from bailiwick.isolation.language.spelling import spell_who
from bailiwick.isolation.language.times import spell_moment
from bailiwick.isolation.placements import Placement, Residue
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
from bailiwick.vocab.errors import LimitReached

PLACEMENTS_MAX: Final = 2_000
"""Placements that are explained at a time."""

TOLD_MAX: Final = 5
"""Of many, how many a sentence names."""

SHARING: Final = (NeverShare, Distrust, Dedicated)
"""The classes of rules about sharing."""

Pair: TypeAlias = tuple[Placement, Placement]
Alike: TypeAlias = list[Placement]
"""Placements of owners whom no rule tells apart."""


class RuleVerdict(StrEnum):
    """How a rule or an exception stands to some placements."""

    BROKEN = "broken"
    KEPT = "kept"
    NOT_IN_FORCE = "not_in_force"
    NOT_APPLICABLE = "not_applicable"
    ALLOWS = "allows"
    """An exception that somebody needs now."""
    NOT_NEEDED = "not_needed"
    """An exception without which nothing here would be forbidden."""
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class RuleExplanation:
    """One rule or exception, and what it says of the placements."""

    rule: str
    verdict: RuleVerdict
    why: str
    judged: tuple[str, ...] = ()
    """The placements that it applies to."""
    meetings: tuple[Violation, ...] = ()
    """What breaks it, or what the exception allows: where, and who."""
    line: int = 0


def explain_policy(
    policy: Policy,
    placements: Sequence[Placement],
    *,
    now_ms: int,
    residues: Iterable[Residue] = (),
) -> list[RuleExplanation]:
    """Every rule, then every exception, in the order of the policy."""
    if len(placements) > PLACEMENTS_MAX:
        raise LimitReached("placements to explain", PLACEMENTS_MAX)
    world = _World(policy, tuple(placements), tuple(residues), now_ms)
    rules = [_explained(world, rule) for rule in policy.rules]
    return [*rules, *(_excepted(world, exception) for exception in policy.exceptions)]


@dataclass(frozen=True, slots=True)
class _Meeting:
    """Two in one domain of which a rule would forbid it, but for exceptions."""

    kind: DomainKind
    domain: str
    pair: Pair
    is_allowed: bool
    """Whether an exception lets them."""

    def told(self, name: str) -> Violation:
        return Violation(name, self.kind, self.domain, (self.pair[0].id, self.pair[1].id))


@dataclass(slots=True)
class _World:
    policy: Policy
    placements: tuple[Placement, ...]
    residues: tuple[Residue, ...]
    now_ms: int
    by_id: dict[str, Placement] = field(init=False)
    broken: dict[str, list[Violation]] = field(init=False)
    meetings: dict[str, list[_Meeting]] = field(init=False)
    """By rule about sharing."""

    def __post_init__(self) -> None:
        self.by_id = {each.id: each for each in self.placements}
        sharing = [rule for rule in self.policy.rules if isinstance(rule, SHARING)]
        self.meetings = {rule.name: [*_meetings(self, rule)] for rule in sharing}
        self.broken = {
            name: [each.told(name) for each in met if not each.is_allowed]
            for name, met in self.meetings.items()
        }
        others = tuple(rule for rule in self.policy.rules if not isinstance(rule, SHARING))
        rest = replace(self.policy, rules=others)
        now_ms, residues = self.now_ms, self.residues
        for found in violations(rest, self.placements, now_ms=now_ms, residues=residues):
            self.broken.setdefault(found.rule, []).append(found)


def _meetings(world: _World, rule: SharingRule) -> Iterator[_Meeting]:
    """Whoever meets though the rule, while no exception counts, forbids it."""
    bare, now_ms = Policy((rule,)), world.now_ms
    for kind in kinds_of(rule):
        held: dict[str, list[Placement]] = {}
        for each in world.placements:
            for domain in each.domains.get(kind, ()):
                held.setdefault(domain, []).append(each)
        pairs = ((name, pair) for name in sorted(held) for pair in combinations(held[name], 2))
        for domain, pair in pairs:
            if kind in forbidden_kinds(bare, rule, pair=pair, now_ms=now_ms):
                does = forbidden_kinds(world.policy, rule, pair=pair, now_ms=now_ms)
                yield _Meeting(kind, domain, pair, kind not in does)


def _explained(world: _World, rule: Rule) -> RuleExplanation:
    match rule:
        case NeverShare() | Distrust() | Dedicated():
            return _sharing(world, rule)
        case OnlyOn() | Spread():
            return _own(world, rule)
        case Linger():
            return _kept(world, rule)
        case _:
            assert_never(rule)


def _sharing(world: _World, rule: SharingRule) -> RuleExplanation:
    apart = [*_apart(world, rule)]
    if not apart:
        why = "nobody here is kept from anybody by it"
        return _told(rule, RuleVerdict.NOT_APPLICABLE, why)
    mine = {each.id for pair in apart for side in pair for each in side}
    judged = tuple(each.id for each in world.placements if each.id in mine)
    found = tuple(world.broken[rule.name])
    if found:
        told = [f"{_who(world, each.who)} share {each.kind} {each.domain}" for each in found]
        return _told(rule, RuleVerdict.BROKEN, _several(told), judged=judged, found=found)
    if not any(_is_open(rule, pair, world.now_ms) for pair in apart):
        why = "its window does not open before the work that it is about ends"
        return _told(rule, RuleVerdict.NOT_IN_FORCE, why, judged=judged)
    allowed, pairs = len(world.meetings[rule.name]), sum(map(_count, apart))
    kinds = " or ".join(kind.value for kind in kinds_of(rule))
    why = f"{pairs:,} {_plural('pair', pairs)} of {_ids(judged)} may not share {kinds}: none does"
    if allowed:
        why += f", but for {allowed:,} {_plural('meeting', allowed)} that an exception allows"
    return _told(rule, RuleVerdict.KEPT, why, judged=judged)


def _apart(world: _World, rule: SharingRule) -> Iterator[tuple[Alike, Alike]]:
    """Whom the rule keeps apart, owners of the same sort together."""
    alike: dict[tuple[str, str | None, frozenset[tuple[str, str]]], Alike] = {}
    for each in world.placements:
        subject = each.subject
        key = (subject.tenant, subject.project, frozenset(subject.labels.items()))
        alike.setdefault(key, []).append(each)
    for one, two in combinations_with_replacement(alike.values(), 2):
        is_pair = one is not two or len(one) > 1
        if is_pair and forbids(rule, (one[0].subject, two[0].subject)):
            yield one, two


def _count(pair: tuple[Alike, Alike]) -> int:
    one, two = pair
    return len(one) * (len(one) - 1) // 2 if one is two else len(one) * len(two)


def _is_open(rule: SharingRule, pair: tuple[Alike, Alike], now_ms: int) -> bool:
    """Whether the rule is in force for any two of these: those that are there longest tell."""
    sides = []
    for side in pair:
        known = sorted(
            (p for p in side if p.until_ms is not None), key=lambda p: -(p.until_ms or 0)
        )
        sides.append([*known[:2], *[p for p in side if p.until_ms is None][:2]])
    return any(
        forbidden_kinds(Policy((rule,)), rule, pair=(one, two), now_ms=now_ms)
        for one, two in product(*sides)
        if one is not two
    )


def _own(world: _World, rule: OnlyOn | Spread) -> RuleExplanation:
    theirs = [each for each in world.placements if rule.whose.matches(each.subject)]
    judged = tuple(each.id for each in theirs)
    if not theirs:
        why = f"nobody here is {spell_who(rule.whose)}"
        return _told(rule, RuleVerdict.NOT_APPLICABLE, why)
    found = tuple(world.broken.get(rule.name, ()))
    if found:
        return _told(
            rule,
            RuleVerdict.BROKEN,
            _several(_wrongs(world, rule, found)),
            judged=judged,
            found=found,
        )
    if not any(in_force(rule.window, each, now_ms=world.now_ms) for each in theirs):
        why = f"its window does not open before {_ids(judged)} ends"
        return _told(rule, RuleVerdict.NOT_IN_FORCE, why, judged=judged)
    if isinstance(rule, OnlyOn):
        asked = " and ".join(f"{key}={value}" for key, value in rule.labels)
        return _told(rule, RuleVerdict.KEPT, f"{_ids(judged)}: nodes with {asked}", judged=judged)
    most = max(_counts(rule, theirs).values(), default=0)
    why = f"{_ids(judged)}: at most {most} in one {rule.kind.value}, and {rule.most} may be"
    return _told(rule, RuleVerdict.KEPT, why, judged=judged)


def _wrongs(world: _World, rule: OnlyOn | Spread, found: Sequence[Violation]) -> Iterator[str]:
    for each in found:
        if isinstance(rule, Spread):
            count = f"{len(each.who)} in {each.kind} {each.domain}"
            yield f"{count}, where {rule.most} may be: {_ids(each.who)}"
        else:
            labels = world.by_id[each.who[0]].labels
            lacks = [f"{key}={value}" for key, value in rule.labels if labels.get(key) != value]
            yield f"{_who(world, each.who)} on {each.domain}, which lacks {' and '.join(lacks)}"


def _counts(rule: Spread, theirs: Sequence[Placement]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for each in theirs:
        for domain in each.domains.get(rule.kind, ()):
            counts[domain] = counts.get(domain, 0) + 1
    return counts


def _kept(world: _World, rule: Linger) -> RuleExplanation:
    residues = [each for each in world.residues if each.rule == rule.name]
    if not residues:
        return _told(rule, RuleVerdict.NOT_APPLICABLE, "nothing is kept by it now")
    found = tuple(world.broken.get(rule.name, ()))
    if found:
        told = [
            f"{_who(world, each.who)} came into {each.kind} {each.domain}, which is kept for "
            f"{spell_who(rule.whose)}"
            for each in found
        ]
        return _told(rule, RuleVerdict.BROKEN, _several(told), found=found)
    domains = [f"{each.kind} {each.domain}" for each in residues]
    why = f"{_several(domains, ', ')} kept for {spell_who(rule.whose)}, and nobody else came in"
    return _told(rule, RuleVerdict.KEPT, why)


def _excepted(world: _World, exception: PolicyException) -> RuleExplanation:
    until = f"until {spell_moment(exception.until_ms)} ({exception.owner})"
    if exception.until_ms <= world.now_ms:
        why = f"it held {until}"
        return _told(exception, RuleVerdict.EXPIRED, why)
    found = dict.fromkeys(_let(world, exception))
    if not found:
        why = f"nothing here would be forbidden without it; it holds {until}"
        return _told(exception, RuleVerdict.NOT_NEEDED, why)
    told = [f"{_who(world, each.who)} may share {each.kind} {each.domain}" for each in found]
    judged = tuple(dict.fromkeys(name for each in found for name in each.who))
    why = f"{_several(told)}, {until}"
    return _told(exception, RuleVerdict.ALLOWS, why, judged=judged, found=tuple(found))


def _let(world: _World, exception: PolicyException) -> Iterator[Violation]:
    """The meetings that a rule would forbid, and that this exception allows."""
    for rule in world.policy.rules:
        if not isinstance(rule, SHARING):
            continue
        alone = Policy((rule,), (exception,))
        for met in world.meetings[rule.name]:
            left = forbidden_kinds(alone, rule, pair=met.pair, now_ms=world.now_ms)
            if met.is_allowed and met.kind not in left:
                yield met.told(exception.name)


# -- sentences -------------------------------------------------------------------------------


def _told(
    rule: Rule | PolicyException,
    verdict: RuleVerdict,
    why: str,
    *,
    judged: tuple[str, ...] = (),
    found: tuple[Violation, ...] = (),
) -> RuleExplanation:
    return RuleExplanation(rule.name, verdict, why, judged, found, rule.line)


def _who(world: _World, ids: Sequence[str]) -> str:
    named = []
    for each in ids:
        subject = world.by_id[each].subject
        owner = subject.tenant + (f"/{subject.project}" if subject.project else "")
        named.append(f"{each} ({owner})")
    return " and ".join(named)


def _ids(ids: Sequence[str]) -> str:
    return _several([*ids], ", ")


def _several(told: Iterable[str], joint: str = "; ") -> str:
    every = [*told]
    more = len(every) - TOLD_MAX
    return joint.join(every[:TOLD_MAX]) + (f"{joint}and {more:,} more" if more > 0 else "")


def _plural(word: str, count: int) -> str:
    return word if count == 1 else f"{word}s"
