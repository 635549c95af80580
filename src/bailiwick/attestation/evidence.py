"""One piece of evidence: a kind and named byte strings; and what a verifier is asked about it.

Rules:

- Every part is bytes; its verifier knows the names and reads them strictly. Sizes are bounded here,
  before anything is parsed.
- The digest covers the kind and every part, each with its length: what is sealed in the journal
  and what a companion's nonce is bound to.
- Evidence of several kinds is one bundle. A piece may be bound to another: see :func:`bound_nonce`.

>>> Evidence(EvidenceKind.ED25519, {"statement": b"a", "signature": b"b"}).digest[:16]
'd3b0b8ebe64d9c61'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from types import MappingProxyType
from typing import Protocol

from bailiwick.attestation.verdict import Verdict, refuse
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import EvidenceKind, UntrustedReason
from bailiwick.vocab.values import check_amount, check_kind, check_name

PART_BYTES_MAX = 512 * 1024
"""One part: an event log of a real machine has some 100 KB."""

PARTS_MAX = 16
PIECES_MAX = 33
"""Pieces in one bundle: the node's own, and up to 16 GPUs and 16 switches."""

NONCE_BYTES = 32
_DOMAIN = b"bailiwick-evidence-v1\0"
_BOUND = b"bailiwick-bound-nonce-v1\0"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a node sent to be judged."""

    kind: EvidenceKind
    parts: Mapping[str, bytes] = field(repr=False)

    def __post_init__(self) -> None:
        check_kind("kind", self.kind, EvidenceKind)
        object.__setattr__(self, "parts", checked_parts(self.parts))

    @property
    def digest(self) -> str:
        """SHA-256 over the kind and all parts, in hexadecimal."""
        whole = sha256(_DOMAIN + _framed(self.kind.value.encode()))
        for name in sorted(self.parts):
            whole.update(_framed(name.encode()) + _framed(self.parts[name]))
        return whole.hexdigest()

    def part(self, name: str) -> bytes:
        """That part, or the verdict that it is missing."""
        if name not in self.parts:
            raise refuse(UntrustedReason.MISSING_FIELD, f"{self.kind}: part {name}")
        return self.parts[name]

    def only(self, *names: str) -> None:
        """Refuse parts that the verifier would not look at."""
        for name in self.parts:
            if name not in names:
                raise refuse(UntrustedReason.MALFORMED, f"{self.kind}: unknown part {name}")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceContext:
    """What the gate knows when it asks: for whom, when, and which keys the node enrolled."""

    node: str
    nonce: bytes
    at_ms: int
    enrolled: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    """Keys of this kind that the node enrolled with, by name; empty if it did not."""
    previous: Mapping[str, str] = field(default_factory=dict)
    """Claims of the last verdict that still counts, of this kind."""

    def __post_init__(self) -> None:
        check_name("node", self.node)
        check_amount("at_ms", self.at_ms)
        if not isinstance(self.nonce, bytes) or not 1 <= len(self.nonce) <= 64:
            raise InvalidValue("nonce", self.nonce, "1 to 64 bytes")

    def key(self, name: str) -> bytes:
        """That enrolled key, or the verdict that the node has none."""
        if name not in self.enrolled:
            raise refuse(UntrustedReason.NOT_ENROLLED, f"no enrolled {name} of {self.node}")
        return self.enrolled[name]


class EvidenceVerifier(Protocol):
    """Judges one kind of evidence by one policy. It holds trust anchors, never a node's key."""

    @property
    def kind(self) -> EvidenceKind:
        """The kind it judges."""

    def verify(self, evidence: Evidence, asked: EvidenceContext) -> Verdict:
        """The verdict; never an exception, whatever the bytes."""


def bound_nonce(nonce: bytes, digests: Sequence[str]) -> bytes:
    """What a piece signs in place of the nonce when it vouches for others.

    A node's quote signs this over the digests of the GPU reports sent with it; a report of another
    host's GPU is then no companion of this node's quote. With no companions it is the nonce itself.
    """
    if not digests:
        return nonce
    whole = sha256(_BOUND + _framed(nonce))
    for digest in sorted(digests):
        whole.update(_framed(bytes.fromhex(digest)))
    return whole.digest()


def device_nonce(nonce: bytes, identity: bytes) -> bytes:
    """The nonce that a GPU is asked with: the gate's, and by which host's key it is asked.

    ``identity`` is the name of the node's attestation key (TPM) or its public key (Ed25519).
    """
    return sha256(b"bailiwick-device-nonce-v1\0" + _framed(nonce) + _framed(identity)).digest()


def checked_parts(parts: object) -> Mapping[str, bytes]:
    """The parts, read-only, if their number, names and sizes are within bounds."""
    if not isinstance(parts, Mapping) or not 1 <= len(parts) <= PARTS_MAX:
        raise InvalidValue("parts", type(parts).__name__, f"1 to {PARTS_MAX} named byte strings")
    for name, value in parts.items():
        check_name("part", name)
        if not isinstance(value, bytes) or len(value) > PART_BYTES_MAX:
            raise InvalidValue(f"parts.{name}", value, f"at most {PART_BYTES_MAX} bytes")
    return MappingProxyType(dict(parts))


def _framed(value: bytes) -> bytes:
    return len(value).to_bytes(8, "big") + value
