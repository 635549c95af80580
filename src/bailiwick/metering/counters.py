"""What somebody independent counted for a lease, and how that is spelled and added up.

Rules:

- A counter tells sums since its lease's work began, never what came since the last one: a counter
  that is lost costs nothing, and the newest stands for all before it.
- It never tells more than was used. Where a source cannot see everything, it tells less.
- What a source cannot count is not there; that is another thing than none.
- ``to_ms`` is told only by who knows that nothing more can follow.
- Two counters of one lease on one node merge to the larger of each sum; whether it is over, the
  later of them says.
- One spelling: JSON with sorted keys and no blanks, so the same counter has the same bytes.

>>> counter = Counter(7, "node-1", at_ms=9_000, from_ms=1_000, cpu_ms=500)
>>> spell_counter(counter)
b'{"at_ms":9000,"cpu_ms":500,"from_ms":1000,"lease_id":7,"node":"node-1"}'
>>> parse_counter(spell_counter(counter)) == counter
True
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_integer, check_kind, check_name

NUMBER_MAX: Final = 2**53 - 1
"""Largest integer that every JSON reader keeps exactly."""
DEVICE_MAX: Final = 63
LINE_BYTES_MAX: Final = 16_384


@dataclass(frozen=True, slots=True)
class GpuCount:
    """What was counted on one device of the node."""

    index: int
    active_ms: int
    """How long contexts were open on it, all processes together."""
    busy_ms: int
    """How long it computed."""
    until_ms: int
    """When it was last seen to have a context there."""

    def __post_init__(self) -> None:
        check_integer("gpus.index", self.index, low=0, high=DEVICE_MAX)
        for name in ("active_ms", "busy_ms", "until_ms"):
            check_integer(f"gpus.{name}", getattr(self, name), low=0, high=NUMBER_MAX)


@dataclass(frozen=True, slots=True)
class Counter:
    """What was counted for one lease on one node, from ``from_ms`` to ``at_ms``."""

    lease_id: int
    node: str
    at_ms: int
    from_ms: int
    to_ms: int | None = None
    """When the last of it ended; ``None`` while it runs."""
    cpu_ms: int | None = None
    mem_peak_bytes: int | None = None
    gpu_ms: int | None = None
    """GPU time of all devices together, from a source that does not tell them apart."""
    gpus: tuple[GpuCount, ...] = ()

    def __post_init__(self) -> None:
        check_integer("lease_id", self.lease_id, low=1, high=NUMBER_MAX)
        check_name("node", self.node)
        check_integer("at_ms", self.at_ms, low=0, high=NUMBER_MAX)
        check_integer("from_ms", self.from_ms, low=0, high=self.at_ms)
        if self.to_ms is not None:
            check_integer("to_ms", self.to_ms, low=self.from_ms, high=self.at_ms)
        for name in _SUMS:
            value = getattr(self, name)
            if value is not None:
                check_integer(name, value, low=0, high=NUMBER_MAX)
        check_kind("gpus", self.gpus, tuple)
        indices = [gpu.index for gpu in self.gpus]
        if indices != sorted(set(indices)):
            raise InvalidValue("gpus", indices, "each device once, in order")


_SUMS = ("cpu_ms", "mem_peak_bytes", "gpu_ms")
_PLAIN = ("lease_id", "node", "at_ms", "from_ms", "to_ms", *_SUMS)
_GPU = ("index", "active_ms", "busy_ms", "until_ms")


def merge_counters(one: Counter, other: Counter) -> Counter:
    """Both together, of the same lease and node: the larger of each sum, the wider of each span."""
    if (one.lease_id, one.node) != (other.lease_id, other.node):
        raise InvalidValue("counters", other.lease_id, f"one of lease {one.lease_id}")
    gpus = {gpu.index: gpu for gpu in one.gpus}
    for gpu in other.gpus:
        known = gpus.get(gpu.index)
        gpus[gpu.index] = gpu if known is None else _larger(known, gpu)
    return Counter(
        one.lease_id,
        one.node,
        max(one.at_ms, other.at_ms),
        min(one.from_ms, other.from_ms),
        to_ms=_over(one, other),
        cpu_ms=_most(one.cpu_ms, other.cpu_ms),
        mem_peak_bytes=_most(one.mem_peak_bytes, other.mem_peak_bytes),
        gpu_ms=_most(one.gpu_ms, other.gpu_ms),
        gpus=tuple(gpus[index] for index in sorted(gpus)),
    )


def _over(one: Counter, other: Counter) -> int | None:
    if one.at_ms == other.at_ms:
        return _most(one.to_ms, other.to_ms)
    return max(one, other, key=lambda each: each.at_ms).to_ms


def _larger(one: GpuCount, other: GpuCount) -> GpuCount:
    return GpuCount(
        one.index,
        max(one.active_ms, other.active_ms),
        max(one.busy_ms, other.busy_ms),
        max(one.until_ms, other.until_ms),
    )


def _most(one: int | None, other: int | None) -> int | None:
    return max((each for each in (one, other) if each is not None), default=None)


# -- spelling --------------------------------------------------------------------------------


def spell_counter(counter: Counter) -> bytes:
    """The one spelling of a counter."""
    plain: dict[str, Any] = {
        name: value for name in _PLAIN if (value := getattr(counter, name)) is not None
    }
    if counter.gpus:
        plain["gpus"] = [{name: getattr(gpu, name) for name in _GPU} for gpu in counter.gpus]
    return json.dumps(plain, sort_keys=True, separators=(",", ":")).encode("ascii")


def parse_counter(line: bytes, *, where: str = "counter") -> Counter:
    """The counter that a line tells; anything else is refused with where it stands."""
    if len(line) > LINE_BYTES_MAX:
        raise InvalidValue(where, f"{len(line)} bytes", f"at most {LINE_BYTES_MAX}")
    try:
        plain = json.loads(line)
    except (ValueError, RecursionError):
        raise InvalidValue(where, line[:80], "one JSON object") from None
    try:
        return counter_of(plain)
    except InvalidValue as error:
        raise InvalidValue(f"{where}: {error.field}", error.value, error.expected) from None


def counter_of(plain: object) -> Counter:
    """The counter that plain values tell."""
    told = _object("counter", plain, known=(*_PLAIN, "gpus"))
    missing = [name for name in ("lease_id", "node", "at_ms", "from_ms") if name not in told]
    if missing:
        raise InvalidValue("counter", sorted(told), f"{', '.join(missing)} too")
    gpus = told.pop("gpus", [])
    if not isinstance(gpus, list) or len(gpus) > DEVICE_MAX + 1:
        raise InvalidValue("gpus", gpus, f"a list of at most {DEVICE_MAX + 1} devices")
    return Counter(**told, gpus=tuple(_gpu(each) for each in gpus))


def _gpu(plain: object) -> GpuCount:
    told = _object("gpus", plain, known=_GPU)
    if len(told) != len(_GPU):
        raise InvalidValue("gpus", sorted(told), ", ".join(_GPU))
    return GpuCount(**told)


def _object(field: str, plain: object, *, known: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(plain, Mapping):
        raise InvalidValue(field, plain, "an object")
    unknown = [str(name) for name in plain if name not in known]
    if unknown:
        raise InvalidValue(field, unknown[0], f"only {', '.join(known)}")
    return dict(plain)
