"""On a node with an executor nothing is free before somebody looked, whoever gave it back."""

from __future__ import annotations

import pytest

from bailiwick import Conflict, NodeCapacity, PlacementRequest, PreemptionReason, Priority, TenantId
from bailiwick.fleet.node import EXECUTOR_LABEL
from bailiwick.journal import parse_record
from bailiwick.kernel import (
    ChangeSettings,
    ClearFence,
    Command,
    Envelope,
    Evict,
    Granted,
    Kernel,
    Queued,
    RegisterNode,
    Release,
    ReportTeardown,
    State,
    Submit,
    Tick,
    digest_of,
)
from bailiwick.whatif.changes import Changes
from bailiwick.whatif.compare import compare
from bailiwick.whatif.reader import read_history
from tests.support.kernel_histories import busy_journal
from tests.support.wide_open import wide_settings

PLAIN: dict[str, str] = {}
RUNS = {EXECUTOR_LABEL: "local"}


class Desk:
    """A kernel with one machine of four cores, and all it has said."""

    def __init__(self, labels: dict[str, str], *, grace_ms: int = 0) -> None:
        self.kernel = Kernel(simulated=True)
        self.lines: list[bytes] = []
        self.do(ChangeSettings(wide_settings(grace_ms=grace_ms, teardown_ms=100)))
        self.do(RegisterNode("n1", NodeCapacity(cpu_cores=4, mem_bytes=0, labels=labels)))

    def do(self, command: Command, now_ms: int = 0) -> object:
        outcome = self.kernel.execute(Envelope(command), now_ms)
        self.lines += outcome.lines
        return outcome.answer

    def ask(self, priority: Priority = Priority.NORMAL, now_ms: int = 0) -> object:
        request = PlacementRequest(tenant=TenantId("lab"), cpu_cores=4, priority=priority)
        return self.do(Submit(request), now_ms)

    def phases(self) -> dict[int, str]:
        state = self.kernel.state
        return {lease_id: state.phase(lease_id).value for lease_id in state.leases}

    def kinds(self) -> list[str]:
        return [parse_record(line[:-1]).kind.value for line in self.lines]

    def replayed(self) -> Kernel:
        kernel = Kernel(simulated=True)
        kernel.replay(parse_record(line[:-1]) for line in self.lines)
        return kernel


def test_elsewhere_a_release_frees_at_once() -> None:
    d = Desk(PLAIN)
    d.ask()
    d.do(Release(1))
    assert d.phases() == {}


def test_what_its_holder_gives_back_is_free_once_its_teardown_is_reported() -> None:
    d = Desk(RUNS)
    d.ask()
    d.do(Release(1), 10)
    assert d.phases() == {1: "expired"}
    assert isinstance(d.ask(now_ms=11), Queued)
    with pytest.raises(Conflict, match="torn down"):
        d.do(Release(1), 12)
    d.do(ReportTeardown(1, clean=True), 20)
    d.do(Tick(), 21)
    assert d.phases() == {2: "active"}
    assert "lease_released" in d.kinds()
    assert "lease_expired" not in d.kinds()
    assert digest_of(d.replayed().state) == digest_of(d.kernel.state)


def test_a_release_in_grace_ends_the_grace_and_is_told_as_a_release() -> None:
    d = Desk(RUNS, grace_ms=1_000)
    d.ask()
    d.do(Evict((1,), PreemptionReason.OPERATOR_DRAIN), 5)
    d.do(Release(1), 10)
    assert d.phases() == {1: "forced_teardown"}
    d.do(ReportTeardown(1, clean=True), 20)
    assert d.kinds()[-1] == "lease_released"


@pytest.mark.parametrize("is_reported", [True, False])
def test_a_release_that_nobody_can_confirm_is_fenced(is_reported: bool) -> None:
    d = Desk(RUNS)
    d.ask()
    d.do(Release(1), 10)
    d.do(ReportTeardown(1, clean=False) if is_reported else Tick(), 110)
    assert d.phases() == {1: "fenced"}
    d.do(ClearFence(1), 200)
    assert d.phases() == {}


def test_a_term_that_is_over_waits_for_the_report() -> None:
    d = Desk(RUNS)
    d.do(Submit(PlacementRequest(tenant=TenantId("lab"), cpu_cores=4, ttl_ms=50)))
    d.do(Tick(), 50)
    assert d.phases() == {1: "expired"}
    d.do(ReportTeardown(1, clean=True), 60)
    assert d.kinds()[-1] == "lease_expired"


def test_urgent_work_waits_for_the_place_to_be_empty_even_without_grace() -> None:
    d = Desk(RUNS)
    d.ask()
    assert isinstance(d.ask(Priority.CRITICAL), Queued)
    assert d.phases() == {1: "forced_teardown"}
    d.do(ReportTeardown(1, clean=True), 5)
    d.do(Tick(), 6)
    assert d.phases() == {2: "active"}
    e = Desk(PLAIN)
    e.ask()
    assert isinstance(e.ask(Priority.CRITICAL), Granted)


def test_a_history_tells_the_release_when_it_was_asked_and_the_report_when_it_came() -> None:
    d = Desk(RUNS)
    d.ask()
    d.do(Release(1), 10)
    d.do(ReportTeardown(1, clean=True), 30)
    history = read_history(parse_record(line[:-1]) for line in d.lines)
    (work,) = history.works
    assert [(s.word.value, s.offset_ms) for s in work.steps[0]] == [("release", 10)]
    assert (work.teardowns[0].delay_ms, work.teardowns[0].clean) == (20, True)


def test_a_history_with_releases_under_an_executor_is_decided_again_as_it_was() -> None:
    d = Desk(RUNS, grace_ms=50)
    for turn in range(4):
        at, lease_id = 1_000 * turn, turn + 1
        d.ask(now_ms=at)
        if turn % 2:
            d.do(Evict((lease_id,), PreemptionReason.OPERATOR_DRAIN), at + 5)
        d.do(Release(lease_id), at + 10)
        d.do(ReportTeardown(lease_id, clean=True), at + 30)
    history = read_history(parse_record(line[:-1]) for line in d.lines)
    report = compare(history, State, changes=Changes())
    assert report.fidelity.exact, report.fidelity
    assert report.journal.released == 4


@pytest.mark.parametrize("executors", [3, 6])
@pytest.mark.parametrize("seed", range(4))
def test_a_busy_history_under_executors_is_decided_again_as_it_was(
    seed: int, executors: int
) -> None:
    campus = busy_journal(seed, steps=110, executors=executors)
    assert b'"released":1' in b"".join(campus.lines)
    report = compare(read_history(campus.records), State, changes=Changes())
    assert report.fidelity.exact, report.fidelity
