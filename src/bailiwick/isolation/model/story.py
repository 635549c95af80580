"""A history told to a person: numbered steps, and what is wrong at the end.

>>> tell_step(TraceStep(TraceWord.LOSE, node="n1"), {})
'node n1 is lost, with all that runs there'
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import assert_never

from bailiwick.isolation.judge import Violation
from bailiwick.isolation.model.history import ModelHistory, ModelJob, Phase, job_name
from bailiwick.isolation.model.world import spell_subject
from bailiwick.isolation.trace import TraceStep, TraceWord


def tell_story(history: ModelHistory) -> Iterator[str]:
    """The lines of a story, each step with its number."""
    first = [_tell_job(job_name(i), job) for i, job in enumerate(history.states[0].jobs)]
    told = [text for text in first if text]
    if told:
        yield "   Before: " + "; ".join(told) + "."
    for number, text in enumerate(tell_steps(history), 1):
        yield f"{number:>2}. {text}."
    whose = whose_jobs(history)
    for each in history.broken:
        yield f" => {tell_violation(each, whose)}"


def whose_jobs(history: ModelHistory) -> dict[str, str]:
    """Whose each job is, in words, by its name."""
    return {job_name(i): spell_subject(each) for i, each in enumerate(history.subjects)}


def tell_steps(history: ModelHistory) -> Iterator[str]:
    """Each step in words, with who has to leave for it and what stays kept after it."""
    whose = whose_jobs(history)
    for number, step in enumerate(history.steps, 1):
        after, before = history.states[number], history.states[number - 1]
        extra = [
            f"{job_name(index)} has to leave"
            for index, (one, two) in enumerate(zip(before.jobs, after.jobs, strict=True))
            if two.phase is Phase.LEAVING and one.phase is Phase.RUNNING
            and step.do in (TraceWord.PREEMPT, TraceWord.UNLABEL)
        ]  # fmt: skip
        kept = [f"{domain} stays kept by {rule}" for rule, _, domain in
                sorted(after.residues - before.residues)]  # fmt: skip
        yield "; ".join([tell_step(step, whose), *extra, *kept])


def _tell_job(name: str, job: ModelJob) -> str:
    if job.phase is Phase.AWAY:
        return ""
    on = f" on {', '.join(sorted(job.seats))}" if job.seats else ""
    return f"{name} is {job.phase.value}{on}"


def tell_step(step: TraceStep, whose: Mapping[str, str]) -> str:
    """What happens in one step, in words."""
    job, seats = step.job, ", ".join(step.seats)
    match step.do:
        case TraceWord.ARRIVE:
            return f"{whose[job or '']}'s job {job} arrives"
        case TraceWord.WITHDRAW:
            return f"{job} is withdrawn"
        case TraceWord.PLACE:
            return f"{job} is placed on {seats}"
        case TraceWord.PREEMPT:
            return f"{seats} is kept for {job}"
        case TraceWord.START:
            return f"{job} starts on {seats}, which was kept for it"
        case TraceWord.EVICT:
            return f"{job} is told to leave, and its grace begins"
        case TraceWord.LEAVE:
            return f"{job} is gone, and waits again"
        case TraceWord.FINISH:
            return f"{job} ends"
        case TraceWord.LOSE:
            return f"node {step.node} is lost, with all that runs there"
        case TraceWord.REGAIN:
            return f"node {step.node} is back"
        case TraceWord.UNLABEL:
            return f"node {step.node} loses the label {step.label}"
        case TraceWord.LABEL:
            return f"node {step.node} gets the label {step.label}"
        case TraceWord.CLEAR:
            return f"{step.domain} is scrubbed, or {step.rule}'s time is over"
        case TraceWord.RENEW:
            return f"{job} is renewed: its term now reaches what {step.rule} says of time"
        case _:
            assert_never(step.do)


def tell_violation(found: Violation, whose: Mapping[str, str]) -> str:
    """What is wrong, and which rule forbids it."""
    who = [f"{whose.get(name, '')}'s {name}".removeprefix("'s ") for name in found.who]
    if found.kind is None:
        return f"{' and '.join(who)} runs on {found.domain}, which {found.rule} forbids"
    if len(who) == 1:
        return f"{who[0]} is in {found.kind.value} {found.domain}, which {found.rule} keeps"
    return (
        f"{' and '.join(who)} share {found.kind.value} {found.domain}, which {found.rule} forbids"
    )
