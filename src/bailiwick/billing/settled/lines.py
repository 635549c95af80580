"""Lines of what is settled between projects: who used whose workers, and what that moves.

Rules:

- All that is taken of a report makes two entries of one amount: who used is debited, whose workers
  they are is credited. So over a tenant they sum to nothing, whatever was told.
- A line adds up what one project has with another, by unit and price; it stands apart from leases,
  which their owners pay as ever. What has no price, or is one's own, makes no line.
- A price is for one of the unit, so an amount needs no rounding.
- What was told beyond what was held stands on the line as disputed, and moves nothing.
- In a correction a line is a difference.

>>> key = SettledKey("lab", "audio", 3, "main", "hub", Side.USED, "vision", "cpu_second", 20)
>>> key.amount(10, disputed=4), key._replace(side=Side.LENT).amount(10, disputed=4)
(120, -120)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from bailiwick.metering.told.between import SharedUseKey, SharedUseReport
from bailiwick.vocab.errors import InvalidValue


class Side(StrEnum):
    """Which side of an entry a project has."""

    USED = "used"
    """It used another's workers, and is debited."""
    LENT = "lent"
    """Another used its workers, and it is credited."""


class SettledKey(NamedTuple):
    """What is added up to a line."""

    tenant: str
    project: str
    runtime_id: int
    runtime: str
    app: str
    side: Side
    other: str
    """The project on the other side."""
    unit: str
    price: int
    """Micros for one of the unit."""

    def amount(self, quantity: int, *, disputed: int = 0) -> int:
        """What so much moves: more owed by who used, less by whose workers they are."""
        micros = (quantity - disputed) * self.price
        return micros if self.side is Side.USED else -micros


@dataclass(frozen=True, slots=True)
class SettledLine:
    """What one project has with another; its cost is what it owes, or is owed if negative."""

    key: SettledKey
    quantity: int
    disputed: int
    cost_micros: int
    reports: int
    from_ms: int
    to_ms: int
    first_seq: int
    last_seq: int

    def __post_init__(self) -> None:
        right = self.key.amount(self.quantity, disputed=self.disputed)
        if right != self.cost_micros:
            raise InvalidValue("cost_micros", self.cost_micros, f"{right}, by the line's price")

    def plus(self, other: SettledLine, sign: int = 1) -> SettledLine:
        """This line with the other's numbers added; its window and its records stay its own."""
        return replace(
            self,
            quantity=self.quantity + sign * other.quantity,
            disputed=self.disputed + sign * other.disputed,
            cost_micros=self.cost_micros + sign * other.cost_micros,
            reports=self.reports + sign * other.reports,
        )

    def minus(self) -> SettledLine:
        """What takes this line back."""
        return replace(
            self,
            quantity=-self.quantity,
            disputed=-self.disputed,
            cost_micros=-self.cost_micros,
            reports=-self.reports,
        )

    @property
    def is_nothing(self) -> bool:
        """Whether it changes nothing."""
        return not (self.quantity or self.disputed or self.cost_micros)


def sort_settled(lines: Iterable[SettledLine]) -> tuple[SettledLine, ...]:
    """The lines in the one order in which bills show them."""
    return tuple(sorted(lines, key=lambda line: line.key))


def check_sides(lines: Iterable[SettledLine]) -> None:
    """Refuse lines of a whole tenant of which one side is not the other's."""
    sums: dict[tuple[object, ...], int] = {}
    for line in lines:
        key = line.key
        both = (key.project, key.other) if key.side is Side.USED else (key.other, key.project)
        pair = (*both, key.runtime_id, key.unit, key.price)
        sums[pair] = sums.get(pair, 0) + line.cost_micros
    wrong = next((pair for pair, micros in sums.items() if micros), None)
    if wrong is not None:
        raise InvalidValue("settled_lines", wrong, "two sides of one amount")


def settle(used: Iterable[tuple[SharedUseKey, SharedUseReport]]) -> tuple[SettledLine, ...]:
    """The lines of these reports: two of each that has a price."""
    sums: dict[SettledKey, SettledLine] = {}
    for key, report in used:
        if not report.rate or key.user == key.source:
            continue
        both = (key.user, Side.USED, key.source), (key.source, Side.LENT, key.user)
        for project, side, other in both:
            line = _line(key, report, (project, side, other))
            known = sums.get(line.key)
            sums[line.key] = line if known is None else _widened(known.plus(line), line)
    return sort_settled(sums.values())


def _line(key: SharedUseKey, report: SharedUseReport, whose: tuple[str, Side, str]) -> SettledLine:
    project, side, other = whose
    where = key.runtime_id, key.runtime, key.app
    found = SettledKey(key.tenant, project, *where, side, other, key.unit, report.rate)
    return SettledLine(
        found,
        quantity=report.quantity,
        disputed=report.beyond,
        cost_micros=found.amount(report.quantity, disputed=report.beyond),
        reports=1,
        from_ms=report.from_ms,
        to_ms=report.to_ms,
        first_seq=report.seq,
        last_seq=report.seq,
    )


def _widened(line: SettledLine, other: SettledLine) -> SettledLine:
    return replace(
        line,
        from_ms=min(line.from_ms, other.from_ms),
        to_ms=max(line.to_ms, other.to_ms),
        first_seq=min(line.first_seq, other.first_seq),
        last_seq=max(line.last_seq, other.last_seq),
    )


def changed_settled(
    before: Iterable[SettledLine], fresh: Iterable[SettledLine]
) -> tuple[SettledLine, ...]:
    """The differences that make all lines before come to the fresh ones."""
    sums: dict[SettledKey, SettledLine] = {}
    for line in before:
        sums[line.key] = line.plus(sums[line.key]) if line.key in sums else line
    changes = []
    for line in fresh:
        known = sums.pop(line.key, None)
        changes.append(line if known is None else line.plus(known, -1))
    changes += [line.minus() for line in sums.values()]
    return tuple(each for each in changes if not each.is_nothing)
