"""Maintenance: what follows from commands about windows and calendars, and from time.

Rules:

- ``lead_ms`` before a window its nodes are closed, and who would still run at its beginning is told
  to go, with grace until then; less what a teardown may take, where one is waited for. Whose term
  ends by then is left alone: that is what it was let in for, and its node waits for its teardown.
  Where that time has passed already, as after an outage, there is the
  usual grace, or the lead if that is shorter.
- Critical work is spared. Its node waits for it, within the window: its term does not grow there.
- A node goes into maintenance once it is empty and the window has begun. When the last window that
  holds it is over it is opened again by the legal path. A node that was closed before the window
  stays as it was; so does one that somebody opened or closed by hand meanwhile.
- Who took work, and is closed for a test alone, counts as open: the window has it, and the test is
  off. A node that is repartitioned when the window comes is the window's once that is done.
- What a window did to nodes is told after its own record. If a journal breaks off between them, the
  next tick goes on from there.
- By a calendar every time is planned once: what was cancelled is not planned again. One that is
  set again and plans the same keeps all that; only another calls off what is ahead.
- A window that was missed as a whole is over, and nothing else.
- A tick writes about as many records as it is allowed; the next goes on. On a node it is looked who
  has to go when a window of it comes further, and again only if something happened there since.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final, assert_never

from bailiwick.kernel.events import Event
from bailiwick.kernel.fleet.events import NodeModeChanged
from bailiwick.kernel.health.returning import begin_test
from bailiwick.kernel.maintenance import commands as cmd
from bailiwick.kernel.maintenance import events as ev
from bailiwick.kernel.maintenance.book import Calendar, PlannedWindow
from bailiwick.kernel.maintenance.guard import stand_guard
from bailiwick.kernel.slice import Apply
from bailiwick.kernel.state import State
from bailiwick.kernel.work.ending import active_with_gangs, evict, is_confirmed
from bailiwick.vocab.errors import Conflict, LimitReached, NotFound
from bailiwick.vocab.health import NodeTestCause, NodeTestOutcome
from bailiwick.vocab.maintenance import WindowEnd, WindowPhase
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.values import check_ahead
from bailiwick.vocab.words import PreemptionReason, Priority

WINDOWS_MAX: Final = 2_000
MENTIONS_MAX: Final = 100_000
"""Nodes of all windows together, each as often as it is named."""

CALENDARS_MAX: Final = 256

_BACK: Final = {
    NodeMode.DRAINING: NodeMode.ACCEPTING,
    NodeMode.DRAINED: NodeMode.RETURNING,
    NodeMode.MAINTENANCE: NodeMode.RETURNING,
    NodeMode.RETURNING: NodeMode.ACCEPTING,
}
"""The legal path from where a window brought a node to where it takes work."""


def decide(state: State, command: cmd.MaintenanceCommand, now_ms: int) -> Iterator[Event]:
    """The events that follow from such a command."""
    match command:
        case cmd.PlanWindow():
            return _plan(state, command, now_ms=now_ms)
        case cmd.CancelWindow():
            return _cancel(state, command)
        case cmd.SetCalendar():
            return _set_calendar(state, command)
        case cmd.WithdrawCalendar():
            return _withdraw(state, command)
        case _:
            assert_never(command)


def _plan(state: State, command: cmd.PlanWindow, *, now_ms: int) -> Iterator[Event]:
    book = state.maintenance
    if command.window in book.windows:
        raise Conflict("window", command.window, "is planned already", hint="cancel it first")
    check_ahead("starts_ms", command.starts_ms, now_ms=now_ms)
    for node in command.nodes:
        state.ledger.entry(node)
    if command.calendar is not None:
        _check_calendar(state, command, command.calendar)
    if len(book.windows) >= WINDOWS_MAX:
        raise LimitReached("windows", WINDOWS_MAX)
    if book.mentions + len(command.nodes) > MENTIONS_MAX:
        raise LimitReached("nodes of all windows", MENTIONS_MAX)
    times = command.starts_ms, command.ends_ms, command.lead_ms
    yield ev.WindowPlanned(command.window, command.nodes, *times, command.text, command.calendar)


def _check_calendar(state: State, command: cmd.PlanWindow, name: str) -> None:
    if command.starts_ms <= _calendar(state, name).planned_ms:
        why = f"was planned beyond {command.starts_ms} already"
        raise Conflict("calendar", name, why, hint="plan it under a name of its own")


def _calendar(state: State, name: str) -> Calendar:
    found = state.maintenance.calendars.get(name)
    if found is None:
        raise NotFound("calendar", name, hint="maintenance calendar list tells which there are")
    return found


def _cancel(state: State, command: cmd.CancelWindow) -> Iterator[Event]:
    if command.window not in state.maintenance.windows:
        raise NotFound("window", command.window, hint="it was never planned, or is over")
    nodes = state.maintenance.windows[command.window].nodes
    yield ev.WindowEnded(command.window, WindowEnd.CANCELLED)
    for node in sorted(nodes):
        yield from _release(state, node)


def _set_calendar(state: State, command: cmd.SetCalendar) -> Iterator[Event]:
    known = state.maintenance.calendars.get(command.calendar)
    if known is None and len(state.maintenance.calendars) >= CALENDARS_MAX:
        raise LimitReached("calendars", CALENDARS_MAX)
    which = command.nodes, command.labels, command.lead_ms, command.ahead_days, command.text
    after = Calendar(command.calendar, command.rule, *which, 0)
    if known is not None and replace(known, planned_ms=0) == after:
        return
    keeps = known is not None and known.plans_as(after)
    yield ev.CalendarSet(command.calendar, command.rule, *which, keeps)
    if not keeps:
        yield from _call_off(state, command.calendar)


def _withdraw(state: State, command: cmd.WithdrawCalendar) -> Iterator[Event]:
    _calendar(state, command.calendar)
    yield ev.CalendarWithdrawn(command.calendar)
    yield from _call_off(state, command.calendar)


def _call_off(state: State, calendar: str) -> Iterator[Event]:
    """What was planned by a calendar, and has not begun, is off."""
    for window in state.maintenance.in_order():
        if window.calendar == calendar and window.phase is WindowPhase.PLANNED:
            yield ev.WindowEnded(window.id, WindowEnd.CALENDAR_CHANGED)


# -- time --------------------------------------------------------------------------------------


class _Effort:
    """How many records a tick may still write; what was begun is brought to its end."""

    def __init__(self, limit: int) -> None:
        self.left = limit

    def counted(self, events: Iterator[Event]) -> Iterator[Event]:
        """The same events, which are an effort."""
        for event in events:
            self.left -= 1
            yield event


def keep_windows(state: State, *, now_ms: int, limit: int) -> Iterator[Event]:
    """Close, open and end windows that are due, and clear their nodes."""
    book, effort = state.maintenance, _Effort(limit)
    for window in book.due(now_ms):
        if effort.left <= 0:
            return
        yield from effort.counted(_turn(state, window.id, now_ms=now_ms))
    for node in sorted(book.unseen):
        if effort.left <= 0:
            return
        yield from _look(state, node, effort=effort, now_ms=now_ms)
    for node in sorted(book.releasing):
        if effort.left <= 0:
            return
        yield from effort.counted(_release(state, node))


def enter_windows(state: State, *, now_ms: int, limit: int) -> Iterator[Event]:
    """Nodes that are empty go into maintenance, if a window of theirs has begun."""
    del now_ms
    for node in sorted(state.maintenance.enterable)[:limit]:
        yield _move(node, NodeMode.DRAINED, NodeMode.MAINTENANCE)


def _turn(state: State, name: str, *, now_ms: int) -> Iterator[Event]:
    """Bring a window to the phase of this time, step by step."""
    window = state.maintenance.windows[name]
    if now_ms >= window.ends_ms:
        yield ev.WindowEnded(name, WindowEnd.OVER)
        return
    if window.phase is not WindowPhase.PLANNED and now_ms < window.closes_ms:
        yield ev.WindowPhaseChanged(name, window.phase, WindowPhase.PLANNED)
        return
    if window.phase is WindowPhase.PLANNED and now_ms >= window.closes_ms:
        yield _advanced(state, window, WindowPhase.CLOSING)
        window = state.maintenance.windows[name]
    if window.phase is WindowPhase.CLOSING and now_ms >= window.starts_ms:
        yield _advanced(state, window, WindowPhase.OPEN)


def _advanced(state: State, window: PlannedWindow, after: WindowPhase) -> Event:
    """The window comes further, and takes the nodes that were closed by nobody else."""
    book, entries = state.maintenance, state.ledger.entries
    new = [
        node
        for node in window.nodes
        if node in entries and window.id not in book.held.get(node, ()) and _takes(state, node)
    ]
    return ev.WindowPhaseChanged(window.id, window.phase, after, tuple(new))


def _takes(state: State, node: str) -> bool:
    book = state.maintenance
    if state.ledger.entry(node).mode is NodeMode.RETURNING:  # it is tested first
        return False
    # Who is on its way back from a window that ended just now was closed by nobody else.
    return _is_open(state, node) or node in book.held or node in book.releasing


def _is_open(state: State, node: str) -> bool:
    """Whether the node takes work, or would if it were not tested for being idle."""
    mode, test = state.ledger.entry(node).mode, state.health.order(node)
    is_tested = mode is NodeMode.CORDONED and test is not None and test.reopens
    return mode is NodeMode.ACCEPTING or is_tested


def _look(state: State, node: str, *, effort: _Effort, now_ms: int) -> Iterator[Event]:
    """Close a node that a window holds, and have what runs there go, as far as effort reaches.

    If it was closed by somebody else it stays so, and work has to go all the same.
    """
    book, by = state.maintenance, state.maintenance.first_on(node)
    if by is None or node not in state.ledger.entries:
        book.unseen.discard(node)
        return
    if node in book.held:
        mode = state.ledger.entry(node).mode
        if _is_open(state, node):  # a test that goes on there is called off for that
            yield from effort.counted(iter((_move(node, mode, NodeMode.DRAINING),)))
        if state.ledger.entry(node).mode is not NodeMode.DRAINING:
            book.unseen.discard(node)
            return
    for lease_id in _running_into(state, node, by=by):
        going = active_with_gangs(state, [lease_id]) if lease_id in state.leases else []
        if going and effort.left <= 0:
            return  # it is looked at again
        yield from effort.counted(_send_off(state, going, by=by, now_ms=now_ms))
    book.unseen.discard(node)


def _send_off(
    state: State, lease_ids: list[int], *, by: PlannedWindow, now_ms: int
) -> Iterator[Event]:
    """Have these leases go before the window begins."""
    reason = PreemptionReason.MAINTENANCE_WINDOW
    for lease_id in lease_ids:
        until_ms = gone_by(state, lease_id, window=by)
        late_ms = min(state.settings.grace_ms, by.lead_ms)
        grace_ms = until_ms - now_ms if now_ms < until_ms else late_ms
        yield from evict(state, [lease_id], reason=reason, now_ms=now_ms, grace_ms=grace_ms)


def leaving_for(state: State, node: str, *, by: PlannedWindow) -> list[int]:
    """The leases on a node that a window makes go, with their gangs, which may be elsewhere."""
    return active_with_gangs(state, _running_into(state, node, by=by))


def _running_into(state: State, node: str, *, by: PlannedWindow) -> list[int]:
    """The leases on a node that would still run when the window begins, but for critical ones."""
    return [
        lease_id
        for lease_id in state.leases_on(node)
        if state.fields(lease_id).priority < Priority.CRITICAL.rank
        and state.fields(lease_id).expires_ms > by.starts_ms
    ]


def staying_for(state: State, node: str, *, by: PlannedWindow) -> list[int]:
    """The critical leases on a node that a window would have to wait for."""
    return [
        lease_id
        for lease_id in state.leases_on(node)
        if state.fields(lease_id).priority >= Priority.CRITICAL.rank
        and state.fields(lease_id).expires_ms > by.starts_ms
    ]


def gone_by(state: State, lease_id: int, *, window: PlannedWindow) -> int:
    """When the lease has to go, so that its room is free when the window begins."""
    torn_ms = state.settings.teardown_ms if is_confirmed(state, lease_id) else 0
    return max(window.starts_ms - torn_ms, 0)


def _release(state: State, node: str) -> Iterator[Event]:
    """Open a node again, if no window holds it any more."""
    for _ in _BACK:  # no path is longer
        if node not in state.maintenance.releasing:
            break
        mode = state.ledger.entry(node).mode
        if mode is NodeMode.DRAINING and state.health.of(node).is_unfit:
            break  # it drains on
        if mode is NodeMode.RETURNING and state.health.stays_back(node):
            yield from _after_test(state, node)
            break
        yield _move(node, mode, _BACK[mode])


def _after_test(state: State, node: str) -> Iterator[Event]:
    """A node that can be tested is, before it takes work; no other window may be on by then."""
    book, verdict = state.maintenance, state.health.of(node).verdict
    if verdict is not NodeTestOutcome.PASSED:
        yield from begin_test(state, node, cause=NodeTestCause.RETURNING)
    elif not any(each.phase is not WindowPhase.PLANNED for each in book.windows_of(node)):
        yield _move(node, NodeMode.RETURNING, NodeMode.ACCEPTING)


def _move(node: str, before: NodeMode, after: NodeMode) -> NodeModeChanged:
    return NodeModeChanged(node, before, after, by_window=True)


# -- applying ----------------------------------------------------------------------------------


def _planned(state: State, event: ev.WindowPlanned, at_ms: int) -> None:
    del at_ms
    book = state.maintenance
    times = event.starts_ms, event.ends_ms, event.lead_ms
    window = PlannedWindow(event.window, event.nodes, *times, event.text, event.calendar)
    book.put(window)
    known = None if event.calendar is None else book.calendars.get(event.calendar)
    if known is not None:
        until = max(known.planned_ms, event.starts_ms)
        book.calendars[known.id] = replace(known, planned_ms=until)
    stand_guard(state, window)


def _turned(state: State, event: ev.WindowPhaseChanged, at_ms: int) -> None:
    del at_ms
    book = state.maintenance
    book.turn(event.window, event.after, takes=event.nodes)
    for node in event.nodes:
        if state.ledger.entry(node).mode is NodeMode.MAINTENANCE:  # by the window before it
            book.unready.discard(node)
    _settle_nodes(state, book.windows[event.window])


def _ended(state: State, event: ev.WindowEnded, at_ms: int) -> None:
    window = state.maintenance.windows[event.window]
    state.maintenance.drop(event.window)
    state.maintenance.forget_away(at_ms)
    _settle_nodes(state, window)
    stand_guard(state, window)


def _settle_nodes(state: State, window: PlannedWindow) -> None:
    """A window changed: who is open already, or not on the way, is not opened; who may go in."""
    book = state.maintenance
    for node in window.nodes:
        if node not in state.ledger.entries:
            continue
        mode = state.ledger.entry(node).mode
        book.note_ready(node, mode)
        drains_on = mode is NodeMode.DRAINING and state.health.of(node).is_unfit
        if mode not in _BACK or drains_on:
            book.releasing.discard(node)


def _set(state: State, event: ev.CalendarSet, at_ms: int) -> None:
    book, name = state.maintenance, event.calendar
    own = (each for each in book.windows.values() if each.calendar == name)
    on = (each.starts_ms for each in own if each.phase is not WindowPhase.PLANNED)
    planned_ms = book.calendars[name].planned_ms if event.keeps else max((at_ms, *on))
    which = event.nodes, event.labels, event.lead_ms, event.ahead_days, event.text
    book.calendars[name] = Calendar(name, event.rule, *which, planned_ms)


def _withdrawn(state: State, event: ev.CalendarWithdrawn, at_ms: int) -> None:
    del at_ms
    del state.maintenance.calendars[event.calendar]


APPLY: Mapping[type, Apply] = {
    ev.WindowPlanned: _planned,
    ev.WindowPhaseChanged: _turned,
    ev.WindowEnded: _ended,
    ev.CalendarSet: _set,
    ev.CalendarWithdrawn: _withdrawn,
}
