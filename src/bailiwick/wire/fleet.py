"""Nodes and quotas on the wire. Every amount is in the unit that its name says."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.words import Dimension, HardwareGeneration
from bailiwick.wire.base import Amount, GraceMs, Label, Model, Name, Number, Within

_Mode = Annotated[NodeMode, Field(strict=False)]
_Generation = Annotated[HardwareGeneration, Field(strict=False)]
_Dimension = Annotated[Dimension, Field(strict=False)]
_DeviceText = Annotated[str, Field(max_length=127)]

OperatorReason = Literal[
    "operator_drain",
    "operator_mig_profile_change",
    "maintenance_window",
    "policy_violation_recovery",
]


class Resources(Model):
    """Amounts of what a node offers or a lease holds."""

    cpu_milli: Annotated[int, Within(0, 10**9)] = 0
    mem_bytes: Amount = 0
    block_bytes: Amount = 0


class Held(Resources):
    """Amounts that include milli-shares of GPUs."""

    gpu_milli: Amount = 0


class Gpu(Model):
    """One device."""

    generation: _Generation
    vram_bytes: Amount = 0
    model: _DeviceText = ""
    fabric: _DeviceText = ""
    partitionable: bool = False


class NewNode(Model):
    """A machine that joins the fleet."""

    node: Name
    resources: Resources
    gpus: Annotated[list[Gpu], Field(max_length=16)] = Field(default_factory=list)
    labels: Annotated[list[Label], Field(max_length=64)] = Field(default_factory=list)


class Node(Model):
    """A machine, what it has, and whether it takes leases."""

    node: str
    mode: _Mode
    quarantined: bool
    takes_leases: bool
    resources: Held
    gpus: list[Gpu]
    labels: list[str]


class ModeChange(Model):
    """Where to move a node in the mode table, and why; to ``draining`` evicts."""

    mode: _Mode
    reason: OperatorReason = "operator_drain"
    grace_ms: GraceMs | None = None


class Quarantine(Model):
    """Why a node is not trusted, and how long what runs there may still take."""

    reason: Name
    grace_ms: GraceMs | None = None


class Burst(Model):
    """How long one may stay how far above the hard limit of one dimension."""

    dimension: _Dimension
    capacity: Number
    refill_per_s: Amount
    ceiling: Number


class Quota(Model):
    """Everything a tenant or project is allowed; what is not named is not limited."""

    limits: dict[_Dimension, Amount] = Field(default_factory=dict)
    gpu_limits: dict[_Generation, Amount] = Field(default_factory=dict)
    burst: Burst | None = None


class Room(Model):
    """One limit, its use and what is left of it; ``null`` where there is none."""

    limit: int | None
    used: int
    left: int | None


class QuotaState(Model):
    """The quota that was set, and how it stands."""

    tenant: str
    project: str | None
    quota: Quota
    dimensions: dict[_Dimension, Room]
    generations: dict[_Generation, Room]
