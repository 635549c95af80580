"""What happened to nodes, quotas, shares, settings, and to the journal's own writer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self, TypeAlias

from bailiwick.fleet.node import NodeCapacity
from bailiwick.journal.kinds import RecordKind
from bailiwick.journal.words import NoteOutcome
from bailiwick.kernel.fleet.spelling import (
    inventory_body,
    inventory_from,
    quota_body,
    quota_from,
    settings_body,
    settings_from,
)
from bailiwick.kernel.owner import Fields, OfFleet, Owner
from bailiwick.kernel.settings import Settings
from bailiwick.kernel.spelling import Body
from bailiwick.scheduler.quota_policy import (
    Quota,
)
from bailiwick.vocab.transitions import NodeMode

CORDON = "cordon"
"""The note of a drain that evicts nobody."""

WINDOW = "window"
"""The note of a change that a window of maintenance made."""


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
    by_window: bool = False
    """Whether a window of maintenance did it, and nobody by hand."""

    def body(self) -> Body:
        """The node and both modes."""
        body: Body = {"node": str(self.node), "before": self.before.value}
        body["after"] = self.after.value
        if self.by_window:
            return body | {"note": WINDOW}
        return body if self.evicts else body | {"note": CORDON}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        modes = NodeMode(body["before"]), NodeMode(body["after"])
        note = body.get("note")
        return cls(body["node"], *modes, note != CORDON, note == WINDOW)


@dataclass(frozen=True, slots=True)
class NodeLabelled(OfFleet):
    """An operator says this of a node from now on, beside what it says itself."""

    kind: ClassVar = RecordKind.NODE_LABELLED
    node: str
    labels: tuple[str, ...]
    """All that operators say of it, as ``KEY=VALUE``."""
    before: tuple[str, ...] = ()

    def body(self) -> Body:
        """The node, and what is said of it now and was before."""
        now, before = list(self.labels), list(self.before)
        return {"node": str(self.node), "labels": now, "labels_before": before}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        return cls(body["node"], tuple(body["labels"]), tuple(body["labels_before"]))


@dataclass(frozen=True, slots=True)
class NodeNoted(OfFleet):
    """An operator wrote a line about a node; its number is that of this record."""

    kind: ClassVar = RecordKind.NODE_NOTED
    node: str
    note_id: int
    text: str
    author: str
    until_ms: int

    def body(self) -> Body:
        """The note, who wrote it, and when it expires."""
        told = {"text": self.text, "author": self.author, "until_ms": self.until_ms}
        return {"node": str(self.node), "note_id": self.note_id, **told}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        told = body["text"], body["author"], body["until_ms"]
        return cls(body["node"], body["note_id"], *told)


@dataclass(frozen=True, slots=True)
class NodeNoteEnded(OfFleet):
    """A note about a node stands no more."""

    kind: ClassVar = RecordKind.NODE_NOTE_ENDED
    node: str
    note_id: int
    outcome: NoteOutcome

    def body(self) -> Body:
        """Which note, and why."""
        outcome = self.outcome.value
        return {"node": str(self.node), "note_id": self.note_id, "outcome": outcome}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        return cls(body["node"], body["note_id"], NoteOutcome(body["outcome"]))


@dataclass(frozen=True, slots=True)
class QuotaChanged:
    """A tenant or project is allowed this from now on."""

    kind: ClassVar = RecordKind.QUOTA_CHANGED
    owner: Owner
    quota: Quota

    def body(self) -> Body:
        """Limits, generation table and burst credit."""
        return quota_body(self.quota)

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        return cls(owner, quota_from(body))


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
        """Every setting."""
        return settings_body(self.settings)

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        return cls(settings_from(body))


@dataclass(frozen=True, slots=True)
class LeaderElected(OfFleet):
    """Another replica writes from here on.

    With ``waits_anew`` agents that are at a test or a repartitioning have their time anew. A record
    of before there was such a word says nothing, and changes nothing of theirs.
    """

    kind: ClassVar = RecordKind.LEADER_ELECTED
    epoch: int
    leader: str
    address: str = ""
    waits_anew: bool = False

    def body(self) -> Body:
        """The epoch and who."""
        body: Body = {"epoch": self.epoch, "leader": self.leader}
        body |= {"address": self.address} if self.address else {}
        return body | ({"waits_anew": 1} if self.waits_anew else {})

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        anew = bool(body.get("waits_anew", 0))
        return cls(body["epoch"], body["leader"], body.get("address", ""), anew)


@dataclass(frozen=True, slots=True)
class StateCheckpoint(OfFleet):
    """The digest of the state before this record: what every replay must come to.

    ``format`` is how the state was written for that; a replay that writes it otherwise cannot
    compare. A record that does not say is of the third, the last that was not told.
    """

    kind: ClassVar = RecordKind.STATE_CHECKPOINT
    digest: str
    leases: int
    waiting: int
    format: int = 3

    def body(self) -> Body:
        """The digest, two sizes for a person to see, and the format."""
        sizes = {"leases": self.leases, "waiting": self.waiting}
        return {"digest": self.digest, **sizes, "format": self.format}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        return cls(body["digest"], body["leases"], body["waiting"], body.get("format", 3))


@dataclass(frozen=True, slots=True)
class ClockRepaired(OfFleet):
    """The journal's time is another from here on, by an operator's hand."""

    kind: ClassVar = RecordKind.CLOCK_REPAIRED
    before_ms: int
    after_ms: int
    why: str

    def body(self) -> Body:
        """Both times, and why."""
        return {"before_ms": self.before_ms, "after_ms": self.after_ms, "why": self.why}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        return cls(body["before_ms"], body["after_ms"], body["why"])


FleetEvent: TypeAlias = (
    NodeRegistered
    | NodeDeparted
    | NodeModeChanged
    | NodeLabelled
    | NodeNoted
    | NodeNoteEnded
    | QuotaChanged
    | ShareChanged
    | SettingsChanged
    | LeaderElected
    | StateCheckpoint
    | ClockRepaired
)
