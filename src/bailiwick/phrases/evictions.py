"""Who may evict whom, as rows to read: made from the table by which it is decided."""

from __future__ import annotations

from bailiwick.scheduler.rights.eviction_table import may_evict
from bailiwick.vocab.words import LEASE_CLASSES, PRIORITIES, LeaseClass, Priority

HEADINGS = ("a request", "evicts guaranteed", "evicts standard", "evicts spot")


def eviction_rows() -> list[tuple[str, str, str, str]]:
    """For each class and priority of a request, the priorities of each class that may go for it."""
    return [
        (
            f"{kind.value} {rank.value}",
            _victims(kind, rank, LeaseClass.GUARANTEED),
            _victims(kind, rank, LeaseClass.STANDARD),
            _victims(kind, rank, LeaseClass.SPOT),
        )
        for kind in LEASE_CLASSES
        for rank in PRIORITIES
    ]


def _victims(kind: LeaseClass, rank: Priority, victim: LeaseClass) -> str:
    found = [
        each
        for each in PRIORITIES
        if may_evict(kind, rank, victim_class=victim, victim_priority=each)
    ]
    if len(found) == len(PRIORITIES):
        return "any"
    return ", ".join(each.value for each in found) or "none"
