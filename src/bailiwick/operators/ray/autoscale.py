"""How many workers a cluster should have: from what waits and who is idle, and nothing else.

Rules:

- Never fewer than the least, never more than the most; of those that are too many, only who is idle
  goes.
- More are asked for when something has waited for a while (``wait_s``), as many as that fills;
  those that are on their way count. At most as many at once as there are, or one.
- What would not fit on an empty worker never makes one be asked for; it is told instead.
- One is let go when nothing waits, nobody is on the way, and it has been idle for long
  (``idle_s``); who has been idle for longest first. Who does something is never let go.
- What was seen before comes in, what to remember goes out. Who remembers nothing lets nobody go
  before the whole time has passed again.

>>> bounds = ScaleBounds(least=0, most=4)
>>> seen = ClusterSeen(workers=(), demand=(({"CPU": 1.0}, 3),))
>>> memory, first = decide(ScaleMemory(), seen, bounds=bounds, now_s=0.0)
>>> decide(memory, seen, bounds=bounds, now_s=60.0)[1]
Grow(count=1)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, repeat
from typing import Final, TypeAlias

from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_integer

WORKERS_MAX: Final = 1_000
PACKED_MAX: Final = 10_000
"""Bundles that are looked at; whoever has more waiting gets as many workers as may be anyway."""

Bundle = Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleBounds:
    """Within what a cluster grows and shrinks, and how patiently."""

    least: int = 0
    most: int
    wait_s: int = 10
    idle_s: int = 120

    def __post_init__(self) -> None:
        check_integer("min", self.least, low=0, high=WORKERS_MAX)
        check_integer("max", self.most, low=0, high=WORKERS_MAX)
        check_integer("wait_s", self.wait_s, low=0, high=3_600)
        check_integer("idle_s", self.idle_s, low=0, high=86_400)
        if self.least > self.most:
            raise InvalidValue("min", self.least, f"at most max, which is {self.most}")


@dataclass(frozen=True, slots=True)
class ScaledWorker:
    """A worker that is wanted: how the platform calls it, and how the cluster sees it."""

    key: str
    has: Bundle | None = None
    """What it has in all; ``None``: it is on its way."""
    is_busy: bool = False


@dataclass(frozen=True, slots=True)
class ClusterSeen:
    """One look at a cluster."""

    workers: tuple[ScaledWorker, ...] = ()
    demand: tuple[tuple[Bundle, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ScaleMemory:
    """What is remembered from one look to the next."""

    waits_since_s: float | None = None
    idle_since_s: Mapping[str, float] = field(default_factory=dict)
    size: Bundle = field(default_factory=dict)
    """What an empty worker has, as far as one was ever seen."""


@dataclass(frozen=True, slots=True)
class StaySize:
    """As many as there are. ``unfit``: how many wait that no worker could ever take."""

    unfit: int = 0


@dataclass(frozen=True, slots=True)
class Grow:
    """So many more."""

    count: int


@dataclass(frozen=True, slots=True)
class Shrink:
    """Without these."""

    keys: tuple[str, ...]


ScaleDecision: TypeAlias = StaySize | Grow | Shrink


def decide(
    memory: ScaleMemory, seen: ClusterSeen, *, bounds: ScaleBounds, now_s: float
) -> tuple[ScaleMemory, ScaleDecision]:
    """What to do now, and what to remember."""
    size = _size(seen, memory)
    fit, unfit = _sort_out(seen.demand, size)
    idle = {
        each.key: min(memory.idle_since_s.get(each.key, now_s), now_s)
        for each in seen.workers
        if each.has is not None and not each.is_busy
    }
    waits = None if not fit else min(_or(memory.waits_since_s, now_s), now_s)
    after = ScaleMemory(waits, idle, size)
    there = len(seen.workers)
    if there < bounds.least:
        return after, Grow(bounds.least - there)
    if waits is not None and now_s - waits >= bounds.wait_s and there < bounds.most:
        coming = sum(each.has is None for each in seen.workers)
        lacking = workers_for(fit, size, most=bounds.most) - coming
        count = min(lacking, bounds.most - there, max(1, there))
        if count > 0:
            # What was just asked for gets as long as this did before more is.
            return ScaleMemory(now_s, idle, size), Grow(count)
    leave = _to_leave(seen, idle, bounds=bounds, now_s=now_s, is_waiting=bool(fit))
    return after, Shrink(leave) if leave else StaySize(unfit)


def _or(value: float | None, default: float) -> float:
    return default if value is None else value


def _size(seen: ClusterSeen, memory: ScaleMemory) -> Bundle:
    """What an empty worker has: the least that any of them has of each thing."""
    known = [each.has for each in seen.workers if each.has is not None]
    if not known:
        return memory.size
    return {name: min(has.get(name, 0.0) for has in known) for name in known[0]}


def _sort_out(
    demand: Sequence[tuple[Bundle, int]], size: Bundle
) -> tuple[list[tuple[Bundle, int]], int]:
    """What an empty worker could take, and how many wait that it could not."""
    fit: list[tuple[Bundle, int]] = []
    unfit = 0
    for needs, count in demand:
        # Of whom nothing was seen yet, anything is thought possible.
        if not size or all(size.get(name, 0.0) >= amount for name, amount in needs.items()):
            fit.append((needs, count))
        else:
            unfit += count
    return [pair for pair in fit if pair[1] > 0], unfit


def workers_for(demand: Sequence[tuple[Bundle, int]], size: Bundle, *, most: int) -> int:
    """How many empty workers take all of that, by putting each where it fits first.

    >>> workers_for([({"CPU": 1.0}, 3)], {"CPU": 2.0}, most=9)
    2
    """
    if not demand:
        return 0
    if not size:
        return 1  # the first that comes shows what one has
    largest = sorted(demand, key=lambda pair: -sum(pair[0].values()))
    each_one = chain.from_iterable(repeat(needs, count) for needs, count in largest)
    free: list[dict[str, float]] = []
    for needs in islice(each_one, PACKED_MAX):
        room = next((each for each in free if _fits(needs, each)), None)
        if room is None:
            room = dict(size)
            free.append(room)
        if len(free) > most:
            return most
        for name, amount in needs.items():
            room[name] = room.get(name, 0.0) - amount
    return len(free)


def _fits(needs: Bundle, room: Bundle) -> bool:
    return all(room.get(name, 0.0) >= amount for name, amount in needs.items())


def _to_leave(
    seen: ClusterSeen,
    idle: Mapping[str, float],
    *,
    bounds: ScaleBounds,
    now_s: float,
    is_waiting: bool,
) -> tuple[str, ...]:
    """Who may go: those that are too many as soon as they are idle, others after a time."""
    there = len(seen.workers)
    excess = max(0, there - bounds.most)
    is_moving = is_waiting or any(each.has is None for each in seen.workers)
    longest = sorted(idle, key=lambda key: (idle[key], key))
    tired = [key for key in longest if not is_moving and now_s - idle[key] >= bounds.idle_s]
    return tuple((longest[:excess] if excess else tired)[: there - bounds.least])
