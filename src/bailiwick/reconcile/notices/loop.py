"""The leader's duty to tell people: read what is new, and send what is due.

Rules:

- Only while its replica leads. Everything is in rows, so the next leader goes on where this one
  was; what was under way is sent again under the same id.
- Of one person one letter is under way by each way: a receiver that hangs delays nobody else.
- So many letters are under way by each way: a mail server that hangs delays mail alone, neither
  webhooks nor what is read and put into inboxes.
- All waits have an end, and a round takes up a bounded number.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from bailiwick.events.retrying import RetryPace
from bailiwick.reconcile.notices.reading import NoticeReader, NoticeSources
from bailiwick.reconcile.notices.sending import LetterTools, deliver
from bailiwick.reconcile.webhooks.sender import Sender
from bailiwick.runtime.waiting import await_set
from bailiwick.services.apps.events import name_of
from bailiwick.services.notices.desk import NoticeDesk
from bailiwick.store.notices.people import HOUR_MS
from bailiwick.vocab.errors import BailiwickError
from bailiwick.vocab.notices import SENT, NoticeChannel

POLL_S: Final = 0.5
GATHER_S: Final = 0.05
"""How long news gathers, so that a busy journal is read in larger pieces."""
FORGET_S: Final = 600.0
UNDER_WAY_MAX: Final = 32
"""Letters by each way."""
THREADS: Final = UNDER_WAY_MAX + 8
"""So that each letter to a mail server may wait in one, and the tables are never without."""
DUE_MAX: Final = 500
ROUNDS_MAX: Final = 20
"""Pages of records that one round reads before it looks at letters."""

Way = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeTerms:
    """How notices are sent."""

    timeout_s: float = 10.0
    pace: RetryPace = field(default_factory=RetryPace)
    dead: Callable[[str, str], None] = lambda channel, fault: None
    """Is told of each letter that is given up."""


class NoticeLoop:
    """Tells people what happens in one journal."""

    def __init__(
        self,
        sources: NoticeSources,
        desk: NoticeDesk,
        *,
        terms: NoticeTerms | None = None,
        say: Callable[[str], None] = lambda message: None,
    ) -> None:
        self._sources, self._desk, self._say = sources, desk, say
        self._terms = terms or NoticeTerms()

    @property
    def name(self) -> str:
        """What it is called in the log."""
        return "notices"

    def run(self, stop: threading.Event) -> None:
        """Go on until told to stop."""
        asyncio.run(self._run(stop))

    async def _run(self, stop: threading.Event) -> None:
        loop, woken = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with suppress(RuntimeError):  # the loop is closed: there is nobody left to wake
                loop.call_soon_threadsafe(woken.set)

        loop.set_default_executor(ThreadPoolExecutor(THREADS, thread_name_prefix="notices"))
        lines = self._sources.runner.lines
        unlisten = lines.listen(wake)
        sender = Sender(allow_private=self._desk.allow_private, timeout_s=self._terms.timeout_s)
        round_ = _NoticeRound(self._sources, self._desk, terms=self._terms, sender=sender)
        round_.say = self._say
        try:
            while not stop.is_set():  # until told to stop
                woken.clear()
                await round_.once()
                await await_set(woken, POLL_S)
                await asyncio.sleep(GATHER_S)
        finally:
            unlisten()
            await round_.close()
            await sender.close()


class _NoticeRound:
    """What one run has under way."""

    def __init__(
        self, sources: NoticeSources, desk: NoticeDesk, *, terms: NoticeTerms, sender: Sender
    ) -> None:
        self._sources, self._desk, self._terms, self._sender = sources, desk, terms, sender
        self._reader = NoticeReader(sources)
        self._tasks: dict[Way, asyncio.Task[None]] = {}
        self._tools: LetterTools | None = None
        self._forgot = -FORGET_S
        self.say: Callable[[str], None] = lambda message: None

    async def once(self) -> None:
        """Read what is new, and send what is due."""
        try:
            await self._read()
        except BailiwickError as error:
            if not error.retryable:
                raise
            self.say(f"notices are read later: {error}")  # what is due is sent all the same
        now_ms = self._sources.clock.now_ms()
        await asyncio.to_thread(self._sum_up, now_ms)
        await self._send(now_ms)
        now = asyncio.get_running_loop().time()
        if now - self._forgot >= FORGET_S:
            await asyncio.to_thread(self._desk.post.forget, now_ms)
            self._forgot = now

    async def _read(self) -> None:
        for _ in range(ROUNDS_MAX):
            if not await asyncio.to_thread(self._reader.read_on):
                break
        await asyncio.to_thread(self._reader.read_ended)

    def _sum_up(self, now_ms: int) -> None:
        people, post = self._desk.people, self._desk.post
        for principal in people.withheld(before_ms=now_ms - HOUR_MS, limit=UNDER_WAY_MAX):
            post.sum_up(principal, now_ms=now_ms)

    async def _send(self, now_ms: int) -> None:
        for way, task in list(self._tasks.items()):
            if task.done():
                del self._tasks[way]
                task.result()  # what it failed with ends this run, and the duty begins again
        for channel in SENT:
            await self._send_by(channel, now_ms)

    async def _send_by(self, channel: NoticeChannel, now_ms: int) -> None:
        under_way = sum(by == channel.value for _, by in self._tasks)
        for letter in await asyncio.to_thread(self._desk.post.due, now_ms, channel, limit=DUE_MAX):
            way = (letter.principal, channel.value)
            if way in self._tasks or under_way >= UNDER_WAY_MAX:
                continue
            tools = await self._letter_tools()
            if tools is not None:
                self._tasks[way] = asyncio.create_task(deliver(letter, tools))
                under_way += 1

    async def _letter_tools(self) -> LetterTools | None:
        lines = self._sources.runner.lines
        if self._tools is None and lines.size > 0:
            first = (await asyncio.to_thread(lines.read, 0, 1))[0]
            self._tools = LetterTools(
                desk=self._desk,
                runner=self._sources.runner,
                sender=self._sender,
                clock=self._sources.clock,
                journal=name_of(first),
                pace=self._terms.pace,
                say=self.say,
                dead=self._terms.dead,
            )
        return self._tools

    async def close(self) -> None:
        """Leave what is under way: it is sent again, under the same id."""
        for task in self._tasks.values():
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks.values())
