"""The command line on a machine with two GPUs that do not exist; for agents of tests."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from tests.support.simulated_health import CheckedGpu, SimulatedHealth
from tests.support.simulated_mig import DivisibleGpu, SimulatedMig


@dataclass
class WholeGpu(DivisibleGpu, CheckedGpu):
    """One that can be divided, and tells how it is."""


class WholeDriver(SimulatedMig, SimulatedHealth):
    """A driver that divides GPUs and tells how they are."""


if __name__ == "__main__":
    gpus = (WholeGpu.numbered(0), WholeGpu.numbered(1))
    sys.modules["pynvml"] = WholeDriver(*gpus)  # type: ignore[assignment]
    from bailiwick.cli.main import main

    main()
