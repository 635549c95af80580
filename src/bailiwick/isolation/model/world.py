"""The small world in which a policy is searched: seats, and one subject of every class it knows.

Rules:

- Two subjects that no selector, party or exception of the policy tells apart are one class; a model
  needs one of each class, and of classes that stand for "every tenant" two.
- Somebody whom no rule names is always there: rules about others are about somebody.
- What is left out because there are too many classes is told; nothing is dropped silently.
- Time is in marks: a rule's window, or an exception's end. A pair is judged by a rule with a window
  if the terms of both reach it, and excused by an exception unless the terms of both outlast it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias, assert_never

from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.judge import forbids, kinds_of, party_of
from bailiwick.isolation.model.shape import (
    FleetShape,
    ModelSeat,
    default_shape,
    labels_named,
    make_sites,
    seats_of,
)
from bailiwick.isolation.placements import Site
from bailiwick.isolation.policy import (
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
    Spread,
    Subject,
    Who,
    WhoGroup,
    WithLabel,
)

SUBJECTS_MAX = 16
"""Classes of subjects in one model."""

OUTSIDERS = ("outsider", "stranger")
"""Tenants whom no rule names."""

Selector: TypeAlias = OfTenant | OfProject | WithLabel
Marks: TypeAlias = frozenset[str]
"""Names of rules whose window, and of exceptions whose end, a term reaches."""


@dataclass(frozen=True, slots=True)
class ModelWorld:
    """What a model is made of."""

    policy: Policy
    sites: tuple[Site, ...]
    seats: tuple[ModelSeat, ...]
    subjects: tuple[Subject, ...]
    left_out: int = 0
    """Classes of subjects for which there was no room."""

    @property
    def marks(self) -> tuple[str, ...]:
        """The windows and ends of exceptions that terms may reach."""
        windows = (
            rule.name
            for rule in self.policy.rules
            if not isinstance(rule, Linger) and rule.window is not None
        )
        return (*windows, *(each.name for each in self.policy.exceptions))


def make_world(
    policy: Policy, *, shape: FleetShape | None = None, sites: Sequence[Site] | None = None
) -> ModelWorld:
    """The world of a policy: in a shape, on given machines, or in the smallest that shows it."""
    if sites is None:
        sites = make_sites(shape or default_shape(policy), labels_named(policy))
    classes: dict[object, Subject] = {}
    for subject in _candidates(policy):
        classes.setdefault(_signature(policy, subject), subject)
    subjects = tuple(classes.values())
    left_out = max(len(subjects) - SUBJECTS_MAX, 0)
    return ModelWorld(policy, tuple(sites), seats_of(sites), subjects[:SUBJECTS_MAX], left_out)


def forbidden(
    policy: Policy, pair: tuple[Subject, Subject], *, reach: tuple[Marks, Marks]
) -> frozenset[DomainKind]:
    """The kinds that the two may not share, given what their terms reach."""
    both = reach[0] & reach[1]
    found: set[DomainKind] = set()
    for rule in policy.rules:
        if not isinstance(rule, NeverShare | Distrust | Dedicated) or not forbids(rule, pair):
            continue
        if rule.window is None or rule.name in both:
            found.update(kinds_of(rule))
    for each in policy.exceptions:
        is_meant = (each.first.matches(pair[0]) and each.second.matches(pair[1])) or (
            each.first.matches(pair[1]) and each.second.matches(pair[0])
        )
        if is_meant and each.name not in both:
            found -= set(each.kinds)
    return frozenset(found)


def spell_subject(subject: Subject) -> str:
    """A subject in words.

    >>> spell_subject(Subject("acme", "vision", {"team": "red"}))
    'acme/vision team=red'
    """
    whole = subject.tenant if subject.project is None else f"{subject.tenant}/{subject.project}"
    return " ".join([whole, *(f"{key}={value}" for key, value in sorted(subject.labels.items()))])


# -- whom the policy tells apart ---------------------------------------------------------------


def selectors(policy: Policy) -> tuple[Who, ...]:
    """Everybody whom the policy names, groups and their members each."""
    found: list[Who] = []
    for rule in policy.rules:
        match rule:
            case NeverShare(first=first, second=second):
                found += [first] if isinstance(second, Others) else [first, second]
            case Distrust(among=Members(members=members)):
                found += members
            case Distrust():
                pass
            case Dedicated() | OnlyOn() | Spread() | Linger():
                found.append(rule.whose)
            case _:
                assert_never(rule)
    for each in policy.exceptions:
        found += [each.first, each.second]
    flat: dict[Who, None] = {}
    for who in found:
        flat[who] = None
        if isinstance(who, WhoGroup):
            flat.update(dict.fromkeys(who.members))
    return tuple(flat)


def _signature(policy: Policy, subject: Subject) -> object:
    """Equal for two that the policy does not tell apart."""
    matched = tuple(who.matches(subject) for who in selectors(policy))
    parties = tuple(
        party_of(rule.among, subject)
        for rule in policy.rules
        if isinstance(rule, Distrust) and not isinstance(rule.among, Members)
    )
    return matched, parties


def _candidates(policy: Policy) -> Iterator[Subject]:
    """Subjects of every kind that selectors can tell apart, the plainest first."""
    named = [who for who in selectors(policy) if not isinstance(who, WhoGroup | Anyone)]
    tenants = dict.fromkeys(who.tenant for who in named if isinstance(who, OfTenant | OfProject))
    projects = dict.fromkeys(
        (who.tenant, who.project) for who in named if isinstance(who, OfProject)
    )
    labels = dict.fromkeys((who.key, who.value) for who in named if isinstance(who, WithLabel))
    among = [rule.among for rule in policy.rules if isinstance(rule, Distrust)]
    for each in among:
        if isinstance(each, EachValue):
            labels |= dict.fromkeys(((each.key, "one"), (each.key, "two")))
    yield from (Subject(tenant) for tenant in tenants)
    yield Subject(OUTSIDERS[0])
    yield from (Subject(tenant, project) for tenant, project in projects)
    yield from (Subject(OUTSIDERS[0], None, {key: value}) for key, value in labels)
    if any(isinstance(each, EachTenant) for each in among):
        yield Subject(OUTSIDERS[1])
    if any(isinstance(each, EachProject) for each in among):
        yield from (Subject(OUTSIDERS[0], name) for name in ("red", "blue"))
    yield Subject(OUTSIDERS[1])
    yield from (
        Subject(tenant, None, {key: value}) for tenant, (key, value) in product(tenants, labels)
    )
