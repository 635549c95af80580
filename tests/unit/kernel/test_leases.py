"""Leases through the kernel: granted, renewed, ended with grace, torn down, fenced, cleared."""

from __future__ import annotations

import pytest

from bailiwick.kernel import (
    ClearFence,
    DepartNode,
    Done,
    Evict,
    Granted,
    Refused,
    Release,
    Renew,
    ReportCheckpoint,
    ReportTeardown,
    Submit,
    digest_of,
)
from bailiwick.vocab.errors import Conflict, IllegalTransition, NotFound, Stale
from bailiwick.vocab.words import LeaseClass, PreemptionReason
from tests.unit.kernel.desk import TTL_MS, Desk, ask, cores

R = PreemptionReason
STEPS = ["lease_revoked", "lease_revoked"]


def desk(**how: object) -> Desk:
    return Desk(nodes=[cores(8)], **{"grace_ms": 500, **how})


# --- granting and giving back -------------------------------------------------------------------


def test_a_request_that_fits_is_granted_for_its_term() -> None:
    d = desk()
    answer = d.do(Submit(ask(cpu_cores=3)))
    assert answer == Granted((1,), ("n1",), 1_000 + TTL_MS)
    assert d.kinds == ["admission_approved"]
    assert (d.free_cores(), d.phase(1)) == (5, "active")


def test_lease_numbers_are_given_once_and_never_again() -> None:
    d = desk()
    first = d.lease()
    d.do(Release(first))
    assert d.lease() == first + 1
    assert "no lease 1" in d.refuses(NotFound, Release(first))


def test_a_release_gives_everything_back_and_names_its_record() -> None:
    d = desk()
    lease = d.lease(cpu_cores=8)
    assert d.do(Release(lease)) == Done(len(d.lines) - 1)
    assert (d.kinds, d.free_cores()) == (["lease_released"], 8)
    assert d.last[0].body["resources"] == {"cpu_milli": 8000}
    assert (d.last[0].tenant, d.last[0].body["node"]) == ("lab", "n1")


@pytest.mark.parametrize(
    "command",
    [
        Release(9),
        Renew(9, 10),
        ReportCheckpoint(9),
        ReportTeardown(9, True),
        ClearFence(9),
        Evict((9,), R.OPERATOR_DRAIN),
    ],
    ids=lambda c: type(c).__name__,
)
def test_a_lease_that_is_not_there_is_an_error_that_changes_nothing(command: object) -> None:
    d = desk()
    d.lease()
    d.refuses(NotFound, command)


# --- renewing -----------------------------------------------------------------------------------


def test_renewing_gives_a_new_term_from_now_and_the_next_generation() -> None:
    d = desk()
    lease = d.lease()
    d.at(3_000).do(Renew(lease, 700, 1))
    told = d.last[0].body
    assert (d.kinds, told["generation"], told["expires_ms"]) == (["lease_renewed"], 2, 3_700)
    assert d.tick(3_699) == []
    assert d.tick(3_700) == ["lease_expired"]


def test_an_older_or_newer_generation_is_stale() -> None:
    d = desk()
    lease = d.lease()
    d.do(Renew(lease, 700))
    for held in (1, 3):
        assert "generation 2" in d.refuses(Stale, Renew(lease, 700, held))


def test_a_lease_at_its_end_or_on_its_way_out_cannot_be_renewed() -> None:
    d = desk()
    lease = d.lease()
    d.at(1_000 + TTL_MS)
    assert "expired at 11000" in d.refuses(Conflict, Renew(lease, 5))
    d.at(1_000 + TTL_MS - 1).do(Evict((lease,), R.OPERATOR_DRAIN))
    assert "grace_running" in d.refuses(Conflict, Renew(lease, 5))


# --- the end of a term --------------------------------------------------------------------------


def test_a_lease_expires_at_exactly_its_time_and_not_before() -> None:
    d = desk()
    lease = d.lease()
    assert d.tick(1_000 + TTL_MS - 1) == []
    assert d.tick(1_000 + TTL_MS) == ["lease_expired"]
    assert (d.last[0].body["lease_id"], d.free_cores()) == (lease, 8)


def test_one_member_of_a_gang_takes_all_even_those_with_a_longer_term() -> None:
    d = desk()
    gang = d.gang(3)
    d.at(5_000).do(Renew(gang[1], 50_000))
    assert d.tick(1_000 + TTL_MS) == ["lease_expired"] * 3
    assert not d.state.leases


def test_what_is_due_beyond_the_limit_is_done_by_the_next_tick() -> None:
    d = desk()
    for _ in range(5):
        d.lease()
    assert [len(d.tick(20_000, limit=2)) for _ in range(4)] == [2, 2, 1, 0]


def test_fences_do_not_use_up_the_limit_of_a_tick() -> None:
    d = desk(confirm_teardown=True, teardown_ms=10)
    for _ in range(3):
        d.lease()
    d.tick(20_000)
    assert d.tick(20_010) == ["lease_fenced"] * 3
    d.at(20_020).lease(ttl_ms=5)
    assert d.tick(20_030, limit=2) == ["lease_revoked"]


# --- eviction and grace -------------------------------------------------------------------------


def test_an_evicted_lease_is_warned_and_keeps_its_grace_to_the_last_millisecond() -> None:
    d = desk()
    lease = d.lease()
    d.do(Evict((lease,), R.OPERATOR_DRAIN))
    assert [(r.body["before"], r.body["after"]) for r in d.last] == [
        ("active", "revoke_warning"),
        ("revoke_warning", "grace_running"),
    ]
    assert d.last[1].body["expires_ms"] == 1_500
    assert d.tick(1_499) == []
    assert d.tick(1_500) == ["lease_revoked", "lease_preempted"]
    end = d.last[1].body
    assert (end["reason"], end["victim"], end["preemptor"]) == ("operator_drain", "lab", "operator")
    assert end["freed"] == {"cpu_milli": 1000}


def test_grace_is_the_commands_own_or_else_the_settings() -> None:
    d = desk()
    first, second = d.lease(), d.lease()
    d.do(Evict((first,), R.OPERATOR_DRAIN, grace_ms=50))
    d.do(Evict((second,), R.OPERATOR_DRAIN))
    assert d.tick(1_050) == ["lease_revoked", "lease_preempted"]
    assert d.last[1].body["lease_id"] == first


def test_grace_never_outlasts_the_lease_itself() -> None:
    d = desk(grace_ms=10**6)
    lease = d.lease()
    d.do(Evict((lease,), R.OPERATOR_DRAIN))
    assert d.last[1].body["expires_ms"] == 1_000 + TTL_MS
    assert d.tick(1_000 + TTL_MS)[-1] == "lease_preempted"


def test_without_grace_an_eviction_ends_the_lease_in_the_same_command() -> None:
    d = desk()
    lease = d.lease()
    assert d.do(Evict((lease,), R.OPERATOR_DRAIN, grace_ms=0)) == Done(len(d.lines) - 4)
    assert d.kinds == [*STEPS, "lease_revoked", "lease_preempted"]
    assert d.last[2].body["after"] == "forced_teardown"


@pytest.mark.parametrize("reason", R)
def test_every_reason_can_end_a_lease_and_only_four_a_guaranteed_one(reason: R) -> None:
    d = desk()
    plain, safe = d.lease(), d.lease(lease_class=LeaseClass.GUARANTEED)
    d.do(Evict((plain,), reason, grace_ms=0))
    assert d.last[-1].body["reason"] == reason
    operators = (R.OPERATOR_DRAIN, R.OPERATOR_MIG_PROFILE_CHANGE, R.MAINTENANCE_WINDOW)
    if reason in (*operators, R.POLICY_VIOLATION_RECOVERY):
        d.do(Evict((safe,), reason, grace_ms=0))
        assert d.last[-1].body["preemptor"] == "operator"
    else:
        assert "is guaranteed" in d.refuses(Conflict, Evict((safe,), reason))
        assert d.of_kind("lease_preempted")[-1].body["preemptor"] == "scheduler"


def test_an_eviction_is_all_or_none() -> None:
    d = desk()
    first, second = d.lease(), d.lease(lease_class=LeaseClass.GUARANTEED)
    d.refuses(Conflict, Evict((first, second), R.QUOTA_REBALANCE))
    d.refuses(NotFound, Evict((first, 99), R.OPERATOR_DRAIN))
    d.do(Evict((first,), R.OPERATOR_DRAIN))
    d.refuses(IllegalTransition, Evict((second, first), R.OPERATOR_DRAIN))


def test_evicting_one_member_evicts_the_gang() -> None:
    d = desk()
    gang = d.gang(3)
    d.do(Evict((gang[1],), R.OPERATOR_DRAIN))
    assert {d.phase(i) for i in gang} == {"grace_running"}
    assert d.tick(1_500).count("lease_preempted") == 3


# --- checkpoints --------------------------------------------------------------------------------


def test_a_checkpoint_of_a_running_lease_is_noted_and_ends_nothing() -> None:
    d = desk()
    lease = d.lease()
    d.at(2_000).do(ReportCheckpoint(lease))
    assert (d.kinds, d.phase(lease)) == (["checkpoint_reported"], "active")
    assert d.state.ledger.lease(d.state.handle(lease)).checkpoint_ms == 2_000


def test_a_checkpoint_during_grace_ends_the_lease_early() -> None:
    d = desk()
    lease = d.lease()
    d.do(Evict((lease,), R.OPERATOR_DRAIN))
    d.at(1_200).do(ReportCheckpoint(lease))
    assert d.kinds == ["checkpoint_reported", "lease_revoked", "lease_preempted"]
    assert d.last[1].body["after"] == "checkpoint_reported"
    assert d.free_cores() == 8


def test_a_checkpoint_after_grace_is_refused() -> None:
    d = desk(confirm_teardown=True)
    lease = d.lease()
    d.do(Evict((lease,), R.OPERATOR_DRAIN, grace_ms=0))
    assert "forced_teardown" in d.refuses(Conflict, ReportCheckpoint(lease))


# --- confirmed teardown and fences --------------------------------------------------------------


def test_with_confirmation_nothing_is_free_until_a_clean_teardown_is_reported() -> None:
    d = desk(confirm_teardown=True, teardown_ms=100)
    lease = d.lease(cpu_cores=8)
    d.do(Evict((lease,), R.OPERATOR_DRAIN))
    assert d.tick(1_500) == ["lease_revoked"]
    assert (d.free_cores(), d.last[0].body["expires_ms"]) == (0, 1_600)
    d.at(1_550).do(ReportTeardown(lease, True))
    assert (d.kinds, d.free_cores()) == (["lease_preempted"], 8)


def test_a_teardown_that_failed_fences_what_the_lease_held() -> None:
    d = desk(confirm_teardown=True)
    lease = d.lease(cpu_cores=8)
    d.do(Evict((lease,), R.OPERATOR_DRAIN, grace_ms=0))
    d.do(ReportTeardown(lease, False))
    assert (d.kinds, d.last[0].body["reason"]) == (["lease_fenced"], "operator_drain")
    assert (d.free_cores(), d.phase(lease), d.last[0].tenant) == (0, "fenced", "lab")


def test_a_teardown_never_reported_is_fenced_when_its_time_is_over() -> None:
    d = desk(confirm_teardown=True, teardown_ms=100)
    lease = d.lease(cpu_cores=8)
    assert d.tick(11_000) == ["lease_revoked"]
    assert d.phase(lease) == "expired"
    assert d.tick(11_099) == []
    assert d.tick(11_100) == ["lease_fenced"]
    assert "reason" not in d.last[0].body


def test_an_expired_lease_whose_teardown_is_clean_is_told_as_expired() -> None:
    d = desk(confirm_teardown=True)
    lease = d.lease()
    d.tick(11_000)
    d.do(ReportTeardown(lease, True))
    assert d.kinds == ["lease_expired"]


def test_only_an_operator_clears_a_fence_and_then_the_room_is_free() -> None:
    d = desk(confirm_teardown=True)
    lease = d.lease(cpu_cores=8)
    d.do(Evict((lease,), R.OPERATOR_DRAIN, grace_ms=0))
    d.do(ReportTeardown(lease, False))
    assert "is fenced" in d.refuses(Conflict, Release(lease))
    d.refuses(Conflict, ReportTeardown(lease, True))
    d.refuses(Conflict, Renew(lease, 5))
    d.refuses(Conflict, ReportCheckpoint(lease))
    d.refuses(IllegalTransition, Evict((lease,), R.OPERATOR_DRAIN))
    assert d.tick(10**9) == []
    d.do(ClearFence(lease))
    assert (d.kinds, d.free_cores(), d.last[0].tenant) == (["fence_cleared"], 8, "lab")


def test_what_is_not_fenced_cannot_be_cleared_and_what_runs_not_be_torn_down() -> None:
    d = desk(confirm_teardown=True)
    lease = d.lease()
    assert "active, not fenced" in d.refuses(Conflict, ClearFence(lease))
    assert "not being torn down" in d.refuses(Conflict, ReportTeardown(lease, True))


def test_a_fence_costs_its_old_owner_nothing() -> None:
    d = desk(confirm_teardown=True)
    lease = d.lease(cpu_cores=8)
    d.do(Evict((lease,), R.OPERATOR_DRAIN, grace_ms=0))
    d.do(ReportTeardown(lease, False))
    assert d.state.shares.running[("lab",)].rate == 0
    d.do(ClearFence(lease))
    assert d.state.shares.running[("lab",)].rate == 0


def test_one_fenced_member_leaves_its_gang_and_the_others_go_on_ending() -> None:
    d = desk(confirm_teardown=True, teardown_ms=100)
    gang = d.gang(3)
    d.do(Evict(gang, R.OPERATOR_DRAIN, grace_ms=0))
    d.do(ReportTeardown(gang[0], False))
    d.do(ReportTeardown(gang[1], True))
    assert d.tick(1_100) == ["lease_fenced"]
    assert [d.phase(i) for i in (gang[0], gang[2])] == ["fenced"] * 2


def test_a_gang_that_expires_is_torn_down_together() -> None:
    d = desk(confirm_teardown=True)
    gang = d.gang(2)
    d.at(2_000).do(Renew(gang[0], 10**6))
    assert d.tick(11_000) == ["lease_revoked"] * 2
    assert {d.phase(i) for i in gang} == {"expired"}


# --- nodes that leave ---------------------------------------------------------------------------


def test_a_node_takes_its_leases_and_their_gangs_with_it() -> None:
    d = Desk(nodes=[cores(2), cores(2)])
    gang = d.gang(4)
    d.do(DepartNode("n2", last_seen_ms=900))
    assert d.kinds == ["node_departed"]
    assert (d.last[0].body["lease_ids"], d.last[0].body["last_seen_ms"]) == (gang, 900)
    assert (list(d.state.ledger.entries), d.free_cores(), d.state.leases) == (["n1"], 2, {})


def test_of_a_gang_that_loses_a_node_the_others_are_torn_down_and_free_when_that_is_told() -> None:
    runs = {"labels": {"executor": "node"}}
    d = Desk(nodes=[cores(2, **runs), cores(2, **runs)], teardown_ms=100)
    gang = d.gang(4)
    here = [i for i in gang if str(d.state.node_of(i)) == "n1"]
    there = [i for i in gang if i not in here]
    d.do(DepartNode("n1"))
    assert d.kinds == ["node_departed", "lease_revoked", "lease_revoked"]
    assert d.last[0].body["lease_ids"] == tuple(here)
    assert {(r.body["departed"], r.body["after"]) for r in d.last[1:]} == {("n1", "expired")}
    assert ([d.phase(i) for i in there], d.free_cores("n2")) == (["expired"] * 2, 0)
    assert isinstance(d.beside(), Refused), "it may still run there"
    d.do(ReportTeardown(there[0], True))
    assert (d.kinds, d.free_cores("n2")) == (["lease_expired"], 1)
    assert d.tick(1_100) == ["lease_fenced"]
    assert (d.phase(there[1]), d.free_cores("n2")) == ("fenced", 1)
    assert digest_of(d.replayed().state) == d.digest


def test_of_a_gang_on_its_way_out_each_goes_on_from_where_it_is() -> None:
    d = Desk(nodes=[cores(1), cores(3)], confirm_teardown=True, teardown_ms=100)
    gang = d.gang(4)
    elsewhere = [i for i in gang if str(d.state.node_of(i)) == "n2"]
    d.do(Evict(gang, R.OPERATOR_DRAIN, grace_ms=1_000))
    d.do(ReportCheckpoint(elsewhere[0]))
    d.do(ReportTeardown(elsewhere[0], False))
    d.do(ReportCheckpoint(elsewhere[1]))
    d.at(1_050).do(DepartNode("n1"))
    phases = [d.phase(i) for i in elsewhere]
    assert phases == ["fenced", "checkpoint_reported", "forced_teardown"]
    assert [r.body.get("reason") for r in d.last if r.kind == "lease_revoked"] == ["operator_drain"]
    assert d.tick(1_150) == ["lease_fenced", "lease_fenced"]


def test_the_leases_of_a_large_node_are_told_in_several_records() -> None:
    d = Desk(nodes=[cores(600)])
    for _ in range(600):
        d.lease()
    d.do(DepartNode("n1"))
    told = [(len(r.body["lease_ids"]), r.body.get("leases_left", 0)) for r in d.last]
    assert told == [(256, 344), (256, 88), (88, 0)]
    assert not d.state.leases
    assert "n1" not in d.state.ledger


# --- time ---------------------------------------------------------------------------------------


def test_a_clock_that_goes_back_never_reorders_history() -> None:
    d = desk()
    d.at(5_000).lease()
    d.at(10).lease()
    assert [r.at_ms for r in d.records[-2:]] == [5_000, 5_000]
    assert d.state.ledger.lease(d.state.handle(2)).expires_ms == 5_000 + TTL_MS
    assert d.tick(1_000 + TTL_MS) == []
    assert d.state.clock_ms == 5_000
