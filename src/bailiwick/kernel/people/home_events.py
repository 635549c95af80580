"""What happened to homes, and to roles that were offered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self, TypeAlias

from bailiwick.journal.kinds import RecordKind
from bailiwick.journal.words import OfferOutcome
from bailiwick.kernel.owner import Fields, Owner
from bailiwick.kernel.spelling import Body


@dataclass(frozen=True, slots=True)
class RoleOffered:
    """Somebody who is at home elsewhere may accept a role there, for a time."""

    kind: ClassVar = RecordKind.ROLE_OFFERED
    owner: Owner
    member: str
    role: str
    expires_ms: int

    def body(self) -> Body:
        """Who, what, and until when."""
        return {"member": self.member, "role": self.role, "expires_ms": self.expires_ms}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        return cls(owner, body["member"], body["role"], body["expires_ms"])


@dataclass(frozen=True, slots=True)
class RoleOfferEnded:
    """An offered role was accepted, declined or withdrawn."""

    kind: ClassVar = RecordKind.ROLE_OFFER_ENDED
    owner: Owner
    member: str
    role: str
    outcome: OfferOutcome

    def body(self) -> Body:
        """Who, what, and how it ended."""
        return {"member": self.member, "role": self.role, "outcome": self.outcome.value}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        return cls(owner, body["member"], body["role"], OfferOutcome(body["outcome"]))


@dataclass(frozen=True, slots=True)
class PrincipalHomed:
    """It is written down where a principal is at home."""

    kind: ClassVar = RecordKind.PRINCIPAL_HOMED
    owner: Owner
    """The home: a tenant's, or the fleet's."""
    principal: str

    def body(self) -> Body:
        """Who."""
        return {"principal": self.principal}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        return cls(owner, body["principal"])


HomeEvent: TypeAlias = RoleOffered | RoleOfferEnded | PrincipalHomed
