"""What is remembered for the report: facts with their numbers, no sentences.

The lines are the kernel's own journal. The root of the tree over them is one line by which two runs
can be compared.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from bailiwick import (
    Denied,
    EndCause,
    HardwareGeneration,
    PendingReason,
    PreemptionReason,
)
from bailiwick.demo.fleet import LABS
from bailiwick.demo.traffic import Job
from bailiwick.journal import RecordKind, Verification, Verified
from bailiwick.kernel.views import WaitingEntry


class CampusRecord(NamedTuple):
    """One record of the kernel's journal, as the meter and the demo read it."""

    seq: int
    at_ms: int
    kind: RecordKind
    tenant: str | None
    project: str | None
    body: Mapping[str, Any]

    @property
    def moves_shares(self) -> bool:
        """Whether it moves a share to another owner."""
        return self.kind.moves_shares


def read_line(line: bytes) -> CampusRecord:
    """A line that this run's own kernel sealed a moment ago; the auditor reads more strictly."""
    told = json.loads(line)
    kind = RecordKind(told["kind"])
    return CampusRecord(
        told["seq"], told["at_ms"], kind, told["tenant"], told["project"], told["body"]
    )


@dataclass(slots=True)
class TenantBook:
    """What happened to one tenant."""

    asked: int = 0
    granted: int = 0
    refused: int = 0
    finished: int = 0
    expired: int = 0
    waits_ms: list[int] = field(default_factory=list)
    gpu_micros: Counter[HardwareGeneration] = field(default_factory=Counter)
    quota_use: list[float] = field(default_factory=list)
    owed_micros: int = 0


@dataclass(slots=True)
class DenialBook:
    """One word of denial for one reason: how many requests of whom, and the first of them."""

    denied: Denied
    job: Job
    at_ms: int
    requests: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Eviction:
    """One job that was stopped, and what it lost."""

    at_ms: int
    job: Job
    by: str
    word: PreemptionReason | EndCause
    lost_ms: int
    saved: bool
    fenced: bool

    @property
    def lost_gpu_micros(self) -> int:
        """Work not saved, in milli-shares times milliseconds."""
        return self.lost_ms * self.job.gpu_milli


@dataclass(slots=True)
class Moment:
    """Leases that one command ended: when, why, for which job or node, and what became of it."""

    at_ms: int
    word: PreemptionReason | EndCause
    by: str
    subject: str
    gpu_milli: int = 0
    job: Job | None = None
    depth: int = 0
    evictions: list[Eviction] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class NodeNote:
    """Something that happened to a node."""

    at_ms: int
    node: str
    what: str


@dataclass(frozen=True, slots=True)
class Sample:
    """The fleet at one moment: GPU milli-shares by generation, and how much runs and waits."""

    at_ms: int
    leased: dict[HardwareGeneration, int]
    total: dict[HardwareGeneration, int]
    running: int
    waiting: int

    @property
    def busy(self) -> float:
        """The part of all GPU shares that is leased."""
        return sum(self.leased.values()) / max(1, sum(self.total.values()))


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A request that waited, and the kernel's own account of why."""

    job: Job
    at_ms: int
    entry: WaitingEntry
    nodes: int
    waiting: int

    @property
    def interest(self) -> tuple[int, int]:
        """How many filters bite, then the size of the gang."""
        return len(self.entry.fallen), self.job.request.gang_size


@dataclass(frozen=True, slots=True)
class Audit:
    """What an auditor found who had the journal alone."""

    verdict: Verification
    state: str
    """The digest of the state that a fresh kernel came to, and found sealed."""
    invoices: int
    agreed: int
    """Issued invoices, and those of them that came out the same to the last byte."""
    tampered: Verification
    """What verification says once a byte of the record in the middle is another."""

    @property
    def root(self) -> str:
        """The root of the tree over all records; empty if they are not whole."""
        return self.verdict.root.hex() if isinstance(self.verdict, Verified) else ""

    @property
    def is_clean(self) -> bool:
        """Whether the journal is whole, its bills are right, and a changed byte is found."""
        holds = isinstance(self.verdict, Verified) and not isinstance(self.tampered, Verified)
        return holds and self.invoices == self.agreed


@dataclass(slots=True)
class CampusBooks:
    """Everything the report needs."""

    tenants: dict[str, TenantBook] = field(
        default_factory=lambda: {lab.name: TenantBook() for lab in LABS}
    )
    denials: dict[tuple[PendingReason, str], DenialBook] = field(default_factory=dict)
    moments: list[Moment] = field(default_factory=list)
    notes: list[NodeNote] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    reservations: set[int] = field(default_factory=set)
    puzzle: Puzzle | None = None
    renewals: int = 0
    nodes: int = 0
    idle_micros: int = 0
    closed_micros: int = 0
    capacity_micros: int = 0
    waiting: list[Job] = field(default_factory=list)
    lines: list[bytes] = field(default_factory=list)
    records: list[CampusRecord] = field(default_factory=list)
    audit: Audit | None = None
    _told: set[tuple[int, PendingReason, str]] = field(default_factory=set)

    def denied(self, job: Job, denied: Denied, *, at_ms: int) -> None:
        """A request was told no; the same word to the same request counts once."""
        key = denied.reason, str(denied.detail.code)
        book = self.denials.setdefault(key, DenialBook(denied, job, at_ms))
        if (job.id, *key) not in self._told:
            self._told.add((job.id, *key))
            book.requests[job.kind.tenant] += 1
        # One that ran before and lost its chance to go on is an eviction's story, not a refusal.
        if not denied.reason.is_transient and not job.attempts:
            self.tenants[job.kind.tenant].refused += 1

    def note(self, node: str, what: str, *, at_ms: int) -> None:
        """Something happened to a node."""
        self.notes.append(NodeNote(at_ms, node, what))

    @property
    def evictions(self) -> list[Eviction]:
        """All of them, in the order of the plans that caused them."""
        return [eviction for moment in self.moments for eviction in moment.evictions]

    def suffered(self, tenant: str) -> int:
        """How often the tenant's work was stopped."""
        return sum(e.job.kind.tenant == tenant for e in self.evictions)
