"""Histories that lead where a policy forbids to be: what happens, step by step, in a file.

Rules:

- One JSON object with its format's name and version: the policy's text, nodes as in a file of
  placements, seats (a cache and a device of a node), jobs with whose they are, and numbered steps.
- The steps are those of the model (:class:`TraceWord`). Who replays them against a scheduler tries
  to bring each about; a scheduler that refuses one keeps the policy on this history.
- ``forbidden`` are the rules that are broken once the last step is done, as the judge tells them.
- ``fault`` names what the scheduler of the model did wrong, if it was made wrong on purpose.
- Strict and bounded: what is not known is refused by name, and each refusal tells the place.

::

    {"format": "bailiwick.isolation-trace/1",
     "policy": "vault: dedicated host for tenant bank\\n",
     "fault": "forgets_host",
     "nodes": [{"name": "n1", "caches": [{"cores_milli": 2000, "numa": 0}]}],
     "seats": [{"name": "n1.1", "node": "n1", "cache": 0},
               {"name": "n1.2", "node": "n1", "cache": 0}],
     "jobs": [{"name": "J1", "tenant": "bank"}, {"name": "J2", "tenant": "outsider"}],
     "steps": [{"step": 1, "do": "arrive", "job": "J1"},
               {"step": 2, "do": "place", "job": "J1", "seats": ["n1.1"]},
               {"step": 3, "do": "arrive", "job": "J2"},
               {"step": 4, "do": "place", "job": "J2", "seats": ["n1.2"]}],
     "forbidden": [{"rule": "vault", "kind": "host", "domain": "n1", "who": ["J1", "J2"]}]}
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeVar

from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.judge import Violation
from bailiwick.isolation.placement_json import (
    FORMAT as PLACEMENTS_FORMAT,
)
from bailiwick.isolation.placement_json import (
    PlacementFile,
    read_placements,
    spell_placements,
)
from bailiwick.isolation.placements import Site
from bailiwick.isolation.policy import Subject
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.strict_json import JsonFault, JsonRefused, StrictJson

FORMAT: Final = "bailiwick.isolation-trace/1"
BYTES_MAX: Final = 2**20
STEPS_MAX: Final = 1_000
JOBS_MAX: Final = 100
SEATS_MAX: Final = 1_000
TEXT_MAX: Final = 253
POLICY_MAX: Final = 64 * 2**10

_JSON: Final = StrictJson(bytes_max=BYTES_MAX)
_PLACED: Final = (JsonFault.NOT_JSON, JsonFault.TRAILING_DATA)
"""Whose line the parser knows."""
T = TypeVar("T")


class TraceWord(StrEnum):
    """What happens in one step."""

    ARRIVE = "arrive"
    WITHDRAW = "withdraw"
    PLACE = "place"
    PREEMPT = "preempt"
    """Work on these seats is told to leave; they are kept for the job."""
    START = "start"
    """The job starts on the seats that were kept for it."""
    EVICT = "evict"
    """Its grace begins, for nobody's sake."""
    LEAVE = "leave"
    """The teardown of work that had to leave is confirmed; it waits again."""
    FINISH = "finish"
    LOSE = "lose"
    """A node is lost."""
    REGAIN = "regain"
    UNLABEL = "unlabel"
    """A node loses a label; who may not be there any more has to leave."""
    LABEL = "label"
    CLEAR = "clear"
    """A domain was scrubbed, or the time for which it is kept is over."""
    RENEW = "renew"
    """A job's term now reaches a window, or outlasts an exception."""


_NEEDED: Final = {
    **dict.fromkeys(TraceWord, ("job",)),
    TraceWord.PLACE: ("job", "seats"),
    TraceWord.PREEMPT: ("job", "seats"),
    TraceWord.LOSE: ("node",),
    TraceWord.REGAIN: ("node",),
    TraceWord.UNLABEL: ("node", "label"),
    TraceWord.LABEL: ("node", "label"),
    TraceWord.CLEAR: ("rule", "domain"),
    TraceWord.RENEW: ("job", "rule"),
}
"""What a step of each word must say."""


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One step; each word has the fields that it needs."""

    do: TraceWord
    job: str | None = None
    seats: tuple[str, ...] = ()
    node: str | None = None
    label: str | None = None
    """As KEY=VALUE."""
    rule: str | None = None
    domain: str | None = None


@dataclass(frozen=True, slots=True)
class TraceJob:
    """A job, and which windows and ends of exceptions its term reaches when it arrives."""

    name: str
    subject: Subject
    reach: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TraceSeat:
    """A piece of a node: cores under one cache, and perhaps a device."""

    name: str
    node: str
    cache: int
    device: int | None = None


@dataclass(frozen=True, slots=True)
class IsolationTrace:
    """A history that ends where a policy forbids to be."""

    policy: str
    sites: tuple[Site, ...]
    seats: tuple[TraceSeat, ...]
    jobs: tuple[TraceJob, ...]
    steps: tuple[TraceStep, ...]
    forbidden: tuple[Violation, ...]
    fault: str | None = None


# -- writing ---------------------------------------------------------------------------------


def spell_trace(trace: IsolationTrace) -> str:
    """The document of a trace."""
    nodes = json.loads(spell_placements(PlacementFile(trace.sites)))["nodes"]
    document = _known(
        format=FORMAT,
        policy=trace.policy,
        fault=trace.fault,
        nodes=nodes,
        seats=[
            _known(name=s.name, node=s.node, cache=s.cache, device=s.device) for s in trace.seats
        ],
        jobs=[_spell_job(job) for job in trace.jobs],
        steps=[{"step": number, **_spell_step(step)} for number, step in enumerate(trace.steps, 1)],
        forbidden=[
            _known(
                rule=each.rule,
                kind=None if each.kind is None else each.kind.value,
                domain=each.domain,
                who=[*each.who],
            )
            for each in trace.forbidden
        ],
    )
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _spell_job(job: TraceJob) -> dict[str, object]:
    return _known(
        name=job.name,
        tenant=job.subject.tenant,
        project=job.subject.project,
        labels=dict(job.subject.labels) or None,
        reach=[*job.reach] or None,
    )


def _spell_step(step: TraceStep) -> dict[str, object]:
    return _known(
        do=step.do.value,
        job=step.job,
        seats=[*step.seats] or None,
        node=step.node,
        label=step.label,
        rule=step.rule,
        domain=step.domain,
    )


def _known(**fields: object) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value is not None}


# -- reading ---------------------------------------------------------------------------------


def read_trace(raw: bytes) -> IsolationTrace:
    """What a file tells; :class:`~bailiwick.vocab.errors.InvalidValue` if it tells nothing."""
    try:
        document = _object("the document", _JSON.read(raw))
    except JsonRefused as refused:
        why = refused.why or refused.fault.value
        where = f"line {refused.line}" if refused.fault in _PLACED else "trace"
        raise InvalidValue(where, refused.value, f"JSON ({why})") from None
    if document.get("format") != FORMAT:
        raise InvalidValue("format", document.get("format"), f"'{FORMAT}'")
    _only("the document", document, "format policy fault nodes seats jobs steps forbidden")
    nodes: dict[str, object] = {
        "format": PLACEMENTS_FORMAT,
        "nodes": document.get("nodes"),
        "placements": [],
    }
    fault = document.get("fault")
    found = IsolationTrace(
        _text("policy", document.get("policy"), POLICY_MAX),
        read_placements(json.dumps(nodes).encode()).sites,
        _each(document, "seats", _read_seat, most=SEATS_MAX),
        _each(document, "jobs", _read_job, most=JOBS_MAX),
        _each(document, "steps", _read_step, most=STEPS_MAX),
        _each(document, "forbidden", _read_forbidden, most=STEPS_MAX),
        None if fault is None else _text("fault", fault),
    )
    _check(found)
    return found


def _check(trace: IsolationTrace) -> None:
    """Names are of things that the file has, each once."""
    nodes = {site.node: site for site in trace.sites}
    _once("seats", [seat.name for seat in trace.seats])
    _once("jobs", [job.name for job in trace.jobs])
    for seat in trace.seats:
        site = nodes.get(seat.node)
        if site is None:
            raise InvalidValue(f"seat {seat.name}", seat.node, "on a node of the file")
        if seat.cache >= site.topology.cache_count:
            raise InvalidValue(f"seat {seat.name}: cache", seat.cache, "one of the node's")
        if seat.device is not None and seat.device >= len(site.fabrics):
            raise InvalidValue(f"seat {seat.name}: device", seat.device, "one of the node's")
    seats, jobs = {seat.name for seat in trace.seats}, {job.name for job in trace.jobs}
    for index, step in enumerate(trace.steps):
        for key in _NEEDED[step.do]:
            if not getattr(step, key):
                raise InvalidValue(f"steps[{index}].{key}", None, f"what {step.do.value} needs")
        for key, named, known in (
            ("job", (step.job,), jobs),
            ("node", (step.node,), nodes.keys()),
            ("seats", step.seats, seats),
        ):
            unknown = [name for name in named if name is not None and name not in known]
            if unknown:
                raise InvalidValue(f"steps[{index}].{key}", unknown[0], "one that the file names")


def _once(where: str, names: list[str]) -> None:
    for index, name in enumerate(names):
        if name in names[:index]:
            raise InvalidValue(f"{where}[{index}].name", name, "a name that is there once")


def _read_seat(where: str, value: Mapping[str, Any]) -> TraceSeat:
    _only(where, value, "name node cache device")
    device = value.get("device")
    return TraceSeat(
        _text(f"{where}.name", value.get("name")),
        _text(f"{where}.node", value.get("node")),
        _number(f"{where}.cache", value.get("cache")),
        None if device is None else _number(f"{where}.device", device),
    )


def _read_job(where: str, value: Mapping[str, Any]) -> TraceJob:
    _only(where, value, "name tenant project labels reach")
    labels = _object(f"{where}.labels", value.get("labels", {}))
    project = value.get("project")
    subject = Subject(
        _text(f"{where}.tenant", value.get("tenant")),
        None if project is None else _text(f"{where}.project", project),
        {key: _text(f"{where}.labels", label) for key, label in labels.items()},
    )
    reach = _texts(f"{where}.reach", value.get("reach"))
    return TraceJob(_text(f"{where}.name", value.get("name")), subject, reach)


def _read_step(where: str, value: Mapping[str, Any]) -> TraceStep:
    _only(where, value, "step do job seats node label rule domain")
    do, number = value.get("do"), int(where[where.index("[") + 1 : -1]) + 1
    if not isinstance(do, str) or do not in [*TraceWord]:
        raise InvalidValue(f"{where}.do", do, "one of " + ", ".join(TraceWord))
    if value.get("step") != number:
        raise InvalidValue(f"{where}.step", value.get("step"), str(number))
    texts = {
        key: None if value.get(key) is None else _text(f"{where}.{key}", value[key])
        for key in ("job", "node", "label", "rule", "domain")
    }
    return TraceStep(TraceWord(do), seats=_texts(f"{where}.seats", value.get("seats")), **texts)


def _read_forbidden(where: str, value: Mapping[str, Any]) -> Violation:
    _only(where, value, "rule kind domain who")
    kind = value.get("kind")
    if kind is not None and kind not in [*DomainKind]:
        raise InvalidValue(f"{where}.kind", kind, "one of " + ", ".join(DomainKind))
    return Violation(
        _text(f"{where}.rule", value.get("rule")),
        None if kind is None else DomainKind(kind),
        _text(f"{where}.domain", value.get("domain")),
        _texts(f"{where}.who", value.get("who")),
    )


def _each(
    document: Mapping[str, Any], key: str, read: Callable[[str, Mapping[str, Any]], T], *, most: int
) -> tuple[T, ...]:
    value = document.get(key)
    if not isinstance(value, list) or len(value) > most:
        raise InvalidValue(key, value, f"a list of at most {most}")
    where = [f"{key}[{index}]" for index in range(len(value))]
    return tuple(read(at, _object(at, each)) for at, each in zip(where, value, strict=True))


def _object(where: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidValue(where, value, "an object")
    return value


def _only(where: str, value: Mapping[str, Any], known: str) -> None:
    for key in value:
        if key not in known.split():
            raise InvalidValue(f"{where}: key", key, f"one of {known.replace(' ', ', ')}")


def _text(where: str, value: object, most: int = TEXT_MAX) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= most:
        raise InvalidValue(where, value, f"1 to {most} characters")
    return value


def _texts(where: str, value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > SEATS_MAX:
        raise InvalidValue(where, value, f"a list of at most {SEATS_MAX} texts")
    return tuple(_text(where, each) for each in value)


def _number(where: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < SEATS_MAX:
        raise InvalidValue(where, value, f"0 to {SEATS_MAX - 1}")
    return value
