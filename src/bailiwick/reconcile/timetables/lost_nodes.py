"""Booked nodes that are gone or take no work: the leader books others in their place.

Rules:

- Only shortly before a booking begins: a machine that is repaired in time keeps its place.
- Nothing is booked for who is closed. It is not tried either: whoever is opened again is looked
  after at once, and does not wait as one whose nodes were looked for in vain.
- What cannot be replaced is tried again until the booking begins, less and less often
  (:mod:`.patience`), and said once.
- One look tries a bounded number of bookings for a bounded time, the earliest first. Where there
  are more, the next look goes on where it ended.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial
from itertools import islice
from time import monotonic
from typing import Final

from bailiwick.kernel import ReplaceBooked
from bailiwick.kernel.bookings.book import Booking
from bailiwick.kernel.bookings.candidates import still_wanted
from bailiwick.kernel.bookings.refusals import closed
from bailiwick.reconcile.timetables.patience import Patience, patience_after
from bailiwick.reconcile.timetables.planner import LOOK_MAX_S, DueTime, Sayings
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

    def __init__(
        self, say: Callable[[str], None], *, timer: Callable[[], float] = monotonic
    ) -> None:
        self._sayings, self._timer = Sayings(say), timer
        self._now_ms = 0
        self._tried: dict[str, Patience] = {}
        """What was tried in vain, and when it is tried again."""
        self._last: tuple[int, str] = (0, "")
        """The booking at which the last look ended before it was through."""

    def due(self, runner: Runner) -> Iterator[DueTime]:
        """The bookings that lack nodes for which there are others."""
        self._now_ms, soon = runner.read(_soon)
        names = {each.key for each in soon}
        self._sayings.keep(names)
        self._tried = {key: each for key, each in self._tried.items() if key in names}
        later = {key for key, each in self._tried.items() if each.again_ms > self._now_ms}
        found = runner.read(partial(_lacking, soon=self._in_turn(soon), but=later))
        until = self._timer() + LOOK_MAX_S
        for number, each in enumerate(found):
            if number == LACKING_MAX or (number and self._timer() >= until):
                self._last = each.order
                return
            yield from self._try(runner, each)
        self._last = (0, "")

    def _try(self, runner: Runner, booking: Booking) -> Iterator[DueTime]:
        owner = str(booking.owner.tenant), str(booking.owner.project)
        command = ReplaceBooked(booking.id, *owner)
        time = DueTime(booking.key, booking.id, booking.starts_ms, command)
        refused = runner.read(partial(hindrance, command=command))
        before = self._tried.get(booking.key)
        if refused is not None:
            self.refused(time, refused)
            return
        yield time
        if self._tried.get(booking.key) is before:
            self._tried.pop(booking.key, None)

    def _in_turn(self, soon: list[Booking]) -> list[Booking]:
        """All of them, those first at which the last look did not come by."""
        later = [each for each in soon if each.order >= self._last]
        return [*later, *soon[: len(soon) - len(later)]]

    def refused(self, time: DueTime, error: BailiwickError) -> None:
        """Be told that nodes were not replaced, and why."""
        before = self._tried.get(time.rule)
        times = {"starts_ms": time.starts_ms, "now_ms": self._now_ms}
        self._tried[time.rule] = patience_after(before, **times)
        self._sayings.tell(time.rule, told_hindrance(error))

    def end(self) -> None:
        """Another looks after them now."""
        self._tried.clear()


def _soon(view: View) -> tuple[int, list[Booking]]:
    """The bookings that begin within the next hours."""
    now_ms = max(view.now_ms, view.state.clock_ms)
    every = view.state.bookings.in_order()
    return now_ms, [each for each in every if now_ms < each.starts_ms <= now_ms + AHEAD_MS]


def _lacking(view: View, *, soon: list[Booking], but: Collection[str]) -> list[Booking]:
    """Those of them that lack nodes now; one more than a look tries, if there are more."""
    state = view.state
    there = state.bookings.bookings
    known = (there[each.key] for each in soon if each.key in there and each.key not in but)
    may = (each for each in known if closed(state, each.owner) is None)
    return [*islice((each for each in may if still_wanted(state, each)), LACKING_MAX + 1)]
