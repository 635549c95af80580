"""What happened to isolation: a policy was set, a domain scrubbed, a lease found where it may not
be."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import ClassVar, Self, TypeAlias

from bailiwick.isolation.language.parser import parse_policy
from bailiwick.isolation.policy import Policy
from bailiwick.journal.fields import TEXT_MAX
from bailiwick.journal.kinds import RecordKind
from bailiwick.kernel.owner import Fields, OfFleet, Owner
from bailiwick.kernel.spelling import Body
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.words import DomainKind


@dataclass(frozen=True, slots=True)
class IsolationPolicySet(OfFleet):
    """This is forbidden from now on."""

    kind: ClassVar = RecordKind.ISOLATION_POLICY_SET
    version: int
    text: str

    @property
    def policy(self) -> Policy:
        """The rules that the text says."""
        return parse_policy(self.text)

    @property
    def digest(self) -> str:
        """What the text is known by."""
        return sha256(self.text.encode()).hexdigest()

    def body(self) -> Body:
        """The whole text, in pieces, and its digest."""
        pieces = [self.text[at : at + TEXT_MAX] for at in range(0, len(self.text), TEXT_MAX)]
        return {"version": self.version, "digest": self.digest, "document": pieces}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        told = cls(body["version"], "".join(body["document"]))
        if told.digest != body["digest"]:
            raise InvalidValue("digest", body["digest"], f"{told.digest}, the document's own")
        return told


@dataclass(frozen=True, slots=True)
class DomainScrubbed(OfFleet):
    """Nothing of those who left is in the domain any more: it is for everybody again."""

    kind: ClassVar = RecordKind.DOMAIN_SCRUBBED
    domain_kind: DomainKind
    domain: str

    def body(self) -> Body:
        """The domain."""
        return {"domain_kind": self.domain_kind.value, "domain": self.domain}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        return cls(DomainKind(body["domain_kind"]), body["domain"])


@dataclass(frozen=True, slots=True)
class IsolationViolated(OfFleet):
    """A lease is where a rule forbids it to be: in which domain, and beside which leases.

    What becomes of it, its own records tell.
    """

    kind: ClassVar = RecordKind.ISOLATION_VIOLATED
    lease_id: int
    rule: str
    domain: str
    domain_kind: DomainKind | None = None
    """None for a rule about a node's labels."""
    partners: tuple[int, ...] = ()
    """Leases that may not be there together with it; none for what was left behind."""

    def body(self) -> Body:
        """The lease, the rule, the domain and who else is there."""
        body: Body = {"lease_id": self.lease_id, "rule": self.rule, "domain": self.domain}
        if self.domain_kind is not None:
            body["domain_kind"] = self.domain_kind.value
        return body | ({"partners": list(self.partners)} if self.partners else {})

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        word = body.get("domain_kind")
        kind = None if word is None else DomainKind(word)
        told = (body["lease_id"], body["rule"], body["domain"], kind)
        return cls(*told, tuple(body.get("partners", ())))


IsolationEvent: TypeAlias = IsolationPolicySet | DomainScrubbed | IsolationViolated
