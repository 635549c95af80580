"""The machines of a cluster as ``sinfo`` tells them: what they have, and whether they take work.

Rules:

- A core of ours is a whole core there, however many threads it has: what we count one by one the
  cluster hands out one by one.
- A node that is down, or of which the controller does not know how it is, is not listed. One that
  is late with an answer is: when it is down, the cluster says so. One that is drained, reserved or
  about to restart is listed as closed.
- A drain whose reason begins with our own word is ours, and only that one is ever lifted by us.
- The reason is the last field, and of it only its beginning is looked at.

>>> node = parse_nodes("h1|64|2|64000|mixed|gpu:hopper:4(S:0-1)|none")["h1"]
>>> node.cores, node.gpus, node.gate
(32, ('hopper', 'hopper', 'hopper', 'hopper'), <NodeGate.OPEN: 'open'>)
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bailiwick.executors.clusters import ClusterNode, NodeGate
from bailiwick.fleet.node import DEVICES_MAX, GpuDevice, NodeCapacity
from bailiwick.vocab.errors import Unavailable

FORMAT: Final = "nodelist:|,cpus:|,threads:|,memory:|,statecomplete:|,gres:|,reason:"
OUR_REASON: Final = "bailiwick"

_ROW = re.compile(r"([\w.-]{1,255})\|(\d{1,9})\|(\d{1,4})\|(\d{1,12})\|([a-z_+*~#!%$@^-]+)\|(.*)")
_GRES = re.compile(r"\bgpu:(?:([A-Za-z][\w.-]*):)?(\d{1,6})")
_MARKS: Final = "*~#!%$@^-"
_NOT_THERE: Final = frozenset({"down", "error", "future", "unknown", "inval"})
_CLOSED: Final = frozenset(
    {
        *("drain", "draining", "drained", "fail", "failing", "maint", "reserved"),
        *("reboot", "reboot_issued", "reboot_requested", "blocked"),
    }
)


@dataclass(frozen=True, slots=True)
class SlurmMachine:
    """One machine of the cluster that is there."""

    name: str
    cores: int
    threads: int
    mem_bytes: int
    gpus: tuple[str, ...]
    """The type of each device in the order of the machine's list; empty where it has no type."""
    gate: NodeGate

    def told(self) -> ClusterNode:
        """The same as a node of the fleet; devices past what a node may have stay out."""
        devices = [GpuDevice.named(kind) for kind in self.gpus[:DEVICES_MAX]]
        return ClusterNode(NodeCapacity(self.cores, self.mem_bytes, gpus=devices), self.gate)

    def gres_of(self, indices: tuple[int, ...]) -> Mapping[str, int]:
        """How many devices of each type those of a lease are."""
        return Counter(self.gpus[index] if index < len(self.gpus) else "" for index in indices)


def parse_nodes(text: str) -> dict[str, SlurmMachine]:
    """The nodes that are there; a node of several partitions is told several times."""
    found = {}
    for line in text.splitlines():
        row = _ROW.fullmatch(line.strip())
        if row is None:
            raise Unavailable("the cluster", f"its list of nodes is none: {line[:80]}")
        name, cpus, threads, mem_mb, state, rest = row.groups()
        gres, _, reason = rest.partition("|")
        words = {word.rstrip(_MARKS) for word in state.split("+")}
        if not words.isdisjoint(_NOT_THERE):
            continue
        each = max(1, int(threads))
        kinds = tuple(kind for kind, n in _GRES.findall(gres) for _ in range(int(n)))
        gate = NodeGate.OPEN
        if not words.isdisjoint(_CLOSED):
            gate = NodeGate.CLOSED_BY_US if reason.startswith(OUR_REASON) else NodeGate.CLOSED
        cores, mem_bytes = int(cpus) // each, int(mem_mb) * 2**20
        found[name] = SlurmMachine(name, cores, each, mem_bytes, kinds, gate)
    return found
