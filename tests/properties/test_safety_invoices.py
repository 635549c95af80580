"""What the kernel lets anybody bill is what a naive reading of the journal allows, no more or less.

The reference keeps every record's time and every invoice, and compares with all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from hypothesis import given
from hypothesis import strategies as st

from bailiwick.billing.rates import LIST_PRICES
from bailiwick.journal.words import Severity
from bailiwick.kernel import Envelope, Kernel
from bailiwick.kernel.money.commands import IssueInvoice, ReportFinding, SetRateCard
from bailiwick.kernel.snapshot import decode, digest_of, encode
from bailiwick.vocab.errors import BailiwickError


@dataclass
class NaiveBook:
    """All that a journal says, and nothing cleverer."""

    times: list[int] = field(default_factory=list)
    issued: list[IssueInvoice] = field(default_factory=list)

    def allows(self, asked: IssueInvoice, now_ms: int) -> bool:
        left_out = self.times[asked.journal_size :]
        is_whole = asked.journal_size <= len(self.times) and asked.period_end_ms <= now_ms
        is_whole = is_whole and all(at_ms >= asked.period_end_ms for at_ms in left_out)
        is_new = asked.invoice not in [each.invoice for each in self.issued]
        rest = self._corrects(asked) if asked.corrects else self._is_once(asked)
        return is_whole and is_new and rest

    def _corrects(self, asked: IssueInvoice) -> bool:
        firsts = [each for each in self.issued if each.invoice == asked.corrects]
        if not firsts or firsts[0].corrects is not None or _matter(firsts[0]) != _matter(asked):
            return False
        same = [each for each in self.issued if each.corrects == asked.corrects]
        return all(asked.journal_size > each.journal_size for each in (*firsts, *same))

    def _is_once(self, asked: IssueInvoice) -> bool:
        return not any(
            asked.tenant == each.tenant
            and (None in (asked.project, each.project) or asked.project == each.project)
            and each.corrects is None
            and asked.period_start_ms < each.period_end_ms
            and each.period_start_ms < asked.period_end_ms
            for each in self.issued
        )


def _matter(invoice: IssueInvoice) -> tuple[object, ...]:
    period = invoice.period_start_ms, invoice.period_end_ms
    return invoice.tenant, invoice.project, *period


@st.composite
def asks(draw: st.DrawFn, book: NaiveBook, now_ms: int) -> IssueInvoice:
    """An invoice of around now; often of nearly all records, and often about an earlier one."""
    begin = draw(st.integers(0, 6))
    found = IssueInvoice(
        invoice=f"inv-{draw(st.integers(0, 9))}",
        tenant=draw(st.sampled_from(["lab", "uni"])),
        project=draw(st.sampled_from([None, "p", "q"])),
        period_start_ms=begin,
        period_end_ms=draw(st.integers(begin + 1, max(begin + 1, now_ms + 1))),
        journal_size=max(0, len(book.times) - draw(st.sampled_from([0, 0, 0, 1, 2, -1]))),
        total_micros=1,
        currency="credit",
        digest="ab" * 32,
    )
    if book.issued and draw(st.booleans()):
        first = draw(st.sampled_from(book.issued))
        found = replace(found, corrects=first.invoice)
        if draw(st.integers(0, 3)):
            names = ("tenant", "project", "period_start_ms", "period_end_ms")
            found = replace(found, **{name: getattr(first, name) for name in names})
    return found


@given(st.data())
def test_an_invoice_is_issued_if_and_only_if_the_naive_reading_allows_it(
    data: st.DataObject,
) -> None:
    kernel, book, now_ms = Kernel(), NaiveBook(), 1
    for _ in range(data.draw(st.integers(1, 25))):
        now_ms += data.draw(st.sampled_from([0, 0, 1, 3]))
        if data.draw(st.integers(0, 2)) == 0:
            seal = Envelope(ReportFinding("odd", Severity.LOW, "x"))
            book.times += [now_ms] * len(kernel.execute(seal, now_ms).lines)
            continue
        if data.draw(st.integers(0, 5)) == 0:
            again = decode(encode(kernel.state), digest_of(kernel.state))
            kernel = Kernel(again, kernel.chain.anchor())
        asked = data.draw(asks(book, now_ms))
        is_issued = accepts(kernel, Envelope(asked), now_ms)
        assert is_issued == book.allows(asked, now_ms), asked
        if is_issued:
            book.times.append(now_ms)
            book.issued.append(asked)


def accepts(kernel: Kernel, envelope: Envelope, now_ms: int) -> bool:
    """Whether the kernel does as it is told."""
    try:
        kernel.execute(envelope, now_ms)
    except BailiwickError:
        return False
    return True


@given(st.integers(0, 50), st.integers(1, 40))
def test_a_card_holds_from_now_or_later(effective_ms: int, now_ms: int) -> None:
    kernel = Kernel()
    card = replace(LIST_PRICES, effective_ms=effective_ms)
    is_set = accepts(kernel, Envelope(SetRateCard(card)), now_ms)
    assert is_set == (effective_ms == 0 or effective_ms >= now_ms)
    told = [each.effective_ms for each in kernel.state.spending.book.changes]
    assert told == ([effective_ms or now_ms] if is_set else [])
