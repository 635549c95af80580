"""Windows of maintenance and calendars, for hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from bailiwick.kernel.maintenance import commands as cmd
from bailiwick.kernel.maintenance import events as ev
from bailiwick.vocab.maintenance import WindowEnd, WindowPhase
from tests.unit.journal.makers import names

short = names.map(lambda name: name[:38])
nodes = st.lists(names, min_size=1, max_size=4, unique=True).map(tuple)
starts = st.integers(1, 2**50)
lengths = st.integers(1, cmd.LENGTH_MAX_MS)
leads = st.integers(0, cmd.LEAD_MAX_MS)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=100)
rules = texts.filter(bool)
days = st.integers(1, cmd.AHEAD_DAYS_MAX)
phases = st.sampled_from(WindowPhase)
labels = st.lists(names, min_size=1, max_size=3, unique=True).map(
    lambda keys: tuple(f"{key}=x" for key in keys)
)
which = st.one_of(st.tuples(nodes, st.just(())), st.tuples(st.just(()), labels))


def _window(kind: type[Any]) -> st.SearchStrategy[Any]:
    return st.builds(
        lambda name, on, start, length, *more: kind(name, on, start, start + length, *more),
        *(short, nodes, starts, lengths, leads, texts, st.none() | short),
    )


def _calendar(kind: type[Any]) -> st.SearchStrategy[Any]:
    return st.builds(
        lambda name, rule, on, *more: kind(name, rule, *on, *more),
        *(short, rules, which, leads, days, texts),
    )


EVENTS: dict[type[Any], st.SearchStrategy[Any]] = {
    ev.WindowPlanned: _window(ev.WindowPlanned),
    ev.WindowPhaseChanged: st.builds(
        ev.WindowPhaseChanged, short, phases, phases, st.just(()) | nodes
    ),
    ev.WindowEnded: st.builds(ev.WindowEnded, short, st.sampled_from(WindowEnd)),
    ev.CalendarSet: _calendar(ev.CalendarSet),
    ev.CalendarWithdrawn: st.builds(ev.CalendarWithdrawn, short),
}
COMMANDS: dict[type[Any], st.SearchStrategy[Any]] = {
    cmd.PlanWindow: _window(cmd.PlanWindow),
    cmd.CancelWindow: st.builds(cmd.CancelWindow, short),
    cmd.SetCalendar: _calendar(cmd.SetCalendar),
    cmd.WithdrawCalendar: st.builds(cmd.WithdrawCalendar, short),
}
