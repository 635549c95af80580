"""Windows and calendars in a snapshot; who is kept off which node follows."""

from __future__ import annotations

from bailiwick.kernel.maintenance.guard import stand_guard
from bailiwick.kernel.slice import Plain
from bailiwick.kernel.state import State
from bailiwick.vocab.clock_repair import ClockRepair
from bailiwick.vocab.transitions import NodeMode


def dump(state: State) -> Plain:
    """What is known of maintenance; left out where there is none, as before there was any."""
    found = state.maintenance.dump()
    return {"maintenance": found} if found else {}


def load(state: State, plain: Plain) -> None:
    """Take up what :func:`dump` told."""
    state.maintenance.load(plain.get("maintenance", {}))
    stand_guard(state)


def settle(state: State, plain: Plain) -> None:
    """Which nodes are not in maintenance yet: the modes are there by now."""
    del plain
    book, entries = state.maintenance, state.ledger.entries
    modes = {node: state.ledger.entry(node).mode for node in book.held if node in entries}
    book.unready = {node for node, mode in modes.items() if mode is not NodeMode.MAINTENANCE}
    for node, mode in modes.items():
        book.note_ready(node, mode)


def repair(plain: Plain, clock: ClockRepair) -> None:
    """What was announced stays announced: its times are people's, and not the journal's.

    A window that began by the wrong time is ahead again, and the next tick says so. Until when
    calendars were planned was counted by the wrong time, too.
    """
    for row in plain.get("maintenance", {}).get("calendars", ()):
        row[-1] = clock.past(row[-1])
