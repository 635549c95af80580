"""How much of a unit of time an instance can have used: no more than its members held.

Rules:

- A unit that ends in ``_second``, ``_minute`` or ``_hour`` is time. All others are counts, and
  nothing that is held says how many requests there were.
- A lease counts by the most of what it can work on at once: its cores or its GPUs, and never less
  than one. So an app may count its cores, its GPUs or its jobs, and the bound is above all three.
- It counts from the record that granted it to the record that ended it. That is never less than
  what it held: so whoever tells the truth is never above the bound.
- Whole units are told, and whole units are held: what is begun does not count.

>>> span_of("job_hour"), span_of("request"), span_of("hour")
(3600000, None, None)
>>> holds = [HeldSpan(4_000, 0, 5_000), HeldSpan(1_000, 4_000, None)]
>>> held_in(holds, from_ms=3_000, to_ms=6_000) == 4_000 * 2_000 + 1_000 * 2_000
True
>>> beyond("gpu_second", 12, held=10_000_000), beyond("request", 12, held=0)
(2, 0)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from bailiwick.vocab.values import MILLI

_SPANS: Final[Mapping[str, int]] = {
    "second": MILLI,
    "minute": 60 * MILLI,
    "hour": 3_600 * MILLI,
}


class HeldSpan(NamedTuple):
    """A member's lease: how much it can work on at once, in thousandths, and in which time."""

    weight: int
    from_ms: int
    to_ms: int | None = None
    """None while it holds."""


def weight_of(resources: Mapping[str, int]) -> int:
    """How much a lease of these resources can work on at once, in thousandths."""
    return max(MILLI, resources.get("cpu_milli", 0), resources.get("gpu_milli", 0))


def span_of(unit: str) -> int | None:
    """How long one of a unit of time is, in milliseconds; none of a unit that is a count."""
    what, _, word = unit.rpartition("_")
    return _SPANS.get(word) if what else None


def held_in(holds: Iterable[HeldSpan], *, from_ms: int, to_ms: int) -> int:
    """What these held in ``from_ms <= t < to_ms``, in thousandths times milliseconds."""
    return sum(
        hold.weight * max(_end(hold, to_ms) - max(hold.from_ms, from_ms), 0) for hold in holds
    )


def _end(hold: HeldSpan, to_ms: int) -> int:
    return to_ms if hold.to_ms is None else min(hold.to_ms, to_ms)


def beyond(unit: str, quantity: int, *, held: int) -> int:
    """How much of what was told is more than was held; nothing of a unit that is a count."""
    span_ms = span_of(unit)
    return 0 if span_ms is None else max(quantity - held // (span_ms * MILLI), 0)
