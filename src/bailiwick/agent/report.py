"""An inventory as what others want of it: a node's capacity, its labels, plain values for JSON.

Rules:

- The capacity is what this process may use, not what the machine has.
- A label's value is a short name: every run of other characters becomes one ``-``. A value that
  has nothing left, or that differs between the machine's GPUs, is no label.
- The plain values name their schema. A field is only ever added; anything else is a new number.

>>> spell_label("NVIDIA H100 80GB HBM3")
'NVIDIA-H100-80GB-HBM3'
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from bailiwick.agent.machine.gpus import Gpu
from bailiwick.agent.machine.inventory import Inventory
from bailiwick.fleet.node import GpuDevice, NodeCapacity
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
    )


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
