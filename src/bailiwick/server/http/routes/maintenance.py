"""Maintenance: parse, call one service, spell the answer."""

from __future__ import annotations

from bailiwick.kernel import PlanWindow, SetCalendar
from bailiwick.kernel.maintenance.book import Calendar
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Changing, Here
from bailiwick.server.http.params import Limit, NameCursor, PathName, spell_page
from bailiwick.server.http.spelling import spell_done
from bailiwick.services import maintenance
from bailiwick.services.maintenance import WindowStanding, WindowTold
from bailiwick.wire import maintenance as wire
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page
from bailiwick.wire.foreseen import LeavingLease


@answers("window.list")
async def list_windows(
    asked: Here, *, cursor: NameCursor = None, limit: Limit = 100
) -> Page[wire.MaintenanceWindow]:
    """The windows of maintenance that are planned or on."""
    return spell_page(await maintenance.list_windows(asked, after=cursor, limit=limit), _window)


@answers("window.read")
async def read_window(asked: Here, window: PathName) -> wire.MaintenanceWindow:
    """One window: which nodes, from when until when, and how far it has come."""
    return _window(await maintenance.read_window(asked, window))


@answers("window.plan")
async def plan_window(asked: Changing, body: wire.NewWindow) -> wire.WindowSet:
    """Announce that nodes are maintained: work that would not finish before is not started there.

    What still runs when they are closed is warned, and has to be gone at the beginning.
    """
    times = body.starts_ms, body.ends_ms, body.lead_ms
    done, told = await maintenance.plan_window(
        asked, lambda: PlanWindow(body.window, tuple(body.nodes), *times, body.text)
    )
    consequence = None if told is None else _consequence(told)
    return wire.WindowSet(answer="done", seq=done.seq, consequence=consequence)


@answers("window.cancel")
async def cancel_window(asked: Changing, window: PathName) -> Done:
    """Call a window off. One that is on is over, and its nodes take work again."""
    return spell_done(await maintenance.cancel_window(asked, window))


@answers("calendar.list")
async def list_calendars(
    asked: Here, *, cursor: NameCursor = None, limit: Limit = 100
) -> Page[wire.MaintenanceCalendar]:
    """The calendars by which windows are planned."""
    found = await maintenance.list_calendars(asked, after=cursor, limit=limit)
    return spell_page(found, _calendar)


@answers("calendar.set")
async def set_calendar(asked: Changing, calendar: PathName, *, body: wire.CalendarWish) -> Done:
    """Plan windows by this rule from now on; what is ahead by another is off.

    ``rule`` is like `weekly on sat,sun at 02:00 for 4h in Europe/Berlin`.
    """

    def tell() -> SetCalendar:
        rule = maintenance.checked_rule(body.rule)
        return SetCalendar(
            calendar,
            rule,
            tuple(body.nodes),
            tuple(body.labels),
            body.lead_ms,
            body.ahead_days,
            body.text,
        )

    return spell_done(await maintenance.set_calendar(asked, tell))


@answers("calendar.withdraw")
async def withdraw_calendar(asked: Changing, calendar: PathName) -> Done:
    """Plan nothing by it any more; what is ahead by it is off, and what is on goes on."""
    return spell_done(await maintenance.withdraw_calendar(asked, calendar))


def _window(found: WindowStanding) -> wire.MaintenanceWindow:
    window = found.window
    return wire.MaintenanceWindow(
        window=window.id,
        nodes=list(window.nodes),
        starts_ms=window.starts_ms,
        ends_ms=window.ends_ms,
        lead_ms=window.lead_ms,
        text=window.text,
        calendar=window.calendar,
        phase=window.phase,
        late=list(found.late),
    )


def _consequence(told: WindowTold) -> wire.WindowConsequence:
    outlook = told.outlook
    return wire.WindowConsequence(
        leaving=outlook.leaving,
        elsewhere=outlook.elsewhere,
        staying=outlook.staying,
        waiting=outlook.waiting,
        leases=[LeavingLease(**each._asdict()) for each in told.leases],
    )


def _calendar(found: Calendar) -> wire.MaintenanceCalendar:
    return wire.MaintenanceCalendar(
        calendar=found.id,
        rule=found.rule,
        nodes=list(found.nodes),
        labels=list(found.labels),
        lead_ms=found.lead_ms,
        ahead_days=found.ahead_days,
        text=found.text,
        planned_ms=found.planned_ms,
    )
