"""This very machine as a node: registered from its real inventory, heard, and running its jobs.

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
import threading
from pathlib import Path

from bailiwick.agent.machine.inventory import judge, read_machine
from bailiwick.agent.report import capacity_of
from bailiwick.executors.registry import DEFAULT, ExecutorKind
from bailiwick.fleet.inventory import is_same_machine
from bailiwick.fleet.node import (
    EXECUTOR_LABEL,
    HEARTBEAT_LABEL,
    HOST_MEMBERS_LABEL,
    JOB_MODE_LABEL,
    YES,
    NodeCapacity,
)
from bailiwick.kernel import DepartNode, Envelope, RegisterNode
from bailiwick.reconcile.jobs import JobLoop
from bailiwick.runtime.replica import View
from bailiwick.runtime.runner import Runner
from bailiwick.services.beats import Beats

ACTOR, CORRELATION = "bailiwick-up", "this-node"


def can_be_node() -> bool:
    """Whether this machine can run jobs at all."""
    return DEFAULT.is_available()


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
    is_same = before is not None and is_same_machine(before, capacity)
    if before is not None and is_same and before.labels == capacity.labels:
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


def _told(capacity: NodeCapacity) -> str:
    models = [gpu.model or gpu.generation.value for gpu in capacity.gpus]
    gpus = f"{len(models)} x {models[0]}" if models else "no GPU"
    return f"{capacity.cpu_milli / 1000:g} cores, {capacity.mem_bytes / 2**30:.1f} GiB, {gpus}"


class ThisNode:
    """The duty of a machine that is a node: to take part, to be heard, and to run its jobs."""

    name = "this-node"

    def __init__(
        self,
        loop: JobLoop,
        beats: Beats,
        *,
        executor: ExecutorKind,
        folder: Path,
        node: str,
        job_mode: str | None = None,
        host_members: bool = False,
    ) -> None:
        self._node = node
        self._loop, self._beats, self._folder = loop, beats, folder
        self._labels = {EXECUTOR_LABEL: executor.name, HEARTBEAT_LABEL: "server"}
        if job_mode is not None:
            self._labels[JOB_MODE_LABEL] = job_mode
        if host_members:
            self._labels[HOST_MEMBERS_LABEL] = YES

    def run(self, stop: threading.Event) -> None:
        """Join the fleet, then run jobs until told to stop."""
        loop, tools = self._loop, self._loop.tools
        capacity = read_capacity(self._folder, self._labels)
        tools.say(join_fleet(tools.runner, self._node, capacity=capacity))
        silent = threading.Event()  # of this run: the next has a heart of its own
        beating = threading.Thread(target=self._beat, args=(silent,), name="beat", daemon=True)
        beating.start()
        try:
            loop.run(stop)
        finally:
            silent.set()
            beating.join()

    def _beat(self, silent: threading.Event) -> None:
        every_s = self._beats.rule.beat_ms / 1000
        while True:  # until the run is over
            self._beats.beat(self._node)
            if silent.wait(every_s):
                return
