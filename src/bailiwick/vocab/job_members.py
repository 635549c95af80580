"""Members of gangs as values: whose, under which lease, where, and how each ended."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberEnd:
    """How a member ended, and when it was seen that it is over."""

    ended_ms: int
    exit_code: int | None = None
    signal: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRow:
    """A member of a gang: its place among them, its lease, and how it ended."""

    job_id: int
    rank: int
    lease_id: int
    node: str
    token_id: str | None = None
    ended_ms: int | None = None
    """When it was seen that it is over, and torn down as far as that could be."""
    exit_code: int | None = None
    signal: int | None = None
