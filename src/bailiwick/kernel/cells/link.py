"""What a home and its cell say to each other: a letter, and the reply to it.

Rules:

- Every letter can be sent again, and any may be lost: what it orders has numbers, and what is told
  in reply is what the cell's journal says now.
- A letter counts for a while after the home last heard of the cell (:data:`FRESH_MS`, by the cell's
  own clock). The home holds a cell for cut off only when that, and what clocks may differ by in
  it, is over: then nothing that it sent can be taken up there any more.
- A letter that orders something meets nobody: a plane that was set up anew under an old name takes
  nothing that was ordered of the one before it. (For what was ordered within those seconds, its
  clock must not be behind the other's.)
- Both are bounded: what does not go into one goes into the next.
- Whoever has told all that is new has as many requests as home knows in it; if not, one of the two
  journals was set back (:func:`miscount`).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from bailiwick.kernel.cells.book import Order, Taking
from bailiwick.kernel.cells.commands import (
    GiveBackGlobal,
    HearHome,
    MeetHome,
    NoteGlobal,
    TakeGlobal,
)
from bailiwick.kernel.state import State
from bailiwick.vocab.cells import CellStanding
from bailiwick.vocab.errors import Conflict

FRESH_MS: Final = 10_000
"""How long after its last reply orders may reach a cell, by its own clock."""
CUT_OFF_MS: Final = 15_000
"""After so long without a reply a cell is cut off: clocks may differ by half in that time."""
ORDERS_MAX: Final = 256
NEWS_MAX: Final = 256


@dataclass(frozen=True, slots=True)
class CellLetter:
    """From a home to its cell."""

    home: str
    epoch: int
    not_after_ms: int = 0
    orders: tuple[Order, ...] = ()
    heard: int = -1
    """Up to which record of the cell's journal its news are known."""


@dataclass(frozen=True, slots=True)
class CellReply:
    """From a cell to its home."""

    epoch: int
    now_ms: int
    done: int
    news: tuple[tuple[int, Taking], ...] = ()
    held: int = 0
    """How many requests wait or run there."""
    left: int = 0
    """How much that is new did not go into this reply."""


def meeting(state: State, cell: str, *, home: str) -> CellLetter:
    """The letter that meets a cell in a later epoch than any before; it orders nothing."""
    member = state.cells.member(cell)
    return CellLetter(home, max(member.epoch, state.cells.epoch) + 1, heard=member.heard)


def letter(state: State, cell: str, *, home: str, last: CellReply) -> CellLetter:
    """What a cell is to do, which replied this the last time."""
    member = state.cells.member(cell)
    orders = state.cells.orders(cell, after=last.done, limit=ORDERS_MAX)
    fresh_ms = last.now_ms + FRESH_MS
    return CellLetter(home, member.epoch, fresh_ms, tuple(orders), member.heard)


def commands_of(
    told: CellLetter,
) -> list[MeetHome | TakeGlobal | GiveBackGlobal | HearHome]:
    """What a letter has a cell do, one after the other."""
    found = list[MeetHome | TakeGlobal | GiveBackGlobal | HearHome]()
    if not told.orders:
        found.append(MeetHome(told.home, told.epoch))
    for order in told.orders:
        if order.request is None:
            asked = told.epoch, order.number, order.global_id, order.unbegun
            found.append(GiveBackGlobal(*asked))
        else:
            found.append(
                TakeGlobal(
                    told.epoch,
                    order.number,
                    order.global_id,
                    order.request,
                    order.waits,
                    told.not_after_ms,
                )
            )
    if told.heard >= 0:
        found.append(HearHome(told.epoch, told.heard))
    return found


def reply(state: State, *, heard: int, now_ms: int) -> CellReply:
    """What a cell tells its home, which has heard all up to that record."""
    home = state.cells.home
    if home is None:
        raise Conflict("cell", "of no fleet", "has no home", hint="its home meets it first")
    news = home.news(heard)
    count = len(news)
    if count > NEWS_MAX:  # all of one record, or none of it
        last = news[NEWS_MAX][1].seq
        news = list(takewhile(lambda row: row[1].seq < last, news)) or [
            row for row in news if row[1].seq == last
        ]
    left = count - len(news)
    return CellReply(home.epoch, now_ms, home.done, tuple(news), home.held, left)


def miscount(state: State, cell: str, *, told: CellReply) -> str | None:
    """What is wrong, if a cell has more or fewer requests than home, which has noted its reply."""
    member = state.cells.members.get(cell)
    if member is None or (member.epoch, member.standing) != (told.epoch, CellStanding.REACHABLE):
        return None
    if told.left:
        return None
    known = state.cells.count_given(cell, done=told.done)
    if known == told.held:
        return None
    why = "one of the two journals was set back"
    return f"it has {told.held} of our requests, and {known} are known here: {why}"


def notes_of(cell: str, told: CellReply) -> list[NoteGlobal]:
    """What a home is to note of a reply, one after the other."""
    left = len(told.news)
    return [
        NoteGlobal(
            cell,
            told.epoch,
            global_id,
            taking.number,
            taking.seq,
            taking.status,
            taking.leases,
            left - at - 1,
        )
        for at, (global_id, taking) in enumerate(told.news)
    ]
