"""Findings of an audit: what is broken, since when, by whose work; opened once and closed once.

Rules:

- A violation that lasts is one finding. It is closed when it is gone, and opened anew if it comes
  back.
- A finding names whose work it is about as it was when it was opened: work that has gone by the
  time somebody reads it is still told.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bailiwick.isolation.auditor import Auditor
from bailiwick.isolation.judge import Violation
from bailiwick.isolation.placements import Placement
from bailiwick.isolation.policy import Policy


@dataclass(frozen=True, slots=True)
class IsolationFinding:
    """One violation, with whose work it is about."""

    violation: Violation
    found_ms: int
    who: tuple[Placement, ...]


@dataclass(frozen=True, slots=True)
class AuditRound:
    """What one look at a cluster came to."""

    opened: tuple[IsolationFinding, ...]
    closed: tuple[IsolationFinding, ...]


class PlacementAudit:
    """Looks at all placements again and again, and tells what is new."""

    def __init__(self, policy: Policy) -> None:
        self.auditor = Auditor(policy)
        self.open: dict[Violation, IsolationFinding] = {}

    def look(self, placements: Iterable[Placement], *, now_ms: int) -> AuditRound:
        """Take these for all that is placed now."""
        self.auditor.update({each.id: each for each in placements}, now_ms=now_ms)
        found = {_settled(each): None for each in self.auditor.violations(now_ms=now_ms)}
        closed = [finding for each, finding in self.open.items() if each not in found]
        for finding in closed:
            del self.open[finding.violation]
        opened = []
        for violation in found:
            if violation not in self.open:
                who = tuple(self.auditor.placements[each] for each in violation.who)
                self.open[violation] = finding = IsolationFinding(violation, now_ms, who)
                opened.append(finding)
        return AuditRound(tuple(opened), tuple(closed))


def _settled(violation: Violation) -> Violation:
    """The same, however it came about: those who commit it in one order."""
    who = tuple(sorted(violation.who))
    return Violation(violation.rule, violation.kind, violation.domain, who)
