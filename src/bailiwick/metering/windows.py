"""Windows of time: how a stretch that was charged, or that still runs, falls into them.

Rules:

- A window is half-open, in milliseconds; windows are in order and do not overlap.
- What is added up for a window is the amount times the milliseconds in it, how many stretches that
  were, and the first and last record that had to do with them; as the core does for its own sums.

>>> sums = {}
>>> cut_windows(sums, (0, 500, 7, 64, 10, 30, 2, 9), windows=[(0, 20), (20, 50)])
>>> sums
{(7, 0): (5000, 1, 2, 9), (7, 1): (5000, 1, 2, 9)}
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias

from bailiwick.metering.core import LogRow, UsedRow

Window: TypeAlias = tuple[int, int]
"""From when, and until when."""


def windows_of(edges: Sequence[int]) -> list[Window]:
    """The windows between edges that rise."""
    return list(pairwise(edges))


def cut_windows(
    sums: dict[tuple[int, int], UsedRow], row: LogRow, *, windows: Sequence[Window]
) -> None:
    """Add a stretch to the sums of its account, in each window that it reaches into."""
    _, amount, account, _, from_ms, to_ms, from_seq, to_seq = row
    for window, (start_ms, end_ms) in enumerate(windows):
        span_ms = min(end_ms, to_ms) - max(start_ms, from_ms)
        if span_ms > 0:
            used, count, first, last = sums.get((account, window), (0, 0, from_seq, to_seq))
            first, last = min(first, from_seq), max(last, to_seq)
            sums[account, window] = used + amount * span_ms, count + 1, first, last
