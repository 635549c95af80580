"""The agent carries out an order to divide GPUs once, and tells how it went until it is heard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import pytest

from bailiwick.agent.dividing import GpuDividing, GpuOrder, NotWanted
from bailiwick.agent.heartbeat import Away, Beating, Heard
from bailiwick.agent.machine.mig import repartition
from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.vocab.mig import MigFailure
from bailiwick.vocab.words import HardwareGeneration
from tests.support.simulated_mig import DivisibleGpu, SimulatedMig
from tests.unit.agent.test_heartbeat import ScriptedServer

ORDER = GpuOrder(7, (0,), ("3g.71gb", "4g.71gb"))


class ServerOfOrders(ScriptedServer):
    """Wants GPUs divided, and remembers the answers."""

    def __init__(self) -> None:
        super().__init__()
        self.order: GpuOrder | None = None
        self.answers: list[tuple[int, MigFailure | None, bool]] = []
        self.on_answer: list[Exception] = []

    def beat(self, node: str) -> Heard:
        return Heard(super().beat(node).beat_ms, None, self.order)

    def tell_divided(
        self, node: str, change_id: int, *, cause: MigFailure | None, now: NodeCapacity
    ) -> None:
        if self.on_answer:
            raise self.on_answer.pop(0)
        self.answers.append((change_id, cause, now.gpus[0].partitionable))
        self.order = None


@dataclass
class Machine:
    """An agent's loop on a machine with one GPU."""

    gpu: DivisibleGpu = field(default_factory=DivisibleGpu)
    said: list[str] = field(default_factory=list)
    server: ServerOfOrders = field(default_factory=ServerOfOrders)
    divided: int = 0

    def __post_init__(self) -> None:
        self.library = SimulatedMig(self.gpu)
        dividing = GpuDividing(self.divide, self.read, self.said.append)
        self.turns = 0
        self.loop = Beating(
            "n1", self.server, self.read, self.wait, self.said.append, dividing=dividing
        )

    def divide(self, places: Sequence[int], profiles: Sequence[str]) -> MigFailure | None:
        self.divided += 1
        return partial(repartition, library=self.library)(places, profiles)

    def read(self) -> NodeCapacity:
        hopper, is_divided = HardwareGeneration.NVIDIA_HOPPER, bool(self.gpu.mig[0])
        return NodeCapacity(4, 2**33, gpus=(GpuDevice(hopper, partitionable=is_divided),))

    def wait(self, pause_s: float) -> bool:
        self.turns -= 1
        return self.turns <= 0

    def beat(self, count: int = 1) -> None:
        self.turns = count
        self.loop.run()


def test_an_order_is_carried_out_and_answered_with_what_the_machine_is_now() -> None:
    machine = Machine()
    machine.server.order = ORDER
    machine.beat(3)
    assert machine.server.answers == [(7, None, True)]
    assert machine.gpu.layout == ["3g.71gb", "4g.71gb"]
    assert machine.divided == 1


def test_without_an_order_nothing_is_touched() -> None:
    machine = Machine()
    machine.beat(3)
    assert machine.divided == 0
    assert machine.library.calls == []


def test_an_answer_that_was_not_heard_is_told_again_and_nothing_is_done_twice() -> None:
    machine = Machine()
    machine.server.order, machine.server.on_answer = ORDER, [Away("gone"), Away("gone")]
    machine.beat(3)
    assert machine.server.answers == [(7, None, True)]
    assert machine.divided == 1


def test_a_failure_is_told_with_its_cause() -> None:
    machine = Machine(DivisibleGpu(busy=True))
    machine.server.order = ORDER
    machine.beat()
    assert machine.server.answers == [(7, MigFailure.IN_USE, False)]
    assert any("something still runs" in line for line in machine.said)


def test_an_answer_that_nobody_wants_is_told_and_the_loop_goes_on() -> None:
    machine = Machine()
    machine.server.order, machine.server.on_answer = ORDER, [NotWanted("too late")]
    machine.beat()
    assert any("too late" in line for line in machine.said)
    machine.server.order = None
    machine.beat()


def test_the_next_order_is_another() -> None:
    machine = Machine()
    machine.server.order = ORDER
    machine.beat()
    machine.server.order = GpuOrder(9, (0,), ())
    machine.beat()
    assert machine.server.answers == [(7, None, True), (9, None, False)]
    assert machine.gpu.layout == []


def test_a_machine_that_became_another_by_an_order_is_not_reported_against_its_node() -> None:
    machine = Machine()
    machine.server.order = ORDER
    machine.beat(70)
    assert len(machine.server.reported) == 1


@pytest.mark.parametrize("profiles", [(), ("1g.18gb",)])
def test_an_agent_that_begins_anew_finds_what_it_did_before(profiles: tuple[str, ...]) -> None:
    first = Machine()
    first.server.order = GpuOrder(7, (0,), profiles)
    first.beat()
    again = Machine(first.gpu)
    again.server.order = GpuOrder(7, (0,), profiles)
    again.beat()
    assert again.server.answers == [(7, None, bool(profiles))]
    assert again.library.calls == []
