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
    EndCause,
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
    PreemptionReason,
    Priority,
    ReservationHeadroom,
    Resources,
    RevokeState,
)
from bailiwick.scheduler.victim_cost import VictimTerms, lease_cost, may_be_victim
from bailiwick.scheduler.victims.headroom import find_headroom_victims
from bailiwick.scheduler.victims.unit_index import index_of
from bailiwick.scheduler.victims.units import Judge

NOW = 100_000
TERMS = VictimTerms(NOW, 0, 60_000, 3)
PAID = [
    (Priority.LOW, LeaseClass.SPOT),
    (Priority.LOW, LeaseClass.STANDARD),
    (Priority.NORMAL, LeaseClass.SPOT),
]
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


HAPPENINGS = ("grant", "release", "save", "revoke", "fence", "close", "renew", "depart", "time")


def happen(ledger: CapacityLedger, what: str, draw: st.DrawFn, now_ms: int) -> None:
    """One thing that changes who could go, or for a while looks as if it did."""
    if what == "grant":
        AdmissionController(ledger).admit(draw(requests), now_ms=now_ms)
    elif what == "close" and len(ledger):
        node = ledger.node(draw(st.sampled_from(sorted(ledger.entries))))
        ledger.set_quarantine(node.id, not node.quarantined)
    elif what == "depart" and len(ledger) > 1:
        ledger.depart_node(draw(st.sampled_from(sorted(ledger.entries))), now_ms=now_ms)
        ledger.register_node(f"later-{now_ms}", NodeCapacity(cpu_cores=8, mem_bytes=10))
    held = [lease for lease in ledger.leases() if lease.state is RevokeState.ACTIVE]
    if not held:
        return
    lease = draw(st.sampled_from(held))
    if what == "release":
        ledger.release(lease.id, now_ms=now_ms)
    elif what == "save":
        ledger.report_checkpoint(lease.id, now_ms=now_ms)
    elif what == "revoke":
        LeaseRevoker(ledger).revoke(
            lease.id, PreemptionReason.OPERATOR_DRAIN, now_ms=now_ms, grace_ms=10**6
        )
    elif what == "fence":
        reason = PreemptionReason.OPERATOR_DRAIN
        ledger.fence(lease.id, EndCause.PREEMPTED, now_ms=now_ms, reason=reason)
    elif what == "renew":
        ledger.renew(lease.id, ttl_ms=10**9, now_ms=now_ms)


def read_anew(
    ledger: CapacityLedger, ask: PlacementRequest, terms: VictimTerms
) -> dict[tuple[int, ...], tuple[int, int]]:
    """Who may go and gives anything back: the leases, what they cost and when the newest began."""
    found: dict[object, list[Lease]] = {}
    for lease in ledger.leases():
        found.setdefault(("gang", lease.gang) if lease.gang else lease.id, []).append(lease)
    return {
        tuple(sorted(le.id for le in group)): (
            sum(lease_cost(le, terms) for le in group),
            max(le.granted_ms for le in group),
        )
        for group in found.values()
        if all(may_be_victim(le, terms, by=ask) for le in group)
        and any(ledger.entry(le.node).takes_leases for le in group)
    }


def indexed(
    ledger: CapacityLedger, ask: PlacementRequest, terms: VictimTerms
) -> dict[tuple[int, ...], tuple[int, int]]:
    """The same by the index, each judged by the first of its sort."""
    index, judge = index_of(ledger), Judge(ledger, ask, terms=terms)
    found: dict[tuple[int, ...], tuple[int, int]] = {}
    for rows in (*index.sorts(terms, spared=frozenset()), *([row] for row in index.fresh(terms))):
        every = list(rows)
        assert every == sorted(every), "the newest first"
        costs = [judge.cost_of(i, ledger.fields(i)) for i in every[0][1]] if every else [None]
        known = [cost for cost in costs if cost is not None]
        if len(known) == len(costs):
            found |= {leases: (sum(known), -began) for began, leases in every}
    return found


@given(st.data())
def test_what_is_known_of_the_leases_stays_true_whatever_happens(data: st.DataObject) -> None:
    """Asked between any two changes, it answers as if every lease had been read anew."""
    ledger, now_ms = data.draw(fleets()), NOW
    ask = data.draw(URGENT)
    run_ms = data.draw(st.sampled_from([0, 40_000]))
    for what in ("time", *data.draw(st.lists(st.sampled_from(HAPPENINGS), max_size=10))):
        happen(ledger, what, data.draw, now_ms)
        now_ms += data.draw(st.sampled_from([10, 30_000, 90_000]))
        terms = VictimTerms(now_ms, run_ms, 60_000, 3)
        assert indexed(ledger, ask, terms) == read_anew(ledger, ask, terms)
        event(what)


@given(
    st.lists(
        st.tuples(
            st.sampled_from([1, 2, 2, 3]), st.sampled_from([0, 1, 1, 4]), st.sampled_from(PAID)
        ),
        max_size=9,
    ),
    st.tuples(st.integers(0, 9000), st.integers(0, 6)),
)
def test_no_choice_is_cheaper_wherever_one_lease_is_as_good_as_another(
    held: list[tuple[int, int, tuple[Priority, LeaseClass]]], lacking: tuple[int, int]
) -> None:
    """Many leases of few sorts, of which the dearer are left out where the cheaper suffice."""
    ledger = CapacityLedger()
    ledger.register_node("n0", NodeCapacity(cpu_cores=64, mem_bytes=64))
    leases = [
        ledger.grant("n0", PlacementRequest(
            tenant="l", cpu_cores=cores, mem_bytes=mem, priority=priority, lease_class=lease_class
        ))
        for cores, mem, (priority, lease_class) in held
    ]  # fmt: skip
    ask = PlacementRequest(tenant="u", cpu_cores=1, priority=Priority.HIGH)
    judge = Judge(ledger, ask, terms=TERMS)
    found = find_headroom_victims(ledger, (*lacking, 0, 0), judge=judge)
    enough = [
        sum(lease_cost(le, TERMS) for le in some)
        for count in range(len(leases) + 1)
        for some in combinations(leases, count)
        if sum(le.resources.cpu_milli for le in some) >= lacking[0]
        and sum(le.resources.mem_bytes for le in some) >= lacking[1]
    ]
    assert (found is None) == (not enough)
    if found is not None:
        assert found.cost == found.bound == min(enough)


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


def test_of_equal_leases_one_that_began_just_now_protects_no_other() -> None:
    ledger = CapacityLedger()
    ledger.register_node("n0", NodeCapacity(cpu_cores=16, mem_bytes=0))
    small = PlacementRequest(tenant="l", cpu_cores=3, priority=Priority.LOW)
    old, _young = (ledger.grant("n0", small, now_ms=at) for at in (0, NOW - 10))
    terms = VictimTerms(NOW, 1_000)
    ask = PlacementRequest(tenant="h", cpu_cores=4, priority=Priority.HIGH)
    found = find_headroom_victims(ledger, (1, 0, 0, 0), judge=Judge(ledger, ask, terms=terms))
    assert found is not None
    assert found.lease_ids == (old.id,)
