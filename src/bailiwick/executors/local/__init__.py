"""Jobs as processes of the server's own machine, if that runs Linux.

Only there can it prove which processes are a job's.
"""

from __future__ import annotations

import sys
from pathlib import Path

from bailiwick.executors.port import Executor


def is_available() -> bool:
    """Whether it works on this system."""
    return sys.platform == "linux"


def open_executor(folder: Path) -> Executor:
    """The executor whose jobs are kept in this folder."""
    from bailiwick.executors.local.executor import LocalExecutor

    return LocalExecutor(folder)
