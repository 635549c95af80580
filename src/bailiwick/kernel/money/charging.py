"""What the leases of the state cost their owners' budgets: for what, since when, in which stage.

Rules:

- The stages are the meter's: held until told to go, grace, teardown. Which of them cost money is
  billing's table (:mod:`bailiwick.billing.charges`).
- A stage begins when it is recorded; but the teardown of a term or grace that ran out, when it ran
  out. ``State.leaving`` says when of each lease that is no more simply held.
- What is lost with its node was its holder's to the last proof of life, whatever stages it was in
  since.
- Nothing here is done for owners without a budget.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from bailiwick.billing.charges import is_charged
from bailiwick.billing.rates import Charge, Used
from bailiwick.kernel.money.spending import Holding, Leaving, Restored
from bailiwick.kernel.state import State
from bailiwick.metering.owners import Account, Stage
from bailiwick.scheduler.engine.protocol import FLAG_ON_BUDGET, LeaseFields
from bailiwick.vocab.transitions import REVOKE_STATES, RevokeState
from bailiwick.vocab.words import LEASE_CLASSES, HardwareGeneration, LeaseClass

STAGES: Final = {
    RevokeState.ACTIVE: Stage.HELD,
    RevokeState.REVOKE_WARNING: Stage.GRACE,
    RevokeState.GRACE_RUNNING: Stage.GRACE,
    RevokeState.CHECKPOINT_REPORTED: Stage.TEARDOWN,
    RevokeState.FORCED_TEARDOWN: Stage.TEARDOWN,
    RevokeState.EXPIRED: Stage.TEARDOWN,
}
"""The stage of a lease that is not over for its holder yet."""


def enter_stage(state: State, lease_id: int, *, after: RevokeState, at_ms: int) -> None:
    """Note when a lease, whose fields still say what it was, comes to another stage."""
    fields = state.fields(lease_id)
    before, stage = STAGES[REVOKE_STATES[fields.state]], STAGES[after]
    over_ms = min(at_ms, fields.expires_ms)
    match before, stage:
        case Stage.HELD, Stage.GRACE:
            state.leaving[lease_id] = Leaving(over_ms, at_ms, None)
        case Stage.HELD, Stage.TEARDOWN:
            state.leaving[lease_id] = Leaving(over_ms, over_ms, over_ms)
        case Stage.GRACE, Stage.TEARDOWN:
            leaving = state.leaving[lease_id]
            left_ms = max(over_ms, leaving.grace_ms)
            state.leaving[lease_id] = leaving._replace(left_ms=left_ms)
        case _:
            pass


def restore_stage(state: State, lease_id: int, *, at_ms: int) -> None:
    """Note that a lease in grace, whose fields still say so, is simply held again from now on."""
    before = holding_of(state, lease_id)
    earlier = before.earlier
    if before.is_charged:  # its grace was
        earlier = (*earlier, (before.since_ms, at_ms))
    state.restored[lease_id] = Restored(at_ms, earlier)
    del state.leaving[lease_id]


def begin_charges(state: State, lease_ids: Iterable[int]) -> None:
    """Leases were granted."""
    for lease_id in lease_ids:
        if _is_budgeted(state, lease_id):
            holding = holding_of(state, lease_id)
            state.spending.hold(holding)
            state.spending.start(holding)


def change_charges(state: State, lease_id: int, *, at_ms: int) -> None:
    """A lease came to another stage or has another time to go; its fields say so already."""
    if not _is_budgeted(state, lease_id):
        return
    state.spending.stop(lease_id, until_ms=at_ms, at_ms=at_ms)
    holding = holding_of(state, lease_id)
    if holding.is_charged:
        state.spending.start(holding)


def end_charges(state: State, lease_id: int, *, until_ms: int, at_ms: int) -> None:
    """A lease is over for its holder, and was his to ``until_ms``."""
    if _is_budgeted(state, lease_id):
        tenant, project = state.owner_of(lease_id)
        state.spending.stop(lease_id, until_ms=until_ms, at_ms=at_ms)
        state.spending.refund(holding_of(state, lease_id), until_ms)
        state.spending.forget(lease_id, tenant=str(tenant), project=project)


def recount(state: State, tenant: str, *, at_ms: int) -> None:
    """Count a tenant's leases anew: it has another budget."""
    held = [i for i in state.leases if i not in state.fenced]
    mine = (i for i in held if state.owner_of(i).tenant == tenant)
    state.spending.rebuild(tenant, [holding_of(state, i) for i in mine], at_ms=at_ms)


def count_all(state: State) -> None:
    """Count every lease of those with a budget, after their purses were read back."""
    mine = [i for i in state.leases if _is_budgeted(state, i)]
    state.spending.take_up([holding_of(state, i) for i in mine])
    state.spending.wake_all()


def holding_of(state: State, lease_id: int) -> Holding:
    """A lease that is not fenced, as money sees it."""
    fields = state.fields(lease_id)
    account = state.ledger.handles.accounts[fields.account]
    lease_class = LEASE_CLASSES[fields.lease_class]
    reason = state.ledger.revoking.get(state.handle(lease_id))
    stage = STAGES[REVOKE_STATES[fields.state]]
    held = Account(account.tenant, account.project, None, lease_class, None)
    metered = replace(held, stage=stage, reason=reason)
    restored = state.restored.get(lease_id)
    since_ms, earlier = fields.granted_ms, list[tuple[int, int]]()
    if restored is not None:
        since_ms, earlier = restored.since_ms, list(restored.earlier)
    leaving = state.leaving.get(lease_id)
    if leaving is not None:
        earlier.append((since_ms, leaving.held_ms))
        since_ms = leaving.grace_ms
        graced = replace(held, stage=Stage.GRACE, reason=reason)
        if leaving.left_ms is not None and is_charged(graced):
            earlier.append((since_ms, leaving.left_ms))
    on_budget = bool(fields.flags & FLAG_ON_BUDGET) and lease_class is not LeaseClass.GUARANTEED
    return Holding(
        lease_id=lease_id,
        tenant=str(account.tenant),
        project=None if account.project is None else str(account.project),
        charges=_charges(state, fields, lease_class),
        since_ms=since_ms,
        expires_ms=fields.expires_ms,
        earlier=tuple(earlier),
        is_charged=is_charged(metered),
        ends_on_budget=on_budget,
    )


def _is_budgeted(state: State, lease_id: int) -> bool:
    if not state.spending.purses or lease_id in state.fenced:
        return False
    tenant, project = state.owner_of(lease_id)
    return bool(state.spending.purses_of(str(tenant), project))


def _charges(state: State, fields: LeaseFields, lease_class: LeaseClass) -> tuple[Charge, ...]:
    """What one millisecond is charged for: each generation apart, all else with the first."""
    shape = state.ledger.handles.shapes[fields.shape]
    gpus = state.ledger.entry(state.ledger.node_at(fields.node)).capacity.gpus
    milli: dict[HardwareGeneration | None, int] = {}
    for index, gpu in enumerate(gpus):
        if fields.devices >> index & 1:
            milli[gpu.generation] = milli.get(gpu.generation, 0) + shape.device_milli
    (first, of_first), *others = milli.items() or [(None, 0)]
    used = Used(
        cpu_milli_ms=shape.cpu_milli,
        mem_byte_ms=shape.mem_bytes,
        block_byte_ms=shape.block_bytes,
        gpu_milli_ms=of_first,
    )
    more = (Charge(Used(gpu_milli_ms=of), kind, lease_class) for kind, of in others)
    return (Charge(used, first, lease_class), *more)
