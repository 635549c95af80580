"""Which command each event of maintenance answers; none where time brought it about."""

from __future__ import annotations

from collections.abc import Mapping

from bailiwick.kernel.maintenance import commands as cmd
from bailiwick.kernel.maintenance import events as ev
from bailiwick.kernel.slice import Cause
from bailiwick.vocab.maintenance import WindowEnd


def _planning(event: ev.WindowPlanned) -> cmd.PlanWindow:
    times = event.starts_ms, event.ends_ms, event.lead_ms
    return cmd.PlanWindow(event.window, event.nodes, *times, event.text, event.calendar)


def _ending(event: ev.WindowEnded) -> cmd.CancelWindow | None:
    return cmd.CancelWindow(event.window) if event.cause is WindowEnd.CANCELLED else None


def _setting(event: ev.CalendarSet) -> cmd.SetCalendar:
    which = event.nodes, event.labels, event.lead_ms, event.ahead_days, event.text
    return cmd.SetCalendar(event.calendar, event.rule, *which)


CAUSES: Mapping[type, Cause] = {
    ev.WindowPlanned: _planning,
    ev.WindowPhaseChanged: lambda event: None,
    ev.WindowEnded: _ending,
    ev.CalendarSet: _setting,
    ev.CalendarWithdrawn: lambda event: cmd.WithdrawCalendar(event.calendar),
}
