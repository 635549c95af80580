"""Jobs as processes of the server's own machine, if that runs Linux.

Only there can it prove which processes are a job's.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bailiwick.executors.local.executor import LocalExecutor
    from bailiwick.executors.local.modes import Apart


def is_available() -> bool:
    """Whether it works on this system."""
    return sys.platform == "linux"


def open_executor(folder: Path, apart: Apart | None = None) -> LocalExecutor:
    """The executor whose jobs are kept in this folder, kept apart as well as the machine can."""
    from bailiwick.executors.local.executor import LocalExecutor
    from bailiwick.executors.local.modes import Apart

    return LocalExecutor(folder, apart=apart or Apart())
