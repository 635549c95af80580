"""Nodes, quotas, shares, settings, who leads: what follows from commands, what events change.

Rules:

- A drain closes a node and evicts what runs there; it ends by itself when nothing does any more.
- A cordon only closes a node to new work. What is opened again goes back by every edge of the mode
  table, in one decision; not while it is quarantined, nor where a fence was lost.
- A node that departs takes its leases with it. Of their gangs, leases on other nodes are freed with
  them only where nobody has to confirm a teardown.
- Critical work is spared by a maintenance window.
- On a tenant's behalf a project is allowed no more than its tenant is at that moment. Lowered
  later, the tenant's leaves its projects' as they are: both are asked at every request.
- Whoever begins to lead gives agents that are at a test or a repartitioning their time anew. The
  record says so: by an earlier version's, which does not, they have what they had.
- A setting by which usage was counted already cannot change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import assert_never

from bailiwick.fleet.inventory import check_inventory
from bailiwick.iam import GivenBy
from bailiwick.kernel.cells.bounds import is_above_by_cells
from bailiwick.kernel.events import Event
from bailiwick.kernel.fleet import commands as cmd
from bailiwick.kernel.fleet import events as ev
from bailiwick.kernel.fleet import labels, notes, rebalance
from bailiwick.kernel.health import returning
from bailiwick.kernel.owner import MEMBERS_MAX, Owner
from bailiwick.kernel.precondition import check_seen, quota_digest, settings_digest
from bailiwick.kernel.slice import NOTHING, Apply, Cause
from bailiwick.kernel.state import State
from bailiwick.kernel.trust.rules import close_again, gate
from bailiwick.kernel.work.ending import (
    active_with_gangs,
    end_with_gang,
    evict,
    evict_active,
    is_confirmed,
)
from bailiwick.kernel.work.rules import end_lease
from bailiwick.scheduler.evictions import plan_burst
from bailiwick.scheduler.rights.nesting import find_excess
from bailiwick.vocab.errors import Conflict, InvariantBroken, LimitReached
from bailiwick.vocab.transitions import NodeMode, check_mode_change
from bailiwick.vocab.words import PreemptionReason, Priority

NODES_MAX = 1_000_000


def decide(state: State, command: cmd.FleetCommand, now_ms: int) -> Iterator[Event]:
    """The events that follow from such a command."""
    match command:
        case cmd.RegisterNode():
            return _register(state, command)
        case cmd.DepartNode():
            return _depart(state, command, now_ms)
        case cmd.ChangeMode():
            return _change_mode(state, command, now_ms)
        case cmd.OpenNode():
            return returning.open_node(state, command)
        case cmd.NoteNode():
            state.ledger.entry(command.node)  # there must be such a node
            return notes.note_node(state.notes, command, note_id=state.size, now_ms=now_ms)
        case cmd.EndNote():
            return notes.end_note(state.notes, command)
        case cmd.LabelNode():
            return labels.decide(state, command)
        case cmd.SetQuota():
            return _set_quota(state, command)
        case cmd.RebalanceQuota():
            return rebalance.decide(state, command, now_ms)
        case cmd.SetShare():
            return _set_share(state, command)
        case cmd.ChangeSettings():
            return _change_settings(state, command)
        case cmd.Elect():
            return _elect(state, command)
        case _:
            assert_never(command)


def _register(state: State, command: cmd.RegisterNode) -> Iterator[Event]:
    if command.node in state.ledger:
        raise Conflict("node", command.node, "is registered already", hint="depart it first")
    if len(state.ledger) >= NODES_MAX:
        raise LimitReached("nodes", NODES_MAX)
    check_inventory(command.capacity)
    state.ledger.handles.check_room(command.capacity)
    yield ev.NodeRegistered(command.node, command.capacity)
    yield from close_again(state, command.node)
    yield from returning.rejoin(state, command.node)


def _depart(state: State, command: cmd.DepartNode, now_ms: int) -> Iterator[Event]:
    on_node = state.leases_on(command.node)
    yield from returning.cancel_test(state, command.node)
    here, gangs = frozenset(on_node), state.with_gangs(on_node)
    # Of a gang, who is elsewhere may still run there: its machine has not gone.
    stays = {i: None for i in gangs if i not in here and is_confirmed(state, i)}
    lost = [i for i in gangs if i not in stays]
    for at in range(0, max(len(lost), 1), MEMBERS_MAX):
        part = tuple(lost[at : at + MEMBERS_MAX])
        left = max(len(lost) - at - MEMBERS_MAX, 0)
        yield ev.NodeDeparted(command.node, part, left, command.last_seen_ms)
    yield from end_with_gang(state, list(stays), departed=command.node, now_ms=now_ms)


def _change_mode(state: State, command: cmd.ChangeMode, now_ms: int) -> Iterator[Event]:
    entry, mode = state.ledger.entry(command.node), command.mode
    state.mig.check_free(command.node)
    check_mode_change(entry.mode, mode)
    holds = state.leases_on(command.node)
    if mode is NodeMode.DRAINED and holds:
        raise Conflict("node", command.node, "still holds leases", hint="evict them first")
    returning.check_mode(state, command, before=entry.mode)
    yield from returning.before_mode(state, command.node, after=mode)
    yield ev.NodeModeChanged(command.node, entry.mode, mode, command.evict)
    if mode is not NodeMode.DRAINING:
        return
    leaving = evicted_by(state, command)
    yield from evict(
        state, leaving, reason=command.reason, now_ms=now_ms, grace_ms=command.grace_ms
    )
    yield from _finish_drains(state)


def evicted_by(state: State, command: cmd.ChangeMode) -> list[int]:
    """The leases that a change of mode makes go, with their gangs, which may be elsewhere."""
    if command.mode is not NodeMode.DRAINING or not command.evict:
        return []
    spared = command.reason is PreemptionReason.MAINTENANCE_WINDOW
    holds = state.leases_on(command.node)
    return active_with_gangs(state, [i for i in holds if not (spared and _is_critical(state, i))])


def _is_critical(state: State, lease_id: int) -> bool:
    return bool(state.fields(lease_id).priority >= Priority.CRITICAL.rank)


def _finish_drains(state: State) -> Iterator[Event]:
    for node in list(state.draining):
        if not state.ledger.engine.node(state.ledger.entry(node).handle)[-1]:
            yield ev.NodeModeChanged(node, NodeMode.DRAINING, NodeMode.DRAINED)


def finish_drains(state: State, *, now_ms: int, limit: int) -> Iterator[Event]:
    """Drains that came to their end."""
    del now_ms, limit
    return _finish_drains(state)


def expire_notes(state: State, *, now_ms: int, limit: int) -> Iterator[Event]:
    """Notes about nodes whose time is over."""
    return notes.expire(state.notes, now_ms=now_ms, limit=limit)


def end_bursts(state: State, *, now_ms: int, limit: int) -> Iterator[Event]:
    """Evict whoever holds more than his quota, and has no burst credit left for it.

    Who could not be brought inside is let be until something of it changes: this is remembered by
    who leads, and is about when somebody is looked at, never about the answer.
    """
    del limit
    quotas = state.quotas
    for overrun in quotas.burst_exhausted(now_ms, anew=True):
        if is_above_by_cells(state, overrun):
            continue
        plan = plan_burst(state.ledger, overrun, now_ms=now_ms)
        if not plan.victims:
            quotas.bursts.let_be(quotas.table.find(overrun.scope))
        ids = [state.ids[victim.lease_id] for victim in plan.victims]
        yield from evict_active(state, ids, reason=plan.reason, now_ms=now_ms, grace_ms=None)


# -- rules -----------------------------------------------------------------------------------


def _set_quota(state: State, command: cmd.SetQuota) -> Iterator[Event]:
    # A table that is full is told here; the row itself, still blank, changes nothing.
    state.quotas.row_of(command.tenant, command.project)
    there = quota_digest(state.quotas.quota_of(command.tenant, command.project))
    check_seen("quota", command.tenant, seen=command.seen, current=there)
    _check_ceiling(state, command)
    _check_nesting(state, command)
    yield ev.QuotaChanged(Owner(command.tenant, command.project), command.quota)


def _check_ceiling(state: State, command: cmd.SetQuota) -> None:
    """A project's own ceiling allows nothing that its tenant's forbids."""
    own = command.quota.ceiling
    if own is None or command.project is None:
        return
    outer = state.quotas.quota_of(command.tenant).ceiling or state.settings.ceiling()
    if not own.is_within(outer):
        name, why = f"{command.tenant}/{command.project}", "would allow more than its tenant's"
        raise Conflict("ceiling", name, why, hint="bailiwick quota show tells what that is")


def _check_nesting(state: State, command: cmd.SetQuota) -> None:
    """What a tenant's own people set is within what the tenant has."""
    if command.given_by is not GivenBy.TENANT:
        return
    excess = find_excess(command.quota, state.quotas.quota_of(command.tenant))
    if excess is not None:
        name = f"{command.tenant}/{command.project}"
        why = f"would allow {excess.wanted} {excess.word}, and its tenant has {excess.most}"
        raise Conflict("quota", name, why, hint="the fleet's administrator sets the tenant's")


def _set_share(state: State, command: cmd.SetShare) -> Iterator[Event]:
    state.quotas.row_of(command.tenant, command.project)
    yield ev.ShareChanged(Owner(command.tenant, command.project), command.share)


def _change_settings(state: State, command: cmd.ChangeSettings) -> Iterator[Event]:
    there = settings_digest(state.settings)
    check_seen("settings", "fleet", seen=command.seen, current=there)
    same = command.settings.half_life_ms == state.settings.half_life_ms
    if not same and (state.shares.running or state.shares.dump()["accounts"]):
        why = "cannot change once usage was counted by it"
        raise Conflict("setting", "half_life_ms", why)
    yield ev.SettingsChanged(command.settings)


def _elect(state: State, command: cmd.Elect) -> Iterator[Event]:
    if command.epoch <= state.epoch:
        raise Conflict("epoch", command.epoch, f"comes after epoch {state.epoch}")
    # Nobody could answer while nobody led: that time is not held against an agent.
    anew = bool(state.health.tests) or state.mig.waits_for_agents
    yield ev.LeaderElected(command.epoch, command.leader, command.address, anew)


# -- applying --------------------------------------------------------------------------------


def _registered(state: State, event: ev.NodeRegistered, at_ms: int) -> None:
    del at_ms
    state.ledger.register_node(event.node, event.capacity)
    state.trust.join(event.node)
    # Closed by this record already: the next one says so, and a journal may break off before it.
    state.ledger.set_quarantine(event.node, event.node in state.trust.quarantines)
    gate(state, event.node)
    labels.use_labels(state, event.node)
    state.maintenance.away.pop(event.node, None)
    state.health.join(event.node)
    state.guards.fleet_changed(event.node)
    state.note_open(event.node)


def _departed(state: State, event: ev.NodeDeparted, at_ms: int) -> None:
    seen_ms = at_ms if event.last_seen_ms is None else min(at_ms, event.last_seen_ms)
    for lease_id in event.lease_ids:
        end_lease(
            state, lease_id, at_ms=at_ms, until_ms=max(seen_ms, state.fields(lease_id).granted_ms)
        )
    if event.leases_left:
        return
    if state.ledger.depart_node(event.node, now_ms=at_ms):
        raise InvariantBroken(f"node {event.node} departed with leases that no record tells")
    state.trust.leave(event.node)
    state.draining.pop(event.node, None)
    state.maintenance.forget_node(event.node)
    state.mig.forget_node(event.node)
    state.health.leave(event.node)
    state.guards.fleet_changed(event.node)
    state.note_open(event.node)


def _mode(state: State, event: ev.NodeModeChanged, at_ms: int) -> None:
    state.ledger.set_mode(event.node, event.after)
    state.maintenance.note_mode(event.node, event.after)
    state.mig.note_mode(event.node, event.after, at_ms=at_ms)
    state.health.note_mode(event.node, event.after)
    state.note_open(event.node)
    if event.after is NodeMode.RETURNING and state.health.stays_closed(event.node):
        state.maintenance.releasing.discard(event.node)
    state.draining.pop(event.node, None)
    if event.after is NodeMode.DRAINING:
        state.draining[event.node] = None


def _noted(state: State, event: ev.NodeNoted, at_ms: int) -> None:
    note = notes.OperatorNote(event.note_id, event.text, event.author, at_ms, event.until_ms)
    state.notes.put(event.node, note)


def _note_ended(state: State, event: ev.NodeNoteEnded, at_ms: int) -> None:
    del at_ms
    state.notes.drop(event.node, event.note_id)


def _quota(state: State, event: ev.QuotaChanged, at_ms: int) -> None:
    tenant, project = str(event.owner.tenant), event.owner.project
    state.quotas.set_quota(tenant, event.quota, project=project, now_ms=at_ms)


def _share(state: State, event: ev.ShareChanged, at_ms: int) -> None:
    del at_ms
    state.shares.set_share(str(event.owner.tenant), event.share, project=event.owner.project)


def _settings(state: State, event: ev.SettingsChanged, at_ms: int) -> None:
    del at_ms
    state.use_settings(event.settings)


def _elected(state: State, event: ev.LeaderElected, at_ms: int) -> None:
    state.bookings.resume(at_ms=at_ms)
    if event.waits_anew:
        state.health.resume(at_ms=at_ms, wait_ms=state.settings.test_wait_ms)
        state.mig.resume(at_ms=at_ms)
    if event.epoch <= state.epoch:
        raise InvariantBroken(f"epoch {event.epoch} comes after epoch {state.epoch}")
    state.epoch = event.epoch
    state.cells.elected()
    state.isolation.time_moved = False  # it is looked at by this leader, in the same decision


APPLY: Mapping[type, Apply] = {
    ev.NodeRegistered: _registered,
    ev.NodeDeparted: _departed,
    ev.NodeModeChanged: _mode,
    ev.NodeLabelled: labels.apply,
    ev.NodeNoted: _noted,
    ev.NodeNoteEnded: _note_ended,
    ev.QuotaChanged: _quota,
    ev.ShareChanged: _share,
    ev.SettingsChanged: _settings,
    ev.LeaderElected: _elected,
    ev.StateCheckpoint: NOTHING,  # whoever replays may compare the digest
    ev.ClockRepaired: NOTHING,  # it concerns every slice: see kernel.slices
}


# -- causes ----------------------------------------------------------------------------------


def _departure(event: ev.NodeDeparted) -> cmd.DepartNode:
    return cmd.DepartNode(event.node, event.last_seen_ms)


def _quota_set(event: ev.QuotaChanged) -> cmd.SetQuota:
    return cmd.SetQuota(str(event.owner.tenant), event.quota, event.owner.project)


def _share_set(event: ev.ShareChanged) -> cmd.SetShare:
    return cmd.SetShare(str(event.owner.tenant), event.share, event.owner.project)


CAUSES: Mapping[type, Cause] = {
    ev.NodeRegistered: lambda event: cmd.RegisterNode(event.node, event.capacity),
    ev.NodeDeparted: _departure,
    ev.NodeLabelled: labels.cause_of,
    ev.QuotaChanged: _quota_set,
    ev.ShareChanged: _share_set,
    ev.SettingsChanged: lambda event: cmd.ChangeSettings(event.settings),
    ev.LeaderElected: lambda event: cmd.Elect(event.epoch, event.leader, event.address),
}
TOLD_ONLY = (ev.StateCheckpoint, ev.ClockRepaired, ev.NodeNoted, ev.NodeNoteEnded)
