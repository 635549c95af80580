"""The command line on a machine with GPUs that do not exist, the first as well as a file says.

The file has the number of memory errors that could not be corrected; it is read again and again.
There is one GPU, or as many as the environment says.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from pathlib import Path

from tests.support.simulated_health import CheckedGpu, SimulatedHealth

ERRORS_FILE, GPUS = "BAILIWICK_TEST_ECC_FILE", "BAILIWICK_TEST_GPUS"


def follow(gpu: CheckedGpu, file: Path) -> None:
    """Have the GPU be as the file says, for ever."""
    while True:
        with contextlib.suppress(OSError, ValueError):
            gpu.uncorrected = int(file.read_text(encoding="ascii"))
        time.sleep(0.05)


if __name__ == "__main__":
    all_gpus = [CheckedGpu.numbered(number) for number in range(int(os.environ.get(GPUS, "1")))]
    sys.modules["pynvml"] = SimulatedHealth(*all_gpus)  # type: ignore[assignment]
    watched = Path(os.environ[ERRORS_FILE])
    threading.Thread(target=follow, args=(all_gpus[0], watched), daemon=True).start()
    from bailiwick.cli.main import main

    main()
