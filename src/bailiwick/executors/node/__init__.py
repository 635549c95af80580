"""Jobs on machines that joined the fleet: what is to be so there, and what their agents saw.

It is opened for each node, over the store's rows; a folder of this machine is of no use to it.
"""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from bailiwick.vocab.errors import Unavailable


def is_available() -> bool:
    """Not for this machine: its agent runs the local one."""
    return False


def open_executor(folder: Path) -> NoReturn:
    """There is none on a folder."""
    raise Unavailable("the node executor", f"it keeps nothing in {folder}: agents do")
