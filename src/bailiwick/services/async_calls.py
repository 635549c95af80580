"""Calls to a replica from an event loop: many callers wait, and one wake-up answers a whole batch.

Rules:

- A call costs no thread. Answers of one commit are handed to the loop together.
- As with threads, every wait is bounded and a timeout leaves the outcome open.
"""

from __future__ import annotations

import asyncio
from collections import deque

from bailiwick.kernel import Envelope
from bailiwick.kernel.answers import Answer
from bailiwick.services.replica import Ticket
from bailiwick.services.runner import Runner
from bailiwick.vocab.errors import Unavailable

SWEEP_S = 0.25
"""How often calls that wait are looked at for their time being over."""


class AsyncCalls:
    """The door of one event loop to one replica; make it inside the loop."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[int, tuple[asyncio.Future[Answer], float]] = {}
        self._settled: deque[Ticket] = deque()
        self._woken = self._sweeping = False

    async def call(self, envelope: Envelope, *, wait_s: float | None = None) -> Answer:
        """The durable answer to a command."""
        future: asyncio.Future[Answer] = self._loop.create_future()
        ticket = Ticket(envelope, self._note)
        wait = self._runner.wait_s if wait_s is None else wait_s
        self._waiting[id(ticket)] = (future, self._loop.time() + wait)
        if not self._sweeping:
            self._sweeping = True
            self._loop.call_later(SWEEP_S, self._sweep)
        try:
            self._runner.submit(ticket)
            return await future
        finally:
            del self._waiting[id(ticket)]

    def _note(self, ticket: Ticket) -> None:
        """Called by the replica's thread: keep the ticket, and wake the loop if it sleeps."""
        self._settled.append(ticket)
        if not self._woken:
            self._woken = True
            self._loop.call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        self._woken = False  # before looking: who comes from here on wakes the loop again
        while self._settled:  # bounded by the callers there are
            ticket = self._settled.popleft()
            future, _ = self._waiting.get(id(ticket), (None, 0.0))
            if future is None or future.done():
                continue
            if ticket.error is not None:
                future.set_exception(ticket.error)
            elif ticket.answer is not None:
                future.set_result(ticket.answer)

    def _sweep(self) -> None:
        """Give up calls whose time is over: one look at all is cheaper than a timer for each."""
        now = self._loop.time()
        for future, until in list(self._waiting.values()):
            if until <= now and not future.done():
                future.set_exception(Unavailable("the kernel", "no answer in time"))
        self._sweeping = bool(self._waiting)
        if self._sweeping:
            self._loop.call_later(SWEEP_S, self._sweep)
