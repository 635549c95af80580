"""What was told of an instance's use, in a snapshot."""

from __future__ import annotations

from typing import Any

from bailiwick.kernel.apps.units.book import SourceTail, ToldUsage, UsageClaim, UsageSeries
from bailiwick.kernel.slice import Plain
from bailiwick.vocab.clock_repair import ClockRepair


def dump_told(told: ToldUsage) -> Plain:
    """All of it; nothing where nothing was told."""
    if not told.sources:
        return {}
    sources: list[list[Any]] = [
        [name, tail.last, [[n, *claim] for n, claim in tail.recent.items()]]
        for name, tail in told.sources.items()
    ]
    series = [[*key, *known] for key, known in told.series.items()]
    return {"told": {"sources": sources, "series": series}}


def load_told(row: Plain) -> ToldUsage:
    """What :func:`dump_told` told; of earlier snapshots, nothing."""
    told, plain = ToldUsage(), row.get("told", {})
    for name, last, recent in plain.get("sources", ()):
        claims = {number: UsageClaim(*claim) for number, *claim in recent}
        told.sources[name] = SourceTail(last, claims)
    for unit, component_key, *known in plain.get("series", ()):
        told.series[unit, component_key] = UsageSeries(*known)
    return told


def repair_told(row: Plain, clock: ClockRepair) -> None:
    """Up to when was told is as the clock that counts says; what was sent stays as it was sent."""
    for known in row.get("told", {}).get("series", ()):
        known[2] = clock.past(known[2])
