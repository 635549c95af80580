"""Who may ask for what, and for how long.

Rules:

- No term is longer than ``TERM_MAX_MS``, whoever asks.
- What is closed (a tenant, a project) gets nothing more; what it holds, it holds to the end of its
  term.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

from bailiwick.scheduler.quota_policy import QuotaScope
from bailiwick.vocab.words import RightsDenial

TERM_MAX_MS = 3_653 * 86_400_000
"""The longest term that anybody may be given: ten years."""


@dataclass(frozen=True, slots=True)
class ScopeClosed:
    """The tenant or project is closed, or is not there."""

    scope: QuotaScope
    code: ClassVar[RightsDenial] = RightsDenial.SCOPE_CLOSED


@dataclass(frozen=True, slots=True)
class TermTooLong:
    """A longer term than the scope may ask for."""

    requested_ms: int
    longest_ms: int
    scope: QuotaScope | None = field(default=None, compare=False)
    code: ClassVar[RightsDenial] = RightsDenial.TERM_TOO_LONG


RightsDenied: TypeAlias = ScopeClosed | TermTooLong
