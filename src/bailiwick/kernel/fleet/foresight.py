"""What a change of a node's mode would do: who would go, until when, and what room is left.

Rules:

- Who would go is asked as when it is done (:func:`.rules.evicted_by`): the same code and state.
- Looking changes nothing.
- The room is that of the generations that the node has, on nodes that take leases: now, and once
  everybody who would go has gone and nobody else has come.
- No more than :data:`TOLD_MAX` leases are told one by one; all are counted.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from bailiwick.kernel.fleet.commands import ChangeMode
from bailiwick.kernel.fleet.rules import evicted_by
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.state import State
from bailiwick.kernel.views import fleet
from bailiwick.kernel.work.ending import grace_end
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.words import HardwareGeneration

TOLD_MAX = 50
"""Leases that are told one by one."""


@dataclass(frozen=True, slots=True)
class LeavingLease:
    """A lease that would go: whose it is, where it runs, and until when it may."""

    lease_id: int
    owner: Owner
    node: str
    until_ms: int


@dataclass(frozen=True, slots=True)
class RoomLeft:
    """Free milli-shares of one generation on nodes that take leases, now and afterwards."""

    generation: HardwareGeneration
    free_milli: int
    free_after_milli: int


@dataclass(frozen=True, slots=True)
class ModeOutlook:
    """What a change of mode would do."""

    leaving: int
    """Leases that would be ended, with the members of their gangs that run elsewhere."""
    elsewhere: int
    """Of these, how many run on other nodes."""
    gangs: int
    """Gangs of which a member would be ended."""
    staying: int
    """Leases on the node that would go on until they end by themselves."""
    until_ms: int | None
    """When the last of those that would go has to be gone."""
    told: tuple[LeavingLease, ...]
    room: tuple[RoomLeft, ...]


def foresee_mode(state: State, command: ChangeMode, *, now_ms: int) -> ModeOutlook:
    """What the change would do now."""
    now, entry = max(now_ms, state.clock_ms), state.ledger.entry(command.node)
    going = evicted_by(state, command)
    here = frozenset(state.leases_on(command.node))
    until = {i: grace_end(state, i, now_ms=now, grace_ms=command.grace_ms) for i in going}
    gangs = {state.ledger.told(state.handle(i)).gang for i in going} - {None}
    told = [
        LeavingLease(i, state.owner_of(i), str(state.node_of(i)), until[i])
        for i in going[:TOLD_MAX]
    ]
    opens = command.mode is NodeMode.ACCEPTING and not (entry.quarantined or entry.gated)
    return ModeOutlook(
        leaving=len(going),
        elsewhere=sum(i not in here for i in going),
        gangs=len(gangs),
        staying=len(here - set(going)),
        until_ms=max(until.values(), default=None),
        told=tuple(told),
        room=_room(state, command.node, going=[i for i in going if i not in here], opens=opens),
    )


def _room(state: State, node: str, *, going: list[int], opens: bool) -> tuple[RoomLeft, ...]:
    """The room of the node's generations; ``going`` are leases that end on other nodes."""
    entry, more = state.ledger.entry(node), Counter[HardwareGeneration]()
    if entry.takes_leases is not opens:
        free = state.ledger.engine.node(entry.handle)[5]
        for gpu, milli in zip(entry.capacity.gpus, free, strict=True):
            more[gpu.generation] += milli if opens else -milli
    for lease_id in going:
        other = state.ledger.entry(state.node_of(lease_id))
        lease = state.ledger.told(state.handle(lease_id))
        if other.takes_leases and lease.devices:
            share = lease.resources.gpu_milli // len(lease.devices)
            for device in lease.devices:
                more[other.capacity.gpus[device].generation] += share
    has = {gpu.generation for gpu in entry.capacity.gpus}
    return tuple(
        RoomLeft(row.generation, row.free_milli, row.free_milli + more[row.generation])
        for row in fleet(state).generations
        if row.generation in has
    )
