"""Nodes, quotas, shares, settings and leaders: what operators tell the kernel."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bailiwick.fleet.node import NodeCapacity
from bailiwick.kernel import (
    ChangeMode,
    ChangeSettings,
    DepartNode,
    Done,
    Elect,
    Evict,
    Granted,
    LiftQuarantine,
    Quarantine,
    Queued,
    Refused,
    RegisterNode,
    Release,
    ReportTeardown,
    SetQuota,
    SetShare,
    Settings,
    Submit,
)
from bailiwick.kernel.fleet import rules as deciding
from bailiwick.kernel.precondition import quota_digest, settings_digest
from bailiwick.scheduler.quota_policy import (
    BurstCredit,
    BurstCreditExhausted,
    HardLimitExceeded,
    Quota,
    ResourceLimit,
)
from bailiwick.vocab.errors import (
    Conflict,
    IllegalTransition,
    InvalidValue,
    LimitReached,
    NotFound,
    Stale,
)
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.values import TERM_MAX_MS
from bailiwick.vocab.words import Dimension, LeaseClass, PreemptionReason, Strategy
from tests.unit.kernel.desk import CRITICAL, HIGH, Desk, ask, cores

R = PreemptionReason


def desk(**how: object) -> Desk:
    return Desk(nodes=[cores(8)], **{"grace_ms": 500, **how})


# --- registering and departing ------------------------------------------------------------------


def test_a_node_is_registered_once_and_known_by_its_inventory() -> None:
    d = Desk()
    assert d.do(RegisterNode("n1", cores(8, gpus=2))) == Done(1)
    assert d.kinds == ["node_registered"]
    assert "registered already" in d.refuses(Conflict, RegisterNode("n1", cores(1)))
    assert d.state.ledger.node("n1").total.gpu_milli == 2000


def test_a_machine_the_engine_could_not_hold_is_refused_before_anything() -> None:
    d = Desk()
    d.refuses(InvalidValue, RegisterNode("n1", NodeCapacity(1, 2**60)))


def test_there_is_a_last_node(monkeypatch: pytest.MonkeyPatch) -> None:
    d = desk()
    monkeypatch.setattr(deciding, "NODES_MAX", 1)
    d.refuses(LimitReached, RegisterNode("n2", cores(1)))


@pytest.mark.parametrize(
    "command",
    [
        DepartNode("n9"),
        ChangeMode("n9", NodeMode.DRAINING),
        Quarantine("n9", "odd"),
        LiftQuarantine("n9"),
    ],
    ids=lambda c: type(c).__name__,
)
def test_a_node_that_is_not_there_is_an_error(command: object) -> None:
    desk().refuses(NotFound, command)


def test_an_empty_node_departs_in_one_record_and_its_name_is_free_again() -> None:
    d = desk()
    d.do(DepartNode("n1"))
    assert [(r.kind, r.body["lease_ids"]) for r in d.last] == [("node_departed", ())]
    d.do(RegisterNode("n1", cores(2)))
    assert d.free_cores() == 2


# --- modes --------------------------------------------------------------------------------------


def test_a_drain_evicts_and_ends_by_itself_when_the_last_lease_is_gone() -> None:
    d = desk()
    one, two = d.lease(), d.lease(lease_class=LeaseClass.GUARANTEED)
    assert d.do(ChangeMode("n1", NodeMode.DRAINING)) == Done(len(d.lines) - 5)
    assert d.kinds == ["node_mode_changed", *["lease_revoked"] * 4]
    assert isinstance(d.beside(), Refused)
    d.do(Release(one))
    assert d.tick() == []
    d.do(Release(two))
    assert d.tick() == ["node_mode_changed"]
    assert (d.last[0].body["before"], d.last[0].body["after"]) == ("draining", "drained")
    assert d.tick() == []


def test_a_cordon_closes_a_node_and_leaves_its_work_alone() -> None:
    d = desk()
    lease = d.lease()
    d.do(ChangeMode("n1", NodeMode.DRAINING, evict=False))
    assert d.kinds == ["node_mode_changed"]
    assert d.last[0].body["note"] == "cordon"
    assert d.phase(lease) == "active"
    assert isinstance(d.beside(), Refused)
    d.do(ChangeMode("n1", NodeMode.ACCEPTING))
    assert "note" not in d.last[0].body
    d.do(ChangeMode("n1", NodeMode.DRAINING, evict=False))
    d.do(Release(lease))
    assert d.tick() == ["node_mode_changed"]


def test_only_a_drain_can_leave_work_alone() -> None:
    with pytest.raises(InvalidValue):
        ChangeMode("n1", NodeMode.MAINTENANCE, evict=False)


def test_what_has_moved_on_is_not_overwritten() -> None:
    d = desk()
    seen = settings_digest(d.state.settings)
    d.do(ChangeSettings(replace(d.state.settings, grace_ms=7), seen))
    d.refuses(Stale, ChangeSettings(Settings(), seen))
    d.do(ChangeSettings(Settings()))
    seen = quota_digest(d.state.quotas.quota_of("lab"))
    quota = Quota((ResourceLimit(Dimension.CPU_MILLI, 5),))
    d.do(SetQuota("lab", quota, seen=seen))
    d.refuses(Stale, SetQuota("lab", Quota(), seen=seen))
    d.do(SetQuota("lab", Quota(), seen=quota_digest(quota)))


def test_an_empty_node_is_drained_at_once() -> None:
    d = desk()
    d.do(ChangeMode("n1", NodeMode.DRAINING))
    assert [r.body["after"] for r in d.last] == ["draining", "drained"]


def test_a_drain_without_grace_is_over_in_one_command() -> None:
    d = desk()
    d.lease()
    d.do(ChangeMode("n1", NodeMode.DRAINING, grace_ms=0))
    assert d.kinds[-2:] == ["lease_preempted", "node_mode_changed"]


def test_a_maintenance_window_spares_critical_work_and_a_drain_does_not() -> None:
    d = desk()
    plain, vital = d.lease(priority=HIGH), d.lease(priority=CRITICAL)
    d.do(ChangeMode("n1", NodeMode.DRAINING, R.MAINTENANCE_WINDOW))
    assert [d.phase(i) for i in (plain, vital)] == ["grace_running", "active"]
    d.do(ChangeMode("n1", NodeMode.ACCEPTING))
    d.do(ChangeMode("n1", NodeMode.DRAINING, R.OPERATOR_DRAIN))
    assert d.phase(vital) == "grace_running"


def test_a_drain_that_is_taken_back_is_not_finished_later() -> None:
    d = desk()
    lease = d.lease()
    d.do(ChangeMode("n1", NodeMode.DRAINING))
    d.do(ChangeMode("n1", NodeMode.ACCEPTING))
    d.do(Release(lease))
    assert d.tick() == []
    assert not d.state.draining


def test_the_mode_table_is_the_law_and_a_node_with_leases_is_not_drained() -> None:
    d = desk()
    lease = d.lease()
    d.refuses(IllegalTransition, ChangeMode("n1", NodeMode.MAINTENANCE))
    d.do(ChangeMode("n1", NodeMode.DRAINING))
    assert "still holds leases" in d.refuses(Conflict, ChangeMode("n1", NodeMode.DRAINED))
    d.do(Release(lease))
    for mode in ("drained", "maintenance", "returning", "accepting"):
        d.do(ChangeMode("n1", NodeMode(mode)))
    assert isinstance(d.beside(), Granted)


def test_a_drain_needs_an_operators_reason() -> None:
    with pytest.raises(InvalidValue, match="an operator's reason"):
        ChangeMode("n1", NodeMode.DRAINING, R.PRIORITY_PREEMPTION)


def test_a_fence_keeps_a_node_from_being_drained() -> None:
    d = desk(confirm_teardown=True)
    lease = d.lease()
    d.do(Evict((lease,), R.OPERATOR_DRAIN, grace_ms=0))
    d.do(ReportTeardown(lease, False))
    d.do(ChangeMode("n1", NodeMode.DRAINING))
    assert d.kinds == ["node_mode_changed"]
    assert d.tick() == []


# --- quarantine ---------------------------------------------------------------------------------


def test_quarantine_closes_the_node_and_evicts_guaranteed_work_too() -> None:
    d = desk()
    lease = d.lease(lease_class=LeaseClass.GUARANTEED)
    d.do(Quarantine("n1", "bad-firmware", 0))
    assert d.kinds == ["node_quarantined", *["lease_revoked"] * 3, "lease_preempted"]
    assert d.last[-1].body["reason"] == "policy_violation_recovery"
    assert d.last[-1].body["preemptor"] == "operator"
    assert lease not in d.state.leases
    assert isinstance(d.beside(), Refused)


def test_quarantine_twice_evicts_only_what_is_still_running() -> None:
    d = desk()
    d.lease()
    d.do(Quarantine("n1", "odd"))
    # The second is a record too, so that its key is remembered; it evicts nobody again.
    size = d.state.size
    assert d.do(Quarantine("n1", "odd")) == Done(size)
    assert d.state.size == size + 1
    assert d.kinds == ["node_quarantined"]


def test_a_quarantine_is_lifted_once() -> None:
    d = desk()
    d.refuses(Conflict, LiftQuarantine("n1"))
    d.do(Quarantine("n1", "odd"))
    d.do(LiftQuarantine("n1"))
    assert d.kinds == ["node_quarantine_lifted"]
    assert isinstance(d.beside(), Granted)


# --- quotas -------------------------------------------------------------------------------------


def test_quota_is_judged_before_capacity_and_nests() -> None:
    d = desk()
    d.do(SetQuota("lab", Quota((ResourceLimit.cpu_cores(4),))))
    assert (d.kinds, d.last[0].tenant, d.last[0].project) == (["quota_changed"], "lab", None)
    d.do(SetQuota("lab", Quota((ResourceLimit.cpu_cores(3),)), "p"))
    d.lease(project="p", cpu_cores=2)
    inner = d.beside(project="p", cpu_cores=2)
    assert isinstance(inner, Refused)
    assert isinstance(inner.denied.detail, HardLimitExceeded)
    assert str(inner.denied.detail.scope) == "lab/p"
    d.lease(cpu_cores=2)
    outer = d.beside(project="p", cpu_cores=1)
    assert isinstance(outer, Refused)
    assert str(outer.denied.detail.scope) == "lab"  # type: ignore[union-attr]
    assert isinstance(d.beside("other", cpu_cores=4), Granted)


def test_what_waits_for_quota_starts_when_its_own_lease_ends() -> None:
    d = desk()
    d.do(SetQuota("lab", Quota((ResourceLimit.lease_count(1),))))
    lease = d.lease()
    answer = d.do(Submit(ask()))
    assert isinstance(answer, Queued)
    assert answer.reason.value == "waiting_for_quota"
    d.do(Release(lease))
    assert d.tick() == ["admission_approved"]


def test_burst_credit_lets_a_tenant_above_its_limit_until_it_is_gone() -> None:
    d = desk(burst_min_run_ms=0)
    credit = BurstCredit(Dimension.CPU_MILLI, 2_000, 0, 2_000)
    d.do(SetQuota("lab", Quota((ResourceLimit.cpu_cores(1),), burst=credit)))
    d.lease(cpu_cores=1, ttl_ms=10**6, lease_class=LeaseClass.GUARANTEED)
    above = d.lease(cpu_cores=1, ttl_ms=10**6)
    assert d.last[0].body["burst"] == 1000
    assert d.tick(2_999) == []
    d.tick(3_000)
    assert [r.body["reason"] for r in d.last] == ["burst_credit_exhausted"] * 2
    assert d.phase(above) == "grace_running"
    assert d.tick(3_100) == [], "grace is no reason to evict twice"
    denied = d.beside(cpu_cores=1)
    assert isinstance(denied, Refused)
    assert isinstance(denied.denied.detail, BurstCreditExhausted)
    d.tick(3_500)
    assert d.of_kind("lease_preempted")[-1].body["preemptor"] == "scheduler"
    assert d.tick(9_000) == []


def test_nobody_is_let_in_above_a_limit_for_less_than_the_minimum_run() -> None:
    """Seen: at a refill of one unit a second, work was let in and evicted within the second."""
    d = desk(burst_min_run_ms=2_000, grace_ms=0)
    credit = BurstCredit(Dimension.CPU_MILLI, 2_500, 500, 2_000)
    d.do(SetQuota("lab", Quota((ResourceLimit.cpu_cores(1),), burst=credit)))
    d.lease(cpu_cores=1, ttl_ms=10**6, lease_class=LeaseClass.GUARANTEED)
    refused = d.beside(cpu_cores=2)
    assert isinstance(refused, Refused)
    assert refused.denied.detail == HardLimitExceeded(Dimension.CPU_MILLI, 2_250, 1_000, 2_000)
    above = d.lease(cpu_cores=1, ttl_ms=10**6)
    d.tick(2_500)
    short = d.beside(cpu_cores=0.1)
    assert isinstance(short, Refused)
    detail = short.denied.detail
    assert isinstance(detail, BurstCreditExhausted)
    assert (detail.credit, detail.credit_needed) == (1_000, 2_200)
    assert short.denied.reason.value == "waiting_for_quota"
    assert d.tick(3_499) == []
    assert "lease_preempted" in d.tick(3_500), f"credit was for 2.5 s of lease {above}"


def test_credit_that_a_claim_was_made_with_lets_its_claimant_start() -> None:
    """It was asked for when others were told to go; asked anew it could be too little by then."""
    d = Desk(nodes=[cores(2)], burst_min_run_ms=2_000, grace_ms=2_500)
    credit = BurstCredit(Dimension.CPU_MILLI, 4_200, 0, 2_000)
    d.do(SetQuota("lab", Quota((ResourceLimit.cpu_cores(1),), burst=credit)))
    d.lease(cpu_cores=1, ttl_ms=10**6, priority=HIGH)
    victim = d.lease(cpu_cores=1, ttl_ms=10**6)
    answer = d.do(Submit(ask(cpu_cores=1, ttl_ms=10**6, priority=HIGH)))
    assert isinstance(answer, Queued)
    assert d.phase(victim) == "grace_running"
    d.tick(3_500)
    assert "admission_approved" in [r.kind.value for r in d.last], "its victim went for it"


# --- shares, settings, leaders ------------------------------------------------------------------


def test_a_share_is_one_record_of_its_tenant() -> None:
    d = desk()
    assert d.do(SetShare("lab", 7, "p")) == Done(len(d.lines) - 1)
    assert (d.kinds, d.last[0].project) == (["share_changed"], "p")
    assert d.state.shares.standing("lab", 0, project="p").share == 7


def test_settings_count_from_their_record_on() -> None:
    d = desk()
    lease = d.lease()
    d.do(ChangeSettings(Settings(grace_ms=7, patience_ms=9)))
    d.do(Evict((lease,), R.OPERATOR_DRAIN))
    assert d.last[1].body["expires_ms"] == 1_007
    assert d.state.line.rules.patience_ms == 9


def test_the_half_life_is_fixed_once_usage_was_counted() -> None:
    d = desk()
    d.do(ChangeSettings(Settings(half_life_ms=5)))
    d.lease()
    d.do(ChangeSettings(Settings(half_life_ms=5, grace_ms=1)))
    assert "half_life_ms" in d.refuses(Conflict, ChangeSettings(Settings(half_life_ms=6)))


@pytest.mark.parametrize(
    "bad",
    [
        {"grace_ms": -1},
        {"grace_ms": 2**52 + 1},
        {"teardown_ms": 0},
        {"teardown_ms": 2**52 + 1},
        {"horizon_ms": 2**52 + 1},
        {"half_life_ms": 0},
        {"keys_max": 10**7 + 1},
        {"max_cascade_depth": 256},
        {"confirm_teardown": 1},
        {"strategy": "best_fit"},
        {"strategy": Strategy.WEIGHTED},
        {"weights": (1, 1, 1, 1)},
        {"strategy": Strategy.WEIGHTED, "weights": (1, 1, 1)},
    ],
    ids=str,
)
def test_settings_are_bounded(bad: dict[str, object]) -> None:
    with pytest.raises(InvalidValue):
        Settings(**bad)  # type: ignore[arg-type]


def test_the_longest_times_there_may_be_can_still_be_told() -> None:
    longest = {"grace_ms": 2**52, "teardown_ms": 2**52, "horizon_ms": 2**52}
    d = desk(confirm_teardown=True, **longest)
    d.lease(cpu_cores=8, ttl_ms=TERM_MAX_MS)
    d.do(Submit(ask("fast", cpu_cores=8, priority=CRITICAL)))
    assert "request_blocked" in d.kinds
    d.tick()
    e = desk(confirm_teardown=True, **longest)
    e.lease(cpu_cores=8)
    assert e.tick(20_000) == ["lease_revoked"]


def test_an_epoch_comes_after_the_last_one() -> None:
    d = Desk()
    d.do(Elect(3, "r1", "host:1"))
    assert (d.kinds, d.state.epoch) == (["leader_elected"], 3)
    for epoch in (1, 3):
        d.refuses(Conflict, Elect(epoch, "r2"))
    d.do(Elect(4, "r2"))
