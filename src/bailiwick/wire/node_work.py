"""Jobs of a node on the wire: what is to be so there, what its agent saw, and what they printed."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from bailiwick.vocab.jobs import JobFault
from bailiwick.wire.base import Amount, Model, Number, Within

WishWord: TypeAlias = Literal["run", "end", "forget"]
SeenWord: TypeAlias = Literal["starting", "unstarted", "running", "exited", "lost"]
LostWord: TypeAlias = Literal[
    "never_started",
    "state_unreadable",
    "other_boot",
    "not_the_same_process",
    "supervisor_gone",
    "node_lost",
]

_Fault = Annotated[JobFault, Field(strict=False)]
_Life = Annotated[int, Within(1, 2**53 - 1)]


class WorkItem(Model):
    """What is to be so for one lease; ``spec`` is there until its agent said what became of it."""

    lease_id: int
    wish: WishWord
    spec: str | None
    warn_until_ms: int | None
    output_bytes: int
    """How much of its output has come."""
    is_unstarted: bool


class LeaseTerm(Model):
    """How long a lease lasts yet, unless it is renewed."""

    lease_id: int
    left_ms: int


class NodeWork(Model):
    """What changed for a node after the version that was named, up to this one.

    ``terms`` are of all its leases that nobody ends yet.
    """

    node: str
    version: int
    items: list[WorkItem]
    terms: list[LeaseTerm] = Field(default_factory=list)


class SeenJob(Model):
    """What a node's agent saw of a job; which fields are told follows from ``state``."""

    lease_id: Number
    state: SeenWord
    fault: _Fault | None = None
    note: Annotated[str, Field(max_length=1000)] | None = None
    pid: Amount | None = None
    start_ticks: Amount | None = None
    boot_id: Annotated[str, Field(max_length=64)] | None = None
    is_warned: bool = False
    code: Annotated[int, Within(0, 255)] | None = None
    signal: Annotated[int, Within(1, 255)] | None = None
    ended_ms: Amount | None = None
    is_emptied: bool = False
    is_out_of_memory: bool = False
    """Whether its limit of memory is known to have ended something of it."""
    reason: LostWord | None = None
    is_cleared: bool | None = None
    """Once it was ended: whether nothing of it is left."""
    is_forgotten: bool = False


class WorkReport(Model):
    """What an agent saw; ``life`` is when it began, in milliseconds: the latest counts."""

    life: _Life
    seen: Annotated[list[SeenJob], Field(max_length=100)]


class PrintedPiece(Model):
    """Some of what a job printed, from a byte on; in base64."""

    lease_id: Number
    offset: Amount
    data: Annotated[str, Field(max_length=349_528, pattern=r"^[A-Za-z0-9+/]*={0,2}$")]
    is_truncated: bool = False


class OutputReport(Model):
    """What jobs of a node printed."""

    life: _Life
    pieces: Annotated[list[PrintedPiece], Field(max_length=2)]


class OutputPosition(Model):
    """Where a job's output goes on; nowhere (null) if nothing more is wanted."""

    lease_id: int
    next_offset: int | None


class OutputTaken(Model):
    """How far the output of each job has come."""

    node: str
    positions: list[OutputPosition]
