"""Renewals through the kernel: each is judged for the time it adds, and leaves a term as it was."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bailiwick.billing.budgets import Budget
from bailiwick.billing.rates import LIST_PRICES
from bailiwick.kernel import (
    ChangeMode,
    Done,
    Refused,
    Renew,
    SetQuota,
    digest_of,
)
from bailiwick.kernel.money.commands import SetBudget, SetRateCard
from bailiwick.kernel.people.commands import (
    ChangeProject,
    ChangeTenant,
    CreateProject,
    CreateTenant,
)
from bailiwick.scheduler.decision import DenialDetail, NodeClosed, TermReserved
from bailiwick.scheduler.quota_policy import (
    BudgetExhausted,
    BurstCredit,
    BurstCreditExhausted,
    CostCapExceeded,
    GpuGenerationLimitExceeded,
    GpuGenerationQuota,
    HardLimitExceeded,
    Quota,
    QuotaScope,
    ResourceLimit,
)
from bailiwick.scheduler.rights.denials import ScopeClosed, TermTooLong
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.values import TERM_MAX_MS
from bailiwick.vocab.words import Dimension, FilterReason
from tests.unit.kernel.desk import CRITICAL, HIGH, HOPPER, LOW, TTL_MS, Desk, cores

YEARS_MS = 100 * 365 * 86_400_000


def desk(**how: Any) -> Desk:
    return Desk(nodes=[cores(8, gpus=2)], **{"grace_ms": 500, **how})


def denied(d: Desk, lease: int, ttl_ms: int = 2 * TTL_MS) -> DenialDetail:
    """What a renewal is denied for; the lease is left exactly as it was."""
    before = d.state.fields(lease)
    answer = d.do(Renew(lease, ttl_ms))
    assert isinstance(answer, Refused), answer
    assert d.kinds == ["renewal_denied"]
    assert (d.last[0].body["lease_id"], d.last[0].body["ttl_ms"]) == (lease, ttl_ms)
    assert d.state.fields(lease) == before
    assert digest_of(d.replayed().state) == d.digest
    return answer.denied.detail


def granted(d: Desk, lease: int, ttl_ms: int = 2 * TTL_MS) -> None:
    assert isinstance(d.do(Renew(lease, ttl_ms)), Done)
    assert d.kinds == ["lease_renewed"]


# --- owners -------------------------------------------------------------------------------------


def test_a_closed_tenant_gets_no_more_time_and_an_open_one_does() -> None:
    d = desk()
    d.do(CreateTenant("lab"))
    lease = d.lease()
    d.do(ChangeTenant("lab", is_open=False))
    assert denied(d, lease) == ScopeClosed(QuotaScope.of("lab"))
    d.do(ChangeTenant("lab", is_open=True))
    granted(d, lease)


def test_a_closed_project_gets_no_more_time_and_its_tenant_does() -> None:
    d = desk()
    d.do(CreateTenant("lab"))
    d.do(CreateProject("lab", "p"))
    lease, other = d.lease(project="p"), d.lease()
    d.do(ChangeProject("lab", "p", is_open=False))
    assert denied(d, lease) == ScopeClosed(QuotaScope.of("lab", "p"))
    granted(d, other)


def test_who_gives_time_back_is_not_judged() -> None:
    d = desk()
    d.do(CreateTenant("lab"))
    lease = d.lease()
    d.do(ChangeTenant("lab", is_open=False))
    granted(d, lease, TTL_MS)
    granted(d, lease, TTL_MS - 1)
    denied(d, lease, TTL_MS)


def test_no_term_is_longer_than_the_longest() -> None:
    d = desk()
    lease = d.lease(ttl_ms=800)
    assert denied(d, lease, YEARS_MS) == TermTooLong(YEARS_MS, TERM_MAX_MS)
    granted(d, lease, TERM_MAX_MS)


# --- the node -----------------------------------------------------------------------------------


def test_on_a_node_that_drains_no_term_grows() -> None:
    d = desk()
    lease = d.lease()
    d.do(ChangeMode("n1", NodeMode.DRAINING, evict=False))
    assert denied(d, lease) == NodeClosed(d.state.node_of(lease), FilterReason.NODE_MODE)


@pytest.mark.parametrize(
    ("closed", "word"),
    [("quarantined", FilterReason.QUARANTINED), ("gated", FilterReason.ATTESTATION)],
)
def test_on_a_node_that_is_not_trusted_no_term_grows(closed: str, word: FilterReason) -> None:
    d = desk()
    lease = d.lease()
    entry = d.state.ledger.entry("n1")
    setattr(entry, closed, True)
    answer = d.do(Renew(lease, 2 * TTL_MS))
    assert isinstance(answer, Refused)
    assert answer.denied.detail == NodeClosed(entry.id, word)
    setattr(entry, closed, False)
    granted(d, lease)


# --- quota --------------------------------------------------------------------------------------


def limits(*each: ResourceLimit, **more: Any) -> Quota:
    return Quota(each, **more)


def test_above_a_lowered_limit_a_term_runs_out() -> None:
    d = desk()
    first, second = d.lease(cpu_cores=3), d.lease(cpu_cores=2)
    d.do(SetQuota("lab", limits(ResourceLimit.cpu_cores(4))))
    found = denied(d, first)
    assert found == HardLimitExceeded(Dimension.CPU_MILLI, 4_000, 2_000, 3_000)
    d.do(SetQuota("lab", limits(ResourceLimit.cpu_cores(5))))
    granted(d, first)
    granted(d, second)


def test_only_what_a_lease_uses_is_held_against_it() -> None:
    d = desk()
    lease, with_gpu = d.lease(cpu_cores=1), d.lease(gpu_count=1)
    d.do(SetQuota("lab", limits(ResourceLimit.gpu_count(0))))
    granted(d, lease)
    assert isinstance(denied(d, with_gpu), HardLimitExceeded)


def test_a_generation_that_is_listed_no_more_is_renewed_no_more() -> None:
    d = desk()
    lease = d.lease(gpu_count=1)
    d.do(SetQuota("lab", limits(gpu_generations=(GpuGenerationQuota(HOPPER, 0),))))
    assert denied(d, lease) == GpuGenerationLimitExceeded(HOPPER, 0, 0, 1)
    d.do(SetQuota("lab", limits(gpu_generations=(GpuGenerationQuota(HOPPER, 1),))))
    granted(d, lease)


def test_the_tenants_limit_holds_for_its_projects_leases() -> None:
    d = desk()
    lease = d.lease(project="p", cpu_cores=3)
    d.do(SetQuota("lab", limits(ResourceLimit.cpu_cores(2))))
    assert denied(d, lease) == HardLimitExceeded(Dimension.CPU_MILLI, 2_000, 0, 3_000)


def test_burst_credit_carries_renewals_while_it_lasts() -> None:
    d = desk(burst_min_run_ms=0)
    credit = BurstCredit(Dimension.CPU_MILLI, capacity=2_000, refill_per_s=0, ceiling=1_000)
    d.do(SetQuota("lab", limits(ResourceLimit.cpu_cores(2), burst=credit)))
    lease = d.lease(cpu_cores=3, ttl_ms=60_000)
    d.at(2_500)
    granted(d, lease, 90_000)
    d.at(3_000)
    found = denied(d, lease, 95_000)
    assert found == BurstCreditExhausted(Dimension.CPU_MILLI, 2_000, 0, 3_000, credit=0)


# --- money --------------------------------------------------------------------------------------


def priced(**terms: Any) -> Desk:
    """A core costs one micro a millisecond; the lab has a budget."""
    d = desk()
    d.do(SetRateCard(replace(LIST_PRICES, core_micros_per_hour=3_600_000)))
    d.do(SetBudget(Budget("lab", **terms)))
    return d


def test_with_a_spent_budget_no_term_grows() -> None:
    d = priced(limit_micros=1_000)
    lease = d.lease()
    d.at(1_999)
    granted(d, lease, TTL_MS)
    d.at(2_000)
    assert denied(d, lease, TTL_MS + 500) == BudgetExhausted(1_000, 1_000, 501)


def test_a_cap_looks_at_the_time_that_is_added() -> None:
    d = priced(limit_micros=10**6, cap_micros=15_000)
    lease = d.lease()
    assert denied(d, lease, 15_001) == CostCapExceeded(15_000, 15_001)
    granted(d, lease, 15_000)


# --- those who wait -----------------------------------------------------------------------------


def test_nobody_who_waits_is_put_off() -> None:
    d = desk()
    lease = d.lease(cpu_cores=4)
    d.lease(cpu_cores=4, ttl_ms=20_000)
    d.wait("other", cpu_cores=8)
    d.tick()
    assert denied(d, lease, 20_001) == TermReserved(20_001, 20_000, 21_000)
    granted(d, lease, 20_000)


def test_a_lease_that_is_not_in_the_way_is_renewed() -> None:
    d = Desk(nodes=[cores(8), cores(4)], grace_ms=500)
    d.lease(cpu_cores=8)
    small = d.lease(cpu_cores=4)
    d.wait("other", cpu_cores=8)
    granted(d, small, 90_000)


def test_what_its_own_tenant_waits_for_does_not_bind_a_lease() -> None:
    d = desk()
    lease = d.lease(cpu_cores=8)
    d.wait("lab", cpu_cores=8)
    granted(d, lease)


def test_less_urgent_work_does_not_bind_a_lease() -> None:
    d = desk(preempt_from=CRITICAL)
    lease = d.lease(cpu_cores=8, priority=HIGH)
    d.wait("other", cpu_cores=8, priority=LOW)
    granted(d, lease)
    d.wait("other", cpu_cores=8, priority=HIGH)
    d.tick()
    assert isinstance(denied(d, lease, 90_000), TermReserved)


def test_a_member_of_a_gang_renews_alone() -> None:
    d = desk()
    first, second = d.gang(2, cpu_cores=2)
    granted(d, first)
    assert d.state.fields(second).expires_ms == d.now_ms + TTL_MS


# --- the answer is one ---------------------------------------------------------------------------


def test_a_denied_renewal_is_remembered_by_its_key_and_replays() -> None:
    d = desk()
    lease = d.lease()
    first = d.do(Renew(lease, YEARS_MS), key="k")
    again = d.do(Renew(lease, YEARS_MS), key="k")
    assert isinstance(first, Refused)
    assert (again, d.told) == (first, ())
    assert digest_of(d.replayed().state) == d.digest


def test_a_denied_renewal_is_told_to_nobody_else() -> None:
    d = desk()
    lease = d.lease(project="p")
    d.do(Renew(lease, YEARS_MS))
    assert (d.last[0].tenant, d.last[0].project) == ("lab", "p")
