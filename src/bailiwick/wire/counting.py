"""What nodes count for leases, and what was found by comparing that with the journal."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bailiwick.wire.base import Amount, Model, Number, Within


class GpuCount(Model):
    """What was counted on one device of the node."""

    index: Annotated[int, Within(0, 63)]
    active_ms: Amount
    busy_ms: Amount
    until_ms: Amount


class CounterEvent(Model):
    """All that was counted for one lease since its work began, as event ``sequence``.

    ``to_ms`` is told once nothing more can follow. What cannot be counted is left out.
    """

    sequence: Amount
    lease_id: Number
    at_ms: Amount
    from_ms: Amount
    to_ms: Amount | None = None
    cpu_ms: Amount | None = None
    mem_peak_bytes: Amount | None = None
    gpu_ms: Amount | None = None
    gpus: Annotated[list[GpuCount], Field(max_length=64)] = Field(default_factory=list)


class CounterReport(Model):
    """Some events of a node's numbering ``epoch``, which begins at 0 and has no gap."""

    epoch: Number
    counters: Annotated[list[CounterEvent], Field(max_length=256)]


class CountersTaken(Model):
    """How far the node may forget: every event of this epoch below ``acknowledged`` is kept.

    An epoch above the one that was sent: another numbering counts, so begin a newer one.
    """

    node: str
    epoch: int
    acknowledged: int


class Finding(Model):
    """Something that does not agree, and where in the journal that is sealed."""

    seq: int
    at_ms: int
    tenant: str | None
    project: str | None
    finding: str
    severity: str
    subject: str
    evidence: str | None
    note: str | None
