"""Bills are kept under the digest that the journal has of them, and shown as nothing else."""

from __future__ import annotations

import zlib
from dataclasses import replace
from hashlib import sha256

import pytest
from sqlalchemy import update

from bailiwick.store.invoice_rows import InvoiceBook, InvoiceRow
from bailiwick.store.tables import invoices
from bailiwick.vocab.errors import Damaged
from tests.store.conftest import Place


def row(name: str, body: bytes = b"{}", **more: str | None) -> InvoiceRow:
    digest = sha256(body).hexdigest()
    made = InvoiceRow(name, digest, "lab", None, body)
    return replace(made, **more)  # type: ignore[arg-type]


def test_a_bill_is_read_back_as_it_was_kept(place: Place) -> None:
    book = InvoiceBook(place.open())
    kept = row("inv-1", b'{"total_micros":7}', project="vision")
    book.put(kept)
    book.put(kept)
    assert book.get("inv-1", kept.digest) == kept
    assert [name for _, name, _ in book.page("lab", projects=None, before=None, limit=9)] == [
        "inv-1"
    ]


def test_of_two_with_one_name_the_digest_says_which(place: Place) -> None:
    book = InvoiceBook(place.open())
    first, second = row("inv-1", b"first"), row("inv-1", b"second")
    book.put(first)
    book.put(second)
    assert book.get("inv-1", first.digest) == first
    assert book.get("inv-1", second.digest) == second


def test_pages_are_newest_first_and_of_the_projects_that_are_named(place: Place) -> None:
    book = InvoiceBook(place.open())
    for number, project in enumerate((None, "vision", "audio", "vision")):
        book.put(row(f"inv-{number}", project=project))
    book.put(row("inv-foreign", tenant="rival"))
    whole = book.page("lab", projects=None, before=None, limit=3)
    assert [name for _, name, _ in whole] == ["inv-3", "inv-2", "inv-1"]
    rest = book.page("lab", projects=None, before=whole[-1][0], limit=3)
    assert [name for _, name, _ in rest] == ["inv-0"]
    mine = book.page("lab", projects=["vision"], before=None, limit=9)
    assert [name for _, name, _ in mine] == ["inv-3", "inv-1"]
    assert book.page("lab", projects=[], before=None, limit=9) == []


def test_what_was_changed_or_is_gone_is_told_and_not_shown(place: Place) -> None:
    store = place.open()
    book = InvoiceBook(store)
    kept = row("inv-1")
    book.put(kept)
    for wrong in (zlib.compress(b"other"), b"no zlib"):
        with store.changing() as connection:
            connection.execute(update(invoices).values(body=wrong))
        with pytest.raises(Damaged, match="inv-1"):
            book.get("inv-1", kept.digest)
    with pytest.raises(Damaged, match="invoice recompute"):
        book.get("inv-2", kept.digest)
