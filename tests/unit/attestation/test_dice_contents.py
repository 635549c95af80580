"""What a DICE layer tells, in each spelling: read as it was written, or refused."""

from __future__ import annotations

from hashlib import sha512
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.attestation.dice.open_dice import OpenClaims, read_open_claims, read_open_extension
from bailiwick.attestation.dice.tcg import (
    FLAG_BITS,
    INFOS_MAX,
    SVN_MAX,
    TcbInfo,
    read_multi_tcb_info,
    read_tcb_info,
    read_ueid,
)
from bailiwick.attestation.verdict import EvidenceError
from bailiwick.vocab.trust import UntrustedReason
from tests.support.evidence_dice import (
    Key,
    composite,
    der,
    der_integer,
    fwid,
    open_claims,
    open_extension,
)

OIDS = {
    32: "0609608648016503040201",
    48: "0609608648016503040202",
    64: "0609608648016503040203",
}
DIGESTS = st.sampled_from(sorted(OIDS)).flatmap(lambda n: st.binary(min_size=n, max_size=n))
NAMES = st.text(max_size=12)
FLAGS = st.frozensets(st.sampled_from(sorted(FLAG_BITS)))


def digest(value: bytes) -> bytes:
    return fwid(value, bytes.fromhex(OIDS[len(value)]))


def bits(flags: frozenset[str]) -> bytes:
    """The flags in a bit string of fixed width, as devices write it."""
    value = sum(1 << (31 - FLAG_BITS[name]) for name in flags) | 1
    return b"\0" + value.to_bytes(4, "big")


def refused(read: Any, raw: bytes) -> UntrustedReason:
    with pytest.raises(EvidenceError) as told:
        read(raw)
    return told.value.reason


@st.composite
def tcb_infos(draw: st.DrawFn) -> tuple[bytes, TcbInfo]:
    """A TcbInfo, written naively, and what it says."""
    model, kind = draw(st.none() | NAMES), draw(st.none() | st.binary(max_size=8))
    svn, flags = draw(st.none() | st.integers(0, SVN_MAX)), draw(st.none() | FLAGS)
    fwids = draw(st.lists(DIGESTS, max_size=3))
    register = der(0x30, der(0x81, b"\1"), der(0xA2, digest(bytes(32))))
    fields = [
        (0x80, b"vendor" if draw(st.booleans()) else None),
        (0x81, None if model is None else model.encode()),
        (0x82, b"1.0" if draw(st.booleans()) else None),
        (0x83, None if svn is None else der_integer(svn)[2:]),
        (0x84, b"\2" if draw(st.booleans()) else None),
        (0x85, b"\0" if draw(st.booleans()) else None),
        (0xA6, b"".join(map(digest, fwids)) if fwids else None),
        (0x87, None if flags is None else bits(flags)),
        (0x88, draw(st.none() | st.binary(max_size=8))),
        (0x89, kind),
        (0x8A, bits(frozenset()) if draw(st.booleans()) else None),
        (0xAB, register if draw(st.booleans()) else None),
    ]
    raw = der(0x30, *(der(tag, content) for tag, content in fields if content is not None))
    spelled = None if kind is None else kind.decode() if kind.isascii() else kind.hex()
    return raw, TcbInfo(model, spelled, svn, tuple(fwids), flags or frozenset())


@given(tcb_infos())
def test_a_tcb_info_is_read_as_it_was_written(pair: tuple[bytes, TcbInfo]) -> None:
    raw, info = pair
    assert read_tcb_info(raw) == info


@given(st.lists(tcb_infos(), min_size=1, max_size=4))
def test_several_are_read_in_their_order(pairs: list[tuple[bytes, TcbInfo]]) -> None:
    raw = der(0x30, *(each for each, _ in pairs))
    assert read_multi_tcb_info(raw) == tuple(info for _, info in pairs)


def test_the_number_of_parts_has_an_end() -> None:
    assert len(read_multi_tcb_info(der(0x30, *[der(0x30)] * INFOS_MAX))) == INFOS_MAX
    assert refused(read_multi_tcb_info, der(0x30, *[der(0x30)] * (INFOS_MAX + 1))) == "malformed"
    assert refused(read_multi_tcb_info, der(0x30)) == "malformed"


def test_the_older_identity_is_told_apart_from_a_tcb_info() -> None:
    key = Key("p384", "device")
    info = read_tcb_info(composite(key, bytes(32)))
    assert info == TcbInfo(fwids=(bytes(32),), device_key=key.spki)
    # Inside a list of several it has no place.
    assert refused(read_multi_tcb_info, der(0x30, composite(key, bytes(32)))) == "malformed"


SPKI, DIGEST, ONE = Key("p256", "x").spki, fwid(bytes(32)), der_integer(1)
REGISTER = der(0x81, b"\1")


@pytest.mark.parametrize(
    "parts",
    [
        (ONE, SPKI),
        (ONE, SPKI, DIGEST, DIGEST),
        (der_integer(2), SPKI, DIGEST),
        (ONE, DIGEST[2:], DIGEST),
        (ONE, SPKI, der(0x04, bytes(32))),
        (der(0x02), SPKI, DIGEST),
        (der(0x83, b"\0\0"),),
        (der(0x83, b"\xff"),),
        (der_integer(SVN_MAX + 1, 0x83),),
        (der(0xA3, b"\x02\x01\x01"),),
        (der(0x86, DIGEST),),
        (der(0xA6),),
        (der(0xA6, der(0x30, DIGEST[2:], b"\x05\x00")),),
        (der(0x87),),
        (der(0x87, b"\x08\0"),),
        (der(0x81, b"\xff"),),
        (der(0x8C, b"x"),),
        (der(0x04, b"x"),),
        (der(0xAB, der(0x30, REGISTER)),),
        (der(0xAB, der(0x30, der(0xA2, DIGEST))),),
        (der(0xAB, der(0x30, REGISTER, der(0xA2))),),
        (der(0xAB, der(0x30, der(0xA2, DIGEST), REGISTER)),),
    ],
)
def test_a_tcb_info_of_another_shape_is_malformed(parts: tuple[bytes, ...]) -> None:
    assert refused(read_tcb_info, der(0x30, *parts)) is UntrustedReason.MALFORMED


@given(st.binary(min_size=1, max_size=64))
def test_a_device_identifier_is_one_byte_string(value: bytes) -> None:
    raw = der(0x30, der(0x04, value))
    assert read_ueid(raw) == value
    for wrong in (raw + b"\0", der(0x04, value), der(0x30), der(0x30, der(0x04))):
        assert refused(read_ueid, wrong) is UntrustedReason.MALFORMED
    assert refused(read_ueid, der(0x30, der(0x04, bytes(65)))) is UntrustedReason.MALFORMED


# --- the open profile -----------------------------------------------------------------------------


@st.composite
def claim_sets(draw: st.DrawFn) -> dict[str, Any]:
    """Measurements, some left out, some with a configuration that does not fit its hash."""
    described = draw(st.none() | st.binary(max_size=20) | st.just(bytes(64)))
    right = None if described is None else sha512(described).digest()
    return {
        "code": draw(st.none() | DIGESTS | st.just(bytes(31))),
        "config_hash": draw(st.sampled_from([None, right, bytes(64)])),
        "config": described,
        "authority": draw(st.none() | DIGESTS),
        "mode": draw(st.none() | st.integers(0, 5)),
    }


def naive(claims: dict[str, Any]) -> OpenClaims | str:
    if claims["code"] is not None and len(claims["code"]) == 31:
        return "malformed"
    described, given_hash = claims["config"], claims["config_hash"]
    if given_hash is not None and (described is None or sha512(described).digest() != given_hash):
        return "configuration_hash"
    if given_hash is None and described is not None and len(described) != 64:
        return "configuration_hash"
    return OpenClaims(claims["mode"] if claims["mode"] in (1, 2, 3) else 0, claims["code"])


def outcome(read: Any, given_: Any) -> OpenClaims | str | None:
    try:
        found: OpenClaims | None = read(given_)
    except EvidenceError as error:
        return error.reason.value
    return found


@given(claim_sets())
def test_both_spellings_say_the_same_as_a_naive_reading(claims: dict[str, Any]) -> None:
    expected = naive(claims)
    labels = {"code": 0, "config_hash": 2, "config": 3, "authority": 4, "mode": 6}
    in_cbor = {
        -4670545 - labels[name]: bytes([value]) if name == "mode" else value
        for name, value in claims.items()
        if value is not None
    }
    assert outcome(read_open_claims, in_cbor) == (expected if in_cbor else None)
    for mode_tag in (0x0A, 0x02):
        assert outcome(read_open_extension, open_extension(claims, mode_tag)) == expected


def test_a_profile_name_is_text() -> None:
    named = der(0xA7, der(0x0C, b"opendice.example"))
    mode = der(0xA6, der_integer(1, 0x0A))
    assert read_open_extension(der(0x30, mode, named)).mode == 1
    wrong = der(0x30, mode, der(0xA7, der(0x0C, b"\xff")))
    assert refused(read_open_extension, wrong) is UntrustedReason.MALFORMED


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        der(0x31, der(0xA6, ONE)),
        der(0x30, der(0xA6, ONE, ONE)),
        der(0x30, der(0xA6)),
        der(0x30, der(0x86, b"\1")),
        der(0x30, der(0xA6, der(0x01, b"\xff"))),
        der(0x30, der(0xA6, der(0x0A, b"\0\1"))),
        der(0x30, der(0xA0, der(0x03, b"\0" + bytes(64)))),
        der(0x30, der(0xA8, ONE)),
        open_extension(open_claims("x")) + b"\0",
    ],
)
def test_an_extension_of_another_shape_is_malformed(raw: bytes) -> None:
    assert refused(read_open_extension, raw) is UntrustedReason.MALFORMED
