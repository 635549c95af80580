"""When a rule comes: the moments of its local times, by the table of its zone.

Rules:

- A local time that a change of clocks leaves out (02:30 in the night when 02:00 becomes 03:00) is
  the moment that 02:30 would have been without the change: 03:30 by the new time. So nothing is
  left out, and it begins neither earlier nor later after midnight than on any other day.
- A local time that comes twice is the first of both.
- It lasts as long in every night: the end is counted in elapsed time.
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

from bailiwick.calendars.rules import MINUTE_MS, YEARS, CalendarRule, Once
from bailiwick.vocab.errors import InvalidValue

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = timedelta(days=1)


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
            yield Occurrence(day, starts_ms, starts_ms + rule.span.length * MINUTE_MS)


def moment_of(day: date, minute: int, *, zone: ZoneInfo) -> int:
    """When it is that minute of the local day, in milliseconds since 1970 UTC."""
    local = datetime(day.year, day.month, day.day, minute // 60, minute % 60, tzinfo=zone)
    # fold is 0: the first of two; of none, counted by the clocks from before they changed.
    return (local.astimezone(UTC) - _EPOCH) // timedelta(milliseconds=1)


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
