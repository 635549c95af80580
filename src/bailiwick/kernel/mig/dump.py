"""Changes of MIG profiles in a snapshot."""

from __future__ import annotations

from bailiwick.kernel.mig import book
from bailiwick.kernel.slice import Plain
from bailiwick.kernel.state import State
from bailiwick.vocab.clock_repair import ClockRepair


def dump(state: State) -> Plain:
    """What goes on and what failed; left out where there is none, as before there was any."""
    rows = state.mig.dump()
    return {"mig_changes": rows} if rows else {}


def load(state: State, plain: Plain) -> None:
    """Take up what :func:`dump` told."""
    state.mig.load(plain.get("mig_changes", []))


def repair(plain: Plain, clock: ClockRepair) -> None:
    """Set the times right."""
    book.repair(plain.get("mig_changes", []), clock)
