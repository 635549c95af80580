"""How a policy's text spells time: lengths, times of the day, days of the week and dates; all UTC.

Rules:

- Each has one canonical spelling, which is what is written; a few more are read.
- What is read is exact: nothing is rounded, and a day that no calendar has is refused.
- A date alone is its first moment: what holds "until 2027-01-31" has ended when that day begins.

>>> read_span("90m"), spell_span(5_400_000)
(5400000, '90m')
>>> spell_moment(read_moment("2027-01-31") or 0), read_moment("2027-02-29")
('2027-01-31', None)
"""

from __future__ import annotations

import re
from typing import Final

from bailiwick.vocab.values import TERM_MAX_MS

SPAN_MS_MAX: Final = TERM_MAX_MS
"""The longest time that a rule may name: ten years."""

DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

_UNITS: Final = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000}
_DAY_MS: Final = 86_400_000
_MINUTE_MS: Final = 60_000
_SPAN: Final = re.compile(r"([1-9][0-9]{0,8})([smhd])")
_CLOCK: Final = re.compile(r"([0-9]{2}):([0-9]{2})")
_MOMENT: Final = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:T([0-9]{2}:[0-9]{2})Z?)?")
_MONTH_DAYS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_YEARS: Final = (1970, 9999)
MOMENT_MS_MAX: Final = 253_402_300_740_000
"""The last minute that can be spelled: of the year 9999."""


def read_span(text: str) -> int | None:
    """The milliseconds of a length such as ``10m``; nothing if it is not one."""
    found = _SPAN.fullmatch(text)
    if found is None:
        return None
    length_ms = int(found[1]) * _UNITS[found[2]]
    return length_ms if length_ms <= SPAN_MS_MAX else None


def spell_span(length_ms: int) -> str:
    """A length in the largest unit that it is a whole number of."""
    unit, size = next(
        ((unit, size) for unit, size in _UNITS.items() if length_ms % size == 0), ("s", 1_000)
    )
    return f"{length_ms // size}{unit}"


def read_clock(text: str) -> int | None:
    """The minute of the day of a time such as ``08:30``; ``24:00`` is the day's last moment."""
    found = _CLOCK.fullmatch(text)
    if found is None:
        return None
    hour, minute = int(found[1]), int(found[2])
    if (hour, minute) == (24, 0):
        return 0
    return hour * 60 + minute if hour < 24 and minute < 60 else None


def spell_clock(minute: int, *, is_end: bool = False) -> str:
    """A minute of the day; midnight at the end of a day is ``24:00``."""
    if is_end and minute == 0:
        return "24:00"
    return f"{minute // 60:02}:{minute % 60:02}"


def read_days(text: str) -> tuple[int, ...] | None:
    """A day, or days from one to another, which may go over the end of a week."""
    first, dash, last = text.partition("-")
    if first not in DAYS or (dash and last not in DAYS):
        return None
    begin, end = DAYS.index(first), DAYS.index(last) if dash else DAYS.index(first)
    return tuple((begin + step) % 7 for step in range((end - begin) % 7 + 1))


def spell_days(days: tuple[int, ...]) -> list[str]:
    """Days of the week, in their order; three or more in a row as one range."""
    runs: list[list[int]] = []
    for day in sorted(set(days)):
        if runs and runs[-1][-1] == day - 1:
            runs[-1].append(day)
        else:
            runs.append([day])
    spelled = []
    for run in runs:
        if len(run) > 2:
            spelled.append(f"{DAYS[run[0]]}-{DAYS[run[-1]]}")
        else:
            spelled += [DAYS[day] for day in run]
    return spelled


def read_moment(text: str) -> int | None:
    """The milliseconds since 1970 of ``2027-01-31`` or ``2027-01-31T18:00``."""
    found = _MOMENT.fullmatch(text)
    if found is None:
        return None
    year, month, day = int(found[1]), int(found[2]), int(found[3])
    if not _YEARS[0] <= year <= _YEARS[1] or not 1 <= month <= 12:
        return None
    if not 1 <= day <= _days_in(year, month):
        return None
    minute = read_clock(found[4]) if found[4] else 0
    if minute is None or found[4] == "24:00":
        return None
    days = _days_before(year) + sum(_days_in(year, each) for each in range(1, month)) + day - 1
    return days * _DAY_MS + minute * _MINUTE_MS


def spell_moment(at_ms: int) -> str:
    """A moment to the minute; at midnight the date alone."""
    days, rest_ms = divmod(at_ms, _DAY_MS)
    year = _YEARS[0] + days // 366  # not after the year that is meant
    while _days_before(year + 1) <= days:  # bounded: a year in 1461 days
        year += 1
    days -= _days_before(year)
    month = 1
    while days >= _days_in(year, month):  # bounded: twelve
        days, month = days - _days_in(year, month), month + 1
    date = f"{year:04}-{month:02}-{days + 1:02}"
    return f"{date}T{spell_clock(rest_ms // _MINUTE_MS)}Z" if rest_ms else date


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _days_in(year: int, month: int) -> int:
    return _MONTH_DAYS[month - 1] + (month == 2 and _is_leap(year))


def _days_before(year: int) -> int:
    """Days from 1970 to the first of the year."""
    last = year - 1
    return 365 * (year - 1970) + last // 4 - last // 100 + last // 400 - 477
