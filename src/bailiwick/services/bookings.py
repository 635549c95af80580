"""Bookings: nodes that a project has for a time, who may keep them, and who may see that.

Rules:

- To book and to cancel is for those with the key at the project: admins of the fleet for anybody,
  of a tenant for its own projects. Whoever may read bookings somewhere in a tenant sees all of that
  tenant, and none of another: a stranger sees of a machine alone that it is booked, and from when.
- A series' rule is read here, before it is sealed, by this machine's table of time zones. What
  comes by it is booked by the leader (:mod:`bailiwick.reconcile.timetables.series`), not here.
- Nodes are looked for in the whole fleet. So it is tried on the read model first: what would be
  refused does not keep the writer from others.
- Nobody pays for a booked node that he does not use. So a tenant's own people may have it wait only
  so long (the setting ``booking_wait_max_ms``); the fleet's may for any time.
- A booking lasts at least :data:`~bailiwick.kernel.bookings.commands.LENGTH_MIN_MS`: one that keeps
  nodes from others is for work.
- Why a time of a series is not booked is not kept anywhere: it is looked up when somebody asks, by
  what is known then. No more than :data:`UNBOOKED_MAX` times are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Final

from bailiwick.calendars import Occurrence, occurrences, parse_rule
from bailiwick.iam import FLEET, Scope
from bailiwick.kernel import (
    Book,
    CancelBooking,
    Done,
    ReplaceBooked,
    SetSeries,
    WithdrawSeries,
)
from bailiwick.kernel.bookings.book import Booking, BookingSeries, booking_key
from bailiwick.kernel.bookings.commands import LENGTH_MIN_MS
from bailiwick.kernel.bookings.foresight import (
    BookingForeseen,
    SeriesTimeForeseen,
    foresee_booking,
    foresee_series,
)
from bailiwick.kernel.bookings.limits import gpus_of
from bailiwick.kernel.bookings.rules import series_of
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.slices import decide
from bailiwick.phrases.times import with_dates
from bailiwick.runtime.replica import View
from bailiwick.services.caller import Caller, Deferred
from bailiwick.services.pages import Rows, page_of
from bailiwick.vocab.bookings import BookingPhase
from bailiwick.vocab.errors import BailiwickError, InvalidValue, NotFound

MINUTE_MS: Final = 60_000
UNBOOKED_MAX: Final = 16
"""Times of a series that are told one by one."""

COMING_TOLD: Final = 5
"""Times that a dry run of a series tells."""

COMING_MAX_MS: Final = 36_500 * 86_400_000
"""How far ahead it looks for them: one that comes once may be years away."""


@dataclass(frozen=True, slots=True)
class BookingStanding:
    """A booking, how far it has come, and what its nodes have."""

    booking: Booking
    phase: BookingPhase
    gpu_count: int
    lacking: int
    """How many of its nodes take no work now, or are gone."""


@dataclass(frozen=True, slots=True)
class UnbookedSeriesTime:
    """A time of a series that could not be booked, and what is in its way."""

    time: Occurrence
    why: str
    """Nothing, if it can be booked by now."""
    earliest_ms: int | None = None
    """From when on there would be enough, by what is known."""


@dataclass(frozen=True, slots=True)
class SeriesTold:
    """A series, and what of it is not booked."""

    series: BookingSeries
    unbooked: tuple[UnbookedSeriesTime, ...] = ()
    more: int = 0
    trouble: str = ""


# -- bookings --------------------------------------------------------------------------------


async def list_bookings(
    caller: Caller, *, tenant: str | None, after: str | None, limit: int
) -> Rows[BookingStanding]:
    """The bookings that are ahead or on, of tenants that the caller belongs to."""
    caller.require_within(FLEET)

    def read(view: View) -> Rows[BookingStanding]:
        seen = _TenantsSeen(caller, tenant)
        every = view.state.bookings.bookings.values()
        found = (each for each in every if str(each.owner.tenant) in seen)
        rows, following = page_of(found, after=after, limit=limit, key=lambda each: each.key)
        return [_standing(view, each) for each in rows], following

    return await caller.read(read)


async def read_booking(caller: Caller, scope: Scope, *, booking: str) -> BookingStanding:
    """One booking."""
    caller.require_within(Scope(scope.tenant))

    def read(view: View) -> BookingStanding:
        found = view.state.bookings.bookings.get(_key(scope, booking))
        if found is None:
            raise NotFound("booking", booking, hint="it was never made, or is over")
        return _standing(view, found)

    return await caller.read(read)


async def book(
    caller: Caller, scope: Scope, *, tell: Deferred[Book]
) -> tuple[Done, BookingForeseen | None]:
    """Keep nodes for a project; a dry run tells which, and who would wait."""
    caller.require(scope)
    command = tell()
    if command.ends_ms - command.starts_ms < LENGTH_MIN_MS:
        expected = f"at least {LENGTH_MIN_MS} after the beginning, which is {command.starts_ms}"
        error = InvalidValue("ends_ms", command.ends_ms, expected)
        raise error.with_times(starts_ms=command.starts_ms, ends_ms=command.ends_ms)
    await _check(caller, scope, wait_ms=command.wait_ms)
    if not caller.dry_run and await caller.lookup(caller.first_answer) is None:
        await caller.rehearse(command)
    done = await caller.change(command)
    if not caller.dry_run:
        return done, None

    def read(view: View) -> BookingForeseen:
        return foresee_booking(view.state, command, now_ms=view.now_ms)

    return done, await caller.read(read)


async def cancel_booking(caller: Caller, scope: Scope, *, booking: str) -> Done:
    """Call a booking off; one that is on is over, and its nodes are everybody's again."""
    caller.require(scope)
    return await caller.change(CancelBooking(booking, *_owner(scope)))


# -- series ----------------------------------------------------------------------------------


async def list_series(
    caller: Caller, *, tenant: str | None, after: str | None, limit: int
) -> Rows[BookingSeries]:
    """The series by which nodes are booked, of tenants that the caller belongs to."""
    caller.require_within(FLEET)

    def read(view: View) -> Rows[BookingSeries]:
        seen = _TenantsSeen(caller, tenant)
        every = view.state.bookings.series.values()
        found = (each for each in every if str(each.owner.tenant) in seen)
        return page_of(found, after=after, limit=limit, key=lambda each: each.key)

    return await caller.read(read)


async def read_series(caller: Caller, scope: Scope, *, series: str) -> SeriesTold:
    """One series, and which of its times are not booked."""
    caller.require_within(Scope(scope.tenant))

    def read(view: View) -> tuple[BookingSeries, int]:
        found = view.state.bookings.series.get(_key(scope, series))
        if found is None:
            raise NotFound("series", series, hint="booking series list tells which there are")
        return found, max(view.now_ms, view.state.clock_ms)

    found, now_ms = await caller.read(read)
    try:
        missing = [*missing_times(found, now_ms)]
    except BailiwickError as error:  # a zone that this machine's tables do not have
        return SeriesTold(found, trouble=str(error))
    rows: list[UnbookedSeriesTime] = []
    for each in missing[:UNBOOKED_MAX]:  # one look for each, so that nobody waits for all of them
        rows.append(await caller.read(partial(_look, series=found, time=each)))
    return SeriesTold(found, tuple(rows), len(missing) - len(rows))


async def set_series(
    caller: Caller, scope: Scope, *, tell: Deferred[SetSeries]
) -> tuple[Done, list[SeriesTimeForeseen] | None]:
    """Book by this rule from now on; a dry run tells what comes, and if it could be booked now."""
    caller.require(scope)
    command = tell()
    least = LENGTH_MIN_MS // MINUTE_MS
    if parse_rule(command.rule).span.length < least:
        raise InvalidValue("rule", command.rule, f"a rule for at least {least}m")
    await _check(caller, scope, wait_ms=command.wait_ms)
    done = await caller.change(command)
    if not caller.dry_run:
        return done, None

    def read(view: View) -> list[SeriesTimeForeseen]:
        now_ms = max(view.now_ms, view.state.clock_ms)
        series, coming = series_of(command), coming_times(command.rule, now_ms)
        times = (replace(series_booking(series, each), series=None) for each in coming)
        return [*foresee_series(view.state, series, times=times, now_ms=now_ms)]

    return done, await caller.read(read)


def coming_times(rule: str, now_ms: int) -> Iterator[Occurrence]:
    """The next times of a rule."""
    found = occurrences(parse_rule(rule), now_ms + 1, until_ms=now_ms + COMING_MAX_MS)
    return islice(found, COMING_TOLD)


async def withdraw_series(caller: Caller, scope: Scope, *, series: str) -> Done:
    """Book nothing by it any more; what is ahead by it is off."""
    caller.require(scope)
    return await caller.change(WithdrawSeries(series, *_owner(scope)))


def missing_times(series: BookingSeries, now_ms: int) -> Iterator[Occurrence]:
    """What comes within the series' days and was never booked by it, in order."""
    booked = set(series.booked)
    found = occurrences(parse_rule(series.rule), now_ms + 1, until_ms=now_ms + series.ahead_ms)
    return (each for each in found if each.starts_ms not in booked)


def series_booking(series: BookingSeries, time: Occurrence) -> Book:
    """What is booked for one time of a series: it is named by its local date."""
    ask = series.ask
    return Book(
        booking=f"{series.id}-{time.date:%Y%m%d}",
        tenant=str(series.owner.tenant),
        project=str(series.owner.project),
        starts_ms=time.starts_ms,
        ends_ms=time.ends_ms,
        nodes=ask.nodes,
        count=ask.count,
        gpus=ask.gpus,
        generation=ask.generation,
        labels=ask.labels,
        wait_ms=series.wait_ms,
        text=series.text,
        series=series.id,
    )


def hindrance(view: View, *, command: Book | ReplaceBooked) -> BailiwickError | None:
    """With what the kernel would refuse it now; nothing if it would not."""
    try:
        next(iter(decide(view.state, command, max(view.now_ms, view.state.clock_ms))), None)
    except BailiwickError as error:
        return error
    return None


def told_hindrance(error: BailiwickError) -> str:
    """The same in words, with dates in UTC."""
    return with_dates(str(error), error.times.values())


def _look(view: View, *, series: BookingSeries, time: Occurrence) -> UnbookedSeriesTime:
    command = series_booking(series, time)
    found = hindrance(view, command=command)
    if found is None:
        return UnbookedSeriesTime(time, "")
    return UnbookedSeriesTime(time, told_hindrance(found), found.times.get("earliest_ms"))


# -- both ------------------------------------------------------------------------------------


class _TenantsSeen:
    """The tenants whose bookings the caller may see, each judged once."""

    def __init__(self, caller: Caller, only: str | None) -> None:
        self._caller, self._only, self._known = caller, only, dict[str, bool]()

    def __contains__(self, tenant: str) -> bool:
        if self._only is not None and tenant != self._only:
            return False
        if tenant not in self._known:
            self._known[tenant] = self._caller.may_within(Scope(tenant))
        return self._known[tenant]


def _standing(view: View, booking: Booking) -> BookingStanding:
    ledger = view.state.ledger
    takes = sum(node in ledger and ledger.entry(node).takes_leases for node in booking.nodes)
    return BookingStanding(
        booking,
        booking.phase(view.now_ms),
        gpus_of(view.state, booking.nodes).total(),
        len(booking.nodes) - takes,
    )


async def _check(caller: Caller, scope: Scope, *, wait_ms: int | None) -> None:
    """Go on only if there is such a project, and the caller may have its nodes wait so long."""

    def find(view: View) -> int:
        view.state.directory.check_scope(scope)
        return view.state.settings.booking_wait_max_ms

    most_ms = await caller.lookup(find)
    if wait_ms is None or 0 < wait_ms <= most_ms or caller.may(FLEET):
        return
    expected = f"1 to {most_ms}, or left out: for longer an admin of the fleet books"
    raise InvalidValue("wait_ms", wait_ms, expected)


def _owner(scope: Scope) -> tuple[str, str]:
    return str(scope.tenant), str(scope.project)


def _key(scope: Scope, name: str) -> str:
    return booking_key(Owner(*_owner(scope)), name)
