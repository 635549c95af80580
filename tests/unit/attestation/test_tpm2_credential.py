"""A credential gives its secret to one TPM, for one of its keys; ours, opened by the book.

A real TPM opens them in tests/live/test_tpm_evidence.py.
"""

from __future__ import annotations

import hashlib
import hmac
import struct

import pytest
from cryptography.hazmat.decrepit.ciphers.modes import CFB
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

from bailiwick.attestation.tpm.credential import Credential, make_credential
from bailiwick.attestation.tpm.structures import read_public
from bailiwick.vocab.errors import InvalidValue
from tests.support.certificates import ec_key
from tests.support.paper_tpm import RSA, ak_public, ek_public, sized

CHANCE = bytes(range(160))
SECRET = hashlib.sha256(b"the secret").digest()
NAME = read_public(ak_public()).name


def rsa_ek() -> bytes:
    number = RSA.public_key().public_numbers().n
    area = ek_public()[2:10].replace(b"\x00\x23", b"\x00\x01", 1) + sized(b"")
    area += struct.pack(">HHHHHI", 6, 128, 0x43, 0x10, 2048, 0)
    return sized(area + sized(number.to_bytes(256, "big")))


def wide_ek() -> bytes:
    return ek_public(symmetric=struct.pack(">HHH", 6, 256, 0x43), name_alg=0x0C)


def fields(raw: bytes) -> list[bytes]:
    """Byte strings with their lengths, one after another."""
    found = []
    while raw:
        end = 2 + int.from_bytes(raw[:2], "big")
        found.append(raw[2:end])
        raw = raw[end:]
    return found


def opened(credential: Credential, ek: bytes, name: bytes, *, algorithm: str, bits: int) -> bytes:
    """What a TPM does with a credential, written from the specification and nothing of ours."""
    [blob], [secret] = fields(credential.blob), fields(credential.encrypted_secret)
    if read_public(ek).raw[:2] == b"\x00\x01":
        made = getattr(hashes, algorithm.upper())()
        oaep = padding.OAEP(padding.MGF1(made), made, b"IDENTITY\0")
        seed = RSA.decrypt(secret, oaep)
    else:
        x, y = fields(secret)
        theirs = ec.EllipticCurvePublicNumbers(
            int.from_bytes(x, "big"), int.from_bytes(y, "big"), ec.SECP256R1()
        ).public_key()
        own = ec_key("ek", ec.SECP256R1)
        shared = own.exchange(ec.ECDH(), theirs)
        mine = own.public_key().public_numbers().x.to_bytes(32, "big")
        seed = hashlib.new(algorithm, b"\0\0\0\1" + shared + b"IDENTITY\0" + x + mine).digest()
    size = 2 + int.from_bytes(blob[:2], "big")
    mac, wrapped = blob[2:size], blob[size:]
    size_bits = struct.pack(">I", 8 * len(mac))
    mac_key = hmac.digest(seed, b"\0\0\0\1INTEGRITY\0" + size_bits, algorithm)
    assert hmac.digest(mac_key, wrapped + name, algorithm) == mac, "integrity"
    context = b"\0\0\0\1STORAGE\0" + name + struct.pack(">I", bits)
    key = hmac.digest(seed, context, algorithm)[: bits // 8]
    plain = Cipher(algorithms.AES(key), CFB(bytes(16))).decryptor().update(wrapped)
    [found] = fields(plain)
    return found


KINDS = {
    "curve": (ek_public(), "sha256", 128),
    "wide": (wide_ek(), "sha384", 256),
    "rsa": (rsa_ek(), "sha256", 128),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_secret_comes_out_for_the_key_that_it_was_made_for(kind: str) -> None:
    ek, algorithm, bits = KINDS[kind]
    made = make_credential(read_public(ek), NAME, secret=SECRET, chance=CHANCE)
    assert opened(made, ek, NAME, algorithm=algorithm, bits=bits) == SECRET
    other = read_public(ak_public("other")).name
    with pytest.raises(AssertionError, match="integrity"):
        opened(made, ek, other, algorithm=algorithm, bits=bits)


@pytest.mark.parametrize("kind", KINDS)
def test_chance_is_handed_in_and_changes_everything(kind: str) -> None:
    ek = read_public(KINDS[kind][0])
    first, same = (make_credential(ek, NAME, secret=SECRET, chance=CHANCE) for _ in range(2))
    other = make_credential(ek, NAME, secret=SECRET, chance=CHANCE[::-1])
    assert first == same
    assert first.blob != other.blob
    assert first.encrypted_secret != other.encrypted_secret


def test_secret_chance_and_key_must_be_fit() -> None:
    ek = read_public(ek_public())
    for secret in (b"", bytes(33)):
        with pytest.raises(InvalidValue, match="secret"):
            make_credential(ek, NAME, secret=secret, chance=CHANCE)
    with pytest.raises(InvalidValue, match="chance"):
        make_credential(ek, NAME, secret=SECRET, chance=CHANCE[1:])
    with pytest.raises(InvalidValue, match="ek"):
        make_credential(read_public(ak_public()), NAME, secret=SECRET, chance=CHANCE)
