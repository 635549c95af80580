"""Who can own metered time: a lease's account, nobody, or the reason why nobody could.

Rules:

- The kinds of owner are closed. Idle and unavailable time is owned like any other, so there is no
  bucket for what nobody attributed.
- Every mode in which a node takes no leases is a cause by its own word; quarantine, which is no
  mode, comes before them.
- An account is what usage is added up by. A lease is who holds: two leases of one account are two
  owners, so that the end of the one can never stop the other.

>>> free_owner(NodeMode.ACCEPTING, quarantined=False)
Idle()
>>> free_owner(NodeMode.DRAINED, quarantined=True).cause.value
'quarantined'
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from bailiwick.vocab.app_uses import MemberUse
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.words import HardwareGeneration, LeaseClass, PreemptionReason


class UnavailableCause(StrEnum):
    """Why a share could not be given to anybody."""

    DRAINING = "draining"
    DRAINED = "drained"
    MAINTENANCE = "maintenance"
    RETURNING = "returning"
    FENCE_LOST = "fence_lost"
    QUARANTINED = "quarantined"
    FENCED = "fenced"
    """A lease held it, and nobody could confirm that what ran there is gone."""
    DEPARTED = "departed"
    """Its node (or its gang's) was gone, and that was not noticed yet."""
    CORDONED = "cordoned"


class Stage(StrEnum):
    """How far a lease has come; what it costs may depend on that."""

    HELD = "held"
    """From its grant until it is told to go."""
    GRACE = "grace"
    """Warned, and still running."""
    TEARDOWN = "teardown"
    """Its term is over, and what ran there is being ended."""


@dataclass(frozen=True, slots=True)
class Account:
    """What a lease's usage is added up by; the generation is that of its GPUs, if it has any.

    ``reason`` is why it has to go, once it was told to and that was not its holder's wish.
    """

    tenant: str
    project: str | None
    tag: str | None
    lease_class: LeaseClass
    generation: HardwareGeneration | None
    stage: Stage = Stage.HELD
    reason: PreemptionReason | None = None
    is_released: bool = False
    """Whether its teardown began because its holder gave it back."""
    member: MemberUse | None = None
    """Of which instance of an app it is a member, if it is one."""


@dataclass(frozen=True, slots=True)
class Leased:
    """Held by this lease, at the cost of this account."""

    lease_id: int
    account: Account


@dataclass(frozen=True, slots=True)
class Idle:
    """Free, and anybody could have had it."""


@dataclass(frozen=True, slots=True)
class UnavailableCapacity:
    """Free of leases, and nobody could have had it."""

    cause: UnavailableCause


Owner: TypeAlias = Leased | Idle | UnavailableCapacity
"""Who holds a part of a share."""

Payer: TypeAlias = Account | Idle | UnavailableCapacity
"""What owned time is added up by: a lease's account, or the owner itself."""

IDLE: Final = Idle()
UNAVAILABLE: Final = {cause: UnavailableCapacity(cause) for cause in UnavailableCause}
"""The one owner for each cause."""

_OF_MODE: Final[dict[NodeMode, Idle | UnavailableCapacity]] = {
    NodeMode.ACCEPTING: IDLE,
    NodeMode.DRAINING: UNAVAILABLE[UnavailableCause.DRAINING],
    NodeMode.DRAINED: UNAVAILABLE[UnavailableCause.DRAINED],
    NodeMode.MAINTENANCE: UNAVAILABLE[UnavailableCause.MAINTENANCE],
    NodeMode.RETURNING: UNAVAILABLE[UnavailableCause.RETURNING],
    NodeMode.FENCE_LOST: UNAVAILABLE[UnavailableCause.FENCE_LOST],
    NodeMode.CORDONED: UNAVAILABLE[UnavailableCause.CORDONED],
}


def free_owner(mode: NodeMode, *, quarantined: bool) -> Idle | UnavailableCapacity:
    """Who owns what no lease holds on such a node."""
    return UNAVAILABLE[UnavailableCause.QUARANTINED] if quarantined else _OF_MODE[mode]
