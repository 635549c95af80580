"""The library's names: all of them from ``bailiwick``, and none before one is asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

import bailiwick
from bailiwick import names


def run(program: str) -> str:
    """What a program prints in a fresh interpreter."""
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return ended.stdout.strip()


def test_a_part_of_the_package_does_not_import_the_rest() -> None:
    program = "import sys, bailiwick.cli.main; print('bailiwick.scheduler' in sys.modules)"
    assert run(program) == "False"


def test_a_star_brings_every_name_and_nothing_else() -> None:
    program = "before = {*globals(), 'before'}; from bailiwick import *; "
    program += "print(*sorted({*globals()} - before))"
    assert run(program).split() == sorted(names.__all__)


def test_what_is_here_is_what_the_modules_define() -> None:
    assert all(getattr(bailiwick, name) is getattr(names, name) for name in names.__all__)
    assert {*names.__all__} <= {*dir(bailiwick)}


def test_a_name_that_is_not_there_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = bailiwick.nothing  # type: ignore[attr-defined]
