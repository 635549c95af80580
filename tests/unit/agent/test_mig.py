"""GPUs are divided through NVML: by the stand-in always, by a real driver where there is one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bailiwick.agent.machine.mig import repartition
from bailiwick.vocab.mig import MigFailure
from tests.support.mig_contract import CLAIMS, Claim, why_not
from tests.support.simulated_mig import IN_USE, DivisibleGpu, SimulatedMig
from tests.support.simulated_nvml import NvmlError, SimulatedGpu


@pytest.fixture(params=["stand-in", "real"])
def library(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A driver with a GPU that can be divided."""
    if request.param == "stand-in":
        yield SimulatedMig(DivisibleGpu())
        return
    pynvml = pytest.importorskip("pynvml")
    reason = why_not(pynvml, 0)
    if reason:
        pytest.skip(f"no GPU here that can be divided: {reason}")
    yield pynvml
    repartition([0], [], library=pynvml)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.__name__)
def test_what_we_rely_on(claim: Claim, library: Any) -> None:
    claim(library, 0)


def test_a_layout_that_is_there_is_left_alone() -> None:
    library = SimulatedMig(DivisibleGpu())
    assert repartition([0], ["3g.71gb", "4g.71gb"], library=library) is None
    changed = list(library.calls)
    assert repartition([0], ["4g.71gb", "3g.71gb"], library=library) is None
    assert library.calls == changed


def test_large_and_small_instances_fit_beside_each_other() -> None:
    gpu = DivisibleGpu()
    library = SimulatedMig(gpu)
    wanted = ["1g.18gb", "2g.35gb", "4g.71gb"]
    assert repartition([0], wanted, library=library) is None
    assert gpu.layout == wanted
    assert all(each.computes for each in gpu.made.values())


def test_an_instance_without_its_compute_instance_is_made_anew() -> None:
    gpu = DivisibleGpu()
    library = SimulatedMig(gpu)
    assert repartition([0], ["3g.71gb"], library=library) is None
    for each in gpu.made.values():
        each.computes.clear()
    assert repartition([0], ["3g.71gb"], library=library) is None
    assert [bool(each.computes) for each in gpu.made.values()] == [True]


def test_several_gpus_are_divided_alike() -> None:
    gpus = DivisibleGpu.numbered(0), DivisibleGpu.numbered(1), DivisibleGpu.numbered(2)
    library = SimulatedMig(*gpus)
    assert repartition([0, 2], ["7g.141gb"], library=library) is None
    assert [gpu.layout for gpu in gpus] == [["7g.141gb"], [], ["7g.141gb"]]


@pytest.mark.parametrize(
    ("gpu", "told"),
    [
        (SimulatedGpu(mig=None), MigFailure.NOT_SUPPORTED),
        (DivisibleGpu(mig=None), MigFailure.NOT_SUPPORTED),
        (DivisibleGpu(permitted=False), MigFailure.NOT_PERMITTED),
        (DivisibleGpu(busy=True), MigFailure.IN_USE),
        (DivisibleGpu(needs_reset=True), MigFailure.RESET_REQUIRED),
        (DivisibleGpu(answers={"handle": NvmlError(15)}), MigFailure.REFUSED_BY_DRIVER),
        (DivisibleGpu(answers={"mig": RuntimeError()}), MigFailure.REFUSED_BY_DRIVER),
    ],
)
def test_what_the_driver_refuses_is_one_word(gpu: SimulatedGpu, told: MigFailure) -> None:
    assert repartition([0], ["3g.71gb"], library=SimulatedMig(gpu)) is told


def test_no_driver_is_a_word_too() -> None:
    library = SimulatedMig(init=NvmlError(9))
    assert repartition([0], ["3g.71gb"], library=library) is MigFailure.NO_NVML


def test_an_instance_in_use_stays_and_is_told() -> None:
    gpu = DivisibleGpu()
    library = SimulatedMig(gpu)
    assert repartition([0], ["3g.71gb"], library=library) is None
    next(iter(gpu.made.values())).in_use = True
    assert repartition([0], [], library=library) is MigFailure.IN_USE
    assert gpu.layout == ["3g.71gb"]


@pytest.mark.parametrize("wanted", [["7g.141gb"], ["1g.18gb"], []])
def test_one_instance_in_use_does_not_cost_the_others(wanted: list[str]) -> None:
    gpu = DivisibleGpu()
    library = SimulatedMig(gpu)
    before = ["1g.18gb", "2g.35gb", "3g.71gb"]
    assert repartition([0], before, library=library) is None
    (used,) = (each for each in gpu.made.values() if each.kind.slices == 3)
    used.in_use = True
    assert repartition([0], wanted, library=library) is MigFailure.IN_USE
    assert (gpu.layout, gpu.mig) == (before, (1, 1))
    assert all(each.computes for each in gpu.made.values())
    assert used in gpu.made.values()


def test_a_gpu_that_may_not_be_made_whole_has_its_instances_again() -> None:
    gpu = DivisibleGpu()
    library = SimulatedMig(gpu)
    before = ["2g.35gb", "3g.71gb"]
    assert repartition([0], before, library=library) is None
    gpu.busy = True  # a monitor has it open, and no instance
    assert repartition([0], [], library=library) is MigFailure.IN_USE
    assert (gpu.layout, gpu.mig) == (before, (1, 1))
    gpu.busy = False
    assert repartition([0], [], library=library) is None
    assert (gpu.layout, gpu.mig) == ([], (0, 0))


def test_an_instance_that_lost_only_its_compute_instance_is_given_it_back() -> None:
    class Held(SimulatedMig):
        def nvmlGpuInstanceDestroy(self, handle: int) -> None:
            raise NvmlError(IN_USE)

    gpu = DivisibleGpu()
    library = Held(gpu)
    assert repartition([0], ["3g.71gb"], library=library) is None
    assert repartition([0], ["7g.141gb"], library=library) is MigFailure.IN_USE
    assert [len(each.computes) for each in gpu.made.values()] == [1]


def test_after_a_reset_the_mode_counts() -> None:
    gpu = DivisibleGpu(needs_reset=True)
    library = SimulatedMig(gpu)
    assert repartition([0], ["3g.71gb"], library=library) is MigFailure.RESET_REQUIRED
    gpu.reset()
    assert repartition([0], ["3g.71gb"], library=library) is None
    assert gpu.layout == ["3g.71gb"]
