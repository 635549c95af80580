"""The journal as it grows, as server-sent events.

Rules:

- One event for each record that the caller may read, in order: ``event`` is its kind, ``id`` its
  number, ``data`` the record as ``GET /v1/tenants/{tenant}/records`` tells it. Each is judged at
  its own scope; what belongs to no tenant needs the key over the fleet.
- A watch goes on after the number in ``Last-Event-ID`` (a reconnecting browser's own) or ``after``,
  else from the end of the journal. What memory no longer has is read from the store, in pages.
- A heartbeat is a comment, and moves the ``id`` past what was not the caller's, so that going on
  later is cheap. A reader that is slow is waited for; nothing is kept for it but its place.
- The caller's token and roles are looked at again and again. The last event is ``end``, and says
  why; whoever was ended by the server's own ending may go on elsewhere.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, get_args

from fastapi import Depends, Header, Query, Request
from fastapi.responses import StreamingResponse
from fastapi.sse import format_sse_event
from starlette.types import Receive, Send
from starlette.types import Scope as AsgiScope

from bailiwick.iam import FLEET, Allowed, Permission, Scope
from bailiwick.journal.kinds import RecordKind
from bailiwick.journal.record import parse_record
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Here, House
from bailiwick.server.http.door import bearer_of
from bailiwick.server.http.spelling import spell_record
from bailiwick.services.authority import Principal
from bailiwick.services.records import tell_record
from bailiwick.vocab.errors import BailiwickError, InvalidValue
from bailiwick.wire.base import NAME_PATTERN
from bailiwick.wire.words import WatchEndWord

_COMPONENTS: Final = "#/components/schemas"


def _event_schema(told: str, *, event: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """One kind of event: its fields are text, and ``data`` is JSON."""
    fields: dict[str, Any] = {
        "event": {"type": "string", **event},
        "id": {"type": "string", "description": "Where to go on from, as `Last-Event-ID`."},
        "data": {"type": "string", "contentMediaType": "application/json", "contentSchema": data},
    }
    required = ["event", "data"]
    return {"type": "object", "description": told, "properties": fields, "required": required}


EVENT_SCHEMAS: Final[dict[str, Any]] = {
    "WatchEvent": {
        "description": "One event of `GET /v1/watch`. A comment (`: beat`) is none.",
        "anyOf": [{"$ref": f"{_COMPONENTS}/{name}"} for name in ("WatchRecord", "WatchEnd")],
    },
    "WatchRecord": _event_schema(
        "A record of the journal; `event` is its kind, `id` its number, `data` the record as JSON.",
        event={"enum": [kind.value for kind in RecordKind]},
        data={"$ref": f"{_COMPONENTS}/JournalRecord"},
    ),
    "WatchEnd": _event_schema(
        "The last event, and why there are no more. A stream without one was cut.",
        event={"const": "end"},
        data={
            "type": "object",
            "properties": {"reason": {"type": "string", "enum": list(get_args(WatchEndWord))}},
            "required": ["reason"],
        },
    ),
}
"""The events, as the contract spells them."""

STREAM: Final[dict[str, Any]] = {
    "schema": {"type": "string", "description": "Server-sent events, each a `WatchEvent`."},
    # What OpenAPI 3.2 calls `itemSchema`; 3.1 has no word for it.
    "x-itemSchema": {"$ref": f"{_COMPONENTS}/WatchEvent"},
}
"""The stream of them."""

_NUMBER: Final = "^[0-9]{1,15}$"
_KINDS: Final = "^[a-z_]{1,40}(,[a-z_]{1,40}){0,99}$"


class WatchResponse(StreamingResponse):
    """A stream that gives its place back, however it ends."""

    media_type = "text/event-stream"

    def __init__(self, stream: AsyncGenerator[bytes, None], *, leave: Callable[[], None]) -> None:
        super().__init__(stream, headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        self._leave = leave

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Stream until either side ends it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._leave()


@dataclass(frozen=True, slots=True)
class Wish:
    """What somebody wants to hear of."""

    first: int | None
    tenant: str | None
    kinds: frozenset[RecordKind] | None
    follow: bool


def _wish(
    tenant: Annotated[str | None, Query(pattern=NAME_PATTERN)] = None,
    kinds: Annotated[
        list[Annotated[str, Query(pattern=_KINDS)]] | None,
        Query(description="Only these kinds; repeated, or with commas."),
    ] = None,
    *,
    after: Annotated[
        str | None, Query(pattern=_NUMBER, description="Go on after the record of this number.")
    ] = None,
    last_event_id: Annotated[str | None, Header(alias="Last-Event-ID", pattern=_NUMBER)] = None,
    follow: Annotated[
        str,
        Query(pattern="^(true|false)$", description="Whether to stay at the end of the journal."),
    ] = "true",
) -> Wish:
    # The caller's own word of where it is counts more than the address that it began with.
    said = after if last_event_id is None else last_event_id
    first = None if said is None else int(said) + 1
    return Wish(first, tenant, _kinds_of(kinds), follow == "true")


@answers("record.watch")
async def watch_records(
    asked: Here, request: Request, *, wish: Annotated[Wish, Depends(_wish)]
) -> WatchResponse:
    """The records that the caller may read, as they are made."""
    asked.require_within(FLEET if wish.tenant is None else Scope(wish.tenant))
    house = asked.house
    leave = house.parts.watchers.take(asked.principal.name)
    first = house.gateway.journal.size if wish.first is None else wish.first
    watch = _Watch(house, asked.principal, bearer_of(request), wish, first)
    return WatchResponse(watch.events(), leave=leave)


def _kinds_of(words: list[str] | None) -> frozenset[RecordKind] | None:
    if words is None:
        return None
    found = set()
    for word in (each for group in words for each in group.split(",")):
        try:
            found.add(RecordKind(word))
        except ValueError:
            raise InvalidValue("kinds", word, "kinds of records (docs/siem.md)") from None
    return frozenset(found)


@dataclass(slots=True)
class _Watch:
    """One caller's place in the journal."""

    house: House
    principal: Principal
    token: str | None
    wish: Wish
    first: int
    _woken: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _checked: float = field(default=0.0, init=False)
    _sent: float = field(default=0.0, init=False)

    async def events(self) -> AsyncGenerator[bytes, None]:
        """Everything that is sent."""
        loop = asyncio.get_running_loop()
        self._checked = self._sent = loop.time()
        feed = self.house.gateway.journal
        end_listening = feed.listen(lambda: _wake(loop, self._woken))
        ending = self.house.parts.ending
        ended = None if ending is None else asyncio.ensure_future(ending.wait())
        if ended is not None:
            ended.add_done_callback(lambda _: self._woken.set())
        try:
            yield self._beat()  # a first word, so that the caller knows that it is let in
            async with aclosing(self._told(ending)) as told:
                async for chunk in told:
                    yield chunk
        finally:
            end_listening()
            if ended is not None:
                ended.cancel()

    async def _told(self, ending: asyncio.Event | None) -> AsyncGenerator[bytes, None]:
        while True:  # until the caller leaves, or one of the reasons to end
            self._woken.clear()
            if ending is not None and ending.is_set():
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
            chunk = b"".join(filter(None, map(self._event, lines)))
            self.first += len(lines)
            if not lines and not self.wish.follow:
                yield self._end("complete")
                return
            if not lines and await self._wait():
                continue
            if not lines or (not chunk and self._is_quiet()):
                chunk = self._beat()
            if chunk:
                self._sent = asyncio.get_running_loop().time()
                yield chunk
            else:
                await asyncio.sleep(0)  # pages of others' records must not keep the loop to itself

    async def _wait(self) -> bool:
        """Wait for the next record; whether there may be one before it is time for a heartbeat."""
        try:
            await asyncio.wait_for(self._woken.wait(), self.house.parts.watchers.beat_s)
        except TimeoutError:
            return False
        return True

    def _is_quiet(self) -> bool:
        now = asyncio.get_running_loop().time()
        return now - self._sent >= self.house.parts.watchers.beat_s

    async def _page(self) -> list[bytes]:
        return await self.house.gateway.records(self.first, self.house.parts.watchers.page)

    async def _check_again(self) -> WatchEndWord | None:
        """Look at the token anew, if it is time; why to end, if the caller may no more."""
        now = asyncio.get_running_loop().time()
        if now - self._checked < self.house.parts.watchers.check_s:
            return None
        self._checked = now
        try:
            found = await self.house.door.identify(self.token)
        except BailiwickError:
            return "unavailable"
        if not isinstance(found, Principal):
            return "token_ended"
        self.principal = found
        scopes = {FLEET, *found.roles}
        return None if any(self._may(scope) for scope in scopes) else "forbidden"

    def _may(self, scope: Scope) -> bool:
        return isinstance(self.principal.may(Permission.JOURNAL_READ, scope), Allowed)

    def _event(self, line: bytes) -> bytes | None:
        record = parse_record(line.rstrip(b"\n"))
        tenant, kinds = self.wish.tenant, self.wish.kinds
        if tenant is not None and record.tenant != tenant:
            return None
        if kinds is not None and record.kind not in kinds:
            return None
        if not self._may(Scope(record.tenant, record.project)):
            return None
        told = spell_record(tell_record(record, whole=self._may(FLEET))).model_dump(mode="json")
        data = json.dumps(told, ensure_ascii=True)
        return format_sse_event(event=record.kind.value, data_str=data, id=str(record.seq))

    def _beat(self) -> bytes:
        number = str(self.first - 1) if self.first else None
        return format_sse_event(comment="beat", id=number)

    def _end(self, word: WatchEndWord) -> bytes:
        number = str(self.first - 1) if self.first else None
        return format_sse_event(event="end", data_str=json.dumps({"reason": word}), id=number)


def _wake(loop: asyncio.AbstractEventLoop, woken: asyncio.Event) -> None:
    with suppress(RuntimeError):  # the loop is closed: there is nobody left to wake
        loop.call_soon_threadsafe(woken.set)
