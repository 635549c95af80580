"""Inventories, quotas and settings as the plain values of a record's body, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.fleet.topology import CacheDomain, NodeTopology
from bailiwick.kernel.settings import LATER, NUMBERS, Settings
from bailiwick.kernel.spelling import (
    BLOCK,
    CPU,
    MEM,
    Body,
    amounts_of,
    cores_of,
    nonzero,
    resources_from,
)
from bailiwick.scheduler.quota_policy import (
    BurstCredit,
    GpuGenerationQuota,
    Quota,
    ResourceLimit,
)
from bailiwick.scheduler.rights.ceilings import Ceiling
from bailiwick.vocab.words import Dimension, HardwareGeneration, LeaseClass, Priority, Strategy

_UNKNOWN = -1
"""The memory node of a device of which nobody says where it is."""


def inventory_body(capacity: NodeCapacity) -> Body:
    """What a machine offers, device by device."""
    gpus = capacity.gpus
    body: Body = {
        "resources": nonzero(
            capacity.cpu_milli,
            capacity.mem_bytes,
            block=capacity.block_bytes,
            gpu=capacity.gpu_milli,
        )
    }
    if gpus:
        body["gpu_generations"] = [gpu.generation.value for gpu in gpus]
        body["gpu_vram_bytes"] = [gpu.vram_bytes for gpu in gpus]
        body["gpu_models"] = [gpu.model for gpu in gpus]
        body["gpu_fabrics"] = [gpu.fabric for gpu in gpus]
        body["gpu_partitionable"] = [int(gpu.partitionable) for gpu in gpus]
    if capacity.labels:
        body["labels"] = [f"{key}={value}" for key, value in sorted(capacity.labels.items())]
    return body | _topology_body(capacity.topology)


def _topology_body(topology: NodeTopology) -> Body:
    """Columns, as those of the devices; nothing of a machine that does not tell."""
    body: Body = {}
    if topology.caches:
        body["cache_milli"] = [cache.cores_milli for cache in topology.caches]
        body["cache_numa"] = [cache.numa for cache in topology.caches]
    if topology.gpu_numa:
        body["gpu_numa"] = [_UNKNOWN if numa is None else numa for numa in topology.gpu_numa]
    return body


def _topology_from(body: Mapping[str, Any]) -> NodeTopology:
    rows = zip(body.get("cache_milli", ()), body.get("cache_numa", ()), strict=True)
    near = body.get("gpu_numa", ())
    return NodeTopology(
        tuple(CacheDomain(milli, numa) for milli, numa in rows),
        tuple(None if numa == _UNKNOWN else numa for numa in near),
    )


def inventory_from(body: Mapping[str, Any]) -> NodeCapacity:
    """The machine that a record tells."""
    held: Mapping[str, int] = body["resources"]
    columns = ("gpu_generations", "gpu_vram_bytes", "gpu_models", "gpu_fabrics")
    rows = zip(*(body.get(name, ()) for name in (*columns, "gpu_partitionable")), strict=True)
    return NodeCapacity(
        cpu_cores=cores_of(held.get(CPU, 0)),
        mem_bytes=held.get(MEM, 0),
        block_bytes=held.get(BLOCK, 0),
        gpus=tuple(
            GpuDevice(HardwareGeneration(word), vram, model, fabric, bool(parts))
            for word, vram, model, fabric, parts in rows
        ),
        labels=dict(label.split("=", 1) for label in body.get("labels", ())),
        topology=_topology_from(body),
    )


def quota_body(quota: Quota) -> Body:
    """Limits, generation table and burst credit."""
    burst = quota.burst
    body: Body = {"limits": {li.dimension.value: li.limit for li in quota.limits}}
    if quota.gpu_generations:
        body["gpu_limits"] = {g.generation.value: g.count for g in quota.gpu_generations}
    if burst is not None:
        body |= {"burst_dimension": burst.dimension.value, "burst_capacity": burst.capacity}
        body |= {"burst_refill_per_s": burst.refill_per_s, "burst_ceiling": burst.ceiling}
    return body | ({} if quota.ceiling is None else _ceiling_body(quota.ceiling))


def _ceiling_body(ceiling: Ceiling) -> Body:
    return {
        "priority_max": ceiling.priority_max.value,
        "lease_classes": [each.value for each in ceiling.lease_classes],
        "term_max_ms": ceiling.term_max_ms,
        "waiting_max": ceiling.waiting_max,
    }


def quota_from(body: Mapping[str, Any]) -> Quota:
    """The quota that a record tells."""
    burst = None
    if "burst_dimension" in body:
        dimension = Dimension(body["burst_dimension"])
        numbers = (body[f"burst_{name}"] for name in ("capacity", "refill_per_s", "ceiling"))
        burst = BurstCredit(dimension, *numbers)
    limits = tuple(ResourceLimit(Dimension(d), n) for d, n in body["limits"].items())
    table = body.get("gpu_limits", {}).items()
    generations = tuple(GpuGenerationQuota(HardwareGeneration(g), n) for g, n in table)
    ceiling = None
    if "priority_max" in body:  # all four or none
        classes = tuple(map(LeaseClass, body["lease_classes"]))
        most = Priority(body["priority_max"])
        ceiling = Ceiling(most, classes, body["term_max_ms"], body["waiting_max"])
    return Quota(limits, generations, burst, ceiling)


def settings_body(settings: Settings) -> Body:
    """Every setting, so that a record can be read without knowing the defaults of its time."""
    s = settings
    body: Body = {name: getattr(s, name) for name in NUMBERS}
    for name, usual in LATER.items():
        if body[name] == usual:  # as before there was such a setting
            del body[name]
    body |= {"strategy": s.strategy.value, "confirm_teardown": int(s.confirm_teardown)}
    body |= {"headroom": amounts_of(s.headroom), "preempt_from": s.preempt_from.value}
    body["headroom_priority"] = s.headroom_priority.value
    body["priority_max"] = s.priority_max.value
    body["lease_classes"] = [each.value for each in s.lease_classes]
    body["aging_ceiling"] = s.aging_ceiling.value
    if s.offer_platform_managed:  # as before there was such a setting
        body["offer_platform_managed"] = 1
    if s.weights is not None:
        body["weights"] = list(s.weights)
    return body


def settings_from(body: Mapping[str, Any]) -> Settings:
    """The settings that a record tells; one that it does not name has its default."""
    known: Body = {name: body[name] for name in NUMBERS if name in body}
    for name in ("headroom_priority", "preempt_from", "priority_max", "aging_ceiling"):
        if name in body:
            known[name] = Priority(body[name])
    if "headroom" in body:
        known["headroom"] = resources_from(body["headroom"])
    if "lease_classes" in body:
        known["lease_classes"] = tuple(map(LeaseClass, body["lease_classes"]))
    known["confirm_teardown"] = bool(body.get("confirm_teardown", 0))
    known["offer_platform_managed"] = bool(body.get("offer_platform_managed", 0))
    known["weights"] = tuple(body["weights"]) if "weights" in body else None
    return Settings(strategy=Strategy(body["strategy"]), **known)
