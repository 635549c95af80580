"""Invoices: drafts, issuing, correcting, and where each line comes from.

Rules:

- An invoice is a function of the journal's first so many records, among them all of its period:
  while some of those are still being written it is computed again. Issuing one keeps it, then seals
  its digest; what is read later has that digest, or is told to be damaged.
- Its name follows from whose it is and of which period, so the same is never issued twice. What is
  known later is a correction, which has a name of its own and is issued in the same way.
- A tenant's invoice is read with the key at the tenant, a project's with the key at the project.
  One that the caller may not read is not there.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256

from bailiwick.billing.bills import bill_to, windows_in
from bailiwick.billing.charges import cause_of
from bailiwick.billing.invoice_body import canonical_bytes, digest_of, invoice_of
from bailiwick.billing.invoices import Agreed, Invoice, InvoiceHead, InvoiceScope
from bailiwick.billing.invoices import correct as correct_invoice
from bailiwick.billing.lines import RatedLine
from bailiwick.billing.rates import RateBook
from bailiwick.billing.settled.lines import settle
from bailiwick.billing.units.lines import rate_units
from bailiwick.iam import Scope
from bailiwick.kernel import IssueInvoice
from bailiwick.metering.owners import Account
from bailiwick.metering.values import Segment
from bailiwick.metering.windows import Window
from bailiwick.runtime.replica import View
from bailiwick.services.caller import Caller, Hidden
from bailiwick.services.pages import Rows, cut
from bailiwick.services.rating import Period, accounts_of, period_of, prices_in, rate_period
from bailiwick.services.tables import StoreTables
from bailiwick.store.invoice_rows import InvoiceBook, InvoiceRow
from bailiwick.store.meter_rows import MeterBook
from bailiwick.vocab.errors import InvalidValue, LimitReached, Unavailable
from bailiwick.vocab.words import HardwareGeneration, ResourceKind

_TRIES = 10
_PAUSE_S = 0.1
STRETCHES_MAX = 100_000
"""Stretches of one line that are looked at."""


@dataclass(frozen=True, slots=True)
class IssuedInvoice:
    """An invoice that is sealed, and the names of its corrections so far, the oldest first."""

    invoice: Invoice
    corrected_by: tuple[str, ...]


def invoice_name(scope: Scope, period: Period) -> str:
    """What an invoice of this matter is called: its month, and a digest of the matter.

    >>> invoice_name(Scope("lab"), Period(0, 1))
    'inv-1970-01-8beda9217089'
    """
    at = datetime.fromtimestamp(period.from_ms // 1000, UTC)
    matter = json.dumps([*scope, *period], separators=(",", ":"))
    return f"inv-{at.year:04}-{at.month:02}-{sha256(matter.encode()).hexdigest()[:12]}"


# -- use cases -------------------------------------------------------------------------------


async def draft(
    caller: Caller, tables: StoreTables, *, scope: Scope, from_ms: int | None, to_ms: int | None
) -> Invoice:
    """What an invoice of a period would say now; nothing is sealed."""
    caller.require(scope)
    await caller.lookup(lambda view: _check(view, scope))
    period = await period_of(caller, from_ms=from_ms, to_ms=to_ms)
    return await _compute(caller, tables.meter, scope=scope, period=period)


async def issue(caller: Caller, tables: StoreTables, *, scope: Scope, period: Period) -> Invoice:
    """Seal what a tenant, or one of its projects, owes for a period that is over."""
    caller.require(Scope(scope.tenant))
    name = invoice_name(scope, period)
    await caller.lookup(lambda view: _check(view, scope))
    now_ms = (await caller.lookup(prices_in)).now_ms
    if period.to_ms > now_ms:
        raise InvalidValue("to_ms", period.to_ms, f"{now_ms} or before: what is not over yet")
    if await caller.lookup(lambda view: _is_repeated(view, caller, name)):
        return await _issued(caller, tables.invoices, name)
    invoice = await _compute_whole(caller, tables.meter, scope=scope, period=period)
    return await _seal(caller, tables.invoices, invoice)


async def page(
    caller: Caller, tables: StoreTables, *, tenant: str, before: int | None, limit: int
) -> Rows[InvoiceRow]:
    """Invoices and corrections of a tenant that the caller may see, newest first; what follows."""
    caller.require_within(Scope(tenant))
    await caller.lookup(lambda view: view.state.directory.tenant(tenant))
    projects, book = caller.visible_projects(tenant), tables.invoices

    def read() -> list[tuple[int, str, str]]:
        return book.page(tenant, projects=projects, before=before, limit=limit + 1)

    rows = await asyncio.to_thread(read)
    shown, more = cut(rows, limit, key=lambda row: row[0])

    def sealed(view: View) -> list[tuple[str, str]]:
        known = view.state.invoices
        named = [(name, digest) for _, name, digest in shown]
        return [row for row in named if row[0] in known and known[row[0]].digest == row[1]]

    names = await caller.lookup(sealed)
    found = await asyncio.to_thread(lambda: [book.get(*row) for row in names])
    return found, more


async def read(caller: Caller, tables: StoreTables, *, tenant: str, name: str) -> IssuedInvoice:
    """One invoice or correction, as it was issued."""
    await _require(caller, tenant, name)
    found = await _issued(caller, tables.invoices, name)
    corrections = await _corrections(caller, tables.invoices, tenant, of=name)
    return IssuedInvoice(found, tuple(each.head.invoice_id for each in corrections))


async def trace(
    caller: Caller, tables: StoreTables, *, tenant: str, name: str, line: int
) -> list[Segment]:
    """Which leases held what, when and by which records: all that a line (from 1) adds up.

    The stretches are those that the meter has now, the oldest first, cut where prices changed: what
    a correction would correct shows here.
    """
    await _require(caller, tenant, name)
    found = await _issued(caller, tables.invoices, name)
    if line > len(found.lines):
        raise Hidden()
    book = (await caller.lookup(prices_in)).book
    return await asyncio.to_thread(_stretches, tables.meter, found.lines[line - 1], book)


async def correct(
    caller: Caller, tables: StoreTables, *, tenant: str, name: str
) -> Invoice | Agreed:
    """Compute an invoice again from what the journal says now; where it differs, correct it."""
    caller.require(Scope(tenant))
    await _require(caller, tenant, name)
    issued = await _issued(caller, tables.invoices, name)
    earlier = await _corrections(caller, tables.invoices, tenant, of=name)
    if earlier:
        last = earlier[-1].head.invoice_id
        if await caller.lookup(lambda view: _is_repeated(view, caller, last)):
            return earlier[-1]
    head = issued.head
    scope, period = Scope(tenant, head.project), Period(head.from_ms, head.to_ms)
    fresh = await _compute_whole(caller, tables.meter, scope=scope, period=period)
    named = replace(fresh.head, invoice_id=f"{head.invoice_id}-c{len(earlier) + 1}")
    found = correct_invoice(issued, replace(fresh, head=named), earlier=earlier)
    if isinstance(found, Agreed):
        return found
    return await _seal(caller, tables.invoices, found)


# -- making and sealing them -----------------------------------------------------------------


def _check(view: View, scope: Scope) -> None:
    """Whoever was ever there can be billed, be it closed by now."""
    tenant, project = str(scope.tenant), scope.project
    view.state.directory.tenant(tenant)
    if project is not None:
        view.state.directory.project(tenant, project)


async def _compute_whole(
    caller: Caller, meter: MeterBook, *, scope: Scope, period: Period
) -> Invoice:
    """Of a prefix that has every record of the period, as far as this replica knows."""
    for _ in range(_TRIES):
        found = await _compute(caller, meter, scope=scope, period=period)
        least = await caller.lookup(
            lambda view: view.state.times.size_by(period.to_ms, size=view.state.size)
        )
        if found.head.journal_size >= least:
            return found
        await asyncio.sleep(_PAUSE_S)
    raise Unavailable("the invoice", "records of its period are still being written")


async def _compute(caller: Caller, meter: MeterBook, *, scope: Scope, period: Period) -> Invoice:
    found = await rate_period(caller, meter, wanted=accounts_of(scope), period=period)
    project = scope.project
    head = InvoiceHead(
        invoice_id=invoice_name(scope, period),
        tenant=str(scope.tenant),
        scope=InvoiceScope.TENANT if project is None else InvoiceScope.PROJECT,
        project=project,
        from_ms=period.from_ms,
        to_ms=period.to_ms,
        currency=found.prices.book.currency,
        journal_size=found.metered.size,
    )
    units = rate_units(found.metered.told, found.prices.book)
    return bill_to(head, found.lines, units=units, settled=settle(found.metered.used))


async def _seal(caller: Caller, book: InvoiceBook, invoice: Invoice) -> Invoice:
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
    if not caller.dry_run:
        body = canonical_bytes(invoice)
        row = InvoiceRow(head.invoice_id, digest, head.tenant, head.project, body)
        await asyncio.to_thread(book.put, row)
    await caller.change(command)
    return invoice


def _is_repeated(view: View, caller: Caller, name: str) -> bool:
    """Whether the caller sends again what made this invoice: it gets its first answer."""
    return name in view.state.invoices and caller.first_answer(view) is not None


# -- finding them ----------------------------------------------------------------------------


async def _require(caller: Caller, tenant: str, name: str) -> None:
    """Go on only if the invoice is one of this tenant that the caller may read."""
    caller.require_within(Scope(tenant))
    found = await caller.lookup(lambda view: view.state.invoices.get(name))
    if found is None or found.owner.tenant != tenant or not caller.may(Scope(*found.owner)):
        raise Hidden()


async def _issued(caller: Caller, book: InvoiceBook, name: str) -> Invoice:
    """What was sealed under this name."""
    digest = await caller.lookup(lambda view: view.state.invoices[name].digest)
    row = await asyncio.to_thread(book.get, name, digest)
    return invoice_of(json.loads(row.body))


async def _corrections(caller: Caller, book: InvoiceBook, tenant: str, *, of: str) -> list[Invoice]:
    """The corrections of an invoice so far, the oldest first."""

    def names(view: View) -> list[str]:
        billed = view.state.billed.get(tenant, ())
        found = [each.invoice for each in billed if each.corrects == of]
        return sorted(found, key=lambda name: (len(name), name))  # they are numbered

    return [await _issued(caller, book, name) for name in await caller.lookup(names)]


# -- where a line is from --------------------------------------------------------------------


def _stretches(meter: MeterBook, line: RatedLine, book: RateBook) -> list[Segment]:
    key = line.key

    def wanted(account: Account) -> bool:
        generation = account.generation
        if key.kind is ResourceKind.GPU_MILLI and generation is None:
            generation = HardwareGeneration.OTHER
        mine = account.tenant, account.project, generation, account.tag, account.lease_class
        step = account.stage, cause_of(account), account.member
        return mine == key[:5] and step == (key.stage, key.cause, key.member)

    found = meter.trace(wanted, (line.from_ms, line.to_ms), kind=key.kind, limit=STRETCHES_MAX + 1)
    if len(found) > STRETCHES_MAX:
        raise LimitReached("stretches of one line", STRETCHES_MAX)
    windows = list(_windows(line, book))
    return [
        segment._replace(from_ms=max(segment.from_ms, start_ms), to_ms=min(segment.to_ms, end_ms))
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
