"""What a window would do if it were planned: who would go, whom it would wait for, who would wait.

Rules:

- Who would go is asked as when it is done (:func:`.rules.leaving_for`), of what runs now: who comes
  until then does not run into the window, and who ends before is not counted.
- Looking changes nothing. No more than :data:`TOLD_MAX` leases are told one by one; all count.
- Of those that wait, no more than :data:`WAITING_MAX` are looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Final

from bailiwick.kernel.fleet.foresight import TOLD_MAX, LeavingLease
from bailiwick.kernel.maintenance.book import PlannedWindow
from bailiwick.kernel.maintenance.commands import PlanWindow
from bailiwick.kernel.maintenance.rules import gone_by, leaving_for, staying_for
from bailiwick.kernel.state import State

WAITING_MAX: Final = 10_000
"""Waiting requests that are counted."""


@dataclass(frozen=True, slots=True)
class WindowForeseen:
    """What a window would do."""

    leaving: int
    """Leases that would be ended, with the members of their gangs that run elsewhere."""
    elsewhere: int
    """Of these, how many run on nodes that are not maintained."""
    staying: int
    """Critical leases there that would be waited for."""
    waiting: int
    """Requests that wait, and whose term is too long to start there before."""
    told: tuple[LeavingLease, ...]


def foresee_window(state: State, command: PlanWindow, *, now_ms: int) -> WindowForeseen:
    """What the window would do, seen from now."""
    times = command.starts_ms, command.ends_ms, command.lead_ms
    window = PlannedWindow(command.window, command.nodes, *times)
    there = [node for node in command.nodes if node in state.ledger.entries]
    going = {i: None for node in there for i in leaving_for(state, node, by=window)}
    longest_ms = command.starts_ms - max(now_ms, state.clock_ms)
    line = islice(state.line.entries.values(), WAITING_MAX)
    told = [
        LeavingLease(i, state.owner_of(i), str(state.node_of(i)), gone_by(state, i, window=window))
        for i in islice(going, TOLD_MAX)
    ]
    return WindowForeseen(
        leaving=len(going),
        elsewhere=sum(str(state.node_of(i)) not in command.nodes for i in going),
        staying=sum(len(staying_for(state, node, by=window)) for node in there),
        waiting=sum(entry.request.ttl_ms > longest_ms for entry in line),
        told=tuple(told),
    )
