"""The strict DER reader: it reads what a naive encoder writes, and only that one spelling."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bailiwick.attestation.formats.der import (
    BIT_STRING,
    INTEGER,
    OBJECT_ID,
    SEQUENCE,
    UTF8_STRING,
    VALUES_MAX,
    DerValue,
    read_all,
    read_bits,
    read_first,
    read_integer,
    read_object_id,
    read_one,
    read_text,
)
from bailiwick.attestation.verdict import EvidenceError
from bailiwick.vocab.trust import UntrustedReason
from tests.support.evidence_dice import der, der_integer

TAGS = st.integers(0, 255).filter(lambda tag: tag & 0x1F != 0x1F)
CONTENTS = st.binary(max_size=300)
ARCS = st.lists(st.integers(0, 2**70), max_size=6)


def arc_bytes(arc: int) -> bytes:
    """One arc in base 128, written naively."""
    digits = [arc & 0x7F]
    while arc := arc >> 7:
        digits.append(arc & 0x7F | 0x80)
    return bytes(reversed(digits))


def malformed(read: object, *args: object) -> None:
    assert callable(read)
    with pytest.raises(EvidenceError) as told:
        read(*args)
    assert told.value.reason is UntrustedReason.MALFORMED


@given(TAGS, CONTENTS)
@example(0x04, bytes(0x7F))
@example(0x04, bytes(0x80))
@example(0x04, bytes(0x100))
@example(0x04, bytes(0x10000))
def test_a_value_is_its_tag_and_its_content(tag: int, content: bytes) -> None:
    raw = der(tag, content)
    assert read_one(raw) == DerValue(tag, content, raw)


@given(st.lists(st.tuples(TAGS, CONTENTS), max_size=6))
def test_children_are_the_values_inside_in_their_order(values: list[tuple[int, bytes]]) -> None:
    outer = read_one(der(SEQUENCE, *(der(*value) for value in values)))
    assert [(child.tag, child.content) for child in outer.children(SEQUENCE)] == values


@given(TAGS, CONTENTS, st.binary(min_size=1, max_size=4))
def test_bytes_after_the_value_are_refused_or_handed_back(
    tag: int, content: bytes, rest: bytes
) -> None:
    raw = der(tag, content)
    malformed(read_one, raw + rest)
    assert read_first(raw + rest) == (read_one(raw), rest)


@given(TAGS, CONTENTS, st.data())
def test_a_value_that_is_cut_off_is_refused(tag: int, content: bytes, data: st.DataObject) -> None:
    raw = der(tag, content)
    malformed(read_one, raw[: data.draw(st.integers(0, len(raw) - 1))])


@given(TAGS, st.binary(max_size=200), st.integers(1, 4))
@example(0x04, bytes(0x80), 2)
def test_a_length_in_more_bytes_than_it_needs_is_refused(
    tag: int, content: bytes, count: int
) -> None:
    long = bytes([tag, 0x80 | count]) + len(content).to_bytes(count, "big") + content
    if long == der(tag, content):
        assert read_one(long).content == content
    else:
        malformed(read_one, long)


@pytest.mark.parametrize("raw", ["3080020101 0000", "04ff", "0485000000000100", "1f0101", "bf7f00"])
def test_indefinite_and_endless_lengths_and_long_tags_are_refused(raw: str) -> None:
    malformed(read_one, bytes.fromhex(raw))


@given(st.binary(max_size=80))
def test_any_bytes_give_values_that_spell_them_again_or_the_one_error(raw: bytes) -> None:
    try:
        values = list(read_all(raw))
    except EvidenceError:
        return
    assert b"".join(der(value.tag, value.content) for value in values) == raw


def test_the_number_of_values_has_an_end() -> None:
    assert len(list(read_all(b"\x05\x00" * VALUES_MAX))) == VALUES_MAX
    malformed(list, read_all(b"\x05\x00" * (VALUES_MAX + 1)))


def test_a_value_without_values_inside_has_no_children() -> None:
    malformed(read_one(b"\x04\x02\x05\x00").children)
    malformed(read_one(b"\x31\x00").children, SEQUENCE)


def test_only_a_context_tag_has_a_context_number() -> None:
    numbers = [read_one(bytes([tag, 0])).context for tag in (0x80, 0xA6, 0x04, 0x41, 0xC1)]
    assert numbers == [0, 6, None, None, None]


@given(st.integers(-(2**200), 2**200))
@example(127)
@example(128)
@example(-128)
@example(-129)
def test_integers_are_read_as_they_were_written(value: int) -> None:
    assert read_integer(read_one(der_integer(value))) == value


@given(st.integers(-(2**70), 2**70))
def test_an_integer_with_a_byte_too_many_is_refused(value: int) -> None:
    content = read_one(der_integer(value)).content
    longer = (b"\xff" if value < 0 else b"\0") + content
    malformed(read_integer, read_one(der(INTEGER, longer)))


def test_an_integer_has_bytes_and_not_too_many_and_its_own_tag() -> None:
    malformed(read_integer, read_one(b"\x02\x00"))
    malformed(read_integer, read_one(der(INTEGER, b"\x01" * 1025)))
    malformed(read_integer, read_one(b"\x04\x01\x01"))


@given(st.integers(0, 2), st.integers(0, 39), ARCS)
@example(2, 999, [])
def test_object_identifiers_are_read_as_they_were_written(
    top: int, second: int, arcs: list[int]
) -> None:
    content = b"".join(arc_bytes(arc) for arc in (40 * top + second, *arcs))
    told = ".".join(str(arc) for arc in (top, second, *arcs))
    assert read_object_id(read_one(der(OBJECT_ID, content))) == told


@pytest.mark.parametrize("content", ["", "80", "2a80", "2a8001", "8001", "2a" * 129])
def test_object_identifiers_of_another_spelling_are_refused(content: str) -> None:
    malformed(read_object_id, read_one(der(OBJECT_ID, bytes.fromhex(content))))


@given(st.lists(st.booleans(), max_size=80))
def test_bits_are_read_as_they_were_written(bits: list[bool]) -> None:
    unused = -len(bits) % 8
    padded = [*bits, *[False] * unused]
    octets = bytes(
        sum(bit << (7 - place) for place, bit in enumerate(padded[at : at + 8]))
        for at in range(0, len(padded), 8)
    )
    assert read_bits(read_one(der(BIT_STRING, bytes([unused]), octets))) == tuple(bits)


@pytest.mark.parametrize("content", ["", "01", "0800", "0101", "07ff", "00" * 1025])
def test_bits_of_another_spelling_are_refused(content: str) -> None:
    malformed(read_bits, read_one(der(BIT_STRING, bytes.fromhex(content))))


@given(st.text(max_size=40))
def test_text_is_read_as_it_was_written(text: str) -> None:
    assert read_text(read_one(der(UTF8_STRING, text.encode()))) == text


def test_text_that_is_not_utf8_is_refused() -> None:
    malformed(read_text, read_one(der(UTF8_STRING, b"\xff")))
