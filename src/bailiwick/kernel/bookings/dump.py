"""Bookings and series in a snapshot; who is kept off which node follows."""

from __future__ import annotations

from bailiwick.kernel.bookings.book import BookingUser
from bailiwick.kernel.bookings.guard import stand_guard
from bailiwick.kernel.slice import Plain
from bailiwick.kernel.state import State
from bailiwick.vocab.clock_repair import ClockRepair


def dump(state: State) -> Plain:
    """What is booked; left out where nothing is, as before there were bookings."""
    found = state.bookings.dump()
    return {"bookings": found} if found else {}


def load(state: State, plain: Plain) -> None:
    """Take up what :func:`dump` told; the leases are there by now."""
    told = plain.get("bookings", {})
    booked = {node for row in told.get("bookings", ()) for node in row[5]}
    state.bookings.load(told, {node: users_on(state, node) for node in sorted(booked)})
    stand_guard(state)


def settle(state: State, plain: Plain) -> None:
    """Which nodes take no leases: their modes are there by now."""
    del plain
    entries = state.ledger.entries
    closed = {str(name) for name, entry in entries.items() if not entry.takes_leases}
    gone = (node for node in state.bookings.booked_nodes() if node not in entries)
    state.bookings.settle(closed.union(gone))


def users_on(state: State, node: str) -> list[BookingUser]:
    """Whose leases are on a node, each once for each."""
    if node not in state.ledger.entries:
        return []
    return [user_of(state, lease_id) for lease_id in state.leases_on(node)]


def user_of(state: State, lease_id: int) -> BookingUser:
    """Whose a lease is, and whether it is use of what its node is booked for."""
    shape = state.ledger.handles.shapes[state.fields(lease_id).shape]
    is_use = (
        bool(shape.device_count) or not state.ledger.entry(state.node_of(lease_id)).capacity.gpus
    )
    return BookingUser(state.owner_of(lease_id), is_use)


def repair(plain: Plain, clock: ClockRepair) -> None:
    """What was booked stays booked: its times are people's, and not the journal's.

    When nodes were left was counted by the wrong time. What began by the wrong time and is ahead
    begins again.
    """
    told = plain.get("bookings", {})
    starts = {"/".join((row[1], row[2], row[0])): row[3] for row in told.get("bookings", ())}
    for row in told.get("left", ()):
        row[-1] = clock.past(row[-1])
    if "begun" in told:
        begun = [row for row in told["begun"] if starts[row[0]] <= clock.after_ms]
        told["begun"] = [[key, clock.past(at_ms)] for key, at_ms in begun]
