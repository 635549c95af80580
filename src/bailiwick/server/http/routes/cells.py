"""Cells: parse, call one service, spell the answer."""

from __future__ import annotations

from bailiwick.kernel.cells.book import GlobalRequest, Order
from bailiwick.kernel.cells.link import CellLetter
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Changing, Here
from bailiwick.server.http.params import (
    Limit,
    NameCursor,
    NumberCursor,
    PathName,
    PathNumber,
    spell_page,
)
from bailiwick.server.http.parsing import scope_of, submit_of
from bailiwick.server.http.spelling import spell_done
from bailiwick.services.cells import at_home, in_cell
from bailiwick.services.cells.at_home import CellSeen
from bailiwick.services.cells.desk import CellDesk
from bailiwick.services.cells.spelling import spell_offer, spell_reply
from bailiwick.wire import cells as wire
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page
from bailiwick.wire.work import LeaseRequest


@answers("cell.list")
async def list_cells(
    asked: Here, *, cursor: NameCursor = None, limit: Limit = 100
) -> Page[wire.CellShown]:
    """The cells of this plane, and how it stands with them."""
    desk = asked.house.parts.cells
    return spell_page(await at_home.list_cells(asked, desk, after=cursor, limit=limit), _cell)


@answers("cell.read")
async def read_cell(asked: Here, cell: PathName) -> wire.CellShown:
    """One cell: whether it is reached, in which epoch, and if not, why."""
    return _cell(await at_home.read_cell(asked, cell, desk=asked.house.parts.cells))


@answers("cell.join")
async def join_cell(asked: Changing, body: wire.CellJoin) -> Done:
    """Have another plane as a cell. It gets nothing before it was met.

    Its address is `https://HOST:PORT`; `http://` only on this machine.
    """
    desk = asked.house.parts.cells
    return spell_done(await at_home.join_cell(asked, body.cell, url=body.url, desk=desk))


@answers("cell.leave")
async def leave_cell(asked: Changing, cell: PathName, *, body: wire.CellLeave) -> Done:
    """Part with a cell that has no requests; or give it up as lost, with all that it has.

    Whoever says `lost` knows that nothing runs there: what it had is over here at once.
    """
    return spell_done(await at_home.leave_cell(asked, cell, lost=body.lost))


@answers("global_request.ask")
async def ask_everywhere(asked: Changing, body: LeaseRequest) -> wire.AskedEverywhere:
    """Ask for resources in whichever cell has them. One cell gets it, and says what became of it.

    `wait` stays true, and `scheduler_type` is left out.
    """
    desk = asked.house.parts.cells
    done, global_id = await at_home.ask_everywhere(
        asked, scope_of(body), ask=lambda: submit_of(body), desk=desk
    )
    return wire.AskedEverywhere(answer="done", seq=done.seq, global_id=global_id)


@answers("global_request.list")
async def list_requests(
    asked: Here, *, cursor: NumberCursor = None, limit: Limit = 100
) -> Page[wire.GlobalShown]:
    """The requests to all cells that the caller may see and that are not over, oldest first."""
    rows = await at_home.list_requests(asked, after=int(cursor or 0), limit=limit)
    return spell_page(rows, lambda each: _request(each, asked.house.parts.cells))


@answers("global_request.read")
async def read_request(asked: Here, global_id: PathNumber) -> wire.GlobalShown:
    """One request to all cells: where it is, and which leases it has there."""
    return _request(await at_home.read_request(asked, global_id), asked.house.parts.cells)


@answers("global_request.withdraw")
async def withdraw_request(asked: Changing, global_id: PathNumber) -> Done:
    """Take a request back: it leaves the line, or its leases end in its cell.

    While its cell is cut off, that waits until it is met again.
    """
    desk = asked.house.parts.cells
    return spell_done(await at_home.withdraw_request(asked, global_id, desk=desk))


@answers("cell_home.read")
async def read_home(asked: Here) -> wire.HomeShown:
    """Whose cell this plane is, in which epoch, and how much of its home's it has."""
    found = await in_cell.read_home(asked)
    return wire.HomeShown(home=found.home, epoch=found.epoch, done=found.done, held=found.held)


@answers("cell_home.leave")
async def leave_home(asked: Changing) -> Done:
    """Be nobody's cell any more; only while nothing of the home's is here."""
    return spell_done(await in_cell.leave_home(asked))


@answers("cell_home.letter")
async def take_letter(asked: Changing, body: wire.HomeLetter) -> wire.LetterReply:
    """Do what a home orders, each once and in turn, and tell what became of what it gave.

    The home asks for any tenant that is here. An order of another epoch or too late is a conflict;
    what was done before it stays done.
    """
    told = await in_cell.take_letter(asked, lambda: _letter(body))
    return spell_reply(told.reply, free=told.free)


@answers("cell_home.offer")
async def offer_for(asked: Here, body: LeaseRequest) -> wire.CellOffer:
    """What this plane could do for a request of its home's; nothing changes, or is held."""
    return spell_offer(await in_cell.offer_for(asked, lambda: submit_of(body)))


def _cell(found: CellSeen) -> wire.CellShown:
    member, contact = found.member, found.contact
    is_known = contact is not None and contact.heard_ms is not None
    return wire.CellShown(
        cell=found.cell,
        url=member.url,
        standing=member.standing,
        epoch=member.epoch,
        requests=found.requests,
        heard_ms=None if contact is None else contact.heard_ms,
        trouble=None if contact is None else contact.trouble,
        free_gpu_milli=contact.free[0] if contact is not None and is_known else None,
        free_cpu_milli=contact.free[1] if contact is not None and is_known else None,
    )


def _request(found: GlobalRequest, desk: CellDesk) -> wire.GlobalShown:
    request = found.request
    return wire.GlobalShown(
        global_id=found.number,
        tenant=str(request.tenant),
        project=None if request.project is None else str(request.project),
        status=found.status,
        cell=found.cell,
        leases=list(found.leases),
        asked_ms=found.asked_ms,
        cpu_milli=request.cpu_milli,
        mem_bytes=request.mem_bytes,
        gpu_count=request.device_count,
        gpu_milli=request.device_milli,
        gang_size=request.gang_size,
        ttl_ms=request.ttl_ms,
        priority=request.priority,
        lease_class=request.lease_class,
        waits_for=desk.reasons.get(found.number) if found.cell is None else None,
    )


def _letter(body: wire.HomeLetter) -> CellLetter:
    orders = tuple(
        Order(
            each.number,
            each.global_id,
            None if each.request is None else submit_of(each.request).request,
            each.waits,
            each.unbegun,
        )
        for each in body.orders
    )
    return CellLetter(body.home, body.epoch, body.not_after_ms, orders, body.heard)
