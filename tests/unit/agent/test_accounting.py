"""GPU time by the driver's accounting: simulated, with numbers that an H200 once told."""

from __future__ import annotations

from typing import Any

import pytest

from bailiwick.agent.machine.accounting import (
    Accounted,
    GpuAccounting,
    GpuTally,
    GpuTime,
    NvmlAccounting,
)
from bailiwick.agent.words import SourceState
from tests.support.simulated_nvml import NvmlError, SimulatedGpu, SimulatedNvml

# An NVIDIA H200 (driver 580) of a process that computed for 6 s and slept for 2: while it ran, and
# after its end. While it runs its time is told as none, and when it began in microseconds.
BEGAN_US = 1_794_745_511_640_431
RUNNING = {"startTime": BEGAN_US, "time": 0, "gpuUtilization": 29, "isRunning": 1}
ENDED = {"startTime": BEGAN_US, "time": 8_438, "gpuUtilization": 27, "isRunning": 0}
BEGAN_MS = BEGAN_US // 1000


def read(*gpus: SimulatedGpu, pids: tuple[int, ...] = (430,), **answers: Any) -> GpuAccounting:
    library = SimulatedNvml(*gpus, **answers)
    found = NvmlAccounting(library).read(pids)
    assert not library.is_open
    return found


def accounting(number: int, **rows: dict[str, Any]) -> SimulatedGpu:
    accounted = {int(pid.removeprefix("p")): row for pid, row in rows.items()}
    return SimulatedGpu.numbered(number, accounting_mode=1, accounted=accounted)


def test_processes_are_read_on_each_device_that_accounts() -> None:
    found = read(accounting(1, p430=ENDED, p9=RUNNING), accounting(2), SimulatedGpu.numbered(3))
    assert found.state is SourceState.READ
    assert found.off == (2,)
    assert found.rows == (Accounted(0, 430, BEGAN_US, 8_438, 27, False),)


@pytest.mark.parametrize(
    ("answers", "state"),
    [
        ({"init": NvmlError(9)}, SourceState.DRIVER_MISSING),
        ({"init": NvmlError(4)}, SourceState.NOT_PERMITTED),
        ({"count": 0}, SourceState.NO_DEVICES),
        ({"count": NvmlError(999)}, SourceState.FAILED),
    ],
)
def test_a_driver_that_is_not_there_is_a_word(answers: dict[str, Any], state: SourceState) -> None:
    assert read(**answers) == GpuAccounting(state)


@pytest.mark.parametrize(
    "gpu",
    [
        SimulatedGpu(accounting_mode=0),
        SimulatedGpu(accounting_mode=None),
        SimulatedGpu(accounting_mode="x"),
        SimulatedGpu(accounting_mode=1, answers={"accounting_pids": NvmlError(4)}),
        SimulatedGpu(accounting_mode=1, answers={"handle": NvmlError(15)}),
    ],
)
def test_where_no_device_accounts_that_is_told_and_nothing_is_counted(gpu: SimulatedGpu) -> None:
    assert read(gpu) == GpuAccounting(SourceState.ABSENT, (0,))


@pytest.mark.parametrize(
    "row",
    [
        {**ENDED, "time": -1},
        {**ENDED, "time": 2**63},
        {**ENDED, "startTime": None},
        {**ENDED, "gpuUtilization": True},
        {"time": 5},
    ],
)
def test_a_row_that_cannot_be_true_is_left_out(row: dict[str, Any]) -> None:
    assert read(accounting(1, p430=row)).rows == ()


def test_a_utilisation_that_is_not_available_counts_as_none() -> None:
    (row,) = read(accounting(1, p430={**ENDED, "gpuUtilization": 2**32 - 1})).rows
    assert (row.percent, row.lasted_ms) == (0, 8_438)


def test_a_process_that_the_driver_does_not_account_for_is_not_asked_for() -> None:
    assert read(accounting(1, p430=ENDED), pids=(1, 2)).rows == ()
    refused = accounting(1, p430=ENDED)
    refused.answers["accounting_stats"] = NvmlError(6)
    assert read(refused) == GpuAccounting(SourceState.READ)


# --- added up -----------------------------------------------------------------------------------


def rows(**told: Any) -> tuple[Accounted, ...]:
    given = {"index": 0, "pid": 430, "began_us": BEGAN_US, "lasted_ms": 0, "percent": 50}
    return (Accounted(**(given | {"is_running": True} | told)),)


def test_a_running_process_lasts_until_now_and_an_ended_one_as_long_as_it_did() -> None:
    tally = GpuTally()
    tally.note(7, rows(), now_ms=BEGAN_MS + 2_000)
    assert tally.of(7) == (GpuTime(0, 2_000, 1_000, BEGAN_MS + 2_000),)
    tally.note(7, rows(lasted_ms=8_438, percent=27, is_running=False), now_ms=BEGAN_MS + 60_000)
    assert tally.of(7) == (GpuTime(0, 8_438, 2_278, BEGAN_MS + 8_438),)


def test_processes_and_devices_are_added_up_and_leases_are_not() -> None:
    tally = GpuTally()
    tally.note(7, rows(lasted_ms=100, is_running=False), now_ms=BEGAN_MS)
    tally.note(7, rows(pid=431, lasted_ms=300, is_running=False), now_ms=BEGAN_MS)
    tally.note(7, rows(index=2, lasted_ms=10, is_running=False), now_ms=BEGAN_MS)
    tally.note(8, rows(pid=9, lasted_ms=5, is_running=False), now_ms=BEGAN_MS)
    assert tally.of(7) == (
        GpuTime(0, 400, 200, BEGAN_MS + 300),
        GpuTime(2, 10, 5, BEGAN_MS + 10),
    )
    assert tally.pids(7) == {430, 431}
    tally.forget(7)
    assert (tally.of(7), tally.pids(7)) == ((), set())
    assert tally.of(8) != ()


def test_a_number_that_is_used_again_is_another_process() -> None:
    tally = GpuTally()
    tally.note(7, rows(lasted_ms=100, is_running=False), now_ms=BEGAN_MS)
    tally.note(7, rows(began_us=BEGAN_US + 5, lasted_ms=50, is_running=False), now_ms=BEGAN_MS)
    assert tally.of(7)[0].active_ms == 150


def test_a_clock_that_is_behind_the_driver_makes_no_time_run_backwards() -> None:
    tally = GpuTally()
    tally.note(7, rows(), now_ms=BEGAN_MS - 5)
    assert tally.of(7) == (GpuTime(0, 0, 0, BEGAN_MS - 5),)
