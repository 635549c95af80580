"""How far time may go at once."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.fleet.node import NodeCapacity
from bailiwick.kernel import (
    ChangeSettings,
    Elect,
    Envelope,
    Granted,
    Kernel,
    RegisterNode,
    Settings,
    Submit,
    Tick,
    digest_of,
)
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import ClockJumped
from bailiwick.vocab.values import TenantId

START_MS = 1_800_000_000_000
HOUR, DAY = 3_600_000, 86_400_000


def _do(kernel: Kernel, command: Any, at_ms: int) -> Any:
    return kernel.execute(Envelope(command, "somebody", "test"), at_ms).answer


def _with_a_lease(**settings: int) -> Kernel:
    kernel = Kernel()
    _do(kernel, ChangeSettings(Settings(**settings)), START_MS)
    _do(kernel, RegisterNode("n1", NodeCapacity(cpu_cores=4, mem_bytes=0)), START_MS)
    request = PlacementRequest(tenant=TenantId("lab"), cpu_cores=1, ttl_ms=6 * DAY)
    assert isinstance(_do(kernel, Submit(request), START_MS), Granted)
    return kernel


def test_a_clock_400_days_ahead_ends_no_lease() -> None:
    kernel = _with_a_lease()
    before = digest_of(kernel.state)
    with pytest.raises(ClockJumped) as raised:
        _do(kernel, Tick(), START_MS + 400 * DAY)
    told = raised.value
    assert (told.at_ms, told.now_ms, told.most_ms) == (START_MS + 400 * DAY, START_MS, HOUR)
    assert digest_of(kernel.state) == before
    assert not kernel.is_lost
    _do(kernel, Tick(), START_MS + 1_000)
    assert kernel.state.leases


def test_every_command_is_bound_and_so_is_a_checkpoint() -> None:
    kernel = _with_a_lease(clock_step_ms=5_000)
    for command in (
        Tick(),
        Submit(PlacementRequest(tenant=TenantId("lab"), cpu_cores=1)),
        Elect(7, "other"),
    ):
        with pytest.raises(ClockJumped):
            _do(kernel, command, START_MS + 400 * DAY)
    with pytest.raises(ClockJumped):
        kernel.checkpoint("kernel", START_MS + 5_001)
    assert kernel.checkpoint("kernel", START_MS + 5_000).step.at_ms == START_MS + 5_000


def test_a_journal_that_has_no_time_yet_takes_any() -> None:
    kernel = Kernel()
    _do(kernel, Elect(1, "first"), START_MS)
    assert kernel.state.clock_ms == START_MS


def test_a_quiet_night_is_many_small_steps() -> None:
    kernel = _with_a_lease()
    size = kernel.state.size
    for hour in range(1, 10):
        _do(kernel, Tick(), START_MS + hour * HOUR)
    assert kernel.state.size == size
    _do(kernel, Submit(PlacementRequest(tenant=TenantId("lab"), cpu_cores=1)), START_MS + 10 * HOUR)
    assert kernel.state.clock_ms == START_MS + 10 * HOUR


def test_a_leader_that_begins_may_step_over_an_outage_but_not_over_any() -> None:
    kernel = _with_a_lease(outage_ms=2 * DAY)
    with pytest.raises(ClockJumped):
        _do(kernel, Elect(1, "second"), START_MS + 2 * DAY + 1)
    _do(kernel, Elect(1, "second"), START_MS + 2 * DAY)
    assert kernel.state.clock_ms == START_MS + 2 * DAY


def test_where_time_is_made_up_every_time_is_believed() -> None:
    kernel = Kernel(simulated=True)
    _do(kernel, Elect(1, "first"), 5)
    _do(kernel, Elect(2, "first"), START_MS)
    assert kernel.state.clock_ms == START_MS


@given(st.lists(st.tuples(st.booleans(), st.integers(-9_000, 9_000)), max_size=30))
def test_time_goes_on_as_a_naive_reader_of_the_rules_says(steps: list[tuple[bool, int]]) -> None:
    kernel, epoch = Kernel(), 1
    _do(kernel, ChangeSettings(Settings(clock_step_ms=2_000, outage_ms=6_000)), START_MS)
    latest = wall = START_MS
    for elects, by_ms in steps:
        wall += by_ms
        is_bad = wall > latest + (6_000 if elects else 2_000)
        command = Elect(epoch + 1, "r") if elects else Tick()
        if is_bad:
            with pytest.raises(ClockJumped):
                _do(kernel, command, wall)
            continue
        _do(kernel, command, wall)
        epoch += elects
        latest = max(latest, wall)
        assert kernel.state.clock_ms <= latest
