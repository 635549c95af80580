"""Words of maintenance: how far a window has come, and why one is over."""

from __future__ import annotations

from enum import StrEnum


class WindowPhase(StrEnum):
    """How far a window of maintenance has come.

    Back to ``planned`` only where the journal's clock was set right: what had begun by the wrong
    time is ahead again.
    """

    PLANNED = "planned"
    CLOSING = "closing"
    OPEN = "open"


class WindowEnd(StrEnum):
    """Why there is a window no more."""

    OVER = "over"
    CANCELLED = "cancelled"
    CALENDAR_CHANGED = "calendar_changed"
