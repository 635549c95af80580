"""What invoices look like on a screen: their lines, what was recomputed, and where two differ.

Rules:

- Money has all of its decimals. An amount of usage with more than six is told with six, marked
  with ``~``; in JSON and in exports it is exact.
- Where two invoices differ every difference is told, up to a hundred.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Final, assert_never

import typer

from bailiwick.billing.invoices import (
    AnyLine,
    Difference,
    HeadDiffers,
    Invoice,
    LineDiffers,
    OnlyInFirst,
    OnlyInSecond,
)
from bailiwick.billing.lines import LineKey, RatedLine, money_text, unit_of
from bailiwick.billing.settled.lines import SettledKey, SettledLine
from bailiwick.billing.units.lines import UnitKey, UnitLine
from bailiwick.cli.shared.periods import spell_period
from bailiwick.cli.shared.screen import make_console, owner, print_rows, printable

if TYPE_CHECKING:
    from bailiwick.billing.audits import AuditedClaim
    from bailiwick.vocab.app_uses import MemberUse

SHOWN_MAX: Final = 100
_PLACES: Final = 6
_LINES: Final = (
    *("line", "project", "tag", "generation", "class", "resource", "stage", "card", "records"),
    *("used", "unit", "an hour", "cost"),
)
_UNITS: Final = (
    *("project", "instance", "card", "records", "told", "unit", "disputed", "price of one"),
    "cost",
)
_SETTLED: Final = (
    *("project", "side", "with", "runtime", "records", "quantity", "unit", "disputed"),
    *("price of one", "cost"),
)
_AUDIT: Final = ("invoice", "owner", "period", "issued", "recomputed", "digest")


def draw_invoice(invoice: Invoice) -> None:
    """An invoice for people: its lines, and what it comes to."""
    head = invoice.head
    period = spell_period(head.from_ms, head.to_ms)
    has_members = any(line.key.member is not None for line in invoice.lines)
    rows = [
        (f"{n:,}", *_cells(line), *([_member_cell(line)] if has_members else []))
        for n, line in enumerate(invoice.lines, 1)
    ]
    print_rows(
        make_console(),
        (*_LINES, *(["member of"] if has_members else [])),
        rows=rows,
        title=f"Invoice {head.invoice_id} of {owner(head.tenant, head.project)}, {period}",
        numbers=("line", *_LINES[9:]),
    )
    _draw_units(invoice)
    _draw_settled(invoice)
    for project, micros in invoice.by_project() if len(invoice.by_project()) > 1 else ():
        typer.echo(f"{printable(project or 'no project')}: {money_text(micros)}")
    corrects = "" if head.corrects is None else f", corrects {head.corrects}"
    typer.echo(
        f"total {money_text(invoice.total_micros)} {printable(head.currency)}, "
        f"from the first {head.journal_size:,} records{printable(corrects)}"
    )


def _draw_units(invoice: Invoice) -> None:
    """What apps told of their use, apart from what was held."""
    if not invoice.unit_lines:
        return
    rows = [_unit_cells(line) for line in invoice.unit_lines]
    title = "What apps told of their use"
    print_rows(
        make_console(),
        _UNITS,
        rows=rows,
        title=title,
        numbers=("told", "disputed", "price of one", "cost"),
    )


def _draw_settled(invoice: Invoice) -> None:
    """What projects owe one another, apart from both."""
    if invoice.settled_lines:
        rows = [_settled_cells(line) for line in invoice.settled_lines]
        numbers = ("quantity", "disputed", "price of one", "cost")
        title = "Settled between projects for workers of shared runtimes"
        print_rows(make_console(), _SETTLED, rows=rows, title=title, numbers=numbers)


def _settled_cells(line: SettledLine) -> tuple[str, ...]:
    key = line.key
    return (
        key.project,
        key.side.value,
        key.other,
        key.runtime,
        f"{line.first_seq}-{line.last_seq}",
        str(line.quantity),
        key.unit,
        str(line.disputed) if line.disputed else "-",
        money_text(key.price),
        money_text(line.cost_micros),
    )


def _unit_cells(line: UnitLine) -> tuple[str, ...]:
    key = line.key
    return (
        key.project or "-",
        f"{key.app} #{key.instance_id}",
        key.card.name,
        f"{line.first_seq}-{line.last_seq}",
        str(line.quantity),
        key.unit,
        str(line.disputed) if line.disputed else "-",
        "not priced" if key.price is None else money_text(key.price),
        money_text(line.cost_micros),
    )


def _cells(line: RatedLine) -> tuple[str, ...]:
    key = line.key
    stage = key.stage.value if key.cause is None else f"{key.stage} ({key.cause})"
    return (
        key.project or "-",
        key.tag or "-",
        "-" if key.generation is None else key.generation.value,
        key.lease_class.value,
        key.kind.value,
        stage,
        key.card.name,
        f"{line.first_seq}-{line.last_seq}",
        shortened(line.quantity),
        unit_of(key.kind).name,
        key.price.text(),
        money_text(line.cost_micros),
    )


def _member_cell(line: RatedLine) -> str:
    return "-" if line.key.member is None else spell_member(line.key.member)


def spell_member(use: MemberUse) -> str:
    """Whose member, and what it does there."""
    return f"{use.app} #{use.instance_id} {use.part}"


def shortened(decimal: str) -> str:
    """A decimal with at most six places, marked where it has more.

    >>> shortened("1.5"), shortened("0.123456789"), shortened("-0.0000001")
    ('1.5', '~0.123456', '~-0.000000')
    """
    whole, dot, part = decimal.partition(".")
    return f"~{whole}{dot}{part[:_PLACES]}" if len(part) > _PLACES else decimal


# -- what was recomputed -----------------------------------------------------------------------


def audit_row(found: AuditedClaim) -> dict[str, object]:
    """A claim and what became of it, as plain values."""
    claim, head = found.claim, found.claim.head
    return {
        "invoice": head.invoice_id,
        "tenant": head.tenant,
        "project": head.project,
        "period": spell_period(head.from_ms, head.to_ms),
        "from_ms": head.from_ms,
        "to_ms": head.to_ms,
        "journal_size": head.journal_size,
        "corrects": head.corrects,
        "currency": head.currency,
        "issued_micros": claim.total_micros,
        "recomputed_micros": found.total_micros,
        "is_digest_equal": found.is_same,
        "agrees": found.agrees,
        "why": found.why or None,
    }


def draw_audit(rows: Sequence[dict[str, object]]) -> None:
    """All claims as a table, and a sentence for each that is not true."""
    print_rows(
        make_console(),
        _AUDIT,
        rows=[_audit_cells(row) for row in rows],
        numbers=("issued", "recomputed"),
    )
    for row in rows:
        if not row["agrees"]:
            typer.echo(printable(audit_sentence(row)))


def _audit_cells(row: dict[str, object]) -> tuple[str, ...]:
    name = str(row["invoice"])
    if row["corrects"] is not None:
        name += f" (corrects {row['corrects']})"
    return (
        name,
        owner(row["tenant"], row["project"]),
        str(row["period"]),
        _money(row["issued_micros"]),
        _money(row["recomputed_micros"]),
        "equal" if row["is_digest_equal"] else "DIFFERS",
    )


def _money(micros: object) -> str:
    return money_text(micros) if isinstance(micros, int) else "-"


def audit_sentence(row: dict[str, object]) -> str:
    """What is wrong with a claim that is not true."""
    name, issued, given = row["invoice"], row["issued_micros"], row["recomputed_micros"]
    if row["why"] is not None:
        return f"{name} cannot be built again: {row['why']}"
    if isinstance(issued, int) and isinstance(given, int) and issued != given:
        less = "too much" if issued > given else "too little"
        return f"{name} says {money_text(abs(issued - given))} {row['currency']} {less}"
    return f"{name} says the same total by other lines; --against FILE shows which"


# -- where two differ --------------------------------------------------------------------------


def difference_row(found: Difference) -> dict[str, object]:
    """Where a saved invoice and what the journal gives differ, as plain values."""
    match found:
        case HeadDiffers():
            return _differing("head", found.field, (found.first, found.second))
        case LineDiffers():
            return _differing(name_line(found.key), found.field, (found.first, found.second))
        case OnlyInFirst():
            return _differing(name_line(found.line.key), "line", (_amounts(found.line), None))
        case OnlyInSecond():
            return _differing(name_line(found.line.key), "line", (None, _amounts(found.line)))
        case _:
            assert_never(found)


def _differing(where: str, field: str, values: tuple[object, object]) -> dict[str, object]:
    saved, given = (str(v) if isinstance(v, StrEnum) else v for v in values)
    return {"where": where, "field": field, "saved": saved, "recomputed": given}


def draw_differences(rows: Sequence[dict[str, object]]) -> None:
    """One row for each difference between a saved invoice and what the journal gives."""
    if not rows:
        return
    names = ("where", "field", "saved", "recomputed")
    cells = [
        ["-" if row[name] is None else str(row[name]) for name in names] for row in rows[:SHOWN_MAX]
    ]
    print_rows(make_console(), ("where*", *names[1:]), rows=cells, title="Where they differ")
    if len(rows) > SHOWN_MAX:
        typer.echo(f"and {len(rows) - SHOWN_MAX:,} differences more")


def name_line(key: LineKey | UnitKey | SettledKey) -> str:
    """Which line it is, as short as can be."""
    if isinstance(key, SettledKey):
        what = f"{key.unit} of {key.runtime} {key.side.value} with {key.other}"
        return f"{key.project}/{what}"
    if isinstance(key, UnitKey):
        whose = key.project or "no project"
        return f"{whose}/{key.app} #{key.instance_id}/{key.unit}/by {key.card.name}"
    parts: list[object] = [key.project or "no project", key.generation, key.tag, key.lease_class]
    parts += [key.kind, key.stage, key.cause, f"by {key.card.name}"]
    if key.member is not None:
        parts.append(spell_member(key.member))
    return "/".join(str(part) for part in parts if part is not None)


def _amounts(line: AnyLine) -> str:
    if isinstance(line, UnitLine | SettledLine):
        return f"{line.quantity} {line.key.unit}, {money_text(line.cost_micros)}"
    unit = unit_of(line.key.kind)
    return f"{shortened(line.quantity)} {unit.name}, {money_text(line.cost_micros)}"


def draw_balances(balances: Mapping[str, int], currency: str) -> None:
    """What the accounts hold after all invoices: every movement has two sides."""
    rows = [(printable(name), money_text(micros)) for name, micros in sorted(balances.items())]
    rows.append(("sum", money_text(sum(balances.values()))))
    money = printable(currency)
    print_rows(make_console(), ("account", money), rows=rows, numbers=(money,))
