"""What counts no more, how that spreads, and when it may be forgotten."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.capability import Revocations
from bailiwick.capability import revocation as module
from bailiwick.capability.revocation import KEEP_MS
from bailiwick.vocab.errors import InvalidValue, LimitReached

Entry = tuple[str, int, int, int]

ENTRIES = st.lists(
    st.tuples(
        st.sampled_from(["renewed", "ended", "revoke"]),
        st.integers(0, 4),
        st.integers(0, 5),
        st.integers(0, 2 * KEEP_MS),
    ),
    max_size=12,
)


def book(entries: list[Entry]) -> Revocations:
    made = Revocations()
    for kind, lease_id, generation, at_ms in entries:
        if kind == "renewed":
            made.renewed(lease_id, generation=generation, at_ms=at_ms)
        elif kind == "ended":
            made.ended(lease_id, at_ms=at_ms)
        else:
            made.revoke(f"t-{lease_id}", at_ms=at_ms)
    return made


def naive(entries: list[Entry], lease_id: int, generation: int) -> bool:
    return any(
        number == lease_id and (kind == "ended" or (kind == "renewed" and generation < lowest))
        for kind, number, lowest, _ in entries
    ) or any(kind == "revoke" and number == lease_id for kind, number, *_ in entries)


def refused(made: Revocations) -> list[bool]:
    """The answers for every lease, generation and id that the entries can be about."""
    return [
        made.refuses(lease, generation=generation, ids=("x", f"t-{lease}"))
        for lease in range(5)
        for generation in range(7)
    ]


@given(ENTRIES)
def test_a_token_is_refused_if_any_entry_refuses_it(entries: list[Entry]) -> None:
    wanted = [naive(entries, lease, number) for lease in range(5) for number in range(7)]
    assert refused(book(entries)) == wanted


@given(ENTRIES, ENTRIES)
def test_merging_refuses_what_either_refuses_in_any_order_and_twice(
    one: list[Entry], other: list[Entry]
) -> None:
    left, right = book(one), book(other)
    left.merge(book(other))
    right.merge(book(one))
    assert left.told() == right.told() == book(one + other).told()
    left.merge(right)
    assert left.told() == right.told()


@given(ENTRIES, st.integers(0, 4 * KEEP_MS))
def test_only_what_can_have_no_token_left_is_dropped(entries: list[Entry], now_ms: int) -> None:
    """A token minted before an entry ends 300 s after it; the clocks may differ by a minute."""
    made = book(entries)
    before = len(made)
    dropped = made.drop_old(now_ms=now_ms)
    assert len(made) == before - dropped
    young = [entry for entry in entries if entry[3] >= now_ms - KEEP_MS]
    for answer, needed in zip(refused(made), refused(book(young)), strict=True):
        assert answer >= needed
    if not young:
        assert len(made) == 0


def test_an_entry_stays_to_the_last_millisecond_in_which_it_can_refuse() -> None:
    made = book([("ended", 1, 0, 1_000), ("revoke", 2, 0, 1_000)])
    assert made.drop_old(now_ms=1_000 + KEEP_MS) == 0
    assert made.refuses(1, generation=1, ids=())
    assert made.refuses(3, generation=1, ids=("t-2",))
    assert made.drop_old(now_ms=1_001 + KEEP_MS) == 2


@given(ENTRIES)
def test_what_is_told_can_be_read_back_through_json(entries: list[Entry]) -> None:
    made = book(entries)
    assert Revocations.read(json.loads(json.dumps(made.told()))).told() == made.told()


def test_only_news_is_told_if_only_news_is_asked_for() -> None:
    made = book([("renewed", 1, 2, 100), ("ended", 2, 0, 200), ("revoke", 3, 0, 300)])
    assert made.told(since_ms=200) == {"leases": [[2, None, 200]], "ids": [["t-3", 300]]}


def test_a_copy_is_its_own() -> None:
    made = Revocations()
    copied = made.copy()
    made.ended(1, at_ms=0)
    assert (len(made), len(copied)) == (1, 0)


GOOD: dict[str, Any] = {"leases": [[1, None, 0]], "ids": [["a", 0]]}


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        {},
        {"leases": []},
        GOOD | {"more": []},
        GOOD | {"leases": [[1, None]]},
        GOOD | {"leases": [[-1, None, 0]]},
        GOOD | {"leases": [[1, 1.5, 0]]},
        GOOD | {"leases": [[True, None, 0]]},
        GOOD | {"leases": "abc"},
        GOOD | {"leases": ["abc"]},
        GOOD | {"ids": [[1, 0]]},
        GOOD | {"ids": [["", 0]]},
        GOOD | {"ids": [["a" * 161, 0]]},
        GOOD | {"ids": [["a", -1]]},
    ],
)
def test_another_document_is_refused(body: object) -> None:
    with pytest.raises(InvalidValue):
        Revocations.read(body)


def test_a_full_book_takes_no_more_and_keeps_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ENTRIES_MAX", 2)
    made = book([("ended", 1, 0, 0), ("revoke", 2, 0, 0)])
    with pytest.raises(LimitReached):
        made.ended(3, at_ms=0)
    with pytest.raises(LimitReached):
        made.revoke("t-3", at_ms=0)
    made.ended(1, at_ms=5)
    assert made.refuses(1, generation=9, ids=())
