"""The whole of it: what is logged, timed and sealed under one id is found under it."""

from __future__ import annotations

import io
import logging
from pathlib import Path

import structlog

from bailiwick.runtime.feed import DurableLines, Feed
from bailiwick.telemetry.telemetry import LogTerms, Telemetry
from bailiwick.telemetry.timeline import cut, merge
from bailiwick.telemetry.trace_context import CURRENT, TraceContext, note
from tests.support.following import telemetry_follows
from tests.support.waiting import WAIT_S

LINE = (
    b'{"actor":"ann","at_ms":1,"body":{},"correlation_id":"c-1","kind":"tenant_created",'
    b'"prev_hash":"00","project":null,"seq":0,"tenant":"lab"}\n'
)


def test_one_request_from_end_to_end(tmp_path: Path) -> None:
    stream, feed = io.StringIO(), Feed()
    level = logging.getLogger().level
    telemetry = Telemetry.open(tmp_path, logs=LogTerms(stream=stream))
    try:
        telemetry_follows(telemetry, DurableLines(feed, lambda first, limit: []))
        context = TraceContext({"correlation_id": "c-1"})
        with telemetry.spans.begin("tenant.create", context):
            token = CURRENT.set(context)
            note(principal="ann", tenant="lab")
            structlog.get_logger("x").warning("slow", taken_ms=7, token="hush")
            CURRENT.reset(token)
        feed.publish(0, [LINE])
        found = telemetry.find("c-1")
    finally:
        telemetry.close()
        logging.getLogger().setLevel(level)
        structlog.reset_defaults()
    assert [row.kind for row in found.records] == ["tenant_created"]
    assert [row.event for row in found.logs] == ["slow"]
    seen = cut(found, principal="ann", sees=lambda tenant, project: False)
    entries = merge(seen.spans, seen.logs, records=[])
    assert [entry.name for entry in entries] == ["tenant.create", "slow"]
    assert entries[1].details["taken_ms"] == 7
    assert "hush" not in stream.getvalue()
    assert "hush" not in found.logs[0].details
    stranger = cut(found, principal="bob", sees=lambda tenant, project: False)
    assert not any(stranger[:3])


def test_nothing_is_left_behind_when_it_is_closed(tmp_path: Path) -> None:
    before = list(logging.getLogger().handlers)
    level = logging.getLogger().level
    telemetry = Telemetry.open(tmp_path, logs=LogTerms(stream=io.StringIO()))
    assert logging.getLogger().handlers != before
    telemetry.close()
    logging.getLogger().setLevel(level)
    structlog.reset_defaults()
    assert logging.getLogger().handlers == before


def test_a_second_start_that_finds_nothing_new_does_not_wait(tmp_path: Path) -> None:
    feed = Feed()
    feed.publish(0, [LINE])
    for _ in range(2):
        telemetry = Telemetry.open(tmp_path)
        lines = DurableLines(feed, lambda first, limit: [LINE][first : first + limit])
        follower = telemetry_follows(telemetry, lines)
        assert follower.catch_up(WAIT_S)
        assert follower.position == 1
        telemetry.close()
