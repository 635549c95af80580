"""What of a lease's time costs money, by why and how it ended.

Rules, and the whole of them (``CHARGED``):

- Held time is always charged: the holder had what he asked for.
- Grace (warned, still running) is charged where the end follows from what the holder chose: a spot
  lease, or a limit of his own (budget, cost cap, burst credit). Where somebody else wanted him to
  go, grace is free.
- Teardown is never charged. So a lease whose teardown fails and that is fenced later costs nothing
  from the moment it had to go, and a term that ran out costs nothing past its end, however late
  the record of it is.
- What is lost with its node is charged to the node's last proof of life: the meter owns the rest
  to ``unavailable: departed``, which is nobody's account.

>>> held = Account("acme", None, None, LeaseClass.STANDARD, None)
>>> cause_of(held) is None, is_charged(held)
(True, True)
>>> from dataclasses import replace
>>> warned = replace(held, stage=Stage.GRACE, reason=PreemptionReason.PRIORITY_PREEMPTION)
>>> cause_of(warned).value, is_charged(warned)
('preempted', False)
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from bailiwick.metering.owners import Account, Stage
from bailiwick.vocab.words import LeaseClass, PreemptionReason


class ChargeCause(StrEnum):
    """Why a lease ended, as far as money goes."""

    RELEASED_EARLY = "released_early"
    """Its holder gave it back."""
    EXPIRED = "expired"
    """Its term ran out."""
    PREEMPTED = "preempted"
    """Somebody else wanted it to go: more urgent work, an operator, policy."""
    SPOT_EVICTED = "spot_evicted"
    """The same, and it was bought as work that may have to go."""
    OWN_LIMIT = "own_limit"
    """Its owner's own budget, cost cap or burst credit was used up."""
    NODE_LOST = "node_lost"
    """Its node, or that of another member of its gang, was gone."""
    TEARDOWN_FAILED = "teardown_failed"
    """Nobody could confirm that what ran there is gone."""


_HELD: Final = frozenset({Stage.HELD})
_HELD_AND_GRACE: Final = frozenset({Stage.HELD, Stage.GRACE})

CHARGED: Final[Mapping[ChargeCause, frozenset[Stage]]] = {
    ChargeCause.RELEASED_EARLY: _HELD,
    ChargeCause.EXPIRED: _HELD,
    ChargeCause.PREEMPTED: _HELD,
    ChargeCause.SPOT_EVICTED: _HELD_AND_GRACE,
    ChargeCause.OWN_LIMIT: _HELD_AND_GRACE,
    ChargeCause.NODE_LOST: _HELD,
    ChargeCause.TEARDOWN_FAILED: _HELD,
}
"""Which stages of a lease are charged when it ends for this cause."""

OWN_LIMITS: Final = frozenset(
    {
        PreemptionReason.BUDGET_EXHAUSTED,
        PreemptionReason.COST_CAP_EVICTION,
        PreemptionReason.BURST_CREDIT_EXHAUSTED,
    }
)
"""The reasons that are a limit of the owner's own."""


def cause_of(account: Account) -> ChargeCause | None:
    """Why the time of this account is that of a lease that has to go; none of plain held time."""
    if account.stage is Stage.HELD:
        return None
    if account.is_released:
        return ChargeCause.RELEASED_EARLY
    if account.reason is None:
        return ChargeCause.EXPIRED
    if account.reason in OWN_LIMITS:
        return ChargeCause.OWN_LIMIT
    if account.lease_class is LeaseClass.SPOT:
        return ChargeCause.SPOT_EVICTED
    return ChargeCause.PREEMPTED


def is_charged(account: Account) -> bool:
    """Whether the time of this account costs its tenant money."""
    cause = cause_of(account)
    return cause is None or account.stage in CHARGED[cause]
