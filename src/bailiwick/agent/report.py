"""An inventory as what others want of it: a node's capacity, its labels, plain values for JSON.

Rules:

- The capacity is what this process may use, not what the machine has.
- A label's value is a short name: every run of other characters becomes one ``-``. A value that
  has nothing left, or that differs between the machine's GPUs, is no label.
- A core lies under the last-level cache of its CPU. Memory nodes that one cache spans count as one,
  by the lowest number. What is not known of every core is told of none.
- The plain values name their schema. A field is only ever added; anything else is a new number.

>>> spell_label("NVIDIA H100 80GB HBM3")
'NVIDIA-H100-80GB-HBM3'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any

from bailiwick.agent.machine.gpus import Gpu
from bailiwick.agent.machine.inventory import Inventory
from bailiwick.agent.machine.topology import memory_groups
from bailiwick.fleet.node import GpuDevice, NodeCapacity, check_labels
from bailiwick.fleet.topology import CACHES_MAX, NUMA_MAX, CacheDomain, NodeTopology
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import MILLI

INVENTORY_SCHEMA = "bailiwick.agent.inventory/1"
LABEL_CHARACTERS_MAX = 63
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")


def spell_label(text: str) -> str:
    """The text as a label's value; empty where nothing fit is left."""
    fit = _UNFIT.sub("-", text).lstrip("._-")[:LABEL_CHARACTERS_MAX]
    return fit.rstrip("._-")


def labels_of(inventory: Inventory) -> dict[str, str]:
    """What a request may ask a node for by label."""
    gpus = inventory.gpu_set.gpus
    told = {
        "cpu_arch": inventory.host.arch,
        "os": inventory.host.system.lower(),
        "numa_nodes": _count(inventory.topology.numa_nodes),
        "cache_domains": _count(inventory.topology.cache_domains),
        "gpu_model": _common(gpu.model for gpu in gpus),
        "gpu_generation": _common(gpu.generation.value for gpu in gpus),
        "gpu_mig": _common(gpu.mig_mode.value for gpu in gpus),
        "gpu_driver": inventory.gpu_set.driver if gpus else "",
        "gpu_cuda": inventory.gpu_set.cuda if gpus else "",
    }
    labels = {key: spell_label(value) for key, value in told.items()}
    return {key: value for key, value in labels.items() if value}


def labels_given(texts: Iterable[str]) -> Mapping[str, str]:
    """Labels as they are typed, ``KEY=VALUE``."""
    found: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals:
            raise InvalidValue("--label", text, "KEY=VALUE")
        found[key] = value
    return check_labels("--label", found)


def with_labels(capacity: NodeCapacity, labels: Mapping[str, str]) -> NodeCapacity:
    """The node with these labels as well; they count more than what was read."""
    return replace(capacity, labels={**capacity.labels, **labels})


def _count(things: tuple[object, ...]) -> str:
    return str(len(things)) if things else ""


def _common(values: Iterable[str]) -> str:
    """The value that all have, or none."""
    different = set(values)
    return different.pop() if len(different) == 1 else ""


def capacity_of(inventory: Inventory) -> NodeCapacity:
    """What the machine brings to the fleet."""
    whole, rest = divmod(inventory.cpu_milli, MILLI)
    return NodeCapacity(
        cpu_cores=inventory.cpu_milli / MILLI if rest else whole,
        mem_bytes=inventory.mem_bytes,
        block_bytes=inventory.host.block_free_bytes,
        gpus=tuple(_device(gpu) for gpu in inventory.gpu_set.gpus),
        labels=labels_of(inventory),
        topology=topology_of(inventory),
    )


def topology_of(inventory: Inventory) -> NodeTopology:
    """How the cores that this process may use, and the devices, hang together."""
    groups = memory_groups(inventory.topology)
    near = (groups.get(gpu.numa_node) for gpu in inventory.gpu_set.gpus)
    gpu_numa = tuple(near) if all(index < NUMA_MAX for index in groups.values()) else ()
    caches = _caches(inventory, groups)
    return NodeTopology(caches, gpu_numa if any(n is not None for n in gpu_numa) else ())


def _caches(inventory: Inventory, groups: Mapping[int | None, int]) -> tuple[CacheDomain, ...]:
    allowed = frozenset(inventory.host.cpus_allowed)
    node_of = {cpu: n.index for n in inventory.topology.numa_nodes for cpu in n.cpus}
    found: list[CacheDomain] = []
    for cache in inventory.topology.cache_domains:
        cores = len(allowed.intersection(cache.cpus))
        numa = groups.get(node_of.get(cache.cpus[0]), 0)
        if cores and numa < NUMA_MAX:
            found.append(CacheDomain(cores * MILLI, numa))
    is_whole = sum(cache.cores_milli for cache in found) == len(allowed) * MILLI
    return tuple(found) if is_whole and len(found) <= CACHES_MAX else ()


def _device(gpu: Gpu) -> GpuDevice:
    return GpuDevice(gpu.generation, gpu.vram_bytes, gpu.model, gpu.fabric, gpu.partitionable)


def plain_of(inventory: Inventory) -> dict[str, Any]:
    """The whole inventory as plain values, for JSON."""
    host, limits, gpu_set = inventory.host, inventory.limits, inventory.gpu_set
    return {
        "schema": INVENTORY_SCHEMA,
        "machine": {
            "name": host.name,
            "system": host.system,
            "kernel": host.kernel,
            "arch": host.arch,
        },
        "cpu": {
            "usable_milli": inventory.cpu_milli,
            "cpus": host.cpus,
            "allowed": list(host.cpus_allowed),
            "limit_milli": limits.cpu_milli,
        },
        "memory": {
            "usable_bytes": inventory.mem_bytes,
            "whole_bytes": host.mem_bytes,
            "limit_bytes": limits.mem_bytes,
        },
        "block": {"path": host.block_path, "free_bytes": host.block_free_bytes},
        "numa_nodes": [_plain(node) for node in inventory.topology.numa_nodes],
        "cache_domains": [_plain(domain) for domain in inventory.topology.cache_domains],
        "gpu_driver": {"driver": gpu_set.driver, "cuda": gpu_set.cuda},
        "gpus": [{**_plain(gpu), "partitionable": gpu.partitionable} for gpu in gpu_set.gpus],
        "gpus_unread": [_plain(unread) for unread in gpu_set.unread],
        "labels": labels_of(inventory),
        "sources": {note.source.value: note.state.value for note in inventory.sources},
    }


def _plain(thing: Any) -> dict[str, Any]:
    """A flat dataclass as JSON would give it back: words as strings, tuples as lists."""
    return {key: list(v) if isinstance(v, tuple) else v for key, v in asdict(thing).items()}
