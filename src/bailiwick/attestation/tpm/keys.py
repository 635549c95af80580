"""The two keys of a TPM: which attestation key may sign for it, and who vouches for the TPM.

Rules:

- An attestation key (AK) was made in its TPM, cannot leave it, and is restricted: it signs nothing
  from outside that could be taken for the TPM's own words. Without all of that a quote is only
  something that software wrote.
- A signature is checked with the scheme of the enrolled key, whatever the signature says of itself.
- An endorsement key (EK) is a TPM's identity. Its certificate leads to a pinned root of the
  maker, is for a key of that use, names the TPM, and is for just this key.
- SHA-1 and RSA below 2048 bits prove nothing here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

from bailiwick.attestation.formats.certificates import (
    Path,
    PathRules,
    extension,
    name_of,
    read_certificate,
    read_certificates,
    typed_extension,
    walk,
)
from bailiwick.attestation.tpm.structures import (
    DECRYPT,
    ECDSA,
    FIXED_PARENT,
    FIXED_TPM,
    RESTRICTED,
    RSAPSS,
    RSASSA,
    SENSITIVE_DATA_ORIGIN,
    SHA1,
    SHA256,
    SHA384,
    SHA512,
    SIGN,
    EccKey,
    RsaKey,
    TpmKey,
    TpmPublic,
    TpmSignature,
    read_public,
)
from bailiwick.attestation.verdict import refuse
from bailiwick.vocab.trust import UntrustedReason

_BOUND = FIXED_TPM | FIXED_PARENT | SENSITIVE_DATA_ORIGIN | RESTRICTED
_LIBRARY_HASHES: dict[int, hashes.HashAlgorithm] = {
    SHA256: hashes.SHA256(),
    SHA384: hashes.SHA384(),
    SHA512: hashes.SHA512(),
}
_EK_USE, _AK_USE = "2.23.133.8.1", "2.23.133.8.3"
_TPM_NAMES = frozenset({"2.23.133.2.1", "2.23.133.2.2", "2.23.133.2.3"})
"""Maker, model and version of a TPM, in the directory name of its certificate."""

_SUBJECT_ALT_NAME = "2.5.29.17"


def check_ak(ak_public: bytes) -> TpmPublic:
    """The attestation key, if what it signs can only be what its TPM says."""
    reason = UntrustedReason.AK_ATTRIBUTES
    ak = read_public(ak_public, "an attestation key", unfit=reason)
    if ak.attributes & (_BOUND | SIGN | DECRYPT) != _BOUND | SIGN:
        raise refuse(reason, f"an attestation key with attributes {ak.attributes:#010x}")
    schemes = (RSASSA, RSAPSS) if isinstance(ak.key, RsaKey) else (ECDSA,)
    if ak.scheme not in schemes or SHA1 in (ak.scheme_hash, ak.name_alg):
        raise refuse(reason, "an attestation key with another scheme than may sign here")
    return ak


def check_ek(
    ek_public: bytes,
    ek_certificate: bytes,
    *,
    intermediates: bytes,
    roots: Sequence[x509.Certificate],
    at_ms: int,
) -> Path:
    """The path of the endorsement key's certificate, if it is a TPM's and of this key."""
    vouching = Vouching(ek_certificate, intermediates, roots, at_ms)
    return check_vouched(read_ek(ek_public), vouching, reason=UntrustedReason.EK_CHAIN)


@dataclass(frozen=True, slots=True)
class Vouching:
    """By what a maker vouches for a key: a certificate, those above it, and roots to end at."""

    certificate: bytes
    intermediates: bytes
    roots: Sequence[x509.Certificate]
    at_ms: int


def check_vouched(public: TpmPublic, by: Vouching, *, reason: UntrustedReason) -> Path:
    """The path of the key's certificate. ``reason`` also says of which of the two keys it is.

    Some clouds certify an attestation key themselves, for either use.
    """
    certificate = read_certificate(by.certificate, reason=reason)
    uses = (_EK_USE,) if reason is UntrustedReason.EK_CHAIN else (_EK_USE, _AK_USE)
    _check_certified(certificate, public.key, uses=uses, reason=reason)
    others = read_certificates(by.intermediates, reason=reason) if by.intermediates else ()
    rules = PathRules(reason, reason)
    return walk(certificate, others, pinned=by.roots, at_ms=by.at_ms, rules=rules)


def read_ek(ek_public: bytes) -> TpmPublic:
    """An endorsement key: made in its TPM, cannot leave it, and only decrypts what is for it."""
    reason = UntrustedReason.EK_CHAIN
    ek = read_public(ek_public, "an endorsement key", unfit=reason)
    if ek.attributes & (_BOUND | SIGN | DECRYPT) != _BOUND | DECRYPT or ek.symmetric_bits is None:
        raise refuse(reason, f"an endorsement key with attributes {ek.attributes:#010x}")
    if ek.name_alg == SHA1:
        raise refuse(reason, "an endorsement key named by SHA-1")
    return ek


def identity_of(public: bytes) -> str:
    """The digest that a TPM goes by, from its endorsement key (TPM2B_PUBLIC)."""
    return read_public(public).identity


def check_signature(ak: TpmPublic, signature: TpmSignature, *, signed: bytes) -> None:
    """Refuse a signature that is not the key's, or not of the key's own scheme."""
    if (signature.scheme, signature.scheme_hash) != (ak.scheme, ak.scheme_hash):
        where = f"scheme {signature.scheme:#06x} with hash {signature.scheme_hash:#06x}"
        raise refuse(UntrustedReason.SCHEME_MISMATCH, f"{where} is not that of the key")
    try:
        _verify(ak, signature, signed=signed)
    except InvalidSignature:
        raise refuse(UntrustedReason.BAD_SIGNATURE, "the key did not sign this") from None


def _verify(ak: TpmPublic, signature: TpmSignature, *, signed: bytes) -> None:
    if ak.scheme_hash not in _LIBRARY_HASHES:
        raise InvalidSignature
    algorithm = _LIBRARY_HASHES[ak.scheme_hash]
    match ak.key:
        case EccKey() as key:
            raw = encode_dss_signature(signature.r, signature.s)
            key.load().verify(raw, signed, ec.ECDSA(algorithm))
        case RsaKey() as key if ak.scheme == RSASSA:
            key.load().verify(signature.rsa, signed, padding.PKCS1v15(), algorithm)
        case RsaKey() as key:
            _verify_pss(key.load(), signature.rsa, signed=signed, algorithm=algorithm)


def _verify_pss(
    key: rsa.RSAPublicKey, raw: bytes, *, signed: bytes, algorithm: hashes.HashAlgorithm
) -> None:
    """The salt is as long as the digest; of older TPMs as long as it can be."""
    mask = padding.MGF1(algorithm)
    try:
        key.verify(raw, signed, padding.PSS(mask, padding.PSS.DIGEST_LENGTH), algorithm)
    except InvalidSignature:
        key.verify(raw, signed, padding.PSS(mask, padding.PSS.MAX_LENGTH), algorithm)


def _check_certified(
    certificate: x509.Certificate, key: TpmKey, *, uses: Sequence[str], reason: UntrustedReason
) -> None:
    """The certificate is for this key, for this use, and for a TPM that it names."""
    told = name_of(certificate)
    if not _is_key(certificate, key):
        raise refuse(reason, f"{told} is for another key")
    constraints = typed_extension(certificate, x509.BasicConstraints, reason=reason)
    if constraints is not None and constraints.ca:
        raise refuse(reason, f"{told} is of an authority, not of a TPM")
    usage = typed_extension(certificate, x509.ExtendedKeyUsage, reason=reason)
    if usage is None or not any(each.dotted_string in uses for each in usage):
        raise refuse(reason, f"{told} is not for such a key")
    names = typed_extension(certificate, x509.SubjectAlternativeName, reason=reason)
    directories = () if names is None else names.get_values_for_type(x509.DirectoryName)
    if not any({a.oid.dotted_string for a in each} >= _TPM_NAMES for each in directories):
        raise refuse(reason, f"{told} does not name a TPM")
    found = extension(certificate, _SUBJECT_ALT_NAME, reason=reason)
    if _is_anonymous(certificate) and (found is None or not found[1]):
        raise refuse(reason, "a certificate without a name whose other name is not critical")


def _is_anonymous(certificate: x509.Certificate) -> bool:
    try:
        return not certificate.subject.rdns
    except (ValueError, TypeError):  # a name that cannot be read is none
        return True


def _is_key(certificate: x509.Certificate, key: TpmKey) -> bool:
    certified = certificate.public_key()
    match key:
        case RsaKey():
            numbers = (
                certified.public_numbers() if isinstance(certified, rsa.RSAPublicKey) else None
            )
            return numbers is not None and (numbers.e, numbers.n) == (key.exponent, key.modulus)
        case EccKey():
            if not isinstance(certified, ec.EllipticCurvePublicKey):
                return False
            point = certified.public_numbers()
            of = (point.curve.name, point.x, point.y)
            return of == (key.curve.name, key.x, key.y)
