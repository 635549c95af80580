"""Is this quote of an Intel TDX guest genuine, and of a guest that the policy allows?

By signature and chain only, and its claims say so (``assurance``: ``signature_chain``). Whether the
platform is up to date, whether a key was revoked and which version the quoting enclave has is *not*
judged: that needs Intel's service.

Rules, in this order:

- Quotes of version 4 and 5, of TDX 1.0 or 1.5, signed with P-256; every length must fit. Bytes
  after the quote are not the quote's (drivers hand out whole buffers): nothing reads them.
- The platform's certificate leads to a pinned root and its key signed the quoting enclave's report.
- That enclave is one of Intel's (by its signer: whoever owns a machine can run enclaves of their
  own), is not under debug, and its report names the attestation key.
- The attestation key signed the quote; the report data is the nonce, filled up with zeros.
- The TDX module under the guest is Intel's own, as its signer and attributes (all zero) tell.
- A guest under debug is refused unless allowed. Then its measurement.

>>> TdxVerifier.kind.value
'tdx'
"""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from hmac import compare_digest
from typing import ClassVar, Self

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

from bailiwick.attestation.evidence import Evidence, EvidenceContext
from bailiwick.attestation.formats.certificates import (
    PathRules,
    check_leaf,
    pinned_certificates,
    read_certificates,
    walk,
)
from bailiwick.attestation.formats.little_endian import Cursor
from bailiwick.attestation.policy_section import Section
from bailiwick.attestation.verdict import EvidenceError, Trusted, Verdict, judged, refuse
from bailiwick.vocab.trust import EvidenceKind, UntrustedReason

QUOTE_BYTES_MAX = 64 * 1024
REPORT_DATA_BYTES = 64
MRTD_BYTES = 48
INTEL_QE_SIGNER = bytes.fromhex("dc9e2a7c6f948f17474e34a7fc43ed030f7c1563f1babddf6340c82e0e54a8c5")
"""The signer (MRSIGNER) of Intel's quoting enclaves."""

_HEADER_BYTES = 48
_BODY_BYTES = {2: 584, 3: 648}
"""The guest's report by its type: TDX 1.0 and 1.5."""

_ECDSA_P256, _TDX = 2, 0x81
_QE_REPORT_BYTES = 384
_QE_CERTIFIED, _PCK_CHAIN = 6, 5
"""Kinds of certification data: a quoting enclave's report, and in it a chain in PEM."""

_SGX_DEBUG = 0b10


@dataclass(frozen=True, slots=True)
class TdxQuote:
    """What the quote holds; the quoting enclave is QE for short."""

    body: bytes
    signed: bytes
    signature: bytes
    attestation_key: bytes
    qe_report: bytes
    qe_signature: bytes
    qe_auth_data: bytes
    certificates: bytes

    @property
    def report_data(self) -> bytes:
        """What the guest had put in."""
        return self.body[520:584]

    @property
    def mrtd(self) -> bytes:
        """The measurement of the guest as it was started."""
        return self.body[136:184]

    @property
    def is_of_intels_module(self) -> bool:
        """Whether signer and attributes of the TDX module are zero, as they are of Intel's."""
        return not any(self.body[64:120])

    @property
    def is_debug(self) -> bool:
        """Whether any bit of the attributes' first byte is set: a guest under debug."""
        return self.body[120] != 0


def read_quote(raw: bytes) -> TdxQuote:
    """The quote at the beginning of the bytes."""
    if len(raw) > QUOTE_BYTES_MAX:
        raise _malformed(f"{len(raw)} bytes are too many")
    cursor = Cursor(raw, "TDX quote")
    version, key_type, tee = cursor.number(2), cursor.number(2), cursor.number(4)
    cursor.take(_HEADER_BYTES - cursor.at)
    if version not in (4, 5) or key_type != _ECDSA_P256 or tee != _TDX:
        raise _malformed(f"version {version}, key type {key_type}, environment {tee:#x}")
    body_type, size = (2, _BODY_BYTES[2]) if version == 4 else (cursor.number(2), cursor.number(4))
    if size != _BODY_BYTES.get(body_type):
        raise _malformed(f"a body of type {body_type} and {size} bytes")
    body, signed = cursor.take(size), raw[: cursor.at]
    inside = Cursor(cursor.take(cursor.number(4)), "TDX signature")
    signature, key = inside.take(64), inside.take(64)
    certified = _certification(inside, _QE_CERTIFIED)
    qe_report, qe_signature = certified.take(_QE_REPORT_BYTES), certified.take(64)
    auth_data = certified.take(certified.number(2))
    return TdxQuote(
        body=body,
        signed=signed,
        signature=signature,
        attestation_key=key,
        qe_report=qe_report,
        qe_signature=qe_signature,
        qe_auth_data=auth_data,
        certificates=_certification(certified, _PCK_CHAIN).raw,
    )


def _certification(outer: Cursor, kind: int) -> Cursor:
    """The data of that kind, which must be the rest."""
    found = outer.number(2)
    if found != kind:
        raise _malformed(f"certification data of kind {found} where {kind} was due")
    inside = Cursor(outer.take(outer.number(4)), f"TDX certification data {kind}")
    outer.done()
    return inside


@dataclass(frozen=True, slots=True, kw_only=True)
class TdxVerifier:
    """Judges quotes of TDX guests by signature and chain.

    The part of its evidence: ``quote``. It wants no enrolled key. Policy: ``roots`` (Intel's SGX
    root, PEM), ``mrtds`` (allowed measurements; none = any), ``qe_signers`` (Intel's unless given),
    ``allow_debug``. In code, no ``qe_signers`` at all means that the enclave is not judged.
    """

    kind: ClassVar[EvidenceKind] = EvidenceKind.TDX
    roots: tuple[x509.Certificate, ...] = field(repr=False)
    max_age_ms: int
    mrtds: frozenset[bytes] = frozenset()
    qe_signers: frozenset[bytes] = frozenset()
    allow_debug: bool = False

    @classmethod
    def from_policy(cls, section: Section, *, max_age_ms: int) -> Self:
        """The verifier that a policy's section describes."""
        verifier = cls(
            roots=pinned_certificates(f"{section.where}.roots", section.texts("roots")),
            max_age_ms=max_age_ms,
            mrtds=section.digests("mrtds", MRTD_BYTES),
            qe_signers=section.digests("qe_signers", 32) or frozenset({INTEL_QE_SIGNER}),
            allow_debug=section.flag("allow_debug", default=False),
        )
        section.done()
        return verifier

    @judged
    def verify(self, evidence: Evidence, asked: EvidenceContext) -> Verdict:
        """The verdict on one guest."""
        evidence.only("quote")
        quote = read_quote(evidence.part("quote"))
        bundle = read_certificates(quote.certificates.rstrip(b"\0"), reason=UntrustedReason.CHAIN)
        if not bundle:
            raise refuse(UntrustedReason.CHAIN, "no certificate")
        check_leaf(bundle[0], rules=PathRules())
        path = walk(bundle[0], bundle[1:], pinned=self.roots, at_ms=asked.at_ms, rules=PathRules())
        self._check_enclave(bundle[0].public_key(), quote)
        _check_signature(
            _point(quote.attestation_key), quote.signature, quote.signed, what="the quote"
        )
        expected = asked.nonce.ljust(REPORT_DATA_BYTES, b"\0")
        if not compare_digest(quote.report_data, expected):
            raise refuse(UntrustedReason.REPORT_DATA_MISMATCH, "report_data is not the nonce")
        if not quote.is_of_intels_module:
            raise refuse(UntrustedReason.MEASUREMENT_MISMATCH, "a TDX module that is not Intel's")
        if quote.is_debug and not self.allow_debug:
            raise refuse(UntrustedReason.DEBUG, "the guest is under debug")
        if self.mrtds and quote.mrtd not in self.mrtds:
            raise refuse(UntrustedReason.MEASUREMENT_MISMATCH, f"MRTD {quote.mrtd.hex()}")
        claims = {
            "assurance": "signature_chain",
            "mrtd": quote.mrtd.hex()[:32],
            "debug": "yes" if quote.is_debug else "no",
            "tdx": "1.0" if len(quote.body) == _BODY_BYTES[2] else "1.5",
        }
        return Trusted(claims, min(asked.at_ms + self.max_age_ms, path.valid_until_ms))

    def _check_enclave(self, key: object, quote: TdxQuote) -> None:
        report = quote.qe_report
        _check_signature(key, quote.qe_signature, report, what="the quoting enclave's report")
        bound = sha256(quote.attestation_key + quote.qe_auth_data).digest().ljust(64, b"\0")
        if not compare_digest(report[320:384], bound):
            raise refuse(UntrustedReason.BAD_SIGNATURE, "the enclave vouches for another key")
        if report[48] & _SGX_DEBUG:
            raise refuse(UntrustedReason.DEBUG, "the quoting enclave is under debug")
        if self.qe_signers and report[128:160] not in self.qe_signers:
            told = f"a quoting enclave signed by {report[128:160].hex()}"
            raise refuse(UntrustedReason.MEASUREMENT_MISMATCH, told)


def _point(raw: bytes) -> ec.EllipticCurvePublicKey:
    try:
        return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), b"\x04" + raw)
    except ValueError:
        where = "the attestation key is no point of P-256"
        raise refuse(UntrustedReason.KEY_OR_SIGNATURE_SHAPE, where) from None


def _check_signature(key: object, signature: bytes, signed: bytes, *, what: str) -> None:
    if not isinstance(key, ec.EllipticCurvePublicKey) or not isinstance(key.curve, ec.SECP256R1):
        raise refuse(UntrustedReason.KEY_OR_SIGNATURE_SHAPE, f"the key of {what}")
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
    try:
        key.verify(encode_dss_signature(r, s), signed, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        raise refuse(UntrustedReason.BAD_SIGNATURE, what) from None


def _malformed(where: str) -> EvidenceError:
    return refuse(UntrustedReason.MALFORMED, f"TDX: {where}")
