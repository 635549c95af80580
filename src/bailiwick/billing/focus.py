"""Invoices in the columns of FOCUS, the FinOps Open Cost and Usage Specification.

Rules:

- Every column that versions 1.2 and 1.3 make mandatory is there, with the older and the newer names
  of who provided what; beside them those of the conditional columns that we have a value for; then
  our own, whose names begin with ``x_``. Each group is sorted, as the specification asks.
- A row is one line of an invoice. Its charge period is the line's window, its sub account the
  project, its billing account the tenant.
- ``ListCost`` is what the list prices come to, the other three costs are what is billed: nothing is
  paid upfront, so nothing is spread. Time that is not charged costs 0 by the list too, under a SKU
  price of its own.
- ``ConsumedQuantity`` is exact. ``PricingQuantity`` is in hours and rounded to twelve decimals, so
  unit price times quantity is the cost to the nearest micro, not beyond.
- A line of a correction has ``ChargeClass`` "Correction", and its quantities and costs are
  differences.
- What a member of an app's instance used says so in ``Tags``: whose member, and what it does there.
- Regions and single resources are no part of a bill here; their conditional columns are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from bailiwick.billing.export import Cell, csv_text, iso_time
from bailiwick.billing.invoices import Invoice
from bailiwick.billing.lines import LineKey, RatedLine, money_text, unit_of
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.words import ResourceKind

_STANDARD: Final = (
    *("BilledCost", "BillingAccountId", "BillingAccountName", "BillingCurrency"),
    *("BillingPeriodEnd", "BillingPeriodStart", "ChargeCategory", "ChargeClass"),
    *("ChargeDescription", "ChargeFrequency", "ChargePeriodEnd", "ChargePeriodStart"),
    *("ConsumedQuantity", "ConsumedUnit", "ContractedCost", "ContractedUnitPrice"),
    *("EffectiveCost", "HostProviderName", "InvoiceId", "InvoiceIssuerName", "ListCost"),
    *("ListUnitPrice", "PricingCategory", "PricingQuantity", "PricingUnit", "ProviderName"),
    *("PublisherName", "ServiceCategory", "ServiceName", "ServiceProviderName"),
    *("ServiceSubcategory", "SkuId", "SkuMeter", "SkuPriceId", "SubAccountId"),
    *("SubAccountName", "Tags"),
)
_OURS: Final = (
    *("x_ChargeCause", "x_CorrectsInvoiceId", "x_FirstRecordId", "x_Generation"),
    *("x_JournalSize", "x_LastRecordId", "x_LeaseClass", "x_RateCardEffective"),
    *("x_RateCardName", "x_Segments", "x_Stage", "x_Used", "x_UsedUnit"),
)
FOCUS_COLUMNS: Final = (*_STANDARD, *_OURS)
"""The header of :func:`focus_csv`."""

_COMPUTE: Final = ("Compute", "Bailiwick Compute", "Other (Compute)")
_STORAGE: Final = ("Storage", "Bailiwick Storage", "Block Storage")


def focus_csv(invoices: Iterable[Invoice], *, provider: str) -> str:
    """All lines of these invoices; ``provider`` runs the fleet and issues its invoices."""
    if not provider.strip():
        raise InvalidValue("provider", provider, "the name of who runs the fleet")
    rows = (focus_row(each, line, provider=provider) for each in invoices for line in each.lines)
    return csv_text(FOCUS_COLUMNS, ([row[name] for name in FOCUS_COLUMNS] for row in rows))


def focus_row(invoice: Invoice, line: RatedLine, *, provider: str) -> dict[str, Cell]:
    """One line by column; a column without a value has none."""
    row = _whose(invoice, line.key) | _charge(invoice, line) | _costs(line)
    row |= _traced(invoice, line)
    for name in ("ProviderName", "PublisherName", "ServiceProviderName", "HostProviderName"):
        row[name] = provider
    return row | {"InvoiceIssuerName": provider}


def _whose(invoice: Invoice, key: LineKey) -> dict[str, Cell]:
    head = invoice.head
    told = {} if key.tag is None else {"tag": key.tag}
    if key.member is not None:
        told |= {name: str(value) for name, value in key.member.plain().items()}
    tags = json.dumps(told, ensure_ascii=False) if told else None
    return {
        "BillingAccountId": head.tenant,
        "BillingAccountName": head.tenant,
        "BillingCurrency": head.currency,
        "BillingPeriodStart": iso_time(head.from_ms),
        "BillingPeriodEnd": iso_time(head.to_ms),
        "InvoiceId": head.invoice_id,
        "SubAccountId": key.project,
        "SubAccountName": key.project,
        "Tags": tags,
    }


def _charge(invoice: Invoice, line: RatedLine) -> dict[str, Cell]:
    key = line.key
    is_stored = key.kind is ResourceKind.BLOCK_BYTES
    category, service, subcategory = _STORAGE if is_stored else _COMPUTE
    sku = f"{key.kind}.{key.generation}" if key.kind is ResourceKind.GPU_MILLI else str(key.kind)
    return {
        "ChargeCategory": "Usage",
        "ChargeClass": None if invoice.head.corrects is None else "Correction",
        "ChargeDescription": _description(key),
        "ChargeFrequency": "Usage-Based",
        "ChargePeriodStart": iso_time(line.from_ms),
        "ChargePeriodEnd": iso_time(line.to_ms),
        "PricingCategory": "Standard",
        "ServiceCategory": category,
        "ServiceName": service,
        "ServiceSubcategory": subcategory,
        "SkuId": sku,
        "SkuMeter": unit_of(key.kind).per_hour,
        "SkuPriceId": f"{sku}.{key.lease_class}{'' if key.is_charged else '.not_charged'}",
    }


def _description(key: LineKey) -> str:
    parts = [str(key.kind), *([str(key.generation)] if key.generation else [])]
    parts += [f"{key.lease_class} lease", str(key.stage)]
    if key.cause is not None:
        parts.append(str(key.cause))
    if not key.is_charged:
        parts.append("not charged")
    return ", ".join(parts)


def _costs(line: RatedLine) -> dict[str, Cell]:
    key, unit = line.key, unit_of(line.key.kind)
    billed = money_text(line.cost_micros)
    return {
        "BilledCost": billed,
        "ContractedCost": billed,
        "EffectiveCost": billed,
        "ListCost": money_text(line.list_cost_micros),
        "ContractedUnitPrice": key.price.text(),
        "ListUnitPrice": key.list_price.text(),
        "ConsumedQuantity": line.quantity,
        "ConsumedUnit": unit.name,
        "PricingQuantity": unit.hours(line.used),
        "PricingUnit": unit.per_hour,
    }


def _traced(invoice: Invoice, line: RatedLine) -> dict[str, Cell]:
    key = line.key
    return {
        "x_ChargeCause": key.cause,
        "x_CorrectsInvoiceId": invoice.head.corrects,
        "x_FirstRecordId": line.first_seq,
        "x_Generation": key.generation,
        "x_JournalSize": invoice.head.journal_size,
        "x_LastRecordId": line.last_seq,
        "x_LeaseClass": key.lease_class,
        "x_RateCardEffective": iso_time(key.card.effective_ms),
        "x_RateCardName": key.card.name,
        "x_Segments": line.segments,
        "x_Stage": key.stage,
        "x_Used": line.used,
        "x_UsedUnit": unit_of(key.kind).native,
    }
