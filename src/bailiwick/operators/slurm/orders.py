"""What a member is told to be: files, key, and a revision by which it is known to have them."""

from __future__ import annotations

import base64
import json
from hashlib import sha256
from typing import Any, Final

from bailiwick.operators.slurm.rendering import render, render_worker
from bailiwick.operators.slurm.shared.mapping import PROBE_ACCOUNT
from bailiwick.operators.slurm.shared.people import PROBE
from bailiwick.operators.slurm.shared.settings import render_shared
from bailiwick.operators.slurm.wanted import CONTROLLER, GPUS_MAX, WORKER, Cluster, worker_index

MUNGE_KEY_BYTES: Final = 128


def order_for(cluster: Cluster, key: str, *, munge_key: bytes) -> dict[str, Any]:
    """What the member ``key`` of a cluster is told; the same cluster has the same revision."""
    is_controller = key == CONTROLLER
    wish = cluster.wish
    port = cluster.port if is_controller else cluster.worker_port(worker_index(key))
    storage = f"{wish.storage}/{cluster.name}" if is_controller and wish.storage else ""
    order: dict[str, Any] = {
        "role": "controller" if is_controller else WORKER,
        "key": key,
        "port": port,
        "cluster": cluster.name,
        "account": cluster.account,
        "kill_wait_s": wish.kill_wait_s,
        "storage": storage,
        "pretend_gpus": GPUS_MAX if wish.pretend_gpus else 0,
        "files": controller_files(cluster) if is_controller else worker_files(cluster, key),
    }
    if cluster.shared is not None:
        users = [[user.name, user.uid] for user in cluster.shared.users]
        order["shared"] = {"users": users, "probe": [PROBE.name, PROBE_ACCOUNT]}
    # The key is in the revision by its digest only: a revision is written down.
    told = json.dumps([order, sha256(munge_key).hexdigest()], sort_keys=True)
    revision = sha256(told.encode()).hexdigest()[:16]
    return {
        **order,
        "do": "apply",
        "revision": revision,
        "munge_key": base64.b64encode(munge_key).decode(),
    }


def controller_files(cluster: Cluster) -> dict[str, str]:
    """All files of the controller, by name."""
    if cluster.shared is None:
        return render(cluster)
    return render_shared(cluster, cluster.shared.shape, terms=cluster.shared.terms)


def worker_files(cluster: Cluster, key: str) -> dict[str, str]:
    """The files of a worker."""
    return render_worker(cluster, key, files=controller_files(cluster))
