"""Nobody is evicted for nothing: claims keep what is needed, give way, and give back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bailiwick.billing.budgets import Budget
from bailiwick.billing.rates import LIST_PRICES
from bailiwick.fleet.resources import Resources
from bailiwick.kernel import (
    Cancel,
    Granted,
    Queued,
    Refused,
    RegisterNode,
    Release,
    Renew,
    ReportTeardown,
    SetBudget,
    SetQuota,
    SetRateCard,
    Submit,
    digest_of,
)
from bailiwick.kernel.views import fleet
from bailiwick.scheduler.quota_policy import Quota, ResourceLimit
from bailiwick.vocab.words import PendingReason
from tests.unit.kernel.desk import CRITICAL, HIGH, LOW, Desk, ask, cores, started

GRACE = 30_000
LONG = 900_000


def desk(*nodes: int, **how: object) -> Desk:
    """Machines of so many cores, and half a minute of grace."""
    return Desk(nodes=[cores(n) for n in nodes], **{"grace_ms": GRACE, **how})


def checked(d: Desk) -> Desk:
    """The desk, whose journal gives the same state again."""
    assert digest_of(d.replayed().state) == d.digest
    return d


# --- amounts, not nodes -------------------------------------------------------------------------


def test_others_fit_beside_a_claim() -> None:
    d = desk(16)
    d.lease("slow", cpu_cores=10, priority=LOW, ttl_ms=LONG)
    d.wait("fast", cpu_cores=8, priority=HIGH)
    assert isinstance(d.beside("boss", cpu_cores=4, priority=CRITICAL), Granted)
    assert isinstance(d.beside("crumbs", cpu_cores=1, priority=LOW), Granted)
    checked(d)


def test_one_core_of_a_large_machine_is_not_refused_for_a_small_claim() -> None:
    d = desk(128, 4)
    d.lease("slow", cpu_cores=4, priority=LOW, ttl_ms=LONG)
    d.lease("slow", cpu_cores=124, priority=LOW, ttl_ms=LONG)
    big = next(i for i in d.state.leases if d.state.node_of(i) == "n1")
    d.wait("fast", cpu_cores=7, priority=HIGH)
    d.do(Release(big))
    assert isinstance(d.beside("crumbs", cpu_cores=1, priority=LOW), Granted)


def test_what_a_claim_keeps_is_nobody_elses_and_no_more_than_that() -> None:
    d = desk(10)
    victim = d.lease("slow", cpu_cores=10, priority=LOW, ttl_ms=LONG)
    entry = d.wait("fast", cpu_cores=8, priority=HIGH)
    d.do(Release(victim))
    assert isinstance(d.beside("other", cpu_cores=3, priority=HIGH), Refused)
    assert isinstance(d.beside("other", cpu_cores=2, priority=LOW), Granted)
    d.tick()
    assert started(d) == [entry]
    checked(d)


def test_a_claim_keeps_the_very_devices_its_victims_leave() -> None:
    d = Desk(nodes=[cores(16, gpus=4)], grace_ms=GRACE)
    victims = [d.lease("slow", gpu_count=2, priority=LOW, ttl_ms=LONG) for _ in range(2)]
    entry = d.wait("fast", gpu_count=2, priority=HIGH)
    leaving = d.state.claims[entry].victims
    assert len(leaving) == 1, "one of them is enough"
    d.do(Release(leaving[0]))
    assert isinstance(d.beside("other", gpu_count=1, priority=HIGH), Refused)
    assert set(victims) - set(leaving) <= set(d.state.leases)
    d.tick()
    assert started(d) == [entry]


# --- taking over --------------------------------------------------------------------------------


def test_the_most_urgent_starts_when_the_first_victim_has_left_and_nobody_is_evicted_twice() -> (
    None
):
    d = desk(10)
    d.lease("slow", cpu_cores=10, priority=LOW, ttl_ms=LONG)
    high = d.wait("fast", cpu_cores=8, priority=HIGH)
    critical = d.at(2_000).wait("boss", cpu_cores=10, priority=CRITICAL)
    assert list(d.state.claims) == [critical]
    assert d.of_kind("request_blocked")[-2].body["gave_way"] == 1
    d.tick(1_000 + GRACE - 1)
    assert started(d) == []
    d.tick(1_000 + GRACE)
    assert started(d) == [critical]
    assert high in d.state.line.entries
    assert len(d.of_kind("lease_preempted")) == 1
    checked(d)


def test_who_gave_way_counts_on_what_else_is_leaving() -> None:
    d = desk(10, 10)
    for _ in range(2):
        d.lease("slow", cpu_cores=10, priority=LOW, ttl_ms=LONG)
    high = d.wait("fast", cpu_cores=8, priority=HIGH)
    critical = d.at(2_000).wait("boss", cpu_cores=10, priority=CRITICAL)
    d.tick(3_000)
    assert set(d.state.claims) == {high, critical}, "the other machine is cleared for it"
    d.tick(1_000 + GRACE)
    assert started(d) == [critical]
    d.tick(3_000 + GRACE)
    assert started(d) == [high]
    checked(d)


def test_a_less_urgent_or_equal_request_takes_nothing_over() -> None:
    d = desk(10)
    d.lease("slow", cpu_cores=10, priority=LOW, ttl_ms=LONG)
    entry = d.wait("fast", cpu_cores=8, priority=HIGH)
    d.wait("same", cpu_cores=10, priority=HIGH)
    d.tick(1_000 + GRACE)
    assert started(d) == [entry]


# --- elsewhere, and back ------------------------------------------------------------------------


def test_a_claimant_starts_elsewhere_at_once_and_its_victim_gets_its_lease_back() -> None:
    d = desk(10)
    victim = d.lease("slow", cpu_cores=10, priority=LOW, ttl_ms=LONG)
    entry = d.wait("fast", cpu_cores=8, priority=HIGH)
    assert d.phase(victim) == "grace_running"
    d.at(5_000).do(RegisterNode("n2", cores(8)))
    assert d.tick(5_100) == ["admission_approved", "lease_restored"]
    assert started(d) == [entry]
    assert (d.phase(victim), d.state.fields(victim).expires_ms) == ("active", 1_000 + LONG)
    assert not d.state.claims
    d.tick(1_000 + LONG - 1)
    assert victim in d.state.leases
    d.tick(1_000 + LONG)
    assert victim not in d.state.leases
    checked(d)


def test_a_cancelled_claimants_victim_gets_its_lease_back() -> None:
    d = desk(10)
    victim = d.lease("slow", cpu_cores=10, priority=LOW, ttl_ms=LONG)
    entry = d.wait("fast", cpu_cores=8, priority=HIGH)
    d.at(9_000).do(Cancel(entry))
    assert d.kinds == ["request_cancelled", "lease_restored"]
    assert d.last[-1].body["lease_id"] == victim
    d.do(Renew(victim, LONG))
    assert d.state.fields(victim).expires_ms == 9_000 + LONG
    checked(d)


def test_a_victim_whom_another_claimant_needs_still_goes() -> None:
    d = desk(10)
    victim = d.lease("slow", cpu_cores=10, priority=LOW, ttl_ms=LONG)
    first = d.wait("fast", cpu_cores=4, priority=HIGH)
    second = d.wait("quick", cpu_cores=4, priority=HIGH)
    d.tick()
    assert d.state.claims[second].victims == (victim,)
    d.do(Cancel(first))
    assert d.kinds == ["request_cancelled"]
    d.do(Cancel(second))
    assert d.kinds == ["request_cancelled", "lease_restored"]
    checked(d)


def test_a_gang_gets_its_leases_back_whole_or_not_at_all() -> None:
    d = desk(10, 10)
    gang = d.gang(2, "slow", cpu_cores=10, priority=LOW, ttl_ms=LONG)
    entry = d.wait("fast", cpu_cores=8, priority=HIGH)
    assert {d.phase(i) for i in gang} == {"grace_running"}
    d.do(Cancel(entry))
    assert d.kinds == ["request_cancelled", "lease_restored", "lease_restored"]
    assert {d.phase(i) for i in gang} == {"active"}
    checked(d)


def test_who_has_begun_to_be_torn_down_does_not_come_back() -> None:
    d = desk(10, confirm_teardown=True)
    victim = d.lease("slow", cpu_cores=10, priority=LOW, ttl_ms=LONG)
    entry = d.wait("fast", cpu_cores=8, priority=HIGH)
    d.tick(1_000 + GRACE)
    assert d.phase(victim) == "forced_teardown"
    d.do(Cancel(entry))
    assert d.kinds == ["request_cancelled"]


# --- quota and money are held -------------------------------------------------------------------


def test_nobody_takes_the_quota_for_which_others_have_to_go() -> None:
    d = desk(10)
    d.do(SetQuota("fast", Quota((ResourceLimit.cpu_cores(8),))))
    d.lease("slow", cpu_cores=9, priority=LOW, ttl_ms=LONG)
    entry = d.wait("fast", cpu_cores=8, priority=HIGH)
    taken = d.beside("fast", cpu_cores=1, priority=CRITICAL)
    assert isinstance(taken, Refused), "a core is free, but no quota"
    d.tick(1_000 + GRACE)
    assert started(d) == [entry]
    checked(d)


def test_who_lacks_quota_evicts_nobody() -> None:
    d = desk(10)
    d.do(SetQuota("lab", Quota((ResourceLimit.cpu_cores(10),))))
    d.lease("lab", cpu_cores=10, priority=LOW, ttl_ms=LONG)
    answer = d.do(Submit(ask("lab", cpu_cores=8, priority=HIGH)))
    assert isinstance(answer, Queued)
    assert answer.denied is not None
    assert answer.denied.reason is PendingReason.WAITING_FOR_QUOTA


def test_a_lowered_quota_ends_the_claim_and_the_victim_stays() -> None:
    d = desk(10)
    d.do(SetQuota("fast", Quota((ResourceLimit.cpu_cores(8),))))
    victim = d.lease("slow", cpu_cores=10, priority=LOW, ttl_ms=LONG)
    entry = d.wait("fast", cpu_cores=8, priority=HIGH)
    d.do(SetQuota("fast", Quota((ResourceLimit.cpu_cores(4),))))
    d.tick(2_000)
    assert d.phase(victim) == "active"
    assert not d.state.claims
    assert d.state.blocked[entry] is not None
    checked(d)


def _paying(limit: int, **terms: int) -> Desk:
    """A core costs one micro a millisecond."""
    d = desk(10)
    d.do(SetRateCard(replace(LIST_PRICES, core_micros_per_hour=3_600_000)))
    d.do(SetBudget(Budget("fast", limit_micros=limit, **terms)))
    return d


def test_money_under_a_cap_is_held_for_who_waits_for_its_victims() -> None:
    d = _paying(10**9, cap_micros=85_000)
    d.lease("slow", cpu_cores=9, priority=LOW, ttl_ms=LONG)
    entry = d.wait("fast", cpu_cores=8, priority=HIGH, ttl_ms=10_000)
    assert isinstance(d.beside("fast", cpu_cores=1, priority=CRITICAL), Refused), "80,000 are held"
    assert isinstance(d.beside("fast", cpu_cores=1, priority=CRITICAL, ttl_ms=4_000), Granted)
    d.tick(1_000 + GRACE)
    assert started(d) == [entry]
    checked(d)


def test_a_spent_budget_ends_the_claim_and_the_victim_stays() -> None:
    d = _paying(20_000)
    d.lease("fast", cpu_cores=1, priority=CRITICAL, ttl_ms=LONG)
    victim = d.lease("slow", cpu_cores=9, priority=LOW, ttl_ms=LONG)
    entry = d.wait("fast", cpu_cores=8, priority=HIGH, ttl_ms=10_000)
    d.tick(20_999)
    assert d.phase(victim) == "grace_running"
    d.tick(21_000)
    assert d.phase(victim) == "active"
    blocked = d.state.blocked[entry]
    assert blocked is not None
    assert blocked.reason is PendingReason.WAITING_FOR_QUOTA
    checked(d)


def test_nobodys_grace_ends_for_a_claim_that_came_to_nothing_since_the_last_look() -> None:
    d = desk(10)
    d.do(SetQuota("fast", Quota((ResourceLimit.cpu_cores(8),))))
    victim = d.lease("slow", cpu_cores=10, priority=LOW, ttl_ms=LONG)
    d.wait("fast", cpu_cores=8, priority=HIGH)
    d.do(SetQuota("fast", Quota((ResourceLimit.cpu_cores(4),))))
    d.tick(1_000 + GRACE)
    assert d.kinds[:2] == ["request_blocked", "lease_restored"]
    assert d.phase(victim) == "active"
    checked(d)


# --- headroom --------------------------------------------------------------------------------


@pytest.mark.parametrize("kept", [0, 8])
def test_headroom_is_asked_as_if_the_victims_were_gone(kept: int) -> None:
    d = desk(16, headroom=Resources(cpu_milli=kept * 1000))
    low = d.lease("slow", cpu_cores=16 - kept, priority=LOW, ttl_ms=LONG)
    entry = d.wait("fast", cpu_cores=4, priority=HIGH)
    assert d.phase(low) == "grace_running"
    d.tick(1_000 + GRACE)
    assert started(d) == [entry]


# --- telling ------------------------------------------------------------------------------------


def test_the_fleet_tells_what_is_claimed_apart_from_what_is_leased_and_free() -> None:
    d = Desk(nodes=[cores(16, gpus=4)], grace_ms=GRACE)
    victim = d.lease("slow", gpu_count=4, cpu_cores=16, priority=LOW, ttl_ms=LONG)
    d.wait("fast", gpu_count=3, cpu_cores=10, priority=HIGH)
    assert fleet(d.state).claimed == Resources(), "it is still leased"
    d.do(Release(victim))
    told = fleet(d.state)
    assert (told.leased, told.claimed.cpu_milli) == (Resources(), 10_000)
    assert (told.free.cpu_milli, told.free.gpu_milli) == (6_000, 1_000)
    (row,) = told.generations
    assert (row.leased_milli, row.claimed_milli, row.free_milli) == (0, 3_000, 1_000)
    assert row.closed_milli == 0
    node = d.state.ledger.node("n1")
    assert node.total == node.reserved + node.leased + node.claimed + node.free


def test_a_fenced_victim_ends_the_claims_that_count_on_it_and_no_others() -> None:
    d = desk(10, 1, confirm_teardown=True)
    first, other = (d.lease("slow", cpu_cores=5, priority=LOW, ttl_ms=LONG) for _ in range(2))
    old = d.wait("fast", cpu_cores=5, priority=HIGH)
    new = d.wait("quick", cpu_cores=5, priority=HIGH)
    d.tick()
    claimed = {entry: d.state.claims[entry].victims for entry in (old, new)}
    assert sorted(claimed.values()) == [(first,), (other,)]
    d.tick(1_000 + GRACE)
    (fenced,) = claimed[old]
    d.do(ReportTeardown(fenced, False))
    assert d.state.ledger.holds.numbers() == (new,)
    checked(d)
