"""The public keys of DICE layers, and what a signature by one of them is.

Rules:

- A closed list of keys: Ed25519, P-256, P-384, P-521, RSA from 2048 bits (only in certificates) and
  ML-DSA. Any other, and an Ed25519 key of small order, is refused before it verifies anything.
- How a signature is to be checked follows from the key that should have made it. What a certificate
  or a header names must agree with that, and never chooses.
- SHA-1 signs nothing. ECDSA is DER in certificates and challenges, and two numbers of full width in
  COSE.
- The challenge is signed with its purpose before it, so that no other signature is one.

>>> challenge_message(b"n")
b'dice-attest-v1\\x00n'
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, assert_never

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, mldsa, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.x509.oid import SignatureAlgorithmOID

from bailiwick.attestation.formats.cbor import Sign1, read_map
from bailiwick.attestation.formats.certificates import check_key
from bailiwick.attestation.formats.der import read_one
from bailiwick.attestation.verdict import EvidenceError, refuse
from bailiwick.vocab.trust import UntrustedReason

DiceKey: TypeAlias = (
    ed25519.Ed25519PublicKey
    | ec.EllipticCurvePublicKey
    | rsa.RSAPublicKey
    | mldsa.MLDSA44PublicKey
    | mldsa.MLDSA65PublicKey
    | mldsa.MLDSA87PublicKey
)
_MlDsa: TypeAlias = mldsa.MLDSA44PublicKey | mldsa.MLDSA65PublicKey | mldsa.MLDSA87PublicKey

_PURPOSE = b"dice-attest-v1\0"
_ODD = (InvalidSignature, ValueError, TypeError, UnsupportedAlgorithm)
_HASHES = (hashes.SHA256, hashes.SHA384, hashes.SHA512)
_ECDSA_HASH: dict[str, hashes.HashAlgorithm] = {
    "secp256r1": hashes.SHA256(),
    "secp384r1": hashes.SHA384(),
    "secp521r1": hashes.SHA512(),
}
_ECDSA_IN_X509 = frozenset(
    {
        SignatureAlgorithmOID.ECDSA_WITH_SHA256,
        SignatureAlgorithmOID.ECDSA_WITH_SHA384,
        SignatureAlgorithmOID.ECDSA_WITH_SHA512,
    }
)
_RSA_IN_X509 = frozenset(
    {
        SignatureAlgorithmOID.RSA_WITH_SHA256,
        SignatureAlgorithmOID.RSA_WITH_SHA384,
        SignatureAlgorithmOID.RSA_WITH_SHA512,
        SignatureAlgorithmOID.RSASSA_PSS,
    }
)

_KTY, _KID, _ALG, _OPS = 1, 2, 3, 4
_VERIFY = 2
_OKP, _EC2, _AKP = 1, 2, 7
_COSE_CURVES: dict[int, tuple[ec.EllipticCurve, int]] = {
    1: (ec.SECP256R1(), 32),
    2: (ec.SECP384R1(), 48),
}
_COSE_ED25519 = 6
_COSE_ML_DSA: dict[int, Callable[[bytes], _MlDsa]] = {
    -48: mldsa.MLDSA44PublicKey.from_public_bytes,
    -49: mldsa.MLDSA65PublicKey.from_public_bytes,
    -50: mldsa.MLDSA87PublicKey.from_public_bytes,
}


def sound_key(key: object) -> DiceKey:
    """The key, if it is one that may sign here."""
    check_key(key)
    if not isinstance(key, DiceKey):
        raise refuse(UntrustedReason.WEAK_KEY, f"a key of the kind {type(key).__name__}")
    return key


def read_public_key(raw: bytes) -> DiceKey:
    """A key from its SubjectPublicKeyInfo in DER."""
    try:
        return sound_key(serialization.load_der_public_key(raw))
    except _ODD:
        reason = UntrustedReason.KEY_OR_SIGNATURE_SHAPE
        raise refuse(reason, "a public key that cannot be read") from None


def spki_of(key: DiceKey) -> bytes:
    """The key's SubjectPublicKeyInfo in DER: the one spelling by which keys are compared."""
    return key.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def read_cose_key(raw: bytes) -> DiceKey:
    """A public key from a COSE_Key; one with a private part is refused."""
    fields = read_map(raw)
    kty, alg, ops = fields.get(_KTY), fields.get(_ALG), fields.get(_OPS, [_VERIFY])
    # The types first: for Python, true is one.
    if type(kty) is not int or type(fields.get(-1)) not in (int, bytes):
        raise _no_key("its type or its curve")
    if not isinstance(ops, list) or _VERIFY not in ops:
        raise _no_key("a key that is not for verifying")
    try:
        key, labels = _cose_key(kty, fields)
    except _ODD:
        raise _no_key("no point of its curve, or no key of its length") from None
    if unknown := fields.keys() - labels - {_KTY, _KID, _ALG, _OPS}:
        raise _no_key(f"fields {sorted(map(str, unknown))[:4]}")
    if alg is not None and alg not in _cose_algorithms(key):
        raise _no_key(f"algorithm {str(alg)[:20]} for another kind of key")
    return sound_key(key)


def _cose_key(kty: int, fields: dict[int | str, Any]) -> tuple[DiceKey, set[int]]:
    first, x, y = fields.get(-1), fields.get(-2), fields.get(-3)
    if kty == _OKP and first == _COSE_ED25519 and isinstance(x, bytes):
        return ed25519.Ed25519PublicKey.from_public_bytes(x), {-1, -2}
    if kty == _EC2 and first in _COSE_CURVES and isinstance(x, bytes) and isinstance(y, bytes):
        curve, width = _COSE_CURVES[first]
        if len(x) != width or len(y) != width:
            raise _no_key("coordinates of another width")
        numbers = (int.from_bytes(x, "big"), int.from_bytes(y, "big"))
        return ec.EllipticCurvePublicNumbers(*numbers, curve).public_key(), {-1, -2, -3}
    alg = fields.get(_ALG)
    if kty == _AKP and isinstance(first, bytes) and alg in _COSE_ML_DSA:
        return _COSE_ML_DSA[alg](first), {-1}
    raise _no_key(f"type {kty} with these parameters")


def check_certificate_signature(certificate: x509.Certificate, key: DiceKey) -> None:
    """Refuse a certificate that the key did not sign."""
    outer = read_one(certificate.public_bytes(serialization.Encoding.DER)).children()
    inner = [each for each in outer[0].children() if each.context != 0]
    # What is signed must name the algorithm that is used, or it could be exchanged.
    if len(outer) != 3 or len(inner) < 2 or inner[1].raw != outer[1].raw:
        raise refuse(UntrustedReason.MALFORMED, "a certificate with two signature algorithms")
    if not _holds(lambda: _verify_certificate(certificate, key)):
        raise refuse(UntrustedReason.BAD_SIGNATURE, "the certificate's signature")


def _verify_certificate(certificate: x509.Certificate, key: DiceKey) -> None:
    named, hashed = certificate.signature_algorithm_oid, certificate.signature_hash_algorithm
    signature, signed = certificate.signature, certificate.tbs_certificate_bytes
    match key:
        case ec.EllipticCurvePublicKey():
            if named not in _ECDSA_IN_X509 or not isinstance(hashed, _HASHES):
                raise InvalidSignature
            key.verify(signature, signed, ec.ECDSA(hashed))
        case rsa.RSAPublicKey():
            padding = certificate.signature_algorithm_parameters
            if named not in _RSA_IN_X509 or not isinstance(hashed, _HASHES):
                raise InvalidSignature
            if padding is None or isinstance(padding, ec.ECDSA):
                raise InvalidSignature
            key.verify(signature, signed, padding, hashed)
        case ed25519.Ed25519PublicKey():
            if named != SignatureAlgorithmOID.ED25519:
                raise InvalidSignature
            key.verify(signature, signed)
        case mldsa.MLDSA44PublicKey() | mldsa.MLDSA65PublicKey() | mldsa.MLDSA87PublicKey():
            if named != _ml_dsa_oid(key):
                raise InvalidSignature
            key.verify(signature, signed)
        case _:
            assert_never(key)


def check_sign1(sign1: Sign1, key: DiceKey) -> None:
    """Refuse a COSE_Sign1 that the key did not sign, or whose header names another algorithm."""
    if sign1.protected_map.get(1) not in _cose_algorithms(key):
        raise refuse(UntrustedReason.BAD_SIGNATURE, "an algorithm that is not the issuer's")
    if not _holds(lambda: _verify_sign1(sign1, key)):
        raise refuse(UntrustedReason.BAD_SIGNATURE, "the signature of the COSE_Sign1")


def _verify_sign1(sign1: Sign1, key: DiceKey) -> None:
    signature, signed = sign1.signature, sign1.to_be_signed
    if not isinstance(key, ec.EllipticCurvePublicKey):
        _verify_message(key, signed, signature)
        return
    width = (key.curve.key_size + 7) // 8
    if len(signature) != 2 * width:
        raise InvalidSignature
    r, s = (int.from_bytes(half, "big") for half in (signature[:width], signature[width:]))
    _verify_message(key, signed, encode_dss_signature(r, s))


def challenge_message(nonce: bytes) -> bytes:
    """What the last layer's key signs to show that it is there now."""
    return _PURPOSE + nonce


def check_challenge(key: DiceKey, nonce: bytes, *, signature: bytes) -> None:
    """Refuse a signature that is not the key's over this nonce."""
    message = challenge_message(nonce)
    if not nonce or not _holds(lambda: _verify_message(key, message, signature)):
        raise refuse(UntrustedReason.CHALLENGE_SIGNATURE, "the signature over the nonce")


def _verify_message(key: DiceKey, message: bytes, signature: bytes) -> None:
    match key:
        case ec.EllipticCurvePublicKey():
            key.verify(signature, message, ec.ECDSA(_ECDSA_HASH[key.curve.name]))
        case rsa.RSAPublicKey():
            raise InvalidSignature  # no form of it is agreed for challenges, nor for COSE
        case (
            ed25519.Ed25519PublicKey()
            | mldsa.MLDSA44PublicKey()
            | mldsa.MLDSA65PublicKey()
            | mldsa.MLDSA87PublicKey()
        ):
            key.verify(signature, message)
        case _:
            assert_never(key)


def _cose_algorithms(key: DiceKey) -> tuple[int, ...]:
    match key:
        case ed25519.Ed25519PublicKey():
            return (-8, -19)
        case ec.EllipticCurvePublicKey():
            return {"secp256r1": (-7, -9), "secp384r1": (-35, -51)}.get(key.curve.name, ())
        case rsa.RSAPublicKey():
            return ()
        case mldsa.MLDSA44PublicKey():
            return (-48,)
        case mldsa.MLDSA65PublicKey():
            return (-49,)
        case mldsa.MLDSA87PublicKey():
            return (-50,)
        case _:
            assert_never(key)


def _ml_dsa_oid(key: _MlDsa) -> x509.ObjectIdentifier:
    match key:
        case mldsa.MLDSA44PublicKey():
            return SignatureAlgorithmOID.ML_DSA_44
        case mldsa.MLDSA65PublicKey():
            return SignatureAlgorithmOID.ML_DSA_65
        case mldsa.MLDSA87PublicKey():
            return SignatureAlgorithmOID.ML_DSA_87
        case _:
            assert_never(key)


def _holds(verify: Callable[[], None]) -> bool:
    try:
        verify()
    except _ODD:
        return False
    return True


def _no_key(where: str) -> EvidenceError:
    return refuse(UntrustedReason.MALFORMED, f"COSE_Key: {where}")
