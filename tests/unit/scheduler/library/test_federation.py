"""Several cells under one admission: shared quota, separate fate, one owner per preemption."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick import (
    AdmissionController,
    Approved,
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
    NodeSet,
    NotFound,
    Obstacle,
    PendingReason,
    Placed,
    PlacementRequest,
    PlacementScorer,
    PreemptionClaim,
    PreemptionConfig,
    PreemptionManager,
    PreemptionReason,
    Priority,
    Quota,
    QuotaManager,
    ReservationHeadroom,
    ResourceLimit,
    Resources,
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


# -- what is kept for whom room was made -----------------------------------------------------


def evict(federation: Federation, owned: PreemptionClaim, manager: PreemptionManager) -> None:
    ledger = federation.cell(owned.cell).admission.ledger
    federation.execute(owned, manager=manager, revoker=LeaseRevoker(ledger), now_ms=10)


def test_work_that_evicted_others_carries_the_depth_of_the_cascade(federation: Federation) -> None:
    full(federation)
    manager = PreemptionManager(PreemptionConfig(max_cascade_depth=1))
    urgent = ask(4, priority=Priority.HIGH)
    owned = federation.claim_preemption("first", urgent, manager=manager, now_ms=10)
    assert isinstance(owned, PreemptionClaim)
    evict(federation, owned, manager)
    placed = federation.admit(urgent, now_ms=10, claim=owned)
    assert isinstance(placed, Placed)
    assert (placed.cell, placed.decision.leases[0].depth) == ("east", 1)
    federation.cut_off("west")
    more = ask(4, priority=Priority.CRITICAL)
    refused = federation.claim_preemption("second", more, manager=manager, now_ms=10)
    assert isinstance(refused, Impossible)
    assert refused.reason is Obstacle.CASCADE_DEPTH


def test_nobody_else_gets_what_victims_leave_and_no_other_cell_evicts(
    federation: Federation,
) -> None:
    full(federation)
    owned = claim(federation)
    assert isinstance(owned, PreemptionClaim)
    evict(federation, owned, PreemptionManager())
    assert isinstance(federation.admit(ask(1), now_ms=10), Unplaced)
    with pytest.raises(Conflict, match="owned by cell east"):
        claim(federation)
    assert isinstance(federation.admit(owned.request, now_ms=10, claim=owned), Placed)
    with pytest.raises(Conflict, match="void or done"):
        federation.admit(owned.request, now_ms=10, claim=owned)


def test_who_fits_elsewhere_first_starts_there_and_gives_the_room_up(
    federation: Federation,
) -> None:
    full(federation)
    owned = claim(federation)
    assert isinstance(owned, PreemptionClaim)
    west = federation.cell("west").admission.ledger
    west.release(next(west.leases()).id, now_ms=10)
    east = federation.cell("east").admission.ledger
    revoker = LeaseRevoker(east, grace_ms=1_000)
    federation.execute(owned, manager=PreemptionManager(), revoker=revoker, now_ms=10)
    placed = federation.admit(owned.request, now_ms=10, claim=owned)
    assert isinstance(placed, Placed)
    assert placed.cell == "west"
    assert len(east.holds) == 0


def test_what_was_kept_for_a_void_claim_is_free_when_its_cell_is_back(
    federation: Federation,
) -> None:
    full(federation)
    owned = claim(federation)
    assert isinstance(owned, PreemptionClaim)
    evict(federation, owned, PreemptionManager())
    federation.cut_off("east")
    with pytest.raises(Conflict, match="void"):
        federation.admit(owned.request, now_ms=10, claim=owned)
    federation.rejoin("east", now_ms=20)
    placed = federation.admit(ask(4), now_ms=20)
    assert isinstance(placed, Placed)
    assert placed.cell == "east"


def test_a_claim_admits_no_other_request(federation: Federation) -> None:
    full(federation)
    owned = claim(federation)
    assert isinstance(owned, PreemptionClaim)
    with pytest.raises(Conflict, match="another request"):
        federation.admit(ask(1), now_ms=10, claim=owned)


# -- what a cell keeps to itself -------------------------------------------------------------


class Closed:
    """A guard that lets urgent work nowhere."""

    def nodes_for(self, request: PlacementRequest) -> NodeSet | None:
        return NodeSet() if request.priority is Priority.CRITICAL else None


def guarded(admission: AdmissionController) -> AdmissionController:
    return AdmissionController(admission.ledger, scorer=PlacementScorer(filters=[Closed()]))


def test_a_cells_guards_hold_for_work_and_for_who_would_evict_there() -> None:
    federation = Federation()
    federation.add_cell("east", guarded(cell(4)))
    federation.add_cell("west", cell(4))
    full(federation)  # the cheapest victims are behind the guard
    owned = claim(federation)
    assert isinstance(owned, PreemptionClaim)
    assert owned.cell == "west"
    federation.cut_off("west")
    assert isinstance(federation.admit(ask(4, priority=Priority.CRITICAL)), Unplaced)
    assert isinstance(claim(federation), Impossible)


def test_nobody_is_evicted_for_room_that_a_cell_keeps_for_more_urgent_work() -> None:
    kept = ReservationHeadroom(Resources(gpu_milli=4_000))
    federation = Federation()
    federation.add_cell("east", AdmissionController(cell(8).ledger, headroom=kept))
    federation.cell("east").admission.admit(ask(4, priority=Priority.LOW))
    wide = ask(8, priority=Priority.HIGH)
    manager = PreemptionManager()
    refused = federation.claim_preemption("wide", wide, manager=manager, now_ms=10)
    assert isinstance(refused, Impossible)
    urgent = ask(8, priority=Priority.CRITICAL)
    owned = federation.claim_preemption("urgent", urgent, manager=manager, now_ms=10)
    assert isinstance(owned, PreemptionClaim)


def test_a_gang_starts_or_evicts_in_one_cell_and_takes_gangs_whole() -> None:
    federation = Federation()
    federation.add_cell("one", cell(4))
    federation.add_cell("two", cell(4))
    pair = ask(4, gang_size=2, priority=Priority.LOW)
    assert isinstance(federation.admit(pair), Unplaced), "both halves are free, but in two cells"
    federation.add_cell("wide", cell(4, nodes=2))
    placed = federation.admit(pair)
    assert isinstance(placed, Placed)
    assert (placed.cell, len(placed.decision.leases)) == ("wide", 2)
    for name in ("one", "two"):
        federation.cell(name).admission.admit(ask(4, priority=Priority.LOW))
    urgent = ask(4, gang_size=2, priority=Priority.CRITICAL)
    manager = PreemptionManager()
    owned = federation.claim_preemption("pair", urgent, manager=manager, now_ms=10)
    assert isinstance(owned, PreemptionClaim)
    assert owned.cell == "wide"
    evict(federation, owned, manager)
    placed = federation.admit(urgent, now_ms=10, claim=owned)
    assert isinstance(placed, Placed)
    assert len(placed.decision.leases) == 2
    assert [len(list(each.admission.ledger.leases())) for each in federation.cells()] == [1, 1, 2]


def test_a_victims_whole_gang_makes_room(federation: Federation) -> None:
    federation.add_cell("wide", cell(4, nodes=2))
    for name, count in (("east", 1), ("west", 2)):
        for _ in range(count):
            federation.cell(name).admission.admit(ask(4, priority=Priority.CRITICAL))
    federation.admit(ask(4, gang_size=2, priority=Priority.LOW))
    owned = claim(federation)
    assert isinstance(owned, PreemptionClaim)
    evict(federation, owned, PreemptionManager())
    wide = federation.cell("wide")
    assert owned.cell == "wide"
    assert not list(wide.admission.ledger.leases()), "half a gang is none"
    assert len(wide.rooms["req-1"].victims) == 2
    assert isinstance(federation.admit(ask(4), now_ms=10), Placed), "the other half is anybody's"


# -- in which order --------------------------------------------------------------------------


@given(
    sizes=st.lists(st.integers(1, 8), min_size=1, max_size=6),
    asked=st.lists(st.integers(1, 8), max_size=20),
)
def test_cells_are_asked_as_a_look_at_all_of_them_would_have_it(
    sizes: list[int], asked: list[int]
) -> None:
    federation = Federation()
    for i, gpus in enumerate(sizes):
        federation.add_cell(f"cell-{i}", cell(gpus))
    for gpus in asked:
        by_room = sorted(
            federation.cells(),
            key=lambda c: (
                -c.admission.ledger.free.gpu_milli,
                -c.admission.ledger.free.cpu_milli,
                str(c.id),
            ),
        )
        takes = (isinstance(c.admission.evaluate(ask(gpus)), Approved) for c in by_room)
        wanted = next((c.id for c, ok in zip(by_room, takes, strict=True) if ok), None)
        placed = federation.admit(ask(gpus))
        assert (placed.cell if isinstance(placed, Placed) else None) == wanted


@given(
    cells=st.integers(1, 5),
    steps=st.lists(st.tuples(st.integers(1, 4), st.integers(0, 9)), max_size=40),
)
def test_what_a_cell_wins_is_seen_within_as_many_admissions_as_there_are_cells(
    cells: int, steps: list[tuple[int, int]]
) -> None:
    federation = Federation()
    for i in range(cells):
        federation.add_cell(f"cell-{i}", cell(4, nodes=3))
    for gpus, ends in steps:
        federation.admit(ask(gpus))
        ledgers = [each.admission.ledger for each in federation.cells()]
        held = [(ledger, lease.id) for ledger in ledgers for lease in ledger.leases()]
        if ends < len(held):
            held[ends][0].release(held[ends][1])
    for _ in range(cells):
        federation.admit(ask(0))  # the first has it, and is asked alone
    told = [federation.cell(str(name)) for name in federation.asked_in_turn()]
    free = [each.admission.ledger.free.gpu_milli for each in told]
    assert free == sorted(free, reverse=True)
    assert len(told) == cells
