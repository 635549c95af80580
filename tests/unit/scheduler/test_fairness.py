"""Shares, usage that fades, and the order they make."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import Any

import pytest

from bailiwick.scheduler import fairness
from bailiwick.scheduler.backfill.lanes import Aging, Lanes
from bailiwick.scheduler.backfill.promises import Promise
from bailiwick.scheduler.backfill.rules import LineRules
from bailiwick.scheduler.fairness import (
    CORES_PER_GPU,
    SHARE_MAX,
    FairShares,
    QueueEntry,
    Standing,
    expected_usage,
)
from bailiwick.scheduler.queue import FairQueue
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import InvalidValue, LimitReached
from bailiwick.vocab.values import AMOUNT_MAX, ProjectId, TenantId
from bailiwick.vocab.words import Priority

HALF_LIFE_MS = 1000
BIG = 10**18


def shares_with(**usage: int) -> FairShares:
    shares = FairShares(HALF_LIFE_MS)
    for tenant, amount in usage.items():
        shares.charge(tenant, amount, now_ms=0)
    return shares


def waiting(number: int, tenant: str = "lab", *, at_ms: int = 0, **terms: Any) -> QueueEntry:
    """An entry of one GPU for a second, unless told otherwise."""
    ask = {"tenant": tenant, "gpu_count": 1, "ttl_ms": 1000, **terms}
    return QueueEntry(number, PlacementRequest(**ask), at_ms)


def ordered(shares: FairShares, *entries: QueueEntry, now_ms: int = 0) -> list[int]:
    return [entry.id for entry in lanes_of(shares, *entries).order(now_ms, {})]


def lanes_of(shares: FairShares, *entries: QueueEntry) -> Lanes:
    lanes = Lanes(shares, Aging(step_ms=1, steps_max=0))
    for entry in entries:
        lanes.join(entry)
    return lanes


# --- usage fades --------------------------------------------------------------------------------


@pytest.mark.parametrize("charged_ms", [0, 1, 333, 999, 123_456_789])
@pytest.mark.parametrize("half_life_ms", [1, 7, 1000, 604_800_000])
def test_every_half_life_halves_exactly(half_life_ms: int, charged_ms: int) -> None:
    shares = FairShares(half_life_ms)
    shares.charge("lab", BIG + 1, now_ms=charged_ms)
    for halvings in range(70):
        now_ms = charged_ms + halvings * half_life_ms
        assert shares.usage("lab", now_ms) == (BIG + 1) >> halvings


@pytest.mark.parametrize("part", [1, 2, 3])
def test_within_a_half_life_usage_falls_by_roots_of_two(part: int) -> None:
    shares = shares_with(lab=BIG)
    # usage = BIG / 2**(part/4), so its fourth power is BIG**4 / 2**part
    exact = isqrt(isqrt((BIG**4 << 64) >> part)) >> 16
    assert abs(shares.usage("lab", part * HALF_LIFE_MS // 4) - exact) <= 2


def test_usage_never_grows_with_time() -> None:
    shares = FairShares(777)
    shares.charge("lab", BIG, now_ms=5)
    seen = [shares.usage("lab", now_ms) for now_ms in range(5, 3000)]
    assert seen == sorted(seen, reverse=True)
    assert len(set(seen)) == len(seen)


def test_reading_often_changes_nothing() -> None:
    read, unread = shares_with(lab=BIG), shares_with(lab=BIG)
    for now_ms in range(0, 5000, 7):
        read.usage("lab", now_ms)
        read.standing("lab", now_ms)
    read.charge("lab", 12345, now_ms=5001)
    unread.charge("lab", 12345, now_ms=5001)
    assert read.usage("lab", 9999) == unread.usage("lab", 9999)


def test_one_charge_weighs_as_much_as_its_parts() -> None:
    whole, parts = FairShares(HALF_LIFE_MS), FairShares(HALF_LIFE_MS)
    whole.charge("lab", 1000, now_ms=1234)
    for _ in range(1000):
        parts.charge("lab", 1, now_ms=1234)
        parts.charge("lab", 0, now_ms=1234)
    for now_ms in range(1234, 12_000, 50):
        assert whole.usage("lab", now_ms) == parts.usage("lab", now_ms)


def test_many_small_charges_lose_nothing_on_the_way() -> None:
    shares = FairShares(HALF_LIFE_MS)
    exact = Fraction(0)
    for period in range(40):
        shares.charge("lab", 3, now_ms=period * HALF_LIFE_MS)
        exact += Fraction(3, 2 ** (39 - period))
    assert shares.usage("lab", 39 * HALF_LIFE_MS) == int(exact)


def test_a_late_charge_counts_as_old_as_it_is() -> None:
    late, early = FairShares(HALF_LIFE_MS), FairShares(HALF_LIFE_MS)
    late.charge("lab", 800, now_ms=3000)
    late.charge("lab", 1600, now_ms=1000)
    early.charge("lab", 1600, now_ms=1000)
    early.charge("lab", 800, now_ms=3000)
    assert late.usage("lab", 3000) == early.usage("lab", 3000) == 1200


def test_usage_before_the_last_charge_cannot_be_told() -> None:
    shares = FairShares(HALF_LIFE_MS)
    shares.charge("lab", 1, now_ms=500)
    with pytest.raises(InvalidValue, match="500 or later"):
        shares.usage("lab", 499)
    assert shares.usage("other", 0) == 0


def test_after_a_very_long_time_nothing_is_left() -> None:
    assert shares_with(lab=AMOUNT_MAX).usage("lab", AMOUNT_MAX) == 0


# --- shares -------------------------------------------------------------------------------------


def test_standing_sets_usage_against_share() -> None:
    shares = shares_with(lab=800)
    assert shares.standing("lab", 0) == Standing(TenantId("lab"), 1, 800, 800 * SHARE_MAX)
    shares.set_share("lab", 4)
    assert shares.standing("lab", 1000).normalised == 100 * SHARE_MAX
    shares.set_share("lab", SHARE_MAX)
    assert shares.standing("lab", 0).normalised == 800
    assert shares.standing("new", 0) == Standing(TenantId("new"), 1, 0, 0)


def test_a_project_counts_in_its_tenant_and_stands_for_itself() -> None:
    shares = FairShares(HALF_LIFE_MS)
    shares.set_share("lab", 2, project="vision")
    shares.charge("lab", 600, now_ms=0, project="vision")
    shares.charge("lab", 200, now_ms=0)
    assert shares.usage("lab", 0) == 800
    assert shares.usage("lab", 0, project="speech") == 0
    assert shares.standing("lab", 0, project="vision") == Standing(
        TenantId("lab"), 2, 600, 300 * SHARE_MAX, ProjectId("vision")
    )


@pytest.mark.parametrize("share", [0, -1, SHARE_MAX + 1, 1.5, True, "1"])
def test_a_share_is_a_positive_integer(share: Any) -> None:
    with pytest.raises(InvalidValue, match="share"):
        FairShares(HALF_LIFE_MS).set_share("lab", share)


@pytest.mark.parametrize("half_life_ms", [0, -5, 1.0, None])
def test_a_half_life_is_a_positive_integer(half_life_ms: Any) -> None:
    with pytest.raises(InvalidValue, match="half_life_ms"):
        FairShares(half_life_ms)


def test_a_refused_charge_changes_nothing() -> None:
    shares = shares_with(lab=8)
    for bad in ({"amount": -1, "now_ms": 0}, {"amount": 1, "now_ms": -1}):
        with pytest.raises(InvalidValue):
            shares.charge("lab", bad["amount"], now_ms=bad["now_ms"])
    with pytest.raises(InvalidValue):
        shares.charge("lab", 1, now_ms=0, project="no spaces")
    with pytest.raises(InvalidValue):
        shares.charge("no spaces", 1, now_ms=0)
    assert shares.usage("lab", 0) == 8


def test_scopes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fairness, "SCOPES_MAX", 2)
    shares = shares_with(lab=1)
    with pytest.raises(LimitReached):
        shares.charge("lab", 1, now_ms=0, project="vision")
    shares.charge("lab", 1, now_ms=0)
    assert shares.usage("lab", 0) == 2
    shares.set_share("a", 1)
    shares.set_share("b", 1)
    with pytest.raises(LimitReached):
        shares.set_share("c", 1)
    shares.set_share("a", 2)


# --- the order ----------------------------------------------------------------------------------


def test_priority_comes_before_usage() -> None:
    shares = shares_with(heavy=BIG)
    urgent = waiting(2, "heavy", priority=Priority.HIGH)
    assert ordered(shares, waiting(1, "light"), urgent) == [2, 1]


def test_who_used_less_of_its_share_goes_first() -> None:
    shares = shares_with(big=3000, small=2000)
    assert ordered(shares, waiting(1, "big"), waiting(2, "small")) == [2, 1]
    shares.set_share("big", 3)
    assert ordered(shares, waiting(1, "big"), waiting(2, "small")) == [1, 2]


def test_equal_usage_is_decided_by_submission_and_then_by_id() -> None:
    shares = FairShares(HALF_LIFE_MS)
    entries = [waiting(1, "a", at_ms=9), waiting(2, "b", at_ms=5), waiting(3, "c", at_ms=5)]
    assert ordered(shares, *entries) == [2, 3, 1]


def test_a_tenant_with_many_entries_takes_turns_with_one_that_has_few() -> None:
    entries = [*(waiting(n, "many") for n in range(1, 6)), waiting(6, "few"), waiting(7, "few")]
    assert ordered(FairShares(HALF_LIFE_MS), *entries) == [1, 6, 2, 7, 3, 4, 5]


def test_turns_follow_shares() -> None:
    shares = FairShares(HALF_LIFE_MS)
    shares.set_share("three", 3)
    entries = [waiting(n, ("three", "one")[n % 2]) for n in range(24)]
    first = ordered(shares, *entries)[:12]
    assert sum(number % 2 == 0 for number in first) == 9


def test_a_large_request_costs_more_turns_than_a_small_one() -> None:
    entries = [waiting(1, "gang", gang_size=3), waiting(2, "gang")]
    entries += [waiting(n, "ones") for n in range(3, 8)]
    assert ordered(FairShares(HALF_LIFE_MS), *entries) == [1, 3, 4, 5, 2, 6, 7]


def test_urgent_work_counts_as_used_before_ordinary_work() -> None:
    urgent = waiting(1, "lab", priority=Priority.HIGH)
    assert ordered(FairShares(HALF_LIFE_MS), urgent, waiting(2, "lab"), waiting(3, "x")) == [
        1,
        3,
        2,
    ]


def test_projects_of_a_tenant_take_turns_by_their_own_shares() -> None:
    shares = FairShares(HALF_LIFE_MS)
    shares.set_share("lab", 2, project="a")
    shares.charge("lab", 1, now_ms=0, project="b")
    entries = [waiting(n, project="a") for n in range(1, 5)]
    entries += [waiting(n, project="b") for n in range(5, 7)]
    entries += [waiting(7)]
    # a and the work outside any project begin at 0, b just behind; a falls back half as fast.
    assert ordered(shares, *entries) == [1, 7, 5, 2, 3, 6, 4]


def test_one_tenants_projects_do_not_add_to_its_turns() -> None:
    entries = [waiting(n, "split", project=f"p{n}") for n in range(1, 5)]
    entries += [waiting(n, "whole") for n in range(5, 9)]
    assert ordered(FairShares(HALF_LIFE_MS), *entries) == [1, 5, 2, 6, 3, 7, 4, 8]


def test_the_front_comes_first_in_its_priority_and_is_counted() -> None:
    ahead, urgent = waiting(9, "lab"), waiting(1, "x", priority=Priority.HIGH)
    entries = [urgent, waiting(2, "lab"), waiting(3, "y"), ahead]
    front = {Priority.NORMAL.rank: [ahead]}
    found = lanes_of(FairShares(HALF_LIFE_MS), *entries).order(0, front)
    assert [entry.id for entry in found] == [1, 9, 3, 2]


def test_what_a_request_is_expected_to_use() -> None:
    def usage(**terms: Any) -> int:
        return expected_usage(PlacementRequest(tenant=TenantId("lab"), ttl_ms=10, **terms))

    assert usage(gpu_milli=250) == 2500
    assert usage(gpu_count=2, gang_size=3) == 60_000
    assert usage(cpu_cores=CORES_PER_GPU) == usage(gpu_count=1) == 10_000
    assert usage(mem_bytes=1) == 10


# --- the line -----------------------------------------------------------------------------------


def line_of(*entries: QueueEntry, patience_ms: int = 100) -> FairQueue:
    line = FairQueue(FairShares(HALF_LIFE_MS), LineRules(patience_ms=patience_ms))
    line.load({"serial": 0, "short": [], "favoured": []}, entries)
    return line


def ids(entries: Any) -> list[int]:
    return [entry.id for entry in entries]


def test_a_window_takes_half_in_order_and_half_in_turn() -> None:
    line = line_of(*(waiting(n) for n in range(1, 10)))
    assert [ids(line.window(0, 4)) for _ in range(4)] == [
        [1, 2, 3, 4],
        [1, 2, 5, 6],
        [1, 2, 7, 8],
        [1, 2, 9, 3],
    ]
    assert ids(line.window(0, 9)) == ids(line.order(0))


def test_a_window_never_leaves_out_whom_room_is_kept_for() -> None:
    low = waiting(20, priority=Priority.LOW)
    line = line_of(*(waiting(n) for n in range(1, 10)), waiting(19, priority=Priority.LOW), low)
    line.promise(Promise(low, 9, ()), 0, overdue=False)
    assert ids(line.window(0, 4)) == [1, 2, 3, 4, 20]
    line.window(0, 12)
    assert ids(line.window(0, 10)) == [1, 2, 3, 4, 5, 6, 7, 8, 9, 20, 19]


def test_the_longest_waiting_comes_forward_once_in_a_while() -> None:
    entries = [waiting(n, f"t{n}", at_ms=100 - n) for n in range(1, 5)]
    line = line_of(*entries)
    for entry in entries:
        line.mark_short(entry, 0)
    assert ids(line.order(99)) == [4, 3, 2, 1]
    assert ids(line.order(100)) == [1, 4, 3, 2]
    line.had_turn(entries[0], 100)
    assert ids(line.order(199)) == [4, 3, 2, 1]
    assert ids(line.order(200)) == [2, 4, 3, 1]
    line.step_back(entries[1])
    assert ids(line.order(200)) == [3, 4, 2, 1]


def test_the_holder_stands_before_the_overdue() -> None:
    entries = [waiting(n, f"t{n}") for n in range(1, 4)]
    line = line_of(*entries)
    line.mark_short(entries[2], 0)
    line.promise(Promise(entries[1], 70, ()), 50, overdue=False)
    assert ids(line.order(100)) == [2, 3, 1]
    line.leave(entries[1])
    assert ids(line.order(100)) == [3, 1]
    line.leave(entries[2])
    assert ids(line.order(10**6)) == [1]
