"""Budgets and caps in the kernel: what they count, whom they stop, and what a top-up does not do.

One core costs one micro a millisecond here, so that sums can be done in the head.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bailiwick.billing.budgets import Budget
from bailiwick.billing.rates import LIST_PRICES, RateCard
from bailiwick.kernel import (
    ChangeSettings,
    DepartNode,
    Evict,
    Granted,
    Queued,
    Refused,
    Release,
    Renew,
    ReportTeardown,
    Submit,
    digest_of,
)
from bailiwick.kernel.money import rules as ruling
from bailiwick.kernel.money.commands import RemoveBudget, SetBudget, SetRateCard
from bailiwick.kernel.money.rules import look_at_budget
from bailiwick.kernel.precondition import budget_digest
from bailiwick.scheduler.quota_policy import BudgetExhausted, CostCapExceeded
from bailiwick.vocab.errors import LimitReached, NotFound, Stale
from bailiwick.vocab.words import HardwareGeneration, LeaseClass, PreemptionReason
from tests.support.wide_open import wide_settings
from tests.unit.kernel.desk import Desk, ask, cores

R = PreemptionReason
LONG = 10**6


def per_ms(micros: int = 1, **terms: Any) -> RateCard:
    """A core costs so many micros a millisecond, and a Hopper GPU ten times that."""
    gpus = dict.fromkeys(HardwareGeneration, 36_000_000 * micros)
    return replace(
        LIST_PRICES,
        gpu_micros_per_hour=gpus,
        core_micros_per_hour=3_600_000 * micros,
        **terms,
    )


def desk(**how: Any) -> Desk:
    d = Desk(nodes=[cores(8, gpus=2)], **{"grace_ms": 500, **how})
    d.do(SetRateCard(per_ms()))
    return d


def budget(limit: int = LONG, **terms: Any) -> SetBudget:
    tenant, project = terms.pop("tenant", "lab"), terms.pop("project", None)
    opening, seen = terms.pop("opening", None), terms.pop("seen", None)
    return SetBudget(Budget(tenant, project, limit_micros=limit, **terms), opening, seen)


def spent(d: Desk, at_ms: int | None = None, project: str | None = None) -> int:
    now = d.now_ms if at_ms is None else at_ms
    return look_at_budget(d.state, "lab", project=project, now_ms=now).spent_micros


def states(d: Desk) -> list[str]:
    return [str(r.body["after"]) for r in d.of_kind("budget_state_changed")]


# --- counting -----------------------------------------------------------------------------------


def test_what_runs_is_counted_from_its_grant_to_its_end() -> None:
    d = desk()
    d.do(budget())
    one = d.at(2_000).lease(cpu_cores=2, ttl_ms=LONG)
    d.at(2_100).do(Release(one))
    assert (spent(d, 2_100), spent(d, 9_000)) == (200, 200)


def test_a_lease_that_ran_before_there_was_a_budget_counts_from_there() -> None:
    d = desk()
    d.lease(ttl_ms=LONG)
    d.at(1_500).do(budget(opening=40))
    assert (spent(d), spent(d, 1_700)) == (40, 240)
    assert d.last[0].body["opening_micros"] == 40


def test_only_what_lies_in_the_period_counts() -> None:
    d = desk()
    d.do(budget(from_ms=1_200, until_ms=1_500))
    d.lease(ttl_ms=LONG)
    assert [spent(d, at_ms) for at_ms in (1_200, 1_300, 1_500, 8_000)] == [0, 100, 300, 300]


def test_each_part_of_a_span_has_the_price_of_its_time() -> None:
    d = desk()
    d.do(budget())
    d.lease(ttl_ms=LONG)
    d.do(SetRateCard(per_ms(3, effective_ms=1_100)))
    d.do(SetRateCard(per_ms(10, effective_ms=1_200, tenant="lab")))
    assert [spent(d, at_ms) for at_ms in (1_100, 1_200, 1_300)] == [100, 400, 1_400]
    d.at(1_250).do(SetRateCard(per_ms(0, tenant="lab")))
    assert (spent(d), spent(d, 1_300)) == (900, 900)


def test_gpus_count_by_generation_and_classes_by_their_factor() -> None:
    d = desk()
    d.do(budget())
    d.lease(gpu_count=1, ttl_ms=LONG)
    d.lease(cpu_cores=1, ttl_ms=LONG, lease_class=LeaseClass.SPOT)
    d.lease(cpu_cores=1, ttl_ms=LONG, lease_class=LeaseClass.GUARANTEED)
    assert spent(d, 1_100) == 1_000 + 40 + 130


def test_a_project_counts_in_its_tenants_budget_too() -> None:
    d = desk()
    d.do(budget())
    d.do(budget(project="p"))
    d.lease(project="p", ttl_ms=LONG)
    d.lease(ttl_ms=LONG)
    d.lease("other", ttl_ms=LONG)
    assert (spent(d, 1_100), spent(d, 1_100, "p")) == (200, 100)


def test_a_micro_is_spent_once_it_is_full() -> None:
    d = desk()
    d.do(budget())
    d.lease(cpu_cores=0.5, ttl_ms=LONG)
    assert [spent(d, at_ms) for at_ms in (1_001, 1_002, 1_003)] == [0, 1, 1]


# --- the charge rules, each where it happens ----------------------------------------------------


def charged(d: Desk) -> int:
    """A lease of the lab, from 1,000 on."""
    d.do(budget())
    return d.lease(ttl_ms=2_000)


def test_released_early_a_lease_costs_what_it_ran() -> None:
    d = desk()
    d.at(1_000)
    lease = charged(d)
    d.at(1_300).do(Release(lease))
    assert spent(d, 9_000) == 300


def test_expired_a_lease_costs_its_term_however_late_that_is_noticed() -> None:
    d = desk()
    charged(d)
    assert spent(d, 9_000) == 2_000
    d.tick(9_000)
    assert spent(d) == 2_000


def test_released_after_its_term_a_lease_costs_its_term() -> None:
    d = desk()
    lease = charged(d)
    d.at(9_000).do(Release(lease))
    assert spent(d) == 2_000


def test_preempted_a_lease_does_not_pay_for_its_grace() -> None:
    d = desk()
    lease = charged(d)
    d.at(1_300).do(Evict((lease,), R.PRIORITY_PREEMPTION, 400))
    assert spent(d, 1_600) == 300
    d.tick(1_700)
    assert spent(d) == 300


def test_spot_evicted_or_at_its_own_limit_a_lease_pays_for_its_grace() -> None:
    d = desk()
    d.do(budget())
    own = d.lease(ttl_ms=2_000)
    spot = d.lease(ttl_ms=2_000, lease_class=LeaseClass.SPOT)
    d.at(1_300).do(Evict((own,), R.BURST_CREDIT_EXHAUSTED, 400))
    d.do(Evict((spot,), R.OPERATOR_DRAIN, 400))
    assert spent(d, 1_600) == 600 + 240
    d.tick(9_000)
    assert spent(d) == 700 + 280, "and not for what came after the grace, however late"


def test_lost_with_its_node_a_lease_costs_up_to_the_last_proof_of_life() -> None:
    d = desk()
    charged(d)
    d.at(1_900).do(DepartNode("n1", last_seen_ms=1_400))
    assert spent(d, 9_000) == 400


def test_lost_in_grace_a_lease_was_its_holders_to_the_last_proof_of_life_all_the_same() -> None:
    d = desk()
    lease = charged(d)
    d.at(1_500).do(Evict((lease,), R.BURST_CREDIT_EXHAUSTED, 400))
    d.at(1_900).do(DepartNode("n1", last_seen_ms=1_400))
    assert spent(d, 9_000) == 400


def test_a_failed_teardown_costs_its_tenant_nothing() -> None:
    d = desk(confirm_teardown=True, teardown_ms=1_000)
    lease = charged(d)
    d.tick(3_200)
    assert d.phase(lease) == "expired"
    d.at(3_900).do(ReportTeardown(lease, clean=False))
    assert spent(d, 9_000) == 2_000


def test_a_renewed_lease_costs_to_its_new_term() -> None:
    d = desk()
    lease = charged(d)
    d.at(2_000).do(Renew(lease, 5_000))
    assert (spent(d, 6_999), spent(d, 9_000)) == (5_999, 6_000)


# --- how it stands ------------------------------------------------------------------------------


def test_each_crossing_is_told_once() -> None:
    d = desk()
    d.do(budget(1_000, thresholds=(500, 900)))
    d.lease(ttl_ms=LONG)
    assert d.tick(1_499) == []
    assert d.tick(1_500) == ["budget_state_changed"]
    record = d.last[0]
    assert (record.tenant, record.project) == ("lab", None)
    assert record.body == {
        "before": "healthy",
        "after": "low_balance",
        "crossed": 1,
        "spent_micros": 500,
        "limit_micros": 1_000,
    }
    assert d.tick(1_600) == []
    assert d.tick(1_900) == ["budget_state_changed"]
    assert d.last[0].body["crossed"] == 2
    assert d.tick(2_000) == ["budget_state_changed"]
    assert d.tick(2_500) == []
    assert states(d) == ["low_balance", "low_balance", "depleted"]


def test_a_budget_that_is_spent_when_it_is_set_says_so_at_once() -> None:
    d = desk()
    d.do(budget(10, opening=10))
    assert d.kinds == ["budget_changed", "budget_state_changed"]
    assert states(d) == ["depleted"]


def test_once_its_period_is_over_a_budget_is_healthy() -> None:
    d = desk()
    d.do(budget(100, until_ms=2_000))
    d.lease(ttl_ms=LONG)
    d.tick(1_500)
    d.tick(2_000)
    assert states(d) == ["depleted", "healthy"]
    assert isinstance(d.do(Submit(ask())), Granted)


def test_a_top_up_changes_the_state_back_and_goes_on_counting() -> None:
    d = desk()
    d.do(budget(100, thresholds=(500,)))
    d.lease(ttl_ms=LONG)
    d.tick(1_200)
    d.do(budget(1_000, thresholds=(500,)))
    assert d.kinds == ["budget_changed", "budget_state_changed"]
    assert (states(d)[-1], spent(d)) == ("healthy", 200)
    assert "opening_micros" not in d.last[0].body
    d.tick(1_600)
    assert states(d)[-1] == "low_balance"


def test_another_period_begins_anew() -> None:
    d = desk()
    d.do(budget(100))
    d.lease(ttl_ms=LONG)
    d.tick(1_200)
    d.do(budget(100, from_ms=1_200))
    assert (states(d)[-1], spent(d), spent(d, 1_250)) == ("healthy", 0, 50)
    d.at(1_300).do(budget(100, from_ms=1_200, opening=7))
    assert (spent(d), spent(d, 1_301)) == (7, 8)


@pytest.mark.parametrize("opening", [900, 1_000])
def test_another_period_that_begins_past_a_line_says_so_however_the_one_before_stood(
    opening: int,
) -> None:
    d = desk()
    d.do(budget(1_000, thresholds=(800,), opening=opening))
    words = "depleted" if opening == 1_000 else "low_balance"
    assert states(d) == [words]
    d.do(budget(1_000, thresholds=(800,), from_ms=d.now_ms, opening=opening))
    assert d.kinds == ["budget_changed", "budget_state_changed"]
    assert d.last[1].body == {
        "before": "healthy",
        "after": words,
        "crossed": 1,
        "spent_micros": opening,
        "limit_micros": 1_000,
    }
    assert d.tick() == []
    assert digest_of(d.replayed().state) == d.digest
    d.do(budget(1_000, thresholds=(800,), from_ms=d.now_ms, opening=opening))
    assert d.kinds == ["budget_changed"], "the same period, of which it was told"


def test_a_budget_with_less_spent_in_another_period_has_passed_its_threshold_in_that_one() -> None:
    d = desk()
    d.do(budget(1_000, thresholds=(800,), opening=1_000))
    d.do(budget(1_000, thresholds=(800,), from_ms=d.now_ms, opening=900))
    assert [d.last[1].body[word] for word in ("before", "after")] == ["healthy", "low_balance"]


def test_a_removed_budget_counts_and_denies_no_more() -> None:
    d = desk()
    d.do(budget(0))
    assert isinstance(d.beside(), Refused)
    d.do(RemoveBudget("lab"))
    assert d.last[0].body["removed"] == 1
    assert isinstance(d.beside(), Granted)
    d.refuses(NotFound, RemoveBudget("lab"))
    assert d.replayed().state.spending.purses == {}


def test_who_saw_another_budget_is_stale() -> None:
    d = desk()
    d.do(budget(5, seen=budget_digest(None)))
    d.refuses(Stale, budget(6, seen=budget_digest(None)))
    d.do(budget(6, seen=budget_digest(Budget("lab", limit_micros=5))))


def test_budgets_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ruling, "BUDGETS_MAX", 1)
    d = desk()
    d.do(budget())
    d.refuses(LimitReached, budget(tenant="other"))
    d.do(budget(7))


# --- a budget that is spent ---------------------------------------------------------------------


def test_with_nothing_left_requests_are_denied_with_the_numbers() -> None:
    d = desk()
    d.do(budget(100))
    d.lease(ttl_ms=LONG)
    d.tick(1_150)
    refused = d.beside(cpu_cores=2, ttl_ms=1_000)
    assert isinstance(refused, Refused)
    assert refused.denied.detail == BudgetExhausted(100, 150, 2_000)
    assert refused.denied.detail.scope.tenant == "lab"  # type: ignore[union-attr]
    assert isinstance(d.beside("other"), Granted)


def test_the_project_is_asked_before_its_tenant_and_budgets_before_caps() -> None:
    d = desk()
    d.do(budget(0))
    d.do(budget(5, project="p", opening=6, cap_micros=0))
    refused = d.beside(project="p", ttl_ms=10)
    assert isinstance(refused, Refused)
    assert refused.denied.detail == BudgetExhausted(5, 6, 10)
    d.do(budget(100, project="p", cap_micros=0))
    refused = d.beside(project="p", ttl_ms=10)
    assert isinstance(refused, Refused)
    assert refused.denied.detail == BudgetExhausted(0, 0, 10), "the tenant's, before any cap"
    d.do(budget(100))
    refused = d.beside(project="p", ttl_ms=10)
    assert isinstance(refused, Refused)
    assert refused.denied.detail == CostCapExceeded(0, 16)


def test_work_that_agreed_to_end_on_that_is_evicted_and_other_work_never() -> None:
    d = desk()
    d.do(budget(400))
    agreed = d.lease(ttl_ms=LONG, preemptible_on_budget=True)
    plain = d.lease(ttl_ms=LONG)
    sworn = d.lease(ttl_ms=LONG, preemptible_on_budget=True, lease_class=LeaseClass.GUARANTEED)
    other = d.lease("other", ttl_ms=LONG, preemptible_on_budget=True)
    d.tick(1_200)
    assert d.kinds == ["budget_state_changed", "lease_revoked", "lease_revoked"]
    assert [r.body["lease_id"] for r in d.last[1:]] == [agreed] * 2
    assert {r.body["reason"] for r in d.last[1:]} == {"budget_exhausted"}
    assert d.tick(1_300) == []
    assert d.tick(1_700) == ["lease_revoked", "lease_preempted", "budget_state_changed"]
    assert states(d) == ["auto_release_pending", "depleted"]
    assert [d.phase(i) for i in (plain, sworn, other)] == ["active"] * 3
    assert d.tick(5_000) == []


def test_without_grace_pending_and_depleted_are_told_at_once() -> None:
    d = desk(grace_ms=0)
    d.do(budget(100))
    d.lease(ttl_ms=LONG, preemptible_on_budget=True)
    d.tick(1_100)
    assert d.kinds[0] == d.kinds[-1] == "budget_state_changed"
    assert states(d) == ["auto_release_pending", "depleted"]


def test_a_projects_budget_ends_only_that_projects_work() -> None:
    d = desk(grace_ms=0)
    d.do(budget(100, project="p"))
    inside = d.lease(project="p", ttl_ms=LONG, preemptible_on_budget=True)
    outside = d.lease(ttl_ms=LONG, preemptible_on_budget=True)
    d.tick(1_100)
    assert inside not in d.state.leases
    assert d.phase(outside) == "active"


def test_a_top_up_restarts_nothing_and_who_waits_starts_because_he_waits() -> None:
    d = desk(grace_ms=0)
    d.do(budget(100))
    d.lease(ttl_ms=LONG, preemptible_on_budget=True)
    d.tick(1_100)
    assert not d.state.leases
    answer = d.do(Submit(ask(ttl_ms=50)))
    assert isinstance(answer, Queued)
    assert isinstance(answer.denied.detail, BudgetExhausted)  # type: ignore[union-attr]
    assert d.tick(1_200) == [], "told once"
    d.do(budget(200))
    assert d.tick(1_300) == ["admission_approved"]
    assert d.last[0].body["entry_id"] == answer.entry_id
    assert len(d.state.leases) == 1, "what was evicted did not come back"


def test_a_lowered_limit_counts_from_the_next_look() -> None:
    d = desk(grace_ms=0)
    d.do(budget())
    d.lease(ttl_ms=LONG, preemptible_on_budget=True)
    d.at(1_500).do(budget(100))
    assert states(d) == ["auto_release_pending"]
    d.tick()
    assert (states(d)[-1], len(d.state.leases)) == ("depleted", 0)


# --- a cap that could not be kept ---------------------------------------------------------------


def test_a_request_that_would_pass_the_cap_is_denied() -> None:
    d = desk()
    d.do(budget(cap_micros=1_000))
    d.lease(ttl_ms=600)
    refused = d.beside(ttl_ms=401)
    assert isinstance(refused, Refused)
    assert refused.denied.detail == CostCapExceeded(1_000, 1_001)
    assert isinstance(d.beside(ttl_ms=400), Granted)
    assert look_at_budget(d.state, "lab", now_ms=1_000).projected_micros == 1_000


def test_beyond_the_period_nothing_counts_against_a_cap() -> None:
    d = desk()
    d.do(budget(cap_micros=1_000, until_ms=2_000))
    assert isinstance(d.beside(ttl_ms=LONG), Granted)
    assert isinstance(d.beside(ttl_ms=LONG), Refused)


def test_a_request_that_leaves_its_generation_open_is_reckoned_at_the_dearest_of_the_fleet() -> (
    None
):
    d = desk()
    d.do(budget(cap_micros=99))
    refused = d.beside(gpu_count=1, ttl_ms=10)
    assert isinstance(refused, Refused)
    assert refused.denied.detail == CostCapExceeded(99, 100)


def test_when_a_cap_cannot_be_kept_the_cheapest_work_that_is_enough_goes() -> None:
    d = desk(grace_ms=0)
    d.do(budget(cap_micros=10_000), correlation_id="budget-7")
    small = d.lease(cpu_cores=1, ttl_ms=2_000)
    large = d.lease(cpu_cores=2, ttl_ms=2_000)
    assert d.tick(1_500) == []
    d.do(SetRateCard(per_ms(4, effective_ms=1_500)))
    d.tick(1_500)
    assert {r.body["reason"] for r in d.last} == {"cost_cap_eviction"}
    assert {r.correlation_id for r in d.last} == {"budget-7"}, "in the course of the cap"
    gone = {r.body["lease_id"] for r in d.of_kind("lease_preempted")}
    assert len(gone) == 1
    assert gone < {small, large}
    view = look_at_budget(d.state, "lab", now_ms=1_500)
    assert view.projected_micros <= 10_000
    assert d.tick(1_600) == [], "and then the cap is kept"


def test_guaranteed_work_is_never_evicted_for_money() -> None:
    d = desk(grace_ms=0)
    d.do(budget(cap_micros=3_000))
    sworn = d.lease(ttl_ms=2_000, lease_class=LeaseClass.GUARANTEED)
    d.do(budget(1, cap_micros=0))
    d.tick(1_500)
    assert d.phase(sworn) == "active"
    assert not d.of_kind("lease_preempted")


def test_grace_is_charged_so_a_cap_reckons_with_it() -> None:
    d = desk(grace_ms=500)
    d.do(budget(cap_micros=1_000))
    lease = d.lease(ttl_ms=1_000)
    d.do(SetRateCard(per_ms(2, effective_ms=1_100)))
    d.tick(1_100)
    assert d.phase(lease) == "grace_running"
    assert d.last[-1].body["expires_ms"] == 1_600
    d.tick(1_600)
    assert spent(d) == 100 + 2 * 500


def test_what_grace_will_cost_is_not_counted_as_saved() -> None:
    d = desk(grace_ms=500)
    d.do(budget(cap_micros=2_500))
    leases = [d.lease(ttl_ms=1_000) for _ in range(2)]
    d.do(SetRateCard(per_ms(2, effective_ms=1_100)))
    d.tick(1_100)
    assert [d.phase(i) for i in leases] == ["grace_running"] * 2, "one would save 800 of 1,300"
    d.tick(1_600)
    assert spent(d) == 200 + 2 * 1_000


# --- who has no budget --------------------------------------------------------------------------


def test_only_tenants_with_a_budget_are_asked_about_money() -> None:
    d = desk()
    d.do(budget())
    rows = {name: d.state.quotas.row_of(name) for name in ("lab", "other")}
    demand = (1, 0, 0, 0, 0, 1)
    assert not d.state.quotas.bears(rows["lab"], demand, now_ms=1_000)
    assert d.state.quotas.bears(rows["other"], demand, now_ms=1_000), "the short way is open"
    d.do(RemoveBudget("lab"))
    assert d.state.quotas.bears(rows["lab"], demand, now_ms=1_000)


def test_a_tenant_without_a_budget_leaves_no_trace_in_spending() -> None:
    d = desk()
    d.do(budget())
    lease = d.lease("other", ttl_ms=LONG)
    d.do(ChangeSettings(wide_settings(grace_ms=0)))
    d.do(Evict((lease,), R.OPERATOR_DRAIN))
    purse = d.state.spending.purses["lab", None]
    assert (purse.amounts, purse.running, purse.whole) == ({}, {}, 0)
