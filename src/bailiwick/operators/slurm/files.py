"""The files of a cluster's members, whether it is one project's or a shared one."""

from __future__ import annotations

from bailiwick.operators.slurm.rendering import render, render_worker
from bailiwick.operators.slurm.shared.settings import render_shared
from bailiwick.operators.slurm.wanted import Cluster


def controller_files(cluster: Cluster) -> dict[str, str]:
    """All files of the controller, by name."""
    if cluster.shared is None:
        return render(cluster)
    return render_shared(cluster, cluster.shared.shape, terms=cluster.shared.terms)


def worker_files(cluster: Cluster, key: str) -> dict[str, str]:
    """The files of a worker."""
    return render_worker(cluster, key, files=controller_files(cluster))
