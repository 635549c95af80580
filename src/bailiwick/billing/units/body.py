"""Lines of what apps told, as plain values of an invoice's body.

Rules:

- ``price_micros`` is null where no card has a price: the line is told, and not priced.
- What was told can be beyond what every JSON reader keeps exactly, so it is written as its digits.
"""

from __future__ import annotations

from typing import Any

from bailiwick.billing.body_values import NUMBER_MAX, BodyValues
from bailiwick.billing.lines import CardId
from bailiwick.billing.units.lines import UnitKey, UnitLine


def unit_line_body(line: UnitLine) -> dict[str, Any]:
    """A line as plain values."""
    key, card = line.key, line.key.card
    return {
        "project": key.project,
        "instance_id": key.instance_id,
        "app": key.app,
        "unit": key.unit,
        "card": card.name,
        "card_tenant": card.tenant,
        "card_effective_ms": card.effective_ms,
        "price_micros": key.price,
        "list_price_micros": key.list_price,
        "quantity": str(line.quantity),
        "disputed": str(line.disputed),
        "cost_micros": line.cost_micros,
        "list_cost_micros": line.list_cost_micros,
        "reports": line.reports,
        "from_ms": line.from_ms,
        "to_ms": line.to_ms,
        "first_seq": line.first_seq,
        "last_seq": line.last_seq,
    }


def unit_line_of(row: object, *, tenant: str, currency: str) -> UnitLine:
    """The line that such values tell."""
    values = BodyValues("unit line", row)
    card = CardId(
        values.text("card"),
        values.maybe_text("card_tenant"),
        values.number("card_effective_ms"),
        currency,
    )
    key = UnitKey(
        tenant,
        values.maybe_text("project"),
        values.number("instance_id", low=1),
        values.text("app"),
        values.text("unit"),
        card,
        values.maybe_number("price_micros"),
        values.maybe_number("list_price_micros"),
    )
    return UnitLine(
        key,
        quantity=values.digits("quantity"),
        disputed=values.digits("disputed"),
        cost_micros=values.number("cost_micros", low=-NUMBER_MAX),
        list_cost_micros=values.number("list_cost_micros", low=-NUMBER_MAX),
        reports=values.number("reports", low=-NUMBER_MAX),
        from_ms=values.number("from_ms"),
        to_ms=values.number("to_ms"),
        first_seq=values.number("first_seq"),
        last_seq=values.number("last_seq"),
    )
