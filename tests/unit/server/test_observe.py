"""What is measured of a wait for the kernel: however it ends, but not what was never asked."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from bailiwick.server.http.observe import watch_waits
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
