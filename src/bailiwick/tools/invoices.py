"""Invoices from a journal alone: build each again, compare, and compute one that nobody issued.

Rules:

- Nothing but the journal has a part: no setting, no clock, no server.
- The journal is read twice, first for prices and what was issued, then for the fold. Of invoices
  only those stay in memory that are shown, exported, or named by a correction.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Final

from bailiwick.billing.audits import (
    ISSUED,
    AuditedClaim,
    InvoiceClaim,
    PriceHistory,
    Unbuilt,
    audit,
    claim_about,
    claim_of,
    needed_for,
    rebuild,
)
from bailiwick.billing.bills import PRICES
from bailiwick.billing.invoices import Difference, Invoice, InvoiceHead, InvoiceScope, compare
from bailiwick.metering.records import FoldedRecord
from bailiwick.tools.record_source import OpenedJournal, parse_moment
from bailiwick.vocab.errors import InvalidValue, NotFound

DRAFT: Final = "draft"
"""The id of an invoice that nobody issued."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InvoiceDraft:
    """What an invoice that was never issued is of; the times as a person tells them."""

    tenant: str
    project: str | None
    since: str
    until: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """A saved invoice beside what the journal gives, and beside what the journal says of it."""

    is_issued: bool
    found: list[AuditedClaim]
    differences: list[Difference]

    @property
    def agrees(self) -> bool:
        """Whether all three are the same."""
        return not self.differences and all(each.agrees for each in self.found)


def read_money(source: OpenedJournal) -> tuple[PriceHistory, list[InvoiceClaim]]:
    """The prices that a journal tells, and the invoices that it says were issued."""
    prices, claims = PriceHistory(), []
    with source.reporter.progress("reading prices", source.size) as step:
        for record in source.of_kinds((PRICES, ISSUED)):
            if record.kind == ISSUED:
                claims.append(claim_of(record))
            else:
                prices.add(record)
            step(record.seq)
    return prices, claims


def judged(
    source: OpenedJournal, claims: list[InvoiceClaim], *, prices: PriceHistory
) -> Iterator[AuditedClaim]:
    """Each claim, judged by the journal's records."""
    size = max((claim.head.journal_size for claim in claims), default=0)
    with source.reporter.progress("building invoices", min(size, source.size)) as step:
        yield from audit(claims, prices=prices, records=_watched(source, step))


def _watched(source: OpenedJournal, step: Callable[[int], None]) -> Iterator[FoldedRecord]:
    for record in source.plain():
        if record.seq % 1_000 == 0:
            step(record.seq)
        yield record


def draft_of(source: OpenedJournal, draft: InvoiceDraft) -> Invoice:
    """The invoice that was asked for, from all records there are."""
    prices, _ = read_money(source)
    head = InvoiceHead(
        invoice_id=DRAFT,
        tenant=draft.tenant,
        scope=InvoiceScope.TENANT if draft.project is None else InvoiceScope.PROJECT,
        project=draft.project,
        from_ms=_time("--from", draft.since, source),
        to_ms=_time("--to", draft.until, source),
        currency=prices.book(source.size).currency,
        journal_size=source.size,
    )
    with source.reporter.progress("building the invoice", source.size) as step:
        ((_, built),) = rebuild([head], prices=prices, records=_watched(source, step))
    if isinstance(built, Unbuilt):
        raise InvalidValue("invoice", head.tenant, built.why)
    return built


def _time(name: str, text: str, source: OpenedJournal) -> int:
    moment = parse_moment(text, source)
    if moment.size is not None:
        raise InvalidValue(name, text, "a time, which a record's number is not")
    at_ms = source.end_ms if moment.at_ms is None else moment.at_ms
    if at_ms < 0:
        raise InvalidValue(name, text, "a time since 1970")
    return at_ms


def compare_saved(source: OpenedJournal, saved: Invoice) -> Comparison:
    """A saved invoice, and every difference to the one that the journal gives."""
    prices, claims = read_money(source)
    issued = [each for each in claims if each.head.invoice_id == saved.head.invoice_id][:1]
    wanted = issued or [claim_about(saved)]
    told = Comparison(bool(issued), [], [])
    for found in judged(source, needed_for(wanted, claims), prices=prices):
        if found.claim in wanted:
            told.found.append(found)
            if found.invoice is not None:
                told.differences.extend(compare(saved, found.invoice))
    return told


def issued_invoices(
    source: OpenedJournal, names: Collection[str] | None
) -> tuple[list[Invoice], list[AuditedClaim]]:
    """The invoices of these names, or all; and those that are not what the journal gives."""
    prices, claims = read_money(source)
    known = {claim.head.invoice_id for claim in claims}
    for name in names or ():
        if name not in known:
            raise NotFound("invoice", name, hint="the journal tells of none with this id")
    wanted = {each for each in claims if not names or each.head.invoice_id in names}
    in_order = [each for each in claims if each in wanted]
    invoices, wrong = [], []
    for found in judged(source, needed_for(in_order, claims), prices=prices):
        if found.claim not in wanted:
            continue
        if found.agrees and found.invoice is not None:
            invoices.append(found.invoice)
        else:
            wrong.append(found)
    return invoices, wrong
