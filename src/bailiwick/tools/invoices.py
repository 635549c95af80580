"""Invoices from a journal alone: build each again, look whether they might be issued, compare, and
compute one that nobody issued.

Rules:

- Nothing but the journal has a part: no setting, no clock, no server.
- The journal is read twice, first for prices and what was issued, then for the fold, up to the last
  record that issues one. Of invoices only those stay in memory that are shown, exported, or named
  by a correction.
- An invoice is right only if its numbers agree and no rule of issuing was broken for it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

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
from bailiwick.billing.findings import (
    BillingFinding,
    MemberWatch,
    PrefixWatch,
    check_billed_once,
    check_prices,
    concerning,
)
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
    findings: list[BillingFinding]

    @property
    def agrees(self) -> bool:
        """Whether all three are the same."""
        return not self.differences and all(each.agrees for each in self.found)


@dataclass(frozen=True, slots=True)
class JournalMoney:
    """What a journal tells of money: prices, and the invoices that it says were issued."""

    prices: PriceHistory
    claims: list[InvoiceClaim]

    def rules_broken(self) -> list[BillingFinding]:
        """What shows without the other records: time billed twice, and prices for the past."""
        return [*check_prices(self.prices), *check_billed_once(self.claims)]


def read_money(source: OpenedJournal) -> JournalMoney:
    """The prices that a journal tells, and the invoices that it says were issued."""
    prices, claims = PriceHistory(), []
    with source.reporter.progress("reading prices", source.size) as step:
        for record in source.of_kinds((PRICES, ISSUED)):
            if record.kind == ISSUED:
                claims.append(claim_of(record))
            else:
                prices.add(record)
            step(record.seq)
    return JournalMoney(prices, claims)


def judged(
    source: OpenedJournal,
    claims: list[InvoiceClaim],
    *,
    prices: PriceHistory,
    findings: list[BillingFinding],
) -> Iterator[AuditedClaim]:
    """Each claim, judged by the journal's records; with the last one, which of them leave some out.

    Those are added to the findings.
    """
    watch, members = PrefixWatch(claims), MemberWatch()
    ends = (max(claim.head.journal_size, claim.seq or 0) for claim in claims)
    with source.reporter.progress(
        "building invoices", min(max(ends, default=0), source.size)
    ) as on:
        records = _watched(source, on, watch, members)
        yield from audit(claims, prices=prices, records=records)
        for _ in records:
            if watch.is_done:
                break
    findings += [*watch.found, *members.found]


def _watched(
    source: OpenedJournal, step: Callable[[int], None], *watches: PrefixWatch | MemberWatch
) -> Iterator[FoldedRecord]:
    for record in source.plain():
        if record.seq % 1_000 == 0:
            step(record.seq)
        for watch in watches:
            watch.see(record)
        yield record


def draft_of(source: OpenedJournal, draft: InvoiceDraft) -> Invoice:
    """The invoice that was asked for, from all records there are."""
    prices = read_money(source).prices
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
        records = _watched(source, step)
        ((_, built),) = rebuild([head], prices=prices, records=records)
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
    money = read_money(source)
    prices, claims = money.prices, money.claims
    issued = [each for each in claims if each.head.invoice_id == saved.head.invoice_id][:1]
    wanted = issued or [claim_about(saved)]
    broken = money.rules_broken()
    told = Comparison(bool(issued), [], [], [])
    needed = needed_for(wanted, claims)
    for found in judged(source, needed, prices=prices, findings=broken):
        if found.claim in wanted:
            told.found.append(found)
            if found.invoice is not None:
                told.differences.extend(compare(saved, found.invoice))
    told.findings.extend(concerning(broken, wanted))
    return told


class IssuedInvoices(NamedTuple):
    """Invoices that are what the journal gives, those that are not, and rules that were broken."""

    invoices: list[Invoice]
    wrong: list[AuditedClaim]
    findings: list[BillingFinding]


def issued_invoices(source: OpenedJournal, names: Collection[str] | None) -> IssuedInvoices:
    """The invoices of these names, or all."""
    money = read_money(source)
    claims, broken = money.claims, money.rules_broken()
    known = {claim.head.invoice_id for claim in claims}
    for name in names or ():
        if name not in known:
            raise NotFound("invoice", name, hint="the journal tells of none with this id")
    wanted = {each for each in claims if not names or each.head.invoice_id in names}
    in_order = [each for each in claims if each in wanted]
    invoices, wrong = [], []
    needed = needed_for(in_order, claims)
    for found in judged(source, needed, prices=money.prices, findings=broken):
        if found.claim not in wanted:
            continue
        if found.agrees and found.invoice is not None:
            invoices.append(found.invoice)
        else:
            wrong.append(found)
    return IssuedInvoices(invoices, wrong, concerning(broken, in_order))
