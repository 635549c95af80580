"""Routes for invoices: drafts, issuing, correcting, and where each line comes from."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from fastapi import Path, Query
from fastapi.responses import PlainTextResponse

from bailiwick.billing.export import invoice_csv
from bailiwick.billing.focus import focus_csv
from bailiwick.billing.invoice_body import body_of, digest_of
from bailiwick.billing.invoices import Agreed, Invoice
from bailiwick.iam import Scope
from bailiwick.metering.owners import Leased
from bailiwick.metering.values import Segment
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Asked, Changing, Here
from bailiwick.server.http.params import (
    FromMs,
    Limit,
    NumberCursor,
    PathName,
    ShortLimit,
    ToMs,
    number_in,
    spell_page,
)
from bailiwick.services import invoices
from bailiwick.services.rating import Period
from bailiwick.store.invoice_rows import InvoiceRow
from bailiwick.vocab.words import ResourceKind
from bailiwick.wire import billing as wire
from bailiwick.wire.base import NAME_PATTERN, Page

ProjectQuery = Annotated[
    str | None,
    Query(pattern=NAME_PATTERN, description="Of this project alone; else of the whole tenant."),
]
ExportFormat = Annotated[
    Literal["csv", "focus"],
    Query(alias="format", description="Every field of a line, or the columns of FOCUS."),
]
Provider = Annotated[
    str, Query(min_length=1, max_length=200, description="Who runs the fleet, for FOCUS.")
]
PathLine = Annotated[
    int, Path(ge=1, le=10**6, description="Which line of the invoice, the first is 1.")
]


@answers("invoice.draft")
async def draft_invoice(
    asked: Here,
    tenant: PathName,
    *,
    project: ProjectQuery = None,
    from_ms: FromMs = None,
    to_ms: ToMs = None,
) -> wire.Invoice:
    """What an invoice of a period would say now; nothing is sealed."""
    scope = Scope(tenant, project)
    return _spell(
        await invoices.draft(asked, asked.tables, scope=scope, from_ms=from_ms, to_ms=to_ms),
        "draft",
    )


@answers("invoice.issue")
async def issue_invoice(
    asked: Changing, tenant: PathName, *, body: wire.NewInvoice
) -> wire.Invoice:
    """Seal what a tenant, or one of its projects, owes for a period that is over."""
    scope, period = Scope(tenant, body.project), Period(body.from_ms, body.to_ms)
    found = await invoices.issue(asked, asked.tables, scope=scope, period=period)
    return _spell(found, _status(asked))


@answers("invoice.list")
async def list_invoices(
    asked: Here, tenant: PathName, *, cursor: NumberCursor = None, limit: ShortLimit = 50
) -> Page[wire.InvoiceHead]:
    """The invoices and corrections of a tenant that the caller may see, the newest first."""
    before = number_in(cursor)
    found = await invoices.page(asked, asked.tables, tenant=tenant, before=before, limit=limit)
    return spell_page(found, _head)


@answers("invoice.read")
async def read_invoice(asked: Here, tenant: PathName, *, invoice: PathName) -> wire.Invoice:
    """One invoice or correction, as it was issued."""
    found = await invoices.read(asked, asked.tables, tenant=tenant, name=invoice)
    return _spell(found.invoice, "issued", corrected_by=found.corrected_by)


@answers("invoice.export")
async def export_invoice(
    asked: Here,
    tenant: PathName,
    *,
    invoice: PathName,
    form: ExportFormat = "csv",
    provider: Provider = "Bailiwick",
) -> PlainTextResponse:
    """One invoice or correction as CSV: the bytes that ``bailiwick invoice export`` writes."""
    found = await invoices.read(asked, asked.tables, tenant=tenant, name=invoice)
    told = [found.invoice]
    text = invoice_csv(told) if form == "csv" else focus_csv(told, provider=provider)
    name = f"{invoice}.csv" if form == "csv" else f"{invoice}-focus.csv"
    disposition = f'attachment; filename="{name}"'
    return PlainTextResponse(text, headers={"content-disposition": disposition})


@answers("invoice.trace")
async def trace_line(
    asked: Here,
    tenant: PathName,
    *,
    invoice: PathName,
    line: PathLine,
    cursor: NumberCursor = None,
    limit: Limit = 100,
) -> Page[wire.Stretch]:
    """Which leases held what, when and by which records: all that a line adds up.

    The stretches are those that the meter has now: what a correction would correct shows here.
    """
    first = number_in(cursor) or 0
    rows = await invoices.trace(asked, asked.tables, tenant=tenant, name=invoice, line=line)
    more = str(first + limit) if len(rows) > first + limit else None
    return spell_page((rows[first : first + limit], more), _stretch)


@answers("invoice.correct")
async def correct_invoice(
    asked: Changing, tenant: PathName, *, invoice: PathName
) -> wire.Correction:
    """Compute an invoice again from what the journal says now; where it differs, correct it."""
    found = await invoices.correct(asked, asked.tables, tenant=tenant, name=invoice)
    if isinstance(found, Agreed):
        return wire.Correction(outcome="agreed", correction=None)
    return wire.Correction(outcome="corrected", correction=_spell(found, _status(asked)))


Status = Literal["draft", "issued"]


def _status(asked: Asked) -> Status:
    return "draft" if asked.dry_run else "issued"


def _spell(invoice: Invoice, status: Status, *, corrected_by: tuple[str, ...] = ()) -> wire.Invoice:
    return wire.Invoice(
        status=status,
        digest=digest_of(invoice),
        corrected_by=list(corrected_by),
        body=wire.InvoiceBody.model_validate(body_of(invoice)),
    )


def _head(row: InvoiceRow) -> wire.InvoiceHead:
    body: dict[str, Any] = json.loads(row.body)
    names = [name for name in wire.InvoiceHead.model_fields if name not in ("lines", "digest")]
    told = {name: body[name] for name in names}
    return wire.InvoiceHead(**told, lines=len(body["lines"]), digest=row.digest)


def _stretch(segment: Segment) -> wire.Stretch:
    share, owner = segment.share, segment.owner
    assert isinstance(owner, Leased)  # only accounts of leases were asked for
    return wire.Stretch(
        lease_id=owner.lease_id,
        node=share.node,
        kind=share.kind,
        device=share.index if share.kind is ResourceKind.GPU_MILLI else None,
        reason=owner.account.reason,
        amount=segment.amount,
        from_ms=segment.from_ms,
        to_ms=segment.to_ms,
        used=str(segment.used),
        from_seq=segment.from_seq,
        to_seq=segment.to_seq,
    )
