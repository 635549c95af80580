"""Slurm's programs as people type them: what ``bailiwick`` is asked for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bailiwick.operators.slurm.queue.front import INSTANCE, WrongUse, command_of
from bailiwick.operators.slurm.queue.programs import USAGE

FRONT = (sys.executable, "-m", "bailiwick.operators.slurm.queue.front")


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("sbatch job.sh", "--input job.sh c1 submit -- sbatch"),
        ("sbatch --nodes 2 -t5 job.sh", "--input job.sh c1 submit -- sbatch --nodes 2 -t5"),
        ("sbatch --nodes=2 --hold ./a", "--input ./a c1 submit -- sbatch --nodes=2 --hold"),
        ("sbatch -N 2", "--input - c1 submit -- sbatch -N 2"),
        ("sbatch -N 2 -", "--input - c1 submit -- sbatch -N 2"),
        ("sbatch --wrap=true -N2", "c1 submit -- sbatch --wrap=true -N2"),
        ("sbatch --wrap hostname", "c1 submit -- sbatch --wrap hostname"),
        ("sbatch -HN 2 job.sh", "--input job.sh c1 submit -- sbatch -HN 2"),
        ("squeue --me", "c1 read -- squeue --me"),
        ("sacct -X", "c1 read -- sacct -X"),
        ("sinfo", "c1 read -- sinfo"),
        ("scancel 12 13", "c1 cancel -- scancel 12 13"),
    ],
)
def test_each_program_is_a_call_of_its_verb(typed: str, told: str) -> None:
    assert command_of(typed.split(), on="c1") == ["app", "call", *told.split()]


@pytest.mark.parametrize("typed", ["sbatch job.sh 7", "sbatch --wrap=true job.sh"])
def test_what_would_be_lost_on_the_way_is_refused(typed: str) -> None:
    with pytest.raises(WrongUse):
        command_of(typed.split(), on="c1")


@pytest.mark.parametrize("on", ["", "-c1"])
def test_an_instance_is_named(on: str) -> None:
    with pytest.raises(WrongUse, match="which instance"):
        command_of(["squeue"], on=on)


def test_it_is_the_command_line_that_is_run(tmp_path: Path) -> None:
    # Nobody is logged in there: the command line says so itself, with its own exit status.
    environ = {k: v for k, v in os.environ.items() if not k.startswith("BAILIWICK_")}
    environ |= {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), INSTANCE: "c1"}
    told = subprocess.run(
        (*FRONT, "squeue"), env=environ, capture_output=True, text=True, timeout=60, check=False
    )
    assert told.returncode not in (0, USAGE), told
    assert told.stderr.startswith("bailiwick: "), told
    wrong = subprocess.run(
        (*FRONT, "srun"), env=environ, capture_output=True, text=True, timeout=60, check=False
    )
    assert (wrong.returncode, "sbatch" in wrong.stderr) == (USAGE, True)
