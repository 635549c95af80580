"""The table of kinds: one row each, found by name and by word, in an order that never changes."""

from __future__ import annotations

import pytest

from bailiwick.journal import BodySpec, RecordKind
from bailiwick.journal.kinds import _gather
from bailiwick.journal.kinds.row import KindRow, row
from bailiwick.journal.ocsf import API, CREATE, Ocsf
from bailiwick.vocab.errors import InvariantBroken

GONE = {7, 22, 23, 29, *range(39, 46)}
"""The numbers of kinds that nobody wrote. Never give one to another kind."""


def made(word: str, number: int) -> KindRow:
    return row(word, number, ocsf=Ocsf(API, CREATE), body=BodySpec({}))


def test_a_kind_is_the_same_by_its_name_and_by_its_word() -> None:
    for kind in RecordKind:
        assert RecordKind(kind.value) is RecordKind[kind.name] is getattr(RecordKind, kind.name)
        assert kind.name == kind.value.upper()


def test_kinds_are_listed_by_number_and_no_number_is_used_again() -> None:
    numbers = [kind.number for kind in RecordKind]
    assert numbers == sorted(numbers)
    assert GONE.isdisjoint(numbers)
    assert numbers[0] == 1


def test_every_record_may_carry_the_key_of_its_command() -> None:
    assert all({"key", "command"} <= set(kind.body.optional) for kind in RecordKind)


@pytest.mark.parametrize("second", [("b", 1), ("a", 2)])
def test_two_kinds_with_one_number_or_word_are_refused(second: tuple[str, int]) -> None:
    one, other = type("One", (), {"A": made("a", 1)}), type("Other", (), {})
    setattr(other, second[0].upper(), made(*second))
    with pytest.raises(InvariantBroken, match="two kinds"):
        _gather((one, other))


def test_a_row_under_another_name_than_its_word_is_refused() -> None:
    with pytest.raises(RuntimeError) as caught:
        type("Wrong", (), {"LEASE_GRNATED": made("lease_granted", 1)})
    assert isinstance(caught.value.__cause__, InvariantBroken)
