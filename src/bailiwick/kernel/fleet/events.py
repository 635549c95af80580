"""What happened to nodes, quotas, shares, settings, and to the journal's own writer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeAlias

from bailiwick.fleet.node import NodeCapacity
from bailiwick.journal.kinds import RecordKind
from bailiwick.kernel.fleet.spelling import inventory_body, inventory_from
from bailiwick.kernel.owner import Fields, OfFleet, Owner
from bailiwick.kernel.settings import NUMBERS, Settings
from bailiwick.kernel.spelling import Body, amounts_of, resources_from
from bailiwick.scheduler.quota_policy import (
    BurstCredit,
    GpuGenerationQuota,
    Quota,
    ResourceLimit,
)
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.words import (
    Dimension,
    HardwareGeneration,
    Priority,
    Strategy,
)

CORDON = "cordon"
"""The note of a drain that evicts nobody."""


@dataclass(frozen=True, slots=True)
class NodeRegistered(OfFleet):
    """A machine joined."""

    kind: ClassVar = RecordKind.NODE_REGISTERED
    node: str
    capacity: NodeCapacity

    def body(self) -> Body:
        """The machine's inventory."""
        return {"node": str(self.node), **inventory_body(self.capacity)}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        return cls(body["node"], inventory_from(body))


@dataclass(frozen=True, slots=True)
class NodeDeparted(OfFleet):
    """A machine is gone, and these leases with it; it is forgotten when none is left to tell."""

    kind: ClassVar = RecordKind.NODE_DEPARTED
    node: str
    lease_ids: tuple[int, ...]
    leases_left: int = 0
    last_seen_ms: int | None = None

    def body(self) -> Body:
        """The node and its leases."""
        body: Body = {"node": str(self.node), "lease_ids": list(self.lease_ids)}
        if self.leases_left:
            body["leases_left"] = self.leases_left
        if self.last_seen_ms is not None:
            body["last_seen_ms"] = self.last_seen_ms
        return body

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        ids, left = tuple(body.get("lease_ids", ())), body.get("leases_left", 0)
        return cls(body["node"], ids, left, body.get("last_seen_ms"))


@dataclass(frozen=True, slots=True)
class NodeModeChanged(OfFleet):
    """An operator, or a drain that came to its end, moved a node along the mode table."""

    kind: ClassVar = RecordKind.NODE_MODE_CHANGED
    node: str
    before: NodeMode
    after: NodeMode
    evicts: bool = True
    """Whether a drain also ends what runs there."""

    def body(self) -> Body:
        """The node and both modes."""
        body: Body = {"node": str(self.node), "before": self.before.value}
        body["after"] = self.after.value
        return body if self.evicts else body | {"note": CORDON}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        modes = NodeMode(body["before"]), NodeMode(body["after"])
        return cls(body["node"], *modes, body.get("note") != CORDON)


@dataclass(frozen=True, slots=True)
class QuotaChanged:
    """A tenant or project is allowed this from now on."""

    kind: ClassVar = RecordKind.QUOTA_CHANGED
    owner: Owner
    quota: Quota

    def body(self) -> Body:
        """Limits, generation table and burst credit."""
        quota, burst = self.quota, self.quota.burst
        body: Body = {"limits": {li.dimension.value: li.limit for li in quota.limits}}
        if quota.gpu_generations:
            body["gpu_limits"] = {g.generation.value: g.count for g in quota.gpu_generations}
        if burst is not None:
            body |= {"burst_dimension": burst.dimension.value, "burst_capacity": burst.capacity}
            body |= {"burst_refill_per_s": burst.refill_per_s, "burst_ceiling": burst.ceiling}
        return body

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        burst = None
        if "burst_dimension" in body:
            dimension = Dimension(body["burst_dimension"])
            numbers = (body[f"burst_{name}"] for name in ("capacity", "refill_per_s", "ceiling"))
            burst = BurstCredit(dimension, *numbers)
        limits = tuple(ResourceLimit(Dimension(d), n) for d, n in body["limits"].items())
        table = body.get("gpu_limits", {}).items()
        generations = tuple(GpuGenerationQuota(HardwareGeneration(g), n) for g, n in table)
        return cls(owner, Quota(limits, generations, burst))


@dataclass(frozen=True, slots=True)
class ShareChanged:
    """A tenant or project weighs this much among its like."""

    kind: ClassVar = RecordKind.SHARE_CHANGED
    owner: Owner
    share: int

    def body(self) -> Body:
        """The share."""
        return {"share": self.share}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        return cls(owner, body["share"])


@dataclass(frozen=True, slots=True)
class SettingsChanged(OfFleet):
    """The kernel works by these settings from now on."""

    kind: ClassVar = RecordKind.SETTINGS_CHANGED
    settings: Settings

    def body(self) -> Body:
        """Every setting, so that a record can be read without knowing the defaults of its time."""
        s = self.settings
        body: Body = {name: getattr(s, name) for name in NUMBERS}
        body |= {"strategy": s.strategy.value, "confirm_teardown": int(s.confirm_teardown)}
        body |= {"headroom": amounts_of(s.headroom), "preempt_from": s.preempt_from.value}
        body["headroom_priority"] = s.headroom_priority.value
        if s.weights is not None:
            body["weights"] = list(s.weights)
        return body

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells; a setting it does not name has its default."""
        del owner
        known: dict[str, Any] = {name: body[name] for name in NUMBERS if name in body}
        for name in ("headroom_priority", "preempt_from"):
            if name in body:
                known[name] = Priority(body[name])
        if "headroom" in body:
            known["headroom"] = resources_from(body["headroom"])
        known["confirm_teardown"] = bool(body.get("confirm_teardown", 0))
        known["weights"] = tuple(body["weights"]) if "weights" in body else None
        return cls(Settings(strategy=Strategy(body["strategy"]), **known))


@dataclass(frozen=True, slots=True)
class LeaderElected(OfFleet):
    """Another replica writes from here on."""

    kind: ClassVar = RecordKind.LEADER_ELECTED
    epoch: int
    leader: str
    address: str = ""

    def body(self) -> Body:
        """The epoch and who."""
        body: Body = {"epoch": self.epoch, "leader": self.leader}
        return body | ({"address": self.address} if self.address else {})

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        return cls(body["epoch"], body["leader"], body.get("address", ""))


@dataclass(frozen=True, slots=True)
class StateCheckpoint(OfFleet):
    """The digest of the state before this record: what every replay must come to."""

    kind: ClassVar = RecordKind.STATE_CHECKPOINT
    digest: str
    leases: int
    waiting: int

    def body(self) -> Body:
        """The digest, and two sizes for a person to see."""
        return {"digest": self.digest, "leases": self.leases, "waiting": self.waiting}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        return cls(body["digest"], body["leases"], body["waiting"])


FleetEvent: TypeAlias = (
    NodeRegistered
    | NodeDeparted
    | NodeModeChanged
    | QuotaChanged
    | ShareChanged
    | SettingsChanged
    | LeaderElected
    | StateCheckpoint
)
