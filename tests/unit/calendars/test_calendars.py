"""Rules in plain words, and the moments that they are when clocks change."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from bailiwick.calendars import Monthly, Once, Weekly, Which, occurrences, parse_rule, spell_rule
from bailiwick.calendars.rules import LocalSpan
from bailiwick.vocab.errors import InvalidValue

HOUR_MS = 3_600_000


def at(text: str) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


def told(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, tz=UTC).isoformat(timespec="minutes")[:16]


def starts(rule: str, first: str, last: str) -> list[str]:
    found = occurrences(parse_rule(rule), at(first), until_ms=at(last))
    return [told(each.starts_ms) for each in found]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (
            "weekly on sat,sun at 02:00 for 4h in Europe/Berlin",
            Weekly((5, 6), LocalSpan(120, 240, "Europe/Berlin")),
        ),
        (
            "monthly on 2nd tue at 22:30 for 1h30m in America/New_York",
            Monthly(Which.SECOND, 1, LocalSpan(1350, 90, "America/New_York")),
        ),
        (
            "once on 2026-12-24 at 20:00 for 12h in UTC",
            Once(date(2026, 12, 24), LocalSpan(1200, 720, "UTC")),
        ),
        ("daily at 04:00 for 30m in UTC", Weekly(tuple(range(7)), LocalSpan(240, 30, "UTC"))),
    ],
)
def test_a_rule_is_read_and_spelled_in_one_way(text: str, rule: object) -> None:
    assert parse_rule(text) == rule
    assert spell_rule(parse_rule(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "weekly at 02:00 for 4h in UTC",
        "weekly on someday at 02:00 for 4h in UTC",
        "weekly on mon at 24:00 for 4h in UTC",
        "weekly on mon at 02:00 for 0m in UTC",
        "weekly on mon at 02:00 for 15d in UTC",
        "weekly on mon at 02:00 for h in UTC",
        "weekly on mon at 02:00 for 4h",
        "monthly on 5th mon at 02:00 for 4h in UTC",
        "once on 2026-02-30 at 02:00 for 4h in UTC",
        "once on 0001-01-01 at 00:00 for 4h in Asia/Tokyo",
        "once on 9999-12-31 at 23:00 for 4h in America/New_York",
        "weekly on mon at 02:00 for 4h in UTC " + "x" * 300,
    ],
)
def test_what_is_no_rule_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InvalidValue):
        parse_rule(text)


@pytest.mark.parametrize("zone", ["Europe/Nowhere", "../../etc/passwd", "/etc/passwd", "x"])
def test_a_zone_that_no_table_has_is_refused_with_its_name(zone: str) -> None:
    rule = parse_rule(f"daily at 02:00 for 1h in {zone}")
    with pytest.raises(InvalidValue, match="zone"):
        list(occurrences(rule, 0, until_ms=HOUR_MS))


def test_a_local_time_that_the_spring_leaves_out_comes_an_hour_later_by_the_new_time() -> None:
    rule = "daily at 02:30 for 4h in Europe/Berlin"
    assert starts(rule, "2026-03-28", "2026-03-31") == [
        "2026-03-28T01:30",  # 02:30 in winter
        "2026-03-29T01:30",  # 03:30 in summer: there is no 02:30
        "2026-03-30T00:30",  # 02:30 in summer
    ]


def test_a_local_time_that_the_autumn_has_twice_is_the_first_of_both() -> None:
    rule = "daily at 02:30 for 4h in Europe/Berlin"
    assert starts(rule, "2026-10-24", "2026-10-27") == [
        "2026-10-24T00:30",
        "2026-10-25T00:30",
        "2026-10-26T01:30",
    ]


def test_four_hours_are_four_hours_in_a_night_when_clocks_change() -> None:
    rule = parse_rule("daily at 00:30 for 4h in America/New_York")
    found = [*occurrences(rule, at("2026-01-01"), until_ms=at("2027-01-01"))]
    assert len(found) == 365
    assert {each.ends_ms - each.starts_ms for each in found} == {4 * HOUR_MS}


@pytest.mark.parametrize(
    ("rule", "day", "hours"),
    [
        ("daily at 00:00 for 24h in Europe/Berlin", "2026-03-29", 23),
        ("daily at 00:00 for 24h in Europe/Berlin", "2026-10-25", 24),  # of 25
        ("daily at 02:30 for 24h in Europe/Berlin", "2026-03-28", 24),  # until 03:30, as it is
        ("daily at 02:30 for 24h in Europe/Berlin", "2026-03-29", 23),
        ("daily at 00:00 for 23h30m in Europe/Berlin", "2026-03-29", 23),
        ("daily at 00:00 for 22h in Europe/Berlin", "2026-03-29", 22),
        ("daily at 00:00 for 30h in Europe/Berlin", "2026-03-29", 30),
        ("weekly on sat,sun at 00:00 for 24h in Europe/Berlin", "2026-03-29", 24),
        ("weekly on sun at 00:00 for 7d in Europe/Berlin", "2026-03-29", 7 * 24 - 1),
        ("weekly on sat,sun at 00:00 for 2d in Europe/Berlin", "2026-03-28", 48),
        ("once on 2026-03-29 at 00:00 for 24h in Europe/Berlin", "2026-03-29", 24),
    ],
)
def test_what_is_over_when_the_next_one_begins_is_over_by_then_on_a_short_day_too(
    rule: str, day: str, hours: int
) -> None:
    found = occurrences(parse_rule(rule), at(day) - 12 * HOUR_MS, until_ms=at(day) + 12 * HOUR_MS)
    (one,) = [each for each in found if each.date == date.fromisoformat(day)]
    assert one.ends_ms - one.starts_ms == hours * HOUR_MS


def test_a_month_has_the_weekday_that_is_asked_for_and_its_last_one() -> None:
    second = "monthly on 2nd tue at 12:00 for 1h in UTC"
    assert starts(second, "2026-11-01", "2027-02-01") == [
        *("2026-11-10T12:00", "2026-12-08T12:00", "2027-01-12T12:00")
    ]
    last = "monthly on last thu at 12:00 for 1h in UTC"
    assert starts(last, "2026-12-01", "2027-03-01") == [
        *("2026-12-31T12:00", "2027-01-28T12:00", "2027-02-25T12:00")
    ]


def test_once_comes_once_and_not_before_it_is_asked_for() -> None:
    rule = "once on 2026-12-24 at 20:00 for 12h in UTC"
    assert starts(rule, "2026-12-01", "2027-12-31") == ["2026-12-24T20:00"]
    assert starts(rule, "2026-12-24T20:01", "2027-12-31") == []


def test_the_last_day_that_can_be_asked_for_is_counted_out_in_every_zone() -> None:
    for zone in ("America/New_York", "Pacific/Kiritimati"):
        rule = f"once on 8999-12-31 at 23:59 for 14d in {zone}"
        assert starts(rule, "2026-01-01", "2027-01-01") == []
