"""What a TPM writes is read strictly: every byte has its meaning, and there are no others."""

from __future__ import annotations

import hashlib
import struct
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.attestation.tpm.keys import check_ak, check_signature
from bailiwick.attestation.tpm.structures import (
    EccKey,
    Reader,
    RsaKey,
    TpmPublic,
    TpmSignature,
    name_of,
    qualified_name_of,
    read_public,
    read_quote,
    read_selections,
    read_signature,
)
from bailiwick.attestation.verdict import EvidenceError
from tests.support.paper_tpm import (
    BOUND,
    QUOTE,
    RSA,
    ak_public,
    ek_public,
    selection,
    sign,
    sized,
)


def rsa_public(
    *, bits: int = 2048, exponent: int = 0, scheme: int = 0x14, modulus: int | None = None
) -> bytes:
    number = RSA.public_key().public_numbers().n if modulus is None else modulus
    area = struct.pack(">HHI", 1, 0x0B, BOUND | 1 << 18) + sized(b"") + struct.pack(">H", 0x10)
    area += struct.pack(">HHHI", scheme, 0x0B, bits, exponent)
    return sized(area + sized(number.to_bytes((number.bit_length() + 7) // 8, "big")))


READERS = {
    "public": (read_public, ak_public()),
    "endorsement": (read_public, ek_public()),
    "rsa": (read_public, rsa_public()),
    "quote": (read_quote, QUOTE.packed()),
    "signature": (read_signature, sign(b"")),
}


@pytest.mark.parametrize("which", READERS)
def test_every_cut_and_every_longer_structure_is_refused(which: str) -> None:
    read, raw = READERS[which]
    read(raw)
    for end in range(len(raw)):
        with pytest.raises(EvidenceError):
            read(raw[:end])
    for more in (b"\0", b"\xff" * 7):
        with pytest.raises(EvidenceError, match="malformed"):
            read(raw + more)


@given(st.sampled_from(sorted(READERS)), st.data())
def test_any_bytes_give_a_structure_or_the_readers_own_error(
    which: str, data: st.DataObject
) -> None:
    read, raw = READERS[which]
    at = data.draw(st.integers(0, len(raw)))
    changed = raw[:at] + data.draw(st.binary(max_size=8)) + raw[at + data.draw(st.integers(0, 8)) :]
    for given_bytes in (changed, data.draw(st.binary(max_size=300))):
        try:
            read(given_bytes)
        except EvidenceError:
            continue


def test_a_structure_beyond_all_sizes_is_not_even_read() -> None:
    for read, _ in READERS.values():
        with pytest.raises(EvidenceError, match="5000 bytes"):
            read(bytes(5000))


@given(
    st.dictionaries(
        st.sampled_from(["sha1", "sha256", "sha384", "sha512"]), st.sets(st.integers(0, 23))
    )
)
def test_a_selection_is_read_as_it_was_written(banks: dict[str, set[int]]) -> None:
    fields = Reader(selection(banks), "a selection")
    found = read_selections(fields)
    fields.done()
    assert [each.registers for each in found] == [tuple(sorted(some)) for some in banks.values()]


@pytest.mark.parametrize("size", [0, 5, 255])
def test_a_selection_of_more_registers_than_there_are_is_refused(size: int) -> None:
    chosen = struct.pack(">IHB", 1, 0x0B, size) + b"\1" * size
    with pytest.raises(EvidenceError, match="malformed"):
        read_quote(replace(QUOTE, selection=chosen).packed())


def test_too_many_selections_are_refused_before_they_are_read() -> None:
    with pytest.raises(EvidenceError, match="selections"):
        read_quote(replace(QUOTE, selection=struct.pack(">I", 2**32 - 1)).packed())


def test_a_name_is_the_digest_of_the_area_as_it_came() -> None:
    area = ak_public()[2:]
    assert name_of(ak_public()) == b"\x00\x0b" + hashlib.sha256(area).digest()
    longer = ak_public(name_alg=0x0C)
    assert name_of(longer) == b"\x00\x0c" + hashlib.sha384(longer[2:]).digest()


def test_a_qualified_name_hangs_on_the_whole_line_of_keys() -> None:
    root = b"\x40\x00\x00\x0b"
    ek = b"\x00\x0b" + hashlib.sha256(root + name_of(ek_public())).digest()
    ak = b"\x00\x0b" + hashlib.sha256(ek + name_of(ak_public())).digest()
    assert qualified_name_of(ak_public(), ek_public()) == ak
    assert qualified_name_of(ak_public(), ek_public("other")) != ak


def test_keys_are_the_numbers_in_the_area() -> None:
    point = read_public(ak_public()).key
    assert isinstance(point, EccKey)
    assert point.load().curve.name == "secp256r1"
    number = read_public(rsa_public()).key
    assert number == RsaKey(2048, 65537, RSA.public_key().public_numbers().n)
    assert number.load().key_size == 2048


def test_a_point_off_the_curve_is_no_key() -> None:
    raw = ak_public()
    key = read_public(raw[:-1] + bytes([raw[-1] ^ 1])).key
    with pytest.raises(EvidenceError, match="malformed"):
        key.load()


@pytest.mark.parametrize(
    ("bits", "modulus", "word"),
    [
        (1024, 1 << 1023, "RSA with 1024"),
        (2048, 1 << 1023, "said to be"),
        (2047, None, "said to be"),
    ],
)
def test_a_small_modulus_and_one_of_another_size_are_refused(
    bits: int, modulus: int | None, word: str
) -> None:
    with pytest.raises(EvidenceError, match=word):
        read_public(rsa_public(bits=bits, modulus=modulus))


@pytest.mark.parametrize("salt", [padding.PSS.DIGEST_LENGTH, padding.PSS.MAX_LENGTH])
def test_both_lengths_of_salt_are_a_tpms(salt: int) -> None:
    signature = RSA.sign(b"x", padding.PSS(padding.MGF1(hashes.SHA256()), salt), hashes.SHA256())
    check_signature(pss_key(), TpmSignature(0x16, 0x0B, rsa=signature), signed=b"x")
    with pytest.raises(EvidenceError, match="bad_signature"):
        check_signature(pss_key(), TpmSignature(0x16, 0x0B, rsa=signature), signed=b"y")


def test_a_signature_counts_only_in_the_scheme_of_the_key() -> None:
    signature = RSA.sign(b"x", padding.PKCS1v15(), hashes.SHA256())
    check_signature(check_ak(rsa_public()), TpmSignature(0x14, 0x0B, rsa=signature), signed=b"x")
    for scheme, scheme_hash in ((0x16, 0x0B), (0x14, 0x0C), (0x18, 0x0B)):
        claimed = TpmSignature(scheme, scheme_hash, rsa=signature)
        with pytest.raises(EvidenceError, match="scheme_mismatch"):
            check_signature(check_ak(rsa_public()), claimed, signed=b"x")


def pss_key() -> TpmPublic:
    return check_ak(rsa_public(scheme=0x16))
