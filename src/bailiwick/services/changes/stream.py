"""A stream of what has become old for somebody, for as long as he stays.

Rules:

- Each change is judged at its own scope by the key with which such things are read. Nothing of
  others is told: neither that something happened, nor how much, nor when.
- A watcher is told at its own pace, counted from when it came: what it may know of since the last
  look, at once; else a heartbeat at its time. So what others do moves no word of it, but where
  there are many watchers and the server is busy (:mod:`.effort`).
- It goes on after the place that it was told last. A place that is not known, or too far behind,
  is answered with ``missed``: all may be old.
- The caller's token and roles are looked at again and again; that the token was revoked is seen as
  soon as the journal is looked at. The last word says why it ends.
- Places are those of ``Watchers``: so many in all, and so many of one principal.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from bailiwick.iam import Allowed, Scope
from bailiwick.runtime.gateway import Gateway
from bailiwick.runtime.waiting import await_set
from bailiwick.services.caller import Caller, Hidden
from bailiwick.services.changes.book import BLOCK, ChangeBook
from bailiwick.services.changes.nouns import KEY_OF, ChangeNoun
from bailiwick.services.watching import CallerNow, WatchEndWord, Watchers
from bailiwick.vocab.errors import BailiwickError

BEHIND_MAX: Final = 10_000
"""Records that are looked at for who was away; who was away for longer reads all anew."""
NAP_S_MAX: Final = 5.0
"""Who has to wait long because the server is busy looks so often whether it still is."""


@dataclass(frozen=True, slots=True)
class Old:
    """These may have become old; with ``missed``, whatever else the caller has too."""

    place: str
    nouns: tuple[ChangeNoun, ...]
    missed: bool = False


@dataclass(frozen=True, slots=True)
class StillThere:
    """Nothing that concerns the caller."""

    place: str


@dataclass(frozen=True, slots=True)
class ChangesEnd:
    """The last word, and why."""

    place: str
    reason: WatchEndWord


ChangeItem: TypeAlias = Old | StillThere | ChangesEnd


def start_changes(caller: Caller, watch: ChangeWatch) -> Callable[[], None]:
    """Let the caller watch; call the result, once or more, when it leaves."""
    who = caller.principal
    if who.lease_id is not None or who.runtime_id is not None:
        raise Hidden()  # a token for one thing has nobody behind it who looks at pages
    caller.require_login()
    return watch.pace.take(who.name)


@dataclass(slots=True, kw_only=True)
class ChangeWatch:
    """One caller's place among what changes."""

    gateway: Gateway
    who: CallerNow
    book: ChangeBook
    pace: Watchers
    ending: asyncio.Event | None
    """Set when the server is about to stop."""
    place: str | None
    """Where the caller says that it was."""
    follow: bool = True
    _first: int = field(default=0, init=False)
    _sent: float = field(default=0.0, init=False)
    _looked: float = field(default=0.0, init=False)

    async def events(self) -> AsyncGenerator[ChangeItem, None]:
        """Everything that is sent."""
        self._sent = asyncio.get_running_loop().time()
        yield self._begin()
        is_due = True
        while True:  # until the caller leaves, or one of the reasons to end
            word = self._ended() or await self.who.look()
            if word is not None:
                yield ChangesEnd(self._told_place(), word)
                return
            try:
                nouns, is_revoked = await self._look() if is_due else (set(), False)
            except BailiwickError:
                yield ChangesEnd(self._told_place(), "unavailable")
                return
            if nouns or self._is_quiet():
                self._sent = asyncio.get_running_loop().time()
                place = self._told_place()
                yield Old(place, tuple(sorted(nouns))) if nouns else StillThere(place)
            if is_revoked or not self.follow:
                yield ChangesEnd(self._told_place(), "token_ended" if is_revoked else "complete")
                return
            is_due = await self._pause()

    def _begin(self) -> ChangeItem:
        size = self.gateway.journal.size
        self._first = size
        if self.place is None:
            return StillThere(self._told_place())
        known = self.book.number(self.place, self.who.principal.name)
        if known is None or not 0 <= size - known <= BEHIND_MAX:
            return Old(self._told_place(), tuple(ChangeNoun), missed=True)
        self._first = known
        return StillThere(self._told_place())

    async def _look(self) -> tuple[set[ChangeNoun], bool]:
        """What became old since the last look, and whether the caller's token was ended."""
        nouns: set[ChangeNoun] = set()
        self._looked = asyncio.get_running_loop().time()
        for _ in range(BEHIND_MAX // BLOCK + 2):
            block, count = self.book.block(self._first), BLOCK
            if block is None:
                wanted = BLOCK - self._first % BLOCK  # up to the next block
                lines = await self.gateway.records(self._first, wanted)
                block, count = self.book.sum_up(self._first, lines), len(lines)
                await asyncio.sleep(0)  # others' records must not keep the loop to itself
            if self.who.principal.token_id in block.revoked:
                return nouns, True
            for scope, old in block.old.items():
                nouns |= {each for each in old - nouns if self._may(each, scope)}
            self._first += count
            if self._first % BLOCK:
                break  # the end of the journal is within this block
        return nouns, False

    def _may(self, noun: ChangeNoun, scope: Scope) -> bool:
        return isinstance(self.who.principal.may(KEY_OF[noun], scope), Allowed)

    def _is_quiet(self) -> bool:
        return asyncio.get_running_loop().time() - self._sent >= self.pace.beat_s

    def _ended(self) -> WatchEndWord | None:
        return "server_ending" if self.ending is not None and self.ending.is_set() else None

    async def _pause(self) -> bool:
        """Wait for the time of the next look; or, before that, of a heartbeat or of the end."""
        loop, tick_s, effort = asyncio.get_running_loop(), self.pace.tick_s, self.book.effort
        nap_s = tick_s
        while True:
            begun = loop.time()
            if self.ending is None:
                await asyncio.sleep(nap_s)
            else:
                await await_set(self.ending, nap_s)
            now = loop.time()
            effort.woke(now - begun - nap_s)
            due = self._looked + effort.pause_s(self.pace.count, tick_s=tick_s)
            if now >= due:
                return True
            if self._ended() or self._is_quiet():
                return False
            # Not at every tick: of many who wait long, each would cost a little for nothing.
            until = min(due, self._sent + self.pace.beat_s, now + NAP_S_MAX)
            nap_s = max(tick_s, until - now)

    def _told_place(self) -> str:
        return self.book.place(self._first, self.who.principal.name)
