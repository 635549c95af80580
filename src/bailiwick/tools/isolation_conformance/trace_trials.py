"""Histories in files (:mod:`bailiwick.isolation.trace`) as trials of a real scheduler.

Rules:

- A history becomes a trial if users, and who may take nodes down and up, can bring all its steps
  about: what only a scheduler does (preempt, evict, label) cannot be asked of one.
- Work is submitted when the history places it. It asks for the node on which it is placed there, if
  the scheduler has a node of that name; else for the node of whoever was first on it.
- Work that a lost node took with it is submitted again when the history places it again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from bailiwick.isolation.conformance import ConformanceTrial, TrialStep, TrialWord
from bailiwick.isolation.model.world import OUTSIDERS
from bailiwick.isolation.trace import IsolationTrace, TraceStep, TraceWord
from bailiwick.vocab.errors import InvalidValue


def trial_of_trace(
    name: str,
    trace: IsolationTrace,
    *,
    nodes: Collection[str] = (),
    others: Sequence[str] = (),
) -> ConformanceTrial:
    """A history as it is tried on a scheduler with these nodes.

    ``others`` are the names there of tenants whom a model made up.
    :class:`~bailiwick.vocab.errors.InvalidValue` for a step that nobody can bring about.
    """
    making = _Making(trace, nodes, dict(zip(OUTSIDERS, others, strict=False)))
    for number, step in enumerate(trace.steps, 1):
        making.add(number, step)
    rules = [each.rule for each in trace.forbidden]
    return ConformanceTrial(name, rules[0] if rules else "", tuple(making.steps))


@dataclass(slots=True)
class _Making:
    trace: IsolationTrace
    nodes: Collection[str]
    called: dict[str, str]
    steps: list[TrialStep] = field(default_factory=list)
    first_on: dict[str, str] = field(default_factory=dict)
    """Who was the first on a node of the file."""

    def add(self, number: int, step: TraceStep) -> None:
        match step.do:
            case TraceWord.ARRIVE | TraceWord.WITHDRAW:
                pass  # it is submitted when it is placed: before, there is nothing to take back
            case TraceWord.PLACE if step.job is not None and step.seats:
                self.steps.append(self._placed(step.job, step.seats))
            case TraceWord.FINISH if step.job is not None:
                self.steps.append(TrialStep(TrialWord.CANCEL, step.job))
            case TraceWord.LOSE | TraceWord.REGAIN if step.node is not None:
                word = TrialWord.LOSE if step.do is TraceWord.LOSE else TrialWord.REGAIN
                # Nobody was ever there: only a node of that name can be meant.
                beside = None if step.node in self.nodes else self.first_on.get(step.node)
                node = step.node if beside is None else None
                self.steps.append(TrialStep(word, node=node, beside=beside))
            case _:
                able = (
                    "a step that users bring about: arrive, withdraw, place, finish, lose, regain"
                )
                raise InvalidValue(f"step {number}", step.do.value, able)

    def _placed(self, job: str, names: tuple[str, ...]) -> TrialStep:
        seats = {seat.name: seat for seat in self.trace.seats}
        subject = next(each.subject for each in self.trace.jobs if each.name == job)
        node = seats[names[0]].node
        first = self.first_on.setdefault(node, job)
        is_there = node in self.nodes
        return TrialStep(
            TrialWord.SUBMIT,
            job,
            replace(subject, tenant=self.called.get(subject.tenant, subject.tenant)),
            cores=len(names),
            gpus=sum(seats[name].device is not None for name in names),
            node=node if is_there else None,
            beside=None if is_there or first == job else first,
        )
