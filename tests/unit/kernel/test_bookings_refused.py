"""Why nodes are not booked: what quota or a policy closes is left out, and told as what it is."""

from __future__ import annotations

from typing import Any

import pytest

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.kernel import (
    DepartNode,
    LabelNode,
    RegisterNode,
    ReplaceBooked,
    SetIsolationPolicy,
    SetQuota,
)
from bailiwick.kernel.bookings import choice, refusals
from bailiwick.kernel.bookings.foresight import foresee_booking
from bailiwick.kernel.bookings.refusals import BookingRefused
from bailiwick.scheduler.quota_policy import GpuGenerationQuota, Quota, ResourceLimit
from bailiwick.vocab.bookings import BookingRefusal
from bailiwick.vocab.words import HardwareGeneration
from tests.unit.kernel.desk import HOPPER, Desk
from tests.unit.kernel.test_bookings import ENDS, OWN, STARTS, book, desk, nodes

AMPERE = HardwareGeneration.NVIDIA_AMPERE


def machine(count: int, generation: HardwareGeneration = AMPERE) -> NodeCapacity:
    return NodeCapacity(8, 10**6, gpus=(GpuDevice(generation),) * count)


def limit(at: Desk, project: str | None = None, **counts: int) -> None:
    """Quota lists these generations, and no other."""
    listed = {"ampere": AMPERE, "hopper": HOPPER}
    rows = tuple(GpuGenerationQuota(listed[name], count) for name, count in counts.items())
    at.do(SetQuota("acme", Quota((), rows), project=project))


def refused(at: Desk, **more: Any) -> BookingRefused:
    before = at.digest
    with pytest.raises(BookingRefused) as caught:
        at.do(book(more.pop("name", "x"), **more))
    assert at.digest == before
    return caught.value


def mixed() -> Desk:
    """Two nodes of four Hoppers, and two smaller ones of two Amperes."""
    at = desk(4, 4)
    for name in ("a1", "a2"):
        at.do(RegisterNode(name, machine(2)))
    return at


@pytest.mark.parametrize("project", [None, "class"])
def test_nodes_of_a_generation_that_quota_closes_are_left_out_of_the_choice(
    project: str | None,
) -> None:
    at = mixed()
    limit(at, project, hopper=8)
    seen = foresee_booking(at.state, book(count=1), now_ms=at.now_ms)
    assert (seen.nodes, seen.is_made) == (("n1",), True)
    at.do(book(count=1))
    at.do(book("gpus", gpus=3))
    assert (nodes(at), nodes(at, "gpus")) == (("n1",), ("n2",))


def test_of_a_limited_generation_no_more_are_chosen_than_fit() -> None:
    at = mixed()
    limit(at, hopper=8, ampere=2)
    at.do(book(count=2))
    assert nodes(at) == ("a1", "n1")
    at.do(book("later", count=2, starts_ms=ENDS, ends_ms=ENDS + 1))
    assert nodes(at, "later") == ("a1", "n1")


def test_what_is_within_quota_is_not_left_out_for_something_smaller() -> None:
    at = desk(1, 4)
    limit(at, hopper=4)
    at.do(book(gpus=4))
    assert nodes(at) == ("n2",)


def test_where_all_that_would_do_is_closed_by_quota_that_is_the_refusal() -> None:
    at = mixed()
    limit(at, ampere=0)
    error = refused(at, count=1)
    assert error.reason is BookingRefusal.ABOVE_QUOTA
    assert error.numbers == {"scope": "acme", "limit": 0, "booked": 0, "wanted": 2}
    assert "nvidia_ampere GPUs" in str(error)
    seen = foresee_booking(at.state, book(count=1), now_ms=at.now_ms)
    assert (seen.nodes, seen.is_made, seen.above is None) == ((), False, False)


def test_quota_is_asked_before_nodes_are_chosen() -> None:
    at = mixed()
    limit(at, hopper=8, ampere=0)
    at.do(SetQuota("rival", Quota()))
    at.do(book("taken", tenant="rival", count=4))
    for what in ({"count": 1, "generation": AMPERE}, {"gpus": 1, "generation": AMPERE}):
        assert refused(at, **what).reason is BookingRefusal.ABOVE_QUOTA
    assert refused(at, gpus=9, generation=HOPPER).numbers["limit"] == 8
    assert refused(at, count=1, generation=HOPPER).reason is BookingRefusal.TOO_FEW_FREE
    at.do(SetQuota("acme", Quota((ResourceLimit.gpu_count(3),))))
    assert refused(at, count=2).reason is BookingRefusal.ABOVE_QUOTA
    assert refused(at, gpus=4).reason is BookingRefusal.ABOVE_QUOTA
    assert refused(at, nodes=("n1",)).reason is BookingRefusal.ABOVE_QUOTA


def test_the_earliest_start_is_one_of_nodes_that_quota_opens() -> None:
    at = mixed()
    limit(at, hopper=8)
    at.do(book("taken", tenant="rival", nodes=("n1", "n2")))
    error = refused(at, count=1)
    assert (error.reason, error.times) == (BookingRefusal.TOO_FEW_FREE, {"earliest_ms": ENDS})
    assert (error.numbers["found"], error.numbers["suitable"]) == (0, 2)


def test_what_a_policy_closes_is_told_as_that_where_it_is_the_cause() -> None:
    at = desk(1, 1)
    at.do(LabelNode("n1", ("zone=a",)))
    at.do(SetIsolationPolicy("tenant acme only on nodes with zone=a"))
    error = refused(at, count=2)
    assert error.reason is BookingRefusal.CLOSED_TO_PROJECT
    assert error.numbers == {"wanted": 2, "found": 1, "suitable": 1, "closed": 1}
    assert "an isolation policy closes 1 such nodes to the project" in str(error)
    assert refused(at, count=3).reason is BookingRefusal.TOO_FEW_FREE


def test_gpus_on_more_nodes_than_a_booking_may_have_are_refused_with_field_and_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (choice, refusals):
        monkeypatch.setattr(module, "BOOKED_NODES_MAX", 2)
    at = desk(1, 1, 1)
    error = refused(at, gpus=3)
    assert error.reason is BookingRefusal.TOO_MANY_NODES
    assert error.numbers == {"field": "gpus", "limit": 2, "wanted": 3}
    assert "3 GPUs are on more than 2 nodes" in str(error)


def test_a_refusal_names_its_points_in_time() -> None:
    at = desk(1)
    at.do(book("taken", tenant="rival"))
    error = refused(at)
    assert error.times == {"earliest_ms": ENDS}
    assert str(ENDS) in str(error)


def test_in_the_place_of_a_lost_node_stands_one_that_quota_opens() -> None:
    at = mixed()
    limit(at, hopper=8, ampere=2)
    at.do(book(count=2))
    assert nodes(at) == ("a1", "n1")
    at.do(DepartNode("n1"))
    at.do(ReplaceBooked("b", **OWN))
    assert nodes(at) == ("a1", "n2"), "of Amperes there may be no more"
    assert at.now_ms < STARTS
