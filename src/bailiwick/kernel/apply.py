"""How each event changes the state: the fold that rebuilds everything from the journal.

Rules:

- Nothing is decided here. An event that does not fit the state (a lease where there is no room, a
  number out of order) is a broken invariant: the journal and the state are not each other's.
- The outcome depends on the state, the event and the record's time, and on nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from bailiwick.journal.kinds import RecordKind
from bailiwick.journal.record import Record
from bailiwick.kernel import events as ev
from bailiwick.kernel import lease_events as le
from bailiwick.kernel.charging import (
    begin_charges,
    change_charges,
    end_charges,
    enter_stage,
)
from bailiwick.kernel.events import Event
from bailiwick.kernel.iam_rules import IamEvent, apply_iam
from bailiwick.kernel.money_events import MoneyEvent
from bailiwick.kernel.money_rules import apply_money
from bailiwick.kernel.state import Claim, State
from bailiwick.kernel.trust_events import TokenEvent, TrustEvent
from bailiwick.kernel.trust_rules import apply_lift, apply_quarantine, apply_trust, gate
from bailiwick.kernel.usage import weight_of
from bailiwick.scheduler.engine.protocol import FLAG_RELEASED, ROUND_ROBIN
from bailiwick.scheduler.reservation import CAPACITY_REASONS
from bailiwick.vocab.errors import InvariantBroken
from bailiwick.vocab.transitions import REVOKE_STATES, NodeMode
from bailiwick.vocab.words import EndCause


def apply(state: State, event: Event, at_ms: int) -> None:
    """The state after one more record."""
    if at_ms < state.clock_ms:
        raise InvariantBroken(f"time went back from {state.clock_ms} to {at_ms}")
    state.clock_ms = at_ms
    _APPLY[type(event)](state, event, at_ms)
    state.size += 1


def event_of(record: Record) -> Event:
    """The event that a record tells."""
    kind = EVENTS.get(record.kind)
    if kind is None:
        raise InvariantBroken(f"record {record.seq}: {record.kind} is no event of the kernel")
    event: Event = kind.read(record.body, ev.Owner(record.tenant, record.project))
    return event


# -- nodes -----------------------------------------------------------------------------------


def _registered(state: State, event: ev.NodeRegistered, at_ms: int) -> None:
    del at_ms
    state.ledger.register_node(event.node, event.capacity)
    state.trust.join(event.node)
    # Closed by this record already: the next one says so, and a journal may break off before it.
    state.ledger.set_quarantine(event.node, event.node in state.trust.quarantines)
    gate(state, event.node)
    state.claimed.refresh(state.claims)


def _departed(state: State, event: ev.NodeDeparted, at_ms: int) -> None:
    seen_ms = at_ms if event.last_seen_ms is None else min(at_ms, event.last_seen_ms)
    for lease_id in event.lease_ids:
        _end(state, lease_id, at_ms, until_ms=max(seen_ms, state.fields(lease_id).granted_ms))
    if event.leases_left:
        return
    if state.ledger.depart_node(event.node, now_ms=at_ms):
        raise InvariantBroken(f"node {event.node} departed with leases that no record tells")
    state.trust.leave(event.node)
    state.draining.pop(event.node, None)
    state.claimed.refresh(state.claims)


def _mode(state: State, event: ev.ModeChanged, at_ms: int) -> None:
    del at_ms
    state.ledger.set_mode(event.node, event.after)
    state.draining.pop(event.node, None)
    if event.after is NodeMode.DRAINING:
        state.draining[event.node] = None


def _quarantined(state: State, event: ev.NodeQuarantined, at_ms: int) -> None:
    apply_quarantine(state, event, at_ms=at_ms)


def _lifted(state: State, event: ev.QuarantineLifted, at_ms: int) -> None:
    del at_ms
    apply_lift(state, event)


# -- rules -----------------------------------------------------------------------------------


def _quota(state: State, event: ev.QuotaChanged, at_ms: int) -> None:
    tenant, project = str(event.owner.tenant), event.owner.project
    state.quotas.set_quota(tenant, event.quota, project=project, now_ms=at_ms)


def _share(state: State, event: ev.ShareChanged, at_ms: int) -> None:
    del at_ms
    state.shares.set_share(str(event.owner.tenant), event.share, project=event.owner.project)


def _settings(state: State, event: ev.SettingsChanged, at_ms: int) -> None:
    del at_ms
    state.shares.half_life_ms = event.settings.half_life_ms
    state.use_settings(event.settings)


# -- requests --------------------------------------------------------------------------------


def _approved(state: State, event: ev.AdmissionApproved, at_ms: int) -> None:
    ledger, request = state.ledger, event.request
    ready = ledger.prepare(request).at_depth(event.depth)
    ledger.settle_row(ready.row, at_ms)
    gang = -1 if event.gang is None else event.gang
    robin = state.unguarded.scorer.code == ROUND_ROBIN
    for lease_id, node, devices in zip(event.lease_ids, event.nodes, event.devices, strict=True):
        entry = ledger.entry(node)
        handle = ledger.take(entry, ready, now_ms=at_ms, gang=gang, devices=devices)
        if handle < 0 or lease_id != state.lease_serial + 1:
            raise InvariantBroken(f"lease {lease_id} does not fit on {node} as the journal says")
        state.lease_serial = lease_id
        state.leases[lease_id] = handle
        state.ids[handle] = lease_id
        if robin:
            ledger.engine.cursor(entry.handle + 1)
    each = weight_of(request.gpu_milli_total, request.cpu_milli)
    rate = len(event.lease_ids) * each
    state.shares.change(request.tenant, request.project, rate=rate, now_ms=at_ms)
    if state.spending.purses:
        begin_charges(state, event.lease_ids)
    first = event.gang is None or event.gang > state.gang_serial
    state.gang_serial = max(state.gang_serial, gang)
    if event.entry_id is None:
        if first:
            state.arrivals.note(ledger, request)
    elif not event.members_left:
        _leave(state, event.entry_id)


def _denied(state: State, event: ev.AdmissionDenied, at_ms: int) -> None:
    del at_ms
    state.arrivals.note(state.ledger, event.request)


def _queued(state: State, event: ev.RequestQueued, at_ms: int) -> None:
    entry = state.line.join(event.request, at_ms)
    if entry.id != event.entry_id:
        raise InvariantBroken(f"entry {entry.id} is called {event.entry_id} by the journal")
    state.blocked[entry.id] = event.denied
    if event.denied is not None and event.denied.reason in CAPACITY_REASONS:
        state.line.mark_short(entry, at_ms)
    state.arrivals.note(state.ledger, event.request)


def _blocked(state: State, event: ev.RequestBlocked, at_ms: int) -> None:
    entry = state.line.entry(event.entry_id)
    state.blocked[entry.id] = event.denied
    if event.denied.reason in CAPACITY_REASONS:
        state.line.mark_short(entry, at_ms)
    else:
        state.line.step_back(entry)
    if event.victims:
        state.claims[entry.id] = Claim(event.victims, event.victim_nodes, event.depth)
        state.claimed.put(state.claims)
    elif state.claims.pop(entry.id, None) is not None:
        state.claimed.put(state.claims)


def _cancelled(state: State, event: ev.RequestCancelled, at_ms: int) -> None:
    del at_ms
    _leave(state, event.entry_id)


def _leave(state: State, entry_id: int) -> None:
    state.line.leave(state.line.entry(entry_id))
    del state.blocked[entry_id]
    if state.claims.pop(entry_id, None) is not None:
        state.claimed.put(state.claims)


def _reserved(state: State, event: ev.RoomReserved, at_ms: int) -> None:
    state.line.hold(state.line.entry(event.entry_id), at_ms, overdue=event.overdue)


# -- leases ----------------------------------------------------------------------------------


def _renewed(state: State, event: le.LeaseRenewed, at_ms: int) -> None:
    del at_ms
    handle, fields = state.handle(event.lease_id), state.fields(event.lease_id)
    state.ledger.engine.update_lease(
        handle, fields.state, fields.flags, event.generation, event.expires_ms, fields.checkpoint_ms
    )
    state.spending.renew(event.lease_id, event.expires_ms)


def _stepped(state: State, event: le.LeaseStepped, at_ms: int) -> None:
    handle, fields = state.handle(event.lease_id), state.fields(event.lease_id)
    if REVOKE_STATES[fields.state] is not event.before:
        raise InvariantBroken(f"lease {event.lease_id} is not {event.before}")
    enter_stage(state, event.lease_id, after=event.after, at_ms=at_ms)
    expires = fields.expires_ms if event.expires_ms is None else event.expires_ms
    after = REVOKE_STATES.index(event.after)
    flags = fields.flags | (FLAG_RELEASED if event.is_released else 0)
    state.ledger.engine.update_lease(
        handle, after, flags, fields.generation, expires, fields.checkpoint_ms
    )
    if event.reason is not None:
        state.ledger.revoking[handle] = event.reason
    change_charges(state, event.lease_id, at_ms=at_ms)


def _ended(
    state: State, event: le.LeaseReleased | le.LeaseExpired | le.LeasePreempted, at_ms: int
) -> None:
    _end(state, event.lease_id, at_ms, until_ms=at_ms)


def _end(state: State, lease_id: int, at_ms: int, *, until_ms: int) -> None:
    handle = state.handle(lease_id)
    _stop_usage(state, lease_id, at_ms, until_ms=until_ms)
    state.leaving.pop(lease_id, None)
    state.ledger.drop(handle, now_ms=at_ms)
    del state.leases[lease_id], state.ids[handle]
    state.fenced.pop(lease_id, None)


def _stop_usage(state: State, lease_id: int, at_ms: int, *, until_ms: int) -> None:
    """The owner is not charged any more; a fenced lease was nobody's already."""
    if lease_id in state.fenced:
        return
    end_charges(state, lease_id, until_ms=until_ms, at_ms=at_ms)
    fields = state.fields(lease_id)
    account = state.ledger.handles.accounts[fields.account]
    shape = state.ledger.handles.shapes[fields.shape]
    rate = -weight_of(shape.device_count * shape.device_milli, shape.cpu_milli)
    state.shares.change(account.tenant, account.project, rate=rate, now_ms=at_ms, until_ms=until_ms)


def _fenced(state: State, event: le.LeaseFenced, at_ms: int) -> None:
    handle = state.handle(event.lease_id)
    _stop_usage(state, event.lease_id, at_ms, until_ms=at_ms)
    state.fenced[event.lease_id] = event.owner
    cause = EndCause.EXPIRED if event.reason is None else EndCause.PREEMPTED
    state.ledger.fence(handle, cause, now_ms=at_ms, reason=event.reason)


def _cleared(state: State, event: le.FenceCleared, at_ms: int) -> None:
    _end(state, event.lease_id, at_ms, until_ms=at_ms)


def _checkpoint(state: State, event: le.CheckpointReported, at_ms: int) -> None:
    handle, fields = state.handle(event.lease_id), state.fields(event.lease_id)
    state.ledger.engine.update_lease(
        handle, fields.state, fields.flags, fields.generation, fields.expires_ms, at_ms
    )


# -- the journal itself ----------------------------------------------------------------------


def _elected(state: State, event: ev.LeaderElected, at_ms: int) -> None:
    del at_ms
    if event.epoch <= state.epoch:
        raise InvariantBroken(f"epoch {event.epoch} comes after epoch {state.epoch}")
    state.epoch = event.epoch


def _nothing(state: State, event: ev.StateCheckpoint | TokenEvent, at_ms: int) -> None:
    """A digest changes nothing (whoever replays may compare it), nor does a token of a lease."""
    del state, event, at_ms


def _money(state: State, event: MoneyEvent, at_ms: int) -> None:
    apply_money(state, event, at_ms=at_ms)


def _trust(state: State, event: TrustEvent, at_ms: int) -> None:
    apply_trust(state, event, at_ms=at_ms)


def _iam(state: State, event: IamEvent, at_ms: int) -> None:
    apply_iam(state.directory, event, at_ms=at_ms)


_APPLY: dict[type[Any], Callable[[State, Any, int], None]] = {
    ev.NodeRegistered: _registered,
    ev.NodeDeparted: _departed,
    ev.ModeChanged: _mode,
    ev.NodeQuarantined: _quarantined,
    ev.QuarantineLifted: _lifted,
    ev.QuotaChanged: _quota,
    ev.ShareChanged: _share,
    ev.SettingsChanged: _settings,
    ev.AdmissionApproved: _approved,
    ev.AdmissionDenied: _denied,
    ev.RequestQueued: _queued,
    ev.RequestBlocked: _blocked,
    ev.RequestCancelled: _cancelled,
    ev.RoomReserved: _reserved,
    ev.LeaderElected: _elected,
    ev.StateCheckpoint: _nothing,
    le.LeaseRenewed: _renewed,
    le.LeaseStepped: _stepped,
    le.LeaseReleased: _ended,
    le.LeaseExpired: _ended,
    le.LeasePreempted: _ended,
    le.LeaseFenced: _fenced,
    le.FenceCleared: _cleared,
    le.CheckpointReported: _checkpoint,
    **dict.fromkeys(get_args(MoneyEvent), _money),
    **dict.fromkeys(get_args(IamEvent), _iam),
    **dict.fromkeys(get_args(TrustEvent), _trust),
    **dict.fromkeys(get_args(TokenEvent), _nothing),
}
EVENTS: dict[RecordKind, type[Any]] = {kind.kind: kind for kind in _APPLY}
