"""What is measured of a wait for the kernel: however it ends, but not what was never asked.

And of requests: what the platform answered, not what an app did.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import pytest
from starlette.responses import Response
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from bailiwick.server.http.observe import Observe, watch_waits
from bailiwick.server.http.passing import PassedResponse
from bailiwick.telemetry.telemetry import Telemetry
from bailiwick.vocab.errors import Conflict, NotLeader, Unavailable


@pytest.fixture
def telemetry(tmp_path: Path) -> Iterator[Telemetry]:
    made = Telemetry.open(tmp_path)
    yield made
    made.close()


def waits(telemetry: Telemetry, wait: str) -> float:
    name = "bailiwick_kernel_wait_seconds_count"
    return telemetry.metrics.registry.get_sample_value(name, {"wait": wait}) or 0


ENDS = (
    Unavailable("the kernel", "no answer in time"),
    Conflict("lease", 7, "has ended"),
    asyncio.CancelledError(),
    ZeroDivisionError(),
)


@pytest.mark.parametrize("wait", ["call", "look"])
@pytest.mark.parametrize("error", ENDS, ids=lambda error: type(error).__name__)
def test_a_wait_that_ends_in_an_error_is_measured(
    telemetry: Telemetry, error: BaseException, wait: str
) -> None:
    watch = watch_waits(telemetry)
    assert watch is not None
    with pytest.raises(type(error)), watch(wait, "GrantLease"):
        raise error
    assert waits(telemetry, wait) == 1
    with watch(wait, "GrantLease"):
        pass
    assert waits(telemetry, wait) == 2


def test_what_a_follower_refuses_at_once_is_no_fast_decision(telemetry: Telemetry) -> None:
    watch = watch_waits(telemetry)
    assert watch is not None
    with pytest.raises(NotLeader), watch("call", "GrantLease"):
        raise NotLeader(None)
    assert waits(telemetry, "call") == 0


async def says() -> AsyncGenerator[bytes, None]:
    yield b"broken"


def counted(telemetry: Telemetry, answer: ASGIApp) -> dict[str, float]:
    """Which series an answer moved, having been seen as it passed."""
    client = TestClient(Observe(answer, telemetry=telemetry))
    assert client.get("/").text == "broken"
    told = telemetry.metrics.registry.collect()
    samples = [sample for metric in told for sample in metric.samples if sample.value]
    return {
        "".join((each.name, *each.labels.values())): each.value
        for each in samples
        if each.name in ("bailiwick_request_errors_total", "bailiwick_request_seconds_count")
    }


def test_what_an_app_answers_is_neither_counted_nor_a_line_nor_a_failure(
    telemetry: Telemetry, caplog: pytest.LogCaptureFixture
) -> None:
    apps = PassedResponse(500, [(b"content-length", b"6")], body=says(), leave=lambda: None)
    with caplog.at_level("INFO", "bailiwick.http"):
        assert counted(telemetry, apps) == {}
    assert "was answered with" not in caplog.text


def test_what_the_platform_answers_is_counted_and_a_line(
    telemetry: Telemetry, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO", "bailiwick.http"):
        assert counted(telemetry, Response("broken", 500)) == {
            "bailiwick_request_errors_total500": 1,
            "bailiwick_request_seconds_countother5xx": 1,
        }
    assert "other was answered with 500" in caplog.text
