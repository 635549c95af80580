"""Windows that a leader plans by calendars: each once, over a change of summer time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bailiwick.fleet.node import NodeCapacity
from bailiwick.kernel import (
    CancelWindow,
    DepartNode,
    LabelNode,
    PlanWindow,
    RegisterNode,
    SetCalendar,
    Tick,
)
from bailiwick.kernel.maintenance.book import PlannedWindow
from bailiwick.reconcile.timetables.windows import WindowTimes
from tests.support.hand_cell import HandCell, at, utc

RULE = "weekly on sun at 02:30 for 4h in Europe/Berlin"
MINUTE_MS = 60_000


class Cell(HandCell):
    """A leading replica with a planner of windows."""

    def timetable(self) -> WindowTimes:
        return WindowTimes(self.said.append)

    def windows(self) -> list[PlannedWindow]:
        return self.runner.read(lambda view: view.state.maintenance.in_order())

    def starts(self) -> list[str]:
        return [utc(each.starts_ms) for each in self.windows()]


@pytest.fixture
def cell(tmp_path: Path) -> Iterator[Cell]:
    made = Cell(tmp_path, "2026-03-15T12:00")
    for name in ("n1", "n2"):
        made.do(RegisterNode(name, NodeCapacity(4, 2**30)))
    try:
        yield made
    finally:
        made.stop()


def calendar(name: str = "fans", **more: Any) -> SetCalendar:
    told: dict[str, Any] = {"nodes": ("n1",), "lead_ms": MINUTE_MS, **more}
    return SetCalendar(name, told.pop("rule", RULE), **told)


def test_windows_are_announced_over_a_change_of_summer_time_and_each_once(cell: Cell) -> None:
    cell.do(calendar(text="new fans"))
    planned = cell.planner.once()
    assert planned == ("fans-20260322", "fans-20260329", "fans-20260405", "fans-20260412")
    assert cell.starts() == [
        *("2026-03-22T01:30", "2026-03-29T01:30", "2026-04-05T00:30", "2026-04-12T00:30")
    ]
    assert {each.ends_ms - each.starts_ms for each in cell.windows()} == {240 * MINUTE_MS}
    assert {(each.calendar, each.text) for each in cell.windows()} == {("fans", "new fans")}
    assert cell.planner.once() == ()
    assert cell.another().once() == (), "who leads next plans none twice"


def test_what_was_cancelled_is_not_planned_again(cell: Cell) -> None:
    cell.do(calendar())
    first, *others = cell.planner.once()
    cell.do(CancelWindow(first))
    assert cell.planner.once() == ()
    assert [each.id for each in cell.windows()] == others


def test_as_time_passes_the_next_ones_are_announced(cell: Cell) -> None:
    cell.do(calendar(ahead_days=7))
    assert cell.planner.once() == ("fans-20260322",)
    cell.clock.moment += 30 * MINUTE_MS
    assert cell.planner.once() == ()
    cell.do(calendar(ahead_days=14))
    assert cell.planner.once() == ("fans-20260329",), "what is ahead by it stays"


def test_labels_are_looked_up_when_a_window_is_planned(cell: Cell) -> None:
    cell.do(calendar(nodes=(), labels=("pool=old",)))
    assert cell.planner.once() == ()
    assert cell.planner.once() == ()
    assert cell.said == ["calendar fans is not planned: no node is there that it is for"]
    cell.do(LabelNode("n2", ("pool=old",)))
    assert len(cell.planner.once()) == 4
    assert {each.nodes for each in cell.windows()} == {("n2",)}


def test_a_calendar_for_more_nodes_than_a_window_has_is_not_planned_for_some_of_them(
    cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bailiwick.reconcile.timetables.windows.NODES_MAX", 1)
    cell.do(calendar(nodes=(), labels=("pool=old",)))
    cell.do(*(LabelNode(node, ("pool=old",)) for node in ("n1", "n2")))
    assert cell.planner.once() == ()
    assert "2 nodes have its labels, and a window has 1 at most" in cell.said[0]


def test_a_node_that_is_gone_is_left_out(cell: Cell) -> None:
    cell.do(calendar(nodes=("n1", "n2")), DepartNode("n1"))
    cell.planner.once()
    assert {each.nodes for each in cell.windows()} == {("n2",)}


def test_a_calendar_that_cannot_be_counted_out_hinders_no_other(cell: Cell) -> None:
    cell.do(SetCalendar("alien", "daily at 02:00 for 1h in Mars/Base", ("n1",)))
    cell.do(SetCalendar("older", "every full moon", ("n1",)), calendar())
    assert len(cell.planner.once()) == 4
    assert [each.split(" is not")[0] for each in cell.said] == ["calendar alien", "calendar older"]


def test_a_calendar_that_cannot_be_planned_hinders_no_other(
    cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bailiwick.kernel.maintenance.rules.MENTIONS_MAX", 7)
    cell.do(SetCalendar("aaa", "daily at 02:00 for 1h in UTC", ("n1", "n2"), ahead_days=300))
    cell.do(SetCalendar("zzz", "weekly on sun at 02:00 for 1h in UTC", ("n1",), ahead_days=7))
    first = ("aaa-20260316", "aaa-20260317", "aaa-20260318")
    assert cell.planner.once() == (*first, "zzz-20260322")
    assert cell.planner.once() == ()
    assert [each.split(":")[0] for each in cell.said] == ["calendar aaa is not planned"]


def test_one_look_tries_each_calendar_that_cannot_be_planned_once(
    cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bailiwick.kernel.maintenance.rules.WINDOWS_MAX", 0)
    monkeypatch.setattr("bailiwick.reconcile.timetables.planner.PLANNED_MAX", 3)
    names = [f"c{number}" for number in range(8)]
    for name in names:
        cell.do(SetCalendar(name, "daily at 02:00 for 1h in UTC", ("n1",), ahead_days=300))
    tried = list[str]()
    for _ in range(3):
        before = len(cell.said)
        cell.planner.once()
        tried += [each.split(" is not")[0] for each in cell.said[before:]]
    assert tried == [f"calendar {name}" for name in names]


def test_names_that_are_taken_hinder_neither_later_times_nor_other_calendars(
    cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bailiwick.reconcile.timetables.windows.IN_VAIN_MAX", 3)
    monkeypatch.setattr("bailiwick.reconcile.timetables.planner.PLANNED_MAX", 4)
    days = [f"2026-03-{day}" for day in range(16, 26)]
    for day in days:
        times = at(f"{day}T05:00"), at(f"{day}T06:00")
        cell.do(PlanWindow(f"aaa-{day.replace('-', '')}", ("n2",), *times, 0))
    daily = "daily at 02:00 for 1h in UTC"
    cell.do(SetCalendar("aaa", daily, ("n1",), ahead_days=12))
    cell.do(SetCalendar("zzz", daily, ("n1",), ahead_days=2))
    planned = [*cell.planner.once()]
    assert "zzz-20260316" in planned
    for _ in range(4):
        planned += cell.planner.once()
    assert planned == [*("zzz-20260316", "zzz-20260317"), *("aaa-20260326", "aaa-20260327")]
    assert cell.said == [], "somebody planned these by hand"


def test_a_calendar_that_is_set_anew_begins_anew_wherever_the_last_look_ended(
    cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bailiwick.reconcile.timetables.windows.IN_VAIN_MAX", 1)
    times = at("2026-03-18T05:00"), at("2026-03-18T06:00")
    cell.do(PlanWindow("aaa-20260318", ("n2",), *times, 0))
    wednesdays = "weekly on wed at 02:00 for 1h in UTC"
    cell.do(SetCalendar("aaa", wednesdays, ("n1",), ahead_days=9))
    assert cell.planner.once() == ()
    cell.do(SetCalendar("aaa", "daily at 03:00 for 1h in UTC", ("n1",), ahead_days=2))
    assert cell.planner.once() == ("aaa-20260316", "aaa-20260317")


def with_one_on(cell: Cell, name: str = "fans") -> None:
    """A window of today has begun, and the rule is then changed to this evening."""
    cell.do(calendar(name, rule="daily at 13:00 for 4h in UTC", ahead_days=2))
    cell.planner.once()
    cell.go_on("2026-03-15T14:00")
    cell.do(Tick())
    cell.do(calendar(name, rule="daily at 20:05 for 2h in UTC", ahead_days=2))


def test_a_rule_that_is_changed_while_its_window_is_on_has_another_on_that_day(cell: Cell) -> None:
    with_one_on(cell)
    planned = ("fans-20260315-2005", "fans-20260316")
    assert cell.planner.once() == planned
    assert cell.starts() == ["2026-03-15T13:00", "2026-03-15T20:05", "2026-03-16T20:05"]
    cell.go_on("2026-03-15T18:00")
    cell.do(Tick())
    assert [each.id for each in cell.windows()] == [*planned], "the name by date is free again"
    assert cell.planner.once() == cell.another().once() == ()
    assert cell.said == []


def test_the_second_window_of_a_day_has_a_name_beside_the_longest_of_a_calendar(cell: Cell) -> None:
    with_one_on(cell, "c" * 38)
    assert cell.planner.once() == ("c" * 34 + "-20260315-2005", "c" * 38 + "-20260316")


def test_a_second_window_whose_name_is_taken_is_told_and_hinders_no_later_one(cell: Cell) -> None:
    times = at("2026-03-18T05:00"), at("2026-03-18T06:00")
    cell.do(PlanWindow("fans-20260315-2005", ("n2",), *times, 0))
    with_one_on(cell)
    assert cell.planner.once() == ("fans-20260316",)
    assert cell.planner.once() == ()
    (said,) = cell.said
    assert said.startswith("calendar fans is not planned: window 'fans-20260315-2005'")
