"""What a journal's records come to over a period: the lines of everybody's bill, from nothing else.

Rules:

- Records are folded by the meter and rated by the cards that the journal itself has; no table, no
  clock, no setting has a part in it. So whoever holds the records gets the same lines.
- The prices of the period must be known before it is folded: :func:`read_prices` reads them off
  the records first.
- What still runs when the period ends counts up to its end.
- There are no lines of a meter whose owners are not capacity x time.

>>> bill = PeriodBill(RateBook(), from_ms=0, to_ms=1_000)
>>> bill.lines(), bill.size
((), 0)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from bailiwick.billing.invoices import Invoice, InvoiceHead
from bailiwick.billing.lines import RatedLine
from bailiwick.billing.rates import RateBook, card_of
from bailiwick.billing.rating import rate
from bailiwick.billing.settled.lines import SettledLine, settle
from bailiwick.billing.units.lines import UnitLine, rate_units
from bailiwick.metering.fold import JournalMeter
from bailiwick.metering.meter import Meter
from bailiwick.metering.records import FoldedRecord, MeterFinding
from bailiwick.metering.windows import Window, windows_of
from bailiwick.vocab.errors import InvalidValue

PRICES: Final = "rate_card_changed"
"""The kind of record that tells prices."""


def read_prices(records: Iterable[FoldedRecord]) -> RateBook:
    """All cards that these records set; records of other kinds are passed over."""
    return RateBook(card_of(record.body) for record in records if record.kind == PRICES)


def windows_in(book: RateBook, period: Window) -> list[Window]:
    """The period, cut wherever any price changes."""
    from_ms, to_ms = period
    if not 0 <= from_ms < to_ms:
        raise InvalidValue("period", period, "a begin before its end")
    return windows_of((from_ms, *book.edges(from_ms, to_ms), to_ms))


class PeriodBill:
    """The bill of one period: add every record, in order, then read the lines."""

    def __init__(self, book: RateBook, *, from_ms: int, to_ms: int) -> None:
        self.book = book
        self._windows = windows_in(book, (from_ms, to_ms))
        edges = [start_ms for start_ms, _ in self._windows] + [to_ms]
        self.meter = JournalMeter(Meter([edge for edge in edges if edge]))

    def add(self, record: FoldedRecord) -> tuple[MeterFinding, ...]:
        """One more record; what does not fit about it."""
        return self.meter.add(record)

    @property
    def size(self) -> int:
        """How many records were added."""
        return self.meter.size

    def lines(self) -> tuple[RatedLine, ...]:
        """Everybody's lines, in the order in which bills show them."""
        self.meter.check()
        from_ms, to_ms = self._windows[0][0], self._windows[-1][1]
        uses = self.meter.meter.uses(to_ms)
        # The meter's last window begins where the period ends: it is what came afterwards.
        return rate((each for each in uses if from_ms <= each.from_ms < to_ms), self.book)

    def unit_lines(self) -> tuple[UnitLine, ...]:
        """Everybody's lines of what apps told, in the order in which bills show them."""
        from_ms, to_ms = self._windows[0][0], self._windows[-1][1]
        return rate_units(self.meter.told.counted_in(from_ms, to_ms), self.book)

    def settled_lines(self) -> tuple[SettledLine, ...]:
        """What projects owe one another, in the order in which bills show it."""
        from_ms, to_ms = self._windows[0][0], self._windows[-1][1]
        return settle(self.meter.used.counted_in(from_ms, to_ms))


def bill_to(
    head: InvoiceHead,
    lines: Iterable[RatedLine],
    *,
    units: Iterable[UnitLine],
    settled: Iterable[SettledLine] = (),
) -> Invoice:
    """The invoice with this head: of everybody's lines, those that it covers."""
    return Invoice(
        head,
        tuple(line for line in lines if head.covers(line)),
        tuple(line for line in units if head.covers(line)),
        tuple(line for line in settled if head.covers(line)),
    )
