"""A machine's inventory as the plain values of a record's body, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.kernel.spelling import BLOCK, CPU, MEM, Body, cores_of, nonzero
from bailiwick.vocab.words import HardwareGeneration


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
    return body


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
    )
