"""Invoices as CSV: one row for each line, under a header that does not change.

Rules:

- Times are UTC, in ISO 8601 with ``Z``. Amounts are decimals made from integers, and exact.
- What has no value is an empty cell. Rows end as RFC 4180 says, and cells are quoted where they
  have to be.
- A text that a spreadsheet could take for a formula (it begins with ``=``, ``+``, ``-``, ``@``, a
  tab or a line's end, and is no plain number) gets an apostrophe before it. So does a text that
  begins with an apostrophe: taking one away gives back what was there (:func:`plain_cell`).
- Control characters within a text stay there, quoted; they end no row.

>>> iso_time(1_700_000_000_000)
'2023-11-14T22:13:20Z'
>>> csv_text(["tag"], [["=1+1"], ["-3.5"], [None]])
"tag\\r\\n'=1+1\\r\\n-3.5\\r\\n\\r\\n"
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final, TypeAlias

from bailiwick.billing.invoices import Invoice
from bailiwick.billing.lines import RatedLine, money_text, unit_of
from bailiwick.billing.settled.lines import SettledLine
from bailiwick.billing.units.lines import UnitLine
from bailiwick.vocab.app_uses import MemberUse
from bailiwick.vocab.values import check_integer

Cell: TypeAlias = str | int | None

_RISKY: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "'")
_NUMBER: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?\Z")
_TO_QUOTE: Final = re.compile(r'[",\r\n]|^\s|\s\Z')

_DAY_MS: Final = 86_400_000
_TIME_MS_MAX: Final = 253_402_300_800_000 - 1
"""The last millisecond of the year 9999."""
_MONTH_DAYS: Final = (31, 30, 31, 30, 31, 31, 30, 31, 30)
"""From March to November."""

APP_UNIT: Final = "app_unit"
"""What a line of an app's own units has in the place of a resource."""
NOT_PRICED: Final = "not_priced"
"""Why such a line costs nothing, where no card has a price."""

BETWEEN: Final = "between_projects"
"""The same of what projects owe one another: then ``part`` says which side, ``tag`` whom."""

COLUMNS: Final = (
    *("invoice_id", "corrects", "tenant", "project", "period_start", "period_end"),
    *("journal_size", "currency", "generation", "tag", "lease_class", "resource", "stage"),
    *("cause", "card", "card_tenant", "card_effective", "window_start", "window_end", "used"),
    *("used_unit", "quantity", "unit", "price_per_hour", "cost", "segments"),
    *("first_record", "last_record", "instance_id", "app", "operating_mode"),
    *("control_plane_scope", "runtime_backend", "part", "price_per_unit", "disputed"),
)
"""The header of :func:`invoice_csv`."""


def invoice_csv(invoices: Iterable[Invoice]) -> str:
    """All lines of these invoices."""
    return csv_text(COLUMNS, (row for each in invoices for row in _rows(each)))


def _rows(invoice: Invoice) -> Iterator[Iterator[Cell]]:
    yield from (_row(invoice, line) for line in invoice.lines)
    yield from (_unit_row(invoice, line) for line in invoice.unit_lines)
    yield from (_settled_row(invoice, line) for line in invoice.settled_lines)


def _head_cells(invoice: Invoice, project: str | None) -> Iterator[Cell]:
    head = invoice.head
    yield from (head.invoice_id, head.corrects, head.tenant, project)
    yield from (iso_time(head.from_ms), iso_time(head.to_ms), head.journal_size, head.currency)


def _line_cells(line: RatedLine | UnitLine) -> Iterator[Cell]:
    card = line.key.card
    yield from (card.name, card.tenant, iso_time(card.effective_ms))
    yield from (iso_time(line.from_ms), iso_time(line.to_ms))


def _row(invoice: Invoice, line: RatedLine) -> Iterator[Cell]:
    key, unit = line.key, unit_of(line.key.kind)
    yield from _head_cells(invoice, key.project)
    yield from (key.generation, key.tag, key.lease_class, key.kind, key.stage, key.cause)
    yield from _line_cells(line)
    yield from (line.used, unit.native, line.quantity, unit.name, key.price.text())
    yield from (money_text(line.cost_micros), line.segments, line.first_seq, line.last_seq)
    yield from key.member or (None,) * len(MemberUse._fields)
    yield from (None, None)


def _unit_row(invoice: Invoice, line: UnitLine) -> Iterator[Cell]:
    """A line of what an app told: ``used`` is what was told, ``quantity`` what is charged of it."""
    key = line.key
    yield from _head_cells(invoice, key.project)
    yield from (None, None, None, APP_UNIT, None, None if key.is_priced else NOT_PRICED)
    yield from _line_cells(line)
    yield from (line.quantity, key.unit, line.charged, key.unit, None)
    yield from (money_text(line.cost_micros), line.reports, line.first_seq, line.last_seq)
    yield from (key.instance_id, key.app, None, None, None, None)
    yield from (None if key.price is None else money_text(key.price), line.disputed)


def _settled_row(invoice: Invoice, line: SettledLine) -> Iterator[Cell]:
    """A line of what is settled between projects: below 0 is what the project is owed."""
    key = line.key
    yield from _head_cells(invoice, key.project)
    yield from (None, key.other, None, BETWEEN, None, None)
    yield from (key.runtime, None, None, iso_time(line.from_ms), iso_time(line.to_ms))
    yield from (line.quantity, key.unit, line.quantity - line.disputed, key.unit, None)
    yield from (money_text(line.cost_micros), line.reports, line.first_seq, line.last_seq)
    yield from (key.runtime_id, key.app, None, None, None, key.side.value)
    yield from (money_text(key.price), line.disputed)


# -- cells -----------------------------------------------------------------------------------


def csv_text(header: Iterable[str], rows: Iterable[Iterable[Cell]]) -> str:
    """A whole CSV document."""
    return "".join(",".join(map(_cell, row)) + "\r\n" for row in (header, *rows))


def _cell(value: Cell) -> str:
    if value is None:
        return ""
    text = str(value)
    if text.startswith(_RISKY) and not _NUMBER.match(text):
        text = f"'{text}"
    if _TO_QUOTE.search(text):
        return '"' + text.replace('"', '""') + '"'
    return text


def plain_cell(cell: str) -> str | None:
    """What a cell of ours says, as a CSV reader hands it over; none for an empty one.

    >>> plain_cell("'=1+1"), plain_cell("")
    ('=1+1', None)
    """
    return cell.removeprefix("'") or None


@lru_cache(maxsize=256, typed=True)  # the same few begins and ends stand in every row
def iso_time(at_ms: int) -> str:
    """A time in UTC; with milliseconds only where it has any."""
    check_integer("at_ms", at_ms, low=0, high=_TIME_MS_MAX)
    days, ms = divmod(at_ms, _DAY_MS)
    seconds, ms = divmod(ms, 1000)
    year, month, day = _date(days)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{year:04}-{month:02}-{day:02}T{clock}{f'.{ms:03}' if ms else ''}Z"


def _date(days: int) -> tuple[int, int, int]:
    """The date so many days after the first of January 1970."""
    year = 1970 + days // 366  # never too late, and too early by less than a year in 366
    while _days_before(year + 1) <= days:
        year += 1
    days -= _days_before(year)
    is_leap = _days_before(year + 1) - _days_before(year) == 366
    month = 1
    for length in (31, 28 + is_leap, *_MONTH_DAYS):
        if days < length:
            break
        days -= length
        month += 1
    return year, month, days + 1


def _days_before(year: int) -> int:
    before = year - 1
    return 365 * (year - 1970) + before // 4 - before // 100 + before // 400 - 477
