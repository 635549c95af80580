"""Victims for gangs, against a reference that tries everything node by node.

The reference goes through every set of gangs that run on several nodes, for each node through every
set of its other leases, and combines the nodes by what each costs for so many members. So it is
slow and plain, but can do fleets of dozens of nodes.

Safety: the cost is that of the reference where the answer says that it is exact, and never below
the bound that is told where it does not.
"""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import event, given, settings
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
    PreemptionManager,
    Priority,
)
from bailiwick.scheduler.victim_cost import VictimTerms, lease_cost, may_be_victim
from bailiwick.scheduler.victims import gang_search, gangs, node_ways

HOPPER = GpuDevice(HardwareGeneration.NVIDIA_HOPPER, 80 * 2**30)
TERMS = VictimTerms(0, 0, 60_000, 3)

singles = st.builds(
    PlacementRequest,
    tenant=st.just("a"),
    cpu_cores=st.integers(1, 6),
    mem_bytes=st.integers(0, 4),
    gpu_count=st.sampled_from([0, 0, 1, 2]),
    priority=st.sampled_from([Priority.LOW, Priority.LOW, Priority.NORMAL, Priority.HIGH]),
    lease_class=st.sampled_from([LeaseClass.STANDARD, LeaseClass.STANDARD, LeaseClass.SPOT]),
)
shares = st.builds(
    PlacementRequest,
    tenant=st.just("a"),
    cpu_cores=st.integers(1, 2),
    gpu_milli=st.sampled_from([300, 500, 700]),
    lease_class=st.sampled_from([LeaseClass.STANDARD, LeaseClass.SPOT]),
)
spread = st.builds(
    PlacementRequest,
    tenant=st.just("g"),
    cpu_cores=st.integers(2, 6),
    gpu_count=st.sampled_from([0, 1]),
    gang_size=st.integers(2, 4),
    priority=st.sampled_from([Priority.LOW, Priority.NORMAL]),
    lease_class=st.sampled_from([LeaseClass.STANDARD, LeaseClass.SPOT]),
)
URGENT = st.one_of(
    st.builds(
        PlacementRequest,
        tenant=st.just("u"),
        cpu_cores=st.integers(1, 8),
        mem_bytes=st.integers(0, 5),
        gpu_count=st.sampled_from([0, 0, 1, 2]),
        priority=st.just(Priority.HIGH),
        gang_size=st.integers(2, 6),
    ),
    st.builds(
        PlacementRequest,
        tenant=st.just("u"),
        cpu_cores=st.integers(1, 3),
        gpu_milli=st.sampled_from([400, 500]),
        priority=st.just(Priority.HIGH),
        gang_size=st.integers(2, 6),
    ),
)


@st.composite
def fleets(draw: st.DrawFn) -> CapacityLedger:
    ledger = CapacityLedger(engine=draw(st.sampled_from(["auto", "pure"])))
    for i in range(draw(st.integers(2, 6))):
        gpus = (HOPPER,) * draw(st.sampled_from([0, 1, 2, 4]))
        ledger.register_node(f"n{i}", NodeCapacity(cpu_cores=8, mem_bytes=10, gpus=gpus))
    admission = AdmissionController(ledger)
    for ask in draw(st.lists(singles | shares | spread, min_size=4, max_size=18)):
        admission.admit(ask)
    return ledger


def seats(ledger: CapacityLedger, node: str, gone: set[int], ask: PlacementRequest) -> int:
    """How many members fit on a node if these leases ended, taken one by one."""
    has = ledger.entry(node).capacity
    cpu, mem, free = has.cpu_milli, has.mem_bytes, [1000] * len(has.gpus)
    for lease in ledger.leases(node=node):
        if lease.id not in gone:
            cpu, mem = cpu - lease.resources.cpu_milli, mem - lease.resources.mem_bytes
            for i in lease.devices:
                free[i] -= lease.resources.gpu_milli // len(lease.devices)
    count = 0
    while cpu >= ask.cpu_milli and mem >= ask.mem_bytes:
        able = [i for i, milli in enumerate(free) if milli >= ask.device_milli]
        if len(able) < ask.device_count:
            break
        for i in able[: ask.device_count]:
            free[i] -= ask.device_milli
        cpu, mem, count = cpu - ask.cpu_milli, mem - ask.mem_bytes, count + 1
    return count


def cheapest(ledger: CapacityLedger, ask: PlacementRequest) -> int | None:
    groups: dict[object, list[Lease]] = {}
    for lease in ledger.leases():
        groups.setdefault(("gang", lease.gang) if lease.gang else lease.id, []).append(lease)
    legal = [
        (sum(lease_cost(le, TERMS) for le in group), group)
        for group in groups.values()
        if all(may_be_victim(le, TERMS, by=ask) for le in group)
    ]
    wide = [row for row in legal if len({le.node for le in row[1]}) > 1]
    best = None
    for count in range(len(wide) + 1):
        for chosen in combinations(wide, count):
            gone = {le.id for _, group in chosen for le in group}
            rest = _by_nodes(ledger, ask, [row for row in legal if row not in wide], gone)
            if rest is not None:
                cost = rest + sum(c for c, _ in chosen)
                best = cost if best is None else min(best, cost)
    return best


def _by_nodes(
    ledger: CapacityLedger,
    ask: PlacementRequest,
    legal: list[tuple[int, list[Lease]]],
    gone: set[int],
) -> int | None:
    so_far = {0: 0}
    for node in ledger.entries:
        here = [row for row in legal if row[1][0].node == node]
        ways: dict[int, int] = {}
        for count in range(len(here) + 1):
            for chosen in combinations(here, count):
                ids = {le.id for _, group in chosen for le in group} | gone
                members, cost = seats(ledger, node, ids, ask), sum(c for c, _ in chosen)
                ways[members] = min(cost, ways.get(members, cost))
        after: dict[int, int] = {}
        for had, paid in so_far.items():
            for members, cost in ways.items():
                total = min(had + members, ask.gang_size)
                after[total] = min(paid + cost, after.get(total, paid + cost))
        so_far = after
    return so_far.get(ask.gang_size)


@settings(max_examples=120, deadline=None)
@given(fleets(), URGENT)
def test_victims_for_a_gang_cost_what_the_cheapest_cost(
    ledger: CapacityLedger, ask: PlacementRequest
) -> None:
    found, expected = PreemptionManager().find_victims(ledger, ask), cheapest(ledger, ask)
    if isinstance(found, Impossible):
        assert expected is None
        return
    event("evicts" if found.victims else "fits")
    assert found.exact
    assert found.cost == found.bound_cost == expected
    PreemptionManager().preempt(found, LeaseRevoker(ledger))
    assert isinstance(AdmissionController(ledger).admit(ask), Approved)


@settings(max_examples=80, deadline=None)
@given(fleets(), URGENT, st.sampled_from([(1, 384), (12_000, 2), (1, 1)]))
def test_a_search_that_is_cut_short_tells_a_bound_that_holds(
    ledger: CapacityLedger, ask: PlacementRequest, sizes: tuple[int, int]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gang_search, "WORK_MAX", sizes[0])
        patch.setattr(node_ways, "STATES_MAX", sizes[1])
        found = PreemptionManager().find_victims(ledger, ask)
    expected = cheapest(ledger, ask)
    assert isinstance(found, Impossible) == (expected is None)
    if isinstance(found, Preemptable) and expected is not None:
        event("exact" if found.exact else "bounded")
        assert found.bound_cost <= expected <= found.cost
        ratio = found.loss_ratio_milli
        assert ratio is None or 1000 * found.cost <= ratio * expected


@settings(max_examples=60, deadline=None)
@given(fleets(), URGENT, st.sampled_from([1, 3, 512]))
def test_on_a_fleet_too_large_to_look_at_every_node_the_bound_holds(
    ledger: CapacityLedger, ask: PlacementRequest, looked: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gangs, "NODES_MAX", 1)
        patch.setattr(gangs, "NODES_LOOKED", looked)
        found = PreemptionManager().find_victims(ledger, ask)
    expected = cheapest(ledger, ask)
    if isinstance(found, Preemptable):
        assert expected is not None
        assert found.bound_cost <= expected <= found.cost


def test_one_lease_in_the_way_of_two_members_goes_before_two_that_are_cheaper_each() -> None:
    """Member by member the two would be chosen, at twice the cost."""
    ledger = CapacityLedger()
    low = {"tenant": "l", "priority": Priority.LOW}
    for i in range(14):
        ledger.register_node(f"n{i}", NodeCapacity(cpu_cores=8, mem_bytes=0))
    ledger.grant("n0", PlacementRequest(cpu_cores=8, **low))
    for i in (1, 2):
        ledger.grant(f"n{i}", PlacementRequest(cpu_cores=4, **low))
        ledger.grant(f"n{i}", PlacementRequest(tenant="k", cpu_cores=4, priority=Priority.HIGH))
    for i in range(3, 14):
        ledger.grant(f"n{i}", PlacementRequest(tenant="m", cpu_cores=8))
    ask = PlacementRequest(tenant="u", cpu_cores=4, gang_size=2, priority=Priority.HIGH)
    found = PreemptionManager().find_victims(ledger, ask)
    assert isinstance(found, Preemptable)
    assert (found.exact, found.cost, len(found.victims)) == (True, 10_008, 1)
