"""The command line: which words a person types, and what each exit code means."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """How a command ends; the same table for all of them."""

    DONE = 0
    FAULT = 1
    USAGE = 2
    DENIED = 3
    PENDING = 4
    UNREACHABLE = 5
    CHANGED = 6
