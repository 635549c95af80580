"""The leader's duty to send events: one line for each webhook, and one reader for all of them.

Rules:

- Each webhook goes its own way, in a task of its own: one whose receiver hangs delays no other.
- New records are read once. Who waits at the end of the journal is moved past what is not for it,
  and woken for what is. Who is behind reads by itself.
- Level-triggered: which webhooks there are is read from the state, how far each is from its row. A
  restart, or a new leader, goes on there; what was under way is sent again under the same id.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field

from bailiwick.apps.webhooks import Webhook
from bailiwick.events.retrying import RetryPace
from bailiwick.journal.record import Record, parse_record
from bailiwick.reconcile.webhooks.delivery import HookLine, LineTools, T
from bailiwick.reconcile.webhooks.sender import Sender
from bailiwick.runtime.runner import Runner
from bailiwick.runtime.waiting import await_set
from bailiwick.services.apps.events import may_be_event, name_of
from bailiwick.store.webhooks.rows import HookKey, WebhookBook

PAGE = 200
GATHER_S = 0.02
"""How long news gathers, so that a busy journal is read in larger pieces."""
POLL_S = 0.5
"""How often is asked for replays, if nothing happens."""
REFRESH_S, SAVE_S = 30.0, 60.0
ROW_THREADS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookTerms:
    """How webhooks are sent."""

    key: bytes = field(repr=False)
    """What secrets are made from."""
    allow_private: bool = False
    """Whether they may lead to private networks and this machine."""
    timeout_s: float = 10.0
    pace: RetryPace = field(default_factory=RetryPace)
    dead: Callable[[str], None] = lambda fault: None
    """Is told of each event that is given up, by what it failed with."""


class WebhookLoop:
    """Sends the events of one journal; only while its replica leads."""

    def __init__(
        self,
        runner: Runner,
        book: WebhookBook,
        *,
        terms: WebhookTerms,
        say: Callable[[str], None] = lambda message: None,
    ) -> None:
        self._runner, self._book, self._terms, self._say = runner, book, terms, say

    @property
    def name(self) -> str:
        """What it is called in the log."""
        return "webhooks"

    def run(self, stop: threading.Event) -> None:
        """Go on until told to stop."""
        asyncio.run(self._run(stop))

    async def _run(self, stop: threading.Event) -> None:
        loop, woken = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with suppress(RuntimeError):  # the loop is closed: there is nobody left to wake
                loop.call_soon_threadsafe(woken.set)

        unlisten = self._runner.lines.listen(wake)
        pool = ThreadPoolExecutor(ROW_THREADS, thread_name_prefix="hook-rows")
        sender = Sender(allow_private=self._terms.allow_private, timeout_s=self._terms.timeout_s)
        round_ = _Round(
            self._runner, self._book, terms=self._terms, sender=sender, pool=pool, say=self._say
        )
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
            pool.shutdown(wait=False)


class _Round:
    """The lines of one run, and the one reader."""

    def __init__(
        self,
        runner: Runner,
        book: WebhookBook,
        *,
        terms: WebhookTerms,
        sender: Sender,
        pool: ThreadPoolExecutor,
        say: Callable[[str], None],
    ) -> None:
        self._runner, self._book, self._terms = runner, book, terms
        self._sender, self._pool, self._say = sender, pool, say
        self._lines: dict[HookKey, HookLine] = {}
        self._tasks: dict[HookKey, asyncio.Task[None]] = {}
        self._tools: LineTools | None = None
        self._end = 0
        """Up to where new records were read for everybody."""
        self._saved: dict[HookKey, int] = {}
        self._refreshed = self._saved_at = -SAVE_S

    # -- reading -----------------------------------------------------------------------------

    async def aside(self, act: Callable[[], T]) -> T:
        """Have something done that waits for a disk."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, act)

    async def read(self, first: int) -> tuple[list[Record], int]:
        """Some events from a record on, and where to go on reading."""
        lines = await self.aside(lambda: self._runner.lines.read(first, PAGE))
        found = [parse_record(line.rstrip(b"\n")) for line in lines if may_be_event(line)]
        return found, first + len(lines)

    async def record(self, seq: int) -> Record | None:
        """One record."""
        lines = await self.aside(lambda: self._runner.lines.read(seq, 1))
        return parse_record(lines[0].rstrip(b"\n")) if lines else None

    def is_end(self, place: int) -> bool:
        """Whether everybody who waits there is woken when there is more."""
        return place >= self._end

    # -- one round ---------------------------------------------------------------------------

    async def once(self) -> None:
        """Take up what is new."""
        size = self._runner.lines.size
        if size == 0:
            return  # the replica is still reading the store
        for task in self._tasks.values():
            if task.done():
                task.result()  # what it failed with ends this run, and the duty begins again
        if self._tools is None:
            self._tools = await self._open()
            self._end = size
        is_changed = await self._read_on()
        now = asyncio.get_running_loop().time()
        if is_changed or now - self._refreshed >= REFRESH_S:
            await self._refresh()
            self._refreshed = now
        await self._take_replays()
        if now - self._saved_at >= SAVE_S:
            await self._save()
            self._saved_at = now

    async def _open(self) -> LineTools:
        lines = await self.aside(lambda: self._runner.lines.read(0, 1))
        return LineTools(
            book=self._book,
            sender=self._sender,
            reader=self,
            clock=self._runner.replica.clock,
            key=self._terms.key,
            journal=name_of(lines[0]),
            pace=self._terms.pace,
            aside=self.aside,
            say=self._say,
            dead=self._terms.dead,
        )

    async def _read_on(self) -> bool:
        """Read new records for all who wait; whether a webhook was changed among them."""
        is_changed = False
        while self._end < self._runner.lines.size:  # bounded by the records there are
            events, end = await self.read(self._end)
            if end == self._end:
                break
            self._end = end
            is_changed = is_changed or any(e.kind.value == "app_webhook_set" for e in events)
            for line in self._lines.values():
                if line.is_idle:
                    _move_on(line, events, end=end)
        return is_changed

    async def _refresh(self) -> None:
        """Have a line for each webhook that is on, and for no other."""
        assert self._tools is not None  # for the type checker
        held = await self.aside(
            lambda: self._runner.read(lambda view: dict(view.state.apps.webhooks))
        )
        wanted = {HookKey(*key): hook for key, hook in held.items() if hook.is_enabled}
        for key in list(self._tasks):
            if not _is_same(self._lines[key].webhook, wanted.get(key)):
                await self._end_line(key)
        for key, hook in wanted.items():
            line = self._lines.get(key)
            if line is None:
                line = self._lines[key] = HookLine(self._tools, key, webhook=hook)
                self._tasks[key] = asyncio.create_task(line.run())
            elif line.webhook != hook:
                line.change(hook)
        kept = [HookKey(*key) for key in held]
        await self.aside(lambda: self._book.forget_others(kept))

    async def _end_line(self, key: HookKey) -> None:
        task = self._tasks.pop(key)
        del self._lines[key]
        task.cancel()
        await asyncio.wait([task])

    async def _take_replays(self) -> None:
        if not self._lines:
            return
        found = await self.aside(self._book.replaying)
        for key, letter in found.items():
            line = self._lines.get(key)
            if line is not None and line.replaying is None:
                line.replaying = letter
                line.woken.set()

    async def _save(self) -> None:
        """Write down how far the idle ones were moved."""
        moved = {
            key: line.next_seq
            for key, line in self._lines.items()
            if line.is_idle and self._saved.get(key) != line.next_seq
        }
        if moved:
            await self.aside(lambda: self._book.pass_by(moved))
            self._saved |= moved

    async def close(self) -> None:
        """End all lines, and write down how far they came."""
        for key in list(self._tasks):
            line = self._lines[key]
            await self._end_line(key)
            self._lines[key] = line
        with suppress(Exception):  # a lost store: the next start reads a little again
            await self._save()


def _move_on(line: HookLine, events: list[Record], *, end: int) -> None:
    """Move a line that waits past what is not for it, and wake it for what is."""
    wish = line.wish
    for record in events:
        if record.seq >= line.next_seq and wish.keeps(record):
            line.next_seq, line.is_idle = record.seq, False
            line.woken.set()
            return
    line.next_seq = max(line.next_seq, end)


def _is_same(webhook: Webhook, other: Webhook | None) -> bool:
    """Whether it is still the webhook that was made then."""
    return other is not None and other.since_seq == webhook.since_seq
