"""Recording who fell silent: only by a leader, only while it can, and never too much at once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bailiwick.fleet.liveness import HeartbeatRule
from bailiwick.kernel import DepartNode, Envelope, decode_command
from bailiwick.reconcile.departures import Departures
from bailiwick.runtime.replica import Replica, Role
from bailiwick.runtime.runner import Runner
from bailiwick.services.beats import Beats
from tests.support.fresh_store import open_fresh
from tests.support.waiting import WAIT_S

RULE = HeartbeatRule(beat_ms=1_000, timeout_ms=3_000)


@dataclass
class HandClock:
    """Stands still until it is moved; the replica's own timers move with it."""

    moment: int = 10**12

    def now_ms(self) -> int:
        return self.moment

    def elapsed_ms(self) -> int:
        return self.moment


class Cell:
    """A leading replica that is stepped by hand, so that nothing depends on time."""

    def __init__(self, folder: Path) -> None:
        self.clock = HandClock()
        self.beats = Beats(self.clock, rule=RULE)
        self.runner = Runner(Replica(open_fresh(folder), self.clock, name="one"), wait_s=WAIT_S)

    def lead(self) -> None:
        self.runner.start()
        assert self.runner.wait_for(Role.LEADING, wait_s=WAIT_S)

    def register(self, node: str) -> None:
        plain = {"command": "register_node", "node": node}
        plain["inventory"] = {"resources": {"cpu_milli": 1000}}  # type: ignore[assignment]
        self.runner.execute(Envelope(decode_command(plain)))

    def nodes(self) -> set[str]:
        return self.runner.read(lambda view: {str(n) for n in view.state.ledger.entries})

    def pass_time(self, loop: Departures, seconds: int) -> list[str]:
        """Let time pass, looking every second; who went."""
        gone: list[str] = []
        for _ in range(seconds):
            self.clock.moment += 1_000
            gone += loop.once()
        return gone


@pytest.fixture
def cell(tmp_path: Path) -> Iterator[Cell]:
    made = Cell(tmp_path)
    try:
        yield made
    finally:
        made.runner.stop()


def test_silent_nodes_depart_and_those_that_never_beat_do_not(cell: Cell) -> None:
    cell.lead()
    for node in ("a", "b", "quiet"):
        cell.register(node)
    loop = Departures(cell.runner, cell.beats)
    cell.beats.beat("a")
    cell.beats.beat("b")
    assert cell.pass_time(loop, 2) == []
    cell.beats.beat("b")
    assert cell.pass_time(loop, 1) == ["a"]
    assert cell.nodes() == {"b", "quiet"}
    assert cell.pass_time(loop, 5) == ["b"]
    assert cell.nodes() == {"quiet"}


def test_one_call_records_so_many_and_the_next_the_rest(cell: Cell) -> None:
    cell.lead()
    for node in ("a", "b", "c"):
        cell.register(node)
        cell.beats.beat(node)
    loop = Departures(cell.runner, cell.beats, most=2)
    assert cell.pass_time(loop, 2) == []
    assert cell.pass_time(loop, 1) == ["a", "b"]
    assert loop.once() == ("c",)


def test_a_node_that_left_in_another_way_is_forgotten(cell: Cell) -> None:
    cell.lead()
    cell.register("a")
    cell.beats.beat("a")
    cell.runner.execute(Envelope(DepartNode("a")))
    loop = Departures(cell.runner, cell.beats)
    assert cell.pass_time(loop, 4) == []
    assert cell.beats.standing("a") is None


def test_who_does_not_lead_judges_nobody_and_listens_anew(cell: Cell) -> None:
    loop = Departures(cell.runner, cell.beats)
    cell.beats.beat("a")
    assert cell.pass_time(loop, 10) == []
    cell.lead()
    cell.register("a")
    assert cell.pass_time(loop, 2) == []
    assert cell.pass_time(loop, 1) == ["a"]


def test_what_could_not_be_recorded_is_tried_again(cell: Cell) -> None:
    cell.lead()
    cell.register("a")
    cell.beats.beat("a")
    loop = Departures(cell.runner, cell.beats)
    assert cell.pass_time(loop, 2) == []
    cell.runner.stop()  # the replica still says that it leads, and takes no command any more
    assert cell.pass_time(loop, 1) == []
    assert cell.beats.standing("a") is not None


def test_a_node_that_died_while_nobody_led_departs_with_the_last_thing_that_was_written(
    tmp_path: Path,
) -> None:
    first = Cell(tmp_path)
    first.lead()
    for node, labels in (
        ("heard", ["heartbeat=agent"]),
        ("silent", ["heartbeat=agent"]),
        ("x", []),
    ):
        inventory = {"resources": {"cpu_milli": 1000}, "labels": labels}
        plain = {"command": "register_node", "node": node, "inventory": inventory}
        first.runner.execute(Envelope(decode_command(plain)))
    written = first.clock.moment
    first.runner.stop()

    second = Cell(tmp_path)
    second.clock.moment = written + 3_600_000
    second.beats = Beats(second.clock, rule=RULE)
    second.lead()
    try:
        loop = Departures(second.runner, second.beats)
        loop.expect_reporters()
        for _ in range(5):
            second.beats.beat("heard")
            second.pass_time(loop, 1)
        assert second.nodes() == {"heard", "x"}
        store = second.runner.replica.store
        lines = second.runner.read(lambda view: store.read(0, view.state.size))
        (body,) = (r["body"] for r in map(json.loads, lines) if r["kind"] == "node_departed")
        assert (body["node"], body["last_seen_ms"]) == ("silent", written)
    finally:
        second.runner.stop()
