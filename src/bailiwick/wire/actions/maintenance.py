"""When machines are maintained: windows that are announced, and calendars."""

from __future__ import annotations

from bailiwick.vocab.permissions import Permission
from bailiwick.wire.actions.action import NOTHING, Action, Where
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page
from bailiwick.wire.maintenance import (
    CalendarWish,
    MaintenanceCalendar,
    MaintenanceWindow,
    NewWindow,
    WindowSet,
)

_P, _W = Permission, Where
_WINDOWS, _CALENDARS = "/v1/maintenance/windows", "/v1/maintenance/calendars"

# fmt: off
WINDOW_LIST = Action(
    "window.list", "List windows of maintenance", "GET", _WINDOWS,
    _P.NODE_READ, _W.ROWS, NOTHING, Page[MaintenanceWindow])
WINDOW_READ = Action(
    "window.read", "Read a window of maintenance", "GET", _WINDOWS + "/{window}",
    _P.NODE_READ, _W.ROWS, NOTHING, MaintenanceWindow)
WINDOW_PLAN = Action(
    "window.plan", "Plan a window of maintenance", "POST", _WINDOWS,
    _P.NODE_OPERATE, _W.FLEET, NewWindow, WindowSet)
WINDOW_CANCEL = Action(
    "window.cancel", "Cancel a window of maintenance", "DELETE", _WINDOWS + "/{window}",
    _P.NODE_OPERATE, _W.FLEET, NOTHING, Done)
CALENDAR_LIST = Action(
    "calendar.list", "List calendars of maintenance", "GET", _CALENDARS,
    _P.NODE_READ, _W.ROWS, NOTHING, Page[MaintenanceCalendar])
CALENDAR_SET = Action(
    "calendar.set", "Set a calendar of maintenance", "PUT", _CALENDARS + "/{calendar}",
    _P.NODE_OPERATE, _W.FLEET, CalendarWish, Done)
CALENDAR_WITHDRAW = Action(
    "calendar.withdraw", "Withdraw a calendar of maintenance", "DELETE",
    _CALENDARS + "/{calendar}",
    _P.NODE_OPERATE, _W.FLEET, NOTHING, Done)
# fmt: on
