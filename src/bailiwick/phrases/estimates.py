"""Where a request stands, and when it may start; always told as the guess that it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from bailiwick.phrases.templates import fill

ESTIMATES: Final[Mapping[str, str]] = {
    "fits_now": "it fits now",
    "reservation": "a place is reserved from then on",
    "victims": "those who make room are gone by then",
    "expiry": "leases in its way end by then",
    "waits_for_quota": "no time can be told: it waits for its own quota",
    "beyond_horizon": "no time can be told: beyond what is planned ahead",
    "waiting_does_not_help": "waiting does not help",
}


ESTIMATED: Final[Mapping[str, str]] = {
    basis: f"[starts_ms?{{starts_ms:soon}}; an estimate: {why}|{why}]"
    for basis, why in ESTIMATES.items()
}
"""The same with the moment, where one can be told."""


def phrase_position(position: int, is_further: bool) -> str:
    """Where a request stands in the queue."""
    return f"behind position {position}" if is_further else f"at position {position}"


def phrase_estimate(facts: Mapping[str, Any]) -> str:
    """When it may start, by ``starts_ms`` and its ``basis``; always told as the guess it is."""
    return fill(ESTIMATED[facts["basis"]], facts)
