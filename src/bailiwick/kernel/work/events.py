"""What became of requests: admitted, denied, queued, blocked, cancelled, given room."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self, TypeAlias

from bailiwick.journal.kinds import RecordKind
from bailiwick.journal.words import CancelCause
from bailiwick.kernel.owner import Fields, Owner
from bailiwick.kernel.spelling import (
    Body,
    denial_body,
    denial_from,
    read_cores,
    request_body,
    request_from,
    spell_cores,
)
from bailiwick.kernel.work.lease_events import LeaseEvent
from bailiwick.scheduler.core_book import Cores
from bailiwick.scheduler.decision import Denied
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.room_holds import Seat
from bailiwick.vocab.values import NodeId
from bailiwick.vocab.words import PendingReason, ReservationLoss


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
    cores: tuple[Cores | None, ...] = ()
    """How many under which cache each member has; nothing, of one or of all: not known."""

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
        if self.cores:
            body["cores"] = [spell_cores(cores) for cores in self.cores]
        return body

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        ids = tuple(body["lease_ids"])
        return cls(
            request_from(body, str(owner.tenant), project=owner.project),
            ids,
            tuple(body["nodes"]),
            tuple(body.get("devices", (0,) * len(ids))),
            body.get("entry_id"),
            body.get("gang"),
            body.get("members_left", 0),
            body.get("depth", 0),
            body.get("burst", 0),
            tuple(map(read_cores, body.get("cores", ()))),
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
        request = request_from(body, str(owner.tenant), project=owner.project)
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
        request = request_from(body, str(owner.tenant), project=owner.project)
        return cls(request, body["entry_id"], denial_from(body))


@dataclass(frozen=True, slots=True)
class RequestBlocked:
    """Something else stands in a waiting request's way now: maybe only victims that are leaving.

    With victims, room is kept for it: of each member, on which node and which devices (as bits).
    ``gave_way``: the room that was kept for it so far is a more urgent request's from now on.
    """

    kind: ClassVar = RecordKind.REQUEST_BLOCKED
    owner: Owner
    entry_id: int
    denied: Denied
    victims: tuple[int, ...] = ()
    seats: tuple[Seat, ...] = ()
    depth: int = 0
    gave_way: bool = False

    def body(self) -> Body:
        """The entry, the words and numbers, who is leaving for it, and the room it is to have."""
        body: Body = {"entry_id": self.entry_id, **denial_body(self.denied)}
        if self.gave_way:
            body["gave_way"] = 1
        if self.victims:
            body["victims"] = list(self.victims)
            body["seats"] = [str(seat.node) for seat in self.seats]
            if any(seat.devices for seat in self.seats):
                body["seat_devices"] = [seat.devices for seat in self.seats]
            body["depth"] = self.depth
        return body

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        denied = denial_from(body)
        assert denied is not None  # the body's table requires the words
        # A claim from before rooms were told names the nodes of its victims: it keeps nothing.
        victims, nodes = tuple(body.get("victims", ())), body.get("seats", ())
        devices = body.get("seat_devices", (0,) * len(nodes))
        seats = tuple(Seat(NodeId(node), bits) for node, bits in zip(nodes, devices, strict=True))
        depth, gave_way = body.get("depth", 0), bool(body.get("gave_way", 0))
        return cls(owner, body["entry_id"], denied, victims, seats, depth, gave_way)


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
        """The entry, the latest start, and the nodes."""
        nodes = [str(node) for node in self.nodes]
        body: Body = {"entry_id": self.entry_id, "starts_ms": self.starts_ms, "nodes": nodes}
        return body | ({"overdue": 1} if self.overdue else {})

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        nodes, overdue = tuple(body["nodes"]), bool(body.get("overdue", 0))
        return cls(owner, body["entry_id"], body["starts_ms"], nodes, overdue)


@dataclass(frozen=True, slots=True)
class RoomPostponed:
    """Room that is kept will be there later than was told: by when, where, how often by now."""

    kind: ClassVar = RecordKind.ROOM_POSTPONED
    owner: Owner
    entry_id: int
    starts_ms: int
    nodes: tuple[str, ...]
    slips: int

    def body(self) -> Body:
        """The entry, the latest start, the nodes, and how often it moved later."""
        nodes = [str(node) for node in self.nodes]
        body: Body = {"entry_id": self.entry_id, "starts_ms": self.starts_ms, "nodes": nodes}
        return body | {"slips": self.slips}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        nodes = tuple(body["nodes"])
        return cls(owner, body["entry_id"], body["starts_ms"], nodes, body["slips"])


@dataclass(frozen=True, slots=True)
class RoomLost:
    """Room is kept for a waiting request no more, and until when it gets no other."""

    kind: ClassVar = RecordKind.ROOM_LOST
    owner: Owner
    entry_id: int
    cause: ReservationLoss
    until_ms: int | None = None

    def body(self) -> Body:
        """The entry, why, and until when."""
        body: Body = {"entry_id": self.entry_id, "cause": self.cause.value}
        return body if self.until_ms is None else body | {"until_ms": self.until_ms}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        cause = ReservationLoss(body["cause"])
        return cls(owner, body["entry_id"], cause, body.get("until_ms"))


WorkEvent: TypeAlias = (
    AdmissionApproved
    | AdmissionDenied
    | RequestQueued
    | RequestBlocked
    | RequestCancelled
    | RoomReserved
    | RoomPostponed
    | RoomLost
    | LeaseEvent
)
