"""Whether a booking is within its owner's quota, with all else that is booked for the same time.

Rules:

- Whole nodes are booked, so all their GPUs count, and of nodes without any all cores. Only the hard
  limits of these are asked, of the tenant and of the project: what could never be held must not be
  kept from others. Cores beside GPUs do not count: who may have the GPUs may need few of them.
- It is asked before nodes are chosen, of the least that they could have: what no nodes could help
  is told as that. Then nodes that quota closes are left out of the choice, and of a limited
  generation those that are too many; at last the nodes themselves are counted.
- What runs now is not counted: by then it may be over, and a request is judged when it comes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from bailiwick.kernel.owner import Owner
from bailiwick.kernel.state import State
from bailiwick.scheduler.quota_policy import (
    GpuGenerationLimitExceeded,
    HardLimitExceeded,
    Quota,
    QuotaScope,
)
from bailiwick.vocab.words import Dimension, HardwareGeneration

QuotaShort = GpuGenerationLimitExceeded | HardLimitExceeded


class BookedAmounts(NamedTuple):
    """What quota counts of some nodes."""

    gpu_count: int
    by_generation: Counter[HardwareGeneration]
    bare_cpu_milli: int = 0
    """Cores of nodes without GPUs."""


class BookedBeside(NamedTuple):
    """The quota of one scope, and what is booked in it at each time at which that is most."""

    scope: QuotaScope
    quota: Quota
    at_times: tuple[BookedAmounts, ...]

    @property
    def listed(self) -> dict[HardwareGeneration, int] | None:
        """How many GPUs of each generation there may be; of one that is not listed there are none.

        Nothing where generations are not limited.
        """
        return {each.generation: each.count for each in self.quota.gpu_generations} or None

    def peak(self, generation: HardwareGeneration) -> int:
        """The most GPUs of a generation that are booked at any one time."""
        return max(each.by_generation[generation] for each in self.at_times)


def booked_beside(
    state: State,
    *,
    owner: Owner,
    during: tuple[int, int],
    without: Collection[str] = (),
    kept: Sequence[str] = (),
) -> list[BookedBeside]:
    """What the tenant and the project have booked for a time.

    ``without`` are keys of bookings that are not counted, ``kept`` nodes that are counted besides.
    """
    starts_ms, ends_ms = during
    tenant = str(owner.tenant)
    others = [
        each
        for key, each in state.bookings.bookings.items()
        if key not in without and each.owner.tenant == tenant and each.overlaps(starts_ms, ends_ms)
    ]
    counted = [(each, counted_of(state, each.nodes)) for each in others]
    times = sorted({starts_ms, *(each.starts_ms for each in others if each.starts_ms > starts_ms)})
    found, more = [], counted_of(state, kept)
    for scope in (QuotaScope.of(tenant), QuotaScope.of(tenant, owner.project)):
        own = [(b, n) for b, n in counted if scope.project in (None, b.owner.project)]
        at_times = tuple(
            _sum([more, *(n for b, n in own if b.starts_ms <= at_ms < b.ends_ms)])
            for at_ms in times
        )
        quota = state.quotas.quota_of(scope.tenant, scope.project)
        found.append(BookedBeside(scope, quota, at_times))
    return found


def beyond_quota(asked: BookedAmounts, beside: Iterable[BookedBeside]) -> QuotaShort | None:
    """The limit that the owner would be above with so much more, if there is one."""
    for each in beside:
        for booked in each.at_times:
            found = next(_above(each, asked=asked, booked=booked), None)
            if found is not None:
                return found
    return None


def closed_by_quota(
    gpus: Mapping[HardwareGeneration, int], beside: Iterable[BookedBeside]
) -> GpuGenerationLimitExceeded | None:
    """The limit of a generation that closes a node with such GPUs, whatever else is booked."""
    for each in beside:
        listed = each.listed
        for generation, count in sorted(gpus.items()) if listed is not None else ():
            assert listed is not None
            limit = listed.get(generation, 0)
            if count > limit:
                return GpuGenerationLimitExceeded(generation, limit, 0, count, each.scope)
    return None


def room_left(
    generations: Iterable[HardwareGeneration], beside: Sequence[BookedBeside]
) -> dict[HardwareGeneration, int]:
    """How many more GPUs of those generations that are limited may be booked."""
    found: dict[HardwareGeneration, int] = {}
    for generation in generations:
        rooms = [
            listed.get(generation, 0) - each.peak(generation)
            for each in beside
            if (listed := each.listed) is not None
        ]
        if rooms:
            found[generation] = min(rooms)
    return found


def gpus_of(state: State, nodes: Iterable[str]) -> Counter[HardwareGeneration]:
    """The GPUs of these nodes, of those that are there."""
    entries = state.ledger.entries
    there = (state.ledger.entry(node) for node in nodes if node in entries)
    return Counter(gpu.generation for entry in there for gpu in entry.capacity.gpus)


def counted_of(state: State, nodes: Iterable[str]) -> BookedAmounts:
    """What quota counts of these nodes, of those that are there."""
    nodes, entries = tuple(nodes), state.ledger.entries
    there = (state.ledger.entry(node).capacity for node in nodes if node in entries)
    bare = sum(capacity.cpu_milli for capacity in there if not capacity.gpus)
    gpus = gpus_of(state, nodes)
    return BookedAmounts(gpus.total(), gpus, bare)


def _sum(parts: Sequence[BookedAmounts]) -> BookedAmounts:
    gpus = sum((each.by_generation for each in parts), Counter[HardwareGeneration]())
    return BookedAmounts(gpus.total(), gpus, sum(each.bare_cpu_milli for each in parts))


def _above(
    beside: BookedBeside, *, asked: BookedAmounts, booked: BookedAmounts
) -> Iterator[QuotaShort]:
    limits = {each.dimension: each.limit for each in beside.quota.limits}
    rows = (
        (Dimension.GPU_COUNT, booked.gpu_count, asked.gpu_count),
        (Dimension.CPU_MILLI, booked.bare_cpu_milli, asked.bare_cpu_milli),
    )
    for dimension, used, more in rows:
        most = limits.get(dimension)
        if most is not None and more and used + more > most:
            yield HardLimitExceeded(dimension, most, used, more, beside.scope)
    listed = beside.listed
    for generation in sorted(asked.by_generation) if listed is not None else ():
        assert listed is not None
        used, more = booked.by_generation[generation], asked.by_generation[generation]
        limit = listed.get(generation, 0)
        if used + more > limit:
            yield GpuGenerationLimitExceeded(generation, limit, used, more, beside.scope)
