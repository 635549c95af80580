"""Nobody has to go for room that is closed to the claimant's term by the time it is free."""

from __future__ import annotations

from typing import Any

import pytest

from bailiwick.kernel import Book, Command, PlanWindow
from bailiwick.kernel.work.claims.room import LOOK_MS
from bailiwick.scheduler.decision import NodesMaintained
from bailiwick.vocab.words import Priority
from tests.unit.kernel.desk import HIGH, LOW, Desk, cores, started

GRACE, TEARDOWN, STARTS, ENDS = 500, 2_000, 60_000, 90_000


def desk(count: int = 1, **how: Any) -> Desk:
    """Machines that are full of work which may be evicted."""
    made = Desk(nodes=[cores(8) for _ in range(count)], grace_ms=GRACE, **how)
    for _ in range(count):
        made.lease(ttl_ms=30_000, priority=LOW, cpu_cores=8)
    return made


def window(*nodes: str, lead_ms: int = 0) -> Command:
    return PlanWindow("w", nodes or ("n1",), STARTS, ENDS, lead_ms)


def booking(*nodes: str) -> Command:
    return Book("b", "acme", "class", STARTS, ENDS, nodes=nodes or ("n1",))


def urgent(at: Desk, *, spare_ms: int, priority: Priority = HIGH, **more: Any) -> int:
    """A request whose term would end so long before they begin, if it started now."""
    ttl_ms = STARTS - spare_ms - at.now_ms
    return at.wait(priority=priority, ttl_ms=ttl_ms, cpu_cores=8, **more)


@pytest.mark.parametrize("closing", [window(), booking()], ids=["window", "booking"])
def test_nobody_goes_where_the_term_would_not_fit_once_he_has_gone(closing: Command) -> None:
    at = desk()
    at.do(closing)
    urgent(at, spare_ms=GRACE + LOOK_MS - 1)
    assert not at.state.claims
    at.tick(at.now_ms + GRACE)
    assert not at.of_kind("lease_revoked")


@pytest.mark.parametrize("closing", [window(), booking()], ids=["window", "booking"])
def test_who_goes_goes_for_a_term_that_fits(closing: Command) -> None:
    at = desk()
    at.do(closing)
    entry = urgent(at, spare_ms=GRACE + LOOK_MS)
    assert at.state.claims[entry].seats[0].node == "n1"
    at.tick(at.now_ms + GRACE)
    at.tick(at.now_ms + LOOK_MS)
    assert [r.body["entry_id"] for r in at.of_kind("admission_approved")[1:]] == [entry]


def test_a_teardown_that_is_waited_for_counts_too() -> None:
    for spare_ms, goes in ((GRACE + TEARDOWN + LOOK_MS - 1, 0), (GRACE + TEARDOWN + LOOK_MS, 1)):
        at = desk(confirm_teardown=True, teardown_ms=TEARDOWN)
        at.do(window())
        urgent(at, spare_ms=spare_ms)
        assert len(at.state.claims) == goes


def test_a_node_that_is_closed_for_maintenance_meanwhile_is_room_for_nobody() -> None:
    at = desk()
    at.do(window(lead_ms=STARTS - at.now_ms - GRACE - LOOK_MS))
    urgent(at, spare_ms=40_000)
    assert not at.state.claims


def test_nobody_goes_for_a_gang_whose_term_would_not_fit() -> None:
    at = desk(3)
    at.do(booking("n1", "n2"))
    urgent(at, spare_ms=GRACE, gang_size=2)
    assert not at.state.claims
    at = desk(4)
    at.do(booking("n1", "n2"))
    entry = urgent(at, spare_ms=GRACE, gang_size=2)
    assert {seat.node for seat in at.state.claims[entry].seats} == {"n3", "n4"}


@pytest.mark.parametrize("close", [window, booking])
def test_however_many_nodes_are_closed_room_is_made_on_the_others(close: Any) -> None:
    at = desk(30)
    at.do(close(*(f"n{number}" for number in range(1, 30))))
    entry = urgent(at, spare_ms=-1)
    assert [seat.node for seat in at.state.claims[entry].seats] == ["n30"]


def test_who_was_told_to_go_stays_if_a_window_is_planned_over_the_room_meanwhile() -> None:
    at = desk()
    entry = urgent(at, spare_ms=GRACE + LOOK_MS)
    assert at.state.claims
    at.do(PlanWindow("w", ("n1",), STARTS - LOOK_MS - GRACE, ENDS, 0))
    at.tick(at.now_ms + GRACE)
    assert not at.state.claims
    assert len(at.of_kind("lease_restored")) == 1
    assert not started(at)
    denied = at.state.blocked[entry]
    assert denied is not None
    assert isinstance(denied.detail, NodesMaintained)
