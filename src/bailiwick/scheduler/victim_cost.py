"""What the loss of a lease is reckoned at, and which leases may be lost at all.

The rules stand here once for objects; the engine keeps the same ones on its integers, and the
property tests hold the two together.
"""

from __future__ import annotations

from dataclasses import dataclass

from bailiwick.scheduler.lease import Lease
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.rights.eviction_table import may_evict
from bailiwick.vocab.transitions import RevokeState
from bailiwick.vocab.words import LeaseClass


@dataclass(frozen=True, slots=True)
class VictimTerms:
    """When an eviction is considered, and what protects a lease from it."""

    now_ms: int
    min_run_ms: int = 0
    fresh_checkpoint_ms: int = 60_000
    max_cascade_depth: int = 255


@dataclass(frozen=True, slots=True)
class FoundVictims:
    """The engine's answer: leases on one node (by handle) whose end makes room for one member."""

    cost: int
    node: int
    lease_ids: tuple[int, ...]
    exact: bool


@dataclass(frozen=True, slots=True)
class BlockedNodes:
    """The engine's refusal: nodes by the first constraint that blocked each of them."""

    hardware: int
    not_eligible: int
    protected: int
    priority: int
    min_run_time: int
    cascade_depth: int


def lease_cost(lease: Lease, terms: VictimTerms) -> int:
    """What ending this lease now is reckoned at; a sum over leases is a sum of losses."""
    rank = lease.priority.rank
    base = 1000 * (1 + rank) if lease.lease_class is LeaseClass.SPOT else 10_000 * 4**rank
    saved = lease.checkpoint_ms
    if saved is not None and terms.now_ms - saved <= terms.fresh_checkpoint_ms:
        base //= 2
    return base + lease.resources.gpu_milli // 10 + lease.resources.cpu_milli // 1000


def may_be_victim(lease: Lease, terms: VictimTerms, *, by: PlacementRequest) -> bool:
    """Whether the lease may be ended to make room for the request."""
    return (
        not lease.reserved
        and lease.state is RevokeState.ACTIVE
        and may_evict(
            by.lease_class,
            by.priority,
            victim_class=lease.lease_class,
            victim_priority=lease.priority,
        )
        and terms.now_ms - lease.granted_ms >= terms.min_run_ms
        and lease.depth < terms.max_cascade_depth
    )
