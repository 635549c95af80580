"""The command line on a machine with two GPUs that do not exist; for agents of tests."""

from __future__ import annotations

import sys

from tests.support.simulated_nvml import SimulatedGpu, SimulatedNvml

if __name__ == "__main__":
    gpus = (SimulatedGpu.numbered(0), SimulatedGpu.numbered(1))
    sys.modules["pynvml"] = SimulatedNvml(*gpus)  # type: ignore[assignment]
    from bailiwick.cli.main import main

    main()
