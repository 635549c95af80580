"""What a cluster says of itself over its own HTTP API: its nodes, what they do, what waits.

Rules:

- Patience and size are bounded, and redirections are not followed.
- The token is sent to the cluster alone: what the environment says of proxies is for others.
- What is not understood is an error (``OSError`` or ``ValueError``), and nothing follows from it.
"""

from __future__ import annotations

import json
import urllib.request
from typing import Any

from .rendering import ClusterDoor

WAIT_S = 15.0
ANSWER_BYTES_MAX = 16 << 20


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Not followed."""


def fetch_load(cluster: ClusterDoor) -> dict[str, Any]:
    """The cluster's nodes and its load, as it tells them."""
    return {
        "nodes": _get(cluster, "/api/v0/nodes?detail=1&limit=10000"),
        "status": _get(cluster, "/api/cluster_status"),
    }


def _get(cluster: ClusterDoor, path: str) -> Any:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect())
    asked = urllib.request.Request(
        cluster.dashboard + path, headers={"Authorization": f"Bearer {cluster.token}"}
    )
    with opener.open(asked, timeout=WAIT_S) as answer:
        data = answer.read(ANSWER_BYTES_MAX + 1)
    if len(data) > ANSWER_BYTES_MAX:
        raise ValueError("the cluster's answer is longer than can be held")
    return json.loads(data)
