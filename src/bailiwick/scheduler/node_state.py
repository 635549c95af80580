"""What a ledger knows of one node: its inventory, its mode, and how much of it is in use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bailiwick.fleet.node import NodeCapacity, implied_labels
from bailiwick.fleet.resources import NOTHING, Resources
from bailiwick.scheduler.quota_rows import vram_held
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.values import MILLI, NodeId
from bailiwick.vocab.words import FilterReason


@dataclass(slots=True)
class NodeEntry:
    """One node of a ledger, as kept."""

    id: NodeId
    handle: int
    machine_class: int
    capacity: NodeCapacity
    mode: NodeMode = NodeMode.ACCEPTING
    quarantined: bool = False
    gated: bool = False
    """Whether it still has to prove what is asked of it."""
    attested: Mapping[str, str] = field(default_factory=dict)
    """What it has proven, as labels beside those of its inventory."""
    given: Mapping[str, str] = field(default_factory=dict)
    """The labels that an operator gave it; they count more than those of its inventory."""

    @property
    def closed_by(self) -> FilterReason | None:
        """What closes it to all leases, if anything does."""
        if self.mode is not NodeMode.ACCEPTING:
            return FilterReason.NODE_MODE
        return self._distrusted_by

    @property
    def renewal_closed_by(self) -> FilterReason | None:
        """What keeps leases that it has from being renewed, if anything does: no cordon."""
        return self._distrusted_by if self.mode is NodeMode.CORDONED else self.closed_by

    @property
    def _distrusted_by(self) -> FilterReason | None:
        if self.quarantined:
            return FilterReason.QUARANTINED
        return FilterReason.ATTESTATION if self.gated else None

    @property
    def takes_leases(self) -> bool:
        """Whether new leases may land here."""
        return self.closed_by is None

    @property
    def caches_milli(self) -> tuple[int, ...]:
        """The milli-cores under each cache that it tells of."""
        return tuple(cache.cores_milli for cache in self.capacity.topology.caches)

    def vram_held(self, devices: int, milli: int) -> int:
        """What these devices (as bits), held by that share, count for in GPU memory."""
        gpus = enumerate(self.capacity.gpus)
        return sum(vram_held(gpu.vram_bytes, milli) for i, gpu in gpus if devices >> i & 1)

    @property
    def labels(self) -> Mapping[str, str]:
        """What it says of itself, and what an operator says of it."""
        return {**self.capacity.labels, **self.given} if self.given else self.capacity.labels

    @property
    def implied(self) -> Mapping[str, str]:
        """The labels that follow from what it is."""
        return implied_labels(str(self.id), self.capacity.labels)

    def has_labels(self, wanted: Mapping[str, str]) -> bool:
        """Whether it has all of these labels: implied, its own, given, or by attestation."""
        if not wanted:
            return True
        told = {**self.attested, **self.labels, **self.implied}
        return wanted.items() <= told.items()


@dataclass(frozen=True, slots=True)
class NodeUsage:
    """One node, as told: total = reserved + leased + claimed + free, in every dimension."""

    id: NodeId
    mode: NodeMode
    quarantined: bool
    total: Resources
    reserved: Resources
    leased: Resources
    claimed: Resources
    """Held by nobody, and kept for those for whom others left."""
    free: Resources
    device_free_milli: tuple[int, ...]
    lease_count: int


def total_of(capacity: NodeCapacity) -> Resources:
    """All that a machine has."""
    return Resources(
        capacity.cpu_milli, capacity.mem_bytes, capacity.block_bytes, MILLI * len(capacity.gpus)
    )


def resources_of_node(amounts: Sequence[int]) -> Resources:
    """Amounts of a node (cpu, memory, block, milli of each device) as one value."""
    if not amounts:
        return NOTHING
    cpu, mem, block, *devices = amounts
    return Resources(cpu, mem, block, sum(devices))


@dataclass(frozen=True, slots=True)
class NodeModeTransition:
    """A node went from one mode to another."""

    node: NodeId
    before: NodeMode
    after: NodeMode
