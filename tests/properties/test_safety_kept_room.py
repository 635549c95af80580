"""The library's hold: whoever evicted others gets their room, whatever else is asked meanwhile.

Safety: a plan that was carried out with a hold lets its request in once the victims are gone,
though others ask for room and for quota in between; where it would not, nobody is evicted; and what
is kept is no more than was needed, so that all of it is free again in the end.
"""

from __future__ import annotations

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from bailiwick import (
    AdmissionController,
    Approved,
    CapacityLedger,
    Conflict,
    Denied,
    GpuDevice,
    HardwareGeneration,
    LeaseClass,
    LeaseRevoker,
    NodeCapacity,
    PlacementRequest,
    Preemptable,
    PreemptionManager,
    Priority,
    Quota,
    QuotaManager,
    ReservationHeadroom,
    ResourceLimit,
    Resources,
    VictimsLeaving,
)
from bailiwick.vocab.words import Dimension

HOPPER = GpuDevice(HardwareGeneration.NVIDIA_HOPPER, 80 * 2**30)
GRACE_MS = 100

requests = st.builds(
    PlacementRequest,
    tenant=st.sampled_from(["a", "u"]),
    cpu_cores=st.integers(1, 6),
    gpu_count=st.sampled_from([0, 0, 1]),
    priority=st.sampled_from([Priority.LOW, Priority.LOW, Priority.NORMAL]),
    lease_class=st.sampled_from([LeaseClass.SPOT, LeaseClass.STANDARD]),
    gang_size=st.sampled_from([1, 1, 1, 2]),
    ttl_ms=st.just(10_000),
)
URGENT = st.builds(
    PlacementRequest,
    tenant=st.just("u"),
    cpu_cores=st.integers(1, 8),
    gpu_count=st.sampled_from([0, 0, 1, 2]),
    priority=st.just(Priority.HIGH),
    gang_size=st.sampled_from([1, 1, 2]),
    ttl_ms=st.just(10_000),
)


def limited(cores: int) -> QuotaManager:
    quotas = QuotaManager()
    quotas.set_quota("u", Quota((ResourceLimit(Dimension.CPU_MILLI, 1000 * cores),)))
    return quotas


@given(st.data())
def test_whoever_evicted_with_a_hold_is_let_in_when_its_victims_are_gone(
    data: st.DataObject,
) -> None:
    draw = data.draw
    engine = draw(st.sampled_from(["auto", "pure"]))
    ledger = CapacityLedger(quotas=limited(draw(st.integers(4, 16))), engine=engine)
    for i in range(draw(st.integers(1, 3))):
        gpus = (HOPPER,) * draw(st.integers(0, 2))
        ledger.register_node(f"n{i}", NodeCapacity(cpu_cores=8, mem_bytes=0, gpus=gpus))
    for ask in draw(st.lists(requests, max_size=8)):
        AdmissionController(ledger).admit(ask)
    kept = ReservationHeadroom(Resources(cpu_milli=1000 * draw(st.integers(0, 6))))
    door, manager = AdmissionController(ledger, headroom=kept), PreemptionManager()
    revoker, ask = LeaseRevoker(ledger, grace_ms=GRACE_MS), draw(URGENT)
    found = manager.find_victims(ledger, ask, headroom=kept)
    if not isinstance(found, Preemptable) or isinstance(door.evaluate(ask), Approved):
        return
    before = list(ledger.leases())
    try:
        done = manager.preempt(found, revoker, now_ms=0, hold_for=ask)
    except Conflict:
        event("refused")
        assert list(ledger.leases()) == before
        return
    assert done.hold is not None
    event("kept")
    first = door.admit(ask, now_ms=0, hold=done.hold)
    if found.victims:
        assert isinstance(first, Denied)
        assert first.detail == VictimsLeaving(len(found.victims), GRACE_MS)
    for other in draw(st.lists(requests | URGENT, max_size=4)):
        door.admit(other, now_ms=draw(st.integers(0, GRACE_MS)))
    revoker.advance(GRACE_MS)
    for other in draw(st.lists(requests | URGENT, max_size=4)):
        door.admit(other, now_ms=GRACE_MS)
    granted = door.admit(ask, now_ms=GRACE_MS, hold=done.hold)
    assert isinstance(granted, Approved), "somebody had to go for nothing"
    assert all(lease.depth == found.depth for lease in granted.leases)
    assert not len(ledger.holds)
    for lease in list(ledger.leases()):
        if lease.id in {i.id for i in ledger.leases()}:
            ledger.release(lease.id, now_ms=GRACE_MS)
    assert ledger.free == ledger.total


# -- one by one ----------------------------------------------------------------------------------


def scene(**how: int) -> tuple[CapacityLedger, AdmissionController, LeaseRevoker]:
    """One node of 8 cores, filled by somebody's low work."""
    ledger = CapacityLedger(quotas=limited(how.get("quota", 8)))
    ledger.register_node("n0", NodeCapacity(cpu_cores=8, mem_bytes=0))
    door = AdmissionController(ledger)
    low = PlacementRequest(tenant="a", cpu_cores=8, priority=Priority.LOW)
    assert isinstance(door.admit(low), Approved)
    return ledger, door, LeaseRevoker(ledger, grace_ms=how.get("grace_ms", GRACE_MS))


HIGH = PlacementRequest(tenant="u", cpu_cores=6, priority=Priority.HIGH)


def plan_for(ledger: CapacityLedger, ask: PlacementRequest = HIGH) -> Preemptable:
    found = PreemptionManager().find_victims(ledger, ask)
    assert isinstance(found, Preemptable)
    return found


def test_without_a_hold_another_may_take_the_room_that_victims_left() -> None:
    ledger, door, revoker = scene()
    PreemptionManager().preempt(plan_for(ledger), revoker, now_ms=0)
    revoker.advance(GRACE_MS)
    assert isinstance(door.admit(PlacementRequest(tenant="a", cpu_cores=8)), Approved)
    assert isinstance(door.admit(HIGH, now_ms=GRACE_MS), Denied)


def test_what_is_not_needed_of_the_room_is_for_anybody() -> None:
    ledger, door, revoker = scene(grace_ms=0)
    done = PreemptionManager().preempt(plan_for(ledger), revoker, hold_for=HIGH)
    assert isinstance(door.admit(PlacementRequest(tenant="a", cpu_cores=3)), Denied)
    assert isinstance(door.admit(PlacementRequest(tenant="a", cpu_cores=2)), Approved)
    assert isinstance(door.admit(HIGH, hold=done.hold), Approved)


def test_quota_is_kept_as_well() -> None:
    ledger, door, revoker = scene(grace_ms=0)
    ledger.register_node("n1", NodeCapacity(cpu_cores=4, mem_bytes=0))
    done = PreemptionManager().preempt(plan_for(ledger), revoker, hold_for=HIGH)
    small = PlacementRequest(tenant="u", cpu_cores=4)
    assert isinstance(door.admit(small), Denied), "2 of 8 are left beside the hold"
    assert isinstance(door.admit(HIGH, hold=done.hold), Approved)


def test_nobody_goes_for_a_request_that_its_quota_would_keep_out() -> None:
    ledger, _, revoker = scene(quota=5)
    with pytest.raises(Conflict, match="exceeds_maximum"):
        PreemptionManager().preempt(plan_for(ledger), revoker, hold_for=HIGH)
    assert all(lease.state == "active" for lease in ledger.leases())
    assert not len(ledger.holds)


def test_a_hold_that_is_given_up_keeps_nothing() -> None:
    ledger, door, revoker = scene(grace_ms=0)
    done = PreemptionManager().preempt(plan_for(ledger), revoker, hold_for=HIGH)
    assert done.hold is not None
    door.give_up(done.hold)
    door.give_up(done.hold)
    assert ledger.free == ledger.total


def test_a_hold_is_for_its_own_request() -> None:
    ledger, door, revoker = scene(grace_ms=0)
    done = PreemptionManager().preempt(plan_for(ledger), revoker, hold_for=HIGH)
    with pytest.raises(Conflict, match="another request"):
        door.admit(PlacementRequest(tenant="u", cpu_cores=5), hold=done.hold)


def test_room_that_cannot_come_about_is_kept_no_longer() -> None:
    ledger, door, _ = scene()
    revoker = LeaseRevoker(ledger, teardown=lambda lease: False)
    done = PreemptionManager().preempt(plan_for(ledger), revoker, hold_for=HIGH)
    assert done.hold is not None
    answer = door.admit(HIGH, hold=done.hold)
    assert isinstance(answer, Denied)
    assert answer.detail.code == "not_enough_free"
    assert not len(ledger.holds)


def test_a_teardown_that_raises_leaves_no_hold_behind() -> None:
    ledger, _, _ = scene()

    def breaks(lease: object) -> bool:
        raise OSError("no such machine")

    revoker = LeaseRevoker(ledger, teardown=breaks)
    with pytest.raises(OSError, match="no such machine"):
        PreemptionManager().preempt(plan_for(ledger), revoker, hold_for=HIGH)
    assert not len(ledger.holds)
