"""Explanations and decisions on the wire: why a request would run, wait or be refused."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bailiwick.vocab.words import FilterReason
from bailiwick.wire.answers import Plan
from bailiwick.wire.base import Model, UnderRules
from bailiwick.wire.denials import Denial
from bailiwick.wire.work import Remedy


class Explanation(UnderRules):
    """What stands in the way of a request, what would help, and what it would lead to now."""

    blocker: Denial | None
    """What must be cleared first; null if nothing but others in the line is in the way."""
    blockers: list[Denial]
    nodes: int
    """All nodes that were looked at: ``fitting`` and those that fell."""
    fallen: dict[Annotated[FilterReason, Field(strict=False)], int]
    """How many nodes fell at which filter; each is counted at the first that it fails."""
    fitting: int
    """How many nodes would fit one member now."""
    remedy: Remedy
    plan: Plan


class Decision(Model):
    """One decision of the past, and where in the journal it stands."""

    seq: int
    at_ms: int
    project: str | None
    kind: str
    reason: str | None
    detail: str | None
    correlation_id: str | None
    entry_id: int | None
    lease_id: int | None
    """The lease, or the first of several."""
