"""Whether what the journal attributes to a lease and what was counted for it agree.

Rules:

- Each difference beyond the tolerance is a finding with its numbers. Nothing is averaged, netted
  or corrected: two leases, two devices or two kinds of resource are never added up.
- *Quota evasion*: more was used than the lease held. More CPU time than cores x time, more memory
  than granted, more GPU time than the share x time, or a GPU that it did not hold, or no more.
- *Attribution drift*: something was counted for a lease that the journal does not know or has on
  another node; its work began before the lease or lasted beyond it; or the lease lasted, and was
  attributed, long after its work had ended.
- CPU time and memory are judged only where the lease holds some of it: a request that asks for none
  is not held to any (docs/executor.md). GPUs are always judged.
- A tolerance is exact: a difference as large as it is none, one unit more is one.

Instants are told by two clocks, lengths by one each; so they have different tolerances. What a
lease held is added up until it ended, or, while it runs, until ``until_ms``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Final, TypeAlias

from bailiwick.metering.counters import Counter, GpuCount
from bailiwick.metering.owners import Leased
from bailiwick.metering.values import Segment
from bailiwick.vocab.values import MIB, MILLI, check_amount, check_integer
from bailiwick.vocab.words import ResourceKind

_CPU = (ResourceKind.CPU_MILLI, 0)
_MEM = (ResourceKind.MEM_BYTES, 0)


class UsageFindingWord(StrEnum):
    """What a difference amounts to."""

    QUOTA_EVASION = "quota_evasion"
    ATTRIBUTION_DRIFT = "attribution_drift"


class Evasion(StrEnum):
    """Of what more was used than granted."""

    CPU_TIME = "cpu_time"
    MEMORY = "memory"
    GPU_TIME = "gpu_time"
    GPU_NOT_HELD = "gpu_not_held"
    GPU_AFTER_END = "gpu_after_end"


class Drift(StrEnum):
    """How counting and attribution fall apart."""

    UNKNOWN_LEASE = "unknown_lease"
    OTHER_NODE = "other_node"
    BEFORE_GRANT = "before_grant"
    AFTER_END = "after_end"
    HELD_LONGER = "held_longer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """How far two honest accounts of the same work may differ."""

    time_ms: int = 1_000
    """So long of one core, one GPU or the share (whichever is more): starts, ends, sampling."""
    per_mille: int = 20
    """And so much of what was granted: counters tick, utilisation is told in whole per cents."""
    mem_bytes: int = 16 * MIB
    clock_ms: int = 5_000
    """How far the clocks of a node and of the server may be apart."""

    def __post_init__(self) -> None:
        check_integer("per_mille", self.per_mille, low=0, high=MILLI)
        for name in ("time_ms", "mem_bytes", "clock_ms"):
            check_amount(name, getattr(self, name))

    def time(self, granted: int, milli: int) -> int:
        """The most that may be used, in milli x ms, where this was granted."""
        return granted + max(milli, MILLI) * self.time_ms + granted * self.per_mille // MILLI

    def memory(self, granted: int) -> int:
        """The most bytes that may be used where this was granted."""
        return granted + self.mem_bytes + granted * self.per_mille // MILLI


USUAL: Final = Tolerance()


@dataclass(frozen=True, slots=True)
class Attributed:
    """What the journal says a lease held: by kind and device, the most, and amount x time."""

    lease_id: int
    tenant: str
    project: str | None
    node: str
    from_ms: int
    to_ms: int
    is_over: bool
    """Whether it has ended; else ``to_ms`` is until when it was added up."""
    amounts: Mapping[tuple[ResourceKind, int], int]
    used: Mapping[tuple[ResourceKind, int], int]

    @property
    def gpu_milli(self) -> int:
        """Of all devices together."""
        return sum(n for (kind, _), n in self.amounts.items() if kind is ResourceKind.GPU_MILLI)

    @property
    def gpu_used(self) -> int:
        """Of all devices together."""
        return sum(n for (kind, _), n in self.used.items() if kind is ResourceKind.GPU_MILLI)


@dataclass(frozen=True, slots=True)
class QuotaEvasion:
    """More was counted than granted: time in milli x ms, memory in bytes, an instant in ms."""

    what: Evasion
    counter: Counter
    counted: int
    granted: int
    allowed: int
    device: int | None = None
    word: ClassVar = UsageFindingWord.QUOTA_EVASION


@dataclass(frozen=True, slots=True)
class AttributionDrift:
    """The two accounts are not of the same thing: instants in ms; of a lease not known, zeros."""

    what: Drift
    counter: Counter
    counted: int
    attributed: int
    allowed: int
    word: ClassVar = UsageFindingWord.ATTRIBUTION_DRIFT


UsageFinding: TypeAlias = QuotaEvasion | AttributionDrift


def attribute(charged: Iterable[Segment], running: Iterable[Segment] = ()) -> dict[int, Attributed]:
    """What each lease held, from its stretches: those that are charged, and those that still run.

    A lease is one node's; stretches of nobody are passed over.
    """
    found: dict[int, _Sum] = {}
    for segments, is_running in ((charged, False), (running, True)):
        for segment in segments:
            owner = segment.owner
            if not isinstance(owner, Leased):
                continue
            found.setdefault(owner.lease_id, _Sum(owner, segment)).add(segment, is_running)
    return {lease_id: each.made() for lease_id, each in found.items()}


class _Sum:
    def __init__(self, owner: Leased, first: Segment) -> None:
        self._owner, self._node = owner, first.share.node
        self._from_ms, self._to_ms, self._is_running = first.from_ms, first.to_ms, False
        self._amounts: dict[tuple[ResourceKind, int], int] = {}
        self._used: dict[tuple[ResourceKind, int], int] = {}

    def add(self, segment: Segment, is_running: bool) -> None:
        key = (segment.share.kind, segment.share.index)
        self._amounts[key] = max(self._amounts.get(key, 0), segment.amount)
        self._used[key] = self._used.get(key, 0) + segment.used
        self._from_ms = min(self._from_ms, segment.from_ms)
        self._to_ms = max(self._to_ms, segment.to_ms)
        self._is_running |= is_running

    def made(self) -> Attributed:
        account = self._owner.account
        return Attributed(
            self._owner.lease_id,
            account.tenant,
            account.project,
            self._node,
            self._from_ms,
            self._to_ms,
            not self._is_running,
            self._amounts,
            self._used,
        )


def check_usage(
    attributed: Attributed | None, counter: Counter, *, tolerance: Tolerance = USUAL
) -> tuple[UsageFinding, ...]:
    """Every difference between the two beyond the tolerance; of an honest lease, none."""
    if attributed is None:
        return (AttributionDrift(Drift.UNKNOWN_LEASE, counter, 0, 0, 0),)
    if attributed.node != counter.node:
        return (AttributionDrift(Drift.OTHER_NODE, counter, 0, 0, 0),)
    return (
        *_check_span(attributed, counter, tolerance),
        *_check_sums(attributed, counter, tolerance),
        *(
            finding
            for gpu in counter.gpus
            for finding in _check_gpu(attributed, counter, gpu=gpu, tolerance=tolerance)
        ),
    )


def _check_span(
    attributed: Attributed, counter: Counter, tolerance: Tolerance
) -> Iterator[AttributionDrift]:
    clock_ms = tolerance.clock_ms
    begun_ms, earliest_ms = attributed.from_ms, attributed.from_ms - clock_ms
    if counter.from_ms < earliest_ms:
        yield AttributionDrift(Drift.BEFORE_GRANT, counter, counter.from_ms, begun_ms, earliest_ms)
    if not attributed.is_over:
        return
    over_ms, latest_ms = attributed.to_ms, attributed.to_ms + clock_ms
    last_ms = counter.at_ms if counter.to_ms is None else counter.to_ms
    if last_ms > latest_ms:
        yield AttributionDrift(Drift.AFTER_END, counter, last_ms, over_ms, latest_ms)
    if counter.to_ms is not None and over_ms > counter.to_ms + clock_ms:
        most_ms = counter.to_ms + clock_ms
        yield AttributionDrift(Drift.HELD_LONGER, counter, counter.to_ms, over_ms, most_ms)


def _check_sums(
    attributed: Attributed, counter: Counter, tolerance: Tolerance
) -> Iterator[QuotaEvasion]:
    cores, granted = attributed.amounts.get(_CPU, 0), attributed.used.get(_CPU, 0)
    if cores and counter.cpu_ms is not None:
        counted, allowed = counter.cpu_ms * MILLI, tolerance.time(granted, cores)
        if counted > allowed:
            yield QuotaEvasion(Evasion.CPU_TIME, counter, counted, granted, allowed)
    held = attributed.amounts.get(_MEM, 0)
    if held and counter.mem_peak_bytes is not None:
        peak, most = counter.mem_peak_bytes, tolerance.memory(held)
        if peak > most:
            yield QuotaEvasion(Evasion.MEMORY, counter, peak, held, most)
    if counter.gpu_ms is not None:
        counted, granted = counter.gpu_ms * MILLI, attributed.gpu_used
        allowed = tolerance.time(granted, attributed.gpu_milli)
        if counted > allowed:
            yield QuotaEvasion(Evasion.GPU_TIME, counter, counted, granted, allowed)


def _check_gpu(
    attributed: Attributed, counter: Counter, *, gpu: GpuCount, tolerance: Tolerance
) -> Iterator[QuotaEvasion]:
    key = (ResourceKind.GPU_MILLI, gpu.index)
    milli, granted = attributed.amounts.get(key, 0), attributed.used.get(key, 0)
    if not milli:
        active, allowed = gpu.active_ms * MILLI, tolerance.time(0, 0)
        if active > allowed:
            yield QuotaEvasion(Evasion.GPU_NOT_HELD, counter, active, 0, allowed, gpu.index)
        return
    busy, allowed = gpu.busy_ms * MILLI, tolerance.time(granted, milli)
    if busy > allowed:
        yield QuotaEvasion(Evasion.GPU_TIME, counter, busy, granted, allowed, gpu.index)
    over_ms, latest_ms = attributed.to_ms, attributed.to_ms + tolerance.clock_ms
    if attributed.is_over and gpu.until_ms > latest_ms:
        yield QuotaEvasion(
            Evasion.GPU_AFTER_END, counter, gpu.until_ms, over_ms, latest_ms, gpu.index
        )
