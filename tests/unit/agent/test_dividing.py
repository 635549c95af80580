"""The agent carries out an order to divide GPUs once, and tells how it went until it is heard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from bailiwick.agent.dividing import GpuDividing, GpuOrder, NotWanted
from bailiwick.agent.heartbeat import Away, Beating, Heard, NotTaken
from bailiwick.agent.machine.gpus import judge_gpus
from bailiwick.agent.machine.nvml import NvmlGpus
from bailiwick.agent.process import divide_gpus
from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.vocab.mig import MigFailure
from tests.support.simulated_mig import DivisibleGpu, SimulatedMig
from tests.support.simulated_nvml import NvmlError
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

    def divide(self, order: GpuOrder, known: Sequence[str]) -> MigFailure | None:
        self.divided += 1
        return divide_gpus(order, known, library=self.library)

    def read(self) -> NodeCapacity:
        gpus = judge_gpus(NvmlGpus(self.library).read()).gpus
        told = (GpuDevice(g.generation, 0, g.model, "", g.partitionable) for g in gpus)
        return NodeCapacity(4, 2**33, gpus=tuple(told))

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


def four() -> Machine:
    """A machine with four GPUs, whose node is known with them."""
    machine = Machine()
    machine.library.gpus = tuple(DivisibleGpu.numbered(number) for number in range(4))
    return machine


@pytest.mark.parametrize("is_listed", [True, False], ids=["unread", "off the bus"])
@pytest.mark.parametrize("is_anew", [True, False], ids=["begun anew", "the same agent"])
@pytest.mark.parametrize("place", [0, 2, 3])
def test_while_a_gpu_does_not_answer_no_other_is_divided_in_its_place(
    is_listed: bool, is_anew: bool, place: int
) -> None:
    machine = four()
    gpus = machine.library.gpus
    machine.beat()
    if is_listed:
        gpus[1].answers["handle"] = NvmlError(15)
    else:
        machine.library.gpus = (gpus[0], *gpus[2:])
    if is_anew:
        again = Machine()
        again.library.gpus = machine.library.gpus
        again.server.on_report = [NotTaken("is known otherwise", ("NVIDIA H200",) * 4)]
        machine = again
    machine.server.order = GpuOrder(7, (place,), ("3g.71gb",))
    machine.beat()
    assert machine.server.answers == [(7, MigFailure.REFUSED_BY_DRIVER, False)]
    assert machine.library.calls == []
    assert [gpu.layout for gpu in gpus] == [[]] * 4


def test_of_gpus_that_all_answer_those_in_their_places_are_divided() -> None:
    machine = four()
    machine.server.order = GpuOrder(7, (1, 2), ("3g.71gb",))
    machine.beat()
    assert [gpu.layout for gpu in machine.library.gpus] == [[], ["3g.71gb"], ["3g.71gb"], []]


@pytest.mark.parametrize(
    ("known", "place", "told"),
    [
        (("NVIDIA H200",), 0, None),
        (("NVIDIA H200", "NVIDIA H200"), 0, MigFailure.REFUSED_BY_DRIVER),
        (("NVIDIA H100",), 0, MigFailure.REFUSED_BY_DRIVER),
        ((), 0, MigFailure.REFUSED_BY_DRIVER),  # one was added, and nobody knows where
        (("NVIDIA H200",), 1, MigFailure.REFUSED_BY_DRIVER),
    ],
)
def test_places_are_those_of_the_nodes_inventory(
    known: tuple[str, ...], place: int, told: MigFailure | None
) -> None:
    library = SimulatedMig(DivisibleGpu())
    assert divide_gpus(GpuOrder(7, (place,), ("3g.71gb",)), known, library=library) is told
    assert bool(library.calls) is (told is None)


def test_a_machine_without_a_driver_divides_nothing() -> None:
    library = SimulatedMig(init=NvmlError(9))
    assert divide_gpus(ORDER, ("NVIDIA H200",), library=library) is MigFailure.NO_NVML
