"""The stand-alone meter: events folded by the same table as the journal's records.

Rules:

- Each event becomes the records that it means, and :class:`bailiwick.metering.fold.JournalMeter`
  meters those. There is no second way to count.
- Leases have names here and numbers there; what the meter finds is told by name, with the leases
  that stood in the way.
- What a lease was charged past its own end is a finding: the charge is what the source told, and
  the finding says by how much it is too high.
- A lease that went with its node needs no end of its own; one that comes is absorbed.

>>> from bailiwick.metering.events import NodeAppeared
>>> from bailiwick.vocab.words import HardwareGeneration
>>> meter = EventMeter()
>>> meter.add(0, NodeAppeared("n1", (HardwareGeneration.NVIDIA_HOPPER,)))
>>> meter.add(1_000, LeaseStarted("job-1", "n1", "lab", devices=(0,)))
>>> meter.add(2_000, LeaseStarted("job-2", "n1", "lab", devices=(0,)))
>>> meter.add(3_000, LeaseEnded("job-1"))
>>> report = meter.report(4_000)
>>> [(row.tenant, row.used) for row in report.rows]
[('lab', {<ResourceKind.GPU_MILLI: 'gpu_milli'>: 2000000})]
>>> [(each.word.value, each.subject, each.others) for each in report.findings]
[('overlap', 'job-2', ('job-1',))]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, assert_never

from bailiwick.metering.events import (
    LeaseEnded,
    LeaseStarted,
    MeterEvent,
    NodeAppeared,
    NodeBack,
    NodeGone,
    NodeUnavailable,
)
from bailiwick.metering.fold import JournalMeter
from bailiwick.metering.owners import UnavailableCause
from bailiwick.metering.records import MeterFinding, MeterFindingWord
from bailiwick.metering.report import Finding, Report, ReportFindingWord, ReportSpan, make_report
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.values import AMOUNT_MAX, MILLI
from bailiwick.vocab.words import EndCause, ResourceKind

_WORDS: Final[dict[MeterFindingWord, ReportFindingWord]] = {
    MeterFindingWord.TIME_WENT_BACK: ReportFindingWord.TIME_WENT_BACK,
    MeterFindingWord.LATE: ReportFindingWord.CHARGED_PAST_END,
    MeterFindingWord.OVERCOMMITTED: ReportFindingWord.OVERLAP,
    MeterFindingWord.ALREADY_HELD: ReportFindingWord.ALREADY_STARTED,
    MeterFindingWord.UNKNOWN_LEASE: ReportFindingWord.UNKNOWN_LEASE,
    MeterFindingWord.ALREADY_REGISTERED: ReportFindingWord.ALREADY_THERE,
    MeterFindingWord.UNKNOWN_NODE: ReportFindingWord.UNKNOWN_NODE,
}

_ENDS: Final[dict[EndCause, str]] = {
    EndCause.RELEASED: "lease_released",
    EndCause.EXPIRED: "lease_expired",
    EndCause.PREEMPTED: "lease_preempted",
    EndCause.NODE_DEPARTED: "lease_released",
}


@dataclass(frozen=True, slots=True)
class _Record:
    """What the journal's meter reads."""

    seq: int
    at_ms: int
    kind: str
    body: Mapping[str, Any]
    tenant: str | None = None
    project: str | None = None
    moves_shares: ClassVar = True


@dataclass(slots=True)
class _Lease:
    number: int
    started: LeaseStarted
    is_metered: bool = True


@dataclass(slots=True)
class EventMeter:
    """Events in, a report out."""

    findings: list[Finding] = field(default_factory=list)
    _journal: JournalMeter = field(default_factory=JournalMeter)
    _leases: dict[str, _Lease] = field(default_factory=dict)
    _on_node: dict[str, dict[str, _Lease]] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)
    _lost: set[str] = field(default_factory=set)
    _first_ms: int | None = None
    _seq: int = 0
    _numbers: int = 0

    def add(self, at_ms: int, event: MeterEvent, *, line: int = 0) -> None:
        """Fold one event; times that go back are findings, and taken as now."""
        if self._first_ms is None:
            self._first_ms = at_ms
        match event:
            case NodeAppeared():
                self._record(_appeared(event), "node_registered", at_ms=at_ms, line=line)
            case NodeUnavailable(node, UnavailableCause.QUARANTINED):
                self._record({"node": node}, "node_quarantined", at_ms=at_ms, line=line)
            case NodeUnavailable(node, cause):
                body = {"node": node, "after": cause.value}
                self._record(body, "node_mode_changed", at_ms=at_ms, line=line)
            case NodeBack(node):
                self._back(node, at_ms, line=line)
            case NodeGone():
                self._gone(event, at_ms, line=line)
            case LeaseStarted():
                self._started(event, at_ms, line=line)
            case LeaseEnded():
                self._ended(event, at_ms, line=line)
            case _ as unknown:
                assert_never(unknown)

    @property
    def clock_ms(self) -> int:
        """The latest time that was told."""
        return self._journal.clock_ms

    def report(self, to_ms: int | None = None, *, findings: Iterable[Finding] = ()) -> Report:
        """What was metered up to a time, or to the last event; with findings made elsewhere."""
        end_ms = self.clock_ms if to_ms is None else to_ms
        meter = self._journal.meter
        meter.check(end_ms)
        return make_report(
            meter.totals(end_ms),
            meter.balances(end_ms),
            span=ReportSpan(end_ms if self._first_ms is None else self._first_ms, end_ms),
            findings=(*findings, *self.findings),
        )

    # -- what each event means ---------------------------------------------------------------

    def _back(self, node: str, at_ms: int, *, line: int) -> None:
        body = {"node": node, "after": NodeMode.ACCEPTING.value}
        if self._record(body, "node_mode_changed", at_ms=at_ms, line=line):
            self._record({"node": node}, "node_quarantine_lifted", at_ms=at_ms, line=line)

    def _gone(self, event: NodeGone, at_ms: int, *, line: int) -> None:
        body: dict[str, Any] = {"node": event.node}
        if event.last_seen_ms is not None:
            body["last_seen_ms"] = event.last_seen_ms
        self._record(body, "node_departed", at_ms=at_ms, line=line)
        for name, lease in self._on_node.pop(event.node, {}).items():
            del self._leases[name], self._names[str(lease.number)]
            self._lost.add(name)

    def _started(self, event: LeaseStarted, at_ms: int, *, line: int) -> None:
        if event.lease in self._leases:
            self._find(ReportFindingWord.ALREADY_STARTED, event.lease, at_ms=at_ms, line=line)
            return
        self._lost.discard(event.lease)
        self._numbers += 1
        lease = _Lease(self._numbers, event)
        body = {
            "lease_ids": (lease.number,),
            "nodes": (event.node,),
            "resources": _held(event),
            "devices": (sum(1 << index for index in event.devices),),
            "lease_class": event.lease_class.value,
            "tag": event.tag,
            "ttl_ms": AMOUNT_MAX - at_ms,  # its end is told, or it goes on
        }
        self._leases[event.lease] = lease
        self._names[str(lease.number)] = event.lease
        lease.is_metered = self._record(
            body, "admission_approved", at_ms=at_ms, line=line, of=event, subject=event.lease
        )
        self._on_node.setdefault(event.node, {})[event.lease] = lease

    def _ended(self, event: LeaseEnded, at_ms: int, *, line: int) -> None:
        lease = self._leases.pop(event.lease, None)
        if lease is None:
            if event.lease not in self._lost:
                self._find(ReportFindingWord.UNKNOWN_LEASE, event.lease, at_ms=at_ms, line=line)
            self._lost.discard(event.lease)
            return
        started = lease.started
        del self._on_node[started.node][event.lease], self._names[str(lease.number)]
        body = {"lease_id": lease.number}
        self._record(body, _ENDS[event.cause], at_ms=at_ms, line=line, subject=event.lease)
        past_ms = 0 if event.ended_ms is None else at_ms - event.ended_ms
        if past_ms > 0 and lease.is_metered:
            finding = Finding(
                ReportFindingWord.CHARGED_PAST_END,
                event.lease,
                at_ms=at_ms,
                by_ms=past_ms,
                gpus=len(started.devices),
                node=started.node,
                line=line,
            )
            self.findings.append(finding)

    # -- records and findings ----------------------------------------------------------------

    def _record(
        self,
        body: Mapping[str, Any],
        kind: str,
        *,
        at_ms: int,
        line: int,
        of: LeaseStarted | None = None,
        subject: str | None = None,
    ) -> bool:
        """Meter a record; whether it fits."""
        tenant, project = (None, None) if of is None else (of.tenant, of.project)
        record = _Record(self._seq, at_ms, kind, body, tenant, project)
        self._seq += 1
        found = self._journal.add(record)
        for each in found:
            self.findings.append(self._named(each, of, subject, at_ms=at_ms, line=line))
        return not any(each.word is not MeterFindingWord.TIME_WENT_BACK for each in found)

    def _named(
        self,
        found: MeterFinding,
        of: LeaseStarted | None,
        subject: str | None,
        *,
        at_ms: int,
        line: int,
    ) -> Finding:
        finding = Finding(
            _WORDS[found.word],
            subject or self._names.get(found.subject, found.subject),
            at_ms=at_ms,
            by_ms=found.late_ms,
            gpus=0 if of is None else len(of.devices),
            node=None if of is None else of.node,
            line=line,
        )
        if of is None or found.word is not MeterFindingWord.OVERCOMMITTED:
            return finding
        return self._overlap(finding, of)

    def _overlap(self, finding: Finding, of: LeaseStarted) -> Finding:
        """With the leases on the node that hold the same devices, or more of the rest than fits."""
        there = self._on_node.get(of.node, {})
        held = {name: each.started for name, each in there.items() if each.is_metered}
        wanted, taken = set(of.devices), set[int]()
        for each in held.values():
            taken |= set(each.devices)
        same = tuple(name for name, each in held.items() if wanted & set(each.devices))
        free = len(wanted - taken)
        why = "" if wanted & taken else "the node does not have that much"
        return replace(finding, wanted=len(wanted), found=free, others=same or tuple(held), why=why)

    def _find(self, word: ReportFindingWord, subject: str, *, at_ms: int, line: int) -> None:
        self.findings.append(Finding(word, subject, at_ms=at_ms, line=line))


def _appeared(event: NodeAppeared) -> dict[str, Any]:
    amounts = {kind.value: amount for kind, amount in event.resources.items()}
    generations = tuple(each.value for each in event.gpus)
    return {"node": event.node, "resources": amounts, "gpu_generations": generations}


def _held(event: LeaseStarted) -> dict[str, int]:
    amounts = {kind.value: amount for kind, amount in event.resources.items()}
    if event.devices:
        amounts.setdefault(ResourceKind.GPU_MILLI.value, len(event.devices) * MILLI)
    return amounts
