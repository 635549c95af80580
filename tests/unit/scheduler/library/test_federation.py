"""Several cells under one admission: shared quota, separate fate, one owner per preemption."""

from __future__ import annotations

import pytest

from bailiwick import (
    AdmissionController,
    CapacityLedger,
    Conflict,
    Federation,
    GpuDevice,
    HardLimitExceeded,
    HardwareGeneration,
    Impossible,
    InvalidValue,
    LeaseRevoker,
    NodeCapacity,
    NotFound,
    PendingReason,
    Placed,
    PlacementRequest,
    PreemptionClaim,
    PreemptionManager,
    PreemptionReason,
    Priority,
    Quota,
    QuotaManager,
    ResourceLimit,
    Unplaced,
)

GPU = GpuDevice(HardwareGeneration.NVIDIA_HOPPER, 80 * 2**30)


def cell(gpus: int, nodes: int = 1) -> AdmissionController:
    ledger = CapacityLedger()
    for i in range(nodes):
        ledger.register_node(f"n{i}", NodeCapacity(cpu_cores=64, mem_bytes=0, gpus=[GPU] * gpus))
    return AdmissionController(ledger)


def ask(gpus: int = 1, **terms: object) -> PlacementRequest:
    return PlacementRequest(
        tenant="lab",
        cpu_cores=1,
        gpu_count=gpus,
        **terms,  # type: ignore[arg-type]
    )


@pytest.fixture
def federation() -> Federation:
    made = Federation(quotas=QuotaManager())
    made.add_cell("east", cell(4))
    made.add_cell("west", cell(8))
    return made


def test_the_cell_with_most_room_is_asked_first(federation: Federation) -> None:
    placed = federation.admit(ask())
    assert isinstance(placed, Placed)
    assert placed.cell == "west"


def test_asking_changes_nothing_and_tells_what_admitting_does(federation: Federation) -> None:
    before = [c.admission.ledger.free for c in federation.cells()]
    told = federation.evaluate(ask(4))
    assert [c.admission.ledger.free for c in federation.cells()] == before
    done = federation.admit(ask(4))
    assert isinstance(told, Placed)
    assert isinstance(done, Placed)
    assert told.cell == done.cell


def test_quota_is_counted_over_all_cells_together(federation: Federation) -> None:
    assert federation.quotas is not None
    federation.quotas.set_quota("lab", Quota(limits=[ResourceLimit.gpu_count(9)]))
    assert isinstance(federation.admit(ask(6)), Placed)
    assert isinstance(federation.admit(ask(3)), Placed)
    refused = federation.admit(ask(1))
    assert isinstance(refused, Unplaced)
    assert refused.reason is PendingReason.WAITING_FOR_QUOTA
    assert all(isinstance(d.detail, HardLimitExceeded) for d in refused.by_cell.values())


def test_a_cell_that_is_cut_off_keeps_its_leases_and_gets_no_new_ones(
    federation: Federation,
) -> None:
    assert isinstance(federation.admit(ask(2)), Placed)
    federation.cut_off("west")
    west = federation.cell("west").admission.ledger
    assert len(list(west.leases())) == 1
    placed = federation.admit(ask(2))
    assert isinstance(placed, Placed)
    assert placed.cell == "east"
    refused = federation.admit(ask(4))
    assert isinstance(refused, Unplaced)
    assert refused.cut_off == ("west",)
    assert len(list(west.leases())) == 1
    federation.rejoin("west")
    assert isinstance(federation.admit(ask(4)), Placed)


def test_usage_in_a_cut_off_cell_still_counts(federation: Federation) -> None:
    assert federation.quotas is not None
    federation.quotas.set_quota("lab", Quota(limits=[ResourceLimit.gpu_count(4)]))
    assert isinstance(federation.admit(ask(3)), Placed)
    federation.cut_off("west")
    refused = federation.admit(ask(2))
    assert isinstance(refused, Unplaced)
    assert refused.reason is PendingReason.WAITING_FOR_QUOTA


def test_the_most_hopeful_denial_speaks_for_all(federation: Federation) -> None:
    for _ in range(3):
        federation.admit(ask(4))
    refused = federation.admit(ask(8))
    assert isinstance(refused, Unplaced)
    assert refused.by_cell["east"].reason is PendingReason.EXCEEDS_MAXIMUM
    assert refused.by_cell["west"].reason is PendingReason.WAITING_FOR_CAPACITY
    assert refused.reason is PendingReason.WAITING_FOR_CAPACITY


def test_with_no_cell_in_reach_a_request_waits(federation: Federation) -> None:
    federation.cut_off("east")
    federation.cut_off("west")
    refused = federation.admit(ask())
    assert isinstance(refused, Unplaced)
    assert refused.by_cell == {}
    assert refused.cut_off == ("east", "west")


def full(federation: Federation) -> None:
    """East is full of cheap work, west of dear work."""
    for name, priority, count in (("west", Priority.HIGH, 2), ("east", Priority.LOW, 1)):
        admission = federation.cell(name).admission
        for _ in range(count):
            admission.admit(ask(4, priority=priority))


def claim(federation: Federation, name: str = "req-1") -> PreemptionClaim | Impossible:
    urgent = ask(4, priority=Priority.CRITICAL)
    return federation.claim_preemption(name, urgent, manager=PreemptionManager(), now_ms=10)


def test_one_cell_owns_a_preemption_the_one_with_the_cheapest_victims(
    federation: Federation,
) -> None:
    full(federation)
    owned = claim(federation)
    assert isinstance(owned, PreemptionClaim)
    assert owned.cell == "east"
    with pytest.raises(Conflict, match="owned by cell east"):
        claim(federation)
    ledger = federation.cell("east").admission.ledger
    manager = PreemptionManager()
    wrong = LeaseRevoker(federation.cell("west").admission.ledger)
    with pytest.raises(Conflict, match="belongs to cell east"):
        federation.execute(owned, manager=manager, revoker=wrong, now_ms=10)
    done = federation.execute(owned, manager=manager, revoker=LeaseRevoker(ledger), now_ms=10)
    assert [e.reason for e in done.ended] == [PreemptionReason.PRIORITY_PREEMPTION]
    with pytest.raises(Conflict, match="void or done"):
        federation.execute(owned, manager=manager, revoker=LeaseRevoker(ledger), now_ms=10)


def test_a_claim_is_void_once_its_cell_was_cut_off(federation: Federation) -> None:
    full(federation)
    owned = claim(federation)
    assert isinstance(owned, PreemptionClaim)
    federation.cut_off("east")
    ledger = federation.cell("east").admission.ledger
    with pytest.raises(Conflict, match="void"):
        federation.execute(
            owned, manager=PreemptionManager(), revoker=LeaseRevoker(ledger), now_ms=10
        )
    assert len(list(ledger.leases())) == 1
    again = claim(federation)
    assert isinstance(again, PreemptionClaim)
    assert again.cell == "west"


def test_a_claim_can_be_given_back(federation: Federation) -> None:
    full(federation)
    owned = claim(federation)
    assert isinstance(owned, PreemptionClaim)
    federation.abandon(owned)
    assert isinstance(claim(federation), PreemptionClaim)


def test_where_no_cell_can_make_room_the_refusals_are_counted_together(
    federation: Federation,
) -> None:
    for admission in (c.admission for c in federation.cells()):
        for _ in range(2):
            admission.admit(ask(4, priority=Priority.CRITICAL))
    refused = claim(federation)
    assert isinstance(refused, Impossible)
    assert sum(refused.nodes.values()) == 2


def test_bad_names_are_refused(federation: Federation) -> None:
    with pytest.raises(Conflict, match="joined already"):
        federation.add_cell("east", cell(1))
    with pytest.raises(NotFound, match="south"):
        federation.cut_off("south")
    with pytest.raises(InvalidValue):
        federation.add_cell("", cell(1))
    with pytest.raises(InvalidValue, match="admission"):
        federation.add_cell("north", CapacityLedger())  # type: ignore[arg-type]
