"""Whether a booking is within its owner's quota, with all else that keeps nodes from others then.

Rules:

- A booking closes its nodes to others long before it begins: to every term that would cross its
  beginning. So bookings count together that stand within one longest term (the setting
  ``term_max_ms``) of each other, and each node once, however often it is booked: a series of the
  same nodes costs what one time of it does, and many short bookings of different nodes, one after
  the other, close no more than a quota that is held at once.

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
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from bailiwick.kernel.bookings.book import Booking
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


class BookedAtOnce(NamedTuple):
    """What counts together at one time."""

    nodes: frozenset[str]
    amounts: BookedAmounts


class BookedBeside(NamedTuple):
    """The quota of one scope, and what counts in it at each time at which that is most."""

    scope: QuotaScope
    quota: Quota
    at_times: tuple[BookedAtOnce, ...]
    """None where the quota limits nothing that is counted."""

    @property
    def listed(self) -> dict[HardwareGeneration, int] | None:
        """How many GPUs of each generation there may be; of one that is not listed there are none.

        Nothing where generations are not limited.
        """
        return {each.generation: each.count for each in self.quota.gpu_generations} or None

    def peak(self, generation: HardwareGeneration) -> int:
        """The most GPUs of a generation that count together at any one time."""
        return max(each.amounts.by_generation[generation] for each in self.at_times)


def booked_beside(
    state: State,
    *,
    owner: Owner,
    during: tuple[int, int],
    without: Collection[str] = (),
    kept: Sequence[str] = (),
) -> list[BookedBeside]:
    """What the tenant and the project have booked that counts with a booking of a time.

    ``without`` are keys of bookings that are not counted, ``kept`` nodes that are counted besides.
    """
    starts_ms, ends_ms = during
    tenant, reach_ms = str(owner.tenant), state.settings.term_max_ms
    others = [
        each
        for key, each in state.bookings.bookings.items()
        if key not in without
        and each.owner.tenant == tenant
        and each.overlaps(starts_ms - reach_ms, ends_ms + reach_ms)
    ]
    found, counts = [], _NodeCounts(state)
    for scope in (QuotaScope.of(tenant), QuotaScope.of(tenant, owner.project)):
        own = [each for each in others if scope.project in (None, each.owner.project)]
        quota = state.quotas.quota_of(scope.tenant, scope.project)
        at_times = tuple(
            BookedAtOnce(nodes, counts.of(nodes))
            for nodes in (_together(own, kept, reach_ms=reach_ms) if _counts(quota) else ())
        )
        found.append(BookedBeside(scope, quota, at_times))
    return found


def _counts(quota: Quota) -> bool:
    """Whether a quota limits anything that bookings are counted for."""
    hard = {each.dimension for each in quota.limits}
    return bool(quota.gpu_generations or hard & {Dimension.GPU_COUNT, Dimension.CPU_MILLI})


def _together(
    bookings: Iterable[Booking], kept: Iterable[str], *, reach_ms: int
) -> Iterator[frozenset[str]]:
    """The nodes that count together, at each time at which they are more than before and after."""
    turns = [(each.starts_ms - reach_ms, True, each.nodes) for each in bookings]
    turns += [(each.ends_ms, False, each.nodes) for each in bookings]
    counted, is_more = Counter(kept), True
    for _, begins, nodes in sorted(turns, key=lambda turn: turn[:2]):  # what ends goes first
        if begins:
            counted.update(nodes)
        else:
            if is_more:
                yield frozenset(counted)
            counted -= Counter(nodes)
        is_more = begins
    if is_more:
        yield frozenset(counted)


class _NodeCounts:
    """What quota counts of nodes; each is looked at once."""

    def __init__(self, state: State) -> None:
        self._state, self._known = state, dict[str, BookedAmounts]()

    def of(self, nodes: Iterable[str]) -> BookedAmounts:
        """The sum of some."""
        gpus, bare = Counter[HardwareGeneration](), 0
        for node in nodes:
            if node not in self._known:
                self._known[node] = counted_of(self._state, (node,))
            gpus.update(self._known[node].by_generation)
            bare += self._known[node].bare_cpu_milli
        return BookedAmounts(gpus.total(), gpus, bare)


def beyond_quota(
    asked: Callable[[BookedAtOnce], BookedAmounts], beside: Iterable[BookedBeside]
) -> QuotaShort | None:
    """The limit that the owner would be above, if there is one.

    ``asked`` says how much more there would be beside what counts already.
    """
    for each in beside:
        for booked in each.at_times:
            found = next(_above(each, asked=asked(booked), booked=booked.amounts), None)
            if found is not None:
                return found
    return None


def beyond_with(
    state: State, nodes: Collection[str], *, beside: Iterable[BookedBeside]
) -> QuotaShort | None:
    """The limit that the owner would be above with these nodes, if there is one."""
    return beyond_quota(
        lambda booked: counted_of(state, [each for each in nodes if each not in booked.nodes]),
        beside,
    )


def times_counted(beside: Iterable[BookedBeside]) -> Counter[str]:
    """How often each node counts already: to book those again costs the least of the quota."""
    return Counter(node for each in beside for booked in each.at_times for node in booked.nodes)


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
            if (listed := each.listed) is not None and each.at_times
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
