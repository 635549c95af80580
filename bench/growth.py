"""What one decision costs, the more leases there are and the more requests wait.

The experiment is :mod:`bailiwick.bench.growth`, which anybody can run as ``bailiwick bench
growth``; here its curves become a table and bars.
"""

from __future__ import annotations

from bailiwick.bench.growth import (
    LEASES,
    RATIO_MAX,
    US_MAX,
    WAITING,
    as_objects,
    headings,
    measure,
    row,
)
from bench.measure import say
from bench.report import Section, Table

QUICK_LEASES, QUICK_WAITING, QUICK_CALLS = (1_000, 4_000), (100, 1_000), 50


def run(*, quick: bool = False) -> Section:
    """Every case at every size, and three bars for each."""
    if quick:
        curves = measure(QUICK_LEASES, QUICK_WAITING, calls_max=QUICK_CALLS, tell=say)
    else:
        curves = measure(LEASES, WAITING, tell=say)
    section = Section("growth", "Growth: what one decision costs, by leases and waiting requests")
    rows = [row(curve) for curve in curves]
    section.tables.append(Table("CPU time of one call", headings(curves), rows))
    for curve in curves:
        word = f"{curve.case.value}, {curve.waiting_tenants.value} tenants wait"
        section.bar_at_most(f"{word}, most leases against fewest", curve.leases_ratio, RATIO_MAX)
        section.bar_at_most(
            f"{word}, longest line against the next", curve.waiting_ratio, RATIO_MAX
        )
        section.bar_at_most(f"{word}, the most of both", curve.last_us, US_MAX, unit=" us")
    section.data["points"] = as_objects(curves)
    return section
