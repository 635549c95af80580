"""When a rule comes, against a clock on the wall that is looked at every minute."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from hypothesis import example, given, settings
from hypothesis import strategies as st

from bailiwick.calendars import CalendarRule, Monthly, Occurrence, Once, Weekly, Which, occurrences
from bailiwick.calendars.rules import LocalSpan

ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",  # half an hour
    "Africa/Casablanca",  # by the moon
    "Asia/Kolkata",  # none
    "Pacific/Apia",  # left a whole day out in 2011
    "Asia/Beirut",  # at midnight: in autumn 23:00 comes twice, on the day before
    "America/Havana",  # at midnight: in autumn that comes twice itself
    "UTC",
)
CHANGES = ("2026-03-08", "2026-03-29", "2026-04-05", "2026-10-04", "2026-10-25", "2026-11-01")
MINUTE = timedelta(minutes=1)
days = st.one_of(
    st.sampled_from([date.fromisoformat(each) for each in (*CHANGES, "2011-12-30")]),
    st.dates(date(2010, 1, 1), date(2035, 12, 31)),
)
spans = st.builds(
    LocalSpan,
    st.one_of(st.integers(0, 1439), st.integers(90, 190)),
    st.one_of(st.integers(1, 14 * 1440), st.integers(1, 14).map(lambda each: each * 1440)),
    st.sampled_from(ZONES),
)
rules = st.one_of(
    st.builds(
        lambda on, span: Weekly(tuple(sorted(on)), span),
        st.sets(st.integers(0, 6), min_size=1),
        spans,
    ),
    st.builds(Monthly, st.sampled_from(Which), st.integers(0, 6), spans),
    st.builds(Once, days, spans),
)


def is_day(rule: CalendarRule, day: date) -> bool:
    """Whether the rule comes on a day, by counting the days of its month."""
    match rule:
        case Weekly():
            return day.weekday() in rule.days
        case Once():
            return day == rule.on
        case Monthly():
            month = [day.replace(day=1) + timedelta(days=n) for n in range(31)]
            like = [d for d in month if d.month == day.month and d.weekday() == rule.day]
            at = -1 if rule.which is Which.LAST else [*Which].index(rule.which)
            return day == like[at]


def naive(rule: CalendarRule, first: datetime, last: datetime) -> list[Occurrence]:
    """Look at the clock of the zone every minute, from two days before.

    What has begun is over after its time, or when another begins that on the wall comes no earlier
    than it should be over.
    """
    came = walk(rule, first, last + timedelta(minutes=rule.span.length))
    found = []
    for wanted, starts in came:
        over = wanted + timedelta(minutes=rule.span.length)
        ends = starts + timedelta(minutes=rule.span.length)
        later = [other for other, _ in came if other > wanted]
        if all(other >= over for other in later):
            ends = min([ends, *(moment for _, moment in came if moment > starts)])
        if first <= starts < last:
            times = (round(each.timestamp() * 1000) for each in (starts, ends))
            found.append(Occurrence(wanted.date(), *times))
    return found


def walk(rule: CalendarRule, first: datetime, last: datetime) -> list[tuple[datetime, datetime]]:
    """What the clock shows when the rule comes, and when that is, a day and more on either side."""
    zone, found = ZoneInfo(rule.span.zone), []
    now, walked = first - timedelta(days=2), []
    while now <= last + timedelta(days=2):
        walked.append((now, now.astimezone(zone).replace(tzinfo=None)))
        now += MINUTE
    day = walked[0][1].date()
    while day <= walked[-1][1].date():
        wanted = datetime(day.year, day.month, day.day) + timedelta(minutes=rule.span.minute)
        day += timedelta(days=1)
        if not is_day(rule, wanted.date()) or not walked[0][1] <= wanted <= walked[-1][1]:
            continue
        shown = [moment for moment, local in walked if local == wanted]
        if shown:
            starts = shown[0]
        else:  # the last minute before it was passed over, and on from there as clocks went
            moment, local = [row for row in walked if row[1] < wanted][-1]
            later = next(row for row in walked if row[1] > wanted)
            if later[0] < moment:
                moment, local = walked[walked.index(later) - 1]
            starts = moment + (wanted - local)
        found.append((wanted, starts))
    return found


@settings(max_examples=60)
@given(rules, days, st.integers(0, 1439), st.integers(1, 3 * 1440))
@example(Once(date(2026, 3, 29), LocalSpan(150, 60, "Europe/Berlin")), date(2026, 3, 28), 0, 4320)
@example(
    Once(date(2026, 4, 5), LocalSpan(105, 60, "Australia/Lord_Howe")), date(2026, 4, 4), 0, 4320
)
@example(
    Once(date(2026, 10, 4), LocalSpan(135, 9, "Australia/Lord_Howe")), date(2026, 10, 3), 0, 4320
)
@example(Once(date(2026, 3, 29), LocalSpan(30, 60, "Asia/Beirut")), date(2026, 3, 28), 0, 4320)
@example(Once(date(2026, 10, 24), LocalSpan(1410, 9, "Asia/Beirut")), date(2026, 10, 23), 0, 4320)
@example(Once(date(2026, 10, 25), LocalSpan(0, 60, "Asia/Beirut")), date(2026, 10, 24), 0, 4320)
@example(Once(date(2026, 3, 8), LocalSpan(0, 60, "America/Havana")), date(2026, 3, 7), 0, 4320)
@example(Once(date(2026, 11, 1), LocalSpan(0, 60, "America/Havana")), date(2026, 10, 31), 0, 4320)
@example(Once(date(2028, 2, 29), LocalSpan(0, 60, "UTC")), date(2028, 2, 28), 0, 4320)
@example(Monthly(Which.LAST, 1, LocalSpan(30, 60, "Asia/Beirut")), date(2028, 2, 28), 0, 4320)
@example(Once(date(2011, 12, 30), LocalSpan(720, 60, "Pacific/Apia")), date(2011, 12, 29), 0, 4320)
@example(Weekly(tuple(range(7)), LocalSpan(0, 1440, "Europe/Berlin")), date(2026, 3, 27), 0, 4320)
@example(Weekly(tuple(range(7)), LocalSpan(0, 1440, "Europe/Berlin")), date(2026, 10, 24), 0, 4320)
@example(Weekly(tuple(range(7)), LocalSpan(150, 1410, "Europe/Berlin")), date(2026, 3, 27), 0, 4320)
@example(Weekly(tuple(range(7)), LocalSpan(0, 1800, "Europe/Berlin")), date(2026, 3, 27), 0, 4320)
@example(Weekly(tuple(range(7)), LocalSpan(720, 1440, "Pacific/Apia")), date(2011, 12, 28), 0, 4320)
@example(Weekly((6,), LocalSpan(135, 7 * 1440, "Australia/Lord_Howe")), date(2026, 9, 27), 0, 1440)
def test_a_rule_comes_when_a_clock_on_the_wall_shows_its_time(
    rule: CalendarRule, day: date, minute: int, length: int
) -> None:
    first = datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(minutes=minute)
    last = first + timedelta(minutes=length)
    from_ms, until_ms = (round(each.timestamp() * 1000) for each in (first, last))
    assert [*occurrences(rule, from_ms, until_ms=until_ms)] == naive(rule, first, last)


@given(rules, days, st.lists(st.integers(0, 60), max_size=4))
def test_what_comes_within_parts_of_a_time_comes_within_all_of_it_once(
    rule: CalendarRule, day: date, cuts: list[int]
) -> None:
    start_ms = round(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() * 1000)
    edges = [start_ms + cut * 86_400_000 for cut in sorted({0, *cuts, 61})]
    parts = [each for a, b in pairwise(edges) for each in occurrences(rule, a, until_ms=b)]
    assert parts == [*occurrences(rule, edges[0], until_ms=edges[-1])]
    assert len({each.date for each in parts}) == len(parts)
