"""What the loop that runs jobs sees of the kernel's state: leases, who waits, and how far it goes.

Rules:

- Of this node all leases are looked at. Of the others those of jobs that live or have just ended,
  and those on their way out: what a round costs follows the jobs and not the fleet. All of them are
  looked at once, when the loop begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bailiwick.fleet.node import EXECUTOR_LABEL
from bailiwick.kernel.state import State
from bailiwick.ports import JobRow
from bailiwick.reconcile.job_actions import JobTools
from bailiwick.reconcile.job_steps import ObservedLease
from bailiwick.runtime.replica import View


@dataclass(frozen=True, slots=True)
class SeenLeases:
    """What the kernel's state says: the leases, who waits, and how far that goes."""

    leases: dict[int, ObservedLease]
    in_line: frozenset[int]
    size: int
    keys_ms: int
    elsewhere: frozenset[str] = frozenset()
    """Nodes whose jobs another server runs."""


class JobSight:
    """Looks, and remembers the leases of other nodes that it saw the last time."""

    def __init__(self, tools: JobTools) -> None:
        self._tools, self._node = tools, tools.jobs.node
        self._known: set[int] | None = None

    def begin_anew(self) -> None:
        """Another may have run jobs since the last time."""
        self._known = None

    def look(self, entries: Iterable[int], leases: dict[int, str]) -> SeenLeases:
        """What there is of these entries of the queue, and of these leases and more."""
        asked = frozenset(entries)
        known = {*leases, *(self._known or ())}
        others = set(leases.values()) - {self._node}

        def read(view: View) -> SeenLeases:
            state, found = view.state, dict[int, ObservedLease]()
            for lease_id in self._leases_in(state, known):
                handle = state.handle(lease_id)
                told = state.ledger.told(handle)
                found[lease_id] = ObservedLease(
                    lease_id=lease_id,
                    node=str(state.node_of(lease_id)),
                    state=told.state,
                    expires_ms=told.expires_ms,
                    reason=state.ledger.revoking.get(handle),
                    is_released=state.is_released(lease_id),
                    devices=told.devices,
                    mem_bytes=told.resources.mem_bytes,
                    cpu_milli=told.resources.cpu_milli,
                )
            in_line = frozenset(asked & state.line.entries.keys())
            far = frozenset(node for node in others if self._is_elsewhere(state, node))
            return SeenLeases(found, in_line, state.size, state.settings.keys_ms, far)

        seen = self._tools.runner.read(read)
        self._known = {i for i, lease in seen.leases.items() if lease.node != self._node}
        return seen

    def node_of(self, job: JobRow | None, lease: ObservedLease | None) -> str:
        """Where a lease is or was; what nobody else speaks for was found on this machine."""
        if lease is not None:
            return lease.node
        return (self._node or "") if job is None or job.node is None else job.node

    def places_of(
        self, keys: Iterable[int], jobs: Mapping[int | None, JobRow], *, seen: SeenLeases
    ) -> dict[int, str]:
        """Of which leases it matters what became of their jobs, and where they are."""
        found = dict[int, str]()
        for lease_id in keys:
            job, lease = jobs.get(lease_id), seen.leases.get(lease_id)
            is_left = job is None or job.phase.is_over
            if lease is None or not is_left:  # else only the lease is left
                found[lease_id] = self.node_of(job, lease)
        return found

    def _is_elsewhere(self, state: State, node: str) -> bool:
        """Whether another server runs the jobs of a node; one that departed has nobody else."""
        if self._tools.remote is None:
            return True
        return node in state.ledger and not self._is_run_from_here(state, node)

    def _is_run_from_here(self, state: State, node: str) -> bool:
        """Whether another node's jobs are run from here: by its own agent, or by its cluster."""
        label = state.ledger.entry(node).capacity.labels.get(EXECUTOR_LABEL)
        return label in self._tools.elsewhere

    def _leases_in(self, state: State, known: Iterable[int]) -> Iterable[int]:
        """The leases to be looked at: see the module's rules."""
        node = self._node
        own = [] if node is None or node not in state.ledger else state.leases_on(node)
        if self._tools.remote is None:
            return own
        others = state.leases if self._known is None else {*known, *state.leaving}
        found = [
            i
            for i in others
            if i in state.leases and self._is_run_from_here(state, str(state.node_of(i)))
        ]
        return {*own, *found}
