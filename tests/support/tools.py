"""Real parts that a test needs: there, or the test is left out by name; and the table of what was.

Rules:

- A test says ``need("slurm")``. Where the tool is missing the test is skipped with the tool's name
  and the reason; under CI that is a failure, unless setup/test_tools.toml says that this kind of
  machine cannot have it.
- Under CI a skip of any other kind must be excused in the same file, or the run fails.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from typing import NoReturn

import pytest

from setup import test_tools

PREFIX = "left out, "
HEADINGS = ("left out", "tests", "why")


def need(name: str) -> None:
    """Go on only with the tool; otherwise the test is skipped, or fails where it must be there."""
    if not test_tools.is_there(name):
        leave_out(name, test_tools.why_not(name))


def leave_out(name: str, why: str) -> NoReturn:
    """Skip a test for want of a tool; fail where the tool must be there."""
    if os.environ.get("CI") and name not in test_tools.cannot_have():
        pytest.fail(f"{name}: {why}")
    pytest.skip(f"{PREFIX}{name}: {why}")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One row of the table."""

    what: str
    count: int
    why: str
    is_excused: bool


def left_out(skips: Counter[str]) -> list[LeftOut]:
    """What was left out, from the reasons of all skips."""
    return [_row(reason, count) for reason, count in sorted(skips.items())]


def _row(reason: str, count: int) -> LeftOut:
    if reason.startswith(PREFIX):
        name, _, why = reason.removeprefix(PREFIX).partition(": ")
        return LeftOut(name, count, why, name in test_tools.cannot_have())
    for start, why in test_tools.excused_skips().items():
        if reason.startswith(start):
            return LeftOut(reason, count, why, True)
    return LeftOut(reason, count, "", False)


def table(rows: list[LeftOut]) -> list[str]:
    """The rows under their headings, in columns."""
    cells = [HEADINGS, *((row.what, str(row.count), row.why) for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(2)]
    return [
        f"{what:<{widths[0]}}  {count:>{widths[1]}}  {why}".rstrip() for what, count, why in cells
    ]
