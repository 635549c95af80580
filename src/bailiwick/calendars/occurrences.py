"""When a rule comes: the moments of its local times, by the table of its zone.

Rules:

- A local time that a change of clocks leaves out (02:30 in the night when 02:00 becomes 03:00) is
  the moment that 02:30 would have been without the change: 03:30 by the new time. So nothing is
  left out, and it begins neither earlier nor later after midnight than on any other day.
- A local time that comes twice is the first of both.
- It lasts as long in every night: the end is counted in elapsed time. But one that by the clocks
  on the wall is over when the next one begins is over by then on a day that is short, too: nodes
  that are booked round the clock are not booked for an hour of two days. One that is meant to last
  into the next does.
- A pure function of its arguments and the zone's table. Tables differ between machines and years,
  so what was found is written down by whoever acts on it, and is not counted out again.

>>> from bailiwick.calendars.language import parse_rule
>>> rule = parse_rule("weekly on sun at 02:30 for 1h in Europe/Berlin")
>>> day_ms, spring_ms = 86_400_000, 1_774_656_000_000  # 2026-03-28 00:00 UTC
>>> found = occurrences(rule, spring_ms, until_ms=spring_ms + 2 * day_ms)
>>> [each.starts_ms - spring_ms for each in found]
[91800000]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bailiwick.calendars.rules import DAY_MINUTES, LENGTH_MAX, MINUTE_MS, YEARS, CalendarRule, Once
from bailiwick.vocab.errors import InvalidValue

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = timedelta(days=1)
_NEXT_DAYS = LENGTH_MAX // DAY_MINUTES + 1
"""No time lasts for more days, even over a change of clocks by a whole one."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One time that a rule comes: of which local date, from when until when."""

    date: date
    starts_ms: int
    ends_ms: int


def zone_of(name: str) -> ZoneInfo:
    """The table of a zone; an unknown name is an error."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        hint = "the name of a time zone that this machine's tables have, like Europe/Berlin or UTC"
        raise InvalidValue("zone", name, hint) from None


def occurrences(rule: CalendarRule, from_ms: int, *, until_ms: int) -> Iterator[Occurrence]:
    """Those that start at or after the one time and before the other, in order."""
    zone = zone_of(rule.span.zone)
    for day in _days(rule, from_ms, until_ms):
        starts_ms = moment_of(day, rule.span.minute, zone=zone)
        if from_ms <= starts_ms < until_ms:
            yield Occurrence(day, starts_ms, _ends_ms(rule, day, starts_ms=starts_ms, zone=zone))


def moment_of(day: date, minute: int, *, zone: ZoneInfo) -> int:
    """When it is that minute of the local day, in milliseconds since 1970 UTC."""
    local = datetime(day.year, day.month, day.day, minute // 60, minute % 60, tzinfo=zone)
    # fold is 0: the first of two; of none, counted by the clocks from before they changed.
    return (local.astimezone(UTC) - _EPOCH) // timedelta(milliseconds=1)


def _ends_ms(rule: CalendarRule, day: date, *, starts_ms: int, zone: ZoneInfo) -> int:
    """When it is over: by when the next one begins, unless it is longer than the days between."""
    span = rule.span
    ends_ms = starts_ms + span.length * MINUTE_MS
    ahead = next((n for n in range(1, _NEXT_DAYS + 1) if rule.is_on(day + n * _DAY)), None)
    if ahead is None or span.length > ahead * DAY_MINUTES:
        return ends_ms
    next_ms = moment_of(day + ahead * _DAY, span.minute, zone=zone)
    # Both begin at once where a whole day is left out, as in Samoa in 2011: none is cut to nothing.
    return min(ends_ms, next_ms) if next_ms > starts_ms else ends_ms


def _days(rule: CalendarRule, from_ms: int, until_ms: int) -> Iterator[date]:
    """Local dates that may begin within, in order: a day more on either side than the times say."""
    if isinstance(rule, Once):
        yield rule.on
        return
    first, last = (_utc_date(at_ms) for at_ms in (from_ms, until_ms))
    day, last = first - 2 * _DAY, last + 2 * _DAY
    while day <= last and day.year in YEARS:
        if rule.is_on(day):
            yield day
        day += _DAY


def _utc_date(at_ms: int) -> date:
    return (_EPOCH + timedelta(milliseconds=at_ms)).date()
