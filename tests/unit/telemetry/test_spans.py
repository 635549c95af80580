"""Spans: into the table always, to a collector if asked, under the caller's trace."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from bailiwick.telemetry.local_table import LocalTable
from bailiwick.telemetry.rows import SpanRow
from bailiwick.telemetry.spans import Spans
from bailiwick.telemetry.trace_context import CURRENT, TraceContext, in_context, note
from tests.support.waiting import WAIT_S


@pytest.fixture
def table(tmp_path: Path) -> Iterator[LocalTable]:
    made = LocalTable(tmp_path / "telemetry.db")
    yield made
    made.close()


def found(table: LocalTable, correlation: str) -> dict[str, SpanRow]:
    assert table.flush(WAIT_S)
    return {row.name: row for row in table.find(correlation).spans}


def test_a_request_and_what_it_is_made_of(table: LocalTable) -> None:
    spans, context = Spans(table), TraceContext({"correlation_id": "c-1"})
    span = spans.begin("request", context)
    token = CURRENT.set(context)
    note(principal="ann", action="lease.request", tenant="lab", project="p")
    with spans.span("kernel.call", command="Submit"):
        pass
    CURRENT.reset(token)
    span.name = "lease.request"
    span.end()
    rows = found(table, "c-1")
    root, child = rows["lease.request"], rows["kernel.call"]
    assert root.is_root
    assert not child.is_root
    assert child.parent_id == child.root_id == root.span_id == context.root_id
    assert child.trace_id == root.trace_id == context.trace_id
    assert (root.principal, root.tenant, root.project) == ("ann", "lab", "p")
    assert "Submit" in child.details
    assert root.at_us <= child.at_us
    assert root.duration_us >= child.duration_us


def test_the_callers_trace_is_taken_up_sampled_or_not(table: LocalTable) -> None:
    spans = Spans(table)
    for number, flags in enumerate(("00", "01")):
        context = TraceContext({"correlation_id": f"c-{number}"})
        parent = f"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-{flags}"
        spans.begin("request", context, traceparent=parent).end()
        row = found(table, f"c-{number}")["request"]
        assert row.trace_id == "0af7651916cd43dd8448eb211c80319c"
        assert row.parent_id == "b7ad6b7169203331"
        assert row.is_root


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "00-zz-yy-01",
        "x" * 5000,
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        f"00-{'0' * 32}-b7ad6b7169203331-01",
        f"00-0af7651916cd43dd8448eb211c80319c-{'0' * 16}-01",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
    ],
)
def test_a_malformed_parent_is_none(table: LocalTable, bad: str) -> None:
    spans, context = Spans(table), TraceContext({"correlation_id": "c-4"})
    spans.begin("request", context, traceparent=bad).end()
    assert found(table, "c-4")["request"].parent_id is None


def test_what_raises_is_marked(table: LocalTable) -> None:
    spans = Spans(table)
    with in_context("c-2"), pytest.raises(ValueError, match="no"), spans.span("x"):
        raise ValueError("no")
    assert "ValueError" in found(table, "c-2")["x"].details
    assert '"no"' not in found(table, "c-2")["x"].details


def test_work_without_a_request_has_spans_too(table: LocalTable) -> None:
    spans = Spans(table)
    with spans.span("executor.adopt"):
        pass
    with in_context("job-4", tenant="lab"), spans.span("executor.start", lease_id=4):
        pass
    assert found(table, "none")["executor.adopt"].tenant is None
    started = found(table, "job-4")["executor.start"]
    assert (started.tenant, started.root_id) == ("lab", None)


def test_no_provider_is_set_globally(table: LocalTable) -> None:
    Spans(table)
    assert type(trace.get_tracer_provider()).__name__ == "ProxyTracerProvider"


class Collector:
    """A collector that keeps what it was sent."""

    def __init__(self) -> None:
        self.posts: list[tuple[str, bytes]] = []
        posts = self.posts

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                size = int(self.headers["content-length"])
                posts.append((self.path, self.rfile.read(size)))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *args: object) -> None:
                del args

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def collector() -> Iterator[Collector]:
    made = Collector()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.mark.parametrize("by", ["option", "environment"])
def test_spans_go_out_by_otlp_when_asked(
    table: LocalTable, collector: Collector, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    monkeypatch.setattr("bailiwick.telemetry.spans.CLOSE_S", WAIT_S)
    if by == "environment":
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    spans = Spans(table, otlp=collector.url if by == "option" else None)
    assert spans.is_exported
    context = TraceContext({"correlation_id": "c-3"}, principal="ann", tenant="lab")
    with spans.begin("lease.request", context) as root:
        token = CURRENT.set(context)
        with spans.span("kernel.call", command="Submit"):
            pass
        CURRENT.reset(token)
    spans.close()
    assert [path for path, _ in collector.posts] == ["/v1/traces"]
    assert found(table, "c-3").keys() == {"kernel.call", "lease.request"}
    sent = ExportTraceServiceRequest.FromString(gzipped(collector.posts[0][1]))
    (group,) = sent.resource_spans
    told = {each.name: each for each in group.scope_spans[0].spans}
    child, parent = told["kernel.call"], told["lease.request"]
    assert parent.span_id.hex() == child.parent_span_id.hex() == root.span_id
    assert parent.trace_id.hex() == child.trace_id.hex() == root.trace_id
    assert (parent.kind, child.kind) == (2, 1)  # server and internal
    attributes = {each.key: each.value.string_value for each in parent.attributes}
    assert attributes["bailiwick.correlation_id"] == "c-3"
    assert attributes["bailiwick.principal"] == "ann"


def test_a_collector_that_is_not_there_costs_nothing(table: LocalTable) -> None:
    spans = Spans(table, otlp="http://127.0.0.1:9")
    with in_context("c-5"), spans.span("kernel.call"):
        pass
    assert found(table, "c-5").keys() == {"kernel.call"}
    spans.close()


def gzipped(body: bytes) -> bytes:
    return gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body


def test_without_an_address_nothing_goes_out(
    table: LocalTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    assert not Spans(table).is_exported
