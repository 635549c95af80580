"""An invoice as plain values: what is stored, sent, exported and hashed.

Rules:

- A body has texts, integers, lists and nothing else, so it has one canonical form: JSON as
  RFC 8785 writes it. The digest of an invoice is the SHA-256 of those bytes.
- An amount of usage can be beyond what every JSON reader keeps exactly, so it is written as its
  digits. Money cannot: an invoice bounds it.
- Totals, subtotals and the amounts for people stand in a body beside what they follow from. When
  one is read back they have to be what they follow to be, or the body is refused.
- A line of a member says whose, and then the body is of version 2. Every other body is as it was
  before there were apps: of version 1, to the last byte.
- What apps told of their use are lines apart, and then the body is of version 3. One without them
  does not have the word. So it is with what projects owe one another, and version 4.
"""

from __future__ import annotations

import json
from enum import StrEnum
from hashlib import sha256
from typing import Any, Final

from bailiwick.billing.body_values import BodyValues
from bailiwick.billing.charges import ChargeCause
from bailiwick.billing.invoices import MONEY_MAX, Invoice, InvoiceHead, InvoiceScope
from bailiwick.billing.lines import CardId, LineKey, Price, RatedLine, unit_of
from bailiwick.billing.rating import LINES_MAX
from bailiwick.billing.settled.body import settled_line_body, settled_line_of
from bailiwick.billing.units.body import unit_line_body, unit_line_of
from bailiwick.metering.owners import Stage
from bailiwick.vocab.app_uses import MemberUse
from bailiwick.vocab.apps import ControlPlaneScope, MemberPart, OperatingMode
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_integer
from bailiwick.vocab.words import HardwareGeneration, LeaseClass, ResourceKind

VERSION: Final = 4
_WITH_UNITS: Final = 3
_FIRST: Final = 1
_WITH_MEMBERS: Final = 2
_UNIT_LINES: Final = "unit_lines"
_SETTLED: Final = "settled_lines"
_MEMBER: Final = "member"

Body = dict[str, Any]


def body_of(invoice: Invoice) -> Body:
    """The invoice as plain values."""
    head = invoice.head
    units = [unit_line_body(line) for line in invoice.unit_lines]
    settled = [settled_line_body(line) for line in invoice.settled_lines]
    return {
        "version": _version(invoice),
        "invoice_id": head.invoice_id,
        "tenant": head.tenant,
        "scope": head.scope.value,
        "project": head.project,
        "from_ms": head.from_ms,
        "to_ms": head.to_ms,
        "currency": head.currency,
        "journal_size": head.journal_size,
        "corrects": head.corrects,
        "total_micros": invoice.total_micros,
        "by_project": [
            {"project": project, "cost_micros": cost} for project, cost in invoice.by_project()
        ],
        "by_generation": [
            {"generation": _word(generation), "cost_micros": cost}
            for generation, cost in invoice.by_generation()
        ],
        "lines": [_line_body(line) for line in invoice.lines],
        **({_UNIT_LINES: units} if units else {}),
        **({_SETTLED: settled} if settled else {}),
    }


def _version(invoice: Invoice) -> int:
    """The first that can say all of it: what was issued before keeps its bytes."""
    if invoice.settled_lines:
        return VERSION
    if invoice.unit_lines:
        return _WITH_UNITS
    return _FIRST if all(line.key.member is None for line in invoice.lines) else _WITH_MEMBERS


def _line_body(line: RatedLine) -> Body:
    key, card = line.key, line.key.card
    member = {} if key.member is None else {_MEMBER: key.member.plain()}
    return member | {
        "project": key.project,
        "generation": _word(key.generation),
        "tag": key.tag,
        "lease_class": key.lease_class.value,
        "kind": key.kind.value,
        "stage": key.stage.value,
        "cause": _word(key.cause),
        "card": card.name,
        "card_tenant": card.tenant,
        "card_effective_ms": card.effective_ms,
        "price_micros_per_hour": key.price.micros_per_hour,
        "price_per_mille": key.price.per_mille,
        "list_micros_per_hour": key.list_price.micros_per_hour,
        "list_per_mille": key.list_price.per_mille,
        "used": str(line.used),
        "quantity": line.quantity,
        "unit": unit_of(key.kind).name,
        "cost_micros": line.cost_micros,
        "list_cost_micros": line.list_cost_micros,
        "segments": line.segments,
        "from_ms": line.from_ms,
        "to_ms": line.to_ms,
        "first_seq": line.first_seq,
        "last_seq": line.last_seq,
    }


def _word(word: StrEnum | None) -> str | None:
    return None if word is None else word.value


def canonical_bytes(invoice: Invoice) -> bytes:
    """The bytes that stand for this invoice and for no other."""
    text = json.dumps(
        body_of(invoice), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return text.encode()


def digest_of(invoice: Invoice) -> str:
    """The SHA-256 of the canonical bytes, in hexadecimal."""
    return sha256(canonical_bytes(invoice)).hexdigest()


# -- reading one back ------------------------------------------------------------------------


def invoice_of(body: object) -> Invoice:
    """The invoice that such a body tells; refused unless it is that body to the last value."""
    values = BodyValues("invoice", body)
    check_integer("version", values.take("version"), low=_FIRST, high=VERSION)
    head = InvoiceHead(
        invoice_id=values.text("invoice_id"),
        tenant=values.text("tenant"),
        scope=values.word("scope", InvoiceScope),
        project=values.maybe_text("project"),
        from_ms=values.number("from_ms"),
        to_ms=values.number("to_ms"),
        currency=values.text("currency"),
        journal_size=values.number("journal_size"),
        corrects=values.maybe_text("corrects"),
    )
    lines = tuple(_line_of(row, head) for row in _rows(values, "lines"))
    told = _rows(values, _UNIT_LINES) if _UNIT_LINES in values.names else []
    units = tuple(unit_line_of(row, tenant=head.tenant, currency=head.currency) for row in told)
    owed = _rows(values, _SETTLED) if _SETTLED in values.names else []
    settled = tuple(settled_line_of(row, tenant=head.tenant) for row in owed)
    invoice = Invoice(head, lines, units, settled)
    if (right := body_of(invoice)) != body:
        names = sorted({*right, *values.names})
        wrong = next(name for name in names if not values.is_(name, right))
        raise InvalidValue(wrong, values.names.get(wrong), "what follows from the invoice's lines")
    return invoice


def _rows(values: BodyValues, name: str) -> list[object]:
    rows = values.take(name)
    if not isinstance(rows, list) or len(rows) > LINES_MAX:
        raise InvalidValue(name, type(rows).__name__, f"a list of at most {LINES_MAX} lines")
    return rows


def _member_of(row: object) -> MemberUse:
    values = BodyValues(_MEMBER, row)
    return MemberUse(
        values.number("instance_id", low=1),
        values.text("app"),
        values.word("operating_mode", OperatingMode),
        values.word("control_plane_scope", ControlPlaneScope),
        values.text("runtime_backend"),
        values.word("part", MemberPart),
    )


def _line_of(row: object, head: InvoiceHead) -> RatedLine:
    values = BodyValues("line", row)
    key = LineKey(
        head.tenant,
        values.maybe_text("project"),
        values.maybe_word("generation", HardwareGeneration),
        values.maybe_text("tag"),
        values.word("lease_class", LeaseClass),
        values.word("kind", ResourceKind),
        values.word("stage", Stage),
        values.maybe_word("cause", ChargeCause),
        CardId(
            values.text("card"),
            values.maybe_text("card_tenant"),
            values.number("card_effective_ms"),
            head.currency,
        ),
        Price(values.number("price_micros_per_hour"), values.number("price_per_mille")),
        Price(values.number("list_micros_per_hour"), values.number("list_per_mille")),
        _member_of(values.take(_MEMBER)) if _MEMBER in values.names else None,
    )
    return RatedLine(
        key,
        used=values.digits("used"),
        cost_micros=values.number("cost_micros", low=-MONEY_MAX),
        list_cost_micros=values.number("list_cost_micros", low=-MONEY_MAX),
        segments=values.number("segments", low=-MONEY_MAX),
        from_ms=values.number("from_ms"),
        to_ms=values.number("to_ms"),
        first_seq=values.number("first_seq"),
        last_seq=values.number("last_seq"),
    )
