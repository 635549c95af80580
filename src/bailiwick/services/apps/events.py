"""Events: which of the journal's records somebody is told as such, from where on, and under what.

Rules:

- An event is told to whoever may read instances at its record's own scope: a project's reader hears
  of that project, a tenant's of all of its projects, the fleet's of everybody.
- Who names a tenant or a project hears of what is inside it, and must be allowed something there.
- A place in the events is the number of a record, and, as it is handed out, the journal's name. One
  of another journal, or one that is not there yet, is refused: going on there would skip events
  without a word.
- A question looks at a bounded number of records; its page may be empty and still not the last.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from bailiwick.events.cloud import JOURNAL_DIGITS, CloudEvent, EventFacts, instance_of, make_event
from bailiwick.events.types import EVENT_KINDS, is_wanted, type_of
from bailiwick.iam import FLEET, Scope
from bailiwick.journal.record import Record, parse_record
from bailiwick.runtime.gateway import Gateway
from bailiwick.runtime.replica import Role
from bailiwick.services.caller import Caller
from bailiwick.services.decisions import sees_journal
from bailiwick.services.journal import ToldRecord, tell_record
from bailiwick.services.pages import Rows
from bailiwick.services.revoking import first_since
from bailiwick.services.watching import WatchWish
from bailiwick.vocab.errors import InvalidValue, Unavailable

SCAN_MAX: Final = 10_000
"""Records that are looked at for one page; most are passed over unread."""
_MARK: Final = re.compile(f'"kind":"({"|".join(sorted(EVENT_KINDS))})"'.encode())


@dataclass(frozen=True, slots=True, kw_only=True)
class EventWish:
    """Which events somebody wants; what is ``None`` or empty is not asked for."""

    scope: Scope = FLEET
    types: tuple[str, ...] = ()
    instance: str | None = None
    correlation: str | None = None

    def keeps(self, record: Record) -> bool:
        """Whether a record is an event that was asked for."""
        return (
            record.kind in EVENT_KINDS
            and self.scope.covers(Scope(record.tenant, record.project))
            and self.correlation in (None, record.correlation_id)
            and self.instance in (None, instance_of(record.body))
            and is_wanted(type_of(record.kind, record.body), self.types)
        )


async def journal_name(gateway: Gateway) -> str:
    """By what this journal is known: the beginning of its first record's hash."""
    lines = await gateway.records(0, 1)
    if not lines:
        raise Unavailable("the journal", "it has no record yet")
    return name_of(lines[0])


def name_of(first_line: bytes) -> str:
    """The name of the journal that begins with this line."""
    return sha256(first_line.rstrip(b"\n")).hexdigest()[:JOURNAL_DIGITS]


def check_place(gateway: Gateway, place: str, *, journal: str) -> int:
    """The number of the record that a place names, if this journal has it."""
    number, _, named = place.partition(".")
    expected = "the id of an event of this journal; list events, and go on from there"
    if named not in ("", journal):
        raise InvalidValue("Last-Event-ID", place, expected)
    if int(number) >= gateway.journal.size:
        if gateway.role is not Role.LEADING:  # which may only not have heard of it yet
            raise Unavailable("that event", "this replica has not come so far")
        raise InvalidValue("Last-Event-ID", place, expected)
    return int(number)


def watch_wish(wish: EventWish, *, first: int | None, follow: bool, caller: Caller) -> WatchWish:
    """What a watch of events hears of; the caller must be allowed something inside the scope."""
    caller.require_within(wish.scope)
    return WatchWish(
        first=first,
        tenant=wish.scope.tenant,
        kinds=EVENT_KINDS,
        follow=follow,
        permission=caller.permission,
        keeps=wish.keeps,
        glance=may_be_event,
    )


async def list_events(
    caller: Caller, wish: EventWish, *, first: int, limit: int
) -> Rows[ToldRecord]:
    """Events that are over, in order; no cursor at the journal's end."""
    caller.require_within(wish.scope)
    lines = await caller.records(first, SCAN_MAX)
    size, whole = caller.gateway.journal.size, sees_journal(caller)
    rows: list[ToldRecord] = []
    seen = first + len(lines)
    for record in _records(lines):
        if wish.keeps(record) and caller.may(Scope(record.tenant, record.project)):
            rows.append(tell_record(record, whole=whole))
        if len(rows) == limit:
            seen = record.seq + 1
            break
    return rows, str(seen) if lines and seen < size else None


def _records(lines: list[bytes]) -> Iterator[Record]:
    return (parse_record(line.rstrip(b"\n")) for line in lines if may_be_event(line))


def may_be_event(line: bytes) -> bool:
    """Whether a line may be a record that is an event; quick, and never wrong about one that is."""
    # After the body, which is not looked through: the kind stands among the last fields.
    return _MARK.search(line, max(0, line.rfind(b'"kind":'))) is not None


async def find_since(caller: Caller, since_ms: int) -> int:
    """The number of the first record that is not older than this."""
    lines, size = caller.gateway.runner.lines, caller.gateway.journal.size
    return await asyncio.to_thread(first_since, lines.read, size, since_ms=since_ms)


def cloud_event(record: ToldRecord, *, journal: str) -> CloudEvent:
    """The event that a record is, as it is told."""
    told = (record.seq, record.at_ms, record.kind, record.tenant, record.project)
    return make_event(
        EventFacts(*told, record.actor, record.correlation_id, record.body), journal=journal
    )
