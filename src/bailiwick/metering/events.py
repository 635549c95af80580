"""The events of the stand-alone meter, and how one line of JSON tells one.

Rules:

- One event is one line: a JSON object of at most ``LINE_BYTES_MAX`` bytes. Four fields name it and
  its time (``source``, ``epoch``, ``sequence``, ``at_ms``), ``kind`` says what happened, and each
  kind has its own fields.
- Parsing is strict: a field that is missing, unknown, told twice or of another type is refused
  with its line and name. There are no fractions anywhere; time is in integer milliseconds.
- The payload that repeats are compared by is the meaning of a line, not its spelling: spaces and
  the order of fields do not matter.

>>> name = b'"source": "n1", "epoch": 1, "sequence": 0'
>>> parse_line(b'{%s, "at_ms": 5, "kind": "node_back", "node": "n1"}' % name, line=1).event
NodeBack(node='n1')
>>> parse_line(b'{%s, "at_ms": "now", "kind": "node_back"}' % name, line=7)  # doctest: +ELLIPSIS
Traceback (most recent call last):
...
bailiwick.vocab.errors.InvalidValue: line 7: at_ms: expected an integer from 0 to ..., got 'now'
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, TypeAlias

from bailiwick.metering.owners import UnavailableCause
from bailiwick.metering.sources import SourceEvent
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.strict_json import JsonFault, JsonRefused, StrictJson
from bailiwick.vocab.values import MILLI, check_amount, check_integer, check_name
from bailiwick.vocab.words import EndCause, HardwareGeneration, LeaseClass, ResourceKind

LINE_BYTES_MAX: Final = 65_536
GPUS_MAX: Final = 1_024
"""The most GPUs that one node may have."""
LEASE_CHARS_MAX: Final = 128

CLOSED_CAUSES: Final = (
    *(UnavailableCause.DRAINING, UnavailableCause.DRAINED, UnavailableCause.MAINTENANCE),
    *(UnavailableCause.RETURNING, UnavailableCause.FENCE_LOST, UnavailableCause.QUARANTINED),
    UnavailableCause.CORDONED,
)
"""Why a node can be unavailable; the other causes are what the meter itself finds out."""


class EventKind(StrEnum):
    """What can happen."""

    NODE_APPEARED = "node_appeared"
    NODE_UNAVAILABLE = "node_unavailable"
    NODE_BACK = "node_back"
    NODE_GONE = "node_gone"
    LEASE_STARTED = "lease_started"
    LEASE_ENDED = "lease_ended"


@dataclass(frozen=True, slots=True)
class NodeAppeared:
    """From now on there is this node, free and open."""

    node: str
    gpus: tuple[HardwareGeneration, ...] = ()
    resources: Mapping[ResourceKind, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NodeUnavailable:
    """The node takes no work; what leases hold there they keep."""

    node: str
    cause: UnavailableCause


@dataclass(frozen=True, slots=True)
class NodeBack:
    """The node takes work again."""

    node: str


@dataclass(frozen=True, slots=True)
class NodeGone:
    """The node is there no more, and its leases are over; it was seen last at this time."""

    node: str
    last_seen_ms: int | None = None


@dataclass(frozen=True, slots=True)
class LeaseStarted:
    """A lease holds these devices and amounts of one node."""

    lease: str
    node: str
    tenant: str
    project: str | None = None
    tag: str | None = None
    lease_class: LeaseClass = LeaseClass.STANDARD
    devices: tuple[int, ...] = ()
    resources: Mapping[ResourceKind, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LeaseEnded:
    """The lease is over; ``ended_ms`` is when it really was, where that is known to be earlier."""

    lease: str
    cause: EndCause = EndCause.RELEASED
    ended_ms: int | None = None


MeterEvent: TypeAlias = (
    NodeAppeared | NodeUnavailable | NodeBack | NodeGone | LeaseStarted | LeaseEnded
)


@dataclass(frozen=True, slots=True)
class Sent:
    """An event with its name and time, and the line that it stood in."""

    source: str
    epoch: int
    sequence: int
    at_ms: int
    event: MeterEvent
    line: int
    payload: bytes

    @property
    def key(self) -> tuple[str, int, int]:
        """What it is named by."""
        return self.source, self.epoch, self.sequence

    def offered(self) -> SourceEvent:
        """As the sources take it."""
        return SourceEvent(self.source, self.epoch, self.sequence, self.payload)


def parse_line(text: bytes, *, line: int) -> Sent:
    """The event that a line tells; what is wrong with it is told with the line's number."""
    try:
        return _parse(text, line)
    except InvalidValue as error:
        raise InvalidValue(f"line {line}: {error.field}", error.value, error.expected) from None


def _parse(text: bytes, line: int) -> Sent:
    told = _Fields(_object(text))
    source = told.take("source", check_name)
    epoch = told.take("epoch", lambda name, it: check_integer(name, it, low=1, high=2**62 - 1))
    sequence = told.take("sequence", check_amount)
    payload = _ENCODER.encode(told.left).encode()
    at_ms = told.take("at_ms", check_amount)
    kind = told.take("kind", _KIND)
    event = _PARSERS[kind](told)
    told.check_empty()
    return Sent(source, epoch, sequence, at_ms, event, line, payload)


def _object(text: bytes) -> dict[str, Any]:
    try:
        found = _READER.read(text)
    except JsonRefused as refused:
        raise _invalid(refused, text) from None
    if not isinstance(found, dict):
        raise InvalidValue("event", found, "a JSON object")
    return found


def _invalid(refused: JsonRefused, text: bytes) -> InvalidValue:
    match refused.fault:
        case JsonFault.TOO_LONG:
            return InvalidValue("length", refused.value, f"{refused.why} in a line")
        case JsonFault.DUPLICATE_KEY:
            return InvalidValue(str(refused.value), "told twice", "each field once")
        case JsonFault.NOT_AN_INTEGER:
            return InvalidValue("number", refused.value, "an integer")
        case _:
            return InvalidValue("event", text[:80], f"a JSON object ({refused.why.lower()})")


_READER = StrictJson(bytes_max=LINE_BYTES_MAX, digits_max=19)  # an epoch may have so many
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


class _Fields:
    """The fields of an object, taken out one by one, so that none is left over unread."""

    def __init__(self, left: dict[str, Any]) -> None:
        self.left = left

    def take(self, name: str, check: Callable[[str, Any], Any]) -> Any:
        """A field that must be there."""
        if name not in self.left:
            raise InvalidValue(name, "nothing", "this field")
        return check(name, self.left.pop(name))

    def may(self, name: str, check: Callable[[str, Any], Any]) -> Any:
        """A field that may be absent or null."""
        value = self.left.pop(name, None)
        return None if value is None else check(name, value)

    def check_empty(self) -> None:
        """Refuse what nobody took."""
        for name in self.left:
            raise InvalidValue(name, "told", "no such field in an event of this kind")


def _word_of(words: type[StrEnum]) -> Callable[[str, Any], Any]:
    known = {word.value: word for word in words}

    def check(name: str, value: Any) -> Any:
        found = known.get(value) if isinstance(value, str) else None
        if found is None:
            raise InvalidValue(name, value, "one of " + ", ".join(known))
        return found

    return check


_KIND, _END = _word_of(EventKind), _word_of(EndCause)
_CLASS, _GENERATION = _word_of(LeaseClass), _word_of(HardwareGeneration)


def _cause(name: str, value: Any) -> UnavailableCause:
    if not isinstance(value, str) or value not in CLOSED_CAUSES:
        raise InvalidValue(name, value, "one of " + ", ".join(CLOSED_CAUSES))
    return UnavailableCause(value)


def _lease(name: str, value: Any) -> str:
    is_text = isinstance(value, str) and value.isprintable()
    if not is_text or not 1 <= len(value) <= LEASE_CHARS_MAX:
        raise InvalidValue(name, value, f"1 to {LEASE_CHARS_MAX} printable characters")
    return str(value)


def _amounts(*kinds: ResourceKind) -> Callable[[str, Any], dict[ResourceKind, int]]:
    def check(name: str, value: Any) -> dict[ResourceKind, int]:
        if not isinstance(value, dict):
            raise InvalidValue(name, value, "an object")
        for word in value:
            if word not in kinds:
                raise InvalidValue(f"{name}.{word}", "told", "one of " + ", ".join(kinds))
        return {
            kind: check_amount(f"{name}.{kind}", value[kind]) for kind in kinds if kind in value
        }

    return check


_PLAIN = (ResourceKind.CPU_MILLI, ResourceKind.MEM_BYTES, ResourceKind.BLOCK_BYTES)


def _gpus(name: str, value: Any) -> tuple[HardwareGeneration, ...]:
    if not isinstance(value, list) or len(value) > GPUS_MAX:
        raise InvalidValue(name, value, f"a list of at most {GPUS_MAX} generations")
    return tuple(_GENERATION(name, word) for word in value)


def _devices(name: str, value: Any) -> tuple[int, ...]:
    if not isinstance(value, list) or len(value) > GPUS_MAX:
        raise InvalidValue(name, value, f"a list of at most {GPUS_MAX} indices")
    found = [check_integer(name, each, low=0, high=GPUS_MAX - 1) for each in value]
    if len(set(found)) != len(found):
        raise InvalidValue(name, value, "each index once")
    return tuple(sorted(found))


def _node_appeared(told: _Fields) -> NodeAppeared:
    return NodeAppeared(
        told.take("node", check_name),
        told.may("gpus", _gpus) or (),
        told.may("resources", _amounts(*_PLAIN)) or {},
    )


def _lease_started(told: _Fields) -> LeaseStarted:
    found = LeaseStarted(
        lease=told.take("lease", _lease),
        node=told.take("node", check_name),
        tenant=told.take("tenant", check_name),
        project=told.may("project", check_name),
        tag=told.may("tag", check_name),
        lease_class=told.may("class", _CLASS) or LeaseClass.STANDARD,
        devices=told.may("devices", _devices) or (),
        resources=told.may("resources", _amounts(*ResourceKind)) or {},
    )
    _check_share(found)
    return found


def _check_share(started: LeaseStarted) -> None:
    """What is told of GPUs is a share of each device, the same of all; whole ones if not told."""
    count = len(started.devices)
    milli = started.resources.get(ResourceKind.GPU_MILLI, count * MILLI)
    if milli > count * MILLI or (count and (not milli or milli % count)):
        expected = f"an equal share of {count} devices, at most {count * MILLI}"
        raise InvalidValue("resources.gpu_milli", milli, expected)


_PARSERS: Final[dict[EventKind, Callable[[_Fields], MeterEvent]]] = {
    EventKind.NODE_APPEARED: _node_appeared,
    EventKind.NODE_UNAVAILABLE: lambda told: NodeUnavailable(
        told.take("node", check_name), told.take("cause", _cause)
    ),
    EventKind.NODE_BACK: lambda told: NodeBack(told.take("node", check_name)),
    EventKind.NODE_GONE: lambda told: NodeGone(
        told.take("node", check_name), told.may("last_seen_ms", check_amount)
    ),
    EventKind.LEASE_STARTED: _lease_started,
    EventKind.LEASE_ENDED: lambda told: LeaseEnded(
        told.take("lease", _lease),
        told.take("cause", _END),
        told.may("ended_ms", check_amount),
    ),
}
