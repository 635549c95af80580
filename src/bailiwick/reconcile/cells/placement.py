"""Which cell gets a request that waits: the leader asks for offers, and seals whose it is.

Rules:

- The most urgent first, then the oldest; one round looks at a bounded number. Whoever no cell can
  have now, or whose quota does not bear it, is looked at again when those behind it have had their
  turn, and some seconds later at the least.
- Only cells are asked that are reached, and have replied to this leader. The few with the most free
  are asked first, all others only if none of those can start it.
- A cell that gives no answer is asked nothing more until it replies to a letter again. Once one can
  start it, the others have a moment more; who needs longer is not among the first to be asked for a
  while. Who takes long over any answer is not asked at all for a while, as long as others may be.
  One round begins no more looks after some seconds. So a slow one holds up one look, and not long.
- A cell that offered and then turned the same request away twice is not asked about it for a while:
  whatever it says, others have their turn.
- What waits in a cell's line is recalled when another could start it: see :mod:`.moving`.
- A budget of this plane does not know what cells charge, nor a limit on GPU memory which devices
  they give: whoever has one here waits (:mod:`bailiwick.kernel.cells.bounds`).
- What no cell can ever run is withdrawn, if every cell has said so; so is what waits here past its
  deadline, as it would be in the line of a cell.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from bailiwick.journal.words import CancelCause
from bailiwick.kernel import Command, Envelope
from bailiwick.kernel.cells.book import GlobalRequest
from bailiwick.kernel.cells.bounds import is_borne
from bailiwick.kernel.cells.commands import RecallGlobal, SendGlobal, WithdrawGlobal
from bailiwick.kernel.cells.offers import (
    CanStart,
    ChosenCell,
    NoCell,
    Offer,
    asked_first,
    choose_cell,
)
from bailiwick.reconcile.cells.connection import CellLine, LineFailed
from bailiwick.reconcile.cells.moving import ASKED_MAX, Moves, look, others_with_room
from bailiwick.reconcile.cells.turns import Turns, turn_of
from bailiwick.runtime.gateway import Gateway
from bailiwick.runtime.replica import View
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.services.cells.desk import CellDesk
from bailiwick.services.cells.spelling import offer_of, spell_request
from bailiwick.vocab.cells import CellStanding
from bailiwick.vocab.errors import Conflict, NotFound
from bailiwick.vocab.words import PendingReason
from bailiwick.wire.actions.cells import CELL_HOME_OFFER
from bailiwick.wire.cells import CellOffer

ACTOR: Final = "cells"
OFFER_S: Final = 2.0
LOOKED_AT: Final = 256
PLACED_MAX: Final = 64
"""Requests that one round asks offers for."""
AT_ONCE: Final = 8
AGAIN_MS: Final = 3_000
"""After so long at the least a request that no cell could have is looked at again."""
TURN_MS: Final = 1_000 // PLACED_MAX * 2
"""And after so long for each that waits: by then all of them were looked at."""
AGREED_S: Final = 0.1
"""So long the other cells have to answer once one has said that it can start a request."""
SLOW_FROM_MS: Final = 500
"""Who takes longer over an answer is slow, whatever others say."""
SLOW_MS: Final = 30_000
"""So long a cell that took longer is not among the first to be asked, or, if slow, not asked."""
ROUND_MS: Final = 3_000
"""After so long a round begins to ask about nobody more; who is left has his turn in the next."""
GIVEN_MAX: Final = 2
SHUN_MS: Final = 30_000
"""So long a cell is not asked about a request that it was given so often, and has not kept."""


@dataclass(frozen=True, slots=True)
class RoundStart:
    """What a round begins with."""

    news: list[GlobalRequest]
    """Who waits, and was not known to."""
    waiting: int
    epochs: Mapping[str, int | None]
    """Of every cell; none if it is cut off."""


@dataclass(frozen=True, slots=True)
class Picked:
    """What is to become of those whose turn it was."""

    asked_for: list[GlobalRequest] = field(default_factory=list)
    over_quota: list[GlobalRequest] = field(default_factory=list)
    too_late: list[GlobalRequest] = field(default_factory=list)
    """Their deadline has passed."""
    gone: list[GlobalRequest] = field(default_factory=list)
    left: list[GlobalRequest] = field(default_factory=list)
    """The round was full."""


def see(view: View, turns: Turns) -> RoundStart:
    """Who is new in the line, and which cells there are; nothing is changed."""
    book = view.state.cells
    epochs = {
        cell: member.epoch if member.standing is CellStanding.REACHABLE else None
        for cell, member in book.members.items()
    }
    return RoundStart(turns.news(book), len(book.waiting), epochs)


def pick(view: View, found: Iterable[GlobalRequest]) -> Picked:
    """Which of those whose turn it is are asked for."""
    picked, requests = Picked(), view.state.cells.requests
    for each in found:
        deadline_ms = each.request.deadline_ms
        if requests.get(each.number) is not each:
            picked.gone.append(each)
        elif deadline_ms is not None and deadline_ms < view.now_ms:
            picked.too_late.append(each)
        elif len(picked.asked_for) == PLACED_MAX:
            picked.left.append(each)
        elif is_borne(view.state, each.request, now_ms=view.now_ms):
            picked.asked_for.append(each)
        else:
            picked.over_quota.append(each)
    return picked


@dataclass(slots=True)
class Placer:
    """Gives requests to cells."""

    gateway: Gateway
    desk: CellDesk
    lines: Mapping[str, CellLine]
    elapsed_ms: Callable[[], int]
    wake_cell: Callable[[str], None]
    say: Callable[[str], None]
    _turns: Turns = field(default_factory=Turns, init=False)
    _given: dict[tuple[int, str], tuple[int, int]] = field(default_factory=dict, init=False)
    """How often a request was given to a cell, and when that is forgotten."""
    _late: dict[str, int] = field(default_factory=dict, init=False)
    """Until when a cell that answered after others is not among the first to be asked."""
    _slow: dict[str, int] = field(default_factory=dict, init=False)
    """Until when a slow cell is not asked if there are others."""
    _again_ms: int = field(default=AGAIN_MS, init=False)
    _moves: Moves = field(default_factory=Moves, init=False)

    async def once(self) -> None:
        """Ask about the first who wait, and give each to one cell."""
        now_ms, turns = self.elapsed_ms(), self._turns
        self._late = {cell: at_ms for cell, at_ms in self._late.items() if at_ms > now_ms}
        self._slow = {cell: at_ms for cell, at_ms in self._slow.items() if at_ms > now_ms}
        self._given = {key: row for key, row in self._given.items() if row[1] > now_ms}
        seen = await self.gateway.read(lambda view: see(view, turns))
        self._again_ms = max(AGAIN_MS, TURN_MS * seen.waiting)
        turns.meet(seen.news)
        found = turns.take(LOOKED_AT, now_ms=now_ms)
        if found:
            await self._go_through(found, seen.epochs)
        if self._moves.is_due(now_ms):
            await self._move(seen.epochs)

    async def _go_through(
        self, found: list[GlobalRequest], epochs: Mapping[str, int | None]
    ) -> None:
        """Each whose turn it is is asked for, put off, or let go of."""
        picked = await self.gateway.read(lambda view: pick(view, found))
        for each in picked.left:
            self._turns.put_back(each)
        for each in picked.gone:
            self._forget(each)
        for each in picked.over_quota:
            self._wait(each, PendingReason.WAITING_FOR_QUOTA)
        for each in picked.too_late:
            await self._withdraw(each, WithdrawGlobal(each.number, CancelCause.DEADLINE_PASSED))
        at_once, until_ms = asyncio.Semaphore(AT_ONCE), self.elapsed_ms() + ROUND_MS

        async def place(each: GlobalRequest) -> None:
            async with at_once:
                if self.elapsed_ms() < until_ms:
                    await self._place(each, epochs)
                else:
                    self._turns.put_back(each)

        await asyncio.gather(*map(place, picked.asked_for))

    async def _place(self, each: GlobalRequest, epochs: Mapping[str, int | None]) -> None:
        free = self._free({c: e for c, e in epochs.items() if not self._has_failed(each.number, c)})
        first = asked_first({cell: free[cell] for cell in free if cell not in self._late})
        offers = await self._offers(first, each.request)
        if not any(isinstance(found, CanStart) for found in offers.values()):
            others = [cell for cell in free if cell not in first and cell not in self._slow]
            offers |= await self._offers(others, each.request)
        silent = [cell for cell in epochs if cell not in offers]
        await self._settle(each, choose_cell(offers, silent=silent))

    async def _move(self, epochs: Mapping[str, int | None]) -> None:
        """Recall some that wait in a line, and could start elsewhere."""
        moves, free = self._moves, self._free(epochs)
        found = await self.gateway.read(lambda view: look(view, moves))
        moves.offset = found.offset
        for number in found.over:
            del moves.times[number]
        asked = 0
        for each in sorted(found.requests, key=turn_of):
            free = {cell: amounts for cell, amounts in free.items() if cell not in self._slow}
            others = others_with_room(each, free)
            if not others or asked == ASKED_MAX:
                continue
            asked += 1
            moves.note_asked(each.number, self.elapsed_ms())
            offers = await self._offers(asked_first(others), each.request)
            could = any(isinstance(found, CanStart) for found in offers.values())
            if could and await self._do(RecallGlobal(each.number), f"global-{each.number}"):
                moves.note_recalled(each.number)
                self.wake_cell(each.cell or "")

    def _free(self, epochs: Mapping[str, int | None]) -> dict[str, tuple[int, int]]:
        """What is free in the cells that may be asked, as they told last: of the slow if alone."""
        may = [cell for cell, epoch in epochs.items() if self._may_ask(cell, epoch)]
        quick = [cell for cell in may if cell not in self._slow]
        return {cell: self.desk.contacts[cell].free for cell in quick or may}

    def _may_ask(self, cell: str, epoch: int | None) -> bool:
        contact = self.desk.contacts.get(cell)
        if epoch is None or contact is None or cell not in self.lines:
            return False
        return contact.is_fresh(epoch)

    def _has_failed(self, number: int, cell: str) -> bool:
        """Whether a request that waits here was given to this cell too often already."""
        return self._given.get((number, cell), (0, 0))[0] >= GIVEN_MAX

    async def _offers(self, cells: Iterable[str], request: PlacementRequest) -> dict[str, Offer]:
        """What those cells answer; who is still silent when another can start it is left."""
        tasks = {asyncio.create_task(self._offer(cell, request)): cell for cell in cells}
        offers, left, wait_s = dict[str, Offer](), set(tasks), None
        try:
            while left:
                ready, left = await asyncio.wait(
                    left, timeout=wait_s, return_when=asyncio.FIRST_COMPLETED
                )
                told = {tasks[each]: each.result() for each in ready}
                offers |= {cell: found for cell, found in told.items() if found is not None}
                if not ready:
                    break
                if wait_s is None and any(isinstance(o, CanStart) for o in offers.values()):
                    wait_s = AGREED_S
            for each in left:
                self._late[tasks[each]] = self.elapsed_ms() + SLOW_MS
        finally:
            for each in left:
                each.cancel()
            await asyncio.gather(*left, return_exceptions=True)
        return offers

    async def _offer(self, cell: str, request: PlacementRequest) -> Offer | None:
        line, contact = self.lines.get(cell), self.desk.contacts.get(cell)
        if line is None or contact is None or contact.trouble is not None:
            return None
        body, begun_ms = spell_request(request), self.elapsed_ms()
        try:
            told = await line.ask(CELL_HOME_OFFER, body, answers=CellOffer, wait_s=OFFER_S)
        except LineFailed as failed:
            contact.trouble = f"no offer: {failed}"
            return None
        finally:
            if self.elapsed_ms() - begun_ms > SLOW_FROM_MS:
                self._slow[cell] = self.elapsed_ms() + SLOW_MS
        return offer_of(told)

    async def _settle(self, each: GlobalRequest, chosen: ChosenCell | NoCell) -> None:
        number = each.number
        match chosen:
            case ChosenCell(cell=cell, waits=waits):
                if await self._do(SendGlobal(number, cell, waits), f"global-{number}"):
                    self._forget(each)
                    times, _ = self._given.get((number, cell), (0, 0))
                    self._given[number, cell] = times + 1, self.elapsed_ms() + SHUN_MS
                    self.wake_cell(cell)
                else:
                    self._wait(each, PendingReason.WAITING_FOR_CAPACITY)
            case NoCell(reason=reason, never=True):
                never = WithdrawGlobal(number, CancelCause.UNSATISFIABLE, reason)
                if await self._withdraw(each, never):
                    self.say(f"request {number} can run in no cell ({reason.value}): withdrawn")
            case NoCell(reason=reason):
                self._wait(each, reason)

    async def _withdraw(self, each: GlobalRequest, command: WithdrawGlobal) -> bool:
        if await self._do(command, f"global-{each.number}"):
            self._forget(each)
            return True
        self._turns.put_off(each, self.elapsed_ms() + self._again_ms)  # by then it is gone
        return False

    async def _do(self, command: Command, correlation_id: str) -> bool:
        """Whether it took effect; not if the request or the cell is another by now."""
        try:
            await self.gateway.execute(Envelope(command, ACTOR, correlation_id))
        except (Conflict, NotFound):
            return False
        return True

    def _forget(self, each: GlobalRequest) -> None:
        self._turns.forget(each)
        self.desk.reasons.pop(each.number, None)

    def _wait(self, each: GlobalRequest, why: PendingReason) -> None:
        self._turns.put_off(each, self.elapsed_ms() + self._again_ms)
        self.desk.reasons[each.number] = why
