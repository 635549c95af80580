"""How the benches take time: CPU time for throughput, wall time for latency.

Rules:

- Throughput is CPU time of the deciding thread, latency the wall time of single calls.
- The machine may be shared, and whatever else runs slows some blocks of calls and not others. So
  rate, p50 and p99 are taken per block, and the quieter quartile of the blocks is told, for a
  reference as for what is held against it. The mean over everything is told beside it.
- A cycle is: decide one request, then, if it was granted, release one lease picked at random, so
  the fleet stays as full as it was.
- The garbage collector is off while time is taken.
"""

from __future__ import annotations

import gc
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from time import perf_counter, perf_counter_ns, thread_time
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")

QUIET = 25
"""The percentile of the blocks that is told."""

_started = perf_counter()


def say(text: str) -> None:
    """A line of progress, with the seconds since the start."""
    print(f"[{perf_counter() - _started:5.0f} s] {text}", file=sys.stderr, flush=True)


@contextmanager
def no_collection() -> Iterator[None]:
    """Keep the garbage collector out of a measurement."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def in_blocks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items, so many at a time."""
    rest = iter(items)
    while block := list(islice(rest, size)):
        yield block


def percentile(values: Sequence[float], percent: float) -> float:
    """The value that this percentage of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


@dataclass(frozen=True, slots=True)
class Sample:
    """What a series of calls took."""

    per_s: float
    p50_us: float
    p99_us: float
    mean_us: float
    max_us: float
    calls: int
    granted: float

    def as_dict(self) -> dict[str, float]:
        """The same, for JSON."""
        return {
            "decisions_per_s": round(self.per_s, 1),
            "p50_us": round(self.p50_us, 3),
            "p99_us": round(self.p99_us, 3),
            "mean_us": round(self.mean_us, 3),
            "max_us": round(self.max_us, 1),
            "calls": self.calls,
            "granted": round(self.granted, 4),
        }


@dataclass(slots=True)
class Tally:
    """Blocks of calls as they are measured: CPU seconds, wall nanoseconds of each call, grants."""

    blocks: list[tuple[float, list[int]]] = field(default_factory=list)
    granted: int = 0

    def add(self, spent_s: float, waits_ns: list[int], granted: int) -> None:
        """One more block."""
        self.blocks.append((spent_s, waits_ns))
        self.granted += granted

    def sample(self) -> Sample:
        """The figures of all blocks so far."""
        calls = sum(len(waits) for _, waits in self.blocks)
        each_s = [spent / len(waits) for spent, waits in self.blocks]
        return Sample(
            per_s=1 / percentile(each_s, QUIET),
            p50_us=percentile([percentile(w, 50) for _, w in self.blocks], QUIET) / 1000,
            p99_us=percentile([percentile(w, 99) for _, w in self.blocks], QUIET) / 1000,
            mean_us=1e6 * sum(spent for spent, _ in self.blocks) / calls,
            max_us=max(max(waits) for _, waits in self.blocks) / 1000,
            calls=calls,
            granted=self.granted / calls,
        )


@dataclass(slots=True)
class Cycles(Generic[T]):
    """A system under test: how it decides, how it releases, and the leases it holds."""

    place: Callable[[T], int]
    release: Callable[[int], object]
    live: list[int]
    tally: Tally = field(default_factory=Tally)
    rng: random.Random = field(default_factory=lambda: random.Random(9))

    def run(self, blocks: Iterable[Sequence[T]], *, limit_s: float) -> Sample:
        """Cycle through blocks of requests until they end or the time is over."""
        until = perf_counter() + limit_s
        with no_collection():
            for requests in blocks:
                self._block(requests)
                if perf_counter() > until:
                    break
        return self.tally.sample()

    def _block(self, requests: Sequence[T]) -> None:
        place, release, live, clock = self.place, self.release, self.live, perf_counter_ns
        picks = [self.rng.randrange(len(live)) for _ in requests]
        waits = [0] * len(requests)
        granted = 0
        cpu = thread_time()
        for at, request in enumerate(requests):
            begin = clock()
            lease = place(request)
            waits[at] = clock() - begin
            if lease >= 0:
                pick = picks[at]
                release(live[pick])
                live[pick] = lease
                granted += 1
        self.tally.add(thread_time() - cpu, waits, granted)


class Rate(NamedTuple):
    """Calls a second: by the quieter quartile of the blocks, and by their mean."""

    quiet: float
    mean: float


def rate(call: Callable[[T], object], items: Sequence[T], *, block: int) -> Rate:
    """How many such calls a second one core does."""
    each: list[float] = []
    for batch in in_blocks(items, block):
        with no_collection():
            begin = thread_time()
            for item in batch:
                call(item)
            each.append((thread_time() - begin) / len(batch))
    return Rate(1 / percentile(each, QUIET), len(each) / sum(each))
