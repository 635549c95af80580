"""What happened: the kernel's events, each one kind of journal record.

Rules:

- An event holds all that applying it takes; nothing is decided again when it is read back.
- ``body`` is what the record says, ``read`` makes an equal event from it. The owner (tenant and
  project) stands on the record, not in the body.
- Nothing here knows time or order: the record has both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

from bailiwick.fleet.node import NodeCapacity
from bailiwick.journal.words import CancelCause, RecordKind
from bailiwick.kernel.request_body import (
    Body,
    amounts_of,
    denial_body,
    denial_from,
    inventory_body,
    inventory_from,
    request_body,
    request_from,
    resources_from,
)
from bailiwick.kernel.settings import NUMBERS, Settings
from bailiwick.scheduler.decision import Denied
from bailiwick.scheduler.quota_policy import (
    BurstCredit,
    GpuGenerationQuota,
    Quota,
    ResourceLimit,
)
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.words import (
    Dimension,
    HardwareGeneration,
    PendingReason,
    Priority,
    Strategy,
)

Fields: TypeAlias = Mapping[str, Any]

MEMBERS_MAX = 256
"""Members of a gang, or leases of a node, in one record; more are told in several."""


class Owner(NamedTuple):
    """Whose a record is."""

    tenant: str | None = None
    project: str | None = None

    @classmethod
    def of(cls, request: PlacementRequest) -> Owner:
        """The owner of a request."""
        return cls(request.tenant, request.project)


FLEET = Owner()


@dataclass(frozen=True, slots=True)
class _OfFleet:
    """An event of the whole fleet."""

    @property
    def owner(self) -> Owner:
        """Nobody's in particular."""
        return FLEET


@dataclass(frozen=True, slots=True)
class NodeRegistered(_OfFleet):
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
class NodeDeparted(_OfFleet):
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
class ModeChanged(_OfFleet):
    """An operator, or a drain that came to its end, moved a node along the mode table."""

    kind: ClassVar = RecordKind.NODE_MODE_CHANGED
    node: str
    before: NodeMode
    after: NodeMode

    def body(self) -> Body:
        """The node and both modes."""
        return {"node": str(self.node), "before": self.before.value, "after": self.after.value}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        return cls(body["node"], NodeMode(body["before"]), NodeMode(body["after"]))


@dataclass(frozen=True, slots=True)
class NodeQuarantined(_OfFleet):
    """A node is closed because it is not trusted."""

    kind: ClassVar = RecordKind.NODE_QUARANTINED
    node: str
    reason: str

    def body(self) -> Body:
        """The node and why."""
        return {"node": str(self.node), "reason": self.reason}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        return cls(body["node"], body["reason"])


@dataclass(frozen=True, slots=True)
class QuarantineLifted(_OfFleet):
    """A node is trusted again."""

    kind: ClassVar = RecordKind.NODE_QUARANTINE_LIFTED
    node: str

    def body(self) -> Body:
        """The node."""
        return {"node": str(self.node)}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        return cls(body["node"])


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
class SettingsChanged(_OfFleet):
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
class AdmissionApproved:
    """Members of a request got leases; ``members_left`` are told in the records that follow."""

    kind: ClassVar = RecordKind.ADMISSION_APPROVED
    request: PlacementRequest
    lease_ids: tuple[int, ...]
    nodes: tuple[str, ...]
    devices: tuple[int, ...]
    entry_id: int | None = None
    gang: int | None = None
    members_left: int = 0
    depth: int = 0
    burst: int = 0

    @property
    def owner(self) -> Owner:
        """Who asked."""
        return Owner.of(self.request)

    def body(self) -> Body:
        """The request, and what each member got."""
        body = request_body(self.request)
        body["lease_ids"] = list(self.lease_ids)
        body["nodes"] = [str(node) for node in self.nodes]
        if self.request.device_count:
            body["devices"] = list(self.devices)
        if self.entry_id is not None:
            body["entry_id"] = self.entry_id
        if self.gang is not None:
            body["gang"] = self.gang
            if self.members_left:
                body["members_left"] = self.members_left
        if self.depth:
            body["depth"] = self.depth
        if self.burst:
            body["burst"] = self.burst
        return body

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        ids = tuple(body["lease_ids"])
        return cls(
            request_from(body, str(owner.tenant), owner.project),
            ids,
            tuple(body["nodes"]),
            tuple(body.get("devices", (0,) * len(ids))),
            body.get("entry_id"),
            body.get("gang"),
            body.get("members_left", 0),
            body.get("depth", 0),
            body.get("burst", 0),
        )


@dataclass(frozen=True, slots=True)
class AdmissionDenied:
    """A request that may not run and does not wait."""

    kind: ClassVar = RecordKind.ADMISSION_DENIED
    request: PlacementRequest
    denied: Denied
    wait: bool = False

    @property
    def owner(self) -> Owner:
        """Who asked."""
        return Owner.of(self.request)

    def body(self) -> Body:
        """The request and why not."""
        return {**request_body(self.request), **denial_body(self.denied), "wait": int(self.wait)}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        denied = denial_from(body)
        assert denied is not None  # the body's table requires the words
        request = request_from(body, str(owner.tenant), owner.project)
        return cls(request, denied, bool(body.get("wait", 0)))


@dataclass(frozen=True, slots=True)
class RequestQueued:
    """A request waits; ``denied`` is what stood in its way, or nothing but those before it."""

    kind: ClassVar = RecordKind.REQUEST_QUEUED
    request: PlacementRequest
    entry_id: int
    denied: Denied | None

    @property
    def owner(self) -> Owner:
        """Who asked."""
        return Owner.of(self.request)

    def body(self) -> Body:
        """The request, its entry, and why it waits."""
        body: Body = {"entry_id": self.entry_id, **request_body(self.request)}
        if self.denied is None:
            return body | {"reason": PendingReason.NOT_YET_LOOKED_AT.value}
        return body | denial_body(self.denied)

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        request = request_from(body, str(owner.tenant), owner.project)
        return cls(request, body["entry_id"], denial_from(body))


@dataclass(frozen=True, slots=True)
class RequestBlocked:
    """Something else stands in a waiting request's way now: maybe only victims that are leaving."""

    kind: ClassVar = RecordKind.REQUEST_BLOCKED
    owner: Owner
    entry_id: int
    denied: Denied
    victims: tuple[int, ...] = ()
    victim_nodes: tuple[str, ...] = ()
    depth: int = 0

    def body(self) -> Body:
        """The entry, the words and numbers, and who is leaving for it from where."""
        body: Body = {"entry_id": self.entry_id, **denial_body(self.denied)}
        if self.victims:
            body["victims"] = list(self.victims)
            body["victim_nodes"] = [str(node) for node in self.victim_nodes]
            body["depth"] = self.depth
        return body

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        denied = denial_from(body)
        assert denied is not None  # the body's table requires the words
        victims, nodes = body.get("victims", ()), body.get("victim_nodes", ())
        depth = body.get("depth", 0)
        return cls(owner, body["entry_id"], denied, tuple(victims), tuple(nodes), depth)


@dataclass(frozen=True, slots=True)
class RequestCancelled:
    """A waiting request left the queue without starting."""

    kind: ClassVar = RecordKind.REQUEST_CANCELLED
    owner: Owner
    entry_id: int
    cause: CancelCause

    def body(self) -> Body:
        """The entry and why."""
        return {"entry_id": self.entry_id, "cause": self.cause.value}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        return cls(owner, body["entry_id"], CancelCause(body["cause"]))


@dataclass(frozen=True, slots=True)
class RoomReserved:
    """Room is kept for a waiting request from now on: by when, and where."""

    kind: ClassVar = RecordKind.ROOM_RESERVED
    owner: Owner
    entry_id: int
    starts_ms: int
    nodes: tuple[str, ...]
    overdue: bool = False

    def body(self) -> Body:
        """The entry, the latest start, and the nodes (no more than a record holds)."""
        nodes = [str(node) for node in self.nodes[:MEMBERS_MAX]]
        body: Body = {"entry_id": self.entry_id, "starts_ms": self.starts_ms, "nodes": nodes}
        return body | ({"overdue": 1} if self.overdue else {})

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        nodes, overdue = tuple(body["nodes"]), bool(body.get("overdue", 0))
        return cls(owner, body["entry_id"], body["starts_ms"], nodes, overdue)


@dataclass(frozen=True, slots=True)
class LeaderElected(_OfFleet):
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
class StateCheckpoint(_OfFleet):
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
