"""The fleet and the stream of requests of the best-fit bench, the same for every variant.

- Five classes of machine: one without GPUs and four generations with 8, 8, 4 and 2.
- 64 request shapes, popular ones first (weight ``1 / rank ** 0.8``), and 10 % one-offs that no
  other request equals.
- 256 tenants, each with limits on cores, GPUs and leases; quota is checked for every request.
- Every node is labelled with its zone; 5 % of the requests name a zone, and another 5 % are
  tagged as confidential, for which a filter allows seven nodes in eight. 1 % of the nodes are
  closed.
- The fleet is filled to 80 % of its CPU, about 12 leases per node.
"""

from __future__ import annotations

import random
from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from bailiwick import (
    AccountingTag,
    CapacityLedger,
    GpuDevice,
    HardwareGeneration,
    NodeCapacity,
    NodeSet,
    PlacementRequest,
    Priority,
    Quota,
    QuotaManager,
    ResourceLimit,
    TenantId,
)

GIB = 2**30
TENANTS = 256
ZONES = 16
FILL = 0.80
CONFIDENTIAL = AccountingTag("confidential")


@dataclass(frozen=True, slots=True)
class MachineClass:
    """One kind of machine and its part of the fleet."""

    part: float
    cores: int
    mem_gib: int
    block_gib: int
    gpus: int = 0
    generation: HardwareGeneration | None = None
    vram_gib: int = 0


CLASSES = (
    MachineClass(0.40, 64, 256, 4000),
    MachineClass(0.20, 96, 1024, 8000, 8, HardwareGeneration.NVIDIA_AMPERE, 80),
    MachineClass(0.15, 128, 2048, 16000, 8, HardwareGeneration.NVIDIA_HOPPER, 80),
    MachineClass(0.15, 48, 192, 2000, 4, HardwareGeneration.NVIDIA_ADA, 24),
    MachineClass(0.10, 32, 128, 1000, 2, HardwareGeneration.NVIDIA_TURING, 16),
)


class Ask(NamedTuple):
    """One request of the stream, as plain numbers."""

    cpu_milli: int
    mem_mib: int
    block_gib: int
    gpus: int
    generation: HardwareGeneration | None
    vram_gib: int
    tenant: int = 0
    priority: int = 1
    zone: int = -1
    confidential: bool = False

    def request(self) -> PlacementRequest:
        """The same as the library takes it."""
        return PlacementRequest(
            tenant=_TENANT_IDS[self.tenant],
            tag=CONFIDENTIAL if self.confidential else None,
            cpu_cores=self.cpu_milli / 1000,
            mem_bytes=self.mem_mib * 2**20,
            block_bytes=self.block_gib * GIB,
            gpu_count=self.gpus,
            gpu_vram=self.vram_gib * GIB if self.gpus else 0,
            generation=self.generation,
            labels={"zone": f"zone-{self.zone}"} if self.zone >= 0 else {},
            priority=_PRIORITIES[self.priority],
        )


_PRIORITIES = tuple(Priority)
_PRIORITY_STEPS = (0.30, 0.80, 0.95)  # low, normal, high; the rest is critical
_TENANT_IDS = tuple(TenantId(f"tenant-{i}") for i in range(TENANTS))


@dataclass(frozen=True, slots=True)
class Machine:
    """One node of the fleet, as plain numbers."""

    name: str
    cls: MachineClass
    zone: int
    closed: bool
    trusted: bool

    def capacity(self) -> NodeCapacity:
        """The same as the library takes it."""
        c = self.cls
        device = c.generation and GpuDevice(c.generation, c.vram_gib * GIB)
        return NodeCapacity(
            cpu_cores=c.cores,
            mem_bytes=c.mem_gib * GIB,
            block_bytes=c.block_gib * GIB,
            gpus=(device,) * c.gpus if device else (),
            labels={"zone": f"zone-{self.zone}"},
        )


class Trusted:
    """The filter handed in: confidential requests land on trusted nodes only."""

    def __init__(self, nodes: NodeSet) -> None:
        self.nodes = nodes

    def nodes_for(self, request: PlacementRequest) -> NodeSet | None:
        """The trusted nodes for a confidential request, all nodes for any other."""
        return self.nodes if request.tag == CONFIDENTIAL else None


class Workload:
    """Fleet, fill and stream of one size."""

    def __init__(self, nodes: int, *, seed: int = 1) -> None:
        rng = random.Random(seed)
        drawn = sorted(rng.choices(range(5), [c.part for c in CLASSES], k=nodes))
        self.machines = [
            Machine(f"node-{i}", CLASSES[c], i % ZONES, rng.random() < 0.01, i % 8 != 0)
            for i, c in enumerate(drawn)
        ]
        self.cpu_milli = 1000 * sum(m.cls.cores for m in self.machines)
        self.limits = self._limits()
        self._kept: dict[Ask, PlacementRequest] = {}

    def _limits(self) -> tuple[int, int, int]:
        """Cores, GPUs and leases of each tenant: four times its even share, and some at least."""
        cores = 4 * self.cpu_milli // 1000 // TENANTS
        gpus = 4 * sum(m.cls.gpus for m in self.machines) // TENANTS
        return max(512, cores), max(64, gpus), max(256, 50 * len(self.machines) // TENANTS)

    @cached_property
    def shapes(self) -> list[Ask]:
        """The catalogue."""
        rng = random.Random(2)
        return [_gpu_shape(rng) if i % 8 >= 6 else _plain_shape(rng) for i in range(64)]

    def stream(self, count: int, *, seed: int, restricted: bool = True) -> Iterator[Ask]:
        """So many requests; ``restricted`` ones among them name a zone or meet the filter."""
        rng = random.Random(seed)
        weights = [1 / rank**0.8 for rank in range(1, 65)]
        chance = rng.random
        for shape in rng.choices(self.shapes, weights, k=count):
            cpu, mem = shape.cpu_milli, shape.mem_mib
            if chance() < 0.1:
                cpu = max(100, cpu + 10 * (int(81 * chance()) - 40))
                mem = max(256, mem + 16 * (int(121 * chance()) - 60))
            kind = chance() if restricted else 1.0
            zone = int(ZONES * chance()) if kind < 0.05 else -1
            terms = int(TENANTS * chance()), bisect(_PRIORITY_STEPS, chance()), zone
            yield Ask(cpu, mem, *shape[2:6], *terms, 0.05 <= kind < 0.1)

    def requests(
        self, count: int, *, seed: int, restricted: bool = True
    ) -> Iterator[PlacementRequest]:
        """The stream as the library takes it."""
        return map(self.request, self.stream(count, seed=seed, restricted=restricted))

    def request(self, ask: Ask) -> PlacementRequest:
        """The request object of an ask; equal asks share it while it is kept."""
        request = self._kept.get(ask)
        if request is None:
            if len(self._kept) > 200_000:
                self._kept.clear()
            request = self._kept[ask] = ask.request()
        return request

    def quotas(self) -> QuotaManager:
        """Limits for every tenant."""
        cores, gpus, leases = self.limits
        manager = QuotaManager()
        limits = (
            ResourceLimit.cpu_cores(cores),
            ResourceLimit.gpu_count(gpus),
            ResourceLimit.lease_count(leases),
        )
        for tenant in _TENANT_IDS:
            manager.set_quota(tenant, Quota(limits=limits))
        return manager

    def ledger(self, engine: str) -> tuple[CapacityLedger, Trusted]:
        """An empty ledger of this fleet, with quota, labels, filter and closed nodes in force."""
        ledger = CapacityLedger(quotas=self.quotas(), engine=engine)
        trusted = ledger.node_set()
        for machine in self.machines:
            ledger.register_node(machine.name, machine.capacity())
            if machine.trusted:
                trusted.add(ledger.handle_of(machine.name))
            if machine.closed:
                ledger.set_quarantine(machine.name, True)
        return ledger, Trusted(trusted)


def _plain_shape(rng: random.Random) -> Ask:
    return Ask(
        cpu_milli=500 * rng.randrange(1, 16),
        mem_mib=1024 * rng.randrange(1, 32),
        block_gib=20 * rng.randrange(8),
        gpus=0,
        generation=None,
        vram_gib=0,
    )


def _gpu_shape(rng: random.Random) -> Ask:
    cls = rng.choice(CLASSES[1:])
    count = min(cls.gpus, rng.choice((1, 1, 1, 1, 2, 2, 4, 8)))
    per_device_gib = cls.mem_gib // cls.gpus
    return Ask(
        cpu_milli=count * 1000 * rng.randrange(2, 11),
        mem_mib=count * 1024 * per_device_gib * rng.randrange(2, 20) // 24,
        block_gib=25 * rng.randrange(10),
        gpus=count,
        generation=cls.generation,
        vram_gib=cls.vram_gib,
    )
