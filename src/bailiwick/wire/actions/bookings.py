"""Nodes that are kept for a project from one time to another, once or again and again."""

from __future__ import annotations

from bailiwick.vocab.permissions import Permission
from bailiwick.wire.actions.action import NOTHING, PROJECT, Action, Where
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page
from bailiwick.wire.bookings import (
    BookingMade,
    NewBooking,
    ProjectBooking,
    ProjectSeries,
    SeriesMade,
    SeriesStanding,
    SeriesWish,
)

_P, _W = Permission, Where
_BOOKINGS, _SERIES = PROJECT + "/bookings", PROJECT + "/booking-series"

# fmt: off
BOOKING_LIST = Action(
    "booking.list", "List bookings", "GET", "/v1/bookings",
    _P.BOOKING_READ, _W.ROWS, NOTHING, Page[ProjectBooking])
BOOKING_READ = Action(
    "booking.read", "Read a booking", "GET", _BOOKINGS + "/{booking}",
    _P.BOOKING_READ, _W.TENANT_ROWS, NOTHING, ProjectBooking)
BOOKING_CREATE = Action(
    "booking.create", "Book nodes", "POST", _BOOKINGS,
    _P.BOOKING_MANAGE, _W.PROJECT, NewBooking, BookingMade)
BOOKING_CANCEL = Action(
    "booking.cancel", "Cancel a booking", "DELETE", _BOOKINGS + "/{booking}",
    _P.BOOKING_MANAGE, _W.PROJECT, NOTHING, Done)
BOOKING_SERIES_LIST = Action(
    "booking_series.list", "List series of bookings", "GET", "/v1/booking-series",
    _P.BOOKING_READ, _W.ROWS, NOTHING, Page[ProjectSeries])
BOOKING_SERIES_READ = Action(
    "booking_series.read", "Read a series of bookings", "GET", _SERIES + "/{series}",
    _P.BOOKING_READ, _W.TENANT_ROWS, NOTHING, SeriesStanding)
BOOKING_SERIES_SET = Action(
    "booking_series.set", "Set a series of bookings", "PUT", _SERIES + "/{series}",
    _P.BOOKING_MANAGE, _W.PROJECT, SeriesWish, SeriesMade)
BOOKING_SERIES_WITHDRAW = Action(
    "booking_series.withdraw", "Withdraw a series of bookings", "DELETE", _SERIES + "/{series}",
    _P.BOOKING_MANAGE, _W.PROJECT, NOTHING, Done)
# fmt: on
