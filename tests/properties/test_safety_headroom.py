"""Victims for headroom, against every set of leases on fleets small enough to enumerate.

Safety: whoever was evicted for a request made room for it under headroom, too; none of them is
protected, none is superfluous; no allowed set costs less than the bound, and where the search says
that its answer is exact, none costs less than that.
"""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from bailiwick import (
    AdmissionController,
    Approved,
    CapacityLedger,
    Denied,
    GpuDevice,
    HardwareGeneration,
    Impossible,
    Lease,
    LeaseClass,
    LeaseRevoker,
    NodeCapacity,
    NodeMode,
    PlacementRequest,
    Preemptable,
    PreemptionManager,
    Priority,
    ReservationHeadroom,
    Resources,
)
from bailiwick.scheduler.victim_cost import VictimTerms, lease_cost, may_be_victim

NOW = 100_000
TERMS = VictimTerms(NOW, 0, 60_000, 3)
HOPPER = GpuDevice(HardwareGeneration.NVIDIA_HOPPER, 80 * 2**30)

requests = st.builds(
    PlacementRequest,
    tenant=st.sampled_from(["a", "b"]),
    cpu_cores=st.integers(1, 6),
    mem_bytes=st.integers(0, 4),
    gpu_count=st.sampled_from([0, 0, 1]),
    priority=st.sampled_from([Priority.LOW, Priority.LOW, Priority.NORMAL, Priority.HIGH]),
    lease_class=st.sampled_from(list(LeaseClass)),
    gang_size=st.sampled_from([1, 1, 1, 2]),
)
URGENT = st.builds(
    PlacementRequest,
    tenant=st.just("u"),
    cpu_cores=st.integers(1, 6),
    mem_bytes=st.integers(0, 6),
    gpu_count=st.sampled_from([0, 0, 1]),
    priority=st.sampled_from([Priority.NORMAL, Priority.HIGH, Priority.CRITICAL]),
    gang_size=st.sampled_from([1, 1, 1, 2]),
)
KEPT = st.builds(
    ReservationHeadroom,
    st.builds(
        Resources,
        cpu_milli=st.sampled_from([0, 4000, 9000, 16_000]),
        mem_bytes=st.sampled_from([0, 0, 8]),
        gpu_milli=st.sampled_from([0, 0, 1000]),
    ),
    st.sampled_from([Priority.HIGH, Priority.CRITICAL]),
)


@st.composite
def fleets(draw: st.DrawFn) -> CapacityLedger:
    ledger = CapacityLedger(engine=draw(st.sampled_from(["auto", "pure"])))
    for i in range(draw(st.integers(1, 3))):
        gpus = draw(st.sampled_from([(), (HOPPER,), (HOPPER, HOPPER)]))
        ledger.register_node(f"n{i}", NodeCapacity(cpu_cores=8, mem_bytes=10, gpus=gpus))
    admission = AdmissionController(ledger)
    for ask in draw(st.lists(requests, max_size=8)):
        admission.admit(ask, now_ms=0)
    for lease in list(ledger.leases()):
        if draw(st.booleans()):
            ledger.report_checkpoint(lease.id, now_ms=draw(st.sampled_from([0, NOW - 5])))
    if draw(st.integers(0, 4)) == 0:
        ledger.set_mode("n0", NodeMode.DRAINING)
    return ledger


def may_start(
    ledger: CapacityLedger, gone: set[int], ask: PlacementRequest, kept: ReservationHeadroom
) -> bool:
    """Whether the request fits, and leaves the headroom free, once these leases ended."""
    seats, free = 0, Resources()
    for entry in ledger.entries.values():
        if not entry.takes_leases:
            continue
        cpu, mem = entry.capacity.cpu_milli, entry.capacity.mem_bytes
        devices = len(entry.capacity.gpus)
        for lease in ledger.leases(node=entry.id):
            if lease.id not in gone:
                cpu, mem = cpu - lease.resources.cpu_milli, mem - lease.resources.mem_bytes
                devices -= len(lease.devices)
        free += Resources(cpu, mem, 0, 1000 * devices)
        while cpu >= ask.cpu_milli and mem >= ask.mem_bytes and devices >= ask.gpu_count:
            cpu, mem, devices = cpu - ask.cpu_milli, mem - ask.mem_bytes, devices - ask.gpu_count
            seats += 1
    if seats < ask.gang_size:
        return False
    if ask.priority.rank >= kept.priority.rank:
        return True
    one = (ask.cpu_milli, ask.mem_bytes, 0, 1000 * ask.gpu_count)
    return all(
        have - ask.gang_size * wanted >= keep
        for have, wanted, keep in zip(free.as_tuple(), one, kept.kept.as_tuple(), strict=True)
        if wanted and keep
    )


def units(ledger: CapacityLedger, ask: PlacementRequest) -> list[tuple[int, tuple[Lease, ...]]]:
    groups: dict[object, list[Lease]] = {}
    for lease in ledger.leases():
        groups.setdefault(("gang", lease.gang) if lease.gang else lease.id, []).append(lease)
    return [
        (sum(lease_cost(le, TERMS) for le in group), tuple(group))
        for group in groups.values()
        if all(may_be_victim(le, TERMS, by=ask) for le in group)
    ]


def cheapest(
    ledger: CapacityLedger, ask: PlacementRequest, kept: ReservationHeadroom
) -> int | None:
    options, best = units(ledger, ask), None
    for count in range(len(options) + 1):
        for chosen in combinations(options, count):
            cost = sum(c for c, _ in chosen)
            gone = {le.id for _, group in chosen for le in group}
            if (best is None or cost < best) and may_start(ledger, gone, ask, kept):
                best = cost
    return best


@given(fleets(), URGENT, KEPT)
def test_victims_for_headroom_are_allowed_sufficient_and_no_dearer_than_is_said(
    ledger: CapacityLedger, ask: PlacementRequest, kept: ReservationHeadroom
) -> None:
    before = list(ledger.leases())
    found = PreemptionManager().find_victims(ledger, ask, now_ms=NOW, headroom=kept)
    assert list(ledger.leases()) == before, "searching changed something"
    expected = cheapest(ledger, ask, kept)
    if isinstance(found, Impossible):
        assert expected is None
        return
    assert expected is not None
    gone = {victim.lease_id for victim in found.victims}
    assert may_start(ledger, gone, ask, kept)
    assert all(may_be_victim(v.lease, TERMS, by=ask) for v in found.victims)
    assert found.bound_cost <= expected <= found.cost
    assert found.exact == (found.bound_cost == found.cost)
    event("exact" if found.exact else "bounded")
    fits = may_start(ledger, set(), ask, ReservationHeadroom())
    if fits:
        assert found.exact
        for _, group in units(ledger, ask):
            fewer = gone - {le.id for le in group}
            assert fewer == gone or not may_start(ledger, fewer, ask, kept)


@given(fleets(), URGENT, KEPT)
def test_whoever_evicted_others_is_admitted_under_headroom(
    ledger: CapacityLedger, ask: PlacementRequest, kept: ReservationHeadroom
) -> None:
    admission, manager = AdmissionController(ledger, headroom=kept), PreemptionManager()
    plan = admission.plan(ask, now_ms=NOW, preemption=manager)
    if not isinstance(plan.victims, Preemptable):
        return
    event("evicts")
    manager.preempt(plan.victims, LeaseRevoker(ledger), now_ms=NOW)
    assert isinstance(admission.admit(ask, now_ms=NOW), Approved)


@pytest.mark.parametrize("engine", ["pure", "auto"])
def test_who_fits_but_for_headroom_evicts_and_then_starts(engine: str) -> None:
    """16 cores, 8 kept for critical work, 8 held by low: high asks 4."""
    ledger = CapacityLedger(engine=engine)
    ledger.register_node("n0", NodeCapacity(cpu_cores=16, mem_bytes=0))
    headroom = ReservationHeadroom(Resources(cpu_milli=8000), Priority.CRITICAL)
    door, manager = AdmissionController(ledger, headroom=headroom), PreemptionManager()
    low = door.admit(PlacementRequest(tenant="l", cpu_cores=8, priority=Priority.LOW))
    assert isinstance(low, Approved)
    ask = PlacementRequest(tenant="h", cpu_cores=4, priority=Priority.HIGH)
    plan = door.plan(ask, preemption=manager)
    assert isinstance(plan.decision, Denied)
    assert plan.decision.detail.code == "headroom_kept"
    assert isinstance(plan.victims, Preemptable)
    assert [v.lease_id for v in plan.victims.victims] == [low.leases[0].id]
    manager.preempt(plan.victims, LeaseRevoker(ledger))
    assert isinstance(door.admit(ask), Approved)


def test_nobody_goes_where_all_of_them_would_not_be_enough() -> None:
    ledger = CapacityLedger()
    ledger.register_node("n0", NodeCapacity(cpu_cores=16, mem_bytes=0))
    headroom = ReservationHeadroom(Resources(cpu_milli=14_000), Priority.CRITICAL)
    AdmissionController(ledger).admit(PlacementRequest(tenant="l", cpu_cores=8))
    ask = PlacementRequest(tenant="h", cpu_cores=4, priority=Priority.HIGH)
    plan = AdmissionController(ledger, headroom=headroom).plan(ask, preemption=PreemptionManager())
    assert isinstance(plan.victims, Impossible)
    assert plan.victims.reason == "headroom"


def test_of_many_equal_leases_the_newest_go_and_no_more_than_needed() -> None:
    ledger = CapacityLedger()
    for i in range(40):
        ledger.register_node(f"n{i}", NodeCapacity(cpu_cores=64, mem_bytes=0))
    small = PlacementRequest(tenant="l", cpu_cores=3, priority=Priority.LOW)
    for at in range(40 * 20):
        ledger.grant(f"n{at % 40}", small, now_ms=at)
    kept = ReservationHeadroom(Resources(cpu_milli=300_000))
    ask = PlacementRequest(tenant="h", cpu_cores=4, priority=Priority.HIGH)
    found = PreemptionManager().find_victims(ledger, ask, now_ms=NOW, headroom=kept)
    assert isinstance(found, Preemptable)
    assert found.exact
    lacking = 300 + 4 - 40 * 4
    assert len(found.victims) == lacking // 3
    assert min(v.lease.granted_ms for v in found.victims) == 40 * 20 - lacking // 3
