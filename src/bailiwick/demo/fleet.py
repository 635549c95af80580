"""Who and what is on the campus: sixty machines, nine tenants, their quotas and their prices.

Everything here is a plain value; nothing depends on the seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from bailiwick import (
    BurstCredit,
    Dimension,
    GpuDevice,
    GpuGenerationQuota,
    HardwareGeneration,
    NodeCapacity,
    PlacementRequest,
    Quota,
    ResourceLimit,
)
from bailiwick.billing.rates import LIST_PRICES, Charge, Used, cost_of
from bailiwick.kernel import Command, RegisterNode, SetQuota, SetRateCard, SetShare
from bailiwick.kernel.people.commands import CreateProject, CreateTenant
from bailiwick.scheduler.rights.ceilings import Ceiling
from bailiwick.vocab.words import LeaseClass, Priority

G = HardwareGeneration
GIB, TIB = 2**30, 2**40
HOUR_MS, MINUTE_MS = 3_600_000, 60_000

CLINICAL, CAMPUS = {"zone": "clinical"}, {"zone": "campus"}
"""The labels of machines that only medical imaging uses, and of those that all others ask for."""


@dataclass(frozen=True, slots=True)
class Rack:
    """A row of equal machines."""

    prefix: str
    nodes: int
    cores: int
    mem_gib: int
    gpus: int = 0
    model: str = ""
    vram_gib: int = 0


# Those without GPUs come first: among equals the node registered first is taken, and work that
# needs no GPU should not use up the cores that feed one.
RACKS = (
    Rack("cpu", 10, 128, 768),
    Rack("h100", 8, 128, 2048, 8, "NVIDIA H100 80GB HBM3", 80),
    Rack("a100", 14, 64, 1024, 4, "NVIDIA A100-SXM4-80GB", 80),
    Rack("l40s", 12, 64, 512, 4, "NVIDIA L40S", 48),
    Rack("v100", 6, 40, 384, 4, "Tesla V100-SXM2-32GB", 32),
    Rack("t4", 6, 32, 192, 4, "Tesla T4", 16),
    Rack("mi300x", 4, 192, 2048, 8, "AMD Instinct MI300X", 192),
)

CLINICAL_NODES = ("a100-13", "a100-14")


def device_of(rack: Rack, node: str, *, partitionable: bool = False) -> GpuDevice:
    """One GPU of a rack's machine; the generation follows from the name of the product."""
    named = GpuDevice.named(rack.model)
    return GpuDevice(named.generation, rack.vram_gib * GIB, rack.model, node, partitionable)


def capacity_of(node: str, *, partitionable: bool = False) -> NodeCapacity:
    """What the machine of this name reports about itself."""
    rack = next(r for r in RACKS if r.prefix == node.rpartition("-")[0])
    device = device_of(rack, node, partitionable=partitionable)
    return NodeCapacity(
        cpu_cores=rack.cores,
        mem_bytes=rack.mem_gib * GIB,
        gpus=(device,) * rack.gpus if rack.gpus else (),
        labels=CLINICAL if node in CLINICAL_NODES else CAMPUS,
    )


def node_names() -> list[str]:
    """All machines, rack by rack."""
    return [f"{rack.prefix}-{i:02}" for rack in RACKS for i in range(1, rack.nodes + 1)]


# --- tenants ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Lab:
    """One tenant: who they are, what they may hold, how they stand to the others."""

    name: str
    about: str
    share: int
    quota: Quota
    projects: Mapping[str, Quota] = field(default_factory=dict)


def quota_of(
    gpus: int,
    generations: Mapping[HardwareGeneration, int],
    *limits: ResourceLimit,
    burst: BurstCredit | None = None,
    ceiling: Ceiling | None = None,
) -> Quota:
    """A quota in GPUs in all, GPUs by generation, and whatever else is limited."""
    table = tuple(GpuGenerationQuota(g, count) for g, count in generations.items())
    return Quota((ResourceLimit.gpu_count(gpus), *limits), table, burst, ceiling)


# Eight GPUs above the limit for an hour and a half, once: for the week of the paper deadline.
VISION_BURST = BurstCredit(
    Dimension.GPU_COUNT, capacity=8_000 * 5_400, refill_per_s=0, ceiling=8_000
)

VITAL = Ceiling(Priority.CRITICAL, tuple(LeaseClass))
"""Of those whose work must run: the forecast, and the clinic. All others have the usual ceiling."""

LABS = (
    Lab(
        "climate",
        "nightly forecast, downscaling",
        4,
        quota_of(
            64,
            {G.NVIDIA_HOPPER: 56, G.NVIDIA_AMPERE: 16},
            ResourceLimit.cpu_cores(800),
            ceiling=VITAL,
        ),
        {
            "forecast": Quota((ResourceLimit.gpu_count(24),)),
            "downscaling": Quota((ResourceLimit.gpu_count(32),)),
        },
    ),
    Lab(
        "genomics",
        "assembly in memory, protein folding",
        3,
        quota_of(
            24,
            {G.NVIDIA_AMPERE: 24, G.NVIDIA_ADA: 8},
            ResourceLimit.cpu_cores(700),
            ResourceLimit.mem_bytes(6 * TIB),
        ),
        {
            "assembly": Quota((ResourceLimit.mem_bytes(3 * TIB),)),
            "folding": Quota((ResourceLimit.gpu_count(16),)),
        },
    ),
    Lab(
        "imaging",
        "medical imaging, clinical machines",
        3,
        quota_of(28, {G.NVIDIA_AMPERE: 24, G.NVIDIA_ADA: 8, G.NVIDIA_VOLTA: 8}, ceiling=VITAL),
    ),
    Lab(
        "linguistics",
        "language models on a grant",
        2,
        quota_of(24, {G.NVIDIA_HOPPER: 16, G.NVIDIA_AMPERE: 12}),
    ),
    Lab(
        "partner",
        "industry partner, spot only",
        1,
        quota_of(
            64,
            {G.NVIDIA_HOPPER: 32, G.NVIDIA_AMPERE: 16, G.NVIDIA_ADA: 24, G.AMD_MI300: 16},
        ),
    ),
    Lab(
        "physics",
        "lattice QCD, detector studies",
        3,
        quota_of(44, {G.AMD_MI300: 32, G.NVIDIA_VOLTA: 16}),
    ),
    Lab(
        "robotics",
        "simulation, reinforcement learning",
        2,
        quota_of(20, {G.NVIDIA_ADA: 16, G.NVIDIA_TURING: 8}),
    ),
    Lab(
        "teaching",
        "courses for four hundred students",
        1,
        quota_of(24, {G.NVIDIA_TURING: 20, G.NVIDIA_VOLTA: 8}, ResourceLimit.lease_count(80)),
    ),
    Lab(
        "vision",
        "segmentation, video, a paper deadline",
        3,
        quota_of(
            24,
            {G.NVIDIA_HOPPER: 16, G.NVIDIA_ADA: 32},
            burst=VISION_BURST,
        ),
        {
            "segmentation": Quota((ResourceLimit.gpu_count(16),)),
            "video": Quota((ResourceLimit.gpu_count(32),)),
        },
    ),
)

PHYSICS_LATER = quota_of(20, {G.AMD_MI300: 16, G.NVIDIA_VOLTA: 16})
"""What physics may hold once the faculty has moved half of its MI300 to others."""


# --- prices -------------------------------------------------------------------------------------

CARD = replace(LIST_PRICES, mem_micros_per_gib_hour=0, block_micros_per_gib_hour=0)
"""The list prices; the campus charges for GPUs and cores alone."""


def price_micros_per_hour(request: PlacementRequest) -> int:
    """What one hour of the whole request costs, in millionths of a credit."""
    gpu_milli = 0 if request.generation is None else request.gpu_milli_total
    hour = Used.over(HOUR_MS, cpu_milli=request.cpu_milli, gpu_milli=gpu_milli)
    whole = hour.times(request.gang_size)
    return cost_of(CARD, [Charge(whole, request.generation, request.lease_class)])


# --- all of it, as an operator would say it ------------------------------------------------------


def furnish() -> Iterator[Command]:
    """The commands that make the campus: prices, tenants, machines."""
    yield SetRateCard(CARD)
    for lab in LABS:
        yield from found(lab)
    for node in node_names():
        yield RegisterNode(node, capacity_of(node))


def found(lab: Lab) -> Iterator[Command]:
    """The commands that make a tenant with its projects."""
    yield CreateTenant(lab.name, lab.about)
    yield SetQuota(lab.name, lab.quota)
    yield SetShare(lab.name, lab.share)
    for project, quota in lab.projects.items():
        yield CreateProject(lab.name, project)
        yield SetQuota(lab.name, quota, project)
