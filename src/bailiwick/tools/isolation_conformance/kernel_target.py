"""Our own kernel as a scheduler on trial, in this process and without a journal on disk.

Rules:

- Nodes are made from sites, with a label :data:`NODE_LABEL` that holds each one's name: by it users
  may ask for a node.
- A node that is lost departs, as one does that is silent for too long; it is registered again.
- Every step is a millisecond; between steps the kernel is told the time, so that who waits is
  considered again.
- Placements are told as the kernel's own slice tells them, for it is the decision that is on trial.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from bailiwick.clusters.conformance import StepNotPossible, SubmissionRefused
from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.isolation.conformance import TrialNode
from bailiwick.isolation.placements import Placement
from bailiwick.isolation.policy import Subject
from bailiwick.journal.fields import INTEGER_MAX
from bailiwick.kernel import (
    Cancel,
    ChangeSettings,
    Command,
    DepartNode,
    Envelope,
    Kernel,
    RegisterNode,
    Release,
    SetIsolationPolicy,
    Settings,
    State,
    Submit,
    Tick,
)
from bailiwick.kernel.answers import Answer, Granted, Queued
from bailiwick.kernel.isolation.placements import placements
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import BailiwickError
from bailiwick.vocab.words import HardwareGeneration

NODE_LABEL = "node"
JOB_LABEL = "conformance.job"
_MEM_BYTES = 2**20
_WIDE = Settings(
    tenant_cpu_milli=INTEGER_MAX, tenant_gpu_count=INTEGER_MAX, tenant_lease_count=INTEGER_MAX
)
"""No quota is on trial, so none is in the way."""


class KernelTarget:
    """A kernel under a policy, or under none."""

    def __init__(self, nodes: Sequence[TrialNode], *, policy: str | None, now_ms: int) -> None:
        self._nodes, self._policy = tuple(nodes), policy
        self._now_ms = now_ms
        self._entries: dict[str, int] = {}
        self._kernel = Kernel(State(), simulated=True)
        self.reset()

    def now_ms(self) -> int:
        """The kernel's time."""
        return self._now_ms

    def nodes(self) -> Sequence[TrialNode]:
        """All nodes."""
        return self._nodes

    def submit(
        self, job: str, subject: Subject, *, cores: int, gpus: int, node: str | None
    ) -> None:
        """Submit work that may wait."""
        request = PlacementRequest(
            tenant=subject.tenant,  # type: ignore[arg-type]
            project=subject.project,  # type: ignore[arg-type]
            cpu_cores=cores,
            gpu_count=gpus,
            labels={} if node is None else {NODE_LABEL: node},
            job_labels={**subject.labels, JOB_LABEL: job},
        )
        try:
            answer = self._do(Submit(request))
        except BailiwickError as error:
            raise SubmissionRefused(str(error)) from None
        match answer:
            case Granted():
                pass
            case Queued(entry_id=entry_id):
                self._entries[job] = entry_id
            case _:
                raise SubmissionRefused(type(answer).__name__)

    def cancel(self, job: str) -> None:
        """Release what runs, withdraw what waits."""
        state = self._kernel.state
        for lease_id in [*state.leases]:
            if state.job_labels.get(lease_id, {}).get(JOB_LABEL) == job:
                self._do(Release(lease_id))
                return
        if job in self._entries:
            with suppress(BailiwickError):  # it was placed, and is gone with its node
                self._do(Cancel(self._entries.pop(job)))

    def lose(self, node: str) -> None:
        """The node departs."""
        if node not in self._kernel.state.ledger:
            raise StepNotPossible(f"{node} is down already")
        self._do(DepartNode(node))

    def regain(self, node: str) -> None:
        """The node is registered again."""
        if node in self._kernel.state.ledger:
            raise StepNotPossible(f"{node} is up already")
        there = next(each for each in self._nodes if each.site.node == node)
        self._do(RegisterNode(node, _capacity(there)))

    def settle(self, *, is_last: bool) -> Iterator[tuple[Placement, ...]]:
        """What runs now, and once who waits was considered again."""
        del is_last
        yield self._placements()
        self._do(Tick(1_000))
        yield self._placements()

    def reset(self) -> None:
        """A kernel of which nobody has asked anything."""
        self._kernel, self._entries = Kernel(State(), simulated=True), {}
        self._do(ChangeSettings(_WIDE))
        for node in self._nodes:
            self._do(RegisterNode(node.site.node, _capacity(node)))
        if self._policy is not None:
            self._do(SetIsolationPolicy(self._policy))

    def _do(self, command: Command) -> Answer:
        self._now_ms += 1
        return self._kernel.execute(Envelope(command), self._now_ms).answer

    def _placements(self) -> tuple[Placement, ...]:
        state, found = self._kernel.state, []
        for each in placements(state):
            labels = dict(each.subject.labels)
            job = labels.pop(JOB_LABEL)
            found.append(replace(each, id=job, subject=replace(each.subject, labels=labels)))
        return tuple(found)


def _capacity(node: TrialNode) -> NodeCapacity:
    site = node.site
    generation = HardwareGeneration.NVIDIA_HOPPER
    return NodeCapacity(
        node.cores,
        _MEM_BYTES,
        gpus=tuple(GpuDevice(generation, fabric=fabric) for fabric in site.fabrics),
        labels={**site.labels, NODE_LABEL: site.node},
        topology=site.topology,
    )
