"""Lines of what apps told of their use: a unit of an instance, its price and what it comes to.

Rules:

- A line is all that an instance told of one unit at one price. It stands apart from the time that
  the instance's members held, which is billed as any other.
- A report counts at the last millisecond of its window: in that period, at the prices of that time.
- What nobody has a price for is a line all the same: without a price, at the cost 0.
- What was told beyond what was held (see :mod:`bailiwick.metering.told.bounds`) is disputed: it
  stands on the line and is not charged.
- A price is for one of the unit, so a cost needs no rounding.
- In a correction a line is a difference, and its numbers may be negative.

>>> card = CardId("list", None, 0, "credit")
>>> key = UnitKey("lab", "p", 7, "lab.svc", "job_hour", card, 1_500_000, 1_500_000)
>>> key.cost(10, disputed=4), key._replace(price=None).cost(10)
(9000000, 0)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from bailiwick.billing.lines import CardId, Sortable
from bailiwick.billing.rates import RateBook
from bailiwick.metering.told.book import ToldReport, ToldSeries


class UnitKey(NamedTuple):
    """What told use is added up by."""

    tenant: str
    project: str | None
    instance_id: int
    app: str
    unit: str
    card: CardId
    price: int | None
    """Micros for one of the unit; none where no card says it."""
    list_price: int | None

    @property
    def order(self) -> Sortable:
        """By what lines are sorted: field by field, what has no value first."""
        flat: list[str | int | None] = [*self[:5], *self.card, self.price, self.list_price]
        return tuple((each is not None, "" if each is None else each) for each in flat)

    @property
    def is_priced(self) -> bool:
        """Whether any card says what it costs."""
        return self.price is not None

    def cost(self, quantity: int, *, disputed: int = 0) -> int:
        """What so much comes to, in micros; what is disputed is not charged."""
        return (quantity - disputed) * (self.price or 0)

    def list_cost(self, quantity: int, *, disputed: int = 0) -> int:
        """What it would come to by the list."""
        return (quantity - disputed) * (self.list_price or 0)

    def tags(self) -> dict[str, str | int]:
        """Whose it is and what, by name."""
        return {"instance_id": self.instance_id, "app": self.app, "app_unit": self.unit}


@dataclass(frozen=True, slots=True)
class UnitLine:
    """What was told of one key and what that costs, in micros of its card's currency."""

    key: UnitKey
    quantity: int
    disputed: int
    """How much of it is more than was held, and so not charged."""
    cost_micros: int
    list_cost_micros: int
    reports: int
    from_ms: int
    to_ms: int
    """From the begin of the first window to the end of the last; it may begin before the period."""
    first_seq: int
    last_seq: int

    @property
    def charged(self) -> int:
        """How much of it is charged, if it has a price."""
        return self.quantity - self.disputed

    def plus(self, other: UnitLine) -> UnitLine:
        """This line, with the other's numbers added; its window and its records stay its own."""
        return replace(
            self,
            quantity=self.quantity + other.quantity,
            disputed=self.disputed + other.disputed,
            cost_micros=self.cost_micros + other.cost_micros,
            list_cost_micros=self.list_cost_micros + other.list_cost_micros,
            reports=self.reports + other.reports,
        )

    def minus(self) -> UnitLine:
        """What takes this line back."""
        return replace(
            self,
            quantity=-self.quantity,
            disputed=-self.disputed,
            cost_micros=-self.cost_micros,
            list_cost_micros=-self.list_cost_micros,
            reports=-self.reports,
        )

    @property
    def is_nothing(self) -> bool:
        """Whether it changes nothing."""
        return not (self.quantity or self.disputed or self.cost_micros or self.list_cost_micros)


def sort_units(lines: Iterable[UnitLine]) -> tuple[UnitLine, ...]:
    """The lines in the one order in which bills show them."""
    return tuple(sorted(lines, key=lambda line: line.key.order))


def rate_units(
    told: Iterable[tuple[ToldSeries, ToldReport]], book: RateBook
) -> tuple[UnitLine, ...]:
    """The lines of these reports, in the order in which bills show them."""
    sums: dict[UnitKey, list[ToldReport]] = {}
    for series, report in told:
        sums.setdefault(_key_of(series, report, book), []).append(report)
    return sort_units(_line(key, reports) for key, reports in sums.items())


def _key_of(series: ToldSeries, report: ToldReport, book: RateBook) -> UnitKey:
    name, at_ms = f"{series.app}/{series.unit}", max(report.counts_ms, 0)
    card, price = book.unit_price(series.tenant, name, at_ms=at_ms)
    listed = book.card_for(None, at_ms).app_unit_micros.get(name)
    card_id = CardId(card.name, card.tenant, card.effective_ms, card.currency)
    return UnitKey(*series, card_id, price, listed)


def _line(key: UnitKey, reports: Sequence[ToldReport]) -> UnitLine:
    quantity = sum(each.quantity for each in reports)
    disputed = sum(each.beyond for each in reports)
    return UnitLine(
        key,
        quantity=quantity,
        disputed=disputed,
        cost_micros=key.cost(quantity, disputed=disputed),
        list_cost_micros=key.list_cost(quantity, disputed=disputed),
        reports=len(reports),
        from_ms=min(each.from_ms for each in reports),
        to_ms=max(each.to_ms for each in reports),
        first_seq=min(each.seq for each in reports),
        last_seq=max(each.seq for each in reports),
    )


def changed_units(before: Iterable[UnitLine], fresh: Iterable[UnitLine]) -> tuple[UnitLine, ...]:
    """The differences that make all lines before come to the fresh ones."""
    sums: dict[UnitKey, UnitLine] = {}
    for line in before:
        sums[line.key] = line.plus(sums[line.key]) if line.key in sums else line
    changes = []
    for line in fresh:
        known = sums.pop(line.key, None)
        changes.append(line if known is None else line.plus(known.minus()))
    changes += [line.minus() for line in sums.values()]
    return tuple(each for each in changes if not each.is_nothing)
