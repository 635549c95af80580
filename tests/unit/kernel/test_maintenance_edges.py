"""Windows of maintenance at their edges: teardowns, outages, overlaps, machines that stay away."""

from __future__ import annotations

from bailiwick.fleet.node import EXECUTOR_LABEL
from bailiwick.kernel import (
    BeginTest,
    CancelMig,
    ChangeMig,
    ChangeMode,
    DepartNode,
    ReportHealth,
    ReportMig,
    ReportTeardown,
    ReportTest,
)
from bailiwick.kernel.maintenance.book import AWAY_MS
from bailiwick.kernel.maintenance.foresight import foresee_window
from bailiwick.vocab.mig import MigFailure
from bailiwick.vocab.transitions import NodeMode, RevokeState
from tests.unit.kernel.desk import Desk, cores
from tests.unit.kernel.test_maintenance import CLOSES, ENDS, STARTS, check_copy, desk, mode, plan


def test_who_was_let_in_up_to_the_beginning_has_his_whole_term_and_a_teardown_after_it() -> None:
    at = Desk(nodes=[cores(8, labels={EXECUTOR_LABEL: "agent"})], grace_ms=500, teardown_ms=2_000)
    at.do(plan())
    lease = at.lease(ttl_ms=STARTS - at.now_ms)
    assert foresee_window(at.state, plan(window="v"), now_ms=at.now_ms).leaving == 0
    at.tick(CLOSES)
    assert at.state.phase(lease) is RevokeState.ACTIVE
    at.tick(STARTS)
    assert at.state.ledger.entry("n1").mode is NodeMode.DRAINING
    at.do(ReportTeardown(lease, clean=True))
    at.tick(STARTS + 1)
    assert at.state.ledger.entry("n1").mode is NodeMode.MAINTENANCE
    assert not at.of_kind("lease_preempted")


def test_after_an_outage_the_grace_is_no_longer_than_the_lead() -> None:
    at = desk()
    lease = at.lease(ttl_ms=ENDS)
    at.do(plan(lead_ms=100))
    at.tick(STARTS + 10)
    assert at.state.fields(lease).expires_ms == STARTS + 110


def test_of_windows_that_overlap_the_first_says_when_work_has_to_be_gone() -> None:
    at = desk()
    lease = at.lease(ttl_ms=ENDS)
    at.do(plan(window="later", starts_ms=STARTS + 5_000, lead_ms=STARTS + 5_000 - CLOSES))
    at.do(plan())
    at.tick(CLOSES)
    assert at.state.fields(lease).expires_ms == STARTS


def closed_for_a_test() -> Desk:
    """A node that took work, and is closed for its test when a window of it comes near."""
    at = desk(2)
    at.do(ReportHealth("n1", (), can_test=True))
    at.do(plan())
    at.at(CLOSES - 1).do(BeginTest("n1"))
    assert mode(at) is NodeMode.CORDONED
    return at


def test_a_window_has_a_node_that_is_closed_for_a_test_alone() -> None:
    at = closed_for_a_test()
    at.tick(CLOSES)
    assert at.state.health.tests == {}
    check_copy(at)
    at.tick(STARTS)
    assert (mode(at), set(at.state.maintenance.held)) == (NodeMode.MAINTENANCE, {"n1"})
    at.tick(ENDS)
    assert mode(at) is NodeMode.RETURNING  # tested again, since the window was over it
    at.do(ReportTest("n1", at.state.health.tests["n1"].id))
    assert mode(at) is NodeMode.ACCEPTING


def test_a_test_that_is_passed_before_the_window_closes_its_node_does_not_open_it() -> None:
    at = closed_for_a_test()
    at.do(plan("n2", window="v"))
    at.tick(CLOSES, limit=2)  # both windows have their nodes, and the tick is at its end
    assert (mode(at), set(at.state.maintenance.held)) == (NodeMode.CORDONED, {"n1", "n2"})
    check_copy(at)
    at.do(ReportTest("n1", at.state.health.tests["n1"].id))
    assert mode(at) is NodeMode.DRAINING
    check_copy(at)
    at.tick(STARTS)
    assert (mode(at), set(at.state.maintenance.held)) == (NodeMode.MAINTENANCE, {"n1", "n2"})


def test_a_node_that_somebody_cordoned_is_no_windows_though_it_could_be_tested() -> None:
    at = desk(2)
    at.do(ReportHealth("n1", (), can_test=True))
    at.do(plan())
    at.do(ChangeMode("n1", NodeMode.CORDONED))
    at.tick(STARTS)
    assert (mode(at), at.state.maintenance.held) == (NodeMode.CORDONED, {})


def repartitioned_meanwhile() -> tuple[Desk, int]:
    """A change of MIG profiles that begins before a window of its node, and is not done by then."""
    at = Desk(nodes=[cores(8, gpus=2)] * 2, grace_ms=500)
    at.do(plan())
    at.at(CLOSES - 1).do(ChangeMig("n1", (0,), ("3g.71gb",), wait_ms=60_000))
    at.tick()
    at.tick(STARTS)
    assert (mode(at), at.state.maintenance.held) == (NodeMode.MAINTENANCE, {})
    return at, at.state.mig.changes["n1"].id


def test_a_node_that_was_repartitioned_when_its_window_came_is_the_windows_once_that_is_done() -> (
    None
):
    at, change = repartitioned_meanwhile()
    at.do(ReportMig("n1", change))
    assert at.kinds == ["mig_change_ended", "window_phase_changed"]
    assert (mode(at), set(at.state.maintenance.held)) == (NodeMode.MAINTENANCE, {"n1"})
    check_copy(at)
    at.tick(ENDS - 1)
    assert mode(at) is NodeMode.MAINTENANCE
    at.tick(ENDS)
    assert (mode(at), at.state.maintenance.held) == (NodeMode.ACCEPTING, {})


def test_one_that_was_not_done_is_no_windows() -> None:
    at, change = repartitioned_meanwhile()
    at.do(ReportMig("n1", change, MigFailure.IN_USE))
    at.tick(ENDS)
    assert (mode(at), at.state.maintenance.held) == (NodeMode.MAINTENANCE, {})


def test_called_off_while_it_is_emptied_the_node_is_the_windows() -> None:
    at = Desk(nodes=[cores(8, gpus=2)], grace_ms=STARTS)
    lease = at.lease(ttl_ms=STARTS - at.now_ms)
    at.do(plan())
    at.at(CLOSES - 1).do(ChangeMig("n1", (0,), ()))
    at.tick(CLOSES)
    assert at.state.maintenance.held == {}
    at.do(CancelMig("n1"))
    assert (mode(at), set(at.state.maintenance.held)) == (NodeMode.DRAINING, {"n1"})
    check_copy(at)
    for now_ms in (STARTS, STARTS + 1):
        at.tick(now_ms)
    assert lease not in at.state.leases
    assert mode(at) is NodeMode.MAINTENANCE


def test_a_machine_that_went_is_missed_after_the_last_of_its_windows_and_for_a_week() -> None:
    at = desk(2)
    at.do(plan())
    at.do(plan(window="v", starts_ms=STARTS + 1_000, ends_ms=ENDS + 10_000))
    at.tick(CLOSES)
    at.tick(STARTS)
    at.do(DepartNode("n1"))
    at.tick(ENDS)
    assert at.state.maintenance.overdue(ENDS) == 0
    at.tick(ENDS + 10_000)
    assert at.state.maintenance.overdue(ENDS + 10_000) == 1
    over_ms = ENDS + 10_000 + AWAY_MS
    at.do(plan("n2", window="next", starts_ms=over_ms - 10, ends_ms=over_ms, lead_ms=0))
    at.tick(over_ms - 10)
    assert at.state.maintenance.overdue(over_ms - 10) == 1
    at.tick(over_ms)
    assert at.state.maintenance.overdue(over_ms) == 0
    check_copy(at)


def test_a_machine_that_is_gone_for_good_is_missed_for_a_week_whatever_ends_after() -> None:
    at = desk(2)
    at.do(plan())
    at.tick(CLOSES)
    at.tick(STARTS)
    at.do(DepartNode("n1"))
    at.tick(ENDS)
    last_ms = ENDS + AWAY_MS - 1
    told = [at.state.maintenance.overdue(each) for each in (ENDS, last_ms, last_ms + 1)]
    assert told == [1, 1, 0]
    at.tick(last_ms + 365 * AWAY_MS)
    assert at.state.maintenance.overdue(at.now_ms) == 0
