"""Booked nodes that a leader replaces shortly before they are needed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.kernel import Book, DepartNode, RegisterNode
from bailiwick.kernel.people.commands import CreateProject, CreateTenant
from bailiwick.reconcile.timetables.lost_nodes import LostNodes
from bailiwick.vocab.words import HardwareGeneration
from tests.support.hand_cell import HandCell, at

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
    assert cell.planner.once() == ("class",)
    assert cell.booked() == ("n2", "n3")
