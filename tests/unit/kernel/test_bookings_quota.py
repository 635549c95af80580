"""How much a quota lets somebody keep from others: what stands within one longest term counts."""

from __future__ import annotations

import pytest

from bailiwick.kernel import Book, CancelBooking, DepartNode, RegisterNode, Renew, SetQuota
from bailiwick.kernel.bookings.refusals import BookingRefused
from bailiwick.scheduler.quota_policy import GpuGenerationQuota, Quota, ResourceLimit
from bailiwick.vocab.bookings import BookingRefusal
from tests.unit.kernel.desk import HOPPER, Desk, cores
from tests.unit.kernel.test_bookings import ENDS, STARTS, book, desk, nodes

TERM = 20_000


def limited(*gpus: int, most: int, **how: int) -> Desk:
    """So many GPUs are the quota, and no term is longer than :data:`TERM`."""
    at = desk(*gpus, **{"term_max_ms": TERM, **how})
    at.do(SetQuota("acme", Quota((ResourceLimit.gpu_count(most),))))
    return at


def from_on(name: str, starts_ms: int, *, node: str = "", length_ms: int = 1, **more: int) -> Book:
    which = {"nodes": (node,)} if node else more
    return book(name, starts_ms=starts_ms, ends_ms=starts_ms + length_ms, **which)


def test_many_short_bookings_of_different_nodes_close_no_more_than_the_quota() -> None:
    at = limited(*[1] * 6, most=2)
    for number in (1, 2):
        at.do(from_on(f"b{number}", STARTS + number, node=f"n{number}"))
    for number in (3, 4, 5, 6):
        told = at.refuses(BookingRefused, from_on("x", STARTS + number, node=f"n{number}"))
        assert "1 GPUs with 2 booked within one longest term of that time are more than" in told
    assert {*at.state.bookings.booked_nodes()} == {"n1", "n2"}
    assert at.lease("other", project="p", ttl_ms=TERM, gpu_count=1)


def test_renewals_of_others_are_cut_off_on_no_more_nodes_than_the_quota() -> None:
    at = limited(1, 1, 1, most=1)
    leases = [at.lease("rival", gpu_count=1, ttl_ms=10_000) for _ in range(3)]
    ends_ms = at.now_ms + 10_000
    at.do(from_on("x1", ends_ms + 1, node="n1"))
    for number in (2, 3):
        command = from_on(f"x{number}", ends_ms + number, node=f"n{number}")
        assert at.refuses(BookingRefused, command)
    kinds = []
    for lease in leases:
        at.at(6_000).do(Renew(lease, 10_000))
        kinds += at.kinds
    assert sorted(kinds) == ["lease_renewed", "lease_renewed", "renewal_denied"]


def test_the_same_node_one_time_after_the_other_counts_once() -> None:
    at = limited(1, 1, most=1)
    for number in range(12):
        at.do(from_on(f"b{number}", STARTS + 1_000 * number, node="n1", length_ms=500))
    assert at.refuses(BookingRefused, from_on("x", STARTS + 700, node="n2"))


@pytest.mark.parametrize("after_ms", [TERM - 1, TERM])
def test_a_longest_term_apart_they_do_not_count_together(after_ms: int) -> None:
    for first, second in ((STARTS, ENDS + after_ms), (ENDS + after_ms, STARTS)):
        at = limited(1, 1, most=1)
        length = ENDS - STARTS
        at.do(from_on("a", first, node="n1", length_ms=length))
        command = from_on("b", second, node="n2", length_ms=length)
        if after_ms < TERM:
            assert at.refuses(BookingRefused, command)
        else:
            at.do(command)


def test_what_is_far_from_each_other_does_not_count_together_by_what_is_between() -> None:
    at = limited(1, 1, 1, most=2)
    at.do(from_on("early", STARTS, node="n1"))
    at.do(from_on("late", STARTS + 2 * TERM - 2, node="n2"))
    at.do(from_on("between", STARTS + TERM - 1, node="n3"))


@pytest.mark.parametrize("what", [{"count": 2}, {"gpus": 4}])
def test_a_series_stays_within_its_quota_by_booking_the_same_nodes(what: dict[str, int]) -> None:
    at = limited(2, 2, 2, 2, most=4)
    at.do(book("taken", tenant="rival", nodes=("n1",)))
    at.do(from_on("t1", STARTS, **what))
    at.do(CancelBooking("taken", "rival", "class"))
    for number in (2, 3, 4):
        at.do(from_on(f"t{number}", STARTS + number * TERM // 2, **what))
    for number in (1, 2, 3, 4):
        assert nodes(at, f"t{number}") == ("n2", "n3")


def test_a_booking_gets_what_it_lacks_beside_nodes_that_count_already() -> None:
    at = limited(1, 1, 2, 2, most=5)
    at.do(from_on("a", STARTS, node="n3"))
    at.do(from_on("one", STARTS, node="n4"))
    at.do(from_on("b", STARTS + 1_000, count=3))
    assert nodes(at, "b") == ("n1", "n3", "n4")
    at.do(from_on("c", STARTS + 2_000, gpus=5))
    assert nodes(at, "c") == ("n1", "n3", "n4")
    assert "more than the 5" in at.refuses(BookingRefused, from_on("d", STARTS + 3_000, gpus=6))
    assert "more than the 5" in at.refuses(BookingRefused, from_on("d", STARTS + 3_000, count=4))


def test_of_a_limited_generation_the_same_nodes_are_booked_again() -> None:
    at = desk(2, 2, 2, term_max_ms=TERM)
    at.do(SetQuota("acme", Quota((), (GpuGenerationQuota(HOPPER, 4),))))
    at.do(from_on("a", STARTS, node="n2"))
    at.do(from_on("b", STARTS, node="n3"))
    at.do(from_on("c", STARTS + 1_000, count=2))
    assert nodes(at, "c") == ("n2", "n3")


def test_where_the_same_nodes_are_taken_it_is_the_quota_that_says_no() -> None:
    at = limited(1, 1, most=1)
    at.do(from_on("a", STARTS, count=1))
    at.do(book("taken", tenant="rival", starts_ms=STARTS + 1_000, ends_ms=STARTS + 2_000))
    with pytest.raises(BookingRefused) as caught:
        at.do(from_on("b", STARTS + 1_000, count=1))
    assert caught.value.reason is BookingRefusal.ABOVE_QUOTA
    assert caught.value.numbers == {"scope": "acme", "limit": 1, "booked": 1, "wanted": 1}


def test_what_a_project_booked_counts_for_its_tenant_and_not_for_its_neighbour() -> None:
    at = desk(1, 1, 1, term_max_ms=TERM)
    at.do(SetQuota("acme", Quota((ResourceLimit.gpu_count(2),))))
    at.do(SetQuota("acme", Quota((ResourceLimit.gpu_count(1),)), project="class"))
    at.do(from_on("a", STARTS, node="n1"))
    assert "quota of acme/class" in at.refuses(BookingRefused, from_on("b", STARTS + 1, node="n2"))
    other = {"tenant": "acme", "project": "other"}
    times = {"starts_ms": STARTS + 1, "ends_ms": STARTS + 2}
    at.do(Book("b", **other, **times, nodes=("n2",)))
    told = at.refuses(BookingRefused, Book("c", **other, **times, nodes=("n3",)))
    assert "more than the 2 of the quota of acme" in told


def test_a_machine_that_is_gone_counts_nothing_until_it_is_back() -> None:
    at = limited(1, 1, 1, most=1)
    at.do(from_on("a", STARTS, node="n1"))
    at.do(DepartNode("n1"))
    at.do(from_on("b", STARTS + 1, node="n2"))
    at.do(RegisterNode("n1", cores(8, gpus=1)))
    assert at.refuses(BookingRefused, from_on("c", STARTS + 2, node="n3"))
