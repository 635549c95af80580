"""MIG profiles of a node's GPUs are changed as one operation: emptied, divided, and back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bailiwick.kernel import (
    CancelMig,
    ChangeMig,
    ChangeMode,
    ClearFence,
    DepartNode,
    Elect,
    OpenNode,
    PlanWindow,
    Quarantine,
    RegisterNode,
    Release,
    ReportMig,
    State,
    decode,
    digest_of,
    encode,
)
from bailiwick.kernel.fleet.foresight import foresee_mode
from bailiwick.kernel.mig.book import MigChange
from bailiwick.kernel.mig.events import MigChangeBegun
from bailiwick.kernel.slices import apply
from bailiwick.vocab.errors import BailiwickError, Conflict, InvalidValue, NotFound
from bailiwick.vocab.mig import MigFailure, MigPhase
from bailiwick.vocab.transitions import NodeMode, RevokeState
from bailiwick.vocab.words import LeaseClass, PreemptionReason, Priority
from bailiwick.whatif.reader import read_history
from tests.unit.kernel.desk import Desk, cores

GPUS = cores(8, gpus=2)
HALVES = ("3g.71gb", "4g.71gb")
CHANGE = ChangeMig("n1", (0,), HALVES, grace_ms=500)
DIVIDED = replace(GPUS, gpus=(replace(GPUS.gpus[0], partitionable=True), GPUS.gpus[1]))


def desk(**how: object) -> Desk:
    return Desk(nodes=[GPUS, GPUS], **how)


def change_of(d: Desk, node: str = "n1") -> MigChange:
    found = d.state.mig.changes[node]
    assert found.node == node
    return found


def mode(d: Desk, node: str = "n1") -> NodeMode:
    return d.state.ledger.entry(node).mode


def emptied(d: Desk) -> MigChange:
    """The change, once its node is empty and the agent's time runs."""
    d.do(CHANGE)
    d.tick(d.now_ms + 500)
    d.tick(d.now_ms + 1)
    assert change_of(d).phase is MigPhase.REPARTITIONING
    return change_of(d)


def read_back(d: Desk) -> State:
    blob = encode(d.state)
    return decode(blob, digest_of(d.state))


def test_everybody_on_the_node_goes_guaranteed_and_critical_too_and_nobody_elsewhere() -> None:
    d = desk()
    there = [
        d.lease(lease_class=LeaseClass.GUARANTEED, ttl_ms=60_000, cpu_cores=4),
        d.lease(priority=Priority.CRITICAL, ttl_ms=60_000, cpu_cores=4),
    ]
    nodes = {d.state.node_of(i) for i in there}
    assert nodes == {"n1"}
    other = d.lease(ttl_ms=60_000, cpu_cores=8)
    d.do(CHANGE)
    assert [d.state.phase(i) for i in there] == [RevokeState.GRACE_RUNNING] * 2
    assert d.state.phase(other) is RevokeState.ACTIVE
    reasons = {d.state.ledger.revoking[d.state.handle(i)] for i in there}
    assert reasons == {PreemptionReason.OPERATOR_MIG_PROFILE_CHANGE}
    assert mode(d) is NodeMode.DRAINING
    d.tick(d.now_ms + 500)
    d.tick(d.now_ms + 1)
    assert d.state.leases_on("n1") == []
    assert d.state.phase(other) is RevokeState.ACTIVE
    assert mode(d) is NodeMode.MAINTENANCE


def test_who_would_go_is_foreseen_as_it_is_done() -> None:
    d = desk()
    leases = [d.lease(ttl_ms=60_000, cpu_cores=2) for _ in range(3)]
    reason = PreemptionReason.OPERATOR_MIG_PROFILE_CHANGE
    drain = ChangeMode("n1", NodeMode.DRAINING, reason, 500)
    seen = foresee_mode(d.state, drain, now_ms=d.now_ms)
    d.do(CHANGE)
    going = [i for i in leases if d.state.phase(i) is RevokeState.GRACE_RUNNING]
    assert [each.lease_id for each in seen.told] == going
    assert seen.leaving == len(going) > 0


def test_done_as_the_same_machine_it_is_back_by_the_legal_path() -> None:
    d = desk()
    change = emptied(d)
    d.do(ReportMig("n1", change.id, capacity=GPUS))
    assert d.kinds == ["mig_change_ended", "node_mode_changed", "node_mode_changed"]
    assert mode(d) is NodeMode.ACCEPTING
    assert d.state.mig.changes == {}


def test_done_as_another_machine_it_joins_again_as_what_it_is() -> None:
    d = desk()
    change = emptied(d)
    d.do(ReportMig("n1", change.id, capacity=DIVIDED))
    assert d.kinds == ["mig_change_ended", "node_departed", "node_registered"]
    assert mode(d) is NodeMode.ACCEPTING
    assert d.state.ledger.entry("n1").capacity == DIVIDED
    assert d.lease(gpu_count=1, ttl_ms=5_000)


def test_a_node_that_is_not_trusted_stays_closed_when_it_is_back() -> None:
    d = desk()
    change = emptied(d)
    d.do(Quarantine("n1", "odd"))
    d.do(ReportMig("n1", change.id, capacity=DIVIDED))
    assert not d.state.ledger.entry("n1").takes_leases


def test_a_failure_leaves_the_node_in_maintenance_until_somebody_opens_it() -> None:
    d = desk()
    change = emptied(d)
    d.do(ReportMig("n1", change.id, MigFailure.IN_USE))
    assert mode(d) is NodeMode.MAINTENANCE
    failed = change_of(d)
    assert (failed.phase, failed.cause) == (MigPhase.FAILED, MigFailure.IN_USE)
    d.tick(d.now_ms + 1)
    assert mode(d) is NodeMode.MAINTENANCE
    d.do(OpenNode("n1"))
    assert mode(d) is NodeMode.ACCEPTING
    assert d.state.mig.changes == {}


def test_an_agent_that_never_answers_is_waited_for_as_long_as_was_said() -> None:
    d = desk()
    change = emptied(d)
    assert change.due_ms is not None
    d.tick(change.due_ms - 1)
    assert change_of(d).phase is MigPhase.REPARTITIONING
    d.tick(change.due_ms)
    assert change_of(d).cause is MigFailure.TIMED_OUT
    assert mode(d) is NodeMode.MAINTENANCE
    d.refuses(NotFound, ReportMig("n1", change.id, capacity=GPUS))  # too late
    d.do(CHANGE)  # and again
    assert change_of(d).phase is MigPhase.REPARTITIONING
    assert change_of(d).id > change.id


def test_an_agent_has_its_time_anew_when_somebody_leads_again() -> None:
    d = desk()
    change = emptied(d)
    assert change.due_ms is not None
    d.at(change.due_ms + 60_000).do(Elect(1, "next"))  # nobody led meanwhile
    assert d.last[0].body["waits_anew"] == 1
    due_ms = change_of(d).due_ms
    assert due_ms == d.now_ms + change.wait_ms
    assert read_back(d).mig.changes == d.replayed().state.mig.changes == d.state.mig.changes
    d.tick(due_ms - 1)
    assert change_of(d).phase is MigPhase.REPARTITIONING
    d.do(Elect(2, "next"))  # and again: as long as was said, and no longer
    due_ms = change_of(d).due_ms
    assert due_ms == d.now_ms + change.wait_ms
    d.tick(due_ms)
    assert change_of(d).cause is MigFailure.TIMED_OUT


def test_an_election_says_nothing_of_a_change_that_waits_for_no_agent() -> None:
    d = desk()
    d.lease(ttl_ms=60_000, cpu_cores=8)
    d.do(CHANGE)
    d.do(Elect(1, "next"))
    assert "waits_anew" not in d.last[0].body
    assert change_of(d).due_ms is None


def test_a_report_counts_once_and_only_for_the_change_that_is_wanted() -> None:
    d = desk()
    d.do(CHANGE)
    begun = change_of(d)
    d.lease(ttl_ms=60_000)
    d.refuses(Conflict, ReportMig("n1", begun.id, capacity=GPUS))  # not empty yet
    d.tick(d.now_ms + 500)
    d.tick(d.now_ms + 1)
    d.refuses(Conflict, ReportMig("n1", begun.id + 1, capacity=GPUS))
    d.do(ReportMig("n1", begun.id, capacity=GPUS))
    d.refuses(NotFound, ReportMig("n1", begun.id, capacity=GPUS))


def test_one_node_has_one_change_at_a_time_and_is_moved_by_nobody_meanwhile() -> None:
    d = desk()
    d.do(CHANGE)
    d.refuses(Conflict, CHANGE)
    d.do(ChangeMig("n2", (0, 1)))
    for move in (OpenNode("n1"), ChangeMode("n1", NodeMode.ACCEPTING)):
        assert "--cancel" in d.refuses(Conflict, move)


def test_called_off_before_it_is_empty_the_node_takes_work_again() -> None:
    d = desk()
    d.lease(ttl_ms=60_000, cpu_cores=8)
    d.do(CHANGE)
    d.do(CancelMig("n1"))
    assert mode(d) is NodeMode.ACCEPTING
    assert d.state.mig.changes == {}
    d.refuses(NotFound, CancelMig("n1"))


def test_called_off_later_the_node_stays_in_maintenance() -> None:
    d = desk()
    change = emptied(d)
    d.do(CancelMig("n1"))
    assert mode(d) is NodeMode.MAINTENANCE
    d.refuses(NotFound, ReportMig("n1", change.id, capacity=GPUS))
    d.do(OpenNode("n1"))


def test_a_machine_that_goes_ends_it_also_if_it_is_back_at_once() -> None:
    d = desk()
    emptied(d)
    d.do(DepartNode("n1"))
    assert "mig_change_ended" in d.tick(d.now_ms + 1)
    assert d.state.mig.changes == {}
    d.do(RegisterNode("n1", GPUS))
    emptied(d)
    d.do(DepartNode("n1"))
    d.do(RegisterNode("n1", GPUS))
    d.tick(d.now_ms + 1)
    assert d.state.mig.changes == {}
    assert mode(d) is NodeMode.ACCEPTING


def test_a_lost_fence_ends_it_and_the_node_is_told_as_failed() -> None:
    d = desk(confirm_teardown=True)
    d.lease(ttl_ms=60_000, cpu_cores=8)
    d.do(CHANGE)
    for _ in range(4):
        d.tick(d.now_ms + d.state.settings.teardown_ms + 500)
    assert mode(d) is NodeMode.DRAINING  # what it held may still run
    assert change_of(d).cause is MigFailure.FENCE_LOST


def in_maintenance_with_a_lease(d: Desk, *, fenced: bool) -> int:
    """A node that lost its fence, and whose lease nobody has ended."""
    lease = d.lease(ttl_ms=600_000, cpu_cores=8)
    if fenced:
        d.do(ChangeMode("n1", NodeMode.DRAINING, PreemptionReason.OPERATOR_DRAIN, 500))
        for _ in range(4):
            d.tick(d.now_ms + d.state.settings.teardown_ms + 500)
        assert lease in d.state.fenced
    d.do(ChangeMode("n1", NodeMode.FENCE_LOST))
    d.do(ChangeMode("n1", NodeMode.MAINTENANCE))
    assert d.state.leases_on("n1") == [lease]
    return lease


@pytest.mark.parametrize("fenced", [True, False])
def test_none_begins_in_maintenance_where_a_lease_was_never_torn_down(fenced: bool) -> None:
    d = desk(confirm_teardown=True)
    lease = in_maintenance_with_a_lease(d, fenced=fenced)
    assert "still holds leases" in d.refuses(Conflict, CHANGE)
    d.do(ClearFence(lease) if fenced else Release(lease))
    d.do(CHANGE)
    assert change_of(d).phase is MigPhase.REPARTITIONING


def test_one_that_finds_a_lease_on_its_node_is_never_done() -> None:
    d = desk(confirm_teardown=True)
    lease = in_maintenance_with_a_lease(d, fenced=False)
    begun = MigChangeBegun("n1", d.state.size, CHANGE.gpus, CHANGE.profiles, CHANGE.wait_ms)
    apply(d.state, begun, d.now_ms)  # as an earlier version would have sealed it
    d.do(ReportMig("n1", begun.change_id, capacity=DIVIDED))
    assert change_of(d).cause is MigFailure.FENCE_LOST
    assert d.state.ledger.entry("n1").capacity == GPUS
    assert d.state.leases_on("n1") == [lease]


@pytest.mark.parametrize("way", [(), ("drained",), ("drained", "maintenance")])
def test_it_begins_from_wherever_an_operator_has_closed_the_node(way: tuple[str, ...]) -> None:
    d = desk()
    if way:
        d.do(ChangeMode("n1", NodeMode.DRAINING))
    if "maintenance" in way:
        d.do(ChangeMode("n1", NodeMode.MAINTENANCE))
    d.do(CHANGE)
    d.tick(d.now_ms + 1)
    d.tick(d.now_ms + 1)
    assert change_of(d).phase is MigPhase.REPARTITIONING


def test_what_no_node_can_do_is_refused_before_anybody_goes() -> None:
    unsupported = replace(GPUS, labels={"gpu_mig": "unsupported"})
    d = Desk(nodes=[GPUS, unsupported])
    lease = d.lease(ttl_ms=60_000)
    d.refuses(NotFound, replace(CHANGE, node="n9"))
    d.refuses(Conflict, replace(CHANGE, gpus=(0, 2)))
    d.refuses(Conflict, replace(CHANGE, node="n2"))
    d.do(PlanWindow("w", ("n1",), d.now_ms + 10, d.now_ms + 10_000, 5))
    d.tick(d.now_ms + 6)
    d.refuses(Conflict, CHANGE)
    assert d.state.mig.changes == {}
    assert lease


def test_none_begins_on_a_node_that_a_window_has_yet_to_give_back() -> None:
    d = desk()
    d.do(PlanWindow("w", ("n1", "n2"), d.now_ms + 1_000, d.now_ms + 10_000, 0))
    for _ in range(2):
        d.tick(d.now_ms + 1_000)
    assert (mode(d), mode(d, "n2")) == (NodeMode.MAINTENANCE,) * 2
    d.tick(d.now_ms + 10_000, limit=2)  # as many records as the first of them needs
    (left,) = d.state.maintenance.releasing
    assert mode(d, left) is NodeMode.MAINTENANCE
    assert "from a window" in d.refuses(Conflict, replace(CHANGE, node=left))
    d.tick(d.now_ms + 1)
    assert mode(d, left) is NodeMode.ACCEPTING
    d.do(replace(CHANGE, node=left))
    assert change_of(d, left).phase is MigPhase.DRAINING


@pytest.mark.parametrize(
    "wrong",
    [
        {"gpus": ()},
        {"gpus": (0, 0)},
        {"gpus": (-1,)},
        {"profiles": ("3g",)},
        {"profiles": ("1g.18gb",) * 9},
        {"wait_ms": 1},
        {"grace_ms": -1},
        {"node": ""},
    ],
)
def test_a_change_that_says_nonsense_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidValue):
        replace(CHANGE, **wrong)


@pytest.mark.parametrize("cause", [MigFailure.TIMED_OUT, MigFailure.CANCELLED, MigFailure.DEPARTED])
def test_a_machine_tells_only_causes_that_are_its_own(cause: MigFailure) -> None:
    with pytest.raises(InvalidValue):
        ReportMig("n1", 1, cause)


def test_a_change_survives_a_restart_in_every_phase() -> None:
    d = desk()
    d.lease(ttl_ms=60_000, cpu_cores=8)
    d.do(CHANGE)
    seen = []
    for step in (lambda: d.tick(d.now_ms + 500), lambda: d.tick(d.now_ms + 1)):
        back = read_back(d)
        assert back.mig.changes == d.state.mig.changes
        assert digest_of(back) == d.digest
        seen.append(change_of(d).phase)
        step()
    d.do(ReportMig("n1", change_of(d).id, MigFailure.DOES_NOT_FIT))
    seen.append(change_of(d).phase)
    assert read_back(d).mig.changes == d.state.mig.changes
    assert set(seen) >= {MigPhase.DRAINING, MigPhase.FAILED}


def test_nothing_is_written_of_changes_where_there_is_none() -> None:
    assert b"mig_changes" not in encode(desk().state)


def test_an_empty_fleet_of_changes_costs_a_tick_nothing() -> None:
    d = desk()
    assert d.tick(d.now_ms + 1) == []
    with pytest.raises(BailiwickError):
        d.do(CancelMig("n1"))


def test_when_the_clock_is_set_right_an_agent_has_no_longer_than_was_said() -> None:
    d = desk()
    d.at(50_000)
    change = emptied(d)
    assert change.due_ms is not None
    d.lines += d.kernel.repair_clock(5_000, actor="operator", why="it was wrong").lines
    found = change_of(d)
    assert found.due_ms is not None
    assert d.state.clock_ms < found.due_ms <= d.state.clock_ms + change.wait_ms
    assert found.begun_ms <= d.state.clock_ms


def test_what_happened_can_be_asked_what_if_of() -> None:
    d = desk()
    d.lease(ttl_ms=60_000, cpu_cores=8)
    change = emptied(d)
    d.do(ReportMig("n1", change.id, capacity=DIVIDED))
    done = [type(step.action).__name__ for step in read_history(d.records).plan]
    assert "ChangeMode" in done
    assert done.count("RegisterNode") == 3
