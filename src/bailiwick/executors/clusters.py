"""Executors that run jobs on many machines by themselves: which of our nodes are theirs.

Rules:

- A cluster names its machines; under these names they are nodes of ours.
- Which nodes were ever a cluster's is kept beside its jobs, before any of them is a node: whoever
  asks about a job there finds its executor, also after a restart and after the node has gone.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from bailiwick.executors.folder import load_whole, save
from bailiwick.executors.port import Executor
from bailiwick.fleet.node import NodeCapacity
from bailiwick.vocab.errors import Damaged, Unavailable

_NODES = "nodes.json"


class ClusterExecutor(Executor, Protocol):
    """An executor that knows the machines on which it runs jobs."""

    def nodes(self) -> Mapping[str, NodeCapacity]:
        """The machines that it has now, by their names there; ``Unavailable`` if nobody tells."""


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """Which cluster is to be opened: the executor's name, and the folder that its nodes see."""

    kind: str
    folder: Path


class ClusterHands:
    """One cluster that was opened, and the nodes that were ever its own; from any thread."""

    def __init__(self, name: str, executor: ClusterExecutor, folder: Path) -> None:
        self.name, self.executor = name, executor
        self._path = folder / _NODES
        self._lock = threading.Lock()
        self._nodes = frozenset(self._load())

    def has(self, node: str) -> bool:
        """Whether a node is or was one of this cluster's."""
        return node in self._nodes

    def add(self, nodes: Iterable[str]) -> None:
        """Keep that these are its own."""
        with self._lock:
            new = self._nodes.union(nodes)
            if new == self._nodes:
                return
            try:
                save(self._path, json.dumps({"format": 1, "nodes": sorted(new)}))
            except OSError as error:
                raise Unavailable("the cluster's folder", error.strerror) from error
            self._nodes = new

    def _load(self) -> list[str]:
        text = load_whole(self._path)
        if text is None:
            return []
        try:
            nodes = json.loads(text)["nodes"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise Damaged("the nodes of a cluster", self._path, type(error).__name__) from None
        if not isinstance(nodes, list) or not all(isinstance(each, str) for each in nodes):
            raise Damaged("the nodes of a cluster", self._path, "are no names")
        return nodes
