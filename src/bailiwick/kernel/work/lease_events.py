"""What happened to leases after they began."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self, TypeAlias

from bailiwick.fleet.resources import Resources
from bailiwick.journal.kinds import RecordKind
from bailiwick.kernel.owner import Fields, Owner
from bailiwick.kernel.spelling import Body, amounts_of, denial_body, denial_from, resources_from
from bailiwick.scheduler.decision import Denied
from bailiwick.vocab.transitions import RevokeState
from bailiwick.vocab.words import PreemptionReason


@dataclass(frozen=True, slots=True)
class LeaseRenewed:
    """A lease has a new term; older generations of it are stale."""

    kind: ClassVar = RecordKind.LEASE_RENEWED
    owner: Owner
    lease_id: int
    generation: int
    expires_ms: int

    def body(self) -> Body:
        """The lease and its term."""
        return {
            "lease_id": self.lease_id,
            "generation": self.generation,
            "expires_ms": self.expires_ms,
        }

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        return cls(owner, body["lease_id"], body["generation"], body["expires_ms"])


@dataclass(frozen=True, slots=True)
class RenewalDenied:
    """A lease was not given a longer term; it keeps the one it has."""

    kind: ClassVar = RecordKind.RENEWAL_DENIED
    owner: Owner
    lease_id: int
    ttl_ms: int
    denied: Denied

    def body(self) -> Body:
        """The lease, the term that was asked for, and why not."""
        return {"lease_id": self.lease_id, "ttl_ms": self.ttl_ms, **denial_body(self.denied)}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        denied = denial_from(body)
        assert denied is not None  # the body's table requires the words
        return cls(owner, body["lease_id"], body["ttl_ms"], denied)


@dataclass(frozen=True, slots=True)
class LeaseRevoked:
    """A lease came one step nearer to its end; ``expires_ms`` is when the next one is due.

    ``is_released``: because its holder gave it back, on a node where that must be confirmed.
    ``preemptor``: for whom it has to go, if it has to. ``generation``: whose tokens end with the
    warning; if the lease gets its place back, it has the next one. ``departed``: the node that
    took a member of its gang with it; it is on another itself.
    """

    kind: ClassVar = RecordKind.LEASE_REVOKED
    owner: Owner
    lease_id: int
    before: RevokeState
    after: RevokeState
    reason: PreemptionReason | None = None
    expires_ms: int | None = None
    is_released: bool = False
    preemptor: str | None = None
    generation: int | None = None
    rule: str | None = None
    """The rule of isolation that it breaks where it is, or the check that its machine failed."""
    departed: str | None = None

    def body(self) -> Body:
        """The lease, the edge of the revoke table, and why."""
        body: Body = {"lease_id": self.lease_id}
        body |= {"before": self.before.value, "after": self.after.value}
        if self.reason is not None:
            body["reason"] = self.reason.value
        if self.expires_ms is not None:
            body["expires_ms"] = self.expires_ms
        if self.preemptor is not None:
            body["preemptor"] = self.preemptor
        if self.generation is not None:
            body["generation"] = self.generation
        if self.rule is not None:
            body["rule"] = self.rule
        if self.departed is not None:
            body["departed"] = self.departed
        return body | ({"released": 1} if self.is_released else {})

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        word = body.get("reason")
        return cls(
            owner,
            body["lease_id"],
            RevokeState(body["before"]),
            RevokeState(body["after"]),
            None if word is None else PreemptionReason(word),
            body.get("expires_ms"),
            bool(body.get("released", 0)),
            body.get("preemptor"),
            body.get("generation"),
            body.get("rule"),
            body.get("departed"),
        )


@dataclass(frozen=True, slots=True)
class LeaseRestored:
    """A lease that had to go may stay after all, for its old term: nobody needs its room now.

    Its tokens ended when it was warned; those of its new generation count. ``preemptor``: for whom
    it had to go.
    """

    kind: ClassVar = RecordKind.LEASE_RESTORED
    owner: Owner
    lease_id: int
    generation: int
    expires_ms: int
    preemptor: str | None = None

    def body(self) -> Body:
        """The lease, its term, and who does not need its room any more."""
        body: Body = {"lease_id": self.lease_id, "generation": self.generation}
        body["expires_ms"] = self.expires_ms
        return body | ({"preemptor": self.preemptor} if self.preemptor is not None else {})

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        told = (body["lease_id"], body["generation"], body["expires_ms"])
        return cls(owner, *told, body.get("preemptor"))


@dataclass(frozen=True, slots=True)
class _Ended:
    """A lease is over, and what it held is free."""

    owner: Owner
    lease_id: int
    node: str
    held: Resources

    def body(self) -> Body:
        """The lease and what it gave back."""
        amounts = amounts_of(self.held)
        return {"lease_id": self.lease_id, "node": str(self.node), "resources": amounts}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        return cls(owner, body["lease_id"], body["node"], resources_from(body["resources"]))


@dataclass(frozen=True, slots=True)
class LeaseReleased(_Ended):
    """Its holder gave it back."""

    kind: ClassVar = RecordKind.LEASE_RELEASED


@dataclass(frozen=True, slots=True)
class LeaseExpired(_Ended):
    """Its term was over."""

    kind: ClassVar = RecordKind.LEASE_EXPIRED


@dataclass(frozen=True, slots=True)
class TakenBy:
    """Who took a lease's place: its entry (the grant names that too) or, if it starts in the same
    command, its first lease; and how deep the cascade is."""

    entry_id: int | None = None
    lease_id: int | None = None
    depth: int = 0


NOBODY = TakenBy()


@dataclass(frozen=True, slots=True)
class LeasePreempted:
    """It was ended against its holder's wish, for one of the nine reasons."""

    kind: ClassVar = RecordKind.LEASE_PREEMPTED
    owner: Owner
    lease_id: int
    node: str
    held: Resources
    reason: PreemptionReason
    preemptor: str
    tag: str | None = None
    taken_by: TakenBy = NOBODY

    def body(self) -> Body:
        """Victim, preemptor, reason, and what was freed."""
        body: Body = {
            "lease_id": self.lease_id,
            "node": str(self.node),
            "freed": amounts_of(self.held),
            "reason": self.reason.value,
            "victim": str(self.owner.tenant),
            "preemptor": self.preemptor,
        }
        if self.tag is not None:
            body["tag"] = self.tag
        if self.taken_by.entry_id is not None:
            body["preemptor_entry_id"] = self.taken_by.entry_id
        if self.taken_by.lease_id is not None:
            body["preemptor_lease_id"] = self.taken_by.lease_id
        return body | ({"depth": self.taken_by.depth} if self.taken_by.depth else {})

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        return cls(
            owner,
            body["lease_id"],
            body["node"],
            resources_from(body["freed"]),
            PreemptionReason(body["reason"]),
            body["preemptor"],
            body.get("tag"),
            TakenBy(
                body.get("preemptor_entry_id"),
                body.get("preemptor_lease_id"),
                body.get("depth", 0),
            ),
        )


@dataclass(frozen=True, slots=True)
class LeaseFenced:
    """It is over for its holder, but what it held may still be in use: nobody gets it."""

    kind: ClassVar = RecordKind.LEASE_FENCED
    owner: Owner
    lease_id: int
    node: str
    held: Resources
    reason: PreemptionReason | None = None

    def body(self) -> Body:
        """The lease, and what is fenced."""
        body: Body = {"lease_id": self.lease_id, "node": str(self.node)}
        body["resources"] = amounts_of(self.held)
        return body | ({"reason": self.reason.value} if self.reason is not None else {})

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        word = body.get("reason")
        reason = None if word is None else PreemptionReason(word)
        held = resources_from(body["resources"])
        return cls(owner, body["lease_id"], body["node"], held, reason)


LeaseEnd: TypeAlias = LeaseReleased | LeaseExpired | LeasePreempted | LeaseFenced
"""A lease is over for its holder."""


@dataclass(frozen=True, slots=True)
class FenceCleared:
    """An operator says that fenced resources are clean: they are free."""

    kind: ClassVar = RecordKind.FENCE_CLEARED
    owner: Owner
    lease_id: int
    node: str

    def body(self) -> Body:
        """The lease and its node."""
        return {"lease_id": self.lease_id, "node": str(self.node)}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        return cls(owner, body["lease_id"], body["node"])


@dataclass(frozen=True, slots=True)
class CheckpointReported:
    """The holder's work was saved."""

    kind: ClassVar = RecordKind.CHECKPOINT_REPORTED
    owner: Owner
    lease_id: int

    def body(self) -> Body:
        """The lease."""
        return {"lease_id": self.lease_id}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        return cls(owner, body["lease_id"])


LeaseEvent: TypeAlias = (
    LeaseRenewed
    | RenewalDenied
    | LeaseRevoked
    | LeaseRestored
    | LeaseEnd
    | FenceCleared
    | CheckpointReported
)
