"""What the fleet is usually asked for, learned from what has arrived.

The fragmentation-aware strategy needs to know the typical request. Nothing is configured: the
shapes of past arrivals are counted, and from the counts come

- the typical shapes (the most frequent ones that make up 95 % of arrivals) with their weights,
- kappa, the CPU that goes with a GPU,
- the pressure on each kind of device: how much of its capacity is asked for by name.

Rules:

- Integers only, in 1/65536, so that both engines score alike on every machine.
- It learns after 32 arrivals and then each time their number doubles, up to four per node (at
  least 4096); from there on at that interval, halving old counts, so that the past fades.
- Before anything arrived, kappa is the fleet's own CPU per GPU and there is no pressure.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass

from bailiwick.scheduler.engine.protocol import KINDS_MAX, ONE

FIRST_LESSON = 32
TYPICAL_PERCENT = 95


@dataclass(frozen=True, slots=True)
class Arrivals:
    """How often one shape arrived: devices, milli of each, which kinds serve it, CPU."""

    times: int
    count: int
    milli: int
    kinds: int
    cpu: int

    @property
    def gpu_milli(self) -> int:
        """GPU milli asked for in all."""
        return self.times * self.count * self.milli


@dataclass(frozen=True, slots=True)
class Workload:
    """The tables an engine scores with; see ``Engine.set_workload``."""

    inverse_kappa: int
    pressure: array[int]
    items: array[int]


def lesson_interval(arrivals: int, nodes: int) -> int:
    """How many more arrivals until it is worth learning again."""
    return min(max(arrivals, FIRST_LESSON), steady_interval(nodes))


def steady_interval(nodes: int) -> int:
    """The interval once enough has been seen; it grows with the fleet, as rescoring costs."""
    return max(4096, 4 * nodes)


def learn(arrivals: Iterable[Arrivals], *, milli_by_kind: list[int], cpu_milli: int) -> Workload:
    """The workload tables for what has arrived at a fleet with this capacity."""
    seen = [a for a in arrivals if a.times > 0]
    gpu = [a for a in seen if a.count]
    asked = sum(a.gpu_milli for a in gpu)
    cpu_with_gpu = sum(a.times * a.cpu for a in gpu)
    if asked and cpu_with_gpu:
        inverse_kappa = ONE * asked // cpu_with_gpu
    else:
        inverse_kappa = ONE * sum(milli_by_kind) // max(1, cpu_milli)
    return Workload(inverse_kappa, _pressure(gpu, milli_by_kind), _typical(seen))


def _typical(seen: list[Arrivals]) -> array[int]:
    """Rows (devices, milli, kinds, cpu, weight) of the frequent GPU shapes, grouped and sorted."""
    times: dict[tuple[int, int, int, int], int] = {}
    for a in seen:
        key = (a.count, a.milli, a.kinds if a.count else 0, a.cpu)
        times[key] = times.get(key, 0) + a.times
    enough = TYPICAL_PERCENT * sum(times.values())
    kept: list[tuple[tuple[int, int, int, int], int]] = []
    total = 0
    for key, n in sorted(times.items(), key=lambda pair: (-pair[1], pair[0])):
        if total * 100 >= enough:
            break
        kept.append((key, n))
        total += n
    rows = array("q")
    for (count, milli, kinds, cpu), n in sorted(kept):
        if count:  # a request without a GPU can use none: its weight is only in the total
            rows.extend((count, milli, _signed(kinds), cpu, ONE * n // total))
    return rows


def _pressure(gpu: list[Arrivals], milli_by_kind: list[int]) -> array[int]:
    """How much of each kind is asked for by name, as a part of its capacity."""
    everything = (1 << len(milli_by_kind)) - 1
    fleet, asked = sum(milli_by_kind), sum(a.gpu_milli for a in gpu)
    wanted = [0] * KINDS_MAX
    for a in gpu:
        named = a.kinds & everything
        capacity = sum(m for k, m in enumerate(milli_by_kind) if named >> k & 1)
        if named == everything or not capacity:
            continue
        for k, milli in enumerate(milli_by_kind):
            if named >> k & 1:
                wanted[k] += ONE * a.gpu_milli * milli // capacity
    pressure = array("q", bytes(8 * KINDS_MAX))
    for k, milli in enumerate(milli_by_kind):
        if milli and asked:
            pressure[k] = wanted[k] * fleet // (milli * asked)
    return pressure


def _signed(bits: int) -> int:
    """A 64-bit set as the signed integer an ``array('q')`` holds."""
    return bits - (1 << 64) if bits >> 63 else bits
