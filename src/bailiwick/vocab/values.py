"""Plain values: validated names, amounts and the checks that guard them.

Rules:

- A name is 1 to 63 characters of letters, digits, ``.``, ``_``, ``-`` and starts with a letter
  or digit, so that it can stand in a URL, a metric label and a file name unescaped.
- An amount is a non-negative integer below 2**62: sums of two never leave 64 bits.
- ``bool`` is not an integer here, a float is one only where a rule says so.

>>> TenantId("team-alpha")
TenantId('team-alpha')
>>> check_amount("mem_bytes", -1)  # doctest: +ELLIPSIS
Traceback (most recent call last):
...
bailiwick.vocab.errors.InvalidValue: mem_bytes: expected an integer from 0 to ..., got -1
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import isfinite
from typing import Self, TypeVar

from bailiwick.vocab.errors import InvalidValue

AMOUNT_MAX = 2**62 - 1
"""Largest amount of anything: bytes, milli-shares, milliseconds."""

KIB, MIB, GIB, TIB = 2**10, 2**20, 2**30, 2**40
GB = 10**9

MILLI = 1000
"""Milli-shares in one GPU device, and milli-cores in one CPU core."""

TTL_DEFAULT_MS = 3_600_000
"""The term of a lease of which none was asked for."""

NOTE_CHARS_MAX = 240
NOTE_TTL_MAX_MS = 366 * 86_400_000
TERM_MAX_MS = 3_653 * 86_400_000
"""The longest term that anybody may be given: ten years."""

AHEAD_DAYS_MAX = 366
"""How far ahead anything is planned."""

WAITING_MAX = 10**7
"""Requests that may wait at a time: as many as any queue may hold."""

SHARE_MAX = 1_000_000
"""The largest share of a tenant or project, and the scale by which usage is weighed against it."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}\Z")


class _Name(str):
    """A validated short string; equal to, and usable as, the plain string."""

    __slots__ = ()

    def __new__(cls, value: str) -> Self:
        check_name(cls.__name__, value)
        return super().__new__(cls, value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class TenantId(_Name):
    """A tenant: who pays, and the outer boundary of quota."""

    __slots__ = ()


class ProjectId(_Name):
    """A project inside a tenant: the inner boundary of quota."""

    __slots__ = ()


class AccountingTag(_Name):
    """A tenant's own word for what a lease was for; roll-ups group by it."""

    __slots__ = ()


class NodeId(_Name):
    """A machine of the fleet."""

    __slots__ = ()


class CellId(_Name):
    """One ledger of a federation."""

    __slots__ = ()


def check_name(field: str, value: object) -> str:
    """The value if it is a well-formed short name."""
    if not isinstance(value, str) or not _NAME.match(value):
        raise InvalidValue(
            field,
            value,
            "1 to 63 letters, digits, '.', '_' or '-', starting with a letter or digit",
        )
    return value


def check_integer(field: str, value: object, *, low: int, high: int) -> int:
    """The value if it is a real integer (not a bool) within the bounds."""
    if type(value) is not int or not low <= value <= high:
        raise InvalidValue(field, value, f"an integer from {low} to {high}")
    return value


def check_ahead(field: str, at_ms: int, *, now_ms: int) -> None:
    """What is planned begins later than now, and at most :data:`AHEAD_DAYS_MAX` days from now."""
    latest_ms = now_ms + AHEAD_DAYS_MAX * 86_400_000
    if at_ms <= now_ms:
        error = InvalidValue(field, at_ms, f"later than now, which is {now_ms}")
        raise error.with_times(starts_ms=at_ms, now_ms=now_ms)
    if at_ms > latest_ms:
        expected = f"at most {AHEAD_DAYS_MAX} days from now, which is {latest_ms}"
        raise InvalidValue(field, at_ms, expected).with_times(starts_ms=at_ms, latest_ms=latest_ms)


def check_amount(field: str, value: object) -> int:
    """The value if it is a non-negative integer that sums safely."""
    return check_integer(field, value, low=0, high=AMOUNT_MAX)


def check_cores(field: str, value: object) -> int:
    """CPU cores (a whole number, or a float with at most three decimals) as milli-cores."""
    if type(value) is int:
        return check_integer(field, value, low=0, high=10**6) * MILLI
    if type(value) is float and isfinite(value) and 0 <= value <= 10**6:
        milli = round(value * MILLI)
        if abs(milli - value * MILLI) < 1e-6:
            return milli
    raise InvalidValue(field, value, "0 to 1000000 cores with at most three decimals")


def check_finite(field: str, value: object, *, low: float, high: float) -> float:
    """The value as a float if it is a finite number within the bounds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidValue(field, value, f"a number from {low} to {high}")
    if not low <= value <= high or not isfinite(value):
        raise InvalidValue(field, value, f"a finite number from {low} to {high}")
    return float(value)


T = TypeVar("T")


def check_kind(field: str, value: object, kind: type[T]) -> T:
    """The value if it is an instance of the kind."""
    if not isinstance(value, kind):
        raise InvalidValue(field, value, f"a {kind.__name__}")
    return value


def check_unique(field: str, values: Iterable[T]) -> tuple[T, ...]:
    """The values as a tuple if no two are equal."""
    kept = tuple(values)
    seen: set[T] = set()
    for value in kept:
        if value in seen:
            raise InvalidValue(field, value, "each value at most once")
        seen.add(value)
    return kept
