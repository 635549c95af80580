"""Windows are planned by calendars: the leader announces what comes within each one's days ahead.

Rules:

- A window is named by its calendar and its local date, and every calendar knows until when it was
  planned. So a leader that comes after another plans none twice, and none that was cancelled.
- Where a window of the calendar itself has that name, as when the rule is changed on a day whose
  window is on, its local time is in the name too. Where somebody else's has it, that stands for it.
- Labels are looked up when a window is planned: it has the nodes that have them then. Of nodes by
  name it has those that are there. Where there is none, it is tried again at the next look.
- A calendar for more nodes than a window may have is not planned for some of them: it is said that
  it is not planned at all.
- What cannot be planned (a zone that this machine does not know, a full book) is said once for each
  calendar and reason. A calendar is left for this look after its first refusal; but where a name is
  taken its later times are tried, a bounded number of them in vain.
- One look plans a bounded number. Where there are more, the next look goes on where it ended: a
  calendar that cannot be planned hinders no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

from bailiwick.calendars import Occurrence, occurrences, parse_rule
from bailiwick.kernel import PlanWindow
from bailiwick.kernel.maintenance.book import Calendar
from bailiwick.kernel.maintenance.commands import NODES_MAX, WINDOW_NAME_MAX
from bailiwick.kernel.spelling import labels_from
from bailiwick.reconcile.timetables.planner import DueTime, Sayings
from bailiwick.runtime.replica import View
from bailiwick.runtime.runner import Runner
from bailiwick.vocab.errors import BailiwickError, Conflict

IN_VAIN_MAX: Final = 16
"""Times of one calendar that one look tries though their names are taken."""


class WindowTimes:
    """The calendars of maintenance."""

    name = "calendars"
    actor = "calendar"

    def __init__(self, say: Callable[[str], None]) -> None:
        self._sayings = Sayings(say)
        self._is_left = self._is_taken = False
        """Of the last that was tried: whether its calendar is left, or only its name is taken."""
        self._is_second = False
        """Whether there is a window of that calendar and date beside the one that was tried."""
        self._last = ""
        """The calendar at which the last look ended before it was through."""
        self._known: dict[str, Calendar] = {}
        """What each calendar was when it was last looked at."""
        self._next: dict[str, int] = {}
        """With which time of a calendar to go on, if not all that are missing were tried."""

    def due(self, runner: Runner) -> Iterator[DueTime]:
        """The windows that are missing."""
        now_ms, calendars = runner.read(_read_calendars)
        self._sayings.keep(set(calendars))
        self._forget(calendars)
        for calendar in self._in_turn(calendars):
            self._last = calendar.id
            self._is_left = False
            yield from self._due_of(runner, calendar, now_ms=now_ms)
        self._last, self._is_left = "", False

    def _forget(self, calendars: dict[str, Calendar]) -> None:
        """A calendar that is gone, or was set anew, begins anew."""
        same = {
            name
            for name, before in self._known.items()
            if (now := calendars.get(name)) is not None
            and before.plans_as(now)
            and before.planned_ms <= now.planned_ms
        }
        self._next = {name: at_ms for name, at_ms in self._next.items() if name in same}
        self._known = calendars

    def _in_turn(self, calendars: dict[str, Calendar]) -> Iterator[Calendar]:
        """All of them, those first at which the last look did not come by."""
        names, last = sorted(calendars), self._last
        later = [name for name in names if name > last or (name == last and not self._is_left)]
        return (calendars[name] for name in (*later, *names[: len(names) - len(later)]))

    def _due_of(self, runner: Runner, calendar: Calendar, *, now_ms: int) -> Iterator[DueTime]:
        try:
            found = [*_due(calendar, now_ms)]
        except BailiwickError as error:
            self._tell(calendar.id, str(error))
            return
        nodes = runner.read(partial(_nodes, calendar=calendar)) if found else ()
        if found and not nodes:
            self._tell(calendar.id, "no node is there that it is for")
        if len(nodes) > NODES_MAX:
            why = f"{len(nodes)} nodes have its labels, and a window has {NODES_MAX} at most"
            self._tell(calendar.id, f"{why}; several calendars with narrower labels would do")
            return
        own = runner.read(partial(_own_names, calendar=calendar, times=found)) if nodes else ()
        from_ms, in_vain = self._next.get(calendar.id, 0), 0
        for each in found if nodes else ():
            if each.starts_ms < from_ms:
                continue
            self._is_taken, self._is_second = False, _name(calendar, each) in own
            yield _window(calendar, each, nodes=nodes, is_second=self._is_second)
            in_vain += self._is_taken
            if self._is_left or in_vain == IN_VAIN_MAX:
                return
        self._next.pop(calendar.id, None)

    def refused(self, time: DueTime, error: BailiwickError) -> None:
        """Be told that a window was not planned, and why."""
        if isinstance(error, Conflict):  # planned by hand, or the calendar changed meanwhile
            self._is_taken, self._next[time.rule] = True, time.starts_ms + 1
            if self._is_second:  # nothing stands for it
                self._tell(time.rule, str(error))
        else:
            self._is_left = True
            self._tell(time.rule, str(error))

    def end(self) -> None:
        """Nothing is left behind."""

    def _tell(self, calendar: str, why: str) -> None:
        self._sayings.tell(calendar, f"calendar {calendar} is not planned: {why}")


def _read_calendars(view: View) -> tuple[int, dict[str, Calendar]]:
    return max(view.now_ms, view.state.clock_ms), dict(view.state.maintenance.calendars)


def _due(calendar: Calendar, now_ms: int) -> Iterator[Occurrence]:
    """What comes within the calendar's days, and was not planned."""
    from_ms = max(calendar.planned_ms, now_ms) + 1
    return occurrences(parse_rule(calendar.rule), from_ms, until_ms=now_ms + calendar.ahead_ms)


def _nodes(view: View, *, calendar: Calendar) -> tuple[str, ...]:
    """The nodes that a calendar is for, as they are now."""
    entries = view.state.ledger.entries
    if calendar.nodes:
        return tuple(node for node in calendar.nodes if node in entries)
    wanted = labels_from(calendar.labels)
    return tuple(sorted(str(each.id) for each in entries.values() if each.has_labels(wanted)))


def _own_names(view: View, *, calendar: Calendar, times: Sequence[Occurrence]) -> frozenset[str]:
    """Of the names by date, those that windows of the calendar itself have."""
    windows = view.state.maintenance.windows
    known = (windows.get(_name(calendar, each)) for each in times)
    return frozenset(each.id for each in known if each and each.calendar == calendar.id)


def _name(calendar: Calendar, each: Occurrence) -> str:
    return f"{calendar.id}-{each.date:%Y%m%d}"


def _second_name(calendar: Calendar, each: Occurrence) -> str:
    """With the time, which fits beside any calendar's name only if that is cut off."""
    hour, minute = divmod(parse_rule(calendar.rule).span.minute, 60)
    more = f"-{each.date:%Y%m%d}-{hour:02}{minute:02}"
    return calendar.id[: WINDOW_NAME_MAX - len(more)] + more


def _window(
    calendar: Calendar, each: Occurrence, *, nodes: tuple[str, ...], is_second: bool
) -> DueTime:
    name = _second_name(calendar, each) if is_second else _name(calendar, each)
    times = each.starts_ms, each.ends_ms, calendar.lead_ms
    command = PlanWindow(name, nodes, *times, calendar.text, calendar.id)
    return DueTime(calendar.id, name, each.starts_ms, command)
