"""The one door from an event loop to the kernel: commands, reads, rehearsals and records.

Rules:

- ``execute`` answers when the command is durable; ``rehearse`` decides and changes nothing.
- Reads and rehearsals run on the read model: they see all that was durable when they were asked
  for, and cost the writer nothing. A read must give back values of its own: it may neither keep
  nor change the state. ``lookup`` is for one thing by its key, and goes before longer reads.
- ``copied`` is for whoever wants to try something: it is given a copy of the state, of its own.
- A call costs no thread. Answers of one commit are handed to the loop together, by one wake-up.
- Every wait is bounded. A command without an answer in time is ``Unavailable``: its outcome is
  open, and the same key tells it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from typing import Any, Generic, TypeAlias, TypeVar

from bailiwick.kernel import Command, Envelope
from bailiwick.kernel.answers import Answer
from bailiwick.kernel.events import Event
from bailiwick.kernel.slices import decide
from bailiwick.runtime.feed import Feed
from bailiwick.runtime.replica import Role, Ticket, View
from bailiwick.runtime.runner import Runner
from bailiwick.runtime.state_copy import OneAtATime, copy_of
from bailiwick.vocab.errors import Unavailable

T = TypeVar("T")

SWEEP_S = 0.25
"""How often calls that wait are looked at for their time being over."""

Watch: TypeAlias = Callable[[str, str | None], AbstractContextManager[None]]
"""Put around every wait (``call`` or ``look``, and the command's name): for whoever measures it."""


class Gateway:
    """One replica, as seen from whichever event loop asks."""

    def __init__(self, runner: Runner, *, wait_s: float, watch: Watch | None = None) -> None:
        self.runner = runner
        self.wait_s = wait_s
        self._watch: Watch = watch or (lambda wait, command: nullcontext())
        self._exchange: _Exchange | None = None

    @property
    def is_ready(self) -> bool:
        """Whether there is a state to answer from."""
        return self.runner.failed is None and self.role is not Role.STARTING

    @property
    def role(self) -> Role:
        """What the replica is doing."""
        return self.runner.replica.role

    @property
    def journal(self) -> Feed:
        """The end of the journal."""
        return self.runner.replica.journal

    async def execute(self, envelope: Envelope, *, wait_s: float | None = None) -> Answer:
        """The durable answer to a command."""
        self._check()
        with self._watch("call", type(envelope.command).__name__):

            def begin(reply: _Reply[Answer]) -> None:
                def settle(ticket: Ticket) -> None:
                    if ticket.error is not None:
                        reply.fail(ticket.error)
                    elif ticket.answer is not None:
                        reply.give(ticket.answer)

                self.runner.submit(Ticket(envelope, settle))

            wait = self.wait_s if wait_s is None else wait_s
            return await self._here().wait(begin, what="the kernel", wait_s=wait)

    async def read(self, read: Callable[[View], T]) -> T:
        """What ``read`` makes of the state: a page, a list, a sum."""
        return await self._read(read, urgent=False)

    async def lookup(self, find: Callable[[View], T]) -> T:
        """What ``find`` makes of the state: one thing by its key, for what hangs on it."""
        return await self._read(find, urgent=True)

    async def _read(self, read: Callable[[View], T], *, urgent: bool) -> T:
        self._check()
        if self.role is Role.STARTING:
            raise Unavailable("the state", "it is being read from the store")
        with self._watch("look", None):

            def begin(reply: _Reply[T]) -> None:
                def run(view: View) -> None:
                    try:
                        reply.give(read(view))
                    except Exception as error:
                        reply.fail(error)

                self.runner.read_soon(run, urgent=urgent)

            return await self._here().wait(begin, what="the state", wait_s=self.wait_s)

    async def rehearse(self, command: Command) -> Event | None:
        """The first event that the command would lead to; it does not happen.

        What would be refused with an error is.
        """

        def first(view: View) -> Event | None:
            now_ms = max(view.now_ms, view.state.clock_ms)
            return next(iter(decide(view.state, command, now_ms)), None)

        return await self.read(first)

    async def copied(self, use: Callable[[bytes, int], T]) -> T:
        """What ``use`` makes of a copy of the state and the time, in a thread of its own."""
        async with self._here().trying.turn():
            data, now_ms = await self.read(lambda view: (copy_of(view.state), view.now_ms))
            return await asyncio.to_thread(use, data, now_ms)

    async def records(self, first: int, limit: int) -> list[bytes]:
        """Up to ``limit`` durable lines from number ``first`` on; none at the journal's end."""
        self._check()
        found = self.journal.read(first, limit)
        if found is not None:
            return found
        with self._watch("look", None):
            return list(await asyncio.to_thread(self.runner.lines.read, first, limit))

    def _check(self) -> None:
        if self.runner.failed is not None:
            raise Unavailable("this replica", "it has failed and is ending")

    def _here(self) -> _Exchange:
        loop = asyncio.get_running_loop()
        if self._exchange is None or self._exchange.loop is not loop:
            self._exchange = _Exchange(loop)
        return self._exchange


class _Reply(Generic[T]):
    """What somebody in an event loop waits for; ``give`` or ``fail``, once, from any thread."""

    def __init__(self, exchange: _Exchange) -> None:
        self._exchange = exchange
        self.future: asyncio.Future[T] = exchange.loop.create_future()

    def give(self, value: T) -> None:
        """Here is the answer."""
        self._exchange.settle(self.future, partial(self.future.set_result, value))

    def fail(self, error: BaseException) -> None:
        """There is none, because of this."""
        self._exchange.settle(self.future, partial(self.future.set_exception, error))


class _Exchange:
    """All waits of one event loop: what is settled at the same time wakes it once."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._waiting: dict[asyncio.Future[Any], tuple[float, str]] = {}
        self._settled: deque[tuple[asyncio.Future[Any], Callable[[], None]]] = deque()
        self._woken = self._sweeping = False
        self.trying = OneAtATime()

    async def wait(self, begin: Callable[[_Reply[T]], None], *, what: str, wait_s: float) -> T:
        """Begin, and wait until there is a reply or the time is over."""
        reply: _Reply[T] = _Reply(self)
        self._waiting[reply.future] = (self.loop.time() + wait_s, what)
        if not self._sweeping:
            self._sweeping = True
            self.loop.call_later(SWEEP_S, self._sweep)
        try:
            begin(reply)
            return await reply.future
        finally:
            del self._waiting[reply.future]

    def settle(self, future: asyncio.Future[Any], finish: Callable[[], None]) -> None:
        """Called by any thread: keep the reply, and wake the loop if it sleeps."""
        self._settled.append((future, finish))
        if not self._woken:
            self._woken = True
            with suppress(RuntimeError):  # the loop is closed: there is nobody left to tell
                self.loop.call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        self._woken = False  # before looking: who comes from here on wakes the loop again
        while self._settled:  # bounded by the callers there are
            future, finish = self._settled.popleft()
            if not future.done():
                finish()

    def _sweep(self) -> None:
        """Give up calls whose time is over: one look at all is cheaper than a timer for each."""
        now = self.loop.time()
        for future, (until, what) in list(self._waiting.items()):
            if until <= now and not future.done():
                future.set_exception(Unavailable(what, "no answer in time"))
        self._sweeping = bool(self._waiting)
        if self._sweeping:
            self.loop.call_later(SWEEP_S, self._sweep)
