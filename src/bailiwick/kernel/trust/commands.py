"""Commands about trust: what is asked of nodes, what was found, quarantines and lease tokens.

Rules:

- Evidence comes as its verdict and its digest: the kernel judges nothing and never sees the bytes.
- A token comes as its id. What it says, and whether it may be minted, the kernel decides.
- Only what could not be written down is refused here. A token that may not be is a denial, sealed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

from bailiwick.attestation.policy import TrustPolicy
from bailiwick.attestation.verdict import CLAIMS_MAX
from bailiwick.fleet.node import ATTESTED_PREFIX
from bailiwick.journal.fields import DIGEST, INTEGER_MAX, NAME, TEXT
from bailiwick.journal.record import encode_json
from bailiwick.journal.words import AttestationWord
from bailiwick.kernel.checks import check_grace
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import EvidenceKind, Operation, UntrustedReason
from bailiwick.vocab.values import check_integer, check_kind, check_name, check_unique

SEALED_BYTES_MAX = 60_000
"""Of a policy as a record writes it."""

KEYS_MAX = 16
"""Keys and certificates in one enrolment."""

KEYS_HEX_MAX = 32 * 1024
"""Hexadecimal digits of all of them together, so that the record can be written."""


@dataclass(frozen=True, slots=True)
class SetTrustPolicy:
    """Replace what is asked of nodes; every node is gated anew."""

    document: str

    def __post_init__(self) -> None:
        # One policy has one spelling, so that the same one set twice is the same command.
        text = TrustPolicy.read(self.document).text
        size = len(encode_json(text).encode())
        if size > SEALED_BYTES_MAX:
            expected = f"at most {SEALED_BYTES_MAX}, with quotes and line ends written out"
            raise InvalidValue("document", f"{size} bytes", expected)
        object.__setattr__(self, "document", text)


@dataclass(frozen=True, slots=True)
class EnrolNode:
    """These keys are this node's; ``identity`` is the digest of what cannot be copied with it."""

    node: str
    kind: EvidenceKind
    keys: Mapping[str, str] = field(repr=False)
    identity: str

    def __post_init__(self) -> None:
        check_name("node", self.node)
        check_kind("kind", self.kind, EvidenceKind)
        object.__setattr__(self, "keys", _checked_keys(self.keys))
        DIGEST.check("identity", self.identity)


@dataclass(frozen=True, slots=True)
class WithdrawEnrolment:
    """The node's keys of this kind count no more, nor what was proven with them."""

    node: str
    kind: EvidenceKind

    def __post_init__(self) -> None:
        check_name("node", self.node)
        check_kind("kind", self.kind, EvidenceKind)


@dataclass(frozen=True, slots=True)
class RecordVerdict:
    """What a verifier said of a node's evidence; ``evidence`` is the SHA-256 of that.

    ``basis`` is the digest of what it was judged by: if that is another by now, it is refused.
    """

    node: str
    kind: EvidenceKind
    verdict: AttestationWord
    evidence: str
    reason: UntrustedReason | None = None
    valid_until_ms: int | None = None
    claims: Mapping[str, str] = field(default_factory=dict)
    basis: str | None = None

    def __post_init__(self) -> None:
        check_name("node", self.node)
        check_kind("kind", self.kind, EvidenceKind)
        check_kind("verdict", self.verdict, AttestationWord)
        DIGEST.check("evidence", self.evidence)
        if self.basis is not None:
            DIGEST.check("basis", self.basis)
        if (self.reason is not None) != (self.verdict is AttestationWord.UNTRUSTED):
            raise InvalidValue("reason", self.reason, "a reason of untrusted evidence, of no other")
        if self.reason is not None:
            check_kind("reason", self.reason, UntrustedReason)
        is_trusted = self.verdict is AttestationWord.TRUSTED
        if is_trusted or self.valid_until_ms is not None:
            check_integer("valid_until_ms", self.valid_until_ms, low=0, high=INTEGER_MAX)
        object.__setattr__(self, "claims", _checked_claims(self.kind, self.claims))
        if self.claims and not is_trusted:
            raise InvalidValue("claims", dict(self.claims), "none unless the evidence is trusted")


@dataclass(frozen=True, slots=True)
class GrantToken:
    """May the tenant have a token for its lease? Answered with ``Issued`` or ``Denied``.

    ``audience`` is the node that is to accept it (the lease's own, if ``None``); ``by_node`` says
    that the node mints it with a key of its own.
    """

    lease_id: int
    tenant: str
    token_id: str
    operations: tuple[Operation, ...]
    audience: str | None
    ttl_ms: int
    generation: int | None = None
    by_node: bool = False

    def __post_init__(self) -> None:
        check_integer("lease_id", self.lease_id, low=1, high=INTEGER_MAX)
        check_name("tenant", self.tenant)
        NAME.check("token_id", self.token_id)
        if not isinstance(self.operations, list | tuple):
            raise InvalidValue("operations", self.operations, "a list of operations")
        for operation in self.operations:
            check_kind("operations", operation, Operation)
        object.__setattr__(self, "operations", check_unique("operations", self.operations))
        if self.audience is not None:
            check_name("audience", self.audience)
        check_integer("ttl_ms", self.ttl_ms, low=1, high=2**52)
        if self.generation is not None:
            check_integer("generation", self.generation, low=1, high=2**31)
        check_kind("by_node", self.by_node, bool)


@dataclass(frozen=True, slots=True)
class Quarantine:
    """A node is not trusted (any more): it is closed, and what runs there is evicted."""

    node: str
    reason: str
    grace_ms: int | None = None

    def __post_init__(self) -> None:
        check_name("node", self.node)
        NAME.check("reason", self.reason)
        check_grace(self.grace_ms)


@dataclass(frozen=True, slots=True)
class LiftQuarantine:
    """A node is trusted again; with ``override`` because an operator says so, and ``note`` why."""

    node: str
    override: bool = False
    note: str = ""

    def __post_init__(self) -> None:
        check_name("node", self.node)
        check_kind("override", self.override, bool)
        TEXT.check("note", self.note)
        if self.override and not self.note.strip():
            raise InvalidValue("note", self.note, "why the quarantine is lifted without evidence")


TrustCommand: TypeAlias = (
    SetTrustPolicy
    | EnrolNode
    | WithdrawEnrolment
    | RecordVerdict
    | GrantToken
    | Quarantine
    | LiftQuarantine
)


def label_key(kind: EvidenceKind, claim: str) -> str:
    """The node label that a claim becomes."""
    return f"{ATTESTED_PREFIX}{kind.value}.{claim}"


def _checked_claims(kind: EvidenceKind, claims: object) -> Mapping[str, str]:
    if not isinstance(claims, Mapping) or len(claims) > CLAIMS_MAX:
        raise InvalidValue("claims", claims, f"at most {CLAIMS_MAX} claims")
    for name, value in claims.items():
        check_name("claims key", name)
        check_name("claims key as a label", label_key(kind, name))
        check_name(f"claims[{name}]", value)
    return MappingProxyType(dict(claims))


def _checked_keys(keys: object) -> Mapping[str, str]:
    if not isinstance(keys, Mapping) or not 1 <= len(keys) <= KEYS_MAX:
        raise InvalidValue("keys", type(keys).__name__, f"1 to {KEYS_MAX} named keys")
    total = 0
    for name, value in keys.items():
        check_name("keys key", name)
        if not isinstance(value, str) or not _is_hex(value):
            raise InvalidValue(f"keys.{name}", value, "bytes in lower-case hexadecimal")
        total += len(value)
    if total > KEYS_HEX_MAX:
        raise InvalidValue("keys", f"{total} digits", f"at most {KEYS_HEX_MAX} in all")
    return MappingProxyType(dict(keys))


def _is_hex(value: str) -> bool:
    if not value or len(value) % 2 or len(value) > KEYS_HEX_MAX:
        return False
    return all(digit in "0123456789abcdef" for digit in value)
