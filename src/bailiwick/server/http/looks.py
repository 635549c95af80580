"""Reads and commands from the event loop: the two ways in which a handler meets the kernel.

Rules:

- A read runs between two rounds of the replica, in the replica's own thread; it must be short and
  give back values of its own. Every wait is bounded.
- A dry run decides the same command on the same state and stops before the first event takes
  effect: what would be refused with an error is, and nothing changes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from bailiwick.kernel import Command, Envelope
from bailiwick.kernel.answers import Answer
from bailiwick.kernel.events import Event
from bailiwick.kernel.slices import decide
from bailiwick.ports import JournalStore
from bailiwick.services.async_calls import AsyncCalls
from bailiwick.services.replica import Role, View
from bailiwick.services.runner import Runner
from bailiwick.vocab.errors import Unavailable

T = TypeVar("T")


class Looks:
    """One replica, as seen from whichever event loop asks."""

    def __init__(self, runner: Runner, *, wait_s: float) -> None:
        self.runner = runner
        self.wait_s = wait_s
        self._calls: AsyncCalls | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def store(self) -> JournalStore:
        """Where the journal is; to be read in the replica's thread alone."""
        return self.runner.replica.store

    @property
    def is_ready(self) -> bool:
        """Whether there is a state to answer from."""
        return self.runner.failed is None and self.runner.replica.role is not Role.STARTING

    async def call(self, envelope: Envelope, *, wait_s: float | None = None) -> Answer:
        """The durable answer to a command."""
        self._check()
        loop = asyncio.get_running_loop()
        if self._calls is None or self._loop is not loop:
            self._calls, self._loop = AsyncCalls(self.runner), loop
        return await self._calls.call(envelope, wait_s=wait_s or self.wait_s)

    async def look(self, read: Callable[[View], T]) -> T:
        """What ``read`` makes of the state."""
        self._check()
        if self.runner.replica.role is Role.STARTING:
            raise Unavailable("the state", "it is being read from the store")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def give(found: list[T], error: Exception | None) -> None:
            if future.done():
                return
            if error is not None:
                future.set_exception(error)
            else:
                future.set_result(found[0])

        def run(view: View) -> None:
            found: list[T] = []
            raised: Exception | None = None
            try:
                found.append(read(view))
            except Exception as error:
                raised = error
            loop.call_soon_threadsafe(give, found, raised)

        self.runner.look_soon(run)
        try:
            return await asyncio.wait_for(future, self.wait_s)
        except TimeoutError:
            raise Unavailable("the state", f"no answer within {self.wait_s:g} s") from None

    async def rehearse(self, command: Command) -> Event | None:
        """The first event that the command would lead to; it does not happen."""

        def first(view: View) -> Event | None:
            now_ms = max(view.now_ms, view.state.clock_ms)
            return next(iter(decide(view.state, command, now_ms)), None)

        return await self.look(first)

    def _check(self) -> None:
        if self.runner.failed is not None:
            raise Unavailable("this replica", "it has failed and is ending")
