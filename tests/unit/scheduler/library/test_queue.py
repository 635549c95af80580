"""The waiting queue: who starts, for whom room is kept, who may go ahead meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.fleet.resources import Resources
from bailiwick.scheduler.admission import AdmissionController, ReservationHeadroom
from bailiwick.scheduler.decision import (
    Approved,
    DeadlinePassed,
    Denied,
    HeadroomKept,
    NoSuchHardware,
    NotEnoughFree,
    ReservedForOthers,
)
from bailiwick.scheduler.fairness import FairShares
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.library.queue import (
    LineRules,
    QueueEntry,
    Reservation,
    ScheduleResult,
    WaitingQueue,
)
from bailiwick.scheduler.node_set import NodeSet
from bailiwick.scheduler.placement import PlacementScorer, Strategy
from bailiwick.scheduler.quota import QuotaManager
from bailiwick.scheduler.quota_policy import BurstCredit, HardLimitExceeded, Quota, ResourceLimit
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import InvalidValue, LimitReached, NotFound
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.values import NodeId, TenantId
from bailiwick.vocab.words import (
    Dimension,
    EndCause,
    HardwareGeneration,
    PendingReason,
    Priority,
    ResourceKind,
)

GPU = GpuDevice(HardwareGeneration.NVIDIA_HOPPER)


class Desk:
    """A small fleet with its queue, and a clock moved by hand."""

    def __init__(self, *sizes: int, cores: int = 16, **options: Any) -> None:
        self.ledger = CapacityLedger(quotas=options.pop("quotas", None))
        for number, devices in enumerate(sizes):
            labels = {"rack": f"r{number}"}
            node = NodeCapacity(cores, 2**40, gpus=(GPU,) * devices, labels=labels)
            self.ledger.register_node(f"n{number}", node)
        terms = {k: options.pop(k) for k in ("scorer", "headroom") if k in options}
        self.admission = AdmissionController(self.ledger, **terms)
        self.shares = FairShares(1000)
        self.queue = WaitingQueue(self.admission, self.shares, **options)
        self.now_ms = 0

    def submit(self, tenant: str = "lab", **terms: Any) -> QueueEntry:
        return self.queue.submit(PlacementRequest(tenant=TenantId(tenant), **terms), self.now_ms)

    def run(self, tenant: str = "lab", **terms: Any) -> None:
        """Something that holds resources before anybody waits."""
        decision = self.admission.admit(
            PlacementRequest(tenant=TenantId(tenant), **terms), now_ms=0
        )
        assert isinstance(decision, Approved)

    def schedule(self, now_ms: int | None = None, limit: int = 100) -> ScheduleResult:
        self.now_ms = self.now_ms if now_ms is None else now_ms
        self.ledger.expire(self.now_ms)
        return self.queue.schedule(self.now_ms, limit=limit)

    def denial(self, result: ScheduleResult, entry: QueueEntry) -> Denied:
        (found,) = [w.denied for w in result.waiting if w.entry is entry]
        assert self.queue.blocker(entry.id) is found
        return found


def ids(result: ScheduleResult) -> list[int]:
    return [started.entry.id for started in result.started]


def kept_for(result: ScheduleResult) -> Reservation:
    assert result.reservations
    return result.reservations[0]


# --- waiting ------------------------------------------------------------------------------------


def test_an_entry_waits_until_it_is_scheduled() -> None:
    desk = Desk(1)
    first, second = desk.submit(gpu_count=1), desk.submit("other", gpu_count=1)
    assert (first.id, second.id) == (1, 2)
    assert desk.queue.order(0) == (first, second)
    assert desk.queue.position(second.id, 0) == 1
    assert desk.queue.entry(2) is second
    assert desk.queue.blocker(first.id) is None
    result = desk.schedule()
    assert result.started[0].entry is first
    assert [str(lease.node) for lease in result.started[0].approved.leases] == ["n0"]
    assert first.id not in desk.queue
    assert second.id in desk.queue
    assert desk.queue.order(0) == (second,)


def test_what_left_cannot_be_asked_about() -> None:
    desk = Desk(1)
    started, cancelled = desk.submit(gpu_count=1), desk.submit(gpu_count=1)
    assert desk.queue.cancel(cancelled.id) is cancelled
    desk.schedule()
    for entry in (started, cancelled):
        for ask in (desk.queue.cancel, desk.queue.blocker, desk.queue.entry):
            with pytest.raises(NotFound, match="queue entry"):
                ask(entry.id)
        with pytest.raises(NotFound):
            desk.queue.position(entry.id, 0)
    assert len(desk.queue) == 0


def test_the_queue_is_bounded_and_ids_are_not_used_again() -> None:
    desk = Desk(1, size_max=2)
    desk.submit(gpu_count=1)
    second = desk.submit(gpu_count=1)
    with pytest.raises(LimitReached):
        desk.submit(gpu_count=1)
    desk.queue.cancel(second.id)
    assert desk.submit(gpu_count=1).id == 3


@pytest.mark.parametrize(
    "options", [{"size_max": 0}, {"horizon_ms": 0}, {"horizon_ms": 1.5}, {"rules": 1}]
)
def test_options_are_checked(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue, match=next(iter(options))):
        Desk(1, **options)


@pytest.mark.parametrize("limit", [0, 1, 10**8, 2.0])
def test_a_limit_is_checked(limit: Any) -> None:
    with pytest.raises(InvalidValue, match="limit"):
        Desk(1).queue.schedule(0, limit=limit)


def test_the_queue_takes_only_what_it_is_made_for() -> None:
    desk = Desk(1)
    with pytest.raises(InvalidValue, match="request"):
        desk.queue.submit("a job", 0)  # type: ignore[arg-type]
    with pytest.raises(InvalidValue, match="now_ms"):
        desk.queue.submit(PlacementRequest(tenant="lab", gpu_count=1), -1)  # type: ignore[arg-type]
    with pytest.raises(InvalidValue, match="shares"):
        WaitingQueue(desk.admission, None)  # type: ignore[arg-type]


def test_a_full_quota_table_is_told_at_submission() -> None:
    desk = Desk(1, quotas=QuotaManager(rows_max=1))
    desk.submit("lab", gpu_count=1)
    with pytest.raises(LimitReached, match="quota rows"):
        desk.submit("other", gpu_count=1)
    assert len(desk.queue) == 1


# --- order in practice --------------------------------------------------------------------------


def test_the_tenant_that_used_less_starts_first() -> None:
    desk = Desk(1)
    desk.shares.charge("heavy", 10**6, now_ms=0)
    heavy, light = desk.submit("heavy", gpu_count=1), desk.submit("light", gpu_count=1)
    assert ids(desk.schedule()) == [light.id]
    assert desk.queue.order(0) == (heavy,)


def test_one_tenant_with_many_entries_does_not_take_the_whole_fleet() -> None:
    desk = Desk(4)
    for _ in range(10):
        desk.submit("many", gpu_count=1)
    late = [desk.submit("few", gpu_count=1) for _ in range(2)]
    assert {entry.id for entry in late} <= set(ids(desk.schedule()))


def test_higher_priority_starts_first_whatever_was_used() -> None:
    desk = Desk(1)
    desk.shares.charge("heavy", 10**6, now_ms=0)
    desk.submit("light", gpu_count=1)
    urgent = desk.submit("heavy", gpu_count=1, priority=Priority.HIGH)
    assert ids(desk.schedule()) == [urgent.id]


# --- the reservation ----------------------------------------------------------------------------


def test_the_first_that_lacks_capacity_is_told_when_and_where_it_will_fit() -> None:
    desk = Desk(2, 2, 2)
    desk.run(gpu_count=2, ttl_ms=300, labels={"rack": "r0"})
    desk.run(gpu_count=2, ttl_ms=100, labels={"rack": "r1"})
    desk.run(gpu_count=1, ttl_ms=200, labels={"rack": "r2"})
    gang = desk.submit(gpu_count=2, gang_size=2)
    result = desk.schedule()
    assert result.reservations[0] == Reservation(gang, 200, (NodeId("n1"), NodeId("n2")))
    assert desk.denial(result, gang).reason is PendingReason.WAITING_FOR_CAPACITY
    assert ids(desk.schedule(199)) == []
    assert ids(desk.schedule(200)) == [gang.id]


def test_a_fragmented_fleet_reserves_too() -> None:
    desk = Desk(2, 2)
    desk.run(gpu_count=1, ttl_ms=50, labels={"rack": "r0"})
    desk.run(gpu_count=1, ttl_ms=70, labels={"rack": "r1"})
    whole = desk.submit(gpu_count=2)
    result = desk.schedule()
    assert desk.denial(result, whole).reason is PendingReason.FRAGMENTED
    assert (kept_for(result).at_ms, kept_for(result).nodes) == (50, ("n0",))


def test_a_gang_is_kept_on_as_few_nodes_as_can_be() -> None:
    desk = Desk(1, 4, 1)
    desk.run(gpu_count=4, ttl_ms=50, labels={"rack": "r1"})
    desk.submit(gpu_count=1, gang_size=5)
    assert kept_for(desk.schedule()).nodes == ("n1",) * 4 + ("n0",)


def test_shares_of_devices_are_counted_device_by_device() -> None:
    desk = Desk(2)
    desk.run(gpu_milli=600, ttl_ms=50)
    desk.run(gpu_milli=700, ttl_ms=90)
    desk.submit(gpu_milli=500, gang_size=2)
    assert kept_for(desk.schedule()).at_ms == 50
    assert len(desk.schedule(50).started[0].approved.leases) == 2


def test_the_next_reckons_with_the_first_and_keeps_what_it_was_told() -> None:
    desk = Desk(2)
    desk.run(gpu_count=2, ttl_ms=100)
    first = desk.submit(gpu_count=2, ttl_ms=100)
    second = desk.submit(gpu_count=2, ttl_ms=100)
    kept = desk.schedule().reservations
    assert [(each.entry, each.at_ms) for each in kept] == [(first, 100), (second, 200)]
    result = desk.schedule(100)
    assert ids(result) == [first.id]
    assert (kept_for(result).entry, kept_for(result).at_ms) == (second, 200)


def test_a_cancelled_entry_keeps_no_room() -> None:
    desk = Desk(2)
    desk.run(gpu_count=1, ttl_ms=100)
    gang = desk.submit(gpu_count=2)
    small = desk.submit(gpu_count=1, ttl_ms=500)
    assert ids(desk.schedule()) == []
    desk.queue.cancel(gang.id)
    assert ids(desk.schedule()) == [small.id]


def test_the_reserved_entry_keeps_its_place_when_better_placed_work_arrives() -> None:
    desk = Desk(2)
    desk.run(gpu_count=1, ttl_ms=100)
    desk.shares.charge("heavy", 10**9, now_ms=0)
    gang = desk.submit("heavy", gpu_count=2)
    desk.schedule()
    newcomer = desk.submit("light", gpu_count=1, ttl_ms=500)
    assert desk.queue.order(50) == (gang, newcomer)
    assert ids(desk.schedule(50)) == []
    assert ids(desk.schedule(100)) == [gang.id]


def test_higher_priority_takes_the_reservation_and_the_place_is_kept_for_later() -> None:
    desk = Desk(2)
    desk.run(gpu_count=2, ttl_ms=100)
    desk.shares.charge("heavy", 10**9, now_ms=0)
    gang = desk.submit("heavy", gpu_count=2)
    desk.schedule()
    desk.submit("light", gpu_count=2)
    urgent = desk.submit("x", gpu_count=1, ttl_ms=100, priority=Priority.HIGH)
    assert kept_for(desk.schedule(50)).entry is urgent
    assert desk.queue.order(50)[:2] == (urgent, gang)
    result = desk.schedule(100)
    assert ids(result) == [urgent.id]
    assert (kept_for(result).entry, kept_for(result).at_ms) == (gang, 200)


def test_a_reserved_entry_that_can_no_longer_fit_makes_way() -> None:
    desk = Desk(1, 1)
    desk.run(gpu_count=1, ttl_ms=100)
    desk.shares.charge("heavy", 10**9, now_ms=0)
    gang = desk.submit("heavy", gpu_count=1, gang_size=2)
    assert kept_for(desk.schedule()).entry is gang
    light = desk.submit("light", gpu_count=1)
    desk.ledger.set_mode("n0", NodeMode.DRAINING)
    desk.ledger.set_mode("n1", NodeMode.DRAINING)
    assert desk.schedule(50).reservations == ()
    assert desk.queue.order(50) == (light, gang)


def test_a_reserved_entry_that_meets_its_quota_makes_way() -> None:
    quotas = QuotaManager()
    desk = Desk(2, quotas=quotas)
    desk.run(gpu_count=2, ttl_ms=100)
    desk.submit(gpu_count=2)
    other = desk.submit("other", gpu_count=2, ttl_ms=7)
    desk.schedule()
    quotas.set_quota("lab", Quota((ResourceLimit.gpu_count(1),)))
    assert kept_for(desk.schedule(50)).entry is other


def test_what_cannot_fit_by_its_deadline_or_the_horizon_keeps_nobody_waiting() -> None:
    desk = Desk(2, horizon_ms=1000)
    desk.run(gpu_count=1, ttl_ms=500)
    desk.submit("a", gpu_count=2, deadline_ms=499)
    desk.submit("b", gpu_count=1, gang_size=3)
    small = desk.submit("c", gpu_count=1, ttl_ms=10_000)
    result = desk.schedule()
    assert ids(result) == [small.id]
    assert not result.reservations
    desk.submit("d", gpu_count=2, deadline_ms=500)
    assert desk.schedule().reservations == ()  # the small one lasts beyond the horizon


def test_a_deadline_that_can_just_be_met_is_reserved_for() -> None:
    desk = Desk(2)
    desk.run(gpu_count=1, ttl_ms=500)
    desk.submit(gpu_count=2, deadline_ms=500)
    assert kept_for(desk.schedule()).at_ms == 500


def test_a_deadline_that_passed_stays_denied_until_cancelled() -> None:
    desk = Desk(1)
    late = desk.submit(gpu_count=1, deadline_ms=5)
    result = desk.schedule(6)
    assert desk.denial(result, late) == Denied.because(DeadlinePassed(5, 6))
    assert not result.reservations


def test_closed_nodes_and_fences_are_not_counted_on() -> None:
    desk = Desk(2, 2, 2)
    desk.run(gpu_count=2, ttl_ms=10, labels={"rack": "r0"})
    desk.run(gpu_count=2, ttl_ms=20, labels={"rack": "r1"})
    desk.run(gpu_count=2, ttl_ms=30, labels={"rack": "r2"})
    desk.ledger.set_mode("n0", NodeMode.DRAINING)
    (fenced,) = desk.ledger.leases(node="n1")
    desk.ledger.fence(fenced.id, EndCause.EXPIRED, now_ms=0)
    desk.submit(gpu_count=2)
    assert (kept_for(desk.schedule()).at_ms, kept_for(desk.schedule()).nodes) == (30, ("n2",))


class OnlyOn:
    """A policy that lets one tenant use some nodes and others all."""

    def __init__(self, tenant: str) -> None:
        self.tenant = tenant
        self.nodes = NodeSet()

    def nodes_for(self, request: PlacementRequest) -> NodeSet | None:
        return self.nodes if request.tenant == self.tenant else None


def test_labels_and_policy_decide_where_room_is_kept() -> None:
    policy = OnlyOn("lab")
    desk = Desk(1, 1, 1, scorer=PlacementScorer(Strategy.BEST_FIT, filters=(policy,)))
    for number in (0, 1, 2):
        desk.run("x", gpu_count=1, ttl_ms=10 * (number + 1), labels={"rack": f"r{number}"})
    policy.nodes.add(desk.ledger.handle_of("n2"))
    desk.submit("lab", gpu_count=1)
    assert (kept_for(desk.schedule()).at_ms, kept_for(desk.schedule()).nodes) == (30, ("n2",))
    desk.queue.cancel(1)
    desk.submit("x", gpu_count=1, labels={"rack": "r1"})
    assert (kept_for(desk.schedule()).at_ms, kept_for(desk.schedule()).nodes) == (20, ("n1",))


def test_a_lease_that_should_have_ended_may_end_any_moment() -> None:
    desk = Desk(1)
    desk.run(gpu_count=1, ttl_ms=10)
    desk.submit(gpu_count=1)
    late = desk.queue.schedule(50, limit=10)
    assert kept_for(late).at_ms == 51
    assert ids(desk.schedule(50)) == [1]


def test_headroom_is_left_when_the_reserved_entry_starts() -> None:
    headroom = ReservationHeadroom(Resources(gpu_milli=1000), Priority.CRITICAL)
    desk = Desk(2, 2, headroom=headroom)
    desk.run(gpu_count=2, ttl_ms=50, labels={"rack": "r0"})
    gang = desk.submit(gpu_count=2)
    long = desk.submit("other", gpu_count=1, ttl_ms=500)
    short = desk.submit("other", gpu_count=1, ttl_ms=50)
    result = desk.schedule()
    # It would fit on n1, but one GPU must stay free, so n0 has to come back first. Then one more
    # than that is free, which the long one may have.
    assert (kept_for(result).entry, kept_for(result).at_ms) == (gang, 50)
    assert ids(result) == [long.id]
    assert isinstance(desk.denial(result, short).detail, HeadroomKept)
    assert ids(desk.schedule(50)) == [gang.id]


def test_headroom_keeps_work_out_that_would_outlast_the_reservation() -> None:
    headroom = ReservationHeadroom(Resources(gpu_milli=1000), Priority.CRITICAL)
    desk = Desk(2, 2, headroom=headroom)
    desk.run(gpu_count=1, ttl_ms=50, labels={"rack": "r1"})
    gang = desk.submit(gpu_count=1, gang_size=3)
    long = desk.submit("other", gpu_count=1, ttl_ms=500)
    short = desk.submit("third", gpu_count=1, ttl_ms=50)
    result = desk.schedule()
    assert ids(result) == [short.id]
    assert desk.denial(result, long).detail == ReservedForOthers(
        ResourceKind.GPU_MILLI, 3000, 3000, 1000
    )
    assert ids(desk.schedule(50)) == [gang.id]


def test_headroom_is_counted_again_for_each_that_goes_ahead() -> None:
    headroom = ReservationHeadroom(Resources(gpu_milli=1000), Priority.CRITICAL)
    desk = Desk(2, 2, 2, headroom=headroom)
    desk.run(gpu_count=2, ttl_ms=50, labels={"rack": "r0"})
    gang = desk.submit(gpu_count=2, gang_size=2)
    long = [desk.submit("other", gpu_count=1, ttl_ms=500) for _ in range(2)]
    result = desk.schedule()
    # Six will be free, four are wanted and one must stay: there is one to spare, on n2.
    assert kept_for(result).nodes == ("n0", "n1")
    assert ids(result) == [long[0].id]
    assert ids(desk.schedule(50)) == [gang.id]


# --- going ahead --------------------------------------------------------------------------------


def test_work_that_ends_in_time_goes_ahead_on_reserved_nodes() -> None:
    desk = Desk(2)
    desk.run(gpu_count=1, ttl_ms=100)
    gang = desk.submit(gpu_count=2)
    too_long = desk.submit("other", gpu_count=1, ttl_ms=101)
    in_time = desk.submit("other", gpu_count=1, ttl_ms=100)
    result = desk.schedule()
    assert ids(result) == [in_time.id]
    assert kept_for(result).entry is gang
    assert ids(desk.schedule(100)) == [gang.id]
    assert too_long.id in desk.queue


def test_who_is_kept_away_by_the_reservation_is_told_so() -> None:
    desk = Desk(2)
    desk.run(gpu_count=1, ttl_ms=100)
    desk.submit(gpu_count=2, cpu_cores=1)
    other = desk.submit("other", gpu_count=1, ttl_ms=101)
    denied = desk.denial(desk.schedule(), other)
    assert denied == Denied.because(ReservedForOthers(ResourceKind.GPU_MILLI, 1000, 2000, 1000))
    assert denied.reason is PendingReason.WAITING_FOR_CAPACITY


def test_who_would_not_fit_anyway_is_told_that_instead() -> None:
    desk = Desk(2, quotas=(quotas := QuotaManager()))
    quotas.set_quota("poor", Quota((ResourceLimit.gpu_count(0),)))
    desk.run(gpu_count=1, ttl_ms=100)
    desk.submit(gpu_count=2)
    large = desk.submit("other", gpu_count=2)
    poor = desk.submit("poor", gpu_count=1)
    odd = desk.submit("odd", gpu_count=1, generation=HardwareGeneration.AMD_MI300)
    result = desk.schedule()
    assert isinstance(desk.denial(result, large).detail, NotEnoughFree)
    assert isinstance(desk.denial(result, poor).detail, HardLimitExceeded)
    assert isinstance(desk.denial(result, odd).detail, NoSuchHardware)


def test_work_goes_ahead_on_nodes_that_are_not_reserved() -> None:
    desk = Desk(2, 1)
    desk.run(gpu_count=1, ttl_ms=100, labels={"rack": "r0"})
    desk.submit(gpu_count=2)
    others = [desk.submit("other", gpu_count=1, ttl_ms=900) for _ in range(2)]
    (started,) = desk.schedule().started
    assert (started.entry, started.approved.node) == (others[0], "n1")


def test_work_goes_ahead_on_reserved_nodes_beside_what_is_kept() -> None:
    desk = Desk(2, cores=16)
    desk.run(gpu_count=1, cpu_cores=8, ttl_ms=100)
    gang = desk.submit(gpu_count=2, cpu_cores=12)
    beside = [desk.submit("other", cpu_cores=2, ttl_ms=900) for _ in range(3)]
    result = desk.schedule()
    assert ids(result) == [beside[0].id, beside[1].id]
    assert desk.denial(result, beside[2]).detail == ReservedForOthers(
        ResourceKind.CPU_MILLI, 4000, 12_000, 2000
    )
    assert ids(desk.schedule(100)) == [gang.id]


def test_a_share_of_a_device_goes_ahead_beside_what_is_kept_of_it() -> None:
    desk = Desk(2)
    desk.run(gpu_count=1, ttl_ms=100)
    desk.run(gpu_milli=300, ttl_ms=900)
    gang = desk.submit(gpu_milli=600, gang_size=2)
    # 700 are left of one device, 1000 come back of the other: one member fits on each.
    large = desk.submit("other", gpu_milli=200, ttl_ms=900)
    small = desk.submit("other", gpu_milli=100, ttl_ms=900)
    result = desk.schedule()
    assert kept_for(result).entry is gang
    assert ids(result) == [small.id]
    assert ids(desk.schedule(100)) == [gang.id, large.id]


def test_a_gang_goes_ahead_only_if_all_its_members_may_land_on_one_node() -> None:
    desk = Desk(3, cores=4, rules=LineRules(reservations_max=1))
    desk.run(gpu_count=1, cpu_cores=2, ttl_ms=100)
    desk.submit(gpu_count=3, cpu_cores=1)
    for size in (4, 3):
        desk.submit("other", cpu_cores=1, gang_size=size, ttl_ms=900)
    two = desk.submit("other", cpu_cores=1, gang_size=2, ttl_ms=900)
    assert ids(desk.schedule()) == [two.id]
    assert ids(desk.schedule(100)) == [1]


def test_members_that_may_share_one_device_are_counted_together() -> None:
    desk = Desk(1)
    desk.run(gpu_milli=400, ttl_ms=100)
    gang = desk.submit(gpu_milli=250, gang_size=3)
    # Two would leave 700 and so room for two of the gang, one leaves room for all three.
    desk.submit("other", gpu_milli=150, gang_size=2, ttl_ms=900)
    one = desk.submit("third", gpu_milli=150, ttl_ms=900)
    assert ids(desk.schedule()) == [one.id]
    assert ids(desk.schedule(100))[0] == gang.id


# --- one no is not another's --------------------------------------------------------------------


def test_a_denial_for_one_label_is_none_for_another() -> None:
    desk = Desk(1, 1)
    desk.run(gpu_count=1, ttl_ms=100, labels={"rack": "r0"})
    for _ in range(2):
        desk.submit("a", gpu_count=1, labels={"rack": "r0"})
    desk.shares.charge("b", 10**12, now_ms=0)
    there = desk.submit("b", gpu_count=1, labels={"rack": "r1"})
    assert ids(desk.schedule()) == [there.id]


def test_a_denial_by_policy_is_none_for_other_tenants() -> None:
    policy = OnlyOn("lab")
    desk = Desk(1, 1, scorer=PlacementScorer(filters=(policy,)))
    desk.run("x", gpu_count=1, ttl_ms=100, labels={"rack": "r0"})
    policy.nodes.add(desk.ledger.handle_of("n0"))
    for _ in range(2):
        desk.submit("lab", gpu_count=1)
    desk.shares.charge("other", 10**12, now_ms=0)
    other = desk.submit("other", gpu_count=1)
    assert ids(desk.schedule()) == [other.id]


def test_a_deadline_that_passed_is_none_for_those_without_one() -> None:
    desk = Desk(1)
    desk.submit("a", gpu_count=1, deadline_ms=5)
    other = desk.submit("b", gpu_count=1)
    assert ids(desk.schedule(6)) == [other.id]


def test_quota_denials_hold_nobody_back() -> None:
    desk = Desk(2, quotas=(quotas := QuotaManager()))
    quotas.set_quota("poor", Quota((ResourceLimit.gpu_count(1),)))
    poor = [desk.submit("poor", gpu_count=1) for _ in range(3)]
    rich = desk.submit("rich", gpu_count=1, ttl_ms=10**6)
    result = desk.schedule()
    assert ids(result) == [poor[0].id, rich.id]
    assert desk.denial(result, poor[1]).reason is PendingReason.WAITING_FOR_QUOTA
    assert not result.reservations


def test_a_long_line_of_denials_does_not_hide_those_behind_it() -> None:
    desk = Desk(2, quotas=(quotas := QuotaManager()))
    quotas.set_quota("poor", Quota((ResourceLimit.gpu_count(0),)))
    desk.shares.set_share("poor", 10**6)
    for _ in range(20):
        desk.submit("poor", gpu_count=1)
    rich = desk.submit("rich", gpu_count=1)
    desk.shares.charge("rich", 10**9, now_ms=0)
    assert desk.queue.position(rich.id, 0) == 20
    found = [ids(desk.schedule(limit=4)) for _ in range(12)]
    assert [rich.id] in found


def test_a_call_looks_at_no_more_than_its_limit() -> None:
    desk = Desk(8)
    for _ in range(6):
        desk.submit(gpu_count=1)
    result = desk.schedule(limit=2)
    assert len(result.started) + len(result.waiting) == 2
    assert len(desk.queue) == 4


def test_the_guard_uses_the_strategy_and_headroom_of_the_admission() -> None:
    desk = Desk(2, 2, 2, scorer=PlacementScorer(Strategy.ROUND_ROBIN))
    desk.run(gpu_count=2, ttl_ms=100)
    desk.submit(gpu_count=2, gang_size=3, labels={})
    short = [desk.submit("other", gpu_count=1, ttl_ms=50) for _ in range(3)]
    result = desk.schedule()
    assert ids(result) == [entry.id for entry in short]
    assert [started.approved.node for started in result.started] == ["n1", "n2", "n1"]
    assert desk.admission.scorer.filters == ()


def test_a_clock_that_went_back_starts_nothing() -> None:
    quotas = QuotaManager()
    limit = ResourceLimit.gpu_count(1)
    quotas.set_quota("burst", Quota((limit,), (), BurstCredit(Dimension.GPU_COUNT, 9, 1, 1000)))
    desk = Desk(4, quotas=quotas)
    desk.submit("burst", gpu_count=1)
    desk.schedule(1000)
    desk.submit("plain", gpu_count=1)
    desk.submit("burst", gpu_count=1)
    with pytest.raises(InvalidValue, match="1000 or later"):
        desk.queue.schedule(999, limit=10)
    assert len(desk.queue) == 2
    assert len(ids(desk.schedule(1000))) == 2
