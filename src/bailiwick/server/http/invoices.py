"""Handlers for invoices: drafts, issuing, correcting, and where each line comes from.

Rules:

- An invoice is a function of the journal's first so many records. Issuing one keeps it, then seals
  its digest; what is read later has that digest, or is told to be damaged.
- Its name follows from whose it is and of which period, so the same is never issued twice. What is
  known later is a correction, which has a name of its own and is issued in the same way.
- A tenant's invoice is read with the key at the tenant, a project's with the key at the project.
  One that the caller may not read is not there.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Annotated, Any, TypeVar

from fastapi import Path, Query

from bailiwick.billing.bills import windows_in
from bailiwick.billing.charges import cause_of
from bailiwick.billing.invoice_body import body_of, canonical_bytes, digest_of, invoice_of
from bailiwick.billing.invoices import Agreed, Invoice, InvoiceHead, InvoiceScope, correct
from bailiwick.billing.lines import RatedLine
from bailiwick.billing.rates import RateBook
from bailiwick.iam import Scope
from bailiwick.kernel.money.commands import IssueInvoice
from bailiwick.metering.owners import Account, Leased
from bailiwick.metering.values import Segment
from bailiwick.metering.windows import Window
from bailiwick.server.http.asked import Asked, Changing, Here
from bailiwick.server.http.asking import visible_projects
from bailiwick.server.http.billed import (
    FromMs,
    Period,
    ToMs,
    accounts_of,
    meter_of,
    period_of,
    rate_period,
    see_prices,
)
from bailiwick.server.http.params import Limit, NumberCursor, PathName, ShortLimit
from bailiwick.server.problems import hidden
from bailiwick.services.replica import View
from bailiwick.store.invoice_rows import InvoiceBook, InvoiceRow
from bailiwick.vocab.errors import InvalidValue, LimitReached, Unavailable
from bailiwick.vocab.words import HardwareGeneration, ResourceKind
from bailiwick.wire import billing as wire
from bailiwick.wire.base import NAME_PATTERN, Page

T = TypeVar("T")

STRETCHES_MAX = 100_000
"""Stretches of one line that are looked at."""

ProjectQuery = Annotated[
    str | None,
    Query(pattern=NAME_PATTERN, description="Of this project alone; else of the whole tenant."),
]
PathLine = Annotated[
    int, Path(ge=1, le=10**6, description="Which line of the invoice, the first is 1.")
]


def invoice_name(tenant: str, project: str | None, *, period: Period) -> str:
    """What an invoice of this matter is called: its month, and a digest of the matter.

    >>> invoice_name("lab", None, period=Period(0, 1))
    'inv-1970-01-8beda9217089'
    """
    at = datetime.fromtimestamp(period.from_ms // 1000, UTC)
    matter = json.dumps([tenant, project, *period], separators=(",", ":"))
    return f"inv-{at.year:04}-{at.month:02}-{sha256(matter.encode()).hexdigest()[:12]}"


# -- what they are asked ---------------------------------------------------------------------


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
    asked.require(scope)
    await asked.look(lambda view: _check(view, scope))
    period = await period_of(asked, from_ms=from_ms, to_ms=to_ms)
    return _spell(await _compute(asked, scope, period=period), "draft")


async def issue_invoice(
    asked: Changing, tenant: PathName, *, body: wire.NewInvoice
) -> wire.Invoice:
    """Seal what a tenant, or one of its projects, owes for a period that is over."""
    asked.require(Scope(tenant))
    scope, period = Scope(tenant, body.project), Period(body.from_ms, body.to_ms)
    name = invoice_name(tenant, body.project, period=period)
    await asked.look(lambda view: _check(view, scope))
    now_ms = (await asked.look(see_prices)).now_ms
    if period.to_ms > now_ms:
        raise InvalidValue("to_ms", period.to_ms, f"{now_ms} or before: what is not over yet")
    if await asked.look(lambda view: _is_repeated(view, asked, name)):
        return _spell(await _issued(asked, name), "issued")
    invoice = await _compute(asked, scope, period=period)
    return await _seal(asked, invoice)


async def list_invoices(
    asked: Here, tenant: PathName, *, cursor: NumberCursor = None, limit: ShortLimit = 50
) -> Page[wire.InvoiceHead]:
    """The invoices and corrections of a tenant that the caller may see, the newest first."""
    asked.require_within(Scope(tenant))
    await asked.look(lambda view: view.state.directory.tenant(tenant))
    projects = visible_projects(asked, tenant)
    before = None if cursor is None else int(cursor)

    def read(book: InvoiceBook) -> list[tuple[int, str, str]]:
        return book.page(tenant, projects=projects, before=before, limit=limit + 1)

    rows = await _ask(asked, read)
    shown = rows[:limit]
    sealed = await _sealed(asked, [(name, digest) for _, name, digest in shown])
    heads = await _ask(asked, lambda book: [_head(book.get(*row)) for row in sealed])
    return Page(items=heads, next=str(shown[-1][0]) if len(rows) > limit else None)


async def read_invoice(asked: Here, tenant: PathName, *, invoice: PathName) -> wire.Invoice:
    """One invoice or correction, as it was issued."""
    await _require(asked, tenant, invoice)
    found = await _issued(asked, invoice)
    corrections = await _corrections(asked, tenant, of=invoice)
    return _spell(found, "issued", corrected_by=[each.head.invoice_id for each in corrections])


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
    await _require(asked, tenant, invoice)
    found = await _issued(asked, invoice)
    if line > len(found.lines):
        raise hidden()
    first = 0 if cursor is None else int(cursor)
    book = (await asked.look(see_prices)).book
    rows = await asyncio.to_thread(_stretches, asked, found.lines[line - 1], book)
    more = str(first + limit) if len(rows) > first + limit else None
    return Page(items=rows[first : first + limit], next=more)


async def correct_invoice(
    asked: Changing, tenant: PathName, *, invoice: PathName
) -> wire.Correction:
    """Compute an invoice again from what the journal says now; where it differs, correct it."""
    asked.require(Scope(tenant))
    await _require(asked, tenant, invoice)
    issued = await _issued(asked, invoice)
    earlier = await _corrections(asked, tenant, of=invoice)
    if earlier:
        name = earlier[-1].head.invoice_id
        if await asked.look(lambda view: _is_repeated(view, asked, name)):
            return wire.Correction(outcome="corrected", correction=_spell(earlier[-1], "issued"))
    head = issued.head
    fresh = await _compute(
        asked, Scope(tenant, head.project), period=Period(head.from_ms, head.to_ms)
    )
    named = replace(fresh.head, invoice_id=f"{head.invoice_id}-c{len(earlier) + 1}")
    found = correct(issued, Invoice(named, fresh.lines), earlier=earlier)
    if isinstance(found, Agreed):
        return wire.Correction(outcome="agreed", correction=None)
    return wire.Correction(outcome="corrected", correction=await _seal(asked, found))


# -- making and sealing them -----------------------------------------------------------------


def _check(view: View, scope: Scope) -> None:
    """Whoever was ever there can be billed, be it closed by now."""
    tenant, project = str(scope.tenant), scope.project
    view.state.directory.tenant(tenant)
    if project is not None:
        view.state.directory.project(tenant, project)


async def _compute(asked: Asked, scope: Scope, *, period: Period) -> Invoice:
    found = await rate_period(asked, accounts_of(scope), period=period)
    tenant, project = str(scope.tenant), scope.project
    head = InvoiceHead(
        invoice_id=invoice_name(tenant, project, period=period),
        tenant=tenant,
        scope=InvoiceScope.TENANT if project is None else InvoiceScope.PROJECT,
        project=project,
        from_ms=period.from_ms,
        to_ms=period.to_ms,
        currency=found.prices.book.currency,
        journal_size=found.metered.size,
    )
    return Invoice(head, found.lines)


async def _seal(asked: Asked, invoice: Invoice) -> wire.Invoice:
    head, digest = invoice.head, digest_of(invoice)
    command = IssueInvoice(
        invoice=head.invoice_id,
        tenant=head.tenant,
        project=head.project,
        period_start_ms=head.from_ms,
        period_end_ms=head.to_ms,
        journal_size=head.journal_size,
        total_micros=invoice.total_micros,
        currency=head.currency,
        digest=digest,
        corrects=head.corrects,
    )
    if not asked.dry_run:
        body = canonical_bytes(invoice)
        row = InvoiceRow(head.invoice_id, digest, head.tenant, head.project, body)
        await _ask(asked, lambda book: book.put(row))
    await asked.do(command)
    return _spell(invoice, "draft" if asked.dry_run else "issued")


def _is_repeated(view: View, asked: Asked, name: str) -> bool:
    """Whether the caller sends again what made this invoice: it gets its first answer."""
    if asked.key is None or asked.dry_run or name not in view.state.invoices:
        return False
    known = view.state.answers.get(asked.principal.name, asked.key)
    return known is not None


# -- finding them ----------------------------------------------------------------------------


async def _ask(asked: Asked, read: Callable[[InvoiceBook], T]) -> T:
    book = asked.house.parts.invoices
    if book is None:
        raise Unavailable("invoices", "this server keeps none")
    return await asyncio.to_thread(read, book)


async def _require(asked: Asked, tenant: str, invoice: str) -> None:
    """Go on only if the invoice is one of this tenant that the caller may read."""
    asked.require_within(Scope(tenant))
    found = await asked.look(lambda view: view.state.invoices.get(invoice))
    if found is None or found.owner.tenant != tenant or not asked.may(Scope(*found.owner)):
        raise hidden()


async def _sealed(asked: Asked, rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Those of these names and digests that the journal has."""

    def read(view: View) -> list[tuple[str, str]]:
        known = view.state.invoices
        return [row for row in rows if row[0] in known and known[row[0]].digest == row[1]]

    return await asked.look(read)


async def _issued(asked: Asked, invoice: str) -> Invoice:
    """What was sealed under this name."""
    digest = await asked.look(lambda view: view.state.invoices[invoice].digest)
    row = await _ask(asked, lambda book: book.get(invoice, digest))
    return invoice_of(json.loads(row.body))


async def _corrections(asked: Asked, tenant: str, *, of: str) -> list[Invoice]:
    """The corrections of an invoice so far, the oldest first."""

    def read(view: View) -> list[str]:
        billed = view.state.billed.get(tenant, ())
        found = [each.invoice for each in billed if each.corrects == of]
        return sorted(found, key=lambda name: (len(name), name))  # they are numbered

    return [await _issued(asked, name) for name in await asked.look(read)]


# -- where a line is from --------------------------------------------------------------------


def _stretches(asked: Asked, line: RatedLine, book: RateBook) -> list[wire.Stretch]:
    """All stretches of a line, the oldest first, cut where prices changed."""
    key = line.key

    def wanted(account: Account) -> bool:
        generation = account.generation
        if key.kind is ResourceKind.GPU_MILLI and generation is None:
            generation = HardwareGeneration.OTHER
        mine = account.tenant, account.project, generation, account.tag, account.lease_class
        return mine == key[:5] and (account.stage, cause_of(account)) == (key.stage, key.cause)

    found = meter_of(asked).trace(
        wanted, (line.from_ms, line.to_ms), kind=key.kind, limit=STRETCHES_MAX + 1
    )
    if len(found) > STRETCHES_MAX:
        raise LimitReached("stretches of one line", STRETCHES_MAX)
    windows = list(_windows(line, book))
    return [
        _stretch(segment, max(segment.from_ms, start_ms), min(segment.to_ms, end_ms))
        for segment in found
        for start_ms, end_ms in windows
        if segment.from_ms < end_ms and segment.to_ms > start_ms
    ]


def _windows(line: RatedLine, book: RateBook) -> Iterator[Window]:
    """The parts of a line's time in which its card held."""
    card = line.key.card
    for window in windows_in(book, (line.from_ms, line.to_ms)):
        held = book.card_for(line.key.tenant, window[0])
        if (held.name, held.tenant, held.effective_ms) == card[:3]:
            yield window


def _stretch(segment: Segment, from_ms: int, to_ms: int) -> wire.Stretch:
    share, owner = segment.share, segment.owner
    assert isinstance(owner, Leased)  # only accounts of leases were asked for
    return wire.Stretch(
        lease_id=owner.lease_id,
        node=share.node,
        kind=share.kind,
        device=share.index if share.kind is ResourceKind.GPU_MILLI else None,
        reason=owner.account.reason,
        amount=segment.amount,
        from_ms=from_ms,
        to_ms=to_ms,
        used=str(segment.amount * (to_ms - from_ms)),
        from_seq=segment.from_seq,
        to_seq=segment.to_seq,
    )


# -- spelling --------------------------------------------------------------------------------


def _spell(invoice: Invoice, status: Any, *, corrected_by: list[str] | None = None) -> wire.Invoice:
    return wire.Invoice(
        status=status,
        digest=digest_of(invoice),
        corrected_by=corrected_by or [],
        body=wire.InvoiceBody.model_validate(body_of(invoice)),
    )


def _head(row: InvoiceRow) -> wire.InvoiceHead:
    body: dict[str, Any] = json.loads(row.body)
    names = [name for name in wire.InvoiceHead.model_fields if name not in ("lines", "digest")]
    told = {name: body[name] for name in names}
    return wire.InvoiceHead(**told, lines=len(body["lines"]), digest=row.digest)
