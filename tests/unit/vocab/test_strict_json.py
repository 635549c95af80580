"""JSON from outside is read strictly, and every refusal is a closed word."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.vocab.strict_json import DEPTH_MAX, DIGITS_MAX, JsonFault, JsonRefused, StrictJson

READER = StrictJson(bytes_max=10_000)
BARE = StrictJson(bytes_max=10_000, is_bare=True)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**15), 10**16) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=20,
)


def fault_of(raw: bytes, reader: StrictJson = READER) -> JsonFault:
    with pytest.raises(JsonRefused) as refused:
        reader.read(raw)
    return refused.value.fault


@given(PLAIN)
def test_what_json_writes_of_whole_numbers_is_read(value: object) -> None:
    raw = json.dumps(value, ensure_ascii=False).encode()
    assert StrictJson(bytes_max=len(raw)).read(raw) == value
    assert BARE.read(raw) == READER.read(b" \t\r\n" + raw + b"\n ") == value


@pytest.mark.parametrize(
    ("raw", "fault"),
    [
        (b"x" * 10_001, JsonFault.TOO_LONG),
        (b'"\xff"', JsonFault.NOT_UTF8),
        ('"é"'.encode("utf-16"), JsonFault.NOT_UTF8),
        (b'\xef\xbb\xbf"a"', JsonFault.NOT_JSON),
        (b"", JsonFault.NOT_JSON),
        (b"{'a': 1}", JsonFault.NOT_JSON),
        (b"\x0b1", JsonFault.NOT_JSON),
        (b"1 2", JsonFault.TRAILING_DATA),
        (b"01", JsonFault.TRAILING_DATA),
        (b'{"a": 1, "b": {"c": 1, "c": 1}}', JsonFault.DUPLICATE_KEY),
        (b'{"a": 1, "\\u0061": 1}', JsonFault.DUPLICATE_KEY),
        (b"[1.0]", JsonFault.NOT_AN_INTEGER),
        (b"[1e3]", JsonFault.NOT_AN_INTEGER),
        (b"[NaN]", JsonFault.NOT_AN_INTEGER),
        (b"[-Infinity]", JsonFault.NOT_AN_INTEGER),
        (b"9" * (DIGITS_MAX + 1), JsonFault.NOT_AN_INTEGER),
        (b"[" * (DEPTH_MAX + 1) + b"]" * (DEPTH_MAX + 1), JsonFault.TOO_DEEP),
        (b'{"a":' * 5_000, JsonFault.TOO_LONG),
        (b"[" * 9_000, JsonFault.TOO_DEEP),
    ],
)
def test_what_is_no_such_text_is_refused_with_its_word(raw: bytes, fault: JsonFault) -> None:
    assert fault_of(raw) is fault


def test_depth_is_bounded_and_breadth_is_not() -> None:
    deep = b"[" * DEPTH_MAX + b"]" * DEPTH_MAX
    assert READER.read(deep) == json.loads(deep)
    wide = b"[" + b",".join([b"[{}]"] * 1_000) + b"]"
    assert READER.read(wide) == json.loads(wide)
    assert READER.read(b'"' + b"[" * 200 + b'"') == "[" * 200


def test_a_bare_reader_takes_no_space_around_the_value() -> None:
    assert fault_of(b" {}", BARE) is JsonFault.NOT_JSON
    assert fault_of(b"{} ", BARE) is JsonFault.TRAILING_DATA


def test_a_refusal_says_where_and_what_the_parser_said() -> None:
    with pytest.raises(JsonRefused) as refused:
        READER.read(b'{\n"a": }')
    assert (refused.value.line, refused.value.why) == (2, "Expecting value")
    with pytest.raises(JsonRefused) as refused:
        READER.read(b"{}\n\nx")
    assert (refused.value.line, refused.value.why) == (3, "Extra data")
