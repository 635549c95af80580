"""Cells on the wire: those of a home, requests to all of them, and what home and cell write.

Rules:

- A letter and its reply are bounded, and read as strictly as anything from a stranger.
- An offer is one of a closed union, told apart by ``offer``.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from bailiwick.vocab.cells import CellStanding, GlobalStatus, TakingStatus
from bailiwick.vocab.words import LeaseClass, PendingReason, Priority
from bailiwick.wire.answers import Done
from bailiwick.wire.base import INTEGER_MAX, Amount, Model, Name, Number, Within
from bailiwick.wire.work import LeaseRequest

ORDERS_MAX = 256
NEWS_MAX = 8192
"""What one record of a cell tells is told in one reply, however much that is."""
LEASES_MAX = 256
"""Of one request; a gang that goes to a cell has no more members."""

_Reason = Annotated[PendingReason, Field(strict=False)]
_Place = Annotated[int, Within(-1, INTEGER_MAX)]


class CellJoin(Model):
    """A plane that is to be a cell of this one, and where it is reached."""

    cell: Name
    url: Annotated[str, Field(min_length=1, max_length=255, pattern="^[!-~]+$")]


class CellLeave(Model):
    """How a cell is parted with; ``lost``: whatever it had, nobody waits for its word."""

    lost: bool = False


class CellShown(Model):
    """A cell, as its home knows it.

    ``heard_ms`` is when the leader last had a reply, and ``trouble`` why it has none now; a leader
    that has just begun knows neither.
    """

    cell: str
    url: str
    standing: Annotated[CellStanding, Field(strict=False)]
    epoch: int
    requests: int
    """Requests that it has, or may have."""
    heard_ms: int | None
    trouble: str | None
    free_gpu_milli: int | None
    free_cpu_milli: int | None


class AskedEverywhere(Done):
    """The request is sealed under this number; it goes to a cell by itself."""

    global_id: int | None


class GlobalShown(Model):
    """A request to the whole fleet that is not over.

    ``leases`` are those that it has in its cell, by that cell's numbers; ``waits_for`` is what the
    cells said of it last, while it is in none.
    """

    global_id: int
    tenant: str
    project: str | None
    status: Annotated[GlobalStatus, Field(strict=False)]
    cell: str | None
    leases: list[int]
    asked_ms: int
    cpu_milli: int
    mem_bytes: int
    gpu_count: int
    gpu_milli: int
    gang_size: int
    ttl_ms: int
    priority: Annotated[Priority, Field(strict=False)]
    lease_class: Annotated[LeaseClass, Field(strict=False)]
    waits_for: _Reason | None


class HomeShown(Model):
    """The plane whose cell this one is, and how much it has here."""

    home: str
    epoch: int
    done: int
    """Orders that were carried out."""
    held: int
    """Its requests that wait or run here."""


# -- what home and cell write ----------------------------------------------------------------


class LetterOrder(Model):
    """One thing to do: take a request, or (left out) give back the one of that number.

    ``unbegun``: only if it waits there, and nobody leaves for it.
    """

    number: Number
    global_id: Number
    request: LeaseRequest | None = None
    waits: bool = False
    unbegun: bool = False


class HomeLetter(Model):
    """From a home to its cell; ``heard`` is how much of the cell's journal it knows."""

    home: Name
    epoch: Number
    not_after_ms: Amount = 0
    orders: Annotated[list[LetterOrder], Field(max_length=ORDERS_MAX)] = Field(default_factory=list)
    heard: _Place = -1


class LetterNews(Model):
    """What became of a request in its cell, by which record of the cell's journal."""

    global_id: Number
    number: Number
    status: Annotated[TakingStatus, Field(strict=False)]
    seq: Amount
    leases: Annotated[list[Number], Field(max_length=LEASES_MAX)] = Field(default_factory=list)


class LetterReply(Model):
    """From a cell to its home: how far it is, what is new, and what is free.

    ``held`` is how many of its requests wait or run there, and ``left`` how much that is new did
    not go into this reply.
    """

    epoch: Amount
    now_ms: Amount
    done: Amount
    news: Annotated[list[LetterNews], Field(max_length=NEWS_MAX)] = Field(default_factory=list)
    free_gpu_milli: Amount = 0
    free_cpu_milli: Amount = 0
    held: Amount
    left: Amount


class OfferStart(Model):
    """It would run there at once."""

    offer: Literal["can_start"]
    free_gpu_milli: Amount
    free_cpu_milli: Amount


class OfferRoom(Model):
    """It would run there once others had left, whose loss is reckoned at ``cost``."""

    offer: Literal["can_make_room"]
    cost: Amount
    ready_ms: Amount


class OfferWait(Model):
    """It would wait there, and start by then as far as can be told."""

    offer: Literal["can_wait"]
    starts_ms: Amount | None
    reason: _Reason


class OfferNone(Model):
    """It may neither run nor wait there."""

    offer: Literal["cannot_run"]
    reason: _Reason


AnyOffer: TypeAlias = Annotated[
    OfferStart | OfferRoom | OfferWait | OfferNone, Field(discriminator="offer")
]


class CellOffer(Model):
    """What a cell could do for a request; nothing is held for it."""

    offer: AnyOffer
