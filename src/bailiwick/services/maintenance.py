"""Maintenance: windows that are announced, and calendars by which they come back.

Rules:

- Whoever may see machines may see when they are maintained: that is what announcing is for. To plan
  and to cancel is for those who run the machines.
- A calendar's rule is read here, before it is sealed, by this machine's table of time zones.
  Whoever plans by it later counts anew, and what was planned stays as it was announced.
- Windows of a calendar are planned by the leader (:mod:`bailiwick.reconcile.timetables.windows`),
  not here.
"""

from __future__ import annotations

from dataclasses import dataclass

from bailiwick.calendars import parse_rule, spell_rule
from bailiwick.calendars.occurrences import zone_of
from bailiwick.iam import FLEET
from bailiwick.kernel import CancelWindow, Done, PlanWindow, SetCalendar, WithdrawCalendar
from bailiwick.kernel.maintenance.book import Calendar, PlannedWindow
from bailiwick.kernel.maintenance.foresight import WindowForeseen, foresee_window
from bailiwick.runtime.replica import View
from bailiwick.services.caller import Caller, Deferred
from bailiwick.services.foreseeing.changes import ShownLeaving, show_leaving
from bailiwick.services.pages import Rows, page_of
from bailiwick.vocab.errors import NotFound
from bailiwick.vocab.maintenance import WindowPhase
from bailiwick.vocab.transitions import NodeMode


@dataclass(frozen=True, slots=True)
class WindowStanding:
    """A window, and the nodes of it that are not in maintenance though it has begun."""

    window: PlannedWindow
    late: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WindowTold:
    """What planning a window would do, and the first of those who would go."""

    outlook: WindowForeseen
    leases: tuple[ShownLeaving, ...]


def late_nodes(view: View, window: PlannedWindow) -> tuple[str, ...]:
    """The nodes on which something is still waited for, though the window has begun."""
    book, ledger = view.state.maintenance, view.state.ledger
    if window.phase is not WindowPhase.OPEN:
        return ()
    waits = (node for node in window.nodes if window.id in book.held.get(node, ()))
    return tuple(n for n in waits if ledger.entry(n).mode is not NodeMode.MAINTENANCE)


async def list_windows(caller: Caller, *, after: str | None, limit: int) -> Rows[WindowStanding]:
    """The windows that are planned or on, by their names."""
    caller.require_within(FLEET)

    def read(view: View) -> Rows[WindowStanding]:
        windows = view.state.maintenance.windows.values()
        rows, following = page_of(windows, after=after, limit=limit, key=lambda each: each.id)
        return [WindowStanding(each, late_nodes(view, each)) for each in rows], following

    return await caller.read(read)


async def read_window(caller: Caller, window: str) -> WindowStanding:
    """One window."""
    caller.require_within(FLEET)

    def read(view: View) -> WindowStanding:
        found = view.state.maintenance.windows.get(window)
        if found is None:
            raise NotFound("window", window, hint="it was never planned, or is over")
        return WindowStanding(found, late_nodes(view, found))

    return await caller.read(read)


async def plan_window(caller: Caller, tell: Deferred[PlanWindow]) -> tuple[Done, WindowTold | None]:
    """Announce a window; a dry run tells who would go, and who would wait."""
    caller.require(FLEET)
    command = tell()
    done = await caller.change(command)
    if not caller.dry_run:
        return done, None
    found = await caller.read(lambda view: foresee_window(view.state, command, now_ms=view.now_ms))
    return done, WindowTold(found, tuple(show_leaving(caller, each) for each in found.told))


async def cancel_window(caller: Caller, window: str) -> Done:
    """Call a window off; one that is on is over, and its nodes come back."""
    caller.require(FLEET)
    return await caller.change(CancelWindow(window))


async def list_calendars(caller: Caller, *, after: str | None, limit: int) -> Rows[Calendar]:
    """The calendars by which windows are planned."""
    caller.require_within(FLEET)

    def read(view: View) -> Rows[Calendar]:
        calendars = view.state.maintenance.calendars.values()
        return page_of(calendars, after=after, limit=limit, key=lambda each: each.id)

    return await caller.read(read)


async def set_calendar(caller: Caller, tell: Deferred[SetCalendar]) -> Done:
    """Plan windows by this rule from now on."""
    caller.require(FLEET)
    return await caller.change(tell())


async def withdraw_calendar(caller: Caller, calendar: str) -> Done:
    """Plan nothing by it any more; what is ahead by it is off."""
    caller.require(FLEET)
    return await caller.change(WithdrawCalendar(calendar))


def checked_rule(text: str) -> str:
    """The one spelling of a rule; one that cannot be counted out here is refused."""
    rule = parse_rule(text)
    zone_of(rule.span.zone)
    return spell_rule(rule)
