"""When a wait runs: only while who booked could have used the node."""

from __future__ import annotations

import pytest

from bailiwick.kernel import (
    ChangeMode,
    DepartNode,
    Elect,
    LiftQuarantine,
    PlanWindow,
    Quarantine,
    RegisterNode,
    Release,
)
from bailiwick.vocab.transitions import NodeMode
from tests.unit.kernel.desk import Desk, cores, started
from tests.unit.kernel.test_bookings import (
    ENDS,
    OWN,
    STARTS,
    WAIT,
    book,
    booking,
    check_copy,
    desk,
    owned,
)

LATE = STARTS + WAIT + 1_000


def is_given_back_at(at: Desk, at_ms: int) -> None:
    """The one node is given back then, and not before."""
    assert booking(at)
    at.tick(at_ms - 1)
    assert booking(at)
    check_copy(at)
    at.tick(at_ms)
    assert [(each.kind, each.body["cause"]) for each in at.last] == [("booking_ended", "unused")]
    check_copy(at)


def test_the_first_tick_from_the_beginning_on_says_that_it_has_begun() -> None:
    at = desk(1)
    at.do(book(wait_ms=WAIT))
    assert at.tick(STARTS - 1) == []
    assert at.tick(STARTS) == ["booking_begun"]
    assert at.last[0].body == {"booking": "b"}
    assert (at.last[0].tenant, at.last[0].project) == ("acme", "class")
    assert at.tick(STARTS + 1) == []
    is_given_back_at(at, STARTS + WAIT)


def test_after_an_outage_over_its_beginning_the_owner_still_has_the_wait() -> None:
    at = desk(1)
    at.do(book(wait_ms=WAIT))
    at.lease("rival", gpu_count=1, ttl_ms=STARTS - 1_000 - at.now_ms)
    at.wait("stranger", gpu_count=1, ttl_ms=20_000)
    own = at.wait(**OWN, gpu_count=1, ttl_ms=20_000)
    at.tick(LATE)
    assert started(at) == [own], "he waited for it, and it is his"
    check_copy(at)


def test_after_an_outage_the_wait_begins_with_the_tick_that_says_so() -> None:
    at = desk(1)
    at.do(book(wait_ms=WAIT))
    assert at.tick(LATE) == ["booking_begun"]
    is_given_back_at(at, LATE + WAIT)


def test_after_an_outage_in_between_who_leads_next_lets_it_begin_anew() -> None:
    at = desk(1)
    at.do(book(wait_ms=WAIT))
    at.tick(STARTS)
    at.at(LATE).do(Elect(1, "next"))
    assert at.tick() == []
    is_given_back_at(at, LATE + WAIT)


def test_who_waits_in_the_line_is_looked_at_before_a_node_is_given_back() -> None:
    at = desk(1)
    at.do(book(wait_ms=WAIT))
    at.tick(STARTS)
    lease = owned(at, ttl_ms=2_000)
    own = at.wait(**OWN, gpu_count=1, ttl_ms=10_000)
    at.at(STARTS + 1_000)
    assert at.phase(lease) == "active"
    assert at.tick(STARTS + 2_000 + 2 * WAIT)[-1] == "admission_approved"
    assert started(at) == [own]
    assert booking(at)


def test_while_a_window_holds_the_node_the_wait_does_not_run() -> None:
    at = desk(1)
    at.do(book(wait_ms=WAIT))
    at.do(PlanWindow("w", ("n1",), STARTS - 1_000, LATE, 0))
    at.tick(STARTS - 1_000)
    at.tick(STARTS)
    assert at.tick(STARTS + WAIT) == []
    check_copy(at)
    at.tick(LATE)
    assert at.state.ledger.entry("n1").takes_leases
    is_given_back_at(at, LATE + WAIT)


def test_a_machine_that_is_away_and_comes_back_has_the_whole_wait() -> None:
    at = desk(1)
    at.do(book(wait_ms=WAIT))
    at.at(STARTS - 10).do(DepartNode("n1"))
    at.tick(STARTS)
    assert at.tick(STARTS + WAIT) == []
    check_copy(at)
    at.at(LATE).do(RegisterNode("n1", cores(8, gpus=1)))
    is_given_back_at(at, LATE + WAIT)


@pytest.mark.parametrize("is_quarantined", [True, False])
def test_a_node_that_is_closed_and_opened_meanwhile_has_the_whole_wait(
    is_quarantined: bool,
) -> None:
    at = desk(1)
    at.do(book(wait_ms=WAIT))
    at.tick(STARTS)
    shut = Quarantine("n1", "evidence_is_stale") if is_quarantined else None
    at.at(STARTS + 1_000).do(shut or ChangeMode("n1", NodeMode.CORDONED))
    check_copy(at)
    assert "booking_ended" not in at.tick(LATE)
    opens = LiftQuarantine("n1", override=True, note="seen") if is_quarantined else None
    at.do(opens or ChangeMode("n1", NodeMode.ACCEPTING))
    is_given_back_at(at, LATE + WAIT)


def test_a_lease_that_ends_on_a_closed_node_begins_no_wait_until_it_is_open() -> None:
    at = desk(1)
    at.do(book(wait_ms=WAIT))
    at.tick(STARTS)
    lease = owned(at, ttl_ms=20_000)
    at.do(ChangeMode("n1", NodeMode.CORDONED))
    at.at(STARTS + 1_000).do(Release(lease))
    assert at.tick(LATE + WAIT) == []
    at.do(ChangeMode("n1", NodeMode.ACCEPTING))
    is_given_back_at(at, LATE + 2 * WAIT)


def test_one_that_was_missed_but_for_less_than_the_wait_keeps_its_nodes_to_the_end() -> None:
    at = desk(1)
    at.do(book(wait_ms=WAIT))
    assert at.tick(ENDS - 1_000) == ["booking_begun"]
    assert at.tick(ENDS - 1) == []
    assert at.tick(ENDS) == ["booking_ended"]
    assert at.last[0].body["cause"] == "over"
