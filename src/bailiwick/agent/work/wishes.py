"""What the agent's jobs want of a server, and the values that go between the two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from bailiwick.executors.node.work import Seen, Wish


class Superseded(Exception):
    """Another agent began later for the same node."""


@dataclass(frozen=True, slots=True)
class WorkItem:
    """What is to be so for one lease."""

    lease_id: int
    wish: Wish
    spec: str | None = field(default=None, repr=False)
    warn_until_ms: int | None = None
    output_bytes: int = 0
    is_unstarted: bool = False
    """Whether it is known that it could not be run as asked."""


@dataclass(frozen=True, slots=True)
class PulledWork:
    """What changed, up to a version; and how long the leases here last, in milliseconds."""

    version: int
    items: Sequence[WorkItem] = ()
    terms: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PrintedPiece:
    """Some of what a job printed."""

    lease_id: int
    offset: int
    data: bytes = field(repr=False)
    is_truncated: bool = False


class WorkServer(Protocol):
    """What this part wants of a server; each raises ``Away`` or ``Superseded``."""

    def work(self, *, after: int, wait_s: int) -> PulledWork:
        """What changed after a version; held back until something has."""

    def observe(self, seen: Sequence[Seen]) -> None:
        """Tell what was seen."""

    def send_output(self, pieces: Sequence[PrintedPiece]) -> dict[int, int | None]:
        """Tell what was printed; where to go on, or nowhere."""
