"""Members of gangs: whose, under which lease, where, how each ended; and where that lasts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


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


class MemberStore(Protocol):
    """Where the members of gangs last; its calls may come from any thread."""

    def add(self, job_id: int, leases: Sequence[tuple[int, str]]) -> None:
        """Write down the leases of a job and their nodes, in the order of their ranks."""

    def of_jobs(self, job_ids: Sequence[int]) -> list[MemberRow]:
        """The members of these jobs, of all their attempts, by rank."""

    def of_leases(self, lease_ids: Sequence[int]) -> list[MemberRow]:
        """The members that have these leases."""

    def note_token(self, lease_id: int, token_id: str) -> None:
        """A member was given a token."""

    def end(self, lease_id: int, how: MemberEnd) -> None:
        """Write down that a member is over, and how; once."""
