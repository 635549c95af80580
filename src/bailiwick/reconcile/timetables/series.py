"""Nodes are booked by series: the leader books what comes within each one's days ahead.

Rules:

- A booking is named by its series and its local date, and every series knows which of its times it
  has booked. So a leader that comes after another books none twice, and none that was cancelled.
- A time that cannot be booked is tried again until it begins, less and less often
  (:mod:`.patience`), while later ones are booked. A series that is set anew begins anew. It is
  looked up before anything is asked of the kernel, and said once.
- One look takes a bounded time and tries a bounded number of times, and a smaller one of one series
  in vain. Where there are more, the next look goes on where it ended: a series that can never be
  booked hinders no other.
- How many times lack nodes is told to whoever counts them. Those for which a quota, a policy or
  what somebody asked for is in the way are for whoever set the series, and for no operator. A
  leader that leads no more tells none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from time import monotonic
from typing import Final, NamedTuple

from bailiwick.calendars import Occurrence
from bailiwick.kernel.bookings.book import BookingSeries
from bailiwick.kernel.bookings.commands import BookingAsk
from bailiwick.kernel.bookings.refusals import BookingRefused
from bailiwick.phrases.times import told_time
from bailiwick.reconcile.timetables.patience import Patience, patience_after
from bailiwick.reconcile.timetables.planner import LOOK_MAX_S, DueTime, Sayings
from bailiwick.runtime.replica import View
from bailiwick.runtime.runner import Runner
from bailiwick.services.bookings import (
    hindrance,
    missing_times,
    series_booking,
    told_hindrance,
)
from bailiwick.vocab.bookings import BookingRefusal
from bailiwick.vocab.errors import BailiwickError

TRIED_MAX: Final = 256
"""Times that one look tries."""

IN_VAIN_MAX: Final = 32
"""Times of one series that one look tries in vain."""


class _Time(NamedTuple):
    """Which time of which series."""

    series: str
    starts_ms: int


class _Lack(NamedTuple):
    """A time that could not be booked when it was last tried."""

    patience: Patience
    is_of_nodes: bool
    """Whether too few nodes are free, and nothing else is in the way."""


class SeriesTimes:
    """The series of bookings."""

    name = "booking series"
    actor = "bookings"

    def __init__(
        self,
        say: Callable[[str], None],
        *,
        count: Callable[[int], None] = lambda _: None,
        timer: Callable[[], float] = monotonic,
    ) -> None:
        self._say, self._count, self._timer = say, count, timer
        self._sayings = Sayings(say)
        self._lacks: dict[_Time, _Lack] = {}
        """What could not be booked when it was last tried."""
        self._wishes: dict[str, tuple[str, BookingAsk]] = {}
        """What each series was when it was last looked at."""
        self._now_ms, self._is_refused = 0, False
        self._last = ""
        """The series at which the last look ended before it was through."""
        self._next: dict[str, int] = {}
        """With which time of a series to go on, if not all that are missing were tried."""

    def due(self, runner: Runner) -> Iterator[DueTime]:
        """The times that can be booked and are not."""
        self._now_ms, series = runner.read(_read_series)
        self._sayings.keep(set(series))
        self._forget(series)
        try:
            yield from self._bookable(runner, self._in_turn(series))
        finally:
            self._count(sum(each.is_of_nodes for each in self._lacks.values()))

    def _bookable(self, runner: Runner, series: Iterator[BookingSeries]) -> Iterator[DueTime]:
        tried, until = 0, self._timer() + LOOK_MAX_S
        for number, each in enumerate(series):
            if number and self._timer() >= until:
                self._last = each.key
                return
            in_vain = 0
            for time in self._in_turn_of(each):
                if tried >= TRIED_MAX or (tried and self._timer() >= until):
                    self._last, self._next[each.key] = each.key, time.starts_ms
                    return
                if in_vain >= IN_VAIN_MAX:
                    self._next[each.key] = time.starts_ms
                    break
                tried += 1
                yield from self._try(runner, each, time=time)
                in_vain += _Time(each.key, time.starts_ms) in self._lacks
        self._last = ""

    def _try(self, runner: Runner, series: BookingSeries, *, time: Occurrence) -> Iterator[DueTime]:
        command, asked = series_booking(series, time), _Time(series.key, time.starts_ms)
        refused = runner.read(partial(hindrance, command=command))
        if refused is not None:
            self._lack(asked, refused)
            return
        self._is_refused = False
        yield DueTime(series.key, command.booking, time.starts_ms, command)
        if not self._is_refused:
            self._lacks.pop(asked, None)

    def refused(self, time: DueTime, error: BailiwickError) -> None:
        """Be told that a time was not booked though it could have been a moment before."""
        self._is_refused = True
        self._lack(_Time(time.rule, time.starts_ms), error)

    def end(self) -> None:
        """Another counts them now."""
        self._lacks.clear()
        self._count(0)

    def _in_turn(self, series: dict[str, BookingSeries]) -> Iterator[BookingSeries]:
        """All of them, those first at which the last look did not come by."""
        names = sorted(series)
        later = [name for name in names if name >= self._last]
        return (series[name] for name in (*later, *names[: len(names) - len(later)]))

    def _in_turn_of(self, series: BookingSeries) -> list[Occurrence]:
        """What is to be tried of a series, those first at which the last look did not come by."""
        missing, from_ms = self._missing(series), self._next.pop(series.key, 0)
        due = [each for each in missing if self._is_due(_Time(series.key, each.starts_ms))]
        later = [each for each in due if each.starts_ms >= from_ms]
        return [*later, *due[: len(due) - len(later)]]

    def _is_due(self, time: _Time) -> bool:
        lack = self._lacks.get(time)
        return lack is None or lack.patience.again_ms <= self._now_ms

    def _missing(self, series: BookingSeries) -> list[Occurrence]:
        try:
            return [*missing_times(series, self._now_ms)]
        except BailiwickError as error:
            self._sayings.tell(series.key, f"series {series.key} is not booked: {error}")
            return []

    def _lack(self, time: _Time, error: BailiwickError) -> None:
        before = self._lacks.get(time)
        is_of_nodes = isinstance(error, BookingRefused) and error.reason is _TOO_FEW
        waited = None if before is None else before.patience
        patience = patience_after(waited, starts_ms=time.starts_ms, now_ms=self._now_ms)
        self._lacks[time] = _Lack(patience, is_of_nodes)
        if before is None:
            starts, why = told_time(time.starts_ms), told_hindrance(error)
            self._say(f"series {time.series} is not booked for {starts} UTC: {why}")

    def _forget(self, series: dict[str, BookingSeries]) -> None:
        """What has begun, was booked, or whose series is gone or another, is not waited for."""
        wishes = {key: (each.rule, each.ask) for key, each in series.items()}
        same = {key for key, wish in wishes.items() if self._wishes.get(key) == wish}
        self._wishes = wishes
        self._next = {key: at_ms for key, at_ms in self._next.items() if key in same}
        self._lacks = {
            each: lack
            for each, lack in self._lacks.items()
            if each.starts_ms > self._now_ms
            and each.series in same
            and each.starts_ms not in series[each.series].booked
        }


_TOO_FEW: Final = BookingRefusal.TOO_FEW_FREE


def _read_series(view: View) -> tuple[int, dict[str, BookingSeries]]:
    return max(view.now_ms, view.state.clock_ms), dict(view.state.bookings.series)
