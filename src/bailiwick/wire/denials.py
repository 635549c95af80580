"""Denials on the wire: a closed union told apart by one word, each with the numbers of its rule.

Rules:

- A denial has ``reason`` (what kind of obstacle) and ``detail`` (which rule), and the numbers of
  that rule under the names that the journal uses.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from bailiwick.vocab.words import (
    Dimension,
    FilterReason,
    HardwareGeneration,
    LeaseClass,
    PendingReason,
    Priority,
    ResourceKind,
)
from bailiwick.wire.base import Model

_Resource = Annotated[ResourceKind, Field(strict=False)]
_Dimension = Annotated[Dimension, Field(strict=False)]
_Priority = Annotated[Priority, Field(strict=False)]
_Generation = Annotated[HardwareGeneration, Field(strict=False)]


class _Denial(Model):
    reason: Annotated[PendingReason, Field(strict=False)]


class _QuotaDenial(_Denial):
    denied_scope: list[str] | None = None


class DeadlinePassed(_Denial):
    """The request's own deadline is behind us."""

    detail: Literal["deadline_passed"]
    deadline_ms: int
    now_ms: int


class NoSuchHardware(_Denial):
    """No node, busy or not, has the devices or labels that were named."""

    detail: Literal["no_such_hardware"]
    nodes: int


class NodesForbidden(_Denial):
    """Nodes have the hardware, but policy lets the request use none of them."""

    detail: Literal["nodes_forbidden"]
    nodes: int


class LargerThanAnyNode(_Denial):
    """One member asks for more than the largest suitable machine has when empty."""

    detail: Literal["larger_than_any_node"]
    resource: _Resource
    requested: int
    largest: int


class HeadroomKept(_Denial):
    """Room is free, but it is kept for more urgent requests."""

    detail: Literal["headroom_kept"]
    resource: _Resource
    free: int
    kept: int
    requested: int


class RoomClaimed(_Denial):
    """It would fit, but for what is kept for a request for which others had to leave."""

    detail: Literal["room_claimed"]
    resource: _Resource
    free: int
    kept: int
    requested: int


class ReservedForOthers(_Denial):
    """It would fit, but would not have ended when a request ahead of it is to have the room."""

    detail: Literal["room_reserved"]
    resource: _Resource
    free: int
    kept: int
    requested: int


class NodesKeptApart(_Denial):
    """Policy keeps it apart from what runs now, wherever it would fit; mostly by this rule."""

    detail: Literal["nodes_kept_apart"]
    nodes: int
    rule: str | None = None


class NotEnoughFree(_Denial):
    """Less is free on suitable nodes, all together, than was asked for."""

    detail: Literal["not_enough_free"]
    resource: _Resource
    free: int
    requested: int


class Fragmented(_Denial):
    """Enough is free in all, but on no single node together."""

    detail: Literal["fragmented"]
    nodes: int
    placed: int
    members: int


class VictimsLeaving(_Denial):
    """Room is being made: leases of others are ending, the last by ``until_ms``."""

    detail: Literal["victims_leaving"]
    leases: int
    until_ms: int


class NodesClosed(_Denial):
    """All nodes that could hold it are closed."""

    detail: Literal["nodes_closed"]
    nodes: int


class NodeKeptApart(_Denial):
    """By this rule of the isolation policy a lease may not stay so long on its node."""

    detail: Literal["node_kept_apart"]
    node: str
    rule: str


class NodeClosed(_Denial):
    """The node of the lease takes none now, so its term does not grow there."""

    detail: Literal["node_closed"]
    node: str
    closed_by: Annotated[FilterReason, Field(strict=False)]


class TermReserved(_Denial):
    """So long a term would put off a waiting request; one of ``longest_ms`` would not."""

    detail: Literal["term_reserved"]
    requested_ms: int
    longest_ms: int
    starts_ms: int


class NodesMaintained(_Denial):
    """It would not have ended when nodes are maintained, the last of them from ``starts_ms``.

    Until then a term of ``longest_ms`` might fit there.
    """

    detail: Literal["nodes_maintained"]
    nodes: int
    starts_ms: int
    longest_ms: int


class NodeMaintained(_Denial):
    """The lease's node is maintained from ``starts_ms``; up to ``longest_ms`` its term may grow."""

    detail: Literal["node_maintained"]
    node: str
    requested_ms: int
    longest_ms: int
    starts_ms: int


class NodesBooked(_Denial):
    """It would last too long on nodes that are booked; the last is open to it until ``until_ms``.

    Until then a term of ``longest_ms`` might fit there.
    """

    detail: Literal["nodes_booked"]
    nodes: int
    until_ms: int
    longest_ms: int


class NodeBooked(_Denial):
    """A booking closes the lease's node to it from ``until_ms``; up to then its term may grow."""

    detail: Literal["node_booked"]
    node: str
    requested_ms: int
    longest_ms: int
    until_ms: int


class ScopeClosed(_QuotaDenial):
    """The tenant or project is closed."""

    detail: Literal["scope_closed"]


class PriorityTooHigh(_QuotaDenial):
    """A higher priority than may be asked for there."""

    detail: Literal["priority_too_high"]
    asked_priority: _Priority
    priority_max: _Priority


class LeaseClassForbidden(_QuotaDenial):
    """A lease class that may not be asked for there."""

    detail: Literal["lease_class_forbidden"]
    asked_class: Annotated[LeaseClass, Field(strict=False)]


class TooManyWaiting(_QuotaDenial):
    """It would have to wait, and as many requests wait as may."""

    detail: Literal["too_many_waiting"]
    waiting: int
    waiting_max: int


class TermTooLong(_QuotaDenial):
    """A longer term than may be asked for there."""

    detail: Literal["term_too_long"]
    requested_ms: int
    longest_ms: int


class GpuGenerationRequired(_QuotaDenial):
    """A generation table is in force and the request names no generation."""

    detail: Literal["gpu_generation_required"]
    requested: int


class GpuGenerationLimitExceeded(_QuotaDenial):
    """More GPUs of a generation than listed; an unlisted one has limit 0."""

    detail: Literal["gpu_generation_limit_exceeded"]
    denied_generation: _Generation
    limit: int
    used: int
    requested: int


class HardLimitExceeded(_QuotaDenial):
    """More of a dimension than the quota allows."""

    detail: Literal["hard_limit_exceeded"]
    dimension: _Dimension
    limit: int
    used: int
    requested: int


class BurstCreditExhausted(_QuotaDenial):
    """Above the limit, and the credit for that would not last."""

    detail: Literal["burst_credit_exhausted"]
    dimension: _Dimension
    limit: int
    used: int
    requested: int
    credit: int
    credit_needed: int = 0


class BudgetExhausted(_QuotaDenial):
    """The money set aside does not cover the request."""

    detail: Literal["budget_exhausted"]
    budget_micros: int
    spent_micros: int
    requested_micros: int


class CostCapExceeded(_QuotaDenial):
    """With this request the projected cost would pass a hard cap."""

    detail: Literal["cost_cap_exceeded"]
    cap_micros: int
    projected_micros: int


Denial: TypeAlias = Annotated[
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
    | ScopeClosed
    | PriorityTooHigh
    | LeaseClassForbidden
    | TermTooLong
    | TooManyWaiting
    | GpuGenerationRequired
    | GpuGenerationLimitExceeded
    | HardLimitExceeded
    | BurstCreditExhausted
    | BudgetExhausted
    | CostCapExceeded,
    Field(discriminator="detail"),
]
