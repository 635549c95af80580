"""What we rely on of drivers: held by the stand-ins always, by real ones where there are any."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from bailiwick.agent.health.cuda import load_cuda
from bailiwick.agent.machine.health import NvmlHealth
from tests.support.health_contract import CLAIMS, REAL_CLAIMS, Claim, Machine
from tests.support.real_health import fault_elsewhere
from tests.support.simulated_health import CheckedGpu, SimulatedCuda, SimulatedHealth

UUID = "GPU-00112233-4455-6677-8899-aabbccddeeff"


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.__name__)
def test_what_we_rely_on_holds_of_the_stand_ins(claim: Claim) -> None:
    gpu = CheckedGpu(uuid=UUID)
    nvml, cuda = SimulatedHealth(gpu), SimulatedCuda(UUID)

    def fault(uuid: str) -> None:
        nvml.report_xid(gpu, 31)

    claim(Machine(nvml, cuda, clock=itertools.count().__next__, fault=fault))
    assert cuda.held == []
    assert (nvml.opened, nvml.sets) == (0, 0)


@pytest.fixture(name="real", scope="module")
def _real() -> Any:
    pynvml, cuda = pytest.importorskip("pynvml"), load_cuda()
    told = NvmlHealth(pynvml).read()
    if cuda is None or not told.get("devices"):
        pytest.skip(f"no GPU here: {told['state']}")
    return Machine(pynvml, cuda, memory_bytes=1 << 30, fault=fault_elsewhere)


@pytest.mark.parametrize("claim", REAL_CLAIMS, ids=lambda claim: claim.__name__)
def test_what_we_rely_on_holds_of_real_drivers(claim: Claim, real: Machine) -> None:
    claim(real)
