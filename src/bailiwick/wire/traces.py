"""What can be seen of a request afterwards: one timeline of everything it led to."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from bailiwick.wire.base import Amount, Model


class TimelineEntry(Model):
    """One thing that happened: the request, a decision, another event, a span, a log line."""

    at_ms: Amount
    source: Literal["request", "decision", "event", "span", "log"]
    name: str
    duration_ms: Annotated[float, Field(ge=0)] | None = None
    details: dict[str, Any]


class Timeline(Model):
    """All that is kept under a correlation id and is the caller's to see, by time."""

    correlation_id: str
    entries: list[TimelineEntry]
    is_cut: bool = False
    """Whether there was more than is told."""
