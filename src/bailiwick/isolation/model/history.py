"""One history of a model: its states, the steps between them, and what the judge says of each.

Rules:

- What Alloy answers is not believed but judged: which rule is broken, where and by whom, comes from
  :mod:`..judge` over the placements of a state.
- A history ends with the first state that breaks a rule.
- Work that leaves counts where it is. Who claims counts in the room kept for it, but not against
  those who leave that very room.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain, combinations

from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.judge import Violation, violations
from bailiwick.isolation.model.alloy import AlloyModel
from bailiwick.isolation.model.answer import Relations
from bailiwick.isolation.model.world import ModelWorld
from bailiwick.isolation.placements import Placement, Residue
from bailiwick.isolation.policy import Linger, OnlyOn, Policy, Rule, Spread, Subject
from bailiwick.isolation.trace import IsolationTrace, TraceJob, TraceSeat, TraceStep, TraceWord


class Phase(StrEnum):
    """Where a job is in its life."""

    AWAY = "away"
    WAITING = "waiting"
    CLAIMING = "claiming"
    RUNNING = "running"
    LEAVING = "leaving"


@dataclass(frozen=True, slots=True)
class ModelJob:
    """A job in one state: the seats it holds, or that are kept for it."""

    phase: Phase = Phase.AWAY
    seats: frozenset[str] = frozenset()
    reach: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ModelState:
    """All that changes from step to step."""

    jobs: tuple[ModelJob, ...]
    down: frozenset[str] = frozenset()
    labels: frozenset[tuple[str, str]] = frozenset()
    """Nodes with labels, as KEY=VALUE; of those that the policy names."""
    residues: frozenset[tuple[str, DomainKind, str]] = frozenset()
    """Rules with the domains that they keep."""


@dataclass(frozen=True, slots=True)
class ModelHistory:
    """Whose jobs there are, what happens, and how it ends."""

    subjects: tuple[Subject, ...]
    states: tuple[ModelState, ...]
    steps: tuple[TraceStep, ...]
    """One less than there are states."""
    broken: tuple[Violation, ...]

    def job(self, index: int) -> str:
        """What a job is called."""
        return job_name(index)


def job_name(index: int) -> str:
    """What the job of a place is called: ``J1`` for the first."""
    return f"J{index + 1}"


# -- from an answer ----------------------------------------------------------------------------


def read_history(
    world: ModelWorld, model: AlloyModel, *, answer: Sequence[Relations]
) -> ModelHistory:
    """The history that Alloy found, as far as to the first state that breaks a rule."""
    jobs = sorted(atom for (atom,) in answer[0].get("Job", ()))
    by_job = {job: who for job, who in answer[0]["subject"]}  # noqa: C416  tuples of two
    subjects = tuple(model.subjects[_plain(by_job[job])] for job in jobs)
    found = [_read_state(model, relations, jobs) for relations in answer]
    states, steps = _arrivals(found[0])
    broken = judge_state(world, subjects, state=states[-1])
    for after in found[1:]:
        if broken:
            break
        before = states[-1]
        if after == before:
            continue
        states.append(after)
        steps.append(find_step(before, after))
        broken = judge_state(world, subjects, state=after, before=before)
    return ModelHistory(subjects, tuple(states), tuple(steps), tuple(broken))


def _plain(atom: str) -> str:
    return atom.partition("$")[0]


def _read_state(model: AlloyModel, relations: Relations, jobs: Sequence[str]) -> ModelState:
    names = model.atoms
    phases = {
        atom: phase for phase in Phase for (atom,) in relations.get(phase.value.capitalize(), ())
    }

    def of(field: str, job: str) -> frozenset[str]:
        rows = relations.get(field, frozenset())
        return frozenset(names[_plain(right)] for left, right in rows if left == job)

    found = tuple(
        ModelJob(phases.get(job, Phase.AWAY), of("at", job) | of("claim", job), of("reach", job))
        for job in jobs
    )
    residues = (
        (names[_plain(keep)], DomainKind(domain.partition("_")[0]), names[_plain(domain)])
        for keep, domain in relations.get("residue", ())
    )
    labels = relations.get("labelled", frozenset())
    return ModelState(
        found,
        frozenset(names[_plain(node)] for (node,) in relations.get("Down", ())),
        frozenset((names[_plain(node)], names[_plain(label)]) for node, label in labels),
        frozenset(residues),
    )


def _arrivals(first: ModelState) -> tuple[list[ModelState], list[TraceStep]]:
    """A model may begin with jobs that wait: here they arrive one after the other."""
    is_new = all(job.phase in (Phase.AWAY, Phase.WAITING) for job in first.jobs)
    if not is_new:  # the state before a single step
        return [first], []
    away = [replace(job, phase=Phase.AWAY) for job in first.jobs]
    states, steps = [replace(first, jobs=tuple(away))], []
    for index, job in enumerate(first.jobs):
        if job.phase is Phase.WAITING:
            away[index] = job
            states.append(replace(first, jobs=tuple(away)))
            steps.append(TraceStep(TraceWord.ARRIVE, job_name(index)))
    return states, steps


_MOVES = {
    (Phase.AWAY, Phase.WAITING): TraceWord.ARRIVE,
    (Phase.WAITING, Phase.AWAY): TraceWord.WITHDRAW,
    (Phase.CLAIMING, Phase.AWAY): TraceWord.WITHDRAW,
    (Phase.WAITING, Phase.RUNNING): TraceWord.PLACE,
    (Phase.CLAIMING, Phase.RUNNING): TraceWord.START,
    (Phase.RUNNING, Phase.LEAVING): TraceWord.EVICT,
    (Phase.LEAVING, Phase.WAITING): TraceWord.LEAVE,
    (Phase.RUNNING, Phase.AWAY): TraceWord.FINISH,
}


def find_step(before: ModelState, after: ModelState) -> TraceStep:
    """What happened between two states."""
    for node in sorted(before.down ^ after.down):
        lost = node in after.down
        return TraceStep(TraceWord.LOSE if lost else TraceWord.REGAIN, node=node)
    for node, label in sorted(before.labels ^ after.labels):
        gone = (node, label) in before.labels
        return TraceStep(TraceWord.UNLABEL if gone else TraceWord.LABEL, node=node, label=label)
    moves = [
        (index, one.phase, two)
        for index, (one, two) in enumerate(zip(before.jobs, after.jobs, strict=True))
        if one.phase is not two.phase
    ]
    for index, _, job in moves:  # a claim first: its victims move with it
        if job.phase is Phase.CLAIMING:
            return TraceStep(TraceWord.PREEMPT, job_name(index), tuple(sorted(job.seats)))
    for index, phase, job in moves:
        word = _MOVES[phase, job.phase]
        seats = tuple(sorted(job.seats)) if job.phase is Phase.RUNNING else ()
        return TraceStep(word, job_name(index), seats)
    for rule, _, domain in sorted(before.residues - after.residues):
        return TraceStep(TraceWord.CLEAR, rule=rule, domain=domain)
    for index, (one, two) in enumerate(zip(before.jobs, after.jobs, strict=True)):
        for mark in sorted(two.reach - one.reach):
            return TraceStep(TraceWord.RENEW, job_name(index), rule=mark)
    raise AssertionError("two states of a history are alike")


def make_trace(
    world: ModelWorld, history: ModelHistory, *, policy: str, fault: str | None = None
) -> IsolationTrace:
    """The history as it is kept in a file."""
    jobs = tuple(
        TraceJob(job_name(index), subject, tuple(sorted(history.states[0].jobs[index].reach)))
        for index, subject in enumerate(history.subjects)
    )
    seats = tuple(TraceSeat(s.name, s.node, s.cache, s.device) for s in world.seats)
    told = (history.steps, history.broken)
    return IsolationTrace(policy, world.sites, seats, jobs, *told, fault)


# -- what the judge says -----------------------------------------------------------------------


def judge_state(
    world: ModelWorld,
    subjects: Sequence[Subject],
    *,
    state: ModelState,
    before: ModelState | None = None,
) -> list[Violation]:
    """Every rule that the state breaks; and, with the one before, every residue disturbed."""
    there = {Phase.RUNNING, Phase.LEAVING}
    counted = {
        index: _placement(world, subjects[index], state, index=index)
        for index, job in enumerate(state.jobs)
        if job.phase in there or job.phase is Phase.CLAIMING
    }
    found = [*_pairs(world.policy, state, counted), *_crowds(world.policy, state, counted)]
    for index, each in counted.items():
        job = state.jobs[index]
        if job.phase is not Phase.LEAVING:
            rules = [r for r in world.policy.rules if isinstance(r, OnlyOn) and _holds(r, job)]
            found += violations(_only(rules), [each], now_ms=0)
        was = None if before is None else before.jobs[index].phase
        if before is not None and job.phase is Phase.RUNNING and was not in there:
            found += _entered(world.policy, before, each)
    return list(dict.fromkeys(found))


def _placement(world: ModelWorld, subject: Subject, state: ModelState, *, index: int) -> Placement:
    seats = [seat for seat in world.seats if seat.name in state.jobs[index].seats]
    domains = {
        kind: frozenset(chain.from_iterable(seat.domains[kind] for seat in seats))
        for kind in DomainKind
    }
    node = seats[0].node if seats else ""
    labels = dict(label.split("=", 1) for name, label in state.labels if name == node)
    return Placement(job_name(index), subject, node, domains, labels, from_ms=1)


def _holds(rule: Rule, job: ModelJob) -> bool:
    return isinstance(rule, Linger) or rule.window is None or rule.name in job.reach


def _only(rules: Iterable[Rule]) -> Policy:
    """A policy of these rules, in force at all times."""
    return Policy(tuple(r if isinstance(r, Linger) else replace(r, window=None) for r in rules))


def _pairs(policy: Policy, state: ModelState, counted: dict[int, Placement]) -> Iterator[Violation]:
    for one, two in combinations(counted, 2):
        first, second = state.jobs[one], state.jobs[two]
        phases = {first.phase, second.phase}
        if phases == {Phase.CLAIMING, Phase.LEAVING} and first.seats & second.seats:
            continue  # it leaves for the other
        rules = [
            rule
            for rule in policy.rules
            if not isinstance(rule, Linger | OnlyOn | Spread)
            and _holds(rule, first)
            and _holds(rule, second)
        ]
        excuses = tuple(
            replace(each, until_ms=2)
            for each in policy.exceptions
            if each.name not in first.reach & second.reach
        )
        judged = replace(_only(rules), exceptions=excuses)
        yield from violations(judged, [counted[one], counted[two]], now_ms=0)


def _crowds(
    policy: Policy, state: ModelState, counted: dict[int, Placement]
) -> Iterator[Violation]:
    claiming = [index for index in counted if state.jobs[index].phase is Phase.CLAIMING]
    starts = chain.from_iterable(combinations(claiming, n) for n in range(len(claiming) + 1))
    for start in starts:  # whichever of them start
        room = frozenset().union(*(state.jobs[index].seats for index in start))
        for rule in policy.rules:
            if isinstance(rule, Spread):
                yield from violations(
                    _only([rule]),
                    [
                        each
                        for index, each in counted.items()
                        if _holds(rule, state.jobs[index])
                        and (index in start if index in claiming else not (
                            state.jobs[index].seats & room
                        ))
                    ],
                    now_ms=0,
                )  # fmt: skip


def _entered(policy: Policy, before: ModelState, placement: Placement) -> list[Violation]:
    rules = [rule for rule in policy.rules if isinstance(rule, Linger)]
    residues = [Residue(*each, left_ms=0) for each in sorted(before.residues)]
    return violations(_only(rules), [placement], now_ms=0, residues=residues)
