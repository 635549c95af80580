"""What is given back can be given again: nothing stays closed, held or owed without a reason.

Safety lives in ``test_safety_*``; here is what must come true in the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bailiwick.fleet.node import NAME_LABEL, NodeCapacity
from bailiwick.fleet.resources import NOTHING
from bailiwick.scheduler.admission import AdmissionController
from bailiwick.scheduler.decision import Approved, Denied
from bailiwick.scheduler.engine import has_compiled
from bailiwick.scheduler.lease import Lease
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.placement import PlacementScorer, Strategy
from bailiwick.scheduler.quota import QuotaManager
from bailiwick.scheduler.quota_policy import GpuGenerationQuota, Quota, ResourceLimit
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.revoker import LeaseRevoker
from bailiwick.vocab.transitions import NODE_MODE_EDGES, NodeMode
from bailiwick.vocab.words import HardwareGeneration, PreemptionReason
from tests.support.naive_fleet import SCOPES, capacities, requests, usage_told

R = PreemptionReason
ENGINES = ["pure", "compiled"] if has_compiled() else ["pure"]
each_engine = pytest.mark.parametrize("engine", ENGINES)
fleets = st.lists(capacities, min_size=1, max_size=5)
several = st.lists(requests(gang_max=3), min_size=1, max_size=8)
unweighted = st.sampled_from([s for s in Strategy if s is not Strategy.WEIGHTED])


def ledger_of(engine: str, fleet: list[NodeCapacity]) -> CapacityLedger:
    ledger = CapacityLedger(engine=engine, quotas=QuotaManager())
    for i, capacity in enumerate(fleet):
        ledger.register_node(f"n{i}", capacity)
    return ledger


def admitted(admission: AdmissionController, wanted: Iterable[PlacementRequest]) -> list[Lease]:
    leases: list[Lease] = []
    for request in wanted:
        answer = admission.admit(request)
        if isinstance(answer, Approved):
            leases.extend(answer.leases)
    return leases


def assert_empty(ledger: CapacityLedger) -> None:
    """Everything is free, nobody is charged, and no gang is remembered."""
    for node in ledger.nodes():
        assert node.free == node.total
        assert node.reserved == node.leased == NOTHING
    assert list(ledger.leases()) == []
    assert not ledger.gangs
    assert ledger.quotas is not None
    assert all(usage_told(ledger.quotas, scope) == {} for scope in SCOPES)


# --- ways to give a lease back ------------------------------------------------------------------


def by_release(ledger: CapacityLedger, leases: list[Lease]) -> None:
    for lease in leases:
        ledger.release(lease.id)


def by_eviction(ledger: CapacityLedger, leases: list[Lease]) -> None:
    for lease in leases:
        ledger.evict(lease.id, R.OPERATOR_DRAIN, now_ms=1)


def by_expiry(ledger: CapacityLedger, leases: list[Lease]) -> None:
    ledger.expire(10**9)


def by_small_steps_of_expiry(ledger: CapacityLedger, leases: list[Lease]) -> None:
    for _ in leases:
        ledger.expire(10**9, limit=1)


def by_revocation(ledger: CapacityLedger, leases: list[Lease]) -> None:
    revoker = LeaseRevoker(ledger, grace_ms=50)
    walking: set[int] = set()
    for lease in leases:
        if lease.id not in walking:
            walk = revoker.revoke(lease.id, R.OPERATOR_DRAIN, now_ms=0)
            walking.update(step.lease_id for step in walk.steps)
    revoker.advance(50)


def by_checkpoints(ledger: CapacityLedger, leases: list[Lease]) -> None:
    revoker = LeaseRevoker(ledger, grace_ms=50)
    for lease in leases:
        if ledger.lease(lease.id).state == "active":
            revoker.revoke(lease.id, R.OPERATOR_DRAIN, now_ms=0)
    for lease in leases:
        revoker.report_checkpoint(lease.id, now_ms=min(1, lease.expires_ms))


def by_fence_and_operator(ledger: CapacityLedger, leases: list[Lease]) -> None:
    revoker = LeaseRevoker(ledger, teardown=lambda _: False)
    for lease in leases:
        if ledger.lease(lease.id).state == "active":
            revoker.revoke(lease.id, R.OPERATOR_DRAIN, now_ms=0)
    for lease in leases:
        revoker.clear_fence(lease.id, now_ms=1)


def by_departure(ledger: CapacityLedger, leases: list[Lease]) -> None:
    for name, entry in list(ledger.entries.items()):
        ledger.depart_node(name)
        ledger.register_node(name, entry.capacity)


WAYS: list[Callable[[CapacityLedger, list[Lease]], None]] = [
    by_release, by_eviction, by_expiry, by_small_steps_of_expiry, by_revocation, by_checkpoints,
    by_fence_and_operator, by_departure,
]  # fmt: skip


@each_engine
@pytest.mark.parametrize("give_back", WAYS, ids=lambda way: way.__name__)
@given(fleet=fleets, wanted=several, strategy=unweighted)
def test_whatever_was_given_back_can_be_given_again(
    engine: str,
    give_back: Callable[[CapacityLedger, list[Lease]], None],
    fleet: list[NodeCapacity],
    wanted: list[PlacementRequest],
    strategy: Strategy,
) -> None:
    ledger = ledger_of(engine, fleet)
    admission = AdmissionController(ledger, scorer=PlacementScorer(strategy))
    leases = admitted(admission, wanted)
    assume(leases)
    give_back(ledger, leases)
    assert_empty(ledger)
    for request in wanted:
        fresh = AdmissionController(ledger_of(engine, fleet)).evaluate(request)
        answer = admission.admit(request, now_ms=10**9)
        assert isinstance(answer, Approved) == isinstance(fresh, Approved)
        for lease in answer.leases if isinstance(answer, Approved) else ():
            ledger.release(lease.id, now_ms=10**9)


@each_engine
@given(fleet=fleets, wanted=several)
def test_a_request_that_was_denied_for_room_is_admitted_once_the_room_is_back(
    engine: str, fleet: list[NodeCapacity], wanted: list[PlacementRequest]
) -> None:
    ledger = ledger_of(engine, fleet)
    admission = AdmissionController(ledger)
    could = [r for r in wanted if isinstance(admission.evaluate(r), Approved)]
    leases = admitted(admission, could * 3)
    denied = [r for r in could if isinstance(admission.evaluate(r), Denied)]
    for lease in leases:
        ledger.release(lease.id)
    for request in denied:
        answer = admission.admit(request)
        assert isinstance(answer, Approved)
        for lease in answer.leases:
            ledger.release(lease.id)


@each_engine
@given(fleet=fleets, wanted=several)
def test_a_node_that_was_drained_and_returned_takes_leases_again(
    engine: str, fleet: list[NodeCapacity], wanted: list[PlacementRequest]
) -> None:
    ledger = ledger_of(engine, fleet)
    admission = AdmissionController(ledger)
    could = [r for r in wanted if isinstance(admission.evaluate(r), Approved)]
    admitted(admission, wanted)
    revoker = LeaseRevoker(ledger)
    for name in list(ledger.entries):
        ledger.set_mode(name, NodeMode.DRAINING)
        for lease in list(ledger.leases(node=name)):
            if lease.id in {held.id for held in ledger.leases(node=name)}:
                revoker.revoke(lease.id, R.OPERATOR_DRAIN, now_ms=0)
        ledger.set_mode(name, NodeMode.DRAINED)
    assert_empty(ledger)
    assert ledger.free == NOTHING
    assert not any(isinstance(admission.evaluate(r), Approved) for r in wanted)
    for name in list(ledger.entries):
        for mode in (NodeMode.MAINTENANCE, NodeMode.RETURNING, NodeMode.ACCEPTING):
            ledger.set_mode(name, mode)
    assert all(isinstance(admission.evaluate(r), Approved) for r in could)


@each_engine
@given(capacity=capacities, way=st.lists(st.sampled_from(NodeMode), max_size=20))
def test_from_wherever_an_operator_led_a_node_it_can_be_led_back_to_work(
    engine: str, capacity: NodeCapacity, way: list[NodeMode]
) -> None:
    ledger = ledger_of(engine, [capacity])
    for mode in way:
        if mode in NODE_MODE_EDGES[ledger.node("n0").mode]:
            ledger.set_mode("n0", mode)
    for _ in range(4):  # no mode is further than four steps from work
        mode = ledger.node("n0").mode
        if mode is NodeMode.ACCEPTING:
            break
        edges = NODE_MODE_EDGES[mode]
        back = [NodeMode.ACCEPTING, NodeMode.RETURNING, NodeMode.MAINTENANCE]
        ledger.set_mode("n0", next(m for m in back if m in edges))
    assert ledger.free == ledger.total
    assert ledger.grant("n0", PlacementRequest(tenant="red", mem_bytes=1)).node == "n0"


@each_engine
@given(fleet=fleets, wanted=several)
def test_an_untrusted_node_takes_leases_again_once_it_is_trusted(
    engine: str, fleet: list[NodeCapacity], wanted: list[PlacementRequest]
) -> None:
    ledger = ledger_of(engine, fleet)
    admission = AdmissionController(ledger)
    before = [admission.evaluate(r) for r in wanted]
    for name in ledger.entries:
        ledger.set_quarantine(name, True)
    assert not any(isinstance(admission.evaluate(r), Approved) for r in wanted)
    for name in ledger.entries:
        ledger.set_quarantine(name, False)
    assert [admission.evaluate(r) for r in wanted] == before


@each_engine
@given(fleet=fleets, wanted=several, limit=st.integers(1, 3))
def test_a_tenant_at_its_limit_gets_more_as_soon_as_it_gives_back(
    engine: str, fleet: list[NodeCapacity], wanted: list[PlacementRequest], limit: int
) -> None:
    ledger = ledger_of(engine, fleet)
    assert ledger.quotas is not None
    table = [GpuGenerationQuota(g, limit) for g in HardwareGeneration]
    for tenant in ("red", "blue", "green"):
        quota = Quota((ResourceLimit.lease_count(limit),), tuple(table))
        ledger.quotas.set_quota(tenant, quota)
    admission = AdmissionController(ledger)
    could = [r for r in wanted if isinstance(admission.evaluate(r), Approved)]
    for lease in admitted(admission, could * 4):
        ledger.release(lease.id)
    assert_empty(ledger)
    assert all(isinstance(admission.evaluate(r), Approved) for r in could)


@each_engine
@given(fleet=fleets, wanted=several)
def test_every_walk_that_was_begun_comes_to_an_end(
    engine: str, fleet: list[NodeCapacity], wanted: list[PlacementRequest]
) -> None:
    ledger = ledger_of(engine, fleet)
    revoker = LeaseRevoker(ledger, grace_ms=100)
    for lease in admitted(AdmissionController(ledger), wanted):
        if ledger.lease(lease.id).state == "active":
            revoker.revoke(lease.id, R.MAINTENANCE_WINDOW, now_ms=0)
    steps = revoker.advance(100).steps
    assert all(step.after.is_terminal for step in {s.lease_id: s for s in steps}.values())
    assert_empty(ledger)


@each_engine
@given(fleet=fleets, wanted=several)
def test_work_on_a_node_that_left_finds_a_place_on_one_that_came(
    engine: str, fleet: list[NodeCapacity], wanted: list[PlacementRequest]
) -> None:
    ledger = ledger_of(engine, fleet)
    admission = AdmissionController(ledger)
    could = [r for r in wanted if isinstance(admission.evaluate(r), Approved)]
    admitted(admission, wanted)
    for name in list(ledger.entries):
        ledger.depart_node(name)
    assert not any(isinstance(admission.evaluate(r), Approved) for r in wanted)
    for i, capacity in enumerate(fleet):
        ledger.register_node(f"new-{i}", capacity)
    # What asks for one node by its name waits for that one.
    elsewhere = [r for r in could if NAME_LABEL not in r.labels]
    assert all(isinstance(admission.evaluate(r), Approved) for r in elsewhere)


@each_engine
def test_expiry_in_small_steps_is_not_held_up_by_leases_that_are_being_revoked(
    engine: str,
) -> None:
    ledger = ledger_of(engine, [NodeCapacity(cpu_cores=64, mem_bytes=200)])
    request = PlacementRequest(tenant="red", mem_bytes=1, ttl_ms=10)
    revoker = LeaseRevoker(ledger, grace_ms=5)
    for _ in range(70):  # more than the sixty-four that are looked at together
        revoker.revoke(ledger.grant("n0", request).id, R.OPERATOR_DRAIN, now_ms=0)
    ledger.grant("n0", request)
    ended = [lease for _ in range(5) for lease in ledger.expire(10, limit=1)]
    assert len(ended) == 1
