"""Evidence of the simplest kind: a statement about a node, signed with the key it enrolled with.

Rules:

- The statement names its purpose, the node, the gate's nonce and the firmware digest, each framed
  by its length: a signature made for anything else, or for another node, is no attestation.
- The signature is checked before the statement is read, and the statement has one spelling.
- A key of small order proves nothing, whoever allowed it. It is refused when it is enrolled, when a
  policy lists it, and at each use.
- The key that counts is the one that the node enrolled, and it must still be an allowed one.

>>> enrolment_statement("n1", b"nonce")
b'bailiwick-enrol-v1\\x00\\x00\\x00\\x00\\x02n1\\x00\\x00\\x00\\x05nonce'
>>> check_public_key(bytes(32))
Traceback (most recent call last):
...
bailiwick.attestation.verdict.EvidenceError: weak_key: an Ed25519 key of small order
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import ClassVar, Self

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from bailiwick.attestation.evidence import Evidence, EvidenceContext
from bailiwick.attestation.policy_section import Section
from bailiwick.attestation.verdict import EvidenceError, Trusted, Verdict, judged, refuse
from bailiwick.vocab.ed25519_points import KEY_BYTES, PRIME, is_small_order, y_of
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import EvidenceKind, UntrustedReason
from bailiwick.vocab.values import check_name

SIGNATURE_BYTES = 64
FIRMWARE_BYTES = 32
_ATTEST = b"bailiwick-attest-v1\0"
_ENROL = b"bailiwick-enrol-v1\0"


@dataclass(frozen=True, slots=True)
class Ed25519Verifier:
    """Judges signed statements.

    Parts: ``statement`` and ``signature`` (64 bytes). Enrolled: ``public_key`` (32 bytes).
    Policy: ``keys``, the public keys that may enrol and attest, and ``firmware``, the SHA-256
    digests that a node may state; both lists of hexadecimal texts, neither of them empty.
    Claims: ``firmware`` and ``key``, each cut to 32 digits.
    """

    kind: ClassVar[EvidenceKind] = EvidenceKind.ED25519
    keys: frozenset[bytes]
    firmware: frozenset[bytes]
    max_age_ms: int

    @classmethod
    def from_policy(cls, section: Section, *, max_age_ms: int) -> Self:
        """The verifier that a section of the operator's policy describes."""
        keys = section.digests("keys", KEY_BYTES)
        firmware = section.digests("firmware", FIRMWARE_BYTES)
        section.done()
        if not keys:
            raise InvalidValue(f"{section.where}.keys", "nothing", "at least one public key")
        if not firmware:
            raise InvalidValue(f"{section.where}.firmware", "nothing", "at least one digest")
        for key in sorted(keys):
            try:
                check_public_key(key)
            except EvidenceError as error:
                fault = f"a sound public key ({error.where})"
                raise InvalidValue(f"{section.where}.keys", key.hex(), fault) from None
        return cls(keys, firmware, max_age_ms)

    def check_enrolment(self, public_key: bytes) -> None:
        """Refuse a key that no node may enrol with: a weak one, or one that is not allowed."""
        check_public_key(public_key)
        if public_key not in self.keys:
            raise refuse(UntrustedReason.NOT_ENROLLED, "the policy does not list this key")

    @judged
    def verify(self, evidence: Evidence, asked: EvidenceContext) -> Verdict:
        """Trusted if the enrolled key signed just what was asked, on an allowed firmware."""
        evidence.only("statement", "signature")
        statement, signature = evidence.part("statement"), evidence.part("signature")
        public_key = asked.key("public_key")
        self.check_enrolment(public_key)
        check_signature(public_key, statement, signature=signature)
        firmware = _firmware_of(statement, asked)
        if firmware not in self.firmware:
            raise refuse(UntrustedReason.FIRMWARE, f"firmware {firmware.hex()} is not allowed")
        claims = {"firmware": firmware.hex()[:32], "key": public_key.hex()[:32]}
        return Trusted(claims, asked.at_ms + self.max_age_ms)


def check_public_key(public_key: bytes) -> None:
    """Refuse what is no key, is not written canonically, or proves nothing."""
    if len(public_key) != KEY_BYTES:
        raise refuse(UntrustedReason.MALFORMED, f"a public key of {len(public_key)} bytes")
    if is_small_order(public_key):
        raise refuse(UntrustedReason.WEAK_KEY, "an Ed25519 key of small order")
    if y_of(public_key) >= PRIME:
        raise refuse(UntrustedReason.MALFORMED, "a public key that is not written canonically")


def check_signature(public_key: bytes, message: bytes, *, signature: bytes) -> None:
    """Refuse a weak key, and a signature that is not the key's over the message."""
    check_public_key(public_key)
    if len(signature) != SIGNATURE_BYTES:
        raise refuse(UntrustedReason.MALFORMED, f"a signature of {len(signature)} bytes")
    try:
        # The library also refuses a signature whose S is not below the order of the group.
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except InvalidSignature:
        raise refuse(UntrustedReason.BAD_SIGNATURE, "the key did not sign this") from None


def statement_of(node: str, nonce: bytes, *, firmware: bytes) -> bytes:
    """What a node signs to attest: purpose, its name, the gate's nonce, its firmware's SHA-256."""
    if len(firmware) != FIRMWARE_BYTES:
        raise InvalidValue("firmware", firmware, f"{FIRMWARE_BYTES} bytes")
    return _begun(_ATTEST, node, nonce) + _framed(firmware)


def enrolment_statement(node: str, nonce: bytes) -> bytes:
    """What a node signs to enrol: that it holds the key, under which name, now."""
    return _begun(_ENROL, node, nonce)


def _firmware_of(statement: bytes, asked: EvidenceContext) -> bytes:
    """The firmware that the statement names, if it is one for this node and this nonce."""
    if not statement.startswith(_ATTEST):
        raise refuse(UntrustedReason.MALFORMED, "a statement for another purpose")
    node, rest = _unframed(statement[len(_ATTEST) :], "node")
    nonce, rest = _unframed(rest, "nonce")
    firmware, rest = _unframed(rest, "firmware")
    if rest or len(firmware) != FIRMWARE_BYTES:
        raise refuse(UntrustedReason.MALFORMED, "statement: more or less than one firmware digest")
    if node != asked.node.encode():
        raise refuse(UntrustedReason.IDENTITY_MISMATCH, f"the statement is not about {asked.node}")
    if not hmac.compare_digest(nonce, asked.nonce):
        raise refuse(UntrustedReason.NONCE_MISMATCH, "the statement has another nonce")
    return firmware


def _begun(purpose: bytes, node: str, nonce: bytes) -> bytes:
    return purpose + _framed(check_name("node", node).encode()) + _framed(nonce)


def _framed(value: bytes) -> bytes:
    return len(value).to_bytes(4, "big") + value


def _unframed(raw: bytes, what: str) -> tuple[bytes, bytes]:
    end = 4 + int.from_bytes(raw[:4], "big")
    if len(raw) < max(4, end):
        raise refuse(UntrustedReason.MALFORMED, f"statement: {what} does not fit")
    return raw[4:end], raw[end:]
