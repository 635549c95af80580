"""Whose live placements can be watched: clusters that somebody else runs.

Rules:

- Watching changes nothing there.
- Each sort of cluster is one row here and a function ``watch(question)`` in the module it names,
  imported when it is asked for: it returns what reads the cluster once each time it is called.
- A reading that failed is an error of that reading; the next may succeed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias, cast

from bailiwick.isolation.adapters.cluster import ClusterReading
from bailiwick.isolation.placements import Site

Read: TypeAlias = Callable[[], ClusterReading]


@dataclass(frozen=True, slots=True)
class LiveQuestion:
    """Which cluster is watched, how its words are understood, and what is known of its nodes."""

    files: tuple[Path, ...] = ()
    """Saved answers (``-`` for standard input), instead of asking the cluster."""
    server: str | None = None
    token_file: Path | None = None
    ca_file: Path | None = None
    tenant_by: str | None = None
    project_by: str = ""
    labels_by: str = ""
    sites: Mapping[str, Site] = field(default_factory=dict)


class LiveCluster(NamedTuple):
    """One sort of cluster."""

    name: str
    help: str
    module: str
    files: str
    """What files may be given instead of asking."""

    def watch(self, question: LiveQuestion) -> Read:
        """What reads the cluster, each time it is called."""
        begin = cast(Callable[[LiveQuestion], Read], import_module(self.module).watch)
        return begin(question)


LIVE_CLUSTERS: Final = (
    LiveCluster(
        "slurm",
        "Jobs of a Slurm cluster, from squeue and sinfo.",
        "bailiwick.clusters.slurm.live",
        "what `squeue --json` and `sinfo --json` printed, in this order",
    ),
    LiveCluster(
        "kubernetes",
        "Pods of a Kubernetes cluster, from its API server or from saved objects.",
        "bailiwick.clusters.kubernetes.live",
        "pod and node objects as JSON, in any number of files",
    ),
)
