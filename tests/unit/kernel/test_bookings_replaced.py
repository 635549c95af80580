"""Booked nodes that are lost before the booking begins: others stand for them, and nobody goes."""

from __future__ import annotations

from functools import partial

import pytest

from bailiwick.kernel import (
    ChangeMode,
    DepartNode,
    PlanWindow,
    RegisterNode,
    ReplaceBooked,
    SetQuota,
)
from bailiwick.kernel.bookings.refusals import BookingRefused
from bailiwick.kernel.people.commands import (
    ChangeProject,
    ChangeTenant,
    CreateProject,
    CreateTenant,
)
from bailiwick.scheduler.quota_policy import Quota, ResourceLimit
from bailiwick.vocab.errors import Conflict, NotFound
from bailiwick.vocab.transitions import NodeMode
from tests.unit.kernel.desk import cores
from tests.unit.kernel.test_bookings import ENDS, OWN, STARTS, book, booking, check_copy, desk


def test_a_node_that_is_gone_before_it_begins_is_replaced_by_one_that_fits() -> None:
    at = desk(1, 1, 1)
    at.do(book(count=2))
    at.refuses(Conflict, ReplaceBooked("b", **OWN))
    first, second = booking(at).nodes
    at.do(DepartNode(first))
    at.do(ReplaceBooked("b", **OWN))
    body = at.last[0].body
    assert (body["cause"], body["removed"]) == ("replaced", (first,))
    assert sorted((second, *body["added"])) == list(booking(at).nodes)
    assert not booking(at).given_back
    check_copy(at)
    at.refuses(Conflict, ReplaceBooked("b", **OWN))
    # The new one is kept for its owner as the old one was.
    told = at.refuses(BookingRefused, book("c", nodes=tuple(body["added"])))
    assert "0 are free" in told


def test_nobody_goes_for_a_node_that_is_replaced_and_where_none_fits_it_keeps_what_it_has() -> None:
    at = desk(1, 1)
    at.do(book(count=2))
    lost = booking(at).nodes[0]
    at.do(DepartNode(lost))
    assert "lacks 1 nodes, and 0 are free" in at.refuses(BookingRefused, ReplaceBooked("b", **OWN))
    assert lost in booking(at).nodes


def test_what_was_asked_for_by_name_or_has_begun_is_not_replaced() -> None:
    at = desk(1, 1, 1)
    at.do(book(nodes=("n1",)))
    at.do(DepartNode("n1"))
    assert "lacks no node" in at.refuses(Conflict, ReplaceBooked("b", **OWN))
    at.do(book("c", count=1))
    at.do(DepartNode(booking(at, "c").nodes[0]))
    at.tick(STARTS)
    assert "has begun" in at.refuses(Conflict, ReplaceBooked("c", **OWN))
    at.refuses(NotFound, ReplaceBooked("none", **OWN))


def test_who_is_closed_keeps_what_he_has_and_gets_no_other_node_until_he_is_opened_again() -> None:
    at = desk(1, 1)
    at.do(CreateTenant("acme"))
    at.do(CreateProject("acme", "class"))
    at.do(book(count=1))
    lost = booking(at).nodes
    at.do(DepartNode(lost[0]))
    for change in (partial(ChangeTenant, "acme"), partial(ChangeProject, "acme", "class")):
        at.do(change(is_open=False))
        assert "is closed" in at.refuses(Conflict, ReplaceBooked("b", **OWN))
        assert booking(at).nodes == lost
        at.do(change(is_open=True))
    at.do(ReplaceBooked("b", **OWN))
    assert booking(at).nodes != lost


def test_a_node_that_is_closed_is_replaced_too() -> None:
    at = desk(1, 1)
    at.do(book(count=1))
    node = booking(at).nodes[0]
    at.do(ChangeMode(node, NodeMode.CORDONED))
    at.do(ReplaceBooked("b", **OWN))
    assert node not in booking(at).nodes


@pytest.mark.parametrize("now_ms", [2_000, STARTS - 5_000])
def test_a_node_that_is_maintained_while_it_is_on_is_replaced_ahead_and_in_the_window(
    now_ms: int,
) -> None:
    at = desk(1, 1)
    at.do(book(count=1))
    node = booking(at).nodes[0]
    at.do(PlanWindow("w", (node,), STARTS - 10_000, ENDS, 0))
    at.tick(now_ms)
    at.do(ReplaceBooked("b", **OWN))
    assert node not in booking(at).nodes


def test_a_node_that_is_maintained_before_or_after_it_stays() -> None:
    at = desk(1, 1)
    at.do(book(count=1))
    node = booking(at).nodes[0]
    at.do(PlanWindow("before", (node,), STARTS - 10_000, STARTS, 0))
    at.do(PlanWindow("after", (node,), ENDS + 1_000, ENDS + 2_000, 1_000))
    at.refuses(Conflict, ReplaceBooked("b", **OWN))


def test_gpus_that_are_lost_are_replaced_by_as_many() -> None:
    at = desk(4, 4, 2, 2)
    at.do(book(gpus=8))
    assert booking(at).nodes == ("n1", "n2")
    at.do(DepartNode("n1"))
    at.do(ReplaceBooked("b", **OWN))
    assert booking(at).nodes == ("n2", "n3", "n4")


def test_a_machine_that_came_back_with_fewer_gpus_is_made_up_for() -> None:
    at = desk(4, 4, 2)
    at.do(book(gpus=8))
    at.refuses(Conflict, ReplaceBooked("b", **OWN))
    at.do(DepartNode("n1"))
    at.do(RegisterNode("n1", cores(8, gpus=3)))
    at.do(ReplaceBooked("b", **OWN))
    assert booking(at).nodes == ("n1", "n2", "n3")
    at.refuses(Conflict, ReplaceBooked("b", **OWN))
    check_copy(at)


def test_a_machine_that_came_back_without_gpus_is_none_of_so_many_nodes() -> None:
    at = desk(1, 1)
    at.do(book(count=1))
    at.do(DepartNode("n1"))
    at.do(RegisterNode("n1", cores(8)))
    at.do(ReplaceBooked("b", **OWN))
    assert booking(at).nodes == ("n2",)


def test_a_larger_node_in_its_place_has_to_be_within_the_quota() -> None:
    at = desk(2, 8, 2)
    at.do(SetQuota("acme", Quota((ResourceLimit.gpu_count(6),))))
    at.do(book("other", nodes=("n3",)))
    at.do(book(count=1))
    assert booking(at).nodes == ("n1",)
    at.do(DepartNode("n1"))
    told = at.refuses(BookingRefused, ReplaceBooked("b", **OWN))
    assert "8 GPUs with 2 booked within one longest term of that time are more than the 6" in told
    at.do(SetQuota("acme", Quota((ResourceLimit.gpu_count(10),))))
    at.do(ReplaceBooked("b", **OWN))
    assert booking(at).nodes == ("n2",)


def test_what_is_lost_does_not_count_beside_what_stands_for_it() -> None:
    at = desk(4, 4, 4)
    at.do(SetQuota("acme", Quota((ResourceLimit.gpu_count(8),))))
    at.do(book(count=2))
    at.do(ChangeMode(booking(at).nodes[0], NodeMode.CORDONED))
    at.do(ReplaceBooked("b", **OWN))
    assert booking(at).nodes == ("n2", "n3")
