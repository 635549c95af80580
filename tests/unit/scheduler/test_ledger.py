"""The capacity ledger: nodes come, change mode and go; holds are taken, renewed and ended."""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from typing import Any

import pytest

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.fleet.resources import NOTHING, Resources
from bailiwick.scheduler.admission import AdmissionController
from bailiwick.scheduler.engine import has_compiled
from bailiwick.scheduler.engine.protocol import NODE_AMOUNT_MAX
from bailiwick.scheduler.handles import IDLE_MAX, KINDS_MAX
from bailiwick.scheduler.lease import EndedLease, Lease
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.node_state import NodeModeTransition
from bailiwick.scheduler.quota import QuotaManager
from bailiwick.scheduler.quota_policy import BurstCredit, Quota, ResourceLimit
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.revoker import LeaseRevoker
from bailiwick.vocab.errors import (
    Conflict,
    IllegalTransition,
    InvalidValue,
    InvariantBroken,
    LimitReached,
    NotFound,
    Stale,
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

G = HardwareGeneration
R = PreemptionReason
HUGE = 10**5000
ENGINES = ["pure", "compiled"] if has_compiled() else ["pure"]
H100 = GpuDevice(G.NVIDIA_HOPPER, 80, "H100")
A40 = GpuDevice(G.NVIDIA_AMPERE, 48, "A40")


@pytest.fixture(params=ENGINES)
def ledger(request: pytest.FixtureRequest) -> CapacityLedger:
    """Two nodes, one with GPUs of two kinds."""
    made = CapacityLedger(engine=request.param)
    made.register_node("plain", NodeCapacity(cpu_cores=8, mem_bytes=100, block_bytes=50))
    made.register_node(
        "gpus",
        NodeCapacity(
            cpu_cores=16, mem_bytes=200, gpus=(H100, H100, A40), labels={"zone": "a", "net": "ib"}
        ),
    )
    return made


def ask(**terms: Any) -> PlacementRequest:
    return PlacementRequest(**{"tenant": "lab", "cpu_cores": 2, **terms})


def told(ledger: CapacityLedger) -> object:
    """Everything a caller can see."""
    return list(ledger.nodes()), list(ledger.leases()), ledger.total, ledger.free


def refused(ledger: CapacityLedger, error: type[Exception], call: Callable[[], object]) -> Any:
    """The error, and nothing changed."""
    before = told(ledger)
    with pytest.raises(error) as caught:
        call()
    assert told(ledger) == before
    return caught.value


def fenced(ledger: CapacityLedger, lease: Lease) -> None:
    LeaseRevoker(ledger, teardown=lambda _: False).revoke(lease.id, R.OPERATOR_DRAIN, now_ms=1)


# --- nodes --------------------------------------------------------------------------------------


def test_a_registered_node_is_wholly_free(ledger: CapacityLedger) -> None:
    node = ledger.node("gpus")
    assert node.total == node.free == Resources(16_000, 200, 0, 3000)
    assert node.reserved == node.leased == NOTHING
    assert node.device_free_milli == (1000, 1000, 1000)
    assert (node.mode, node.quarantined, node.lease_count) == (NodeMode.ACCEPTING, False, 0)


def test_nodes_are_told_in_the_order_they_were_registered(ledger: CapacityLedger) -> None:
    ledger.register_node("aaa", NodeCapacity(cpu_cores=1, mem_bytes=1))
    assert [node.id for node in ledger.nodes()] == ["plain", "gpus", "aaa"]
    assert len(ledger) == 3


def test_the_fleet_s_totals_are_the_sums_over_its_nodes(ledger: CapacityLedger) -> None:
    assert ledger.total == ledger.free == Resources(24_000, 300, 50, 3000)
    ledger.depart_node("plain")
    assert ledger.total == ledger.free == Resources(16_000, 200, 0, 3000)


def test_a_node_is_in_the_ledger_from_registration_to_departure(ledger: CapacityLedger) -> None:
    assert "plain" in ledger
    ledger.depart_node("plain")
    assert "plain" not in ledger
    assert 5 not in ledger


def test_a_node_cannot_be_registered_twice(ledger: CapacityLedger) -> None:
    error = refused(
        ledger,
        Conflict,
        lambda: ledger.register_node("plain", NodeCapacity(cpu_cores=99, mem_bytes=1)),
    )
    assert error.name == "plain"


def test_a_node_that_departed_can_be_registered_anew_with_other_hardware(
    ledger: CapacityLedger,
) -> None:
    ledger.grant("plain", ask())
    ledger.depart_node("plain")
    node = ledger.register_node("plain", NodeCapacity(cpu_cores=1, mem_bytes=1, gpus=(A40,)))
    assert node.free == Resources(1000, 1, 0, 1000)


@pytest.mark.parametrize(
    "name",
    ["", "a b", "-a", "x" * 64, "n\n", None, 5, True, nan, ["n"], HUGE],
    ids=range(11),
)
def test_a_node_needs_a_well_formed_name(ledger: CapacityLedger, name: Any) -> None:
    capacity = NodeCapacity(cpu_cores=1, mem_bytes=1)
    error = refused(ledger, InvalidValue, lambda: ledger.register_node(name, capacity))
    assert error.field == "node_id"


@pytest.mark.parametrize("capacity", [None, {}, "big", Resources(1, 1, 1, 1)])
def test_a_node_needs_a_capacity(ledger: CapacityLedger, capacity: Any) -> None:
    error = refused(ledger, InvalidValue, lambda: ledger.register_node("new", capacity))
    assert error.field == "capacity"


@pytest.mark.parametrize(
    ("field", "capacity"),
    [
        ("mem_bytes", NodeCapacity(cpu_cores=1, mem_bytes=NODE_AMOUNT_MAX)),
        ("block_bytes", NodeCapacity(cpu_cores=1, mem_bytes=1, block_bytes=AMOUNT_MAX)),
        ("gpu_vram", NodeCapacity(cpu_cores=1, mem_bytes=1, gpu_vram=NODE_AMOUNT_MAX)),
    ],
)
def test_a_node_of_absurd_size_is_refused(
    ledger: CapacityLedger, field: str, capacity: NodeCapacity
) -> None:
    error = refused(ledger, InvalidValue, lambda: ledger.register_node("new", capacity))
    assert error.field == field


def test_a_node_of_a_kind_of_device_too_many_is_refused(ledger: CapacityLedger) -> None:
    for i in range(KINDS_MAX - 2):
        device = GpuDevice(G.OTHER, i + 1)
        ledger.register_node(f"n{i}", NodeCapacity(cpu_cores=1, mem_bytes=1, gpus=(device,)))
    capacity = NodeCapacity(cpu_cores=1, mem_bytes=1, gpus=(GpuDevice(G.OTHER, 999),))
    error = refused(ledger, LimitReached, lambda: ledger.register_node("more", capacity))
    assert error.limit == KINDS_MAX


UNKNOWN_NODES: list[Any] = ["", "nowhere", "PLAIN", None, 5, True, nan, [], {}, HUGE]
NODE_CALLS: list[tuple[str, Callable[[CapacityLedger, Any], object]]] = [
    ("node", lambda ledger, name: ledger.node(name)),
    ("depart_node", lambda ledger, name: ledger.depart_node(name)),
    ("set_mode", lambda ledger, name: ledger.set_mode(name, NodeMode.DRAINING)),
    ("set_quarantine", lambda ledger, name: ledger.set_quarantine(name, True)),
    ("grant", lambda ledger, name: ledger.grant(name, ask())),
    ("reserve", lambda ledger, name: ledger.reserve(name, ask())),
    ("handle_of", lambda ledger, name: ledger.handle_of(name)),
    ("node_set", lambda ledger, name: ledger.node_set([name])),
]


@pytest.mark.parametrize("name", UNKNOWN_NODES, ids=range(len(UNKNOWN_NODES)))
@pytest.mark.parametrize("call", [c for _, c in NODE_CALLS], ids=[n for n, _ in NODE_CALLS])
def test_every_call_refuses_a_node_that_is_not_there(
    ledger: CapacityLedger, call: Callable[[CapacityLedger, Any], object], name: Any
) -> None:
    error = refused(ledger, NotFound, lambda: call(ledger, name))
    assert error.kind == "node"


def test_listing_the_leases_of_a_node_that_is_not_there_is_refused(ledger: CapacityLedger) -> None:
    refused(ledger, NotFound, lambda: list(ledger.leases(node="nowhere")))


# --- modes --------------------------------------------------------------------------------------


def test_a_node_goes_round_all_modes_and_takes_leases_again(ledger: CapacityLedger) -> None:
    way = [
        NodeMode.DRAINING, NodeMode.DRAINED, NodeMode.MAINTENANCE, NodeMode.RETURNING,
        NodeMode.ACCEPTING,
    ]  # fmt: skip
    before = NodeMode.ACCEPTING
    for mode in way:
        assert ledger.set_mode("plain", mode) == NodeModeTransition("plain", before, mode)
        before = mode
    assert ledger.grant("plain", ask()).node == "plain"


@pytest.mark.parametrize(
    "way",
    [["draining"], ["draining", "drained"], ["draining", "drained", "maintenance"],
     ["draining", "drained", "returning"], ["fence_lost"]],
)  # fmt: skip
def test_a_node_that_is_not_accepting_takes_no_lease(
    ledger: CapacityLedger, way: list[str]
) -> None:
    for mode in way:
        ledger.set_mode("plain", NodeMode(mode))
    refused(ledger, Conflict, lambda: ledger.grant("plain", ask()))
    assert ledger.free == ledger.node("gpus").free


def test_a_mode_the_table_does_not_lead_to_is_refused_with_those_it_does(
    ledger: CapacityLedger,
) -> None:
    error = refused(
        ledger, IllegalTransition, lambda: ledger.set_mode("plain", NodeMode.MAINTENANCE)
    )
    assert (error.current, error.wanted) == ("accepting", "maintenance")
    assert error.allowed == ("draining", "fence_lost")


@pytest.mark.parametrize("mode", ["draining", None, 1, True, RevokeState.ACTIVE])
def test_a_mode_that_is_no_mode_is_refused(ledger: CapacityLedger, mode: Any) -> None:
    error = refused(ledger, InvalidValue, lambda: ledger.set_mode("plain", mode))
    assert error.field == "mode"


def test_a_node_is_not_drained_while_it_holds_a_lease(ledger: CapacityLedger) -> None:
    lease = ledger.grant("plain", ask())
    ledger.set_mode("plain", NodeMode.DRAINING)
    refused(ledger, Conflict, lambda: ledger.set_mode("plain", NodeMode.DRAINED))
    ledger.release(lease.id)
    assert ledger.set_mode("plain", NodeMode.DRAINED).after is NodeMode.DRAINED


def test_a_drain_that_is_called_off_leaves_the_leases_alone(ledger: CapacityLedger) -> None:
    lease = ledger.grant("plain", ask())
    ledger.set_mode("plain", NodeMode.DRAINING)
    ledger.set_mode("plain", NodeMode.ACCEPTING)
    assert ledger.lease(lease.id) == lease
    assert ledger.grant("plain", ask()).node == "plain"


def test_quarantine_closes_a_node_and_leaves_its_mode_and_leases(ledger: CapacityLedger) -> None:
    lease = ledger.grant("plain", ask())
    ledger.set_quarantine("plain", True)
    node = ledger.node("plain")
    assert (node.mode, node.quarantined, node.lease_count) == (NodeMode.ACCEPTING, True, 1)
    refused(ledger, Conflict, lambda: ledger.grant("plain", ask()))
    ledger.set_quarantine("plain", False)
    ledger.grant("plain", ask())
    assert ledger.lease(lease.id) == lease


def test_a_node_opens_only_when_both_mode_and_quarantine_allow_it(ledger: CapacityLedger) -> None:
    ledger.set_mode("plain", NodeMode.DRAINING)
    ledger.set_quarantine("plain", True)
    ledger.set_mode("plain", NodeMode.ACCEPTING)
    refused(ledger, Conflict, lambda: ledger.grant("plain", ask()))
    ledger.set_mode("plain", NodeMode.DRAINING)
    ledger.set_quarantine("plain", False)
    refused(ledger, Conflict, lambda: ledger.grant("plain", ask()))


@pytest.mark.parametrize("flag", [1, 0, None, "yes"])
def test_quarantine_is_yes_or_no(ledger: CapacityLedger, flag: Any) -> None:
    error = refused(ledger, InvalidValue, lambda: ledger.set_quarantine("plain", flag))
    assert error.field == "quarantined"


# --- departure ----------------------------------------------------------------------------------


def test_a_departing_node_ends_its_leases_with_a_typed_cause(ledger: CapacityLedger) -> None:
    kept = ledger.grant("gpus", ask())
    lost = [ledger.grant("plain", ask()), ledger.reserve("plain", ask())]
    ended = ledger.depart_node("plain", now_ms=7)
    assert {e.lease.id for e in ended} == {lease.id for lease in lost}
    assert {(e.cause, e.reason, e.ended_ms) for e in ended} == {(EndCause.NODE_DEPARTED, None, 7)}
    assert list(ledger.leases()) == [kept]


def test_a_departing_node_takes_the_gangs_on_it_with_it(ledger: CapacityLedger) -> None:
    ledger.grant("plain", ask(cpu_cores=6))
    gang = AdmissionController(ledger).admit(ask(cpu_cores=2, gang_size=9))
    assert {lease.node for lease in gang.leases} == {"plain", "gpus"}
    ended = ledger.depart_node("plain")
    assert {e.lease.id for e in ended} >= {lease.id for lease in gang.leases}
    assert ledger.node("gpus").free == ledger.node("gpus").total


def test_a_departing_node_takes_a_fenced_hold_with_it(ledger: CapacityLedger) -> None:
    fenced(ledger, ledger.grant("plain", ask()))
    assert len(ledger.depart_node("plain")) == 1
    assert ledger.total == ledger.free == Resources(16_000, 200, 0, 3000)


@pytest.mark.parametrize("now_ms", [-1, AMOUNT_MAX + 1, True, 1.0, nan, "1", None])
def test_a_departure_needs_a_time(ledger: CapacityLedger, now_ms: Any) -> None:
    ledger.grant("plain", ask())
    error = refused(ledger, InvalidValue, lambda: ledger.depart_node("plain", now_ms=now_ms))
    assert error.field == "now_ms"


def test_a_node_with_the_handle_of_one_that_departed_is_in_none_of_its_sets(
    ledger: CapacityLedger,
) -> None:
    allowed = ledger.node_set(["plain", "gpus"])
    handle = ledger.handle_of("gpus")
    ledger.depart_node("gpus")
    ledger.register_node("next", NodeCapacity(cpu_cores=16, mem_bytes=200))
    assert ledger.handle_of("next") == handle
    assert handle not in allowed
    admission = AdmissionController(ledger)
    assert admission.evaluate(ask(labels={"zone": "a"})).reason == "misconfigured"


# --- holds --------------------------------------------------------------------------------------


def test_a_lease_tells_what_is_held_by_whom_until_when(ledger: CapacityLedger) -> None:
    request = ask(
        project="vision", tag="etl", mem_bytes=10, gpu_count=2, gpu_vram=60, ttl_ms=500,
        lease_class=LeaseClass.SPOT, preemptible_on_budget=True,
    )  # fmt: skip
    lease = ledger.grant("gpus", request, now_ms=100)
    assert (lease.node, lease.tenant, lease.project, lease.tag) == ("gpus", "lab", "vision", "etl")
    assert lease.resources == Resources(2000, 10, 0, 2000)
    assert (lease.devices, lease.gpu_generation) == ((0, 1), G.NVIDIA_HOPPER)
    assert (lease.granted_ms, lease.expires_ms, lease.checkpoint_ms) == (100, 600, None)
    assert (lease.state, lease.generation, lease.gang) == (RevokeState.ACTIVE, 1, None)
    assert (lease.lease_class, lease.reserved) == (LeaseClass.SPOT, False)
    assert lease.preemptible_on_budget
    assert ledger.lease(lease.id) == lease


def test_what_is_leased_is_no_longer_free(ledger: CapacityLedger) -> None:
    ledger.grant("gpus", ask(mem_bytes=10, gpu_milli=250))
    ledger.reserve("gpus", ask(mem_bytes=5))
    node = ledger.node("gpus")
    assert node.leased == Resources(2000, 10, 0, 250)
    assert node.reserved == Resources(2000, 5, 0, 0)
    assert node.free == Resources(12_000, 185, 0, 2750)
    assert node.device_free_milli == (750, 1000, 1000)
    assert node.lease_count == 2


def test_a_share_goes_to_the_fullest_device_that_still_holds_it(ledger: CapacityLedger) -> None:
    first = ledger.grant("gpus", ask(gpu_milli=600))
    second = ledger.grant("gpus", ask(gpu_milli=600))
    third = ledger.grant("gpus", ask(gpu_milli=400))
    assert first.devices == third.devices != second.devices


@pytest.mark.parametrize(
    ("terms", "devices"),
    [
        ({"generation": G.NVIDIA_AMPERE, "gpu_count": 1}, (2,)),
        ({"gpu_models": ("A40",), "gpu_milli": 10}, (2,)),
        ({"gpu_vram": 80, "gpu_count": 2}, (0, 1)),
        ({"gpu_count": 3}, (0, 1, 2)),
    ],
)
def test_only_devices_that_answer_the_request_are_given(
    ledger: CapacityLedger, terms: dict[str, Any], devices: tuple[int, ...]
) -> None:
    assert ledger.grant("gpus", ask(**terms)).devices == devices


@pytest.mark.parametrize(
    "terms",
    [
        {"cpu_cores": 16.001}, {"mem_bytes": 201}, {"block_bytes": 1}, {"gpu_count": 4},
        {"gpu_count": 3, "generation": G.NVIDIA_HOPPER}, {"gpu_count": 1, "gpu_models": ("H200",)},
        {"gpu_count": 1, "gpu_vram": 81}, {"gpu_count": 2, "gpu_models": ("A40",)},
        {"gpu_count": 1, "generation": G.OTHER}, {"mem_bytes": AMOUNT_MAX},
    ],
)  # fmt: skip
def test_a_node_refuses_more_than_it_has(ledger: CapacityLedger, terms: dict[str, Any]) -> None:
    error = refused(ledger, Conflict, lambda: ledger.grant("gpus", ask(**terms)))
    assert error.name == "gpus"


def test_a_device_wholly_taken_takes_no_share(ledger: CapacityLedger) -> None:
    ledger.grant("gpus", ask(gpu_count=3))
    refused(ledger, Conflict, lambda: ledger.grant("gpus", ask(gpu_milli=1)))


def test_an_id_is_never_given_to_a_second_lease(ledger: CapacityLedger) -> None:
    seen = set()
    for _ in range(20):
        lease = ledger.grant("plain", ask())
        seen.add(lease.id)
        ledger.release(lease.id)
    assert len(seen) == 20


@pytest.mark.parametrize("request_", [None, {}, "cpu", Resources(1, 1, 1, 1)])
@pytest.mark.parametrize("take", ["grant", "reserve"])
def test_a_hold_needs_a_request(ledger: CapacityLedger, take: str, request_: Any) -> None:
    error = refused(ledger, InvalidValue, lambda: getattr(ledger, take)("plain", request_))
    assert error.field == "request"


# --- the life of a lease ------------------------------------------------------------------------

LEASE_CALLS: list[tuple[str, Callable[[CapacityLedger, Any], object]]] = [
    ("lease", lambda ledger, i: ledger.lease(i)),
    ("commit", lambda ledger, i: ledger.commit(i)),
    ("renew", lambda ledger, i: ledger.renew(i, ttl_ms=5, now_ms=0)),
    ("report_checkpoint", lambda ledger, i: ledger.report_checkpoint(i, now_ms=0)),
    ("release", lambda ledger, i: ledger.release(i)),
    ("evict", lambda ledger, i: ledger.evict(i, R.OPERATOR_DRAIN, now_ms=0)),
]
NO_IDS: list[Any] = [
    -1, 1, 2**32, 2**62, 2**63 - 1, 2**63, 2**64, HUGE, -HUGE, True, False, 0.0, nan, "0", None,
    [], b"0",
]  # fmt: skip


@pytest.mark.parametrize("lease_id", NO_IDS, ids=range(len(NO_IDS)))
@pytest.mark.parametrize("call", [c for _, c in LEASE_CALLS], ids=[n for n, _ in LEASE_CALLS])
def test_every_call_refuses_an_id_that_was_never_given(
    ledger: CapacityLedger, call: Callable[[CapacityLedger, Any], object], lease_id: Any
) -> None:
    assert ledger.grant("plain", ask()).id == 0
    error = refused(ledger, NotFound, lambda: call(ledger, lease_id))
    assert error.kind == "lease"


@pytest.mark.parametrize("call", [c for _, c in LEASE_CALLS], ids=[n for n, _ in LEASE_CALLS])
def test_every_call_refuses_a_lease_that_has_ended(
    ledger: CapacityLedger, call: Callable[[CapacityLedger, Any], object]
) -> None:
    ended = ledger.grant("plain", ask())
    ledger.release(ended.id)
    ledger.grant("plain", ask())  # now in the same slot
    refused(ledger, NotFound, lambda: call(ledger, ended.id))


TIME_CALLS: list[tuple[str, Callable[[CapacityLedger, int, Any], object]]] = [
    ("grant", lambda ledger, _, t: ledger.grant("plain", ask(), now_ms=t)),
    ("reserve", lambda ledger, _, t: ledger.reserve("plain", ask(), now_ms=t)),
    ("commit", lambda ledger, i, t: ledger.commit(i, now_ms=t)),
    ("renew", lambda ledger, i, t: ledger.renew(i, ttl_ms=5, now_ms=t)),
    ("report_checkpoint", lambda ledger, i, t: ledger.report_checkpoint(i, now_ms=t)),
    ("release", lambda ledger, i, t: ledger.release(i, now_ms=t)),
    ("evict", lambda ledger, i, t: ledger.evict(i, R.OPERATOR_DRAIN, now_ms=t)),
    ("expire", lambda ledger, _, t: ledger.expire(t)),
]


@pytest.mark.parametrize(
    "now_ms", [-1, AMOUNT_MAX + 1, HUGE, True, 1.0, nan, "1", None], ids=range(8)
)
@pytest.mark.parametrize("call", [c for _, c in TIME_CALLS], ids=[n for n, _ in TIME_CALLS])
def test_every_call_refuses_a_time_that_is_none(
    ledger: CapacityLedger, call: Callable[[CapacityLedger, int, Any], object], now_ms: Any
) -> None:
    lease = ledger.reserve("plain", ask())
    error = refused(ledger, InvalidValue, lambda: call(ledger, lease.id, now_ms))
    assert error.field == "now_ms"


def test_the_last_moment_there_is_can_still_be_used(ledger: CapacityLedger) -> None:
    lease = ledger.grant("plain", ask(ttl_ms=2**53), now_ms=AMOUNT_MAX)
    assert lease.expires_ms == AMOUNT_MAX + 2**53
    assert ledger.renew(lease.id, ttl_ms=2**53, now_ms=AMOUNT_MAX).generation == 2


def test_a_reservation_becomes_a_lease_whose_term_starts_at_commit(ledger: CapacityLedger) -> None:
    held = ledger.reserve("plain", ask(ttl_ms=100), now_ms=10)
    lease = ledger.commit(held.id, now_ms=60)
    assert (held.reserved, lease.reserved) == (True, False)
    assert lease.expires_ms == 160
    node = ledger.node("plain")
    assert (node.reserved, node.leased) == (NOTHING, lease.resources)


def test_only_a_reservation_can_be_committed_and_only_once(ledger: CapacityLedger) -> None:
    lease = ledger.grant("plain", ask())
    refused(ledger, Conflict, lambda: ledger.commit(lease.id))
    held = ledger.reserve("plain", ask())
    ledger.commit(held.id)
    refused(ledger, Conflict, lambda: ledger.commit(held.id))


def test_a_reservation_that_is_being_revoked_cannot_be_committed(ledger: CapacityLedger) -> None:
    held = ledger.reserve("plain", ask())
    LeaseRevoker(ledger, grace_ms=10).revoke(held.id, R.OPERATOR_DRAIN, now_ms=5)
    refused(ledger, Conflict, lambda: ledger.commit(held.id, now_ms=6))


def test_renewal_gives_a_new_term_from_now_and_a_higher_generation(ledger: CapacityLedger) -> None:
    lease = ledger.grant("plain", ask(ttl_ms=100))
    renewed = ledger.renew(lease.id, ttl_ms=50, now_ms=90, generation=1)
    assert (renewed.generation, renewed.expires_ms, renewed.granted_ms) == (2, 140, 0)


def test_a_renewal_by_an_older_holder_is_stale(ledger: CapacityLedger) -> None:
    lease = ledger.grant("plain", ask())
    ledger.renew(lease.id, ttl_ms=50, now_ms=1)
    error = refused(
        ledger, Stale, lambda: ledger.renew(lease.id, ttl_ms=50, now_ms=2, generation=1)
    )
    assert (error.held, error.current) == (1, 2)


@pytest.mark.parametrize("generation", [0, -1, True, 1.0, nan, "1", 2**70])
def test_a_generation_that_is_none_is_refused(ledger: CapacityLedger, generation: Any) -> None:
    lease = ledger.grant("plain", ask())
    error = refused(
        ledger,
        InvalidValue,
        lambda: ledger.renew(lease.id, ttl_ms=50, now_ms=2, generation=generation),
    )
    assert error.field == "generation"


@pytest.mark.parametrize(
    "ttl_ms", [0, -1, 2**53 + 1, HUGE, True, 1.0, nan, "1", None], ids=range(9)
)
def test_a_renewal_needs_a_term(ledger: CapacityLedger, ttl_ms: Any) -> None:
    lease = ledger.grant("plain", ask())
    error = refused(ledger, InvalidValue, lambda: ledger.renew(lease.id, ttl_ms=ttl_ms, now_ms=2))
    assert error.field == "ttl_ms"


@pytest.mark.parametrize("now_ms", [100, 101, 5000])
def test_a_lease_whose_term_is_over_cannot_be_renewed(ledger: CapacityLedger, now_ms: int) -> None:
    lease = ledger.grant("plain", ask(ttl_ms=100))
    refused(ledger, Conflict, lambda: ledger.renew(lease.id, ttl_ms=50, now_ms=now_ms))


def test_a_lease_that_is_being_revoked_cannot_be_renewed(ledger: CapacityLedger) -> None:
    lease = ledger.grant("plain", ask())
    LeaseRevoker(ledger, grace_ms=10).revoke(lease.id, R.OPERATOR_DRAIN, now_ms=5)
    refused(ledger, Conflict, lambda: ledger.renew(lease.id, ttl_ms=50, now_ms=6))


def test_a_checkpoint_is_remembered_and_changes_nothing_else(ledger: CapacityLedger) -> None:
    lease = ledger.grant("plain", ask())
    reported = ledger.report_checkpoint(lease.id, now_ms=42)
    assert reported.checkpoint_ms == 42
    assert (reported.expires_ms, reported.generation) == (lease.expires_ms, 1)


def test_a_released_lease_gives_everything_back_and_says_so(ledger: CapacityLedger) -> None:
    before = ledger.node("gpus")
    lease = ledger.grant("gpus", ask(mem_bytes=1, gpu_count=2))
    ended = ledger.release(lease.id, now_ms=9)
    assert ended == EndedLease(lease=lease, cause=EndCause.RELEASED, ended_ms=9)
    assert ledger.node("gpus") == before


def test_leases_end_at_the_moment_their_term_is_over(ledger: CapacityLedger) -> None:
    lease = ledger.grant("plain", ask(ttl_ms=100))
    later = ledger.grant("plain", ask(ttl_ms=101))
    assert ledger.expire(99) == ()
    assert [(e.lease.id, e.cause, e.ended_ms) for e in ledger.expire(100)] == [
        (lease.id, EndCause.EXPIRED, 100)
    ]
    assert list(ledger.leases()) == [later]


def test_one_expired_member_ends_its_gang(ledger: CapacityLedger) -> None:
    gang = AdmissionController(ledger).admit(ask(gang_size=3, ttl_ms=100))
    for lease in gang.leases[1:]:
        ledger.renew(lease.id, ttl_ms=900, now_ms=50)
    assert {e.lease.id for e in ledger.expire(100)} == {lease.id for lease in gang.leases}


def test_expiry_takes_no_lease_that_a_revoker_walks_or_fenced(ledger: CapacityLedger) -> None:
    walked, shut = ledger.grant("plain", ask(ttl_ms=5)), ledger.grant("plain", ask(ttl_ms=5))
    LeaseRevoker(ledger, grace_ms=10).revoke(walked.id, R.OPERATOR_DRAIN, now_ms=1)
    fenced(ledger, shut)
    assert ledger.expire(AMOUNT_MAX) == ()


@pytest.mark.parametrize("limit", [0, -1, 2**31, True, 1.5, "1", None])
def test_expiry_needs_a_limit_above_zero(ledger: CapacityLedger, limit: Any) -> None:
    error = refused(ledger, InvalidValue, lambda: ledger.expire(1, limit=limit))
    assert error.field == "limit"


def test_an_eviction_carries_its_reason(ledger: CapacityLedger) -> None:
    lease = ledger.grant("plain", ask())
    ended = ledger.evict(lease.id, R.QUOTA_REBALANCE, now_ms=3)
    assert (ended.cause, ended.reason) == (EndCause.PREEMPTED, R.QUOTA_REBALANCE)


@pytest.mark.parametrize("reason", ["operator_drain", None, 1, EndCause.PREEMPTED])
def test_an_eviction_without_one_of_the_nine_reasons_is_refused(
    ledger: CapacityLedger, reason: Any
) -> None:
    lease = ledger.grant("plain", ask())
    error = refused(ledger, InvalidValue, lambda: ledger.evict(lease.id, reason, now_ms=1))
    assert error.field == "reason"


@pytest.mark.parametrize("reason", list(PreemptionReason))
def test_a_guaranteed_lease_ends_only_for_operators_and_policy(
    ledger: CapacityLedger, reason: PreemptionReason
) -> None:
    lease = ledger.grant("plain", ask(lease_class=LeaseClass.GUARANTEED))
    if reason.spares_guaranteed:
        refused(ledger, Conflict, lambda: ledger.evict(lease.id, reason, now_ms=1))
    else:
        assert ledger.evict(lease.id, reason, now_ms=1).reason is reason


@pytest.mark.parametrize(
    "call",
    [
        lambda ledger, i: ledger.release(i),
        lambda ledger, i: ledger.evict(i, R.OPERATOR_DRAIN, now_ms=2),
        lambda ledger, i: ledger.renew(i, ttl_ms=5, now_ms=2),
        lambda ledger, i: ledger.commit(i, now_ms=2),
    ],
    ids=["release", "evict", "renew", "commit"],
)
def test_nobody_but_an_operator_ends_a_fence(
    ledger: CapacityLedger, call: Callable[[CapacityLedger, int], object]
) -> None:
    lease = ledger.reserve("plain", ask())
    fenced(ledger, lease)
    refused(ledger, Conflict, lambda: call(ledger, lease.id))


def test_an_ended_lease_names_a_reason_exactly_when_it_was_preempted(
    ledger: CapacityLedger,
) -> None:
    lease = ledger.grant("plain", ask())
    with pytest.raises(InvariantBroken):
        EndedLease(lease=lease, cause=EndCause.PREEMPTED, ended_ms=1)
    with pytest.raises(InvariantBroken):
        EndedLease(lease=lease, cause=EndCause.EXPIRED, ended_ms=1, reason=R.OPERATOR_DRAIN)


# --- quota, requests that come once, odd tenants ------------------------------------------------


def test_every_hold_is_charged_to_its_owner_and_given_back(ledger: CapacityLedger) -> None:
    quotas = QuotaManager()
    ledger.attach_quotas(quotas)
    lease = ledger.grant("gpus", ask(project="vision", gpu_milli=1500 - 1000))
    for scope in (("lab", None), ("lab", "vision")):
        rooms = quotas.headroom(*scope)
        assert rooms.dimensions[Dimension.CPU_MILLI].used == 2000
        assert rooms.dimensions[Dimension.LEASE_COUNT].used == 1
        assert rooms.generations[G.NVIDIA_HOPPER].used == 1  # half a GPU, rounded up
    ledger.release(lease.id)
    assert quotas.headroom("lab").dimensions[Dimension.CPU_MILLI].used == 0


def test_quotas_are_attached_once_and_before_the_first_lease(ledger: CapacityLedger) -> None:
    lease = ledger.grant("plain", ask())
    refused(ledger, Conflict, lambda: ledger.attach_quotas(QuotaManager()))
    ledger.release(lease.id)
    quotas = QuotaManager()
    ledger.attach_quotas(quotas)
    ledger.attach_quotas(quotas)
    refused(ledger, Conflict, lambda: ledger.attach_quotas(QuotaManager()))


@pytest.mark.parametrize("quotas", ["lab", 5, {}, Quota()])
def test_quotas_that_are_no_manager_are_refused(quotas: Any) -> None:
    with pytest.raises(InvalidValue) as caught:
        CapacityLedger(quotas=quotas)
    assert caught.value.field == "quotas"


@pytest.mark.parametrize("engine", ["", "fast", None, 5, True])
def test_an_engine_that_does_not_exist_is_refused(engine: Any) -> None:
    with pytest.raises(InvalidValue) as caught:
        CapacityLedger(engine=engine)
    assert caught.value.field == "engine"


def test_thousands_of_one_off_requests_leave_old_leases_as_they_were(
    ledger: CapacityLedger,
) -> None:
    kept = ledger.grant("plain", ask(tenant="first", project="p", mem_bytes=1))
    for i in range(IDLE_MAX + 50):
        lease = ledger.grant("gpus", ask(tenant=f"t{i}", cpu_cores=i / 1000 + 0.001))
        assert (lease.tenant, lease.resources.cpu_milli) == (f"t{i}", i + 1)
        ledger.release(lease.id)
    assert ledger.lease(kept.id) == kept
    assert ledger.node("gpus").free == ledger.node("gpus").total


def test_burst_credit_drains_for_a_tenant_called_fenced_too(ledger: CapacityLedger) -> None:
    quotas = QuotaManager()
    credit = BurstCredit(Dimension.CPU_MILLI, capacity=10, refill_per_s=0, ceiling=9000)
    quotas.set_quota("fenced", Quota((ResourceLimit.cpu_cores(1),), burst=credit))
    ledger.attach_quotas(quotas)
    lease = ledger.grant("plain", ask(tenant="fenced"), now_ms=0)  # 1000 above for 10 s: all gone
    ledger.release(lease.id, now_ms=10_000)
    assert quotas.check(ask(tenant="fenced"), now_ms=10_000).quota_violation == (
        "burst_credit_exhausted"
    )
