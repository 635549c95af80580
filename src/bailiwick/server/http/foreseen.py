"""What a change would lead to, as it is told on the wire."""

from __future__ import annotations

from typing import assert_never

from bailiwick.fleet.node import NodeCapacity
from bailiwick.kernel.fleet.rebalance import SurplusLease
from bailiwick.server.http.spelling import spell_denial, spell_entry
from bailiwick.services.foreseeing import changes
from bailiwick.vocab.words import Dimension, HardwareGeneration
from bailiwick.whatif import entry_trial
from bailiwick.whatif.scope_trial import ScopeTried, Some
from bailiwick.wire import foreseen as wire
from bailiwick.wire.fleet import Gpu, Held


def spell_mode(found: changes.ModeForeseen) -> wire.ModeConsequence:
    """What a change of mode would do."""
    outlook = found.outlook
    return wire.ModeConsequence(
        leaving=outlook.leaving,
        elsewhere=outlook.elsewhere,
        gangs=outlook.gangs,
        staying=outlook.staying,
        until_ms=outlook.until_ms,
        leases=[wire.LeavingLease(**each._asdict()) for each in found.leases],
        room=[
            wire.RoomLeft(
                generation=each.generation,
                free_milli=each.free_milli,
                free_after_milli=each.free_after_milli,
            )
            for each in outlook.room
        ],
    )


def spell_quota_change(found: changes.QuotaForeseen) -> wire.QuotaConsequence:
    """What another quota would do."""
    return wire.QuotaConsequence(
        limits={word: wire.LimitChange(**each._asdict()) for word, each in found.limits.items()},
        gpu_limits={
            word: wire.LimitChange(**each._asdict()) for word, each in found.gpu_limits.items()
        },
        at_once=None if found.at_once is None else _at_once(found.at_once),
    )


def spell_rebalance(found: changes.RebalanceForeseen) -> wire.RebalanceConsequence:
    """Who would go to bring a tenant or project back inside its quota."""
    outlook = found.outlook
    told = {
        each.word: wire.SurplusHeld(over=each.over, over_after=each.over_after)
        for each in outlook.surpluses
    }
    return wire.RebalanceConsequence(
        over={word: row for word, row in told.items() if isinstance(word, Dimension)},
        gpu_over={w: row for w, row in told.items() if isinstance(w, HardwareGeneration)},
        leaving=outlook.leaving,
        gangs=outlook.gangs,
        cost=outlook.cost,
        until_ms=outlook.until_ms,
        leases=[_surplus(*each) for each in found.leases],
    )


def _surplus(shown: changes.ShownLeaving, lease: SurplusLease) -> wire.SurplusLease:
    cpu, mem, block, gpu = lease.held.as_tuple()
    return wire.SurplusLease(
        **shown._asdict(),
        project=None if shown.lease_id is None else lease.owner.project,
        cost=lease.cost,
        held=Held(cpu_milli=cpu, mem_bytes=mem, block_bytes=block, gpu_milli=gpu),
    )


def spell_budget_change(found: changes.BudgetForeseen) -> wire.BudgetConsequence:
    """What another budget would do."""
    view = found.tried.view
    return wire.BudgetConsequence(
        currency=found.currency,
        before_micros=found.before_micros,
        after_micros=None if view is None else view.budget.limit_micros,
        spent_micros=None if view is None else view.spent_micros,
        projected_micros=None if view is None else view.projected_micros,
        state=None if view is None else view.standing.state,
        used_up_ms=found.tried.used_up_ms,
        at_once=_at_once(found.tried.at_once),
    )


def _at_once(found: ScopeTried) -> wire.AtOnce:
    return wire.AtOnce(
        starts=_some(found.starts),
        hopeless=_some(found.hopeless),
        ends=_some(found.ends),
        others_end=found.others_end,
        looked=found.looked,
    )


def _some(found: Some) -> wire.TouchedOnes:
    return wire.TouchedOnes(count=found.count, first=list(found.first))


def spell_what_if(supposed: wire.Supposed, found: entry_trial.EntryTried) -> wire.WhatIf:
    """What would become of a waiting request."""
    kind = None if found.like is None else _kind(found.like)
    return wire.WhatIf(supposed=supposed, result=_outcome(found.outcome), new_node=kind)


def _outcome(found: entry_trial.Outcome) -> wire.SupposedOutcome:
    match found:
        case entry_trial.WouldStart(members, on_new_nodes):
            return wire.SupposedStart(outcome="starts", members=members, on_new_nodes=on_new_nodes)
        case entry_trial.WouldWait(entry):
            return wire.SupposedWait(outcome="waits", entry=spell_entry(entry))
        case entry_trial.WouldBeRefused(denied):
            return wire.SupposedRefusal(outcome="refused", denied=spell_denial(denied))
        case entry_trial.WouldEnd(cause):
            return wire.SupposedEnd(outcome="ends", cause=cause.value)
        case _:
            assert_never(found)


def _kind(has: NodeCapacity) -> wire.NewNodeKind:
    held = Held(
        cpu_milli=has.cpu_milli,
        mem_bytes=has.mem_bytes,
        block_bytes=has.block_bytes,
        gpu_milli=has.gpu_milli,
    )
    gpus = [
        Gpu(
            generation=gpu.generation,
            vram_bytes=gpu.vram_bytes,
            model=gpu.model,
            fabric=gpu.fabric,
            partitionable=gpu.partitionable,
        )
        for gpu in has.gpus
    ]
    return wire.NewNodeKind(resources=held, gpus=gpus)
