"""Schedulers that are wrong on purpose: what each forgets, and whether a world can show it.

Rules:

- A check that cannot fail proves nothing. So beside every check the same one is run with a fault,
  and must find it.
- A fault is left out where it makes no difference: a filter that forgets the cache does no harm
  where everybody who may not share a cache may not share the host either. That is computed with
  the judge, not assumed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations

from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.judge import violations
from bailiwick.isolation.model.shape import ModelSeat, kinds_named
from bailiwick.isolation.model.world import ModelWorld, forbidden
from bailiwick.isolation.placements import Placement
from bailiwick.isolation.policy import Linger, OnlyOn, Policy, Spread, Subject


class FaultWord(StrEnum):
    """What a wrong scheduler does."""

    FORGETS = "forgets"
    """Its filter leaves one kind of domain out."""
    FREES_EARLY = "frees_early"
    """Room counts as free when the grace begins, not when the work is gone."""
    CLAIM_UNCOUNTED = "claim_uncounted"
    """Who waits for room that is kept for it is not counted there."""
    RESIDUE_FORGOTTEN = "residue_forgotten"
    """A domain that stays its former users' own is given to others."""
    RELABEL_UNNOTICED = "relabel_unnoticed"
    """Work stays on a node that lost the label it must have."""
    GANG_UNCOUNTED = "gang_uncounted"
    """Work of one gang is not counted against its own: in the model, of one subject."""
    EXPIRY_IGNORED = "expiry_ignored"
    """An exception counts for terms that outlast it."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault; which kind is forgotten, if it is that."""

    word: FaultWord
    kind: DomainKind | None = None

    @property
    def name(self) -> str:
        """Such as ``forgets_cache``."""
        return self.word.value if self.kind is None else f"{self.word.value}_{self.kind.value}"


def parse_fault(name: str) -> Fault | None:
    """The fault of a name; nothing if there is none."""
    return next((fault for fault in every_fault() if fault.name == name), None)


def every_fault() -> Iterator[Fault]:
    """All of them, in a fixed order."""
    yield from (Fault(FaultWord.FORGETS, kind) for kind in DomainKind)
    yield from (Fault(word) for word in FaultWord if word is not FaultWord.FORGETS)


def faults_shown(world: ModelWorld, *, jobs: int) -> tuple[Fault, ...]:
    """The faults that this many jobs can show in this world."""
    return tuple(fault for fault in every_fault() if _is_shown(world, fault, jobs))


def _is_shown(world: ModelWorld, fault: Fault, jobs: int) -> bool:
    rules = world.policy.rules
    match fault.word:
        case FaultWord.FORGETS:
            kind = fault.kind
            assert kind is not None, "it forgets one"
            return kind in kinds_named(world.policy) and (
                _meet_only_in(world, kind) or _crowd_only_in(world, kind, jobs)
            )
        case FaultWord.FREES_EARLY:
            return jobs >= 2 and (_conflicts(world) or _crowds(world, jobs))
        case FaultWord.CLAIM_UNCOUNTED:
            return jobs >= 3 and (_conflicts(world) or _crowds(world, jobs - 1))
        case FaultWord.RESIDUE_FORGOTTEN:
            lingers = [rule for rule in rules if isinstance(rule, Linger)]
            return jobs >= 2 and any(
                {rule.whose.matches(subject) for subject in world.subjects} == {True, False}
                for rule in lingers
            )
        case FaultWord.RELABEL_UNNOTICED:
            return any(
                rule.whose.matches(subject)
                for rule in rules
                if isinstance(rule, OnlyOn)
                for subject in world.subjects
            )
        case FaultWord.GANG_UNCOUNTED:
            return _crowds(world, jobs)
        case FaultWord.EXPIRY_IGNORED:
            return jobs >= 2 and _outlasts(world)


def _outlasts(world: ModelWorld) -> bool:
    """Whether two meet whom nothing but an exception that ends lets meet."""
    both = zip(_pairs(world), _pairs(world, ends=False), strict=True)
    return any(kinds & meeting and not lax & meeting for (kinds, meeting), (lax, _) in both)


def _pairs(
    world: ModelWorld, *, ends: bool = True
) -> Iterator[tuple[frozenset[DomainKind], frozenset[DomainKind]]]:
    """For each two subjects what they may not share, with each way in which two seats meet.

    Terms reach every window, and outlast every exception unless these have no end.
    """
    meetings = dict.fromkeys(_shared(one, two) for one, two in combinations(world.seats, 2))
    every = frozenset(world.marks)
    if not ends:
        every -= {each.name for each in world.policy.exceptions}
    for first, one in enumerate(world.subjects):
        for two in world.subjects[first:]:
            kinds = forbidden(world.policy, (one, two), reach=(every, every))
            yield from ((kinds, meeting) for meeting in meetings)


def _shared(one: ModelSeat, two: ModelSeat) -> frozenset[DomainKind]:
    return frozenset(kind for kind in DomainKind if one.domains[kind] & two.domains[kind])


def _conflicts(world: ModelWorld) -> bool:
    return any(kinds & meeting for kinds, meeting in _pairs(world))


def _meet_only_in(world: ModelWorld, kind: DomainKind) -> bool:
    return any(kinds & meeting == {kind} for kinds, meeting in _pairs(world))


def _crowds(world: ModelWorld, jobs: int) -> bool:
    """Whether several are too many; one that is too many alone is so for who counts no others."""
    return any(_crowd_only_in(world, kind, jobs, least=1) for kind in DomainKind)


def _crowd_only_in(world: ModelWorld, kind: DomainKind, jobs: int, *, least: int = 0) -> bool:
    """Whether some place one too many where a filter without the kind lets them be."""
    policy = timeless(world.policy)
    for rule in policy.rules:
        if not isinstance(rule, Spread) or rule.kind is not kind:
            continue
        if not least <= rule.most < jobs:
            continue
        for subject in filter(rule.whose.matches, world.subjects):
            groups = combinations(world.seats, rule.most + 1)
            if any(_is_too_many(policy, subject, seats, kind=kind) for seats in groups):
                return True
    return False


def _is_too_many(
    policy: Policy, subject: Subject, seats: tuple[ModelSeat, ...], *, kind: DomainKind
) -> bool:
    whole = [Placement(seat.name, subject, seat.node, seat.domains) for seat in seats]
    blind = [
        replace(each, domains={k: d for k, d in each.domains.items() if k is not kind})
        for each in whole
    ]
    rules = tuple(rule for rule in policy.rules if not isinstance(rule, OnlyOn))
    judged = replace(policy, rules=rules)
    return bool(violations(judged, whole, now_ms=0)) and not violations(judged, blind, now_ms=0)


def timeless(policy: Policy) -> Policy:
    """The policy for terms that reach every window and outlast every exception."""
    rules = tuple(
        rule if isinstance(rule, Linger) else replace(rule, window=None) for rule in policy.rules
    )
    return replace(policy, rules=rules, exceptions=())
