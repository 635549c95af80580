"""The keys that sign checkpoints: their text form, and which keys are refused outright.

Rules:

- A key of small order is refused when it is read and again when it is used: OpenSSL accepts it,
  and with such a key one signature can verify for every message.
- A key is written in the one canonical way. Bytes that are no point of the curve pass here: they
  verify nothing.
- A verifier key reads ``name+id+base64(algorithm || key)`` and its id is the first four bytes of
  SHA-256 over name, newline, algorithm and key; the id is computed, never believed.
- A private key stays with whoever holds the :class:`Signer`; this package only asks it to sign.

>>> key = "example.com/log/testdata+33d7b496+AeHTu4Q3hEIMHNqc6fASMsq3rKNx280NI+oO5xCFkkSx"
>>> parse_vkey(key).name
'example.com/log/testdata'
>>> check_public_key(bytes(32))  # doctest: +ELLIPSIS
Traceback (most recent call last):
...
bailiwick.journal.keys.WeakKey: public_key: expected a key that is not of small order, got '000...
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode, b64encode
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from hashlib import sha256
from typing import Protocol

from bailiwick.vocab.ed25519_points import KEY_BYTES, PRIME, is_small_order, y_of
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_kind

SIGNATURE_BYTES = 64
NAME_BYTES_MAX = 255
VKEY_CHARS_MAX = 512

_VKEY = re.compile(r"([^+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})")


class KeyAlgorithm(IntEnum):
    """How a key signs: a log its checkpoints, or a witness what it saw, with the time."""

    ED25519 = 1
    COSIGNATURE = 4


class WeakKey(InvalidValue):
    """A public key of small order: whoever trusts it trusts everyone."""


class Signer(Protocol):
    """Someone who holds a private key. Handed in; never made here from chance."""

    @property
    def name(self) -> str:
        """The key's name; for a log its origin."""

    @property
    def public_key(self) -> bytes:
        """The 32 bytes that verify."""

    def sign(self, message: bytes) -> bytes:
        """The 64-byte Ed25519 signature of the message."""


def decode_base64(field: str, text: str) -> bytes:
    """The bytes of standard base64 in its one canonical spelling."""
    try:
        data = b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise InvalidValue(field, text, "standard base64") from None
    if b64encode(data).decode("ascii") != text:
        raise InvalidValue(field, text, "base64 without stray bits")
    return data


def check_key_name(field: str, value: object) -> str:
    """The value if it can be a key's name: no spaces, no plus, no control characters."""
    if not isinstance(value, str) or not value or len(value.encode("utf-8")) > NAME_BYTES_MAX:
        raise InvalidValue(field, value, f"1 to {NAME_BYTES_MAX} bytes")
    if any(char.isspace() or char < " " or char == "+" for char in value):
        raise InvalidValue(field, value, "no space, plus or control character")
    return value


@lru_cache(maxsize=1024)
def check_public_key(key: bytes) -> bytes:
    """The key if it is written canonically and is not of small order."""
    if not isinstance(key, bytes) or len(key) != KEY_BYTES:
        raise InvalidValue("public_key", key, f"{KEY_BYTES} bytes")
    if is_small_order(key):
        raise WeakKey("public_key", key.hex(), "a key that is not of small order")
    if y_of(key) >= PRIME:
        raise InvalidValue("public_key", key.hex(), "a canonical encoding")
    return key


def signature_holds(public_key: bytes, message: bytes, *, signature: bytes) -> bool:
    """Whether the key, once more found not to be weak, signed the message."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    key = Ed25519PublicKey.from_public_bytes(check_public_key(public_key))
    if len(signature) != SIGNATURE_BYTES:
        return False
    try:
        key.verify(signature, message)
    except InvalidSignature:
        return False
    return True


def key_id(name: str, public_key: bytes, *, algorithm: KeyAlgorithm) -> bytes:
    """The four bytes that, with the name, tell which key signed."""
    return sha256(name.encode("utf-8") + bytes((0x0A, algorithm)) + public_key).digest()[:4]


@dataclass(frozen=True, slots=True)
class VerifierKey:
    """A public key with its name and its way of signing; weak ones cannot be made."""

    name: str
    public_key: bytes
    algorithm: KeyAlgorithm = KeyAlgorithm.ED25519

    def __post_init__(self) -> None:
        check_key_name("name", self.name)
        check_public_key(self.public_key)
        check_kind("algorithm", self.algorithm, KeyAlgorithm)

    @classmethod
    def of(cls, signer: Signer, algorithm: KeyAlgorithm = KeyAlgorithm.ED25519) -> VerifierKey:
        """The key that verifies what this signer signs."""
        return cls(signer.name, signer.public_key, algorithm)

    @property
    def id(self) -> bytes:
        """Computed from name, algorithm and key."""
        return key_id(self.name, self.public_key, algorithm=self.algorithm)

    def __str__(self) -> str:
        packed = b64encode(bytes((self.algorithm,)) + self.public_key).decode("ascii")
        return f"{self.name}+{self.id.hex()}+{packed}"


def parse_vkey(text: str) -> VerifierKey:
    """The verifier key that this text is."""
    found = _VKEY.fullmatch(text) if len(text) <= VKEY_CHARS_MAX else None
    if found is None:
        raise InvalidValue("vkey", text, "name+id+base64")
    packed = decode_base64("vkey", found[3])
    if len(packed) != 1 + KEY_BYTES or packed[0] not in tuple(KeyAlgorithm):
        raise InvalidValue("vkey", text, "an Ed25519 key of algorithm 1 or 4")
    key = VerifierKey(found[1], packed[1:], KeyAlgorithm(packed[0]))
    if key.id.hex() != found[2]:
        raise InvalidValue("vkey", found[2], f"the id {key.id.hex()} of its name and key")
    return key


class SeedSigner:
    """A signer whose private key is a 32-byte seed that the caller has kept safe."""

    __slots__ = ("_key", "_name", "_public")

    def __init__(self, name: str, seed: bytes) -> None:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        self._name = check_key_name("name", name)
        if len(seed) != KEY_BYTES:
            raise InvalidValue("seed", f"{len(seed)} bytes", f"{KEY_BYTES} bytes")
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        self._public = self._key.public_key().public_bytes_raw()

    @property
    def name(self) -> str:
        """The key's name."""
        return self._name

    @property
    def public_key(self) -> bytes:
        """The 32 bytes that verify."""
        return self._public

    def sign(self, message: bytes) -> bytes:
        """The signature, the same each time for the same message."""
        return self._key.sign(message)
