"""What services answer, as it is told on the wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from pydantic import TypeAdapter

from bailiwick.kernel import Done, Granted, Queued, Refused
from bailiwick.kernel.spelling import amounts_of, denial_body, labels_body
from bailiwick.kernel.views import Estimate, WaitingEntry
from bailiwick.kernel.work import plan as pl
from bailiwick.scheduler.core_book import Cores
from bailiwick.scheduler.decision import Denied
from bailiwick.scheduler.explain import Remedy, RuleCounts
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.server.problems import Trouble
from bailiwick.services.journal import ToldRecord
from bailiwick.services.leases import OwnedLease
from bailiwick.services.plans import PricedPlan
from bailiwick.wire import answers as told
from bailiwick.wire import work
from bailiwick.wire.base import ClosingRule
from bailiwick.wire.denials import Denial
from bailiwick.wire.fleet import Held
from bailiwick.wire.problem import EdgeCode

_DENIAL: TypeAdapter[Denial] = TypeAdapter(Denial)


def spell_done(done: Done) -> told.Done:
    """That something took effect."""
    return told.Done(answer="done", seq=done.seq)


def spell_answer(answer: Granted | Queued) -> told.Granted | told.Queued:
    """That a request runs, or waits."""
    if isinstance(answer, Granted):
        return told.Granted(
            answer="granted",
            lease_ids=list(answer.lease_ids),
            nodes=[str(node) for node in answer.nodes],
            expires_ms=answer.expires_ms,
        )
    denied = None if answer.denied is None else spell_denial(answer.denied)
    return told.Queued(answer="queued", entry_id=answer.entry_id, denied=denied)


def trouble_of_refusal(answer: Refused) -> Trouble:
    """That a request neither runs nor waits, with the decision."""
    decision = told.Refused(answer="refused", denied=spell_denial(answer.denied))
    reason = answer.denied.reason
    message = f"refused: {reason.value}, {decision.denied.detail}"
    return Trouble(EdgeCode.REFUSED, message, decision=decision, retryable=reason.is_transient)


def spell_denial(denied: Denied) -> Denial:
    """An obstacle, with its numbers."""
    return _DENIAL.validate_python(denial_body(denied))


def spell_kept_denial(body: Mapping[str, Any]) -> Denial:
    """An obstacle that was written down, with its numbers."""
    return _DENIAL.validate_python(dict(body))


def spell_remedy(remedy: Remedy) -> work.Remedy:
    """The change that would help."""
    return work.Remedy(
        remedy=remedy.word.value,
        amount=remedy.amount,
        unit=str(remedy.unit),
        lease_ids=list(remedy.leases),
    )


def spell_plan(found: PricedPlan) -> told.Plan:
    """What a request would lead to."""
    planned = found.plan
    price = told.Price(
        currency=found.price.currency,
        micros_per_hour=found.price.micros_per_hour,
        micros_total=found.price.micros_total,
        is_upper_bound=found.price.is_upper_bound,
    )
    match planned:
        case pl.GrantPlan():
            nodes = [str(node) for node in planned.nodes]
            return told.WouldGrant(plan="grant", nodes=nodes, price=price)
        case pl.PreemptPlan():
            return told.WouldPreempt(
                plan="preempt",
                nodes=[str(node) for node in planned.nodes],
                victims=[
                    told.Victim(
                        lease_id=each.lease_id,
                        tenant=each.tenant,
                        priority=each.priority,
                        lease_class=each.lease_class,
                    )
                    for each in found.victims
                ],
                until_ms=planned.until_ms,
                loss_ratio_milli=planned.loss_ratio_milli,
                price=price,
            )
        case pl.QueuePlan():
            denied = None if planned.denied is None else spell_denial(planned.denied)
            estimate = _estimate(planned.estimate)
            return told.WouldQueue(
                plan="queue",
                denied=denied,
                estimate=estimate,
                price=price,
                rules=spell_rules(found.rules),
                rules_more=found.rules.more,
            )
        case pl.RefusePlan():
            denied = spell_denial(planned.denied)
            rules = spell_rules(found.rules)
            return told.WouldRefuse(
                plan="refuse",
                denied=denied,
                price=price,
                rules=rules,
                rules_more=found.rules.more,
            )
        case _:
            assert_never(planned)


def spell_rules(found: RuleCounts) -> list[ClosingRule]:
    """The rules of a policy that close nodes to a request."""
    return [ClosingRule(rule=rule, nodes=nodes) for rule, nodes in found.told]


def spell_lease(found: OwnedLease) -> work.Lease:
    """A lease."""
    lease, owner = found.lease, found.owner
    return work.Lease(
        lease_id=found.lease_id,
        tenant=str(owner.tenant),
        project=None if owner.project is None else str(owner.project),
        node=str(lease.node),
        resources=Held(**amounts_of(lease.resources)),
        devices=list(lease.devices),
        priority=lease.priority,
        lease_class=lease.lease_class,
        state=lease.state,
        generation=lease.generation,
        granted_ms=lease.granted_ms,
        expires_ms=lease.expires_ms,
        gang=lease.gang,
        job_labels=labels_body(found.job_labels),
        cores=_cores(found.cores),
        maintained_ms=found.maintained_ms,
    )


def _cores(cores: Cores | None) -> list[work.CacheShare] | None:
    if cores is None:
        return None
    return [work.CacheShare(cache=cache, cores_milli=milli) for cache, milli in cores]


def spell_asked(request: PlacementRequest) -> work.Asked:
    """What was asked for."""
    return work.Asked(
        cpu_milli=request.cpu_milli,
        mem_bytes=request.mem_bytes,
        block_bytes=request.block_bytes,
        gpu_count=request.gpu_count,
        gpu_milli=request.gpu_milli,
        gpu_generation=request.generation,
        gang_size=request.gang_size,
        priority=request.priority,
        lease_class=request.lease_class,
        ttl_ms=request.ttl_ms,
    )


def spell_entry(entry: WaitingEntry, *, job_id: int | None = None) -> work.QueueEntry:
    """A request that waits, and the job that waits with it."""
    project = entry.request.project
    return work.QueueEntry(
        entry_id=entry.id,
        tenant=str(entry.request.tenant),
        project=None if project is None else str(project),
        submitted_ms=entry.submitted_ms,
        position=entry.position,
        is_further=entry.is_further,
        raised=entry.raised,
        slips=entry.slips,
        reason=entry.reason,
        blockers=[spell_denial(each) for each in entry.blockers],
        fallen=dict(entry.fallen),
        fitting=entry.fitting,
        remedy=spell_remedy(entry.remedy),
        estimate=_estimate(entry.estimate),
        job_labels=labels_body(entry.request.job_labels),
        request=spell_asked(entry.request),
        job_id=job_id,
        rules=spell_rules(entry.rules),
        rules_more=entry.rules.more,
    )


def spell_record(record: ToldRecord) -> work.JournalRecord:
    """A record of the journal."""
    return work.JournalRecord(
        seq=record.seq,
        at_ms=record.at_ms,
        kind=record.kind.value,
        tenant=record.tenant,
        project=record.project,
        actor=record.actor,
        correlation_id=record.correlation_id,
        body=record.body,
        prev_hash=record.prev_hash,
    )


def _estimate(estimate: Estimate) -> told.Estimate:
    return told.Estimate(starts_ms=estimate.starts_ms, basis=estimate.basis.value)
