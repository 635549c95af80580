"""Periods and money as people type and read them.

Rules:

- A date or a time without a zone is UTC, as a calendar month of a bill is. ``-2h`` is two hours
  ago, and ``+7d`` is in seven days. A span alone is so far back where the past is asked about, and
  so far ahead where something is to come.
- Money is typed in units of the currency, with at most six decimals, and is never rounded.

>>> parse_money("LIMIT", "12.5"), spell_money(12_500_000), spell_money(-1_250)
(12500000, '12.50', '-0.00125')
>>> parse_month("--month", "2026-12") == (1_796_083_200_000, 1_798_761_600_000)
True
>>> spell_period(1_793_491_200_000, 1_796_083_200_000)
'2026-11-01 to 2026-12-01'
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

import typer

from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.units import parse_span

MONEY_MAX: Final = 2**53 - 1
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MONEY: Final = re.compile(r"([0-9]{1,10})(?:\.([0-9]{1,6}))?")
_MONTH: Final = re.compile(r"([0-9]{4})-(0[1-9]|1[0-2])")
_TIME: Final = "a time in UTC such as 2026-11-01 or 2026-11-01T12:00, -2h for two hours ago, or now"
_TIME_AHEAD: Final = "a time in UTC such as 2026-11-01 or 2026-11-01T12:00, +7d for in a week"

FromOption = Annotated[
    str | None, typer.Option("--from", metavar="TIME", help=f"Its begin: {_TIME}.")
]
ToOption = Annotated[
    str | None, typer.Option("--to", metavar="TIME", help="Its end, which is not in it.")
]
MonthOption = Annotated[
    str | None, typer.Option("--month", metavar="YYYY-MM", help="A calendar month, in UTC.")
]


def parse_time(name: str, text: str) -> int:
    """The millisecond that was meant."""
    from time import time

    if text == "now":
        return int(time() * 1000)
    if re.fullmatch(r"-[0-9].*(ms|d|h|m|s)", text):
        return int(time() * 1000) - parse_span(name, text[1:])
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidValue(name, text, _TIME) from None
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at
    found = (at - _EPOCH) // timedelta(milliseconds=1)
    if found < 0:
        raise InvalidValue(name, text, "a time after 1970")
    return found


def parse_until(name: str, text: str) -> int:
    """The same, where something is to come: ``+7d``, or ``7d``, is in seven days."""
    from time import time

    if re.fullmatch(r"\+?[0-9].*(ms|d|h|m|s)", text):
        return int(time() * 1000) + parse_span(name, text.removeprefix("+"))
    try:
        return parse_time(name, text)
    except InvalidValue:
        raise InvalidValue(name, text, _TIME_AHEAD) from None


def parse_since(name: str, text: str) -> int:
    """The same, where a span alone is so long ago: ``10m``."""
    is_span = re.fullmatch(r"[0-9].*(ms|d|h|m|s)", text) is not None
    return max(1, parse_time(name, f"-{text}" if is_span else text))


def parse_month(name: str, text: str) -> tuple[int, int]:
    """Begin and end of a calendar month, in UTC."""
    found = _MONTH.fullmatch(text)
    if found is None or not 1970 <= int(found[1]) < 9999:
        raise InvalidValue(name, text, "a month such as 2026-11")
    year, month = int(found[1]), int(found[2])
    begin = datetime(year, month, 1, tzinfo=UTC)
    end = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
    return _ms(begin), _ms(end)


def parse_period(
    month: str | None, *, since: str | None, until: str | None
) -> tuple[int | None, int | None]:
    """Begin and end as they were typed; what was not is left to the server."""
    if month is not None:
        if since is not None or until is not None:
            raise InvalidValue("--month", month, "not together with --from or --to")
        return parse_month("--month", month)
    begin = None if since is None else parse_since("--from", since)
    end = None if until is None else parse_since("--to", until)
    return begin, end


def spell_time(at_ms: int) -> str:
    """A time in UTC; a day has no time of day.

    >>> spell_time(0), spell_time(1_794_733_667_217)
    ('1970-01-01', '2026-11-15 09:07:47Z')
    """
    try:
        at = _EPOCH + timedelta(milliseconds=at_ms)
    except OverflowError:
        return f"{at_ms} ms"
    return at.isoformat(" ", "seconds").replace("+00:00", "Z").removesuffix(" 00:00:00Z")


def spell_period(from_ms: int, to_ms: int | None) -> str:
    """A period; one without an end is told so.

    >>> spell_period(0, None), spell_period(0, 86_400_000)
    ('always', 'until 1970-01-02')
    """
    if to_ms is None:
        return f"from {spell_time(from_ms)} on" if from_ms else "always"
    return (
        f"{spell_time(from_ms)} to {spell_time(to_ms)}" if from_ms else f"until {spell_time(to_ms)}"
    )


def parse_money(name: str, text: str) -> int:
    """Micros of an amount in units of the currency."""
    found = _MONEY.fullmatch(text.replace(",", ""))
    if found is None:
        raise InvalidValue(name, text, "an amount such as 5000 or 12.50, with at most six decimals")
    micros = int(found[1]) * 10**6 + int((found[2] or "0").ljust(6, "0"))
    if micros > MONEY_MAX:
        raise InvalidValue(name, text, f"at most {spell_money(MONEY_MAX)}")
    return micros


def spell_money(micros: int) -> str:
    """An amount with as many decimals as it needs, at least two."""
    whole, part = divmod(abs(micros), 10**6)
    decimals = f"{part:06}".rstrip("0").ljust(2, "0")
    return f"{'-' if micros < 0 else ''}{whole:,}.{decimals}"


def align_money(micros: int) -> str:
    """An amount with all of its decimals, so that a column of them lines up.

    >>> align_money(12_500_000)
    '12.500000'
    """
    whole, part = divmod(abs(micros), 10**6)
    return f"{'-' if micros < 0 else ''}{whole:,}.{part:06}"


def _ms(at: datetime) -> int:
    return (at - _EPOCH) // timedelta(milliseconds=1)
