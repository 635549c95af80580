"""Histories in files as trials: what users do, and nodes that go down and up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bailiwick.clusters.conformance import ConformanceTarget
from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.conformance import TrialWord
from bailiwick.isolation.judge import Violation
from bailiwick.isolation.language.parser import parse_policy
from bailiwick.isolation.placements import Site
from bailiwick.isolation.policy import Subject
from bailiwick.isolation.trace import (
    IsolationTrace,
    TraceJob,
    TraceSeat,
    TraceStep,
    TraceWord,
)
from bailiwick.tools.isolation_conformance.kernel_target import KernelTarget
from bailiwick.tools.isolation_conformance.runner import (
    ConformanceRun,
    TrialBroken,
    TrialHeld,
    TrialNotRun,
    TrialOutcome,
)
from bailiwick.tools.isolation_conformance.trace_trials import trial_of_trace
from bailiwick.vocab.errors import InvalidValue
from tests.unit.isolation.test_conformance import CACHES, NODES, NOON_MS, POLICIES, Simple

PLACE, LOSE, REGAIN = TraceWord.PLACE, TraceWord.LOSE, TraceWord.REGAIN
MEET = (
    TraceStep(TraceWord.ARRIVE, "A"),
    TraceStep(PLACE, "A", ("s1",)),
    TraceStep(TraceWord.ARRIVE, "B"),
    TraceStep(PLACE, "B", ("s2",)),
    TraceStep(TraceWord.FINISH, "A"),
)
AFTER_LOSS = (
    TraceStep(PLACE, "A", ("s1",)),
    TraceStep(LOSE, node="m"),
    TraceStep(REGAIN, node="m"),
    TraceStep(PLACE, "B", ("s2",)),
)
AGAIN = (
    TraceStep(PLACE, "A", ("s1",)),
    TraceStep(LOSE, node="m"),
    TraceStep(REGAIN, node="m"),
    TraceStep(PLACE, "B", ("s2",)),
    TraceStep(PLACE, "A", ("s1",)),
)


def history(word: str, steps: tuple[TraceStep, ...], *, node: str = "m") -> IsolationTrace:
    seats = (TraceSeat("s1", node, 0), TraceSeat("s2", node, 1))
    jobs = (TraceJob("A", Subject("bank")), TraceJob("B", Subject("outsider")))
    broken = Violation(word, DomainKind.HOST, node, ("A", "B"))
    steps = tuple(replace(each, node=node if each.node else None) for each in steps)
    return IsolationTrace(POLICIES[word], (Site(node, CACHES),), seats, jobs, steps, (broken,))


def test_a_history_is_what_users_do_and_other_steps_are_refused() -> None:
    trace = history("apart", MEET)
    trial = trial_of_trace("one", trace)
    assert [(s.do, s.job, s.beside) for s in trial.steps] == [
        (TrialWord.SUBMIT, "A", None),
        (TrialWord.SUBMIT, "B", "A"),
        (TrialWord.CANCEL, "A", None),
    ]
    for word in (TraceWord.PREEMPT, TraceWord.LABEL, TraceWord.EVICT):
        with pytest.raises(InvalidValue, match="step 6"):
            trial_of_trace("one", replace(trace, steps=(*MEET, TraceStep(word, "A"))))
    (result,) = ConformanceRun(Simple(), parse_policy(trace.policy)).run([trial])
    assert isinstance(result.outcome, TrialBroken)


def test_a_node_is_asked_for_by_its_name_where_there_is_one_and_else_by_who_is_there() -> None:
    named = trial_of_trace("one", history("apart", AFTER_LOSS, node="n2"), nodes=("n1", "n2"))
    assert [(s.node, s.beside) for s in named.steps] == [("n2", None)] * 4
    other = trial_of_trace("one", history("apart", AFTER_LOSS), nodes=("n1", "n2"))
    asked = [(s.node, s.beside) for s in other.steps]
    assert asked == [(None, None), (None, "A"), (None, "A"), (None, "A")]


def test_tenants_whom_a_model_made_up_are_called_as_the_operator_says() -> None:
    trial = trial_of_trace("one", history("apart", MEET), others=("lab",))
    assert [s.subject.tenant for s in trial.steps if s.subject] == ["bank", "lab"]


def outcome(target: ConformanceTarget, trace: IsolationTrace, *, may: bool = True) -> TrialOutcome:
    names = {each.site.node for each in target.nodes()}
    trial = trial_of_trace("one", trace, nodes=names)
    run = ConformanceRun(target, parse_policy(trace.policy), may_lose_nodes=may)
    (result,) = run.run([trial])
    return result.outcome


def kernel(policy: str | None) -> KernelTarget:
    return KernelTarget(NODES, policy=policy, now_ms=NOON_MS)


@pytest.mark.parametrize(("word", "steps"), [("after", AFTER_LOSS), ("apart", AGAIN)])
@pytest.mark.parametrize("node", ["n2", "m"])
def test_what_a_lost_node_took_with_it_still_counts(
    word: str, steps: tuple[TraceStep, ...], node: str
) -> None:
    trace = history(word, steps, node=node)
    assert isinstance(outcome(Simple(), trace), TrialBroken)
    assert outcome(Simple(parse_policy(POLICIES[word])), trace) == TrialHeld()
    assert isinstance(outcome(kernel(None), trace), TrialBroken)
    assert outcome(kernel(POLICIES[word]), trace) == TrialHeld()


def test_nodes_are_taken_down_only_where_that_is_allowed_and_only_those_that_are_there() -> None:
    target = Simple()
    refused = outcome(target, history("after", AFTER_LOSS), may=False)
    assert refused == TrialNotRun("step 2: taking nodes down is not allowed here")
    gone = (TraceStep(LOSE, node="m"), TraceStep(PLACE, "A", ("s1",)))
    unknown = outcome(target, history("after", gone))
    assert unknown == TrialNotRun("step 1: there is no node m that is up")
    twice = (TraceStep(PLACE, "A", ("s1",)), *[TraceStep(LOSE, node="m")] * 2)
    assert outcome(kernel(None), history("after", twice)) == TrialNotRun(
        "step 3: n1 is down already"
    )
    assert not target.down, "and is up again at the end"
