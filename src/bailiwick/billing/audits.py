"""Invoices built again from a journal, and whether they are what somebody says they are.

Rules:

- A claim is what is said about an invoice: its head, its total and its digest. An issued one is a
  claim of the journal itself; a saved one is a claim of whoever saved it.
- An invoice is built from the first ``journal_size`` records: neither a later record nor a price
  that was set later has a part in it. The journal is read once, however many there are; those of
  one period and the same prices share one fold.
- A correction is built from its own records, and from what it corrects as that is built here.
- Two agree only if total and digest do, so if they are the same to the last byte. What cannot be
  built at all does not agree, and it is said why.

>>> head = InvoiceHead(
...     invoice_id="inv-1", tenant="lab", from_ms=0, to_ms=9, currency="credit", journal_size=0
... )
>>> found = [*audit([InvoiceClaim(head, 5, "0" * 64)], prices=PriceHistory(), records=())]
>>> found[0].agrees, found[0].total_micros
(False, 0)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from bailiwick.billing.bills import PRICES, PeriodBill, bill_to
from bailiwick.billing.invoice_body import digest_of
from bailiwick.billing.invoices import (
    Agreed,
    Invoice,
    InvoiceHead,
    InvoiceScope,
    correct,
    split_by_tenant,
)
from bailiwick.billing.lines import RatedLine
from bailiwick.billing.rates import RateBook, RateChange, card_of
from bailiwick.billing.settled.lines import SettledLine
from bailiwick.billing.units.lines import UnitLine
from bailiwick.metering.records import FoldedRecord
from bailiwick.vocab.errors import InvalidValue

ISSUED: Final = "invoice_issued"
"""The kind of record that tells of an invoice."""


@dataclass(frozen=True, slots=True)
class InvoiceClaim:
    """What somebody says that an invoice is; ``seq`` is the record that does, if one does."""

    head: InvoiceHead
    total_micros: int
    digest: str
    seq: int | None = None


def claim_of(record: FoldedRecord) -> InvoiceClaim:
    """What an ``invoice_issued`` record says."""
    body = record.body
    whole = record.project is None
    try:
        head = InvoiceHead(
            invoice_id=body["invoice"],
            tenant=record.tenant or "",
            scope=InvoiceScope.TENANT if whole else InvoiceScope.PROJECT,
            project=record.project,
            from_ms=body["period_start_ms"],
            to_ms=body["period_end_ms"],
            currency=body["currency"],
            journal_size=body["journal_size"],
            corrects=body.get("corrects"),
        )
    except InvalidValue as error:
        raise InvalidValue("invoice_issued", f"record {record.seq}", str(error)) from None
    return InvoiceClaim(head, body["total_micros"], body["digest"], record.seq)


def claim_about(invoice: Invoice) -> InvoiceClaim:
    """What an invoice that was saved says of itself."""
    return InvoiceClaim(invoice.head, invoice.total_micros, digest_of(invoice))


class PriceRow(NamedTuple):
    """A change of prices, the record that tells it, and when that was written."""

    seq: int
    at_ms: int
    change: RateChange


class PriceHistory:
    """Every change of prices in a journal, and the record that tells it."""

    def __init__(self) -> None:
        self.rows: list[PriceRow] = []

    def add(self, record: FoldedRecord) -> None:
        """One more record; of another kind, it changes nothing."""
        if record.kind == PRICES:
            self.rows.append(PriceRow(record.seq, record.at_ms, card_of(record.body)))

    def book(self, size: int) -> RateBook:
        """The prices that the first so many records tell."""
        return RateBook(change for seq, _, change in self.rows if seq < size)

    def known(self, size: int, to_ms: int) -> int:
        """How many changes before this time the first so many records tell."""
        return sum(seq < size and each.effective_ms < to_ms for seq, _, each in self.rows)


# -- building --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Unbuilt:
    """An invoice that the records cannot give, and why."""

    why: str


_Due = list[tuple[int, InvoiceHead, PeriodBill]]


def rebuild(
    heads: Sequence[InvoiceHead], *, prices: PriceHistory, records: Iterable[FoldedRecord]
) -> Iterator[tuple[int, Invoice | Unbuilt]]:
    """Each invoice under its index, as soon as the records that it is made of were read.

    A head that corrects gives what its records come to; the difference is :func:`audit`'s.
    """
    due = _plan(heads, prices)
    size = 0
    bills = _waiting(due)
    for record in records:
        if record.seq in due:
            yield from _built(due.pop(record.seq))
            bills = _waiting(due)
        if not due:
            return
        for bill in bills:
            bill.add(record)
        size = record.seq + 1
    yield from _built(due.pop(size, []))
    for left in due.values():
        for index, head, _ in left:
            yield index, Unbuilt(f"it is of {head.journal_size} records, and there are {size}")


def _plan(heads: Sequence[InvoiceHead], prices: PriceHistory) -> dict[int, _Due]:
    """What is to be built after how many records; equal periods and prices share a bill."""
    due: dict[int, _Due] = {}
    bills: dict[tuple[int, int, int], PeriodBill] = {}
    for index, head in enumerate(heads):
        key = (head.from_ms, head.to_ms, prices.known(head.journal_size, head.to_ms))
        if key not in bills:
            book = prices.book(head.journal_size)
            bills[key] = PeriodBill(book, from_ms=head.from_ms, to_ms=head.to_ms)
        due.setdefault(head.journal_size, []).append((index, head, bills[key]))
    return due


def _waiting(due: dict[int, _Due]) -> list[PeriodBill]:
    return [*{id(bill): bill for rows in due.values() for _, _, bill in rows}.values()]


def _built(rows: _Due) -> Iterator[tuple[int, Invoice | Unbuilt]]:
    for bill in _waiting({0: rows}):
        lines, units = split_by_tenant(bill.lines()), split_by_tenant(bill.unit_lines())
        settled = split_by_tenant(bill.settled_lines())
        for index, head, own in rows:
            if own is bill:
                fresh = replace(head, corrects=None, currency=bill.book.currency)
                both = lines.get(head.tenant, ()), units.get(head.tenant, ())
                yield index, _invoice(fresh, *both, settled=settled.get(head.tenant, ()))


def _invoice(
    head: InvoiceHead,
    lines: Sequence[RatedLine],
    units: Sequence[UnitLine],
    *,
    settled: Sequence[SettledLine],
) -> Invoice | Unbuilt:
    try:
        return bill_to(head, lines, units=units, settled=settled)
    except InvalidValue as error:
        return Unbuilt(str(error))


# -- judging ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AuditedClaim:
    """A claim beside what the journal gives."""

    claim: InvoiceClaim
    invoice: Invoice | None
    why: str = ""
    """Why there is no invoice, where there is none."""

    @property
    def total_micros(self) -> int | None:
        """What the journal comes to."""
        return None if self.invoice is None else self.invoice.total_micros

    @property
    def is_same(self) -> bool:
        """Whether both are the same to the last byte."""
        return self.invoice is not None and digest_of(self.invoice) == self.claim.digest

    @property
    def agrees(self) -> bool:
        """Whether the claim is true."""
        return self.is_same and self.total_micros == self.claim.total_micros


def audit(
    claims: Sequence[InvoiceClaim], *, prices: PriceHistory, records: Iterable[FoldedRecord]
) -> Iterator[AuditedClaim]:
    """Judge claims, those of fewer records first; a correction's first must be among them."""
    order = sorted(range(len(claims)), key=lambda n: (claims[n].head.journal_size, n))
    heads = [claims[n].head for n in order]
    named = {head.corrects for head in heads}
    # Of these the lines are needed later; all others are dropped as soon as they are judged.
    kept: dict[str, list[Invoice]] = {}
    for index, built in rebuild(heads, prices=prices, records=records):
        claim = claims[order[index]]
        found = _judge(claim, built, kept)
        first = claim.head.corrects or claim.head.invoice_id
        if found.invoice is not None and first in named:
            kept.setdefault(first, []).append(found.invoice)
        yield found


def _judge(
    claim: InvoiceClaim, built: Invoice | Unbuilt, kept: dict[str, list[Invoice]]
) -> AuditedClaim:
    if isinstance(built, Unbuilt):
        return AuditedClaim(claim, None, built.why)
    head = claim.head
    if claim.seq is not None and head.journal_size > claim.seq:
        return AuditedClaim(
            claim, None, f"it is said to be of {head.journal_size} records, itself too"
        )
    if head.corrects is None:
        return AuditedClaim(claim, built)
    before = kept.get(head.corrects, [])
    if not before:  # none was built, or it is a correction itself
        return AuditedClaim(
            claim, None, f"{head.corrects}, which it corrects, is no invoice before it"
        )
    try:
        correction = correct(before[0], built, earlier=before[1:])
    except InvalidValue as error:
        return AuditedClaim(claim, None, str(error))
    if isinstance(correction, Agreed):
        return AuditedClaim(claim, None, f"there is nothing to correct of {head.corrects}")
    return AuditedClaim(claim, correction)


def needed_for(
    chosen: Sequence[InvoiceClaim], claims: Sequence[InvoiceClaim]
) -> list[InvoiceClaim]:
    """These claims, and before them the ones that they correct or that corrected the same."""
    firsts = {claim.head.corrects for claim in chosen} - {None}
    own = {*chosen}
    last = max((claim.head.journal_size for claim in chosen), default=0)
    found = [
        claim
        for claim in claims
        if claim.head.journal_size <= last
        and (claim.head.invoice_id in firsts or claim.head.corrects in firsts)
        and claim not in own
    ]
    return [*found, *chosen]
