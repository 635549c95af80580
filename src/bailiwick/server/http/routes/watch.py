"""The journal as it grows, as server-sent events.

One event for each record that the caller may read, in order: ``event`` is its kind, ``id`` its
number, ``data`` the record as ``GET /v1/tenants/{tenant}/records`` tells it. A heartbeat is a
comment; the last event is ``end``, and says why. A watch goes on after the number in
``Last-Event-ID`` (a reconnecting browser's own) or ``after``.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Annotated, Any, Final, get_args

from fastapi import Depends, Header, Query, Request
from fastapi.responses import StreamingResponse
from fastapi.sse import format_sse_event
from starlette.types import Receive, Send
from starlette.types import Scope as AsgiScope

from bailiwick.journal.kinds import RecordKind
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Asked, Here
from bailiwick.server.http.cookies import shown_by
from bailiwick.server.http.spelling import spell_record
from bailiwick.server.problems import Trouble
from bailiwick.services.changes.stream import (
    ChangesEnd,
    ChangeWatch,
    Old,
    StillThere,
    start_changes,
)
from bailiwick.services.journal import ToldRecord
from bailiwick.services.watching import (
    Beat,
    CallerNow,
    TooManyWatchers,
    Watch,
    WatchEnd,
    WatchWish,
    start_watch,
)
from bailiwick.vocab.errors import InvalidValue
from bailiwick.wire.base import NAME_PATTERN
from bailiwick.wire.problem import EdgeCode
from bailiwick.wire.replica import Changed
from bailiwick.wire.words import WatchEndWord

COMPONENTS: Final = "#/components/schemas"


def event_schema(told: str, *, event: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
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
        "anyOf": [{"$ref": f"{COMPONENTS}/{name}"} for name in ("WatchRecord", "WatchEnd")],
    },
    "WatchRecord": event_schema(
        "A record of the journal; `event` is its kind, `id` its number, `data` the record as JSON.",
        event={"enum": [kind.value for kind in RecordKind]},
        data={"$ref": f"{COMPONENTS}/JournalRecord"},
    ),
    "WatchEnd": event_schema(
        "The last event, and why there are no more. A stream without one was cut.",
        event={"const": "end"},
        data={
            "type": "object",
            "properties": {"reason": {"type": "string", "enum": list(get_args(WatchEndWord))}},
            "required": ["reason"],
        },
    ),
    "ChangeEvent": {
        "description": "One event of `GET /v1/changes`. A comment (`: beat`) is none.",
        "anyOf": [{"$ref": f"{COMPONENTS}/{name}"} for name in ("ChangeTold", "WatchEnd")],
    },
    "ChangeTold": event_schema(
        "What may have become old; `data` says it as JSON.",
        event={"const": "change"},
        data={"$ref": f"{COMPONENTS}/Changed"},
    ),
    "Changed": Changed.model_json_schema(),
}
"""The events, as the contract spells them."""


def stream_of(name: str) -> dict[str, Any]:
    """How the contract spells a stream of such events."""
    return {
        "schema": {"type": "string", "description": f"Server-sent events, each a `{name}`."},
        # What OpenAPI 3.2 calls `itemSchema`; 3.1 has no word for it.
        "x-itemSchema": {"$ref": f"{COMPONENTS}/{name}"},
    }


_SEALED: Final = "^[0-9a-f]{32}$"
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
) -> WatchWish:
    # The caller's own word of where it is counts more than the address that it began with.
    said = after if last_event_id is None else last_event_id
    first = None if said is None else int(said) + 1
    return WatchWish(first, tenant, _kinds_of(kinds), follow == "true")


@answers("record.watch")
async def watch_records(
    asked: Here, request: Request, *, wish: Annotated[WatchWish, Depends(_wish)]
) -> WatchResponse:
    """The records that the caller may read, as they are made."""
    return open_watch(asked, request, wish=wish, spell=lambda watch: spell_items(watch, _event))


def caller_now(asked: Asked, request: Request) -> CallerNow:
    """The caller of a stream, who is looked at again."""
    house, token = asked.house, shown_by(request).token
    return CallerNow(
        principal=asked.principal,
        identify=lambda: house.door.identify(token),
        check_s=house.parts.watchers.check_s,
    )


def open_watch(
    asked: Asked,
    request: Request,
    *,
    wish: WatchWish,
    spell: Callable[[Watch], AsyncGenerator[bytes, None]],
) -> WatchResponse:
    """A stream of what was wished for, in a place of its own."""
    house = asked.house
    watch = Watch(
        gateway=house.gateway,
        who=caller_now(asked, request),
        wish=wish,
        pace=house.parts.watchers,
        ending=house.parts.ending,
    )
    try:
        leave = start_watch(asked, watch)
    except TooManyWatchers as full:
        raise Trouble(EdgeCode.RATE_LIMITED, str(full)) from None
    return WatchResponse(spell(watch), leave=leave)


@answers("self.watch")
async def watch_changes(
    asked: Here,
    request: Request,
    *,
    after: Annotated[
        str | None, Query(pattern=_SEALED, description="Go on after the event of this id.")
    ] = None,
    last_event_id: Annotated[str | None, Header(alias="Last-Event-ID", pattern=_SEALED)] = None,
    follow: Annotated[
        str, Query(pattern="^(true|false)$", description="Whether to stay where all was told.")
    ] = "true",
) -> WatchResponse:
    """Which nouns became old, of what the caller may read: a hint to read them again, no more.

    What others do moves nothing here: neither an event, nor its time, nor its id. After a place
    that is not known any more (the server was started anew) the first event has `missed`.
    """
    house = asked.house
    watch = ChangeWatch(
        gateway=house.gateway,
        who=caller_now(asked, request),
        book=house.parts.changes,
        pace=house.parts.watchers,
        ending=house.parts.ending,
        place=last_event_id or after,
        follow=follow == "true",
    )
    try:
        leave = start_changes(asked, watch)
    except TooManyWatchers as full:
        raise Trouble(EdgeCode.RATE_LIMITED, str(full)) from None
    return WatchResponse(_spell_changes(watch), leave=leave)


async def _spell_changes(watch: ChangeWatch) -> AsyncGenerator[bytes, None]:
    async with aclosing(watch.events()) as events:
        async for item in events:
            match item:
                case StillThere():
                    yield format_sse_event(comment="beat", id=item.place)
                case ChangesEnd():
                    data = json.dumps({"reason": item.reason})
                    yield format_sse_event(event="end", data_str=data, id=item.place)
                case Old():
                    nouns = [noun.value for noun in item.nouns]
                    data = json.dumps({"nouns": nouns, "missed": item.missed})
                    yield format_sse_event(event="change", data_str=data, id=item.place)


async def spell_items(
    watch: Watch,
    spell: Callable[[ToldRecord], bytes],
    *,
    place: Callable[[int], str] = str,
) -> AsyncGenerator[bytes, None]:
    """What a watcher is told, each record as ``spell`` has it; ``place`` spells where it is."""

    def place_of(number: int | None) -> str | None:
        return None if number is None else place(number)

    async with aclosing(watch.events()) as events:
        async for item in events:
            match item:
                case Beat():
                    yield format_sse_event(comment="beat", id=place_of(item.place))
                case WatchEnd():
                    data = json.dumps({"reason": item.reason})
                    yield format_sse_event(event="end", data_str=data, id=place_of(item.place))
                case _:
                    yield b"".join(map(spell, item))


def _event(record: ToldRecord) -> bytes:
    data = json.dumps(spell_record(record).model_dump(mode="json"), ensure_ascii=True)
    return format_sse_event(event=record.kind.value, data_str=data, id=str(record.seq))


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
