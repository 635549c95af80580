"""Where a request stands, and when it may start; always told as the guess that it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bailiwick.phrases.times import moment

ESTIMATES: Final[Mapping[str, str]] = {
    "fits_now": "it fits now",
    "reservation": "a place is reserved from then on",
    "victims": "those who make room are gone by then",
    "expiry": "leases in its way end by then",
    "waits_for_quota": "no time can be told: it waits for its own quota",
    "beyond_horizon": "no time can be told: beyond what is planned ahead",
    "waiting_does_not_help": "waiting does not help",
}


def phrase_position(position: int, is_further: bool) -> str:
    """Where a request stands in the queue."""
    return f"behind position {position}" if is_further else f"at position {position}"


def phrase_estimate(starts_ms: int | None, basis: str) -> str:
    """When it may start; always told as the guess that it is."""
    why = ESTIMATES[basis]
    if starts_ms is None:
        return why
    from time import time

    is_due = starts_ms <= time() * 1000
    return f"{'now' if is_due else 'about ' + moment(starts_ms)}; an estimate: {why}"
