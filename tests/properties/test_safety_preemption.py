"""Preemption through the public library, against brute force on fleets small enough to enumerate.

Safety: the plan's victims may all be evicted, evicting them really makes room, none of them is
superfluous, and no cheaper allowed set exists.
"""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bailiwick import (
    AdmissionController,
    Approved,
    CapacityLedger,
    GpuDevice,
    HardwareGeneration,
    Impossible,
    Lease,
    LeaseClass,
    LeaseRevoker,
    NodeCapacity,
    PlacementRequest,
    Preemptable,
    PreemptionConfig,
    PreemptionManager,
    Priority,
)
from bailiwick.scheduler.victim_cost import VictimTerms, lease_cost, may_be_victim

NOW = 100_000
HOPPER = GpuDevice(HardwareGeneration.NVIDIA_HOPPER, 80 * 2**30)
AMPERE = GpuDevice(HardwareGeneration.NVIDIA_AMPERE, 40 * 2**30)

requests = st.builds(
    PlacementRequest,
    tenant=st.sampled_from(["a", "b"]),
    cpu_cores=st.integers(1, 6),
    mem_bytes=st.integers(0, 4),
    gpu_count=st.sampled_from([0, 0, 1, 2]),
    priority=st.sampled_from(list(Priority)),
    lease_class=st.sampled_from(list(LeaseClass)),
    gang_size=st.sampled_from([1, 1, 1, 2]),
)
shares = st.builds(
    PlacementRequest,
    tenant=st.sampled_from(["a", "b"]),
    cpu_cores=st.integers(1, 3),
    gpu_milli=st.sampled_from([300, 500, 700]),
    priority=st.sampled_from(list(Priority)),
    lease_class=st.sampled_from([LeaseClass.STANDARD, LeaseClass.SPOT]),
)


@st.composite
def fleets(draw: st.DrawFn) -> tuple[CapacityLedger, AdmissionController]:
    ledger = CapacityLedger(engine=draw(st.sampled_from(["auto", "pure"])))
    for i in range(draw(st.integers(1, 3))):
        gpus = draw(st.sampled_from([(), (HOPPER,), (HOPPER, HOPPER), (HOPPER, AMPERE)]))
        ledger.register_node(f"n{i}", NodeCapacity(cpu_cores=8, mem_bytes=10, gpus=gpus))
    admission = AdmissionController(ledger)
    for ask in draw(st.lists(requests | shares, max_size=9)):
        admission.admit(ask, now_ms=draw(st.sampled_from([0, NOW - 10])), depth=draw(DEPTHS))
    for lease in list(ledger.leases()):
        if draw(st.booleans()):
            ledger.report_checkpoint(lease.id, now_ms=draw(st.sampled_from([0, NOW - 5])))
    return ledger, admission


DEPTHS = st.sampled_from([0, 0, 1, 2])
URGENT = st.builds(
    PlacementRequest,
    tenant=st.just("u"),
    cpu_cores=st.integers(1, 8),
    mem_bytes=st.integers(0, 10),
    gpu_count=st.sampled_from([0, 1, 2]),
    priority=st.sampled_from([Priority.NORMAL, Priority.HIGH, Priority.CRITICAL]),
    gang_size=st.sampled_from([1, 1, 1, 2, 3]),
)
CONFIGS = st.builds(
    PreemptionConfig,
    min_run_ms=st.sampled_from([0, 1000]),
    max_cascade_depth=st.sampled_from([1, 2, 3]),
    fresh_checkpoint_ms=st.just(1000),
)


def terms_of(config: PreemptionConfig) -> VictimTerms:
    return VictimTerms(NOW, config.min_run_ms, config.fresh_checkpoint_ms, config.max_cascade_depth)


def seats(ledger: CapacityLedger, gone: set[int], ask: PlacementRequest) -> int:
    """How many members fit if the leases in ``gone`` ended: the plain way, node by node."""
    total = 0
    for entry in ledger.entries.values():
        cpu, mem = entry.capacity.cpu_milli, entry.capacity.mem_bytes
        free = [1000] * len(entry.capacity.gpus)
        for lease in ledger.leases(node=entry.id):
            if lease.id in gone:
                continue
            cpu -= lease.resources.cpu_milli
            mem -= lease.resources.mem_bytes
            for i in lease.devices:
                free[i] -= lease.resources.gpu_milli // len(lease.devices)
        while True:
            whole = [i for i, milli in enumerate(free) if milli == 1000]
            if cpu < ask.cpu_milli or mem < ask.mem_bytes or len(whole) < ask.gpu_count:
                break
            cpu, mem = cpu - ask.cpu_milli, mem - ask.mem_bytes
            for i in whole[: ask.gpu_count]:
                free[i] = 0
            total += 1
    return total


def units(
    ledger: CapacityLedger, ask: PlacementRequest, terms: VictimTerms
) -> list[tuple[int, tuple[Lease, ...]]]:
    groups: dict[object, list[Lease]] = {}
    for lease in ledger.leases():
        groups.setdefault(("gang", lease.gang) if lease.gang else lease.id, []).append(lease)
    return [
        (sum(lease_cost(le, terms) for le in group), tuple(group))
        for group in groups.values()
        if all(may_be_victim(le, terms, by=ask) for le in group)
    ]


def cheapest(ledger: CapacityLedger, ask: PlacementRequest, terms: VictimTerms) -> int | None:
    options = units(ledger, ask, terms)
    best = None
    for count in range(len(options) + 1):
        for chosen in combinations(options, count):
            cost = sum(c for c, _ in chosen)
            gone = {le.id for _, group in chosen for le in group}
            if (best is None or cost < best) and seats(ledger, gone, ask) >= ask.gang_size:
                best = cost
    return best


@given(fleets(), URGENT, CONFIGS)
def test_victims_are_allowed_sufficient_needed_and_the_cheapest(
    fleet: tuple[CapacityLedger, AdmissionController],
    ask: PlacementRequest,
    config: PreemptionConfig,
) -> None:
    ledger, admission = fleet
    assume(not isinstance(admission.evaluate(ask, now_ms=NOW), Approved))
    terms = terms_of(config)
    found = PreemptionManager(config).find_victims(ledger, ask, now_ms=NOW)
    expected = cheapest(ledger, ask, terms)
    if isinstance(found, Impossible):
        assert expected is None
        assert found.nodes or len(ledger) == 0
        return
    assert found.exact
    assert found.cost == expected
    gone = {victim.lease_id for victim in found.victims}
    assert all(may_be_victim(v.lease, terms, by=ask) for v in found.victims)
    assert seats(ledger, gone, ask) >= ask.gang_size
    for _, group in units(ledger, ask, terms):
        fewer = gone - {le.id for le in group}
        assert fewer == gone or seats(ledger, fewer, ask) < ask.gang_size


@given(fleets(), URGENT)
def test_after_the_eviction_the_urgent_request_is_admitted(
    fleet: tuple[CapacityLedger, AdmissionController], ask: PlacementRequest
) -> None:
    ledger, admission = fleet
    manager = PreemptionManager(PreemptionConfig(max_cascade_depth=3))
    before = {lease.id: lease for lease in ledger.leases()}
    found = manager.find_victims(ledger, ask, now_ms=NOW)
    assert {lease.id: lease for lease in ledger.leases()} == before, "searching changed something"
    assume(isinstance(found, Preemptable))
    assert isinstance(found, Preemptable)
    done = manager.preempt(found, LeaseRevoker(ledger), now_ms=NOW)
    assert {e.lease.id for e in done.ended} == {v.lease_id for v in found.victims}
    assert done.freed == found.freed
    granted = admission.admit(ask, now_ms=NOW, depth=found.depth)
    assert isinstance(granted, Approved)
    assert all(lease.depth == found.depth for lease in granted.leases)


def test_a_cascade_ends_at_its_depth() -> None:
    ledger = CapacityLedger()
    ledger.register_node("n", NodeCapacity(cpu_cores=4, mem_bytes=0))
    admission = AdmissionController(ledger)
    manager = PreemptionManager(PreemptionConfig(max_cascade_depth=1))
    ask = {p: PlacementRequest(tenant="t", cpu_cores=4, priority=p) for p in Priority}
    admission.admit(ask[Priority.LOW])
    first = manager.find_victims(ledger, ask[Priority.NORMAL])
    assert isinstance(first, Preemptable)
    manager.preempt(first, LeaseRevoker(ledger))
    admission.admit(ask[Priority.NORMAL], depth=first.depth)
    second = manager.find_victims(ledger, ask[Priority.CRITICAL])
    assert isinstance(second, Impossible)
    assert second.reason.value == "cascade_depth"


@pytest.mark.parametrize("bad", [-1, 256, True, 1.0])
def test_a_depth_that_is_none_is_refused(bad: object) -> None:
    with pytest.raises(ValueError, match="max_cascade_depth"):
        PreemptionConfig(max_cascade_depth=bad)  # type: ignore[arg-type]
