"""Booked nodes that are gone or take no work: the leader books others in their place.

Rules:

- Only shortly before a booking begins: a machine that is repaired in time keeps its place.
- What cannot be replaced is tried again at every look until the booking begins, and said once.
- One look tries a bounded number of bookings, the earliest first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice, takewhile
from typing import Final

from bailiwick.kernel import ReplaceBooked
from bailiwick.kernel.bookings.book import Booking
from bailiwick.kernel.bookings.candidates import still_wanted
from bailiwick.reconcile.timetables.planner import DueTime, Sayings
from bailiwick.runtime.replica import View
from bailiwick.runtime.runner import Runner
from bailiwick.services.bookings import hindrance, told_hindrance
from bailiwick.vocab.errors import BailiwickError

AHEAD_MS: Final = 6 * 3_600_000
"""How long before a booking begins its nodes are looked after."""
LACKING_MAX: Final = 64
"""Bookings that one look tries."""


class LostNodes:
    """The bookings that lack nodes."""

    name = "booked nodes"
    actor = "bookings"

    def __init__(self, say: Callable[[str], None]) -> None:
        self._sayings = Sayings(say)

    def due(self, runner: Runner) -> Iterator[DueTime]:
        """The bookings that lack nodes for which there are others."""
        found = runner.read(_lacking)
        self._sayings.keep({each.key for each in found})
        for each in found:
            owner = str(each.owner.tenant), str(each.owner.project)
            command = ReplaceBooked(each.id, *owner)
            refused = runner.read(partial(hindrance, command=command))
            if refused is not None:
                self._sayings.tell(each.key, told_hindrance(refused))
            else:
                yield DueTime(each.key, each.id, each.starts_ms, command)

    def refused(self, time: DueTime, error: BailiwickError) -> None:
        """Be told that nodes were not replaced though they could have been a moment before."""
        self._sayings.tell(time.rule, told_hindrance(error))

    def end(self) -> None:
        """Another looks after them now."""


def _lacking(view: View) -> list[Booking]:
    now_ms = max(view.now_ms, view.state.clock_ms)
    soon = takewhile(
        lambda each: each.starts_ms <= now_ms + AHEAD_MS, view.state.bookings.in_order()
    )
    ahead = (each for each in soon if each.starts_ms > now_ms)
    return [*islice((each for each in ahead if still_wanted(view.state, each)), LACKING_MAX)]
