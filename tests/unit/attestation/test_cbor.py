"""The strict CBOR reader: what it reads is what was written, and what it refuses has one word."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cbor2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bailiwick.attestation.formats.cbor import (
    CBOR_BYTES_MAX,
    DEPTH_MAX,
    ITEMS_MAX,
    read_cbor,
    read_map,
    read_sign1,
)
from bailiwick.attestation.verdict import EvidenceError
from bailiwick.vocab.trust import UntrustedReason

INTEGERS = st.integers(-(2**64), 2**64 - 1)
KEYS = INTEGERS | st.text(max_size=8)
VALUES = st.recursive(
    INTEGERS
    | st.binary(max_size=300)
    | st.text(max_size=40)
    | st.sampled_from([True, False, None]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


def indefinite(value: Any) -> bytes:
    """The value with every array and map of indefinite length, written naively."""
    if isinstance(value, list):
        return b"\x9f" + b"".join(indefinite(each) for each in value) + b"\xff"
    if isinstance(value, dict):
        pairs = (indefinite(key) + indefinite(each) for key, each in value.items())
        return b"\xbf" + b"".join(pairs) + b"\xff"
    return cbor2.dumps(value)


def depth_of(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth_of, value.values()), default=0)
    return 1 + max(map(depth_of, value), default=0) if isinstance(value, list) else 0


def outcome(read: Callable[[], Any]) -> list[Any] | UntrustedReason:
    """What was read, as the one thing in a list, or the reason why not."""
    try:
        return [read()]
    except EvidenceError as error:
        return error.reason


def refused(raw: bytes) -> str:
    with pytest.raises(EvidenceError) as told:
        read_cbor(raw)
    assert told.value.reason is UntrustedReason.MALFORMED
    return told.value.where


@given(VALUES)
def test_what_was_written_is_read_with_definite_and_indefinite_lengths(value: Any) -> None:
    if depth_of(value) > DEPTH_MAX:
        return
    assert read_cbor(cbor2.dumps(value)) == value
    assert read_cbor(indefinite(value)) == value


@given(VALUES, st.binary(min_size=1, max_size=3))
def test_nothing_may_follow_the_value(value: Any, rest: bytes) -> None:
    if depth_of(value) <= DEPTH_MAX:
        refused(cbor2.dumps(value) + rest)


@given(VALUES, st.data())
def test_no_value_may_be_cut_off(value: Any, data: st.DataObject) -> None:
    raw = cbor2.dumps(value)
    refused(raw[: data.draw(st.integers(0, len(raw) - 1))])


@given(st.binary(max_size=64))
@example(bytes.fromhex("9b00ffffffffffffff"))
@example(bytes.fromhex("5b7fffffffffffffff"))
@example(bytes.fromhex("bbffffffffffffffff"))
@example(b"\x81" * 64)
@example(b"\x9f" * 64)
def test_any_bytes_give_a_value_or_the_one_error_and_agree_with_the_library(raw: bytes) -> None:
    found = outcome(lambda: read_cbor(raw))
    assert found is UntrustedReason.MALFORMED or found == [cbor2.loads(raw)]


@pytest.mark.parametrize(
    ("told", "raw"),
    [
        ("nothing", ""),
        ("a key twice", "a201020103"),
        ("a key twice, once written longer", "a20102180103"),
        ("a key of bytes", "a1410102"),
        ("a key that is an array", "a18002"),
        ("a key that is true", "a1f502"),
        ("a tag", "c001"),
        ("a tag in an array of unknown length", "9fc101ff"),
        ("a number of any size", "c249010000000000000000"),
        ("a shared value", "d81c80"),
        ("half a float", "f93c00"),
        ("a float", "fb3ff0000000000000"),
        ("undefined", "f7"),
        ("a simple value of two bytes", "f820"),
        ("a string in pieces", "5f41014102ff"),
        ("text in pieces", "7f61616162ff"),
        ("text that is not UTF-8", "61ff"),
        ("an end of nothing", "ff"),
        ("an end in an array of known length", "81ff"),
        ("an end after a key", "bf01ff"),
        ("no end", "9f01"),
        ("a reserved head", "1c"),
        ("an integer of indefinite length", "1f"),
    ],
)
def test_what_evidence_never_holds_is_refused(told: str, raw: str) -> None:
    assert refused(bytes.fromhex(raw)), told


def test_size_depth_and_number_of_items_have_an_end() -> None:
    assert read_cbor(b"\x81" * DEPTH_MAX + b"\x01")
    assert "deeper" in refused(b"\x81" * (DEPTH_MAX + 1) + b"\x01")
    assert len(read_cbor(cbor2.dumps([0] * (ITEMS_MAX - 1)))) == ITEMS_MAX - 1
    assert "items" in refused(cbor2.dumps([0] * ITEMS_MAX))
    assert read_cbor(cbor2.dumps(bytes(CBOR_BYTES_MAX - 5)))
    assert "bytes" in refused(cbor2.dumps(bytes(CBOR_BYTES_MAX)))


def test_only_a_map_is_a_map() -> None:
    assert read_map(b"\xa0") == {}
    with pytest.raises(EvidenceError, match="no map"):
        read_map(b"\x80")


# --- COSE_Sign1 -----------------------------------------------------------------------------------

GOOD = [cbor2.dumps({1: -8}), {}, b"payload", bytes(64)]


def sign1_refused(parts: Any) -> None:
    with pytest.raises(EvidenceError) as told:
        read_sign1(cbor2.dumps(parts))
    assert told.value.reason is UntrustedReason.MALFORMED


def test_a_sign1_is_taken_apart_and_what_was_signed_put_together() -> None:
    found = read_sign1(cbor2.dumps(GOOD))
    assert found.protected_map == {1: -8}
    assert (found.payload, found.signature) == (b"payload", bytes(64))
    assert cbor2.loads(found.to_be_signed) == ["Signature1", GOOD[0], b"", b"payload"]


def test_the_tag_is_allowed_asked_for_or_refused() -> None:
    bare, tagged = cbor2.dumps(GOOD), cbor2.dumps(cbor2.CBORTag(18, GOOD))
    assert read_sign1(bare) == read_sign1(tagged) == read_sign1(tagged, tagged=True)
    assert read_sign1(bare, tagged=False) == read_sign1(bare)
    for raw, wanted in ((bare, True), (tagged, False), (b"\xd2" + tagged, None)):
        with pytest.raises(EvidenceError):
            read_sign1(raw, tagged=wanted)


def test_no_protected_headers_may_be_written_as_nothing() -> None:
    assert read_sign1(cbor2.dumps([b"", {}, b"", b""])).protected_map == {}


@pytest.mark.parametrize(
    "parts",
    [
        GOOD[:3],
        [*GOOD, b""],
        {1: GOOD},
        [{}, {}, b"payload", b""],
        [GOOD[0], [], b"payload", b""],
        [GOOD[0], {}, None, b""],
        [GOOD[0], {}, b"payload", "text"],
        [b"\x80", {}, b"payload", b""],
        [GOOD[0] + b"\0", {}, b"payload", b""],
        [GOOD[0], {1: -7}, b"payload", b""],
        [cbor2.dumps({1: -8, 2: [4], 4: b""}), {}, b"payload", b""],
        [GOOD[0], {2: [4]}, b"payload", b""],
    ],
)
def test_what_is_no_sign1_is_refused(parts: Any) -> None:
    sign1_refused(parts)


@given(st.binary(max_size=80))
def test_any_bytes_give_a_sign1_or_the_one_error(raw: bytes) -> None:
    found = outcome(lambda: read_sign1(raw))
    assert found is UntrustedReason.MALFORMED or isinstance(found, list)
