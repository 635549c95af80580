"""What agents find closes nodes, within bounds; a test is asked for, or comes by time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bailiwick.kernel import (
    BeginTest,
    CancelWindow,
    ChangeMode,
    ChangeSettings,
    DepartNode,
    Elect,
    OpenNode,
    PlanWindow,
    Quarantine,
    Release,
    ReportHealth,
    digest_of,
    encode,
)
from bailiwick.kernel.fleet.events import LeaderElected
from bailiwick.kernel.health.rules import TOLD_EVERY_MS, most_drained
from bailiwick.kernel.slices import apply
from bailiwick.vocab.errors import Conflict, InvalidValue, LimitReached, NotFound
from bailiwick.vocab.health import (
    HealthAction,
    HealthCheck,
    HealthFinding,
    HealthLevel,
    NodeTestCause,
    NodeTestOutcome,
)
from bailiwick.vocab.transitions import NodeMode, RevokeState
from bailiwick.vocab.words import PreemptionReason
from bailiwick.whatif.reader import read_history
from tests.unit.kernel.desk import HIGH, LOW, Desk, cores, started
from tests.unit.kernel.health_desk import (
    ECC,
    HOT,
    MINUTE,
    XID,
    desk,
    drained,
    health,
    mode,
    order_of,
    passes,
    read_back,
    tell,
)

# -- findings ----------------------------------------------------------------------------------


def test_a_failure_drains_the_node_with_its_record_before_and_the_usual_grace() -> None:
    d = desk()
    lease = d.lease(ttl_ms=MINUTE)
    tell(d, ECC, HOT)
    assert d.kinds[:2] == ["node_health_changed", "node_mode_changed"]
    first = d.records[-len(d.told)]
    assert first.body["action"] == "drain"
    assert first.body["findings"] == ("ecc/fail/1/2/0/0", "thermal/warn/0/88/85/0")
    assert mode(d) is NodeMode.DRAINING
    assert d.state.phase(lease) is RevokeState.GRACE_RUNNING
    reason = d.state.ledger.revoking[d.state.handle(lease)]
    assert reason is PreemptionReason.OPERATOR_DRAIN
    steps = [e.body for e in d.records if e.kind.value == "lease_revoked"]
    assert [(e["preemptor"], e["rule"]) for e in steps] == [("health", "ecc")] * 2
    d.tick(d.now_ms + 500)
    d.tick(d.now_ms + 1)
    (over,) = (e.body for e in d.records if e.kind.value == "lease_preempted")
    assert over["preemptor"] == "health"
    assert mode(d) is NodeMode.DRAINED
    assert mode(d, "n2") is NodeMode.ACCEPTING


def test_a_warning_is_told_and_changes_nothing() -> None:
    d = desk()
    tell(d, HOT)
    assert d.kinds == ["node_health_changed"]
    assert (mode(d), health(d).findings) == (NodeMode.ACCEPTING, (HOT,))
    assert not health(d).is_unfit


def test_what_is_known_already_is_not_recorded_again() -> None:
    d = desk()
    tell(d, HOT)
    tell(d, HOT)
    assert d.told == ()
    d.now_ms += TOLD_EVERY_MS
    tell(d)
    assert d.kinds == ["node_health_changed"]
    assert health(d).findings == ()


def test_a_node_that_was_never_heard_of_tells_that_nothing_is_wrong_once() -> None:
    d = desk()
    tell(d, can_test=False)
    assert d.kinds == ["node_health_changed"]
    tell(d, can_test=False)
    assert d.told == ()


def test_an_agent_that_changes_its_mind_does_not_fill_the_journal() -> None:
    d = desk()
    tell(d, HOT)
    size = len(d.lines)
    for value in range(100, 300):
        d.now_ms += 100
        hot = HealthFinding(HealthCheck.THERMAL, HealthLevel.WARN, gpu=0, value=value, limit=85)
        with pytest.raises(LimitReached):
            tell(d, hot)
    assert len(d.lines) == size
    tell(d, HOT, ECC)  # but what closes the node is heard at once
    assert mode(d) is NodeMode.DRAINING
    size = len(d.lines)
    for code in range(1, 50):  # nor do new failures, once it is closed
        with pytest.raises(LimitReached):
            tell(d, HealthFinding(HealthCheck.XID, HealthLevel.FAIL, gpu=0, code=code))
    assert len(d.lines) == size


def test_what_clears_is_told_and_opens_nothing() -> None:
    d = desk()
    drained(d)
    d.now_ms += TOLD_EVERY_MS
    tell(d)
    assert health(d).findings == ()
    for _ in range(3):
        d.tick(d.now_ms + MINUTE)
    assert mode(d) is NodeMode.DRAINED
    assert health(d).is_unfit


def order_of_the_fleet_only_a_share_is_drained_and_the_rest_is_closed_to_new_work() -> None:
    d = desk(nodes=20)
    assert most_drained(d.state) == 2
    lease = d.lease(ttl_ms=10 * MINUTE)
    where = str(d.state.node_of(lease))
    others = [f"n{i}" for i in range(1, 21) if f"n{i}" != where]
    for node in (*others[:3], where):
        tell(d, XID, node=node)
    modes = [mode(d, node) for node in (*others[:3], where)]
    assert modes == [NodeMode.DRAINING] * 2 + [NodeMode.CORDONED] * 2
    assert d.state.health.held_back == {others[2], where}
    assert d.state.phase(lease) is RevokeState.ACTIVE
    d.tick(d.now_ms + 1)
    d.do(OpenNode(others[0], untested=True))
    d.now_ms += TOLD_EVERY_MS
    tell(d, XID, ECC, node=where)  # now there is room
    assert mode(d, where) is NodeMode.DRAINING
    assert d.state.phase(lease) is RevokeState.GRACE_RUNNING
    assert d.state.health.held_back == {others[2]}


def test_in_a_small_fleet_one_node_is_drained() -> None:
    d = desk(health_drain_milli=1)
    tell(d, ECC)
    tell(d, ECC, node="n2")
    assert (mode(d), mode(d, "n2")) == (NodeMode.DRAINING, NodeMode.CORDONED)


def test_a_node_that_somebody_cordoned_is_drained_too() -> None:
    d = desk()
    d.do(ChangeMode("n1", NodeMode.CORDONED))
    tell(d, ECC)
    assert mode(d) is NodeMode.DRAINING


def test_a_node_that_is_closed_otherwise_is_left_as_it_is() -> None:
    d = desk()
    d.do(ChangeMode("n1", NodeMode.DRAINING))
    d.tick()
    d.do(ChangeMode("n1", NodeMode.MAINTENANCE))
    tell(d, ECC)
    assert d.kinds == ["node_health_changed"]
    assert mode(d) is NodeMode.MAINTENANCE
    assert health(d).closed is HealthAction.NONE


def test_nobody_reports_for_a_machine_that_is_not_there() -> None:
    d = desk()
    d.refuses(NotFound, ReportHealth("n9", (ECC,), True))
    with pytest.raises(InvalidValue):
        ReportHealth("n1", (ECC, ECC), True)


def test_findings_are_one_set_in_whatever_order_they_are_told() -> None:
    assert ReportHealth("n1", (HOT, ECC), True) == ReportHealth("n1", (ECC, HOT), True)


# -- tests that are asked for, or by time ------------------------------------------------------


def test_a_test_in_maintenance_leaves_the_node_there() -> None:
    d = desk()
    drained(d)
    d.do(BeginTest("n1"))
    d.do(ChangeMode("n1", NodeMode.MAINTENANCE))
    passes(d)
    assert (mode(d), health(d).findings) == (NodeMode.MAINTENANCE, ())


def test_an_idle_node_is_closed_for_its_test_and_open_again() -> None:
    d = desk()
    tell(d)
    d.do(BeginTest("n1"))
    assert (mode(d), order_of(d).reopens) == (NodeMode.CORDONED, True)
    d.refuses(Conflict, OpenNode("n1"))
    passes(d)
    assert mode(d) is NodeMode.ACCEPTING
    d.do(BeginTest("n1"))
    passes(d, "n1", ECC)
    assert mode(d) is NodeMode.DRAINING
    assert d.state.health.drained == {"n1"}


def test_a_node_with_leases_is_not_tested() -> None:
    d = desk(nodes=1)
    tell(d)
    d.lease(ttl_ms=MINUTE)
    d.refuses(Conflict, BeginTest("n1"))


def test_a_closed_node_that_lost_its_fence_is_not_tested_over_what_may_still_run_there() -> None:
    d = desk()
    tell(d)
    lease = d.lease(ttl_ms=10 * MINUTE)
    d.do(ChangeMode("n1", NodeMode.FENCE_LOST))
    d.do(ChangeMode("n1", NodeMode.MAINTENANCE))
    for way in (OpenNode("n1"), BeginTest("n1")):
        assert "still holds leases" in d.refuses(Conflict, way)
    d.do(ChangeMode("n1", NodeMode.RETURNING))
    for way in (OpenNode("n1"), BeginTest("n1")):
        assert "still holds leases" in d.refuses(Conflict, way)
    d.do(Release(lease))
    d.do(OpenNode("n1"))
    assert order_of(d).cause is NodeTestCause.RETURNING


def test_an_operator_may_take_such_a_node_as_it_is() -> None:
    d = desk()
    tell(d)
    lease = d.lease(ttl_ms=10 * MINUTE)
    d.do(ChangeMode("n1", NodeMode.FENCE_LOST))
    d.do(ChangeMode("n1", NodeMode.MAINTENANCE))
    d.do(OpenNode("n1", untested=True))
    assert (mode(d), d.state.leases_on("n1")) == (NodeMode.ACCEPTING, [lease])


def test_a_node_on_which_room_is_kept_for_somebody_is_not_tested_though_it_is_empty() -> None:
    d = Desk(nodes=[cores(10)], grace_ms=30_000)
    tell(d)
    victim = d.lease("slow", cpu_cores=10, priority=LOW, ttl_ms=900_000)
    entry = d.wait("fast", cpu_cores=8, priority=HIGH)
    d.do(Release(victim))
    assert d.state.leases_on("n1") == []
    d.refuses(Conflict, BeginTest("n1"))
    d.tick()
    assert started(d) == [entry]


def test_an_idle_node_is_drained_by_hand_from_under_its_test() -> None:
    d = desk()
    tell(d)
    d.do(BeginTest("n1"))
    d.do(ChangeMode("n1", NodeMode.DRAINING))
    assert d.kinds[:2] == ["node_test_ended", "node_mode_changed"]
    assert health(d).tests[0].outcome is NodeTestOutcome.CANCELLED


def test_a_failure_that_its_agent_tells_ends_the_test_of_an_idle_node() -> None:
    d = desk()
    tell(d)
    d.do(BeginTest("n1"))
    tell(d, ECC)
    assert d.kinds == ["node_health_changed", "node_test_ended", "node_mode_changed"]
    assert (mode(d), d.state.health.tests) == (NodeMode.DRAINING, {})


def test_idle_nodes_are_tested_by_time_a_few_at_once_and_never_too_many() -> None:
    d = desk(nodes=40, test_every_ms=86_400_000, health_drain_milli=75)
    d.now_ms = 90_000_000
    for number in range(1, 41):
        tell(d, node=f"n{number}")
    busy = {str(d.state.node_of(i)) for i in d.gang(5, ttl_ms=10 * MINUTE)}
    d.tick(d.now_ms + 1_000)
    on = set(d.state.health.tests)
    assert len(on) == most_drained(d.state) == 3
    assert not on & busy
    d.tick(d.now_ms + 1_000)
    assert set(d.state.health.tests) == on
    for node in sorted(on):
        passes(d, node, ECC)
    d.tick(d.now_ms + 1_000)
    assert d.state.health.tests == {}, "too many are drained for more to be risked"


def test_by_time_nobody_is_tested_unless_somebody_says_so() -> None:
    d = desk()
    tell(d)
    assert d.tick(d.now_ms + 40 * 86_400_000) == []


def test_an_idle_test_is_not_begun_before_a_window_and_not_twice() -> None:
    d = desk(nodes=1, test_every_ms=86_400_000, test_wait_ms=MINUTE)
    d.now_ms = 90_000_000
    tell(d)
    d.do(PlanWindow("w", ("n1",), d.now_ms + 50_000, d.now_ms + 200_000, 1_000))
    assert d.tick(d.now_ms + 1) == []
    d.do(CancelWindow("w"))
    d.tick(d.now_ms + 1)
    passes(d)
    assert mode(d) is NodeMode.ACCEPTING
    assert d.tick(d.now_ms + 86_000_000) == []
    d.tick(d.now_ms + 400_000)
    assert order_of(d).cause is NodeTestCause.IDLE
    d.tick(d.now_ms + MINUTE)
    assert mode(d) in (NodeMode.DRAINING, NodeMode.DRAINED)


def test_an_outage_closes_no_healthy_node_whose_test_nobody_could_hear_of() -> None:
    d = desk(nodes=20, test_every_ms=10 * MINUTE, test_wait_ms=2 * MINUTE, health_drain_milli=200)
    nodes = [f"n{number}" for number in range(1, 21)]
    for node in nodes:
        tell(d, node=node)
    d.tick(10 * MINUTE)
    tests = dict(d.state.health.tests)
    assert len(tests) == 4
    d.at(25 * MINUTE).do(Elect(1, "next"))
    d.tick()
    assert {each.due_ms for each in d.state.health.tests.values()} == {27 * MINUTE}
    assert {n: t.id for n, t in d.state.health.tests.items()} == {n: t.id for n, t in tests.items()}
    assert digest_of(read_back(d)) == digest_of(d.replayed().state) == d.digest
    for node in tests:
        passes(d, node)  # the agent is told the same order, and tells until it is heard
    d.do(ChangeSettings(replace(d.state.settings, test_every_ms=0)))
    d.tick(26 * MINUTE)
    assert {mode(d, node) for node in nodes} == {NodeMode.ACCEPTING}


def test_an_agent_that_stays_silent_is_not_waited_for_longer_than_that() -> None:
    d = desk(test_wait_ms=2 * MINUTE)
    drained(d)
    d.do(OpenNode("n1"))
    begun_ms = d.now_ms
    d.at(begun_ms + MINUTE).do(Elect(1, "next"))
    d.at(begun_ms + 2 * MINUTE).do(Elect(2, "next"))
    d.tick(begun_ms + 4 * MINUTE - 1)
    assert order_of(d).due_ms == begun_ms + 4 * MINUTE
    assert d.tick(begun_ms + 4 * MINUTE) == ["node_test_ended"]
    assert health(d).verdict is NodeTestOutcome.TIMED_OUT


def test_an_election_of_an_earlier_version_leaves_the_time_as_it_was() -> None:
    d = desk(test_wait_ms=2 * MINUTE)
    drained(d)
    d.do(OpenNode("n1"))
    due_ms = order_of(d).due_ms
    apply(d.state, LeaderElected(1, "next"), due_ms + MINUTE)  # as such a journal tells it
    assert order_of(d).due_ms == due_ms


def test_an_election_says_nothing_where_nobody_is_tested() -> None:
    d = desk()
    tell(d)
    d.do(Elect(1, "next"))
    assert "waits_anew" not in d.last[0].body


def test_a_quarantined_node_is_not_tested_for_being_idle() -> None:
    d = desk(nodes=1, test_every_ms=1_000)
    tell(d)
    d.do(Quarantine("n1", "odd"))
    assert "node_test_begun" not in d.tick(d.now_ms + 5_000)


# -- what is kept ------------------------------------------------------------------------------


def test_a_snapshot_keeps_all_of_it_and_a_fleet_without_has_nothing_in_it() -> None:
    d = desk(nodes=4)
    assert b"node_health" not in encode(d.state)
    drained(d)
    d.do(OpenNode("n1"))
    tell(d, HOT, node="n2")
    tell(d, node="n3")
    d.do(DepartNode("n3"))
    again = read_back(d)
    for name in ("nodes", "tests", "away", "drained", "held_back", "joining"):
        assert getattr(again.health, name) == getattr(d.state.health, name), name
    assert digest_of(d.replayed().state) == d.digest


def test_a_repaired_clock_leaves_an_agent_its_time() -> None:
    d = desk()
    drained(d)
    d.now_ms = 10**9
    d.do(OpenNode("n1"))
    left = order_of(d).due_ms - d.now_ms
    outcome = d.kernel.repair_clock(5_000_000, actor="op", why="wrong")
    d.lines.extend(outcome.lines)
    assert order_of(d).due_ms == 5_000_000 + left
    assert health(d).failed_ms is not None
    assert health(d).failed_ms <= 5_000_000


def test_what_if_reads_such_a_journal() -> None:
    d = desk()
    d.lease(ttl_ms=MINUTE)
    tell(d, ECC)
    d.tick(d.now_ms + 500)
    d.tick(d.now_ms + 1)
    d.do(OpenNode("n1"))
    passes(d)
    done = [type(step.action).__name__ for step in read_history(d.records).plan]
    assert "ChangeMode" in done
