"""Pages of a list: some rows, and the cursor after which the rest follows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias, TypeVar

T = TypeVar("T")

Rows: TypeAlias = tuple[list[T], str | None]
"""The rows of one page, and the cursor of the next."""


def page_of(
    rows: Iterable[T], *, after: str | None, limit: int, key: Callable[[T], str]
) -> Rows[T]:
    """The rows of one page, by the order of their keys, and the cursor of the next."""
    found = sorted((row for row in rows if after is None or key(row) > after), key=key)
    kept = found[:limit]
    return kept, key(kept[-1]) if len(found) > limit else None


def cut(rows: list[T], limit: int, *, key: Callable[[T], int]) -> Rows[T]:
    """A page of rows of which one more than ``limit`` was read, to see whether there is more."""
    return rows[:limit], str(key(rows[limit - 1])) if len(rows) > limit else None
