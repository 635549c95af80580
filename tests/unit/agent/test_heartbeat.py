"""The agent's loop, without a server, a machine or time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from bailiwick.agent.attestation import NodeAttestation
from bailiwick.agent.counting import LeaseCount, LeaseCounting
from bailiwick.agent.heartbeat import (
    PAUSE_S_MOST,
    REREAD_BEATS,
    Away,
    Beating,
    Heard,
    NotKnown,
    NotTaken,
    count_missing,
)
from bailiwick.agent.machine.accounting import NvmlAccounting
from bailiwick.fleet.node import GpuDevice, NodeCapacity
from tests.support.simulated_nvml import SimulatedNvml
from tests.unit.agent.test_attestation import ASKED, Line, ScriptedGate, ScriptedProver
from tests.unit.agent.test_counters import Tree

NO_GPUS = NvmlAccounting(SimulatedNvml())
SMALL = NodeCapacity(cpu_cores=4, mem_bytes=2**33)
LARGE = NodeCapacity(cpu_cores=8, mem_bytes=2**34)


class ScriptedServer(ScriptedGate):
    """Answers as it is told, and remembers what it was told."""

    def __init__(self) -> None:
        super().__init__()
        self.reported: list[NodeCapacity] = []
        self.on_beat: list[Exception | int | Heard] = []
        self.on_report: list[Exception] = []
        self.on_count: list[Exception | tuple[int, int]] = []
        self.counted: list[tuple[int, int, LeaseCount]] = []

    def report(self, node: str, capacity: NodeCapacity) -> None:
        self.heard.append("report")
        if self.on_report:
            raise self.on_report.pop(0)
        self.reported.append(capacity)

    def beat(self, node: str) -> Heard:
        self.heard.append("beat")
        said = self.on_beat.pop(0) if self.on_beat else 10_000
        if isinstance(said, Exception):
            raise said
        return said if isinstance(said, Heard) else Heard(said)

    def count(
        self, node: str, epoch: int, *, events: Sequence[tuple[int, LeaseCount]]
    ) -> tuple[int, int]:
        self.heard.append("count")
        said = self.on_count.pop(0) if self.on_count else (epoch, events[-1][0] + 1)
        if isinstance(said, Exception):
            raise said
        self.counted += [(epoch, number, each) for number, each in events]
        return said


class Loop:
    """One loop of a test: turns are counted, and what it would have waited is kept."""

    def __init__(self, read: Callable[[], NodeCapacity] = lambda: SMALL) -> None:
        self.server = ScriptedServer()
        self.waits: list[float] = []
        self.said: list[str] = []
        self._turns = 0
        self.beating = Beating("n1", self.server, read, self._wait, self.said.append)

    def _wait(self, pause_s: float) -> bool:
        self.waits.append(pause_s)
        self._turns -= 1
        return self._turns <= 0

    def turns(self, count: int) -> None:
        self._turns = count
        self.beating.run()


def test_it_reports_once_and_then_beats_as_often_as_it_is_told() -> None:
    loop = Loop()
    loop.server.on_beat = [5_000, 5_000]
    loop.turns(3)
    assert loop.server.heard == ["report", "beat", "beat", "beat"]
    assert loop.waits == [5.0, 5.0, 10.0]
    assert loop.said == ["n1 is reported: 4 cores, 8 GiB, 0 GPUs"]


def test_after_each_beat_it_tells_what_leases_use_and_again_after_an_absence(
    tmp_path: Path,
) -> None:
    tree, loop = Tree(tmp_path), Loop()
    tree.process(10, lease="7", times=(100, 0, 0, 0))
    loop.beating.counting = LeaseCounting(
        lambda: 10**12, loop.said.append, machine=tree.machine, accounting=NO_GPUS
    )
    loop.server.on_count = [Away("no")]
    loop.turns(3)
    beats = ["report", "beat", "count"]
    assert loop.server.heard == beats + beats + ["beat", "count"]
    assert [(epoch, number) for epoch, number, _ in loop.server.counted] == [
        (10**12, number) for number in (0, 1, 2)
    ]


def test_it_proves_itself_at_the_start_and_when_a_beat_is_answered_with_a_nonce() -> None:
    loop = Loop()
    loop.beating.attesting = NodeAttestation(ScriptedProver(), Line(), loop.said.append)
    loop.server.on_beat = [10_000, 10_000, Heard(10_000, ASKED)]
    loop.turns(3)
    start = ["report", "beat", "nonce", "offer", "prove", "present"]
    assert loop.server.heard == [*start, "beat", "beat", "present"]


def test_a_server_that_goes_away_while_a_node_proves_itself_is_tried_again() -> None:
    loop = Loop()
    loop.beating.attesting = NodeAttestation(ScriptedProver(), Line(), loop.said.append)
    loop.server.on_present = [Away("no")]
    loop.turns(2)
    assert loop.waits == [1.0, 10.0]
    assert loop.server.heard[-4:] == ["report", "beat", "nonce", "present"]


def test_an_absurd_pace_is_kept_within_bounds() -> None:
    loop = Loop()
    loop.server.on_beat = [0, 10**9]
    loop.turns(2)
    assert loop.waits == [1.0, 60.0]


def test_a_server_that_is_away_is_tried_with_growing_pauses_and_told_once() -> None:
    loop = Loop()
    loop.server.on_report = [Away("no") for _ in range(9)]
    loop.turns(9)
    assert loop.waits == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0]
    assert max(loop.waits) == PAUSE_S_MOST
    assert loop.said == ["the server is away, it is tried again: no"]


def test_after_an_absence_it_reports_again() -> None:
    loop = Loop()
    loop.server.on_beat = [10_000, Away("no"), 10_000]
    loop.turns(4)
    assert loop.server.heard == ["report", "beat", "beat", "report", "beat", "beat"]
    assert "the server is back" in loop.said
    assert loop.waits[1] == 1.0


def test_a_node_that_was_forgotten_is_reported_again() -> None:
    loop = Loop()
    loop.server.on_beat = [10_000, NotKnown()]
    loop.turns(3)
    assert loop.server.heard == ["report", "beat", "beat", "report", "beat"]


def test_a_report_that_is_not_taken_is_told_and_the_node_lives_on() -> None:
    loop = Loop()
    loop.server.on_report = [NotTaken("it was larger")]
    loop.turns(2)
    assert loop.server.heard == ["report", "beat", "beat"]
    assert loop.said == ["n1 stays as it is known: it was larger"]


def test_while_gpus_are_missing_it_looks_for_them_with_each_beat() -> None:
    gpu = GpuDevice.named("NVIDIA H100 80GB HBM3")
    whole, less = (NodeCapacity(4, 2**33, gpus=[gpu] * count) for count in (2, 1))
    found = [less, less, less, whole, whole]
    loop = Loop(lambda: found.pop(0))
    loop.server.on_report = [NotTaken("it had two", (gpu.model, gpu.model))]
    loop.turns(REREAD_BEATS + 1)
    assert loop.server.heard[:6] == ["report", "beat", "beat", "beat", "report", "beat"]
    assert loop.server.reported == [whole]
    assert found == []


@pytest.mark.parametrize(
    ("known", "found", "count"),
    [
        (("a", "a"), ("a", "a"), 0),
        (("a", "a"), ("a",), 1),
        (("a", "a"), (), 2),
        (("a", "a"), ("a", "b"), 1),
        (("a", "b"), ("b", "a"), 0),
        (("a",), ("a", "a"), 0),
        ((), ("a",), 0),
        (("", ""), ("a", "b"), 0),
        (("", "a"), ("a",), 1),
    ],
)
def test_gpus_are_missing_if_they_are_fewer_or_others(
    known: tuple[str, ...], found: tuple[str, ...], count: int
) -> None:
    gpus = [GpuDevice.named(model) for model in found]
    assert count_missing(known, NodeCapacity(4, 2**33, gpus=gpus)) == count


def test_a_machine_that_changes_is_reported_again_after_a_while() -> None:
    found = [SMALL, LARGE, LARGE]
    loop = Loop(lambda: found.pop(0))
    loop.turns(2 * REREAD_BEATS + 1)
    assert loop.server.reported == [SMALL, LARGE]
    assert found == []


def test_once_is_one_report_and_one_beat() -> None:
    loop = Loop()
    assert loop.beating.run_once()
    assert loop.server.heard == ["report", "beat"]
    assert loop.waits == []


def test_once_says_when_nobody_heard() -> None:
    loop = Loop()
    loop.server.on_report = [Away("no")]
    assert not loop.beating.run_once()


def test_once_reports_again_for_a_server_that_forgot() -> None:
    loop = Loop()
    loop.server.on_beat = [NotKnown()]
    assert loop.beating.run_once()
    assert loop.server.heard == ["report", "beat", "report", "beat"]
