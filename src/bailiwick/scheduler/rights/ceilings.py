"""Ceilings: what a tenant or project may ask for, whatever room there is.

Rules:

- A ceiling bounds the priority, the lease classes, the term and the number of requests that wait.
- It is set by those above: a tenant's by who runs the fleet, a project's by its tenant. A tenant
  without one has that of the settings; a project without one has its tenant's.
- Narrow-only: a request must pass its project's and its tenant's, and a project's own may not allow
  more than its tenant's.
- A ceiling judges what is asked from then on, never what waits or runs already.

>>> small = Ceiling(priority_max=Priority.NORMAL)
>>> small.is_within(Ceiling()), Ceiling().is_within(small)
(True, False)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import (
    TERM_MAX_MS,
    WAITING_MAX,
    check_integer,
    check_kind,
    check_unique,
)
from bailiwick.vocab.words import LEASE_CLASSES, LeaseClass, Priority

DAY_MS: Final = 86_400_000


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The most that a scope may ask for."""

    priority_max: Priority = Priority.HIGH
    lease_classes: tuple[LeaseClass, ...] = (LeaseClass.STANDARD, LeaseClass.SPOT)
    term_max_ms: int = 7 * DAY_MS
    waiting_max: int = 1_000
    """Requests that wait at a time."""

    def __post_init__(self) -> None:
        check_kind("priority_max", self.priority_max, Priority)
        if not isinstance(self.lease_classes, list | tuple):
            raise InvalidValue("lease_classes", self.lease_classes, "a tuple of lease classes")
        for each in self.lease_classes:
            check_kind("lease_classes", each, LeaseClass)
        check_unique("lease_classes", self.lease_classes)
        ordered = tuple(each for each in LEASE_CLASSES if each in self.lease_classes)
        object.__setattr__(self, "lease_classes", ordered)
        check_integer("term_max_ms", self.term_max_ms, low=1, high=TERM_MAX_MS)
        check_integer("waiting_max", self.waiting_max, low=0, high=WAITING_MAX)

    def is_within(self, outer: Ceiling) -> bool:
        """Whether it allows nothing that the other forbids."""
        return (
            self.priority_max.rank <= outer.priority_max.rank
            and {*self.lease_classes} <= {*outer.lease_classes}
            and self.term_max_ms <= outer.term_max_ms
            and self.waiting_max <= outer.waiting_max
        )


OPEN: Final = Ceiling(Priority.CRITICAL, LEASE_CLASSES, TERM_MAX_MS, WAITING_MAX)
"""All that anybody may be allowed."""
