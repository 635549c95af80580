"""Repartitioning: a node is emptied, its agent divides GPUs, and the node takes work again.

Rules:

- The whole node is emptied, not the GPUs alone: its agent may turn a mode on or off, and what a
  machine has changes as one. Everybody there goes, guaranteed leases too, and nobody elsewhere but
  members of their gangs.
- A node that a window of maintenance holds is that window's: no change begins there, nor while one
  that is over has yet to give it back. While a change goes on nobody moves the node by hand, since
  its agent may be at work.
- Once the node is empty it goes into maintenance, and its agent has ``wait_ms`` to answer, anew
  when somebody else leads. Without an answer the change has failed.
- Done, the node is back by the legal path, tested first if it can be; or it stays in maintenance
  for a window of its that came on meanwhile, which gives it back. If the machine has become
  another by it (a GPU can be divided now that could not before), it departs and joins again as what
  it is: that takes its evidence away, and it has to attest again.
- Failed, the node stays in maintenance until somebody has looked and opens it. Where a teardown was
  never confirmed it stays as it is: only a person can say that the node is empty. So no change
  begins in maintenance while a lease is left there, and none that finds one is ever done.
- Called off before the node was empty, it takes work again; who is to go still goes. Called off
  later, it stays in maintenance: its agent may be half-way.
- An agent that answers twice, or too late, is refused: the record of the end is the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, assert_never

from bailiwick.fleet.inventory import check_inventory, is_same_machine
from bailiwick.kernel.events import Event
from bailiwick.kernel.fleet.events import NodeDeparted, NodeModeChanged, NodeRegistered
from bailiwick.kernel.health.returning import cancel_test, check_empty, come_back, rejoin
from bailiwick.kernel.maintenance.events import WindowPhaseChanged
from bailiwick.kernel.mig import commands as cmd
from bailiwick.kernel.mig import events as ev
from bailiwick.kernel.mig.book import MigChange
from bailiwick.kernel.slice import Apply
from bailiwick.kernel.state import State
from bailiwick.kernel.trust.rules import close_again
from bailiwick.kernel.work.ending import active_with_gangs, evict
from bailiwick.vocab.errors import Conflict, LimitReached, NotFound
from bailiwick.vocab.maintenance import WindowPhase
from bailiwick.vocab.mig import MigFailure, MigPhase
from bailiwick.vocab.transitions import NodeMode, check_mode_change
from bailiwick.vocab.words import PreemptionReason

CHANGES_MAX: Final = 10_000
"""Nodes that are repartitioned at once, and those where it failed and nobody has looked."""

REASON: Final = PreemptionReason.OPERATOR_MIG_PROFILE_CHANGE
MIG_LABEL: Final = "gpu_mig"
UNDIVIDED: Final = "unsupported"
"""What the agent's label says of a machine none of whose GPUs can be divided."""

_CLOSED: Final = frozenset((NodeMode.DRAINING, NodeMode.DRAINED, NodeMode.MAINTENANCE))
"""The modes in which a node needs no drain: one is on, or over."""


def decide(state: State, command: cmd.MigCommand, now_ms: int) -> Iterator[Event]:
    """The events that follow from such a command."""
    match command:
        case cmd.ChangeMig():
            return _change(state, command, now_ms=now_ms)
        case cmd.CancelMig():
            return _cancel(state, command)
        case cmd.ReportMig():
            return _report(state, command)
        case _:
            assert_never(command)


def _change(state: State, command: cmd.ChangeMig, *, now_ms: int) -> Iterator[Event]:
    entry, node = state.ledger.entry(command.node), command.node
    state.mig.check_free(node)
    _check_gpus(state, command)
    if node in state.maintenance.held:
        hint = "wait until it is over, or cancel it"
        raise Conflict("node", node, "is held by a window of maintenance", hint=hint)
    if entry.mode not in _CLOSED:
        check_mode_change(entry.mode, NodeMode.DRAINING)
    if node in state.maintenance.releasing:  # a tick opens it, and would under the agent's hands
        hint = "wait until it takes work again"
        raise Conflict("node", node, "is on its way back from a window", hint=hint)
    if entry.mode is NodeMode.MAINTENANCE:  # it may have lost its fence before
        check_empty(state, node)
    if node not in state.mig.changes and len(state.mig.changes) >= CHANGES_MAX:
        raise LimitReached("nodes that are repartitioned", CHANGES_MAX)
    yield from cancel_test(state, node)
    yield ev.MigChangeBegun(node, state.size, command.gpus, command.profiles, command.wait_ms)
    if entry.mode not in _CLOSED:
        yield NodeModeChanged(node, entry.mode, NodeMode.DRAINING)
    going = active_with_gangs(state, state.leases_on(node))
    yield from evict(state, going, reason=REASON, now_ms=now_ms, grace_ms=command.grace_ms)


def _check_gpus(state: State, command: cmd.ChangeMig) -> None:
    capacity = state.ledger.entry(command.node).capacity
    count = len(capacity.gpus)
    for gpu in command.gpus:
        if gpu >= count:
            hint = f"it has {count}, and they are counted from 0"
            raise Conflict("node", command.node, f"has no GPU {gpu}", hint=hint)
    if capacity.labels.get(MIG_LABEL) == UNDIVIDED:
        raise Conflict("node", command.node, "has no GPU that can be divided")


def _cancel(state: State, command: cmd.CancelMig) -> Iterator[Event]:
    found = _found(state, command.node)
    yield ev.MigChangeEnded(command.node, found.id, MigFailure.CANCELLED)
    if found.phase is MigPhase.DRAINING and command.node in state.ledger:
        yield from _give_back(state, command.node)


def _report(state: State, command: cmd.ReportMig) -> Iterator[Event]:
    node, found = command.node, _found(state, command.node)
    entry = state.ledger.entry(node)
    if found.id != command.change_id or found.phase is not MigPhase.REPARTITIONING:
        hint = "its heartbeat tells the change that is wanted now"
        raise Conflict("change", command.change_id, "is not wanted now", hint=hint)
    now = command.capacity
    becomes = None if now is None or is_same_machine(entry.capacity, now) else now
    if becomes is not None:
        check_inventory(becomes)
        state.ledger.handles.check_room(becomes)
    cause = command.cause
    if cause is None and state.leases_on(node):
        cause = MigFailure.FENCE_LOST
    yield ev.MigChangeEnded(node, found.id, cause)
    if cause is not None:
        return
    if becomes is None:
        yield from _give_back(state, node)
        return
    yield NodeDeparted(node, ())
    yield NodeRegistered(node, becomes)
    yield from close_again(state, node)
    yield from rejoin(state, node)


def _give_back(state: State, node: str) -> Iterator[Event]:
    """The node takes work again; or a window has it that came on meanwhile, and opens it later."""
    on = [w for w in state.maintenance.windows_of(node) if w.phase is not WindowPhase.PLANNED]
    for window in on:
        yield WindowPhaseChanged(window.id, window.phase, window.phase, (node,))
    if not on:
        yield from come_back(state, node)


def _found(state: State, node: str) -> MigChange:
    found = state.mig.find(node)
    if found is None:
        raise NotFound("change of MIG profiles", node, hint="none goes on there")
    return found


# -- time --------------------------------------------------------------------------------------


def keep_mig(state: State, *, now_ms: int, limit: int) -> Iterator[Event]:
    """Empty nodes go into maintenance; what cannot go on any more, or takes too long, is over."""
    if not state.mig.changes:
        return
    for change in state.mig.going_on()[:limit]:
        there = change.node in state.ledger
        mode = state.ledger.entry(change.node).mode if there else None
        cause = _failure(state, change, mode=mode, now_ms=now_ms)
        if cause is not None:
            yield ev.MigChangeEnded(change.node, change.id, cause)
        elif mode is NodeMode.DRAINED:
            yield NodeModeChanged(change.node, mode, NodeMode.MAINTENANCE)


def _failure(
    state: State, change: MigChange, *, mode: NodeMode | None, now_ms: int
) -> MigFailure | None:
    """Why the change cannot go on, if it cannot."""
    drains = change.phase is MigPhase.DRAINING
    fenced = drains and mode is not None and _is_fenced(state, change.node)
    if mode is NodeMode.FENCE_LOST or fenced:
        return MigFailure.FENCE_LOST
    if mode not in ((NodeMode.DRAINING, NodeMode.DRAINED) if drains else (NodeMode.MAINTENANCE,)):
        return MigFailure.DEPARTED  # gone, or gone and back
    late = change.due_ms is not None and now_ms >= change.due_ms
    return MigFailure.TIMED_OUT if late else None


def _is_fenced(state: State, node: str) -> bool:
    """Whether a lease there was never confirmed to be gone: nothing empties the node by itself."""
    return any(lease_id in state.fenced for lease_id in state.leases_on(node))


# -- applying ----------------------------------------------------------------------------------


def _begun(state: State, event: ev.MigChangeBegun, at_ms: int) -> None:
    wanted = event.gpus, event.profiles, event.wait_ms
    change = MigChange(event.change_id, event.node, *wanted, at_ms)
    state.mig.put(change, state.ledger.entry(event.node).mode)


def _ended(state: State, event: ev.MigChangeEnded, at_ms: int) -> None:
    del at_ms
    state.mig.end(event.node, event.cause, is_there=event.node in state.ledger)


APPLY: Mapping[type, Apply] = {ev.MigChangeBegun: _begun, ev.MigChangeEnded: _ended}
TOLD_ONLY = (ev.MigChangeBegun, ev.MigChangeEnded)
"""Of the node and its leases the records that follow tell, and they are read as they are."""
