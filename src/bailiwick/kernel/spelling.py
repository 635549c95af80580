"""Requests and denials as the plain values of a record's body, and back.

Rules:

- What equals its default is left out, so a record says only what somebody asked for.
- Reading back gives an equal value: a record alone is enough to decide the same request again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from itertools import groupby
from typing import Any

from bailiwick.fleet.resources import Resources
from bailiwick.journal.fields import INTEGER_MAX
from bailiwick.scheduler import decision as capacity
from bailiwick.scheduler import quota_policy as quota
from bailiwick.scheduler.core_book import Cores
from bailiwick.scheduler.decision import DenialDetail, Denied
from bailiwick.scheduler.quota_policy import QuotaScope
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.rights import denials as rights
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import MILLI
from bailiwick.vocab.words import (
    Dimension,
    Exclusivity,
    FilterReason,
    HardwareGeneration,
    LeaseClass,
    PendingReason,
    Priority,
    ResourceKind,
)

Body = dict[str, Any]

_TTL_DEFAULT = 3_600_000
_UNKNOWN_CORES = "*"
CPU, MEM, BLOCK, GPU = (str(kind) for kind in ResourceKind)


def amounts_of(held: Resources) -> dict[str, int]:
    """The resources that are not zero."""
    return nonzero(held.cpu_milli, held.mem_bytes, block=held.block_bytes, gpu=held.gpu_milli)


def nonzero(cpu: int, mem: int, *, block: int, gpu: int) -> dict[str, int]:
    """Those that are not zero, by their words."""
    found = {}
    if cpu:
        found[CPU] = cpu
    if mem:
        found[MEM] = mem
    if block:
        found[BLOCK] = block
    if gpu:
        found[GPU] = gpu
    return found


def resources_from(body: Mapping[str, int]) -> Resources:
    """The resources that a record tells."""
    return Resources(**{str(kind): body.get(kind, 0) for kind in ResourceKind})


def request_body(r: PlacementRequest) -> Body:
    """All that a request asks for, but its owner, who stands on the record."""
    body: Body = {
        "resources": nonzero(r.cpu_milli, r.mem_bytes, block=r.block_bytes, gpu=r.gpu_milli_total),
        "priority": r.priority.value,
        "lease_class": r.lease_class.value,
    }
    if r.device_count:
        _add_devices(body, r)
    if r.ttl_ms != _TTL_DEFAULT:
        body["ttl_ms"] = r.ttl_ms
    if r.tag is not None:
        body["tag"] = str(r.tag)
    if r.labels:
        body["labels"] = labels_body(r.labels)
    if r.job_labels:
        body["job_labels"] = labels_body(r.job_labels)
    if r.gang_size != 1:
        body["gang_size"] = r.gang_size
    if r.deadline_ms is not None:
        body["deadline_ms"] = r.deadline_ms
    if r.preemptible_on_budget:
        body["preemptible_on_budget"] = 1
    return body


def labels_body(labels: Mapping[str, str]) -> list[str]:
    """Labels as a record tells them."""
    return [f"{key}={value}" for key, value in sorted(labels.items())]


def labels_from(told: Iterable[str]) -> dict[str, str]:
    """The labels that a record tells."""
    return dict(label.split("=", 1) for label in told)


def _add_devices(body: Body, r: PlacementRequest) -> None:
    if r.gpu_count:
        body["gpu_count"] = r.gpu_count
    if r.gpu_milli:
        body["gpu_milli"] = r.gpu_milli
    if r.gpu_vram:
        body["gpu_vram"] = r.gpu_vram
    if r.gpu_models:
        body["gpu_models"] = list(r.gpu_models)
    if r.generation is not None:
        body["gpu_generation"] = r.generation.value
    if r.exclusivity is not None:
        body["exclusivity"] = r.exclusivity.value


def request_from(body: Mapping[str, Any], tenant: str, *, project: str | None) -> PlacementRequest:
    """The request that a record tells."""
    held: Mapping[str, int] = body["resources"]
    word = body.get("gpu_generation")
    exclusivity = body.get("exclusivity")
    return PlacementRequest(
        tenant=tenant,  # type: ignore[arg-type]  # checked there
        project=project,  # type: ignore[arg-type]
        tag=body.get("tag"),
        cpu_cores=cores_of(held.get(CPU, 0)),
        mem_bytes=held.get(MEM, 0),
        block_bytes=held.get(BLOCK, 0),
        gpu_count=body.get("gpu_count", 0),
        gpu_milli=body.get("gpu_milli", 0),
        gpu_vram=body.get("gpu_vram", 0),
        gpu_models=tuple(body.get("gpu_models", ())),
        generation=None if word is None else HardwareGeneration(word),
        exclusivity=None if exclusivity is None else Exclusivity(exclusivity),
        labels=labels_from(body.get("labels", ())),
        job_labels=labels_from(body.get("job_labels", ())),
        priority=Priority(body["priority"]),
        lease_class=LeaseClass(body["lease_class"]),
        gang_size=body.get("gang_size", 1),
        ttl_ms=body.get("ttl_ms", _TTL_DEFAULT),
        deadline_ms=body.get("deadline_ms"),
        preemptible_on_budget=bool(body.get("preemptible_on_budget", 0)),
    )


def cores_of(cpu_milli: int) -> int | float:
    """Milli-cores as the cores that a request or an inventory names."""
    whole, rest = divmod(cpu_milli, MILLI)
    return cpu_milli / MILLI if rest else whole


_DETAILS: dict[str, type[Any]] = {
    kind.code.value: kind
    for kind in (
        capacity.DeadlinePassed,
        capacity.NoSuchHardware,
        capacity.NodesForbidden,
        capacity.LargerThanAnyNode,
        capacity.HeadroomKept,
        capacity.RoomClaimed,
        capacity.ReservedForOthers,
        capacity.NodesKeptApart,
        capacity.NotEnoughFree,
        capacity.Fragmented,
        capacity.VictimsLeaving,
        capacity.NodeClosed,
        capacity.NodeKeptApart,
        capacity.NodesClosed,
        capacity.TermReserved,
        capacity.NodesMaintained,
        capacity.NodeMaintained,
        capacity.NodesBooked,
        capacity.NodeBooked,
        quota.GpuGenerationRequired,
        quota.GpuGenerationLimitExceeded,
        quota.HardLimitExceeded,
        quota.BurstCreditExhausted,
        quota.BudgetExhausted,
        quota.CostCapExceeded,
        rights.ScopeClosed,
        rights.PriorityTooHigh,
        rights.LeaseClassForbidden,
        rights.TermTooLong,
        rights.TooManyWaiting,
    )
}
# How a detail's own names are spelled in a body, where a request may have the same ones.
_SPELLED = {"generation": "denied_generation", "scope": "denied_scope"}
_ENUMS: dict[str, type[Any]] = {
    "generation": HardwareGeneration,
    "dimension": Dimension,
    "resource": ResourceKind,
    "closed_by": FilterReason,
    "asked_priority": Priority,
    "priority_max": Priority,
    "asked_class": LeaseClass,
}


def denial_body(denied: Denied) -> Body:
    """The words of a denial and its numbers."""
    body: Body = {"reason": denied.reason.value, "detail": denied.detail.code.value}
    for each in fields(denied.detail):
        value = getattr(denied.detail, each.name)
        if isinstance(value, QuotaScope):
            value = [str(value.tenant), *([str(value.project)] if value.project else [])]
        elif value is None:
            continue
        body[_SPELLED.get(each.name, each.name)] = _plain(value)
    return body


def _plain(value: object) -> object:
    if type(value) is int:  # the sum of a large fleet may be more than a record can tell
        return max(-INTEGER_MAX, min(value, INTEGER_MAX))
    return value if isinstance(value, list) else str(value)


def denial_from(body: Mapping[str, Any]) -> Denied | None:
    """The denial that a record tells, if it tells one."""
    word = body.get("detail")
    if word is None:
        return None
    kind = _DETAILS[word]
    values: dict[str, Any] = {}
    for each in fields(kind):
        value = body.get(_SPELLED.get(each.name, each.name))
        if value is None and each.default is not MISSING:  # older records lack some numbers
            continue
        if each.name == "scope":
            value = QuotaScope.of(*value) if value else None
        elif each.name in _ENUMS:
            value = _ENUMS[each.name](value)
        values[each.name] = value
    detail: DenialDetail = kind(**values)
    return Denied(PendingReason(body["reason"]), detail)


def spell_cores(cores: Cores | None) -> str:
    """The cores of one lease as text: how many milli-cores under which caches.

    Caches in a row with as many each are told together; ``*`` says that it is not known.

    >>> spell_cores(((0, 4_000), (3, 8_000), (4, 8_000))), spell_cores(()), spell_cores(None)
    ('0:4000,3-4:8000', '', '*')
    """
    if cores is None:
        return _UNKNOWN_CORES
    parts = []
    for (_, milli), run in groupby(enumerate(cores), lambda at: (at[1][0] - at[0], at[1][1])):
        caches = [cache for _, (cache, _) in run]
        name = f"{caches[0]}-{caches[-1]}" if len(caches) > 1 else str(caches[0])
        parts.append(f"{name}:{milli}")
    return ",".join(parts)


def read_cores(text: str) -> Cores | None:
    """The cores that such a text tells."""
    if text == _UNKNOWN_CORES:
        return None
    found: list[tuple[int, int]] = []
    for part in text.split(",") if text else ():
        name, _, milli = part.partition(":")
        first, _, last = name.partition("-")
        if not (first.isdecimal() and (last or "0").isdecimal() and milli.isdecimal()):
            raise InvalidValue("cores", text, "caches and milli-cores, such as 0:4000")
        caches = range(int(first), int(last or first) + 1)
        found += [(cache, int(milli)) for cache in caches[:256]]
    return tuple(found)
