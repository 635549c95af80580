"""What a home's leader writes to a cell next: a pure choice by what is sealed and what it heard.

Rules:

- Nothing is ordered before the cell has replied to this leader in this epoch.
- Orders go out in turn. One may be missing: to give back what ended by itself before the order was
  sent. Behind such a gap the cell would refuse everything, so an order that changes nothing stands
  in its place: to give back what the cell was never given.
- A reply by which the cell has not carried out what it told of already is an old one, and another
  is waited for; or the cell has lost its memory. Then it is cut off, and to meet it anew says so
  and goes no further. Its own operator can do that to it: he parts it from home.
- A reply is believed only if it can be one (:func:`fault_of`): of the epoch of the letter, with no
  more done than was ever sent, nor less than before, at a time that leaves room for what follows;
  its news are what the letter's home had not heard of, each request once. A cell that was never
  given anything has nothing of ours: one that joined anew with what it had before is not met.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Final

from bailiwick.kernel.cells import link
from bailiwick.kernel.cells.book import CellMember, Order
from bailiwick.kernel.state import State
from bailiwick.vocab.cells import CellStanding

DONE_MAX: Final = 2**52
"""Nobody has carried out so many."""
NOW_MS_MAX: Final = 2**52
"""No clock is later; behind it there is still a number for how long an order counts."""


def next_letter(
    state: State, cell: str, *, home: str, last: link.CellReply | None
) -> link.CellLetter | None:
    """What to write to a cell that replied this the last time; nothing if that cannot be."""
    member = state.cells.member(cell)
    if member.standing is not CellStanding.REACHABLE:
        return link.meeting(state, cell, home=home)
    if last is None or last.epoch != member.epoch:
        return link.CellLetter(home, member.epoch, heard=member.heard)
    told = link.letter(state, cell, home=home, last=last)
    if any(_was_told(state, each) for each in told.orders):
        return None
    # No request has this number yet, and whoever gets it is sent behind all of these.
    turns = _in_turn(told.orders, after=last.done, unused=state.cells.serial + 1)
    return replace(told, orders=tuple(islice(turns, link.ORDERS_MAX)))


def fault_of(
    member: CellMember,
    told: link.CellLetter,
    *,
    reply: link.CellReply,
    last: link.CellReply | None = None,
) -> str | None:
    """Why this cannot be the cell's reply to that letter, if it cannot, after the ``last`` one."""
    if reply.epoch != told.epoch:
        return f"it replies in epoch {reply.epoch} to a letter of epoch {told.epoch}"
    if reply.now_ms > NOW_MS_MAX:
        return "its clock is beyond all time"
    # Of a cell that was never given anything nothing is known: it may have been another home's.
    is_known = member.standing is CellStanding.REACHABLE or member.next_number > 1
    if reply.done >= (member.next_number if is_known else DONE_MAX):
        given = member.next_number - 1
        return f"it has carried out {reply.done} orders, and was given {given}"
    if last is not None and last.epoch == reply.epoch and reply.done < last.done:
        return f"it has carried out {reply.done} orders, and told of {last.done} before"
    if len({global_id for global_id, _ in reply.news}) < len(reply.news):
        return "it tells of the same request twice"
    if any(taking.seq <= told.heard for _, taking in reply.news):
        return f"it tells as news what was heard up to its record {told.heard}"
    never_given = member.next_number == 1 and not member.heard
    has_some = reply.held or any(not taking.is_over for _, taking in reply.news)
    if never_given and has_some:
        return "it has requests of this home that nobody here knows: end them there first"
    return None


def _in_turn(orders: tuple[Order, ...], *, after: int, unused: int) -> Iterator[Order]:
    """The orders, with one that changes nothing wherever one is missing."""
    number = after
    for each in orders:
        for missing in range(number + 1, each.number):
            yield Order(missing, unused)
        yield each
        number = each.number


def _was_told(state: State, order: Order) -> bool:
    """Whether the cell has told what became of this order already: then it has carried it out."""
    found = state.cells.requests[order.global_id]
    return order.request is not None and found.seq >= 0
