"""A plane with cells: who is one, which requests are whose, and what cells said of them.

Rules:

- An address is one cell's. Under two names one plane would be met by turns, each time in an epoch
  that voids what the other name was told.
- A request is given to a cell that can be reached, and only while its owner's quota bears it.
- What waits in a cell's line is recalled when another has room. It is still that cell's until the
  cell says that it let go. If it says that it waits still, it may be recalled another time.
- What a cell is to give back and has not got is over: one of the two journals was set back.
- A cell that is cut off keeps what it has; it gets nothing, and nothing of it goes elsewhere. When
  it is met again it says how far it came: what it has not got is free for others then.
- What of this plane's bounds a request is held against, and who gets nothing in cells because a
  bound could not see it there: :mod:`.bounds`.
- A cell leaves when nothing is in it any more. Given up as lost, all that it had is over; that is
  an operator's word, and whoever gives it knows that nothing runs there. If that is very much it
  ends step by step, and meanwhile the cell is not met any more.
- A cell that knows less than it had told already is another one under an old name: it is not met.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from bailiwick.kernel.cells import commands as cmd
from bailiwick.kernel.cells import events as ev
from bailiwick.kernel.cells.book import CELLS_MAX, GLOBAL_MAX, CellMember, GlobalRequest
from bailiwick.kernel.cells.bounds import beyond_quota, check_seen_from_here
from bailiwick.kernel.events import Event
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.slice import Apply
from bailiwick.kernel.state import State
from bailiwick.kernel.work.rights import check_asked, check_waiting
from bailiwick.vocab.cells import CellStanding, GlobalStatus, TakingStatus
from bailiwick.vocab.errors import Conflict, LimitReached

LOST_AT_ONCE_MAX: Final = 1_000
"""Requests of a lost cell that end by the command itself."""

_OVER = (TakingStatus.TURNED_AWAY, TakingStatus.ENDED)
_AS_TOLD = {TakingStatus.QUEUED: GlobalStatus.QUEUED, TakingStatus.HELD: GlobalStatus.HELD}


# -- deciding --------------------------------------------------------------------------------


def join(state: State, command: cmd.JoinCell) -> Iterator[Event]:
    """A cell more."""
    if command.cell in state.cells.members:
        raise Conflict("cell", command.cell, "has joined already")
    if len(state.cells.members) >= CELLS_MAX:
        raise LimitReached("cells", CELLS_MAX)
    twin = next((c for c, each in state.cells.members.items() if each.url == command.url), None)
    if twin is not None:
        why = f"is where {twin} is"
        raise Conflict("address", command.url, why, hint="a plane is one cell, under one name")
    yield ev.CellJoined(command.cell, command.url)


def leave(state: State, command: cmd.LeaveCell) -> Iterator[Event]:
    """A cell less."""
    member, count = state.cells.member(command.cell), state.cells.count_within(command.cell)
    if member.lost:
        why = f"is being given up, and has {count} of our requests still"
        raise Conflict("cell", command.cell, why, hint="they end step by step; wait")
    if count and not command.lost:
        why = f"has {count} of our requests"
        raise Conflict("cell", command.cell, why, hint="withdraw them, or give the cell up as lost")
    if count > LOST_AT_ONCE_MAX:
        yield ev.CellCutOff(command.cell, lost=True)
        return
    yield from _give_up(state, command.cell, lost=command.lost, limit=LOST_AT_ONCE_MAX)


def keep_lost(state: State, *, now_ms: int, limit: int) -> Iterator[Event]:
    """Of cells that are given up, what they had ends: no more by one tick than it may do."""
    del now_ms
    for cell in sorted(name for name, each in state.cells.members.items() if each.lost):
        if limit <= 0:
            return
        count = state.cells.count_within(cell)
        yield from _give_up(state, cell, lost=True, limit=limit)
        limit -= count


def _give_up(state: State, cell: str, *, lost: bool, limit: int) -> Iterator[Event]:
    """What a cell had is over, up to so many; after the last the cell has left."""
    for each in state.cells.first_within(cell, limit):
        yield _told(each, TakingStatus.ENDED)
    if not state.cells.count_within(cell):
        yield ev.CellLeft(cell, lost)


def reach(state: State, command: cmd.ReachCell) -> Iterator[Event]:
    """A cell was met: what it has not got is nobody's again."""
    member, inside = state.cells.member(command.cell), state.cells.within(command.cell)
    if member.lost:
        raise Conflict("cell", command.cell, "is being given up", hint="join it anew afterwards")
    if command.epoch <= member.epoch:
        raise Conflict("cell", command.cell, f"was met in epoch {member.epoch} already")
    known = max((each.sent or 0 for each in inside if each.seq >= 0), default=0)
    if command.done < known:
        why = f"has carried out {command.done} orders, and told of order {known} before"
        raise Conflict("cell", command.cell, why, hint="give it up as lost, and join it anew")
    for each in inside:
        if each.sent is not None and each.sent > command.done:
            over = each.status is GlobalStatus.WITHDRAWN
            yield _told(each, TakingStatus.ENDED if over else TakingStatus.TURNED_AWAY)
    yield ev.CellReached(command.cell, command.epoch, command.done)


def cut_off(state: State, command: cmd.CutOffCell) -> Iterator[Event]:
    """A cell cannot be reached."""
    if state.cells.member(command.cell).standing is CellStanding.CUT_OFF:
        raise Conflict("cell", command.cell, "is cut off already")
    yield ev.CellCutOff(command.cell)


def ask(state: State, command: cmd.AskGlobally) -> Iterator[Event]:
    """One more request, in no cell yet."""
    if len(state.cells.requests) >= min(GLOBAL_MAX, state.settings.queue_max):
        raise LimitReached("global requests", min(GLOBAL_MAX, state.settings.queue_max))
    denied = check_asked(state, command.request) or check_waiting(
        state, command.request, more=state.cells.waiting_of
    )
    if denied is not None:
        name = f"{command.request.tenant}"
        raise Conflict("request", name, f"is beyond its owner's ceiling: {denied}")
    state.quotas.row_of(command.request.tenant, command.request.project)
    check_seen_from_here(state, command.request)
    yield ev.GlobalAsked(state.cells.serial + 1, command.request)


def send(state: State, command: cmd.SendGlobal, *, now_ms: int) -> Iterator[Event]:
    """A request becomes one cell's."""
    found, member = state.cells.request(command.global_id), state.cells.member(command.cell)
    if found.status is not GlobalStatus.WAITING:
        why = f"is {found.status} in cell {found.cell}"
        raise Conflict("global request", command.global_id, why)
    if member.standing is not CellStanding.REACHABLE:
        raise Conflict("cell", command.cell, f"is {member.standing}", hint="send it elsewhere")
    beyond = beyond_quota(state, found.request, now_ms=now_ms)
    if beyond is not None:
        raise Conflict("global request", command.global_id, beyond)
    check_seen_from_here(state, found.request)
    owner = Owner.of(found.request)
    yield ev.GlobalSent(owner, command.global_id, command.cell, member.next_number, command.waits)


def note(state: State, command: cmd.NoteGlobal) -> Iterator[Event]:
    """What a cell said, if it answers what it was sent."""
    member = state.cells.member(command.cell)
    if (command.epoch, member.standing) != (member.epoch, CellStanding.REACHABLE):
        why = f"is {member.standing} in epoch {member.epoch}, not {command.epoch}"
        raise Conflict("cell", command.cell, why, hint="meet it again")
    found = state.cells.requests.get(command.global_id)
    if found is not None and command.seq > found.seq and _answers(found, command):
        yield _told(found, command.status, seq=command.seq, leases=command.leases)
    if not command.left and command.seq > member.heard:
        yield ev.CellHeard(command.cell, command.seq)


def _answers(found: GlobalRequest, command: cmd.NoteGlobal) -> bool:
    """Whether a cell tells of what it was sent, or that what it is to give back is gone."""
    if found.cell != command.cell:
        return False
    is_gone = command.status is TakingStatus.ENDED
    return command.number == found.sent or (is_gone and command.number in found.orders)


def recall(state: State, command: cmd.RecallGlobal) -> Iterator[Event]:
    """A request is to leave its cell's line, if it has not begun there."""
    found = state.cells.request(command.global_id)
    if found.cell is None or found.status is not GlobalStatus.QUEUED:
        raise Conflict("global request", command.global_id, f"is {found.status}, in no line")
    if found.recalled is not None:
        raise Conflict("global request", command.global_id, "is recalled already")
    member = state.cells.member(found.cell)
    if member.standing is not CellStanding.REACHABLE:
        raise Conflict("cell", found.cell, f"is {member.standing}", hint="it keeps what it has")
    yield ev.GlobalRecalled(Owner.of(found.request), command.global_id, member.next_number)


def withdraw(state: State, command: cmd.WithdrawGlobal) -> Iterator[Event]:
    """A request is wanted no more."""
    found = state.cells.request(command.global_id)
    if found.status is GlobalStatus.WITHDRAWN:
        raise Conflict("global request", command.global_id, "is being taken back already")
    number = None if found.cell is None else state.cells.member(found.cell).next_number
    owner, why = Owner.of(found.request), (command.cause, command.reason)
    yield ev.GlobalWithdrawn(owner, command.global_id, number, *why)


def _told(
    found: GlobalRequest,
    status: TakingStatus,
    *,
    seq: int | None = None,
    leases: tuple[int, ...] = (),
) -> ev.GlobalTold:
    assert found.cell is not None, "only what is in a cell is told of"
    kept = found.recalled is not None and status is TakingStatus.QUEUED
    who = Owner.of(found.request), found.number, found.cell
    return ev.GlobalTold(*who, status, seq, leases, kept)


# -- applying --------------------------------------------------------------------------------


def _joined(state: State, event: ev.CellJoined, at_ms: int) -> None:
    del at_ms
    # Behind every epoch in which a cell was met, or is being met just now (``link.meeting``): what
    # was sent to one of this name before is refused, and what that one says late is not believed.
    state.cells.epoch += 1
    state.cells.members[event.cell] = CellMember(event.url, state.cells.epoch)


def _left(state: State, event: ev.CellLeft, at_ms: int) -> None:
    del at_ms
    del state.cells.members[event.cell]


def _reached(state: State, event: ev.CellReached, at_ms: int) -> None:
    del at_ms
    book, number = state.cells, event.done + 1
    for each in book.within(event.cell):
        if (each.recalled or 0) > event.done:  # void, and asked again only if it is still better
            book.put(replace(each, recalled=None))
    waiting = [each for each in book.within(event.cell) if (each.withdrawn or 0) > event.done]
    for each in sorted(waiting, key=lambda each: each.withdrawn or 0):
        book.put(replace(each, withdrawn=number))
        number += 1
    book.epoch = max(book.epoch, event.epoch)
    standing = CellStanding.REACHABLE
    book.change_member(event.cell, epoch=event.epoch, standing=standing, next_number=number)


def _cut_off(state: State, event: ev.CellCutOff, at_ms: int) -> None:
    del at_ms
    state.cells.change_member(event.cell, standing=CellStanding.CUT_OFF, lost=event.lost)


def _heard(state: State, event: ev.CellHeard, at_ms: int) -> None:
    del at_ms
    state.cells.change_member(event.cell, heard=event.seq)


def _asked(state: State, event: ev.GlobalAsked, at_ms: int) -> None:
    state.cells.serial = event.global_id
    state.cells.put(GlobalRequest(event.global_id, event.request, at_ms))


def _sent(state: State, event: ev.GlobalSent, at_ms: int) -> None:
    book, found = state.cells, state.cells.request(event.global_id)
    state.quotas.record_alloc(found.request, now_ms=at_ms)
    sent = replace(
        found,
        status=GlobalStatus.SENT,
        cell=event.cell,
        sent=event.number,
        waits=event.waits,
        seq=-1,
    )
    book.put(sent)
    book.change_member(event.cell, next_number=event.number + 1)


def _told_of(state: State, event: ev.GlobalTold, at_ms: int) -> None:
    book, found = state.cells, state.cells.request(event.global_id)
    if event.status in _OVER:
        state.quotas.record_free(found.request, now_ms=at_ms)
        again = event.status is TakingStatus.TURNED_AWAY
        if again and found.status is not GlobalStatus.WITHDRAWN:
            book.put(GlobalRequest(found.number, found.request, found.asked_ms))
        else:
            book.drop(found.number)
        return
    wanted = found.status is not GlobalStatus.WITHDRAWN
    status = _AS_TOLD[event.status] if wanted else GlobalStatus.WITHDRAWN
    seq = found.seq if event.seq is None else event.seq
    # Whoever was not let go of may be recalled another time.
    stays = event.kept or event.status is TakingStatus.HELD
    recalled = None if stays else found.recalled
    book.put(replace(found, status=status, seq=seq, leases=event.leases, recalled=recalled))


def _recalled(state: State, event: ev.GlobalRecalled, at_ms: int) -> None:
    del at_ms
    book, found = state.cells, state.cells.request(event.global_id)
    assert found.cell is not None, "only what is in a line is recalled"
    book.put(replace(found, recalled=event.number))
    book.change_member(found.cell, next_number=event.number + 1)


def _withdrawn(state: State, event: ev.GlobalWithdrawn, at_ms: int) -> None:
    del at_ms
    book, found = state.cells, state.cells.request(event.global_id)
    if event.number is None:
        book.drop(event.global_id)
        return
    assert found.cell is not None, "who has an order to give it back, has it"
    status = GlobalStatus.WITHDRAWN
    book.put(replace(found, status=status, withdrawn=event.number))
    book.change_member(found.cell, next_number=event.number + 1)


APPLY: Mapping[type, Apply] = {
    ev.CellJoined: _joined,
    ev.CellLeft: _left,
    ev.CellReached: _reached,
    ev.CellCutOff: _cut_off,
    ev.CellHeard: _heard,
    ev.GlobalAsked: _asked,
    ev.GlobalSent: _sent,
    ev.GlobalTold: _told_of,
    ev.GlobalRecalled: _recalled,
    ev.GlobalWithdrawn: _withdrawn,
}
