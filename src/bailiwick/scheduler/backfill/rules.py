"""By what rules a line is kept: patience, reservations, slips and aging."""

from __future__ import annotations

from dataclasses import dataclass

from bailiwick.scheduler.backfill.lanes import Aging
from bailiwick.vocab.values import check_integer, check_kind

DAY_MS = 86_400_000
RESERVATIONS_MAX = 64
"""Reservations at a time, at most: each costs a look at what ends when."""

_A_DAY = Aging(step_ms=DAY_MS, steps_max=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineRules:
    """How long an entry is passed over, for how many room is kept, how waiting raises them."""

    patience_ms: int = DAY_MS
    """How long an entry lacks capacity before it stands ahead, and how long after its reservation
    was lost it gets no other."""
    reservations_max: int = 4
    slips_max: int = 3
    aging: Aging = _A_DAY

    def __post_init__(self) -> None:
        check_integer("patience_ms", self.patience_ms, low=1, high=2**53)
        check_integer("reservations_max", self.reservations_max, low=1, high=RESERVATIONS_MAX)
        check_integer("slips_max", self.slips_max, low=1, high=2**53)
        check_kind("aging", self.aging, Aging)
