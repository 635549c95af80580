"""Why a request or a renewal is beyond what its owner may ask for.

``scope`` is the tenant or project whose ceiling said no.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

from bailiwick.scheduler.quota_policy import QuotaScope
from bailiwick.vocab.words import LeaseClass, Priority, RightsDenial


@dataclass(frozen=True, slots=True)
class ScopeClosed:
    """The tenant or project is closed, or is not there."""

    scope: QuotaScope
    code: ClassVar[RightsDenial] = RightsDenial.SCOPE_CLOSED


@dataclass(frozen=True, slots=True)
class PriorityTooHigh:
    """A higher priority than the scope may ask for."""

    asked_priority: Priority
    priority_max: Priority
    scope: QuotaScope | None = field(default=None, compare=False)
    code: ClassVar[RightsDenial] = RightsDenial.PRIORITY_TOO_HIGH


@dataclass(frozen=True, slots=True)
class LeaseClassForbidden:
    """A lease class that the scope may not ask for."""

    asked_class: LeaseClass
    scope: QuotaScope | None = field(default=None, compare=False)
    code: ClassVar[RightsDenial] = RightsDenial.LEASE_CLASS_FORBIDDEN


@dataclass(frozen=True, slots=True)
class TermTooLong:
    """A longer term than the scope may ask for."""

    requested_ms: int
    longest_ms: int
    scope: QuotaScope | None = field(default=None, compare=False)
    code: ClassVar[RightsDenial] = RightsDenial.TERM_TOO_LONG


@dataclass(frozen=True, slots=True)
class TooManyWaiting:
    """It would have to wait, and as many of the scope's requests wait as may."""

    waiting: int
    waiting_max: int
    scope: QuotaScope | None = field(default=None, compare=False)
    code: ClassVar[RightsDenial] = RightsDenial.TOO_MANY_WAITING


RightsDenied: TypeAlias = (
    ScopeClosed | PriorityTooHigh | LeaseClassForbidden | TermTooLong | TooManyWaiting
)
