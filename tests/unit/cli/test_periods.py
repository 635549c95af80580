"""Periods and money as they are typed: exact, in UTC, and refused with what is expected."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.cli.shared.periods import (
    MONEY_MAX,
    align_money,
    parse_money,
    parse_month,
    parse_period,
    parse_time,
    parse_until,
    spell_money,
    spell_period,
)
from bailiwick.vocab.errors import InvalidValue


@given(st.integers(0, MONEY_MAX))
def test_money_is_read_back_as_the_very_same_amount(micros: int) -> None:
    assert parse_money("LIMIT", spell_money(micros)) == micros
    assert parse_money("LIMIT", align_money(micros)) == micros


@given(st.integers(-MONEY_MAX, MONEY_MAX))
def test_a_column_of_money_lines_up(micros: int) -> None:
    whole, dot, part = align_money(micros).partition(".")
    assert (dot, len(part)) == (".", 6)
    assert int(whole.replace(",", "").lstrip("-")) == abs(micros) // 10**6


@pytest.mark.parametrize("text", ["", "-1", "1e3", "1.1234567", "1.", ".5", "99999999999", "1 0"])
def test_an_amount_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue, match="LIMIT"):
        parse_money("LIMIT", text)


@given(st.integers(1970, 9998), st.integers(1, 12))
def test_a_month_ends_where_the_next_begins(year: int, month: int) -> None:
    begin, end = parse_month("--month", f"{year:04}-{month:02}")
    after = (year + 1, 1) if month == 12 else (year, month + 1)
    assert 28 <= (end - begin) // 86_400_000 <= 31
    if after[0] < 9999:
        assert parse_month("--month", f"{after[0]:04}-{after[1]:02}")[0] == end
    assert begin == parse_time("--from", f"{year:04}-{month:02}-01")


def test_an_end_can_be_said_as_a_span_from_now() -> None:
    week = 7 * 86_400_000
    assert -1_000 <= parse_until("--until", "+7d") - parse_time("--from", "now") - week <= 1_000
    assert parse_until("--until", "2026-11-01") == parse_time("--from", "2026-11-01")
    assert abs(parse_until("--from", "5m") - parse_until("--from", "+5m")) <= 1_000
    for wrong in ("tomorrow", "7", "+d", "+7", "+-7d"):
        with pytest.raises(InvalidValue, match=r"\+7d for in a week"):
            parse_until("--until", wrong)


def test_times_are_utc_unless_they_say_otherwise() -> None:
    noon = parse_time("--from", "2026-11-01T12:00")
    assert noon == parse_time("--from", "2026-11-01T12:00:00Z")
    assert noon == parse_time("--from", "2026-11-01T13:00+01:00")
    assert 7_199_000 <= parse_time("--from", "now") - parse_time("--from", "-2h") <= 7_201_000
    for wrong in ("1969-12-31", "tomorrow", "-h", "2026-13-01"):
        with pytest.raises(InvalidValue, match="--from"):
            parse_time("--from", wrong)


def test_a_span_alone_is_so_long_ago_where_the_past_is_asked_about() -> None:
    begin, end = parse_period(None, since="2h", until="5m")
    assert begin is not None
    assert end is not None
    now = parse_time("--from", "now")
    assert 7_199_000 <= now - begin <= 7_202_000
    assert 299_000 <= now - end <= 302_000


def test_a_month_stands_alone() -> None:
    assert parse_period("1970-01", since=None, until=None) == (0, 31 * 86_400_000)
    assert parse_period(None, since=None, until=None) == (None, None)
    with pytest.raises(InvalidValue, match="not together"):
        parse_period("1970-01", since="now", until=None)


def test_a_period_is_told_as_short_as_can_be() -> None:
    day = 86_400_000
    assert spell_period(day, 2 * day) == "1970-01-02 to 1970-01-03"
    assert spell_period(day, None) == "from 1970-01-02 on"
    assert spell_period(0, 2**62) == f"until {2**62} ms"
