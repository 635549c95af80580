"""Calls of instances as rows: taken once, answered once by the taker, in time, and bounded."""

from __future__ import annotations

from typing import Any

import pytest

from bailiwick.apps.calls import CallAnswer, CallQuestion
from bailiwick.store.calls import rows
from bailiwick.store.calls.rows import KEPT_MS, CallBook, CallPlace, CallRow
from bailiwick.vocab.apps import CallPhase, CallVerb
from bailiwick.vocab.errors import LimitReached
from tests.store.conftest import Place

HERE = CallPlace("lab", "p", 1)
OTHERS = (CallPlace("lab", "p", 2), CallPlace("lab", "q", 1), CallPlace("firm", "p", 1))


def call(number: int, place: CallPlace = HERE, **more: Any) -> CallRow:
    told: dict[str, Any] = {
        "verb": CallVerb.SUBMIT,
        "principal": "ana",
        "correlation_id": "c",
        "question": CallQuestion(("run", "it"), "é"),
        "asked_ms": 10,
        "expires_ms": 110,
    }
    return CallRow(call_id=number, place=place, **(told | more))


def test_a_call_is_taken_once_the_oldest_first_by_its_own_instance_alone(place: Place) -> None:
    book, other = CallBook(place.open()), CallBook(place.open())
    for number in (8, 7):
        book.put(call(number))
        book.put(call(number, asked_ms=11))
    for elsewhere in OTHERS:
        assert book.take(elsewhere, by="op", now_ms=20) is None
    found = book.take(HERE, by="op", now_ms=20)
    assert found == call(7, taken_ms=20, taken_by="op")
    after = other.take(HERE, by="op", now_ms=21)
    assert after is not None
    assert after.call_id == 8
    assert book.take(HERE, by="op", now_ms=22) is None


def test_only_who_took_a_call_answers_it_once_and_in_time(place: Place) -> None:
    book, well = CallBook(place.open()), CallAnswer(0, "out", "err", True)
    for number in (1, 2):
        book.put(call(number))

    def answer(number: int = 1, where: CallPlace = HERE, by: str = "op", now_ms: int = 30) -> bool:
        return book.answer(where, number, by=by, answer=well, now_ms=now_ms)

    assert not answer()  # nobody took it
    book.take(HERE, by="op", now_ms=20)
    assert not answer(by="other")
    assert not any(answer(where=elsewhere) for elsewhere in OTHERS)
    assert not answer(now_ms=110)
    assert answer()
    assert not answer()
    assert not answer(2)
    found = book.get(HERE, 1, now_ms=120)
    assert found is not None
    assert (found.answer, found.question, found.answered_ms) == (well, None, 30)


def test_a_call_that_is_not_answered_is_over_after_its_time(place: Place) -> None:
    book = CallBook(place.open())
    book.put(call(1))
    assert book.take(HERE, by="op", now_ms=110) is None
    found = book.get(HERE, 1, now_ms=110)
    assert found is not None
    assert [found.phase(109), found.phase(110)] == [CallPhase.OPEN, CallPhase.UNANSWERED]
    assert book.get(OTHERS[0], 1, now_ms=20) is None
    assert book.get(HERE, 1, now_ms=110 + KEPT_MS) is None


def test_the_rows_of_an_instance_are_bounded(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "WAITING_MAX", 2)
    monkeypatch.setattr(rows, "OVER_MAX", 1)
    book = CallBook(place.open())
    for number in (1, 2):
        book.put(call(number))
    for refused in (
        lambda: book.put(call(3)),
        lambda: book.check_room(HERE, now_ms=20),
    ):
        with pytest.raises(LimitReached):
            refused()
    book.put(call(3, OTHERS[0]))  # another's are not in the way
    book.check_room(HERE, now_ms=110)
    kept = [number for number in (1, 2, 3) if book.get(HERE, number, now_ms=110)]
    assert kept == [2]
    book.check_room(OTHERS[0], now_ms=110 + KEPT_MS)
    assert book.get(HERE, 2, now_ms=110) is None


def test_the_rows_of_all_instances_are_bounded(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "CALLS_MAX", 1)
    book = CallBook(place.open())
    book.put(call(1))
    with pytest.raises(LimitReached):
        book.put(call(2, OTHERS[0]))
