"""One timeline of everything that belongs to a correlation id: merged, and cut to what one may see.

Rules:

- Records are seen at their scope. What else there is (the request, its spans and log lines) is seen
  by whoever asked for it, by whoever sees the whole fleet, and by whoever may look into the
  request's own scope provided that every record of the correlation id is his to see: callers choose
  these ids, so two who do not know each other may use the same.
- A log line or span that belongs to no request is told only to whoever sees the whole fleet, or who
  sees every record and the line's own scope.
- Order is by time to the millisecond; within one, a request comes before the spans it is made of,
  those before decisions, then events, then log lines.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Protocol

from bailiwick.journal.kinds import RecordKind
from bailiwick.telemetry.rows import FoundRows, LogRow, RecordRow, SpanRow

Rendered = tuple["Told", Mapping[str, Any]]
"""A record, and what is told of it."""

Sees = Callable[[str | None, str | None], bool]
"""Whether one may look into the scope of this tenant and project; of neither, the fleet."""

DECISIONS: Final = frozenset(
    (
        *(RecordKind.ADMISSION_APPROVED, RecordKind.ADMISSION_DENIED, RecordKind.REQUEST_QUEUED),
        *(RecordKind.REQUEST_BLOCKED, RecordKind.REQUEST_CANCELLED, RecordKind.ROOM_RESERVED),
        *(RecordKind.ROOM_POSTPONED, RecordKind.ROOM_LOST),
        *(RecordKind.LEASE_PREEMPTED, RecordKind.LEASE_RESTORED, RecordKind.ACCESS_REFUSED),
    )
)


class TimelineSource(StrEnum):
    """Where an entry of the timeline comes from, in the order within one millisecond."""

    REQUEST = "request"
    SPAN = "span"
    DECISION = "decision"
    EVENT = "event"
    LOG = "log"


_RANK: Final = {source: rank for rank, source in enumerate(TimelineSource)}


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """One thing that happened."""

    at_us: int
    source: TimelineSource
    name: str
    duration_us: int | None
    details: Mapping[str, Any] = field(hash=False)

    @property
    def at_ms(self) -> int:
        """When, to the millisecond."""
        return self.at_us // 1000


class Told(Protocol):
    """A record of the journal, as far as a timeline needs it."""

    @property
    def seq(self) -> int:
        """Its number."""

    @property
    def at_ms(self) -> int:
        """When it was sealed."""

    @property
    def kind(self) -> RecordKind:
        """What it tells."""


def cut(found: FoundRows, *, principal: str, sees: Sees) -> FoundRows:
    """What of it this principal may see."""
    records = [row for row in found.records if sees(row.tenant, row.project)]
    if sees(None, None):
        return found._replace(records=records)
    is_whole = len(records) == len(found.records) and not found.is_cut

    def shows(tenant: str | None, project: str | None) -> bool:
        return is_whole and tenant is not None and sees(tenant, project)

    roots = {
        row.span_id
        for row in found.spans
        if row.is_root and (row.principal == principal or shows(row.tenant, row.project))
    }

    def keeps(row: SpanRow | LogRow) -> bool:
        if row.root_id is not None:
            return row.root_id in roots
        return bool(records) and shows(row.tenant, row.project)

    spans = [row for row in found.spans if keeps(row)]
    return FoundRows(spans, [row for row in found.logs if keeps(row)], records, found.is_cut)


def merge(
    spans: Iterable[SpanRow], logs: Iterable[LogRow], *, records: Iterable[Rendered]
) -> list[TimelineRow]:
    """One list, by time."""
    entries = [_of_span(row) for row in spans]
    entries += [_of_record(record, details) for record, details in records]
    entries += [_of_log(row) for row in logs]
    return sorted(entries, key=lambda each: (each.at_ms, _RANK[each.source], *_within(each)))


def _within(entry: TimelineRow) -> tuple[int, int]:
    """Records of one millisecond by number, everything else by the microsecond."""
    return int(entry.details.get("seq", 0)), entry.at_us


def _of_span(row: SpanRow) -> TimelineRow:
    details = json.loads(row.details)
    details |= {"trace_id": row.trace_id, "span_id": row.span_id, "parent_id": row.parent_id}
    if row.is_root:
        details |= {"principal": row.principal, "tenant": row.tenant, "project": row.project}
    source = TimelineSource.REQUEST if row.is_root else TimelineSource.SPAN
    return TimelineRow(row.at_us, source, row.name, row.duration_us, details)


def _of_log(row: LogRow) -> TimelineRow:
    details = {**json.loads(row.details), "level": row.level}
    return TimelineRow(row.at_us, TimelineSource.LOG, row.event, None, details)


def _of_record(record: Told, details: Mapping[str, Any]) -> TimelineRow:
    source = TimelineSource.DECISION if record.kind in DECISIONS else TimelineSource.EVENT
    told = {**details, "seq": record.seq}
    return TimelineRow(record.at_ms * 1000, source, record.kind.value, None, told)


def runs(rows: Iterable[RecordRow]) -> list[tuple[int, int]]:
    """The records as (first, how many) pieces without a gap, so that few reads fetch them."""
    pieces: list[tuple[int, int]] = []
    for seq in sorted(row.seq for row in rows):
        if pieces and pieces[-1][0] + pieces[-1][1] == seq:
            pieces[-1] = pieces[-1][0], pieces[-1][1] + 1
        else:
            pieces.append((seq, 1))
    return pieces
