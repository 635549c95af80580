"""Words of bookings: how far one has come, why its nodes change, and why one is over."""

from __future__ import annotations

from enum import StrEnum


class BookingPhase(StrEnum):
    """How far a booking has come; it follows from its times."""

    PLANNED = "planned"
    ON = "on"


class BookingRefusal(StrEnum):
    """Why nodes are not booked that were asked for."""

    TOO_FEW_FREE = "too_few_free"
    """There are too few, or they are not free for all of that time."""

    CLOSED_TO_PROJECT = "closed_to_project"
    """There would be enough, if no isolation policy closed some to the project for ever."""

    ABOVE_QUOTA = "above_quota"
    TOO_MANY_NODES = "too_many_nodes"
    """So many GPUs are on more nodes than one booking may have."""


class BookingUse(StrEnum):
    """Which leases of its owner use a node of a booking."""

    ANY_LEASE = "any_lease"
    """All of them: so it was for those whose record does not say."""

    GPU_LEASE = "gpu_lease"
    """Those that hold GPUs; on a node that has none, all of them."""


class BookingChange(StrEnum):
    """Why other nodes are booked than before."""

    GIVEN_BACK = "given_back"
    """Its owner held nothing there for as long as the booking waits."""

    REPLACED = "replaced"
    """The node is gone, or takes no work, and another is booked in its place."""


class BookingEnd(StrEnum):
    """Why there is a booking no more."""

    OVER = "over"
    CANCELLED = "cancelled"
    UNUSED = "unused"
    """The last of its nodes was given back."""

    SERIES_CHANGED = "series_changed"
