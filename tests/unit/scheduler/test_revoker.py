"""Ending a lease against its holder's wish: warning, grace, teardown, fence."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from math import nan
from typing import Any

import pytest

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.fleet.resources import NOTHING
from bailiwick.scheduler.admission import AdmissionController
from bailiwick.scheduler.engine import has_compiled
from bailiwick.scheduler.lease import Lease
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.quota import QuotaManager
from bailiwick.scheduler.quota_policy import BurstCredit, Quota, ResourceLimit
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.revoker import LeaseRevoker, Revocation
from bailiwick.vocab.errors import (
    BailiwickError,
    Conflict,
    IllegalTransition,
    InvalidValue,
    NotFound,
)
from bailiwick.vocab.transitions import NodeMode, RevokeState
from bailiwick.vocab.values import AMOUNT_MAX
from bailiwick.vocab.words import (
    Dimension,
    EndCause,
    HardwareGeneration,
    LeaseClass,
    PreemptionReason,
)

R = PreemptionReason
S = RevokeState
ENGINES = ["pure", "compiled"] if has_compiled() else ["pure"]
GPU = GpuDevice(HardwareGeneration.NVIDIA_HOPPER)
HUGE = 10**5000

AT_ONCE = ["revoke_warning", "grace_running", "forced_teardown", "torndown"]


@pytest.fixture(params=ENGINES)
def ledger(request: pytest.FixtureRequest) -> CapacityLedger:
    made = CapacityLedger(engine=request.param, quotas=QuotaManager())
    for name in ("n1", "n2"):
        made.register_node(name, NodeCapacity(cpu_cores=8, mem_bytes=100, gpus=(GPU, GPU)))
    return made


def ask(**terms: Any) -> PlacementRequest:
    return PlacementRequest(**{"tenant": "lab", "cpu_cores": 2, "ttl_ms": 1000, **terms})


def fails(lease: Lease) -> bool:
    """A teardown that cannot confirm anything."""
    return False


def used(ledger: CapacityLedger, tenant: str = "lab") -> int:
    assert ledger.quotas is not None
    return ledger.quotas.headroom(tenant).dimensions[Dimension.CPU_MILLI].used


def told(ledger: CapacityLedger) -> object:
    return list(ledger.nodes()), list(ledger.leases()), ledger.free, used(ledger)


def states(walk: Revocation, lease_id: int) -> list[str]:
    return [step.after.value for step in walk.steps if step.lease_id == lease_id]


def refused(ledger: CapacityLedger, error: type[Exception], call: Callable[[], object]) -> Any:
    before = told(ledger)
    with pytest.raises(error) as caught:
        call()
    assert told(ledger) == before
    return caught.value


# --- the walk -----------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", list(PreemptionReason))
def test_without_grace_a_lease_is_torn_down_at_once_with_its_reason(
    ledger: CapacityLedger, reason: PreemptionReason
) -> None:
    lease = ledger.grant("n1", ask(gpu_count=1))
    walk = LeaseRevoker(ledger).revoke(lease.id, reason, now_ms=7)
    assert states(walk, lease.id) == AT_ONCE
    assert {(step.at_ms, step.reason) for step in walk.steps} == {(7, reason)}
    ended = walk.ended[0]
    assert (ended.cause, ended.reason, ended.ended_ms) == (EndCause.PREEMPTED, reason, 7)
    assert not ended.fenced
    assert ledger.node("n1").free == ledger.node("n1").total
    assert used(ledger) == 0


def test_every_step_of_a_walk_starts_where_the_one_before_it_ended(
    ledger: CapacityLedger,
) -> None:
    lease = ledger.grant("n1", ask())
    steps = LeaseRevoker(ledger).revoke(lease.id, R.QUOTA_REBALANCE, now_ms=7).steps
    assert [step.before for step in steps] == [S.ACTIVE, *(step.after for step in steps[:-1])]


def test_during_grace_the_lease_is_still_held_and_paid_for(ledger: CapacityLedger) -> None:
    lease = ledger.grant("n1", ask())
    walk = LeaseRevoker(ledger, grace_ms=50).revoke(lease.id, R.OPERATOR_DRAIN, now_ms=10)
    assert states(walk, lease.id) == ["revoke_warning", "grace_running"]
    assert walk.ended == ()
    held = ledger.lease(lease.id)
    assert (held.state, held.expires_ms) == (S.GRACE_RUNNING, 60)
    assert used(ledger) == 2000


@pytest.mark.parametrize(("own", "given", "until"), [(50, 20, 30), (0, 20, 30), (50, None, 60)])
def test_one_revocation_may_have_a_grace_window_of_its_own(
    ledger: CapacityLedger, own: int, given: int | None, until: int
) -> None:
    lease = ledger.grant("n1", ask())
    revoker = LeaseRevoker(ledger, grace_ms=own)
    revoker.revoke(lease.id, R.OPERATOR_DRAIN, now_ms=10, grace_ms=given)
    assert ledger.lease(lease.id).expires_ms == until


def test_a_revocation_without_grace_ends_at_once_whatever_the_revoker_s_window(
    ledger: CapacityLedger,
) -> None:
    lease = ledger.grant("n1", ask())
    walk = LeaseRevoker(ledger, grace_ms=50).revoke(
        lease.id, R.OPERATOR_DRAIN, now_ms=10, grace_ms=0
    )
    assert states(walk, lease.id) == AT_ONCE


@pytest.mark.parametrize("grace_ms", [-1, 2**53 + 1, HUGE, True, 1.0, nan, "1"], ids=range(7))
def test_a_grace_window_that_is_none_is_refused(ledger: CapacityLedger, grace_ms: Any) -> None:
    lease = ledger.grant("n1", ask())
    revoker = LeaseRevoker(ledger)
    error = refused(
        ledger,
        InvalidValue,
        lambda: revoker.revoke(lease.id, R.OPERATOR_DRAIN, now_ms=1, grace_ms=grace_ms),
    )
    assert error.field == "grace_ms"


def test_whether_a_lease_may_be_revoked_can_be_asked_without_doing_it(
    ledger: CapacityLedger,
) -> None:
    members = gang_of(ledger)
    before = told(ledger)
    assert sorted(LeaseRevoker(ledger).check(members[1], R.OPERATOR_DRAIN, now_ms=1)) == members
    assert told(ledger) == before


def test_grace_never_outlasts_the_term_of_the_lease(ledger: CapacityLedger) -> None:
    lease = ledger.grant("n1", ask(ttl_ms=20))
    LeaseRevoker(ledger, grace_ms=50).revoke(lease.id, R.OPERATOR_DRAIN, now_ms=10)
    assert ledger.lease(lease.id).expires_ms == 20


def test_when_grace_is_over_teardown_is_forced(ledger: CapacityLedger) -> None:
    lease = ledger.grant("n1", ask())
    revoker = LeaseRevoker(ledger, grace_ms=50)
    revoker.revoke(lease.id, R.MAINTENANCE_WINDOW, now_ms=10)
    assert revoker.advance(59) == Revocation()
    walk = revoker.advance(60)
    assert states(walk, lease.id) == ["forced_teardown", "torndown"]
    assert (walk.ended[0].cause, walk.ended[0].reason) == (
        EndCause.PREEMPTED,
        R.MAINTENANCE_WINDOW,
    )


def test_a_checkpoint_reported_in_grace_ends_the_lease_early(ledger: CapacityLedger) -> None:
    lease = ledger.grant("n1", ask())
    revoker = LeaseRevoker(ledger, grace_ms=50)
    revoker.revoke(lease.id, R.OPERATOR_DRAIN, now_ms=10)
    walk = revoker.report_checkpoint(lease.id, now_ms=30)
    assert states(walk, lease.id) == ["checkpoint_reported", "torndown"]
    assert walk.ended[0].lease.checkpoint_ms == 30
    assert revoker.advance(60) == Revocation()


def test_a_lease_whose_term_is_over_fails_closed(ledger: CapacityLedger) -> None:
    lease = ledger.grant("n1", ask(ttl_ms=100))
    walk = LeaseRevoker(ledger).advance(100)
    assert states(walk, lease.id) == ["expired", "failed_closed"]
    assert (walk.ended[0].cause, walk.ended[0].reason) == (EndCause.EXPIRED, None)


def test_nothing_is_due_when_nothing_is(ledger: CapacityLedger) -> None:
    ledger.grant("n1", ask())
    assert LeaseRevoker(ledger).advance(5) == Revocation()


def test_a_reservation_can_be_revoked_too(ledger: CapacityLedger) -> None:
    held = ledger.reserve("n1", ask())
    LeaseRevoker(ledger).revoke(held.id, R.OPERATOR_DRAIN, now_ms=1)
    assert ledger.node("n1").reserved == NOTHING


def test_the_reason_is_known_while_the_walk_lasts(ledger: CapacityLedger) -> None:
    lease = ledger.grant("n1", ask())
    revoker = LeaseRevoker(ledger, grace_ms=50)
    revoker.revoke(lease.id, R.COST_CAP_EVICTION, now_ms=1)
    assert revoker.reason_of(lease.id) is R.COST_CAP_EVICTION
    revoker.advance(51)
    with pytest.raises(NotFound):
        revoker.reason_of(lease.id)


def test_a_drained_node_is_free_to_be_drained_after_its_leases_were_walked(
    ledger: CapacityLedger,
) -> None:
    lease = ledger.grant("n1", ask())
    ledger.set_mode("n1", NodeMode.DRAINING)
    LeaseRevoker(ledger).revoke(lease.id, R.OPERATOR_DRAIN, now_ms=1)
    assert ledger.set_mode("n1", NodeMode.DRAINED).after is NodeMode.DRAINED


# --- gangs --------------------------------------------------------------------------------------


def gang_of(ledger: CapacityLedger, size: int = 3, **terms: Any) -> list[int]:
    answer = AdmissionController(ledger).admit(ask(gang_size=size, **terms))
    return [lease.id for lease in answer.leases]


def test_one_member_takes_its_gang_with_it(ledger: CapacityLedger) -> None:
    members = gang_of(ledger, 8)
    walk = LeaseRevoker(ledger).revoke(members[3], R.OPERATOR_DRAIN, now_ms=1)
    assert {ended.lease.id for ended in walk.ended} == set(members)
    assert list(ledger.leases()) == []


def test_a_gang_s_grace_starts_for_all_members_at_once(ledger: CapacityLedger) -> None:
    members = gang_of(ledger)
    revoker = LeaseRevoker(ledger, grace_ms=50)
    revoker.revoke(members[0], R.OPERATOR_DRAIN, now_ms=10)
    assert {ledger.lease(i).state for i in members} == {S.GRACE_RUNNING}
    assert {ended.lease.id for ended in revoker.advance(60).ended} == set(members)


def test_one_expired_member_ends_its_gang(ledger: CapacityLedger) -> None:
    members = gang_of(ledger, ttl_ms=100)
    ledger.renew(members[0], ttl_ms=900, now_ms=50)
    ended = LeaseRevoker(ledger).advance(100).ended
    assert {(e.lease.id, e.cause) for e in ended} == {(i, EndCause.EXPIRED) for i in members}


def test_a_gang_with_a_guaranteed_member_is_spared_whole(ledger: CapacityLedger) -> None:
    members = gang_of(ledger, lease_class=LeaseClass.GUARANTEED)
    revoker = LeaseRevoker(ledger)
    refused(ledger, Conflict, lambda: revoker.revoke(members[0], R.PRIORITY_PREEMPTION, now_ms=1))


def test_the_fences_of_a_gang_can_be_cleared_one_by_one(ledger: CapacityLedger) -> None:
    members = gang_of(ledger)
    revoker = LeaseRevoker(ledger, teardown=fails)
    revoker.revoke(members[0], R.OPERATOR_DRAIN, now_ms=1)
    for lease_id in members:
        assert ledger.lease(lease_id).gang is None
        revoker.clear_fence(lease_id, now_ms=2)
    assert all(node.free == node.total for node in ledger.nodes())


def test_a_fenced_member_does_not_hold_up_the_rest_of_its_gang(ledger: CapacityLedger) -> None:
    members = gang_of(ledger)
    revoker = LeaseRevoker(ledger, grace_ms=50, teardown=lambda lease: lease.id != members[0])
    revoker.revoke(members[1], R.OPERATOR_DRAIN, now_ms=1)
    revoker.report_checkpoint(members[0], now_ms=2)
    assert ledger.lease(members[0]).state is S.FENCED
    assert {e.lease.id for e in revoker.advance(51).ended} == set(members[1:])
    revoker.clear_fence(members[0], now_ms=60)
    assert list(ledger.leases()) == []


def test_a_node_with_fenced_members_of_a_gang_can_depart(ledger: CapacityLedger) -> None:
    members = gang_of(ledger, 8)
    LeaseRevoker(ledger, teardown=fails).revoke(members[0], R.OPERATOR_DRAIN, now_ms=1)
    for name in ("n1", "n2"):
        ledger.depart_node(name)
    assert len(ledger) == 0


# --- fences -------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["forced", "checkpoint", "expired"])
def test_resources_whose_teardown_is_not_confirmed_are_fenced(
    ledger: CapacityLedger, way: str
) -> None:
    lease = ledger.grant("n1", ask(gpu_count=2))
    revoker = LeaseRevoker(ledger, grace_ms=50, teardown=fails)
    if way == "expired":
        walk = revoker.advance(1000)
    else:
        revoker.revoke(lease.id, R.OPERATOR_DRAIN, now_ms=10)
        walk = (
            revoker.advance(60)
            if way == "forced"
            else revoker.report_checkpoint(lease.id, now_ms=20)
        )
    assert states(walk, lease.id)[-1] == "fenced"
    assert [ended.fenced for ended in walk.ended] == [True]
    assert ledger.lease(lease.id).state is S.FENCED


def test_a_fenced_resource_takes_no_lease_and_costs_its_tenant_nothing(
    ledger: CapacityLedger,
) -> None:
    lease = ledger.grant("n1", ask(cpu_cores=8, gpu_count=2))
    LeaseRevoker(ledger, teardown=fails).revoke(lease.id, R.OPERATOR_DRAIN, now_ms=1)
    assert used(ledger) == 0
    assert ledger.lease(lease.id).tenant == "fenced"
    refused(ledger, Conflict, lambda: ledger.grant("n1", ask()))
    node = ledger.node("n1")
    assert (node.free.cpu_milli, node.lease_count) == (0, 1)


def test_a_cleared_fence_takes_leases_again(ledger: CapacityLedger) -> None:
    lease = ledger.grant("n1", ask(cpu_cores=8))
    revoker = LeaseRevoker(ledger, teardown=fails)
    revoker.revoke(lease.id, R.OPERATOR_DRAIN, now_ms=1)
    assert revoker.clear_fence(lease.id, now_ms=5).ended_ms == 5
    assert ledger.grant("n1", ask(cpu_cores=8)).node == "n1"


def test_a_fence_lasts_until_it_is_cleared(ledger: CapacityLedger) -> None:
    lease = ledger.grant("n1", ask())
    revoker = LeaseRevoker(ledger, teardown=fails)
    revoker.revoke(lease.id, R.OPERATOR_DRAIN, now_ms=1)
    assert ledger.lease(lease.id).expires_ms == AMOUNT_MAX
    assert revoker.advance(AMOUNT_MAX) == Revocation()
    refused(ledger, IllegalTransition, lambda: revoker.revoke(lease.id, R.OPERATOR_DRAIN, now_ms=2))


def test_teardown_is_asked_exactly_once_and_sees_the_lease_as_it_was(
    ledger: CapacityLedger,
) -> None:
    asked: list[Lease] = []

    def teardown(lease: Lease) -> bool:
        asked.append(lease)
        return False

    lease = ledger.grant("n1", ask())
    revoker = LeaseRevoker(ledger, teardown=teardown)
    revoker.revoke(lease.id, R.OPERATOR_DRAIN, now_ms=1)
    revoker.advance(AMOUNT_MAX)
    assert [(seen.id, seen.tenant, seen.state) for seen in asked] == [
        (lease.id, "lab", S.FORCED_TEARDOWN)
    ]


@pytest.mark.parametrize("state", ["held", "in grace"])
def test_only_a_fence_can_be_cleared(ledger: CapacityLedger, state: str) -> None:
    lease = ledger.grant("n1", ask())
    revoker = LeaseRevoker(ledger, grace_ms=50)
    if state == "in grace":
        revoker.revoke(lease.id, R.OPERATOR_DRAIN, now_ms=1)
    refused(ledger, Conflict, lambda: revoker.clear_fence(lease.id, now_ms=1))


# --- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", list(PreemptionReason))
def test_a_guaranteed_lease_is_revoked_only_for_operators_and_policy(
    ledger: CapacityLedger, reason: PreemptionReason
) -> None:
    lease = ledger.grant("n1", ask(lease_class=LeaseClass.GUARANTEED))
    revoker = LeaseRevoker(ledger)
    if reason.spares_guaranteed:
        refused(ledger, Conflict, lambda: revoker.revoke(lease.id, reason, now_ms=1))
    else:
        assert revoker.revoke(lease.id, reason, now_ms=1).ended[0].reason is reason


def test_a_lease_is_not_revoked_twice(ledger: CapacityLedger) -> None:
    lease = ledger.grant("n1", ask())
    revoker = LeaseRevoker(ledger, grace_ms=50)
    revoker.revoke(lease.id, R.OPERATOR_DRAIN, now_ms=1)
    error = refused(
        ledger, IllegalTransition, lambda: revoker.revoke(lease.id, R.OPERATOR_DRAIN, now_ms=2)
    )
    assert (error.current, error.wanted) == ("grace_running", "revoke_warning")
    assert error.allowed == ("active", "checkpoint_reported", "forced_teardown")


def test_a_checkpoint_is_reported_to_the_revoker_only_in_grace(ledger: CapacityLedger) -> None:
    lease = ledger.grant("n1", ask())
    revoker = LeaseRevoker(ledger)
    error = refused(
        ledger, IllegalTransition, lambda: revoker.report_checkpoint(lease.id, now_ms=1)
    )
    assert (error.current, error.wanted) == ("active", "checkpoint_reported")


CALLS: list[tuple[str, Callable[[LeaseRevoker, Any, Any], object]]] = [
    ("revoke", lambda revoker, i, t: revoker.revoke(i, R.OPERATOR_DRAIN, now_ms=t)),
    ("report_checkpoint", lambda revoker, i, t: revoker.report_checkpoint(i, now_ms=t)),
    ("clear_fence", lambda revoker, i, t: revoker.clear_fence(i, now_ms=t)),
]
each_call = pytest.mark.parametrize("call", [c for _, c in CALLS], ids=[n for n, _ in CALLS])


@each_call
@pytest.mark.parametrize(
    "lease_id", [-1, 1, 2**32, 2**63, HUGE, True, 0.0, nan, "0", None, []], ids=range(11)
)
def test_an_id_that_was_never_given_is_refused(
    ledger: CapacityLedger, call: Callable[[LeaseRevoker, Any, Any], object], lease_id: Any
) -> None:
    assert ledger.grant("n1", ask()).id == 0
    refused(ledger, NotFound, lambda: call(LeaseRevoker(ledger), lease_id, 1))


@each_call
def test_a_lease_that_has_ended_is_refused(
    ledger: CapacityLedger, call: Callable[[LeaseRevoker, Any, Any], object]
) -> None:
    lease = ledger.grant("n1", ask())
    ledger.release(lease.id)
    refused(ledger, NotFound, lambda: call(LeaseRevoker(ledger), lease.id, 1))


@each_call
@pytest.mark.parametrize(
    "now_ms", [-1, AMOUNT_MAX + 1, HUGE, True, 1.0, nan, "1", None], ids=range(8)
)
def test_a_time_that_is_none_is_refused(
    ledger: CapacityLedger, call: Callable[[LeaseRevoker, Any, Any], object], now_ms: Any
) -> None:
    lease = ledger.grant("n1", ask())
    error = refused(ledger, InvalidValue, lambda: call(LeaseRevoker(ledger), lease.id, now_ms))
    assert error.field == "now_ms"


@pytest.mark.parametrize("now_ms", [-1, AMOUNT_MAX + 1, True, 1.0, nan, "1", None])
def test_advancing_needs_a_time(ledger: CapacityLedger, now_ms: Any) -> None:
    error = refused(ledger, InvalidValue, lambda: LeaseRevoker(ledger).advance(now_ms))
    assert error.field == "now_ms"


@pytest.mark.parametrize("limit", [0, -1, 2**31, True, 1.0, nan, "1", None])
def test_advancing_needs_a_limit_above_zero(ledger: CapacityLedger, limit: Any) -> None:
    error = refused(ledger, InvalidValue, lambda: LeaseRevoker(ledger).advance(1, limit=limit))
    assert error.field == "limit"


@pytest.mark.parametrize("reason", ["operator_drain", None, 1, EndCause.PREEMPTED])
def test_a_reason_that_is_none_of_the_nine_is_refused(ledger: CapacityLedger, reason: Any) -> None:
    lease = ledger.grant("n1", ask())
    error = refused(
        ledger, InvalidValue, lambda: LeaseRevoker(ledger).revoke(lease.id, reason, now_ms=1)
    )
    assert error.field == "reason"


@pytest.mark.parametrize(
    ("field", "given"),
    [
        *[("grace_ms", {"grace_ms": v}) for v in (-1, 2**53 + 1, True, 1.0, nan, "1", None)],
        *[("teardown", {"teardown": v}) for v in (None, True, "yes", 5)],
    ],
)
def test_a_revoker_needs_a_grace_window_and_a_teardown(field: str, given: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue) as caught:
        LeaseRevoker(CapacityLedger(), **given)
    assert caught.value.field == field


@pytest.mark.parametrize("ledger_", [None, "ledger", QuotaManager()])
def test_a_revoker_needs_a_ledger(ledger_: Any) -> None:
    with pytest.raises(InvalidValue) as caught:
        LeaseRevoker(ledger_)
    assert caught.value.field == "ledger"


# --- what breaks in the middle ------------------------------------------------------------------


def test_a_teardown_that_raises_has_not_confirmed_anything(ledger: CapacityLedger) -> None:
    def teardown(lease: Lease) -> bool:
        raise OSError("the node does not answer")

    lease = ledger.grant("n1", ask())
    revoker = LeaseRevoker(ledger, teardown=teardown)
    with suppress(OSError):
        revoker.revoke(lease.id, R.OPERATOR_DRAIN, now_ms=1)
    assert ledger.lease(lease.id).state is S.FENCED
    revoker.clear_fence(lease.id, now_ms=2)
    assert ledger.node("n1").free == ledger.node("n1").total


def bursting(ledger: CapacityLedger, now_ms: int) -> None:
    """Bring the clock of the tenant's burst credit to that time."""
    assert ledger.quotas is not None
    credit = BurstCredit(Dimension.CPU_MILLI, capacity=10, refill_per_s=0, ceiling=9000)
    ledger.quotas.set_quota("lab", Quota((ResourceLimit.cpu_cores(1),), burst=credit))
    ledger.release(ledger.grant("n2", ask(), now_ms=now_ms).id, now_ms=now_ms)


CLOCKED: list[tuple[str, Callable[[CapacityLedger], object]]] = [
    ("expire", lambda ledger: ledger.expire(60)),
    ("depart_node", lambda ledger: ledger.depart_node("n1", now_ms=60)),
    ("revoke", lambda ledger: LeaseRevoker(ledger).revoke(1, R.OPERATOR_DRAIN, now_ms=60)),
    ("advance", lambda ledger: LeaseRevoker(ledger).advance(60)),
]


@pytest.mark.parametrize("call", [c for _, c in CLOCKED], ids=[n for n, _ in CLOCKED])
def test_a_time_before_the_quota_s_clock_is_refused_before_anything_changed(
    ledger: CapacityLedger, call: Callable[[CapacityLedger], object]
) -> None:
    for tenant in ("other", "lab", "other"):
        ledger.grant("n1", ask(tenant=tenant, ttl_ms=50))
    bursting(ledger, 500)
    refused(ledger, BailiwickError, lambda: call(ledger))


def test_another_revoker_of_the_ledger_can_finish_a_walk(ledger: CapacityLedger) -> None:
    lease = ledger.grant("n1", ask())
    LeaseRevoker(ledger, grace_ms=50).revoke(lease.id, R.OPERATOR_DRAIN, now_ms=1)
    ended = LeaseRevoker(ledger, grace_ms=50).advance(51).ended
    assert [(e.cause, e.reason) for e in ended] == [(EndCause.PREEMPTED, R.OPERATOR_DRAIN)]


def test_a_revoker_forgets_a_lease_that_its_holder_gave_back(ledger: CapacityLedger) -> None:
    lease = ledger.grant("n1", ask())
    revoker = LeaseRevoker(ledger, grace_ms=50)
    revoker.revoke(lease.id, R.OPERATOR_DRAIN, now_ms=1)
    ledger.release(lease.id, now_ms=2)
    with pytest.raises(NotFound):
        revoker.reason_of(lease.id)


def test_a_checkpoint_before_the_quota_s_clock_is_refused_before_anything_changed(
    ledger: CapacityLedger,
) -> None:
    lease = ledger.grant("n1", ask())
    revoker = LeaseRevoker(ledger, grace_ms=50)
    revoker.revoke(lease.id, R.OPERATOR_DRAIN, now_ms=1)
    bursting(ledger, 500)
    refused(ledger, InvalidValue, lambda: revoker.report_checkpoint(lease.id, now_ms=20))


def test_a_teardown_that_raises_does_not_leave_half_a_gang_running(ledger: CapacityLedger) -> None:
    def teardown(lease: Lease) -> bool:
        raise OSError("the node does not answer")

    members = gang_of(ledger)
    with suppress(OSError):
        LeaseRevoker(ledger, teardown=teardown).revoke(members[0], R.OPERATOR_DRAIN, now_ms=1)
    assert {lease.state for lease in ledger.leases()} == {S.FENCED}
