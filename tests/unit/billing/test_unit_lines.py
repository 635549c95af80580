"""What apps told of their use, on an invoice: priced, apart from what was held, never dropped."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from io import StringIO
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.billing.accounts import AppRevenue
from bailiwick.billing.audits import InvoiceClaim, PriceHistory, audit
from bailiwick.billing.export import COLUMNS, invoice_csv
from bailiwick.billing.focus import focus_csv
from bailiwick.billing.invoice_body import body_of, canonical_bytes, digest_of, invoice_of
from bailiwick.billing.invoices import (
    Agreed,
    Invoice,
    InvoiceHead,
    LineDiffers,
    OnlyInFirst,
    OnlyInSecond,
    compare,
    correct,
    entry_of,
)
from bailiwick.billing.rates import LIST_PRICES, RateBook, RateCard, card_body, card_of
from bailiwick.billing.units.lines import rate_units
from bailiwick.kernel.apps.units.commands import ReportAppUsage
from bailiwick.kernel.apps.units.rules import LATE_MS_MAX
from bailiwick.kernel.money.commands import SetRateCard
from bailiwick.metering.fold import JournalMeter
from bailiwick.metering.records import MeterFindingWord
from bailiwick.metering.snapshot import read_meter, write_meter
from bailiwick.metering.told.book import KEEP_MS, ToldBook, ToldReport, ToldSeries
from bailiwick.vocab.errors import InvalidValue
from tests.support.app_campus import OWN, AppCampus
from tests.support.billed_campus import compute
from tests.support.kernel_histories import HOUR, START_MS

SERIES = ToldSeries("lab", "vision", 1, "lab.svc", "request")
KEY = "lab.svc/request"


def tell(found: AppCampus, number: int, *, unit: str, quantity: int, **more: Any) -> None:
    times = {"from_ms": found.now_ms - HOUR, "to_ms": found.now_ms} | more
    told = {"source": "op", "sequence": number, "unit": unit, "quantity": quantity}
    found.do(ReportAppUsage(**OWN, instance_id=1, **told, **times))


def campus(*, priced: bool = True, job_hours: int = 5) -> AppCampus:
    """Two members of one GPU hold two hours; then the app tells of the second."""
    found = AppCampus()
    if priced:
        found.do(SetRateCard(replace(LIST_PRICES, app_unit_micros={KEY: 250})))
    found.hold("controller")
    found.hold("worker", gpus=2)
    found.pass_time(2 * HOUR, tick_ms=HOUR)
    tell(found, 1, unit="request", quantity=4_000)
    tell(found, 2, unit="job_hour", quantity=job_hours)
    found.pass_time(HOUR, tick_ms=HOUR)
    return found


def head_of(found: AppCampus, name: str = "u-1", **given_: Any) -> InvoiceHead:
    head = InvoiceHead(
        invoice_id=name,
        tenant="lab",
        from_ms=START_MS,
        to_ms=START_MS + 3 * HOUR,
        currency="credit",
        journal_size=len(found.lines),
    )
    return replace(head, **given_)


# -- lines ---------------------------------------------------------------------------------------


def test_units_are_lines_apart_and_what_has_no_price_is_told_all_the_same() -> None:
    found = campus()
    invoice = compute(found, head_of(found))
    told = {line.key.unit: line for line in invoice.unit_lines}
    assert {unit: (row.quantity, row.key.price) for unit, row in told.items()} == {
        "request": (4_000, 250),
        "job_hour": (5, None),
    }
    assert (told["request"].cost_micros, told["job_hour"].cost_micros) == (1_000_000, 0)
    held = sum(line.cost_micros for line in invoice.lines)
    assert held > 0
    assert invoice.total_micros == held + 1_000_000
    assert sum(cost for _, cost in invoice.by_project()) == invoice.total_micros
    entry = entry_of(invoice, at_ms=0)
    assert {each.account: each.micros for each in entry.postings}[AppRevenue("lab.svc")] == -(10**6)


def test_one_hour_told_under_many_names_comes_to_that_hour() -> None:
    found = AppCampus()
    found.hold("worker", gpus=1)
    found.pass_time(HOUR, tick_ms=HOUR)
    for number, key in enumerate(("w-1", "w-2", "w-3", "w-4"), 1):
        tell(found, number, unit="job_hour", quantity=1, component_key=key)
    (line,) = compute(found, head_of(found)).unit_lines
    assert (line.quantity, line.disputed, line.charged) == (4, 3, 1)
    found.pass_time(HOUR, tick_ms=HOUR)
    tell(found, 5, unit="job_hour", quantity=1, component_key="w-2")
    (line,) = compute(found, head_of(found)).unit_lines
    assert (line.quantity, line.disputed) == (5, 3), "what was held since can be told"


def test_of_time_no_more_is_charged_than_members_held_and_the_rest_is_disputed() -> None:
    # In the hour that it tells of, one GPU and two GPUs were held: three hours.
    for told, disputed in ((3, 0), (5, 2)):
        found = AppCampus()
        found.do(SetRateCard(replace(LIST_PRICES, app_unit_micros={"lab.svc/job_hour": 10})))
        found.hold("controller")
        found.hold("worker", gpus=2)
        found.hold(None, gpus=4)
        found.pass_time(2 * HOUR, tick_ms=HOUR)
        tell(found, 1, unit="job_hour", quantity=told)
        (line,) = compute(found, head_of(found)).unit_lines
        assert (line.quantity, line.disputed, line.cost_micros) == (told, disputed, 30)
        meter = JournalMeter()
        findings = [each for record in found.records for each in meter.add(record)]
        assert [(each.word, each.wanted, each.found) for each in findings] == (
            [(MeterFindingWord.TOLD_BEYOND_HELD, 5, 3)] if disputed else []
        )


def test_a_lease_that_ended_is_known_as_long_as_its_time_can_be_told() -> None:
    assert KEEP_MS > LATE_MS_MAX


def test_an_invoice_without_them_has_the_bytes_that_it_always_had() -> None:
    found = AppCampus()
    found.hold("worker")
    found.pass_time(2 * HOUR, tick_ms=HOUR)
    body = body_of(compute(found, head_of(found)))
    assert body["version"] == 2
    assert "unit_lines" not in body
    assert "app_unit_micros" not in card_body(LIST_PRICES)


def test_an_invoice_with_them_reads_back_to_the_last_byte() -> None:
    found = campus()
    invoice = compute(found, head_of(found))
    body = json.loads(canonical_bytes(invoice))
    assert body["version"] == 3
    assert invoice_of(body) == invoice
    assert digest_of(invoice_of(body)) == digest_of(invoice)


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("quantity", "4001"),
        ("disputed", "5000"),
        ("disputed", "-1"),
        ("cost_micros", 1_000_001),
        ("price_micros", 251),
        ("app", ""),
        ("instance_id", 0),
        ("quantity", 4_000),
        ("to_ms", START_MS),
    ],
)
def test_a_line_that_does_not_add_up_is_no_invoice(word: str, value: object) -> None:
    found = campus()
    body = json.loads(canonical_bytes(compute(found, head_of(found))))
    (row,) = [line for line in body["unit_lines"] if line["unit"] == "request"]
    row[word] = value
    with pytest.raises(InvalidValue):
        invoice_of(body)


# -- periods and prices ----------------------------------------------------------------------------

reports = st.lists(
    st.builds(
        lambda start, length, quantity, beyond: ToldReport(
            start, start + length, quantity, min(quantity, beyond), start + length
        ),
        *(st.integers(0, 90), st.integers(1, 60), st.integers(0, 50), st.integers(0, 9)),
    ),
    max_size=12,
)
borders = st.lists(st.integers(1, 149), max_size=5, unique=True).map(
    lambda inside: [0, *sorted(inside), 150]
)


@given(reports, borders)
def test_however_time_is_cut_each_report_is_billed_once_and_whole(
    told: list[ToldReport], cuts: list[int]
) -> None:
    book = ToldBook()
    book.series[SERIES] = told
    parts = [book.counted_in(*window) for window in pairwise(cuts)]
    flat = [report for part in parts for _, report in part]
    assert sorted(flat) == sorted(told)
    prices = RateBook([replace(LIST_PRICES, app_unit_micros={KEY: 7})])
    lines = [line for part in parts for line in rate_units(part, prices)]
    whole = rate_units(book.counted_in(0, 150), prices)
    for name in ("quantity", "disputed", "cost_micros", "reports"):
        assert sum(getattr(each, name) for each in lines) == sum(
            getattr(each, name) for each in whole
        )


def test_a_report_has_the_price_of_its_windows_last_millisecond() -> None:
    cheap = replace(LIST_PRICES, app_unit_micros={KEY: 1})
    book = RateBook([cheap, replace(cheap, effective_ms=100, app_unit_micros={KEY: 5})])
    told = [(SERIES, ToldReport(0, to_ms, 10, 0, 3)) for to_ms in (100, 101)]
    assert [line.cost_micros for line in rate_units(told, book)] == [10, 50]


def test_what_a_tenants_own_card_does_not_name_costs_what_the_list_says() -> None:
    listed = replace(LIST_PRICES, app_unit_micros={KEY: 9, "lab.svc/job_hour": 8})
    own = replace(LIST_PRICES, name="deal", tenant="lab", app_unit_micros={KEY: 2})
    book = RateBook([listed, own])
    told = [
        (SERIES, ToldReport(0, 9, 1, 0, 3)),
        (SERIES._replace(unit="job_hour"), ToldReport(0, 9, 1, 0, 3)),
    ]
    found = {line.key.unit: line for line in rate_units(told, book)}
    assert (found["request"].cost_micros, found["request"].list_cost_micros) == (2, 9)
    assert (found["job_hour"].cost_micros, found["job_hour"].key.card.name) == (8, "list")


@pytest.mark.parametrize("key", ["request", "lab.svc/", "/x", "lab.svc/a/b", "lab svc/x"])
def test_a_price_is_of_an_app_and_a_unit(key: str) -> None:
    with pytest.raises(InvalidValue, match="app_unit_micros"):
        replace(LIST_PRICES, app_unit_micros={key: 1})


def test_a_card_is_told_with_its_unit_prices_and_read_back() -> None:
    card = replace(LIST_PRICES, app_unit_micros={KEY: 250, "lab.svc/job_hour": 0})
    again = card_of(card_body(card))
    assert isinstance(again, RateCard)
    assert again == card


# -- what is kept ----------------------------------------------------------------------------------


def test_a_meter_that_is_read_back_bills_the_same_and_disputes_the_same_later() -> None:
    found, meter = campus(), JournalMeter()
    for record in found.records:
        meter.add(record)
    again = read_meter(json.loads(json.dumps(write_meter(meter))))
    size = len(found.lines)
    tell(found, 3, unit="job_hour", quantity=7)
    for record in found.records[size:]:
        assert meter.add(record) == again.add(record)
    assert again.told.series == meter.told.series
    assert again.told.holds == meter.told.holds
    assert again.told.counted_in(0, found.now_ms + 1)[-1][1].beyond == 4


# -- corrections and audits ------------------------------------------------------------------------


def test_what_is_told_after_an_invoice_is_a_correction_of_it() -> None:
    found = campus()
    issued = compute(found, head_of(found))
    early = START_MS + 2 * HOUR
    tell(found, 3, unit="request", quantity=8, from_ms=early, to_ms=early + 1)
    fresh = compute(found, head_of(found, "u-1-c1"))
    change = correct(issued, fresh)
    assert isinstance(change, Invoice)
    assert [(line.quantity, line.cost_micros) for line in change.unit_lines] == [(8, 2_000)]
    assert invoice_of(json.loads(canonical_bytes(change))) == change
    assert change.total_micros == 2_000
    later = replace(fresh, head=replace(fresh.head, invoice_id="u-1-c2"))
    assert isinstance(correct(issued, later, earlier=[change]), Agreed)


def audited(found: AppCampus, invoice: Invoice) -> bool:
    claim = InvoiceClaim(invoice.head, invoice.total_micros, digest_of(invoice))
    prices = PriceHistory()
    for record in found.records:
        prices.add(record)
    (judged,) = audit([claim], prices=prices, records=found.records)
    return judged.agrees


def test_an_auditor_finds_a_changed_a_missing_and_an_invented_line() -> None:
    found = campus()
    invoice = compute(found, head_of(found))
    assert audited(found, invoice)
    first, *rest = invoice.unit_lines
    changed = replace(first, quantity=first.quantity + 1)
    invented = replace(first, key=first.key._replace(instance_id=2))
    for lines, kind in (
        ((changed, *rest), LineDiffers),
        (tuple(rest), OnlyInSecond),
        ((first, invented, *rest), OnlyInFirst),
    ):
        forged = replace(invoice, unit_lines=lines)
        assert not audited(found, forged)
        assert {type(each) for each in compare(forged, invoice)} == {kind}


# -- exports ---------------------------------------------------------------------------------------


def test_exports_have_a_row_for_each() -> None:
    found = campus()
    invoice = compute(found, head_of(found))
    rows = list(csv.DictReader(StringIO(invoice_csv([invoice]), newline="")))
    told = {row["unit"]: row for row in rows if row["resource"] == "app_unit"}
    assert len(rows) == len(invoice.lines) + len(told) == len(invoice.lines) + 2
    assert all(set(row) == set(COLUMNS) for row in rows)
    assert (told["request"]["quantity"], told["request"]["cost"]) == ("4000", "1.000000")
    assert (told["job_hour"]["cause"], told["job_hour"]["price_per_unit"]) == ("not_priced", "")
    assert (told["job_hour"]["used"], told["job_hour"]["disputed"]) == ("5", "2")
    assert (told["request"]["app"], told["request"]["instance_id"]) == ("lab.svc", "1")
    focus = list(csv.DictReader(StringIO(focus_csv([invoice], provider="campus"), newline="")))
    named = {row["ConsumedUnit"]: row for row in focus if row["ServiceName"] == "lab.svc"}
    assert len(focus) == len(rows)
    assert (named["request"]["BilledCost"], named["job_hour"]["BilledCost"]) == (
        "1.000000",
        "0.000000",
    )
    assert named["job_hour"]["x_NotPriced"] == "true"
    assert named["job_hour"]["x_DisputedQuantity"] == "2"
    assert json.loads(named["request"]["Tags"])["app_unit"] == "request"
