"""Why not: counts of nodes at each filter, the first blocker, and what would clear it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.fleet.resources import Resources
from bailiwick.scheduler.admission import AdmissionController, ReservationHeadroom
from bailiwick.scheduler.decision import (
    Approved,
    DeadlinePassed,
    DenialDetail,
    Denied,
    Fragmented,
    HeadroomKept,
    LargerThanAnyNode,
    NodeBooked,
    NodeClosed,
    NodeKeptApart,
    NodeMaintained,
    NodesBooked,
    NodesClosed,
    NodesForbidden,
    NodesKeptApart,
    NodesMaintained,
    NoSuchHardware,
    NotEnoughFree,
    ReservedForOthers,
    RoomClaimed,
    TermReserved,
    VictimsLeaving,
    reason_of,
)
from bailiwick.scheduler.engine import has_compiled
from bailiwick.scheduler.explain import Explanation, Remedy, count_filters, remedy_for
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.node_set import NodeSet
from bailiwick.scheduler.placement import PlacementScorer
from bailiwick.scheduler.quota import QuotaManager
from bailiwick.scheduler.quota_policy import (
    BudgetExhausted,
    BurstCreditExhausted,
    CostCapExceeded,
    GpuGenerationLimitExceeded,
    GpuGenerationQuota,
    GpuGenerationRequired,
    HardLimitExceeded,
    Quota,
    QuotaScope,
    ResourceLimit,
)
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.rights.denials import (
    LeaseClassForbidden,
    PriorityTooHigh,
    ScopeClosed,
    TermTooLong,
    TooManyWaiting,
)
from bailiwick.vocab.remedies import RemedyWord
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.values import NodeId
from bailiwick.vocab.words import (
    Dimension,
    FilterReason,
    HardwareGeneration,
    LeaseClass,
    PendingReason,
    Priority,
    ResourceKind,
)

F, G, P, W = FilterReason, HardwareGeneration, PendingReason, RemedyWord
ENGINES = ["pure", "compiled"] if has_compiled() else ["pure"]
H100, A40 = GpuDevice(G.NVIDIA_HOPPER, 80, "H100"), GpuDevice(G.NVIDIA_AMPERE, 48, "A40")


@dataclass
class Only:
    """A policy that allows one set of nodes."""

    nodes: NodeSet

    def nodes_for(self, request: PlacementRequest) -> NodeSet:
        return self.nodes


def ask(**terms: Any) -> PlacementRequest:
    return PlacementRequest(**{"tenant": "lab", "cpu_cores": 4, **terms})


def node(**parts: Any) -> NodeCapacity:
    return NodeCapacity(
        **{"cpu_cores": 8, "mem_bytes": 80, "block_bytes": 80, "gpus": (H100, H100), **parts}
    )


@pytest.fixture(params=ENGINES)
def fleet(request: pytest.FixtureRequest) -> CapacityLedger:
    """For the request below: one node that fits, and one that falls at each filter."""
    ledger = CapacityLedger(engine=request.param, quotas=QuotaManager())
    good = {"labels": {"zone": "a"}}
    ledger.register_node("fits", node(**good))
    ledger.register_node("closed", node(**good))
    ledger.set_mode("closed", NodeMode.DRAINING)
    ledger.register_node("untrusted", node(**good))
    ledger.set_quarantine("untrusted", True)
    ledger.register_node("unproven", node(**good))
    ledger.set_gate("unproven", True)
    ledger.register_node("other-gpu", node(gpus=(A40, A40), **good))
    ledger.register_node("elsewhere", node(labels={"zone": "b"}))
    ledger.register_node("forbidden", node(**good))
    ledger.register_node("no-cpu", node(cpu_cores=1, **good))
    ledger.register_node("no-memory", node(mem_bytes=1, **good))
    ledger.register_node("no-block", node(block_bytes=1, **good))
    ledger.register_node("busy", node(**good))
    for _ in range(2):
        ledger.grant("busy", ask(tenant="other", cpu_cores=1, gpu_milli=600))
    return ledger


WANTED = {
    "mem_bytes": 10, "block_bytes": 10, "gpu_count": 1, "generation": G.NVIDIA_HOPPER,
    "labels": {"zone": "a"},
}  # fmt: skip


def policy(ledger: CapacityLedger) -> list[Only]:
    return [Only(ledger.node_set([n for n in ledger.entries if n != "forbidden"]))]


def controller(ledger: CapacityLedger, **parts: Any) -> AdmissionController:
    return AdmissionController(ledger, scorer=PlacementScorer(filters=policy(ledger)), **parts)


# --- counts -------------------------------------------------------------------------------------


def test_a_node_is_counted_at_each_filter_and_one_fits(fleet: CapacityLedger) -> None:
    told = controller(fleet).explain(ask(**WANTED))
    assert told.fallen == dict.fromkeys(F, 1)
    assert (told.fitting, told.nodes) == (1, 11)
    assert told.decision == Approved(("fits",))


def test_filters_are_told_in_the_order_they_are_asked(fleet: CapacityLedger) -> None:
    assert list(controller(fleet).explain(ask(**WANTED)).fallen) == list(F)


def test_a_filter_at_which_no_node_fell_is_not_told(fleet: CapacityLedger) -> None:
    fallen, fitting = count_filters(fleet, ask(cpu_cores=1))
    assert fallen == {F.NODE_MODE: 1, F.QUARANTINED: 1, F.ATTESTATION: 1}
    assert fitting == 8


def test_a_node_is_counted_once_at_the_first_filter_it_fails(fleet: CapacityLedger) -> None:
    fleet.set_mode("other-gpu", NodeMode.DRAINING)
    fleet.set_quarantine("other-gpu", True)
    told = controller(fleet).explain(ask(**WANTED))
    assert (told.fallen[F.NODE_MODE], told.fallen[F.QUARANTINED]) == (2, 1)
    assert F.GPU_KIND not in told.fallen
    assert told.nodes == 11


def test_explaining_changes_nothing(fleet: CapacityLedger) -> None:
    before = list(fleet.nodes()), list(fleet.leases())
    admission = controller(fleet)
    first = [admission.explain(ask(gang_size=size, **WANTED)) for size in (1, 2, 99)]
    assert [admission.explain(ask(gang_size=size, **WANTED)) for size in (1, 2, 99)] == first
    assert (list(fleet.nodes()), list(fleet.leases())) == before


def test_an_empty_fleet_has_no_node_to_count() -> None:
    told = AdmissionController(CapacityLedger()).explain(ask())
    assert (told.fallen, told.fitting, told.nodes) == ({}, 0, 0)


# --- blockers -----------------------------------------------------------------------------------


def test_an_approved_request_has_no_blocker_and_needs_nothing(fleet: CapacityLedger) -> None:
    told = controller(fleet).explain(ask(**WANTED))
    assert (told.blockers, told.first_blocker) == ((), None)
    assert told.remedy == Remedy(W.NOTHING_NEEDED)


def test_every_obstacle_is_told_the_first_one_first(fleet: CapacityLedger) -> None:
    quotas = fleet.quotas
    assert quotas is not None
    quotas.set_quota("lab", Quota((ResourceLimit.cpu_cores(5),)))
    headroom = ReservationHeadroom(Resources(mem_bytes=10**6), Priority.HIGH)
    admission = controller(fleet, headroom=headroom)
    told = admission.explain(ask(cpu_cores=7, mem_bytes=79, deadline_ms=1), now_ms=2)
    assert [blocker.reason for blocker in told.blockers] == [
        P.MISCONFIGURED, P.EXCEEDS_MAXIMUM, P.WAITING_FOR_CAPACITY,
    ]  # fmt: skip
    assert told.first_blocker == told.blockers[0] == told.decision
    assert told.remedy == Remedy(W.CHANGE_REQUEST)


def test_the_decision_is_the_one_that_asking_gives(fleet: CapacityLedger) -> None:
    admission = controller(fleet)
    for terms in (WANTED, {"cpu_cores": 99}, {"gpu_count": 9}, {"gang_size": 99}):
        assert admission.explain(ask(**terms)).decision == admission.evaluate(ask(**terms))


def test_what_no_machine_could_ever_hold_is_not_told_to_wait_for_quota(
    fleet: CapacityLedger,
) -> None:
    """Quota is asked first, but waiting for it would not help."""
    quotas = fleet.quotas
    assert quotas is not None
    quotas.set_quota("lab", Quota((ResourceLimit.cpu_cores(9),)))
    fleet.grant("fits", ask(cpu_cores=1))
    told = controller(fleet).explain(ask(cpu_cores=9))
    assert [b.reason for b in told.blockers] == [P.EXCEEDS_MAXIMUM, P.WAITING_FOR_QUOTA]
    assert told.decision == told.first_blocker == told.blockers[0]
    assert told.remedy == Remedy(W.CHANGE_REQUEST, 1000, "cpu_milli")


@pytest.mark.parametrize("close", ["set_quarantine", "set_gate"])
def test_where_every_node_is_closed_waiting_for_others_is_no_advice(close: str) -> None:
    ledger = CapacityLedger()
    for name in ("n1", "n2"):
        ledger.register_node(name, NodeCapacity(cpu_cores=2, mem_bytes=100))
    request = PlacementRequest(tenant="red", cpu_cores=1, mem_bytes=1)
    getattr(ledger, close)("n1", True)
    admission = AdmissionController(ledger)
    assert admission.explain(request).remedy == Remedy(W.NOTHING_NEEDED)
    getattr(ledger, close)("n2", True)
    assert admission.explain(request).remedy == Remedy(W.OPEN_NODES, 2, "nodes")
    assert admission.evaluate(request) == Denied.because(NodesClosed(2))
    ledger.register_node("small", NodeCapacity(cpu_cores=0.5, mem_bytes=100))
    told = admission.explain(request)
    assert told.first_blocker == Denied.because(NodesClosed(2)), "no wait makes a node larger"
    assert told.remedy == Remedy(W.OPEN_NODES, 2, "nodes")
    ledger.depart_node("small")
    ledger.register_node("n3", NodeCapacity(cpu_cores=1, mem_bytes=100))
    admission.admit(request)
    assert admission.explain(request).remedy == Remedy(W.WAIT_OR_PREEMPT, 1000, "cpu_milli")


def test_the_remedy_for_quota_clears_the_blocker(fleet: CapacityLedger) -> None:
    quotas = fleet.quotas
    assert quotas is not None
    table = (GpuGenerationQuota(G.NVIDIA_HOPPER, 1),)
    quotas.set_quota("lab", Quota((), table))
    lease = fleet.grant("fits", ask(gpu_count=1, generation=G.NVIDIA_HOPPER, cpu_cores=1))
    admission = controller(fleet)
    request = ask(gpu_count=1, generation=G.NVIDIA_HOPPER)
    assert admission.explain(request).remedy == Remedy(W.FREE_OWN_LEASES, 1, "nvidia_hopper")
    fleet.release(lease.id)
    assert isinstance(admission.evaluate(request), Approved)


def test_the_remedy_for_room_says_how_much_is_missing(fleet: CapacityLedger) -> None:
    told = controller(fleet).explain(ask(cpu_cores=0.1, mem_bytes=50, gang_size=12))
    free = sum(n.free.mem_bytes for n in fleet.nodes() if n.id not in (
        "closed", "untrusted", "unproven", "forbidden"))  # fmt: skip
    assert told.remedy == Remedy(W.WAIT_OR_PREEMPT, 600 - free, "mem_bytes")


# --- words --------------------------------------------------------------------------------------

MEM = Dimension.MEM_BYTES
DETAILS: list[tuple[DenialDetail, PendingReason, Remedy]] = [
    (GpuGenerationRequired(2), P.MISCONFIGURED, Remedy(W.DECLARE_GENERATION, 2, "gpu_count")),
    (DeadlinePassed(1, 2), P.MISCONFIGURED, Remedy(W.CHANGE_REQUEST)),
    (NoSuchHardware(5), P.MISCONFIGURED, Remedy(W.CHANGE_REQUEST)),
    (NodesForbidden(3), P.FORBIDDEN, Remedy(W.CHANGE_POLICY, 3, "nodes")),
    (GpuGenerationLimitExceeded(G.AMD_MI300, 0, 0, 1), P.FORBIDDEN,
     Remedy(W.RAISE_QUOTA, 1, "amd_mi300")),
    (GpuGenerationLimitExceeded(G.AMD_MI300, 2, 0, 3), P.EXCEEDS_MAXIMUM,
     Remedy(W.RAISE_QUOTA, 1, "amd_mi300")),
    (GpuGenerationLimitExceeded(G.AMD_MI300, 4, 3, 3), P.WAITING_FOR_QUOTA,
     Remedy(W.FREE_OWN_LEASES, 2, "amd_mi300")),
    (HardLimitExceeded(MEM, 10, 0, 11), P.EXCEEDS_MAXIMUM, Remedy(W.RAISE_QUOTA, 1, "mem_bytes")),
    (HardLimitExceeded(MEM, 10, 5, 10), P.WAITING_FOR_QUOTA,
     Remedy(W.FREE_OWN_LEASES, 5, "mem_bytes")),
    (BurstCreditExhausted(MEM, 10, 8, 4, 0), P.WAITING_FOR_QUOTA,
     Remedy(W.FREE_OWN_LEASES, 2, "mem_bytes")),
    (BudgetExhausted(100, 90, 30), P.WAITING_FOR_QUOTA, Remedy(W.RAISE_QUOTA, 20, "budget_micros")),
    (CostCapExceeded(100, 130), P.WAITING_FOR_QUOTA, Remedy(W.RAISE_QUOTA, 30, "cap_micros")),
    (LargerThanAnyNode(ResourceKind.CPU_MILLI, 9, 8), P.EXCEEDS_MAXIMUM,
     Remedy(W.CHANGE_REQUEST, 1, "cpu_milli")),
    (HeadroomKept(ResourceKind.GPU_MILLI, 10, 8, 5), P.WAITING_FOR_CAPACITY,
     Remedy(W.WAIT_OR_PREEMPT, 3, "gpu_milli")),
    (NotEnoughFree(ResourceKind.CPU_MILLI, 3, 8), P.WAITING_FOR_CAPACITY,
     Remedy(W.WAIT_OR_PREEMPT, 5, "cpu_milli")),
    (Fragmented(9, 2, 5), P.FRAGMENTED, Remedy(W.WAIT_OR_PREEMPT, 3, "members")),
    (VictimsLeaving(3, 9_000), P.WAITING_FOR_VICTIMS, Remedy(W.WAIT_OR_PREEMPT, 3, "leases")),
    (RoomClaimed(ResourceKind.CPU_MILLI, 9, 8, 3), P.WAITING_FOR_CAPACITY,
     Remedy(W.WAIT_OR_PREEMPT, 8, "cpu_milli")),
    (ReservedForOthers(ResourceKind.CPU_MILLI, 9, 8, 3), P.WAITING_FOR_CAPACITY,
     Remedy(W.WAIT_OR_PREEMPT, 8, "cpu_milli")),
    (NodesKeptApart(2), P.WAITING_FOR_CAPACITY, Remedy(W.WAIT_OR_PREEMPT, 2, "nodes")),
    (NodesMaintained(2, 9_000, 5_000), P.WAITING_FOR_CAPACITY,
     Remedy(W.WAIT_OR_PREEMPT, 2, "nodes")),
    (NodeMaintained(NodeId("n1"), 9, 5, 9_000), P.WAITING_FOR_CAPACITY,
     Remedy(W.CHANGE_REQUEST, 4, "ms")),
    (NodesBooked(2, 9_000, 5_000), P.WAITING_FOR_CAPACITY,
     Remedy(W.WAIT_OR_PREEMPT, 2, "nodes")),
    (NodeBooked(NodeId("n1"), 9, 5, 9_000), P.WAITING_FOR_CAPACITY,
     Remedy(W.CHANGE_REQUEST, 4, "ms")),
    (NodeKeptApart(NodeId("n1"), "vault"), P.WAITING_FOR_CAPACITY,
     Remedy(W.WAIT_OR_PREEMPT, 1, "nodes")),
    (NodeClosed(NodeId("n1"), F.NODE_MODE), P.WAITING_FOR_CAPACITY,
     Remedy(W.OPEN_NODES, 1, "nodes")),
    (NodesClosed(3), P.WAITING_FOR_CAPACITY, Remedy(W.OPEN_NODES, 3, "nodes")),
    (TermReserved(9, 4, 1_004), P.WAITING_FOR_CAPACITY, Remedy(W.CHANGE_REQUEST, 5, "ms")),
    (ScopeClosed(QuotaScope.of("lab")), P.FORBIDDEN, Remedy(W.CHANGE_POLICY)),
    (PriorityTooHigh(Priority.CRITICAL, Priority.HIGH), P.FORBIDDEN, Remedy(W.RAISE_CEILING)),
    (LeaseClassForbidden(LeaseClass.GUARANTEED), P.FORBIDDEN, Remedy(W.RAISE_CEILING)),
    (TooManyWaiting(5, 5), P.WAITING_FOR_QUOTA, Remedy(W.RAISE_CEILING, 1, "waiting")),
    (TermTooLong(9, 4), P.EXCEEDS_MAXIMUM, Remedy(W.CHANGE_REQUEST, 5, "ms")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("detail", "reason", "remedy"), DETAILS, ids=lambda v: type(v).__name__ if v else ""
)
def test_every_denial_has_its_reason_and_its_remedy(
    detail: DenialDetail, reason: PendingReason, remedy: Remedy
) -> None:
    assert reason_of(detail) is reason
    assert remedy_for(Denied.because(detail)) == remedy


def test_every_denial_there_is_stands_in_the_table() -> None:
    assert {type(detail) for detail, _, _ in DETAILS} == set(DenialDetail.__args__)


@pytest.mark.parametrize("detail", [d for d, _, _ in DETAILS], ids=lambda d: type(d).__name__)
def test_every_denial_carries_a_closed_word(detail: DenialDetail) -> None:
    assert detail.code.value == str(detail.code)


def test_the_first_blocker_is_the_one_of_the_smallest_rank() -> None:
    late, wait = Denied.because(DeadlinePassed(1, 2)), Denied.because(Fragmented(1, 0, 1))
    told = Explanation(wait, (wait, late), {}, 0, remedy_for(late))
    assert told.first_blocker is late
