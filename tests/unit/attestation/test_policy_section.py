"""Sections of an operator's policy: every fault names the field, and no misspelled rule is lost."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.attestation.policy_section import ITEMS_MAX, TEXT_MAX, Section, hex_bytes
from bailiwick.vocab.errors import InvalidValue


def section(**body: Any) -> Section:
    return Section("pools.gpu.tpm2", body)


@pytest.mark.parametrize("body", [None, [], "x", 5, [("a", 1)]])
def test_a_section_is_a_map(body: object) -> None:
    with pytest.raises(InvalidValue, match=r"^tpm2: expected a map"):
        Section("tpm2", body)


@pytest.mark.parametrize(
    ("ask", "value", "told"),
    [
        (lambda s: s.integer("x", low=1, high=5), 0, "an integer from 1 to 5"),
        (lambda s: s.integer("x", low=1, high=5), 6, "an integer from 1 to 5"),
        (lambda s: s.integer("x", low=1, high=5), True, "an integer from 1 to 5"),
        (lambda s: s.integer("x", low=1, high=5), 2.0, "an integer from 1 to 5"),
        (lambda s: s.integer("x", low=1, high=5), "2", "an integer from 1 to 5"),
        (lambda s: s.flag("x", default=False), 1, "true or false"),
        (lambda s: s.flag("x", default=True), "false", "true or false"),
        (lambda s: s.text("x"), 5, "a text"),
        (lambda s: s.text("x"), "x" * (TEXT_MAX + 1), "a text of at most"),
        (lambda s: s.texts("x"), "text", "a list"),
        (lambda s: s.texts("x"), {"a": 1}, "a list"),
        (lambda s: s.texts("x"), ["x"] * (ITEMS_MAX + 1), "a list of at most"),
        (lambda s: s.digests("x", 32), "00", "a list"),
        (lambda s: s.section("x"), [], "a map"),
        (lambda s: s.sections("x"), {}, "a list"),
        (lambda s: s.integers("x", low=0, high=5), 5, "a list"),
        (lambda s: s.integer("x", low=0, high=5, default=1), None, "a value"),
    ],
)
def test_a_value_of_the_wrong_kind_names_its_place(ask: Any, value: object, told: str) -> None:
    with pytest.raises(InvalidValue, match=rf"^pools\.gpu\.tpm2\.x: expected {told}"):
        ask(section(x=value))


@pytest.mark.parametrize(
    ("ask", "value"),
    [
        (lambda s: s.texts("x"), ["a", 5]),
        (lambda s: s.integers("x", low=0, high=5), [5, 6]),
        (lambda s: s.integers("x", low=0, high=5), [5, True]),
        (lambda s: s.sections("x"), [{}, 5]),
        (lambda s: s.digests("x", 2), ["0000", "00"]),
        (lambda s: s.digests("x", 2), ["0000", "zzzz"]),
        (lambda s: s.digests("x", 2), ["0000", None]),
    ],
)
def test_an_item_of_a_list_is_named_by_its_number(ask: Any, value: object) -> None:
    with pytest.raises(InvalidValue, match=r"^pools\.gpu\.tpm2\.x\[1\]: "):
        ask(section(x=value))


def test_what_is_left_out_is_its_default_or_nothing_or_told() -> None:
    empty = section()
    assert empty.integer("a", low=0, high=9, default=5) == 5
    assert empty.flag("b", default=True) is True
    assert empty.text("c", "d") == "d"
    assert empty.texts("e") == ()
    assert empty.digests("f", 32) == frozenset()
    assert empty.section("g").names() == ()
    assert empty.sections("i") == empty.integers("j", low=0, high=9) == ()
    assert not empty.has("h")
    empty.done()
    with pytest.raises(InvalidValue, match=r"\.must: expected a value, got 'nothing'"):
        empty.text("must")


def test_a_field_that_nobody_reads_is_a_fault() -> None:
    typo = section(pcr={}, pcrs={})
    typo.section("pcrs")
    with pytest.raises(InvalidValue, match=r"^pools\.gpu\.tpm2: expected only pcrs, got 'pcr'"):
        typo.done()


def test_asking_whether_a_field_is_there_counts_as_reading_it() -> None:
    asked = section(x=1)
    assert asked.has("x")
    asked.done()


def test_sections_within_know_where_they_are_and_are_done_by_themselves() -> None:
    inner = section(pcrs={"0": ["00"], "7": []}).section("pcrs")
    assert inner.where == "pools.gpu.tpm2.pcrs"
    assert inner.names() == ("0", "7")
    assert inner.digests("0", 1) == {b"\0"}
    with pytest.raises(InvalidValue, match=r"pcrs: expected only 0, got '7'"):
        inner.done()


def test_the_number_of_fields_and_their_names_are_bounded() -> None:
    many = section(**{f"f{i}": 1 for i in range(ITEMS_MAX + 1)})
    with pytest.raises(InvalidValue, match=f"at most {ITEMS_MAX} fields"):
        many.names()
    with pytest.raises(InvalidValue, match="key: expected a text"):
        Section("x", {5: 1}).names()


@pytest.mark.parametrize(
    "value", ["0", "0g", "AB", " ab", "ab ", "a b", "0xab", b"ab", 171, None, "ab" * TEXT_MAX]
)
def test_hexadecimal_has_one_spelling(value: object) -> None:
    with pytest.raises(InvalidValue, match=r"^x: expected some bytes in hexadecimal"):
        hex_bytes("x", value)


@given(st.binary(max_size=64), st.sets(st.integers(0, 64), max_size=3))
def test_hexadecimal_is_read_back_if_its_length_is_an_allowed_one(
    raw: bytes, lengths: set[int]
) -> None:
    if lengths and len(raw) not in lengths:
        with pytest.raises(InvalidValue):
            hex_bytes("x", raw.hex(), *lengths)
    else:
        assert hex_bytes("x", raw.hex(), *lengths) == raw


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(JSON)
def test_any_value_is_taken_or_named(value: object) -> None:
    for ask in (
        lambda s: s.integer("x", low=0, high=9),
        lambda s: s.flag("x", default=False),
        lambda s: s.text("x"),
        lambda s: s.texts("x"),
        lambda s: s.digests("x", 32),
        lambda s: s.section("x").names(),
        lambda s: s.sections("x"),
        lambda s: s.integers("x", low=0, high=9),
    ):
        try:
            ask(section(x=value))
        except InvalidValue as error:
            told = str(error)
        else:
            continue
        assert told.startswith("pools.gpu.tpm2.x")
