"""A lease: a hold on one node's resources, with an owner, a term and a generation.

Rules:

- An id is never used for a second lease. A gang is several leases under one gang number.
- ``generation`` starts at 1 and grows with each renewal; an older one is refused as stale.
- A lease that ended is told as :class:`EndedLease`, always with its cause, and with a
  :class:`~bailiwick.vocab.words.PreemptionReason` exactly when the cause is ``preempted``.
"""

from __future__ import annotations

from dataclasses import dataclass

from bailiwick.fleet.resources import Resources
from bailiwick.vocab.errors import InvariantBroken
from bailiwick.vocab.transitions import RevokeState
from bailiwick.vocab.values import AccountingTag, NodeId, ProjectId, TenantId
from bailiwick.vocab.words import (
    EndCause,
    HardwareGeneration,
    LeaseClass,
    PreemptionReason,
    Priority,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """What is held, by whom, until when. A snapshot: read it again to see changes."""

    id: int
    node: NodeId
    tenant: TenantId
    project: ProjectId | None
    tag: AccountingTag | None
    resources: Resources
    devices: tuple[int, ...]
    gpu_generation: HardwareGeneration | None
    vram_bytes: int
    priority: Priority
    lease_class: LeaseClass
    state: RevokeState
    generation: int
    granted_ms: int
    expires_ms: int
    checkpoint_ms: int | None
    gang: int | None
    depth: int
    reserved: bool
    preemptible_on_budget: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedLease:
    """A lease that is over, why, and when; ``fenced`` if what it held is not free yet."""

    lease: Lease
    cause: EndCause
    ended_ms: int
    reason: PreemptionReason | None = None
    fenced: bool = False

    def __post_init__(self) -> None:
        if (self.cause is EndCause.PREEMPTED) != (self.reason is not None):
            raise InvariantBroken("a preemption names its reason, and nothing else does")
