"""Which executors there are, by name.

Rules:

- An executor is one row here and one module or folder beside this one, with its two functions.
  Whoever runs jobs, places them or explains them asks here; nobody else knows a name.
- Its name is the value of the label ``executor`` of the nodes on which it runs jobs.
- What does not say by whom it is to be run is run by any of those that run jobs on the machine
  itself (``OWN``): a server's own, or one whose agent runs them. The first row is the server's.

>>> [kind.label for kind in EXECUTORS]
['executor=local', 'executor=node', 'executor=ray', 'executor=slurm']
>>> find_executor("local") is DEFAULT
True
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bailiwick.executors import local, node, ray, slurm
from bailiwick.executors.abilities import EVERYTHING, Abilities
from bailiwick.executors.clusters import ClusterExecutor
from bailiwick.executors.port import Executor
from bailiwick.fleet.node import (
    EXECUTOR_LABEL,
    LOCAL_EXECUTOR,
    NAME_LABEL,
    NODE_EXECUTOR,
    RUNS_ITSELF_LABEL,
    RUNS_JOBS_LABEL,
    YES,
)
from bailiwick.vocab.errors import InvalidValue


@dataclass(frozen=True, slots=True)
class ExecutorKind:
    """One executor, before it is opened."""

    name: str
    is_available: Callable[[], bool]
    """Whether it works on this machine."""
    open: Callable[[Path], Executor]
    """The executor itself; it keeps all it must remember in that folder."""
    open_cluster: Callable[[Path, str], ClusterExecutor] | None = None
    """The same, of one whose machines are nodes of ours through it; and where that is, if not
    where this machine finds it by itself."""
    needs: str = ""
    """What it needs to be available, for a person."""
    can: Abilities = EVERYTHING

    @property
    def label(self) -> str:
        """What a node is labelled with on which it runs jobs."""
        return f"{EXECUTOR_LABEL}={self.name}"


EXECUTORS: Final = (
    ExecutorKind(LOCAL_EXECUTOR, local.is_available, local.open_executor),
    ExecutorKind(NODE_EXECUTOR, node.is_available, node.open_executor),
    ExecutorKind("ray", ray.is_available, ray.open_executor, ray.open_executor, ray.NEEDS, ray.CAN),
    ExecutorKind(
        "slurm",
        slurm.is_available,
        slurm.open_executor,
        slurm.open_executor,
        slurm.NEEDS,
        slurm.CAN,
    ),
)

DEFAULT: Final = EXECUTORS[0]

OWN: Final = (LOCAL_EXECUTOR, NODE_EXECUTOR)
"""The executors that run jobs on the machine itself: what a job gets that names none."""


def labels_for(on: str | None, labels: Mapping[str, str]) -> dict[str, str]:
    """The labels of a node on which a job can run: as it asks, and ``on`` what it names.

    A word that is no executor's is a node's name; whether there is such a node is not known here.

    >>> labels_for(None, {"zone": "a"})
    {'zone': 'a', 'runs-jobs-itself': 'yes'}
    >>> labels_for("n1", {})
    {'runs-jobs': 'yes', 'node-name': 'n1'}
    """
    executor = labels.get(EXECUTOR_LABEL)
    if executor is not None:
        find_executor(executor)
    if on is None:
        if executor is not None:
            return dict(labels)
        is_named = NAME_LABEL in labels
        return {**labels, RUNS_JOBS_LABEL if is_named else RUNS_ITSELF_LABEL: YES}
    is_executor = on in (kind.name for kind in EXECUTORS)
    key = EXECUTOR_LABEL if is_executor else NAME_LABEL
    if labels.get(key, on) != on:
        raise InvalidValue("on", on, f"{labels[key]}, or no label {key} beside it")
    return (
        {**labels, EXECUTOR_LABEL: on}
        if is_executor
        else {
            **labels,
            RUNS_JOBS_LABEL: YES,
            NAME_LABEL: on,
        }
    )


def find_cluster(name: str) -> ExecutorKind:
    """The executor of this name, which runs jobs on a cluster."""
    clusters = [kind for kind in EXECUTORS if kind.open_cluster is not None]
    for kind in clusters:
        if kind.name == name:
            return kind
    known = ", ".join(kind.name for kind in clusters)
    raise InvalidValue("--jobs-on", name, f"a cluster: {known}")


def find_executor(name: str) -> ExecutorKind:
    """The executor of this name."""
    for kind in EXECUTORS:
        if kind.name == name:
            return kind
    known = ", ".join(kind.name for kind in EXECUTORS)
    raise InvalidValue("labels", f"{EXECUTOR_LABEL}={name}", f"no {EXECUTOR_LABEL} but {known}")
