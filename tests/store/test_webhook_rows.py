"""Webhooks as rows: a cursor for each, what became of events, and bounds on what is kept."""

from __future__ import annotations

import pytest

from bailiwick.iam import Scope
from bailiwick.store.webhooks import rows
from bailiwick.store.webhooks.rows import HookKey, Letter, WebhookBook
from bailiwick.vocab.apps import DeliveryFault, DeliveryState
from tests.store.conftest import Place

KEY = HookKey(Scope("lab", "p"), "w")
WIDE = HookKey(Scope("lab"), "w")
DEAD, DONE, AGAIN = DeliveryState.DEAD, DeliveryState.DELIVERED, DeliveryState.REPLAYING


def letter(seq: int, state: DeliveryState = DONE, **more: object) -> Letter:
    told = {"tries": 1, "at_ms": 5, "status": 204, **more}
    return Letter(seq=seq, state=state, **told)  # type: ignore[arg-type]


def seqs(book: WebhookBook, key: HookKey = KEY, state: DeliveryState | None = None) -> list[int]:
    return [each.seq for each in book.page(key, state=state, before=None, limit=100)]


def test_a_webhook_goes_on_where_it_was_and_a_new_one_begins_where_it_was_made(
    place: Place,
) -> None:
    book = WebhookBook(place.open())
    assert book.begin(KEY, since_seq=7) == 8
    book.settle(KEY, letter(9), next_seq=10)
    book.pass_by({KEY: 12, WIDE: 99})
    book.pass_by({KEY: 11})
    again = WebhookBook(place.open())
    assert again.begin(KEY, since_seq=7) == 12
    assert again.begin(WIDE, since_seq=7) == 8
    assert again.begin(KEY, since_seq=20) == 21
    assert seqs(again) == []


def test_a_letter_is_read_back_as_it_was_and_another_webhooks_is_apart(place: Place) -> None:
    book = WebhookBook(place.open())
    for key in (KEY, WIDE):
        book.begin(key, since_seq=0)
    sent = letter(3, DeliveryState.RETRYING, status=None, fault=DeliveryFault.TIMEOUT)
    book.settle(KEY, sent)
    assert book.letter(KEY, 3) == sent
    assert book.letter(WIDE, 3) is None
    assert book.begin(KEY, since_seq=0) == 1
    book.settle(KEY, letter(3, tries=2), next_seq=4)
    assert book.letter(KEY, 3) == letter(3, tries=2)
    assert book.begin(KEY, since_seq=0) == 4


def test_dead_letters_are_replayed_and_one_by_its_number(place: Place) -> None:
    book = WebhookBook(place.open())
    book.begin(KEY, since_seq=0)
    for seq, state in ((1, DEAD), (2, DONE), (3, DEAD), (4, DeliveryState.RETRYING)):
        book.settle(KEY, letter(seq, state))
    assert book.replay(WIDE, seq=None, now_ms=9) == 0
    assert book.replay(KEY, seq=4, now_ms=9) == 0
    assert book.replay(KEY, seq=None, now_ms=9) == 2
    assert book.replaying() == {KEY: letter(1, AGAIN, tries=0, next_try_ms=9)}
    book.settle(KEY, letter(1))
    assert book.replaying()[KEY].seq == 3
    assert book.replay(KEY, seq=2, now_ms=9) == 1
    assert seqs(book, state=AGAIN) == [3, 2]


def test_what_is_kept_is_bounded(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "DELIVERED_KEPT", 2)
    monkeypatch.setattr(rows, "DEAD_KEPT", 3)
    book = WebhookBook(place.open())
    for seq in range(1, 11):
        book.settle(KEY, letter(seq, DONE if seq % 2 else DEAD))
    assert seqs(book, state=DONE) == [9, 7]
    assert seqs(book, state=DEAD) == [10, 8, 6]
    page = book.page(KEY, state=None, before=9, limit=2)
    assert [each.seq for each in page] == [8, 7]


def test_webhooks_that_are_no_more_leave_nothing(place: Place) -> None:
    book = WebhookBook(place.open())
    for key in (KEY, WIDE):
        book.begin(key, since_seq=0)
        book.settle(key, letter(1), next_seq=2)
    book.forget_others([WIDE])
    assert (seqs(book), seqs(book, WIDE)) == ([], [1])
    assert book.begin(KEY, since_seq=0) == 1
