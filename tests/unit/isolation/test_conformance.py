"""Trials derived from a policy, on schedulers that keep it, do not, or take nobody."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import pytest

from bailiwick.clusters.conformance import SubmissionRefused
from bailiwick.fleet.topology import CacheDomain, DomainKind, NodeTopology
from bailiwick.isolation.conformance import (
    ConformanceTrial,
    TrialNode,
    TrialWatch,
    make_trials,
)
from bailiwick.isolation.judge import violations
from bailiwick.isolation.language.parser import parse_policy
from bailiwick.isolation.placements import Placement, Residue, Site
from bailiwick.isolation.policy import Linger, Policy, Subject
from bailiwick.tools.isolation_conformance.kernel_target import KernelTarget
from bailiwick.tools.isolation_conformance.runner import (
    ConformanceRun,
    TrialBroken,
    TrialHeld,
    TrialNotRun,
    TrialOutcome,
)
from bailiwick.vocab.errors import InvalidValue

NOON_MS = 1_794_830_400_000
CACHES = NodeTopology((CacheDomain(2_000), CacheDomain(2_000, numa=1)))


def node(name: str, **labels: str) -> TrialNode:
    return TrialNode(Site(name, CACHES, (f"{name}/x", f"{name}/x"), labels), 4)


NODES = (node("n1", rack="r1", zone="inner"), node("n2", rack="r2"))
POLICIES = {
    "apart": "apart: never share host among tenants",
    "pair": "pair: never share cache between tenant acme and tenant bank",
    "fabric": "fabric: never share fabric between tenant acme and tenant bank",
    "vault": "vault: dedicated rack for tenant bank",
    "zone": "zone: tenant bank only on nodes with zone=inner",
    "few": "few: at most 2 of tenant bank per host",
    "after": "after: keep host for tenant bank until scrubbed",
}


@dataclass
class Simple:
    """First fit on cores and GPUs; ``policy``: only where the judge finds nothing."""

    policy: Policy | None = None
    refused: frozenset[str] = frozenset()
    nodes_there: Sequence[TrialNode] = NODES
    now: int = NOON_MS
    waiting: dict[str, tuple[Subject, int, int, str | None]] = field(default_factory=dict)
    held: dict[str, tuple[Placement, int, int]] = field(default_factory=dict)
    left: list[Residue] = field(default_factory=list)
    down: set[str] = field(default_factory=set)

    def now_ms(self) -> int:
        return self.now

    def nodes(self) -> Sequence[TrialNode]:
        return self.nodes_there

    def submit(
        self, job: str, subject: Subject, *, cores: int, gpus: int, node: str | None
    ) -> None:
        if subject.tenant in self.refused:
            raise SubmissionRefused("unknown account")
        self.waiting[job] = (subject, cores, gpus, node)

    def cancel(self, job: str) -> None:
        self.waiting.pop(job, None)
        gone = self.held.pop(job, None)
        self.now += 1
        for rule in self.policy.rules if gone and self.policy else ():
            if isinstance(rule, Linger) and gone and rule.whose.matches(gone[0].subject):
                for kind in rule.kinds:
                    for domain in gone[0].domains[kind]:
                        self.left.append(Residue(rule.name, kind, domain, self.now))

    def lose(self, node: str) -> None:
        self.down.add(node)
        for job in [job for job, (each, _, _) in self.held.items() if each.node == node]:
            self.cancel(job)

    def regain(self, node: str) -> None:
        self.down.remove(node)

    def settle(self, *, is_last: bool) -> Iterator[tuple[Placement, ...]]:
        for job in [*self.waiting]:
            self._place(job, *self.waiting[job])
        self.now += 1
        yield tuple(each for each, _, _ in self.held.values())

    def reset(self) -> None:
        self.waiting, self.held, self.left, self.down = {}, {}, [], set()

    def _place(self, job: str, subject: Subject, cores: int, gpus: int, wish: str | None) -> None:
        for each in self.nodes_there:
            name = each.site.node
            if name in self.down:
                continue
            used = sum(c for p, c, _ in self.held.values() if p.node == name)
            taken = sum(g for p, _, g in self.held.values() if p.node == name)
            if wish not in (None, name) or used + cores > each.cores or taken + gpus > 2:
                continue
            domains = each.site.domains(
                caches=sorted({core // 2 for core in range(used, used + cores)}),
                devices=range(taken, taken + gpus),
            )
            found = Placement(job, subject, name, domains, each.site.labels, self.now)
            if self._allows(found):
                self.held[job] = (found, cores, gpus)
                del self.waiting[job]
                return

    def _allows(self, found: Placement) -> bool:
        if self.policy is None:
            return True
        together = [*(each for each, _, _ in self.held.values()), found]
        return not violations(self.policy, together, now_ms=self.now, residues=self.left)


def outcomes(target: Simple, text: str) -> dict[str, TrialOutcome]:
    policy = parse_policy(text)
    found = make_trials(policy, NODES, now_ms=NOON_MS)
    assert found.trials, found.untried
    run = ConformanceRun(target, policy)
    return {each.trial.name: each.outcome for each in run.run(found.trials)}


@pytest.mark.parametrize("word", POLICIES)
def test_a_scheduler_that_knows_no_policy_is_driven_into_what_each_rule_forbids(word: str) -> None:
    found = outcomes(Simple(), POLICIES[word])
    broken = [each for each in found.values() if isinstance(each, TrialBroken)]
    assert broken, found
    assert {each.violation.rule for each in broken} == {word}
    assert not any(isinstance(each, TrialNotRun) for each in found.values()), found


@pytest.mark.parametrize("word", POLICIES)
def test_a_scheduler_that_keeps_the_policy_holds_in_every_trial(word: str) -> None:
    found = outcomes(Simple(parse_policy(POLICIES[word])), POLICIES[word])
    assert {type(each) for each in found.values()} == {TrialHeld}, found


def test_who_cannot_run_alone_proves_nothing() -> None:
    found = outcomes(Simple(refused=frozenset({"bank"})), POLICIES["pair"])
    assert {type(each) for each in found.values()} == {TrialNotRun}
    assert "bank cannot submit at all: unknown account" in str(next(iter(found.values())))


def test_a_broken_trial_names_the_step_both_jobs_and_the_place() -> None:
    found = outcomes(Simple(), POLICIES["pair"])["pair/ask-1.1"]
    assert isinstance(found, TrialBroken)
    assert (found.step, found.violation.domain) == (2, "n1/cache0")
    assert [(each.id, each.subject.tenant) for each in found.who] == [
        ("J1", "acme"),
        ("J2", "bank"),
    ]


def test_everything_is_cancelled_at_the_end_and_if_nobody_listens_any_more() -> None:
    target, policy = Simple(), parse_policy(POLICIES["few"])
    trials = make_trials(policy, NODES, now_ms=NOON_MS).trials
    results = ConformanceRun(target, policy).run(trials)
    next(results)
    assert target.held
    results.close()  # type: ignore[attr-defined]
    assert not target.held


# -- which trials there are ------------------------------------------------------------------


def trials_of(text: str, nodes: Sequence[TrialNode] = NODES) -> tuple[ConformanceTrial, ...]:
    return make_trials(parse_policy(text), nodes, now_ms=NOON_MS).trials


def test_those_kept_apart_come_in_both_orders_and_in_every_way() -> None:
    found = {each.name: each for each in trials_of(POLICIES["pair"])}
    words = ("arrive", "ask", "rest", "fill", "turn")
    assert set(found) == {f"pair/{word}-1.{order}" for word in words for order in (1, 2)}
    first = [step.subject.tenant for step in found["pair/ask-1.1"].steps if step.subject]
    second = [step.subject.tenant for step in found["pair/ask-1.2"].steps if step.subject]
    assert first == second[::-1] == ["acme", "bank"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("never share host among tenants between 01:00 and 02:00", "not in force"),
        ("tenant bank only on nodes with region=here", ""),
        ("at most 20 of tenant bank per host", "more than 16 jobs"),
        (
            "never share host between tenant a and tenant b\nallow host between tenant a and "
            'tenant b owner x@example.org until 2030-01-31 because "both"',
            "nobody is kept apart",
        ),
    ],
)
def test_a_rule_without_a_trial_is_told_with_the_reason(text: str, why: str) -> None:
    found = make_trials(parse_policy(text), NODES, now_ms=NOON_MS)
    assert [why in each.why for each in found.untried] == ([True] if why else [])
    assert bool(found.trials) is not bool(why)


def test_a_fabric_needs_two_gpus_on_one_and_labels_a_node_without_them() -> None:
    bare = tuple(TrialNode(replace(each.site, fabrics=()), 4) for each in NODES)
    assert trials_of(POLICIES["fabric"], bare) == ()
    assert {step.gpus for each in trials_of(POLICIES["fabric"]) for step in each.steps} == {0, 1}
    assert trials_of(POLICIES["zone"], NODES[:1]) == ()


def test_others_are_called_as_the_operator_says_and_by_no_name_of_the_policy() -> None:
    policy = parse_policy(POLICIES["apart"])
    found = make_trials(policy, NODES, now_ms=NOON_MS, others=("red", "blue")).trials
    assert {s.subject.tenant for each in found for s in each.steps if s.subject} == {"red", "blue"}
    with pytest.raises(InvalidValue, match="does not name"):
        make_trials(parse_policy(POLICIES["pair"]), NODES, now_ms=0, others=("bank",))


# -- watching one ---------------------------------------------------------------------------


def test_who_comes_after_is_told_by_the_looks_and_not_by_the_schedulers_clock() -> None:
    policy = parse_policy("after: keep host for tenant bank 10s after it left")
    one = Placement("1", Subject("bank"), "n1", {DomainKind.HOST: frozenset({"n1"})})
    two = Placement("2", Subject("acme"), "n1", {DomainKind.HOST: frozenset({"n1"})})
    for start_ms, end_ms in combinations((0, 5_000, 20_000), 2):
        watch = TrialWatch(policy)
        assert watch.look([one], now_ms=0) == []
        assert watch.look([], now_ms=start_ms) == []
        is_kept = end_ms - start_ms < 10_000
        assert bool(watch.look([two], now_ms=end_ms)) is is_kept


# -- our own kernel --------------------------------------------------------------------------


@pytest.mark.parametrize("word", POLICIES)
def test_the_kernel_holds_under_the_policy_and_is_driven_there_without_it(word: str) -> None:
    policy = parse_policy(POLICIES[word])
    trials = make_trials(policy, NODES, now_ms=NOON_MS).trials
    for text in (POLICIES[word], None):
        target = KernelTarget(NODES, policy=text, now_ms=NOON_MS)
        found = [each.outcome for each in ConformanceRun(target, policy).run(trials)]
        assert not any(isinstance(each, TrialNotRun) for each in found)
        assert any(isinstance(each, TrialBroken) for each in found) is (text is None)
