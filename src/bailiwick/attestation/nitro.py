"""Evidence of an AWS Nitro enclave: a signed document, and the certificates that it brings along.

Rules, in the order they are checked:

- A COSE_Sign1 without tag whose protected header says ES384 and nothing else, no other header; the
  payload has every field, each of its type and size. Fields beyond those are not looked at.
- The leaf's key is on P-384 and the signature has 96 bytes.
- The chain ends at a pinned root. The first certificate of the bundle calls itself the root: it is
  passed over, unless its digest is a pinned one.
- Every certificate is valid at the given time, the leaf is no CA, and the document is dated within
  the leaf's life and not in the future.
- Then the signature, the nonce in constant time, debug mode (registers 0, 1 and 2 all zero), and
  the registers that the policy names.

A leaf lives three hours, so this evidence is never good for longer.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, ClassVar, Self

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

from bailiwick.attestation.evidence import Evidence, EvidenceContext
from bailiwick.attestation.formats.cbor import Sign1, read_map, read_sign1
from bailiwick.attestation.formats.certificates import (
    BUNDLE_MAX,
    Path,
    PathRules,
    check_leaf,
    pinned_certificates,
    read_certificate,
    walk,
    window_of,
)
from bailiwick.attestation.policy_section import Section
from bailiwick.attestation.verdict import EvidenceError, Trusted, Verdict, judged, refuse
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import EvidenceKind, UntrustedReason
from bailiwick.vocab.values import AMOUNT_MAX, check_name

SIGNATURE_BYTES = 96
PCR_BYTES = 48
PCRS_MAX = 32
SKEW_MS = 300_000
"""By how much an enclave's clock may be ahead of the gate's."""

_HEADER = {1: -35}
"""The algorithm, ES384."""
_MEASURED = (0, 1, 2)
"""The registers of image, kernel and application; zero only in debug mode."""
_REQUIRED = ("module_id", "digest", "timestamp", "pcrs", "certificate", "cabundle")
_OPTIONAL = {"public_key": 1024, "user_data": 512, "nonce": 512}
_CERTIFICATE_BYTES_MAX = 1024


@dataclass(frozen=True, slots=True)
class Document:
    """What a document says; believed only as far as it was checked."""

    module_id: str
    timestamp_ms: int
    pcrs: Mapping[int, bytes]
    certificate: bytes
    cabundle: Sequence[bytes]
    nonce: bytes | None

    @property
    def is_debug(self) -> bool:
        """Whether the enclave ran in debug mode, where nothing is measured."""
        return not any(any(self.pcrs[each]) for each in _MEASURED)


@dataclass(frozen=True, slots=True, kw_only=True)
class NitroVerifier:
    """Judges Nitro documents.

    Parts: ``document``. Enrolled: nothing; to hold a document to one instance, pin register 4.
    Policy: ``roots``, certificates in PEM, or ``root_sha256``, digests of root certificates that
    the document then has to bring (at least one of the two); ``pcrs``, for each register the list
    of allowed values (at least one register); ``allow_debug``, false unless it is given.
    Claims: ``pcr0``, ``pcr1``, ``pcr2`` cut to 32 digits; ``module``; ``debug`` if it is.
    """

    kind: ClassVar[EvidenceKind] = EvidenceKind.NITRO
    roots: tuple[x509.Certificate, ...] = ()
    root_digests: frozenset[bytes] = frozenset()
    pcrs: Mapping[int, frozenset[bytes]]
    allow_debug: bool = False
    max_age_ms: int

    @classmethod
    def from_policy(cls, section: Section, *, max_age_ms: int) -> Self:
        """The verifier that a section of the operator's policy describes."""
        digests = section.digests("root_sha256", 32)
        texts = section.texts("roots")
        if not texts and not digests:
            expected = "at least one root here or in root_sha256"
            raise InvalidValue(f"{section.where}.roots", "nothing", expected)
        roots = pinned_certificates(f"{section.where}.roots", texts) if texts else ()
        pcrs = _policy_pcrs(section.section("pcrs"))
        allow_debug = section.flag("allow_debug", default=False)
        section.done()
        return cls(
            roots=roots,
            root_digests=digests,
            pcrs=pcrs,
            allow_debug=allow_debug,
            max_age_ms=max_age_ms,
        )

    @judged
    def verify(self, evidence: Evidence, asked: EvidenceContext) -> Verdict:
        """Trusted if the document is genuine, answers the nonce and shows allowed registers."""
        evidence.only("document")
        return self.verify_document(evidence.part("document"), nonce=asked.nonce, at_ms=asked.at_ms)

    def verify_document(self, raw: bytes, *, nonce: bytes | None, at_ms: int) -> Verdict:
        """The same of a document alone; a nonce of None is one that nobody asked for."""
        signed = read_sign1(raw, tagged=False)
        document = read_document(signed)
        path = self._check_signed(signed, document, at_ms)
        # An empty nonce asks for nothing, so no document answers it.
        if nonce is not None and not (nonce and hmac.compare_digest(document.nonce or b"", nonce)):
            raise refuse(UntrustedReason.NONCE_MISMATCH, "the document has another nonce")
        if document.is_debug and not self.allow_debug:
            raise refuse(UntrustedReason.DEBUG_MODE, "registers 0, 1 and 2 are zero")
        for index, allowed in self.pcrs.items():
            if document.pcrs.get(index) not in allowed:
                raise refuse(UntrustedReason.PCR_POLICY, f"register {index}")
        until_ms = min(at_ms + self.max_age_ms, path.valid_until_ms)
        return Trusted(_claims(document), until_ms)

    def _check_signed(self, signed: Sign1, document: Document, at_ms: int) -> Path:
        leaf = read_certificate(document.certificate)
        key = leaf.public_key()
        if not isinstance(key, ec.EllipticCurvePublicKey) or not isinstance(
            key.curve, ec.SECP384R1
        ):
            raise refuse(UntrustedReason.KEY_OR_SIGNATURE_SHAPE, "the leaf's key is not on P-384")
        if len(signed.signature) != SIGNATURE_BYTES:
            where = f"a signature of {len(signed.signature)} bytes"
            raise refuse(UntrustedReason.KEY_OR_SIGNATURE_SHAPE, where)
        path = self._walk(leaf, document, at_ms)
        r, s = (int.from_bytes(half, "big") for half in _halves(signed.signature))
        try:
            key.verify(encode_dss_signature(r, s), signed.to_be_signed, ec.ECDSA(hashes.SHA384()))
        except InvalidSignature:
            raise refuse(UntrustedReason.BAD_SIGNATURE, "the leaf did not sign this") from None
        return path

    def _walk(self, leaf: x509.Certificate, document: Document, at_ms: int) -> Path:
        rules = PathRules()
        bundle = [read_certificate(each) for each in document.cabundle]
        pinned = [each for each in bundle if sha256(_der(each)).digest() in self.root_digests]
        path = walk(leaf, bundle[1:], pinned=(*self.roots, *pinned), at_ms=at_ms, rules=rules)
        check_leaf(leaf, rules=rules)
        begins, ends = window_of(leaf, reason=rules.reason)
        if not begins - SKEW_MS <= document.timestamp_ms <= min(ends, at_ms) + SKEW_MS:
            raise refuse(rules.reason, "the document is dated outside its certificate's life")
        return path


def read_document(signed: Sign1) -> Document:
    """The document that the COSE_Sign1 carries; nothing of it is believed yet."""
    if signed.protected_map != _HEADER or signed.unprotected:
        raise _malformed("headers other than the algorithm ES384")
    payload = read_map(signed.payload)
    for name in _REQUIRED:
        if payload.get(name) is None:
            raise refuse(UntrustedReason.MISSING_FIELD, f"document: {name}")
    module_id, timestamp = payload["module_id"], payload["timestamp"]
    if not isinstance(module_id, str) or not 1 <= len(module_id) <= 256:
        raise _malformed("module_id is a text of 1 to 256 characters")
    if payload["digest"] != "SHA384":
        raise _malformed("digest is SHA384")
    if type(timestamp) is not int or not 0 < timestamp <= AMOUNT_MAX:
        raise _malformed("timestamp is milliseconds since 1970")
    cabundle = payload["cabundle"]
    if not isinstance(cabundle, list) or len(cabundle) > BUNDLE_MAX:
        raise _malformed(f"cabundle is a list of at most {BUNDLE_MAX} certificates")
    for name, limit in _OPTIONAL.items():
        if payload.get(name) is not None:
            _bytes(name, payload[name], limit)
    return Document(
        module_id,
        timestamp,
        _read_pcrs(payload["pcrs"]),
        _bytes("certificate", payload["certificate"], _CERTIFICATE_BYTES_MAX),
        tuple(_bytes("cabundle", each, _CERTIFICATE_BYTES_MAX) for each in cabundle),
        payload.get("nonce"),
    )


def _read_pcrs(value: object) -> Mapping[int, bytes]:
    if not isinstance(value, dict) or len(value) > PCRS_MAX:
        raise _malformed(f"pcrs is a map of at most {PCRS_MAX}")
    for index, digest in value.items():
        if type(index) is not int or not 0 <= index < PCRS_MAX:
            raise _malformed(f"pcrs has no register {str(index)[:20]}")
        if not isinstance(digest, bytes) or len(digest) != PCR_BYTES:
            raise _malformed(f"register {index} is {PCR_BYTES} bytes")
    for index in _MEASURED:
        if index not in value:
            raise refuse(UntrustedReason.MISSING_FIELD, f"document: register {index}")
    return value


def _policy_pcrs(section: Section) -> Mapping[int, frozenset[bytes]]:
    found: dict[int, frozenset[bytes]] = {}
    for name in section.names():
        if name not in map(str, range(PCRS_MAX)):
            raise InvalidValue(section.where, name, f"registers 0 to {PCRS_MAX - 1}")
        found[int(name)] = section.digests(name, PCR_BYTES)
        if not found[int(name)]:
            raise InvalidValue(f"{section.where}.{name}", "nothing", "at least one value")
    if not found:
        raise InvalidValue(section.where, "nothing", "at least one register")
    return found


def _claims(document: Document) -> dict[str, str]:
    claims = {f"pcr{each}": document.pcrs[each].hex()[:32] for each in _MEASURED}
    if document.is_debug:
        claims["debug"] = "yes"
    # A text that can be no label is left out; nothing rests on it.
    with suppress(InvalidValue):
        claims["module"] = check_name("module", document.module_id)
    return claims


def _bytes(name: str, value: Any, limit: int) -> bytes:
    if not isinstance(value, bytes) or len(value) > limit:
        raise _malformed(f"{name} is at most {limit} bytes")
    return value


def _halves(signature: bytes) -> tuple[bytes, bytes]:
    middle = len(signature) // 2
    return signature[:middle], signature[middle:]


def _der(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.DER)


def _malformed(where: str) -> EvidenceError:
    return refuse(UntrustedReason.MALFORMED, f"document: {where}")
