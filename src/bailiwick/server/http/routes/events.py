"""Events of apps: a page of them, or a stream as they happen.

An event of the stream has the CloudEvent's ``type`` as ``event``, the CloudEvent as ``data``, and
as ``id`` the number of its record and the journal's name: where to go on from.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Final, NamedTuple, get_args

from fastapi import Depends, Header, Query, Request
from fastapi.sse import format_sse_event

from bailiwick.apps.webhooks import TYPES_MAX
from bailiwick.iam import Scope
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Asked, Here
from bailiwick.server.http.params import Limit, NumberCursor
from bailiwick.server.http.routes.watch import (
    COMPONENTS,
    WatchResponse,
    event_schema,
    open_watch,
    spell_items,
)
from bailiwick.services.apps import events
from bailiwick.services.apps.events import EventWish
from bailiwick.services.journal import ToldRecord
from bailiwick.vocab.errors import InvalidValue
from bailiwick.wire.base import INTEGER_MAX, NAME_PATTERN, PRINCIPAL_PATTERN, Page
from bailiwick.wire.events import EVENT_TYPE_PATTERN, PLACE_PATTERN, CloudEvent
from bailiwick.wire.words import WatchEndWord

_TYPES: Final = EVENT_TYPE_PATTERN.replace("^", "").replace("$", "")

EVENT_SCHEMAS: Final[dict[str, Any]] = {
    "EventStreamItem": {
        "description": "One event of `GET /v1/events/watch`. A comment (`: beat`) is none.",
        "anyOf": [{"$ref": f"{COMPONENTS}/{name}"} for name in ("StreamedEvent", "EventsEnd")],
    },
    "StreamedEvent": event_schema(
        "An event; `event` is its type, `data` the CloudEvent as JSON.",
        event={"pattern": "^apps\\."},
        data={"$ref": f"{COMPONENTS}/CloudEvent"},
    ),
    "EventsEnd": event_schema(
        "The last one, and why there are no more. A stream without it was cut.",
        event={"const": "end"},
        data={
            "type": "object",
            "properties": {"reason": {"type": "string", "enum": list(get_args(WatchEndWord))}},
            "required": ["reason"],
        },
    ),
}
"""What is streamed, as the contract spells it."""


def _wish(
    tenant: Annotated[str | None, Query(pattern=NAME_PATTERN)] = None,
    project: Annotated[str | None, Query(pattern=NAME_PATTERN)] = None,
    *,
    types: Annotated[
        list[Annotated[str, Query(pattern=f"^{_TYPES}(,{_TYPES}){{0,15}}$")]] | None,
        Query(description="Only these types (`apps.instance.*`: all such); repeated, or commas."),
    ] = None,
    instance: Annotated[
        str | None, Query(pattern="^[0-9]{1,15}$", description="Only of this instance.")
    ] = None,
    correlation: Annotated[
        str | None,
        Query(pattern=PRINCIPAL_PATTERN, description="Only what this request led to."),
    ] = None,
) -> EventWish:
    named = tuple(each for group in types or () for each in group.split(","))
    if len(named) > TYPES_MAX:
        raise InvalidValue("types", len(named), f"at most {TYPES_MAX}")
    return EventWish(
        scope=Scope.of(tenant, project), types=named, instance=instance, correlation=correlation
    )


Wished = Annotated[EventWish, Depends(_wish)]
SinceMs = Annotated[
    int | None,
    Query(ge=0, le=INTEGER_MAX, description="Only what happened then or later."),
]


@answers("event.list")
async def list_events(
    asked: Here,
    wish: Wished,
    *,
    since_ms: SinceMs = None,
    cursor: NumberCursor = None,
    limit: Limit = 100,
) -> Page[CloudEvent]:
    """Events in the order of the journal, as CloudEvents; there is no ``next`` at its end.

    A page may be empty and have a ``next``: a bounded number of records is looked at for each.
    """
    asked.require_within(wish.scope)
    first = int(cursor or 0)
    if cursor is None and since_ms is not None:
        first = await events.find_since(asked, since_ms)
    rows, following = await events.list_events(asked, wish, first=first, limit=limit)
    journal = await events.journal_name(asked.gateway)
    found = [CloudEvent(**events.cloud_event(each, journal=journal)) for each in rows]
    return Page(items=found, next=following)


class EventStart(NamedTuple):
    """Where a watch begins, and whether it stays."""

    place: str | None
    since_ms: int | None
    follow: bool


def _start(
    since_ms: SinceMs = None,
    *,
    after: Annotated[
        str | None, Query(pattern=PLACE_PATTERN, description="Go on after the event of this id.")
    ] = None,
    last_event_id: Annotated[str | None, Header(alias="Last-Event-ID", pattern=PLACE_PATTERN)] = (
        None
    ),
    follow: Annotated[
        str,
        Query(pattern="^(true|false)$", description="Whether to stay at the end of the journal."),
    ] = "true",
) -> EventStart:
    # The caller's own word of where it is counts more than the address that it began with.
    return EventStart(last_event_id or after, since_ms, follow == "true")


@answers("event.watch")
async def watch_events(
    asked: Here, request: Request, *, wish: Wished, start: Annotated[EventStart, Depends(_start)]
) -> WatchResponse:
    """The events that the caller may read, as they happen."""
    asked.require_within(wish.scope)
    journal = await events.journal_name(asked.gateway)
    first = await _first(asked, start, journal=journal)
    wanted = events.watch_wish(wish, first=first, follow=start.follow, caller=asked)

    def spell(record: ToldRecord) -> bytes:
        event = events.cloud_event(record, journal=journal)
        data = json.dumps(event, ensure_ascii=True)
        return format_sse_event(event=event["type"], data_str=data, id=f"{record.seq}.{journal}")

    return open_watch(
        asked,
        request,
        wish=wanted,
        spell=lambda watch: spell_items(watch, spell, place=lambda number: f"{number}.{journal}"),
    )


async def _first(asked: Asked, start: EventStart, *, journal: str) -> int | None:
    if start.place is not None:
        return events.check_place(asked.gateway, start.place, journal=journal) + 1
    return None if start.since_ms is None else await events.find_since(asked, start.since_ms)
