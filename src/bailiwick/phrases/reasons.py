"""What kind of obstacle keeps a request from running, and what a person can do about it."""

from __future__ import annotations

from typing import Final, assert_never

from bailiwick.vocab.words import CapacityDenial, PendingReason, QuotaViolation, RightsDenial

REASONS: Final[dict[PendingReason, str]] = {
    PendingReason.MISCONFIGURED: "the request itself must change",
    PendingReason.FORBIDDEN: "it is not allowed",
    PendingReason.EXCEEDS_MAXIMUM: "it is larger than anything there is",
    PendingReason.WAITING_FOR_QUOTA: "it waits for quota",
    PendingReason.WAITING_FOR_CAPACITY: "it waits for free capacity",
    PendingReason.FRAGMENTED: "enough is free, but not on one node",
    PendingReason.WAITING_FOR_VICTIMS: "it waits for others to leave",
    PendingReason.NOT_YET_LOOKED_AT: "others are before it in the line",
}


def phrase_turn(position: int) -> str:
    """Why somebody waits in whose own way is nothing: it stands behind others, or is next."""
    if position == 1:
        return "nothing is in its way: it starts at the next look"
    return REASONS[PendingReason.NOT_YET_LOOKED_AT]


_QUOTA: Final = frozenset(QuotaViolation) - {QuotaViolation.GPU_GENERATION_REQUIRED}
_RIGHTS: Final = frozenset(RightsDenial) - {RightsDenial.SCOPE_CLOSED}


def fix_of(reason: PendingReason, detail: str) -> str:
    """What a person can do about a denial, by its reason and the rule that said no."""
    if detail in _QUOTA and not reason.is_transient:
        return "ask for more quota, or for something it allows: bailiwick quota show"
    if detail in _RIGHTS:
        return "ask for less, or for a higher ceiling: bailiwick quota show"
    if detail == CapacityDenial.NODES_CLOSED:
        return "let it wait; an operator opens nodes, or they attest: bailiwick node list"
    match reason:
        case PendingReason.MISCONFIGURED | PendingReason.EXCEEDS_MAXIMUM:
            return "change the request; bailiwick fleet shows what there is"
        case PendingReason.FORBIDDEN:
            return "ask an operator which nodes are open to you"
        case PendingReason.WAITING_FOR_QUOTA:
            return "end something of your own, or ask for more quota: bailiwick quota show"
        case (
            PendingReason.WAITING_FOR_CAPACITY
            | PendingReason.FRAGMENTED
            | PendingReason.WAITING_FOR_VICTIMS
            | PendingReason.NOT_YET_LOOKED_AT
        ):
            return "try again later, or let it wait"
        case _:
            assert_never(reason)


BOOKING: Final = "booking"
"""How what closes nodes is named that somebody has booked."""
MAINTENANCE: Final = "maintenance."
"""How windows of maintenance are named among what closes nodes: this, then the window."""


def phrase_rule(word: str) -> str:
    """What closes nodes to a request.

    >>> [phrase_rule(word) for word in ("booking", "maintenance.july", "no-strangers")]
    ['a booking', 'the maintenance window july', 'rule no-strangers']
    """
    if word == BOOKING:
        return "a booking"
    if word.startswith(MAINTENANCE):
        return f"the maintenance window {word.removeprefix(MAINTENANCE)}"
    return f"rule {word}"
