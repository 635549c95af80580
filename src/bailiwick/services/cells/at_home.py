"""A plane with cells: who they are, and what people ask of all of them.

Rules:

- Cells are the fleet's: who has which, and how they stand, is for those who run it.
- A request to all is asked, read and taken back like a lease; another's is not there.
- A scheduler of an app is in one cell: a request to all names none.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

from bailiwick.client.connection import check_server
from bailiwick.iam import FLEET, Scope
from bailiwick.journal import parse_record
from bailiwick.kernel import Done, Submit
from bailiwick.kernel.cells.book import CellMember, GlobalRequest
from bailiwick.kernel.cells.commands import AskGlobally, JoinCell, LeaveCell, WithdrawGlobal
from bailiwick.kernel.cells.events import GlobalAsked
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.slices import event_of
from bailiwick.runtime.replica import View
from bailiwick.services.caller import Caller, Deferred
from bailiwick.services.cells.desk import CellContact, CellDesk
from bailiwick.services.cells.spelling import check_unscheduled
from bailiwick.services.leases import check_scope, seen_by
from bailiwick.services.pages import Rows, cut, page_of
from bailiwick.vocab.errors import InvalidValue, InvariantBroken


@dataclass(frozen=True, slots=True)
class CellSeen:
    """A cell, and how the leader stands with it."""

    cell: str
    member: CellMember
    requests: int
    contact: CellContact | None


async def list_cells(
    caller: Caller, desk: CellDesk, *, after: str | None, limit: int
) -> Rows[CellSeen]:
    """The cells, by their names."""
    caller.require(FLEET)

    def read(view: View) -> Rows[CellSeen]:
        members = view.state.cells.members
        rows, following = page_of(members, after=after, limit=limit, key=lambda name: name)
        return [_seen(view, name, desk=desk) for name in rows], following

    return await caller.read(read)


async def read_cell(caller: Caller, cell: str, *, desk: CellDesk) -> CellSeen:
    """One cell."""
    caller.require(FLEET)
    return await caller.lookup(lambda view: _seen(view, cell, desk=desk))


def _seen(view: View, cell: str, *, desk: CellDesk) -> CellSeen:
    member, inside = view.state.cells.member(cell), view.state.cells.count_within(cell)
    return CellSeen(cell, member, inside, desk.contacts.get(cell))


async def join_cell(caller: Caller, cell: str, *, url: str, desk: CellDesk) -> Done:
    """Have a plane as a cell; over anything but this machine only by HTTPS."""
    caller.require(FLEET)
    done = await caller.change(JoinCell(cell, check_server(url)))
    desk.wake()
    return done


async def leave_cell(caller: Caller, cell: str, *, lost: bool) -> Done:
    """Part with a cell; as long as it has requests only as lost."""
    caller.require(FLEET)
    return await caller.change(LeaveCell(cell, lost))


async def ask_everywhere(
    caller: Caller, scope: Scope, *, ask: Deferred[Submit], desk: CellDesk
) -> tuple[Done, int | None]:
    """Ask for resources in whichever cell has them; the number under which it is known."""
    await check_scope(caller, scope)
    command = _global(ask())
    done = await caller.change(command)
    if done.seq is None:
        return done, None
    desk.wake()
    (line,) = await caller.records(done.seq, 1)
    event = event_of(parse_record(line.rstrip(b"\n")))
    if not isinstance(event, GlobalAsked):
        raise InvariantBroken(f"record {done.seq} is not what asking did")
    return done, event.global_id


def _global(asked: Submit) -> AskGlobally:
    if not asked.wait:
        raise InvalidValue("wait", False, "true: whoever asks all cells waits for their answers")
    check_unscheduled(asked.request)
    return AskGlobally(asked.request)


async def list_requests(caller: Caller, *, after: int, limit: int) -> Rows[GlobalRequest]:
    """The requests to all cells that the caller may see, oldest first."""
    caller.require_within(FLEET)
    seen = seen_by(caller)

    def read(view: View) -> Rows[GlobalRequest]:
        requests = view.state.cells.requests
        numbers = (
            number
            for number, each in requests.items()
            if number > after and (seen is None or seen(Owner.of(each.request)))
        )
        rows = [requests[number] for number in heapq.nsmallest(limit + 1, numbers)]
        return cut(rows, limit, key=lambda each: each.number)

    return await caller.read(read)


async def read_request(caller: Caller, global_id: int) -> GlobalRequest:
    """One of them."""
    await _require(caller, global_id)
    return await caller.lookup(lambda view: view.state.cells.request(global_id))


async def withdraw_request(caller: Caller, global_id: int, *, desk: CellDesk) -> Done:
    """Take a request back: it leaves the line, or its leases end in its cell."""
    command = WithdrawGlobal(global_id)
    await _require(caller, global_id, command=command)
    done = await caller.change(command)
    desk.wake()
    return done


async def _require(
    caller: Caller, global_id: int, *, command: WithdrawGlobal | None = None
) -> None:
    """Go on only if the caller has the action's key where the request belongs."""

    def owner(view: View) -> Scope | None:
        found = view.state.cells.requests.get(global_id)
        return None if found is None else Scope(*Owner.of(found.request))

    await caller.require_at(owner, command)
