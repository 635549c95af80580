"""Puts a scheduler on trial: whether users can drive it to where a policy forbids to be.

Rules:

- After every step what is placed is judged by :mod:`bailiwick.isolation.judge`. Only work of the
  trial counts; what else runs there is not looked at.
- A trial proves something only if everybody in it can run alone: that is tried first, once for each
  of them. Who cannot makes the trial one that could not be run, never one that held.
- Everything that was submitted is cancelled, and every node that was taken down is up again, also
  if a trial fails. Nodes are taken down only where the operator said so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

from bailiwick.clusters.conformance import (
    ConformanceTarget,
    StepNotPossible,
    SubmissionRefused,
)
from bailiwick.isolation.conformance import (
    ConformanceTrial,
    TrialStep,
    TrialWatch,
    TrialWord,
)
from bailiwick.isolation.judge import Violation
from bailiwick.isolation.placements import Placement
from bailiwick.isolation.policy import Policy, Subject


@dataclass(frozen=True, slots=True)
class TrialHeld:
    """No step led to a forbidden meeting."""


@dataclass(frozen=True, slots=True)
class TrialBroken:
    """The scheduler was driven there: by which step (from 1), and who is where."""

    step: int
    violation: Violation
    who: tuple[Placement, ...]


@dataclass(frozen=True, slots=True)
class TrialNotRun:
    """It could not be run, so it says nothing."""

    why: str


TrialOutcome: TypeAlias = TrialHeld | TrialBroken | TrialNotRun


@dataclass(frozen=True, slots=True)
class TrialResult:
    """A trial, and how it ended."""

    trial: ConformanceTrial
    outcome: TrialOutcome


@dataclass(slots=True)
class ConformanceRun:
    """One scheduler, one policy."""

    target: ConformanceTarget
    policy: Policy
    may_lose_nodes: bool = False
    """Whether nodes may be taken down."""
    _alone: dict[object, str] = field(default_factory=dict)
    """Why somebody cannot run alone; empty if he can."""
    _cores: dict[str, int] = field(default_factory=dict)

    def run(self, trials: Sequence[ConformanceTrial]) -> Iterator[TrialResult]:
        """Each trial's result, as it ends."""
        self._cores = {node.site.node: node.cores for node in self.target.nodes()}
        try:
            for trial in trials:
                yield TrialResult(trial, self._try(trial))
        finally:
            self.target.reset()

    def _try(self, trial: ConformanceTrial) -> TrialOutcome:
        if why := self._not_allowed(trial):
            return TrialNotRun(why)
        for step in trial.steps:
            if step.subject is not None and (why := self._cannot_run(step.subject, step.gpus)):
                return TrialNotRun(why)
        self.target.reset()
        watch = TrialWatch(self.policy)
        for number, step in enumerate(trial.steps, 1):
            if step.beside is not None and step.beside not in watch.seen:
                return TrialNotRun(f"step {number}: {step.beside} was not placed")
            try:
                self._do(step, watch)
            except StepNotPossible as refused:
                return TrialNotRun(f"step {number}: {refused}")
            is_last = number == len(trial.steps)
            if broken := self._judge(watch, is_last=is_last):
                violation, who = broken
                return TrialBroken(number, violation, who)
        return TrialHeld() if watch.seen else self._unseen(trial)

    def _not_allowed(self, trial: ConformanceTrial) -> str:
        """Why a trial must not be begun here; empty if it may."""
        for number, step in enumerate(trial.steps, 1):
            if step.do not in (TrialWord.LOSE, TrialWord.REGAIN):
                continue
            if not self.may_lose_nodes:
                return f"step {number}: taking nodes down is not allowed here"
            if step.node is not None and step.node not in self._cores:
                return f"step {number}: there is no node {step.node} that is up"
        return ""

    def _unseen(self, trial: ConformanceTrial) -> TrialOutcome:
        """Nobody was placed at all: that proves something only if the one who came is kept out."""
        wished = all(step.do is TrialWord.SUBMIT and step.node is not None for step in trial.steps)
        return TrialHeld() if wished else TrialNotRun("nothing was placed")

    def _do(self, step: TrialStep, watch: TrialWatch) -> None:
        node = watch.seen[step.beside].node if step.beside is not None else step.node
        match step.do:
            case TrialWord.CANCEL:
                self.target.cancel(step.job)
            case TrialWord.SUBMIT:
                self._submit(step, node, watch)
            case TrialWord.LOSE:
                assert node is not None, "a node's step names it, or who is there"
                self.target.lose(node)
            case TrialWord.REGAIN:
                assert node is not None, "a node's step names it, or who is there"
                self.target.regain(node)
            case _:
                assert_never(step.do)

    def _submit(self, step: TrialStep, node: str | None, watch: TrialWatch) -> None:
        assert step.subject is not None, "only who submits is somebody"
        cores = step.cores
        if step.takes_rest and node is not None:
            cores = max(self._cores.get(node, 2) - 1, 1)
        if step.job in watch.seen:
            self.target.cancel(step.job)  # it was lost, and comes again
        wish = {"cores": cores, "gpus": step.gpus}
        with suppress(SubmissionRefused):  # kept out: one way to keep the policy
            self.target.submit(step.job, step.subject, **wish, node=node)

    def _judge(
        self, watch: TrialWatch, *, is_last: bool
    ) -> tuple[Violation, tuple[Placement, ...]] | None:
        for placements in self.target.settle(is_last=is_last):
            found = watch.look(placements, now_ms=self.target.now_ms())
            if found:
                who = tuple(each for each in placements if each.id in found[0].who)
                return found[0], who
        return None

    def _cannot_run(self, subject: Subject, gpus: int) -> str:
        """Why work of somebody is not placed even if nobody else is there."""
        key = subject.tenant, subject.project, *sorted(subject.labels.items()), gpus
        if key not in self._alone:
            self._alone[key] = self._try_alone(subject, gpus)
        return self._alone[key]

    def _try_alone(self, subject: Subject, gpus: int) -> str:
        self.target.reset()
        try:
            self.target.submit("alone", subject, cores=1, gpus=gpus, node=None)
        except SubmissionRefused as refused:
            return f"{subject.tenant} cannot submit at all: {refused}"
        for placements in self.target.settle(is_last=True):
            if placements:
                return ""
        return f"work of {subject.tenant} is not placed even alone"


def told_outcome(outcome: TrialOutcome) -> tuple[str, str]:
    """An outcome as one word, and what is to be said about it."""
    match outcome:
        case TrialHeld():
            return "held", ""
        case TrialNotRun(why=why):
            return "not_run", why
        case TrialBroken(step=step, violation=broken, who=who):
            where = f"{broken.kind} {broken.domain}" if broken.kind else f"node {broken.domain}"
            whose = " and ".join(f"{each.id} of {each.subject.tenant}" for each in who)
            return "broken", f"by step {step}: {whose} in {where} (rule {broken.rule})"
        case _:
            assert_never(outcome)
