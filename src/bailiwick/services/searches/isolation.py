"""Searching for a way around the isolation policy: who may, what is told, and when it ends.

Rules:

- It concerns everybody, so the key is asked for over the fleet. Nothing is written.
- A text that is no policy is refused before anything is started, with every mistake in it.
- The caller's token and role are looked at again and again. The last word says why it ends.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from bailiwick.iam import FLEET, Allowed, Permission
from bailiwick.isolation.language.parser import parse_policy
from bailiwick.services.caller import Caller
from bailiwick.services.searches.desk import SearchDesk, SearchProcess
from bailiwick.services.watching import CallerNow, Watchers
from bailiwick.vocab.errors import InvalidValue

SearchEndWord: TypeAlias = Literal[
    "complete", "time_over", "server_ending", "token_ended", "forbidden", "unavailable"
]
SearchEvent: TypeAlias = Literal["progress", "found", "nothing", "ended"]

_SENTENCES: Final[dict[SearchEndWord, str]] = {
    "complete": "The search is over.",
    "time_over": "The time for a search is over.",
    "server_ending": "The server ends, and the search with it: search again when it is back.",
    "token_ended": "Your token has ended, and the search with it: log in again.",
    "forbidden": "You may not read the isolation policy any more, so the search was ended.",
    "unavailable": "The search ended before its time: search again, with fewer jobs.",
}


@dataclass(frozen=True, slots=True)
class SearchSaid:
    """One word of a search."""

    event: SearchEvent
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class SearchQuiet:
    """It goes on; the connection lives."""


@dataclass(frozen=True, slots=True)
class PolicyWish:
    """What is to be searched: a text, or nothing for the policy in force; and how far."""

    text: str | None
    jobs: int
    steps: int


SearchItem: TypeAlias = SearchSaid | SearchQuiet


async def start_search(caller: Caller, desk: SearchDesk, *, wish: PolicyWish) -> SearchProcess:
    """A process that searches, in the one place; leave it once or more when it is over."""
    caller.require(FLEET)
    text = wish.text
    if text is None:
        text = await caller.read(lambda view: view.state.isolation.text)
    policy = await asyncio.to_thread(parse_policy, text)
    if not policy.rules:
        raise InvalidValue("text", "no rule", "at least one rule")
    process = desk.take()
    try:
        process.start({"text": text, "jobs": wish.jobs, "steps": wish.steps})
    except BaseException:  # whatever it was, also a caller that left: the one place is given back
        process.leave()
        raise
    return process


@dataclass(slots=True, kw_only=True)
class Search:
    """What one caller is told of his search."""

    process: SearchProcess
    who: CallerNow
    pace: Watchers
    ending: asyncio.Event | None
    """Set when the server is about to stop."""

    async def events(self) -> AsyncGenerator[SearchItem, None]:
        """Everything that is sent."""
        ending = self.ending
        ended = asyncio.ensure_future(_never() if ending is None else ending.wait())
        line = asyncio.ensure_future(self.process.line())
        try:
            yield SearchQuiet()  # a first word, so that the caller knows that it is let in
            while True:  # bounded by the time that a search has
                await asyncio.wait(
                    (line, ended),
                    timeout=min(self.pace.beat_s, max(self.process.left_s, 0.0)),
                    return_when=asyncio.FIRST_COMPLETED,
                )
                word = self._over(ended) or await self._check_again()
                if word is not None:
                    yield _end(word)
                    return
                if not line.done():
                    yield SearchQuiet()
                    continue
                said = _read(line.result())
                yield said
                if said.event == "ended":
                    return
                line = asyncio.ensure_future(self.process.line())
        finally:
            self.process.leave()
            for each in (line, ended):
                each.cancel()
            await asyncio.gather(line, ended, return_exceptions=True)

    def _over(self, ended: asyncio.Future[Any]) -> SearchEndWord | None:
        if ended.done():
            return "server_ending"
        return "unavailable" if self.process.left_s <= 0 else None

    async def _check_again(self) -> SearchEndWord | None:
        """Look at the token anew, if it is time; why to end, if the caller may no more."""
        word = await self.who.look()
        if word is not None:
            return word
        may = isinstance(self.who.principal.may(Permission.ISOLATION_READ, FLEET), Allowed)
        return None if may else "forbidden"


async def _never() -> None:
    await asyncio.Event().wait()


def _end(word: SearchEndWord) -> SearchSaid:
    return SearchSaid("ended", {"reason": word, "ways": 0, "sentence": _SENTENCES[word]})


def _read(line: bytes) -> SearchSaid:
    """What the process said; that it said nothing more is an end before its time."""
    if not line.endswith(b"\n"):
        return _end("unavailable")
    told = json.loads(line)
    return SearchSaid(told["event"], told["data"])
