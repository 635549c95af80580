"""Jobs as tasks in placement groups of a Ray cluster (2.x), over its HTTP API of jobs."""

from __future__ import annotations

import os
from pathlib import Path

from bailiwick.executors.abilities import Abilities
from bailiwick.executors.clusters import ClusterExecutor
from bailiwick.vocab.errors import Unavailable

ADDRESS = "RAY_API_SERVER_ADDRESS"
"""The variable that Ray's own tools read: where a cluster takes jobs."""

NEEDS = f"{ADDRESS} says where it takes jobs, as for Ray's own tools"

CAN = Abilities(gpu_step_milli=1000, images=False)
"""Parts of a core it gives; of a device it would give a whole one."""

PYTHON, TOKEN_FILE = "BAILIWICK_RAY_PYTHON", "BAILIWICK_RAY_TOKEN_FILE"
"""The cluster's own interpreter, as its head finds it; a token, where the cluster asks for one."""


def is_available() -> bool:
    """Whether it was said where the cluster is; nothing of Ray is needed on this machine."""
    return bool(os.environ.get(ADDRESS))


def open_executor(folder: Path, where: str = "") -> ClusterExecutor:
    """The executor whose jobs are kept in this folder, which every node of the cluster can see.

    ``where`` is the cluster's address, if it is not the one that the environment tells.
    """
    from bailiwick.executors.ray.executor import RayExecutor
    from bailiwick.executors.ray.jobs_api import RayCluster

    address = where or os.environ.get(ADDRESS)
    if not address:
        raise Unavailable("the cluster", f"{ADDRESS} does not say where it is")
    token = os.environ.get(TOKEN_FILE)
    cluster = RayCluster(address, token_file=Path(token) if token else None)
    return RayExecutor(folder, cluster, python=os.environ.get(PYTHON) or "python")
