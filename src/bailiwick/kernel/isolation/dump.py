"""The isolation policy and what was left behind in a snapshot; who is where follows."""

from __future__ import annotations

from bailiwick.kernel.isolation.guard import stand_guard
from bailiwick.kernel.isolation.residues import recount
from bailiwick.kernel.slice import Plain
from bailiwick.kernel.state import State
from bailiwick.vocab.clock_repair import ClockRepair


def dump(state: State) -> Plain:
    """What is known of isolation."""
    return {"isolation": state.isolation.dump(state.clock_ms)}


def load(state: State, plain: Plain) -> None:
    """Take up what :func:`dump` told; the leases are there already."""
    state.isolation.load(plain["isolation"])
    recount(state)
    stand_guard(state)


def repair(plain: Plain, clock: ClockRepair) -> None:
    """What was left behind is kept as long as it had left; the hours of a rule are other hours."""
    dumped = plain["isolation"]
    dumped["time_moved"] = True
    dumped["set_ms"] = clock.past(dumped["set_ms"])
    for row in dumped["residues"]:  # rule, kind, domain, left, until
        row[3] = clock.past(row[3])
        row[4] = None if row[4] is None else clock.end(row[4])
