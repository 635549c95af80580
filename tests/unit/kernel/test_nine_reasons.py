"""Each of the nine reasons ends work by what it is for, and by nobody's naming it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bailiwick.billing.budgets import Budget
from bailiwick.kernel import (
    ChangeMig,
    ChangeMode,
    PlanWindow,
    RebalanceQuota,
    SetIsolationPolicy,
    SetQuota,
)
from bailiwick.kernel.money.commands import SetBudget, SetRateCard
from bailiwick.scheduler.quota_policy import BurstCredit, Quota, ResourceLimit
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.words import Dimension, LeaseClass, PreemptionReason
from tests.unit.kernel.desk import HIGH, Desk, cores
from tests.unit.kernel.test_budgets import per_ms

LONG = 1_000_000
GRACE = 500


def urgent_work(d: Desk) -> None:
    d.wait("urgent", cpu_cores=8, priority=HIGH)


def lowered_quota(d: Desk) -> None:
    d.do(SetQuota("lab", Quota((ResourceLimit.cpu_cores(1),))))
    d.do(RebalanceQuota("lab"))


def spend_credit(d: Desk) -> None:
    credit = BurstCredit(Dimension.CPU_MILLI, 20_000, 0, 20_000)
    d.do(SetQuota("lab", Quota((ResourceLimit.cpu_cores(1),), burst=credit)))
    d.tick(d.now_ms + 25_000)


def spend_budget(d: Desk) -> None:
    d.do(SetRateCard(per_ms()))
    d.do(SetBudget(Budget("lab", limit_micros=1_000)))
    d.tick(d.now_ms + 1_000)


def reach_cap(d: Desk) -> None:
    d.do(SetRateCard(per_ms()))
    d.do(SetBudget(Budget("lab", limit_micros=10 * LONG, cap_micros=LONG)))
    d.tick()


def drain(d: Desk) -> None:
    d.do(ChangeMode("n1", NodeMode.DRAINING, reason=PreemptionReason.OPERATOR_DRAIN))


def repartition(d: Desk) -> None:
    d.do(ChangeMig("n1", (0,), ("3g.71gb",)))


def maintain(d: Desk) -> None:
    d.do(PlanWindow("fans", ("n1",), d.now_ms + 10_000, d.now_ms + 20_000, 1_000))
    d.tick(d.now_ms + 9_000)
    d.tick(d.now_ms + 1_000)


def keep_apart(d: Desk) -> None:
    d.do(SetIsolationPolicy("tenant lab only on nodes with zone=a"))
    d.tick()


CAUSES: dict[PreemptionReason, Callable[[Desk], None]] = {
    PreemptionReason.PRIORITY_PREEMPTION: urgent_work,
    PreemptionReason.QUOTA_REBALANCE: lowered_quota,
    PreemptionReason.BURST_CREDIT_EXHAUSTED: spend_credit,
    PreemptionReason.BUDGET_EXHAUSTED: spend_budget,
    PreemptionReason.COST_CAP_EVICTION: reach_cap,
    PreemptionReason.OPERATOR_DRAIN: drain,
    PreemptionReason.OPERATOR_MIG_PROFILE_CHANGE: repartition,
    PreemptionReason.MAINTENANCE_WINDOW: maintain,
    PreemptionReason.POLICY_VIOLATION_RECOVERY: keep_apart,
}


def ended_by(reason: PreemptionReason, lease_class: LeaseClass) -> set[str]:
    """Why the one lease there is ended, once that happened; nothing if it is there still."""
    d = Desk(nodes=[cores(8, gpus=1)], grace_ms=GRACE, burst_min_run_ms=0)
    terms = {"cpu_cores": 2, "ttl_ms": LONG, "preemptible_on_budget": True}
    d.lease(**terms, lease_class=lease_class)
    CAUSES[reason](d)
    d.tick(d.now_ms + GRACE)
    told = {str(r.body["reason"]) for r in d.of_kind("lease_revoked")}
    ended = {str(r.body["reason"]) for r in d.of_kind("lease_preempted")}
    assert told == ended
    return ended


def test_each_of_the_nine_has_a_cause_here() -> None:
    assert CAUSES.keys() == {*PreemptionReason}


@pytest.mark.parametrize("reason", PreemptionReason)
def test_work_ends_by_it_and_is_told_so(reason: PreemptionReason) -> None:
    assert ended_by(reason, LeaseClass.STANDARD) == {reason}


REFUSED = PreemptionReason.QUOTA_REBALANCE
"""Where nothing but guaranteed work is above a quota: a test of its own tells so."""


@pytest.mark.parametrize("reason", [r for r in PreemptionReason if r is not REFUSED])
def test_guaranteed_work_ends_by_those_that_say_so_and_by_no_other(
    reason: PreemptionReason,
) -> None:
    ends = set() if reason.spares_guaranteed else {reason}
    assert ended_by(reason, LeaseClass.GUARANTEED) == ends
