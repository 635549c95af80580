"""A home's leader and its cells: it writes to each, hears each, and gives requests to them.

Rules:

- Each cell is written to by itself, about once a second, and at once when there is something for
  it, or more to hear than went into its reply: one that is slow, dead or talkative holds up no
  other.
- A leader orders nothing in a cell before that has replied to it in this epoch. What a leader
  before it ordered is told again then; the cell does each order once.
- What is written is chosen by :mod:`.letters`. A letter that is refused (another epoch, too late),
  or has no reply, is followed by one that orders nothing: its reply says how far the cell is.
- Who has told all that is new, and has not as many requests as are known here, is given nothing.
- A reply that cannot be one is the trouble of that cell alone, as if it had not replied.
- No order lasts that its cell will not take: who does not take the same again and again, and yet
  replies to letters that order nothing, is cut off and met anew, which frees what it has not got.
  For a while then nothing is ordered of it, and nothing more is given to it.
- Who has not replied for :data:`~bailiwick.kernel.cells.link.CUT_OFF_MS` is cut off. It keeps what
  it has and gets nothing, and is met again in a later epoch when it replies.
- How this home is called in its cells follows from its journal: no other plane has that name.
"""

from __future__ import annotations

import asyncio
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx2

from bailiwick.kernel import Command, Envelope
from bailiwick.kernel.cells import link
from bailiwick.kernel.cells.commands import CutOffCell, ReachCell
from bailiwick.reconcile.cells.connection import (
    WHY_MAX,
    CellLine,
    LineFailed,
    open_client,
)
from bailiwick.reconcile.cells.keys import CellKeys
from bailiwick.reconcile.cells.letters import fault_of, next_letter
from bailiwick.reconcile.cells.placement import ACTOR, Placer
from bailiwick.runtime.gateway import Gateway
from bailiwick.runtime.replica import View
from bailiwick.runtime.runner import Runner
from bailiwick.runtime.waiting import await_set
from bailiwick.services.apps.events import journal_name
from bailiwick.services.cells.desk import CellContact, CellDesk
from bailiwick.services.cells.spelling import reply_of, spell_letter
from bailiwick.vocab.cells import CellStanding, TakingStatus
from bailiwick.vocab.errors import Conflict, InvalidValue, NotFound
from bailiwick.wire.actions.cells import CELL_HOME_LETTER
from bailiwick.wire.cells import LetterReply

EVERY_S: Final = 1.0
BREATH_S: Final = 0.02
"""Letters with orders are so far apart: what is ordered meanwhile goes together."""
PAUSES_MOST: Final = 4
"""So many turns at most a cell that does not reply is let be: it is met soon after it is back."""
LETTER_S: Final = 5.0
DOUBTS_MAX: Final = 3
"""So often in a row a cell may tell of less than before, or refuse the same order."""
SHUN_MS: Final = 30_000
"""So long a cell is ordered nothing that was cut off for refusing."""
HOME_PREFIX: Final = "fleet-"


@dataclass(frozen=True, slots=True)
class CellTerms:
    """How cells are reached."""

    keys: Path | None = None
    """The folder with a key for each cell."""
    verify: ssl.SSLContext | bool = True
    """Whose certificates they may show."""
    every_s: float = EVERY_S


@dataclass(slots=True)
class _Tended:
    """A cell that is written to."""

    line: CellLine
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    busy_s: float = -BREATH_S
    """When it was last written what it is to do, or did not reply."""
    at_once: int | None = None
    """How many full replies more are heard at once: no more than could tell of all that it has, or
    who makes up news would have us write them down as fast as it talks."""
    first: int | None = None
    """The first order of the letter that is being written."""
    task: asyncio.Task[None] | None = None


class CellLoop:
    """The duty: as long as it runs, this replica leads."""

    def __init__(
        self, runner: Runner, desk: CellDesk, *, terms: CellTerms, say: Callable[[str], None]
    ) -> None:
        self._runner, self._desk, self._terms, self._say = runner, desk, terms, say

    @property
    def name(self) -> str:
        """What it is called in the log."""
        return "cells"

    def run(self, stop: threading.Event) -> None:
        """Tend the cells until told to stop."""
        try:
            asyncio.run(self._live(stop))
        finally:
            self._desk.on_wake = lambda: None
            self._desk.clear()

    async def _live(self, stop: threading.Event) -> None:
        loop, woken = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with suppress(RuntimeError):  # the loop is closed: another leads
                loop.call_soon_threadsafe(woken.set)

        self._desk.clear()
        self._desk.on_wake = wake
        gateway = Gateway(self._runner, wait_s=self._runner.wait_s)
        async with open_client(self._terms.verify) as client:
            home = HOME_PREFIX + await journal_name(gateway)
            lead = _Lead(gateway, self._desk, terms=self._terms, home=home, say=self._say)
            try:
                while not stop.is_set():  # until another leads
                    woken.clear()
                    await lead.round(client)
                    await await_set(woken, self._terms.every_s)
            finally:
                await lead.end()


class _Lead:
    """One leader's time: all that it knows is forgotten with it."""

    def __init__(
        self,
        gateway: Gateway,
        desk: CellDesk,
        *,
        terms: CellTerms,
        home: str,
        say: Callable[[str], None],
    ) -> None:
        self._gateway, self._desk, self._terms, self._home = gateway, desk, terms, home
        self._clock, self._say = gateway.runner.replica.clock, say
        self._keys = CellKeys(terms.keys)
        self._tended: dict[str, _Tended] = {}
        self._lines: dict[str, CellLine] = {}
        self._placer = Placer(
            gateway, desk, self._lines, self._clock.elapsed_ms, self._wake_cell, say
        )

    async def round(self, client: httpx2.AsyncClient) -> None:
        """See who is a cell, who is cut off, and who waits."""
        urls = await self._gateway.lookup(_urls)
        for cell in [c for c, each in self._tended.items() if urls.get(c) != each.line.url]:
            await self._let_go(cell)
        for cell in urls.keys() - self._tended.keys():
            line = CellLine(cell, urls[cell], client, self._keys)
            self._desk.contacts[cell] = CellContact(self._clock.elapsed_ms())
            self._lines[cell] = line
            tended = self._tended[cell] = _Tended(line)
            tended.task = asyncio.create_task(self._tend(cell, tended))
        for each in self._tended.values():
            if each.task is not None and each.task.done():
                each.task.result()  # what it could not go on from
        await self._watch()  # before offers are asked, for which somebody may be slow
        await self._wake_ordered()
        await self._placer.once()

    async def end(self) -> None:
        """Let go of all cells."""
        for cell in list(self._tended):
            await self._let_go(cell)

    async def _let_go(self, cell: str) -> None:
        tended = self._tended.pop(cell)
        self._lines.pop(cell, None)
        self._desk.contacts.pop(cell, None)
        if tended.task is not None:
            tended.task.cancel()
            await asyncio.gather(tended.task, return_exceptions=True)

    def _wake_cell(self, cell: str) -> None:
        if cell in self._tended:
            self._tended[cell].woken.set()

    async def _wake_ordered(self) -> None:
        """Have letters written to those that were not told all yet."""
        behind = {
            cell: contact.last.done
            for cell, contact in self._desk.contacts.items()
            if contact.last is not None and contact.trouble is None
        }
        for cell in await self._gateway.lookup(lambda view: _with_orders(view, behind)):
            self._wake_cell(cell)

    async def _watch(self) -> None:
        """Who has not been heard of for long is cut off."""
        now_ms = self._clock.elapsed_ms()
        silent = [
            cell
            for cell, contact in self._desk.contacts.items()
            if now_ms - contact.since_ms > link.CUT_OFF_MS
        ]
        for cell in await self._gateway.lookup(lambda view: _reachable(view, silent)):
            if await self._do(CutOffCell(cell), cell):
                contact = self._desk.contacts.get(cell)
                why = None if contact is None else contact.trouble
                self._say(f"cell {cell} is cut off: {why or 'it does not reply'}")

    # -- one cell ------------------------------------------------------------------------------

    async def _tend(self, cell: str, tended: _Tended) -> None:
        pause_s, contact = self._terms.every_s, self._desk.contacts[cell]
        while True:  # until the cell is let go of
            tended.woken.clear()
            try:
                has_more = await self._write(cell, tended, contact)
                pause_s = BREATH_S if has_more else self._terms.every_s
            except LineFailed as failed:
                contact.trouble, tended.busy_s = str(failed), time.monotonic()
                contact.last = None
                await self._refused(cell, tended, contact)
                every_s = self._terms.every_s
                pause_s = min(2 * max(pause_s, every_s), PAUSES_MOST * every_s)
            since_s = time.monotonic() - tended.busy_s
            await asyncio.sleep(max(0.0, BREATH_S - since_s))
            await await_set(tended.woken, pause_s)

    async def _write(self, cell: str, tended: _Tended, contact: CellContact) -> bool:
        """One letter, and its reply; whether there is more to hear or to say."""
        last = contact.last if self._clock.elapsed_ms() >= contact.shunned_ms else None
        told = await self._gateway.lookup(
            lambda view: next_letter(view.state, cell, home=self._home, last=last)
        )
        tended.first = told.orders[0].number if told is not None and told.orders else None
        if told is None:
            await self._doubt(cell, contact)
            return True
        contact.doubts = 0 if told.orders else contact.doubts
        body = spell_letter(told)
        if told.orders:
            tended.busy_s = time.monotonic()
        line = tended.line
        found = await line.ask(CELL_HOME_LETTER, body, answers=LetterReply, wait_s=LETTER_S)
        try:
            await self._hear(cell, found, contact=contact, letter=told, url=line.url)
        except InvalidValue as error:  # what cannot be written down
            raise LineFailed(f"it tells what cannot be: {error}"[:WHY_MAX]) from None
        if told.orders or last is not None:
            contact.note_taken()
        if len(body.orders) < len(told.orders):
            return True
        if len(found.news) < link.NEWS_MAX:
            tended.at_once = None
            return False
        return await self._may_go_on(cell, tended)

    async def _may_go_on(self, cell: str, tended: _Tended) -> bool:
        """Whether a cell that told as much as goes into a reply may go on at once."""
        if tended.at_once is None:
            count = await self._gateway.lookup(lambda view: view.state.cells.count_within(cell))
            tended.at_once = 1 + count // link.NEWS_MAX
        tended.at_once = max(0, tended.at_once - 1)
        return tended.at_once > 0

    async def _doubt(self, cell: str, contact: CellContact) -> None:
        """What it said last cannot be all that it has done: ask again, and then meet it anew."""
        contact.last, contact.doubts = None, contact.doubts + 1
        if contact.doubts >= DOUBTS_MAX and await self._do(CutOffCell(cell), cell):
            contact.doubts = 0
            self._say(f"cell {cell} is cut off: it has not done what it told of before")

    async def _refused(self, cell: str, tended: _Tended, contact: CellContact) -> None:
        """It did not take what it was to do: tell it again, and then meet it anew."""
        if tended.first is None or contact.note_refused(tended.first) < DOUBTS_MAX:
            return
        if await self._do(CutOffCell(cell), cell):
            contact.note_taken()
            contact.shunned_ms = self._clock.elapsed_ms() + SHUN_MS
            self._say(f"cell {cell} is cut off: it does not take its orders ({contact.trouble})")

    async def _hear(
        self,
        cell: str,
        told: LetterReply,
        *,
        contact: CellContact,
        letter: link.CellLetter,
        url: str,
    ) -> None:
        """A reply came: what it says is sealed, if it can be so."""
        reply = reply_of(told)
        member = await self._gateway.lookup(lambda view: view.state.cells.members.get(cell))
        if member is None or member.url != url:
            return
        fault = fault_of(member, letter, reply=reply, last=contact.last)
        if fault is not None:
            raise LineFailed(fault)
        if member.standing is CellStanding.CUT_OFF:
            if reply.epoch <= member.epoch:
                return
            try:
                await self._execute(ReachCell(cell, reply.epoch, reply.done), cell)
            except (Conflict, NotFound) as refused:
                raise LineFailed(str(refused)) from None
            self._say(f"cell {cell} is reached, epoch {reply.epoch}")
        elif reply.epoch != member.epoch:
            return
        contact.last, contact.epoch = reply, reply.epoch
        contact.since_ms, contact.heard_ms = self._clock.elapsed_ms(), self._clock.now_ms()
        contact.free = told.free_gpu_milli, told.free_cpu_milli
        for note in link.notes_of(cell, reply):
            if not await self._do(note, cell):
                return  # it is cut off, or gone, by now
        is_shunned = contact.since_ms < contact.shunned_ms
        contact.trouble = "it does not take what it is ordered" if is_shunned else None
        contact.trouble = contact.trouble or await self._gateway.lookup(
            lambda view: link.miscount(view.state, cell, told=reply)
        )
        if any(taking.status is TakingStatus.TURNED_AWAY for _, taking in reply.news):
            self._desk.wake()  # others may have it

    async def _do(self, command: Command, cell: str) -> bool:
        try:
            await self._execute(command, cell)
        except (Conflict, NotFound):
            return False
        return True

    async def _execute(self, command: Command, cell: str) -> None:
        await self._gateway.execute(Envelope(command, ACTOR, f"cell-{cell}"))


def _urls(view: View) -> dict[str, str]:
    return {cell: member.url for cell, member in view.state.cells.members.items()}


def _reachable(view: View, cells: list[str]) -> list[str]:
    members = view.state.cells.members
    return [c for c in cells if c in members and members[c].standing is CellStanding.REACHABLE]


def _with_orders(view: View, behind: dict[str, int]) -> list[str]:
    """The cells for which there are orders behind what they have done."""
    members = view.state.cells.members
    return [
        cell
        for cell, done in behind.items()
        if cell in members and members[cell].next_number > done + 1
    ]
