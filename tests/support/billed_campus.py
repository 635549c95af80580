"""A campus that is billed: prices change under way, invoices are issued, and two are corrected.

Eight hours on three nodes. Physics and biology hold GPUs by the share and whole, one lease is spot
and is evicted with grace. The list changes after two hours, physics gets a card of its own after
three, which is withdrawn after five. Period one is the first six hours; what was lost with two
nodes that had been silent since before its end is known only after it was billed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bailiwick.billing import bills
from bailiwick.billing.invoice_body import digest_of
from bailiwick.billing.invoices import Agreed, Invoice, InvoiceHead, InvoiceScope, correct
from bailiwick.billing.rates import LIST_PRICES
from bailiwick.kernel import ChangeSettings, DepartNode, Elect, Evict, RegisterNode
from bailiwick.kernel.money.commands import IssueInvoice, SetRateCard, WithdrawRateCard
from bailiwick.vocab.values import GIB
from bailiwick.vocab.words import LeaseClass, PreemptionReason
from tests.support.kernel_histories import AMPERE, HOUR, MINUTE, START_MS, Campus, granted, node
from tests.support.wide_open import wide_settings

END_MS = START_MS + 6 * HOUR


def compute(campus: Campus, head: InvoiceHead) -> Invoice:
    """An invoice from the records there are, as a server computes it: one fold for it alone."""
    records = campus.records[: head.journal_size]
    book = bills.read_prices(records)
    bill = bills.PeriodBill(book, from_ms=head.from_ms, to_ms=head.to_ms)
    for record in records:
        bill.add(record)
    return bills.bill_to(head, bill.lines(), units=bill.unit_lines(), settled=bill.settled_lines())


def head_of(campus: Campus, name: str, tenant: str, project: str | None = None) -> InvoiceHead:
    scope = InvoiceScope.TENANT if project is None else InvoiceScope.PROJECT
    return InvoiceHead(
        invoice_id=name,
        tenant=tenant,
        scope=scope,
        project=project,
        # What a tenant's invoice covers its projects' cannot: theirs are of the minutes after it.
        from_ms=START_MS if project is None else END_MS,
        to_ms=END_MS if project is None else END_MS + 10 * MINUTE,
        currency="credit",
        journal_size=len(campus.lines),
    )


def late_head(campus: Campus) -> InvoiceHead:
    """Of physics as a whole, for time that nothing else bills."""
    head = head_of(campus, "late", "physics")
    return replace(head, from_ms=END_MS + 10 * MINUTE, to_ms=END_MS + HOUR)


def seal(campus: Campus, invoice: Invoice, **instead: object) -> Invoice:
    """Have the kernel seal that an invoice was issued; with ``instead``, something untrue of it."""
    head = invoice.head
    told: dict[str, object] = {
        "invoice": head.invoice_id,
        "tenant": head.tenant,
        "project": head.project,
        "period_start_ms": head.from_ms,
        "period_end_ms": head.to_ms,
        "journal_size": head.journal_size,
        "total_micros": invoice.total_micros,
        "currency": head.currency,
        "digest": digest_of(invoice),
        "corrects": head.corrects,
    }
    campus.do(IssueInvoice(**(told | instead)))  # type: ignore[arg-type]
    return invoice


@dataclass
class Billed:
    """The campus and every invoice of it, as it was issued."""

    campus: Campus
    issued: dict[str, Invoice]

    def issue(self, name: str, tenant: str, project: str | None = None) -> None:
        invoice = compute(self.campus, head_of(self.campus, name, tenant, project))
        self.issued[name] = seal(self.campus, invoice)

    def correct(self, first: str, name: str, *earlier: str) -> None:
        old = self.issued[first]
        head = head_of(self.campus, name, old.head.tenant, old.head.project)
        fresh = compute(self.campus, head)
        found = correct(old, fresh, earlier=[self.issued[each] for each in earlier])
        assert not isinstance(found, Agreed)
        self.issued[name] = seal(self.campus, found)


def billed_campus() -> Billed:
    """Six hours of work under changing prices, four invoices, and two corrections of one."""
    campus = Campus()
    billed = Billed(campus, {})
    campus.do(Elect(1, "replica-1"), "kernel")
    campus.do(ChangeSettings(wide_settings(grace_ms=5 * MINUTE)), "kernel")
    campus.do(RegisterNode("node-1", node(8)))
    campus.do(RegisterNode("node-2", node(4, generation=AMPERE)))
    campus.do(RegisterNode("node-3", node(2, generation=AMPERE)))
    work = {"ttl_ms": 20 * HOUR, "cpu_cores": 2, "mem_bytes": 16 * GIB}
    campus.submit("physics", project="quarks", gpu_count=6, tag="run-1", **work)
    campus.submit("physics", gpu_milli=300, cpu_cores=1, ttl_ms=90 * MINUTE)
    spot = granted(campus.submit("biology", gpu_count=1, lease_class=LeaseClass.SPOT, **work))
    ends = [granted(campus.submit("biology", gpu_count=4, project="cells", **work))]
    ends.append(granted(campus.submit("biology", gpu_count=2, project="cells", **work)))
    campus.pass_time(2 * HOUR, tick_ms=7 * MINUTE)
    dearer = {each: price * 5 // 4 for each, price in LIST_PRICES.gpu_micros_per_hour.items()}
    campus.do(SetRateCard(replace(LIST_PRICES, gpu_micros_per_hour=dearer, name="autumn")))
    campus.do(Evict(spot, PreemptionReason.MAINTENANCE_WINDOW, None))
    own = replace(LIST_PRICES, name="deal", tenant="physics", effective_ms=START_MS + 3 * HOUR)
    campus.do(SetRateCard(replace(own, core_micros_per_hour=7_777)))
    campus.do(WithdrawRateCard("physics", START_MS + 5 * HOUR))
    campus.pass_time(4 * HOUR + 10 * MINUTE, tick_ms=7 * MINUTE)
    billed.issue("p-1", "physics")
    billed.issue("p-1-quarks", "physics", "quarks")
    billed.issue("b-1", "biology")
    campus.do(DepartNode("node-3", END_MS - 20 * MINUTE))
    billed.correct("b-1", "b-1-c1")
    campus.pass_time(HOUR, tick_ms=7 * MINUTE)
    campus.do(DepartNode("node-2", END_MS - 90 * MINUTE))
    billed.issue("b-1-cells", "biology", "cells")
    billed.correct("b-1", "b-1-c2", "b-1-c1")
    campus.pass_time(HOUR, tick_ms=7 * MINUTE)
    return billed
