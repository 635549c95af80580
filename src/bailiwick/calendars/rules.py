"""When something comes back: on days of the week, on one weekday of the month, or once.

Rules:

- A rule says a local time, in a zone by its name, and how long from there.
- How long is elapsed time: four hours are four hours in a night when clocks change, too. What is
  round the clock is no longer than its days are, or there would be two of it for an hour.
- No rule comes more often than once a day, so an occurrence is known by its local date.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Final, TypeAlias

from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_integer

MINUTE_MS: Final = 60_000
DAY_MINUTES: Final = 24 * 60
LENGTH_MAX: Final = 14 * DAY_MINUTES
"""Minutes that one occurrence may last."""

YEARS: Final = range(1970, 9000)
"""Years in which something comes: near the last that there is, a zone's time is no date any more.
"""

ZONE_MAX: Final = 64
"""Characters of a zone's name."""

WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
"""The days of the week, in the order in which :mod:`datetime` counts them."""


class Which(StrEnum):
    """Which of the month's days of one name."""

    FIRST = "1st"
    SECOND = "2nd"
    THIRD = "3rd"
    FOURTH = "4th"
    LAST = "last"


@dataclass(frozen=True, slots=True)
class LocalSpan:
    """A local time of a day, and how many minutes from there, by the clocks of a zone."""

    minute: int
    """Of the day: 0 is midnight."""
    length: int
    zone: str

    def __post_init__(self) -> None:
        check_integer("at", self.minute, low=0, high=DAY_MINUTES - 1)
        check_integer("for", self.length, low=1, high=LENGTH_MAX)
        if not isinstance(self.zone, str) or not 0 < len(self.zone) <= ZONE_MAX:
            raise InvalidValue("zone", self.zone, "the name of a time zone, like Europe/Berlin")


@dataclass(frozen=True, slots=True)
class Weekly:
    """On these days of every week."""

    days: tuple[int, ...]
    """Of :data:`WEEKDAYS`, in order."""
    span: LocalSpan

    def __post_init__(self) -> None:
        known = range(len(WEEKDAYS))
        if not self.days or list(self.days) != sorted({*self.days}) or self.days[-1] not in known:
            raise InvalidValue("days", self.days, "days of the week, each once and in order")

    def is_on(self, day: date) -> bool:
        """Whether that day is one of them."""
        return day.weekday() in self.days


@dataclass(frozen=True, slots=True)
class Monthly:
    """On the first, second, third, fourth or last day of that name in every month."""

    which: Which
    day: int
    span: LocalSpan

    def __post_init__(self) -> None:
        check_integer("day", self.day, low=0, high=len(WEEKDAYS) - 1)

    def is_on(self, day: date) -> bool:
        """Whether that day is the one of its month."""
        if day.weekday() != self.day:
            return False
        if self.which is Which.LAST:
            return day.toordinal() + 7 > _last_of_month(day).toordinal()
        return (day.day - 1) // 7 == [*Which].index(self.which)


@dataclass(frozen=True, slots=True)
class Once:
    """On that day alone."""

    on: date
    span: LocalSpan

    def __post_init__(self) -> None:
        if self.on.year not in YEARS:
            raise InvalidValue("on", self.on, f"a date from {YEARS.start} to {YEARS.stop - 1}")

    def is_on(self, day: date) -> bool:
        """Whether it is that day."""
        return day == self.on


CalendarRule: TypeAlias = Weekly | Monthly | Once


def _last_of_month(day: date) -> date:
    year, month = divmod(day.year * 12 + day.month, 12)
    return date.fromordinal(date(year, month + 1, 1).toordinal() - 1)
