"""What an entry is promised when room is kept for it, and when that promise is lost.

Rules:

- Of those that room is kept for, the first at each rank is promised its start, and stands first
  there until then.
- A promise says by when its entry is to start. A start that moves earlier is no news; one that
  moves later is a slip, and the new time is what is promised then. Room that may be there at any
  moment (what held it has only to be torn down) is not late.
- At the ``slips_max``-th slip the promise is lost. It is lost at once if its own tenant renewed a
  lease past the start that was to end before it, and if nothing ends within the horizon any more.
- Whose promise was lost holds nobody back. After a slip too many, or a renewal of its own tenant,
  room is kept for it again only after ``patience_ms``, or when waiting has raised it: then those
  who went ahead of it are its equals.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TypeAlias

from bailiwick.scheduler.fairness import QueueEntry
from bailiwick.vocab.words import ReservationLoss


@dataclass(frozen=True, slots=True)
class Promise:
    """Room that is kept for an entry: by when it is to start, where, how often that moved later."""

    entry: QueueEntry
    starts_ms: int
    nodes: Collection[str]
    slips: int = 0
    is_postponed: bool = False
    """Whether its own tenant renewed a lease past the start that was to end before it."""

    def moved(self, starts_ms: int, nodes: Collection[str]) -> Promise:
        """The same promise after one more slip."""
        return replace(self, starts_ms=starts_ms, nodes=nodes, slips=self.slips + 1)

    def is_moved_by(self, tenant: str, node: str, *, from_ms: int, to_ms: int) -> bool:
        """Whether this renewal of the tenant may postpone an entry of its own."""
        is_past = from_ms <= self.starts_ms < to_ms
        return is_past and tenant == self.entry.request.tenant and node in self.nodes


@dataclass(frozen=True, slots=True)
class PromiseKept:
    """All is as it was told."""


@dataclass(frozen=True, slots=True)
class PromiseGiven:
    """Room is kept for the entry from now on."""


@dataclass(frozen=True, slots=True)
class PromiseSlipped:
    """The start moved later; how often by now."""

    slips: int


@dataclass(frozen=True, slots=True)
class PromiseLost:
    """Room is kept for the entry no more."""

    cause: ReservationLoss


PromiseChange: TypeAlias = PromiseKept | PromiseGiven | PromiseSlipped | PromiseLost


def judge(
    promise: Promise | None, starts_ms: int | None, *, slips_max: int, now_ms: int
) -> PromiseChange:
    """What a look at the line makes of a promise; ``starts_ms`` is when room is there by now.

    ``None`` for that says that no room will be there; who was not asked is not judged.
    """
    if promise is None:
        return PromiseKept() if starts_ms is None else PromiseGiven()
    if starts_ms is None:
        return PromiseLost(ReservationLoss.BEYOND_HORIZON)
    if starts_ms <= max(promise.starts_ms, now_ms + 1):
        return PromiseKept()
    if promise.is_postponed:
        return PromiseLost(ReservationLoss.OWN_RENEWAL)
    if promise.slips + 1 >= slips_max:
        return PromiseLost(ReservationLoss.SLIPPED)
    return PromiseSlipped(promise.slips + 1)
