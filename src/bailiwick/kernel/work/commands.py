"""Commands about requests and leases: ask, cancel, renew, give back, report, evict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from bailiwick.journal.fields import INTEGER_MAX
from bailiwick.kernel.checks import check_grace, check_id
from bailiwick.kernel.work.execs.commands import ExecCommand
from bailiwick.kernel.work.graph_commands import GraphCommand
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_integer, check_kind
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
        check_id("entry_id", self.entry_id)


@dataclass(frozen=True, slots=True)
class Renew:
    """A new term from now; ``generation`` (if given) must be the lease's current one."""

    lease_id: int
    ttl_ms: int
    generation: int | None = None

    def __post_init__(self) -> None:
        check_id("lease_id", self.lease_id)
        check_integer("ttl_ms", self.ttl_ms, low=1, high=2**52)
        if self.generation is not None:
            check_integer("generation", self.generation, low=1, high=2**31)


@dataclass(frozen=True, slots=True)
class Release:
    """The holder gives a lease back."""

    lease_id: int

    def __post_init__(self) -> None:
        check_id("lease_id", self.lease_id)


@dataclass(frozen=True, slots=True)
class ReportCheckpoint:
    """The holder's work is saved; during grace this ends the lease now."""

    lease_id: int

    def __post_init__(self) -> None:
        check_id("lease_id", self.lease_id)


@dataclass(frozen=True, slots=True)
class ReportTeardown:
    """An executor says whether what the lease held is really free."""

    lease_id: int
    clean: bool

    def __post_init__(self) -> None:
        check_id("lease_id", self.lease_id)
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
            check_id("lease_ids", lease_id)
        check_kind("reason", self.reason, PreemptionReason)
        check_grace(self.grace_ms)


@dataclass(frozen=True, slots=True)
class ClearFence:
    """An operator says that fenced resources are clean."""

    lease_id: int

    def __post_init__(self) -> None:
        check_id("lease_id", self.lease_id)


WorkCommand: TypeAlias = (
    Submit
    | Cancel
    | Renew
    | Release
    | ReportCheckpoint
    | ReportTeardown
    | Evict
    | ClearFence
    | GraphCommand
    | ExecCommand
)
