"""What is learned from arrivals: typical shapes, CPU per GPU, and pressure on kinds of device."""

from __future__ import annotations

import pytest

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.scheduler.admission import AdmissionController
from bailiwick.scheduler.engine.protocol import KINDS_MAX, ONE
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.workload import (
    FIRST_LESSON,
    Arrivals,
    Workload,
    learn,
    lesson_interval,
    steady_interval,
)
from bailiwick.vocab.words import HardwareGeneration as G

BOTH = 0b11


def arrived(times: int, count: int = 1, milli: int = 1000, kinds: int = BOTH, cpu: int = 4000):
    return Arrivals(times, count, milli, kinds, cpu)


def rows(workload: Workload) -> list[tuple[int, ...]]:
    items = workload.items.tolist()
    return [tuple(items[at : at + 5]) for at in range(0, len(items), 5)]


def lesson(*arrivals: Arrivals, fleet: list[int] | None = None, cpu: int = 64_000) -> Workload:
    return learn(arrivals, milli_by_kind=[8000, 8000] if fleet is None else fleet, cpu_milli=cpu)


def test_before_anything_arrived_the_fleet_s_own_cpu_per_gpu_is_assumed() -> None:
    told = lesson()
    assert told.inverse_kappa == ONE * 16_000 // 64_000
    assert rows(told) == []
    assert set(told.pressure) == {0}


@pytest.mark.parametrize(("fleet", "cpu"), [([], 0), ([], 64_000), ([0, 0], 0), ([8000], 0)])
def test_a_fleet_without_cpu_or_gpus_is_no_trouble(fleet: list[int], cpu: int) -> None:
    told = lesson(fleet=fleet, cpu=cpu)
    assert told.inverse_kappa == ONE * sum(fleet) // max(1, cpu)


def test_the_cpu_that_goes_with_a_gpu_is_learned_from_gpu_requests_alone() -> None:
    told = lesson(arrived(10, cpu=8000), arrived(1000, count=0, milli=0, cpu=99_000))
    assert told.inverse_kappa == ONE * 10_000 // 80_000


def test_gpu_requests_that_ask_for_no_cpu_leave_the_assumption_in_place() -> None:
    assert lesson(arrived(10, cpu=0)).inverse_kappa == lesson().inverse_kappa


def test_what_never_arrived_teaches_nothing() -> None:
    assert lesson(arrived(0), arrived(0, milli=500)) == lesson()


def test_the_weights_of_typical_shapes_are_their_parts_of_the_arrivals() -> None:
    told = lesson(arrived(30, milli=500), arrived(10, milli=1000))
    assert rows(told) == [
        (1, 500, BOTH, 4000, ONE * 30 // 40),
        (1, 1000, BOTH, 4000, ONE * 10 // 40),
    ]


def test_requests_without_a_gpu_count_in_the_whole_but_have_no_row() -> None:
    told = lesson(arrived(30), arrived(10, count=0, milli=0))
    assert rows(told) == [(1, 1000, BOTH, 4000, ONE * 30 // 40)]


def test_shapes_beyond_the_most_frequent_95_percent_are_left_out() -> None:
    told = lesson(arrived(95, milli=500), arrived(3, milli=600), arrived(2, milli=700))
    assert [row[1] for row in rows(told)] == [500]


def test_alike_shapes_are_counted_together() -> None:
    assert rows(lesson(arrived(10), arrived(30))) == rows(lesson(arrived(40)))


def test_the_order_in_which_shapes_are_told_does_not_matter() -> None:
    shapes = [arrived(n, milli=100 * n, kinds=1 + n % 3) for n in range(1, 9)]
    assert lesson(*shapes) == lesson(*reversed(shapes))


def test_rows_are_grouped_by_devices_and_sorted_by_cpu_within() -> None:
    told = lesson(
        arrived(5, cpu=9000), arrived(5, count=2, cpu=1000), arrived(5, cpu=1000)
    )  # fmt: skip
    assert [(row[0], row[3]) for row in rows(told)] == [(1, 1000), (1, 9000), (2, 1000)]


def test_no_pressure_comes_from_requests_that_any_device_can_serve() -> None:
    assert set(lesson(arrived(50, kinds=BOTH)).pressure) == {0}


def test_pressure_is_how_much_of_a_kind_is_asked_for_by_name() -> None:
    pressure = lesson(arrived(50, kinds=0b01)).pressure
    # all is asked of kind 0, which is half of the fleet: twice its part
    assert (pressure[0], pressure[1]) == (2 * ONE, 0)


def test_pressure_is_shared_among_the_kinds_that_were_named() -> None:
    pressure = lesson(arrived(50, kinds=0b011), fleet=[4000, 4000, 8000]).pressure
    assert pressure[0] == pressure[1] > 0
    assert pressure[2] == 0


def test_a_kind_that_left_the_fleet_is_under_no_pressure() -> None:
    pressure = lesson(arrived(50, kinds=0b01), arrived(50, kinds=0b10), fleet=[0, 8000]).pressure
    assert pressure[0] == 0


def test_the_sixty_fourth_kind_fits_the_signed_table() -> None:
    last = 1 << (KINDS_MAX - 1)
    told = lesson(arrived(5, kinds=last), fleet=[1000] * KINDS_MAX)
    assert rows(told)[0][2] == last - 2**64
    assert told.pressure[KINDS_MAX - 1] > 0


def test_it_learns_when_arrivals_double_and_then_at_a_steady_interval() -> None:
    assert lesson_interval(0, 10) == FIRST_LESSON
    assert lesson_interval(1000, 10) == 1000
    assert lesson_interval(10**9, 10) == steady_interval(10) == 4096
    assert lesson_interval(10**9, 10_000) == steady_interval(10_000) == 40_000


@pytest.mark.parametrize("nodes", [0, 1, 100, 100_000])
def test_an_interval_is_never_so_short_that_it_learns_at_every_arrival(nodes: int) -> None:
    assert all(lesson_interval(n, nodes) >= FIRST_LESSON for n in (0, 1, 31, 32, 10**6))


def test_what_a_fleet_is_asked_for_by_name_is_kept_for_those_who_name_it() -> None:
    """Behaviour, end to end: after the lessons, work that runs anywhere avoids the named kind."""
    ledger = CapacityLedger()
    for name, generation in (("hopper", G.NVIDIA_HOPPER), ("ampere", G.NVIDIA_AMPERE)):
        gpus = (GpuDevice(generation),) * 8
        ledger.register_node(name, NodeCapacity(cpu_cores=64, mem_bytes=100, gpus=gpus))
    admission = AdmissionController(ledger)
    named = PlacementRequest(
        tenant="lab", cpu_cores=1, gpu_count=1, generation=G.NVIDIA_HOPPER, ttl_ms=1
    )
    for now in range(2 * FIRST_LESSON):
        ledger.expire(now)
        admission.admit(named, now_ms=now)
    ledger.expire(10**6)
    anywhere = PlacementRequest(tenant="lab", cpu_cores=1, gpu_count=1)
    assert admission.evaluate(anywhere).node == "ampere"
