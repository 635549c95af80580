"""A rule in plain words, and back.

Rules:

- ``daily``, ``weekly on DAYS``, ``monthly on WHICH DAY`` or ``once on DATE``, then ``at HH:MM for
  LENGTH in ZONE``. Words are told apart by spaces; capitals make no difference but in a zone.
- What is read is spelled back in one way, so the same rule is the same text.
- That a zone is one is not asked here: whoever counts out times needs its table.

>>> spell_rule(parse_rule("Weekly on sun,mon at 02:00 for 4h in Europe/Berlin"))
'weekly on mon,sun at 02:00 for 4h in Europe/Berlin'
>>> spell_rule(parse_rule("monthly on last fri at 22:30 for 90m in America/New_York"))
'monthly on last fri at 22:30 for 1h30m in America/New_York'
>>> spell_rule(parse_rule("once on 2026-12-24 at 20:00 for 12h in UTC"))
'once on 2026-12-24 at 20:00 for 12h in UTC'
"""

from __future__ import annotations

import re
from datetime import date
from typing import Final, assert_never

from bailiwick.calendars.rules import (
    DAY_MINUTES,
    WEEKDAYS,
    CalendarRule,
    LocalSpan,
    Monthly,
    Once,
    Weekly,
    Which,
)
from bailiwick.vocab.errors import InvalidValue

RULE_MAX: Final = 256
"""Characters of a rule in words."""

EXPECTED: Final = (
    "like 'weekly on sat,sun at 02:00 for 4h in Europe/Berlin', "
    "'monthly on 2nd tue at 22:30 for 90m in America/New_York', "
    "'daily at 04:00 for 30m in UTC' or 'once on 2026-12-24 at 20:00 for 12h in UTC'"
)

_RULE = re.compile(r"(daily|(?:weekly|monthly|once) on .+?) at (\S+) for (\S+) in (\S+)", re.I)
_TIME = re.compile(r"([01]\d|2[0-3]):([0-5]\d)", re.ASCII)
_LENGTH = re.compile(r"(?:(\d{1,3})d)?(?:(\d{1,4})h)?(?:(\d{1,6})m)?", re.ASCII | re.I)


def parse_rule(text: str) -> CalendarRule:
    """The rule that these words say."""
    if not isinstance(text, str) or len(text) > RULE_MAX:
        raise _refused(text)
    found = _RULE.fullmatch(" ".join(text.split()))
    if found is None:
        raise _refused(text)
    when, at, length, zone = found.groups()
    span = LocalSpan(_minute(at, text), _minutes(length, text), zone)
    word, _, rest = when.lower().partition(" on ")
    match word:
        case "daily":
            return Weekly(tuple(range(len(WEEKDAYS))), span)
        case "weekly":
            return Weekly(tuple(sorted({_day(each, text) for each in rest.split(",")})), span)
        case "monthly":
            which, _, day = rest.partition(" ")
            if which not in [*Which]:
                raise _refused(text)
            return Monthly(Which(which), _day(day, text), span)
        case _:
            return Once(_date(rest, text), span)


def spell_rule(rule: CalendarRule) -> str:
    """The one spelling of a rule."""
    match rule:
        case Weekly() if len(rule.days) == len(WEEKDAYS):
            when = "daily"
        case Weekly():
            when = "weekly on " + ",".join(WEEKDAYS[day] for day in rule.days)
        case Monthly():
            when = f"monthly on {rule.which} {WEEKDAYS[rule.day]}"
        case Once():
            when = f"once on {rule.on.isoformat()}"
        case _:
            assert_never(rule)
    hour, minute = divmod(rule.span.minute, 60)
    return f"{when} at {hour:02}:{minute:02} for {_spell_length(rule.span)} in {rule.span.zone}"


def _spell_length(span: LocalSpan) -> str:
    hours, minutes = divmod(span.length, 60)
    return (f"{hours}h" if hours else "") + (f"{minutes}m" if minutes else "")


def _minute(text: str, whole: str) -> int:
    found = _TIME.fullmatch(text)
    if found is None:
        raise _refused(whole)
    return int(found[1]) * 60 + int(found[2])


def _minutes(text: str, whole: str) -> int:
    found = _LENGTH.fullmatch(text)
    if found is None or not text:
        raise _refused(whole)
    days, hours, minutes = (int(each or 0) for each in found.groups())
    return days * DAY_MINUTES + hours * 60 + minutes


def _day(text: str, whole: str) -> int:
    if text.strip() not in WEEKDAYS:
        raise _refused(whole)
    return WEEKDAYS.index(text.strip())


def _date(text: str, whole: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise _refused(whole) from None


def _refused(text: object) -> InvalidValue:
    return InvalidValue("rule", text, EXPECTED)
