"""Executors that run jobs on many machines by themselves: which of our nodes are theirs.

Rules:

- A cluster names its machines; under these names they are nodes of ours.
- A cluster may close a machine to new work by its own word, and may be asked to. Who closed it is
  told: what others closed there is never opened from here.
- Which nodes were ever a cluster's is kept beside its jobs, before any of them is a node: whoever
  asks about a job there finds its executor, also after a restart and after the node has gone.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from bailiwick.executors.folder import load_whole, save
from bailiwick.executors.port import Executor
from bailiwick.fleet.node import NodeCapacity
from bailiwick.vocab.errors import Damaged, Unavailable

_NODES = "nodes.json"


class NodeGate(StrEnum):
    """Whether a cluster gives new work to one of its machines, and who said no."""

    OPEN = "open"
    CLOSED = "closed"
    CLOSED_BY_US = "closed_by_us"


@dataclass(frozen=True, slots=True)
class ClusterNode:
    """A machine of a cluster that is there."""

    capacity: NodeCapacity
    gate: NodeGate = NodeGate.OPEN


class ClusterExecutor(Executor, Protocol):
    """An executor that knows the machines on which it runs jobs."""

    def nodes(self) -> Mapping[str, ClusterNode]:
        """The machines that it has now, by their names there; ``Unavailable`` if nobody tells."""

    def set_open(self, node: str, *, is_open: bool) -> bool:
        """Have the cluster give a machine new work, or none; false if it knows no such thing."""


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """Which cluster is to be opened: the executor's name, and the folder that its nodes see."""

    kind: str
    folder: Path
    where: str = ""
    """Where it is, if not where the environment says: see each executor."""


class ClusterReach(StrEnum):
    """Whether a cluster answers."""

    NOT_ASKED = "not_asked"
    REACHABLE = "reachable"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True)
class ClusterLook:
    """How a cluster was found when it was last asked."""

    asked_ms: int | None = None
    """When it was; nothing before the first time."""
    answered_ms: int | None = None
    nodes: int = 0
    """How many of its machines took part when it last answered."""
    trouble: str = ""
    """For a person, if it did not answer."""

    @classmethod
    def answered(cls, now_ms: int, nodes: int) -> ClusterLook:
        """It told what machines it has."""
        return cls(now_ms, now_ms, nodes)

    def failed(self, now_ms: int, trouble: str) -> ClusterLook:
        """It did not answer: what it last told still holds."""
        return replace(self, asked_ms=now_ms, trouble=trouble)

    @property
    def state(self) -> ClusterReach:
        """Whether it answered the last time."""
        if self.asked_ms is None:
            return ClusterReach.NOT_ASKED
        return ClusterReach.UNREACHABLE if self.trouble else ClusterReach.REACHABLE


class ClusterHands:
    """One cluster that was opened, and the nodes that were ever its own; from any thread."""

    def __init__(
        self, name: str, executor: ClusterExecutor, *, folder: Path, where: str = ""
    ) -> None:
        self.name, self.executor = name, executor
        self.title = f"{name}@{where}" if where else name
        """What tells it from others, for a person."""
        self.look = ClusterLook()
        """Written by whoever asks the cluster, read by all."""
        self._path = folder / _NODES
        self._lock = threading.Lock()
        told = self._load()
        self._nodes, self._closed = frozenset(told["nodes"]), frozenset(told["closed"])

    def is_closed_there(self, node: str) -> bool:
        """Whether ours was closed only because the cluster had closed it."""
        return node in self._closed

    def note_closed(self, node: str, *, is_closed: bool) -> None:
        """Keep whether ours is closed because the cluster closed it."""
        with self._lock:
            one = frozenset((node,))
            self._save(self._nodes, self._closed | one if is_closed else self._closed - one)

    def has(self, node: str) -> bool:
        """Whether a node is or was one of this cluster's."""
        return node in self._nodes

    def add(self, nodes: Iterable[str]) -> None:
        """Keep that these are its own."""
        with self._lock:
            self._save(self._nodes.union(nodes), self._closed)

    def _save(self, nodes: frozenset[str], closed: frozenset[str]) -> None:
        if (nodes, closed) == (self._nodes, self._closed):
            return
        body = {"format": 1, "nodes": sorted(nodes), "closed": sorted(closed)}
        try:
            save(self._path, json.dumps(body))
        except OSError as error:
            raise Unavailable("the cluster's folder", error.strerror) from error
        self._nodes, self._closed = nodes, closed

    def _load(self) -> dict[str, list[str]]:
        text = load_whole(self._path)
        try:
            body = {"nodes": []} if text is None else json.loads(text)
            found = {"nodes": body["nodes"], "closed": body.get("closed", [])}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise Damaged("the nodes of a cluster", self._path, type(error).__name__) from None
        for names in found.values():
            if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
                raise Damaged("the nodes of a cluster", self._path, "are no names")
        return found
