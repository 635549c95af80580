"""Log lines say in the course of what they were said, and never say a secret."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.telemetry.logs import (
    DROPPED,
    SECRET_KEYS,
    configure_logs,
    is_secret,
    strike,
    without_secrets,
)
from bailiwick.telemetry.rows import LogRow
from bailiwick.telemetry.trace_context import in_context

TOKEN = "eyJhbGciOiJFZDI1NTE5In0.eyJzdWIiOiJhZG1pbiJ9.c2lnbmF0dXJlLXNpZ25hdHVyZS1zaWc"


class Log:
    """What was written and kept."""

    def __init__(self) -> None:
        self.stream = io.StringIO()
        self.rows: list[LogRow] = []

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stream.getvalue().splitlines()]


@pytest.fixture
def log() -> Iterator[Log]:
    made, root = Log(), logging.getLogger()
    level = root.level
    handler = configure_logs(made.stream, keep=made.rows.append)
    yield made
    root.removeHandler(handler)
    root.setLevel(level)
    structlog.reset_defaults()


def test_every_line_has_a_correlation_id(log: Log) -> None:
    structlog.get_logger("a").info("alone")
    with in_context("req-7", tenant="lab", project="p") as context:
        context.trace_id = "ab" * 16
        structlog.get_logger("a").info("inside", nodes=3)
        logging.getLogger("uvicorn.error").warning("from %s", "uvicorn")
    alone, inside, library = log.lines
    assert alone["correlation_id"] == "none"
    assert "tenant" not in alone
    assert inside["correlation_id"] == library["correlation_id"] == "req-7"
    assert inside["tenant"] == library["tenant"] == "lab"
    assert inside["project"] == "p"
    assert inside["trace_id"] == "ab" * 16
    assert inside["nodes"] == 3
    assert library["event"] == "from uvicorn"
    assert library["logger"] == "uvicorn.error"
    assert [row.correlation_id for row in log.rows] == ["none", "req-7", "req-7"]


def test_alembic_and_uvicorn_say_each_line_once(log: Log) -> None:
    logging.getLogger("alembic.runtime").warning("one")
    logging.getLogger("alembic.runtime.migration").info("not told: nobody needs it")
    logging.getLogger("uvicorn.access").info("not told: a span has it")
    assert [line["event"] for line in log.lines] == ["one"]


def test_on_a_terminal_lines_are_for_people() -> None:
    stream = io.StringIO()
    handler = configure_logs(stream, pretty=True)
    try:
        structlog.get_logger("a").info("hello", nodes=3)
    finally:
        logging.getLogger().removeHandler(handler)
        structlog.reset_defaults()
    assert "hello" in stream.getvalue()
    with pytest.raises(json.JSONDecodeError):
        json.loads(stream.getvalue())


def test_a_fault_is_told_with_its_trace_but_without_the_secret_in_it(log: Log) -> None:
    try:
        raise ValueError(f"bad header Bearer {TOKEN}")
    except ValueError:
        logging.getLogger("bailiwick.http").exception("fault")
    told = log.stream.getvalue()
    assert "ValueError" in told
    assert TOKEN not in told
    assert TOKEN not in log.rows[0].details


@pytest.mark.parametrize("key", sorted(SECRET_KEYS))
def test_what_stands_under_a_secrets_name_is_dropped(key: str) -> None:
    for spelled in (key, key.upper(), key.replace("_", "-")):
        assert without_secrets({spelled: "hush"}) == {spelled: DROPPED}


def test_what_is_no_secret_stays() -> None:
    event = {"event": "lease granted", "lease_id": 4, "tenant": "lab", "idempotency_key": "k-1"}
    assert without_secrets(event) == event
    assert not is_secret("correlation_id")


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        (f"Authorization: Bearer {TOKEN}", TOKEN),
        (f"token was {TOKEN}, sorry", TOKEN),
        ("basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        ("postgresql://me:s3cret@db/x", "s3cret"),
    ],
)
def test_what_looks_like_a_secret_is_struck_out(text: str, gone: str) -> None:
    assert gone in text
    assert gone not in strike(text)


HUSH = st.sampled_from([TOKEN, f"Bearer {TOKEN}", f"x{{{TOKEN}}}y"])
PLAIN = st.one_of(st.integers(), st.text(max_size=5), st.none(), HUSH)
NESTED = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["a", "token", "Authorization"]), inner, max_size=3),
        st.tuples(inner),
    ),
    max_leaves=8,
)


@given(NESTED)
def test_no_secret_is_written_wherever_it_hides(value: Any) -> None:
    assert TOKEN not in json.dumps(without_secrets({"event": "x", "more": value}))


def test_objects_and_bytes_do_not_get_past_either() -> None:
    class Holder:
        def __repr__(self) -> str:
            return f"Holder(Bearer {TOKEN})"

    told = without_secrets({"it": Holder(), "raw": TOKEN.encode()})
    assert TOKEN not in str(told)
