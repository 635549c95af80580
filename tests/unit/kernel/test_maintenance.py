"""Windows of maintenance: announced, drained in time, and over again."""

from __future__ import annotations

from typing import Any

import pytest

from bailiwick.fleet.node import EXECUTOR_LABEL
from bailiwick.kernel import (
    CancelWindow,
    ChangeMode,
    DepartNode,
    Granted,
    PlanWindow,
    Queued,
    RegisterNode,
    Release,
    Renew,
    ReportTeardown,
    SetCalendar,
    Submit,
    WithdrawCalendar,
    decode,
    digest_of,
    encode,
)
from bailiwick.kernel.maintenance.book import PlannedWindow
from bailiwick.kernel.maintenance.guard import MaintenanceGuard
from bailiwick.kernel.spelling import denial_from
from bailiwick.kernel.views import waiting_entry
from bailiwick.scheduler.decision import NodeClosed, NodeMaintained, NodesMaintained
from bailiwick.vocab.errors import Conflict, InvalidValue, LimitReached, NotFound
from bailiwick.vocab.maintenance import WindowPhase
from bailiwick.vocab.transitions import NodeMode, RevokeState
from bailiwick.vocab.values import NodeId
from bailiwick.vocab.words import Priority
from tests.unit.kernel.desk import Desk, ask, cores

CLOSES, STARTS, ENDS = 50_000, 60_000, 90_000
M = NodeMode


def desk(nodes: int = 1, **how: Any) -> Desk:
    return Desk(nodes=[cores(8)] * nodes, **{"grace_ms": 500, **how})


def plan(*nodes: str, window: str = "w", **more: Any) -> PlanWindow:
    told = {"starts_ms": STARTS, "ends_ms": ENDS, "lead_ms": STARTS - CLOSES, **more}
    return PlanWindow(window, nodes or ("n1",), **told)


def calendar(name: str = "c", **more: Any) -> SetCalendar:
    told: dict[str, Any] = {"rule": "daily", "nodes": ("n1",), **more}
    return SetCalendar(name, **told)


def mode(at: Desk, node: str = "n1") -> NodeMode:
    return at.state.ledger.entry(node).mode


def window(at: Desk, name: str = "w") -> PlannedWindow:
    return at.state.maintenance.windows[name]


def check_copy(at: Desk) -> None:
    """What was read back from a snapshot, and what was replayed, is the same state."""
    again = decode(encode(at.state), at.digest)
    assert digest_of(again) == at.digest == digest_of(at.replayed().state)
    for state in (again, at.replayed().state):
        assert state.maintenance.unready == at.state.maintenance.unready
        assert state.maintenance.is_due(at.now_ms) is at.state.maintenance.is_due(at.now_ms)


# --- work that would not finish is not started ---------------------------------------------------


def test_a_term_that_ends_before_the_window_starts_and_a_longer_one_waits() -> None:
    at = desk()
    at.do(plan())
    assert at.lease(ttl_ms=STARTS - at.now_ms)
    entry = at.wait(ttl_ms=STARTS - at.now_ms + 1)
    denied = waiting_entry(at.state, entry, now_ms=at.now_ms)
    assert denied.blocker is not None
    assert denied.blocker.detail == NodesMaintained(1, STARTS, STARTS - at.now_ms)
    assert denied.rules.told == (("maintenance.w", 1),)


def test_longer_work_goes_to_another_node() -> None:
    at = desk(2)
    at.do(plan())
    for _ in range(8):
        answer = at.do(Submit(ask(ttl_ms=STARTS)))
        assert isinstance(answer, Granted)
        assert answer.nodes == (NodeId("n2"),)
    assert at.wait(ttl_ms=STARTS)


def test_who_waits_for_a_window_starts_when_it_is_over_and_is_told_when() -> None:
    at = desk()
    at.do(plan())
    entry = at.wait(ttl_ms=STARTS)
    assert waiting_entry(at.state, entry, now_ms=at.now_ms).estimate.starts_ms == ENDS
    at.tick(CLOSES)
    at.tick(STARTS)
    at.tick(ENDS)
    at.tick(ENDS)
    assert at.state.leases
    assert not at.state.line.entries


def test_no_start_is_foreseen_between_windows_that_leave_no_room_for_the_term() -> None:
    at = desk()
    at.do(plan())
    at.do(plan(window="v", starts_ms=ENDS + 1_000, ends_ms=ENDS + 5_000))
    short, long = at.wait(ttl_ms=STARTS - at.now_ms + 1), at.wait(ttl_ms=70_000)
    starts = [
        waiting_entry(at.state, each, now_ms=at.now_ms).estimate.starts_ms for each in (short, long)
    ]
    assert starts == [ENDS + 5_000, ENDS + 5_000]


def test_a_node_that_comes_while_a_window_is_on_takes_nothing_until_it_is_over() -> None:
    at = desk(2)
    at.do(plan("n1", "n2"))
    at.tick(CLOSES)
    at.tick(STARTS)
    at.do(DepartNode("n1"))
    at.do(RegisterNode("n1", cores(8)))
    assert mode(at) is M.ACCEPTING
    assert at.wait(ttl_ms=1_000)
    check_copy(at)
    at.tick(ENDS)
    at.tick(ENDS + 1)
    assert {mode(at), mode(at, "n2")} == {M.ACCEPTING}
    assert at.state.leases


def test_without_windows_nobody_stands_guard() -> None:
    at = desk()
    assert not at.state.guards.policies
    at.do(plan())
    assert [type(each) for each in at.state.guards.policies] == [MaintenanceGuard]
    at.do(CancelWindow("w"))
    assert not at.state.guards.policies


def test_a_node_that_joins_later_is_open_to_long_work_if_no_window_names_it() -> None:
    at = desk()
    at.do(plan())
    at.wait(ttl_ms=STARTS)
    at.do(RegisterNode("n9", cores(8)))
    at.tick()
    assert [str(at.state.node_of(each)) for each in at.state.leases] == ["n9"]


# --- renewals ------------------------------------------------------------------------------------


def test_a_lease_is_renewed_up_to_the_window_and_not_beyond() -> None:
    at = desk()
    lease = at.lease()
    at.do(plan())
    at.do(Renew(lease, STARTS - at.now_ms))
    at.do(Renew(lease, STARTS - at.now_ms + 1))
    (denied,) = (denial_from(each.body) for each in at.of_kind("renewal_denied"))
    assert denied is not None
    assert denied.detail == NodeMaintained(
        NodeId("n1"), STARTS - at.now_ms + 1, STARTS - at.now_ms, STARTS
    )
    assert at.state.fields(lease).expires_ms == STARTS


def test_on_a_node_that_is_closing_nothing_is_renewed() -> None:
    at = desk()
    lease = at.lease(priority=Priority.CRITICAL, ttl_ms=STARTS + 5_000)
    at.do(plan())
    at.tick(CLOSES)
    at.do(Renew(lease, 60_000))
    (denied,) = (denial_from(each.body) for each in at.of_kind("renewal_denied"))
    assert denied is not None
    assert isinstance(denied.detail, NodeClosed)


# --- drained in time ------------------------------------------------------------------------------


def test_who_would_still_run_is_told_to_go_by_the_beginning_and_who_ends_in_time_is_not() -> None:
    at = desk()
    long, short = at.lease(ttl_ms=STARTS), at.lease(ttl_ms=STARTS - at.now_ms)
    at.do(plan())
    at.tick(CLOSES - 1)
    assert mode(at) is M.ACCEPTING
    at.tick(CLOSES)
    assert mode(at) is M.DRAINING
    assert window(at).phase is WindowPhase.CLOSING
    assert at.state.phase(long) is RevokeState.GRACE_RUNNING
    assert at.state.fields(long).expires_ms == STARTS
    assert at.state.phase(short) is RevokeState.ACTIVE
    check_copy(at)
    at.tick(STARTS)
    assert not at.state.leases
    assert mode(at) is M.MAINTENANCE
    assert window(at).phase is WindowPhase.OPEN
    check_copy(at)


def test_where_a_teardown_is_waited_for_work_goes_earlier_by_as_long_as_it_may_take() -> None:
    at = Desk(nodes=[cores(8, labels={EXECUTOR_LABEL: "agent"})], grace_ms=500, teardown_ms=2_000)
    lease = at.lease(ttl_ms=STARTS)
    at.do(plan())
    at.tick(CLOSES)
    assert at.state.fields(lease).expires_ms == STARTS - 2_000
    at.tick(STARTS - 2_000)
    at.do(ReportTeardown(lease, clean=True))
    at.tick(STARTS)
    assert mode(at) is M.MAINTENANCE


def test_a_gang_goes_as_a_whole() -> None:
    at = desk(2)
    gang = at.gang(2, ttl_ms=STARTS, cpu_cores=8)
    at.do(plan())
    at.tick(CLOSES)
    assert {at.state.phase(each) for each in gang} == {RevokeState.GRACE_RUNNING}
    assert mode(at, "n2") is M.ACCEPTING


def test_critical_work_is_spared_and_its_node_waits_for_it() -> None:
    at = desk()
    lease = at.lease(priority=Priority.CRITICAL, ttl_ms=STARTS + 5_000)
    at.do(plan())
    at.tick(CLOSES)
    at.tick(STARTS)
    assert at.state.phase(lease) is RevokeState.ACTIVE
    assert (mode(at), window(at).phase) == (M.DRAINING, WindowPhase.OPEN)
    at.do(Release(lease))
    at.tick(STARTS + 1)
    assert mode(at) is M.MAINTENANCE
    at.tick(ENDS)
    assert mode(at) is M.ACCEPTING


def test_a_node_that_was_never_empty_takes_work_again_when_the_window_is_over() -> None:
    at = desk()
    lease = at.lease(priority=Priority.CRITICAL, ttl_ms=ENDS + 60_000)
    at.do(plan())
    for now_ms in (CLOSES, STARTS, ENDS):
        at.tick(now_ms)
    assert mode(at) is M.ACCEPTING
    assert at.state.phase(lease) is RevokeState.ACTIVE


def test_after_an_outage_over_its_beginning_work_has_the_usual_grace() -> None:
    at = desk()
    lease = at.lease(ttl_ms=ENDS)
    at.do(plan())
    at.tick(STARTS + 10)
    assert at.state.fields(lease).expires_ms == STARTS + 10 + 500
    at.tick(STARTS + 600)
    assert mode(at) is M.MAINTENANCE


def test_a_window_that_was_missed_as_a_whole_is_over_and_touches_nothing() -> None:
    at = desk()
    lease = at.lease(ttl_ms=ENDS * 2)
    at.do(plan())
    assert at.tick(ENDS + 1)[0] == "window_ended"
    assert at.state.phase(lease) is RevokeState.ACTIVE
    assert mode(at) is M.ACCEPTING


def test_a_tick_tells_no_more_to_go_than_it_may_and_the_next_goes_on_by_the_same_time() -> None:
    at = desk(3)
    leases = [at.lease(ttl_ms=STARTS + 5_000) for _ in range(24)]
    at.do(plan("n1", "n2", "n3"))
    told, ticks = 0, 0
    while len(at.of_kind("lease_revoked")) < 2 * len(leases):
        assert len(at.tick(CLOSES, limit=6)) <= 8  # the last lease is told both
        told, ticks = len(at.of_kind("lease_revoked")), ticks + 1
    assert ticks >= told // 8
    assert {at.state.fields(each).expires_ms for each in leases} == {STARTS}
    at.tick(STARTS)
    at.tick(STARTS)
    assert {mode(at, node) for node in ("n1", "n2", "n3")} == {M.MAINTENANCE}


def test_a_node_is_looked_at_once_however_long_it_drains(monkeypatch: pytest.MonkeyPatch) -> None:
    at = desk()
    at.lease(ttl_ms=STARTS - at.now_ms)
    at.do(plan())
    at.tick(CLOSES)
    looks: list[str] = []
    monkeypatch.setattr(type(at.state), "leases_on", lambda _, node: looks.append(node) or [])
    at.tick(CLOSES + 1)
    at.tick(CLOSES + 2)
    assert mode(at) is M.DRAINING
    assert not looks


def test_a_window_that_is_not_due_is_not_looked_at() -> None:
    at = desk(2)
    for number in range(20):
        starts_ms = STARTS + number * 40_000
        at.do(plan(window=f"w{number}", starts_ms=starts_ms, ends_ms=starts_ms + 5_000))
    book = at.state.maintenance
    assert not book.due(CLOSES - 1)
    assert [each.id for each in book.due(CLOSES)] == ["w0"]
    at.tick(CLOSES)
    assert not book.due(CLOSES)
    assert [each.id for each in book.due(CLOSES - 1)] == ["w0"]  # the clock was set right


# --- and over again -----------------------------------------------------------------------------


def test_at_its_end_a_node_comes_back_by_the_legal_path() -> None:
    at = desk()
    at.do(plan())
    at.tick(CLOSES)
    assert mode(at) is M.DRAINED
    at.tick(STARTS)
    kinds = at.tick(ENDS)
    assert kinds[:3] == ["window_ended", "node_mode_changed", "node_mode_changed"]
    assert mode(at) is M.ACCEPTING
    assert not at.state.maintenance.windows
    check_copy(at)


def test_a_node_that_was_closed_before_stays_as_it_was_but_its_work_goes() -> None:
    at = desk()
    lease = at.lease(ttl_ms=ENDS)
    at.do(ChangeMode("n1", M.DRAINING, evict=False))
    at.do(plan())
    at.tick(CLOSES)
    assert at.state.phase(lease) is RevokeState.GRACE_RUNNING
    at.tick(STARTS)
    at.tick(ENDS)
    assert mode(at) is M.DRAINED
    check_copy(at)


def test_of_windows_that_overlap_the_last_gives_the_node_back() -> None:
    at = desk()
    at.do(plan())
    at.do(plan(window="v", starts_ms=ENDS - 10_000, ends_ms=ENDS + 10_000))
    for now_ms in (CLOSES, STARTS, ENDS - 10_000, ENDS):
        at.tick(now_ms)
        check_copy(at)
    assert [*at.state.maintenance.windows] == ["v"]
    assert mode(at) is M.MAINTENANCE
    at.tick(ENDS + 10_000)
    assert mode(at) is M.ACCEPTING


def test_a_window_that_begins_as_another_ends_takes_the_node_over() -> None:
    at = desk()
    at.do(plan())
    at.tick(CLOSES)
    at.tick(STARTS)
    at.do(plan(window="v", starts_ms=ENDS, ends_ms=ENDS + 10_000, lead_ms=0))
    at.tick(ENDS)
    check_copy(at)
    assert mode(at) is M.MAINTENANCE
    at.tick(ENDS + 10_000)
    assert mode(at) is M.ACCEPTING


@pytest.mark.parametrize("now_ms", [CLOSES - 1, CLOSES, STARTS])
def test_a_window_that_is_cancelled_is_over_at_once(now_ms: int) -> None:
    at = desk()
    lease = at.lease(ttl_ms=ENDS)
    at.do(plan())
    at.tick(min(now_ms, CLOSES))
    at.tick(now_ms)
    at.do(CancelWindow("w"))
    assert mode(at) is M.ACCEPTING
    assert not at.state.maintenance.held
    assert (lease in at.state.leases) is (now_ms < STARTS)
    check_copy(at)
    assert at.lease(ttl_ms=ENDS)


def test_who_opens_a_node_by_hand_has_it_and_work_is_kept_off_all_the_same() -> None:
    at = desk()
    at.do(plan())
    at.tick(CLOSES)
    at.tick(STARTS)
    at.do(ChangeMode("n1", M.RETURNING))
    at.do(ChangeMode("n1", M.ACCEPTING))
    at.tick(STARTS + 1)
    assert mode(at) is M.ACCEPTING
    assert isinstance(at.do(Submit(ask())), Queued)
    at.tick(ENDS)
    assert mode(at) is M.ACCEPTING


def test_a_clock_that_is_set_right_brings_back_what_had_begun_by_the_wrong_time() -> None:
    at = desk()
    at.do(plan())
    at.tick(STARTS + 5)
    at.do(calendar(rule="x"))
    assert mode(at) is M.MAINTENANCE
    at.lines.extend(at.kernel.repair_clock(2_000, actor="operator", why="wrong").lines)
    at.now_ms = 2_000
    assert at.state.maintenance.calendars["c"].planned_ms <= 2_000
    at.tick(2_001)
    assert (mode(at), window(at).phase) == (M.ACCEPTING, WindowPhase.PLANNED)
    check_copy(at)
    at.tick(CLOSES)
    at.tick(STARTS)
    assert mode(at) is M.MAINTENANCE


def test_a_machine_that_goes_in_its_window_is_missed_once_that_is_over_until_it_is_back() -> None:
    at = desk()
    at.do(plan())
    at.tick(CLOSES)
    at.do(DepartNode("n1"))
    book = at.state.maintenance
    assert book.overdue(ENDS - 1) == 0
    at.tick(ENDS)
    assert at.state.maintenance.overdue(ENDS) == 1
    check_copy(at)
    at.do(RegisterNode("n1", cores(8)))
    assert at.state.maintenance.overdue(ENDS) == 0
    check_copy(at)


def test_a_window_that_nobody_ended_in_time_holds_its_nodes_too_long() -> None:
    at = desk()
    at.do(plan())
    at.tick(CLOSES)
    assert at.state.maintenance.overdue(ENDS - 1) == 0
    assert at.state.maintenance.overdue(ENDS) == 1


# --- planning ------------------------------------------------------------------------------------


def test_what_cannot_be_planned_is_refused() -> None:
    at = desk()
    at.do(plan())
    at.refuses(Conflict, plan())
    at.refuses(NotFound, plan("n7", window="v"))
    at.refuses(InvalidValue, plan(window="v", starts_ms=at.now_ms))
    at.refuses(NotFound, plan(window="v", calendar="nobody"))
    at.refuses(NotFound, CancelWindow("v"))
    at.refuses(NotFound, WithdrawCalendar("nobody"))
    for told in (
        {"ends_ms": STARTS},
        {"lead_ms": -1},
        {"nodes": ()},
        {"nodes": ("n1", "n1")},
        {"window": "x" * 49},
    ):
        with pytest.raises(InvalidValue):
            PlanWindow(
                **{
                    "window": "v",
                    "nodes": ("n1",),
                    "starts_ms": STARTS,
                    "ends_ms": ENDS,
                    "lead_ms": 0,
                    **told,
                }
            )
    for other in ({"nodes": (), "labels": ()}, {"labels": ("a=b",)}, {"ahead_days": 0}):
        with pytest.raises(InvalidValue):
            calendar(**other)


def test_windows_and_calendars_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    from bailiwick.kernel.maintenance import rules

    at = desk()
    at.do(plan())
    at.do(calendar())
    monkeypatch.setattr(rules, "CALENDARS_MAX", 1)
    at.refuses(LimitReached, calendar("d"))
    monkeypatch.setattr(rules, "MENTIONS_MAX", 1)
    at.refuses(LimitReached, plan(window="v"))
    monkeypatch.setattr(rules, "WINDOWS_MAX", 1)
    at.refuses(LimitReached, plan(window="v"))


def test_by_a_calendar_every_time_is_planned_once_and_a_cancelled_one_not_again() -> None:
    at = desk()
    at.do(calendar())
    at.do(plan(window="c-1", calendar="c"))
    at.refuses(Conflict, plan(window="c-1", calendar="c"))
    at.do(CancelWindow("c-1"))
    at.refuses(Conflict, plan(window="c-1", calendar="c"))
    at.do(plan(window="c-2", calendar="c", starts_ms=STARTS + 1))
    check_copy(at)


def test_a_calendar_that_changes_calls_off_what_is_ahead_and_leaves_what_is_on() -> None:
    at = desk(2)
    at.do(calendar())
    at.do(plan(window="c-1", calendar="c"))
    at.do(plan("n2", window="c-2", calendar="c", starts_ms=ENDS, ends_ms=ENDS + 5))
    at.tick(CLOSES)
    at.do(calendar(rule="weekly"))
    assert [*at.state.maintenance.windows] == ["c-1"]
    assert at.state.maintenance.calendars["c"].planned_ms == STARTS
    at.do(plan(window="c-3", calendar="c", starts_ms=ENDS, ends_ms=ENDS + 5))
    at.do(WithdrawCalendar("c"))
    assert [*at.state.maintenance.windows] == ["c-1"]
    assert not at.state.maintenance.calendars
    check_copy(at)
