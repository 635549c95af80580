"""Moments on this machine's clock, and how far away they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from bailiwick.phrases.amounts import span


def moment(at_ms: int, *, now_ms: int | None = None) -> str:
    """A moment on this machine's clock, and how far away it is from ``now_ms``, else from now."""
    from time import time

    away = at_ms - (int(time() * 1000) if now_ms is None else now_ms)
    return f"{clock(at_ms)} ({'in ' + span(away) if away >= 0 else span(-away) + ' ago'})"


def clock(at_ms: int | None) -> str:
    """Date and time of day on this machine's clock, to the second, with its distance from UTC."""
    from datetime import UTC, datetime

    if at_ms is None:
        return "-"
    try:
        at = datetime.fromtimestamp(at_ms / 1000, UTC).astimezone()
    except (OverflowError, ValueError, OSError):
        return f"{at_ms} ms"
    return at.isoformat(" ", "seconds").replace("+00:00", "Z")


def age(since_ms: int | None) -> str:
    """How long ago, in its two largest units."""
    from time import time

    return "-" if since_ms is None else span(max(0, int(time()) * 1000 - since_ms))


def utc(at_ms: int) -> str:
    """Date and time of day in UTC, to the second.

    >>> utc(1_795_510_800_000)
    '2026-11-24 09:00:00Z'
    """
    told = told_time(at_ms)
    return told if told.endswith("ms") else f"{told[:-4]}Z"


def with_dates(text: str, times_ms: Iterable[int]) -> str:
    """A text that tells these points in time as milliseconds, with dates in UTC instead.

    >>> with_dates("later than now, which is 1795510800000", [1_795_510_800_000])
    'later than now, which is 2026-11-24 09:00:00Z'
    """
    for at_ms in times_ms:
        text = re.sub(rf"(?<!\d){at_ms}(?!\d)", utc(at_ms), text)
    return text


def with_own_dates(text: str, details: Mapping[str, object]) -> str:
    """What a server told with dates in UTC, with those on this machine's clock instead."""
    for name, at_ms in details.items():
        if name.endswith("_ms") and isinstance(at_ms, int):
            text = text.replace(utc(at_ms), clock(at_ms))
    return text


def told_time(at_ms: int) -> str:
    """A time for a person, in UTC."""
    from datetime import UTC, datetime, timedelta

    try:
        when = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at_ms)
    except OverflowError:
        return f"{at_ms} ms"
    return when.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
