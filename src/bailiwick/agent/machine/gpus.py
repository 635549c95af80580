"""Judges what the driver said: which GPUs this machine offers, and which it only seems to have.

Rules:

- A GPU is offered only with a model, a memory size, a UUID and a PCI address that can be true and
  that no other GPU of the machine has. Any other is named with the fault that keeps it out.
- The generation follows from the model's name alone (:func:`bailiwick.fleet.generation_of`).
- A GPU is partitionable if MIG is enabled on it now: turning it on is an operator's act, so a
  request for a partition must not land on a GPU that merely could be divided.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from bailiwick.agent.machine.fabric import Joint, name_fabrics
from bailiwick.agent.machine.nvml import (
    DEVICES_ASKED_MAX,
    GPU_IS_LOST,
    LINKS_MAX,
    NO_PERMISSION,
    NOT_SUPPORTED,
    RESET_REQUIRED,
)
from bailiwick.agent.machine.parse import BYTES_MAX, parse_bus_id
from bailiwick.agent.words import GpuFault, MigMode, SourceState, Unreadable
from bailiwick.fleet.generation import generation_of
from bailiwick.fleet.node import DEVICES_MAX
from bailiwick.vocab.words import HardwareGeneration

MODEL_CHARACTERS_MAX = 96
VERSION_CHARACTERS_MAX = 80
_UUID = re.compile(r"GPU-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.ASCII)
_CLUSTER = re.compile(r"[0-9a-f]{32}\Z", re.ASCII)
_NO_CLUSTER = "0" * 32
_FABRIC_COMPLETED = 3
_REMOTE_GPU, _REMOTE_SWITCH = 0, 2
_FAULTS = {
    GPU_IS_LOST: GpuFault.GPU_LOST,
    RESET_REQUIRED: GpuFault.RESET_REQUIRED,
    NO_PERMISSION: GpuFault.NOT_PERMITTED,
}


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU that the machine offers; ``capability`` and ``numa_node`` only if somebody says."""

    index: int
    model: str
    generation: HardwareGeneration
    vram_bytes: int
    uuid: str
    bus_id: str
    mig_mode: MigMode
    fabric: str = ""
    capability: str = ""
    numa_node: int | None = None

    @property
    def partitionable(self) -> bool:
        """Whether instances can be made on it without an operator."""
        return self.mig_mode is MigMode.ENABLED


@dataclass(frozen=True, slots=True)
class GpuUnread:
    """A GPU that the driver counts but that is not offered, and why."""

    index: int
    fault: GpuFault


@dataclass(frozen=True, slots=True)
class GpuSet:
    """The GPUs of the machine, and the versions of what drives them."""

    state: SourceState
    driver: str = ""
    cuda: str = ""
    gpus: tuple[Gpu, ...] = ()
    unread: tuple[GpuUnread, ...] = ()


def judge_gpus(raw: object) -> GpuSet:
    """The GPUs that these readings tell; what cannot be true is left out, with its fault."""
    readings = _mapping(raw)
    state = _state(readings.get("state"))
    devices = readings.get("devices", [])
    if state is not SourceState.READ:
        return GpuSet(state, _version(readings.get("driver")), _cuda(readings.get("cuda")))
    if not isinstance(devices, list | tuple):
        return GpuSet(SourceState.MALFORMED)
    found: list[tuple[Gpu, Joint]] = []
    unread: list[GpuUnread] = []
    for index, device in enumerate(devices[:DEVICES_ASKED_MAX]):
        judged = _judge(index, _mapping(device), found)
        if isinstance(judged, GpuUnread):
            unread.append(judged)
        else:
            found.append(judged)
    names = name_fabrics([joint for _, joint in found])
    return GpuSet(
        state,
        _version(readings.get("driver")),
        _cuda(readings.get("cuda")),
        tuple(replace(gpu, fabric=names[gpu.uuid]) for gpu, _ in found),
        tuple(unread),
    )


def _judge(
    index: int, device: Mapping[str, Any], found: list[tuple[Gpu, Joint]]
) -> tuple[Gpu, Joint] | GpuUnread:
    errors = _mapping(device.get("errors"))
    for name in ("handle", "name", "uuid", "vram_bytes", "bus_id"):
        if name in errors:
            code = errors[name]
            known = _FAULTS.get(code) if type(code) is int else None
            return GpuUnread(index, known or GpuFault.FAILED)
    try:
        gpu = _gpu(index, device, errors)
    except Unreadable:
        return GpuUnread(index, GpuFault.MALFORMED)
    if any(gpu.uuid == other.uuid or gpu.bus_id == other.bus_id for other, _ in found):
        return GpuUnread(index, GpuFault.MALFORMED)
    if len(found) == DEVICES_MAX:
        return GpuUnread(index, GpuFault.BEYOND_LIMIT)
    links = tuple(sorted(_ends(device.get("links"))))
    return gpu, Joint(gpu.uuid, gpu.bus_id, links, _clique(_mapping(device.get("fabric"))))


def _gpu(index: int, device: Mapping[str, Any], errors: Mapping[str, Any]) -> Gpu:
    model, uuid, vram = device.get("name"), device.get("uuid"), device.get("vram_bytes")
    model = model.strip() if isinstance(model, str) else ""
    if not 1 <= len(model) <= MODEL_CHARACTERS_MAX or not model.isprintable():
        raise Unreadable("name", model, "a short printable name")
    uuid = "GPU-" + uuid[4:].lower() if isinstance(uuid, str) and uuid[:4] == "GPU-" else ""
    if not _UUID.match(uuid):
        raise Unreadable("uuid", device.get("uuid"), "GPU- and a UUID")
    if type(vram) is not int or not 0 < vram <= BYTES_MAX:
        raise Unreadable("vram_bytes", vram, "a number of bytes")
    return Gpu(
        index,
        model,
        generation_of(model),
        vram,
        uuid,
        parse_bus_id("bus_id", device.get("bus_id")),
        _mig(device.get("mig"), errors.get("mig")),
        capability=_capability(device.get("capability")),
    )


def _mig(modes: object, error: object) -> MigMode:
    if error == NOT_SUPPORTED:
        return MigMode.UNSUPPORTED
    current = modes[0] if isinstance(modes, list | tuple) and len(modes) == 2 else None
    if type(current) is not int or current not in (0, 1):
        return MigMode.UNKNOWN
    return MigMode.ENABLED if current else MigMode.DISABLED


def _ends(links: object) -> set[str]:
    """The PCI addresses of what the live links lead to: GPUs, and switches by a name of their own.

    A switch that belongs to the host, not to this guest, has no address here. All such are one:
    a guest is given GPUs of one switched fabric.
    """
    ends: set[str] = set()
    for link in links[:LINKS_MAX] if isinstance(links, list | tuple) else ():
        told = _mapping(link)
        kind, active = told.get("remote_type"), told.get("active")
        if active != 1 or kind not in (_REMOTE_GPU, _REMOTE_SWITCH):
            continue
        try:
            end = parse_bus_id("remote_bus_id", told.get("remote_bus_id"))
        except Unreadable:
            end = ""
        if kind == _REMOTE_SWITCH:
            ends.add(f"switch {end}")
        elif end:
            ends.add(end)
    return ends


def _clique(fabric: Mapping[str, Any]) -> str:
    """Cluster and clique, if a fabric manager has finished and named a cluster."""
    cluster, clique = fabric.get("cluster"), fabric.get("clique")
    done = fabric.get("state") == _FABRIC_COMPLETED and fabric.get("status") == 0
    if not done or type(clique) is not int or not 0 <= clique < 2**32:
        return ""
    if not isinstance(cluster, str) or not _CLUSTER.match(cluster) or cluster == _NO_CLUSTER:
        return ""
    return f"{cluster}.{clique}"


def _capability(numbers: object) -> str:
    if not isinstance(numbers, list | tuple) or len(numbers) != 2:
        return ""
    if any(type(number) is not int or not 0 <= number < 100 for number in numbers):
        return ""
    return f"{numbers[0]}.{numbers[1]}"


def _cuda(number: object) -> str:
    """The driver's newest CUDA: 13020 is 13.2."""
    if type(number) is not int or not 1000 <= number < 10**6:
        return ""
    return f"{number // 1000}.{number % 1000 // 10}"


def _version(text: object) -> str:
    fine = isinstance(text, str) and len(text) <= VERSION_CHARACTERS_MAX and text.isprintable()
    return str(text).strip() if fine else ""


def _state(word: object) -> SourceState:
    try:
        return SourceState(str(word))
    except ValueError:
        return SourceState.MALFORMED


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
