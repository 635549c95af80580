"""What is wrong with a cluster, from what its members say of their condition: the cause first.

The words are those of the runbook (``docs/runbooks/slurm.md``), which has a section for each.

>>> [each.fault.value for each in find_faults({"worker-0": "it cannot be asked"})]
['member_away']
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from bailiwick.operators.slurm.wanted import CONTROLLER

FREE_BYTES_LEAST: Final = 64 * 2**20
"""With less, the daemons cannot keep their state for long."""


class ClusterFault(StrEnum):
    """What can be wrong; what is earlier here causes what is later, not the other way round."""

    MEMBER_AWAY = "member_away"
    DISK_FULL = "disk_full"
    MUNGE_KEY_DIFFERS = "munge_key_differs"
    MUNGE_DOWN = "munge_down"
    DATABASE_DOWN = "database_down"
    ACCOUNTING_DOWN = "accounting_down"
    CONTROLLER_DEAD = "controller_dead"
    WORKER_DOWN = "worker_down"
    NODE_SILENT = "node_silent"


_OF_DAEMON: Final[Mapping[str, ClusterFault]] = {
    "munged": ClusterFault.MUNGE_DOWN,
    "mariadbd": ClusterFault.DATABASE_DOWN,
    "slurmdbd": ClusterFault.ACCOUNTING_DOWN,
    "slurmctld": ClusterFault.CONTROLLER_DEAD,
    "slurmd": ClusterFault.WORKER_DOWN,
}


@dataclass(frozen=True, slots=True)
class FoundFault:
    """One thing that is wrong, and with whom."""

    fault: ClusterFault
    member: str
    why: str


def find_faults(told: Mapping[str, Mapping[str, Any] | str]) -> list[FoundFault]:
    """What is wrong; of a member that could not be asked, ``told`` has why."""
    answers = {key: each for key, each in told.items() if not isinstance(each, str)}
    found = [
        FoundFault(ClusterFault.MEMBER_AWAY, k, e) for k, e in told.items() if isinstance(e, str)
    ]
    key = answers.get(CONTROLLER, {}).get("key", "")
    for member, answer in answers.items():
        found += _of_member(member, answer)
        if key and answer["key"] != key:
            why = f"its key is {answer['key']}, the controller's is {key}"
            found.append(FoundFault(ClusterFault.MUNGE_KEY_DIFFERS, member, why))
    rank = list(ClusterFault)
    return sorted(found, key=lambda each: (rank.index(each.fault), each.member))


def _of_member(member: str, answer: Mapping[str, Any]) -> Iterator[FoundFault]:
    if answer["free_bytes"] < FREE_BYTES_LEAST:
        yield FoundFault(
            ClusterFault.DISK_FULL, member, f"{answer['free_bytes'] >> 20} MiB are free"
        )
    for daemon, state in answer["daemons"].items():
        if not state["is_up"]:
            told = state["told"] or "it is not up yet"
            yield FoundFault(_OF_DAEMON[daemon], member, f"{daemon}: {told}")
    for node in answer["silent"]:
        yield FoundFault(ClusterFault.NODE_SILENT, node, "it does not answer the controller")
