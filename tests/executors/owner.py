"""A process that owns an executor, starts jobs and is then killed by the test.

Run as a program: ``python -m tests.executors.owner ROOT [many]``. It tells the moment its jobs run.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from bailiwick.executors.local.executor import LocalExecutor
from tests.executors.conftest import PATIENT
from tests.executors.jobs import shell

LEASES_MAX = 200


def start_few(executor: LocalExecutor) -> None:
    """One that waits for a sign, one that lasts, one that ends."""
    executor.start(shell(1, "echo begun; until [ -e go ]; do sleep 0.05; done; echo done; exit 42"))
    executor.start(shell(2, "sleep 1000"))
    executor.start(shell(3, "exit 9"))
    print("started", flush=True)


def start_many(executor: LocalExecutor) -> None:
    """One after the other, until killed."""
    for lease_id in range(LEASES_MAX):
        executor.start(shell(lease_id, "exec sleep 1000"))
        if not lease_id:
            print("started", flush=True)


if __name__ == "__main__":
    (start_many if "many" in sys.argv else start_few)(
        LocalExecutor(Path(sys.argv[1]), waits=PATIENT)
    )
    signal.pause()
