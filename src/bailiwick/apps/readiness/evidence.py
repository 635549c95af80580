"""What a check of an app found: what only who checked can know, and what the records say.

Rules:

- Claims come from outside. Each is a number, a word of a closed list, a name that the server knows
  or an address: there is no place in which a secret could stand, nor one without a bound.
- Facts are read from records (:mod:`.timeline`), by the server from its own.
- Both together have one spelling, by whose SHA-256 they are known; no other is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from ipaddress import ip_address
from typing import Any, Final, TypeVar

from bailiwick.apps.manifest import check_digest, check_word
from bailiwick.apps.semver import check_version
from bailiwick.vocab.apps import InstanceRefusal
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.readiness import ForeignScope, LifecycleEvent, LifeStep
from bailiwick.vocab.values import check_integer, check_kind, check_name

INTEGER_MAX: Final = 2**53 - 1
CONNECTIONS_MAX: Final = 16
TRIES_MAX: Final = 64
KILLS_MAX: Final = 8
BYTES_MAX: Final = 16_384
"""Of all of it as it is written down."""

FOREIGN_ACTIONS: Final = (
    "instance.list",
    "instance.create",
    "instance.read",
    "instance.change",
    "instance.delete",
    "instance.report",
    "instance.force_delete",
    "instance_member.list",
    "instance_member.list_all",
    "instance_member.change",
    "instance_operation.list",
    "instance_operation.begin",
    "instance_operation.read",
    "instance_operation.advance",
    "instance_operation.finish",
    "instance_usage.read",
    "instance_usage.report",
    "instance_queue.submit",
    "instance_queue.read",
    "instance_queue.cancel",
    "instance_call.take",
    "instance_call.read",
    "instance_call.answer",
    "instance_endpoint.list",
    "instance_endpoint.get",
    "instance_endpoint.post",
    "instance_endpoint.put",
    "instance_endpoint.patch",
    "instance_endpoint.delete",
)
"""What is tried at other projects: all that can be asked about instances."""

T = TypeVar("T")
_PRINCIPAL: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@/+-]{0,127}")


def _number(field: str, value: object, *, low: int = 0) -> None:
    check_integer(field, value, low=low, high=INTEGER_MAX)


def _check_principal(value: object) -> None:
    if not isinstance(value, str) or not _PRINCIPAL.fullmatch(value):
        raise InvalidValue("operator", "(not shown)", "the name of an account")


def check_endpoint(value: object) -> str:
    """The value if it is an address and a port: ``10.0.0.1:5432``, ``[::1]:53``."""
    host, _, port = check_kind("connection", value, str).rpartition(":")
    try:
        found = ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        raise InvalidValue("connection", "(not shown)", "an address and a port") from None
    spelled = f"[{found}]" if found.version == 6 else str(found)
    if not port.isdecimal() or not port.isascii() or str(int(port)) != port or int(port) > 65_535:
        raise InvalidValue("connection", "(not shown)", "an address and a port")
    if f"{spelled}:{port}" != value:
        raise InvalidValue("connection", "(not shown)", f"{spelled}:{port}")
    return str(value)


@dataclass(frozen=True, slots=True)
class ConnectionWatch:
    """How often an operator's connections were looked at, and which were not to the server."""

    looks: int
    others: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _number("looks", self.looks)
        _check_length("others", self.others, most=CONNECTIONS_MAX)
        for each in self.others:
            check_endpoint(each)


@dataclass(frozen=True, slots=True)
class ForeignTry:
    """What an operator's account was answered where it has nothing to do."""

    scope: ForeignScope
    action: str
    status: int

    def __post_init__(self) -> None:
        check_kind("scope", self.scope, ForeignScope)
        if self.action not in FOREIGN_ACTIONS:
            raise InvalidValue("action", "(not shown)", "one about instances")
        check_integer("status", self.status, low=100, high=599)


@dataclass(frozen=True, slots=True)
class PolicyTry:
    """A line that denies where an artifact comes from, and what a deployment was answered then."""

    source: str
    seq: int
    """The record of the line."""
    refusal: InstanceRefusal | None
    """Nothing: it was deployed."""

    def __post_init__(self) -> None:
        check_word("source", self.source)
        _number("seq", self.seq)
        if self.refusal is not None:
            check_kind("refusal", self.refusal, InstanceRefusal)


@dataclass(frozen=True, slots=True)
class OperatorKill:
    """The operator was ended with ``kill -9`` when this was the newest record."""

    step: LifeStep
    seq: int

    def __post_init__(self) -> None:
        check_kind("step", self.step, LifeStep)
        _number("seq", self.seq)


@dataclass(frozen=True, slots=True)
class HeardEvent:
    """An event came over the stream with all names by which it is followed."""

    event: LifecycleEvent
    seq: int

    def __post_init__(self) -> None:
        check_kind("event", self.event, LifecycleEvent)
        _number("seq", self.seq)


@dataclass(frozen=True, slots=True)
class RunbookTry:
    """How many commands a runbook names, and how many of them the command line does not have."""

    commands: int
    unknown: int

    def __post_init__(self) -> None:
        _number("commands", self.commands)
        check_integer("unknown", self.unknown, low=0, high=self.commands)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckClaims:
    """What who checked an app says of it; what was not tried is not there."""

    digest: str
    tenant: str
    project: str
    instance_id: int
    first_seq: int
    """Between these records all of it happened."""
    last_seq: int
    operator: str | None = None
    """Whose token the operator was given."""
    connections: ConnectionWatch | None = None
    foreign: tuple[ForeignTry, ...] = ()
    heard: tuple[HeardEvent, ...] = ()
    policy: PolicyTry | None = None
    kills: tuple[OperatorKill, ...] = ()
    runbook: RunbookTry | None = None

    def __post_init__(self) -> None:
        check_digest("digest", self.digest)
        check_name("tenant", self.tenant)
        check_name("project", self.project)
        _number("instance_id", self.instance_id, low=1)
        _number("first_seq", self.first_seq)
        _number("last_seq", self.last_seq, low=self.first_seq)
        if self.operator is not None:
            _check_principal(self.operator)
        _check_length("foreign", self.foreign, most=TRIES_MAX)
        _check_length("heard", self.heard, most=len(LifecycleEvent))
        _check_length("kills", self.kills, most=KILLS_MAX)
        if len({each.event for each in self.heard}) < len(self.heard):
            raise InvalidValue("heard", len(self.heard), "each event once")


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFact:
    """One step as the records tell it; what is 0 did not happen."""

    step: LifeStep
    before: str
    version: str
    asked_seq: int
    kills: int
    """How often the operator was killed before it ended."""
    seen_seq: int = 0
    """The operator's first report on it after the first of them."""
    ended_seq: int = 0

    def __post_init__(self) -> None:
        check_kind("step", self.step, LifeStep)
        check_version("before", self.before)
        check_version("version", self.version)
        for name in ("asked_seq", "kills", "seen_seq", "ended_seq"):
            _number(name, getattr(self, name))


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckFacts:
    """What the records of an instance say."""

    reached: tuple[HeardEvent, ...] = ()
    """The first record of each event; of ``running``, the first in the version in question."""
    steps: tuple[StepFact, ...] = ()
    acts: int = 0
    """What its operator's account did for it."""
    strangers: int = 0
    """What somebody else did of that, who is not the platform."""

    def __post_init__(self) -> None:
        _check_length("reached", self.reached, most=len(LifecycleEvent))
        _check_length("steps", self.steps, most=len(LifeStep))
        _number("acts", self.acts)
        _number("strangers", self.strangers)


@dataclass(frozen=True, slots=True)
class CheckEvidence:
    """All that a judgement is made from."""

    version: str
    claims: CheckClaims
    facts: CheckFacts

    @property
    def canonical(self) -> str:
        """Its one spelling."""
        told = asdict(self)
        return json.dumps(told, sort_keys=True, separators=(",", ":"), ensure_ascii=True)

    @property
    def digest(self) -> str:
        """What it is known by."""
        return sha256(self.canonical.encode()).hexdigest()


def _check_length(field: str, value: tuple[object, ...], *, most: int) -> None:
    if not isinstance(value, tuple) or len(value) > most:
        raise InvalidValue(field, "(not shown)", f"a list of at most {most}")


# -- reading ---------------------------------------------------------------------------------


def read_evidence(text: str) -> CheckEvidence:
    """What a text says, if it is the one spelling of it."""
    if len(text) > BYTES_MAX:
        raise InvalidValue("evidence", len(text), f"at most {BYTES_MAX} bytes")
    try:
        plain = json.loads(text)
        found = CheckEvidence(
            plain["version"], read_claims(plain["claims"]), _facts(plain["facts"])
        )
        check_version("version", found.version)
        is_same = found.canonical == text
    except InvalidValue:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        raise InvalidValue("evidence", "(not shown)", "what a check found, as JSON") from None
    if not is_same:
        raise InvalidValue("evidence", "(not shown)", "the one spelling of what it says")
    return found


def _some(plain: Mapping[str, Any] | None, kind: type[T]) -> T | None:
    return None if plain is None else _one(plain, kind)


def _one(plain: Mapping[str, Any], kind: type[T]) -> T:
    """A value of plain fields, with its words read."""
    words = {"scope": ForeignScope, "step": LifeStep, "event": LifecycleEvent}
    words |= {"refusal": InstanceRefusal}
    known = {each.name for each in fields(kind)}  # type: ignore[arg-type]
    told = {
        name: words[name](value)
        if name in words and value is not None
        else tuple(value)
        if isinstance(value, list)
        else value
        for name, value in plain.items()
    }
    if told.keys() != known:
        raise InvalidValue("evidence", "(not shown)", f"{kind.__name__} with all of its fields")
    return kind(**told)


def _all(plain: list[Mapping[str, Any]], kind: type[T]) -> tuple[T, ...]:
    return tuple(_one(each, kind) for each in plain)


def read_claims(plain: Mapping[str, Any]) -> CheckClaims:
    """The claims that plain values say."""
    parts = {
        "connections": _some(plain["connections"], ConnectionWatch),
        "foreign": _all(plain["foreign"], ForeignTry),
        "heard": _all(plain["heard"], HeardEvent),
        "policy": _some(plain["policy"], PolicyTry),
        "kills": _all(plain["kills"], OperatorKill),
        "runbook": _some(plain["runbook"], RunbookTry),
    }
    return CheckClaims(**{**plain, **parts})


def _facts(plain: Mapping[str, Any]) -> CheckFacts:
    parts = {"reached": _all(plain["reached"], HeardEvent), "steps": _all(plain["steps"], StepFact)}
    return CheckFacts(**{**plain, **parts})
