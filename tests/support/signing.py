"""A signer for tests: minisign in both forms, and Sigstore bundles, made as their formats say."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

BUNDLE = "application/vnd.dev.sigstore.bundle.v0.3+json"


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


@dataclass(frozen=True)
class MinisignSigner:
    """One key pair of minisign."""

    key: Ed25519PrivateKey = field(default_factory=Ed25519PrivateKey.generate)
    key_id: bytes = b"\1\2\3\4\5\6\7\x08"

    @property
    def public(self) -> str:
        """As a source names it."""
        return _text(b"Ed" + self.key_id + self.key.public_key().public_bytes_raw())

    def sign(self, data: bytes, *, legacy: bool = False, comment: str = "file:it") -> str:
        """The text of a ``.minisig`` file."""
        form, message = b"ED", hashlib.blake2b(data).digest()
        if legacy:
            form, message = b"Ed", data
        signature = self.key.sign(message)
        sealing = self.key.sign(signature + comment.encode())
        return (
            f"untrusted comment: signature from a test\n{_text(form + self.key_id + signature)}\n"
            f"trusted comment: {comment}\n{_text(sealing)}\n"
        )


@dataclass(frozen=True)
class BundleSigner:
    """One key pair for Sigstore bundles."""

    key: ec.EllipticCurvePrivateKey | Ed25519PrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )

    @property
    def public(self) -> str:
        """As a source names it."""
        made = self.key.public_key()
        spelled = made.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return "sigstore:" + _text(spelled)

    def _sign(self, message: bytes) -> bytes:
        if isinstance(self.key, Ed25519PrivateKey):
            return self.key.sign(message)
        return self.key.sign(message, ec.ECDSA(SHA256()))

    def message(self, data: bytes, *, claimed: bytes | None = None) -> dict[str, Any]:
        """A bundle with a message signature."""
        digest = hashlib.sha256(data if claimed is None else claimed).digest()
        return {
            "mediaType": BUNDLE,
            "verificationMaterial": {"publicKey": {"hint": "any"}, "tlogEntries": []},
            "messageSignature": {
                "messageDigest": {"algorithm": "SHA2_256", "digest": _text(digest)},
                "signature": _text(self._sign(data)),
            },
        }

    def envelope(
        self, data: bytes, *, predicate: str = "https://sigstore.dev/cosign/sign/v1"
    ) -> dict[str, Any]:
        """A bundle with a DSSE envelope, as ``cosign sign`` makes it."""
        statement = {
            "_type": "https://in-toto.io/Statement/v1",
            "subject": [{"digest": {"sha256": hashlib.sha256(data).hexdigest()}}],
            "predicateType": predicate,
            "predicate": {},
        }
        kind, payload = b"application/vnd.in-toto+json", json.dumps(statement).encode()
        signature = self._sign(b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload))
        return {
            "mediaType": BUNDLE,
            "verificationMaterial": {"publicKey": {"hint": "any"}},
            "dsseEnvelope": {
                "payload": _text(payload),
                "payloadType": kind.decode(),
                "signatures": [{"sig": _text(signature), "keyid": ""}],
            },
        }
