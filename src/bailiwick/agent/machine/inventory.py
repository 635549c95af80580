"""What this machine really has: cores, memory, storage, topology and GPUs, from raw readings.

Rules:

- Reading (:func:`read_machine`) and judging (:func:`judge`) are two steps. Judging asks nothing
  but the readings, so a recorded machine is judged exactly like this one.
- Usable cores are the smaller of what affinity and what the control group leaves; so is memory.
- A source that is not there, or that cannot be understood, is told with its word. Only the host's
  own numbers are needed: where they cannot be true, :class:`Unreadable` is raised.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bailiwick.agent.machine.files import MachineFiles, RootFiles
from bailiwick.agent.machine.gpus import Gpu, GpuSet, judge_gpus
from bailiwick.agent.machine.host import read_host
from bailiwick.agent.machine.limits import MachineLimits, read_limits
from bailiwick.agent.machine.nvml import GpuSource, NvmlGpus
from bailiwick.agent.machine.parse import BYTES_MAX, CPUS_MAX
from bailiwick.agent.machine.topology import Topology, read_gpu_node, read_topology
from bailiwick.agent.words import InventorySource, SourceState, Unreadable
from bailiwick.vocab.values import MILLI

TEXT_CHARACTERS_MAX = 255


@dataclass(frozen=True, slots=True)
class Readings:
    """Everything that was read, before anything is believed."""

    host: Mapping[str, Any]
    gpus: Mapping[str, Any]
    files: MachineFiles


@dataclass(frozen=True, slots=True)
class Host:
    """The machine's names and its whole size."""

    name: str
    system: str
    kernel: str
    arch: str
    cpus: int
    cpus_allowed: tuple[int, ...]
    mem_bytes: int
    block_path: str
    block_free_bytes: int


@dataclass(frozen=True, slots=True)
class SourceNote:
    """How asking one source went."""

    source: InventorySource
    state: SourceState


@dataclass(frozen=True, slots=True)
class Inventory:
    """What the machine has, and what of it this process may use."""

    host: Host
    limits: MachineLimits
    topology: Topology
    gpu_set: GpuSet
    sources: tuple[SourceNote, ...]

    @property
    def cpu_milli(self) -> int:
        """Usable milli-cores."""
        allowed = len(self.host.cpus_allowed) * MILLI
        return allowed if self.limits.cpu_milli is None else min(allowed, self.limits.cpu_milli)

    @property
    def mem_bytes(self) -> int:
        """Usable memory."""
        whole = self.host.mem_bytes
        return whole if self.limits.mem_bytes is None else min(whole, self.limits.mem_bytes)


def read_machine(
    block_path: Path, *, files: MachineFiles | None = None, gpus: GpuSource | None = None
) -> Readings:
    """Raw readings of this machine; block storage is what is free under the path."""
    source = gpus or NvmlGpus()
    return Readings(read_host(block_path), source.read(), files or RootFiles())


def judge(readings: Readings) -> Inventory:
    """What these readings tell."""
    limits = read_limits(readings.files)
    topology = read_topology(readings.files)
    gpu_set = judge_gpus(readings.gpus)
    gpu_set, pci = _placed(gpu_set, readings.files, topology)
    states = {
        InventorySource.PSUTIL: SourceState.READ,
        InventorySource.CGROUP: limits.state,
        InventorySource.NUMA: topology.numa,
        InventorySource.CACHE: topology.cache,
        InventorySource.PCI: pci,
        InventorySource.NVML: gpu_set.state,
    }
    notes = tuple(SourceNote(source, state) for source, state in states.items())
    return Inventory(_host(readings.host), limits, topology, gpu_set, notes)


def _placed(gpu_set: GpuSet, files: MachineFiles, topology: Topology) -> tuple[GpuSet, SourceState]:
    """The GPUs with their memory nodes, and how asking for those went."""
    state = SourceState.READ if gpu_set.gpus else SourceState.NO_DEVICES
    placed: list[Gpu] = []
    for gpu in gpu_set.gpus:
        node = None
        try:
            node = read_gpu_node(files, gpu.bus_id, topology=topology)
            if node is None and state is SourceState.READ:
                state = SourceState.ABSENT
        except Unreadable:
            state = SourceState.MALFORMED
        placed.append(replace(gpu, numa_node=node))
    return replace(gpu_set, gpus=tuple(placed)), state


def _host(raw: Mapping[str, Any]) -> Host:
    if not isinstance(raw, Mapping):
        raise Unreadable("host", raw, "a mapping")
    allowed = raw.get("cpus_allowed")
    if not isinstance(allowed, list | tuple) or not 1 <= len(allowed) <= CPUS_MAX:
        raise Unreadable("cpus_allowed", allowed, f"1 to {CPUS_MAX} CPUs")
    cpus = tuple(_number("cpus_allowed", cpu, high=CPUS_MAX - 1) for cpu in allowed)
    if len(set(cpus)) != len(cpus):
        raise Unreadable("cpus_allowed", allowed, "each CPU once")
    return Host(
        name=_words(raw, "name"),
        system=_words(raw, "system"),
        kernel=_words(raw, "kernel"),
        arch=_words(raw, "arch"),
        cpus=_number("cpus", raw.get("cpus"), high=CPUS_MAX),
        cpus_allowed=tuple(sorted(cpus)),
        mem_bytes=_number("mem_bytes", raw.get("mem_bytes"), high=BYTES_MAX),
        block_path=_words(raw, "block_path"),
        block_free_bytes=_number("block_free_bytes", raw.get("block_free_bytes"), high=BYTES_MAX),
    )


def _number(field: str, value: object, *, high: int) -> int:
    if type(value) is not int or not 0 <= value <= high:
        raise Unreadable(field, value, f"an integer from 0 to {high}")
    return value


def _words(raw: Mapping[str, Any], field: str) -> str:
    value = raw.get(field)
    if not isinstance(value, str) or len(value) > TEXT_CHARACTERS_MAX or not value.isprintable():
        raise Unreadable(field, value, f"at most {TEXT_CHARACTERS_MAX} printable characters")
    return value
