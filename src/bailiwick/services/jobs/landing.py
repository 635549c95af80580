"""Where jobs may land, and whether whoever runs them there can honour what they ask for.

Rules:

- It is judged when a job or a graph is submitted or planned, and never after a lease was granted.
- A place that is named is an executor or a node that runs jobs; else the choices are told. Nodes
  are among them only for those who may read them.
- A job that may land with several executors is honoured if each of them can.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from bailiwick.executors.abilities import (
    CoreShareNotHonoured,
    GpuShareNotHonoured,
    HonourDecision,
    Honoured,
    ImageNotHonoured,
    JobDemand,
    NotHonoured,
    check_honoured,
)
from bailiwick.executors.registry import EXECUTORS, OWN, find_executor
from bailiwick.fleet.node import EXECUTOR_LABEL, NAME_LABEL
from bailiwick.iam import FLEET, Permission
from bailiwick.runtime.replica import View
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.services.caller import Caller
from bailiwick.vocab import errors
from bailiwick.vocab.errors import InvalidValue

CHOICES_MAX = 20
"""Nodes that are told to somebody who named one that is not there."""


@dataclass(frozen=True, slots=True)
class WorkAsked:
    """What is to run somewhere: the request for it, and its image."""

    request: PlacementRequest
    image: str | None = None


async def judge_landing(caller: Caller, asked: Sequence[WorkAsked]) -> list[HonourDecision]:
    """Whether each can be honoured where it may land; a place that is none is an error."""
    named = {name for each in asked if (name := each.request.labels.get(NAME_LABEL)) is not None}
    known = await caller.read(lambda view: _executors(view, named)) if named else {}
    found: list[HonourDecision] = []
    for each in asked:
        name = each.request.labels.get(NAME_LABEL)
        if name is not None and known.get(name) is None:
            raise InvalidValue("on", name, await _choices(caller))
        found.append(_judge(each, _landing(each.request.labels, known)))
    return found


async def require_landing(caller: Caller, asked: Sequence[WorkAsked]) -> None:
    """Refuse what cannot be honoured where it may land."""
    for found in await judge_landing(caller, asked):
        if not isinstance(found, Honoured):
            raise refusal_of(found)


async def require_own(caller: Caller, request: PlacementRequest) -> None:
    """Refuse an interactive job that may land where nobody can be attached to it."""
    name = request.labels.get(NAME_LABEL)
    named = set() if name is None else {name}
    known = await caller.read(lambda view: _executors(view, named)) if named else {}
    if not set(_landing(request.labels, known)) <= set(OWN):
        expected = "false, on a cluster: its executor lets nobody in"
        raise InvalidValue("interactive", True, expected)


def refusal_of(found: NotHonoured) -> errors.NotHonoured:
    """The same as an error."""
    word = found.word.value
    match found:
        case GpuShareNotHonoured() | CoreShareNotHonoured():
            asked, step = found.asked_milli, found.step_milli
            return errors.NotHonoured(word, found.executor, asked=asked, step=step)
        case ImageNotHonoured():
            return errors.NotHonoured(word, found.executor, asked=found.image, step=None)
        case _:
            assert_never(found)


def _landing(labels: Mapping[str, str], known: Mapping[str, str | None]) -> tuple[str, ...]:
    """The executors that may run what asks for these labels."""
    name, executor = labels.get(NAME_LABEL), labels.get(EXECUTOR_LABEL)
    if executor is None and name is not None:
        executor = known.get(name)
    return OWN if executor is None else (executor,)


def _judge(asked: WorkAsked, executors: Iterable[str]) -> HonourDecision:
    request = asked.request
    milli, cpu_milli = request.device_milli, request.cpu_milli
    wish = JobDemand(gpu_milli=milli, cpu_milli=cpu_milli, image=asked.image)
    for executor in executors:
        found = check_honoured(wish, executor, can=find_executor(executor).can)
        if not isinstance(found, Honoured):
            return found
    return Honoured()


def _executors(view: View, names: Iterable[str]) -> dict[str, str | None]:
    """Who runs the jobs of these nodes, of those that are there."""
    ledger = view.state.ledger
    there = (ledger.entry(name) for name in names if name in ledger)
    return {str(e.id): e.capacity.labels.get(EXECUTOR_LABEL) for e in there}


async def _choices(caller: Caller) -> str:
    words = ", ".join(kind.name for kind in EXECUTORS)
    scopes = (FLEET, *caller.principal.roles)
    if not any(caller.holds(Permission.NODE_READ, scope) for scope in scopes):
        return f"one of {words}, or a node that runs jobs"

    def read(view: View) -> list[str]:
        entries = view.state.ledger.entries.values()
        return sorted(str(e.id) for e in entries if EXECUTOR_LABEL in e.capacity.labels)

    nodes = await caller.read(read)
    more = f" and {len(nodes) - CHOICES_MAX} more" if len(nodes) > CHOICES_MAX else ""
    shown = ", ".join(nodes[:CHOICES_MAX]) or "there is none"
    return f"one of {words}, or a node that runs jobs: {shown}{more}"
