"""Which nodes are being repartitioned, how far that has come, and where it failed.

Rules:

- One node has one change at a time. One that failed is kept until the node takes work again, has
  gone, or another change begins: somebody has to look.
- The time an agent has begins when its node is in maintenance, as the record of that tells, and
  anew when somebody else leads, if the record of that tells so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from bailiwick.vocab.clock_repair import ClockRepair
from bailiwick.vocab.errors import Conflict
from bailiwick.vocab.mig import MigFailure, MigPhase
from bailiwick.vocab.transitions import NodeMode


@dataclass(frozen=True, slots=True)
class MigChange:
    """One change of the MIG profiles of a node's GPUs."""

    id: int
    node: str
    gpus: tuple[int, ...]
    profiles: tuple[str, ...]
    wait_ms: int
    begun_ms: int
    phase: MigPhase = MigPhase.DRAINING
    due_ms: int | None = None
    """Until when its agent has to answer; nothing while the node is not empty yet."""
    cause: MigFailure | None = None

    @property
    def is_on(self) -> bool:
        """Whether it goes on still."""
        return self.phase is not MigPhase.FAILED


class MigBook:
    """The changes of one state, by node."""

    def __init__(self) -> None:
        self.changes: dict[str, MigChange] = {}

    def find(self, node: str) -> MigChange | None:
        """The change of a node that goes on."""
        found = self.changes.get(node)
        return found if found is not None and found.is_on else None

    def order(self, node: str) -> MigChange | None:
        """What a node's agent is to do now: its node is empty, and it has not answered."""
        found = self.changes.get(node)
        return found if found is not None and found.phase is MigPhase.REPARTITIONING else None

    def going_on(self) -> list[MigChange]:
        """The changes that go on, the oldest first."""
        return sorted((e for e in self.changes.values() if e.is_on), key=lambda each: each.id)

    @property
    def waits_for_agents(self) -> bool:
        """Whether an agent has to answer for one of them."""
        return any(each.due_ms is not None for each in self.changes.values())

    def check_free(self, node: str) -> None:
        """Refuse what would take a node from under a change that goes on."""
        found = self.find(node)
        if found is not None:
            hint = "wait, or call that off: bailiwick node mig NODE --cancel"
            raise Conflict("node", node, "is being repartitioned", hint=hint)

    # -- being told, by ``apply`` ------------------------------------------------------------

    def put(self, change: MigChange, mode: NodeMode) -> None:
        """A change begins on a node in this mode."""
        self.changes[change.node] = change
        self.note_mode(change.node, mode, at_ms=change.begun_ms)

    def note_mode(self, node: str, mode: NodeMode, *, at_ms: int) -> None:
        """A node came to be in this mode."""
        found = self.changes.get(node)
        if found is None:
            return
        if found.phase is MigPhase.DRAINING and mode is NodeMode.MAINTENANCE:
            due_ms = at_ms + found.wait_ms
            self.changes[node] = replace(found, phase=MigPhase.REPARTITIONING, due_ms=due_ms)
        elif not found.is_on and mode is NodeMode.ACCEPTING:
            del self.changes[node]

    def resume(self, *, at_ms: int) -> None:
        """Somebody leads again: until now no agent could tell how it went."""
        for node, found in self.changes.items():
            if found.due_ms is not None:
                due_ms = max(found.due_ms, at_ms + found.wait_ms)
                self.changes[node] = replace(found, due_ms=due_ms)

    def end(self, node: str, cause: MigFailure | None, *, is_there: bool) -> None:
        """A change is over; what failed on a machine that is there is kept, to be looked after."""
        found = self.changes.pop(node)
        kept = cause not in (None, MigFailure.CANCELLED, MigFailure.DEPARTED)
        if kept and is_there:
            self.changes[node] = replace(found, phase=MigPhase.FAILED, due_ms=None, cause=cause)

    def forget_node(self, node: str) -> None:
        """The machine is gone: what failed on it is over; what goes on is ended by time."""
        if self.find(node) is None:
            self.changes.pop(node, None)

    # -- a snapshot --------------------------------------------------------------------------

    def dump(self) -> list[list[Any]]:
        """Every change, the oldest first."""
        return [
            [
                *(e.id, str(e.node), list(e.gpus), list(e.profiles), e.wait_ms, e.begun_ms),
                *(e.phase.value, e.due_ms, None if e.cause is None else e.cause.value),
            ]
            for e in sorted(self.changes.values(), key=lambda each: each.id)
        ]

    def load(self, rows: list[list[Any]]) -> None:
        """Take up what :meth:`dump` told."""
        for number, node, gpus, profiles, wait_ms, begun_ms, phase, due_ms, cause in rows:
            told = MigPhase(phase), due_ms, None if cause is None else MigFailure(cause)
            which = number, node, tuple(gpus), tuple(profiles), wait_ms, begun_ms
            self.changes[node] = MigChange(*which, *told)


def repair(rows: list[list[Any]], clock: ClockRepair) -> None:
    """An agent has as long as it would have had, had time been right."""
    for row in rows:
        row[5] = clock.past(row[5])
        if row[7] is not None:
            row[7] = clock.end(row[7])
