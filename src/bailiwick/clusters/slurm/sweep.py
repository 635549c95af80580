"""Puts judged runs on the nodes' devices in the order of time, and tells it as metering events.

Rules:

- The database tells how many GPUs of which type a run held and on which nodes, not which devices.
  So they are given out here as the runs begin and taken back as they end: the first free ones. If
  at any instant there are fewer free than a run holds, the books are wrong, and the finding names
  the run and those that it overlaps with. It is not counted, and nothing is averaged.
- In one second, what ends comes before what begins.
- Over several nodes a run is spread evenly if that fits, else over what is free: which GPUs of one
  type they were changes no sum.
- GPUs without a type are those of its nodes, if these are all of one generation.
- A node is there from the cluster's first registration on; while it is down or drained, what no
  run holds of it is unavailable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from bailiwick.clusters.slurm.judging import JobRun
from bailiwick.clusters.slurm.naming import Naming
from bailiwick.clusters.slurm.rows import Outage, SlurmBooks
from bailiwick.metering.events import (
    LeaseEnded,
    LeaseStarted,
    MeterEvent,
    NodeAppeared,
    NodeBack,
    NodeUnavailable,
)
from bailiwick.metering.owners import UnavailableCause
from bailiwick.metering.report import Finding, ReportFindingWord
from bailiwick.vocab.words import EndCause, HardwareGeneration

# In one second: runs end, nodes close and open, runs begin.
_ENDS, _MODES, _BEGINS = range(3)

_END_CAUSES: Final = {
    "PREEMPTED": EndCause.PREEMPTED,
    "REQUEUED": EndCause.PREEMPTED,
    "TIMEOUT": EndCause.EXPIRED,
    "DEADLINE": EndCause.EXPIRED,
    "NODE_FAIL": EndCause.NODE_DEPARTED,
}

Timed = tuple[int, MeterEvent]


@dataclass(slots=True)
class _Device:
    node: str
    index: int
    kind: str
    generation: HardwareGeneration
    held_by: JobRun | None = None


@dataclass(slots=True)
class Sweep:
    """The devices, who holds them, and what was found on the way."""

    books: SlurmBooks
    naming: Naming
    findings: list[Finding] = field(default_factory=list)
    _nodes: dict[str, list[_Device]] = field(default_factory=dict)
    _held: dict[str, list[_Device]] = field(default_factory=dict)

    def events(self, runs: Sequence[JobRun]) -> Iterator[Timed]:
        """Everything that happened, by time; to be asked for once."""
        first_ms = self._first_ms()
        for name, row in sorted(self.books.nodes.items()):
            kinds = [kind for kind, count in row.gpus for _ in range(count)]
            devices = [
                _Device(name, index, kind, self.naming.generation(kind))
                for index, kind in enumerate(kinds)
            ]
            self._nodes[name] = devices
            yield first_ms, NodeAppeared(name, tuple(each.generation for each in devices))
        marks: list[tuple[int, int, int, JobRun | MeterEvent]] = []
        for number, run in enumerate(runs):
            marks.append((run.to_ms, _ENDS, number, run))
            marks.append((run.from_ms, _BEGINS, number, run))
        for number, (at_ms, event) in enumerate(self._modes(first_ms)):
            marks.append((at_ms, _MODES, number, event))
        for at_ms, step, _, what in sorted(marks, key=lambda mark: mark[:3]):
            if not isinstance(what, JobRun):
                yield at_ms, what
            elif step == _ENDS:
                yield from self._end(what)
            else:
                yield from self._begin(what)

    def _first_ms(self) -> int:
        begun = [each.from_ms for each in self.books.registered]
        return max(self.books.from_ms, min(begun, default=self.books.from_ms))

    # -- runs --------------------------------------------------------------------------------

    def _begin(self, run: JobRun) -> Iterator[Timed]:
        unknown = [node for node in run.job.nodes if node not in self._nodes]
        if unknown or not run.job.nodes:
            node = unknown[0] if unknown else None
            self._find(ReportFindingWord.UNKNOWN_NODE, run, node=node)
            return
        taken: list[_Device] = []
        for kind, count in run.job.gpus.items():
            devices = self._choose(run, kind, count)
            if devices is None:
                for device in taken:
                    device.held_by = None
                return
            for device in devices:
                device.held_by = run
            taken += devices
        self._held[run.label] = taken
        for node in run.job.nodes:
            indices = tuple(sorted(each.index for each in taken if each.node == node))
            if indices:
                yield run.from_ms, self._started(run, node, indices)

    def _started(self, run: JobRun, node: str, devices: tuple[int, ...]) -> LeaseStarted:
        job, naming = run.job, self.naming
        return LeaseStarted(
            lease=_lease(run, node),
            node=node,
            tenant=naming.tenant(job),
            project=naming.project(job),
            tag=naming.tag(job),
            lease_class=naming.lease_class(job),
            devices=devices,
        )

    def _end(self, run: JobRun) -> Iterator[Timed]:
        devices = self._held.pop(run.label, [])
        for device in devices:
            device.held_by = None
        cause = _END_CAUSES.get(run.job.state, EndCause.RELEASED)
        for node in sorted({each.node for each in devices}):
            yield run.to_ms, LeaseEnded(_lease(run, node), cause)

    def _choose(self, run: JobRun, kind: str, count: int) -> list[_Device] | None:
        """So many free devices of this type on the run's nodes; what stands in the way is told."""
        fitting = [
            each for node in run.job.nodes for each in self._nodes[node] if kind in ("", each.kind)
        ]
        if not kind and len({each.generation for each in fitting}) > 1:
            self._find(ReportFindingWord.GENERATION_UNKNOWN, run, wanted=count)
            return None
        free = [each for each in fitting if each.held_by is None]
        if len(free) < count:
            word = (
                ReportFindingWord.OVERLAP
                if len(fitting) >= count
                else ReportFindingWord.CAPACITY_DIFFERS
            )
            holders = {each.held_by.label: None for each in fitting if each.held_by is not None}
            overlap = replace(
                self._finding(word, run, wanted=count, found=len(free)), others=tuple(holders)
            )
            self.findings.append(overlap)
            return None
        return self._spread(run, free, count)

    def _spread(self, run: JobRun, free: list[_Device], count: int) -> list[_Device]:
        by_node: dict[str, list[_Device]] = {}
        for device in free:
            by_node.setdefault(device.node, []).append(device)
        each, rest = divmod(count, len(run.job.nodes))
        if not rest and all(len(by_node.get(node, ())) >= each for node in run.job.nodes):
            return [device for node in run.job.nodes for device in by_node[node][:each]]
        return free[:count]

    # -- nodes -------------------------------------------------------------------------------

    def _modes(self, first_ms: int) -> Iterator[Timed]:
        """When each node closed, for which cause, and when it was back."""
        by_node: dict[str, list[Outage]] = {}
        for outage in self.books.outages:
            if outage.node in self.books.nodes:
                by_node.setdefault(outage.node, []).append(outage)
        for node, outages in by_node.items():
            edges = {first_ms}
            for each in outages:
                edges |= {each.from_ms, self.books.to_ms if each.to_ms is None else each.to_ms}
            before: UnavailableCause | None = None
            for at_ms in sorted(edge for edge in edges if first_ms <= edge < self.books.to_ms):
                cause = _cause_at(outages, at_ms)
                if cause is not before and cause is not None:
                    yield at_ms, NodeBack(node)
                    yield at_ms, NodeUnavailable(node, cause)
                elif cause is not before:
                    yield at_ms, NodeBack(node)
                before = cause

    # -- findings ----------------------------------------------------------------------------

    def check_capacity(self) -> None:
        """Name the times for which the database was told of another number of GPUs."""
        there = sum(row.gpu_count for row in self.books.nodes.values())
        for each in self.books.registered:
            until_ms = self.books.to_ms if each.to_ms is None else each.to_ms
            from_ms = max(each.from_ms, self.books.from_ms)
            by_ms = min(until_ms, self.books.to_ms) - from_ms
            if each.gpus != there and by_ms > 0:
                finding = Finding(
                    ReportFindingWord.CAPACITY_DIFFERS,
                    self.books.cluster,
                    at_ms=from_ms,
                    by_ms=by_ms,
                    wanted=each.gpus,
                    found=there,
                )
                self.findings.append(finding)

    def check_devices(self) -> None:
        """Name the running jobs to which the controller gave the same device."""
        holders: dict[tuple[str, int], int] = {}
        given = (
            (active, node, index)
            for _, active in sorted(self.books.active.items())
            for node, devices in active.devices.items()
            for _, index in devices
        )
        for active, node, index in given:
            first = holders.setdefault((node, index), active.raw_id)
            if first == active.raw_id:
                continue
            finding = Finding(
                ReportFindingWord.OVERLAP,
                str(active.raw_id),
                at_ms=active.start_ms,
                node=node,
                others=(str(first),),
                why=f"the controller gave both of them device {index}",
            )
            self.findings.append(finding)

    def _find(
        self, word: ReportFindingWord, run: JobRun, *, node: str | None = None, wanted: int = 0
    ) -> None:
        self.findings.append(replace(self._finding(word, run, wanted=wanted), node=node))

    def _finding(
        self, word: ReportFindingWord, run: JobRun, *, wanted: int = 0, found: int = 0
    ) -> Finding:
        job = run.job
        return Finding(
            word,
            run.label,
            at_ms=run.from_ms,
            by_ms=run.to_ms - run.from_ms,
            gpus=job.gpu_count,
            wanted=wanted,
            found=found,
            node=job.nodes[0] if len(job.nodes) == 1 else None,
        )


def _lease(run: JobRun, node: str) -> str:
    return run.label if len(run.job.nodes) == 1 else f"{run.label} on {node}"


def _cause_at(outages: Sequence[Outage], at_ms: int) -> UnavailableCause | None:
    """Why a node is closed at a time; what is down is down, whatever else it is."""
    now = [
        each
        for each in outages
        if each.from_ms <= at_ms and (each.to_ms is None or at_ms < each.to_ms)
    ]
    now.sort(key=lambda each: (not each.is_down, -each.from_ms))
    return now[0].cause if now else None
