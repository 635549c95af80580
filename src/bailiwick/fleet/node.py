"""What one machine offers: cores, memory, block storage and GPU devices.

Rules:

- Everything is an exact integer: milli-cores, bytes, and 1000 milli-shares per device.
- Devices are listed one by one; their order is the order of the machine's own indices.
- Some labels are nobody's to say: they follow from what the node is (``implied_labels``).
- ``gpu_vram`` alone (no device list) means one device of generation ``other`` with that memory.
- How cores and devices hang together is told as well, or not at all: caches that hold fewer cores
  than the node offers would leave some that lie nowhere. They may hold more: a node may keep cores
  to itself.

>>> node = NodeCapacity(cpu_cores=16, mem_bytes=8_000_000_000)
>>> node.cpu_milli, node.gpu_milli
(16000, 0)
>>> GpuDevice.named("NVIDIA H100 80GB HBM3").generation.value
'nvidia_hopper'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from bailiwick.fleet.generation import generation_of
from bailiwick.fleet.topology import NodeTopology
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import MILLI, check_amount, check_cores, check_kind, check_name
from bailiwick.vocab.words import HardwareGeneration

DEVICES_MAX = 16
"""GPU devices on one node."""

LABELS_MAX = 64
"""Labels on one node or asked for by one request."""

HEARTBEAT_LABEL = "heartbeat"
"""The label of nodes that are missed if they are not heard; its value says by whom they are."""

EXECUTOR_LABEL = "executor"
"""The key of the label of a node on which something of ours really runs what leases are for; its
value is the name of that executor."""

NODE_EXECUTOR = "node"
"""The name of the executor that runs jobs through a node's own agent."""

LOCAL_EXECUTOR = "local"
"""The name of the executor that runs jobs on the server's own machine."""

NAME_LABEL, RUNS_JOBS_LABEL, RUNS_ITSELF_LABEL = "node-name", "runs-jobs", "runs-jobs-itself"
"""The keys of labels that follow from what a node is: see :func:`implied_labels`."""

YES = "yes"
"""The value of a label that only says that something is so."""

IMPLIED_LABELS = frozenset((NAME_LABEL, RUNS_JOBS_LABEL, RUNS_ITSELF_LABEL))
"""What an inventory says under one of these keys does not count."""

JOB_MODE_LABEL = "job-mode"
"""The key of the label that says how an executor keeps jobs apart on its node."""

TRUSTED_JOBS = "trusted"
"""The value of that label where jobs are processes of whoever runs the executor: what that user may
do on the machine, every job there may do."""

HOST_MEMBERS_LABEL = "host-members"
"""The key of the label of a node whose operator lets members of apps run on the host."""

ADDRESS_LABEL = "address"
"""The key of the label that says where other nodes reach a node on which jobs run."""

ATTESTED_PREFIX = "attested."
"""How the keys of labels begin that only attestation gives; an inventory may not say them."""


@dataclass(frozen=True, slots=True)
class GpuDevice:
    """One GPU: its family, its product name, its memory, and the fabric it hangs on."""

    generation: HardwareGeneration
    vram_bytes: int = 0
    model: str = ""
    fabric: str = ""
    partitionable: bool = False

    def __post_init__(self) -> None:
        check_kind("generation", self.generation, HardwareGeneration)
        check_amount("vram_bytes", self.vram_bytes)
        check_kind("partitionable", self.partitionable, bool)
        for name, value in (("model", self.model), ("fabric", self.fabric)):
            if not isinstance(value, str) or len(value) > 127:
                raise InvalidValue(name, value, "a string of at most 127 characters")

    @classmethod
    def named(cls, model: str, *, vram_bytes: int = 0, fabric: str = "") -> GpuDevice:
        """A device from the name its driver reports; the generation follows from the name."""
        return cls(generation_of(model), vram_bytes, model, fabric)


@dataclass(frozen=True, slots=True)
class NodeCapacity:
    """The inventory of one node, as it was reported."""

    cpu_cores: int | float
    mem_bytes: int
    block_bytes: int = 0
    gpus: Sequence[GpuDevice] = ()
    gpu_vram: int = -1
    labels: Mapping[str, str] = field(default_factory=dict)
    topology: NodeTopology = field(default_factory=NodeTopology)
    cpu_milli: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "cpu_milli", check_cores("cpu_cores", self.cpu_cores))
        check_amount("mem_bytes", self.mem_bytes)
        check_amount("block_bytes", self.block_bytes)
        put(self, "gpus", self._devices())
        put(self, "gpu_vram", sum(d.vram_bytes for d in self.gpus))
        put(self, "labels", check_labels("labels", self.labels))
        self._check_topology()

    def _check_topology(self) -> None:
        topology = check_kind("topology", self.topology, NodeTopology)
        if len(topology.gpu_numa) > len(self.gpus):
            expected = f"at most {len(self.gpus)}: one for each device"
            raise InvalidValue("topology.gpu_numa", len(topology.gpu_numa), expected)
        if topology.caches and topology.cores_milli < self.cpu_milli:
            expected = f"caches that hold all {self.cpu_milli} milli-cores, or none"
            raise InvalidValue("topology.caches", topology.cores_milli, expected)

    def _devices(self) -> tuple[GpuDevice, ...]:
        if not isinstance(self.gpus, list | tuple):
            raise InvalidValue("gpus", self.gpus, "a tuple or list of GpuDevice")
        devices = tuple(self.gpus)
        for index, device in enumerate(devices):
            check_kind(f"gpus[{index}]", device, GpuDevice)
        if len(devices) > DEVICES_MAX:
            raise InvalidValue("gpus", len(devices), f"at most {DEVICES_MAX} devices")
        if self.gpu_vram == -1:
            return devices
        check_amount("gpu_vram", self.gpu_vram)
        if not devices and self.gpu_vram:
            return (GpuDevice(HardwareGeneration.OTHER, self.gpu_vram),)
        if self.gpu_vram != sum(d.vram_bytes for d in devices):
            raise InvalidValue("gpu_vram", self.gpu_vram, "the sum over gpus, or leave it out")
        return devices

    def __hash__(self) -> int:
        return hash((self.cpu_milli, self.mem_bytes, self.block_bytes, self.gpus))

    @property
    def gpu_milli(self) -> int:
        """All milli-shares of all devices."""
        return MILLI * len(self.gpus)


def implied_labels(name: str, labels: Mapping[str, str]) -> dict[str, str]:
    """The labels that follow from a node's name and its executor; nobody has to say them.

    >>> implied_labels("n1", {"executor": "node"})
    {'node-name': 'n1', 'runs-jobs': 'yes', 'runs-jobs-itself': 'yes'}
    """
    implied, executor = {NAME_LABEL: name}, labels.get(EXECUTOR_LABEL)
    if executor is not None:
        implied[RUNS_JOBS_LABEL] = YES
    if executor in (LOCAL_EXECUTOR, NODE_EXECUTOR):
        implied[RUNS_ITSELF_LABEL] = YES
    return implied


def gives_root(labels: Mapping[str, str]) -> bool:
    """Whether the jobs of a node may do there what its executor may do, which is often everything.

    >>> gives_root({"job-mode": "trusted"}), gives_root({"job-mode": "users"})
    (True, False)
    """
    return labels.get(JOB_MODE_LABEL) == TRUSTED_JOBS


def check_labels(field_name: str, labels: object) -> Mapping[str, str]:
    """The labels as a read-only mapping, if every key and value is a short name."""
    if not isinstance(labels, Mapping):
        raise InvalidValue(field_name, labels, "a mapping of names to names")
    if len(labels) > LABELS_MAX:
        raise InvalidValue(field_name, len(labels), f"at most {LABELS_MAX} labels")
    for key, value in labels.items():
        check_name(f"{field_name} key", key)
        check_name(f"{field_name}[{key}]", value)
    return MappingProxyType(dict(labels))
