"""This very machine as a node of the fleet: registered from its real inventory at every start.

Rules:

- The name is the machine's own. A node that is known with the same devices, cores and memory stays
  as it is, with its mode, its fences and its leases.
- A machine that has changed takes part as it is now if nothing is held on it; while something is,
  it stays as it was and that is said.
- Free disk space changes by the hour, so it is no reason to call a machine another.
"""

from __future__ import annotations

import dataclasses
import re
import socket
from pathlib import Path

from bailiwick.agent.inventory import judge, read_machine
from bailiwick.agent.report import capacity_of
from bailiwick.executors import can_run_locally
from bailiwick.fleet.node import NodeCapacity
from bailiwick.kernel import DepartNode, Envelope, RegisterNode
from bailiwick.runtime.replica import View
from bailiwick.runtime.runner import Runner
from bailiwick.server.first_start import ACTOR

CORRELATION = "this-node"


def can_be_node() -> bool:
    """Whether this machine can run jobs at all."""
    return can_run_locally()


def machine_name() -> str:
    """The machine's own name, as a node may be called."""
    name = re.sub(r"[^A-Za-z0-9.-]", "-", socket.gethostname().partition(".")[0])[:40]
    return name.strip("-.") or "node"


def read_capacity(folder: Path, labels: dict[str, str]) -> NodeCapacity:
    """What this machine has; block storage is what is free under the folder."""
    found = capacity_of(judge(read_machine(folder)))
    return dataclasses.replace(found, labels={**found.labels, **labels})


def join_fleet(runner: Runner, name: str, *, capacity: NodeCapacity) -> str:
    """Have the machine be a node; what was done, in words."""

    def known(view: View) -> tuple[NodeCapacity | None, int]:
        state = view.state
        if name not in state.ledger:
            return None, 0
        return state.ledger.entry(name).capacity, len(state.leases_on(name))

    before, leases = runner.read(known)
    shown = _told(capacity)
    if before is not None and _same(before, capacity):
        return f"this machine is node {name} as before: {shown}"
    if before is not None and leases:
        return (
            f"node {name} has changed ({_told(before)} -> {shown}), but {leases} leases are held "
            "on it: it stays as it was until a start without any"
        )
    if before is not None:
        runner.execute(Envelope(DepartNode(name), ACTOR, CORRELATION))
    runner.execute(Envelope(RegisterNode(name, capacity), ACTOR, CORRELATION))
    return f"this machine is node {name}: {shown}"


def _same(one: NodeCapacity, other: NodeCapacity) -> bool:
    return dataclasses.replace(one, block_bytes=0) == dataclasses.replace(other, block_bytes=0)


def _told(capacity: NodeCapacity) -> str:
    models = [gpu.model or gpu.generation.value for gpu in capacity.gpus]
    gpus = f"{len(models)} x {models[0]}" if models else "no GPU"
    return f"{capacity.cpu_milli / 1000:g} cores, {capacity.mem_bytes / 2**30:.1f} GiB, {gpus}"
