"""Watches live placements under a policy, and seals what it finds.

Rules:

- What is watched is only read. A reading that fails is told and tried again; after
  :data:`FAILURES_MAX` in a row the audit ends, for one that sees nothing must not look calm.
- A finding is durable before it is told. Its journal is one like the control plane's: chained,
  signed, and read by the same commands.
- Metrics are a whole file that replaces the one before, for a collector of such files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bailiwick.clusters.accounting import NoAnswer
from bailiwick.isolation.adapters.cluster import ClusterReading
from bailiwick.isolation.findings import AuditRound, IsolationFinding, PlacementAudit
from bailiwick.isolation.policy import Policy, Subject
from bailiwick.journal.kinds import RecordKind
from bailiwick.journal.record import Context
from bailiwick.store import JournalWriter
from bailiwick.store.journal.files import replace_file

if TYPE_CHECKING:
    from bailiwick.ports import Clock

FAILURES_MAX: Final = 10
WHO_MAX: Final = 64
"""Jobs that the record of one finding names."""

NAME_MAX: Final = 500
"""Characters of a name that are told."""

AUDIT_METRICS: Final = (
    ("bailiwick_isolation_findings_open", "Violations of the isolation policy that are open now."),
    ("bailiwick_isolation_placements", "Placements that the last look judged."),
    ("bailiwick_isolation_unseen", "Things that the last look could not see."),
    ("bailiwick_isolation_audit_failed", "Whether the last look failed."),
    ("bailiwick_isolation_audit_seconds", "When the last look was, in seconds since 1970."),
)


@dataclass(frozen=True, slots=True)
class AuditReport:
    """One look: what is new, what is open, and what could not be seen."""

    news: AuditRound
    open: tuple[IsolationFinding, ...]
    placements: int
    unseen: tuple[str, ...]
    at_ms: int
    failure: str = ""
    """Why nothing could be read this time."""


class AuditFailed(Exception):
    """The audit saw nothing for too long."""


@dataclass(slots=True)
class AuditWatch:
    """One target under one policy."""

    target: str
    policy: Policy
    read: Callable[[], ClusterReading]
    clock: Clock
    findings: JournalWriter | None = None
    metrics: Path | None = None
    _failures: int = 0
    _audit: PlacementAudit = field(init=False)

    def __post_init__(self) -> None:
        self._audit = PlacementAudit(self.policy)

    def look(self) -> AuditReport:
        """Read everything once, seal what is new, and tell."""
        try:
            reading = self.read()
        except NoAnswer as error:
            self._failures += 1
            if self._failures >= FAILURES_MAX:
                raise AuditFailed(
                    f"{self.target}: {self._failures} readings failed: {error}"
                ) from None
            report = self._report(AuditRound((), ()), ClusterReading({}, ()), failure=str(error))
        else:
            self._failures, now_ms = 0, self.clock.now_ms()
            news = self._audit.look(reading.placements, now_ms=now_ms)
            self._seal(news, now_ms)
            report = self._report(news, reading)
        if self.metrics is not None:
            replace_file(self.metrics, metrics_text(self.target, report).encode(), keep_name=False)
        return report

    def _report(
        self, news: AuditRound, reading: ClusterReading, *, failure: str = ""
    ) -> AuditReport:
        still = tuple(self._audit.open.values())
        count, at_ms = len(reading.placements), self.clock.now_ms()
        return AuditReport(news, still, count, reading.unseen, at_ms, failure)

    def _seal(self, news: AuditRound, now_ms: int) -> None:
        if self.findings is None or not (news.opened or news.closed):
            return
        for finding in news.opened:
            self._append(RecordKind.ISOLATION_FINDING, finding, now_ms)
        for finding in news.closed:
            self._append(RecordKind.ISOLATION_FINDING_CLOSED, finding, now_ms)
        self.findings.commit()
        self.findings.checkpoint()

    def _append(self, kind: RecordKind, finding: IsolationFinding, now_ms: int) -> None:
        assert self.findings is not None, "asked before"
        context = Context("isolation-audit", f"audit-{self.findings.size}")
        self.findings.append(kind, context, at_ms=now_ms, body=self._body(finding))

    def _body(self, finding: IsolationFinding) -> dict[str, object]:
        broken = finding.violation
        body: dict[str, object] = {
            "target": self.target,
            "rule": broken.rule,
            "domain": plain(broken.domain),
            "found_ms": finding.found_ms,
            "jobs": [plain(each.id) for each in finding.who[:WHO_MAX]],
            "owners": [spell_subject(each.subject) for each in finding.who[:WHO_MAX]],
            "jobs_total": len(finding.who),
        }
        if broken.kind is not None:
            body["domain_kind"] = broken.kind.value
        return body


def spell_subject(subject: Subject) -> str:
    """Whose work it is, in one word: ``acme/vision team=red``."""
    project = f"/{subject.project}" if subject.project else ""
    labels = "".join(f" {key}={value}" for key, value in sorted(subject.labels.items()))
    return plain(f"{subject.tenant}{project}{labels}")


def plain(text: str) -> str:
    """What another cluster calls something, short and without what could steer a terminal.

    Its users choose these names: none of them may keep a finding from being sealed.
    """
    return "".join(char if char.isprintable() else "?" for char in text[:NAME_MAX])


def metrics_text(target: str, report: AuditReport) -> str:
    """What a collector of metrics reads of one look."""
    values: tuple[Mapping[str, int], ...] = (
        _by_rule(report.open),
        {"": report.placements},
        {"": len(report.unseen)},
        {"": int(bool(report.failure))},
        {"": report.at_ms // 1000},
    )
    lines = []
    for (name, told), by_rule in zip(AUDIT_METRICS, values, strict=True):
        lines += [f"# HELP {name} {told}", f"# TYPE {name} gauge"]
        for rule, value in by_rule.items():
            more = f',rule="{rule}"' if rule else ""
            lines.append(f'{name}{{target="{target}"{more}}} {value}')
    return "\n".join(lines) + "\n"


def _by_rule(findings: tuple[IsolationFinding, ...]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for each in findings:
        counts[each.violation.rule] = counts.get(each.violation.rule, 0) + 1
    return counts
