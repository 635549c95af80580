"""``bailiwick invoice recompute`` and ``export``: invoices from a journal alone, without a server.

Rules:

- The journal is verified before any of it counts, as for every command that reads one; a damaged
  one ends with 3.
- An invoice that is not what the journal gives, to the last byte, ends with 3; so does one that
  might not be issued, and a price that was set for the past, however right the numbers are. Such a
  one is not exported either.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.shared.ask import noun
from bailiwick.cli.shared.flags import Output, OutputOption, with_options
from bailiwick.cli.shared.progress import SCREEN
from bailiwick.cli.shared.screen import printable
from bailiwick.tools.record_source import MOMENTS, OpenedJournal, open_source
from bailiwick.vocab.errors import InvalidValue

if TYPE_CHECKING:
    from bailiwick.billing.invoices import Invoice

app = noun("Invoices: what a tenant or project owes for a period, built from the journal.")

RECOMPUTE_HELP: Final = (
    "Build every invoice that a journal says was issued again, from the journal alone.\n\n"
    "Example: bailiwick invoice recompute journal.jsonl\n\n"
    "Ends with 0 if all agree to the last unit and every rule of issuing was kept, and with 3 and "
    "what differs, or which rule was not, if not. --against "
    "compares with a saved invoice, line by line. --tenant, --from and --to compute an invoice "
    "that was never issued."
)
EXPORT_HELP: Final = (
    "Invoices as CSV, or in the columns of FOCUS.\n\n"
    "Example: bailiwick invoice export journal.jsonl --format focus --provider Campus\n\n"
    "From a journal, each built again first and exported only if it is the one that was issued; "
    "or with --body from a saved one."
)

_JOURNAL = "A file of JSON Lines, a journal's directory, a data directory, or an address."
_Body = Annotated[
    Path | None,
    typer.Option("--body", metavar="FILE", help="A saved invoice, instead of a journal."),
]


class InvoiceFormat(StrEnum):
    """In which columns an invoice leaves."""

    CSV = "csv"
    FOCUS = "focus"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DraftOptions:
    """What an invoice that was never issued is of."""

    tenant: Annotated[
        str | None, typer.Option("--tenant", help="Compute an invoice of this tenant.")
    ] = None
    project: Annotated[
        str | None, typer.Option("--project", help="Only of this project of it.")
    ] = None
    since: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help=f"Its begin: {MOMENTS}.")
    ] = None
    until: Annotated[
        str | None, typer.Option("--to", metavar="TIME", help="Its end, which is not in it.")
    ] = None

    @property
    def is_told(self) -> bool:
        """Whether such an invoice is asked for."""
        told = (self.tenant, self.project, self.since, self.until)
        if any(told) and None in (self.tenant, self.since, self.until):
            raise InvalidValue("--tenant, --from, --to", told, "all three of them")
        return any(told)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RecomputeOptions(DraftOptions):
    """What ``invoice recompute`` can be told."""

    target: Annotated[str, typer.Argument(metavar="JOURNAL", help=_JOURNAL)]
    against: Annotated[
        Path | None,
        typer.Option("--against", metavar="FILE", help="Compare with this saved invoice."),
    ] = None
    books: Annotated[
        bool,
        typer.Option("--books", help="Post them to double-entry accounts, and show each balance."),
    ] = False
    output: OutputOption = Output.TABLE


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions(DraftOptions):
    """What ``invoice export`` can be told."""

    target: Annotated[str | None, typer.Argument(metavar="[JOURNAL]", help=_JOURNAL)] = None
    body: _Body = None
    invoice: Annotated[
        list[str] | None,
        typer.Option("--invoice", metavar="ID", help="Only this one; repeat it."),
    ] = None
    form: Annotated[
        InvoiceFormat, typer.Option("--format", help="Every field of a line, or FOCUS columns.")
    ] = InvoiceFormat.CSV
    provider: Annotated[
        str | None,
        typer.Option("--provider", metavar="NAME", help="Who runs the fleet, for FOCUS."),
    ] = None
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where to; else stdout.")
    ] = None


@with_options(RecomputeOptions)
def recompute(options: RecomputeOptions) -> None:
    """Build invoices again."""
    if options.is_told and options.against is not None:
        raise InvalidValue("--against", str(options.against), "not together with --tenant")
    if options.books and (options.is_told or options.against is not None):
        raise InvalidValue("--books", True, "alone: of all invoices that were issued")
    with open_source(options.target, SCREEN) as source:
        if options.is_told:
            _show(_draft_of(source, options), options.output)
        elif options.against is not None:
            _compare(source, options.against, options.output)
        else:
            _recompute_all(source, options.output, books=options.books)


@with_options(ExportOptions)
def export(options: ExportOptions) -> None:
    """Export invoices."""
    from bailiwick.billing.export import invoice_csv
    from bailiwick.billing.focus import focus_csv

    if options.form is InvoiceFormat.FOCUS and options.provider is None:
        raise InvalidValue("--provider", None, "the name of who runs the fleet, for FOCUS")
    invoices = _chosen(options)
    if options.form is InvoiceFormat.FOCUS:
        text = focus_csv(invoices, provider=options.provider or "")
    else:
        text = invoice_csv(invoices)
    if options.out is None:
        sys.stdout.buffer.write(text.encode())
        sys.stdout.buffer.flush()
        return
    try:
        options.out.write_bytes(text.encode())
    except OSError as error:
        why = f"a place to write ({error.strerror})"
        raise InvalidValue("--out", str(options.out), why) from None
    lines = sum(len(each.lines) for each in invoices)
    count = "1 invoice" if len(invoices) == 1 else f"{len(invoices):,} invoices"
    typer.echo(f"{options.out}: {lines:,} lines of {count}", err=True)


def _draft_of(source: OpenedJournal, options: DraftOptions) -> Invoice:
    from bailiwick.tools.invoices import InvoiceDraft, draft_of

    draft = InvoiceDraft(
        tenant=options.tenant or "",
        project=options.project,
        since=options.since or "",
        until=options.until or "",
    )
    built = draft_of(source, draft)
    if built.head.to_ms > source.end_ms:
        typer.echo(
            "the journal ends before the period does: what runs is counted to the period's end",
            err=True,
        )
    return built


# -- recompute ---------------------------------------------------------------------------------


def _show(invoice: Invoice, output: Output) -> None:
    from bailiwick.billing.invoice_body import body_of
    from bailiwick.cli.offline.invoice_screen import draw_invoice

    if output is Output.JSON:
        typer.echo(json.dumps(body_of(invoice), indent=2, ensure_ascii=False))
    else:
        draw_invoice(invoice)


def _recompute_all(source: OpenedJournal, output: Output, *, books: bool) -> None:
    from bailiwick.billing.accounts import Books
    from bailiwick.billing.invoices import entry_of
    from bailiwick.cli.offline.invoice_findings import draw_findings, finding_row
    from bailiwick.cli.offline.invoice_screen import audit_row, draw_audit, draw_balances
    from bailiwick.tools.invoices import judged, read_money

    money = read_money(source)
    prices, findings = money.prices, money.rules_broken()
    ledger, rows = Books(prices.book(source.size).currency), []
    for found in judged(source, money.claims, prices=prices, findings=findings):
        rows.append(audit_row(found))
        if found.invoice is not None and found.agrees:
            ledger.post(entry_of(found.invoice, at_ms=found.claim.head.to_ms))
    balances = {str(account): micros for account, micros in ledger.balances().items()}
    if output is Output.JSON:
        told = {"invoices": rows, "findings": [finding_row(each) for each in findings]}
        more = {"balances_micros": balances} if books else {}
        typer.echo(json.dumps({**told, **more}, indent=2))
    else:
        if rows:
            draw_audit(rows)
        else:
            typer.echo(f"{source.name} tells of no invoice", err=True)
        draw_findings(findings)
        if books and rows:
            draw_balances(balances, ledger.currency)
    _end(source, sum(not row["agrees"] for row in rows), count=len(rows), broken=len(findings))


def _end(source: OpenedJournal, wrong: int, *, count: int, broken: int) -> None:
    told = []
    if wrong:
        what = "does" if wrong == 1 else "do"
        told.append(f"{wrong:,} of {count:,} invoices {what} not agree with the journal")
    if broken:
        told.append(f"{broken:,} finding{'' if broken == 1 else 's'} about rules of issuing")
    if told:
        typer.echo(f"bailiwick: {source.name}: {', and '.join(told)}", err=True)
        raise typer.Exit(ExitCode.DENIED)
    if count:
        agree = "the invoice agrees" if count == 1 else f"all {count:,} invoices agree"
        typer.echo(f"{agree} with {source.size:,} records, to the last unit", err=True)


def _compare(source: OpenedJournal, path: Path, output: Output) -> None:
    """A saved invoice beside what the journal gives, and beside what the journal says of it."""
    from bailiwick.cli.offline.invoice_findings import draw_findings, finding_row
    from bailiwick.cli.offline.invoice_screen import (
        audit_row,
        difference_row,
        draw_audit,
        draw_differences,
    )
    from bailiwick.tools.invoices import compare_saved
    from bailiwick.tools.saved_invoice import read_saved

    saved = read_saved(path)
    told = compare_saved(source, saved)
    if not told.is_issued:
        typer.echo(f"{saved.head.invoice_id} was not issued by then", err=True)
    rows = [audit_row(found) for found in told.found]
    differences = [difference_row(each) for each in told.differences]
    if output is Output.JSON:
        findings = [finding_row(each) for each in told.findings]
        body = {"invoices": rows, "differences": differences, "findings": findings}
        typer.echo(json.dumps(body, indent=2))
    else:
        draw_audit(rows)
        draw_differences(differences)
        draw_findings(told.findings)
    _end(source, 0 if told.agrees else 1, count=1, broken=len(told.findings))


# -- export ------------------------------------------------------------------------------------


def _chosen(options: ExportOptions) -> list[Invoice]:
    """The invoices that are meant, each as it was issued or saved."""
    if (options.target is None) == (options.body is None):
        raise InvalidValue("JOURNAL", options.target, "a journal, or --body with a saved invoice")
    if options.body is not None:
        from bailiwick.tools.saved_invoice import read_saved

        if options.is_told or options.invoice:
            raise InvalidValue("--body", str(options.body), "nothing else: it is one invoice")
        return [read_saved(options.body)]
    with open_source(options.target or "", SCREEN) as source:
        if options.is_told:
            if options.invoice:
                raise InvalidValue("--invoice", options.invoice, "not together with --tenant")
            return [_draft_of(source, options)]
        return _issued(source, options.invoice)


def _issued(source: OpenedJournal, names: list[str] | None) -> list[Invoice]:
    from bailiwick.cli.offline.invoice_findings import finding_sentence
    from bailiwick.cli.offline.invoice_screen import audit_row, audit_sentence
    from bailiwick.tools.invoices import issued_invoices

    invoices, wrong, findings = issued_invoices(source, names)
    told = [audit_sentence(audit_row(found)) for found in wrong]
    told += [finding_sentence(each) for each in findings]
    for sentence in told:
        typer.echo(f"bailiwick: {printable(sentence)}; nothing is exported", err=True)
    if told:
        count = len(invoices) + len(wrong)
        _end(source, len(wrong), count=count, broken=len(findings))
    return invoices


app.command(help=RECOMPUTE_HELP)(recompute)
app.command(help=EXPORT_HELP)(export)
