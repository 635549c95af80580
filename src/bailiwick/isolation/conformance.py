"""What somebody may try with a scheduler to meet where a policy forbids it: trials, step by step.

Rules:

- A trial is what users can do: submit work as somebody, ask for a node, cancel. It pins nothing
  that a user could not. A scheduler that keeps the policy can be taken through every trial.
- Each rule that is in force now has its own: those whom it keeps apart arrive in both orders,
  without a wish, with the wish for the other's node, with what is left of that node, with so much
  work that only the room beside the other is free, and while the other leaves.
- A rule for which there is no trial (nobody there whom it keeps apart, no node with two GPUs on one
  fabric, not in force now) is told, with the reason.
- Nodes go down and up only in trials that somebody wrote down (:mod:`.trace`): no user does that.
- Tenants whom the policy does not name are called as the operator says; a scheduler may know no
  others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import combinations
from typing import Any, Final, assert_never

from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.judge import Violation, forbidden_kinds, in_force, violations
from bailiwick.isolation.model.world import OUTSIDERS, make_world
from bailiwick.isolation.placements import Placement, Residue, Site
from bailiwick.isolation.policy import (
    Dedicated,
    Distrust,
    Linger,
    NeverShare,
    OnlyOn,
    Policy,
    Rule,
    SharingRule,
    Spread,
    Subject,
)
from bailiwick.vocab.errors import InvalidValue

PAIRS_MAX: Final = 2
"""Pairs of subjects that are tried for one rule, each in both orders."""

NODES_MAX: Final = 16
"""Nodes that are filled: on a larger fleet nobody tries to take all the room."""

SPREAD_MAX: Final = 16
"""Jobs that are submitted to be too many."""


class TrialWord(StrEnum):
    """What a user does in one step, or becomes of a node."""

    SUBMIT = "submit"
    CANCEL = "cancel"
    LOSE = "lose"
    """A node goes down, and its work with it."""
    REGAIN = "regain"


@dataclass(frozen=True, slots=True)
class TrialStep:
    """One step of a user, or of a node."""

    do: TrialWord
    job: str = ""
    """The work that is submitted or cancelled; none where a node goes down or up."""
    subject: Subject | None = None
    """Whose work is submitted."""
    cores: int = 1
    gpus: int = 0
    node: str | None = None
    """The node that is asked for, or goes down or up."""
    beside: str | None = None
    """The job whose node, where it is or last was, that is."""
    takes_rest: bool = False
    """All cores of that node but one, instead of ``cores``."""


@dataclass(frozen=True, slots=True)
class ConformanceTrial:
    """Steps that must not end in a forbidden meeting."""

    name: str
    rule: str
    steps: tuple[TrialStep, ...]


@dataclass(frozen=True, slots=True)
class Untried:
    """A rule for which there is no trial, and why."""

    rule: str
    why: str


@dataclass(frozen=True, slots=True)
class TrialNode:
    """A node of the scheduler on trial."""

    site: Site
    cores: int


@dataclass(frozen=True, slots=True)
class TrialSet:
    """Everything that is tried for a policy."""

    trials: tuple[ConformanceTrial, ...]
    untried: tuple[Untried, ...] = ()


def make_trials(
    policy: Policy, nodes: Sequence[TrialNode], *, now_ms: int, others: Sequence[str] = ()
) -> TrialSet:
    """What is tried for each rule of the policy on these nodes.

    ``others`` are names of tenants whom the policy does not name.
    """
    maker = _Maker(policy, tuple(nodes), _subjects(policy, others), now_ms)
    trials: list[ConformanceTrial] = []
    untried: list[Untried] = []
    for rule in policy.rules:
        found = maker.of_rule(rule)
        if isinstance(found, str):
            untried.append(Untried(rule.name, found))
        else:
            trials += found
    return TrialSet(tuple(trials), tuple(untried))


def _subjects(policy: Policy, others: Sequence[str]) -> tuple[Subject, ...]:
    called = dict(zip(OUTSIDERS, others, strict=False))
    found = make_world(policy).subjects
    named = {each.tenant for each in found} - {*OUTSIDERS}
    for name in others:
        if name in named:
            raise InvalidValue("others", name, "a tenant whom the policy does not name")
    return tuple(replace(each, tenant=called.get(each.tenant, each.tenant)) for each in found)


@dataclass(frozen=True, slots=True)
class _Maker:
    policy: Policy
    nodes: tuple[TrialNode, ...]
    subjects: tuple[Subject, ...]
    now_ms: int

    def of_rule(self, rule: Rule) -> list[ConformanceTrial] | str:
        """The trials of a rule, or why there are none."""
        if not isinstance(rule, Linger) and not in_force(
            rule.window, _anywhere(Subject("anybody")), now_ms=self.now_ms
        ):
            return "it is not in force now"
        if not self.nodes:
            return "there is no node"
        match rule:
            case NeverShare() | Distrust() | Dedicated():
                return self._sharing(rule)
            case Linger():
                return self._lingering(rule)
            case Spread():
                return self._spread(rule)
            case OnlyOn():
                return self._only_on(rule)
            case _:
                assert_never(rule)

    # -- rules about sharing -----------------------------------------------------------------

    def _sharing(self, rule: SharingRule) -> list[ConformanceTrial] | str:
        pairs: list[tuple[Subject, Subject, frozenset[DomainKind]]] = []
        for one, two in combinations(self.subjects, 2):
            both = _anywhere(one), _anywhere(two)
            if kinds := forbidden_kinds(self.policy, rule, pair=both, now_ms=self.now_ms):
                pairs.append((one, two, kinds))
        if not pairs:
            return "nobody is kept apart by it now"
        found: list[ConformanceTrial] = []
        for number, (one, two, kinds) in enumerate(pairs[:PAIRS_MAX], 1):
            gpus = self._gpus(kinds)
            if gpus is None:
                return "no node has two GPUs on one fabric"
            for order, (first, second) in enumerate(((one, two), (two, one)), 1):
                for word, steps in self._meetings(first, second, gpus=gpus):
                    found.append(_trial(rule, f"{word}-{number}.{order}", steps))
        return found

    def _meetings(
        self, first: Subject, second: Subject, *, gpus: int
    ) -> Iterator[tuple[str, list[TrialStep]]]:
        """Ways to come beside somebody who is there."""
        there = _submit("J1", first, gpus=gpus)
        yield "arrive", [there, _submit("J2", second, gpus=gpus)]
        yield "ask", [there, _submit("J2", second, gpus=gpus, beside="J1")]
        if any(node.cores > 2 for node in self.nodes):
            rest = _submit("J2", second, gpus=gpus, beside="J1", takes_rest=True)
            yield "rest", [there, rest]
        yield from (("fill", [there, *steps]) for steps in self._filling(second, gpus=gpus))
        yield (
            "turn",
            [
                there,
                _submit("J2", second, gpus=gpus, beside="J1"),
                TrialStep(TrialWord.CANCEL, "J1"),
                _submit("J3", first, gpus=gpus, beside="J1"),
            ],
        )

    def _filling(self, subject: Subject, *, gpus: int) -> Iterator[list[TrialStep]]:
        """So much work of somebody that one core of each node is left."""
        if len(self.nodes) > NODES_MAX or any(node.cores < 2 for node in self.nodes):
            return
        sizes = sorted((node.cores - 1 for node in self.nodes), reverse=True)
        yield [
            _submit(f"J{number}", subject, cores=cores, gpus=gpus)
            for number, cores in enumerate(sizes, 2)
        ]

    def _gpus(self, kinds: frozenset[DomainKind]) -> int | None:
        """How many GPUs each job needs to meet on these kinds; nothing if no two can."""
        if DomainKind.FABRIC not in kinds:
            return 0
        for node in self.nodes:
            fabrics = [name for name in node.site.fabrics if name]
            if len(fabrics) > len({*fabrics}):
                return 1
        return None if kinds == {DomainKind.FABRIC} else 0

    # -- the others --------------------------------------------------------------------------

    def _lingering(self, rule: Linger) -> list[ConformanceTrial] | str:
        mine = [each for each in self.subjects if rule.whose.matches(each)]
        others = [each for each in self.subjects if not rule.whose.matches(each)]
        if not mine or not others:
            return "nobody else is there for whom it keeps anything"
        gpus = self._gpus(frozenset(rule.kinds))
        if gpus is None:
            return "no node has two GPUs on one fabric"
        gone = [_submit("J1", mine[0], gpus=gpus), TrialStep(TrialWord.CANCEL, "J1")]
        asked = [*gone, _submit("J2", others[0], gpus=gpus, beside="J1")]
        found = [_trial(rule, "after", asked)]
        for steps in self._filling(others[0], gpus=gpus):
            found.append(_trial(rule, "fill", [*gone, *steps]))
        return found

    def _spread(self, rule: Spread) -> list[ConformanceTrial] | str:
        mine = [each for each in self.subjects if rule.whose.matches(each)]
        if not mine:
            return "nobody is meant by it"
        if rule.most >= SPREAD_MAX:
            return f"it would need more than {SPREAD_MAX} jobs"
        gpus = self._gpus(frozenset({rule.kind}))
        if gpus is None:
            return "no node has two GPUs on one fabric"
        first = _submit("J1", mine[0], gpus=gpus)
        names = [f"J{number}" for number in range(2, rule.most + 2)]
        plain = [first, *(_submit(name, mine[0], gpus=gpus) for name in names)]
        asked = [first, *(_submit(name, mine[0], gpus=gpus, beside="J1") for name in names)]
        return [_trial(rule, "arrive", plain), _trial(rule, "ask", asked)]

    def _only_on(self, rule: OnlyOn) -> list[ConformanceTrial] | str:
        mine = [each for each in self.subjects if rule.whose.matches(each)]
        wrong = [
            node
            for node in self.nodes
            if any(node.site.labels.get(key) != value for key, value in rule.labels)
        ]
        if not mine or not wrong:
            return "nobody is meant by it" if not mine else "every node has these labels"
        asked = [_submit("J1", mine[0], node=wrong[0].site.node)]
        found = [_trial(rule, "arrive", [_submit("J1", mine[0])]), _trial(rule, "ask", asked)]
        for steps in self._filling(mine[0], gpus=0):
            found.append(_trial(rule, "fill", steps))
        return found


def _trial(rule: Rule, name: str, steps: Sequence[TrialStep]) -> ConformanceTrial:
    return ConformanceTrial(f"{rule.name}/{name}", rule.name, tuple(steps))


def _submit(job: str, subject: Subject, **wish: Any) -> TrialStep:
    return TrialStep(TrialWord.SUBMIT, job, subject, **wish)


def _anywhere(subject: Subject) -> Placement:
    return Placement("", subject, "", {})


# -- watching one ----------------------------------------------------------------------------


@dataclass(slots=True)
class TrialWatch:
    """Judges what is seen during a trial, with what was left behind in it.

    Times are those of looks: a scheduler's own are too coarse to tell who came first.
    """

    policy: Policy
    seen: dict[str, Placement] = field(default_factory=dict)
    """Every job's last placement by its id, also of those that are gone."""
    _residues: dict[tuple[str, DomainKind, str], Residue] = field(default_factory=dict)
    _now: dict[str, Placement] = field(default_factory=dict)

    def look(self, placements: Sequence[Placement], *, now_ms: int) -> list[Violation]:
        """What is broken by what is there now."""
        known = {
            each.id: replace(
                each, from_ms=self._now[each.id].from_ms if each.id in self._now else now_ms
            )
            for each in placements
        }
        for rule in self.policy.rules:
            if isinstance(rule, Linger):
                self._leave(rule, known, now_ms)
        self._now = known
        self.seen |= known
        residues = self._residues.values()
        return violations(self.policy, [*known.values()], now_ms=now_ms, residues=residues)

    def _leave(self, rule: Linger, known: dict[str, Placement], now_ms: int) -> None:
        for kind in rule.kinds:
            before, after = _held(rule, kind, self._now), _held(rule, kind, known)
            until_ms = None if rule.for_ms is None else now_ms + rule.for_ms
            for domain in before - after:
                residue = Residue(rule.name, kind, domain, now_ms, until_ms)
                self._residues[rule.name, kind, domain] = residue
            for domain in after:
                self._residues.pop((rule.name, kind, domain), None)


def _held(rule: Linger, kind: DomainKind, placements: dict[str, Placement]) -> set[str]:
    found: set[str] = set()
    for each in placements.values():
        if rule.whose.matches(each.subject):
            found |= each.domains.get(kind, frozenset())
    return found
