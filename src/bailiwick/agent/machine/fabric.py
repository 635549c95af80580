"""Which GPUs of a machine are joined by NVLink, and how that fabric is called.

Rules:

- Two GPUs are joined if a live link leads from one to the other, or if both have live links to the
  same switch. Being joined passes on.
- GPUs that a fabric manager has put into one clique of one cluster bear the name of that clique,
  which is the same on every machine of the cluster. It also holds for a GPU that is alone here.
- Any other group is named after its members' UUIDs: the same after a restart, and on no other
  machine. A GPU that is joined to none has no fabric.

>>> name_fabrics([Joint("GPU-a", "0000:1b:00.0", links=("0000:1c:00.0",)),
...               Joint("GPU-b", "0000:1c:00.0"), Joint("GPU-c", "0000:1d:00.0")])
{'GPU-a': 'nvlink-57aea359d399', 'GPU-b': 'nvlink-57aea359d399', 'GPU-c': ''}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Joint:
    """One GPU and what its live links lead to: other GPUs, switches, a clique of a cluster."""

    uuid: str
    bus_id: str
    links: tuple[str, ...] = ()
    clique: str = ""


def name_fabrics(joints: Sequence[Joint]) -> dict[str, str]:
    """The name of each GPU's fabric by the GPU's UUID; empty where it hangs on none."""
    root = {joint.bus_id: joint.bus_id for joint in joints}
    for joint in joints:
        for end in joint.links:
            _join(root, joint.bus_id, end)
    groups: dict[str, list[Joint]] = {}
    for joint in joints:
        groups.setdefault(_find(root, joint.bus_id), []).append(joint)
    return {joint.uuid: _name(joint, groups[_find(root, joint.bus_id)]) for joint in joints}


def _name(joint: Joint, group: Sequence[Joint]) -> str:
    if joint.clique:
        return f"nvlink-{_digest(joint.clique)}"
    if len(group) == 1:
        return ""
    return f"nvlink-{_digest(' '.join(sorted(member.uuid for member in group)))}"


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:_DIGITS]


def _find(root: dict[str, str], one: str) -> str:
    root.setdefault(one, one)
    while root[one] != one:  # bounded: each step goes to another member, and there is no way back
        root[one] = root[root[one]]
        one = root[one]
    return one


def _join(root: dict[str, str], one: str, other: str) -> None:
    root[_find(root, one)] = _find(root, other)
