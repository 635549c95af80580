"""Jobs as batch jobs of a Slurm cluster (22.05 and later), whose programs are on this machine."""

from __future__ import annotations

import shutil
from pathlib import Path

from bailiwick.executors.port import Executor


def is_available() -> bool:
    """Whether this machine can submit to a cluster."""
    return all(shutil.which(name) for name in ("sbatch", "squeue", "scancel", "scontrol"))


def open_executor(folder: Path) -> Executor:
    """The executor whose jobs are kept in this folder, which every node of the cluster can see."""
    from bailiwick.executors.slurm.executor import SlurmExecutor

    return SlurmExecutor(folder)
