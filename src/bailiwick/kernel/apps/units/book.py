"""How far the sources of an instance have come: what the next report may be.

Rules:

- A source counts its reports from 1. The last few are known, so that one that is sent again is seen
  to be the same; of older ones it is only known that they came.
- A series is one unit, of the whole instance or of one component. It goes forward in time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

RECENT_MAX: Final = 64
"""Reports of a source that are known word for word."""
SOURCES_MAX: Final = 8
"""Sources of one instance."""
SERIES_MAX: Final = 4_096
"""Units of one instance, each of the whole or of components."""


class UsageClaim(NamedTuple):
    """So much of a unit was used in ``from_ms <= t < to_ms``."""

    unit: str
    quantity: int
    from_ms: int
    to_ms: int
    component_key: str | None = None


@dataclass(slots=True)
class SourceTail:
    """Up to which number a source has told, and what it told last."""

    last: int = 0
    recent: dict[int, UsageClaim] = field(default_factory=dict)


class UsageSeries(NamedTuple):
    """Up to when a unit was told, how much in all, and in how many reports."""

    until_ms: int
    quantity: int
    reports: int


@dataclass(slots=True)
class ToldUsage:
    """What was told of one instance."""

    sources: dict[str, SourceTail] = field(default_factory=dict)
    series: dict[tuple[str, str | None], UsageSeries] = field(default_factory=dict)

    def take(self, source: str, sequence: int, *, claim: UsageClaim) -> None:
        """One report more; it was checked."""
        tail = self.sources.setdefault(source, SourceTail())
        tail.last = sequence
        tail.recent[sequence] = claim
        tail.recent.pop(sequence - RECENT_MAX, None)
        key = claim.unit, claim.component_key
        _, quantity, reports = self.series.get(key, UsageSeries(0, 0, 0))
        self.series[key] = UsageSeries(claim.to_ms, quantity + claim.quantity, reports + 1)
