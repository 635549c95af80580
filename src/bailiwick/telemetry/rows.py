"""What is kept of spans, log lines and records: rows as they stand in the local table."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias


class SpanRow(NamedTuple):
    """How long something took; ``root_id`` is the span of the request that it belongs to."""

    correlation_id: str
    at_us: int
    duration_us: int
    name: str
    trace_id: str
    span_id: str
    parent_id: str | None
    root_id: str | None
    principal: str | None
    tenant: str | None
    project: str | None
    details: str
    """JSON."""

    @property
    def is_root(self) -> bool:
        """Whether this is the request itself."""
        return self.root_id == self.span_id


class LogRow(NamedTuple):
    """One line of the log."""

    correlation_id: str
    at_us: int
    level: str
    event: str
    root_id: str | None
    tenant: str | None
    project: str | None
    details: str
    """JSON."""


class RecordRow(NamedTuple):
    """Where a record of the journal is, and whose it is."""

    correlation_id: str
    seq: int
    at_ms: int
    kind: str
    tenant: str | None
    project: str | None


Row: TypeAlias = SpanRow | LogRow | RecordRow


class FoundRows(NamedTuple):
    """Everything that is kept under one correlation id, oldest first."""

    spans: list[SpanRow]
    logs: list[LogRow]
    records: list[RecordRow]
    is_cut: bool
    """Whether there was more of it than is told."""
