"""What happened to trust: policy, enrolments, verdicts, quarantines, tokens granted or refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeAlias

from bailiwick.attestation.policy import TrustPolicy
from bailiwick.journal.fields import TEXT_MAX
from bailiwick.journal.kinds import RecordKind
from bailiwick.journal.words import AttestationWord
from bailiwick.kernel.owner import Fields, OfFleet, Owner
from bailiwick.kernel.spelling import Body
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import EvidenceKind, MintDenial, Operation, UntrustedReason

POLICY = "trust"
"""The name of the policy of trust among policies."""

_CHUNK = 960
"""Hexadecimal digits of a key in one text, beside the key's name."""

KEPT = "kept"
"""The note of a quarantine in which a node had departed."""

Pairs: TypeAlias = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class PolicyChanged(OfFleet):
    """This is asked of nodes from now on."""

    kind: ClassVar = RecordKind.POLICY_CHANGED
    policy: TrustPolicy
    digest_before: str | None = None

    def body(self) -> Body:
        """The whole document, in pieces, and its digest."""
        text = self.policy.text
        pieces = [text[at : at + TEXT_MAX] for at in range(0, len(text), TEXT_MAX)]
        body: Body = {"policy": POLICY, "digest": self.policy.digest, "document": pieces}
        return body | ({} if self.digest_before is None else {"digest_before": self.digest_before})

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        policy = TrustPolicy.read("".join(body["document"]))
        if (body["policy"], body["digest"]) != (POLICY, policy.digest):
            raise InvalidValue("digest", body["digest"], f"{policy.digest}, the document's own")
        return cls(policy, body.get("digest_before"))


@dataclass(frozen=True, slots=True)
class NodeEnrolled(OfFleet):
    """A node's keys of one kind are known, and which machine they belong to."""

    kind: ClassVar = RecordKind.NODE_ENROLLED
    node: str
    evidence_kind: EvidenceKind
    identity: str
    keys: Pairs
    """By name, each in hexadecimal."""

    def body(self) -> Body:
        """All that was enrolled; the keys are public ones."""
        texts = [
            f"{name}={value[at : at + _CHUNK]}"
            for name, value in self.keys
            for at in range(0, len(value), _CHUNK)
        ]
        kind = self.evidence_kind.value
        return {"node": self.node, "evidence_kind": kind, "identity": self.identity, "keys": texts}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        keys: dict[str, str] = {}
        for text in body["keys"]:
            name, _, digits = text.partition("=")
            keys[name] = keys.get(name, "") + digits
        kind = EvidenceKind(body["evidence_kind"])
        return cls(body["node"], kind, body["identity"], paired(keys))


@dataclass(frozen=True, slots=True)
class NodeEnrolmentWithdrawn(OfFleet):
    """A node's keys of one kind count no more."""

    kind: ClassVar = RecordKind.NODE_ENROLMENT_WITHDRAWN
    node: str
    evidence_kind: EvidenceKind

    def body(self) -> Body:
        """The node and which keys."""
        return {"node": self.node, "evidence_kind": self.evidence_kind.value}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        return cls(body["node"], EvidenceKind(body["evidence_kind"]))


@dataclass(frozen=True, slots=True)
class AttestationVerdict(OfFleet):
    """What a verifier said of a node's evidence; or (``is_lapse``) that what it said is too old."""

    kind: ClassVar = RecordKind.ATTESTATION_VERDICT
    node: str
    evidence_kind: EvidenceKind
    verdict: AttestationWord
    evidence: str
    reason: UntrustedReason | None = None
    valid_until_ms: int | None = None
    claims: Pairs = ()
    is_lapse: bool = False

    def body(self) -> Body:
        """The verdict, and by what evidence."""
        body: Body = {"node": self.node, "evidence_kind": self.evidence_kind.value}
        body |= {"verdict": self.verdict.value, "evidence": self.evidence}
        if self.reason is not None:
            body["reason"] = self.reason.value
        if self.valid_until_ms is not None:
            body["valid_until_ms"] = self.valid_until_ms
        if self.claims:
            body["claims"] = [f"{name}={value}" for name, value in self.claims]
        return body | ({"lapsed": 1} if self.is_lapse else {})

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        reason = body.get("reason")
        claims = (text.partition("=")[::2] for text in body.get("claims", ()))
        return cls(
            body["node"],
            EvidenceKind(body["evidence_kind"]),
            AttestationWord(body["verdict"]),
            body["evidence"],
            None if reason is None else UntrustedReason(reason),
            body.get("valid_until_ms"),
            tuple(claims),
            bool(body.get("lapsed", 0)),
        )


@dataclass(frozen=True, slots=True)
class NodeQuarantined(OfFleet):
    """A node is closed because it is not trusted; by what evidence, if evidence showed it.

    ``is_kept``: it had departed in quarantine, and is there again.
    """

    kind: ClassVar = RecordKind.NODE_QUARANTINED
    node: str
    reason: str
    evidence: str | None = None
    is_kept: bool = False

    def body(self) -> Body:
        """The node and why."""
        body: Body = {"node": str(self.node), "reason": self.reason}
        if self.evidence is not None:
            body["evidence"] = self.evidence
        return body | ({"note": KEPT} if self.is_kept else {})

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        return cls(body["node"], body["reason"], body.get("evidence"), body.get("note") == KEPT)


@dataclass(frozen=True, slots=True)
class NodeQuarantineLifted(OfFleet):
    """A node is trusted again: by evidence, or (``is_override``) because somebody answers for it.

    After an override nothing counts that the node proved before; it stays gated until it attests.
    """

    kind: ClassVar = RecordKind.NODE_QUARANTINE_LIFTED
    node: str
    evidence: str | None = None
    note: str = ""
    is_override: bool = False

    def body(self) -> Body:
        """The node, and by what right."""
        body: Body = {"node": str(self.node)}
        if self.evidence is not None:
            body["evidence"] = self.evidence
        if self.note:
            body["note"] = self.note
        return body | ({"override": 1} if self.is_override else {})

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        more = body.get("evidence"), body.get("note", ""), bool(body.get("override", 0))
        return cls(body["node"], *more)


@dataclass(frozen=True, slots=True)
class TokenIssued:
    """A token for a lease may be minted, with this and nothing more in it."""

    kind: ClassVar = RecordKind.TOKEN_ISSUED
    owner: Owner
    token_id: str
    lease_id: int
    generation: int
    audience: str
    operations: tuple[Operation, ...]
    expires_ms: int
    by_node: bool = False

    def body(self) -> Body:
        """What the token says; never the token."""
        body: Body = {"token_id": self.token_id, "lease_id": self.lease_id}
        body |= {"generation": self.generation, "expires_ms": self.expires_ms}
        return body | _told(self)

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        values = {name: body[name] for name in ("token_id", "lease_id", "generation", "expires_ms")}
        return cls(owner, audience=body["audience"], **values, **_asked(body))


@dataclass(frozen=True, slots=True)
class TokenRefused:
    """A token was asked for and may not be. Whose the lease is, only its owner is told."""

    kind: ClassVar = RecordKind.TOKEN_REFUSED
    owner: Owner
    reason: MintDenial
    token_id: str
    lease_id: int
    generation: int | None
    audience: str | None
    operations: tuple[Operation, ...]
    by_node: bool = False

    def body(self) -> Body:
        """What was asked for, and the first thing that spoke against it."""
        body: Body = {"reason": self.reason.value, "token_id": self.token_id}
        body["lease_id"] = self.lease_id
        if self.generation is not None:
            body["generation"] = self.generation
        return body | _told(self)

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        return cls(
            owner,
            MintDenial(body["reason"]),
            body["token_id"],
            body["lease_id"],
            body.get("generation"),
            body.get("audience"),
            **_asked(body),
        )


def _told(event: TokenIssued | TokenRefused) -> Body:
    body: Body = {} if event.audience is None else {"audience": event.audience}
    body["operations"] = [operation.value for operation in event.operations]
    return body | ({"by_node": 1} if event.by_node else {})


def _asked(body: Fields) -> dict[str, Any]:
    operations = tuple(Operation(word) for word in body["operations"])
    return {"operations": operations, "by_node": bool(body.get("by_node", 0))}


def paired(values: Mapping[str, str] | Iterable[tuple[str, str]]) -> Pairs:
    """Names and values in the one order that records have."""
    return tuple(sorted(dict(values).items()))


TokenEvent: TypeAlias = TokenIssued | TokenRefused
TrustEvent: TypeAlias = (
    PolicyChanged
    | NodeEnrolled
    | NodeEnrolmentWithdrawn
    | AttestationVerdict
    | NodeQuarantined
    | NodeQuarantineLifted
    | TokenEvent
)
