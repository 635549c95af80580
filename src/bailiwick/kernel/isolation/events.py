"""What happened to isolation: a policy was set or held against what runs, a domain was scrubbed, a
lease found where it may not be."""

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
        return _digest(self.text)

    def body(self) -> Body:
        """The whole text, in pieces, and its digest."""
        return {"version": self.version, **_document(self.text)}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        return cls(body["version"], _text(body))


@dataclass(frozen=True, slots=True)
class IsolationEnforced(OfFleet):
    """What runs was held against a policy, in force or not, and some of it has to go.

    Who, the records behind it tell; the policy in force stays in force.
    """

    kind: ClassVar = RecordKind.ISOLATION_ENFORCED
    text: str
    violations: int
    leases: int
    """How many have to go: those that violate it, and their gangs."""

    def body(self) -> Body:
        """The whole text, its digest, and how much has to go."""
        return {**_document(self.text), "violations": self.violations, "leases": self.leases}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        return cls(_text(body), body["violations"], body["leases"])


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _document(text: str) -> Body:
    """A policy's text as records hold it."""
    pieces = [text[at : at + TEXT_MAX] for at in range(0, len(text), TEXT_MAX)]
    return {"digest": _digest(text), "document": pieces}


def _text(body: Fields) -> str:
    text = "".join(body["document"])
    if _digest(text) != body["digest"]:
        raise InvalidValue("digest", body["digest"], f"{_digest(text)}, the document's own")
    return text


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


IsolationEvent: TypeAlias = (
    IsolationPolicySet | IsolationEnforced | DomainScrubbed | IsolationViolated
)
