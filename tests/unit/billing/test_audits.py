"""Invoices built again from records: what was claimed of them is confirmed or refuted, never more.

The reference folds the first so many records for each invoice alone; the audit reads the journal
once for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.billing import audits
from bailiwick.billing.audits import (
    AuditedClaim,
    InvoiceClaim,
    PriceHistory,
    Unbuilt,
    audit,
    claim_of,
    rebuild,
)
from bailiwick.billing.bills import PeriodBill, bill_to, read_prices
from bailiwick.billing.invoice_body import digest_of
from bailiwick.billing.invoices import Invoice, InvoiceHead, InvoiceScope
from bailiwick.journal import Record
from bailiwick.vocab.errors import InvalidValue
from tests.support.billed_campus import Billed, billed_campus, compute, head_of, late_head, seal
from tests.support.money_histories import SCOPES, Trouble

STEPS = 50


@cache
def records_of(seed: int) -> tuple[Record, ...]:
    trouble = Trouble(Random(seed))
    trouble.begin()
    for _ in trouble.steps(STEPS):
        pass
    return tuple(trouble.campus.records)


def prices_of(records: Sequence[Record]) -> PriceHistory:
    prices = PriceHistory()
    for record in records:
        prices.add(record)
    return prices


def alone(records: Sequence[Record], head: InvoiceHead) -> Invoice:
    """One invoice by a fold of its own."""
    own = records[: head.journal_size]
    bill = PeriodBill(read_prices(own), from_ms=head.from_ms, to_ms=head.to_ms)
    for record in own:
        bill.add(record)
    return bill_to(head, bill.lines(), units=bill.unit_lines(), settled=bill.settled_lines())


@st.composite
def wanted(draw: Any) -> tuple[tuple[Record, ...], list[InvoiceHead]]:
    """A history, and invoices of few periods after many different numbers of its records."""
    records = records_of(draw(st.integers(0, 2**32)))
    times = st.integers(0, records[-1].at_ms + 20)
    two = st.lists(times, min_size=2, max_size=2, unique=True).map(sorted)
    periods = draw(st.lists(two, min_size=1, max_size=2))
    heads = []
    for number in range(draw(st.integers(1, 6))):
        from_ms, to_ms = draw(st.sampled_from(periods))
        tenant, project = draw(st.sampled_from(SCOPES))
        head = InvoiceHead(
            invoice_id=f"inv-{number}",
            tenant=tenant,
            scope=InvoiceScope.TENANT if project is None else InvoiceScope.PROJECT,
            project=project,
            from_ms=from_ms,
            to_ms=to_ms,
            currency="credit",
            journal_size=draw(st.integers(0, len(records))),
        )
        heads.append(head)
    return records, heads


@given(wanted())
def test_many_invoices_in_one_reading_are_what_each_alone_is(
    made: tuple[tuple[Record, ...], list[InvoiceHead]],
) -> None:
    records, heads = made
    built = dict(rebuild(heads, prices=prices_of(records), records=records))
    assert built == {n: alone(records, head) for n, head in enumerate(heads)}


def test_the_journal_is_read_once_and_no_further_than_needed() -> None:
    records = billed().campus.records
    read: list[int] = []

    def reading() -> Iterator[Record]:
        for record in records:
            read.append(record.seq)
            yield record

    heads = [replace(each.head, corrects=None) for each in billed().issued.values()]
    assert len([*rebuild(heads, prices=prices_of(records), records=reading())]) == len(heads)
    assert read == [*range(max(head.journal_size for head in heads) + 1)]


def test_invoices_of_one_period_and_the_same_prices_share_a_fold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = []

    class Counted(PeriodBill):
        def __init__(self, *args: Any, **named: Any) -> None:
            made.append(1)
            super().__init__(*args, **named)

    monkeypatch.setattr(audits, "PeriodBill", Counted)
    assert all(found.agrees for found in audited(billed()))
    assert len(billed().issued) == 6
    assert len(made) == 2  # of tenants one period, of their projects another


# --- claims ---------------------------------------------------------------------------------


@cache
def billed() -> Billed:
    return billed_campus()


def audited(made: Billed) -> list[AuditedClaim]:
    records = made.campus.records
    claims = [claim_of(each) for each in records if each.kind == "invoice_issued"]
    return [*audit(claims, prices=prices_of(records), records=records)]


def test_what_was_issued_is_confirmed_corrections_too() -> None:
    found = audited(billed())
    assert [each.claim.head.invoice_id for each in found] == [*billed().issued]
    assert [each.invoice for each in found] == [*billed().issued.values()]
    assert all(each.agrees for each in found)


def test_an_invoice_and_its_corrections_add_up_to_what_the_journal_says_now() -> None:
    issued = billed().issued
    now = compute(billed().campus, head_of(billed().campus, "now", "biology"))
    parts = [issued[name].total_micros for name in ("b-1", "b-1-c1", "b-1-c2")]
    assert sum(parts) == now.total_micros
    assert max(parts[1:]) < 0


@pytest.mark.parametrize(
    ("untrue", "why"),
    [
        ({"total_micros": 95_093_107}, ""),
        ({"digest": "0" * 64}, ""),
        ({"period_start_ms": 1}, ""),
        ({"journal_size": 17}, ""),
        ({"tenant": "biology"}, ""),
        ({"project": "quarks"}, ""),
        ({"invoice": "p-3"}, ""),
        ({"corrects": "p-1"}, "nothing to correct of p-1"),
        ({"corrects": "p-1-c"}, "p-1-c, which it corrects, is no invoice before it"),
    ],
)
def test_what_is_not_true_of_an_invoice_is_found(untrue: dict[str, Any], why: str) -> None:
    records = billed().campus.records
    claims = [claim_of(each) for each in records if each.kind == "invoice_issued"][:1]
    first = next(each for each in records if each.kind == "invoice_issued")
    body = {**first.body, "invoice": "p-2"}
    invoice = alone(records, replace(claims[0].head, invoice_id="p-2"))
    body |= {"digest": digest_of(invoice)}
    told = _Told(first, body)
    assert [each.agrees for each in _judged(records, [*claims, claim_of(told)])] == [True, True]
    owner = {name: untrue[name] for name in ("tenant", "project") if name in untrue}
    rest = {name: value for name, value in untrue.items() if name not in owner}
    found = _judged(records, [*claims, claim_of(_Told(first, body | rest, **owner))])
    wrong = next(each for each in found if each.claim.head.invoice_id != "p-1")
    assert not wrong.agrees
    assert why in wrong.why


class _Told:
    """A record that says something else than one of the journal's."""

    def __init__(self, record: Record, body: dict[str, Any], **owner: Any) -> None:
        self.seq, self.at_ms, self.kind = record.seq, record.at_ms, str(record.kind)
        self.tenant = owner.get("tenant", record.tenant)
        self.project = owner.get("project", record.project)
        self.body = body


def _judged(records: Sequence[Record], claims: list[InvoiceClaim]) -> list[AuditedClaim]:
    return [*audit(claims, prices=prices_of(records), records=records)]


def test_an_invoice_of_more_records_than_there_are_cannot_be_built() -> None:
    records = billed().campus.records
    head = head_of(billed().campus, "inv", "physics")
    beyond = replace(head, journal_size=head.journal_size + 1)
    ((_, built),) = rebuild([beyond], prices=prices_of(records), records=records)
    assert built == Unbuilt("it is of 27 records, and there are 26")
    known = compute(billed().campus, head)
    itself = InvoiceClaim(
        known.head, known.total_micros, digest_of(known), seq=head.journal_size - 1
    )
    (found,) = _judged(records, [itself])
    assert not found.agrees
    assert "itself too" in found.why


def test_a_correction_of_a_correction_is_not_confirmed() -> None:
    records, issued = billed().campus.records, billed().issued
    second = replace(issued["b-1-c2"].head, corrects="b-1-c1")
    claims = [audits.claim_about(issued[name]) for name in ("b-1", "b-1-c1")]
    found = _judged(records, [*claims, InvoiceClaim(second, 0, "0" * 64)])
    assert [each.agrees for each in found] == [True, True, False]
    assert found[2].why == "b-1-c1, which it corrects, is no invoice before it"


def test_what_is_needed_for_a_correction_is_what_came_before_it() -> None:
    claims = [audits.claim_about(each) for each in billed().issued.values()]
    by_name = {claim.head.invoice_id: claim for claim in claims}

    def names(*chosen: str) -> list[str]:
        found = audits.needed_for([by_name[name] for name in chosen], claims)
        return [claim.head.invoice_id for claim in found]

    assert names("p-1") == ["p-1"]
    assert names("b-1-c1") == ["b-1", "b-1-c1"]
    assert names("b-1-c2") == ["b-1", "b-1-c1", "b-1-c2"]


def test_a_record_that_tells_no_invoice_is_named() -> None:
    first = next(each for each in billed().campus.records if each.kind == "invoice_issued")
    wrong = _Told(first, {**first.body, "period_end_ms": 0})
    with pytest.raises(InvalidValue, match=f"record {first.seq}"):
        claim_of(wrong)


def test_a_total_that_the_kernel_sealed_wrong_is_found() -> None:
    made = billed_campus()
    invoice = compute(made.campus, late_head(made.campus))
    seal(made.campus, invoice, total_micros=invoice.total_micros + 1)
    found = audited(made)
    assert [each.agrees for each in found] == [True] * 6 + [False]
    assert found[-1].is_same
