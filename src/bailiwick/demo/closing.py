"""The close of a run: everybody's bill, and the audit of the journal by somebody who has only that.

Rules:

- Bills are computed from the records by the product's own billing, issued by the kernel, and so
  sealed like everything else; a checkpoint of the state is the last record.
- The auditor has the lines and nothing of the run. He verifies them, has a fresh kernel replay them
  (which stops if the sealed digest of the state is not what it comes to), and builds every invoice
  again.
- One byte changed in the middle must be found, or the journal protects nobody.
"""

from __future__ import annotations

from collections.abc import Sequence

from bailiwick import ResourceKind
from bailiwick.billing.audits import ISSUED, PriceHistory, audit, claim_of
from bailiwick.billing.bills import PeriodBill, bill_to, read_prices
from bailiwick.billing.invoice_body import digest_of
from bailiwick.billing.invoices import InvoiceHead, split_by_tenant
from bailiwick.demo.books import Audit, CampusBooks
from bailiwick.journal import Record, Verification, parse_record, verify_lines
from bailiwick.kernel import Envelope, IssueInvoice, Kernel
from bailiwick.kernel import digest_of as state_digest
from bailiwick.metering import Account, Idle, UnavailableCapacity

ACCOUNTANT = "accountant"


def close_books(kernel: Kernel, books: CampusBooks, *, end_ms: int) -> None:
    """Bill everybody for the whole run, seal the last records, and have it all audited."""
    bill = PeriodBill(read_prices(books.records), from_ms=0, to_ms=end_ms)
    for record in books.records:
        bill.add(record)
    _read_meter(books, bill, end_ms=end_ms)
    units = bill.unit_lines()
    for tenant, lines in split_by_tenant(bill.lines()).items():
        head = InvoiceHead(
            invoice_id=f"campus-{tenant}",
            tenant=tenant,
            from_ms=0,
            to_ms=end_ms,
            currency=bill.book.currency,
            journal_size=bill.size,
        )
        invoice = bill_to(head, lines, units=units, settled=bill.settled_lines())
        books.tenants[tenant].owed_micros = invoice.total_micros
        issue = IssueInvoice(
            invoice=head.invoice_id,
            tenant=tenant,
            period_start_ms=0,
            period_end_ms=end_ms,
            journal_size=bill.size,
            total_micros=invoice.total_micros,
            currency=head.currency,
            digest=digest_of(invoice),
        )
        books.lines += kernel.execute(Envelope(issue, ACCOUNTANT), end_ms).lines
    books.lines.append(kernel.checkpoint(ACCOUNTANT, end_ms).line)
    books.audit = audit_journal(books.lines)


def _read_meter(books: CampusBooks, bill: PeriodBill, *, end_ms: int) -> None:
    """Whose every GPU was at every instant; it stops if owners do not sum to capacity x time."""
    meter = bill.meter.meter
    meter.check(end_ms)
    for line, used in meter.totals(end_ms).items():
        if line.kind is not ResourceKind.GPU_MILLI or line.generation is None:
            continue
        match line.payer:
            case Account(tenant=tenant):
                books.tenants[tenant].gpu_micros[line.generation] += used
            case Idle():
                books.idle_micros += used
            case UnavailableCapacity():
                books.closed_micros += used
    shares = (each for each in meter.balances(end_ms) if each.kind is ResourceKind.GPU_MILLI)
    books.capacity_micros = sum(each.capacity for each in shares)


def audit_journal(lines: Sequence[bytes]) -> Audit:
    """What somebody finds who has the lines alone."""
    records = [parse_record(line[:-1]) for line in lines]
    kernel = Kernel()
    kernel.replay(records, check_digests=True)
    issued, agreed = _rebuilt(records)
    changed = tamper(lines[:1000])
    return Audit(verify_lines(lines), state_digest(kernel.state), issued, agreed, changed)


def _rebuilt(records: Sequence[Record]) -> tuple[int, int]:
    """How many invoices the journal says were issued, and how many of them it comes to again."""
    prices = PriceHistory()
    for record in records:
        prices.add(record)
    claims = [claim_of(record) for record in records if record.kind == ISSUED]
    found = [*audit(claims, prices=prices, records=records)]
    return len(claims), sum(each.agrees for each in found)


def tamper(lines: Sequence[bytes]) -> Verification:
    """What verification says if one byte of the record in the middle were another."""
    middle = len(lines) // 2
    line = bytearray(lines[middle])
    line[line.index(b'"at_ms":') + 8] ^= 1  # another digit
    return verify_lines([*lines[:middle], bytes(line), *lines[middle + 1 :]])
