"""What it costs to book: leases that end before the booking begins are not looked at."""

from __future__ import annotations

import pytest

from bailiwick.fleet.node import EXECUTOR_LABEL
from bailiwick.kernel import Evict
from bailiwick.kernel.bookings.foresight import foresee_booking
from bailiwick.kernel.bookings.refusals import BookingRefused
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.vocab.words import PreemptionReason
from tests.unit.kernel.desk import Desk, cores
from tests.unit.kernel.test_bookings import ENDS, STARTS, book, desk, nodes


class Looks:
    """How often a lease was looked at."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count, plain = 0, CapacityLedger.fields

        def fields(ledger: CapacityLedger, handle: int) -> object:
            self.count += 1
            return plain(ledger, handle)

        monkeypatch.setattr(CapacityLedger, "fields", fields)


def test_of_leases_only_those_that_reach_into_the_booking_are_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    at = desk(*[4] * 12, teardown_ms=1_000)
    for _ in range(36):
        at.lease(gpu_count=1, ttl_ms=STARTS - at.now_ms - 1_000)
    long = [at.lease(gpu_count=4, ttl_ms=STARTS) for _ in range(2)]
    looks = Looks(monkeypatch)
    at.refuses(BookingRefused, book(count=11))
    assert looks.count == len(long)
    assert foresee_booking(at.state, book(count=10), now_ms=at.now_ms).is_made
    assert looks.count == 2 * len(long)


def test_a_lease_that_ends_in_time_and_may_not_be_torn_down_by_then_is_looked_at() -> None:
    labels = {EXECUTOR_LABEL: "local"}
    at = Desk(nodes=[cores(8, gpus=1, labels=labels), cores(8, gpus=1)], teardown_ms=5_000)
    for _ in range(2):
        at.lease(gpu_count=1, ttl_ms=STARTS - at.now_ms - 1_000)
    at.refuses(BookingRefused, book(count=2))
    at.do(book(count=1))
    assert nodes(at) == ("n2",)


def test_a_lease_that_has_to_go_counts_as_long_as_its_teardown_may_take() -> None:
    labels = {EXECUTOR_LABEL: "local"}
    at = Desk(nodes=[cores(8, gpus=1, labels=labels)], teardown_ms=STARTS, grace_ms=500)
    lease = at.lease(gpu_count=1, ttl_ms=ENDS)
    at.do(Evict((lease,), PreemptionReason.OPERATOR_DRAIN))
    at.tick(at.now_ms + 500)
    assert at.phase(lease) == "forced_teardown"
    at.refuses(BookingRefused, book())
