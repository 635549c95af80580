"""The model's scheduler in Python: which steps are possible, what each does, and what it refuses.

Written apart from the text for Alloy, so that the two can be held against each other: whatever one
finds, the other must be able to do, and the seeded faults of one are found by both.

Rules:

- A step is possible by where jobs and nodes are; a scheduler does it unless its filter refuses it.
- The filter is the judge over what the scheduler sees. A fault is something that it does not see.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from typing import assert_never

from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.judge import Violation
from bailiwick.isolation.model.faults import Fault, FaultWord
from bailiwick.isolation.model.history import (
    ModelHistory,
    ModelJob,
    ModelState,
    Phase,
    job_name,
    judge_state,
)
from bailiwick.isolation.model.world import ModelWorld
from bailiwick.isolation.policy import Linger, OnlyOn, Subject
from bailiwick.isolation.trace import TraceStep, TraceWord

_THERE = (Phase.RUNNING, Phase.LEAVING)
_AWAY = ModelJob()


@dataclass(frozen=True, slots=True)
class ModelScheduler:
    """One scheduler in one world, with the jobs that may come."""

    world: ModelWorld
    subjects: tuple[Subject, ...]
    fault: Fault | None = None

    def first(self) -> ModelState:
        """Nobody is there, and every node has its labels."""
        labels = frozenset(
            (site.node, f"{key}={value}")
            for site in self.world.sites
            for key, value in _asked(self.world)
            if site.labels.get(key) == value
        )
        return ModelState((_AWAY,) * len(self.subjects), labels=labels)

    # -- what a step does ------------------------------------------------------------------------

    def apply(self, state: ModelState, step: TraceStep) -> ModelState:
        """The state after a step that is possible."""
        job = _index(step.job)
        match step.do:
            case TraceWord.ARRIVE:
                reach = state.jobs[job].reach
                return _move(state, {job: ModelJob(Phase.WAITING, reach=reach)})
            case TraceWord.WITHDRAW:
                return _move(state, {job: ModelJob(reach=state.jobs[job].reach)})
            case TraceWord.PLACE | TraceWord.START:
                seats = frozenset(step.seats) or state.jobs[job].seats
                held = replace(state.jobs[job], phase=Phase.RUNNING, seats=seats)
                return _move(state, {job: held})
            case TraceWord.PREEMPT:
                return self._preempt(state, job, frozenset(step.seats))
            case TraceWord.EVICT:
                return _move(state, {job: replace(state.jobs[job], phase=Phase.LEAVING)})
            case TraceWord.LEAVE | TraceWord.FINISH:
                phase = Phase.WAITING if step.do is TraceWord.LEAVE else Phase.AWAY
                return self._vacate(state, {job: phase})
            case TraceWord.LOSE | TraceWord.REGAIN | TraceWord.UNLABEL | TraceWord.LABEL:
                return self._on_node(state, step)
            case TraceWord.CLEAR:
                gone = {r for r in state.residues if (r[0], r[2]) == (step.rule, step.domain)}
                return replace(state, residues=state.residues - gone)
            case TraceWord.RENEW:
                reach = state.jobs[job].reach | {step.rule or ""}
                return _move(state, {job: replace(state.jobs[job], reach=reach)})
            case _:
                assert_never(step.do)

    def _preempt(self, state: ModelState, job: int, seats: frozenset[str]) -> ModelState:
        moved = {
            index: replace(each, phase=Phase.LEAVING)
            for index, each in enumerate(state.jobs)
            if each.phase in _THERE and each.seats & seats
        }
        moved[job] = replace(state.jobs[job], phase=Phase.CLAIMING, seats=seats)
        return _move(state, moved)

    def _on_node(self, state: ModelState, step: TraceStep) -> ModelState:
        node = step.node or ""
        if step.do is TraceWord.REGAIN:
            return replace(state, down=state.down - {node})
        if step.do is TraceWord.LABEL:
            return replace(state, labels=state.labels | {(node, step.label or "")})
        on = {seat.name for seat in self.world.seats if seat.node == node}
        hit = {i: job for i, job in enumerate(state.jobs) if job.seats & on}
        if step.do is TraceWord.LOSE:
            lost = self._vacate(state, dict.fromkeys(hit, Phase.WAITING))
            return replace(lost, down=state.down | {node})
        after = replace(state, labels=state.labels - {(node, step.label or "")})
        if self.fault == Fault(FaultWord.RELABEL_UNNOTICED):
            return after
        moved = {}
        for index, job in hit.items():
            if job.phase is not Phase.LEAVING and self._is_misplaced(after, index):
                held = job.phase is Phase.RUNNING
                moved[index] = (
                    replace(job, phase=Phase.LEAVING)
                    if held
                    else ModelJob(Phase.WAITING, reach=job.reach)
                )
        return _move(after, moved)

    def _vacate(self, state: ModelState, gone: dict[int, Phase]) -> ModelState:
        """Jobs leave their seats; the last of a rule's subjects in a domain leaves a residue."""
        moved = {i: ModelJob(phase, reach=state.jobs[i].reach) for i, phase in gone.items()}
        after = _move(state, moved)
        left = set()
        for rule in (each for each in self.world.policy.rules if isinstance(each, Linger)):
            was, still = self._domains(state, rule, gone), self._domains(after, rule, None)
            left |= {(rule.name, kind, domain) for kind, domain in was - still}
        return replace(after, residues=state.residues | left)

    def _domains(
        self, state: ModelState, rule: Linger, jobs: Iterable[int] | None
    ) -> set[tuple[DomainKind, str]]:
        """Domains of the rule's kinds in which its subjects hold something."""
        held = chain.from_iterable(
            job.seats
            for index, job in enumerate(state.jobs)
            if job.phase in _THERE
            and rule.whose.matches(self.subjects[index])
            and (jobs is None or index in jobs)
        )
        names = set(held)
        return {
            (kind, domain)
            for seat in self.world.seats
            if seat.name in names
            for kind in rule.kinds
            for domain in seat.domains[kind]
        }

    # -- what the scheduler refuses ----------------------------------------------------------------

    def refused(self, state: ModelState, step: TraceStep) -> list[Violation]:
        """Why the scheduler does not do a step that is possible; nothing if it does it."""
        if step.do not in (TraceWord.PLACE, TraceWord.PREEMPT, TraceWord.START, TraceWord.RENEW):
            return []
        job = _index(step.job)
        after = self.apply(state, step)
        word = None if self.fault is None else self.fault.word
        world = self.world
        if self.fault is not None and word is FaultWord.FORGETS:
            world = _blind(world, self.fault.kind)
        overlooked: frozenset[str] = frozenset()
        if word is FaultWord.EXPIRY_IGNORED:
            overlooked = frozenset(each.name for each in world.policy.exceptions)
        mine = after.jobs[job].seats
        seen = []
        for index, each in enumerate(after.jobs):
            victim = index != job and each.phase is Phase.LEAVING and bool(each.seats & mine)
            judged_alone = step.do is TraceWord.START and index != job
            if index != job and (self._hides(state, index, job) or victim or judged_alone):
                seen.append(_AWAY)
            else:
                phase = Phase.RUNNING if each.seats else each.phase
                seen.append(replace(each, phase=phase, reach=each.reach - overlooked))
        forgets = word is FaultWord.RESIDUE_FORGOTTEN
        before = replace(state, residues=frozenset()) if forgets else state
        if step.do is TraceWord.RENEW:
            found = judge_state(world, self.subjects, state=replace(after, jobs=tuple(seen)))
        else:
            whole = replace(after, jobs=tuple(seen))
            found = judge_state(world, self.subjects, state=whole, before=before)
        return [each for each in found if job_name(job) in each.who]

    def _hides(self, state: ModelState, other: int, job: int) -> bool:
        """Whether the scheduler's fault is not to count the other job."""
        phase, word = state.jobs[other].phase, None if self.fault is None else self.fault.word
        return (
            (word is FaultWord.FREES_EARLY and phase is Phase.LEAVING)
            or (word is FaultWord.CLAIM_UNCOUNTED and phase is Phase.CLAIMING)
            or (word is FaultWord.GANG_UNCOUNTED and self.subjects[other] == self.subjects[job])
        )

    def _is_misplaced(self, state: ModelState, job: int) -> bool:
        rules = tuple(rule for rule in self.world.policy.rules if isinstance(rule, OnlyOn))
        world = replace(self.world, policy=replace(self.world.policy, rules=rules, exceptions=()))
        alone = [_AWAY] * len(state.jobs)
        alone[job] = replace(state.jobs[job], phase=Phase.RUNNING)
        return bool(judge_state(world, self.subjects, state=replace(state, jobs=tuple(alone))))


def replay(machine: ModelScheduler, steps: Sequence[TraceStep]) -> ModelHistory:
    """What the steps lead to when nobody refuses one."""
    states, broken = [machine.first()], []
    for step in steps:
        before = states[-1]
        states.append(machine.apply(before, step))
        broken = judge_state(machine.world, machine.subjects, state=states[-1], before=before)
    return ModelHistory(machine.subjects, tuple(states), tuple(steps), tuple(broken))


# -- what can be tried ---------------------------------------------------------------------------


def possible(machine: ModelScheduler, state: ModelState) -> Iterator[TraceStep]:
    """Every step that can be tried; work takes one seat, or all of a node."""
    for index in range(len(state.jobs)):
        yield from _job_steps(machine, state, index)
    yield from _node_steps(machine, state)
    for rule, _, domain in sorted(state.residues):
        yield TraceStep(TraceWord.CLEAR, rule=rule, domain=domain)


def _job_steps(machine: ModelScheduler, state: ModelState, index: int) -> Iterator[TraceStep]:
    job, name = state.jobs[index], job_name(index)
    taken = {s for each in state.jobs if each.phase in _THERE for s in each.seats}
    match job.phase:
        case Phase.AWAY:
            yield TraceStep(TraceWord.ARRIVE, name)
        case Phase.WAITING:
            kept = {s for each in state.jobs if each.phase is Phase.CLAIMING for s in each.seats}
            for room in _rooms(machine.world, state):
                do = TraceWord.PREEMPT if taken.intersection(room) else TraceWord.PLACE
                if kept.isdisjoint(room):
                    yield TraceStep(do, name, room)
        case Phase.CLAIMING:
            yield TraceStep(TraceWord.WITHDRAW, name)
            if job.seats.isdisjoint(taken):
                yield TraceStep(TraceWord.START, name, tuple(sorted(job.seats)))
        case Phase.RUNNING:
            yield TraceStep(TraceWord.EVICT, name)
            yield TraceStep(TraceWord.FINISH, name)
            for mark in sorted({*machine.world.marks} - job.reach):
                yield TraceStep(TraceWord.RENEW, name, rule=mark)
        case Phase.LEAVING:
            yield TraceStep(TraceWord.LEAVE, name)
        case _:
            assert_never(job.phase)


def _rooms(world: ModelWorld, state: ModelState) -> Iterator[tuple[str, ...]]:
    for node, group in groupby(world.seats, key=lambda seat: seat.node):
        if node not in state.down:
            seats = [seat.name for seat in group]
            yield from ((seat,) for seat in seats)
            if len(seats) > 1:
                yield tuple(seats)


def _node_steps(machine: ModelScheduler, state: ModelState) -> Iterator[TraceStep]:
    for site in machine.world.sites:
        is_down = site.node in state.down
        yield TraceStep(TraceWord.REGAIN if is_down else TraceWord.LOSE, node=site.node)
        for key, value in _asked(machine.world):
            label = f"{key}={value}"
            has = (site.node, label) in state.labels
            do = TraceWord.UNLABEL if has else TraceWord.LABEL
            yield TraceStep(do, node=site.node, label=label)


# -- small parts -----------------------------------------------------------------------------------


def _asked(world: ModelWorld) -> list[tuple[str, str]]:
    rules = [rule for rule in world.policy.rules if isinstance(rule, OnlyOn)]
    return sorted({label for rule in rules for label in rule.labels})


def _index(job: str | None) -> int:
    return -1 if job is None else int(job[1:]) - 1


def _move(state: ModelState, moved: dict[int, ModelJob]) -> ModelState:
    jobs = tuple(moved.get(index, job) for index, job in enumerate(state.jobs))
    return replace(state, jobs=jobs)


def _blind(world: ModelWorld, kind: DomainKind | None) -> ModelWorld:
    seats = tuple(
        replace(seat, domains={k: frozenset() if k is kind else d for k, d in seat.domains.items()})
        for seat in world.seats
    )
    return replace(world, seats=seats)
