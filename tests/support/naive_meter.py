"""Whose every tick of every single unit was, written down one by one: slow, and the meter's judge.

A share of capacity five is five units; each unit is a list that holds the owner of its every
millisecond. So a unit's tick cannot have two owners, and one without an owner would be missing from
the list. Nothing is multiplied and no sum is kept: what somebody used is counted, tick by tick.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from bailiwick.metering.owners import Leased, Owner, Payer
from bailiwick.metering.values import Share


@dataclass(eq=False)
class Unit:
    """One unit of a share: who owns it now, and who owned each tick since it was opened."""

    share: Share
    opened_ms: int
    owner: Owner
    ticks: list[Owner] = field(default_factory=list)

    @property
    def cursor_ms(self) -> int:
        """Up to when its ticks have owners."""
        return self.opened_ms + len(self.ticks)

    def switch(self, owner: Owner, at_ms: int) -> None:
        """Its ticks up to now were the old owner's; from now on they are the new one's."""
        while self.cursor_ms < at_ms:
            self.ticks.append(self.owner)
        self.owner = owner


@dataclass
class NaiveMeter:
    """Units by the number of the meter's part that they belong to, and those of closed shares."""

    parts: dict[int, list[Unit]] = field(default_factory=dict)
    closed: list[Unit] = field(default_factory=list)

    def open(self, part: int, share: Share, *, capacity: int, owner: Owner, at_ms: int) -> None:
        """All units of a new share."""
        self.parts[part] = [Unit(share, at_ms, owner) for _ in range(capacity)]

    def switch(self, part: int, owner: Owner, at_ms: int) -> None:
        """Each unit of the part."""
        for unit in self.parts[part]:
            unit.switch(owner, at_ms)

    def cut(self, part: int, new: int, amount: int) -> None:
        """So many units of a part are another part."""
        self.parts[new] = [self.parts[part].pop() for _ in range(amount)]

    def gather(self, into: int) -> None:
        """All parts of the share with this one's owner become this one, charged equally far."""
        share, owner = self.parts[into][0].share, self.parts[into][0].owner
        alike = [n for n, units in self.parts.items() if _is(units, share, owner)]
        units = [unit for number in alike for unit in self.parts.pop(number)]
        self.parts[into] = units
        self.switch(into, owner, max(unit.cursor_ms for unit in units))

    def close(self, share: Share, at_ms: int) -> None:
        """Every unit of the share is charged to the end, and there is no more of it."""
        gone = [n for n, units in self.parts.items() if units[0].share == share]
        units = [unit for n in gone for unit in self.parts.pop(n)]
        end_ms = max(at_ms, *(unit.cursor_ms for unit in units))
        for unit in units:
            unit.switch(unit.owner, end_ms)
        self.closed += units

    def units(self) -> list[Unit]:
        """Every unit there ever was."""
        return [*self.closed, *(unit for units in self.parts.values() for unit in units)]

    def ticks(self) -> Counter[tuple[Share, int, Owner]]:
        """Of each share, at each tick that is charged, how many units were whose."""
        return Counter(
            (unit.share, unit.opened_ms + number, owner)
            for unit in self.units()
            for number, owner in enumerate(unit.ticks)
        )

    def used(self, now_ms: int) -> Counter[tuple[Share, Payer]]:
        """Ticks of each payer, those that still run among them."""
        counted: Counter[tuple[Share, Payer]] = Counter()
        for unit in self.units():
            for owner in unit.ticks:
                counted[unit.share, payer_of(owner)] += 1
        for units in self.parts.values():
            for unit in units:
                counted[unit.share, payer_of(unit.owner)] += max(0, now_ms - unit.cursor_ms)
        return +counted


def payer_of(owner: Owner) -> Payer:
    """At whose cost an owner holds."""
    return owner.account if isinstance(owner, Leased) else owner


def _is(units: list[Unit], share: Share, owner: Owner) -> bool:
    return units[0].share == share and units[0].owner == owner
