"""What the kernel can be told to do: one closed union, each member checked when it is built.

Rules:

- A command carries values only. Who sends it, in the course of what, and under which idempotency
  key stands on its :class:`Envelope`.
- ``Tick`` is a command like any other: time passes only when somebody says so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from bailiwick.fleet.node import NodeCapacity
from bailiwick.journal.fields import DIGEST, INTEGER_MAX, NAME, PRINCIPAL, TEXT
from bailiwick.journal.record import Context
from bailiwick.kernel.iam_commands import IamCommand
from bailiwick.kernel.money_commands import MoneyCommand
from bailiwick.kernel.settings import Settings
from bailiwick.kernel.trust_commands import TrustCommand
from bailiwick.scheduler.quota_policy import Quota
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.values import check_integer, check_kind, check_name
from bailiwick.vocab.words import PreemptionReason

LEASES_MAX = 1024
"""Leases that one command may name."""

MODELS_MAX, MODEL_LENGTH_MAX = 32, 127
"""Models that one request may name, so that the record of its leases can be written."""


@dataclass(frozen=True, slots=True)
class Submit:
    """Ask for resources now, or (``wait``) as soon as they can be had."""

    request: PlacementRequest
    wait: bool = True

    def __post_init__(self) -> None:
        check_kind("request", self.request, PlacementRequest)
        check_kind("wait", self.wait, bool)
        r = self.request
        # What the journal could not say is refused before anything is decided.
        for name in ("mem_bytes", "block_bytes", "gpu_vram", "ttl_ms"):
            check_integer(name, getattr(r, name), low=0, high=INTEGER_MAX)
        check_integer("deadline_ms", r.deadline_ms or 0, low=0, high=INTEGER_MAX)
        check_integer("gpu_models", len(r.gpu_models), low=0, high=MODELS_MAX)
        if any(len(model) > MODEL_LENGTH_MAX for model in r.gpu_models):
            raise InvalidValue("gpu_models", r.gpu_models, "names as long as a device's own")


@dataclass(frozen=True, slots=True)
class Cancel:
    """Take a waiting request out of the queue."""

    entry_id: int

    def __post_init__(self) -> None:
        _check_id("entry_id", self.entry_id)


@dataclass(frozen=True, slots=True)
class Renew:
    """A new term from now; ``generation`` (if given) must be the lease's current one."""

    lease_id: int
    ttl_ms: int
    generation: int | None = None

    def __post_init__(self) -> None:
        _check_id("lease_id", self.lease_id)
        check_integer("ttl_ms", self.ttl_ms, low=1, high=2**52)
        if self.generation is not None:
            check_integer("generation", self.generation, low=1, high=2**31)


@dataclass(frozen=True, slots=True)
class Release:
    """The holder gives a lease back."""

    lease_id: int

    def __post_init__(self) -> None:
        _check_id("lease_id", self.lease_id)


@dataclass(frozen=True, slots=True)
class ReportCheckpoint:
    """The holder's work is saved; during grace this ends the lease now."""

    lease_id: int

    def __post_init__(self) -> None:
        _check_id("lease_id", self.lease_id)


@dataclass(frozen=True, slots=True)
class ReportTeardown:
    """An executor says whether what the lease held is really free."""

    lease_id: int
    clean: bool

    def __post_init__(self) -> None:
        _check_id("lease_id", self.lease_id)
        check_kind("clean", self.clean, bool)


@dataclass(frozen=True, slots=True)
class Evict:
    """End these leases (and their gangs) against their holders' wish, all or none."""

    lease_ids: tuple[int, ...]
    reason: PreemptionReason
    grace_ms: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.lease_ids, list | tuple) or not self.lease_ids:
            raise InvalidValue("lease_ids", self.lease_ids, "at least one lease id")
        check_integer("lease_ids", len(self.lease_ids), low=1, high=LEASES_MAX)
        object.__setattr__(self, "lease_ids", tuple(self.lease_ids))
        for lease_id in self.lease_ids:
            _check_id("lease_ids", lease_id)
        check_kind("reason", self.reason, PreemptionReason)
        _check_grace(self.grace_ms)


@dataclass(frozen=True, slots=True)
class ClearFence:
    """An operator says that fenced resources are clean."""

    lease_id: int

    def __post_init__(self) -> None:
        _check_id("lease_id", self.lease_id)


@dataclass(frozen=True, slots=True)
class RegisterNode:
    """A machine joins the fleet."""

    node: str
    capacity: NodeCapacity

    def __post_init__(self) -> None:
        check_name("node", self.node)
        check_kind("capacity", self.capacity, NodeCapacity)


@dataclass(frozen=True, slots=True)
class DepartNode:
    """A machine is gone; ``last_seen_ms`` is its last proof of life."""

    node: str
    last_seen_ms: int | None = None

    def __post_init__(self) -> None:
        check_name("node", self.node)
        if self.last_seen_ms is not None:
            check_integer("last_seen_ms", self.last_seen_ms, low=0, high=INTEGER_MAX)


@dataclass(frozen=True, slots=True)
class ChangeMode:
    """Move a node along the mode table; to ``draining`` it evicts, for the reason given.

    Without ``evict`` a drain only closes the node: what runs there may end by itself (a cordon).
    """

    node: str
    mode: NodeMode
    reason: PreemptionReason = PreemptionReason.OPERATOR_DRAIN
    grace_ms: int | None = None
    evict: bool = True

    def __post_init__(self) -> None:
        check_name("node", self.node)
        check_kind("mode", self.mode, NodeMode)
        check_kind("reason", self.reason, PreemptionReason)
        if self.reason.spares_guaranteed:
            raise InvalidValue("reason", self.reason, "an operator's reason")
        _check_grace(self.grace_ms)
        check_kind("evict", self.evict, bool)
        if not self.evict and self.mode is not NodeMode.DRAINING:
            raise InvalidValue("evict", self.evict, "true, but for a drain")


@dataclass(frozen=True, slots=True)
class Quarantine:
    """A node is not trusted (any more): it is closed, and what runs there is evicted."""

    node: str
    reason: str
    grace_ms: int | None = None

    def __post_init__(self) -> None:
        check_name("node", self.node)
        NAME.check("reason", self.reason)
        _check_grace(self.grace_ms)


@dataclass(frozen=True, slots=True)
class LiftQuarantine:
    """A node is trusted again; with ``override`` because an operator says so, and ``note`` why."""

    node: str
    override: bool = False
    note: str = ""

    def __post_init__(self) -> None:
        check_name("node", self.node)
        check_kind("override", self.override, bool)
        TEXT.check("note", self.note)
        if self.override and not self.note.strip():
            raise InvalidValue("note", self.note, "why the quarantine is lifted without evidence")


@dataclass(frozen=True, slots=True)
class SetQuota:
    """Replace everything a tenant or project is allowed, if it is still what was ``seen``."""

    tenant: str
    quota: Quota
    project: str | None = None
    seen: str | None = None

    def __post_init__(self) -> None:
        check_name("tenant", self.tenant)
        if self.project is not None:
            check_name("project", self.project)
        check_kind("quota", self.quota, Quota)
        if self.seen is not None:
            DIGEST.check("seen", self.seen)


@dataclass(frozen=True, slots=True)
class SetShare:
    """Weigh a tenant among tenants, or a project among its tenant's."""

    tenant: str
    share: int
    project: str | None = None

    def __post_init__(self) -> None:
        check_name("tenant", self.tenant)
        if self.project is not None:
            check_name("project", self.project)
        check_integer("share", self.share, low=1, high=1_000_000)


@dataclass(frozen=True, slots=True)
class ChangeSettings:
    """Replace the kernel's settings, if they are still what was ``seen``."""

    settings: Settings
    seen: str | None = None

    def __post_init__(self) -> None:
        check_kind("settings", self.settings, Settings)
        if self.seen is not None:
            DIGEST.check("seen", self.seen)


@dataclass(frozen=True, slots=True)
class Elect:
    """A new leader writes from here on."""

    epoch: int
    leader: str
    address: str = ""

    def __post_init__(self) -> None:
        check_integer("epoch", self.epoch, low=1, high=INTEGER_MAX)
        NAME.check("leader", self.leader)
        if not isinstance(self.address, str) or len(self.address) > 255:
            raise InvalidValue("address", self.address, "at most 255 characters")


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed: do what is due, looking at no more than ``limit`` leases and entries."""

    limit: int = 1_000

    def __post_init__(self) -> None:
        check_integer("limit", self.limit, low=2, high=10**6)


Command: TypeAlias = (
    Submit
    | Cancel
    | Renew
    | Release
    | ReportCheckpoint
    | ReportTeardown
    | Evict
    | ClearFence
    | RegisterNode
    | DepartNode
    | ChangeMode
    | Quarantine
    | LiftQuarantine
    | SetQuota
    | SetShare
    | ChangeSettings
    | Elect
    | Tick
    | MoneyCommand
    | TrustCommand
    | IamCommand
)


@dataclass(frozen=True, slots=True)
class Envelope:
    """A command with who sends it, in the course of what, and the key that makes it safe to repeat.

    The same key from the same actor gives the first answer again and does nothing.
    """

    command: Command
    actor: str = "operator"
    correlation_id: str = "none"
    key: str | None = field(default=None)

    cause: Context = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Checks both names.
        object.__setattr__(self, "cause", Context(self.actor, self.correlation_id))
        if self.key is not None:
            PRINCIPAL.check("key", self.key)


def _check_id(name: str, value: object) -> None:
    check_integer(name, value, low=1, high=INTEGER_MAX)


def _check_grace(grace_ms: int | None) -> None:
    if grace_ms is not None:
        check_integer("grace_ms", grace_ms, low=0, high=2**52)
