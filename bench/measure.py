"""How the benches take time: CPU time for throughput, wall time for latency.

Rules:

- Throughput is CPU time of the deciding thread, because the machine may be shared. It is the
  median over blocks of calls.
- Latency is the wall time of single calls. p50 is over all calls; p99 is the lower quartile of the
  blocks' own p99, because whatever preempts us also lands in a few blocks' worst calls.
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
from statistics import median
from time import perf_counter, perf_counter_ns, thread_time
from typing import Generic, TypeVar

T = TypeVar("T")

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
    max_us: float
    calls: int
    granted: float

    @property
    def mean_us(self) -> float:
        """CPU time of one cycle."""
        return 1e6 / self.per_s

    def as_dict(self) -> dict[str, float]:
        """The same, for JSON."""
        return {
            "decisions_per_s": round(self.per_s, 1),
            "p50_us": round(self.p50_us, 3),
            "p99_us": round(self.p99_us, 3),
            "max_us": round(self.max_us, 1),
            "calls": self.calls,
            "granted": round(self.granted, 4),
        }


@dataclass(slots=True)
class Tally:
    """Blocks of calls as they are measured: CPU seconds, wall nanoseconds of each call, grants."""

    rates: list[float] = field(default_factory=list)
    waits_ns: list[list[int]] = field(default_factory=list)
    granted: int = 0

    def add(self, spent_s: float, waits_ns: list[int], granted: int) -> None:
        """One more block."""
        self.rates.append(len(waits_ns) / max(spent_s, 1e-9))
        self.waits_ns.append(waits_ns)
        self.granted += granted

    def sample(self) -> Sample:
        """The figures of all blocks so far."""
        every = [wait for block in self.waits_ns for wait in block]
        tails = sorted(percentile(block, 99) for block in self.waits_ns)
        return Sample(
            per_s=median(self.rates),
            p50_us=percentile(every, 50) / 1000,
            p99_us=tails[len(tails) // 4] / 1000,
            max_us=max(every) / 1000,
            calls=len(every),
            granted=self.granted / len(every),
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
