"""What a booking would get if it were made: its nodes, or why not, and who would have to wait.

Rules:

- The nodes are chosen as when it is done. Looking changes nothing.
- What is refused whatever nodes are free (a name that is taken, a time that is past, a limit) is
  refused here too.
- A series is looked at as if it were set: what is ahead by another of the name is off by then. If
  it books the same, that stays, and is told as it is. Each of its times is looked at for itself; in
  number those before it count.
- Of those that wait, no more than :data:`BOOKING_WAITING_MAX` are looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from bailiwick.kernel.bookings.book import BookingSeries, booking_key
from bailiwick.kernel.bookings.choice import choose
from bailiwick.kernel.bookings.commands import Book
from bailiwick.kernel.bookings.limits import QuotaShort, gpus_of
from bailiwick.kernel.bookings.refusals import check_chosen
from bailiwick.kernel.bookings.rules import check_bookable, check_unbooked, planned_by
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.state import State
from bailiwick.vocab.errors import BailiwickError

BOOKING_WAITING_MAX: Final = 10_000
"""Waiting requests that are counted."""


@dataclass(frozen=True, slots=True)
class BookingForeseen:
    """What a booking would get."""

    nodes: tuple[str, ...]
    """The nodes; none if there are too few."""
    gpus: int
    """All GPUs of these nodes."""
    wanted: int
    found: int
    """Nodes or GPUs, as they were asked for: how many are free for all of that time."""
    suitable: int
    """How many there are at all."""
    earliest_ms: int | None
    """From when on there would be enough by what is known, if there are too few."""
    above: QuotaShort | None
    """The limit of the owner's own quota that it would be above."""
    wait_ms: int
    waiting: int
    """Requests of others that wait, and whose term is too long to start there before."""

    @property
    def is_made(self) -> bool:
        """Whether it would be booked."""
        return bool(self.nodes) and self.above is None


def foresee_booking(state: State, command: Book, *, now_ms: int) -> BookingForeseen:
    """What the booking would get, seen from now."""
    check_bookable(state, command, now_ms=now_ms)
    owner = Owner(command.tenant, command.project)
    times = command.starts_ms, command.ends_ms
    found = choose(state, command.ask, owner=owner, during=times)
    longest_ms = command.starts_ms - max(now_ms, state.clock_ms)
    line = islice(state.line.entries.values(), BOOKING_WAITING_MAX)
    others = (entry.request for entry in line if Owner.of(entry.request) != owner)
    default_ms = state.settings.booking_wait_ms
    return BookingForeseen(
        nodes=found.nodes,
        gpus=gpus_of(state, found.nodes).total(),
        wanted=found.wanted,
        found=found.found,
        suitable=found.suitable,
        earliest_ms=found.earliest_ms,
        above=found.above,
        wait_ms=default_ms if command.wait_ms is None else command.wait_ms,
        waiting=sum(request.ttl_ms > longest_ms for request in others),
    )


@dataclass(frozen=True, slots=True)
class SeriesTimeForeseen:
    """What one time of a series would get, if it were booked now."""

    starts_ms: int
    ends_ms: int
    nodes: tuple[str, ...]
    refused: BailiwickError | None = None
    """With what it would be refused, if it would."""


def foresee_series(
    state: State, series: BookingSeries, *, times: Iterable[Book], now_ms: int
) -> Iterator[SeriesTimeForeseen]:
    """What each of these times of one series would get, in order."""
    made, owner = 0, series.owner
    ahead = {each.key for each in planned_by(state, owner, series=series.id, now_ms=now_ms)}
    before = state.bookings.series.get(series.key)
    keeps = before is not None and before.books_as(series)
    off = set[str]() if keeps else ahead
    for command in times:
        known = state.bookings.bookings.get(booking_key(owner, command.booking))
        if keeps and known is not None and known.key in ahead:
            yield SeriesTimeForeseen(known.starts_ms, known.ends_ms, known.nodes)
            continue
        during = command.starts_ms, command.ends_ms
        nodes: tuple[str, ...] = ()
        refused: BailiwickError | None = None
        try:
            if before is not None and keeps:
                check_unbooked(before, command)
            check_bookable(state, command, now_ms=now_ms, without=off, more=made)
            found = choose(state, command.ask, owner=owner, during=during, without=off)
            check_chosen(command.booking, command.ask, found=found)
        except BailiwickError as error:
            refused = error
        else:
            nodes, made = found.nodes, made + 1
        yield SeriesTimeForeseen(*during, nodes, refused)
