"""Jobs as batch jobs of a Slurm cluster (22.05 and later), whose programs are on this machine."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from bailiwick.executors.abilities import Abilities
from bailiwick.executors.clusters import ClusterExecutor
from bailiwick.vocab.errors import InvalidValue

CONF = "SLURM_CONF"
"""The variable that Slurm's own programs read: the file that says where a cluster is."""

ACCOUNT, PARTITION, QOS = (f"BAILIWICK_SLURM_{word}" for word in ("ACCOUNT", "PARTITION", "QOS"))
"""Under what jobs are submitted; the account may name ``{tenant}`` and ``{project}``."""

NEEDS = "sbatch, squeue, scancel, sinfo and scontrol are on this machine"

CAN = Abilities(gpu_step_milli=1000, core_step_milli=1000, images=False)
"""It hands out whole cores and whole devices."""

_PROGRAMS = ("sbatch", "squeue", "scancel", "scontrol", "sinfo")


def is_available() -> bool:
    """Whether this machine can submit to a cluster."""
    return all(shutil.which(name) for name in _PROGRAMS)


def open_executor(folder: Path, where: str = "") -> ClusterExecutor:
    """The executor whose jobs are kept in this folder, which every node of the cluster can see.

    ``where`` is the cluster's own configuration file, if it is not the one that is found anyway.
    """
    from bailiwick.executors.slurm.executor import SlurmExecutor, SlurmSettings
    from bailiwick.executors.slurm.programs import SlurmPrograms

    if not is_available():
        raise InvalidValue("--jobs-on", "slurm", f"a cluster ({NEEDS})")
    if where and not Path(where).is_file():
        raise InvalidValue("--jobs-on", where, "the cluster's slurm.conf")
    env = os.environ | ({CONF: where} if where else {})
    account, partition, qos = (env.get(name, "") for name in (ACCOUNT, PARTITION, QOS))
    settings = SlurmSettings(account=account, partition=partition, qos=qos)
    return SlurmExecutor(folder, programs=SlurmPrograms(env), settings=settings)
