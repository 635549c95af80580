"""Bookings: whole nodes kept for a project, chosen when they are booked, given back unused."""

from __future__ import annotations

from typing import Any

import pytest

from bailiwick.fleet.node import EXECUTOR_LABEL
from bailiwick.kernel import (
    Book,
    Cancel,
    CancelBooking,
    CancelWindow,
    ChangeMode,
    DepartNode,
    Granted,
    LabelNode,
    PlanWindow,
    RegisterNode,
    Release,
    Renew,
    ReportTeardown,
    SetIsolationPolicy,
    SetQuota,
    SetSeries,
    Submit,
    WithdrawSeries,
    decode,
    digest_of,
    encode,
)
from bailiwick.kernel.bookings import rules
from bailiwick.kernel.bookings.book import Booking
from bailiwick.kernel.bookings.foresight import foresee_booking
from bailiwick.kernel.bookings.guard import BookingGuard
from bailiwick.kernel.bookings.refusals import BookingRefused
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.people.commands import (
    ChangeProject,
    ChangeTenant,
    CreateProject,
    CreateTenant,
)
from bailiwick.kernel.spelling import denial_from
from bailiwick.kernel.views import waiting_entry
from bailiwick.metering.fold import JournalMeter
from bailiwick.metering.owners import Account, Idle
from bailiwick.scheduler.decision import NodeBooked, NodesBooked
from bailiwick.scheduler.quota_policy import (
    GpuGenerationLimitExceeded,
    GpuGenerationQuota,
    HardLimitExceeded,
    Quota,
    QuotaScope,
    ResourceLimit,
)
from bailiwick.vocab.bookings import BookingPhase
from bailiwick.vocab.errors import Conflict, InvalidValue, LimitReached, NotFound
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.values import NodeId
from bailiwick.vocab.words import Dimension, HardwareGeneration, ResourceKind
from bailiwick.whatif.reader import read_history
from tests.unit.kernel.desk import HIGH, HOPPER, LOW, Desk, ask, cores, started

STARTS, ENDS, WAIT = 60_000, 90_000, 5_000
OWN = {"tenant": "acme", "project": "class"}


def desk(*gpus: int, **how: Any) -> Desk:
    return Desk(nodes=[cores(8, gpus=each) for each in gpus or (1,)], **{"grace_ms": 500, **how})


def book(name: str = "b", **more: Any) -> Book:
    told: dict[str, Any] = {"starts_ms": STARTS, "ends_ms": ENDS, "wait_ms": 0, **OWN, **more}
    if not {"nodes", "count", "gpus"} & told.keys():
        told["nodes"] = ("n1",)
    return Book(name, **told)


def booking(at: Desk, name: str = "b") -> Booking:
    return at.state.bookings.bookings[f"acme/class/{name}"]


def nodes(at: Desk, name: str = "b") -> tuple[str, ...]:
    return booking(at, name).nodes


def check_copy(at: Desk) -> None:
    """What was read back from a snapshot, and what was replayed, is the same state."""
    again = decode(encode(at.state), at.digest)
    assert digest_of(again) == at.digest == digest_of(at.replayed().state)
    for state in (again, at.replayed().state):
        assert state.bookings.bookings == at.state.bookings.bookings
        assert state.bookings.next_due() == at.state.bookings.next_due()
        assert state.bookings.next_unused() == at.state.bookings.next_unused()
        assert len(state.guards.policies) == len(at.state.guards.policies)


def owned(at: Desk, **terms: Any) -> int:
    """A lease of the owner that holds a GPU, unless told otherwise."""
    return at.lease(**{**OWN, "gpu_count": 1, **terms})


# --- which nodes ---------------------------------------------------------------------------------


def test_so_many_nodes_are_those_with_the_fewest_gpus_and_none_without() -> None:
    at = desk(8, 2, 0, 4, 2)
    at.do(book(count=3))
    assert nodes(at) == ("n2", "n4", "n5")
    check_copy(at)


def test_so_many_gpus_are_whole_nodes_with_the_fewest_gpus_beyond() -> None:
    at = desk(8, 4, 4, 2)
    at.do(book("six", gpus=6))
    at.do(book("ten", gpus=10))
    assert nodes(at, "six") == ("n2", "n4")
    assert nodes(at, "ten") == ("n1", "n3")


def test_of_sums_that_are_alike_the_one_of_the_fewest_nodes_is_taken() -> None:
    at = desk(2, 2, 4)
    at.do(book(gpus=4))
    assert nodes(at) == ("n3",)


def test_a_generation_and_labels_narrow_which_nodes_count() -> None:
    at = desk(1, 2, 2)
    at.do(LabelNode("n3", ("room=b2",)))
    at.do(book(count=1, labels=("room=b2",), generation=HOPPER))
    assert nodes(at) == ("n3",)
    told = at.refuses(
        BookingRefused, book("c", gpus=1, generation=HardwareGeneration.NVIDIA_AMPERE)
    )
    assert "of 1 GPUs that are wanted, 0 are free" in told
    assert "there are 0 such GPUs" in told


def test_named_nodes_need_no_gpus() -> None:
    at = desk(0)
    at.do(book())
    assert nodes(at) == ("n1",)
    at.refuses(NotFound, book("c", nodes=("n7",)))


def test_what_is_booked_is_said_in_exactly_one_way() -> None:
    for wrong in ({"count": 1, "gpus": 1}, {"nodes": (), "count": 0}, {"nodes": ("a", "a")}):
        with pytest.raises(InvalidValue):
            book(**wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidValue):
        book(nodes=("n1",), labels=("a=b",))


# --- planned against what is known ---------------------------------------------------------------


def test_a_node_counts_once_the_term_of_a_stranger_there_is_over_by_then() -> None:
    at = desk(1)
    at.lease(ttl_ms=STARTS - at.now_ms)
    at.do(book())
    assert nodes(at) == ("n1",)


def test_a_stranger_who_would_still_run_is_not_evicted_and_the_booking_refused() -> None:
    at = desk(1)
    at.lease(ttl_ms=STARTS - at.now_ms + 1)
    told = at.refuses(BookingRefused, book())
    assert "of 1 nodes that are wanted, 0 are free" in told
    assert f"earliest start by what is known is {STARTS + 1}" in told
    at.do(book(starts_ms=STARTS + 1))


def test_a_lease_of_the_owner_may_reach_into_its_booking_and_not_beyond() -> None:
    at = desk(1)
    owned(at, ttl_ms=ENDS - at.now_ms)
    at.do(book())
    other = desk(1)
    owned(other, ttl_ms=ENDS - other.now_ms + 1)
    told = other.refuses(BookingRefused, book())
    assert f"is {STARTS + 1}" in told


def test_a_teardown_that_is_waited_for_belongs_to_the_term() -> None:
    at = Desk(nodes=[cores(8, gpus=1, labels={EXECUTOR_LABEL: "local"})], teardown_ms=2_000)
    at.lease(ttl_ms=STARTS - at.now_ms - 1_000)
    assert f"is {STARTS + 1_000}" in at.refuses(BookingRefused, book())


def test_a_lease_that_may_get_its_old_term_back_counts_with_that() -> None:
    at = desk(1)
    victim = at.lease(ttl_ms=STARTS, priority=LOW, cpu_cores=8)
    entry = at.wait(priority=HIGH, ttl_ms=10_000, cpu_cores=8)
    assert at.state.terms == {victim: at.now_ms + STARTS}
    at.refuses(BookingRefused, book())
    at.do(Cancel(entry))
    at.tick()
    assert not at.state.terms
    at.refuses(BookingRefused, book())


def test_the_rest_of_a_gang_that_makes_room_elsewhere_counts_with_its_old_term() -> None:
    at = desk(1, 1)
    gang = at.gang(2, ttl_ms=STARTS, priority=LOW, cpu_cores=8)
    at.wait(priority=HIGH, ttl_ms=10_000, cpu_cores=8)
    assert set(at.state.terms) == {*gang}
    (claim,) = at.state.claims.values()
    (elsewhere,) = {"n1", "n2"} - {seat.node for seat in claim.seats}
    assert f"is {at.now_ms + STARTS}" in at.refuses(BookingRefused, book(nodes=(elsewhere,)))


def test_room_that_is_made_for_somebody_does_not_count() -> None:
    at = desk(1)
    at.lease(ttl_ms=2_000, priority=LOW, cpu_cores=8)
    at.wait(priority=HIGH, ttl_ms=10_000, cpu_cores=8)
    assert at.state.claims
    at.refuses(BookingRefused, book())


def test_maintenance_and_other_bookings_are_in_the_way_and_tell_when_they_are_not() -> None:
    at = desk(1)
    at.do(PlanWindow("w", ("n1",), ENDS - 1, ENDS + 9_000, 1_000))
    told = at.refuses(BookingRefused, book(ends_ms=ENDS - 1_000))
    assert f"is {ENDS + 9_000}" in told
    at.do(book(ends_ms=ENDS - 1_001))
    at.do(CancelWindow("w"))
    told = at.refuses(BookingRefused, book("c", tenant="other", ends_ms=STARTS + 1_000))
    assert "acme" not in told
    assert f"is {ENDS - 1_001}" in told


def test_bookings_may_follow_upon_each_other() -> None:
    at = desk(1)
    at.do(book())
    at.do(book("c", starts_ms=ENDS, ends_ms=ENDS + 1))
    at.do(book("a", starts_ms=STARTS - 1, ends_ms=STARTS))
    assert [each.id for each in at.state.bookings.bookings_of("n1")] == ["a", "b", "c"]
    check_copy(at)


def test_the_earliest_start_is_where_enough_are_free_for_all_of_the_time() -> None:
    at = desk(1, 1)
    at.do(book("x", nodes=("n1",), starts_ms=STARTS, ends_ms=STARTS + 10))
    at.do(book("y", nodes=("n2",), starts_ms=STARTS + 20, ends_ms=STARTS + 30))
    assert f"is {STARTS + 30}" in at.refuses(BookingRefused, book(count=2, ends_ms=STARTS + 15))
    assert f"is {STARTS + 10}" in at.refuses(BookingRefused, book(count=2, ends_ms=STARTS + 10))


def test_a_closed_node_counts_only_if_maintenance_holds_it() -> None:
    at = desk(1, 1)
    at.do(ChangeMode("n1", NodeMode.DRAINING))
    at.refuses(BookingRefused, book())
    at.do(PlanWindow("w", ("n2",), 20_000, 30_000, 1_000))
    at.tick(20_000)
    assert at.state.ledger.entry("n2").mode is not NodeMode.ACCEPTING
    at.do(book(count=1))
    assert nodes(at) == ("n2",)


def test_nobody_books_what_a_policy_closes_to_him_for_ever() -> None:
    at = desk(1, 1)
    at.do(LabelNode("n1", ("zone=a",)))
    at.do(SetIsolationPolicy("tenant acme only on nodes with zone=a"))
    assert "of 2 nodes that are wanted, 1 are free" in at.refuses(BookingRefused, book(count=2))
    assert "0 are free" in at.refuses(BookingRefused, book(nodes=("n2",)))
    at.do(book(count=1))
    assert nodes(at) == ("n1",)
    at.do(book("x", tenant="bank", count=1))


def test_a_booking_has_to_begin_later_than_now_and_is_refused_twice() -> None:
    at = desk(1)
    at.refuses(InvalidValue, book(starts_ms=at.now_ms, ends_ms=ENDS))
    at.do(book())
    at.refuses(Conflict, book())


def test_nothing_is_booked_for_a_tenant_or_a_project_that_is_closed() -> None:
    at = desk(1)
    at.do(CreateTenant("acme"))
    at.do(CreateProject("acme", "class"))
    at.do(ChangeProject("acme", "class", is_open=False))
    assert "is closed" in at.refuses(Conflict, book())
    assert "is closed" in at.refuses(Conflict, series())
    at.do(ChangeProject("acme", "class", is_open=True))
    at.do(book())
    at.do(ChangeTenant("acme", is_open=False))
    assert "is closed" in at.refuses(Conflict, book("c", starts_ms=ENDS, ends_ms=ENDS + 1))


def test_what_a_closed_project_has_booked_stays_until_its_wait_is_over_or_somebody_cancels() -> (
    None
):
    at = desk(1, 1)
    at.do(CreateTenant("acme"))
    at.do(CreateProject("acme", "class"))
    at.do(book(nodes=("n1",), wait_ms=WAIT))
    at.do(book("kept", nodes=("n2",)))
    at.do(ChangeProject("acme", "class", is_open=False))
    at.tick(STARTS)
    assert len(at.state.bookings.bookings) == 2
    at.tick(STARTS + WAIT)
    assert [each.id for each in at.state.bookings.in_order()] == ["kept"]
    at.do(CancelBooking("kept", **OWN))
    assert not at.state.bookings.bookings


def test_there_are_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    at = desk(1)
    monkeypatch.setattr(rules, "TENANT_BOOKINGS_MAX", 1)
    at.do(book())
    later = {"starts_ms": ENDS, "ends_ms": ENDS + 1}
    at.refuses(LimitReached, book("c", **later))
    monkeypatch.setattr(rules, "BOOKINGS_MAX", 1)
    at.refuses(LimitReached, book("c", tenant="other", **later))
    monkeypatch.setattr(rules, "BOOKINGS_MAX", 2)
    monkeypatch.setattr(rules, "BOOKED_MENTIONS_MAX", 1)
    at.refuses(LimitReached, book("c", tenant="other", **later))
    monkeypatch.setattr(rules, "TENANT_SERIES_MAX", 1)
    at.do(series())
    at.do(series(text="set anew"))
    at.refuses(LimitReached, series("another"))
    at.do(series("another", tenant="other"))
    monkeypatch.setattr(rules, "SERIES_MAX", 0)
    at.refuses(LimitReached, series("third", tenant="third"))


# --- quota ---------------------------------------------------------------------------------------


def test_a_booking_is_within_the_quota_with_what_is_booked_for_the_same_time() -> None:
    at = desk(4, 4, 4)
    at.do(SetQuota("acme", Quota((ResourceLimit.gpu_count(8),))))
    at.do(book("x", count=1, project="other"))
    at.do(book("y", count=1))
    told = at.refuses(BookingRefused, book(count=1))
    assert "4 GPUs with 8 booked within one longest term of that time are more than the 8" in told
    at.do(book(count=1, starts_ms=ENDS, ends_ms=ENDS + 1))
    seen = foresee_booking(at.state, book("z", count=1), now_ms=at.now_ms)
    limit = HardLimitExceeded(Dimension.GPU_COUNT, 8, 8, 4, QuotaScope.of("acme"))
    assert (seen.above, seen.is_made) == (limit, False)


def test_a_quota_by_generation_of_the_project_binds_too() -> None:
    at = desk(4)
    table = (GpuGenerationQuota(HardwareGeneration.NVIDIA_AMPERE, 8),)
    at.do(SetQuota("acme", Quota((), table), project="class"))
    assert "4 nvidia_hopper GPUs" in at.refuses(BookingRefused, book()).replace("-", "_")
    seen = foresee_booking(at.state, book(), now_ms=at.now_ms)
    assert isinstance(seen.above, GpuGenerationLimitExceeded)
    at.do(book(project="other"))


def test_of_nodes_without_gpus_the_cores_count_and_of_others_they_do_not() -> None:
    at = desk(8, term_max_ms=1_000)
    for name in ("c1", "c2"):
        at.do(RegisterNode(name, cores(16)))
    at.do(SetQuota("acme", Quota((ResourceLimit.cpu_cores(24),))))
    at.do(book("x", nodes=("c1",), project="other"))
    told = at.refuses(BookingRefused, book(nodes=("c2",)))
    assert "16 cores of nodes without GPUs with 16 booked within" in told
    assert "are more than the 24" in told
    seen = foresee_booking(at.state, book(nodes=("c2",)), now_ms=at.now_ms)
    limit = HardLimitExceeded(Dimension.CPU_MILLI, 24_000, 16_000, 16_000, QuotaScope.of("acme"))
    assert seen.above == limit
    at.do(book(nodes=("n1",)))
    later_ms = ENDS + 1_000
    at.do(book("y", nodes=("c2",), starts_ms=later_ms, ends_ms=later_ms + 1))


# --- whom it keeps out ---------------------------------------------------------------------------


def test_a_stranger_has_to_end_before_it_begins() -> None:
    at = desk(1)
    at.do(book())
    assert at.lease(ttl_ms=STARTS - at.now_ms)
    entry = at.wait(ttl_ms=STARTS - at.now_ms + 1)
    denied = waiting_entry(at.state, entry, now_ms=at.now_ms)
    assert denied.blocker is not None
    assert denied.blocker.detail == NodesBooked(1, STARTS, STARTS - at.now_ms)
    assert denied.rules.told == (("booking", 1),)


def test_the_owner_has_to_end_before_it_ends() -> None:
    at = desk(1)
    at.do(book())
    assert owned(at, ttl_ms=ENDS - at.now_ms)
    entry = at.wait(**OWN, ttl_ms=ENDS - at.now_ms + 1)
    denied = waiting_entry(at.state, entry, now_ms=at.now_ms)
    assert denied.blocker is not None
    assert denied.blocker.detail == NodesBooked(1, ENDS, ENDS - at.now_ms)


def test_another_project_of_the_tenant_is_a_stranger() -> None:
    at = desk(1)
    at.do(book())
    assert at.wait("acme", project="other", ttl_ms=STARTS)
    assert at.wait("acme", ttl_ms=STARTS)


def test_longer_work_goes_to_another_node() -> None:
    at = desk(1, 1)
    at.do(book())
    for _ in range(8):
        answer = at.do(Submit(ask(ttl_ms=STARTS)))
        assert isinstance(answer, Granted)
        assert answer.nodes == ("n2",)
    assert at.wait(ttl_ms=STARTS)


def test_while_it_is_on_the_node_is_the_owners_alone() -> None:
    at = desk(1)
    at.do(book())
    at.tick(STARTS)
    stranger, own = at.wait(ttl_ms=1), at.wait(**OWN, ttl_ms=ENDS - STARTS)
    at.tick()
    assert started(at) == [own]
    at.tick(ENDS)
    assert started(at) == [stranger]
    assert not at.state.bookings.bookings
    assert not at.state.line.entries
    check_copy(at)


def test_who_waits_is_told_when_a_booking_is_over_and_starts_then() -> None:
    at = desk(1)
    at.do(book())
    entry = at.wait(ttl_ms=STARTS)
    assert waiting_entry(at.state, entry, now_ms=at.now_ms).estimate.starts_ms == ENDS
    at.tick(STARTS)
    at.tick(ENDS)
    assert at.state.leases


def test_no_start_is_foreseen_between_bookings_that_leave_no_room_for_the_term() -> None:
    at = desk(1)
    at.do(book())
    at.do(book("c", starts_ms=ENDS + 1_000, ends_ms=ENDS + 5_000))
    own, other = at.wait(**OWN, ttl_ms=ENDS), at.wait(ttl_ms=70_000)
    starts = [
        waiting_entry(at.state, each, now_ms=at.now_ms).estimate.starts_ms for each in (own, other)
    ]
    assert starts == [ENDS + 5_000] * 2


def test_a_start_that_was_foreseen_moves_behind_a_booking_and_is_told_anew() -> None:
    at = desk(1, 1)
    for _ in range(2):
        at.lease(ttl_ms=20_000, cpu_cores=8)
    entry = at.wait("rival", gang_size=2, cpu_cores=8, ttl_ms=STARTS)
    foreseen = []
    for command in (None, book(count=1)):
        if command is not None:
            at.do(command)
        at.tick()
        foreseen.append(waiting_entry(at.state, entry, now_ms=at.now_ms).estimate.starts_ms)
    assert foreseen == [at.now_ms + 20_000, ENDS]


def test_nobody_makes_room_on_a_booked_node_for_a_term_that_would_cross() -> None:
    at = desk(1)
    at.do(book())
    low = at.lease(ttl_ms=STARTS - at.now_ms, priority=LOW, cpu_cores=8)
    at.wait(priority=HIGH, ttl_ms=STARTS, cpu_cores=8)
    assert not at.state.claims
    assert at.phase(low) == "active"


def test_a_renewal_grows_up_to_the_booking_and_no_further() -> None:
    at = desk(1)
    lease = at.lease(ttl_ms=1_000)
    at.do(book())
    at.do(Renew(lease, STARTS - at.now_ms + 1))
    denied = denial_from(at.last[-1].body)
    assert denied is not None
    longest_ms = STARTS - at.now_ms
    assert denied.detail == NodeBooked(NodeId("n1"), longest_ms + 1, longest_ms, STARTS)
    at.do(Renew(lease, longest_ms))
    assert at.kinds == ["lease_renewed"]


def test_a_renewal_of_the_owner_grows_up_to_its_end() -> None:
    at = desk(1)
    at.do(book())
    lease = owned(at, ttl_ms=1_000)
    at.do(Renew(lease, ENDS - at.now_ms + 1))
    assert at.kinds == ["renewal_denied"]
    at.do(Renew(lease, ENDS - at.now_ms))
    assert at.kinds == ["lease_renewed"]


def test_it_stands_guard_only_while_there_is_a_booking() -> None:
    at = desk(1)
    assert not at.state.guards.policies
    at.do(book())
    assert [type(each) for each in at.state.guards.policies] == [BookingGuard]
    at.do(CancelBooking("b", **OWN))
    assert not at.state.guards.policies
    assert not at.state.bookings.dump()
    check_copy(at)


def test_a_machine_that_goes_and_comes_back_is_still_booked() -> None:
    at = desk(1, 1)
    at.do(book())
    assert at.lease(ttl_ms=STARTS)
    at.do(DepartNode("n1"))
    at.do(RegisterNode("n3", cores(8)))
    assert at.lease(ttl_ms=STARTS, cpu_cores=8)
    at.do(RegisterNode("n1", cores(8)))
    assert at.wait(ttl_ms=STARTS, cpu_cores=8)
    check_copy(at)


# --- given back ----------------------------------------------------------------------------------


def test_a_node_that_its_owner_does_not_use_is_given_back_and_the_booking_over_with_the_last() -> (
    None
):
    at = desk(1, 1)
    at.do(book(count=2, wait_ms=WAIT))
    at.tick(STARTS)
    owned(at, ttl_ms=10_000)
    used = str(at.state.node_of(1))
    assert at.tick(STARTS + WAIT - 1) == []
    assert at.tick(STARTS + WAIT) == ["booking_nodes_changed"]
    assert nodes(at) == (used,)
    assert len(booking(at).given_back) == 1
    check_copy(at)
    assert at.lease(ttl_ms=ENDS, cpu_cores=8)
    at.tick(STARTS + 10_000)
    check_copy(at)
    assert at.tick(STARTS + 10_000 + WAIT - 1) == []
    assert at.tick(STARTS + 10_000 + WAIT) == ["booking_ended"]
    assert at.last[0].body["cause"] == "unused"
    assert not at.state.bookings.bookings
    check_copy(at)


def test_a_booked_node_that_nobody_uses_is_idle_and_nobody_pays_for_it() -> None:
    at, meter = desk(1), JournalMeter()
    at.do(book())
    at.tick(STARTS)
    lease = owned(at, ttl_ms=5_000, gpu_count=1, generation=HOPPER)
    at.at(STARTS + 5_000).do(Release(lease))
    at.tick(ENDS)
    for record in at.records:
        assert meter.add(record) == ()
    meter.check()
    lines = meter.meter.totals(ENDS).items()
    held = {each.payer: amount for each, amount in lines if each.kind is ResourceKind.GPU_MILLI}
    paid = {payer: held.pop(payer) for payer in [*held] if isinstance(payer, Account)}
    assert {payer.tenant: amount for payer, amount in paid.items()} == {"acme": 5_000 * 1_000}
    assert held == {Idle(): (ENDS - at.records[0].at_ms - 5_000) * 1_000}


def test_a_lease_that_begins_again_begins_the_wait_again() -> None:
    at = desk(1)
    at.do(book(wait_ms=WAIT))
    at.tick(STARTS)
    for _ in range(3):
        at.tick(at.now_ms + WAIT - 1)
        lease = owned(at, ttl_ms=10_000)
        at.do(Release(lease))
    assert at.now_ms < ENDS
    assert at.tick(at.now_ms + WAIT - 1) == []
    assert at.tick(at.now_ms + 1) == ["booking_ended"]


def test_a_lease_from_before_counts_as_use_and_a_strangers_does_not() -> None:
    at = desk(1, 1)
    at.do(book(count=2, wait_ms=WAIT))
    at.lease(ttl_ms=STARTS - at.now_ms)
    own = owned(at, ttl_ms=ENDS - at.now_ms, cpu_cores=8)
    check_copy(at)
    at.tick(STARTS)
    at.tick(STARTS + WAIT)
    assert nodes(at) == (str(at.state.node_of(own)),)


def test_another_project_of_the_tenant_uses_nothing_for_it() -> None:
    at = desk(1)
    at.do(book(wait_ms=WAIT))
    other = at.lease("acme", project="other", ttl_ms=STARTS - at.now_ms)
    assert not at.state.bookings.is_used("acme/class/b", "n1")
    at.do(Release(other))
    at.tick(STARTS)
    assert at.tick(STARTS + WAIT) == ["booking_ended"]


def test_a_lease_whose_teardown_is_waited_for_is_use_still() -> None:
    at = Desk(nodes=[cores(8, gpus=1, labels={EXECUTOR_LABEL: "local"})], teardown_ms=9_000)
    at.do(book(wait_ms=WAIT))
    at.tick(STARTS)
    lease = owned(at, ttl_ms=2_000)
    at.tick(STARTS + 2_000)
    assert at.tick(STARTS + 2_000 + WAIT) == []
    at.do(ReportTeardown(lease, clean=True))
    assert at.state.bookings.left == {("acme/class/b", "n1"): at.now_ms}
    check_copy(at)


def test_nothing_is_given_back_where_nobody_waits() -> None:
    at = desk(1)
    at.do(book(wait_ms=0))
    assert at.tick(ENDS - 1) == []
    assert at.tick(ENDS) == ["booking_ended"]
    assert at.last[0].body["cause"] == "over"


def test_the_settings_say_how_long_where_a_booking_does_not() -> None:
    at = desk(1, booking_wait_ms=7_000)
    at.do(book(wait_ms=None))
    assert booking(at).wait_ms == 7_000
    assert at.state.bookings.next_due() == (STARTS, "acme/class/b", "")
    at.tick(STARTS)
    assert at.state.bookings.next_unused() == (STARTS + 7_000, "acme/class/b", "n1")


def test_a_booking_that_was_missed_as_a_whole_is_over() -> None:
    at = desk(1)
    at.do(book(wait_ms=WAIT))
    assert at.tick(ENDS + 1) == ["booking_ended"]
    assert at.last[0].body["cause"] == "over"


def test_a_tick_does_no_more_than_it_is_told() -> None:
    at = desk(1, 1, 1)
    for name in ("n1", "n2", "n3"):
        at.do(book(name, nodes=(name,)))
    assert at.tick(ENDS, limit=2) == ["booking_ended"] * 2
    assert at.tick(limit=2) == ["booking_ended"]


def test_cancelled_it_is_over_ahead_or_on() -> None:
    at = desk(1)
    at.do(book())
    assert booking(at).phase(at.now_ms) is BookingPhase.PLANNED
    at.tick(STARTS)
    assert booking(at).phase(at.now_ms) is BookingPhase.ON
    lease = owned(at, ttl_ms=1_000)
    at.do(CancelBooking("b", **OWN))
    assert at.last[0].body == {"booking": "b", "cause": "cancelled"}
    assert at.last[0].tenant == "acme"
    assert at.phase(lease) == "active"
    at.refuses(NotFound, CancelBooking("b", **OWN))


def test_a_clock_that_is_set_right_leaves_times_alone_and_counts_the_wait_anew() -> None:
    at = desk(1)
    at.do(series())
    at.do(book(wait_ms=WAIT, series="s"))
    at.tick(STARTS)
    at.do(Release(owned(at.at(STARTS + 1), ttl_ms=2_000)))
    at.do(series(rule="daily"))
    assert at.state.bookings.left == {("acme/class/b", "n1"): STARTS + 1}
    at.lines.extend(at.kernel.repair_clock(2_000, actor="operator", why="wrong").lines)
    at.at(2_000)
    assert (booking(at).starts_ms, booking(at).ends_ms) == (STARTS, ENDS)
    assert at.state.bookings.left == {("acme/class/b", "n1"): 2_000}
    assert booking(at).phase(at.now_ms) is BookingPhase.PLANNED
    assert at.wait(ttl_ms=STARTS)
    check_copy(at)
    assert not at.state.bookings.begun
    assert at.state.bookings.next_due() == (STARTS, "acme/class/b", "")


def test_what_happened_can_be_asked_what_if_of() -> None:
    at = desk(1, 2)
    at.do(series())
    at.do(book(gpus=2, wait_ms=WAIT))
    at.do(book("c", series="s", nodes=("n1",)))
    at.tick(STARTS + WAIT)
    at.do(CancelBooking("c", **OWN))
    at.do(WithdrawSeries("s", **OWN))
    done = [step.action for step in read_history(at.records).plan]
    told = [type(each).__name__ for each in done if type(each).__name__ != "RegisterNode"]
    assert told[1:] == ["SetSeries", "Book", "Book", "Tick", "CancelBooking", "WithdrawSeries"]
    assert book(gpus=2, wait_ms=WAIT) in done


# --- series --------------------------------------------------------------------------------------


def series(name: str = "s", **more: Any) -> SetSeries:
    told: dict[str, Any] = {"rule": "weekly", "nodes": ("n1",), **OWN, **more}
    return SetSeries(name, **told)


def test_by_a_series_every_time_is_booked_once() -> None:
    at = desk(1)
    at.refuses(NotFound, book(series="s"))
    at.do(series())
    at.do(book(series="s"))
    at.do(CancelBooking("b", **OWN))
    at.refuses(Conflict, book(series="s"))
    at.do(book(series="s", starts_ms=STARTS + 1))
    check_copy(at)


def test_a_series_books_for_its_own_project_and_stays_its_own() -> None:
    at = desk(1)
    at.do(series())
    at.refuses(NotFound, book(series="s", project="other"))
    at.do(series(project="other"))
    at.do(book("theirs", series="s", project="other"))
    at.do(WithdrawSeries("s", **OWN))
    assert [each.id for each in at.state.bookings.in_order()] == ["theirs"]


def test_names_are_a_projects_own_and_a_taken_one_tells_no_other_project() -> None:
    at = desk(1, 1)
    at.do(book(nodes=("n1",)))
    at.do(book(nodes=("n2",), tenant="rival"))
    at.refuses(Conflict, book(nodes=("n2",), starts_ms=ENDS, ends_ms=ENDS + 1))
    at.do(CancelBooking("b", "rival", "class"))
    at.refuses(NotFound, CancelBooking("b", "rival", "class"))
    assert [each.owner for each in at.state.bookings.in_order()] == [("acme", "class")]
    check_copy(at)


def test_a_series_books_its_times_in_any_order_and_each_once() -> None:
    at = desk(1)
    at.do(series())
    at.do(book("late", series="s", starts_ms=ENDS, ends_ms=ENDS + 9))
    at.do(book("early", series="s"))
    assert at.state.bookings.series["acme/class/s"].booked == (STARTS, ENDS)
    at.do(CancelBooking("late", **OWN))
    at.refuses(Conflict, book("again", series="s", starts_ms=ENDS, ends_ms=ENDS + 9))
    check_copy(at)


def test_a_series_that_is_set_again_or_withdrawn_calls_off_what_is_ahead() -> None:
    at = desk(1)
    at.do(series())
    at.do(book("on", series="s"))
    at.do(book("ahead", series="s", starts_ms=ENDS, ends_ms=ENDS + 9))
    at.do(book("own", starts_ms=ENDS + 9, ends_ms=ENDS + 10))
    at.tick(STARTS)
    at.do(series(rule="daily"))
    assert at.kinds == ["series_set", "booking_ended"]
    assert at.last[1].body["cause"] == "series_changed"
    assert {each.id for each in at.state.bookings.in_order()} == {"on", "own"}
    assert at.state.bookings.series["acme/class/s"].booked == ()
    at.do(book("again", series="s", starts_ms=ENDS, ends_ms=ENDS + 9))
    at.do(WithdrawSeries("s", **OWN))
    assert {each.id for each in at.state.bookings.in_order()} == {"on", "own"}
    at.refuses(NotFound, WithdrawSeries("s", **OWN))
    check_copy(at)


# --- foresight -----------------------------------------------------------------------------------


def test_it_is_foreseen_what_a_booking_gets_and_who_has_to_wait() -> None:
    at = desk(4, 2)
    at.lease(ttl_ms=70_000, cpu_cores=8)
    at.lease(ttl_ms=70_000, cpu_cores=8)
    at.wait(ttl_ms=70_000)
    at.wait(**OWN, ttl_ms=70_000)
    before = at.digest
    seen = foresee_booking(at.state, book(gpus=3), now_ms=at.now_ms)
    assert (seen.nodes, seen.wanted, seen.found, seen.suitable) == ((), 3, 0, 6)
    assert (seen.earliest_ms, seen.is_made, seen.waiting) == (71_000, False, 1)
    later = book(gpus=3, starts_ms=71_000)
    seen = foresee_booking(at.state, later, now_ms=at.now_ms)
    assert (seen.nodes, seen.gpus, seen.found, seen.is_made) == (("n1",), 4, 6, True)
    assert at.digest == before
    at.do(later)
    assert nodes(at) == seen.nodes
    assert booking(at).owner == Owner("acme", "class")
