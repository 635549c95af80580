"""Exports: the columns, the cells, times and decimals; what a spreadsheet must not run."""

from __future__ import annotations

import csv
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.billing.export import COLUMNS, csv_text, invoice_csv, iso_time, plain_cell
from bailiwick.billing.focus import FOCUS_COLUMNS, focus_csv, focus_row
from bailiwick.billing.invoices import Invoice, correct
from bailiwick.billing.lines import RatedLine
from bailiwick.billing.rates import HOUR_MS, LIST_PRICES, RateBook
from bailiwick.billing.rating import rate
from bailiwick.metering.owners import Account, Stage
from bailiwick.metering.values import Use
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.words import HardwareGeneration, LeaseClass, PreemptionReason, ResourceKind
from tests.unit.billing.bill_makers import head

HOPPER = HardwareGeneration.NVIDIA_HOPPER
START_MS = 1_700_000_000_000

# What FOCUS 1.2 makes mandatory, and what 1.3 adds to that.
MANDATORY = {
    *("BilledCost", "BillingAccountId", "BillingAccountName", "BillingCurrency"),
    *("BillingPeriodEnd", "BillingPeriodStart", "ChargeCategory", "ChargeClass"),
    *("ChargeDescription", "ChargePeriodEnd", "ChargePeriodStart", "ContractedCost"),
    *("EffectiveCost", "InvoiceIssuerName", "ListCost", "PricingQuantity", "PricingUnit"),
    *("ProviderName", "PublisherName", "ServiceCategory", "ServiceName"),
    *("ServiceProviderName", "HostProviderName"),
}
NEVER_NULL = MANDATORY - {"ChargeClass"} | {
    *("ChargeFrequency", "ServiceSubcategory", "SkuId", "SkuPriceId", "ListUnitPrice"),
    *("ConsumedQuantity", "ConsumedUnit", "PricingCategory"),
}


def line(kind: ResourceKind = ResourceKind.GPU_MILLI, **given: Any) -> RatedLine:
    fields: dict[str, Any] = {
        "project": "p1",
        "tag": "train",
        "lease_class": LeaseClass.SPOT,
        "generation": HOPPER,
    }
    account = Account("acme", **(fields | given))
    use = Use(account, kind, START_MS, START_MS + HOUR_MS, 1000 * HOUR_MS, 2, 3, 9)
    (found,) = rate([use], RateBook())
    return found


def invoice(*lines: RatedLine, invoice_id: str = "inv-1") -> Invoice:
    top = head(invoice_id, from_ms=START_MS, to_ms=START_MS + 24 * HOUR_MS)
    return Invoice(top, lines)


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text, newline=""), strict=True))


def test_a_line_is_a_row_that_says_all_of_it() -> None:
    (row,) = rows_of(invoice_csv([invoice(line())]))
    assert row == {
        "invoice_id": "inv-1",
        "corrects": "",
        "tenant": "acme",
        "project": "p1",
        "period_start": "2023-11-14T22:13:20Z",
        "period_end": "2023-11-15T22:13:20Z",
        "journal_size": "1000",
        "currency": "credit",
        "generation": "nvidia_hopper",
        "tag": "train",
        "lease_class": "spot",
        "resource": "gpu_milli",
        "stage": "held",
        "cause": "",
        "card": "list",
        "card_tenant": "",
        "card_effective": "1970-01-01T00:00:00Z",
        "window_start": "2023-11-14T22:13:20Z",
        "window_end": "2023-11-14T23:13:20Z",
        "used": "3600000000",
        "used_unit": "milli-share x ms",
        "quantity": "3600",
        "unit": "GPU-Seconds",
        "price_per_hour": "0.96",
        "cost": "0.960000",
        "segments": "2",
        "first_record": "3",
        "last_record": "9",
        **dict.fromkeys(COLUMNS[-8:], ""),
    }


def test_the_header_is_there_without_any_line() -> None:
    assert invoice_csv([]) == ",".join(COLUMNS) + "\r\n"
    assert focus_csv([], provider="x") == ",".join(FOCUS_COLUMNS) + "\r\n"


def test_focus_has_every_mandatory_column_in_order_and_ours_behind() -> None:
    assert set(FOCUS_COLUMNS) >= MANDATORY
    ours = [name for name in FOCUS_COLUMNS if name.startswith("x_")]
    theirs = [name for name in FOCUS_COLUMNS if not name.startswith("x_")]
    assert [*sorted(theirs), *sorted(ours)] == list(FOCUS_COLUMNS)
    assert all(name.removeprefix("x_").isalnum() and len(name) <= 50 for name in FOCUS_COLUMNS)


@pytest.mark.parametrize("kind", ResourceKind)
def test_what_focus_wants_to_have_a_value_has_one(kind: ResourceKind) -> None:
    row = focus_row(invoice(line(kind)), line(kind), provider="The Fleet")
    assert set(row) == set(FOCUS_COLUMNS)
    assert all(row[name] not in (None, "") for name in NEVER_NULL)
    assert row["ServiceCategory"] == ("Storage" if kind is ResourceKind.BLOCK_BYTES else "Compute")


def test_a_focus_row_says_what_was_billed_for_what() -> None:
    row = focus_row(invoice(line()), line(), provider="The Fleet")
    told = {
        "BilledCost": "0.960000",
        "EffectiveCost": "0.960000",
        "ListCost": "0.960000",
        "ChargeClass": None,
        "ChargeDescription": "gpu_milli, nvidia_hopper, spot lease, held",
        "ChargePeriodStart": "2023-11-14T22:13:20Z",
        "ConsumedQuantity": "3600",
        "ConsumedUnit": "GPU-Seconds",
        "PricingQuantity": "1",
        "PricingUnit": "GPU-Hours",
        "SkuId": "gpu_milli.nvidia_hopper",
        "SkuPriceId": "gpu_milli.nvidia_hopper.spot",
        "SubAccountId": "p1",
        "Tags": '{"tag": "train"}',
        "InvoiceIssuerName": "The Fleet",
    }
    assert {name: row[name] for name in told} == told


def test_free_time_has_a_sku_price_of_its_own_at_no_price() -> None:
    free = line(
        lease_class=LeaseClass.STANDARD,
        stage=Stage.GRACE,
        reason=PreemptionReason.OPERATOR_DRAIN,
    )
    row = focus_row(invoice(free), free, provider="x")
    assert (row["ListUnitPrice"], row["BilledCost"]) == ("0", "0.000000")
    assert row["SkuPriceId"] == "gpu_milli.nvidia_hopper.standard.not_charged"
    assert str(row["ChargeDescription"]).endswith("grace, preempted, not charged")


def test_a_correction_is_marked_as_one_and_has_negative_numbers() -> None:
    found = correct(invoice(line()), invoice(invoice_id="inv-2"))
    assert isinstance(found, Invoice)
    row = focus_row(found, found.lines[0], provider="x")
    assert (row["ChargeClass"], row["x_CorrectsInvoiceId"]) == ("Correction", "inv-1")
    assert (row["BilledCost"], row["PricingQuantity"]) == ("-0.960000", "-1")
    assert "-0.960000" in invoice_csv([found])


def test_a_tenants_own_price_is_billed_and_the_lists_told_beside_it() -> None:
    prices = dict.fromkeys(HardwareGeneration, 1_000_000)
    ours = replace(LIST_PRICES, gpu_micros_per_hour=prices, tenant="acme", effective_ms=1)
    account = Account("acme", None, None, LeaseClass.STANDARD, HOPPER)
    span = (START_MS, START_MS + HOUR_MS)
    use = Use(account, ResourceKind.GPU_MILLI, *span, 1000 * HOUR_MS, 2, 3, 9)
    issued = invoice(*rate([use], RateBook([ours])))
    (row,) = rows_of(invoice_csv([issued]))
    assert (row["cost"], row["price_per_hour"], row["card_tenant"]) == ("1.000000", "1", "acme")
    told = focus_row(issued, issued.lines[0], provider="x")
    assert (told["BilledCost"], told["ContractedCost"]) == ("1.000000", "1.000000")
    assert (told["ContractedUnitPrice"], told["ListUnitPrice"]) == ("1", "2.4")
    assert told["ListCost"] == "2.400000"


def test_a_provider_has_a_name() -> None:
    with pytest.raises(InvalidValue, match="provider"):
        focus_csv([], provider=" ")


# -- cells -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "risky", ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\tx", "\rx", "\nx", "--1", "'q"]
)
def test_a_text_that_could_be_a_formula_gets_an_apostrophe(risky: str) -> None:
    tagged = line(tag=risky)
    (row,) = rows_of(invoice_csv([invoice(tagged)]))
    assert row["tag"] == f"'{risky}"
    assert plain_cell(row["tag"]) == risky


@given(st.lists(st.lists(st.one_of(st.text(min_size=1), st.just("")), min_size=2, max_size=3)))
def test_any_text_comes_back_as_it_was(rows: list[list[str]]) -> None:
    text = csv_text(["a", "b"], [[cell or None for cell in row] for row in rows])
    found = list(csv.reader(StringIO(text, newline=""), strict=True))[1:]
    assert [[plain_cell(cell) for cell in row] for row in found] == [
        [cell or None for cell in row] for row in rows
    ]


def test_a_number_is_no_formula() -> None:
    assert csv_text(["a"], [["-1.5"], [-2]]) == "a\r\n-1.5\r\n-2\r\n"


@given(st.integers(0, 253_402_300_799_999))
def test_times_are_what_the_calendar_says(at_ms: int) -> None:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at_ms)
    shown = moment.isoformat(timespec="milliseconds" if at_ms % 1000 else "seconds")
    assert iso_time(at_ms) == shown.replace("+00:00", "Z")


@pytest.mark.parametrize("year", [1970, 1999, 2000, 2023, 2024, 2100, 2400, 9999])
def test_times_around_the_edges_of_months_and_years(year: int) -> None:
    start = datetime(year, 1, 1, tzinfo=UTC)
    for day in range(366):
        moment = start + timedelta(days=day) if day < 365 else start.replace(month=12, day=31)
        at_ms = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
        assert iso_time(at_ms) == moment.isoformat().replace("+00:00", "Z")


def test_a_time_that_no_calendar_of_four_digits_has_is_refused() -> None:
    for wrong in (-1, 253_402_300_800_000, 1.5):
        with pytest.raises(InvalidValue):
            iso_time(wrong)  # type: ignore[arg-type]
