"""A credential for enrolment: a secret that only one TPM can read, and only for one of its keys.

The TPM that holds the endorsement key gives the secret out if the key whose name the credential
carries is loaded beside it. Handing the secret back proves that both keys live in one TPM, which
no certificate says of an attestation key.

Rules:

- Chance is an argument, so that the same input gives the same bytes: ``CHANCE_BYTES`` from a source
  fit for keys, fresh for each credential and never used for anything else.
- The cipher is that of the endorsement key's own template (AES of 128 to 256 bits), the hash that
  of its name; labels and derivation as the TPM's specification has them (KDFa, KDFe, OAEP).
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass

from cryptography.hazmat.decrepit.ciphers.modes import CFB
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

from bailiwick.attestation.tpm.structures import (
    HASH_BYTES,
    HASH_NAMES,
    HASHES,
    EccKey,
    RsaKey,
    TpmPublic,
)
from bailiwick.vocab.errors import InvalidValue

CHANCE_BYTES = 160
"""A seed and the randomness of its padding (64 bytes each at most), or a scalar of a curve."""

SECRET_BYTES_MAX = 32
_IDENTITY, _STORAGE, _INTEGRITY = b"IDENTITY\0", b"STORAGE\0", b"INTEGRITY\0"


@dataclass(frozen=True, slots=True)
class Credential:
    """What the node hands its TPM: TPM2B_ID_OBJECT and TPM2B_ENCRYPTED_SECRET."""

    blob: bytes
    encrypted_secret: bytes


def make_credential(ek: TpmPublic, ak_name: bytes, *, secret: bytes, chance: bytes) -> Credential:
    """The secret, readable in the TPM of ``ek`` if a key of that name is there."""
    if not 1 <= len(secret) <= SECRET_BYTES_MAX:
        raise InvalidValue("secret", "bytes", f"1 to {SECRET_BYTES_MAX} bytes")
    if len(chance) != CHANCE_BYTES:
        raise InvalidValue("chance", "bytes", f"{CHANCE_BYTES} bytes")
    if ek.symmetric_bits is None:
        raise InvalidValue("ek", "a key without a cipher", "an endorsement key")
    match ek.key:
        case RsaKey() as key:
            seed, encrypted = _seed_by_rsa(key, chance, algorithm=ek.name_alg)
        case EccKey() as key:
            seed, encrypted = _seed_by_curve(key, chance, algorithm=ek.name_alg)
    bits = ek.symmetric_bits
    cipher_key = _kdfa(ek.name_alg, seed, label=_STORAGE, context=ak_name, bits=bits)
    cipher = Cipher(algorithms.AES(cipher_key), CFB(bytes(16))).encryptor()
    wrapped = cipher.update(_sized(secret)) + cipher.finalize()
    size = HASH_BYTES[ek.name_alg]
    mac_key = _kdfa(ek.name_alg, seed, label=_INTEGRITY, context=b"", bits=8 * size)
    mac = hmac.digest(mac_key, wrapped + ak_name, HASH_NAMES[ek.name_alg])
    return Credential(_sized(_sized(mac) + wrapped), _sized(encrypted))


def _seed_by_rsa(key: RsaKey, chance: bytes, *, algorithm: int) -> tuple[bytes, bytes]:
    """A seed from chance, and the same in OAEP. The library would take its own chance for that."""
    hashed, size, width = HASHES[algorithm], HASH_BYTES[algorithm], key.bits // 8
    seed, padding = chance[:size], chance[64 : 64 + size]
    zeros = bytes(width - 2 * size - 2 - len(seed))
    block = hashed(_IDENTITY).digest() + zeros + b"\1" + seed
    masked = _xor(block, _mask(padding, len(block), algorithm=algorithm))
    head = _xor(padding, _mask(masked, size, algorithm=algorithm))
    number = pow(int.from_bytes(head + masked, "big"), key.exponent, key.modulus)
    return seed, number.to_bytes(width, "big")


def _seed_by_curve(key: EccKey, chance: bytes, *, algorithm: int) -> tuple[bytes, bytes]:
    """A seed agreed with the key by a pair made from chance, and the public half of that pair."""
    scalar = int.from_bytes(chance, "big") % (key.curve.group_order - 1) + 1
    own = ec.derive_private_key(scalar, key.curve)
    shared = own.exchange(ec.ECDH(), key.load())
    point = own.public_key().public_numbers()
    x, y, theirs = (each.to_bytes(key.width, "big") for each in (point.x, point.y, key.x))
    content = (1).to_bytes(4, "big") + shared + _IDENTITY + x + theirs
    seed: bytes = HASHES[algorithm](content).digest()
    return seed, _sized(x) + _sized(y)


def _kdfa(algorithm: int, key: bytes, *, label: bytes, context: bytes, bits: int) -> bytes:
    """So many bits (whole bytes) from a key, for a purpose."""
    tail, found = label + context + bits.to_bytes(4, "big"), b""
    for counter in range(1, bits // 8 // HASH_BYTES[algorithm] + 2):
        found += hmac.digest(key, counter.to_bytes(4, "big") + tail, HASH_NAMES[algorithm])
    return found[: bits // 8]


def _mask(seed: bytes, count: int, *, algorithm: int) -> bytes:
    """MGF1."""
    hashed, found = HASHES[algorithm], b""
    for counter in range(count // HASH_BYTES[algorithm] + 1):
        found += hashed(seed + counter.to_bytes(4, "big")).digest()
    return found[:count]


def _xor(left: bytes, right: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(left, right, strict=True))


def _sized(value: bytes) -> bytes:
    return len(value).to_bytes(2, "big") + value
