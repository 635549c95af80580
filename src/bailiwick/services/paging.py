"""Pages of a list: rows by the order of their keys, and the cursor of what follows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def page_of(
    rows: Iterable[T], *, after: str | None, limit: int, key: Callable[[T], str]
) -> tuple[list[T], str | None]:
    """The rows of one page, by the order of their keys, and the cursor of the next.

    >>> page_of(["b", "c", "a"], after=None, limit=2, key=str)
    (['a', 'b'], 'b')
    >>> page_of(["b", "c", "a"], after="b", limit=2, key=str)
    (['c'], None)
    """
    found = sorted((row for row in rows if after is None or key(row) > after), key=key)
    kept = found[:limit]
    return kept, key(kept[-1]) if len(found) > limit else None
