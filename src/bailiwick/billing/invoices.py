"""Invoices: the lines of one tenant, or of one of its projects, for one period.

Rules:

- An invoice is a function of a journal's first ``journal_size`` records and its period, and of
  nothing else. The same records give the same invoice, to the last byte.
- Lines lie within the invoice's scope, period and currency, one for each key, in one order. A
  foreign line is refused: it is never left out, and never billed to somebody else.
- A total is the sum of its rounded lines: of what was held, and of what apps told of their use,
  which are lines of their own. So is what projects owe one another; on the invoice of a whole
  tenant that is nothing.
- An issued invoice never changes. What is known later is a correction: another invoice that names
  the first and has the differences. The first, its corrections and a difference of nothing add up
  to what a fresh one says, line by line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import Any, Final, TypeAlias, TypeVar

from bailiwick.billing.accounts import (
    AppRevenue,
    BetweenProjects,
    EntryKind,
    LedgerEntry,
    Posting,
    Receivable,
    Revenue,
)
from bailiwick.billing.lines import LineKey, RatedLine, sort_lines
from bailiwick.billing.settled.lines import (
    SettledKey,
    SettledLine,
    changed_settled,
    check_sides,
    sort_settled,
)
from bailiwick.billing.units.lines import UnitKey, UnitLine, changed_units, sort_units
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import AMOUNT_MAX, check_integer, check_name
from bailiwick.vocab.words import HardwareGeneration

MONEY_MAX: Final = 2**53 - 1
"""The largest amount of money on an invoice, either way: what every JSON reader keeps exactly."""


class InvoiceScope(StrEnum):
    """What an invoice covers."""

    TENANT = "tenant"
    """All of a tenant, with every project and what belongs to none."""
    PROJECT = "project"
    """One project; or, if it has no name, what belongs to none."""


AnyLine: TypeAlias = RatedLine | UnitLine | SettledLine


@dataclass(frozen=True, slots=True, kw_only=True)
class InvoiceHead:
    """Whose invoice it is, of which period, and what it was computed from."""

    invoice_id: str
    tenant: str
    scope: InvoiceScope = InvoiceScope.TENANT
    project: str | None = None
    from_ms: int
    to_ms: int
    currency: str
    journal_size: int
    corrects: str | None = None

    def __post_init__(self) -> None:
        check_name("invoice_id", self.invoice_id)
        check_name("currency", self.currency)
        check_integer("from_ms", self.from_ms, low=0, high=MONEY_MAX)
        check_integer("to_ms", self.to_ms, low=self.from_ms + 1, high=MONEY_MAX)
        check_integer("journal_size", self.journal_size, low=0, high=MONEY_MAX)
        if self.scope is InvoiceScope.TENANT and self.project is not None:
            raise InvalidValue("project", self.project, "none on an invoice of a whole tenant")
        if self.corrects == self.invoice_id:
            raise InvalidValue("corrects", self.corrects, "another invoice")

    def covers(self, line: AnyLine) -> bool:
        """Whether a line belongs on this invoice, by whose it is."""
        is_own = line.key.tenant == self.tenant
        return is_own and (self.scope is InvoiceScope.TENANT or line.key.project == self.project)

    @property
    def matter(self) -> tuple[object, ...]:
        """What an invoice and its corrections have in common."""
        return self.tenant, self.scope, self.project, self.from_ms, self.to_ms, self.currency


@dataclass(frozen=True, slots=True)
class Invoice:
    """A head and its lines, in their order: held, told by apps, and settled between projects."""

    head: InvoiceHead
    lines: tuple[RatedLine, ...]
    unit_lines: tuple[UnitLine, ...] = ()
    settled_lines: tuple[SettledLine, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "lines", sort_lines(self.lines))
        object.__setattr__(self, "unit_lines", sort_units(self.unit_lines))
        object.__setattr__(self, "settled_lines", sort_settled(self.settled_lines))
        _check_keys([line.key for line in self.lines])
        _check_keys([line.key for line in self.unit_lines])
        _check_keys([line.key for line in self.settled_lines])
        for line in self.lines:
            self._check_line(line)
        for each in self.unit_lines:
            self._check_unit_line(each)
        self._check_settled()
        check_integer("total_micros", self.total_micros, low=-MONEY_MAX, high=MONEY_MAX)

    def _check_line(self, line: RatedLine) -> None:
        head = self.head
        self._check_own(line)
        if not head.from_ms <= line.from_ms < line.to_ms <= head.to_ms:
            raise self._outside(line)
        if head.corrects is not None:
            return  # a difference of rounded costs, which no price gives
        if min(line.used, line.segments) < 0:
            raise InvalidValue("used", line.used, "an amount that is not negative")
        if (right := line.key.price.cost(line.key.kind, line.used)) != line.cost_micros:
            raise InvalidValue("cost_micros", line.cost_micros, f"{right}, by the line's price")

    def _check_unit_line(self, line: UnitLine) -> None:
        self._check_own(line)
        self._check_counted(line)
        if self.head.corrects is not None:
            return
        if (right := line.key.cost(line.quantity, disputed=line.disputed)) != line.cost_micros:
            raise InvalidValue("cost_micros", line.cost_micros, f"{right}, by the line's price")

    def _check_settled(self) -> None:
        for line in self.settled_lines:
            self._check_whose(line)
            self._check_counted(line)
            check_integer("cost_micros", line.cost_micros, low=-MONEY_MAX, high=MONEY_MAX)
        if self.head.scope is InvoiceScope.TENANT:
            check_sides(self.settled_lines)

    def _check_counted(self, line: UnitLine | SettledLine) -> None:
        """In which period it counts, and no more of it disputed than was told."""
        head = self.head
        if not (line.from_ms <= line.to_ms and head.from_ms < line.to_ms <= head.to_ms):
            raise self._outside(line)
        if head.corrects is None and not 0 <= line.disputed <= line.quantity:
            raise InvalidValue("disputed", line.disputed, "no more than was told")

    def _check_whose(self, line: AnyLine) -> None:
        head = self.head
        if not head.covers(line):
            whose = f"{head.tenant}, {head.scope} {head.project or ''}".rstrip()
            raise InvalidValue("lines", (line.key.tenant, line.key.project), f"lines of {whose}")

    def _check_own(self, line: RatedLine | UnitLine) -> None:
        """Whose it is, in which currency, and that its costs can be told."""
        head = self.head
        self._check_whose(line)
        if line.key.card.currency != head.currency:
            raise InvalidValue("currency", line.key.card.currency, head.currency)
        low = 0 if head.corrects is None else -MONEY_MAX
        check_integer("cost_micros", line.cost_micros, low=low, high=MONEY_MAX)
        check_integer("list_cost_micros", line.list_cost_micros, low=low, high=MONEY_MAX)

    def _outside(self, line: AnyLine) -> InvalidValue:
        period = f"within {self.head.from_ms} to {self.head.to_ms}"
        return InvalidValue("lines", (line.from_ms, line.to_ms), period)

    @property
    def total_micros(self) -> int:
        """What the invoice comes to."""
        return sum(line.cost_micros for line in self._all())

    def _all(self) -> Iterator[AnyLine]:
        yield from self.lines
        yield from self.unit_lines
        yield from self.settled_lines

    def by_project(self) -> tuple[tuple[str | None, int], ...]:
        """What each project comes to, in order; what belongs to none comes first."""
        sums: dict[str | None, int] = {}
        for line in self._all():
            sums[line.key.project] = sums.get(line.key.project, 0) + line.cost_micros
        return tuple(sorted(sums.items(), key=lambda row: (row[0] is not None, row[0] or "")))

    def by_generation(self) -> tuple[tuple[HardwareGeneration | None, int], ...]:
        """What work on each generation comes to, with its cores and memory, in order.

        What apps told is of no generation, and not among these.
        """
        sums: dict[HardwareGeneration | None, int] = {}
        for line in self.lines:
            sums[line.key.generation] = sums.get(line.key.generation, 0) + line.cost_micros
        return tuple(sorted(sums.items(), key=lambda row: row[0] or ""))


def _check_keys(keys: Sequence[LineKey | UnitKey | SettledKey]) -> None:
    for key, after in pairwise(keys):
        if key == after:
            raise InvalidValue("lines", key, "one line for each key")


L = TypeVar("L", RatedLine, UnitLine, SettledLine)


def split_by_tenant(lines: Iterable[L]) -> dict[str, tuple[L, ...]]:
    """The lines of each tenant, in the order they came in."""
    found: dict[str, list[L]] = {}
    for line in lines:
        found.setdefault(line.key.tenant, []).append(line)
    return {tenant: tuple(own) for tenant, own in found.items()}


def entry_of(invoice: Invoice, *, at_ms: int) -> LedgerEntry:
    """What issuing this invoice moves: from what was earned, by resource, to what is owed."""
    head = invoice.head
    lines = [
        Posting(Revenue(line.key.kind, line.key.generation), -line.cost_micros)
        for line in invoice.lines
    ]
    lines += [Posting(AppRevenue(line.key.app), -line.cost_micros) for line in invoice.unit_lines]
    between = BetweenProjects(head.tenant)
    lines += [Posting(between, -line.cost_micros) for line in invoice.settled_lines]
    return LedgerEntry(
        entry_id=head.invoice_id,
        at_ms=check_integer("at_ms", at_ms, low=0, high=AMOUNT_MAX),
        kind=EntryKind.CHARGE if head.corrects is None else EntryKind.CORRECTION,
        currency=head.currency,
        postings=(Posting(Receivable(head.tenant), invoice.total_micros), *lines),
        corrects=head.corrects,
    )


# -- corrections -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Agreed:
    """What was issued is what a fresh computation gives; there is nothing to correct."""

    invoice_id: str


def correct(
    issued: Invoice, fresh: Invoice, *, earlier: Sequence[Invoice] = ()
) -> Invoice | Agreed:
    """The correction that makes what was issued come to what the fresh invoice says.

    ``earlier`` are the corrections of the issued one so far. The correction has the fresh one's id
    and journal size.
    """
    _check_same_matter(issued, fresh, earlier)
    sums: dict[LineKey, RatedLine] = {}
    for invoice in (issued, *earlier):
        for line in invoice.lines:
            sums[line.key] = _plus(line, sums[line.key]) if line.key in sums else line
    changes: list[RatedLine] = []
    for line in fresh.lines:
        known = sums.pop(line.key, None)
        changes.append(line if known is None else _plus(line, _minus(known)))
    changes += [_minus(line) for line in sums.values()]
    kept = [each for each in changes if each.used or each.cost_micros or each.list_cost_micros]
    told = [line for invoice in (issued, *earlier) for line in invoice.unit_lines]
    units = changed_units(told, fresh.unit_lines)
    before = [line for invoice in (issued, *earlier) for line in invoice.settled_lines]
    settled = changed_settled(before, fresh.settled_lines)
    if not kept and not units and not settled:
        return Agreed(issued.head.invoice_id)
    head = replace(fresh.head, corrects=issued.head.invoice_id)
    return Invoice(head, tuple(kept), units, settled)


def _check_same_matter(issued: Invoice, fresh: Invoice, earlier: Sequence[Invoice]) -> None:
    first = issued.head
    if first.corrects is not None:
        raise InvalidValue("issued", first.invoice_id, "an invoice that is no correction")
    if fresh.head.corrects is not None:
        raise InvalidValue("fresh", fresh.head.invoice_id, "an invoice that is no correction")
    for other in (fresh, *earlier):
        if other.head.matter != first.matter:
            raise InvalidValue("invoice", other.head.matter, f"an invoice of {first.matter}")
    for other in earlier:
        if other.head.corrects != first.invoice_id:
            raise InvalidValue("earlier", other.head.invoice_id, f"corrects {first.invoice_id}")
    known = [issued.head, *(each.head for each in earlier)]
    if fresh.head.invoice_id in {each.invoice_id for each in known}:
        raise InvalidValue("invoice_id", fresh.head.invoice_id, "an id of its own")
    check_integer(
        "journal_size",
        fresh.head.journal_size,
        low=max(each.journal_size for each in known),
        high=MONEY_MAX,
    )


def _plus(line: RatedLine, other: RatedLine) -> RatedLine:
    """The first line, with the other's numbers added; its window and its records stay its own."""
    return replace(
        line,
        used=line.used + other.used,
        cost_micros=line.cost_micros + other.cost_micros,
        list_cost_micros=line.list_cost_micros + other.list_cost_micros,
        segments=line.segments + other.segments,
    )


def _minus(line: RatedLine) -> RatedLine:
    return replace(
        line,
        used=-line.used,
        cost_micros=-line.cost_micros,
        list_cost_micros=-line.list_cost_micros,
        segments=-line.segments,
    )


# -- comparing -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HeadDiffers:
    """One field of the head says something else."""

    field: str
    first: object
    second: object


@dataclass(frozen=True, slots=True)
class LineDiffers:
    """Both have the line, and one of its numbers differs."""

    key: LineKey | UnitKey | SettledKey
    field: str
    first: int
    second: int


@dataclass(frozen=True, slots=True)
class OnlyInFirst:
    """The second invoice lacks this line."""

    line: AnyLine


@dataclass(frozen=True, slots=True)
class OnlyInSecond:
    """The first invoice lacks this line."""

    line: AnyLine


Difference: TypeAlias = HeadDiffers | LineDiffers | OnlyInFirst | OnlyInSecond

_NUMBERS: Final = tuple(name for name in RatedLine.__slots__ if name != "key")
_UNIT_NUMBERS: Final = tuple(name for name in UnitLine.__slots__ if name != "key")
_SETTLED_NUMBERS: Final = tuple(name for name in SettledLine.__slots__ if name != "key")


def compare(first: Invoice, second: Invoice) -> tuple[Difference, ...]:
    """Where two invoices differ, field by field and line by line; nothing where they agree."""
    found: list[Difference] = [
        HeadDiffers(*row) for row in _differing(first.head, second.head, InvoiceHead.__slots__)
    ]
    found += _compared(first.lines, second.lines, _NUMBERS)
    found += _compared(first.unit_lines, second.unit_lines, _UNIT_NUMBERS)
    found += _compared(first.settled_lines, second.settled_lines, _SETTLED_NUMBERS)
    return tuple(found)


def _compared(
    first: Iterable[L], second: Iterable[L], names: Iterable[str]
) -> Iterator[Difference]:
    others = {line.key: line for line in second}
    for line in first:
        other = others.pop(line.key, None)
        if other is None:
            yield OnlyInFirst(line)
            continue
        yield from (LineDiffers(line.key, *row) for row in _differing(line, other, names))
    yield from (OnlyInSecond(line) for line in others.values())


def _differing(
    first: object, second: object, names: Iterable[str]
) -> Iterator[tuple[str, Any, Any]]:
    for name in names:
        values = getattr(first, name), getattr(second, name)
        if values[0] != values[1]:
            yield name, *values
