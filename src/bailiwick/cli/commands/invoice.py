"""``bailiwick invoice list|show|issue|correct|trace``: the server's invoices.

Those that need a journal and no server are in ``bailiwick.cli.offline.invoice``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.offline.invoice import app
from bailiwick.cli.shared.ask import Ask, path_word, verb
from bailiwick.cli.shared.output import Columns
from bailiwick.cli.shared.periods import (
    FromOption,
    MonthOption,
    ToOption,
    align_money,
    parse_period,
    spell_period,
)
from bailiwick.cli.shared.screen import owner
from bailiwick.phrases.amounts import amount, span
from bailiwick.phrases.times import clock
from bailiwick.vocab.errors import InvalidValue

if TYPE_CHECKING:
    from bailiwick.wire.billing import Correction, Invoice, InvoiceHead, Stretch

__all__ = ["app"]

_Invoice = Annotated[str, typer.Argument(metavar="INVOICE", help="Its name, from invoice list.")]
_MaybeInvoice = Annotated[
    str | None,
    typer.Argument(metavar="[INVOICE]", help="Its name; else what one would say now (a draft)."),
]
_Project = Annotated[
    str | None, typer.Option("--project", help="Of this project alone; else of the whole tenant.")
]

_INVOICES: Columns[InvoiceHead] = Columns(
    ("invoice", "of", "period", "lines", "records", "total", "corrects"),
    lambda i: (
        i.invoice_id,
        owner(i.tenant, i.project),
        spell_period(i.from_ms, i.to_ms),
        f"{i.lines:,}",
        f"{i.journal_size:,}",
        f"{align_money(i.total_micros)} {i.currency}",
        i.corrects or "-",
    ),
    lambda i: i.invoice_id,
    numbers=("lines", "records", "total"),
    empty="no invoice that you may see",
)
_STRETCHES: Columns[Stretch] = Columns(
    ("lease", "node", "held", "from", "for", "records"),
    lambda s: (
        f"lease-{s.lease_id}",
        s.node if s.device is None else f"{s.node} GPU {s.device}",
        amount(s.kind.value, s.amount),
        clock(s.from_ms),
        span(s.to_ms - s.from_ms),
        f"{s.from_seq} - {s.to_seq}",
    ),
    lambda s: f"lease-{s.lease_id}",
    empty="the meter has nothing of that line any more: see bailiwick invoice correct",
)


@verb(app, "list", lists=True, scope="tenant")
def list_invoices(ask: Ask) -> None:
    """The invoices and corrections of a tenant that you may see, the newest first.

    Example: bailiwick invoice list --tenant lab
    """
    from bailiwick.wire.actions.invoices import INVOICE_LIST

    ask.list(INVOICE_LIST, path={"tenant": ask.tenant}, columns=_INVOICES, page_rows=50)


@verb(app, "show", scope="tenant")
def show_invoice(
    ask: Ask,
    invoice: _MaybeInvoice = None,
    *,
    project: _Project = None,
    month: MonthOption = None,
    since: FromOption = None,
    until: ToOption = None,
) -> None:
    """An invoice as it was issued; or, without its name, what one would say now.

    Without a word about the period a draft is of this calendar month (UTC) until now.

    Example: bailiwick invoice show inv-2026-10-77982b33d7cc
    """
    from bailiwick.wire.actions.invoices import INVOICE_DRAFT, INVOICE_READ

    if invoice is not None:
        if any(each is not None for each in (project, month, since, until)):
            raise InvalidValue("INVOICE", invoice, "nothing about a period or project beside it")
        found = ask.client.send(INVOICE_READ, path=_path(ask, invoice))
    else:
        begin, end = parse_period(month, since=since, until=until)
        query = {"project": project, "from_ms": begin, "to_ms": end}
        found = ask.client.send(INVOICE_DRAFT, path={"tenant": ask.tenant}, query=query)
    ask.printer.thing(found, name=found.body.invoice_id, draw=lambda: _draw(found))


def _path(ask: Ask, invoice: str) -> dict[str, str]:
    return {"tenant": ask.tenant, "invoice": path_word("INVOICE", invoice)}


def _draw(found: Invoice) -> None:
    from bailiwick.billing.invoice_body import invoice_of
    from bailiwick.cli.offline.invoice_screen import draw_invoice

    draw_invoice(invoice_of(found.body.model_dump(mode="json")))
    if found.status == "draft":
        typer.echo("a draft: nothing is sealed")
        return
    typer.echo(f"sealed in the journal with SHA-256 {found.digest}")
    if found.corrected_by:
        typer.echo(f"corrected by {', '.join(found.corrected_by)}")


@verb(app, "issue", changes=True, scope="tenant")
def issue_invoice(
    ask: Ask,
    *,
    project: _Project = None,
    month: MonthOption = None,
    since: FromOption = None,
    until: ToOption = None,
) -> None:
    """Seal what a tenant, or one of its projects, owes for a period that is over.

    Example: bailiwick invoice issue --month 2026-10 --tenant lab --dry-run
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.invoices import INVOICE_ISSUE
    from bailiwick.wire.billing import NewInvoice

    begin, end = parse_period(month, since=since, until=until)
    if begin is None or end is None:
        raise InvalidValue("--month", None, "a month such as 2026-10, or --from and --to")
    body = make_body(NewInvoice, project=project, from_ms=begin, to_ms=end)
    path = {"tenant": ask.tenant}
    found = ask.client.send(INVOICE_ISSUE, path=path, body=body, dry_run=ask.dry_run)
    ask.printer.thing(found, name=found.body.invoice_id, draw=lambda: _draw(found))


@verb(app, "correct", changes=True, scope="tenant")
def correct_invoice(ask: Ask, invoice: _Invoice) -> None:
    """Compute an invoice again from what the journal says now; where it differs, correct it.

    Example: bailiwick invoice correct inv-2026-10-77982b33d7cc
    """
    from bailiwick.wire.actions.invoices import INVOICE_CORRECT

    path = _path(ask, invoice)
    found = ask.client.send(INVOICE_CORRECT, path=path, dry_run=ask.dry_run)
    new = found.correction
    name = invoice if new is None else new.body.invoice_id
    ask.printer.thing(found, name=name, draw=lambda: _draw_correction(invoice, found))


def _draw_correction(invoice: str, found: Correction) -> None:
    if found.correction is None:
        typer.echo(f"{invoice} agrees with the journal: there is nothing to correct")
    else:
        _draw(found.correction)


@verb(app, "trace", lists=True, scope="tenant")
def trace_line(
    ask: Ask,
    invoice: _Invoice,
    *,
    line: Annotated[int, typer.Argument(metavar="LINE", min=1, help="Which line of it: 1, 2, ...")],
) -> None:
    """Which leases held what, when and by which records: all that a line adds up.

    Example: bailiwick invoice trace inv-2026-10-77982b33d7cc 3
    """
    from bailiwick.wire.actions.invoices import INVOICE_TRACE

    ask.list(INVOICE_TRACE, path={**_path(ask, invoice), "line": line}, columns=_STRETCHES)
