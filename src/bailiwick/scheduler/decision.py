"""What admission answers: approved with places, or denied with a closed word and its numbers.

Rules:

- A denial is a value. It names one :class:`~bailiwick.vocab.words.PendingReason` (what kind of
  obstacle, and whether waiting helps) and one detail with the numbers that led to it.
- Sentences are made elsewhere, from the word and the numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias, assert_never

from bailiwick.scheduler.lease import Lease
from bailiwick.scheduler.quota_policy import (
    BudgetExhausted,
    BurstCreditExhausted,
    CostCapExceeded,
    GpuGenerationLimitExceeded,
    GpuGenerationRequired,
    HardLimitExceeded,
    QuotaDenied,
)
from bailiwick.scheduler.rights.denials import (
    LeaseClassForbidden,
    PriorityTooHigh,
    RightsDenied,
    ScopeClosed,
    TermTooLong,
    TooManyWaiting,
)
from bailiwick.vocab.values import NodeId
from bailiwick.vocab.words import CapacityDenial, FilterReason, PendingReason, ResourceKind


@dataclass(frozen=True, slots=True)
class DeadlinePassed:
    """The request's own deadline is behind us."""

    deadline_ms: int
    now_ms: int
    code: ClassVar[CapacityDenial] = CapacityDenial.DEADLINE_PASSED


@dataclass(frozen=True, slots=True)
class NoSuchHardware:
    """No node of this fleet, busy or not, has the devices or labels that were named."""

    nodes: int
    code: ClassVar[CapacityDenial] = CapacityDenial.NO_SUCH_HARDWARE


@dataclass(frozen=True, slots=True)
class NodesForbidden:
    """Nodes have the hardware, but policy lets the request use none of them."""

    nodes: int
    code: ClassVar[CapacityDenial] = CapacityDenial.NODES_FORBIDDEN


@dataclass(frozen=True, slots=True)
class LargerThanAnyNode:
    """One member asks for more than the largest suitable machine has when empty."""

    resource: ResourceKind
    requested: int
    largest: int
    code: ClassVar[CapacityDenial] = CapacityDenial.LARGER_THAN_ANY_NODE


@dataclass(frozen=True, slots=True)
class HeadroomKept:
    """Room is free, but it is kept for more urgent requests."""

    resource: ResourceKind
    free: int
    kept: int
    requested: int
    code: ClassVar[CapacityDenial] = CapacityDenial.HEADROOM_KEPT


@dataclass(frozen=True, slots=True)
class RoomClaimed:
    """It would fit, but for ``kept``, which is kept for whom others had to leave."""

    resource: ResourceKind
    free: int
    kept: int
    requested: int
    code: ClassVar[CapacityDenial] = CapacityDenial.ROOM_CLAIMED


@dataclass(frozen=True, slots=True)
class ReservedForOthers:
    """It would fit, but would not have ended when a request ahead of it is to have ``kept``."""

    resource: ResourceKind
    free: int
    kept: int
    requested: int
    code: ClassVar[CapacityDenial] = CapacityDenial.ROOM_RESERVED


@dataclass(frozen=True, slots=True)
class NodesKeptApart:
    """It would fit, but for a policy that keeps it away from what runs now, or from what it left.

    ``rule`` closes most nodes to it: so many.
    """

    nodes: int
    rule: str | None = None
    code: ClassVar[CapacityDenial] = CapacityDenial.NODES_KEPT_APART


@dataclass(frozen=True, slots=True)
class NotEnoughFree:
    """Less is free on suitable nodes, all together, than was asked for."""

    resource: ResourceKind
    free: int
    requested: int
    code: ClassVar[CapacityDenial] = CapacityDenial.NOT_ENOUGH_FREE


@dataclass(frozen=True, slots=True)
class Fragmented:
    """Enough is free in all, but on no single node together (``nodes`` were suitable)."""

    nodes: int
    placed: int
    members: int
    code: ClassVar[CapacityDenial] = CapacityDenial.FRAGMENTED


@dataclass(frozen=True, slots=True)
class VictimsLeaving:
    """Room is being made: ``leases`` of others are ending, the last by ``until_ms``."""

    leases: int
    until_ms: int
    code: ClassVar[CapacityDenial] = CapacityDenial.VICTIMS_LEAVING


@dataclass(frozen=True, slots=True)
class NodesClosed:
    """All ``nodes`` that could hold it are closed: by their mode, in quarantine, or unproven."""

    nodes: int
    code: ClassVar[CapacityDenial] = CapacityDenial.NODES_CLOSED


@dataclass(frozen=True, slots=True)
class NodeClosed:
    """The node of a lease takes none now, so its term does not grow there."""

    node: NodeId
    closed_by: FilterReason
    code: ClassVar[CapacityDenial] = CapacityDenial.NODE_CLOSED


@dataclass(frozen=True, slots=True)
class NodeKeptApart:
    """By this rule of a policy the node of a lease is closed to it, so its term does not grow."""

    node: NodeId
    rule: str
    code: ClassVar[CapacityDenial] = CapacityDenial.NODE_KEPT_APART


@dataclass(frozen=True, slots=True)
class NodesMaintained:
    """It would fit, but would not have ended when ``nodes`` of the fleet are maintained.

    The last of these is from ``starts_ms``: until then, a term of ``longest_ms`` might fit there.
    """

    nodes: int
    starts_ms: int
    longest_ms: int
    code: ClassVar[CapacityDenial] = CapacityDenial.NODES_MAINTAINED


@dataclass(frozen=True, slots=True)
class NodeMaintained:
    """The node of a lease is maintained from ``starts_ms``; a term of ``longest_ms`` is granted."""

    node: NodeId
    requested_ms: int
    longest_ms: int
    starts_ms: int
    code: ClassVar[CapacityDenial] = CapacityDenial.NODE_MAINTAINED


@dataclass(frozen=True, slots=True)
class NodesBooked:
    """It would fit, but ``nodes`` of the fleet are booked, and it would last too long there.

    The last of these is open to it until ``until_ms``: a term of ``longest_ms`` might fit there.
    Whose bookings they are is nobody's business.
    """

    nodes: int
    until_ms: int
    longest_ms: int
    code: ClassVar[CapacityDenial] = CapacityDenial.NODES_BOOKED


@dataclass(frozen=True, slots=True)
class NodeBooked:
    """A booking closes a lease's node to it from ``until_ms``; ``longest_ms`` is granted."""

    node: NodeId
    requested_ms: int
    longest_ms: int
    until_ms: int
    code: ClassVar[CapacityDenial] = CapacityDenial.NODE_BOOKED


@dataclass(frozen=True, slots=True)
class TermReserved:
    """So long a term would put off a request that is to start at ``starts_ms``.

    A term of ``longest_ms`` from now would not.
    """

    requested_ms: int
    longest_ms: int
    starts_ms: int
    code: ClassVar[CapacityDenial] = CapacityDenial.TERM_RESERVED


CapacityDenied: TypeAlias = (
    DeadlinePassed
    | NoSuchHardware
    | NodesForbidden
    | LargerThanAnyNode
    | HeadroomKept
    | RoomClaimed
    | ReservedForOthers
    | NodesKeptApart
    | NotEnoughFree
    | Fragmented
    | VictimsLeaving
    | NodeClosed
    | NodeKeptApart
    | NodesClosed
    | TermReserved
    | NodesMaintained
    | NodeMaintained
    | NodesBooked
    | NodeBooked
)
DenialDetail: TypeAlias = QuotaDenied | CapacityDenied | RightsDenied


@dataclass(frozen=True, slots=True)
class Approved:
    """The request may run, here; ``leases`` are filled when it was admitted, not only asked.

    ``devices`` is the set of devices each member would get on its node, as bits.
    """

    nodes: tuple[NodeId, ...]
    leases: tuple[Lease, ...] = ()
    burst: int = 0
    devices: tuple[int, ...] = field(default=(), compare=False)

    @property
    def node(self) -> NodeId:
        """The node of the only, or first, member."""
        return self.nodes[0]


@dataclass(frozen=True, slots=True)
class Denied:
    """The request may not run now: what kind of obstacle, and its numbers."""

    reason: PendingReason
    detail: DenialDetail

    @classmethod
    def because(cls, detail: DenialDetail) -> Denied:
        """The denial with the reason that its detail implies."""
        return cls(reason_of(detail), detail)


AdmissionDecision: TypeAlias = Approved | Denied


def reason_of(detail: DenialDetail) -> PendingReason:
    """Which kind of obstacle a detail is."""
    match detail:
        case GpuGenerationRequired() | DeadlinePassed() | NoSuchHardware():
            return PendingReason.MISCONFIGURED
        case GpuGenerationLimitExceeded(limit=0) | NodesForbidden() | ScopeClosed():
            return PendingReason.FORBIDDEN
        case PriorityTooHigh() | LeaseClassForbidden():
            return PendingReason.FORBIDDEN
        case LargerThanAnyNode() | TermTooLong():
            return PendingReason.EXCEEDS_MAXIMUM
        case GpuGenerationLimitExceeded() | HardLimitExceeded():
            over = detail.requested > detail.limit
            return PendingReason.EXCEEDS_MAXIMUM if over else PendingReason.WAITING_FOR_QUOTA
        case BurstCreditExhausted() | BudgetExhausted() | CostCapExceeded() | TooManyWaiting():
            return PendingReason.WAITING_FOR_QUOTA
        case (
            HeadroomKept()
            | RoomClaimed()
            | ReservedForOthers()
            | NodesKeptApart()
            | NotEnoughFree()
            | NodeClosed()
            | NodeKeptApart()
            | NodesClosed()
            | TermReserved()
            | NodesMaintained()
            | NodeMaintained()
            | NodesBooked()
            | NodeBooked()
        ):
            return PendingReason.WAITING_FOR_CAPACITY
        case Fragmented():
            return PendingReason.FRAGMENTED
        case VictimsLeaving():
            return PendingReason.WAITING_FOR_VICTIMS
        case _:
            assert_never(detail)
