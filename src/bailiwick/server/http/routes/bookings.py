"""Bookings: parse, call one service, spell the answer."""

from __future__ import annotations

from typing import Any

from bailiwick.iam import Scope
from bailiwick.kernel import Book, SetSeries
from bailiwick.kernel.bookings.book import Booking, BookingSeries
from bailiwick.kernel.bookings.foresight import SeriesTimeForeseen
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Changing, Here
from bailiwick.server.http.params import Limit, OfTenant, PathName, RowCursor, spell_page
from bailiwick.server.http.spelling import spell_done
from bailiwick.services import bookings
from bailiwick.services.bookings import BookingStanding, SeriesTold, UnbookedSeriesTime
from bailiwick.services.maintenance import checked_rule
from bailiwick.wire import bookings as wire
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page


@answers("booking.list")
async def list_bookings(
    asked: Here, *, tenant: OfTenant = None, cursor: RowCursor = None, limit: Limit = 100
) -> Page[wire.ProjectBooking]:
    """The bookings that are ahead or on, of the tenants that you belong to."""
    found = await bookings.list_bookings(asked, tenant=tenant, after=cursor, limit=limit)
    return spell_page(found, _booking)


@answers("booking.read")
async def read_booking(
    asked: Here, tenant: PathName, *, project: PathName, booking: PathName
) -> wire.ProjectBooking:
    """One booking: which nodes, from when until when, and what was given back."""
    return _booking(await bookings.read_booking(asked, Scope(tenant, project), booking=booking))


@answers("booking.create")
async def book_nodes(
    asked: Changing, tenant: PathName, *, project: PathName, body: wire.NewBooking
) -> wire.BookingMade:
    """Keep whole nodes for a project from one time to another.

    Only nodes count on which nothing of anybody else reaches into that time: nobody is ended for a
    booking. From now on no term of others is begun there that would not have ended before.
    """

    def tell() -> Book:
        return Book(
            booking=body.booking,
            tenant=tenant,
            project=project,
            starts_ms=body.starts_ms,
            ends_ms=body.ends_ms,
            nodes=tuple(body.nodes),
            count=body.count,
            gpus=body.gpus,
            generation=body.generation,
            labels=tuple(body.labels),
            wait_ms=body.wait_ms,
            text=body.text,
        )

    done, told = await bookings.book(asked, Scope(tenant, project), tell=tell)
    consequence = None
    if told is not None:
        consequence = wire.BookingOutlook(
            nodes=list(told.nodes), gpu_count=told.gpus, wait_ms=told.wait_ms, waiting=told.waiting
        )
    return wire.BookingMade(answer="done", seq=done.seq, consequence=consequence)


@answers("booking.cancel")
async def cancel_booking(
    asked: Changing, tenant: PathName, *, project: PathName, booking: PathName
) -> Done:
    """Call a booking off. One that is on is over; what runs there goes on to the end of its term.

    One of a series is not booked again.
    """
    return spell_done(await bookings.cancel_booking(asked, Scope(tenant, project), booking=booking))


@answers("booking_series.list")
async def list_series(
    asked: Here, *, tenant: OfTenant = None, cursor: RowCursor = None, limit: Limit = 100
) -> Page[wire.ProjectSeries]:
    """The series by which nodes are booked, of the tenants that you belong to."""
    found = await bookings.list_series(asked, tenant=tenant, after=cursor, limit=limit)
    return spell_page(found, lambda each: wire.ProjectSeries(**_series(each)))


@answers("booking_series.read")
async def read_series(
    asked: Here, tenant: PathName, *, project: PathName, series: PathName
) -> wire.SeriesStanding:
    """One series, which of its times are booked, and why others cannot be yet."""
    return _standing(await bookings.read_series(asked, Scope(tenant, project), series=series))


@answers("booking_series.set")
async def set_series(
    asked: Changing, tenant: PathName, *, project: PathName, series: PathName, body: wire.SeriesWish
) -> wire.SeriesMade:
    """Book by this rule from now on; what is ahead by another of the name is off.

    ``rule`` is like `weekly on tue at 09:00 for 2h in Europe/Berlin`. A dry run tells its next
    times, and for each which nodes it would get or why none.
    """

    def tell() -> SetSeries:
        return SetSeries(
            series=series,
            rule=checked_rule(body.rule),
            tenant=tenant,
            project=project,
            nodes=tuple(body.nodes),
            count=body.count,
            gpus=body.gpus,
            generation=body.generation,
            labels=tuple(body.labels),
            wait_ms=body.wait_ms,
            ahead_days=body.ahead_days,
            text=body.text,
        )

    done, told = await bookings.set_series(asked, Scope(tenant, project), tell=tell)
    consequence = None
    if told is not None:
        consequence = wire.SeriesOutlook(times=[_coming(each) for each in told])
    return wire.SeriesMade(answer="done", seq=done.seq, consequence=consequence)


@answers("booking_series.withdraw")
async def withdraw_series(
    asked: Changing, tenant: PathName, *, project: PathName, series: PathName
) -> Done:
    """Book nothing by it any more; what is ahead by it is off, and what is on goes on."""
    return spell_done(await bookings.withdraw_series(asked, Scope(tenant, project), series=series))


def _coming(each: SeriesTimeForeseen) -> wire.SeriesTimeOutlook:
    refused = each.refused
    return wire.SeriesTimeOutlook(
        starts_ms=each.starts_ms,
        ends_ms=each.ends_ms,
        nodes=list(each.nodes),
        why="" if refused is None else bookings.told_hindrance(refused),
        earliest_ms=None if refused is None else refused.times.get("earliest_ms"),
    )


def _booking(found: BookingStanding) -> wire.ProjectBooking:
    each = found.booking
    return wire.ProjectBooking(
        booking=each.id,
        tenant=str(each.owner.tenant),
        project=str(each.owner.project),
        phase=found.phase,
        starts_ms=each.starts_ms,
        ends_ms=each.ends_ms,
        nodes=list(each.nodes),
        gpu_count=found.gpu_count,
        given_back=list(each.given_back),
        lacking=found.lacking,
        series=each.series,
        asked=wire.BookingWish(**_asked(each)),
    )


def _asked(found: Booking | BookingSeries) -> dict[str, Any]:
    ask = found.ask
    return {
        "nodes": list(ask.nodes),
        "count": ask.count,
        "gpus": ask.gpus,
        "generation": ask.generation,
        "labels": list(ask.labels),
        "wait_ms": found.wait_ms,
        "text": found.text,
    }


def _series(found: BookingSeries) -> dict[str, Any]:
    wish = wire.SeriesWish(rule=found.rule, ahead_days=found.ahead_days, **_asked(found))
    return {
        "series": found.id,
        "tenant": str(found.owner.tenant),
        "project": str(found.owner.project),
        "booked_ms": list(found.booked),
        "wish": wish,
    }


def _standing(told: SeriesTold) -> wire.SeriesStanding:
    return wire.SeriesStanding(
        **_series(told.series),
        unbooked=[_unbooked(each) for each in told.unbooked],
        unbooked_more=told.more,
        trouble=told.trouble,
    )


def _unbooked(each: UnbookedSeriesTime) -> wire.UnbookedTime:
    return wire.UnbookedTime(
        starts_ms=each.time.starts_ms,
        ends_ms=each.time.ends_ms,
        why=each.why,
        earliest_ms=each.earliest_ms,
    )
