"""One ``bailiwick up`` whose jobs run on a Ray cluster."""

from __future__ import annotations

from pathlib import Path

from tests.support.cluster_server import ClusterServer
from tests.support.ray_cluster import PYTHON, TestCluster


class RayServer(ClusterServer):
    """It has its own folder and port; whoever starts it closes it."""

    def __init__(self, cluster: TestCluster, folder: Path) -> None:
        env = {"RAY_API_SERVER_ADDRESS": cluster.address, "BAILIWICK_RAY_PYTHON": str(PYTHON)}
        super().__init__(folder, f"ray={folder / 'jobs'}", env=env)
