"""Who signed some bytes: minisign signatures and Sigstore bundles, read without the network.

Rules:

- Only keys that the source names count. A signature by any of them is enough.
- **minisign**, both forms: ``Ed`` signs the bytes themselves (at most ``WHOLE_BYTES_MAX`` of them),
  ``ED`` their BLAKE2b-512. The trusted comment is part of what is signed: without it there is no
  valid signature.
- **Sigstore** bundles v0.3: a message signature over the bytes' SHA-256, or a DSSE envelope with an
  in-toto statement of ``cosign sign`` whose subject is the bytes. The key is one that the source
  pins, ECDSA on P-256 or Ed25519; a certificate in the bundle counts only as the holder of that
  key. *Not* checked: the certificate's issuer, identity and times (Fulcio), and that the signature
  stands in a transparency log (Rekor). Whoever holds the pinned key can sign; nobody else can.
- Nothing is believed of a text before it was read whole: a fault is a word, never an exception.

>>> check_signature("no signature", Signed("0" * 64, bytes(64)), keys=())
<VerificationReason.SIGNATURE_MALFORMED: 'signature_malformed'>
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_der_public_key,
)
from cryptography.x509 import load_der_x509_certificate

from bailiwick.apps.artifacts import SIGSTORE_PREFIX
from bailiwick.vocab.apps import VerificationReason as Why

SIGNATURE_BYTES_MAX: Final = 256 << 10
"""Of the text of one signature or bundle."""
WHOLE_BYTES_MAX: Final = 64 << 20
"""Of bytes that are signed themselves, and not by a hash."""

_UNTRUSTED, _TRUSTED = "untrusted comment: ", "trusted comment: "
_BUNDLE: Final = "application/vnd.dev.sigstore.bundle.v0.3+json"
_IN_TOTO: Final = "application/vnd.in-toto+json"
_STATEMENT: Final = "https://in-toto.io/Statement/v1"
_SIGNED: Final = "https://sigstore.dev/cosign/sign/v1"
_PublicKey: TypeAlias = ec.EllipticCurvePublicKey | Ed25519PublicKey


@dataclass(frozen=True, slots=True)
class Signed:
    """What was fetched, as far as a signature speaks of it."""

    sha256: str
    blake2b: bytes
    whole: bytes | None = None
    """The bytes themselves, where they are few enough."""


@dataclass(frozen=True, slots=True)
class SignedBy:
    """A signature that holds, and the key that made it, as the source names it."""

    key: str


Found: TypeAlias = SignedBy | Why


def find_signer(texts: Iterable[str], signed: Signed, *, keys: Iterable[str]) -> Found:
    """The first key that signed it; or what is wrong, of the signature that came furthest."""
    order, worst, keys = list(Why), Why.NOT_SIGNED, tuple(keys)
    for text in texts:
        found = check_signature(text, signed, keys=keys)
        if isinstance(found, SignedBy):
            return found
        worst = max(worst, found, key=order.index)
    return worst


def check_signature(text: str, signed: Signed, *, keys: Iterable[str]) -> Found:
    """Whether one signature, of either sort, is of these bytes by one of these keys."""
    if len(text) > SIGNATURE_BYTES_MAX:
        return Why.SIGNATURE_MALFORMED
    try:
        if text.lstrip().startswith("{"):
            return _check_bundle(text, signed, keys=keys)
        return _check_minisign(text, signed, keys=keys)
    except (ValueError, KeyError, TypeError, RecursionError):
        return Why.SIGNATURE_MALFORMED


# -- minisign --------------------------------------------------------------------------------


def _check_minisign(text: str, signed: Signed, *, keys: Iterable[str]) -> Found:
    first, line, comment, last = text.removesuffix("\n").replace("\r\n", "\n").split("\n")
    if not (first.startswith(_UNTRUSTED) and comment.startswith(_TRUSTED)):
        return Why.SIGNATURE_MALFORMED
    raw, sealing = _bytes(line, 74), _bytes(last, 64)
    form, key_id, signature = raw[:2], raw[2:10], raw[10:]
    if form not in (b"Ed", b"ED"):
        return Why.SIGNATURE_MALFORMED
    named = next((key for key in keys if _minisign_id(key) == key_id), None)
    if named is None:
        return Why.KEY_UNKNOWN
    message = signed.blake2b if form == b"ED" else signed.whole
    if message is None:
        return Why.TOO_LARGE
    key = Ed25519PublicKey.from_public_bytes(base64.b64decode(named)[10:])
    if not _holds(key, signature, message):
        return Why.SIGNATURE_INVALID
    told = comment.removeprefix(_TRUSTED).encode()
    return SignedBy(named) if _holds(key, sealing, signature + told) else Why.COMMENT_INVALID


def _minisign_id(key: str) -> bytes | None:
    return None if key.startswith(SIGSTORE_PREFIX) else base64.b64decode(key)[2:10]


def _bytes(text: str, size: int) -> bytes:
    found = base64.b64decode(text, validate=True)
    if len(found) != size:
        raise ValueError
    return found


# -- Sigstore --------------------------------------------------------------------------------


def _sigstore_keys(keys: Iterable[str]) -> dict[str, _PublicKey]:
    """Those of the keys that are for bundles; one that is no point of its curve signs nothing."""
    found = dict[str, _PublicKey]()
    for name in (each for each in keys if each.startswith(SIGSTORE_PREFIX)):
        with suppress(ValueError, UnsupportedAlgorithm):
            key = load_der_public_key(base64.b64decode(name.removeprefix(SIGSTORE_PREFIX)))
            if isinstance(key, ec.EllipticCurvePublicKey | Ed25519PublicKey):
                found[name] = key
    return found


def _spki(key: Any) -> bytes:
    spelled: bytes = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return spelled


def _check_bundle(text: str, signed: Signed, *, keys: Iterable[str]) -> Found:
    bundle = json.loads(text, object_pairs_hook=_once)
    if bundle["mediaType"] != _BUNDLE:
        return Why.SIGNATURE_MALFORMED
    pinned = _sigstore_keys(keys)
    certificate = bundle["verificationMaterial"].get("certificate")
    if certificate is not None:
        raw = base64.b64decode(certificate["rawBytes"], validate=True)
        held = _spki(load_der_x509_certificate(raw).public_key())
        pinned = {name: key for name, key in pinned.items() if _spki(key) == held}
    if not pinned:
        return Why.KEY_UNKNOWN
    if ("messageSignature" in bundle) is ("dsseEnvelope" in bundle):
        return Why.SIGNATURE_MALFORMED
    if "dsseEnvelope" in bundle:
        return _check_envelope(bundle["dsseEnvelope"], signed, pinned=pinned)
    return _check_message(bundle["messageSignature"], signed, pinned=pinned)


def _check_message(
    told: Mapping[str, Any], signed: Signed, *, pinned: Mapping[str, _PublicKey]
) -> Found:
    digest = told["messageDigest"]
    if digest["algorithm"] != "SHA2_256":
        return Why.SIGNATURE_MALFORMED
    if _bytes(digest["digest"], 32).hex() != signed.sha256:
        return Why.SUBJECT_DIFFERS
    signature = base64.b64decode(told["signature"], validate=True)
    for name, key in pinned.items():
        if isinstance(key, Ed25519PublicKey):
            if signed.whole is None:
                return Why.TOO_LARGE
            if _holds(key, signature, signed.whole):
                return SignedBy(name)
        elif _holds_hash(key, signature, bytes.fromhex(signed.sha256)):
            return SignedBy(name)
    return Why.SIGNATURE_INVALID


def _check_envelope(
    envelope: Mapping[str, Any], signed: Signed, *, pinned: Mapping[str, _PublicKey]
) -> Found:
    kind, payload = envelope["payloadType"], base64.b64decode(envelope["payload"], validate=True)
    (row,) = envelope["signatures"]
    signature = base64.b64decode(row["sig"], validate=True)
    if kind != _IN_TOTO:
        return Why.SIGNATURE_MALFORMED
    message = b"DSSEv1 %d %s %d %s" % (len(kind), kind.encode(), len(payload), payload)
    for name, key in pinned.items():
        if isinstance(key, Ed25519PublicKey):
            is_good = _holds(key, signature, message)
        else:
            is_good = _holds_hash(key, signature, None, message=message)
        if is_good:  # only then is what it says looked at
            return SignedBy(name) if _is_about(payload, signed.sha256) else Why.SUBJECT_DIFFERS
    return Why.SIGNATURE_INVALID


def _is_about(payload: bytes, sha256: str) -> bool:
    """Whether a statement says of the bytes that they are signed, and nothing else of them.

    An attestation of another sort (a scan that failed) is signed too, and is no leave to use them.
    """
    told = json.loads(payload, object_pairs_hook=_once)
    if told["_type"] != _STATEMENT or told["predicateType"] != _SIGNED:
        return False
    return any(each["digest"].get("sha256") == sha256 for each in told["subject"])


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):  # two readers could see two things
        raise ValueError
    return found


def _holds(key: Ed25519PublicKey, signature: bytes, message: bytes) -> bool:
    try:
        key.verify(signature, message)
    except InvalidSignature:
        return False
    return True


def _holds_hash(
    key: ec.EllipticCurvePublicKey,
    signature: bytes,
    digest: bytes | None,
    *,
    message: bytes = b"",
) -> bool:
    try:
        if digest is None:
            key.verify(signature, message, ec.ECDSA(SHA256()))
        else:
            key.verify(signature, digest, ec.ECDSA(Prehashed(SHA256())))
    except InvalidSignature:
        return False
    return True
