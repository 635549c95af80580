"""The path from a certificate to a pinned root, at a given time.

Written here because the library's own verifier refuses genuine vendor chains (AMD's RSA-PSS,
NVIDIA's dates, Google's CA usage); the library still parses every certificate and checks every
signature.

Rules:

- A path ends only at a pinned certificate. What a bundle calls its root is one more intermediate.
- An issuer is one by name *and* by signature, is a CA, may sign certificates, and its path length
  allows what is below it. Every certificate, the pinned one too, is valid at the given time.
- A critical extension that neither this walker nor its caller understands refuses the path.
- SHA-1, DSA, RSA below 2048 bits and keys of small order sign nothing here.
- Length and number of signature checks are bounded, whatever the bundle holds.
- What is odd about a certificate is told by a verdict; the library's own warnings are silenced, or
  whoever sends evidence could write into our logs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed25519, rsa
from cryptography.x509.oid import NameOID

from bailiwick.attestation.verdict import EvidenceError, refuse
from bailiwick.vocab.ed25519_points import is_small_order
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import UntrustedReason

PATH_MAX = 10
"""Certificates in one path, the pinned one among them."""

BUNDLE_MAX = 32
CERTIFICATE_BYTES_MAX = 64 * 1024
SIGNATURE_CHECKS_MAX = 64

_BASE = frozenset({"2.5.29.15", "2.5.29.19", "2.5.29.37", "2.5.29.17"})
"""Understood here or harmless: key usage, basic constraints, extended usage, subject names."""

_DIGESTS = (hashes.SHA256, hashes.SHA384, hashes.SHA512)
"""What a certificate may be signed over, where the algorithm leaves a choice."""

warnings.filterwarnings("ignore", module=r"bailiwick\.attestation\.")

_T = TypeVar("_T")
_Extension = TypeVar("_Extension", bound=x509.ExtensionType)
_ODD = (
    ValueError,
    TypeError,
    UnsupportedAlgorithm,
    x509.DuplicateExtension,
    x509.InvalidVersion,
    x509.UnsupportedGeneralNameType,
)
"""What the library raises on certificates that it parses lazily."""


@dataclass(frozen=True, slots=True)
class PathRules:
    """What one verifier asks of a path, and under which words it refuses."""

    reason: UntrustedReason = UntrustedReason.CHAIN
    not_a_ca: UntrustedReason = UntrustedReason.CHAIN
    critical: frozenset[str] = frozenset()
    """Object identifiers of critical extensions that the verifier itself reads."""


@dataclass(frozen=True, slots=True)
class Path:
    """The certificates from the leaf to the pinned one, and until when all of them hold."""

    certificates: tuple[x509.Certificate, ...]
    valid_until_ms: int


@dataclass(slots=True)
class _Search:
    """One search: where to look, and how many signatures may still be checked."""

    pinned: Sequence[x509.Certificate]
    others: Sequence[x509.Certificate]
    at_ms: int
    rules: PathRules
    left: int = SIGNATURE_CHECKS_MAX
    told: list[EvidenceError] = field(default_factory=list)

    def from_(self, path: tuple[x509.Certificate, ...]) -> tuple[x509.Certificate, ...] | None:
        """The path on to a pinned certificate; depth is bounded by ``PATH_MAX``."""
        if len(path) >= PATH_MAX:
            return None
        for candidate in self.pinned:
            if self._issues(candidate, path):
                return (*path, candidate)
        for candidate in self.others:
            if candidate in path or not self._issues(candidate, path):
                continue
            whole = self.from_((*path, candidate))
            if whole is not None:
                return whole
        return None

    def _issues(self, issuer: x509.Certificate, path: tuple[x509.Certificate, ...]) -> bool:
        subject, rules = path[-1], self.rules
        if _read(lambda: issuer.subject != subject.issuer, rules):
            return False
        if self.left <= 0:
            raise refuse(rules.reason, f"more than {SIGNATURE_CHECKS_MAX} signatures to check")
        self.left -= 1
        if not is_issued_by(subject, issuer):
            return False
        try:
            check_valid(issuer, at_ms=self.at_ms, reason=rules.reason)
            _check_issuer(issuer, below=len(path) - 1, rules=rules)
        except EvidenceError as error:
            self.told.append(error)
            return False
        return True


def walk(
    leaf: x509.Certificate,
    others: Sequence[x509.Certificate],
    *,
    pinned: Sequence[x509.Certificate],
    at_ms: int,
    rules: PathRules,
) -> Path:
    """The path from ``leaf`` through ``others`` to one of ``pinned``, or the error of why not."""
    if len(others) > BUNDLE_MAX:
        raise refuse(rules.reason, f"{len(others)} certificates; at most {BUNDLE_MAX}")
    check_valid(leaf, at_ms=at_ms, reason=rules.reason)
    _check_critical(leaf, rules)
    search = _Search(pinned, others, at_ms, rules)
    found = search.from_((leaf,))
    if found is None:
        if search.told:
            raise search.told[0]
        raise refuse(rules.reason, f"no pinned issuer of {name_of(leaf)}")
    return Path(found, min(_ends_ms(each, rules) for each in found))


def check_valid(certificate: x509.Certificate, *, at_ms: int, reason: UntrustedReason) -> None:
    """Refuse a certificate that is not valid at that time."""
    begins, ends = _read(lambda: _window(certificate), PathRules(reason))
    if not begins <= at_ms <= ends:
        told = "has run out" if at_ms > ends else "is not valid yet"
        raise refuse(reason, f"{name_of(certificate)} {told}")


def is_issued_by(subject: x509.Certificate, issuer: x509.Certificate) -> bool:
    """Whether the issuer's key signed the certificate, with an algorithm that still means that."""
    try:
        digest = subject.signature_hash_algorithm
        if digest is not None and not isinstance(digest, _DIGESTS):
            return False
        check_key(issuer.public_key())
        subject.verify_directly_issued_by(issuer)
    except (InvalidSignature, EvidenceError, *_ODD):
        return False
    return True


def check_leaf(leaf: x509.Certificate, *, rules: PathRules) -> None:
    """Refuse a certificate of a CA, and one whose key may not sign, where evidence was signed."""
    constraints = _one(leaf, x509.BasicConstraints, rules)
    if constraints is not None and constraints.ca:
        raise refuse(rules.reason, f"{name_of(leaf)} is a CA")
    usage = _one(leaf, x509.KeyUsage, rules)
    if usage is not None and not usage.digital_signature:
        raise refuse(rules.reason, f"{name_of(leaf)} may not sign")


def check_key(key: object) -> None:
    """Refuse a key too weak to prove anything, or made to cost us much."""
    if isinstance(key, rsa.RSAPublicKey):
        if not 2048 <= key.key_size <= 8192:
            raise refuse(UntrustedReason.WEAK_KEY, f"RSA of {key.key_size} bits")
        if key.public_numbers().e.bit_length() > 64:
            raise refuse(UntrustedReason.WEAK_KEY, "RSA with a public exponent beyond 64 bits")
    if isinstance(key, dsa.DSAPublicKey):
        raise refuse(UntrustedReason.WEAK_KEY, "DSA")
    if isinstance(key, ec.EllipticCurvePublicKey) and not isinstance(
        key.curve, ec.SECP256R1 | ec.SECP384R1 | ec.SECP521R1
    ):
        raise refuse(UntrustedReason.WEAK_KEY, f"curve {key.curve.name}")
    if isinstance(key, ed25519.Ed25519PublicKey) and is_small_order(key.public_bytes_raw()):
        raise refuse(UntrustedReason.WEAK_KEY, "an Ed25519 key of small order")


def read_certificate(
    raw: bytes, *, reason: UntrustedReason = UntrustedReason.MALFORMED
) -> x509.Certificate:
    """One certificate in DER."""
    if len(raw) > CERTIFICATE_BYTES_MAX:
        raise refuse(reason, f"a certificate of {len(raw)} bytes")
    try:
        certificate = x509.load_der_x509_certificate(raw)
        certificate.public_key()
        _window(certificate)
        signature = certificate.signature
    except _ODD as error:
        raise refuse(reason, f"certificate: {error}") from None
    if not raw.endswith(b"\0" + signature):  # else the same certificate could be spelled twice
        raise refuse(reason, "certificate: its signature ends within a byte")
    return certificate


def read_certificates(
    raw: bytes, *, reason: UntrustedReason = UntrustedReason.MALFORMED
) -> tuple[x509.Certificate, ...]:
    """Certificates in PEM, or in DER one after another; at most ``BUNDLE_MAX``."""
    from bailiwick.attestation.formats.der import read_all

    if len(raw) > BUNDLE_MAX * CERTIFICATE_BYTES_MAX:
        raise refuse(reason, f"certificates of {len(raw)} bytes")
    try:
        if b"-----BEGIN" in raw:
            if raw.count(b"-----BEGIN") > BUNDLE_MAX:
                raise refuse(reason, f"more than {BUNDLE_MAX} certificates")
            found = x509.load_pem_x509_certificates(raw)
            blocks = [each.public_bytes(serialization.Encoding.DER) for each in found]
        else:
            blocks = [value.raw for value in read_all(raw)]
    except EvidenceError as error:
        raise refuse(reason, error.where) from None
    except _ODD as error:
        raise refuse(reason, f"certificates: {error}") from None
    if len(blocks) > BUNDLE_MAX:
        raise refuse(reason, f"more than {BUNDLE_MAX} certificates")
    return tuple(read_certificate(each, reason=reason) for each in blocks)


def pinned_certificates(field_name: str, texts: Iterable[str]) -> tuple[x509.Certificate, ...]:
    """Trust anchors from a policy, in PEM; a fault is the operator's, so it names the field."""
    found: list[x509.Certificate] = []
    for index, text in enumerate(texts):
        try:
            found.extend(read_certificates(text.encode()))
        except EvidenceError as error:
            expected = f"certificates in PEM ({error.where})"
            raise InvalidValue(f"{field_name}[{index}]", text[:40], expected) from None
    if not found:
        raise InvalidValue(field_name, "nothing", "at least one certificate in PEM")
    return tuple(found)


def extension(
    certificate: x509.Certificate, oid: str, *, reason: UntrustedReason
) -> tuple[bytes, bool] | None:
    """The raw value of an extension and whether it is critical; None if it is not there."""
    for each in _read(lambda: list(certificate.extensions), PathRules(reason)):
        if each.oid.dotted_string == oid:
            raw = each.value.public_bytes()
            return raw, each.critical
    return None


def typed_extension(
    certificate: x509.Certificate, kind: type[_Extension], *, reason: UntrustedReason
) -> _Extension | None:
    """An extension that the library knows; None if it is not there."""
    return _one(certificate, kind, PathRules(reason))


def critical_extensions(
    certificate: x509.Certificate, *, reason: UntrustedReason
) -> tuple[str, ...]:
    """The identifiers of the extensions that a reader must understand."""
    extensions = _read(lambda: list(certificate.extensions), PathRules(reason))
    return tuple(each.oid.dotted_string for each in extensions if each.critical)


def window_of(certificate: x509.Certificate, *, reason: UntrustedReason) -> tuple[int, int]:
    """The first and the last millisecond at which the certificate is valid."""
    return _read(lambda: _window(certificate), PathRules(reason))


def name_of(certificate: x509.Certificate) -> str:
    """The subject for a message: its common name, else all of it, cut, and only printable."""
    try:
        common = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
        told = str(common[0].value) if common else certificate.subject.rfc4514_string()
        shown = "".join(each if each.isprintable() else "?" for each in told[:80])
        return shown or "a certificate without a name"
    except _ODD:
        return "a certificate whose name cannot be read"


def _window(certificate: x509.Certificate) -> tuple[int, int]:
    begins, ends = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    # A second, because dates in certificates are whole seconds and the last one counts.
    return int(begins.timestamp()) * 1000, int(ends.timestamp()) * 1000 + 999


def _ends_ms(certificate: x509.Certificate, rules: PathRules) -> int:
    return _read(lambda: _window(certificate), rules)[1]


def _check_issuer(issuer: x509.Certificate, *, below: int, rules: PathRules) -> None:
    """``below``: how many certificates of CAs stand between it and the leaf."""
    _check_critical(issuer, rules)
    constraints = _one(issuer, x509.BasicConstraints, rules)
    if constraints is None or not constraints.ca:
        raise refuse(rules.not_a_ca, f"{name_of(issuer)} is no CA")
    if constraints.path_length is not None and below > constraints.path_length:
        raise refuse(rules.reason, f"the path below {name_of(issuer)} is too long")
    usage = _one(issuer, x509.KeyUsage, rules)
    if usage is not None and not usage.key_cert_sign:
        raise refuse(rules.not_a_ca, f"{name_of(issuer)} may not sign certificates")


def _check_critical(certificate: x509.Certificate, rules: PathRules) -> None:
    for oid in critical_extensions(certificate, reason=rules.reason):
        if oid not in _BASE and oid not in rules.critical:
            raise refuse(rules.reason, f"{name_of(certificate)}: critical extension {oid}")


def _one(
    certificate: x509.Certificate, kind: type[_Extension], rules: PathRules
) -> _Extension | None:
    def find() -> _Extension | None:
        try:
            return certificate.extensions.get_extension_for_class(kind).value
        except x509.ExtensionNotFound:
            return None

    return _read(find, rules)


def _read(ask: Callable[[], _T], rules: PathRules) -> _T:
    """What the library says, or our own word when it cannot read the certificate."""
    try:
        return ask()
    except _ODD as error:
        raise refuse(rules.reason, f"certificate: {error}") from None
