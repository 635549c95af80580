"""What follows from a command: events, one after the other, or an error and nothing at all.

``decide(state, command, now_ms)`` is a generator of events. It reads the state and changes nothing;
whoever drives it applies each event before asking for the next, so a decision of many steps sees
what its earlier steps did. Rules:

- All that can be refused is refused before the first event. After it nothing may fail: an error
  there is a broken invariant.
- No clock, no chance, no I/O. The same state, command and time give the same events.
"""

from __future__ import annotations

from collections.abc import Iterator

from bailiwick.fleet.inventory import check_inventory
from bailiwick.kernel import commands as cmd
from bailiwick.kernel import events as ev
from bailiwick.kernel import lease_events as le
from bailiwick.kernel.ending import (
    check_evictable,
    end_due,
    end_of,
    evict,
    evict_active,
    fence_of,
    give_back,
    tear_down,
)
from bailiwick.kernel.events import MEMBERS_MAX, Event, Owner
from bailiwick.kernel.iam_commands import IamCommand
from bailiwick.kernel.iam_rules import decide_iam
from bailiwick.kernel.money_commands import (
    IssueInvoice,
    MoneyCommand,
    RemoveBudget,
    ReportFinding,
    SetBudget,
    SetRateCard,
    WithdrawRateCard,
)
from bailiwick.kernel.money_rules import decide_money, watch_budgets
from bailiwick.kernel.placing import cancel, look_at_line, submit
from bailiwick.kernel.precondition import check_seen, quota_digest, settings_digest
from bailiwick.kernel.state import State
from bailiwick.kernel.trust_commands import (
    EnrolNode,
    GrantToken,
    RecordVerdict,
    SetTrustPolicy,
    TrustCommand,
    WithdrawEnrolment,
)
from bailiwick.kernel.trust_rules import close_again, decide_trust, lapse, lift, quarantine
from bailiwick.scheduler.engine.protocol import FLAG_PINNED
from bailiwick.scheduler.evictions import plan_burst
from bailiwick.vocab.errors import Conflict, LimitReached, Stale
from bailiwick.vocab.transitions import NodeMode, RevokeState, check_mode_change
from bailiwick.vocab.words import PreemptionReason, Priority

NODES_MAX = 1_000_000
_TEARING = (RevokeState.FORCED_TEARDOWN, RevokeState.CHECKPOINT_REPORTED, RevokeState.EXPIRED)


def decide(state: State, command: cmd.Command, now_ms: int) -> Iterator[Event]:
    """The events that follow from a command at a time that is not before the state's."""
    match command:
        case cmd.Submit():
            return submit(state, command, now_ms=now_ms)
        case cmd.Cancel():
            return cancel(state, command)
        case cmd.Renew():
            return _renew(state, command, now_ms)
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
        case cmd.Tick():
            return _tick(state, command, now_ms)
        case cmd.Elect():
            return _elect(state, command)
        case _:
            return _decide_rule(state, command, now_ms)


def _decide_rule(
    state: State,
    command: cmd.RegisterNode
    | cmd.DepartNode
    | cmd.ChangeMode
    | cmd.Quarantine
    | cmd.LiftQuarantine
    | cmd.SetQuota
    | cmd.SetShare
    | cmd.ChangeSettings
    | MoneyCommand
    | TrustCommand
    | IamCommand,
    now_ms: int,
) -> Iterator[Event]:
    match command:
        case cmd.RegisterNode():
            return _register(state, command)
        case cmd.DepartNode():
            return _depart(state, command)
        case cmd.ChangeMode():
            return _change_mode(state, command, now_ms)
        case cmd.Quarantine():
            return quarantine(state, command, now_ms=now_ms)
        case cmd.LiftQuarantine():
            return lift(state, command, now_ms=now_ms)
        case cmd.SetQuota():
            # A table that is full is told here; the row itself, still blank, changes nothing.
            state.quotas.row_of(command.tenant, command.project)
            owner = Owner(command.tenant, command.project)
            there = quota_digest(state.quotas.quota_of(command.tenant, command.project))
            check_seen("quota", command.tenant, seen=command.seen, current=there)
            return iter((ev.QuotaChanged(owner, command.quota),))
        case cmd.SetShare():
            state.quotas.row_of(command.tenant, command.project)
            owner = Owner(command.tenant, command.project)
            return iter((ev.ShareChanged(owner, command.share),))
        case cmd.ChangeSettings():
            return _change_settings(state, command)
        case (
            SetRateCard()
            | WithdrawRateCard()
            | SetBudget()
            | RemoveBudget()
            | ReportFinding()
            | IssueInvoice()
        ):
            return decide_money(state, command, now_ms=now_ms)
        case SetTrustPolicy() | EnrolNode() | WithdrawEnrolment() | RecordVerdict() | GrantToken():
            return decide_trust(state, command, now_ms=now_ms)
        case _:
            return decide_iam(state.directory, command, now_ms=now_ms)


# -- leases ----------------------------------------------------------------------------------


def _renew(state: State, command: cmd.Renew, now_ms: int) -> Iterator[Event]:
    lease_id, fields = command.lease_id, state.fields(command.lease_id)
    if command.generation is not None and command.generation != fields.generation:
        raise Stale("lease", lease_id, held=command.generation, current=fields.generation)
    phase = state.phase(lease_id)
    if phase is not RevokeState.ACTIVE:
        raise Conflict("lease", lease_id, f"is {phase}, so it cannot be renewed")
    if fields.expires_ms <= now_ms:
        raise Conflict("lease", lease_id, f"expired at {fields.expires_ms}")
    until = now_ms + command.ttl_ms
    yield le.LeaseRenewed(state.owner_of(lease_id), lease_id, fields.generation + 1, until)


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


# -- nodes -----------------------------------------------------------------------------------


def _register(state: State, command: cmd.RegisterNode) -> Iterator[Event]:
    if command.node in state.ledger:
        raise Conflict("node", command.node, "is registered already", hint="depart it first")
    if len(state.ledger) >= NODES_MAX:
        raise LimitReached("nodes", NODES_MAX)
    check_inventory(command.capacity)
    state.ledger.handles.check_room(command.capacity)
    yield ev.NodeRegistered(command.node, command.capacity)
    yield from close_again(state, command.node)


def _depart(state: State, command: cmd.DepartNode) -> Iterator[Event]:
    entry = state.ledger.entry(command.node)
    on_node = [state.ids[h] for h in state.ledger.engine.leases_on(entry.handle)]
    lost = sorted(state.with_gangs(on_node))
    for at in range(0, max(len(lost), 1), MEMBERS_MAX):
        part = tuple(lost[at : at + MEMBERS_MAX])
        left = max(len(lost) - at - MEMBERS_MAX, 0)
        yield ev.NodeDeparted(command.node, part, left, command.last_seen_ms)


def _change_mode(state: State, command: cmd.ChangeMode, now_ms: int) -> Iterator[Event]:
    entry, mode = state.ledger.entry(command.node), command.mode
    check_mode_change(entry.mode, mode)
    holds = state.leases_on(command.node)
    if mode is NodeMode.DRAINED and holds:
        raise Conflict("node", command.node, "still holds leases", hint="evict them first")
    yield ev.ModeChanged(command.node, entry.mode, mode, command.evict)
    if mode is not NodeMode.DRAINING:
        return
    if not command.evict:
        holds = []
    spared = command.reason is PreemptionReason.MAINTENANCE_WINDOW
    leaving = [i for i in holds if not (spared and _is_critical(state, i))]
    yield from evict_active(
        state, leaving, reason=command.reason, now_ms=now_ms, grace_ms=command.grace_ms
    )
    yield from _finish_drains(state)


def _is_critical(state: State, lease_id: int) -> bool:
    return bool(state.fields(lease_id).priority >= Priority.CRITICAL.rank)


def _finish_drains(state: State) -> Iterator[Event]:
    for node in list(state.draining):
        if not state.leases_on(node):
            yield ev.ModeChanged(node, NodeMode.DRAINING, NodeMode.DRAINED)


# -- the whole -------------------------------------------------------------------------------


def _change_settings(state: State, command: cmd.ChangeSettings) -> Iterator[Event]:
    there = settings_digest(state.settings)
    check_seen("settings", "fleet", seen=command.seen, current=there)
    same = command.settings.half_life_ms == state.settings.half_life_ms
    if not same and (state.shares.running or state.shares.dump()["accounts"]):
        why = "cannot change once usage was counted by it"
        raise Conflict("setting", "half_life_ms", why)
    yield ev.SettingsChanged(command.settings)


def _tick(state: State, command: cmd.Tick, now_ms: int) -> Iterator[Event]:
    yield from end_due(state, now_ms=now_ms, limit=command.limit)
    yield from _finish_drains(state)
    for overrun in state.quotas.burst_exhausted(now_ms):
        plan = plan_burst(state.ledger, overrun, now_ms=now_ms)
        ids = [state.ids[victim.lease_id] for victim in plan.victims]
        yield from evict_active(state, ids, reason=plan.reason, now_ms=now_ms, grace_ms=None)
    yield from watch_budgets(state, now_ms=now_ms)
    yield from lapse(state, now_ms=now_ms, limit=command.limit)
    if state.line.entries:
        yield from look_at_line(state, now_ms=now_ms, limit=command.limit)


def _elect(state: State, command: cmd.Elect) -> Iterator[Event]:
    if command.epoch <= state.epoch:
        raise Conflict("epoch", command.epoch, f"comes after epoch {state.epoch}")
    yield ev.LeaderElected(command.epoch, command.leader, command.address)
