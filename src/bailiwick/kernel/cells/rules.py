"""Cells: which rules decide a command, and which fold an event.

A plane has cells (:mod:`.sending`), or is one (:mod:`.taking`), or both. The rules that hold
between the two are those of :mod:`.book`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import assert_never

from bailiwick.kernel.cells import commands as cmd
from bailiwick.kernel.cells import sending, taking
from bailiwick.kernel.events import Event
from bailiwick.kernel.slice import Apply
from bailiwick.kernel.state import State


def decide(state: State, command: cmd.CellCommand, now_ms: int) -> Iterator[Event]:
    """The events that follow from such a command."""
    match command:
        case cmd.JoinCell():
            return sending.join(state, command)
        case cmd.LeaveCell():
            return sending.leave(state, command)
        case cmd.ReachCell():
            return sending.reach(state, command)
        case cmd.CutOffCell():
            return sending.cut_off(state, command)
        case cmd.AskGlobally():
            return sending.ask(state, command)
        case cmd.SendGlobal():
            return sending.send(state, command, now_ms=now_ms)
        case cmd.NoteGlobal():
            return sending.note(state, command)
        case cmd.RecallGlobal():
            return sending.recall(state, command)
        case cmd.WithdrawGlobal():
            return sending.withdraw(state, command)
        case cmd.MeetHome():
            return taking.meet(state, command)
        case cmd.LeaveHome():
            return taking.leave(state)
        case cmd.TakeGlobal():
            return taking.take(state, command, now_ms=now_ms)
        case cmd.GiveBackGlobal():
            return taking.give_back(state, command, now_ms=now_ms)
        case cmd.HearHome():
            return taking.hear(state, command)
        case _:
            assert_never(command)


APPLY: Mapping[type, Apply] = {**sending.APPLY, **taking.APPLY}
keep_lost = sending.keep_lost
TOLD_ONLY = tuple(APPLY)
"""Where a request goes is decided by who asks the cells; what a cell does with it, its own
records of admission tell."""
