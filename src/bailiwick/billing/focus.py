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
from collections.abc import Iterable, Iterator
from typing import Final

from bailiwick.billing.export import Cell, csv_text, iso_time
from bailiwick.billing.invoices import AnyLine, Invoice
from bailiwick.billing.lines import LineKey, RatedLine, money_text, unit_of
from bailiwick.billing.settled.lines import SettledLine
from bailiwick.billing.units.lines import UnitLine
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
    *("x_ChargeCause", "x_CorrectsInvoiceId", "x_DisputedQuantity", "x_FirstRecordId"),
    *("x_Generation", "x_JournalSize", "x_LastRecordId", "x_LeaseClass", "x_NotPriced"),
    *("x_RateCardEffective", "x_RateCardName", "x_Segments", "x_Stage", "x_Used", "x_UsedUnit"),
)
FOCUS_COLUMNS: Final = (*_STANDARD, *_OURS)
"""The header of :func:`focus_csv`."""

_COMPUTE: Final = ("Compute", "Bailiwick Compute", "Other (Compute)")
_APP: Final = ("Other", "Other (Other)")
_STORAGE: Final = ("Storage", "Bailiwick Storage", "Block Storage")


def focus_csv(invoices: Iterable[Invoice], *, provider: str) -> str:
    """All lines of these invoices; ``provider`` runs the fleet and issues its invoices."""
    if not provider.strip():
        raise InvalidValue("provider", provider, "the name of who runs the fleet")
    rows = (row for each in invoices for row in _rows(each, provider))
    return csv_text(FOCUS_COLUMNS, ([row[name] for name in FOCUS_COLUMNS] for row in rows))


def _rows(invoice: Invoice, provider: str) -> Iterator[dict[str, Cell]]:
    yield from (focus_row(invoice, line, provider=provider) for line in invoice.lines)
    yield from (focus_unit_row(invoice, line, provider=provider) for line in invoice.unit_lines)
    for each in invoice.settled_lines:
        yield focus_settled_row(invoice, each, provider=provider)


def focus_settled_row(invoice: Invoice, line: SettledLine, *, provider: str) -> dict[str, Cell]:
    """One line of what is settled between projects: an adjustment, of both sides of one amount."""
    key, charged = line.key, line.quantity - line.disputed
    row: dict[str, Cell] = dict.fromkeys(FOCUS_COLUMNS)
    told = {"runtime": key.runtime, "side": key.side.value, "with_project": key.other}
    row |= _account(invoice, key.project, told) | _named(provider) | _period(invoice, line)
    row |= _sku(f"between.{key.app}.{key.unit}", key.unit, is_charged=True)
    category, subcategory = _APP
    row |= {
        "ChargeCategory": "Adjustment",
        "ServiceCategory": category,
        "ServiceName": key.app,
        "ServiceSubcategory": subcategory,
        "ChargeDescription": f"{key.runtime}, {key.unit} {key.side.value} with {key.other}",
    }
    row |= _money(line.cost_micros, line.cost_micros)
    quantity = charged if line.cost_micros >= 0 else -charged
    row |= {
        "ContractedUnitPrice": money_text(key.price),
        "ListUnitPrice": money_text(key.price),
        "ConsumedQuantity": quantity,
        "ConsumedUnit": key.unit,
        "PricingQuantity": quantity,
        "PricingUnit": key.unit,
        "x_Segments": line.reports,
        "x_Used": line.quantity,
        "x_UsedUnit": key.unit,
        "x_DisputedQuantity": line.disputed,
    }
    return row | _settled_records(invoice, line)


def _settled_records(invoice: Invoice, line: SettledLine) -> dict[str, Cell]:
    return {
        "x_CorrectsInvoiceId": invoice.head.corrects,
        "x_FirstRecordId": line.first_seq,
        "x_JournalSize": invoice.head.journal_size,
        "x_LastRecordId": line.last_seq,
    }


def focus_unit_row(invoice: Invoice, line: UnitLine, *, provider: str) -> dict[str, Cell]:
    """One line of what an app told, by column; what is disputed is not part of the quantities."""
    key = line.key
    row: dict[str, Cell] = dict.fromkeys(FOCUS_COLUMNS)
    told = {name: str(value) for name, value in key.tags().items()}
    row |= _account(invoice, key.project, told) | _named(provider) | _period(invoice, line)
    row |= _sku(f"app.{key.app}.{key.unit}", key.unit, is_charged=key.is_priced)
    category, subcategory = _APP
    row |= {
        "ServiceCategory": category,
        "ServiceName": key.app,
        "ServiceSubcategory": subcategory,
        "ChargeDescription": _unit_description(line),
    }
    row |= _money(line.cost_micros, line.list_cost_micros)
    row |= {
        "ContractedUnitPrice": money_text(key.price or 0),
        "ListUnitPrice": money_text(key.list_price or 0),
        "ConsumedQuantity": line.charged,
        "ConsumedUnit": key.unit,
        "PricingQuantity": line.charged,
        "PricingUnit": key.unit,
    }
    return row | _records(invoice, line) | _unit_traced(line)


def _unit_description(line: UnitLine) -> str:
    parts = [line.key.app, f"instance {line.key.instance_id}", line.key.unit]
    parts += ["not priced"] if not line.key.is_priced else []
    parts += [f"{line.disputed} disputed, not charged"] if line.disputed else []
    return ", ".join(parts)


def _unit_traced(line: UnitLine) -> dict[str, Cell]:
    return {
        "x_Segments": line.reports,
        "x_Used": line.quantity,
        "x_UsedUnit": line.key.unit,
        "x_DisputedQuantity": line.disputed,
        "x_NotPriced": None if line.key.is_priced else "true",
    }


def focus_row(invoice: Invoice, line: RatedLine, *, provider: str) -> dict[str, Cell]:
    """One line by column; a column without a value has none."""
    key = line.key
    told = {} if key.tag is None else {"tag": key.tag}
    if key.member is not None:
        told |= {name: str(value) for name, value in key.member.plain().items()}
    row: dict[str, Cell] = dict.fromkeys(FOCUS_COLUMNS)
    row |= _account(invoice, key.project, told) | _named(provider) | _period(invoice, line)
    return row | _charge(line) | _costs(line) | _records(invoice, line) | _traced(line)


def _named(provider: str) -> dict[str, Cell]:
    names = ("ProviderName", "PublisherName", "ServiceProviderName", "HostProviderName")
    return dict.fromkeys((*names, "InvoiceIssuerName"), provider)


def _account(invoice: Invoice, project: str | None, told: dict[str, str]) -> dict[str, Cell]:
    head = invoice.head
    tags = json.dumps(told, ensure_ascii=False) if told else None
    return {
        "BillingAccountId": head.tenant,
        "BillingAccountName": head.tenant,
        "BillingCurrency": head.currency,
        "BillingPeriodStart": iso_time(head.from_ms),
        "BillingPeriodEnd": iso_time(head.to_ms),
        "InvoiceId": head.invoice_id,
        "SubAccountId": project,
        "SubAccountName": project,
        "Tags": tags,
    }


def _period(invoice: Invoice, line: AnyLine) -> dict[str, Cell]:
    return {
        "ChargeCategory": "Usage",
        "ChargeClass": None if invoice.head.corrects is None else "Correction",
        "ChargeFrequency": "Usage-Based",
        "ChargePeriodStart": iso_time(line.from_ms),
        "ChargePeriodEnd": iso_time(line.to_ms),
        "PricingCategory": "Standard",
    }


def _sku(sku: str, meter: str, *, is_charged: bool, terms: str = "") -> dict[str, Cell]:
    price = f"{sku}{terms}{'' if is_charged else '.not_charged'}"
    return {"SkuId": sku, "SkuMeter": meter, "SkuPriceId": price}


def _charge(line: RatedLine) -> dict[str, Cell]:
    key = line.key
    is_stored = key.kind is ResourceKind.BLOCK_BYTES
    category, service, subcategory = _STORAGE if is_stored else _COMPUTE
    sku = f"{key.kind}.{key.generation}" if key.kind is ResourceKind.GPU_MILLI else str(key.kind)
    meter, terms = unit_of(key.kind).per_hour, f".{key.lease_class}"
    return _sku(sku, meter, is_charged=key.is_charged, terms=terms) | {
        "ChargeDescription": _description(key),
        "ServiceCategory": category,
        "ServiceName": service,
        "ServiceSubcategory": subcategory,
    }


def _description(key: LineKey) -> str:
    parts = [str(key.kind), *([str(key.generation)] if key.generation else [])]
    parts += [f"{key.lease_class} lease", str(key.stage)]
    if key.cause is not None:
        parts.append(str(key.cause))
    if not key.is_charged:
        parts.append("not charged")
    return ", ".join(parts)


def _money(cost_micros: int, list_micros: int) -> dict[str, Cell]:
    billed = money_text(cost_micros)
    return {
        "BilledCost": billed,
        "ContractedCost": billed,
        "EffectiveCost": billed,
        "ListCost": money_text(list_micros),
    }


def _costs(line: RatedLine) -> dict[str, Cell]:
    key, unit = line.key, unit_of(line.key.kind)
    return _money(line.cost_micros, line.list_cost_micros) | {
        "ContractedUnitPrice": key.price.text(),
        "ListUnitPrice": key.list_price.text(),
        "ConsumedQuantity": line.quantity,
        "ConsumedUnit": unit.name,
        "PricingQuantity": unit.hours(line.used),
        "PricingUnit": unit.per_hour,
    }


def _records(invoice: Invoice, line: RatedLine | UnitLine) -> dict[str, Cell]:
    card = line.key.card
    return {
        "x_CorrectsInvoiceId": invoice.head.corrects,
        "x_FirstRecordId": line.first_seq,
        "x_JournalSize": invoice.head.journal_size,
        "x_LastRecordId": line.last_seq,
        "x_RateCardEffective": iso_time(card.effective_ms),
        "x_RateCardName": card.name,
    }


def _traced(line: RatedLine) -> dict[str, Cell]:
    key = line.key
    return {
        "x_ChargeCause": key.cause,
        "x_Generation": key.generation,
        "x_LeaseClass": key.lease_class,
        "x_Segments": line.segments,
        "x_Stage": key.stage,
        "x_Used": line.used,
        "x_UsedUnit": unit_of(key.kind).native,
    }
