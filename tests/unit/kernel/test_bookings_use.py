"""What counts as use of a booked node: leases of its GPUs, and of a node without any all."""

from __future__ import annotations

from typing import Any

from bailiwick.fleet.node import EXECUTOR_LABEL
from bailiwick.kernel import Release, ReportTeardown
from bailiwick.kernel.bookings.events import Booked
from bailiwick.kernel.owner import Owner
from bailiwick.vocab.bookings import BookingUse
from tests.unit.kernel.desk import Desk, cores
from tests.unit.kernel.test_bookings import (
    ENDS,
    OWN,
    STARTS,
    WAIT,
    book,
    booking,
    check_copy,
    desk,
    nodes,
    owned,
)


def on_cores(at: Desk, **terms: Any) -> int:
    """A lease of the owner that holds no GPU."""
    return at.lease(**{**OWN, "ttl_ms": ENDS - at.now_ms, **terms})


def test_work_on_cores_alone_keeps_no_node_that_has_gpus() -> None:
    at = desk(1, 1)
    at.do(book(count=2, wait_ms=WAIT))
    for _ in range(2):
        on_cores(at, cpu_cores=8)
    assert not at.state.bookings.is_used("acme/class/b", "n1")
    check_copy(at)
    at.tick(STARTS)
    assert at.tick(STARTS + WAIT) == ["booking_ended"]
    assert at.last[0].body["cause"] == "unused"


def test_the_wait_begins_when_the_last_gpu_is_let_go_whatever_runs_on_cores() -> None:
    at = desk(1)
    at.do(book(wait_ms=WAIT))
    at.tick(STARTS)
    kept, gpu = on_cores(at), owned(at, ttl_ms=20_000)
    at.tick(STARTS + WAIT)
    at.at(STARTS + 8_000).do(Release(gpu))
    check_copy(at)
    at.at(STARTS + 9_000).do(Release(kept))
    assert at.state.bookings.left == {("acme/class/b", "n1"): STARTS + 8_000}
    assert at.tick(STARTS + 8_000 + WAIT) == ["booking_ended"]


def test_a_share_of_one_gpu_is_use_of_its_node() -> None:
    at = desk(2)
    at.do(book(wait_ms=WAIT))
    owned(at, gpu_count=0, gpu_milli=250, ttl_ms=ENDS - at.now_ms)
    at.tick(STARTS)
    assert at.tick(STARTS + WAIT) == []
    assert nodes(at) == ("n1",)


def test_on_a_node_without_gpus_every_lease_of_the_owner_is_use() -> None:
    at = desk(0, 0)
    at.do(book(nodes=("n1", "n2"), wait_ms=WAIT))
    kept = on_cores(at)
    check_copy(at)
    at.tick(STARTS)
    assert at.tick(STARTS + WAIT) == ["booking_nodes_changed"]
    assert nodes(at) == (str(at.state.node_of(kept)),)


def test_a_lease_on_cores_that_is_torn_down_or_lost_with_its_node_changes_nothing() -> None:
    at = Desk(nodes=[cores(8, gpus=1, labels={EXECUTOR_LABEL: "local"})], teardown_ms=9_000)
    at.do(book(wait_ms=0))
    lease = on_cores(at, ttl_ms=STARTS + 2_000)
    at.tick(STARTS + 2_000 + at.now_ms)
    at.do(ReportTeardown(lease, clean=False))
    check_copy(at)
    assert at.state.fenced
    assert not at.state.bookings.is_used("acme/class/b", "n1")
    assert not at.state.bookings.left


def test_of_a_booking_whose_record_does_not_say_every_lease_of_its_owner_is_use() -> None:
    at = desk(1)
    at.do(book(wait_ms=WAIT))
    new = booking(at)
    assert new.use is BookingUse.GPU_LEASE
    body = {key: value for key, value in at.last[0].body.items() if key != "use"}
    told = Booked.read(body, Owner("acme", "class"))
    assert told.use is BookingUse.ANY_LEASE
    assert "use" not in told.body()
