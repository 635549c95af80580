"""What is asked for on the wire, as the values that the kernel decides on.

A body was checked by its model. What only the value itself can say (a request for nothing at all)
is refused when the value is made, under the name of the field.
"""

from __future__ import annotations

from collections.abc import Iterable

from bailiwick.apps.places import RESERVED_PREFIX, SCHEDULER_LABEL
from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.fleet.topology import CacheDomain, NodeTopology
from bailiwick.iam import Scope
from bailiwick.kernel import Submit
from bailiwick.kernel.spelling import cores_of
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import AccountingTag, ProjectId, TenantId
from bailiwick.wire.fleet import Inventory
from bailiwick.wire.work import LeaseRequest


def scope_of(body: LeaseRequest) -> Scope:
    """Where a request is made."""
    return Scope.of(body.tenant, body.project)


def submit_of(body: LeaseRequest) -> Submit:
    """The command that a request on the wire stands for."""
    resources = body.resources
    request = PlacementRequest(
        tenant=TenantId(body.tenant),
        project=None if body.project is None else ProjectId(body.project),
        tag=None if body.tag is None else AccountingTag(body.tag),
        cpu_cores=cores_of(resources.cpu_milli),
        mem_bytes=resources.mem_bytes,
        block_bytes=resources.block_bytes,
        gpu_count=body.gpu_count,
        gpu_milli=body.gpu_milli,
        gpu_vram=body.gpu_vram,
        gpu_models=tuple(body.gpu_models),
        generation=body.gpu_generation,
        exclusivity=body.exclusivity,
        labels=labels_of(body.labels),
        job_labels=_work_labels(body),
        priority=body.priority,
        lease_class=body.lease_class,
        gang_size=body.gang_size,
        ttl_ms=body.ttl_ms,
        deadline_ms=body.deadline_ms,
        preemptible_on_budget=body.preemptible_on_budget,
    )
    return Submit(request, body.wait)


def _work_labels(body: LeaseRequest) -> dict[str, str]:
    """What the work is labelled; some labels only the platform gives."""
    found = labels_of(body.job_labels)
    for key in found:
        if key.startswith(RESERVED_PREFIX):
            expected = f"no key that begins with {RESERVED_PREFIX}; the platform gives those"
            raise InvalidValue("job_labels", key, expected)
    if body.scheduler_type is not None:
        found[SCHEDULER_LABEL] = body.scheduler_type
    return found


def capacity_of(body: Inventory) -> NodeCapacity:
    """The machine that an inventory on the wire tells."""
    return NodeCapacity(
        cpu_cores=cores_of(body.resources.cpu_milli),
        mem_bytes=body.resources.mem_bytes,
        block_bytes=body.resources.block_bytes,
        gpus=tuple(
            GpuDevice(gpu.generation, gpu.vram_bytes, gpu.model, gpu.fabric, gpu.partitionable)
            for gpu in body.gpus
        ),
        labels=labels_of(sorted(body.labels)),
        topology=NodeTopology(
            tuple(CacheDomain(cache.cores_milli, cache.numa) for cache in body.topology.caches),
            tuple(body.topology.gpu_numa),
        ),
    )


def labels_of(labels: Iterable[str]) -> dict[str, str]:
    """Labels by their keys."""
    return dict(label.split("=", 1) for label in labels)
