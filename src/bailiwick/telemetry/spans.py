"""Spans: how long each part of a request took, in our own table always and by OTLP if asked.

Rules:

- A span is a small value of ours; it becomes one of OpenTelemetry's only if it goes out. Theirs
  cost about five times as much to make, and every request has three.
- Nothing is set up globally and the web framework makes no spans of its own, so nothing is told
  twice. Nothing is sampled away: what a caller's ``traceparent`` says of sampling does not count.
- A caller's ``traceparent`` is taken up as the parent, and nothing else of what it may carry.
- An attribute is a word, a name or a number of ours; no header and no body is ever one.

>>> parent_of("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
('0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331')
"""

from __future__ import annotations

import json
import os
import re
import threading
import time
from random import Random
from types import TracebackType
from typing import Final

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

from bailiwick.telemetry.local_table import LocalTable
from bailiwick.telemetry.rows import SpanRow
from bailiwick.telemetry.trace_context import CURRENT, NO_ID, TraceContext

_TRACEPARENT: Final = re.compile("[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?")
_SCOPE: Final = InstrumentationScope("bailiwick")
_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")

_CHANCE: Final = Random()  # our own, because the shared one may be seeded by anybody
CLOSE_S: Final = 2.0

Value = str | int | bool


def parent_of(traceparent: str) -> tuple[str, str] | None:
    """The trace and the span that a caller names, if it is well-formed (W3C trace context)."""
    found = _TRACEPARENT.fullmatch(traceparent) if len(traceparent) <= 256 else None
    if found is None or traceparent.startswith("ff"):
        return None
    trace_id, span_id = found.group(1), found.group(2)
    return None if not (int(trace_id, 16) and int(span_id, 16)) else (trace_id, span_id)


def _new_id(bits: int) -> str:
    return f"{_CHANCE.getrandbits(bits) or 1:0{bits // 4}x}"


class Span:
    """One piece of work, from when it is made until it leaves its ``with`` block or is ended."""

    __slots__ = (
        *("attributes", "context", "is_failed", "name", "parent_id", "span_id"),
        *("spans", "start_ns", "trace_id"),
    )

    def __init__(
        self,
        spans: Spans,
        name: str,
        *,
        context: TraceContext | None,
        parent: tuple[str, str] | None,
    ) -> None:
        self.spans, self.name, self.context = spans, name, context
        self.trace_id = _new_id(128) if parent is None else parent[0]
        self.parent_id = None if parent is None else parent[1]
        self.span_id = _new_id(64)
        self.attributes: dict[str, Value] = {}
        self.is_failed = False
        self.start_ns = time.time_ns()

    def set(self, key: str, value: Value) -> None:
        """Say more about it."""
        self.attributes[key] = value

    def end(self) -> None:
        """It is over."""
        self.spans.keep(self, time.time_ns())

    def __enter__(self) -> Span:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.set("error.type", kind.__name__)
            self.is_failed = True
        self.end()


class Spans:
    """Makes spans and sees to it that they are kept."""

    def __init__(self, table: LocalTable, *, otlp: str | None = None, name: str = "one") -> None:
        self._table = table
        self._out: BatchSpanProcessor | None = None
        if otlp or any(os.environ.get(each) for each in _ENDPOINTS):
            self._resource = Resource.create(
                {"service.name": "bailiwick", "service.instance.id": name}
            )
            # Without an address of ours it reads the environment by itself.
            endpoint = otlp.rstrip("/") + "/v1/traces" if otlp else None
            self._exporter = OTLPSpanExporter(endpoint)
            self._out = BatchSpanProcessor(self._exporter)

    @property
    def is_exported(self) -> bool:
        """Whether spans go out by OTLP as well."""
        return self._out is not None

    def begin(self, name: str, context: TraceContext, *, traceparent: str | None = None) -> Span:
        """The span of a request; the context learns its ids."""
        parent = None if traceparent is None else parent_of(traceparent)
        span = Span(self, name, context=context, parent=parent)
        context.trace_id, context.root_id = span.trace_id, span.span_id
        return span

    def span(self, name: str, **attributes: Value) -> Span:
        """A span inside whatever goes on now; alone if nothing does."""
        context, parent = CURRENT.get(), None
        if context is not None and context.trace_id and context.root_id:
            parent = context.trace_id, context.root_id
        span = Span(self, name, context=context, parent=parent)
        span.attributes = attributes
        return span

    def keep(self, span: Span, end_ns: int) -> None:
        """A span is over: it goes to the table, and out if that is wanted."""
        row = _row(span, end_ns)
        self._table.put(row)
        if self._out is not None:
            self._out.on_end(self._readable(span, row, end_ns))

    def close(self) -> None:
        """Send what is left, and stop; a collector that is away does not hold up the end."""
        if self._out is not None:
            ending = threading.Thread(target=self._out.shutdown, name="otlp-end", daemon=True)
            ending.start()
            ending.join(CLOSE_S)
            if ending.is_alive():
                # It waits for a better moment, which will not come.
                self._exporter.shutdown()  # type: ignore[no-untyped-call]
                ending.join(CLOSE_S)

    def _readable(self, span: Span, row: SpanRow, end_ns: int) -> ReadableSpan:
        parent = None
        if span.parent_id is not None:
            parent = _context(span.trace_id, span.parent_id, is_remote=row.is_root)
        own = {
            "bailiwick.correlation_id": row.correlation_id,
            "bailiwick.root_id": row.root_id,
            "bailiwick.principal": row.principal,
            "bailiwick.tenant": row.tenant,
            "bailiwick.project": row.project,
        }
        known = {key: value for key, value in own.items() if value is not None}
        return ReadableSpan(
            span.name,
            context=_context(span.trace_id, span.span_id),
            parent=parent,
            resource=self._resource,
            attributes={**span.attributes, **known},
            kind=SpanKind.SERVER if row.is_root else SpanKind.INTERNAL,
            status=Status(StatusCode.ERROR if span.is_failed else StatusCode.UNSET),
            start_time=span.start_ns,
            end_time=end_ns,
            instrumentation_scope=_SCOPE,
        )


def _context(trace_id: str, span_id: str, *, is_remote: bool = False) -> SpanContext:
    sampled = TraceFlags(TraceFlags.SAMPLED)
    return SpanContext(int(trace_id, 16), int(span_id, 16), is_remote, sampled)


def _row(span: Span, end_ns: int) -> SpanRow:
    context = span.context
    details = span.attributes
    if span.is_failed:
        details = {**details, "is_failed": True}
    at_us, duration_us = span.start_ns // 1000, max(0, end_ns - span.start_ns) // 1000
    text = json.dumps(details) if details else "{}"
    what = span.name, span.trace_id, span.span_id, span.parent_id
    if context is None:
        return SpanRow(NO_ID, at_us, duration_us, *what, None, None, None, None, text)
    return SpanRow(
        context.correlation_id,
        at_us,
        duration_us,
        *what,
        context.root_id,
        context.principal,
        context.tenant,
        context.project,
        text,
    )
