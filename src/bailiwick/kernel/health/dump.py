"""The health of machines in a snapshot."""

from __future__ import annotations

from bailiwick.kernel.slice import Plain
from bailiwick.kernel.state import State
from bailiwick.vocab.clock_repair import ClockRepair


def dump(state: State) -> Plain:
    """What is known and what is tested; left out where nobody has told anything."""
    found = state.health.dump()
    return {"node_health": found} if found else {}


def load(state: State, plain: Plain) -> None:
    """Take up what :func:`dump` told."""
    state.health.load(plain.get("node_health", {}))


def repair(plain: Plain, clock: ClockRepair) -> None:
    """Set the times right: an agent has as long for its test as it would have had."""
    found = plain.get("node_health", {})
    for row in found.get("nodes", {}).values():
        for at in (2, 3):  # when it was told, and since when it fails
            row[at] = None if row[at] is None else clock.past(row[at])
        for test in row[6]:
            test[3] = clock.past(test[3])
    for test in found.get("tests", ()):
        test[3], test[4] = clock.past(test[3]), clock.end(test[4])
