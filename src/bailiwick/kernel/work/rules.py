"""Leases and requests: what follows from commands about them, and what events change.

Rules:

- Requests are decided by :mod:`.requests`, renewals by :mod:`.renewal`; how leases end by
  :mod:`.ending`.
- All that can be refused is refused before the first event. After it nothing may fail: an error
  there is a broken invariant.
- Nothing is decided when an event is applied. One that does not fit the state (a lease where there
  is no room, a number out of order) is a broken invariant: the journal and the state are not each
  other's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import assert_never, get_args

from bailiwick.kernel.bookings.dump import user_of
from bailiwick.kernel.events import Event
from bailiwick.kernel.guards import Claim, HeldLease
from bailiwick.kernel.isolation.residues import note_end, note_grants
from bailiwick.kernel.money.charging import (
    begin_charges,
    change_charges,
    end_charges,
    enter_stage,
    restore_stage,
)
from bailiwick.kernel.slice import NOTHING, Apply
from bailiwick.kernel.state import State
from bailiwick.kernel.work import commands as cmd
from bailiwick.kernel.work import events as ev
from bailiwick.kernel.work import graph_commands as gr
from bailiwick.kernel.work import lease_events as le
from bailiwick.kernel.work.ending import (
    check_evictable,
    end_of,
    evict,
    fence_of,
    give_back,
    tear_down,
)
from bailiwick.kernel.work.execs import commands as ex
from bailiwick.kernel.work.execs.events import ExecEvent, event_of_exec
from bailiwick.kernel.work.graph_events import GraphEvent, event_of_graph
from bailiwick.kernel.work.renewal import renew
from bailiwick.kernel.work.requests import cancel, submit
from bailiwick.kernel.work.usage import weight_of
from bailiwick.scheduler.backfill.promises import Promise
from bailiwick.scheduler.engine.protocol import FLAG_PINNED, FLAG_RELEASED, ROUND_ROBIN
from bailiwick.scheduler.reservation import CAPACITY_REASONS
from bailiwick.vocab.errors import Conflict, InvariantBroken
from bailiwick.vocab.transitions import REVOKE_STATES, RevokeState, check_revoke_change
from bailiwick.vocab.words import EndCause

_TEARING = (RevokeState.FORCED_TEARDOWN, RevokeState.CHECKPOINT_REPORTED, RevokeState.EXPIRED)


def decide(state: State, command: cmd.WorkCommand, now_ms: int) -> Iterator[Event]:
    """The events that follow from such a command."""
    match command:
        case cmd.Submit():
            return submit(state, command, now_ms=now_ms)
        case cmd.Cancel():
            return cancel(state, command, now_ms=now_ms)
        case cmd.Renew():
            return renew(state, command, now_ms=now_ms)
        case cmd.Release():
            return _release(state, command, now_ms)
        case cmd.ReportCheckpoint():
            return _report_checkpoint(state, command, now_ms)
        case cmd.ReportTeardown():
            return _report_teardown(state, command)
        case cmd.Evict():
            return _evict(state, command, now_ms)
        case cmd.ClearFence():
            return _clear_fence(state, command)
        case gr.NoteGraphSubmitted() | gr.NoteGraphTaskRetried() | gr.NoteGraphEnded():
            return iter((event_of_graph(command),))
        case ex.NoteExecStarted() | ex.NoteExecEnded() | ex.NoteFilesCopied():
            return iter((event_of_exec(command),))
        case _:
            assert_never(command)


def _release(state: State, command: cmd.Release, now_ms: int) -> Iterator[Event]:
    lease_id, fields = command.lease_id, state.fields(command.lease_id)
    if fields.flags & FLAG_PINNED:
        raise Conflict("lease", lease_id, "is fenced", hint="an operator clears a fence")
    if state.phase(lease_id) in _TEARING:
        why = "is being torn down"
        raise Conflict("lease", lease_id, why, hint="the teardown's report ends it")
    yield from give_back(state, lease_id, now_ms=now_ms)


def _report_checkpoint(state: State, command: cmd.ReportCheckpoint, now_ms: int) -> Iterator[Event]:
    lease_id, phase = command.lease_id, state.phase(command.lease_id)
    if phase not in (RevokeState.ACTIVE, RevokeState.GRACE_RUNNING):
        raise Conflict("lease", lease_id, f"is {phase}, so no checkpoint can be reported")
    yield le.CheckpointReported(state.owner_of(lease_id), lease_id)
    if phase is RevokeState.GRACE_RUNNING:
        yield from tear_down(
            state, lease_id, through=RevokeState.CHECKPOINT_REPORTED, now_ms=now_ms
        )


def _report_teardown(state: State, command: cmd.ReportTeardown) -> Iterator[Event]:
    lease_id, phase = command.lease_id, state.phase(command.lease_id)
    if phase not in _TEARING:
        raise Conflict("lease", lease_id, f"is {phase}, so it is not being torn down")
    yield end_of(state, lease_id) if command.clean else fence_of(state, lease_id)


def _evict(state: State, command: cmd.Evict, now_ms: int) -> Iterator[Event]:
    members = check_evictable(state, command.lease_ids, reason=command.reason)
    yield from evict(
        state, members, reason=command.reason, now_ms=now_ms, grace_ms=command.grace_ms
    )


def _clear_fence(state: State, command: cmd.ClearFence) -> Iterator[Event]:
    lease_id, fields = command.lease_id, state.fields(command.lease_id)
    if not fields.flags & FLAG_PINNED:
        raise Conflict("lease", lease_id, f"is {state.phase(lease_id)}, not fenced")
    node = state.node_of(lease_id)
    yield le.FenceCleared(state.owner_of(lease_id), lease_id, node)


# -- applying: requests ----------------------------------------------------------------------


def _approved(state: State, event: ev.AdmissionApproved, at_ms: int) -> None:
    ledger, request = state.ledger, event.request
    if event.entry_id is not None:  # what was kept for it, it takes now
        state.guards.unclaim(event.entry_id, now_ms=at_ms)
    ready = ledger.prepare(request).at_depth(event.depth)
    ledger.settle_row(ready.row, at_ms)
    gang = -1 if event.gang is None else event.gang
    robin = state.admission.scorer.code == ROUND_ROBIN
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
    for lease_id, node, cores in zip(event.lease_ids, event.nodes, event.cores, strict=False):
        if cores is not None:
            state.cores.take(lease_id, ledger.handle_of(node), cores=cores)
    if request.job_labels:
        state.job_labels |= dict.fromkeys(event.lease_ids, request.job_labels)
    if state.isolation.lingers_of(event.owner, request.job_labels):
        note_grants(state, event.lease_ids)
    if state.bookings.bookings:
        for lease_id, node in zip(event.lease_ids, event.nodes, strict=True):
            state.bookings.lease_began(node, user_of(state, lease_id))
    if state.guards.policies:
        for lease_id, node, devices in zip(
            event.lease_ids, event.nodes, event.devices, strict=True
        ):
            caches = state.cores.caches_of(lease_id)
            held = HeldLease(event.owner, request.job_labels, node, devices, caches)
            state.guards.granted(lease_id, held)
    each = weight_of(request.gpu_milli_total, request.cpu_milli)
    rate = len(event.lease_ids) * each
    state.shares.change(request.tenant, request.project, rate=rate, now_ms=at_ms)
    if state.spending.purses:
        begin_charges(state, event.lease_ids)
    first = event.gang is None or event.gang > state.gang_serial
    state.gang_serial = max(state.gang_serial, gang)
    if event.entry_id is None and first:
        state.arrivals.note(ledger, request)
    state.cells.granted(event.entry_id, event.lease_ids, left=event.members_left, seq=state.size)
    if event.entry_id is not None and not event.members_left:
        _leave(state, event.entry_id, at_ms)


def _denied(state: State, event: ev.AdmissionDenied, at_ms: int) -> None:
    del at_ms
    state.arrivals.note(state.ledger, event.request)
    state.cells.denied(seq=state.size)


def _queued(state: State, event: ev.RequestQueued, at_ms: int) -> None:
    entry = state.line.join(event.request, at_ms)
    if entry.id != event.entry_id:
        raise InvariantBroken(f"entry {entry.id} is called {event.entry_id} by the journal")
    state.blocked[entry.id] = event.denied
    if event.denied is None:
        state.untold[entry.id] = None
    state.count_waiting(event.request, 1)
    if event.denied is not None and event.denied.reason in CAPACITY_REASONS:
        state.line.mark_short(entry, at_ms)
    state.arrivals.note(state.ledger, event.request)
    state.cells.queued(entry.id, seq=state.size)


def _blocked(state: State, event: ev.RequestBlocked, at_ms: int) -> None:
    entry = state.line.entry(event.entry_id)
    state.blocked[entry.id] = event.denied
    state.untold.pop(entry.id, None)
    if event.denied.reason in CAPACITY_REASONS:
        state.line.mark_short(entry, at_ms)
    else:
        state.line.step_back(entry)
    if event.victims:
        claim = Claim(event.victims, event.seats, event.depth)
        gone = [state.handle(lease_id) for lease_id in event.victims]
        state.guards.claim(entry, claim, gone=gone, now_ms=at_ms)
    else:
        state.guards.unclaim(entry.id, now_ms=at_ms)


def _cancelled(state: State, event: ev.RequestCancelled, at_ms: int) -> None:
    _leave(state, event.entry_id, at_ms)


def _leave(state: State, entry_id: int, at_ms: int) -> None:
    entry = state.line.entry(entry_id)
    state.line.leave(entry)
    state.count_waiting(entry.request, -1)
    del state.blocked[entry_id]
    state.untold.pop(entry_id, None)
    state.guards.unclaim(entry_id, now_ms=at_ms)
    state.cells.left_line(entry_id, seq=state.size)


def _reserved(state: State, event: ev.RoomReserved, at_ms: int) -> None:
    promise = Promise(state.line.entry(event.entry_id), event.starts_ms, event.nodes)
    state.line.promise(promise, at_ms, overdue=event.overdue)


def _postponed(state: State, event: ev.RoomPostponed, at_ms: int) -> None:
    del at_ms
    state.line.postpone(state.line.entry(event.entry_id), event.starts_ms, nodes=event.nodes)


def _lost(state: State, event: ev.RoomLost, at_ms: int) -> None:
    state.line.lose(state.line.entry(event.entry_id), at_ms, until_ms=event.until_ms)


# -- applying: leases ------------------------------------------------------------------------


def _renewed(state: State, event: le.LeaseRenewed, at_ms: int) -> None:
    del at_ms
    handle, fields = state.handle(event.lease_id), state.fields(event.lease_id)
    if state.line.promises:
        tenant, node = str(event.owner.tenant), state.node_of(event.lease_id)
        ends = {"from_ms": fields.expires_ms, "to_ms": event.expires_ms}
        state.line.renewed(tenant, node, **ends)
    state.ledger.engine.update_lease(
        handle, fields.state, fields.flags, event.generation, event.expires_ms, fields.checkpoint_ms
    )
    state.spending.renew(event.lease_id, event.expires_ms)


def _stepped(state: State, event: le.LeaseRevoked, at_ms: int) -> None:
    handle, fields = state.handle(event.lease_id), state.fields(event.lease_id)
    if REVOKE_STATES[fields.state] is not event.before:
        raise InvariantBroken(f"lease {event.lease_id} is not {event.before}")
    enter_stage(state, event.lease_id, after=event.after, at_ms=at_ms)
    if event.before is RevokeState.ACTIVE and _is_claimed(state, event.lease_id):
        state.terms[event.lease_id] = fields.expires_ms
    expires = fields.expires_ms if event.expires_ms is None else event.expires_ms
    after = REVOKE_STATES.index(event.after)
    flags = fields.flags | (FLAG_RELEASED if event.is_released else 0)
    state.ledger.engine.update_lease(
        handle, after, flags, fields.generation, expires, fields.checkpoint_ms
    )
    if event.reason is not None:
        state.ledger.revoking[handle] = event.reason
    change_charges(state, event.lease_id, at_ms=at_ms)


def _is_claimed(state: State, lease_id: int) -> bool:
    """Whether room that a lease leaves is kept for somebody."""
    return any(lease_id in claim.victims for claim in state.claims.values())


def _restored(state: State, event: le.LeaseRestored, at_ms: int) -> None:
    lease_id, handle = event.lease_id, state.handle(event.lease_id)
    fields = state.fields(lease_id)
    check_revoke_change(REVOKE_STATES[fields.state], RevokeState.ACTIVE)
    restore_stage(state, lease_id, at_ms=at_ms)
    active = REVOKE_STATES.index(RevokeState.ACTIVE)
    state.ledger.engine.update_lease(
        handle, active, fields.flags, event.generation, event.expires_ms, fields.checkpoint_ms
    )
    del state.ledger.revoking[handle], state.terms[lease_id]
    owner = state.owner_of(lease_id)
    for row in state.quotas.table.rows_of(str(owner.tenant), owner.project):
        state.quotas.bursts.stir(row)  # who was let be because it was leaving, is so no more
    change_charges(state, lease_id, at_ms=at_ms)
    state.maintenance.note_lease(str(state.node_of(lease_id)))


def _ended(
    state: State, event: le.LeaseReleased | le.LeaseExpired | le.LeasePreempted, at_ms: int
) -> None:
    end_lease(state, event.lease_id, at_ms=at_ms, until_ms=at_ms)


def end_lease(state: State, lease_id: int, *, at_ms: int, until_ms: int) -> None:
    """The lease is over, and was its holder's to ``until_ms``."""
    handle = state.handle(lease_id)
    if state.bookings.bookings:
        node, user = state.node_of(lease_id), user_of(state, lease_id)
        state.bookings.lease_ended(node, user, at_ms=at_ms)
    _stop_usage(state, lease_id, at_ms, until_ms=until_ms)
    note_end(state, lease_id, at_ms=at_ms)
    for kept in (state.leaving, state.terms, state.restored, state.job_labels):
        kept.pop(lease_id, None)
    state.ledger.drop(handle, now_ms=at_ms)
    state.cores.give_back(lease_id)
    state.guards.ended(lease_id)
    state.cells.lease_ended(lease_id, seq=state.size)
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
    state.cells.lease_ended(event.lease_id, seq=state.size)
    cause = EndCause.EXPIRED if event.reason is None else EndCause.PREEMPTED
    state.ledger.fence(handle, cause, now_ms=at_ms, reason=event.reason)


def _cleared(state: State, event: le.FenceCleared, at_ms: int) -> None:
    end_lease(state, event.lease_id, at_ms=at_ms, until_ms=at_ms)


def _checkpoint(state: State, event: le.CheckpointReported, at_ms: int) -> None:
    handle, fields = state.handle(event.lease_id), state.fields(event.lease_id)
    state.ledger.engine.update_lease(
        handle, fields.state, fields.flags, fields.generation, fields.expires_ms, at_ms
    )


TOLD_ONLY = (*get_args(GraphEvent), *get_args(ExecEvent))

APPLY: Mapping[type, Apply] = {
    ev.AdmissionApproved: _approved,
    ev.AdmissionDenied: _denied,
    ev.RequestQueued: _queued,
    ev.RequestBlocked: _blocked,
    ev.RequestCancelled: _cancelled,
    ev.RoomReserved: _reserved,
    ev.RoomPostponed: _postponed,
    ev.RoomLost: _lost,
    le.LeaseRenewed: _renewed,
    le.RenewalDenied: NOTHING,
    le.LeaseRevoked: _stepped,
    le.LeaseRestored: _restored,
    le.LeaseReleased: _ended,
    le.LeaseExpired: _ended,
    le.LeasePreempted: _ended,
    le.LeaseFenced: _fenced,
    le.FenceCleared: _cleared,
    le.CheckpointReported: _checkpoint,
    **dict.fromkeys(TOLD_ONLY, NOTHING),
}
