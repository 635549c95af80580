"""Which values a condition over claims holds for, beside a reference that tries everything."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.iam import check_conditions, holds
from bailiwick.iam.credentials import CONDITIONS_MAX, STARS_MAX, VALUE_MAX, matches
from bailiwick.vocab.errors import InvalidValue


def naive(pattern: str, value: str) -> bool:
    """One character after the other; a star takes none, or one and stays."""
    if not pattern:
        return not value
    if pattern[0] == "*":
        return naive(pattern[1:], value) or (bool(value) and naive(pattern, value[1:]))
    return bool(value) and pattern[0] == value[0] and naive(pattern[1:], value[1:])


@given(st.text("ab*?[.", max_size=8), st.text("ab?[.*", max_size=10))
def test_a_pattern_matches_just_what_the_reference_says(pattern: str, value: str) -> None:
    assert matches(pattern, value) is naive(pattern, value)


@given(st.lists(st.text("ab", max_size=3), min_size=2, max_size=5), st.data())
def test_what_was_made_from_a_pattern_matches_it(pieces: list[str], data: st.DataObject) -> None:
    value = pieces[0]
    for piece in pieces[1:]:
        value += data.draw(st.text("abc", max_size=4)) + piece
    assert matches("*".join(pieces), value)


def test_every_condition_has_to_hold_over_a_text() -> None:
    both = ("sub=repo:acme/*", "env=prod")
    assert holds(both, {"sub": "repo:acme/train", "env": "prod"})
    for claims in (
        {"sub": "repo:acme/train"},
        {"sub": "repo:acme/train", "env": "production"},
        {"sub": "repo:acme/train", "env": ["prod"]},
        {"sub": "repo:evil/repo:acme/train", "env": "prod"},
        {"sub": "repo:acme/" + "x" * VALUE_MAX, "env": "prod"},
        {"sub": None, "env": "prod"},
    ):
        assert not holds(both, claims)
    assert not holds((), {"sub": "anybody"})


@pytest.mark.parametrize(
    "conditions",
    [
        (),
        ("sub=*",),
        ("sub=****",),
        ("sub=" + "a*" * (STARS_MAX + 1),),
        ("sub",),
        ("sub=",),
        ("=x",),
        ("iss=https://ci.example",),
        ("aud=x",),
        ("sub=a", "sub=b"),
        ("sub=\u00e9",),
        tuple(f"c{number}=x" for number in range(CONDITIONS_MAX + 1)),
    ],
)
def test_conditions_that_hold_for_everybody_or_say_nothing_are_none(
    conditions: tuple[str, ...],
) -> None:
    with pytest.raises(InvalidValue):
        check_conditions(conditions)
