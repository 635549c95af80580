"""Strict readers of the structures that a TPM 2.0 signs, exports and signs with.

Rules:

- Every field is read with its length; what does not fit, and what is left over, is malformed.
- Only what an attestation can need is known: RSA of 2048 to 4096 bits, P-256, P-384 and P-521;
  RSASSA, RSAPSS and ECDSA. A key of another kind is refused under the word that its reader gives.
- A name is the digest of the bytes as they came; nothing is written again to be hashed.

>>> read_selections(Reader(bytes.fromhex("00000001000b03830000"), "a selection"))
(PcrSelection(bank=11, registers=(0, 1, 7)),)
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from cryptography.hazmat.primitives.asymmetric import ec, rsa

from bailiwick.attestation.verdict import EvidenceError, refuse
from bailiwick.vocab.trust import UntrustedReason

SHA1, SHA256, SHA384, SHA512 = 0x0004, 0x000B, 0x000C, 0x000D
HASHES: dict[int, Callable[..., Any]] = {
    SHA1: hashlib.sha1,
    SHA256: hashlib.sha256,
    SHA384: hashlib.sha384,
    SHA512: hashlib.sha512,
}
HASH_NAMES = {SHA1: "sha1", SHA256: "sha256", SHA384: "sha384", SHA512: "sha512"}
HASH_BYTES = {SHA1: 20, SHA256: 32, SHA384: 48, SHA512: 64}
RSASSA, RSAPSS, OAEP, ECDSA = 0x0014, 0x0016, 0x0017, 0x0018
AES, CFB = 0x0006, 0x0043
FIXED_TPM, FIXED_PARENT, SENSITIVE_DATA_ORIGIN = 1 << 1, 1 << 4, 1 << 5
RESTRICTED, DECRYPT, SIGN = 1 << 16, 1 << 17, 1 << 18
GENERATED_MAGIC, ATTEST_QUOTE = 0xFF544347, 0x8018
STRUCTURE_BYTES_MAX = 4096
"""The largest of them, a public area with a 4096-bit modulus, has some 600 bytes."""

_RSA, _ECC, _NULL = 0x0001, 0x0023, 0x0010
_CURVES: dict[int, tuple[ec.EllipticCurve, int]] = {
    0x0003: (ec.SECP256R1(), 32),
    0x0004: (ec.SECP384R1(), 48),
    0x0005: (ec.SECP521R1(), 66),
}
_ENDORSEMENT = 0x4000000B.to_bytes(4, "big")
_SELECTIONS_MAX = 16


class Reader:
    """Big-endian fields one after another."""

    __slots__ = ("_at", "_raw", "_what")

    def __init__(self, raw: bytes, what: str) -> None:
        if len(raw) > STRUCTURE_BYTES_MAX:
            raise malformed(f"{what} of {len(raw)} bytes")
        self._raw, self._at, self._what = raw, 0, what

    def take(self, count: int) -> bytes:
        """The next so many bytes."""
        end = self._at + count
        if end > len(self._raw):
            raise malformed(f"{self._what} ends inside a field at offset {self._at}")
        found = self._raw[self._at : end]
        self._at = end
        return found

    def number(self, width: int) -> int:
        """An unsigned integer of so many bytes."""
        return int.from_bytes(self.take(width), "big")

    def sized(self, most: int) -> bytes:
        """A byte string with its length in two bytes before it."""
        count = self.number(2)
        if count > most:
            raise malformed(f"{self._what}: {count} bytes where at most {most} belong")
        return self.take(count)

    def done(self) -> None:
        """Refuse what is left over."""
        if self._at != len(self._raw):
            raise malformed(f"{self._what}: {len(self._raw) - self._at} bytes after its end")


@dataclass(frozen=True, slots=True)
class RsaKey:
    """An RSA public key; a TPM writes the usual exponent as 0."""

    bits: int
    exponent: int
    modulus: int

    def load(self) -> rsa.RSAPublicKey:
        """The key of the library."""
        try:
            return rsa.RSAPublicNumbers(self.exponent, self.modulus).public_key()
        except ValueError as error:
            raise malformed(f"an RSA key: {error}") from None


@dataclass(frozen=True, slots=True)
class EccKey:
    """A point of a curve; ``width`` is the length of a coordinate in bytes."""

    curve: ec.EllipticCurve = field(compare=False)
    width: int
    x: int
    y: int

    def load(self) -> ec.EllipticCurvePublicKey:
        """The key of the library, which refuses a point that is not on the curve."""
        try:
            return ec.EllipticCurvePublicNumbers(self.x, self.y, self.curve).public_key()
        except ValueError as error:
            raise malformed(f"a key of {self.curve.name}: {error}") from None


TpmKey: TypeAlias = RsaKey | EccKey


@dataclass(frozen=True, slots=True)
class TpmPublic:
    """A public area (TPMT_PUBLIC): a key, what it may do, and the bytes that name it."""

    raw: bytes = field(repr=False)
    name_alg: int
    attributes: int
    symmetric_bits: int | None
    """Of AES in CFB mode, which a parent protects its children with; None if it has none."""
    scheme: int | None
    scheme_hash: int | None
    key: TpmKey

    @property
    def name(self) -> bytes:
        """The algorithm and the digest of the public area."""
        return _named(self.name_alg, self.raw)

    @property
    def identity(self) -> str:
        """SHA-256 of the public area, whatever it is named by: what a machine goes by."""
        return hashlib.sha256(self.raw).hexdigest()


@dataclass(frozen=True, slots=True)
class TpmSignature:
    """A signature with the scheme that it says it was made with."""

    scheme: int
    scheme_hash: int
    rsa: bytes = b""
    r: int = 0
    s: int = 0


@dataclass(frozen=True, slots=True)
class PcrSelection:
    """Registers of one bank, in the order in which they are hashed."""

    bank: int
    registers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Quote:
    """What a TPM says of itself when it is asked for its registers."""

    signer: bytes
    """The qualified name of the key: its name, its parent's, up to the hierarchy."""
    nonce: bytes
    clock: int
    reset_count: int
    restart_count: int
    is_clock_safe: bool
    firmware_version: int
    selections: tuple[PcrSelection, ...]
    digest: bytes


def read_public(
    raw: bytes, what: str = "a key", *, unfit: UntrustedReason = UntrustedReason.MALFORMED
) -> TpmPublic:
    """A TPM2B_PUBLIC: two bytes of size, then the public area. ``unfit``: a key of no use here."""
    outer = Reader(raw, what)
    area = outer.sized(STRUCTURE_BYTES_MAX)
    outer.done()
    fields = Reader(area, what)
    kind, name_alg, attributes = fields.number(2), fields.number(2), fields.number(4)
    fields.sized(64)  # the authorisation policy: the TPM's business
    if kind not in (_RSA, _ECC) or name_alg not in HASHES:
        raise refuse(unfit, f"{what} of type {kind:#06x}, named by hash {name_alg:#06x}")
    try:
        symmetric_bits = _symmetric(fields)
        scheme, scheme_hash = _scheme(fields)
        key = _rsa_key(fields) if kind == _RSA else _ecc_key(fields)
    except _UnfitError as error:
        raise refuse(unfit, f"{what} {error}") from None
    fields.done()
    return TpmPublic(area, name_alg, attributes, symmetric_bits, scheme, scheme_hash, key)


def read_signature(raw: bytes) -> TpmSignature:
    """A TPMT_SIGNATURE."""
    fields = Reader(raw, "the signature")
    scheme = fields.number(2)
    if scheme not in (RSASSA, RSAPSS, ECDSA):
        raise malformed(f"the signature: scheme {scheme:#06x}")
    scheme_hash = fields.number(2)
    if scheme_hash not in HASHES:
        raise malformed(f"the signature: hash {scheme_hash:#06x}")
    if scheme == ECDSA:
        r, s = (int.from_bytes(fields.sized(66), "big") for _ in range(2))
        found = TpmSignature(scheme, scheme_hash, r=r, s=s)
    else:
        found = TpmSignature(scheme, scheme_hash, rsa=fields.sized(512))
    fields.done()
    return found


def read_quote(raw: bytes) -> Quote:
    """A TPMS_ATTEST, if a TPM made it and it is a quote."""
    fields = Reader(raw, "the quote")
    magic = fields.number(4)
    if magic != GENERATED_MAGIC:
        raise refuse(UntrustedReason.BAD_MAGIC, f"{magic:#010x}: not of a TPM's making")
    kind = fields.number(2)
    if kind != ATTEST_QUOTE:
        raise refuse(UntrustedReason.NOT_A_QUOTE, f"an attestation of type {kind:#06x}")
    signer, nonce = fields.sized(66), fields.sized(64)
    clock, reset_count, restart_count = fields.number(8), fields.number(4), fields.number(4)
    safe = fields.number(1)
    if safe > 1:
        raise malformed(f"the quote: {safe} where yes (1) or no (0) belongs")
    firmware_version = fields.number(8)
    selections, digest = read_selections(fields), fields.sized(64)
    fields.done()
    return Quote(
        signer=signer,
        nonce=nonce,
        clock=clock,
        reset_count=reset_count,
        restart_count=restart_count,
        is_clock_safe=bool(safe),
        firmware_version=firmware_version,
        selections=selections,
        digest=digest,
    )


def read_selections(fields: Reader) -> tuple[PcrSelection, ...]:
    """A TPML_PCR_SELECTION, in its own order."""
    count = fields.number(4)
    if count > _SELECTIONS_MAX:
        raise malformed(f"{count} selections of registers")
    found = []
    for _ in range(count):
        bank, size = fields.number(2), fields.number(1)
        if not 1 <= size <= 4:
            raise malformed(f"a selection of registers in {size} bytes")
        bits = int.from_bytes(fields.take(size), "little")
        found.append(PcrSelection(bank, tuple(i for i in range(8 * size) if bits >> i & 1)))
    return tuple(found)


def name_of(public: bytes) -> bytes:
    """The name of the key with that TPM2B_PUBLIC."""
    return read_public(public).name


def qualified_name_of(ak_public: bytes, ek_public: bytes) -> bytes:
    """The same for a key directly under an endorsement key, both as TPM2B_PUBLIC."""
    return qualified_name(read_public(ak_public), read_public(ek_public))


def qualified_name(ak: TpmPublic, ek: TpmPublic) -> bytes:
    """What a TPM signs as: the key's name, hashed with its parent's and the hierarchy's."""
    parent = _named(ek.name_alg, _ENDORSEMENT + ek.name)
    return _named(ak.name_alg, parent + ak.name)


def malformed(where: str) -> EvidenceError:
    """The error of every reader here."""
    return refuse(UntrustedReason.MALFORMED, f"TPM: {where}")


def _named(algorithm: int, content: bytes) -> bytes:
    digest: bytes = HASHES[algorithm](content).digest()
    return algorithm.to_bytes(2, "big") + digest


class _UnfitError(Exception):
    """A public area of a kind that no verifier here uses, in words."""


def _symmetric(fields: Reader) -> int | None:
    algorithm = fields.number(2)
    if algorithm == _NULL:
        return None
    bits, mode = fields.number(2), fields.number(2)
    if algorithm != AES or mode != CFB or bits not in (128, 192, 256):
        raise _UnfitError(f"with cipher {algorithm:#06x} of {bits} bits in mode {mode:#06x}")
    return bits


def _scheme(fields: Reader) -> tuple[int | None, int | None]:
    scheme = fields.number(2)
    if scheme == _NULL:
        return None, None
    if scheme not in (RSASSA, RSAPSS, OAEP, ECDSA):
        raise _UnfitError(f"with scheme {scheme:#06x}")
    scheme_hash = fields.number(2)
    if scheme_hash not in HASHES:
        raise _UnfitError(f"with a scheme of hash {scheme_hash:#06x}")
    return scheme, scheme_hash


def _rsa_key(fields: Reader) -> RsaKey:
    bits, exponent = fields.number(2), fields.number(4) or 65537
    modulus = int.from_bytes(fields.sized(512), "big")
    if modulus.bit_length() != bits:
        raise malformed(f"a modulus of {modulus.bit_length()} bits, said to be {bits}")
    if bits not in (2048, 3072, 4096):
        raise _UnfitError(f"of RSA with {bits} bits")
    return RsaKey(bits, exponent, modulus)


def _ecc_key(fields: Reader) -> EccKey:
    curve_id, derivation = fields.number(2), fields.number(2)
    if curve_id not in _CURVES or derivation != _NULL:
        raise _UnfitError(f"on curve {curve_id:#06x} with key derivation {derivation:#06x}")
    curve, width = _CURVES[curve_id]
    x, y = (int.from_bytes(fields.sized(width), "big") for _ in range(2))
    return EccKey(curve, width, x, y)
