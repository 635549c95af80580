"""For each rule of a policy: whether it applies to placements, why, with whom, in which domain.

Rules:

- What is broken is what the judge finds (:mod:`.judge`), no more and no less.
- A rule that is kept says whom it judged, and what kept it; one that judged nobody says why not.
- An exception says which meetings it allows that a rule would forbid.
- It is for looking at some placements: it compares them two by two.

>>> from bailiwick.isolation.language.parser import parse_policy
>>> policy = parse_policy("vault: dedicated host for tenant bank")
>>> [(each.verdict.value, each.why) for each in explain_policy(policy, [], now_ms=0)]
[('not_applicable', 'nobody here is kept from anybody by it')]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
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
"""Placements that are explained at a time: two by two they are two million."""

TOLD_MAX: Final = 5
"""Of many, how many a sentence names."""

SHARING: Final = (NeverShare, Distrust, Dedicated)
"""The classes of rules about sharing."""

Pair: TypeAlias = tuple[Placement, Placement]


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
    kept = tuple(residues)
    broken: dict[str, list[Violation]] = {}
    for each in violations(policy, placements, now_ms=now_ms, residues=kept):
        broken.setdefault(each.rule, []).append(each)
    world = _World(policy, tuple(placements), kept, now_ms, broken)
    rules = [_explained(world, rule) for rule in policy.rules]
    return [*rules, *(_excepted(world, exception) for exception in policy.exceptions)]


@dataclass(frozen=True, slots=True)
class _World:
    policy: Policy
    placements: tuple[Placement, ...]
    residues: tuple[Residue, ...]
    now_ms: int
    broken: dict[str, list[Violation]]

    def by_id(self, each: str) -> Placement:
        return next(placement for placement in self.placements if placement.id == each)


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
    apart = [
        pair
        for pair in combinations(world.placements, 2)
        if forbids(rule, (pair[0].subject, pair[1].subject))
    ]
    judged = tuple(dict.fromkeys(each.id for pair in apart for each in pair))
    if not apart:
        why = "nobody here is kept from anybody by it"
        return RuleExplanation(rule.name, RuleVerdict.NOT_APPLICABLE, why, line=rule.line)
    found = tuple(world.broken.get(rule.name, ()))
    kinds = " or ".join(kind.value for kind in kinds_of(rule))
    if found:
        told = [f"{_who(world, each.who)} share {each.kind} {each.domain}" for each in found]
        return _told(rule, RuleVerdict.BROKEN, _several(told), judged=judged, found=found)
    if not any(_is_open(rule, pair, world.now_ms) for pair in apart):
        why = "its window does not open before the work that it is about ends"
        return _told(rule, RuleVerdict.NOT_IN_FORCE, why, judged=judged)
    allowed = sum(1 for _ in _meetings(world, rule, apart))
    count = f"{len(apart):,} {_plural('pair', len(apart))}"
    why = f"{count} of {_ids(judged)} may not share {kinds}: none does"
    if allowed:
        why += f", but for {allowed:,} {_plural('meeting', allowed)} that an exception allows"
    return _told(rule, RuleVerdict.KEPT, why, judged=judged)


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
            labels = world.by_id(each.who[0]).labels
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


def _meetings(
    world: _World, rule: SharingRule, pairs: Sequence[Pair]
) -> Iterator[tuple[DomainKind, str, Pair]]:
    """What the rule would forbid if no exception allowed it."""
    bare = Policy((rule,))
    for pair in pairs:
        one, two = pair
        would = forbidden_kinds(bare, rule, pair=pair, now_ms=world.now_ms)
        does = (
            forbidden_kinds(world.policy, rule, pair=pair, now_ms=world.now_ms) if would else would
        )
        for kind in sorted(would - does):
            for domain in sorted(one.domains.get(kind, frozenset()) & two.domains.get(kind, set())):
                yield kind, domain, pair


def _let(world: _World, exception: PolicyException) -> Iterator[Violation]:
    """The meetings that a rule would forbid, and that this exception allows."""
    rules = [rule for rule in world.policy.rules if isinstance(rule, SHARING)]
    pairs = [*combinations(world.placements, 2)]
    for rule in rules:
        for kind, domain, pair in _meetings(world, rule, pairs):
            alone = Policy((rule,), (exception,))
            if kind not in forbidden_kinds(alone, rule, pair=pair, now_ms=world.now_ms):
                yield Violation(exception.name, kind, domain, (pair[0].id, pair[1].id))


def _is_open(rule: SharingRule, pair: Pair, now_ms: int) -> bool:
    return bool(forbidden_kinds(Policy((rule,)), rule, pair=pair, now_ms=now_ms))


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
        subject = world.by_id(each).subject
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
