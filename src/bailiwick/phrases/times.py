"""Moments on this machine's clock, and how far away they are."""

from __future__ import annotations

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


def told_time(at_ms: int) -> str:
    """A time for a person, in UTC."""
    from datetime import UTC, datetime, timedelta

    try:
        when = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at_ms)
    except OverflowError:
        return f"{at_ms} ms"
    return when.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
