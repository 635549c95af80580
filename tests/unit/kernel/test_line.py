"""Requests that cannot start at once: the line, its order, backfill, victims and claims."""

from __future__ import annotations

from typing import Any

import pytest

from bailiwick.fleet.resources import Resources
from bailiwick.kernel import (
    Cancel,
    ChangeMode,
    Done,
    Granted,
    Queued,
    Refused,
    RegisterNode,
    Release,
    ReportTeardown,
    SetQuota,
    SetShare,
    Submit,
)
from bailiwick.scheduler.decision import Denied, NotEnoughFree, ReservedForOthers, VictimsLeaving
from bailiwick.scheduler.quota_policy import Quota, ResourceLimit
from bailiwick.scheduler.room_holds import Seat
from bailiwick.vocab.errors import LimitReached, NotFound
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.values import NodeId
from bailiwick.vocab.words import LeaseClass, PendingReason, ResourceKind
from tests.unit.kernel.desk import CRITICAL, HIGH, LOW, Desk, ask, cores, started

P = PendingReason


def desk(*sizes: int, **how: Any) -> Desk:
    return Desk(nodes=[cores(size) for size in sizes or (4,)], **{"grace_ms": 500, **how})


# --- waiting ------------------------------------------------------------------------------------


def test_what_finds_no_room_waits_and_is_told_what_is_missing() -> None:
    d = desk()
    d.lease(cpu_cores=3)
    answer = d.do(Submit(ask(cpu_cores=2)))
    missing = Denied.because(NotEnoughFree(ResourceKind.CPU_MILLI, 1000, 2000))
    assert answer == Queued(1, missing)
    assert (d.kinds, answer.reason) == (["request_queued"], P.WAITING_FOR_CAPACITY)


def test_what_will_not_wait_is_refused_with_the_same_words() -> None:
    d = desk()
    d.lease(cpu_cores=3)
    answer = d.beside(cpu_cores=2)
    assert answer == Refused(Denied.because(NotEnoughFree(ResourceKind.CPU_MILLI, 1000, 2000)))
    assert (d.kinds, d.last[0].body["wait"]) == (["admission_denied"], 0)


def test_what_can_never_run_is_refused_even_if_it_would_wait() -> None:
    d = desk()
    answer = d.do(Submit(ask(cpu_cores=5)))
    assert isinstance(answer, Refused)
    assert answer.denied.reason is P.EXCEEDS_MAXIMUM
    assert d.last[0].body["wait"] == 1
    d.lease(cpu_cores=4)
    d.wait(cpu_cores=1)
    assert isinstance(d.do(Submit(ask(cpu_cores=5))), Refused), "behind others too"


def test_nobody_is_admitted_past_an_entry_of_its_own_priority() -> None:
    d = desk()
    d.lease(cpu_cores=3)
    d.wait(cpu_cores=2)
    answer = d.do(Submit(ask("other", cpu_cores=1)))
    assert answer == Queued(2, None)
    assert answer.reason is P.NOT_YET_LOOKED_AT


def test_a_more_urgent_request_does_not_stand_behind_a_less_urgent_one() -> None:
    d = desk()
    d.lease(cpu_cores=3)
    d.wait(cpu_cores=2)
    assert isinstance(d.do(Submit(ask(cpu_cores=1, priority=HIGH))), Granted)


def test_entries_start_by_priority_then_by_who_used_less_then_by_age() -> None:
    d = desk()
    lease = d.lease("heavy", cpu_cores=4)
    d.at(2_000)
    heavy = d.wait("heavy", cpu_cores=1)
    first, second = d.wait("light", cpu_cores=1), d.wait("fresh", cpu_cores=1)
    urgent = d.wait("heavy", cpu_cores=1, priority=CRITICAL)
    assert d.state.claims
    d.do(Cancel(urgent))
    urgent = d.wait("heavy", cpu_cores=1, priority=HIGH)
    d.do(Release(lease))
    d.tick()
    assert started(d) == [urgent, first, second, heavy]


def test_a_larger_share_makes_the_same_usage_weigh_less() -> None:
    d = desk()
    d.do(SetShare("rich", 10))
    one, two = d.lease("rich", cpu_cores=2), d.lease("poor", cpu_cores=2)
    d.at(5_000)
    poor, rich = d.wait("poor", cpu_cores=2), d.wait("rich", cpu_cores=2)
    d.do(Release(one))
    d.do(Release(two))
    d.tick()
    assert started(d) == [rich, poor]


def test_the_line_has_an_end_and_what_comes_after_it_changes_nothing() -> None:
    d = desk(queue_max=1)
    d.lease(cpu_cores=4)
    d.wait(cpu_cores=1)
    assert "limit of 1" in d.refuses(LimitReached, Submit(ask(cpu_cores=1)))


def test_a_blocker_is_told_once_and_again_only_when_it_is_another_sort() -> None:
    d = desk(4, 4)
    one, two = d.lease(cpu_cores=4), d.lease(cpu_cores=3)
    d.wait("lab", cpu_cores=2)
    assert d.tick() == ["room_reserved"]
    assert d.tick() == []
    d.do(Release(two))
    second = d.lease("b", cpu_cores=1, priority=HIGH, ttl_ms=10**6)
    assert second
    d.do(SetQuota("lab", Quota((ResourceLimit.cpu_cores(4),))))
    assert d.tick() == ["request_blocked"]
    assert d.last[0].body["reason"] == "waiting_for_quota"
    assert d.tick() == []
    d.do(Release(one))
    assert "admission_approved" in d.tick()


def test_other_numbers_of_the_same_lack_are_not_told_again() -> None:
    d = desk()
    first = d.lease(cpu_cores=1)
    d.lease(cpu_cores=3)
    d.wait(cpu_cores=2)
    assert d.tick() == ["room_reserved"]
    d.do(Release(first))
    assert d.tick() == []
    assert d.state.blocked[1] == Denied.because(NotEnoughFree(ResourceKind.CPU_MILLI, 0, 2000))


def test_an_entry_that_was_only_behind_others_is_told_its_own_blocker() -> None:
    d = desk()
    d.lease(cpu_cores=4)
    d.wait(cpu_cores=2)
    entry = d.wait(cpu_cores=1)
    d.tick()
    assert [r.body["entry_id"] for r in d.last if r.kind == "request_blocked"] == [entry]
    assert d.tick() == []


def test_an_entry_whose_deadline_passed_is_cancelled_one_millisecond_after_it() -> None:
    d = desk()
    d.lease(cpu_cores=4)
    entry = d.wait(cpu_cores=1, deadline_ms=3_000)
    assert "request_cancelled" not in d.tick(3_000)
    assert d.tick(3_001) == ["request_cancelled"]
    assert (d.last[0].body["entry_id"], d.last[0].body["cause"]) == (entry, "deadline_passed")


def test_in_a_long_line_too_nobody_waits_past_his_deadline() -> None:
    d = desk()
    d.lease(cpu_cores=4, ttl_ms=10**6)
    late = []
    for number in range(100):
        deadline_ms = 5_000 + number if number % 9 == 0 else None
        entry = d.wait(f"t{number}", cpu_cores=2, deadline_ms=deadline_ms)
        late += [entry] if deadline_ms else []
    d.do(Cancel(late.pop(3)))
    assert "request_cancelled" not in d.tick(5_000)
    d.tick(5_100)
    gone = [r.body["entry_id"] for r in d.last if r.kind == "request_cancelled"]
    assert gone == late
    assert not set(late) & set(d.state.line.entries)


def test_in_a_long_line_everybody_is_told_a_blocker_after_a_while() -> None:
    d = desk()
    d.lease(cpu_cores=4, ttl_ms=10**6)
    for number in range(150):
        d.wait(f"t{number}", cpu_cores=2)
    for at_ms in range(2_000, 5_000, 1_000):
        d.tick(at_ms)
    assert all(denied is not None for denied in d.state.blocked.values())


def test_one_behind_a_long_line_that_lacks_room_starts_at_once_where_it_fits() -> None:
    d = desk(4, 1)
    d.lease(cpu_cores=4, ttl_ms=20_000)
    for number in range(100):
        d.wait(f"t{number}", cpu_cores=3, ttl_ms=10**6)
    for tenant in ("a", "b"):
        d.wait(tenant, cpu_cores=1, ttl_ms=5_000)
    d.tick(2_000)
    assert started(d) == [101]


def test_cancelling_takes_an_entry_out_and_a_second_time_is_an_error() -> None:
    d = desk()
    d.lease(cpu_cores=4)
    entry = d.wait(cpu_cores=1)
    assert d.do(Cancel(entry)) == Done(len(d.lines) - 1)
    assert (d.kinds, d.last[0].body["cause"]) == (["request_cancelled"], "asked")
    assert "started or was cancelled" in d.refuses(NotFound, Cancel(entry))


def test_a_long_line_is_looked_at_in_parts_and_nobody_is_forgotten() -> None:
    d = desk()
    d.lease(cpu_cores=4, ttl_ms=10**7)
    entries = {d.wait(cpu_cores=2) for _ in range(12)}
    for second in range(12):
        d.tick(2_000 + 1_000 * second, limit=4)
    told = {r.body["entry_id"] for r in d.of_kind("request_blocked")}
    assert told | {1} == entries


# --- reservation and backfill -------------------------------------------------------------------


def test_the_first_that_lacks_room_has_it_kept_and_told_when_and_where() -> None:
    d = desk()
    d.lease(cpu_cores=3)
    entry = d.wait(cpu_cores=4)
    assert d.tick(2_000) == ["room_reserved"]
    told = d.last[0].body
    assert (told["entry_id"], told["starts_ms"], told["nodes"]) == (entry, 11_000, ("n1",))


def test_behind_a_reservation_only_what_ends_in_time_or_is_beside_it_starts() -> None:
    d = desk()
    d.lease(cpu_cores=3)
    big = d.wait(cpu_cores=4)
    long, short = d.wait(cpu_cores=1, ttl_ms=50_000), d.wait(cpu_cores=1, ttl_ms=8_000)
    d.tick(2_000)
    assert started(d) == [short]
    assert {big, long} == set(d.state.line.entries)
    d.tick(11_000)
    assert started(d) == [big]


def test_who_lacks_room_for_too_long_stands_ahead_of_who_used_less() -> None:
    # What runs counts within a second then, not only after minutes.
    d = desk(patience_ms=3_000, half_life_ms=10_000)
    lease = d.lease("heavy", cpu_cores=4, ttl_ms=10**6)
    old = d.wait("heavy", cpu_cores=4)
    assert d.tick(1_100) == ["room_reserved"]
    assert "overdue" not in d.last[0].body
    d.do(Cancel(old))
    old = d.wait("heavy", cpu_cores=4)
    d.at(4_000).wait("light", cpu_cores=4)
    assert next(d.state.line.order(4_099)).id != old
    d.tick(4_100)
    told = [r.body for r in d.last if r.kind == "room_reserved"]
    assert (told[0]["entry_id"], told[0].get("overdue")) == (old, 1)
    assert d.tick(4_200) == []
    d.do(Release(lease))
    d.tick()
    assert started(d) == [old]


def test_what_starts_beside_a_reservation_counts_for_those_behind_it() -> None:
    d = desk(10)
    d.lease(cpu_cores=6)
    big = d.wait(cpu_cores=8)
    first, second = (d.wait(cpu_cores=2, ttl_ms=90_000) for _ in range(2))
    d.tick()
    assert started(d) == [first]
    d.tick(11_000)
    assert started(d) == [big]
    assert second in d.state.line.entries


def test_who_lacks_room_when_it_is_queued_has_lacked_it_since_then() -> None:
    d = desk(patience_ms=3_000)
    d.lease(cpu_cores=4)
    entry = d.state.entry(d.wait(cpu_cores=1))
    assert [d.state.line.is_overdue(entry, now) for now in (3_999, 4_000)] == [False, True]


def test_who_is_blocked_by_quota_gives_up_the_room_that_was_kept() -> None:
    d = desk()
    d.lease(cpu_cores=4)
    entry = d.state.entry(d.wait(cpu_cores=2))
    d.tick()
    assert entry.id in d.state.line.promises
    d.do(SetQuota("lab", Quota((ResourceLimit.cpu_cores(4),))))
    d.tick()
    assert entry.id not in d.state.line.promises
    assert not d.state.line.is_overdue(entry, 10**9)


def test_what_will_not_wait_takes_only_what_a_reservation_leaves() -> None:
    d = desk()
    d.lease(cpu_cores=3)
    d.wait(cpu_cores=4)
    kept = d.beside(cpu_cores=1, ttl_ms=50_000)
    assert isinstance(kept, Refused)
    assert isinstance(kept.denied.detail, ReservedForOthers)
    assert isinstance(d.beside(cpu_cores=1, ttl_ms=9_000), Granted)


def test_what_will_not_wait_takes_no_room_that_somebody_in_line_could_start_in() -> None:
    d = desk()
    lease = d.lease(cpu_cores=4)
    entry = d.wait(cpu_cores=4)
    d.do(Release(lease))
    assert isinstance(d.beside(cpu_cores=1), Refused)
    d.tick()
    assert started(d) == [entry]


# --- victims and claims -------------------------------------------------------------------------


def test_urgent_work_evicts_and_waits_for_its_victims_to_leave() -> None:
    d = desk()
    victim = d.lease("slow", cpu_cores=4, priority=LOW)
    entry = d.wait("fast", cpu_cores=3, priority=HIGH)
    assert d.kinds == ["request_queued", "request_blocked", "lease_revoked", "lease_revoked"]
    told = d.last[1].body
    assert (told["victims"], told["seats"], told["until_ms"]) == ((victim,), ("n1",), 1_500)
    assert d.state.blocked[entry] == Denied.because(VictimsLeaving(1, 1_500))
    assert d.tick(1_499) == []
    assert d.tick(1_500) == ["lease_revoked", "lease_preempted", "admission_approved"]
    assert (d.last[1].body["preemptor"], started(d)) == ("fast", [entry])
    assert d.last[2].body["depth"] == d.state.ledger.lease(d.state.handle(2)).depth == 1
    assert not d.state.claims


def test_less_urgent_work_than_the_setting_evicts_nobody() -> None:
    d = desk(preempt_from=CRITICAL)
    d.lease(cpu_cores=4, priority=LOW)
    d.wait(cpu_cores=3, priority=HIGH)
    assert d.kinds == ["request_queued"]
    assert "lease_revoked" not in d.tick()


def test_the_lowest_priority_evicts_nobody_whatever_the_setting() -> None:
    d = desk(preempt_from=LOW)
    d.lease(cpu_cores=4, priority=LOW)
    d.wait(cpu_cores=3, priority=LOW)
    assert d.tick() == ["room_reserved"]


def test_guaranteed_and_equally_urgent_work_is_nobodys_victim() -> None:
    d = desk(4, 4)
    d.lease(cpu_cores=4, priority=LOW, lease_class=LeaseClass.GUARANTEED)
    d.lease(cpu_cores=4, priority=HIGH)
    d.wait(cpu_cores=3, priority=HIGH)
    assert d.kinds == ["request_queued"]


def test_a_spot_lease_goes_for_a_higher_class_whatever_priority_it_claims() -> None:
    d = desk(8)
    spot = d.lease(cpu_cores=8, priority=CRITICAL, lease_class=LeaseClass.SPOT)
    d.wait("other", cpu_cores=8, priority=HIGH)
    assert d.phase(spot) == "grace_running"


def test_a_spot_request_evicts_nobody_but_less_urgent_spot() -> None:
    d = desk(8)
    lease = d.lease(cpu_cores=4, priority=LOW)
    spot = d.lease(cpu_cores=4, priority=LOW, lease_class=LeaseClass.SPOT)
    terms = {"cpu_cores": 4, "priority": CRITICAL, "lease_class": LeaseClass.SPOT}
    d.wait("other", **terms)
    d.wait("other", **terms)
    assert (d.phase(lease), d.phase(spot)) == ("active", "grace_running")


def test_without_grace_room_is_made_and_taken_in_one_command() -> None:
    d = desk(grace_ms=0)
    d.lease("slow", cpu_cores=4)
    answer = d.do(Submit(ask("fast", cpu_cores=3, priority=HIGH)))
    assert isinstance(answer, Granted)
    steps = ["lease_revoked"] * 3
    assert d.kinds == [*steps, "lease_preempted", "admission_approved"]
    assert d.last[-1].body["depth"] == 1


def test_room_that_must_be_confirmed_is_claimed_even_without_grace() -> None:
    d = desk(grace_ms=0, confirm_teardown=True)
    victim = d.lease("slow", cpu_cores=4)
    entry = d.wait("fast", cpu_cores=3, priority=HIGH)
    assert (d.kinds[0], d.phase(victim)) == ("request_queued", "forced_teardown")
    assert list(d.state.claims) == [entry]
    d.do(ReportTeardown(victim, True))
    d.tick()
    assert started(d) == [entry]


def test_a_claimant_far_behind_in_a_long_line_is_served_when_its_room_is_free() -> None:
    d = desk(4, 1)
    victim = d.lease("slow", cpu_cores=4)
    d.do(SetQuota("boss", Quota((ResourceLimit.cpu_cores(4),))))
    d.lease("boss", cpu_cores=1)
    entry = d.wait("fast", cpu_cores=4, priority=HIGH)
    for _ in range(6):  # whom only quota keeps waiting
        d.wait("boss", cpu_cores=4, priority=CRITICAL)
    d.do(Release(victim))
    d.tick(limit=2)
    assert started(d) == [entry]


def test_an_entry_in_line_is_given_room_too_when_there_is_no_grace() -> None:
    d = desk(grace_ms=0, min_run_ms=1_000)
    d.lease("slow", cpu_cores=4)
    entry = d.wait("fast", cpu_cores=4, priority=HIGH)
    assert "lease_revoked" not in d.tick(1_999)
    d.tick(2_000)
    assert started(d) == [entry]
    assert d.of_kind("lease_preempted")[0].body["preemptor"] == "fast"


def test_the_room_of_a_claim_is_nobody_elses_of_the_same_urgency() -> None:
    d = desk(4, 1)
    victim = d.lease("slow", cpu_cores=4)
    entry = d.wait("fast", cpu_cores=4, priority=HIGH)
    d.do(Release(victim))
    for wait in (True, False):
        answer = d.do(Submit(ask("other", cpu_cores=2, priority=HIGH), wait))
        assert isinstance(answer, Queued if wait else Refused)
    d.tick()
    assert entry in started(d)
    assert d.state.ledger.lease(d.state.handle(2)).node == "n1"


def test_a_claimant_does_not_start_on_a_node_that_is_kept_for_another() -> None:
    d = desk(4, 8)
    one, two = d.lease("slow", cpu_cores=4), d.lease("slow", cpu_cores=8)
    assert (d.state.leases_on("n1"), d.state.leases_on("n2")) == ([one], [two])
    first = d.wait("a", cpu_cores=4, priority=HIGH)
    second = d.wait("b", cpu_cores=8, priority=HIGH)
    d.tick()
    assert {i: c.seats for i, c in d.state.claims.items()} == {
        first: (Seat(NodeId("n1"), 0),),
        second: (Seat(NodeId("n2"), 0),),
    }
    d.do(ChangeMode("n1", NodeMode.DRAINING))
    d.do(Release(one))
    d.do(Release(two))
    d.tick()
    assert first not in started(d)
    assert second in started(d)


def test_a_claimant_that_leaves_the_line_gives_the_nodes_free() -> None:
    d = desk()
    victim = d.lease("slow", cpu_cores=4)
    entry = d.wait("fast", cpu_cores=4, priority=HIGH)
    d.do(Release(victim))
    assert isinstance(d.beside("other", cpu_cores=1, priority=CRITICAL), Refused)
    d.do(Cancel(entry))
    assert isinstance(d.beside("other", cpu_cores=1), Granted)


def test_a_claimant_whose_deadline_passes_gives_the_nodes_free() -> None:
    d = desk()
    d.lease("slow", cpu_cores=4)
    d.wait("fast", cpu_cores=4, priority=HIGH, deadline_ms=1_200)
    assert d.tick(1_201) == ["request_cancelled", "lease_restored"]
    assert not d.state.claims


def test_a_node_that_joins_is_open_while_others_are_claimed() -> None:
    d = desk()
    d.lease("slow", cpu_cores=4)
    d.wait("fast", cpu_cores=4, priority=HIGH)
    d.do(RegisterNode("n9", cores(2)))
    answer = d.do(Submit(ask("boss", cpu_cores=2, priority=CRITICAL)))
    assert answer == Granted((2,), ("n9",), 11_000)


def test_a_claim_whose_victim_is_fenced_waits_no_longer_and_is_blocked_again() -> None:
    d = desk(confirm_teardown=True)
    victim = d.lease("slow", cpu_cores=4)
    entry = d.wait("fast", cpu_cores=4, priority=HIGH)
    d.tick(1_500)
    assert d.tick(1_501) == [], "a teardown under way is waited for"
    d.do(ReportTeardown(victim, False))
    assert d.tick(1_502) == ["request_blocked"]
    assert d.last[0].body["reason"] == "waiting_for_capacity"
    assert not d.state.claims
    assert entry in d.state.line.entries


def test_a_gang_of_victims_leaves_together_and_what_is_needed_of_its_room_is_kept() -> None:
    d = desk(2, 2)
    gang = d.gang(2, "slow", cpu_cores=2)
    d.wait("fast", cpu_cores=2, priority=HIGH)
    assert d.last[1].body["victims"] == gang
    assert len(d.last[1].body["seats"]) == 1
    assert isinstance(d.beside("slow", cpu_cores=1), Refused), "they have not left yet"
    d.tick(1_500)
    assert len(started(d)) == 1


def test_nobody_is_evicted_for_a_request_that_headroom_would_still_keep_out() -> None:
    d = desk(10, grace_ms=0, headroom=Resources(cpu_milli=4000))
    for _ in range(6):
        d.lease("slow", cpu_cores=1)
    for _ in range(4):
        d.lease("must", cpu_cores=1, priority=CRITICAL)
    d.do(Submit(ask("fast", cpu_cores=4, priority=HIGH)))
    assert "lease_preempted" not in d.kinds


def test_only_the_most_urgent_may_use_the_headroom() -> None:
    d = desk(10, grace_ms=0, headroom=Resources(cpu_milli=4000))
    for _ in range(6):
        d.lease("slow", cpu_cores=1)
    assert isinstance(d.do(Submit(ask("slow", cpu_cores=1))), Queued)
    d.do(Release(1))
    d.do(Release(2))
    assert isinstance(d.do(Submit(ask("other", cpu_cores=2, priority=CRITICAL))), Granted)
    assert not d.of_kind("lease_preempted")


@pytest.mark.parametrize("depth", [1, 2])
def test_a_cascade_goes_no_deeper_than_the_setting(depth: int) -> None:
    d = desk(grace_ms=0, max_cascade_depth=depth)
    d.lease("a", cpu_cores=4, priority=LOW)
    answer = d.do(Submit(ask("b", cpu_cores=4, priority=HIGH)))
    last = d.do(Submit(ask("c", cpu_cores=4, priority=CRITICAL)))
    assert isinstance(answer, Granted)
    assert isinstance(last, Granted if depth == 2 else Queued)
