"""What the labs ask for, and when: kinds of work, drawn from one seed.

Rules:

- The same seed gives the same jobs on every machine: only ``Random.random`` is used, in a fixed
  order, and every draw is rounded to whole seconds at once.
- A job's length is the simulation's secret. What the scheduler sees is the request and its term.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from math import exp
from random import Random
from statistics import NormalDist

from bailiwick import (
    AccountingTag,
    Exclusivity,
    HardwareGeneration,
    LeaseClass,
    PlacementRequest,
    Priority,
    ProjectId,
    TenantId,
)
from bailiwick.demo.fleet import CAMPUS, CLINICAL, GIB, HOUR_MS, G

NIGHTLY_HOUR = 22


class When(Enum):
    """At which hours of a day work arrives, as weights per hour."""

    OFFICE = (0, 0, 0, 0, 0, 0, 0, 1, 4, 9, 10, 9, 6, 8, 10, 10, 9, 7, 4, 2, 2, 1, 1, 0)
    NIGHT = (5, 4, 3, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 5, 8, 9, 9, 8, 7, 6)
    ALWAYS = (4,) * 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of work: how often it comes, what it asks for, how it behaves."""

    tag: str
    tenant: str
    per_day: float
    hours: float
    project: str | None = None
    when: When = When.ALWAYS
    gpus: tuple[int, ...] = ()
    milli: tuple[int, ...] = ()
    generation: HardwareGeneration | None = None
    gang: int = 1
    cores: int = 8
    mem_gib: int = 32
    priority: Priority = Priority.NORMAL
    lease_class: LeaseClass = LeaseClass.STANDARD
    exclusivity: Exclusivity | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    saves: bool = True
    renews: bool = True
    on_budget: bool = False
    start_within_h: int = 0

    @property
    def term_ms(self) -> int:
        """The term it asks for: twice its usual length, in whole hours."""
        return (int(2 * self.hours) + 1) * HOUR_MS


@dataclass(slots=True, eq=False)
class Job:
    """One piece of work: the request the scheduler sees, and the length it does not."""

    id: int
    kind: Kind
    request: PlacementRequest
    arrives_ms: int
    length_ms: int
    saved_ms: int = 0
    attempts: int = 0

    @property
    def name(self) -> str:
        """Whose it is and what: ``tenant/tag``."""
        return f"{self.kind.tenant}/{self.kind.tag}"

    @property
    def gpu_milli(self) -> int:
        """GPU shares of all members together."""
        return self.request.gpu_milli_total * self.request.gang_size


_LOW, _HIGH, _CRITICAL = Priority.LOW, Priority.HIGH, Priority.CRITICAL
_SPOT, _GUARANTEED = LeaseClass.SPOT, LeaseClass.GUARANTEED

# fmt: off
KINDS = (
    Kind(tag="ensemble", tenant="climate", project="downscaling", per_day=9, hours=4,
         gpus=(8,), gang=2, generation=G.NVIDIA_HOPPER, cores=64, mem_gib=512),
    Kind(tag="statistics", tenant="climate", per_day=50, hours=1, when=When.OFFICE,
         gpus=(1,), generation=G.NVIDIA_AMPERE),
    Kind(tag="postprocess", tenant="climate", per_day=60, hours=1, cores=16, mem_gib=64),

    Kind(tag="assemble", tenant="genomics", project="assembly", per_day=60, hours=3,
         cores=32, mem_gib=256),
    Kind(tag="fold", tenant="genomics", project="folding", per_day=20, hours=4, when=When.NIGHT,
         gpus=(2, 4), generation=G.NVIDIA_AMPERE, cores=12, mem_gib=96),
    Kind(tag="variants", tenant="genomics", per_day=80, hours=1.5,
         gpus=(1, 2), generation=G.NVIDIA_AMPERE),

    Kind(tag="train", tenant="imaging", per_day=16, hours=4,
         gpus=(2, 4), generation=G.NVIDIA_AMPERE, cores=12, mem_gib=96),
    Kind(tag="reading", tenant="imaging", per_day=90, hours=0.5, when=When.OFFICE, milli=(250, 500),
         generation=G.NVIDIA_AMPERE, priority=_HIGH, lease_class=_GUARANTEED, labels=CLINICAL,
         saves=False),
    Kind(tag="slice", tenant="imaging", per_day=24, hours=2, when=When.OFFICE, milli=(125, 250),
         generation=G.NVIDIA_AMPERE, exclusivity=Exclusivity.PARTITION_EXCLUSIVE, cores=4),
    Kind(tag="emergency", tenant="imaging", per_day=5, hours=1, gpus=(4,),
         generation=G.NVIDIA_AMPERE, priority=_CRITICAL, cores=16, saves=False, start_within_h=2),

    Kind(tag="pretrain", tenant="linguistics", per_day=5, hours=6, gpus=(8,),
         generation=G.NVIDIA_HOPPER, cores=48, mem_gib=512, on_budget=True),
    Kind(tag="finetune", tenant="linguistics", per_day=24, hours=2.5, when=When.OFFICE,
         gpus=(1, 2), generation=G.NVIDIA_AMPERE, on_budget=True),
    Kind(tag="evaluate", tenant="linguistics", per_day=50, hours=0.7, when=When.OFFICE,
         gpus=(1,), generation=G.NVIDIA_HOPPER, priority=_LOW, start_within_h=4),
    Kind(tag="tokenise", tenant="linguistics", per_day=30, hours=2, cores=24, mem_gib=64),

    Kind(tag="sweep", tenant="partner", per_day=14, hours=5, when=When.NIGHT, gpus=(4, 8),
         generation=G.NVIDIA_HOPPER, priority=_LOW, lease_class=_SPOT, cores=24),
    Kind(tag="distil", tenant="partner", per_day=20, hours=4, gpus=(2, 4),
         generation=G.NVIDIA_AMPERE, priority=_LOW, lease_class=_SPOT),
    Kind(tag="render", tenant="partner", per_day=60, hours=3, gpus=(1, 2),
         generation=G.NVIDIA_ADA, priority=_LOW, lease_class=_SPOT),
    Kind(tag="port", tenant="partner", per_day=16, hours=4, gpus=(4,),
         generation=G.AMD_MI300, priority=_LOW, lease_class=_SPOT, cores=16),

    Kind(tag="lattice", tenant="physics", per_day=4, hours=7, gpus=(8,), gang=2,
         generation=G.AMD_MI300, cores=96, mem_gib=512),
    Kind(tag="kernels", tenant="physics", per_day=16, hours=2, when=When.OFFICE, gpus=(1, 2),
         generation=G.AMD_MI300, cores=12),
    Kind(tag="detector", tenant="physics", per_day=130, hours=1.5, gpus=(1, 1, 2),
         generation=G.NVIDIA_VOLTA, cores=6),

    Kind(tag="simulate", tenant="robotics", per_day=90, hours=1.2, when=When.OFFICE,
         milli=(500,), generation=G.NVIDIA_ADA),
    Kind(tag="reinforce", tenant="robotics", per_day=10, hours=3, gpus=(1,), gang=4,
         generation=G.NVIDIA_ADA, cores=12),
    Kind(tag="robot-live", tenant="robotics", per_day=24, hours=0.5, when=When.OFFICE, gpus=(1,),
         generation=G.NVIDIA_ADA, priority=_HIGH, saves=False, start_within_h=1),
    Kind(tag="edge", tenant="robotics", per_day=60, hours=1, when=When.OFFICE, gpus=(1,),
         generation=G.NVIDIA_TURING, cores=4),

    Kind(tag="notebook", tenant="teaching", per_day=260, hours=2, when=When.OFFICE,
         milli=(125, 250, 500), generation=G.NVIDIA_TURING, cores=1, mem_gib=6, saves=False,
         renews=False),
    Kind(tag="exercise", tenant="teaching", per_day=100, hours=1, when=When.OFFICE,
         milli=(250, 500), generation=G.NVIDIA_VOLTA, cores=2, mem_gib=12, saves=False),

    Kind(tag="video", tenant="vision", project="video", per_day=26, hours=2.5,
         gpus=(2, 4), generation=G.NVIDIA_ADA),
    Kind(tag="segment", tenant="vision", project="segmentation", per_day=16, hours=3,
         gpus=(2, 4), generation=G.NVIDIA_HOPPER, cores=32, mem_gib=128),
    Kind(tag="label", tenant="vision", per_day=50, hours=1, when=When.OFFICE, milli=(250, 500),
         generation=G.NVIDIA_ADA, cores=4, priority=_LOW),

    # What people get wrong.
    Kind(tag="untagged", tenant="teaching", per_day=4, hours=1, when=When.OFFICE, gpus=(1,)),
    Kind(tag="untagged", tenant="vision", per_day=2, hours=1, when=When.OFFICE, gpus=(2,)),
    Kind(tag="wish", tenant="robotics", per_day=3, hours=2, when=When.OFFICE, gpus=(4,),
         generation=G.NVIDIA_HOPPER),
    Kind(tag="wish", tenant="teaching", per_day=2, hours=2, when=When.OFFICE, gpus=(1,),
         generation=G.NVIDIA_BLACKWELL),
    Kind(tag="too-wide", tenant="climate", per_day=2, hours=2, when=When.OFFICE, gpus=(16,),
         generation=G.NVIDIA_HOPPER),
    Kind(tag="one-big", tenant="genomics", project="assembly", per_day=2, hours=3, cores=64,
         mem_gib=2500),
    Kind(tag="too-many", tenant="genomics", project="folding", per_day=2, hours=3, gpus=(4,),
         gang=7, generation=G.NVIDIA_AMPERE),
)
NIGHTLY = Kind(
    tag="nightly", tenant="climate", project="forecast", per_day=1, hours=2.5, gpus=(8,), gang=3,
    generation=G.NVIDIA_HOPPER, cores=96, mem_gib=1024, priority=_CRITICAL,
    lease_class=_GUARANTEED, start_within_h=3,
)
# fmt: on


@dataclass(frozen=True, slots=True)
class Rush:
    """Hours in which one tenant submits several times as much as usual."""

    tenant: str
    first_hour: int
    last_hour: int
    factor: float


RUSHES = (Rush("vision", 9, 14, 2.5), Rush("physics", 50, 58, 1.5))


def draw_jobs(days: int, seed: int) -> list[Job]:
    """Every job of the run, by time of arrival."""
    random = Random(seed)
    drawn: list[tuple[int, int, Kind]] = []
    for hour in range(24 * days):
        for order, kind in enumerate(KINDS):
            drawn.extend((at, order, kind) for at in _arrivals(random, kind, hour))
        if hour % 24 == NIGHTLY_HOUR:
            drawn.append((hour * HOUR_MS, len(KINDS), NIGHTLY))
    drawn.sort(key=lambda row: row[:2])
    return [_job(random, number, kind, at_ms=at) for number, (at, _, kind) in enumerate(drawn, 1)]


def _arrivals(random: Random, kind: Kind, hour: int) -> Iterator[int]:
    """Moments in this hour at which work of the kind arrives: a Poisson process."""
    weights = kind.when.value
    mean = kind.per_day * weights[hour % 24] / sum(weights)
    for rush in RUSHES:
        if rush.tenant == kind.tenant and rush.first_hour <= hour < rush.last_hour:
            mean *= rush.factor
    chance, bound = random.random(), exp(-mean)
    while chance > bound:  # ends: each factor is below 1
        yield hour * HOUR_MS + int(3600 * random.random()) * 1000
        chance *= random.random()


def _job(random: Random, number: int, kind: Kind, *, at_ms: int) -> Job:
    spread = NormalDist().inv_cdf(min(max(random.random(), 0.02), 0.98))
    length_s = int(kind.hours * 3600 * exp(0.5 * spread))
    # The start may be late by whole hours only, so that equal work stays equal to the queue.
    latest = (at_ms // HOUR_MS + 1 + kind.start_within_h) * HOUR_MS
    request = PlacementRequest(
        tenant=TenantId(kind.tenant),
        project=ProjectId(kind.project) if kind.project else None,
        tag=AccountingTag(kind.tag),
        cpu_cores=kind.cores,
        mem_bytes=kind.mem_gib * GIB,
        gpu_count=_pick(random, kind.gpus),
        gpu_milli=_pick(random, kind.milli),
        generation=kind.generation,
        exclusivity=kind.exclusivity,
        labels=kind.labels or ({} if kind.tenant == "imaging" else CAMPUS),
        priority=kind.priority,
        lease_class=kind.lease_class,
        gang_size=kind.gang,
        ttl_ms=kind.term_ms,
        deadline_ms=latest if kind.start_within_h else None,
        preemptible_on_budget=kind.on_budget,
    )
    return Job(number, kind, request, at_ms, length_s * 1000)


def _pick(random: Random, options: tuple[int, ...]) -> int:
    return options[int(random.random() * len(options))] if options else 0
