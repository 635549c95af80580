"""Evictions nobody's arrival asked for: each plan names exactly whom its reason covers."""

from __future__ import annotations

import pytest

from bailiwick import (
    AdmissionController,
    Approved,
    CapacityLedger,
    Dimension,
    EvictionPlan,
    GpuDevice,
    HardwareGeneration,
    InvalidValue,
    Lease,
    LeaseClass,
    LeaseRevoker,
    NodeCapacity,
    NotFound,
    PlacementRequest,
    PreemptionManager,
    PreemptionReason,
    Priority,
    Quota,
    QuotaManager,
    QuotaScope,
    ResourceLimit,
    plan_budget,
    plan_burst,
    plan_cost_cap,
    plan_drain,
    plan_maintenance,
    plan_mig_change,
    plan_policy_recovery,
    plan_rebalance,
)
from bailiwick.scheduler.quota_policy import BurstCredit

GPU = GpuDevice(HardwareGeneration.NVIDIA_HOPPER, 80 * 2**30)


@pytest.fixture
def ledger() -> CapacityLedger:
    made = CapacityLedger(quotas=QuotaManager())
    for name in ("a", "b"):
        made.register_node(name, NodeCapacity(cpu_cores=64, mem_bytes=2**40, gpus=[GPU] * 4))
    return made


def grant(ledger: CapacityLedger, node: str = "a", **terms: object) -> Lease:
    asked = {"tenant": "lab", "cpu_cores": 1, "gpu_count": 1, **terms}
    return ledger.grant(node, PlacementRequest(**asked))  # type: ignore[arg-type]


def ids(plan: EvictionPlan) -> set[int]:
    return {victim.lease_id for victim in plan.victims}


def test_a_drain_takes_everything_on_the_node_even_guaranteed_and_nothing_elsewhere(
    ledger: CapacityLedger,
) -> None:
    here = {grant(ledger).id, grant(ledger, lease_class=LeaseClass.GUARANTEED).id}
    grant(ledger, "b")
    plan = plan_drain(ledger, "a", now_ms=5)
    assert ids(plan) == here
    assert plan.reason is PreemptionReason.OPERATOR_DRAIN
    assert plan.freed.gpu_milli == 2000


def test_a_maintenance_window_spares_critical_work(ledger: CapacityLedger) -> None:
    normal = grant(ledger)
    grant(ledger, priority=Priority.CRITICAL)
    plan = plan_maintenance(ledger, "a", now_ms=0)
    assert ids(plan) == {normal.id}
    assert plan.reason is PreemptionReason.MAINTENANCE_WINDOW


def test_a_repartition_takes_only_holders_of_those_devices(ledger: CapacityLedger) -> None:
    first, second = grant(ledger), grant(ledger)
    assert (first.devices, second.devices) == ((0,), (1,))
    plan = plan_mig_change(ledger, "a", devices=[1, 3], now_ms=0)
    assert ids(plan) == {second.id}
    assert plan.reason is PreemptionReason.OPERATOR_MIG_PROFILE_CHANGE


def test_an_untrusted_node_loses_everything(ledger: CapacityLedger) -> None:
    lease = grant(ledger, lease_class=LeaseClass.GUARANTEED)
    plan = plan_policy_recovery(ledger, "a", now_ms=0)
    assert ids(plan) == {lease.id}
    assert plan.reason is PreemptionReason.POLICY_VIOLATION_RECOVERY


def test_an_empty_budget_ends_only_work_that_agreed_to_it(ledger: CapacityLedger) -> None:
    agreed = grant(ledger, preemptible_on_budget=True)
    grant(ledger)
    grant(ledger, tenant="other", preemptible_on_budget=True)
    grant(ledger, lease_class=LeaseClass.GUARANTEED, preemptible_on_budget=True)
    plan = plan_budget(ledger, "lab", now_ms=0)
    assert ids(plan) == {agreed.id}
    assert plan.reason is PreemptionReason.BUDGET_EXHAUSTED


def test_a_cost_cap_ends_the_cheapest_leases_that_save_enough(ledger: CapacityLedger) -> None:
    spot = grant(ledger, lease_class=LeaseClass.SPOT)
    grant(ledger)
    grant(ledger, "b", lease_class=LeaseClass.GUARANTEED)

    def price(lease: Lease) -> int:
        return lease.resources.gpu_milli

    plan = plan_cost_cap(ledger, "lab", excess_micros=900, price_of=price, now_ms=0)
    assert ids(plan) == {spot.id}
    assert plan.reason is PreemptionReason.COST_CAP_EVICTION
    both = plan_cost_cap(ledger, "lab", excess_micros=1100, price_of=price, now_ms=0)
    assert len(both.victims) == 2


def test_a_rebalance_takes_no_more_than_the_excess_needs(ledger: CapacityLedger) -> None:
    big = grant(ledger, gpu_count=3, lease_class=LeaseClass.SPOT)
    small = grant(ledger, "b", gpu_count=1)
    scope = QuotaScope.of("lab")
    plan = plan_rebalance(ledger, scope, dimension=Dimension.GPU_COUNT, excess=3000, now_ms=0)
    assert ids(plan) == {big.id}
    more = plan_rebalance(ledger, scope, dimension=Dimension.GPU_COUNT, excess=3500, now_ms=0)
    assert ids(more) == {big.id, small.id}
    assert more.reason is PreemptionReason.QUOTA_REBALANCE


def test_a_rebalance_of_one_project_leaves_the_others_alone(ledger: CapacityLedger) -> None:
    mine = grant(ledger, project="p1")
    grant(ledger, project="p2")
    scope = QuotaScope.of("lab", "p1")
    plan = plan_rebalance(ledger, scope, dimension=Dimension.LEASE_COUNT, excess=5, now_ms=0)
    assert ids(plan) == {mine.id}


@pytest.mark.parametrize("dimension", list(Dimension))
def test_every_dimension_of_quota_can_be_rebalanced(
    ledger: CapacityLedger, dimension: Dimension
) -> None:
    lease = grant(ledger, mem_bytes=2**30, block_bytes=0, gpu_vram=2**30)
    scope = QuotaScope.of("lab")
    plan = plan_rebalance(ledger, scope, dimension=dimension, excess=1, now_ms=0)
    expected = set() if dimension is Dimension.BLOCK_BYTES else {lease.id}
    assert ids(plan) == expected


def test_burst_that_ran_dry_is_paid_back_by_the_tenants_own_cheapest_work() -> None:
    quotas = QuotaManager()
    credit = BurstCredit(Dimension.GPU_COUNT, capacity=10_000, refill_per_s=0, ceiling=2000)
    quotas.set_quota("lab", Quota(limits=[ResourceLimit.gpu_count(1)], burst=credit))
    ledger = CapacityLedger(quotas=quotas)
    ledger.register_node("a", NodeCapacity(cpu_cores=64, mem_bytes=0, gpus=[GPU] * 4))
    admission = AdmissionController(ledger)
    ask = PlacementRequest(tenant="lab", cpu_cores=1, gpu_count=1, ttl_ms=10**9)
    spot = PlacementRequest(
        tenant="lab", cpu_cores=1, gpu_count=1, lease_class=LeaseClass.SPOT, ttl_ms=10**9
    )
    assert isinstance(admission.admit(ask, now_ms=0), Approved)
    granted = admission.admit(spot, now_ms=0)
    assert isinstance(granted, Approved)
    assert granted.burst > 0
    later = 60_000
    (overrun,) = quotas.burst_exhausted(later)
    plan = plan_burst(ledger, overrun, now_ms=later)
    assert ids(plan) == {granted.leases[0].id}
    done = PreemptionManager().preempt(plan, LeaseRevoker(ledger), now_ms=later)
    assert [e.reason for e in done.ended] == [PreemptionReason.BURST_CREDIT_EXHAUSTED]
    assert quotas.burst_exhausted(later) == ()


def test_work_that_is_being_revoked_is_not_named_again(ledger: CapacityLedger) -> None:
    lease = grant(ledger)
    revoker = LeaseRevoker(ledger, grace_ms=1000)
    revoker.revoke(lease.id, PreemptionReason.OPERATOR_DRAIN, now_ms=0)
    assert plan_drain(ledger, "a", now_ms=1).victims == ()


def test_one_member_of_a_gang_means_the_whole_gang(ledger: CapacityLedger) -> None:
    gang = PlacementRequest(tenant="lab", cpu_cores=1, gpu_count=4, gang_size=2)
    admitted = AdmissionController(ledger).admit(gang)
    assert isinstance(admitted, Approved)
    assert set(admitted.nodes) == {"a", "b"}
    plan = plan_drain(ledger, "a", now_ms=0)
    assert ids(plan) == {lease.id for lease in admitted.leases}
    done = PreemptionManager().preempt(plan, LeaseRevoker(ledger), now_ms=0)
    assert len(done.ended) == 2


@pytest.mark.parametrize("now_ms", [-1, True, 1.5, None])
def test_a_time_that_is_none_is_refused(ledger: CapacityLedger, now_ms: object) -> None:
    with pytest.raises(InvalidValue, match="now_ms"):
        plan_drain(ledger, "a", now_ms=now_ms)  # type: ignore[arg-type]


def test_what_grace_is_ending_already_counts_towards_the_excess(ledger: CapacityLedger) -> None:
    for _ in range(4):
        grant(ledger, lease_class=LeaseClass.SPOT)
    scope = QuotaScope.of("lab")
    manager, revoker = PreemptionManager(), LeaseRevoker(ledger, grace_ms=1000)
    terms = {"dimension": Dimension.GPU_COUNT, "excess": 2000, "now_ms": 0}
    first = plan_rebalance(ledger, scope, **terms)  # type: ignore[arg-type]
    assert len(first.victims) == 2
    manager.preempt(first, revoker, now_ms=0)
    assert plan_rebalance(ledger, scope, **terms).victims == ()  # type: ignore[arg-type]


def test_a_stale_plan_evicts_nobody(ledger: CapacityLedger) -> None:
    for _ in range(2):
        grant(ledger)
    plan = plan_drain(ledger, "a", now_ms=0)
    ledger.release(plan.victims[1].lease_id)
    with pytest.raises(NotFound):
        PreemptionManager().preempt(plan, LeaseRevoker(ledger), now_ms=0)
    assert len(list(ledger.leases())) == 1


def test_grace_can_be_given_per_eviction(ledger: CapacityLedger) -> None:
    lease = grant(ledger)
    plan = plan_drain(ledger, "a", now_ms=0)
    done = PreemptionManager().preempt(plan, LeaseRevoker(ledger), now_ms=0, grace_ms=500)
    assert done.ended == ()
    assert ledger.lease(lease.id).expires_ms == 500
