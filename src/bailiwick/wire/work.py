"""Leases, the queue and journal records on the wire."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from bailiwick.vocab.transitions import RevokeState
from bailiwick.vocab.words import (
    Exclusivity,
    FilterReason,
    HardwareGeneration,
    LeaseClass,
    PendingReason,
    Priority,
)
from bailiwick.wire.answers import Estimate
from bailiwick.wire.apps import WORD_PATTERN
from bailiwick.wire.base import Amount, Label, Model, Name, TermMs, UnderRules, Within
from bailiwick.wire.denials import Denial
from bailiwick.wire.fleet import Held, Node, Resources
from bailiwick.wire.words import RemedyWord

_Priority = Annotated[Priority, Field(strict=False)]
_LeaseClass = Annotated[LeaseClass, Field(strict=False)]


class LeaseRequest(Model):
    """What is asked for; ``wait`` is whether it may stand in the queue."""

    tenant: Name
    project: Name | None = None
    wait: bool = True
    resources: Resources = Resources()
    priority: _Priority = Priority.NORMAL
    lease_class: _LeaseClass = LeaseClass.STANDARD
    tag: Name | None = None
    labels: Annotated[list[Label], Field(max_length=64)] = Field(default_factory=list)
    """What a node must have."""
    job_labels: Annotated[list[Label], Field(max_length=64)] = Field(default_factory=list)
    """What the work is said to be; rules about isolation read it."""
    scheduler_type: Annotated[str, Field(pattern=WORD_PATTERN)] | None = None
    """The word of a scheduler that is to use it: one that an instance of an app answers to."""
    gang_size: Annotated[int, Within(1, 4096)] = 1
    ttl_ms: TermMs = 3_600_000
    gpu_count: Annotated[int, Within(0, 16)] = 0
    gpu_milli: Annotated[int, Within(0, 1000)] = 0
    gpu_vram: Amount = 0
    gpu_models: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=127)]], Field(max_length=32)
    ] = Field(default_factory=list)
    gpu_generation: Annotated[HardwareGeneration, Field(strict=False)] | None = None
    exclusivity: Annotated[Exclusivity, Field(strict=False)] | None = None
    deadline_ms: Amount | None = None
    preemptible_on_budget: bool = False


class Renewal(Model):
    """A new term from now; ``generation`` (if given) must be the lease's current one."""

    ttl_ms: TermMs
    generation: Annotated[int, Within(1, 2**31)] | None = None


class CacheShare(Model):
    """Cores of a lease under one cache of its node, by the cache's number there."""

    cache: int
    cores_milli: int


class Lease(Model):
    """A hold on resources.

    ``cores`` says how many lie under which cache; ``null`` where that is not known, so that they
    may be anywhere on the node. ``maintained_ms`` is when the next maintenance of its node begins:
    its term does not grow beyond that.
    """

    lease_id: int
    tenant: str
    project: str | None
    node: str
    resources: Held
    devices: list[int]
    priority: _Priority
    lease_class: _LeaseClass
    state: Annotated[RevokeState, Field(strict=False)]
    generation: int
    granted_ms: int
    expires_ms: int
    gang: int | None
    job_labels: list[str] = Field(default_factory=list)
    cores: list[CacheShare] | None = None
    maintained_ms: int | None = None


class NodeTree(Model):
    """A node, and the leases on it that the reader may see."""

    node: Node
    leases: list[Lease]


class Remedy(Model):
    """The one change that would clear the first blocker, by how much, and of what."""

    remedy: RemedyWord
    amount: int
    unit: str
    lease_ids: list[int] = Field(default_factory=list)
    """The asker's own leases that hold the room, where ending those would do."""


class Asked(Model):
    """What was asked for, of each member: amounts, on which terms, and for how long."""

    cpu_milli: int
    mem_bytes: int
    block_bytes: int
    gpu_count: int
    gpu_milli: int
    gpu_generation: Annotated[HardwareGeneration, Field(strict=False)] | None
    gang_size: int
    priority: _Priority
    lease_class: _LeaseClass
    ttl_ms: int


class QueueEntry(UnderRules):
    """A request that waits: where it stands and everything that stands in its way."""

    entry_id: int
    tenant: str
    project: str | None
    submitted_ms: int
    position: int
    """1 for the request that is looked at first."""
    is_further: bool
    """Whether it stands further back than that; only the head of a long queue is counted."""
    raised: int
    """By how many priorities it stands higher for having waited."""
    slips: int
    """How often the start that is reserved for it moved later."""
    reason: Annotated[PendingReason, Field(strict=False)]
    blockers: list[Denial]
    fallen: dict[Annotated[FilterReason, Field(strict=False)], int]
    """How many nodes fell at which filter; each is counted at the first that it fails."""
    fitting: int
    """How many nodes would fit one member now."""
    remedy: Remedy
    estimate: Estimate
    job_labels: list[str] = Field(default_factory=list)
    request: Asked | None = None
    job_id: int | None = None
    """The job that waits here; none for a request for a lease alone."""


class JournalRecord(Model):
    """One sealed fact, as it stands in the journal."""

    seq: int
    at_ms: int
    kind: str
    tenant: str | None
    project: str | None
    actor: str
    correlation_id: str
    body: dict[str, Any]
    prev_hash: str


class JournalConsistency(Model):
    """What shows that the first ``old_size`` records are still those that they were (RFC 9162)."""

    old_size: int
    new_size: int
    hashes: list[str]
    """Each in base64."""
