"""Double entry: what may be posted, what is refused, and what a tenant still has."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest

from bailiwick.billing.accounts import (
    Books,
    ConflictingEntry,
    Credits,
    EntryKind,
    LedgerEntry,
    Payments,
    Posted,
    Posting,
    Receivable,
    Repeated,
    Revenue,
    Unfounded,
    grant,
    reverse,
    top_up,
)
from bailiwick.vocab.errors import InvalidValue, NotFound
from bailiwick.vocab.words import HardwareGeneration, ResourceKind

ACME = Receivable("acme")
GPUS = Revenue(ResourceKind.GPU_MILLI, HardwareGeneration.NVIDIA_HOPPER)


def charge(entry_id: str = "inv-1", micros: int = 700, at_ms: int = 5) -> LedgerEntry:
    return LedgerEntry(
        entry_id=entry_id,
        at_ms=at_ms,
        kind=EntryKind.CHARGE,
        currency="credit",
        postings=(Posting(ACME, micros), Posting(GPUS, -micros)),
    )


def test_what_a_tenant_has_left_is_what_it_paid_and_was_granted_less_what_it_was_charged() -> None:
    books = Books("credit")
    books.post(top_up("pay-1", "acme", micros=1_000, at_ms=1, currency="credit"))
    books.post(grant("gift-1", "acme", micros=50, at_ms=2, currency="credit"))
    books.post(charge())
    assert books.balance(ACME) == -350
    assert books.balance(ACME, at_ms=4) == -1_050
    assert books.balances() == {Payments(): 1_000, Credits(): 50, ACME: -350, GPUS: -700}


def test_an_entry_that_does_not_sum_to_zero_cannot_be_made() -> None:
    with pytest.raises(InvalidValue, match="sum to 0"):
        replace(charge(), postings=(Posting(ACME, 7), Posting(GPUS, -6)))


def test_entries_that_move_the_same_are_equal_however_they_are_written() -> None:
    halves = (Posting(GPUS, -400), Posting(ACME, 700), Posting(GPUS, -300), Posting(Credits(), 0))
    assert replace(charge(), postings=halves) == charge()


def test_an_entry_never_changes() -> None:
    with pytest.raises(FrozenInstanceError):
        charge().at_ms = 9  # type: ignore[misc]


def test_the_same_entry_again_changes_nothing_and_another_under_its_id_is_a_conflict() -> None:
    books = Books("credit")
    assert books.post(charge()) == Posted("inv-1")
    assert books.post(charge()) == Repeated("inv-1")
    assert books.post(charge(micros=900)) == ConflictingEntry("inv-1", charge())
    assert books.post(charge(at_ms=6)) == ConflictingEntry("inv-1", charge())
    assert books.balance(ACME) == 700
    assert len(books) == 1


def test_a_correction_names_what_it_corrects_and_moves_the_difference() -> None:
    books = Books("credit")
    books.post(charge(micros=700))
    less = books.correct("inv-1", charge("fix-1", micros=640, at_ms=9))
    assert isinstance(less, LedgerEntry)
    assert (less.kind, less.corrects) == (EntryKind.CORRECTION, "inv-1")
    assert {each.account: each.micros for each in less.postings} == {ACME: -60, GPUS: 60}
    books.post(less)
    assert books.standing("inv-1") == {ACME: 640, GPUS: -640}
    assert books.correct("inv-1", charge("fix-2", micros=640, at_ms=9)) == Repeated("inv-1")
    again = books.correct("inv-1", charge("fix-2", micros=700, at_ms=9))
    assert isinstance(again, LedgerEntry)
    books.post(again)
    assert books.balance(ACME) == 700


def test_an_entry_can_be_taken_back_whole() -> None:
    books = Books("credit")
    books.post(charge())
    assert books.post(reverse(charge(), "undo-1", at_ms=9)) == Posted("undo-1")
    assert set(books.balances().values()) == {0}


def test_a_correction_of_nothing_that_is_there_or_of_a_correction_is_not_posted() -> None:
    books = Books("credit")
    undo = reverse(charge(), "undo-1", at_ms=9)
    assert books.post(undo) == Unfounded("undo-1", "inv-1")
    books.post(charge())
    books.post(undo)
    assert books.post(reverse(undo, "undo-2", at_ms=9)) == Unfounded("undo-2", "undo-1")
    with pytest.raises(InvalidValue, match="no corrections"):
        books.correct("undo-1", charge("x"))
    with pytest.raises(NotFound):
        books.correct("inv-9", charge("x"))


def test_what_a_correction_corrects_is_said_by_corrections_only() -> None:
    with pytest.raises(InvalidValue, match="corrects"):
        replace(charge(), corrects="inv-0")
    with pytest.raises(InvalidValue, match="corrects"):
        replace(charge(), kind=EntryKind.CORRECTION)
    with pytest.raises(InvalidValue, match="another entry"):
        replace(charge(), kind=EntryKind.CORRECTION, corrects="inv-1")


def test_books_have_one_currency() -> None:
    with pytest.raises(InvalidValue, match="currency"):
        Books("euro").post(charge())


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, 2**62])
def test_only_a_real_amount_can_be_paid_in(wrong: int) -> None:
    with pytest.raises(InvalidValue, match="micros"):
        top_up("pay-1", "acme", micros=wrong, at_ms=1, currency="credit")


def test_accounts_have_plain_names() -> None:
    names = [str(each) for each in (ACME, GPUS, Revenue(ResourceKind.CPU_MILLI), Credits())]
    assert names == [
        "receivable:acme",
        "revenue:gpu_milli:nvidia_hopper",
        "revenue:cpu_milli:-",
        "credits",
    ]
