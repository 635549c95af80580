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
    """Units by the number of the meter's part that they belong to, and those of closed shares.

    What is free of a share may be no unit at all; a ghost, which counts for nothing, tells whose it
    would be and how far it is charged.
    """

    parts: dict[int, list[Unit]] = field(default_factory=dict)
    ghosts: dict[int, Unit] = field(default_factory=dict)
    closed: list[Unit] = field(default_factory=list)

    def open(self, part: int, share: Share, *, capacity: int, owner: Owner, at_ms: int) -> None:
        """All units of a new share; they are what is free of it."""
        self.parts[part] = [Unit(share, at_ms, owner) for _ in range(capacity)]
        self.ghosts[part] = Unit(share, at_ms, owner)

    def all_of(self, part: int) -> list[Unit]:
        """The units of a part, and its ghost."""
        ghosts = [self.ghosts[part]] if part in self.ghosts else []
        return self.parts[part] + ghosts

    def switch(self, part: int, owner: Owner, at_ms: int) -> None:
        """Each unit of the part."""
        for unit in self.all_of(part):
            unit.switch(owner, at_ms)

    def take(self, free: int, new: int, *, amount: int, owner: Owner, at_ms: int) -> None:
        """So many units of what is free are a part of their own, with another owner."""
        self.switch(free, self.ghosts[free].owner, at_ms)
        self.parts[new] = [self.parts[free].pop() for _ in range(amount)]
        self.switch(new, owner, at_ms)

    def give(self, part: int, free: int, at_ms: int) -> None:
        """The units of a part are free again, charged as far as the others are."""
        owner = self.ghosts[free].owner
        self.switch(part, owner, at_ms)
        both_ms = max(at_ms, *(unit.cursor_ms for unit in self.parts[part] + self.all_of(free)))
        self.parts[free] += self.parts.pop(part)
        self.switch(free, owner, both_ms)

    def close(self, share: Share, at_ms: int) -> None:
        """Every unit of the share is charged to the end, and there is no more of it."""
        gone = [n for n in self.parts if any(u.share == share for u in self.all_of(n))]
        end_ms = max(at_ms, *(unit.cursor_ms for n in gone for unit in self.all_of(n)))
        for unit in [unit for n in gone for unit in self.parts.pop(n)]:
            unit.switch(unit.owner, end_ms)
            self.closed.append(unit)
        for n in gone:
            self.ghosts.pop(n, None)

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
