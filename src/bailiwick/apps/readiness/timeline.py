"""What the records of one instance say about a check of its app.

Rules:

- It is a function of the rows, so that who checks and the server read the same from them.
- An operator's acts are reports, tasks and what it writes down. What is wanted of an instance is
  said by whoever checks; the platform itself acts as ``apps``.
- A step ends with the record that says that it is as was wanted: it runs at that generation, or is
  gone and was not forced. Kills count that came after it was asked for and before that. What is
  looked for is the operator's first report on it after the first of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from bailiwick.apps.readiness.evidence import CheckFacts, HeardEvent, OperatorKill, StepFact
from bailiwick.vocab.apps import InstanceChange, InstancePhase, OperationKind
from bailiwick.vocab.readiness import LifecycleEvent, LifeStep

PLATFORM: Final = "apps"
"""As whom the platform does what nobody asked for in particular."""

_STEPS: Final = {
    InstanceChange.VERSION.value: LifeStep.UPGRADE,
    InstanceChange.ROLLBACK.value: LifeStep.ROLLBACK,
    InstanceChange.DELETE.value: LifeStep.DELETE,
}


class ToldRow(NamedTuple):
    """One record about the instance."""

    seq: int
    kind: str
    actor: str
    body: Mapping[str, Any]


@dataclass(slots=True)
class _Reading:
    version: str
    operator: str | None
    kills: Sequence[OperatorKill]
    wanted: str = ""
    acts: int = 0
    strangers: int = 0
    reached: dict[LifecycleEvent, int] = field(default_factory=dict)
    steps: dict[LifeStep, StepFact] = field(default_factory=dict)
    generations: dict[LifeStep, int] = field(default_factory=dict)
    reports: list[tuple[int, int]] = field(default_factory=list)
    """The operator's: the record, and the generation that it had seen."""

    def note(self, event: LifecycleEvent, seq: int) -> None:
        self.reached.setdefault(event, seq)

    def act(self, row: ToldRow) -> None:
        if row.actor == self.operator:
            self.acts += 1
        elif row.actor != PLATFORM:
            self.strangers += 1


def tell_facts(
    rows: Iterable[ToldRow],
    *,
    version: str,
    operator: str | None,
    kills: Sequence[OperatorKill],
) -> CheckFacts:
    """What the rows of one instance say, in their order."""
    reading = _Reading(version, operator, kills)
    for row in rows:
        match row.kind:
            case "app_instance_requested":
                reading.wanted = str(row.body["version"])
                reading.note(LifecycleEvent.REQUESTED, row.seq)
            case "app_instance_changed":
                _read_change(reading, row)
            case "app_instance_moved":
                _read_move(reading, row)
            case "app_operation_changed":
                if row.body["operation"] == OperationKind.TASK.value:
                    reading.act(row)
            case _:
                pass
    steps = [_resumed(reading, each) for each in reading.steps]
    return CheckFacts(
        reached=tuple(HeardEvent(event, seq) for event, seq in sorted(reading.reached.items())),
        steps=tuple(sorted(steps, key=lambda each: each.asked_seq)),
        acts=reading.acts,
        strangers=reading.strangers,
    )


def wants(rows: Iterable[ToldRow], version: str) -> bool:
    """Whether an instance was ever to be of a version."""
    return any(
        row.body.get("version") == version
        for row in rows
        if row.kind in ("app_instance_requested", "app_instance_changed")
    )


def _read_change(reading: _Reading, row: ToldRow) -> None:
    change, before = row.body["change"], reading.wanted
    reading.wanted = str(row.body.get("version", before))
    if change == InstanceChange.METADATA.value:
        reading.act(row)
    step = _STEPS.get(change)
    if step is not None and step not in reading.steps:
        wanted = reading.wanted
        reading.steps[step] = StepFact(
            step=step, before=before, version=wanted, asked_seq=row.seq, kills=0
        )
        reading.generations[step] = row.body["generation"]


def _read_move(reading: _Reading, row: ToldRow) -> None:
    body = row.body
    phase, before = body["phase"], body["before"]
    if phase == before and body["observed_generation"] > 0:
        reading.act(row)
        if row.actor == reading.operator:
            reading.reports.append((row.seq, body["observed_generation"]))
    if phase != before and phase in (InstancePhase.FAILED, InstancePhase.DELETING):
        reading.note(LifecycleEvent(phase), row.seq)
    if phase == InstancePhase.DELETED:
        reading.note(LifecycleEvent.DELETED, row.seq)
        if not body.get("forced"):
            _end(reading, LifeStep.DELETE, row.seq)
    if phase == InstancePhase.RUNNING:
        if phase != before and reading.wanted == reading.version:
            reading.note(LifecycleEvent.RUNNING, row.seq)
        for step, generation in reading.generations.items():
            if generation == body["generation"] and step is not LifeStep.DELETE:
                _end(reading, step, row.seq)


def _end(reading: _Reading, step: LifeStep, seq: int) -> None:
    found = reading.steps.get(step)
    if found is not None and not found.ended_seq:
        reading.steps[step] = replace(found, ended_seq=seq)


def _resumed(reading: _Reading, step: LifeStep) -> StepFact:
    """A step, with how often the operator was killed under it, and where it was taken up."""
    fact, generation = reading.steps[step], reading.generations[step]
    end = fact.ended_seq or float("inf")
    killed = [k.seq for k in reading.kills if k.step is step and fact.asked_seq <= k.seq < end]
    if not killed:
        return fact
    seen = (
        seq
        for seq, observed in reading.reports
        if min(killed) < seq < end and observed >= generation
    )
    return replace(fact, kills=len(killed), seen_seq=next(seen, 0))
