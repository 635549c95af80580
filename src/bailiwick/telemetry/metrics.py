"""Metrics: counters that follow the journal, gauges that are read when somebody asks.

Rules:

- Counters count since this process began: Prometheus expects that, and knows what a restart is.
  Gauges are what the state says now.
- What the state does not say now, for it could not be read or there is none left, is not told as it
  was: of several replicas the greatest is taken, and an old value would stand for all of them.
- A registry of our own; nothing that a library registers globally is told.
- A word that is not among a label's words becomes ``other``: no caller can make a new series.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from bailiwick.journal.kinds import RecordKind
from bailiwick.telemetry.catalog import (
    ACTION,
    CATALOG,
    LABELS,
    OTHER,
    TENANT,
    TENANTS_MAX,
    MetricKind,
    Spec,
    Whose,
)
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.words import CapacityDenial, EndCause, QuotaViolation, RightsDenial

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST
WAITING_MAX: Final = 200_000
"""Requests whose wait is measured at a time."""

Fact = Mapping[str, Any]
"""A record of the journal as JSON says it."""


@dataclass(slots=True)
class Gauges:
    """What the state says now: by metric, the value for each tuple of label values."""

    values: dict[str, dict[tuple[str, ...], float]] = field(default_factory=dict)
    scores: list[float] = field(default_factory=list)
    submitted_ms: dict[int, int] | None = None
    """Since when each request waits; nothing if that was not read."""

    def put(self, name: str, value: float, *labels: str) -> None:
        """One value."""
        self.values.setdefault(name, {})[labels] = value

    def add(self, name: str, value: float, *labels: str) -> None:
        """Some more of one value."""
        row = self.values.setdefault(name, {})
        row[labels] = row.get(labels, 0) + value


class Metrics:
    """All metrics of one process."""

    def __init__(self) -> None:
        # When each series began would be twice the series, for nobody.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        self.actions: set[str] = set()
        self.specs: dict[str, Spec] = {spec.name: spec for spec in CATALOG}
        self._made = {spec.name: _make(spec, self.registry) for spec in CATALOG}
        self._children: dict[tuple[str, ...], Any] = {}
        self._tenants: set[str] = set()
        self._lock = threading.Lock()
        self.last_approved: Fact | None = None
        self.submitted_ms: dict[int, int] | None = None
        """Since when each request waits that is known of; nothing until the first look."""
        self._begin_at_zero()

    def _begin_at_zero(self) -> None:
        """Have every counter of closed words there before it counts, and those of ``other``.

        A series that first appears with a one has not increased, as Prometheus sees it, and an
        alert that one event should raise would not be. Tenants that share a label are met by
        nobody beforehand, so what they share begins here.
        """
        bounded = {**LABELS, TENANT: frozenset((OTHER,))}
        for spec in CATALOG:
            if spec.kind is MetricKind.COUNTER and bounded.keys() >= {*spec.labels}:
                for words in product(*(sorted(bounded[label]) for label in spec.labels)):
                    self._begin(spec.name, words)

    def _begin(self, name: str, words: tuple[str, ...]) -> None:
        """Have a series there, at zero; the words are closed ones."""
        made = self._made[name]
        self._children[(name, *words)] = made.labels(*words) if words else made

    # -- counting ----------------------------------------------------------------------------

    def count(self, name: str, *labels: str | None, by: float = 1) -> None:
        """A counter goes up."""
        self._child(name, labels).inc(by)

    def observe(self, name: str, value: float, *labels: str | None) -> None:
        """A histogram sees a value."""
        self._child(name, labels).observe(value)

    def set(self, name: str, value: float, *labels: str | None) -> None:
        """A gauge stands at a value."""
        self._child(name, labels).set(value)

    def _child(self, name: str, labels: tuple[str | None, ...]) -> Any:
        key = (name, *labels)
        child = self._children.get(key)  # type: ignore[arg-type]  # a None is never kept
        if child is not None:
            return child
        spec, made = self.specs[name], self._made[name]
        if not spec.labels:
            return self._children.setdefault((name,), made)
        words = [self.word(*pair) for pair in zip(spec.labels, labels, strict=True)]
        child = made.labels(*words)
        if tuple(words) == labels:  # bounded: only what is its own closed word is kept
            self._children[(name, *words)] = child
        return child

    def word(self, label: str, value: str | None) -> str:
        """The value as it may stand in a label."""
        if value is None:
            return OTHER
        if label == TENANT:
            return self._tenant(value)
        known = self.actions if label == ACTION else LABELS[label]
        return str(value) if value in known else OTHER

    def _tenant(self, value: str) -> str:
        if value not in self._tenants:
            if len(self._tenants) >= TENANTS_MAX:
                return OTHER
            self._tenants.add(value)
            for reason in LABELS["reason"]:
                self._child("bailiwick_preemptions_total", (value, reason))
        return value

    # -- following the journal ---------------------------------------------------------------

    def follow(self, fact: Fact) -> None:
        """One more record is durable."""
        kind = str(fact["kind"])
        self.count("bailiwick_journal_records_total", kind)
        fold = _FOLDS.get(kind)
        if fold is not None:
            fold(self, fact)

    # -- telling -----------------------------------------------------------------------------

    def expose(self, gauges: Gauges) -> bytes:
        """Everything, in Prometheus' own format."""
        with self._lock:
            for name, rows in gauges.values.items():
                self._put(name, rows.items())
            self._forget_all_but(gauges.values)
            if self.submitted_ms is None and gauges.submitted_ms is not None:
                self.submitted_ms = dict(gauges.submitted_ms)  # who waited before we began
            for score in gauges.scores:
                self.observe("bailiwick_placement_score_ratio", score)
            gauges.scores.clear()  # sampled once, however often the same look is told
            return bytes(generate_latest(self.registry))

    def _forget_all_but(self, told: Container[str]) -> None:
        for spec in CATALOG:
            is_states = spec.kind is MetricKind.GAUGE and spec.whose is Whose.JOURNAL
            if is_states and spec.name not in told:
                made = self._made[spec.name]
                if spec.labels:
                    made.clear()
                else:
                    made.set(math.nan)  # a metric without labels cannot be left out

    def _put(self, name: str, rows: Iterable[tuple[tuple[str, ...], float]]) -> None:
        spec, made = self.specs[name], self._made[name]
        if not spec.labels:
            for _, value in rows:
                made.set(value)
            return
        sums: dict[tuple[str, ...], float] = {}
        for labels, value in rows:
            words = tuple(self.word(*pair) for pair in zip(spec.labels, labels, strict=True))
            sums[words] = sums.get(words, 0) + value
        made.clear()
        for words, value in sums.items():
            made.labels(*words).set(value)


def _make(spec: Spec, registry: CollectorRegistry) -> Any:
    match spec.kind:
        case MetricKind.COUNTER:
            return Counter(spec.name, spec.says, spec.labels, registry=registry)
        case MetricKind.GAUGE:
            return Gauge(spec.name, spec.says, spec.labels, registry=registry)
        case MetricKind.HISTOGRAM:
            made: Any = Histogram(
                spec.name, spec.says, spec.labels, buckets=spec.buckets, registry=registry
            )
            return made


# -- what each kind of record adds -----------------------------------------------------------

Fold = Callable[[Metrics, Fact], None]


def _approved(metrics: Metrics, fact: Fact) -> None:
    metrics.last_approved = fact
    _decided(metrics, fact, "approved")
    tenant, body = fact["tenant"], fact["body"]
    begun = len(body["lease_ids"])
    metrics.count("bailiwick_leases_granted_total", tenant, body["lease_class"], by=begun)
    submitted_ms = fact["at_ms"]
    if "entry_id" in body:
        submitted_ms = _leave_line(metrics, fact, is_over=not body.get("members_left"))
    if submitted_ms is not None:
        waited_s = max(0, fact["at_ms"] - submitted_ms) / 1_000
        metrics.observe("bailiwick_queue_wait_seconds", waited_s, body["lease_class"])


def _denied(metrics: Metrics, fact: Fact) -> None:
    _decided(metrics, fact, "denied")
    _blocked(metrics, fact)


def _leave_line(metrics: Metrics, fact: Fact, *, is_over: bool = True) -> int | None:
    """Since when it waited, if that is known; it is forgotten once it is over."""
    known, entry_id = metrics.submitted_ms or {}, fact["body"].get("entry_id")
    return known.pop(entry_id, None) if is_over else known.get(entry_id)


def _cancelled(metrics: Metrics, fact: Fact) -> None:
    _leave_line(metrics, fact)


def _queued(metrics: Metrics, fact: Fact) -> None:
    entry_id = fact["body"].get("entry_id")
    if metrics.submitted_ms is not None and len(metrics.submitted_ms) < WAITING_MAX:
        metrics.submitted_ms[entry_id] = fact["at_ms"]
    _decided(metrics, fact, "queued")
    _blocked(metrics, fact)


def _decided(metrics: Metrics, fact: Fact, outcome: str) -> None:
    priority = fact["body"].get("priority")
    metrics.count("bailiwick_admissions_total", fact["tenant"], priority, outcome)


def _blocked(metrics: Metrics, fact: Fact) -> None:
    detail = fact["body"].get("detail")
    if detail in _QUOTA:
        metrics.count("bailiwick_quota_denials_total", fact["tenant"], detail)
    elif detail in _CAPACITY:
        metrics.count("bailiwick_capacity_denials_total", detail)
    elif detail in _RIGHTS:
        metrics.count("bailiwick_rights_denials_total", fact["tenant"], detail)


def _preempted(metrics: Metrics, fact: Fact) -> None:
    body = fact["body"]
    reason = body["reason"]
    metrics.count("bailiwick_preemptions_total", fact["tenant"], reason)
    metrics.count("bailiwick_leases_ended_total", fact["tenant"], EndCause.PREEMPTED)
    for resource, amount in body["freed"].items():
        metrics.count("bailiwick_preemption_freed_resources_total", reason, resource, by=amount)


def _ended(cause: EndCause) -> Fold:
    def fold(metrics: Metrics, fact: Fact) -> None:
        metrics.count("bailiwick_leases_ended_total", fact["tenant"], cause)

    return fold


def _plain(name: str, label: str | None = None) -> Fold:
    def fold(metrics: Metrics, fact: Fact) -> None:
        metrics.count(name, *(() if label is None else (fact["body"].get(label),)))

    return fold


def _mode(metrics: Metrics, fact: Fact) -> None:
    if fact["body"]["after"] == NodeMode.DRAINING:
        metrics.count("bailiwick_drains_total")


def _verdict(metrics: Metrics, fact: Fact) -> None:
    body = fact["body"]
    metrics.count("bailiwick_attestation_verdicts_total", body["verdict"])
    if "reason" in body:
        metrics.count("bailiwick_untrusted_verdicts_total", body["reason"])


_QUOTA: Final = frozenset(QuotaViolation)
_CAPACITY: Final = frozenset(CapacityDenial)
_RIGHTS: Final = frozenset(RightsDenial)
_FOLDS: Final[dict[str, Fold]] = {
    RecordKind.ADMISSION_APPROVED: _approved,
    RecordKind.ADMISSION_DENIED: _denied,
    RecordKind.REQUEST_QUEUED: _queued,
    RecordKind.REQUEST_BLOCKED: _blocked,
    RecordKind.REQUEST_CANCELLED: _cancelled,
    RecordKind.RENEWAL_DENIED: _blocked,
    RecordKind.LEASE_PREEMPTED: _preempted,
    RecordKind.LEASE_RELEASED: _ended(EndCause.RELEASED),
    RecordKind.LEASE_EXPIRED: _ended(EndCause.EXPIRED),
    RecordKind.LEASE_FENCED: _plain("bailiwick_leases_fenced_total"),
    RecordKind.NODE_DEPARTED: _plain("bailiwick_node_departures_total"),
    RecordKind.NODE_QUARANTINED: _plain("bailiwick_quarantines_total"),
    RecordKind.NODE_MODE_CHANGED: _mode,
    RecordKind.ATTESTATION_VERDICT: _verdict,
    RecordKind.ACCESS_REFUSED: _plain("bailiwick_refusals_total", "reason"),
    RecordKind.TOKEN_ISSUED: _plain("bailiwick_lease_tokens_total"),
    RecordKind.TOKEN_REFUSED: _plain("bailiwick_lease_token_refusals_total"),
    RecordKind.BREAK_GLASS: _plain("bailiwick_break_glass_total"),
}
