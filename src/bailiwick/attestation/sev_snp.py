"""Is this report of an AMD SEV-SNP guest genuine, and of a guest that the policy allows?

By signature and chain only, and its claims say so (``assurance``: ``signature_chain``). Whether the
platform's firmware is new enough and whether a key was revoked is *not* judged: that needs AMD's
service.

Rules, in this order:

- The report has 1184 bytes, a version and a signature algorithm that are known here, and zeros
  where nothing is signed and nothing may stand.
- The signing certificate leads to a pinned root, and its key signed the report (r and s are
  written little-endian).
- That key is of the chip and of the firmware versions that the report states.
- The report's data is the nonce, filled up with zeros.
- A guest that may be debugged is refused unless allowed. Then privilege level and measurement.

>>> SevSnpVerifier.kind.value
'sev_snp'
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
from bailiwick.attestation.formats import der
from bailiwick.attestation.formats.certificates import (
    Path,
    PathRules,
    check_leaf,
    extension,
    pinned_certificates,
    read_certificate,
    read_certificates,
    walk,
)
from bailiwick.attestation.policy_section import Section
from bailiwick.attestation.verdict import EvidenceError, Trusted, Verdict, judged, refuse
from bailiwick.vocab.trust import EvidenceKind, UntrustedReason

REPORT_BYTES = 1184
SIGNED_BYTES = 0x2A0
REPORT_DATA_BYTES = 64
MEASUREMENT_BYTES = 48
VMPL_MAX = 3

_VERSIONS = range(2, 6)
_ECDSA_P384_SHA384 = 1
_VCEK, _VLEK = 0, 1
"""Who signs: the chip's own key, or one that its cloud provider loaded."""

_DEBUG = 1 << 19
_COMPONENT_BYTES = 72
_AMD = "1.3.6.1.4.1.3704.1."
_PRODUCT, _HARDWARE_ID = _AMD + "2", _AMD + "4"
_OLDER = {1: 0, 2: 1, 4: 2, 5: 3, 6: 4, 7: 5, 3: 6, 8: 7}
_TURIN = {9: 0, 1: 1, 2: 2, 3: 3, 8: 7}
"""Firmware versions: the number of the certificate's extension, and the byte in the report."""


@dataclass(frozen=True, slots=True)
class SnpReport:
    """What the report states."""

    guest_svn: int
    policy: int
    vmpl: int
    signing_key: int
    report_data: bytes
    measurement: bytes
    reported_tcb: bytes
    chip_id: bytes
    signed: bytes
    signature: tuple[int, int]

    @property
    def is_debug(self) -> bool:
        """Whether the host may read the guest's memory."""
        return bool(self.policy & _DEBUG)


def read_report(raw: bytes) -> SnpReport:
    """The report's fields, strictly."""
    if len(raw) != REPORT_BYTES:
        raise _malformed(f"{len(raw)} bytes; a report has {REPORT_BYTES}")
    version, algorithm = _number(raw, 0x00, 4), _number(raw, 0x34, 4)
    if version not in _VERSIONS or algorithm != _ECDSA_P384_SHA384:
        raise _malformed(f"version {version} with signature algorithm {algorithm}")
    if any(raw[SIGNED_BYTES + 2 * _COMPONENT_BYTES :]):
        raise _malformed("bytes after the signature")
    return SnpReport(
        guest_svn=_number(raw, 0x04, 4),
        policy=_number(raw, 0x08, 8),
        vmpl=_number(raw, 0x30, 4),
        signing_key=_number(raw, 0x48, 4) >> 2 & 0b111,
        report_data=raw[0x50:0x90],
        measurement=raw[0x90:0xC0],
        reported_tcb=raw[0x180:0x188],
        chip_id=raw[0x1A0:0x1E0],
        signed=raw[:SIGNED_BYTES],
        signature=(
            _number(raw, SIGNED_BYTES, _COMPONENT_BYTES),
            _number(raw, SIGNED_BYTES + _COMPONENT_BYTES, _COMPONENT_BYTES),
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SevSnpVerifier:
    """Judges reports of SEV-SNP guests by signature and chain.

    Parts of its evidence: ``report``, ``vcek`` (DER) and optionally ``certificates`` (AMD's
    intermediate, PEM). It wants no enrolled key. Policy: ``roots`` (AMD's ARK, PEM),
    ``intermediates`` (PEM, for nodes that send none), ``measurements`` (allowed launch digests;
    none = any), ``vmpl_max`` (0 unless given), ``allow_debug``.
    """

    kind: ClassVar[EvidenceKind] = EvidenceKind.SEV_SNP
    roots: tuple[x509.Certificate, ...] = field(repr=False)
    max_age_ms: int
    intermediates: tuple[x509.Certificate, ...] = field(default=(), repr=False)
    measurements: frozenset[bytes] = frozenset()
    vmpl_max: int = 0
    allow_debug: bool = False

    @classmethod
    def from_policy(cls, section: Section, *, max_age_ms: int) -> Self:
        """The verifier that a policy's section describes."""
        between = section.texts("intermediates")
        verifier = cls(
            roots=pinned_certificates(f"{section.where}.roots", section.texts("roots")),
            max_age_ms=max_age_ms,
            intermediates=(
                pinned_certificates(f"{section.where}.intermediates", between) if between else ()
            ),
            measurements=section.digests("measurements", MEASUREMENT_BYTES),
            vmpl_max=section.integer("vmpl_max", low=0, high=VMPL_MAX, default=0),
            allow_debug=section.flag("allow_debug", default=False),
        )
        section.done()
        return verifier

    @judged
    def verify(self, evidence: Evidence, asked: EvidenceContext) -> Verdict:
        """The verdict on one guest."""
        evidence.only("report", "vcek", "certificates")
        report = read_report(evidence.part("report"))
        leaf = read_certificate(evidence.part("vcek"), reason=UntrustedReason.CHAIN)
        sent = evidence.parts.get("certificates", b"")
        between = read_certificates(sent, reason=UntrustedReason.CHAIN) if sent else ()
        check_leaf(leaf, rules=PathRules())
        path = walk(
            leaf,
            (*between, *self.intermediates),
            pinned=self.roots,
            at_ms=asked.at_ms,
            rules=PathRules(),
        )
        _check_signature(leaf, report)
        product = _check_key_is_of(leaf, report)
        expected = asked.nonce.ljust(REPORT_DATA_BYTES, b"\0")
        if not compare_digest(report.report_data, expected):
            raise refuse(UntrustedReason.REPORT_DATA_MISMATCH, "report_data is not the nonce")
        self._check_policy(report)
        return self._trusted(report, product, path, at_ms=asked.at_ms)

    def _check_policy(self, report: SnpReport) -> None:
        if report.is_debug and not self.allow_debug:
            raise refuse(UntrustedReason.DEBUG, "the guest's policy allows debugging")
        # A report that the host asked for carries a level beyond every guest's.
        if report.vmpl > self.vmpl_max:
            told = f"privilege level {report.vmpl}; at most {self.vmpl_max}"
            raise refuse(UntrustedReason.MODE, told)
        if self.measurements and report.measurement not in self.measurements:
            told = f"launch measurement {report.measurement.hex()}"
            raise refuse(UntrustedReason.MEASUREMENT_MISMATCH, told)

    def _trusted(self, report: SnpReport, product: str, path: Path, *, at_ms: int) -> Trusted:
        claims = {
            "assurance": "signature_chain",
            "measurement": report.measurement.hex()[:32],
            "debug": "yes" if report.is_debug else "no",
            "vmpl": str(report.vmpl),
            "guest_svn": str(report.guest_svn),
            "product": product,
        }
        if any(report.chip_id):
            claims["chip_id"] = sha256(report.chip_id).hexdigest()[:32]
        return Trusted(claims, min(at_ms + self.max_age_ms, path.valid_until_ms))


def _check_signature(leaf: x509.Certificate, report: SnpReport) -> None:
    key = leaf.public_key()
    if not isinstance(key, ec.EllipticCurvePublicKey) or not isinstance(key.curve, ec.SECP384R1):
        raise refuse(UntrustedReason.KEY_OR_SIGNATURE_SHAPE, "the signing key is not of P-384")
    r, s = report.signature
    try:
        key.verify(encode_dss_signature(r, s), report.signed, ec.ECDSA(hashes.SHA384()))
    except InvalidSignature:
        raise refuse(UntrustedReason.BAD_SIGNATURE, "the report's signature") from None


def _check_key_is_of(leaf: x509.Certificate, report: SnpReport) -> str:
    """The certificate's key is derived from chip and firmware; both must be the report's.

    Gives the product's name.
    """
    product = der.read_one(_value(leaf, _PRODUCT)).content.decode("latin-1")
    if not product.replace("-", "").isalnum() or not product.isascii() or len(product) > 32:
        raise _chain("a product without a name")
    layout = _TURIN if product.startswith("Turin") else _OLDER
    for number, offset in layout.items():
        stated = der.read_integer(der.read_one(_value(leaf, f"{_AMD}3.{number}")))
        if stated != report.reported_tcb[offset]:
            raise _chain(f"a key of other firmware (component {number})")
    if report.signing_key == _VLEK:
        return product
    if report.signing_key != _VCEK:
        raise _malformed(f"signed by a key of kind {report.signing_key}")
    # A host may keep the chip's number out of its reports; then only the certificate names it.
    if any(report.chip_id) and _hardware_id(leaf) != report.chip_id:
        raise _chain("a key of another chip")
    return product


def _hardware_id(leaf: x509.Certificate) -> bytes:
    raw = _value(leaf, _HARDWARE_ID)
    if len(raw) not in (8, REPORT_DATA_BYTES):  # not bare, as AMD writes it, but as DER
        raw = der.read_one(raw).expect(der.OCTET_STRING)
    return raw.ljust(REPORT_DATA_BYTES, b"\0")


def _value(leaf: x509.Certificate, oid: str) -> bytes:
    found = extension(leaf, oid, reason=UntrustedReason.CHAIN)
    if found is None:
        raise _chain(f"the signing certificate has no extension {oid}")
    return found[0]


def _number(raw: bytes, at: int, count: int) -> int:
    return int.from_bytes(raw[at : at + count], "little")


def _chain(where: str) -> EvidenceError:
    return refuse(UntrustedReason.CHAIN, where)


def _malformed(where: str) -> EvidenceError:
    return refuse(UntrustedReason.MALFORMED, f"SNP: {where}")
