"""Coq accepts every proof from nothing, assumes nothing, and refuses what is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROOFS = ROOT / "proofs"

# `make prove` tries all of them; these are of each kind, and quick.
SOME_MUTANTS = (
    "the next holder is charged",
    "a conflict is billed",
    "program: no lock around a change",
    "program: acknowledged, not applied",
)


@pytest.mark.timeout(1800)
def test_every_theorem_is_proven_without_an_assumption_and_not_of_what_is_wrong(
    coq: None, tmp_path: Path
) -> None:
    build = tmp_path / "build"
    environment = os.environ | {"BUILD": str(build)}
    checked = subprocess.run(
        [PROOFS / "check.sh"], text=True, capture_output=True, env=environment, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "theorems closed under the global context" in checked.stdout
    command = [sys.executable, PROOFS / "mutants.py", "--build", build, *SOME_MUTANTS]
    tried = subprocess.run(command, text=True, capture_output=True, check=False)
    assert tried.returncode == 0, tried.stdout + tried.stderr
    assert tried.stdout.count("refused ") == len(SOME_MUTANTS), tried.stdout
