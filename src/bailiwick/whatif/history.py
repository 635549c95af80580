"""What people and machines did, read back from what the kernel recorded about it.

A journal tells decisions. To decide again under other rules, the causes are needed: who asked for
what and when, how long work ran once it had started, what operators did, when time was looked at.

Rules:

- Whatever the kernel decided by itself (a start from the line, a preemption, an expiry) is an
  effect, and is not taken over. It only tells that there was a tick.
- What a holder did to a lease is kept relative to the start of the work. What an operator did is
  kept by the clock.
- What a holder did after it was told to leave is done again only where it is told to leave.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from math import gcd
from typing import TypeAlias

from bailiwick.kernel import commands as cmd
from bailiwick.kernel.apps.events import AppEvent
from bailiwick.kernel.events import Event
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.words import PreemptionReason

TICK_MS = 200
"""How often time is looked at, where a journal does not tell: the pace of a replica."""

_GRID_MS_MIN = 100
"""Ticks closer to each other than this do not lie on a grid, but came as they came."""


class StepWord(StrEnum):
    """What a holder can do with a lease."""

    RELEASE = "release"
    RENEW = "renew"
    CHECKPOINT = "checkpoint"


@dataclass(frozen=True, slots=True)
class WorkStep:
    """Something a holder did, so long after the work had started."""

    word: StepWord
    offset_ms: int
    seq: int
    ttl_ms: int = 0
    under_notice: bool = False
    """Whether the lease was being ended already."""


@dataclass(frozen=True, slots=True)
class Teardown:
    """How long an executor took to report, and what; ``None`` if it never did."""

    delay_ms: int | None
    clean: bool = True
    seq: int = -1


@dataclass(slots=True)
class Work:
    """One request, and what became of it in the journal."""

    at_ms: int
    seq: int
    request: PlacementRequest
    wait: bool
    actor: str
    entry_id: int = 0
    """Its number in the line; 0 if it never stood there."""
    started_ms: int | None = None
    lease_ids: list[int] = field(default_factory=list)
    steps: dict[int, list[WorkStep]] = field(default_factory=dict)
    """By the number of the gang's member."""
    teardowns: dict[int, Teardown] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Member:
    """One member of a work's gang, by its place in it."""

    work: int
    index: int


@dataclass(frozen=True, slots=True)
class Arrive:
    """A request came in."""

    work: int


@dataclass(frozen=True, slots=True)
class CancelWork:
    """Whoever asked did not want it any more."""

    work: int


@dataclass(frozen=True, slots=True)
class EvictMembers:
    """Somebody other than the scheduler ended leases."""

    members: tuple[Member, ...]
    reason: PreemptionReason
    grace_ms: int | None


@dataclass(frozen=True, slots=True)
class ClearMember:
    """An operator cleared a fence."""

    member: Member


@dataclass(frozen=True, slots=True)
class NoteApp:
    """Something was said of apps: it is taken as told, and bounds where their members may run."""

    event: AppEvent


Action: TypeAlias = Arrive | CancelWork | EvictMembers | ClearMember | NoteApp | cmd.Command
"""What was done; a command that names leases or entries is told by works instead."""


@dataclass(frozen=True, slots=True)
class Planned:
    """Something that was done, when, and in which order among the rest of that millisecond."""

    at_ms: int
    seq: int
    action: Action


@dataclass(frozen=True, slots=True)
class Happened:
    """One record of the journal as an event; ``work`` is the request that it begins."""

    at_ms: int
    seq: int
    event: Event
    work: int | None = None


@dataclass(frozen=True, slots=True)
class Grid:
    """When time is looked at if the journal does not say: every so often, counted from a moment."""

    spacing_ms: int
    phase_ms: int
    regular: bool

    @classmethod
    def of(cls, ticks: list[int], *, spacing_ms: int | None = None) -> Grid:
        """The grid on which these moments lie, or one of the spacing given."""
        first = ticks[0] if ticks else 0
        if spacing_ms is not None:
            return cls(spacing_ms, first % spacing_ms, regular=True)
        step = 0
        for tick in ticks:
            step = gcd(step, tick - first)
        if step < _GRID_MS_MIN:
            return cls(TICK_MS, first % TICK_MS, regular=False)
        return cls(step, first % step, regular=True)

    def at_or_after(self, at_ms: int) -> int:
        """The first moment of the grid that is not before."""
        return at_ms + (self.phase_ms - at_ms) % self.spacing_ms


@dataclass(frozen=True, slots=True)
class JournalHistory:
    """Everything that was done, in order, and what the journal said came of it."""

    works: tuple[Work, ...]
    plan: tuple[Planned, ...]
    happened: tuple[Happened, ...]
    grid: Grid
    first: int
    """The number of the record with which the time that is looked at begins."""
    start_ms: int
    end_ms: int
    leaders: int
    """How often somebody began to lead in that time."""

    @property
    def ticks(self) -> list[int]:
        """When the journal shows that time was looked at."""
        return [each.at_ms for each in self.plan if isinstance(each.action, cmd.Tick)]

    @property
    def teardown_ms(self) -> int:
        """How long a teardown took that was reported as clean: the middle one, or nothing."""
        found = (t.delay_ms for w in self.works for t in w.teardowns.values() if t.clean)
        delays = sorted(delay for delay in found if delay is not None)
        return delays[len(delays) // 2] if delays else 0


def member_of(works: Iterable[Work]) -> dict[int, Member]:
    """By the number of a lease, whose it is."""
    return {
        lease_id: Member(number, index)
        for number, work in enumerate(works)
        for index, lease_id in enumerate(work.lease_ids)
    }
