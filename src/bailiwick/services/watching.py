"""Watching the journal as it grows: who may, what is told of it, and when it ends.

Rules:

- Every record that the caller may read is told, in order. Each is judged at its own scope; what
  belongs to no tenant needs the key over the fleet.
- A watch goes on after a number, else from the end of the journal. What memory no longer has is
  read from the store, in pages.
- A heartbeat moves the caller's place past what was not its own, so that going on later is cheap. A
  reader that is slow is waited for; nothing is kept for it but its place.
- The caller's token and roles are looked at again and again; that the token was revoked is seen as
  soon as the journal tells it. The last word says why it ends.
- There are at most ``most`` watchers, and at most ``most_each`` of one principal, so that nobody
  keeps all places for himself. A place that was taken is given back, whatever ends the watch.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from bailiwick.iam import FLEET, Allowed, Permission, Scope
from bailiwick.journal.kinds import RecordKind
from bailiwick.journal.record import Record, parse_record
from bailiwick.runtime.gateway import Gateway
from bailiwick.runtime.waiting import await_set
from bailiwick.services.authority import Identified, Principal
from bailiwick.services.caller import Caller
from bailiwick.services.journal import ToldRecord, tell_record
from bailiwick.vocab.errors import BailiwickError

WatchEndWord: TypeAlias = Literal[
    "complete", "server_ending", "token_ended", "forbidden", "unavailable"
]


_REVOKED: Final = f'"{RecordKind.ACCESS_TOKEN_REVOKED.value}"'.encode()


class TooManyWatchers(Exception):
    """All places are taken."""


@dataclass(frozen=True, slots=True)
class Beat:
    """Nothing to tell; the caller is at ``place``, the number of the last record looked at."""

    place: int | None


@dataclass(frozen=True, slots=True)
class WatchEnd:
    """The last word, and why."""

    place: int | None
    reason: WatchEndWord


WatchItem: TypeAlias = tuple[ToldRecord, ...] | Beat | WatchEnd
"""What a watcher is told at once."""


@dataclass(slots=True, kw_only=True)
class Watchers:
    """The places, and the pace."""

    most: int = 256
    most_each: int = 16
    beat_s: float = 15.0
    """How often a watcher hears that the connection lives, if nothing else."""
    check_s: float = 45.0
    """How often a watcher's token is looked at again; with one beat more, within a minute."""
    tick_s: float = 1.0
    """How often it is looked what became old for whoever watches only that."""
    page: int = 200
    """Records that are read at once."""
    _taken: Counter[str] = field(default_factory=Counter, init=False)

    @property
    def count(self) -> int:
        """How many watch now."""
        return self._taken.total()

    def take(self, name: str) -> Callable[[], None]:
        """A place for this principal, or a refusal; call the result, once or more, to leave."""
        if self.count >= self.most or self._taken[name] >= self.most_each:
            message = f"at most {self.most} watch at a time, and {self.most_each} of one principal"
            raise TooManyWatchers(message)
        self._taken[name] += 1
        left = False

        def leave() -> None:
            nonlocal left
            if not left:
                left = True
                self._taken[name] -= 1
                self._taken += Counter()  # forget whoever has none

        return leave


@dataclass(frozen=True, slots=True)
class WatchWish:
    """What somebody wants to hear of."""

    first: int | None
    tenant: str | None
    kinds: frozenset[RecordKind] | None
    follow: bool
    permission: Permission = Permission.JOURNAL_READ
    """The key that is asked for at the scope of each record."""
    keeps: Callable[[Record], bool] = lambda record: True
    """What else a record must be like."""
    glance: Callable[[bytes], bool] = lambda line: True
    """Whether a line may be such a record, told without reading all of it."""


def start_watch(caller: Caller, watch: Watch) -> Callable[[], None]:
    """Let the caller watch; call the result, once or more, when it leaves."""
    tenant = watch.wish.tenant
    caller.require_within(FLEET if tenant is None else Scope(tenant))
    leave = watch.pace.take(caller.principal.name)
    watch.first = caller.gateway.journal.size if watch.wish.first is None else watch.wish.first
    return leave


@dataclass(slots=True, kw_only=True)
class CallerNow:
    """Who the caller of a stream is: his token and roles are looked at again in their time."""

    principal: Principal
    identify: Callable[[], Awaitable[Identified]]
    """Who holds the caller's token now."""
    check_s: float
    _looked: float = field(default_factory=lambda: asyncio.get_running_loop().time(), init=False)

    async def look(self) -> Literal["token_ended", "unavailable"] | None:
        """Look anew, if it is time; why to end, if there is nobody."""
        now = asyncio.get_running_loop().time()
        if now - self._looked < self.check_s:
            return None
        self._looked = now
        try:
            found = await self.identify()
        except BailiwickError:
            return "unavailable"
        if not isinstance(found, Principal):
            return "token_ended"
        self.principal = found
        return None


@dataclass(slots=True)
class Watch:
    """One caller's place in the journal."""

    gateway: Gateway
    who: CallerNow
    wish: WatchWish
    pace: Watchers
    ending: asyncio.Event | None
    """Set when the server is about to stop."""
    first: int = 0
    _woken: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _sent: float = field(default=0.0, init=False)

    async def events(self) -> AsyncGenerator[WatchItem, None]:
        """Everything that is sent."""
        loop = asyncio.get_running_loop()
        self._sent = loop.time()
        feed = self.gateway.journal
        end_listening = feed.listen(lambda: _wake(loop, self._woken))
        ending = self.ending
        ended = None if ending is None else asyncio.ensure_future(ending.wait())
        if ended is not None:
            ended.add_done_callback(lambda _: self._woken.set())
        try:
            yield self._beat()  # a first word, so that the caller knows that it is let in
            async with aclosing(self._told()) as told:
                async for item in told:
                    yield item
        finally:
            end_listening()
            if ended is not None:
                ended.cancel()

    async def _told(self) -> AsyncGenerator[WatchItem, None]:
        while True:  # until the caller leaves, or one of the reasons to end
            self._woken.clear()
            if self.ending is not None and self.ending.is_set():
                yield self._end("server_ending")
                return
            word = await self._check_again()
            if word is not None:
                yield self._end(word)
                return
            try:
                lines = await self._page()
            except BailiwickError:
                yield self._end("unavailable")
                return
            if any(map(self._ends_token, lines)):
                yield self._end("token_ended")
                return
            records = tuple(filter(None, map(self._record, lines)))
            self.first += len(lines)
            if not lines and not self.wish.follow:
                yield self._end("complete")
                return
            if not lines and await self._wait():
                continue
            if records or not lines or self._is_quiet():
                self._sent = asyncio.get_running_loop().time()
                yield records or self._beat()
            else:
                await asyncio.sleep(0)  # pages of others' records must not keep the loop to itself

    async def _wait(self) -> bool:
        """Wait for the next record; whether there may be one before it is time for a heartbeat."""
        return await await_set(self._woken, self.pace.beat_s)

    def _is_quiet(self) -> bool:
        now = asyncio.get_running_loop().time()
        return now - self._sent >= self.pace.beat_s

    async def _page(self) -> list[bytes]:
        return await self.gateway.records(self.first, self.pace.page)

    async def _check_again(self) -> WatchEndWord | None:
        """Look at the token anew, if it is time; why to end, if the caller may no more."""
        word = await self.who.look()
        if word is not None:
            return word
        scopes = {FLEET, *self.who.principal.roles}
        return None if any(self._may(scope) for scope in scopes) else "forbidden"

    def _ends_token(self, line: bytes) -> bool:
        """Whether a line tells that the caller's token was revoked."""
        if _REVOKED not in line:
            return False
        record = parse_record(line.rstrip(b"\n"))
        is_that = record.kind is RecordKind.ACCESS_TOKEN_REVOKED
        return is_that and record.body["token_id"] == self.who.principal.token_id

    def _may(self, scope: Scope, permission: Permission | None = None) -> bool:
        asked = permission or self.wish.permission
        return isinstance(self.who.principal.may(asked, scope), Allowed)

    def _record(self, line: bytes) -> ToldRecord | None:
        if not self.wish.glance(line):
            return None
        record = parse_record(line.rstrip(b"\n"))
        tenant, kinds = self.wish.tenant, self.wish.kinds
        if tenant is not None and record.tenant != tenant:
            return None
        if kinds is not None and record.kind not in kinds:
            return None
        if not self.wish.keeps(record) or not self._may(Scope(record.tenant, record.project)):
            return None
        return tell_record(record, whole=self._may(FLEET, Permission.JOURNAL_READ))

    @property
    def _place(self) -> int | None:
        return self.first - 1 if self.first else None

    def _beat(self) -> Beat:
        return Beat(self._place)

    def _end(self, word: WatchEndWord) -> WatchEnd:
        return WatchEnd(self._place, word)


def _wake(loop: asyncio.AbstractEventLoop, woken: asyncio.Event) -> None:
    with suppress(RuntimeError):  # the loop is closed: there is nobody left to wake
        loop.call_soon_threadsafe(woken.set)
