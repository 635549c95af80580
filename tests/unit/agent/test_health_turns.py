"""The agent tells what is wrong with its machine when that changes, and tests it when told to."""

from __future__ import annotations

import errno
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bailiwick.agent.dividing import GpuDividing, GpuOrder, NotWanted
from bailiwick.agent.health.burn_in import BurnIn, BurnInGpu
from bailiwick.agent.health.limits import HealthLimits
from bailiwick.agent.health.testing import MachineHealth, NodeTesting, NoHealth
from bailiwick.agent.health.watching import HealthWatch, TooSoon
from bailiwick.agent.heartbeat import Away, Beating, Heard, NotKnown, NotTaken
from bailiwick.agent.machine.health import DiskProbe, NvmlHealth
from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.vocab.health import HealthCheck, HealthFinding, HealthLevel
from bailiwick.vocab.mig import MigFailure
from tests.support.simulated_health import CheckedGpu, SimulatedHealth
from tests.support.simulated_nvml import NvmlError
from tests.unit.agent.test_heartbeat import ScriptedServer

MODEL = "NVIDIA H100 80GB HBM3"
WRONG = HealthFinding(HealthCheck.BURN_IN, HealthLevel.FAIL, 0, 5)


class HealthEar(ScriptedServer):
    """Hears how a machine is, and orders tests."""

    def __init__(self) -> None:
        super().__init__()
        self.test_id: int | None = None
        self.can_test = True
        self.order: GpuOrder | None = None
        self.told: list[list[tuple[str, int | None]]] = []
        self.tested: list[tuple[int, tuple[HealthFinding, ...]]] = []
        self.on_health: list[Exception] = []
        self.on_tested: list[Exception] = []

    def beat(self, node: str) -> Heard:
        return Heard(super().beat(node).beat_ms, None, self.order, self.test_id)

    def tell_health(
        self, node: str, findings: tuple[HealthFinding, ...], *, can_test: bool
    ) -> None:
        assert (node, can_test) == ("n1", self.can_test)
        if self.on_health:
            raise self.on_health.pop(0)
        self.told.append([(each.check.value, each.gpu) for each in findings])

    def tell_tested(
        self, node: str, test_id: int, *, findings: tuple[HealthFinding, ...], took_ms: int
    ) -> None:
        assert took_ms >= 0
        if self.on_tested:
            raise self.on_tested.pop(0)
        self.tested.append((test_id, findings))
        self.test_id = None

    def tell_divided(
        self, node: str, change_id: int, *, cause: MigFailure | None, now: NodeCapacity
    ) -> None:
        self.order = None


class BurnInAtOnce(BurnIn):
    """Finds what it is told to, once somebody lets it."""

    def __init__(self) -> None:
        super().__init__(1, 1 << 20)
        self.asked: list[Sequence[BurnInGpu]] = []
        self.finds: tuple[HealthFinding, ...] = ()
        self.waits = False
        self.stopped = 0
        self.breaks: Exception | None = None

    def run(self, gpus: Sequence[BurnInGpu], stop: Any) -> tuple[HealthFinding, ...]:
        self.asked.append(gpus)
        if self.breaks is not None:
            raise self.breaks
        if self.waits:
            stop.wait(60)
            self.stopped += 1
        return self.finds


@dataclass
class Machine:
    """An agent's loop on a machine with some GPUs; a turn takes 30 seconds."""

    gpus: tuple[CheckedGpu, ...] = field(default_factory=lambda: (CheckedGpu(),))
    server: HealthEar = field(default_factory=HealthEar)
    said: list[str] = field(default_factory=list)
    burn_in: BurnInAtOnce = field(default_factory=BurnInAtOnce)
    disks: list[Mapping[str, Any]] = field(default_factory=list)
    jobs: int | None = None
    now: int = 0
    turns: int = 0

    def __post_init__(self) -> None:
        self.library = SimulatedHealth(*self.gpus)
        self.watch = HealthWatch(
            NvmlHealth(self.library),
            lambda: self.disks,
            lambda: None,
            lambda: self.now,
            self.said.append,
            limits=HealthLimits(),
            jobs=lambda: self.jobs,
        )
        testing = NodeTesting(self.watch, self.burn_in, lambda: self.now, self.said.append)
        self.loop = Beating(
            "n1",
            self.server,
            self.read,
            self.wait,
            self.said.append,
            health=MachineHealth(self.watch, testing),
        )

    def read(self) -> NodeCapacity:
        """The machine with the GPUs that answer."""
        is_loaded = "init" not in self.library.answers
        there = [gpu for gpu in self.library.gpus if is_loaded and "handle" not in gpu.answers]
        return NodeCapacity(4, 2**33, gpus=[GpuDevice.named(MODEL) for _ in there])

    def restarted(self, gpus: tuple[CheckedGpu, ...]) -> Machine:
        """The same node with an agent that begins anew, on a machine that has these GPUs."""
        again = Machine(gpus)
        again.server.on_report = [NotTaken("is known otherwise", (MODEL,) * len(self.gpus))]
        return again

    def wait(self, pause_s: float) -> bool:
        self.now += 30_000
        self.turns -= 1
        return self.turns <= 0

    def beat(self, count: int = 1) -> None:
        self.turns = count
        self.loop.run()

    def test(self, beats: int = 50) -> None:
        """Beat until a test has been told."""
        before = len(self.server.tested)
        for _ in range(beats):
            self.beat()
            if len(self.server.tested) > before:
                return
            self.settle()
        raise AssertionError("the test was not told")

    def settle(self) -> None:
        """Let a burn-in that has nothing to wait for come to its end."""
        assert isinstance(self.loop.health, MachineHealth)
        test = self.loop.health.testing._test
        if test is not None:
            test.burning._thread.join(30)


def test_a_disk_that_jobs_filled_warns_and_one_that_is_full_without_them_fails() -> None:
    machine = Machine(disks=[{"write_error": 28}], jobs=1)
    machine.beat(9)
    assert [found.level.value for found in machine.watch.look()] == ["warn"]
    machine.jobs = 0
    machine.beat(9)
    assert [found.level.value for found in machine.watch.look()] == ["fail"]


def test_it_tells_once_that_nothing_is_wrong() -> None:
    machine = Machine()
    machine.beat(5)
    assert machine.server.told == [[]]
    assert machine.said[1:] == []


def test_what_comes_and_goes_is_told_once_each() -> None:
    machine = Machine()
    machine.beat(2)
    machine.gpus[0].uncorrected = 1
    machine.beat(3)
    machine.gpus[0].uncorrected = 2  # a number that only moves
    machine.beat(3)
    machine.gpus[0].uncorrected = 0
    machine.beat(3)
    assert machine.server.told == [[], [("ecc", 0)], []]
    assert machine.said[1:] == [
        "health: fail: ecc on GPU 0: memory errors that could not be corrected (1, at most 0)",
        "nothing is wrong with the machine any more",
    ]


def test_a_level_that_changes_is_told() -> None:
    machine = Machine((CheckedGpu(temperature=95),))
    machine.beat(5)
    assert machine.server.told == [[("thermal", 0)], [("thermal", 0)]]


def test_it_is_not_looked_more_often_than_was_said() -> None:
    machine = Machine()
    machine.beat()
    machine.now -= 29_999
    machine.gpus[0].uncorrected = 1
    machine.beat()
    assert machine.server.told == [[]]
    machine.beat()
    assert machine.server.told == [[], [("ecc", 0)]]


def test_a_gpu_that_is_missing_when_an_agent_begins_anew_fails_the_machine_and_its_test() -> None:
    gpus = tuple(CheckedGpu.numbered(number) for number in range(8))
    machine = Machine(gpus).restarted(gpus[:3] + gpus[4:])
    machine.beat(2)
    assert machine.server.told == [[("driver", None)]]
    machine.server.test_id = 4
    machine.test()
    missing = HealthFinding(HealthCheck.DRIVER, HealthLevel.FAIL, None, 1)
    assert machine.server.tested == [(4, (missing,))]


def test_a_driver_that_is_missing_when_an_agent_begins_anew_fails_the_machine() -> None:
    gpus = tuple(CheckedGpu.numbered(number) for number in range(2))
    machine = Machine(gpus).restarted(gpus)
    machine.library.answers["init"] = NvmlError(9)
    machine.server.test_id = 5
    machine.test()
    missing = HealthFinding(HealthCheck.DRIVER, HealthLevel.FAIL, None, 2)
    assert machine.server.tested == [(5, (missing,))]
    assert machine.server.told == [[("driver", None)]]


def test_missing_gpus_that_are_back_are_reported_and_nothing_is_wrong_any_more() -> None:
    gpus = tuple(CheckedGpu.numbered(number) for number in range(2))
    machine = Machine(gpus).restarted(gpus[:1])
    machine.beat(3)
    machine.library.gpus = gpus
    machine.beat()
    assert machine.server.told == [[("driver", None)], []]
    assert len(machine.server.reported) == 1
    machine.server.test_id = 6
    machine.test()
    assert machine.server.tested == [(6, ())]


def test_gpus_that_nobody_knew_are_no_finding_nor_is_a_refusal_that_tells_none() -> None:
    one = (CheckedGpu.numbered(0),)
    for models in ((), (MODEL,), None):
        machine = Machine((*one, CheckedGpu.numbered(1)))
        machine.server.on_report = [NotTaken("is known otherwise", models)]
        machine.server.test_id = 7
        machine.test()
        assert (machine.server.told, machine.server.tested) == ([[]], [(7, ())])


def test_a_gpu_that_was_lost_before_and_after_a_restart_is_told_once_each() -> None:
    gpus = tuple(CheckedGpu.numbered(number) for number in range(4))
    machine = Machine(gpus).restarted(gpus[1:])
    machine.beat(2)
    machine.server.on_report = [NotTaken("is known otherwise", (MODEL,) * 4)]
    gpus[2].answers["handle"] = NvmlError(15)
    machine.beat(2)
    found = [(each.gpu, each.value, each.code) for each in machine.watch.look()]
    assert found == [(None, 1, 0), (1, 1, 15)]


def test_a_server_that_was_away_is_told_later() -> None:
    machine = Machine()
    machine.disks = [{"write_error": 5}]
    machine.server.on_health = [Away("gone"), Away("gone")]
    machine.beat(4)
    assert machine.server.told == [[("disk", None)]]


def test_a_server_that_heard_enough_for_now_is_told_later_and_is_not_away() -> None:
    machine = Machine()
    machine.disks = [{"write_error": 5}]
    machine.server.on_health = [TooSoon("a minute"), TooSoon("a minute")]
    machine.server.test_id, machine.server.on_tested = 3, [TooSoon("a minute")]
    machine.test()
    machine.beat(3)
    assert machine.server.told == [[("disk", None)]]
    assert len(machine.server.tested) == 1
    assert machine.server.heard.count("report") == 1


def test_a_server_that_forgot_the_node_is_told_again() -> None:
    machine = Machine()
    machine.beat(2)
    machine.server.on_beat = [NotKnown()]
    machine.beat(3)
    assert machine.server.told == [[], []]


def test_where_nobody_looks_it_is_told_that_no_test_is_owed() -> None:
    machine = Machine((CheckedGpu(), CheckedGpu(answers={"handle": 15})))
    machine.server.can_test = False
    machine.loop.health = NoHealth(machine.said.append)
    machine.server.on_health = [TooSoon(), Away("it went"), NotKnown()]
    machine.server.test_id = 7
    machine.beat(5)
    assert machine.server.told == [[]]
    machine.beat(3)
    assert machine.server.told == [[]]
    assert machine.server.tested == []
    machine.server.on_beat = [NotKnown()]
    machine.beat(3)
    assert machine.server.told == [[], []]


def test_an_older_server_is_not_asked_again_and_again() -> None:
    machine = Machine()
    machine.server.on_health = [NotWanted("no such thing")]
    machine.beat(5)
    assert machine.server.told == []
    assert sum("no such thing" in line for line in machine.said) == 1


def test_a_test_burns_every_gpu_in_and_is_passed() -> None:
    machine = Machine((CheckedGpu.numbered(0), CheckedGpu.numbered(1, computing=[7])))
    machine.server.test_id = 3
    machine.test()
    assert machine.server.tested == [(3, ())]
    (asked,) = machine.burn_in.asked
    assert [(gpu.place, gpu.uuid[:12], gpu.processes) for gpu in asked] == [
        (0, "GPU-00000000", 0),
        (1, "GPU-00000001", 1),
    ]
    assert "the test is passed" in machine.said


def test_a_test_tells_what_the_burn_in_and_the_look_after_it_found() -> None:
    machine = Machine()
    machine.server.test_id, machine.burn_in.finds = 3, (WRONG,)
    machine.gpus[0].uncorrected = 1
    machine.test()
    ((_, found),) = machine.server.tested
    assert [each.check.value for each in found] == ["burn_in", "ecc"]
    assert "the test is over: 2 failed" in machine.said


def test_a_burn_in_that_breaks_off_is_not_a_test_that_was_passed() -> None:
    machine = Machine()
    machine.beat()
    machine.burn_in.breaks = RuntimeError("can't start new thread")
    machine.server.test_id = 7
    machine.test()
    ((test_id, (found,)),) = machine.server.tested
    assert (test_id, found.check, found.level) == (7, HealthCheck.BURN_IN, HealthLevel.FAIL)
    assert (found.gpu, found.code) == (None, 999)
    assert any("can't start new thread" in line for line in machine.said)


def test_a_machine_without_room_for_one_more_thread_fails_its_test_and_beats_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine = Machine()
    machine.watch.disks = DiskProbe(Path("/")).read
    machine.beat()

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as full:
        full.setattr(threading.Thread, "start", refuse)
        machine.server.test_id = 7
        machine.test()
        machine.beat(2)
    ((test_id, found),) = machine.server.tested
    told = [(each.check.value, each.level.value, each.code) for each in found]
    assert (test_id, told) == (7, [("burn_in", "fail", 999), ("disk", "warn", errno.EAGAIN)])
    assert machine.server.told == [[], [("disk", None)]]
    machine.server.test_id = 8  # one that is called off was never begun
    with monkeypatch.context() as full:
        full.setattr(threading.Thread, "start", refuse)
        machine.server.on_tested = [TooSoon("a minute")]
        machine.beat()
        machine.server.test_id = None
        machine.beat()
    assert len(machine.server.tested) == 1


def test_what_the_driver_kept_of_before_a_test_does_not_count_in_it() -> None:
    machine = Machine()
    machine.beat()
    machine.library.report_xid(machine.gpus[0], 48)
    machine.server.test_id = 4
    machine.test()
    assert machine.server.tested == [(4, ())]


def test_an_xid_of_before_the_test_does_not_fail_it_and_one_of_meanwhile_does() -> None:
    machine = Machine()
    machine.beat()
    machine.library.report_xid(machine.gpus[0], 79)
    machine.beat()
    assert machine.server.told[-1] == [("xid", 0)]
    machine.server.test_id = 3
    machine.test()
    assert machine.server.tested == [(3, ())]

    def burn(gpus: Sequence[BurnInGpu], stop: Any) -> tuple[HealthFinding, ...]:
        machine.library.report_xid(machine.gpus[0], 79)
        return ()

    machine.burn_in.run = burn  # type: ignore[method-assign]
    machine.server.test_id = 4
    machine.test()
    assert [(each.check.value, each.code) for each in machine.server.tested[1][1]] == [("xid", 79)]


def test_a_test_that_was_not_heard_is_told_again_and_not_done_twice() -> None:
    machine = Machine()
    machine.server.test_id, machine.server.on_tested = 3, [Away("gone"), Away("gone")]
    machine.test()
    assert machine.server.tested == [(3, ())]
    assert len(machine.burn_in.asked) == 1


def test_a_test_that_nobody_wants_to_know_of_is_told_once() -> None:
    machine = Machine()
    machine.server.test_id, machine.server.on_tested = 3, [NotWanted("too late")]
    for _ in range(4):
        machine.beat()
        machine.settle()
    assert machine.server.tested == []
    assert sum("too late" in line for line in machine.said) == 1
    assert len(machine.burn_in.asked) == 1


def test_heartbeats_go_on_while_a_test_does_and_one_that_is_called_off_is_stopped() -> None:
    machine = Machine()
    machine.burn_in.waits = True
    machine.server.test_id = 3
    machine.beat(10)
    assert machine.server.heard.count("beat") == 10
    machine.server.test_id = None
    machine.beat()
    assert (machine.burn_in.stopped, machine.server.tested) == (1, [])


def test_a_divided_gpu_is_not_burnt_in() -> None:
    machine = Machine((CheckedGpu(mig=(1, 1)),))
    machine.server.test_id = 3
    machine.test()
    assert machine.burn_in.asked == [()]


def test_gpus_are_let_go_of_before_they_are_divided() -> None:
    machine = Machine()
    machine.beat()
    assert machine.library.sets == 1
    held: list[int] = []

    def divide(order: GpuOrder, known: Sequence[str]) -> MigFailure | None:
        held.append(machine.library.sets)
        return None

    machine.loop.dividing = GpuDividing(divide, lambda: NodeCapacity(4, 2**33), machine.said.append)
    machine.server.order = GpuOrder(1, (0,), ())
    machine.beat(2)
    assert held == [0]
    assert machine.library.sets == 1  # and watched again afterwards
