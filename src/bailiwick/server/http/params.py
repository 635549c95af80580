"""Parameters that many handlers share: names in the path, cursors, pages, ``If-Match``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final, TypeVar

from fastapi import Header, Path, Query

from bailiwick.services.pages import Rows
from bailiwick.vocab.errors import InvalidValue
from bailiwick.wire.base import (
    INTEGER_MAX,
    LABEL_PATTERN,
    NAME_PATTERN,
    PRINCIPAL_PATTERN,
    Page,
)

SELECTED_MAX: Final = 16
"""Labels that may be asked for at once."""

T = TypeVar("T")
R = TypeVar("R")

PathName = Annotated[str, Path(pattern=NAME_PATTERN)]
PathNumber = Annotated[int, Path(ge=1, le=INTEGER_MAX)]
PathSeq = Annotated[int, Path(ge=0, le=INTEGER_MAX)]
OnNode = Annotated[str | None, Query(pattern=NAME_PATTERN, description="Only on this node.")]
OfTenant = Annotated[
    str | None, Query(pattern=NAME_PATTERN, description="Only of this tenant and its projects.")
]
Limit = Annotated[int, Query(ge=1, le=500, description="Rows on one page, at most.")]
ShortLimit = Annotated[int, Query(ge=1, le=50, description="Rows on one page, at most.")]
NameCursor = Annotated[
    str | None, Query(pattern=PRINCIPAL_PATTERN, description="`next` of the page before.")
]
NumberCursor = Annotated[
    str | None, Query(pattern="^[0-9]{1,15}$", description="`next` of the page before.")
]
RowCursor = Annotated[
    str | None,
    Query(pattern="^[A-Za-z0-9._@/-]{1,256}$", description="`next` of the page before."),
]
WithLabels = Annotated[
    list[Annotated[str, Query(pattern=LABEL_PATTERN)]] | None,
    Query(max_length=SELECTED_MAX, description="Only with this label, `KEY=VALUE`; repeat it."),
]
IfMatch = Annotated[
    str | None,
    Header(
        alias="If-Match",
        pattern='^"[1-9][0-9]{0,14}"$',
        description="The `ETag` that was read; if it has moved on since, the answer is 412.",
    ),
]

IfMatchVersion = Annotated[
    str | None,
    Header(
        alias="If-Match",
        pattern='^"(0|[1-9][0-9]{0,14})"$',
        description="The `ETag` that was read; if it has moved on since, the answer is 412.",
    ),
]

IfMatchDigest = Annotated[
    str | None,
    Header(
        alias="If-Match",
        pattern='^"[0-9a-f]{64}"$',
        description="The `ETag` that was read; if it has moved on since, the answer is 412.",
    ),
]

IfNoneMatch = Annotated[
    str | None,
    Header(
        alias="If-None-Match",
        max_length=200,
        description="The `ETag` that was read; if it is still so, the answer is 304.",
    ),
]


def selected(labels: list[str] | None) -> dict[str, str]:
    """The labels that are asked for, by key; no node has two of one key.

    >>> selected(["rack=r7", "pool=fast"])
    {'rack': 'r7', 'pool': 'fast'}
    """
    pairs = {tuple(each.split("=", 1)) for each in labels or ()}
    told = dict(each.split("=", 1) for each in labels or ())
    if len(told) < len(pairs):
        raise InvalidValue("label", sorted(labels or ()), "each key with one value")
    return told


def digest_in(if_match: str | None) -> str | None:
    """The digest that an ``If-Match`` names."""
    return None if if_match is None else if_match.strip('"')


def revision_of(if_match: str | None) -> int | None:
    """The revision that an ``If-Match`` names."""
    return None if if_match is None else int(if_match.strip('"'))


FromMs = Annotated[
    int | None,
    Query(ge=0, le=INTEGER_MAX, description="Begin of the period; else the month's, in UTC."),
]
ToMs = Annotated[
    int | None,
    Query(ge=1, le=INTEGER_MAX, description="End of the period; else now, which is the latest."),
]


def number_in(cursor: str | None) -> int | None:
    """The number that a cursor names."""
    return None if cursor is None else int(cursor)


def spell_page(rows: Rows[T], spell: Callable[[T], R]) -> Page[R]:
    """A page as it is answered."""
    found, cursor = rows
    return Page(items=[spell(row) for row in found], next=cursor)
