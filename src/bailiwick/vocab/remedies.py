"""What would clear an obstacle: closed words of advice, which no record carries."""

from __future__ import annotations

from enum import StrEnum


class RemedyWord(StrEnum):
    """What kind of change would clear a blocker."""

    NOTHING_NEEDED = "nothing_needed"
    DECLARE_GENERATION = "declare_generation"
    CHANGE_REQUEST = "change_request"
    CHANGE_POLICY = "change_policy"
    RAISE_QUOTA = "raise_quota"
    RAISE_CEILING = "raise_ceiling"
    """Ask for less, or whoever is above may allow more (``bailiwick quota set``)."""
    FREE_OWN_LEASES = "free_own_leases"
    OPEN_NODES = "open_nodes"
    """Every node that could serve is closed: by its mode, in quarantine, or yet to attest."""
    WAIT_OR_PREEMPT = "wait_or_preempt"
