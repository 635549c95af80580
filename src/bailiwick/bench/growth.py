"""Whether a decision costs more the more there is: curves over leases and over waiting requests.

Rules:

- The first curve has more and more leases and one short line; the second the most leases and a line
  that grows. They share a point, and the last one has the most of both.
- Each case has these curves twice: where the line is many tenants' and where it is a few's.
- A figure is the CPU time of one call, the median of many; what prepares a call or takes it back is
  not timed. The garbage collector is off meanwhile.
- Two promises for every case: from the fewest leases to the most at most :data:`RATIO_MAX`, and the
  same from a line to one ten times as long; and with the most of both at most :data:`US_MAX`.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from statistics import mean, median
from time import perf_counter, thread_time
from typing import Final

from bailiwick.bench.grown_fleet import CAPPED, GrownFleet, Size, WaitingTenants
from bailiwick.kernel import Granted, Queued, Submit, Tick
from bailiwick.kernel.views import waiting_entry
from bailiwick.kernel.work.commands import Cancel, Release
from bailiwick.kernel.work.plan import explain
from bailiwick.vocab.errors import InvalidValue, InvariantBroken
from bailiwick.vocab.values import TenantId

LEASES, WAITING = (1_000, 10_000, 100_000), (100, 1_000, 10_000)
RATIO_MAX, US_MAX = 2.0, 1_000.0
CALLS_MAX, CALLS_MIN, LIMIT_S = 300, 5, 2.0
SIZES_MAX, SIZE_MAX = 8, 1_000_000
_STEPS = "▁▂▃▄▅▆▇█"


class Case(StrEnum):
    """What is timed."""

    TICK = "tick"
    SUBMIT_GRANTED = "submit_granted"
    SUBMIT_DENIED = "submit_denied"
    SUBMIT_QUEUED = "submit_queued"
    SUBMIT_CAPPED = "submit_capped"
    QUEUE_ROW = "queue_row"
    EXPLAIN = "explain"
    RENEW = "renew"


@dataclass(frozen=True, slots=True)
class Point:
    """What one call takes at one size."""

    size: Size
    us: float
    mean_us: float
    calls: int


@dataclass(frozen=True, slots=True)
class Curve:
    """One case over all sizes: by leases, then by waiting requests from the last of those on."""

    case: Case
    waiting_tenants: WaitingTenants
    by_leases: tuple[Point, ...]
    by_waiting: tuple[Point, ...]

    @property
    def points(self) -> tuple[Point, ...]:
        """Every size once."""
        return *self.by_leases, *self.by_waiting[1:]

    @property
    def leases_ratio(self) -> float:
        """How much more the most leases cost than the fewest."""
        return self.by_leases[-1].us / self.by_leases[0].us

    @property
    def waiting_ratio(self) -> float:
        """How much more the longest line costs than the next shorter one."""
        return self.by_waiting[-1].us / self.by_waiting[-2 % len(self.by_waiting)].us

    @property
    def last_us(self) -> float:
        """What the most of both costs."""
        return self.by_waiting[-1].us

    @property
    def is_flat(self) -> bool:
        """Whether every promise holds."""
        grows = max(self.leases_ratio, self.waiting_ratio) > RATIO_MAX
        return not grows and self.last_us <= US_MAX


def numbers_named(name: str, text: str, *, low: int = 1) -> tuple[int, ...]:
    """Sizes as people write them, like ``1000,10000``: rising, and none below ``low``."""
    parts = text.replace("_", "").split(",")
    if not all(part.isdecimal() and len(part) < 9 for part in parts) or len(parts) > SIZES_MAX:
        raise InvalidValue(name, text, f"up to {SIZES_MAX} numbers, joined by commas")
    found = tuple(map(int, parts))
    if found[0] < low or found[-1] > SIZE_MAX or list(found) != sorted(set(found)):
        raise InvalidValue(name, text, f"rising numbers from {low} to {SIZE_MAX}")
    return found


def measure(
    leases: Sequence[int] = LEASES,
    waiting: Sequence[int] = WAITING,
    *,
    engine: str = "auto",
    calls_max: int = CALLS_MAX,
    tell: Callable[[str], None] = lambda text: None,
) -> tuple[Curve, ...]:
    """Every case at every size, first with a line of many tenants, then with one of a few."""
    return tuple(
        curve
        for tenants in WaitingTenants
        for curve in _curves(
            (GrownFleet(count, waiting_tenants=tenants, engine=engine) for count in leases),
            waiting,
            last=leases[-1],
            calls_max=calls_max,
            tell=tell,
        )
    )


def _curves(
    fleets: Iterable[GrownFleet],
    waiting: Sequence[int],
    *,
    last: int,
    calls_max: int,
    tell: Callable[[str], None],
) -> Iterator[Curve]:
    """Each case's curve over fleets of one kind; only the ``last`` has the longer lines."""
    first: dict[Case, list[Point]] = {case: [] for case in Case}
    second: dict[Case, list[Point]] = {case: [] for case in Case}
    for fleet in fleets:
        count, tenants = len(fleet.leases), fleet.waiting_tenants
        for length in waiting if count == last else waiting[:1]:
            fleet.line_up(length)
            for case, point in _points(fleet, Size(count, length), calls_max=calls_max):
                (first if length == waiting[0] else second)[case].append(point)
            tell(f"{count:,} leases, {length:,} waiting of {tenants.value} tenants")
    for case, found in first.items():
        yield Curve(case, tenants, tuple(found), (found[-1], *second[case]))


def _points(fleet: GrownFleet, size: Size, *, calls_max: int) -> Iterator[tuple[Case, Point]]:
    # Once for all cases: in a process that holds much, to collect takes longer than to measure.
    with _no_collection():
        for case in Case:
            took_us = list(_times_us(fleet, _CALLS[case], calls_max=calls_max))
            yield case, Point(size, median(took_us), mean(took_us), len(took_us))


def _times_us(
    fleet: GrownFleet, call: Callable[[GrownFleet], float], *, calls_max: int
) -> Iterator[float]:
    """What each of many calls took, until there are enough or the time is over."""
    until = perf_counter() + LIMIT_S
    for number in range(calls_max):
        if number >= CALLS_MIN and perf_counter() > until:
            return
        fleet.live()
        yield call(fleet) * 1e6


@contextmanager
def _no_collection() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


# -- the calls: each tells the seconds of CPU time it took -----------------------------------


def _tick(fleet: GrownFleet) -> float:
    command, begin = Tick(), thread_time()
    fleet.do(command)
    return thread_time() - begin


def _granted(fleet: GrownFleet, tenant: TenantId | None = None) -> float:
    command, begin = Submit(fleet.small(tenant), wait=False), thread_time()
    answer = fleet.do(command)
    took = thread_time() - begin
    if not isinstance(answer, Granted):
        raise InvariantBroken(f"a request that fits was answered {answer!r}")
    fleet.do(Release(answer.lease_ids[0]))
    return took


def _capped(fleet: GrownFleet) -> float:
    return _granted(fleet, CAPPED)


def _denied(fleet: GrownFleet) -> float:
    command, begin = Submit(fleet.large(), wait=False), thread_time()
    fleet.do(command)
    return thread_time() - begin


def _queued(fleet: GrownFleet) -> float:
    command, begin = Submit(fleet.large()), thread_time()
    answer = fleet.do(command)
    took = thread_time() - begin
    if not isinstance(answer, Queued):
        raise InvariantBroken(f"a request that fits nowhere was answered {answer!r}")
    fleet.do(Cancel(answer.entry_id))
    return took


def _row(fleet: GrownFleet) -> float:
    entry_id, begin = fleet.chance.choice(fleet.waiting), thread_time()
    waiting_entry(fleet.state, entry_id, now_ms=fleet.now_ms)
    return thread_time() - begin


def _explain(fleet: GrownFleet) -> float:
    command, begin = Submit(fleet.large()), thread_time()
    explain(fleet.state, command, now_ms=fleet.now_ms)
    return thread_time() - begin


def _renew(fleet: GrownFleet) -> float:
    command, begin = fleet.renewal(), thread_time()
    fleet.do(command)
    return thread_time() - begin


_CALLS: Final[Mapping[Case, Callable[[GrownFleet], float]]] = {
    Case.TICK: _tick,
    Case.SUBMIT_GRANTED: _granted,
    Case.SUBMIT_DENIED: _denied,
    Case.SUBMIT_QUEUED: _queued,
    Case.SUBMIT_CAPPED: _capped,
    Case.QUEUE_ROW: _row,
    Case.EXPLAIN: _explain,
    Case.RENEW: _renew,
}


# -- telling ---------------------------------------------------------------------------------


def headings(curves: Sequence[Curve]) -> list[str]:
    """Over the columns of :func:`row`."""
    sizes = [f"{_short(p.size.leases)}/{_short(p.size.waiting)}" for p in curves[0].points]
    return ["case", "tenants", *sizes, "curve", "leases", "waiting", "bars"]


def row(curve: Curve) -> list[str]:
    """A curve in words: whose line, a figure for each size, its picture, ratios and verdict."""
    figures = [f"{point.us:,.0f} us" for point in curve.points]
    ratios = [f"{curve.leases_ratio:.1f}x", f"{curve.waiting_ratio:.1f}x"]
    return [
        curve.case.value,
        curve.waiting_tenants.value,
        *figures,
        picture(curve),
        *ratios,
        "met" if curve.is_flat else "missed",
    ]


def as_objects(curves: Sequence[Curve]) -> list[dict[str, object]]:
    """The same for JSON: one object per case, kind of line and size."""
    return [
        {
            "case": curve.case.value,
            "waiting_tenants": curve.waiting_tenants.value,
            "leases": point.size.leases,
            "waiting": point.size.waiting,
            "us": round(point.us, 1),
            "mean_us": round(point.mean_us, 1),
            "calls": point.calls,
        }
        for curve in curves
        for point in curve.points
    ]


def picture(curve: Curve) -> str:
    """A block for each size, a step higher each time that the cost doubles.

    >>> from bailiwick.bench.grown_fleet import Size, WaitingTenants
    >>> points = [Point(Size(1, 1), us, us, 1) for us in (10, 11, 45, 10_000)]
    >>> picture(Curve(Case.TICK, WaitingTenants.MANY, tuple(points), (points[-1],)))
    '▁▁▃█'
    """
    least = min(point.us for point in curve.points)
    ratios = (int(point.us / least) for point in curve.points)
    return "".join(_STEPS[min(ratio.bit_length(), len(_STEPS)) - 1] for ratio in ratios)


def _short(number: int) -> str:
    return f"{number // 1000}k" if number % 1000 == 0 else str(number)
