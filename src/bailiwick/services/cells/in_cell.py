"""A plane that is a cell: what its home may have it do.

Rules:

- Whoever has ``scheduler.cell.home`` here asks for every tenant that this plane has, and takes back
  what was asked so. To give that key away is a decision of this plane's own operator.
- What a letter orders is done one after the other, each in a record of its own. An order of another
  epoch, or too late, ends the letter with a conflict; what was done before it stays done, and the
  reply to the next letter tells it.
- A tenant or project that is not here, or closed, is offered nothing.
- Schedulers of apps are this plane's own: whoever names one asks here, and not from home.
- To ask for an offer changes nothing, and holds nothing.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from bailiwick.iam import FLEET, Scope
from bailiwick.kernel import Done, Submit
from bailiwick.kernel.cells.book import CellHome
from bailiwick.kernel.cells.commands import LeaveHome
from bailiwick.kernel.cells.link import CellLetter, CellReply, commands_of, reply
from bailiwick.kernel.cells.offers import CannotRun, Offer, offer
from bailiwick.kernel.owner import Owner
from bailiwick.runtime.replica import View
from bailiwick.services.caller import Caller, Deferred
from bailiwick.services.cells.spelling import check_unscheduled
from bailiwick.vocab.errors import NotFound
from bailiwick.vocab.words import PendingReason


@dataclass(frozen=True, slots=True)
class HomeSeen:
    """Whose cell this is, and how much it has here."""

    home: str
    epoch: int
    done: int
    held: int


@dataclass(frozen=True, slots=True)
class CellTold:
    """A reply, and the thousandths of GPUs and cores that are free."""

    reply: CellReply
    free: tuple[int, int]


async def read_home(caller: Caller) -> HomeSeen:
    """Whose cell this plane is."""
    caller.require(FLEET)

    def read(view: View) -> HomeSeen:
        home = _home(view)
        return HomeSeen(home.name, home.epoch, home.done, home.held)

    return await caller.lookup(read)


def _home(view: View) -> CellHome:
    if view.state.cells.home is None:
        raise NotFound("home", "of this plane", hint="it is nobody's cell")
    return view.state.cells.home


async def leave_home(caller: Caller) -> Done:
    """Be nobody's cell any more."""
    caller.require(FLEET)
    return await caller.change(LeaveHome())


async def take_letter(caller: Caller, tell: Deferred[CellLetter]) -> CellTold:
    """Do what a home orders, and reply; a dry run sees that the first of it would be done."""
    caller.require(FLEET)
    told = tell()
    for order in told.orders:
        if order.request is not None:
            check_unscheduled(order.request)
    # The numbers of the orders are what makes each count once; one key cannot stand for them all.
    caller.key = None
    commands = commands_of(told)[: 1 if caller.dry_run else None]
    # Handed over in their order they share commits; behind one that is refused none has its turn.
    done = await asyncio.gather(*map(caller.change, commands), return_exceptions=True)
    for refused in done:
        if isinstance(refused, BaseException):
            raise refused

    def read(view: View) -> CellTold:
        free = view.state.ledger.free
        if caller.dry_run and view.state.cells.home is None:
            return CellTold(CellReply(0, view.now_ms, 0), (free.gpu_milli, free.cpu_milli))
        answer = reply(view.state, heard=told.heard, now_ms=view.now_ms)
        return CellTold(answer, (free.gpu_milli, free.cpu_milli))

    return await caller.read(read)


async def offer_for(caller: Caller, ask: Deferred[Submit]) -> Offer:
    """What this plane could do for a request; nothing changes."""
    caller.require(FLEET)
    request = ask().request
    check_unscheduled(request)

    def read(view: View) -> Offer:
        if not view.state.directory.is_open(Scope(*Owner.of(request))):
            return CannotRun(PendingReason.FORBIDDEN)
        return offer(view.state, request, now_ms=view.now_ms)

    return await caller.read(read)
