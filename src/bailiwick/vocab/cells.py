"""The words of cells: planes of their own, with their own journal and leader, under one admission.

A *cell* takes requests of the whole fleet from its *home*, the plane that people ask there.
"""

from __future__ import annotations

from enum import StrEnum


class CellStanding(StrEnum):
    """Whether the home can reach a cell."""

    REACHABLE = "reachable"
    CUT_OFF = "cut_off"


class GlobalStatus(StrEnum):
    """Where a request to the whole fleet stands, as its home knows it."""

    WAITING = "waiting"
    """In no cell."""
    SENT = "sent"
    """Given to one cell, which has not told what became of it."""
    QUEUED = "queued"
    """In its cell's line."""
    HELD = "held"
    """It has leases in its cell."""
    WITHDRAWN = "withdrawn"
    """Its cell is to give it back."""


class TakingStatus(StrEnum):
    """What became of such a request in its cell."""

    QUEUED = "queued"
    HELD = "held"
    TURNED_AWAY = "turned_away"
    """It may not run there now and does not wait there: another cell may have it."""
    ENDED = "ended"
