"""Bookings: what follows from commands about them and their series, and from time.

Rules:

- A booking's nodes are chosen when it is made (:mod:`.choice`), and sealed by name. Nobody ever has
  to leave for one: where too few nodes are free it is refused, with the numbers and the earliest
  time at which it could begin.
- It begins later than now, and not so far ahead that nobody plans for it.
- For who is closed nothing is booked, and no node in another's place. What he has booked stays.
- It is within its owner's quota (:mod:`.limits`), and a tenant has at most
  :data:`TENANT_BOOKINGS_MAX` at a time, by at most :data:`TENANT_SERIES_MAX` series.
- The first tick from the beginning on seals that it has begun: until then nobody could use it. Then
  a node that its owner does not use for as long as the booking waits is given back, after who waits
  in the line was looked at, so that he is not late for it.
  When the last one is, the booking is over. What counts as use is said in :mod:`.book`.
- A booking that was missed as a whole is over, and nothing else.
- By a series every time is booked once: what was cancelled is not booked again. One that is set
  again and books the same keeps all that; only another calls off what is ahead. One that could not
  be booked may be later, in any order.
- A refusal names nobody else's booking.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Final, assert_never

from bailiwick.kernel.bookings import commands as cmd
from bailiwick.kernel.bookings import events as ev
from bailiwick.kernel.bookings.book import Booking, BookingSeries, booking_key, used
from bailiwick.kernel.bookings.candidates import lost_nodes, still_wanted
from bailiwick.kernel.bookings.choice import choose
from bailiwick.kernel.bookings.dump import users_on
from bailiwick.kernel.bookings.guard import stand_guard
from bailiwick.kernel.bookings.refusals import check_chosen, closed
from bailiwick.kernel.events import Event
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.slice import Apply, Cause
from bailiwick.kernel.state import State
from bailiwick.vocab.bookings import BookingChange, BookingEnd, BookingPhase, BookingUse
from bailiwick.vocab.errors import Conflict, LimitReached, NotFound
from bailiwick.vocab.values import check_ahead

BOOKINGS_MAX: Final = 2_000
BOOKED_MENTIONS_MAX: Final = 100_000
"""Nodes of all bookings together, each as often as it is booked."""

TENANT_BOOKINGS_MAX: Final = 64
"""Bookings of one tenant that are ahead or on."""

SERIES_MAX: Final = 256
TENANT_SERIES_MAX: Final = 32
SERIES_TIMES_MAX: Final = 400
"""Times ahead that one series has booked: no rule comes more often than once a day."""


def decide(state: State, command: cmd.BookingCommand, now_ms: int) -> Iterator[Event]:
    """The events that follow from such a command."""
    match command:
        case cmd.Book():
            return _book(state, command, now_ms=now_ms)
        case cmd.CancelBooking():
            return _cancel(state, command)
        case cmd.ReplaceBooked():
            return _replace(state, command, now_ms=now_ms)
        case cmd.SetSeries():
            return _set_series(state, command, now_ms=now_ms)
        case cmd.WithdrawSeries():
            return _withdraw(state, command, now_ms=now_ms)
        case _:
            assert_never(command)


def _book(state: State, command: cmd.Book, *, now_ms: int) -> Iterator[Event]:
    check_bookable(state, command, now_ms=now_ms)
    owner = Owner(command.tenant, command.project)
    times = command.starts_ms, command.ends_ms
    found = choose(state, command.ask, owner=owner, during=times)
    check_chosen(command.booking, command.ask, found=found)
    if state.bookings.mentions + len(found.nodes) > BOOKED_MENTIONS_MAX:
        raise LimitReached("nodes of all bookings", BOOKED_MENTIONS_MAX)
    wait_ms = state.settings.booking_wait_ms if command.wait_ms is None else command.wait_ms
    what = found.nodes, command.ask, wait_ms, command.text, command.series, BookingUse.GPU_LEASE
    yield ev.Booked(owner, command.booking, command.starts_ms, command.ends_ms, *what)


def check_bookable(
    state: State, command: cmd.Book, *, now_ms: int, without: Collection[str] = (), more: int = 0
) -> None:
    """Refuse a booking whatever nodes are free.

    ``without`` are keys of bookings that would be off by then, ``more`` how many others there would
    be of the same owner.
    """
    book = state.bookings
    owner = Owner(command.tenant, command.project)
    key = booking_key(owner, command.booking)
    if key in book.bookings and key not in without:
        raise Conflict("booking", command.booking, "is booked already", hint="cancel it first")
    check_ahead("starts_ms", command.starts_ms, now_ms=now_ms)
    _check_open(state, owner)
    for node in command.nodes:
        state.ledger.entry(node)
    if command.series is not None:
        check_unbooked(_series(state, owner, command.series), command)
    if len(book.bookings) - len(without) + more >= BOOKINGS_MAX:
        raise LimitReached("bookings", BOOKINGS_MAX)
    own = sum(each.owner.tenant == command.tenant for each in book.bookings.values())
    if own - len(without) + more >= TENANT_BOOKINGS_MAX:
        raise LimitReached("bookings of a tenant", TENANT_BOOKINGS_MAX)


def _check_open(state: State, owner: Owner) -> None:
    refused = closed(state, owner)
    if refused is not None:
        raise refused


def check_unbooked(found: BookingSeries, command: cmd.Book) -> None:
    """Refuse a time that a series has booked, whatever became of that."""
    if command.starts_ms in found.booked:
        why = f"was booked for {command.starts_ms} already"
        error = Conflict("series", found.id, why, hint="book it under a name of its own")
        raise error.with_times(starts_ms=command.starts_ms)
    if len(found.booked) >= SERIES_TIMES_MAX:
        raise LimitReached("times ahead of a series", SERIES_TIMES_MAX)


def _series(state: State, owner: Owner, name: str) -> BookingSeries:
    found = state.bookings.series.get(booking_key(owner, name))
    if found is None:
        raise NotFound("series", name, hint="booking series list tells which there are")
    return found


def _cancel(state: State, command: cmd.CancelBooking) -> Iterator[Event]:
    found = _found(state, command)
    yield ev.BookingEnded(found.owner, found.id, BookingEnd.CANCELLED)


def _found(state: State, command: cmd.CancelBooking | cmd.ReplaceBooked) -> Booking:
    key = booking_key(Owner(command.tenant, command.project), command.booking)
    found = state.bookings.bookings.get(key)
    if found is None:
        raise NotFound("booking", command.booking, hint="it was never booked, or is over")
    return found


def _replace(state: State, command: cmd.ReplaceBooked, *, now_ms: int) -> Iterator[Event]:
    booking = _found(state, command)
    if booking.phase(now_ms) is not BookingPhase.PLANNED:
        raise Conflict("booking", booking.id, "has begun", hint="its nodes stay as they are")
    _check_open(state, booking.owner)
    ask = still_wanted(state, booking)
    if ask is None:
        raise Conflict("booking", booking.id, "lacks no node that another could stand for")
    times = booking.starts_ms, booking.ends_ms
    found = choose(state, ask, owner=booking.owner, during=times, instead_of=booking)
    check_chosen(booking.id, ask, found=found, is_lacking=True)
    lost = lost_nodes(state, booking)
    more = len(found.nodes) - len(lost)
    if len(booking.nodes) + more > cmd.BOOKED_NODES_MAX:
        raise LimitReached("nodes of a booking", cmd.BOOKED_NODES_MAX)
    if state.bookings.mentions + more > BOOKED_MENTIONS_MAX:
        raise LimitReached("nodes of all bookings", BOOKED_MENTIONS_MAX)
    what = BookingChange.REPLACED, lost, found.nodes
    yield ev.BookingNodesChanged(booking.owner, booking.id, *what)


def _set_series(state: State, command: cmd.SetSeries, *, now_ms: int) -> Iterator[Event]:
    owner = Owner(command.tenant, command.project)
    _check_open(state, owner)
    known = booking_key(owner, command.series) in state.bookings.series
    if not known and len(state.bookings.series) >= SERIES_MAX:
        raise LimitReached("series", SERIES_MAX)
    own = sum(each.owner.tenant == command.tenant for each in state.bookings.series.values())
    if not known and own >= TENANT_SERIES_MAX:
        raise LimitReached("series of a tenant", TENANT_SERIES_MAX)
    after = series_of(command)
    before = state.bookings.series.get(after.key)
    keeps = before is not None and before.books_as(after)
    if before is not None and replace(before, booked=()) == after:
        return
    more = command.ask, command.wait_ms, command.ahead_days, command.text
    yield ev.SeriesSet(owner, command.series, command.rule, *more, keeps)
    if not keeps:
        yield from _call_off(state, owner, command.series, now_ms=now_ms)


def series_of(command: cmd.SetSeries) -> BookingSeries:
    """The series that would be set, by which nothing is booked."""
    owner = Owner(command.tenant, command.project)
    more = command.ask, command.wait_ms, command.ahead_days, command.text
    return BookingSeries(command.series, owner, command.rule, *more)


def _withdraw(state: State, command: cmd.WithdrawSeries, *, now_ms: int) -> Iterator[Event]:
    found = _series(state, Owner(command.tenant, command.project), command.series)
    yield ev.SeriesWithdrawn(found.owner, found.id)
    yield from _call_off(state, found.owner, found.id, now_ms=now_ms)


def _call_off(state: State, owner: Owner, series: str, *, now_ms: int) -> Iterator[Event]:
    """What was booked by a series, and has not begun, is off."""
    for each in planned_by(state, owner, series=series, now_ms=now_ms):
        yield ev.BookingEnded(each.owner, each.id, BookingEnd.SERIES_CHANGED)


def planned_by(state: State, owner: Owner, *, series: str, now_ms: int) -> list[Booking]:
    """What was booked by a series, and has not begun."""
    return [
        each
        for each in state.bookings.in_order()
        if (each.owner, each.series) == (owner, series)
        and each.phase(now_ms) is BookingPhase.PLANNED
    ]


# -- time --------------------------------------------------------------------------------------


def keep_bookings(state: State, *, now_ms: int, limit: int) -> Iterator[Event]:
    """Begin bookings, and end those that are over."""
    book = state.bookings
    for _ in range(limit if book.bookings else 0):
        due = book.next_due()
        if due is None or due.at_ms > now_ms:
            return
        booking = book.bookings[due.booking]
        if now_ms >= booking.ends_ms:
            yield ev.BookingEnded(booking.owner, booking.id, BookingEnd.OVER)
        else:
            yield ev.BookingBegun(booking.owner, booking.id)


def give_back_nodes(state: State, *, now_ms: int, limit: int) -> Iterator[Event]:
    """Give back nodes that nobody uses."""
    book = state.bookings
    for _ in range(limit if book.begun else 0):
        due = book.next_unused()
        if due is None or due.at_ms > now_ms:
            return
        booking = book.bookings[due.booking]
        unused = [n for n in booking.nodes if _is_unused(state, booking, n, now_ms=now_ms)]
        if len(unused) == len(booking.nodes):
            yield ev.BookingEnded(booking.owner, booking.id, BookingEnd.UNUSED)
        else:
            what = BookingChange.GIVEN_BACK, tuple(unused)
            yield ev.BookingNodesChanged(booking.owner, booking.id, *what)


def _is_unused(state: State, booking: Booking, node: str, *, now_ms: int) -> bool:
    at_ms = state.bookings.given_back_at(booking, node)
    return at_ms is not None and at_ms <= now_ms


# -- applying ----------------------------------------------------------------------------------


def _booked(state: State, event: ev.Booked, at_ms: int) -> None:
    book = state.bookings
    booking = Booking(
        event.booking,
        event.owner,
        event.starts_ms,
        event.ends_ms,
        event.nodes,
        ask=event.ask,
        wait_ms=event.wait_ms,
        text=event.text,
        series=event.series,
        use=event.use,
    )
    book.put(booking, _used(state, booking, event.nodes))
    key = None if event.series is None else booking_key(event.owner, event.series)
    known = None if key is None else book.series.get(key)
    if known is not None:
        ahead = {event.starts_ms, *(each for each in known.booked if each > at_ms)}
        book.series[known.key] = replace(known, booked=tuple(sorted(ahead)))
    stand_guard(state)


def _used(state: State, booking: Booking, nodes: tuple[str, ...]) -> dict[str, int]:
    """How many leases use each of these nodes for a booking."""
    return used(booking, {node: users_on(state, node) for node in nodes})


def _changed(state: State, event: ev.BookingNodesChanged, at_ms: int) -> None:
    del at_ms
    key = booking_key(event.owner, event.booking)
    added = _used(state, state.bookings.bookings[key], event.added)
    state.bookings.change(key, removed=event.removed, added=added)


def _begun(state: State, event: ev.BookingBegun, at_ms: int) -> None:
    state.bookings.begin(booking_key(event.owner, event.booking), at_ms=at_ms)


def _ended(state: State, event: ev.BookingEnded, at_ms: int) -> None:
    del at_ms
    state.bookings.drop(booking_key(event.owner, event.booking))
    stand_guard(state)


def _set(state: State, event: ev.SeriesSet, at_ms: int) -> None:
    del at_ms
    more = event.ask, event.wait_ms, event.ahead_days, event.text
    found = BookingSeries(event.series, event.owner, event.rule, *more)
    booked = state.bookings.series[found.key].booked if event.keeps else ()
    state.bookings.series[found.key] = replace(found, booked=booked)


def _withdrawn(state: State, event: ev.SeriesWithdrawn, at_ms: int) -> None:
    del at_ms
    del state.bookings.series[booking_key(event.owner, event.series)]


APPLY: Mapping[type, Apply] = {
    ev.Booked: _booked,
    ev.BookingNodesChanged: _changed,
    ev.BookingBegun: _begun,
    ev.BookingEnded: _ended,
    ev.SeriesSet: _set,
    ev.SeriesWithdrawn: _withdrawn,
}


# -- causes ------------------------------------------------------------------------------------


def _names(owner: Owner) -> tuple[str, str]:
    return str(owner.tenant), str(owner.project)


def _booking(event: ev.Booked) -> cmd.Book:
    ask = event.ask
    return cmd.Book(
        event.booking,
        *_names(event.owner),
        event.starts_ms,
        event.ends_ms,
        nodes=ask.nodes,
        count=ask.count,
        gpus=ask.gpus,
        generation=ask.generation,
        labels=ask.labels,
        wait_ms=event.wait_ms,
        text=event.text,
        series=event.series,
    )


def _replacing(event: ev.BookingNodesChanged) -> cmd.ReplaceBooked | None:
    if event.cause is not BookingChange.REPLACED:
        return None
    return cmd.ReplaceBooked(event.booking, *_names(event.owner))


def _ending(event: ev.BookingEnded) -> cmd.CancelBooking | None:
    if event.cause is not BookingEnd.CANCELLED:
        return None
    return cmd.CancelBooking(event.booking, *_names(event.owner))


def _setting(event: ev.SeriesSet) -> cmd.SetSeries:
    ask = event.ask
    return cmd.SetSeries(
        event.series,
        event.rule,
        *_names(event.owner),
        nodes=ask.nodes,
        count=ask.count,
        gpus=ask.gpus,
        generation=ask.generation,
        labels=ask.labels,
        wait_ms=event.wait_ms,
        ahead_days=event.ahead_days,
        text=event.text,
    )


CAUSES: Mapping[type, Cause] = {
    ev.Booked: _booking,
    ev.BookingNodesChanged: _replacing,
    ev.BookingBegun: lambda event: None,
    ev.BookingEnded: _ending,
    ev.SeriesSet: _setting,
    ev.SeriesWithdrawn: lambda event: cmd.WithdrawSeries(event.series, *_names(event.owner)),
}
