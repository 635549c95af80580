"""Lines of what is settled between projects, as plain values of an invoice's body."""

from __future__ import annotations

from typing import Any

from bailiwick.billing.body_values import NUMBER_MAX, BodyValues
from bailiwick.billing.settled.lines import SettledKey, SettledLine, Side


def settled_line_body(line: SettledLine) -> dict[str, Any]:
    """A line as plain values; what was used is written as its digits."""
    key = line.key
    return {
        "project": key.project,
        "runtime_id": key.runtime_id,
        "runtime": key.runtime,
        "app": key.app,
        "side": key.side.value,
        "with_project": key.other,
        "unit": key.unit,
        "price_micros": key.price,
        "quantity": str(line.quantity),
        "disputed": str(line.disputed),
        "cost_micros": line.cost_micros,
        "reports": line.reports,
        "from_ms": line.from_ms,
        "to_ms": line.to_ms,
        "first_seq": line.first_seq,
        "last_seq": line.last_seq,
    }


def settled_line_of(row: object, *, tenant: str) -> SettledLine:
    """The line that such values tell."""
    values = BodyValues("settled line", row)
    key = SettledKey(
        tenant,
        values.text("project"),
        values.number("runtime_id", low=1),
        values.text("runtime"),
        values.text("app"),
        values.word("side", Side),
        values.text("with_project"),
        values.text("unit"),
        values.number("price_micros", low=1),
    )
    return SettledLine(
        key,
        quantity=values.digits("quantity"),
        disputed=values.digits("disputed"),
        cost_micros=values.number("cost_micros", low=-NUMBER_MAX),
        reports=values.number("reports", low=-NUMBER_MAX),
        from_ms=values.number("from_ms"),
        to_ms=values.number("to_ms"),
        first_seq=values.number("first_seq"),
        last_seq=values.number("last_seq"),
    )
