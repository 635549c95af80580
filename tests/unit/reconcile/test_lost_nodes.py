"""Booked nodes that a leader replaces shortly before they are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.kernel import Book, Command, DepartNode, RegisterNode, ReplaceBooked
from bailiwick.kernel.people.commands import (
    ChangeProject,
    ChangeTenant,
    CreateProject,
    CreateTenant,
)
from bailiwick.reconcile.timetables.lost_nodes import LostNodes
from bailiwick.reconcile.timetables.planner import TimetablePlanner
from bailiwick.runtime.replica import View
from bailiwick.services.bookings import hindrance
from bailiwick.vocab.errors import BailiwickError
from bailiwick.vocab.words import HardwareGeneration
from tests.support.hand_cell import HandCell, LaterReader, at

GPUS = (GpuDevice(HardwareGeneration.NVIDIA_HOPPER),)
MACHINE = NodeCapacity(4, 2**30, gpus=GPUS)
OWNER = ("lab", "course")


class Cell(HandCell):
    """A leading replica with a planner of what was lost."""

    def timetable(self) -> LostNodes:
        return LostNodes(self.said.append)

    def booked(self) -> tuple[str, ...]:
        return self.runner.read(lambda view: view.state.bookings.in_order()[0].nodes)


@pytest.fixture
def cell(tmp_path: Path) -> Iterator[Cell]:
    made = Cell(tmp_path, "2026-03-17T01:00")
    made.do(CreateTenant("lab"), CreateProject(*OWNER))
    made.do(*(RegisterNode(name, MACHINE) for name in ("n1", "n2")))
    starts_ms = at("2026-03-17T09:00")
    made.do(Book("class", *OWNER, starts_ms, starts_ms + 7_200_000, count=2))
    try:
        yield made
    finally:
        made.stop()


def test_a_node_that_is_lost_is_replaced_when_its_booking_comes_near(cell: Cell) -> None:
    cell.do(RegisterNode("n3", MACHINE), DepartNode("n1"))
    assert cell.planner.once() == (), "it may be back in time"
    cell.go_on("2026-03-17T03:30")
    assert cell.planner.once() == ("class",)
    assert cell.booked() == ("n2", "n3")
    assert cell.planner.once() == cell.another().once() == ()


def test_what_cannot_be_replaced_is_said_once_and_tried_again(cell: Cell) -> None:
    cell.go_on("2026-03-17T08:00")
    cell.do(DepartNode("n1"))
    for _ in range(2):
        assert cell.planner.once() == ()
    assert len(cell.said) == 1
    assert "lacks 1 nodes" in cell.said[0]
    cell.do(RegisterNode("n3", MACHINE))
    cell.clock.moment += 30_000
    assert cell.planner.once() == ("class",)
    assert cell.booked() == ("n2", "n3")


@pytest.mark.parametrize("change", [partial(ChangeTenant, "lab"), partial(ChangeProject, *OWNER)])
def test_for_who_is_closed_nothing_is_tried_until_he_is_opened_again_and_then_at_once(
    cell: Cell,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[..., Command],
) -> None:
    cell.go_on("2026-03-17T08:00")
    cell.do(RegisterNode("n3", MACHINE), DepartNode("n1"), change(is_open=False))
    tries = Tries(monkeypatch)
    for _ in range(3):
        assert cell.planner.once() == ()
    assert (tries.names, cell.said) == ([], [])
    cell.do(change(is_open=True))
    assert cell.planner.once() == ("class",)
    assert cell.booked() == ("n2", "n3")


class Tries:
    """Which bookings were looked up."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.names: list[str] = []
        monkeypatch.setattr("bailiwick.reconcile.timetables.lost_nodes.hindrance", self._look)

    def _look(self, view: View, *, command: ReplaceBooked) -> BailiwickError | None:
        self.names.append(command.booking)
        return hindrance(view, command=command)


def test_what_cannot_be_replaced_is_tried_less_and_less_until_it_begins(
    cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell.go_on("2026-03-17T03:00")
    cell.do(DepartNode("n1"))
    tries, clock = Tries(monkeypatch), LaterReader(cell.runner, at("2026-03-17T03:00"))
    waits, last_ms = list[int](), clock.now_ms
    while clock.now_ms < at("2026-03-17T09:00"):
        tries.names.clear()
        assert [*cell.table.due(clock)] == []  # type: ignore[arg-type]
        if tries.names:
            waits.append((clock.now_ms - last_ms) // 30_000)
            last_ms = clock.now_ms
        clock.now_ms += 30_000
    assert waits[:7] == [0, 1, 2, 4, 8, 16, 32]
    assert waits[-1] == 1
    assert len(waits) < 60
    assert len(cell.said) == 1


def test_one_look_takes_a_bounded_time_and_the_next_goes_on(
    cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell.do(*(RegisterNode(f"m{number}", MACHINE) for number in range(9)))
    starts_ms = at("2026-03-17T04:00")
    names = [f"b{number}" for number in range(9)]
    cell.do(*(Book(each, *OWNER, starts_ms, starts_ms + 7_200_000, count=1) for each in names))
    cell.do(*(DepartNode(f"m{number}") for number in range(9)), DepartNode("n1"))
    tries, seconds = Tries(monkeypatch), iter(range(10_000))
    table = LostNodes(cell.said.append, timer=lambda: float(next(seconds)))
    planner, looks = TimetablePlanner(cell.runner, table), 0
    while len(tries.names) < 9:
        before = len(tries.names)
        planner.once()
        assert before < len(tries.names) <= before + 3, "a second passes at every glance"
        looks += 1
    assert looks > 2
    assert sorted(tries.names) == names
