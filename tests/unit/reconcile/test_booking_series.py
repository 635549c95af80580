"""Nodes that a leader books by series: each time once, and what cannot be until it can."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.kernel import Book, CancelBooking, DepartNode, RegisterNode, SetQuota, SetSeries
from bailiwick.kernel.bookings.book import Booking
from bailiwick.kernel.people.commands import CreateProject, CreateTenant
from bailiwick.reconcile.timetables.planner import TimetablePlanner
from bailiwick.reconcile.timetables.series import SeriesTimes
from bailiwick.runtime.replica import View
from bailiwick.scheduler.quota_policy import Quota, ResourceLimit
from bailiwick.services.bookings import coming_times, hindrance
from bailiwick.vocab.errors import BailiwickError
from bailiwick.vocab.words import HardwareGeneration
from tests.support.hand_cell import HandCell, LaterReader, at, utc

RULE = "weekly on tue at 09:00 for 2h in Europe/Berlin"
MINUTE_MS = 60_000
GPUS = (GpuDevice(HardwareGeneration.NVIDIA_HOPPER),)
OWNER = ("lab", "course")
COMES = ("class-20260317", "class-20260324", "class-20260331", "class-20260407")


class Cell(HandCell):
    """A leading replica with a planner of bookings."""

    unbooked = 0

    def timetable(self) -> SeriesTimes:
        return SeriesTimes(self.said.append, count=self.count)

    def count(self, unbooked: int) -> None:
        self.unbooked = unbooked

    def bookings(self) -> list[Booking]:
        return self.runner.read(lambda view: view.state.bookings.in_order())

    def names(self) -> list[str]:
        return [each.id for each in self.bookings()]


@pytest.fixture
def cell(tmp_path: Path) -> Iterator[Cell]:
    made = Cell(tmp_path, "2026-03-15T12:00")
    made.do(CreateTenant("lab"), CreateProject(*OWNER), CreateProject("lab", "other"))
    made.do(*(RegisterNode(name, NodeCapacity(4, 2**30, gpus=GPUS)) for name in ("n1", "n2")))
    try:
        yield made
    finally:
        made.stop()


def series(**more: Any) -> SetSeries:
    told: dict[str, Any] = {"series": "class", "rule": RULE, "count": 2, **more}
    return SetSeries(tenant="lab", project="course", **told)


def by_hand(name: str, start: str, *, hours: int = 3, count: int = 2) -> Book:
    starts_ms = at(start)
    times = {"starts_ms": starts_ms, "ends_ms": starts_ms + hours * 60 * MINUTE_MS}
    return Book(booking=name, tenant="lab", project="other", count=count, **times)


def test_each_time_is_booked_once_over_a_change_of_summer_time(cell: Cell) -> None:
    cell.do(series(text="lecture", wait_ms=5 * MINUTE_MS))
    assert cell.planner.once() == COMES
    found = cell.bookings()
    assert [utc(each.starts_ms) for each in found] == [
        *("2026-03-17T08:00", "2026-03-24T08:00", "2026-03-31T07:00", "2026-04-07T07:00")
    ]
    assert {each.ends_ms - each.starts_ms for each in found} == {120 * MINUTE_MS}
    told = {(each.owner, each.series, each.text, each.wait_ms) for each in found}
    assert told == {(OWNER, "class", "lecture", 5 * MINUTE_MS)}
    assert {each.nodes for each in found} == {("n1", "n2")}
    assert cell.planner.once() == ()
    assert cell.another().once() == (), "who leads next books none twice"
    assert (cell.said, cell.unbooked) == ([], 0)


def test_the_day_after_a_short_one_is_booked_too_by_a_series_round_the_clock(cell: Cell) -> None:
    cell.go_on("2026-03-27T12:00")
    cell.do(series(rule="daily at 00:00 for 24h in Europe/Berlin", ahead_days=4))
    days = (28, 29, 30, 31)
    assert cell.planner.once() == tuple(f"class-202603{day}" for day in days)
    assert [(each.ends_ms - each.starts_ms) // (60 * MINUTE_MS) for each in cell.bookings()] == [
        *(24, 23, 24, 24)
    ]
    assert (cell.said, cell.unbooked) == ([], 0)


def test_the_next_times_are_told_over_a_change_of_summer_time() -> None:
    found = [*coming_times(RULE, at("2026-03-15T12:00"))]
    assert [utc(each.starts_ms) for each in found] == [
        *("2026-03-17T08:00", "2026-03-24T08:00", "2026-03-31T07:00"),
        *("2026-04-07T07:00", "2026-04-14T07:00"),
    ]
    assert {each.ends_ms - each.starts_ms for each in found} == {120 * MINUTE_MS}
    once = [*coming_times("once on 2036-03-17 at 09:00 for 2h in UTC", at("2026-03-15T12:00"))]
    assert [utc(each.starts_ms) for each in once] == ["2036-03-17T09:00"]


def test_after_a_restart_nothing_is_booked_twice(cell: Cell) -> None:
    cell.do(series())
    cell.planner.once()
    before = cell.bookings()
    cell.stop()
    cell.start()
    assert cell.another().once() == ()
    assert cell.bookings() == before


def test_what_was_cancelled_is_not_booked_again(cell: Cell) -> None:
    cell.do(series())
    first, *others = cell.planner.once()
    cell.do(CancelBooking(first, *OWNER))
    assert cell.planner.once() == ()
    assert cell.names() == others


def test_as_time_passes_the_next_ones_are_booked(cell: Cell) -> None:
    cell.do(series(ahead_days=7))
    assert cell.planner.once() == COMES[:1]
    cell.go_on("2026-03-22T12:00")
    assert cell.planner.once() == COMES[1:2]


def test_a_time_that_cannot_be_booked_is_said_once_and_booked_as_soon_as_it_can(
    cell: Cell,
) -> None:
    cell.do(by_hand("exam", "2026-03-24T07:00", count=1), series())
    assert cell.planner.once() == (COMES[0], *COMES[2:]), "the later ones do not wait for it"
    assert cell.planner.once() == ()
    (said,) = cell.said
    assert said.startswith("series lab/course/class is not booked for 2026-03-24 08:00:00")
    assert cell.unbooked == 1
    cell.do(CancelBooking("exam", "lab", "other"))
    cell.go_on("2026-03-15T12:01")
    assert cell.planner.once() == COMES[1:2]
    assert (cell.names(), cell.unbooked) == ([*COMES], 0)


def test_a_time_that_has_begun_is_not_waited_for_any_more(cell: Cell) -> None:
    cell.do(by_hand("exam", "2026-03-17T07:00"), series(ahead_days=7))
    assert cell.planner.once() == ()
    assert cell.unbooked == 1
    cell.go_on("2026-03-17T08:00")
    assert cell.planner.once() == ()
    assert cell.unbooked == 0
    assert len(cell.said) == 1


def test_who_leads_no_more_counts_nothing(cell: Cell) -> None:
    cell.do(by_hand("exam", "2026-03-17T07:00"), series())
    cell.planner.once()
    assert cell.unbooked == 1
    cell.table.end()
    assert cell.unbooked == 0


def test_a_name_that_is_taken_by_hand_is_told_and_hinders_no_other_time(cell: Cell) -> None:
    cell.do(series())
    own = Book(COMES[1], *OWNER, at("2026-03-16T08:00"), at("2026-03-16T09:00"), count=1)
    cell.do(own)
    assert cell.planner.once() == (COMES[0], *COMES[2:])
    assert cell.planner.once() == ()
    assert len(cell.said) == 1
    assert cell.unbooked == 0, "no operator can help"


@pytest.mark.parametrize("is_short", [True, False])
def test_only_a_lack_of_nodes_is_counted_and_not_what_a_quota_forbids(
    cell: Cell, is_short: bool
) -> None:
    if not is_short:
        cell.do(SetQuota("lab", Quota((ResourceLimit.gpu_count(1),))))
    cell.do(series(count=3))
    assert cell.planner.once() == ()
    assert len(cell.said) == 4
    assert cell.unbooked == (4 if is_short else 0)


class Tries:
    """Which times were looked up, by when they begin."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.starts_ms: list[int] = []
        monkeypatch.setattr("bailiwick.reconcile.timetables.series.hindrance", self._look)

    def _look(self, view: View, *, command: Book) -> BailiwickError | None:
        self.starts_ms.append(command.starts_ms)
        return hindrance(view, command=command)


def test_what_cannot_be_booked_is_tried_less_and_less_and_sooner_as_it_comes_nearer(
    cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell.do(series(count=3, ahead_days=7))
    tries, clock = Tries(monkeypatch), LaterReader(cell.runner, at("2026-03-16T16:00"))
    waits, last_ms = list[int](), clock.now_ms
    while clock.now_ms < at("2026-03-17T08:00"):
        tries.starts_ms.clear()
        assert [*cell.table.due(clock)] == []  # type: ignore[arg-type]
        if tries.starts_ms:
            waits.append((clock.now_ms - last_ms) // 30_000)
            last_ms = clock.now_ms
        clock.now_ms += 30_000
    assert waits[:9] == [0, 1, 2, 4, 8, 16, 32, 64, 120]
    assert max(waits) == 120, "an hour"
    assert waits[-1] == 1
    assert len(waits) < 100


def test_a_series_that_is_set_anew_is_tried_at_once(cell: Cell) -> None:
    cell.do(series(count=3, ahead_days=7))
    assert cell.planner.once() == ()
    cell.do(series(count=2, ahead_days=7))
    assert cell.planner.once() == COMES[:1]
    assert cell.unbooked == 0


def test_one_look_takes_a_bounded_time_and_the_next_goes_on(cell: Cell) -> None:
    for name in ("aaa", "mmm", "zzz"):
        cell.do(series(series=name, rule="daily at 20:00 for 1h in UTC", count=3, ahead_days=4))
    seconds = iter(range(10_000))
    table = SeriesTimes(cell.said.append, count=cell.count, timer=lambda: float(next(seconds)))
    planner = TimetablePlanner(cell.runner, table)
    looks = 0
    while cell.unbooked < 12:
        before = len(cell.said)
        assert planner.once() == ()
        assert before < len(cell.said) <= before + 3, "a second passes at every glance at the time"
        looks += 1
    assert looks > 3


def test_a_rule_that_cannot_be_counted_out_hinders_no_other(cell: Cell) -> None:
    cell.do(series(series="alien", rule="daily at 02:00 for 1h in Mars/Base", count=1))
    never = "once on 9999-12-31 at 23:00 for 4h in America/New_York"
    cell.do(series(series="last", rule=never, count=1))
    cell.do(series(series="older", rule="every full moon", count=1), series())
    assert cell.planner.once() == COMES
    assert cell.planner.once() == ()
    assert [each.split(" is not")[0] for each in cell.said] == [
        *("series lab/course/alien", "series lab/course/last", "series lab/course/older")
    ]


def test_one_look_tries_a_bounded_number_and_the_next_goes_on(
    cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bailiwick.reconcile.timetables.series.TRIED_MAX", 4)
    cell.do(DepartNode("n2"))
    cell.do(series(series="aaa"), series(series="zzz", count=1))
    assert cell.planner.once() == (), "all that it tried was of the first, which wants two nodes"
    assert cell.unbooked == 4
    assert len(cell.planner.once()) == 4


def test_a_series_with_more_times_than_a_look_tries_hinders_no_other_and_is_tried_through(
    cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bailiwick.reconcile.timetables.series.TRIED_MAX", 3)
    monkeypatch.setattr("bailiwick.reconcile.timetables.series.IN_VAIN_MAX", 2)
    cell.do(series(series="aaa", rule="daily at 20:00 for 1h in UTC", count=9, ahead_days=7))
    cell.do(series(series="zzz", count=1, ahead_days=7))
    assert cell.planner.once() == ("zzz-20260317",)
    while len(cell.said) < 7:
        before = len(cell.said)
        cell.planner.once()
        assert len(cell.said) > before, "each look goes on where the last one ended"
    assert cell.unbooked == 7
