"""In the course of what things began that only time brings to their end.

Rules:

- A course is the correlation id of a record. What a record began is kept with its course until it
  is over: a waiting entry, an eviction, a drain. What lasts (a budget, a quota that lends credit,
  evidence) is kept until it is changed.
- It is a fold of records alone, so that whoever reads the journal has the same book.
- An eviction is kept with who it is for, because a claim may be gone before its victim is.

>>> book = CourseBook()
>>> book.drains["n1"] = "patch-day"
>>> book.dump()["drains"]
[['n1', 'patch-day']]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from bailiwick.journal.words import AttestationWord
from bailiwick.kernel.events import Event
from bailiwick.kernel.fleet.events import NodeDeparted, NodeModeChanged, QuotaChanged
from bailiwick.kernel.money.events import BudgetChanged
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.trust import events as tr
from bailiwick.kernel.work import events as ev
from bailiwick.kernel.work import lease_events as le
from bailiwick.vocab.transitions import NodeMode, RevokeState
from bailiwick.vocab.trust import EvidenceKind

NO_COURSE = "none"
"""The course of what nobody named one for."""

_STRONG = (AttestationWord.TRUSTED, AttestationWord.UNTRUSTED)


class Notice(NamedTuple):
    """In the course of what a lease was told to go, and for whom (unknown of old records)."""

    course: str
    preemptor: str | None


@dataclass(slots=True)
class CourseBook:
    """What began and is not over, each with its course."""

    entries: dict[int, str]
    evictions: dict[int, Notice]
    drains: dict[str, str]
    quarantines: dict[str, str]
    evidence: dict[tuple[str, EvidenceKind], str]
    quotas: dict[Owner, str]
    """Only of those that lend burst credit."""
    budgets: dict[Owner, str]

    def __init__(self) -> None:
        self.entries, self.evictions, self.evidence = {}, {}, {}
        self.drains, self.quarantines = {}, {}
        self.quotas, self.budgets = {}, {}

    def note(self, event: Event, course: str) -> None:
        """One more record, in this course."""
        how = _NOTES.get(type(event))
        if how is not None:
            how(self, event, course)

    def dump(self) -> dict[str, Any]:
        """Everything as plain lists, in one order."""
        return {
            "entries": sorted([i, course] for i, course in self.entries.items()),
            "evictions": sorted(([i, *each] for i, each in self.evictions.items()), key=_number),
            "drains": sorted([node, course] for node, course in self.drains.items()),
            "quarantines": sorted([node, course] for node, course in self.quarantines.items()),
            "evidence": sorted(
                [node, kind.value, course] for (node, kind), course in self.evidence.items()
            ),
            "quotas": _scoped(self.quotas),
            "budgets": _scoped(self.budgets),
        }

    def load(self, dumped: Mapping[str, Any]) -> None:
        """Take up what :meth:`dump` told; a snapshot from before there were courses tells none."""
        self.entries = dict(dumped.get("entries", ()))
        self.evictions = {i: Notice(*each) for i, *each in dumped.get("evictions", ())}
        self.drains = dict(dumped.get("drains", ()))
        self.quarantines = dict(dumped.get("quarantines", ()))
        rows = dumped.get("evidence", ())
        self.evidence = {(node, EvidenceKind(kind)): course for node, kind, course in rows}
        self.quotas = {Owner(*scope): course for *scope, course in dumped.get("quotas", ())}
        self.budgets = {Owner(*scope): course for *scope, course in dumped.get("budgets", ())}


def _number(row: list[Any]) -> int:
    return int(row[0])


def _scoped(courses: Mapping[Owner, str]) -> list[list[str | None]]:
    rows = sorted(courses.items(), key=lambda row: (row[0].tenant or "", row[0].project or ""))
    return [[*owner, course] for owner, course in rows]


# -- one record ------------------------------------------------------------------------------


def _queued(book: CourseBook, event: ev.RequestQueued, course: str) -> None:
    book.entries[event.entry_id] = course


def _cancelled(book: CourseBook, event: ev.RequestCancelled, course: str) -> None:
    del course
    book.entries.pop(event.entry_id, None)


def _approved(book: CourseBook, event: ev.AdmissionApproved, course: str) -> None:
    del course
    if event.entry_id is not None and not event.members_left:
        book.entries.pop(event.entry_id, None)


def _revoked(book: CourseBook, event: le.LeaseRevoked, course: str) -> None:
    if event.after is RevokeState.REVOKE_WARNING:
        book.evictions[event.lease_id] = Notice(course, event.preemptor)


def _over(book: CourseBook, event: le.LeaseEnd | le.LeaseRestored, course: str) -> None:
    del course
    book.evictions.pop(event.lease_id, None)


def _mode(book: CourseBook, event: NodeModeChanged, course: str) -> None:
    book.drains.pop(event.node, None)
    if event.after is NodeMode.DRAINING:
        book.drains[event.node] = course


def _departed(book: CourseBook, event: NodeDeparted, course: str) -> None:
    del course
    for lease_id in event.lease_ids:
        book.evictions.pop(lease_id, None)
    book.drains.pop(event.node, None)
    book.quarantines.pop(event.node, None)
    _forget(book, event.node)


def _forget(book: CourseBook, node: str) -> None:
    for kind in EvidenceKind:
        book.evidence.pop((node, kind), None)


def _quota(book: CourseBook, event: QuotaChanged, course: str) -> None:
    book.quotas.pop(event.owner, None)
    if event.quota.burst is not None:
        book.quotas[event.owner] = course


def _budget(book: CourseBook, event: BudgetChanged, course: str) -> None:
    book.budgets.pop(event.owner, None)
    if not event.is_removed:
        book.budgets[event.owner] = course


def _verdict(book: CourseBook, event: tr.AttestationVerdict, course: str) -> None:
    if event.verdict in _STRONG:  # evidence that says nothing takes no other's place
        book.evidence[event.node, event.evidence_kind] = course


def _withdrawn(book: CourseBook, event: tr.NodeEnrolmentWithdrawn, course: str) -> None:
    del course
    book.evidence.pop((event.node, event.evidence_kind), None)


def _quarantined(book: CourseBook, event: tr.NodeQuarantined, course: str) -> None:
    book.quarantines[event.node] = course


def _lifted(book: CourseBook, event: tr.NodeQuarantineLifted, course: str) -> None:
    del course
    book.quarantines.pop(event.node, None)
    if event.is_override:
        _forget(book, event.node)


_Note: TypeAlias = Callable[[CourseBook, Any, str], None]
_NOTES: Mapping[type, _Note] = {
    ev.RequestQueued: _queued,
    ev.RequestCancelled: _cancelled,
    ev.AdmissionApproved: _approved,
    le.LeaseRevoked: _revoked,
    **dict.fromkeys((le.LeaseReleased, le.LeaseExpired, le.LeasePreempted), _over),
    **dict.fromkeys((le.LeaseFenced, le.LeaseRestored), _over),
    NodeModeChanged: _mode,
    NodeDeparted: _departed,
    QuotaChanged: _quota,
    BudgetChanged: _budget,
    tr.AttestationVerdict: _verdict,
    tr.NodeEnrolmentWithdrawn: _withdrawn,
    tr.NodeQuarantined: _quarantined,
    tr.NodeQuarantineLifted: _lifted,
}
