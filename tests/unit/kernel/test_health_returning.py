"""Whoever brings a node back: it is tested before it takes work."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bailiwick.kernel import (
    BeginTest,
    CancelMig,
    CancelWindow,
    ChangeMig,
    ChangeMode,
    DepartNode,
    OpenNode,
    PlanWindow,
    RegisterNode,
    ReportMig,
    ReportTest,
    decode,
    digest_of,
    encode,
)
from bailiwick.kernel.health import book as health_book
from bailiwick.kernel.health.rules import TOLD_EVERY_MS
from bailiwick.kernel.slices import apply, event_of
from bailiwick.vocab.errors import Conflict, LimitReached, NotFound
from bailiwick.vocab.health import (
    FINDINGS_MAX,
    HealthCheck,
    HealthFinding,
    HealthLevel,
    NodeTestCause,
    NodeTestOutcome,
)
from bailiwick.vocab.transitions import NodeMode
from tests.unit.kernel.desk import cores
from tests.unit.kernel.health_desk import (
    ECC,
    HOT,
    MACHINE,
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

BURNT = HealthFinding(HealthCheck.BURN_IN, HealthLevel.FAIL, gpu=1, value=3)

# -- the way back ------------------------------------------------------------------------------


def test_a_drained_node_comes_back_by_a_test_that_it_passed() -> None:
    d = desk()
    drained(d)
    d.do(OpenNode("n1"))
    assert d.kinds == ["node_mode_changed", "node_test_begun"]
    assert (mode(d), order_of(d).cause) == (NodeMode.RETURNING, NodeTestCause.RETURNING)
    d.refuses(Conflict, OpenNode("n1"))
    d.refuses(Conflict, ChangeMode("n1", NodeMode.ACCEPTING))
    d.refuses(Conflict, ReportTest("n1", order_of(d).id + 1))
    passes(d)
    assert mode(d) is NodeMode.ACCEPTING
    assert not health(d).is_unfit
    assert health(d).tests[0].outcome is NodeTestOutcome.PASSED
    assert health(d).tests[0].took_ms == 7_000
    d.refuses(NotFound, ReportTest("n1", 1))


def test_a_node_that_fails_its_test_stays_and_may_be_tested_again() -> None:
    d = desk()
    drained(d)
    d.do(OpenNode("n1"))
    passes(d, "n1", XID)
    assert (mode(d), health(d).findings) == (NodeMode.RETURNING, (XID,))
    assert health(d).verdict is NodeTestOutcome.FAILED
    d.tick(d.now_ms + 10 * MINUTE)
    assert mode(d) is NodeMode.RETURNING
    d.refuses(Conflict, ChangeMode("n1", NodeMode.ACCEPTING))
    d.do(BeginTest("n1"))
    assert order_of(d).cause is NodeTestCause.RETURNING  # it is on its way back still
    passes(d)
    assert mode(d) is NodeMode.ACCEPTING


def test_a_node_that_was_returned_for_a_last_look_opens_by_no_test_alone() -> None:
    d = desk()
    drained(d)
    d.do(ChangeMode("n1", NodeMode.RETURNING))
    assert d.kinds == ["node_mode_changed"]
    d.refuses(Conflict, ChangeMode("n1", NodeMode.ACCEPTING))
    d.do(BeginTest("n1"))
    assert order_of(d).cause is NodeTestCause.ASKED
    passes(d)
    assert (mode(d), health(d).verdict) == (NodeMode.RETURNING, NodeTestOutcome.PASSED)
    d.do(OpenNode("n1"))
    assert (d.kinds, mode(d)) == (["node_mode_changed"], NodeMode.ACCEPTING)
    drained(d)
    d.do(ChangeMode("n1", NodeMode.RETURNING))
    d.do(OpenNode("n1"))  # nobody tested it: it is tested now, and opens when it has passed
    assert order_of(d).cause is NodeTestCause.RETURNING
    passes(d)
    assert mode(d) is NodeMode.ACCEPTING


def test_what_a_failed_burn_in_found_stays_until_a_test_is_passed() -> None:
    d = desk()
    drained(d)
    d.do(OpenNode("n1"))
    passes(d, "n1", BURNT, HOT)
    since = health(d).failed_ms
    d.now_ms += TOLD_EVERY_MS
    tell(d)  # the agent's look found nothing; it burns no GPU in
    assert health(d).findings == (BURNT,)
    tell(d)  # and again, as after a restart of the agent
    assert d.kinds == []
    d.now_ms += TOLD_EVERY_MS
    tell(d, XID)
    assert health(d).findings == (BURNT, XID)
    assert health(d).failed_ms == since
    assert read_back(d).health.of("n1") == health(d)
    many = [replace(XID, code=code) for code in range(FINDINGS_MAX)]
    d.now_ms += TOLD_EVERY_MS
    tell(d, *many)
    assert len(health(d).findings) == FINDINGS_MAX
    assert BURNT in health(d).findings
    d.do(BeginTest("n1"))
    passes(d)
    assert (mode(d), health(d).findings) == (NodeMode.ACCEPTING, ())


def test_an_agent_that_never_answered_is_not_waited_for_again_once_an_operator_has_spoken() -> None:
    d = desk(test_wait_ms=2 * MINUTE, test_every_ms=5 * MINUTE)
    drained(d)
    d.now_ms += TOLD_EVERY_MS
    tell(d)
    d.do(OpenNode("n1"))
    d.tick(d.now_ms + 2 * MINUTE)
    assert health(d).verdict is NodeTestOutcome.TIMED_OUT
    d.do(OpenNode("n1"))  # that alone changes nothing: it is tested again
    d.tick(d.now_ms + 2 * MINUTE)
    assert health(d).can_test
    d.do(OpenNode("n1", untested=True))
    assert (mode(d), health(d).can_test) == (NodeMode.ACCEPTING, False)
    d.tick(d.now_ms + 10 * MINUTE)
    assert mode(d) is NodeMode.ACCEPTING  # nor is it tested for being idle
    tell(d)
    assert health(d).can_test
    d.tick(d.now_ms + 10 * MINUTE)
    assert order_of(d).cause is NodeTestCause.IDLE


def test_a_warning_fails_no_test() -> None:
    d = desk()
    drained(d)
    d.do(OpenNode("n1"))
    passes(d, "n1", HOT)
    assert (mode(d), health(d).findings) == (NodeMode.ACCEPTING, (HOT,))


def test_a_test_that_is_not_answered_has_timed_out_and_the_node_stays() -> None:
    d = desk(test_wait_ms=2 * MINUTE)
    drained(d)
    d.do(OpenNode("n1"))
    number = order_of(d).id
    assert d.tick(d.now_ms + 2 * MINUTE - 1) == []
    assert d.tick(d.now_ms + 1) == ["node_test_ended"]
    assert (mode(d), health(d).verdict) == (NodeMode.RETURNING, NodeTestOutcome.TIMED_OUT)
    d.refuses(NotFound, ReportTest("n1", number))
    d.do(OpenNode("n1"))
    assert order_of(d).id > number


def test_an_operator_may_take_a_node_as_it_is() -> None:
    d = desk()
    drained(d)
    d.do(OpenNode("n1"))
    d.do(OpenNode("n1", untested=True))
    assert d.kinds == ["node_test_ended", "node_mode_changed"]
    assert mode(d) is NodeMode.ACCEPTING
    assert health(d).tests[0].outcome is NodeTestOutcome.CANCELLED
    tell(d, ECC)  # it is known, and the operator has spoken
    assert mode(d) is NodeMode.ACCEPTING


def test_a_node_whose_agent_cannot_test_comes_back_at_once() -> None:
    d = desk()
    tell(d, ECC, can_test=False)
    d.tick(d.now_ms + 1)
    d.do(OpenNode("n1"))
    assert d.kinds == ["node_mode_changed"] * 2
    assert mode(d) is NodeMode.ACCEPTING
    d.refuses(Conflict, BeginTest("n1"))


def test_a_closed_node_does_not_open_by_saying_that_it_cannot_test_any_more() -> None:
    d = desk()
    drained(d)
    d.now_ms += TOLD_EVERY_MS
    tell(d, can_test=False)
    d.do(OpenNode("n1"))
    assert mode(d) is NodeMode.RETURNING


def test_a_drain_that_is_called_off_is_no_return_unless_the_node_is_unfit() -> None:
    d = desk()
    tell(d)
    lease = d.lease(ttl_ms=10 * MINUTE)
    assert str(d.state.node_of(lease)) == "n1"
    d.do(ChangeMode("n1", NodeMode.DRAINING, evict=False))
    d.do(OpenNode("n1"))
    assert mode(d) is NodeMode.ACCEPTING
    tell(d, ECC)
    d.refuses(Conflict, OpenNode("n1"))  # somebody is there: it cannot be tested
    d.refuses(Conflict, ChangeMode("n1", NodeMode.ACCEPTING))
    d.do(OpenNode("n1", untested=True))
    assert mode(d) is NodeMode.ACCEPTING


def test_a_node_that_was_held_back_goes_round_by_a_test_once_it_is_empty() -> None:
    d = desk()
    tell(d, ECC, node="n2")
    tell(d, ECC)
    assert mode(d) is NodeMode.CORDONED
    d.do(OpenNode("n1"))
    assert d.kinds == ["node_mode_changed"] * 3 + ["node_test_begun"]
    passes(d)
    assert mode(d) is NodeMode.ACCEPTING
    assert d.state.health.held_back == set()


def test_a_machine_that_was_gone_is_tested_when_it_joins_again() -> None:
    d = desk()
    tell(d)
    d.do(DepartNode("n1"))
    d.do(RegisterNode("n1", MACHINE))
    assert (mode(d), order_of(d).cause) == (NodeMode.RETURNING, NodeTestCause.RETURNING)
    passes(d)
    assert mode(d) is NodeMode.ACCEPTING
    d.do(DepartNode("n2"))
    d.do(RegisterNode("n2", MACHINE))  # its agent never said anything
    assert mode(d, "n2") is NodeMode.ACCEPTING


def test_a_failing_machine_that_cannot_be_tested_does_not_open_by_a_reboot() -> None:
    d = desk()
    tell(d, ECC, can_test=False)
    d.tick(d.now_ms + 1)
    d.do(DepartNode("n1"))
    d.do(RegisterNode("n1", MACHINE))
    assert (mode(d), d.state.health.tests) == (NodeMode.RETURNING, {})


def test_a_test_is_over_when_its_machine_goes() -> None:
    d = desk()
    drained(d)
    d.do(OpenNode("n1"))
    d.do(DepartNode("n1"))
    assert d.kinds == ["node_test_ended", "node_departed"]
    assert d.state.health.tests == {}


def test_joining_that_broke_off_is_closed_by_the_next_tick() -> None:
    d = desk()
    tell(d)
    d.do(DepartNode("n1"))
    before = decode(encode(d.state), digest_of(d.state))
    d.do(RegisterNode("n1", MACHINE))
    apply(before, event_of(d.records[-len(d.told)]), d.now_ms)  # and nothing after it
    other = desk()
    other.kernel.state.take_over(before)
    assert mode(other) is NodeMode.ACCEPTING
    assert other.state.health.joining == {"n1"}
    again = decode(encode(other.state), digest_of(other.state))
    assert again.health.joining == {"n1"}


def order_of_machines_that_are_long_gone_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health_book, "AWAY_MAX", 2)
    d = desk(nodes=4)
    for node in ("n1", "n2", "n3", "n4"):
        tell(d, HOT, node=node)
    for node in ("n3", "n1", "n2"):
        d.do(DepartNode(node))
    assert set(d.state.health.nodes) == {"n1", "n2", "n4"}
    assert list(d.state.health.some_from(0, 9)) == ["n1", "n2", "n4"]


# -- windows and repartitioning ----------------------------------------------------------------


def test_the_end_of_a_window_tests_its_nodes() -> None:
    d = desk()
    tell(d)
    d.do(PlanWindow("w", ("n1", "n2"), 100_000, 200_000, 10_000))
    d.tick(90_000)
    d.tick(100_000)
    assert mode(d) is NodeMode.MAINTENANCE
    d.tick(200_000)
    assert (mode(d), mode(d, "n2")) == (NodeMode.RETURNING, NodeMode.ACCEPTING)
    assert order_of(d).cause is NodeTestCause.RETURNING
    d.tick(201_000)
    assert mode(d) is NodeMode.RETURNING
    passes(d)
    assert mode(d) is NodeMode.ACCEPTING
    assert d.state.maintenance.releasing == set()


def test_a_node_that_fails_after_its_window_waits_for_somebody() -> None:
    d = desk()
    tell(d)
    d.do(PlanWindow("w", ("n1",), 100_000, 200_000, 10_000))
    for at_ms in (90_000, 100_000, 200_000):
        d.tick(at_ms)
    passes(d, "n1", ECC)
    assert d.tick(300_000) == []
    assert (mode(d), d.state.maintenance.releasing) == (NodeMode.RETURNING, set())


def test_a_node_that_passes_in_the_next_window_opens_when_that_is_over() -> None:
    d = desk()
    tell(d)
    d.do(PlanWindow("w", ("n1",), 100_000, 200_000, 10_000))
    d.do(PlanWindow("x", ("n1",), 210_000, 300_000, 5_000))
    for at_ms in (90_000, 100_000, 200_000, 205_000, 210_000):
        d.tick(at_ms)
    passes(d)
    assert mode(d) is NodeMode.RETURNING
    d.tick(290_000)
    assert mode(d) is NodeMode.RETURNING
    d.tick(300_000)
    assert mode(d) is NodeMode.ACCEPTING


def test_what_fails_while_a_window_clears_a_node_is_not_opened_by_the_windows_end() -> None:
    d = desk()
    tell(d)
    d.lease(ttl_ms=99_000)
    d.do(PlanWindow("w", ("n1",), 100_000, 200_000, 10_000))
    d.tick(90_000)
    assert mode(d) is NodeMode.DRAINING
    tell(d, ECC)
    assert mode(d) is NodeMode.DRAINING
    d.do(CancelWindow("w"))
    assert mode(d) is NodeMode.DRAINING
    d.tick(200_000)
    d.tick(200_001)
    assert mode(d) is NodeMode.DRAINED


def test_the_end_of_a_repartitioning_tests_the_node_whatever_it_became() -> None:
    d = desk()
    tell(d)
    for becomes in (None, cores(4, gpus=1)):
        d.do(ChangeMig("n1", (0,), ("3g.71gb",)))
        d.tick(d.now_ms + 1)
        d.tick(d.now_ms + 1)
        change = d.state.mig.changes["n1"]
        d.refuses(Conflict, BeginTest("n1"))
        d.do(ReportMig("n1", change.id, None, becomes))
        assert mode(d) is NodeMode.RETURNING
        passes(d)
        assert mode(d) is NodeMode.ACCEPTING


def test_a_repartitioning_that_is_called_off_leaves_an_unfit_node_closed() -> None:
    d = desk()
    tell(d)
    d.lease(ttl_ms=MINUTE)
    d.do(ChangeMig("n1", (0,), ("3g.71gb",), grace_ms=10_000))
    d.now_ms += TOLD_EVERY_MS // 2
    tell_at = d.now_ms
    with pytest.raises(LimitReached):
        tell(d, ECC)
    d.now_ms = tell_at + TOLD_EVERY_MS
    tell(d, ECC)
    d.do(CancelMig("n1"))
    assert not d.state.ledger.entry("n1").takes_leases
