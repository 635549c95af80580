"""Graphs that run for real: order, retries, cancelling, trying again, and being killed."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from bailiwick.iam import Role
from bailiwick.kernel import Evict, ReportCheckpoint
from bailiwick.kernel.people import commands as iam
from bailiwick.ports import JobChange
from bailiwick.reconcile.graphs import GraphLoop
from bailiwick.runtime.runner import SystemClock
from bailiwick.services.graph_jobs import find_past_attempts
from bailiwick.store.graph_rows import AttemptReport
from bailiwick.vocab.errors import Conflict, InvalidValue, NotFound
from bailiwick.vocab.graphs import FailureCategory, GraphPhase, TaskPhase
from bailiwick.vocab.jobs import JobPhase
from bailiwick.vocab.words import PreemptionReason
from tests.jobs.graph_house import KEY, MAPPED, GraphHouse, many
from tests.jobs.house import TENANT, job_house
from tests.support.waiting import until

SUCCEEDED, FAILED = GraphPhase.SUCCEEDED, GraphPhase.FAILED
OVER = (SUCCEEDED, FAILED, GraphPhase.CANCELLED)


@pytest.fixture
def own(tmp_path: Path) -> Iterator[GraphHouse]:
    with job_house(tmp_path) as house:
        yield GraphHouse.of(house)


def test_a_task_starts_after_what_it_stands_after_and_is_told_who_it_is(
    own: GraphHouse, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    row = own.submit(
        f"""
tasks:
  b: {{command: [/bin/sh, -c, 'echo "$GRAPH_ID $TASK_NAME $TASK_ITEM" >> {mark}'], map: [x],
       after: [a]}}
  a: {{command: [/bin/sh, -c, 'echo a $SECRET >> {mark}'], env: {{SECRET: hunter2}}}}
"""
    )
    tasks = own.until(row, *OVER)
    assert own.graphs.get(row.graph_id).phase is SUCCEEDED
    assert mark.read_text() == f"a hunter2\n{row.graph_id} b[0] x\n"
    assert tasks["a"].job_id is not None
    (job,) = [own.house.jobs.get(task.job_id or 0) for task in tasks.values() if task.number == 1]
    assert job.key == f"graph-{row.graph_id}/a/1"
    told = own.records("graph_submitted", "graph_ended")
    assert [record.kind.value for record in told] == ["graph_submitted", "graph_ended"]
    lines = own.house.runner.replica.store.read(0, 10_000)
    assert not any(b"hunter2" in line for line in lines)


def test_what_failed_is_tried_again_and_the_journal_says_why(own: GraphHouse) -> None:
    row = own.submit(
        """
tasks:
  a: {command: [/bin/sh, -c, 'exit $((7 - 7 * (TASK_ATTEMPT > 2)))'],
      retry: {exit_code: 2, pause: 1ms}}
  b: {command: ['true'], after: [{task: a, when: failed}]}
"""
    )
    tasks = own.until(row, *OVER)
    assert own.graphs.get(row.graph_id).phase is SUCCEEDED
    assert tasks["a"].state.attempt == 3
    assert tasks["a"].state.failures == Counter({FailureCategory.EXIT_CODE: 2})
    assert tasks["b"].state.phase is TaskPhase.SKIPPED
    retried = [record.body for record in own.records("graph_task_retried")]
    assert [(body["attempt"], body["category"], body["exit_code"]) for body in retried] == [
        (1, "exit_code", 7),
        (2, "exit_code", 7),
    ]


def test_a_graph_that_failed_can_be_tried_again_from_there(own: GraphHouse, tmp_path: Path) -> None:
    mark, go = tmp_path / "mark", tmp_path / "go"
    row = own.submit(
        f"""
tasks:
  a: {{command: [/bin/sh, -c, 'echo a >> {mark}']}}
  b: {{command: [/bin/sh, -c, 'echo b >> {mark}; test -e {go}'], after: [a]}}
  c: {{command: [/bin/sh, -c, 'echo c >> {mark}'], after: [b]}}
"""
    )
    own.until(row, *OVER)
    assert own.graphs.get(row.graph_id).phase is FAILED
    go.touch()
    own.graphs.rerun(row.graph_id, ())
    own.until(row, SUCCEEDED)
    assert mark.read_text().split() == ["a", "b", "b", "c"]
    assert len(own.records("graph_ended")) == 2
    with pytest.raises(Conflict, match="is over"):
        own.graphs.cancel(row.graph_id)


def test_what_an_attempt_reports_is_taken_by_the_next_task_and_without_it_it_failed(
    own: GraphHouse, tmp_path: Path
) -> None:
    go, mark, content = tmp_path / "go", tmp_path / "mark", "sha256:" + "0" * 64
    row = own.submit(
        f"""
tasks:
  a: {{command: [/bin/sh, -c, 'until [ -e {go} ]; do sleep 0.05; done'], outputs: [data]}}
  b: {{command: [/bin/sh, -c, 'echo $TASK_INPUT_SET_1 > {mark}'], inputs: {{set-1: a/data}}}}
  c: {{command: ['true'], outputs: [data], may_fail: true}}
"""
    )
    own.rounds()
    own.graphs.book.report(row.graph_id, AttemptReport(0, 1, {"data": content}, None))
    go.touch()
    tasks = own.until(row, *OVER)
    assert own.graphs.get(row.graph_id).phase is SUCCEEDED
    assert mark.read_text().strip() == content
    assert (tasks["c"].state.phase, tasks["c"].state.reason) == (TaskPhase.FAILED, "output_missing")


def test_it_runs_with_what_there_is_and_the_rest_is_added_as_room_comes(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    with job_house(tmp_path, live_max=3) as house:
        own = GraphHouse.of(house)
        row = own.submit(
            f"""
running_max: 8
tasks:
  a: {{command: [/bin/sh, -c, 'echo $TASK_KEY $TASK_ATTEMPT >> {mark}'], map: 8, cpus: 2}}
  b: {{command: [/bin/sh, -c, 'echo $TASK_KEY $TASK_ATTEMPT >> {mark}'], after: [a]}}
"""
        )
        live = list[int]()

        def look() -> bool:
            own.rounds()
            live.append(len(house.jobs.book.live()))
            return own.graphs.get(row.graph_id).phase in OVER

        until(look, "the graph is over")
        assert own.graphs.get(row.graph_id).phase is SUCCEEDED
        assert max(live) == 3, "two run on four cores, one waits, and the others are not given up"
        assert {task.state.attempt for task in own.tasks(row).values()} == {1}
        assert len(mark.read_text().splitlines()) == 9


def test_what_is_preempted_goes_on_from_where_its_work_was_saved(
    own: GraphHouse, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    text = f'echo "$TASK_ATTEMPT $TASK_CHECKPOINT" >> {mark}; [ $TASK_ATTEMPT = 2 ] || sleep 1000'
    row = own.submit(
        f"""
tasks:
  a: {{command: [/bin/sh, -c, '{text}'], checkpoint: {tmp_path}/c, retry: {{pause: 10ms}}}}
"""
    )

    def runs() -> int | None:
        own.rounds()
        found = own.tasks(row).get("a")
        job = None if found is None or found.job_id is None else own.house.jobs.get(found.job_id)
        return None if job is None or not mark.exists() else job.lease_id

    lease_id = until(runs, "it runs")
    saved = f"{tmp_path}/c/step-40"
    own.graphs.book.report(row.graph_id, AttemptReport(0, 1, {}, saved))
    own.house.do(Evict((lease_id,), PreemptionReason.PRIORITY_PREEMPTION))
    own.house.do(ReportCheckpoint(lease_id))
    tasks = own.until(row, *OVER)
    assert mark.read_text() == f"1 {tmp_path}/c\n2 {saved}\n"
    state = tasks["a"].state
    assert (state.phase, state.failures) == (TaskPhase.SUCCEEDED, {FailureCategory.PREEMPTED: 1})
    (past,) = find_past_attempts(own.house.jobs.book, row, tasks=tasks.values())
    assert (past.task, past.attempt, past.category) == ("a", 1, FailureCategory.PREEMPTED)
    assert (past.reason, past.job.lease_id) == ("priority_preemption", lease_id)


def test_what_another_graph_has_done_is_not_done_again(own: GraphHouse, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    text = f"""
tasks:
  a: {{command: [/bin/sh, -c, 'echo a >> {mark}']}}
  b: {{command: [/bin/sh, -c, 'echo b1 >> {mark}'], after: [a]}}
"""
    first = own.submit(text)
    own.until(first, SUCCEEDED)
    again = own.submit(text.replace("b1", "b2"), reuses=first.graph_id)
    own.until(again, SUCCEEDED)
    assert own.phases(again) == {"a": TaskPhase.REUSED, "b": TaskPhase.SUCCEEDED}
    assert mark.read_text().split() == ["a", "b1", "b2"]
    with pytest.raises(NotFound):
        own.submit(text, reuses=99)


def test_a_cancelled_graph_ends_what_runs_and_begins_nothing(own: GraphHouse) -> None:
    row = own.submit(
        """
tasks:
  a: {command: [sleep, '1000']}
  b: {command: ['true'], after: [a]}
"""
    )
    until(lambda: own.rounds() or bool(own.house.executor.adopt()), "a runs")
    own.graphs.cancel(row.graph_id)
    own.until(row, GraphPhase.CANCELLED)
    assert own.phases(row) == {"a": TaskPhase.CANCELLED, "b": TaskPhase.CANCELLED}
    own.house.quiet()


def test_who_may_submit_no_more_has_nothing_started_for_him(own: GraphHouse) -> None:
    own.house.do(iam.SetMember("ann", Role.TENANT_AUDITOR, TENANT, None))
    row = own.submit("tasks: {a: {command: ['true']}}")
    tasks = own.until(row, *OVER)
    assert tasks["a"].state.reason == "not_permitted"
    assert tasks["a"].job_id is None


def test_a_graph_is_written_down_once_for_its_key(own: GraphHouse) -> None:
    one = own.submit("tasks: {a: {command: ['true']}}", key="k")
    assert own.submit("tasks: {a: {command: ['true']}}", key="k") == one
    with pytest.raises(Conflict, match="another graph"):
        own.submit("tasks: {a: {command: ['false']}}", key="k")
    with pytest.raises(InvalidValue, match="line 1"):
        own.submit("tasks: {a: {command: ['true'], after: [b]}}")


class Killed(BaseException):
    """What a loop dies of in a test."""


CRASHING = """
tasks:
  a: {command: ['true']}
  b: {command: ['true'], after: [a], retry: {exit_code: 1, pause: 1ms}}
  c: {command: ['true'], after: [b]}
"""


def end_jobs(own: GraphHouse) -> None:
    """Have all jobs end, without running them: the first attempt of b fails."""
    book = own.house.jobs.book
    for job in book.live():
        is_bad = (job.key or "").endswith("/b/1")
        phase, code = (JobPhase.FAILED, 75) if is_bad else (JobPhase.SUCCEEDED, 0)
        book.change(job.job_id, JobChange(phase=phase, exit_code=code))


def run_and_die(own: GraphHouse, patch: pytest.MonkeyPatch, *, at: int, after: bool) -> bool:
    """Run a graph with a loop that dies once, at that call or after it; whether it did."""
    calls, jobs, book = count(), own.house.jobs, own.graphs.book

    def deadly(call: Callable[..., Any]) -> Callable[..., Any]:
        def made(*given: Any, **named: Any) -> Any:
            is_last = next(calls) == at
            if is_last and not after:
                raise Killed
            found = call(*given, **named)
            if is_last:
                raise Killed
            return found

        return made

    row, lives = own.submit(CRASHING), [own.loop]

    def look() -> bool:
        try:
            lives[-1].once()
        except Killed:
            lives.append(GraphLoop(own.graphs, own.house.runner, clock=SystemClock()))
        end_jobs(own)
        return own.graphs.get(row.graph_id).phase.is_over

    with patch.context() as patched:
        for thing, name in ((book, "change"), (book, "note_jobs"), (jobs, "submit")):
            patched.setattr(thing, name, deadly(getattr(thing, name)))
        patched.setattr(GraphLoop, "_tell", deadly(GraphLoop._tell))
        until(look, "the graph is over")
    prefix = f"graph-{row.graph_id}/"
    keys = [job.key for job in jobs.book.page(None) if (job.key or "").startswith(prefix)]
    assert sorted(map(str, keys)) == [prefix + each for each in ("a/1", "b/1", "b/2", "c/1")]
    kinds = ("graph_submitted", "graph_task_retried", "graph_ended")
    told = [each for each in own.records(*kinds) if each.body["graph_id"] == row.graph_id]
    assert tuple(record.kind.value for record in told) == kinds
    return len(lives) > 1


@pytest.mark.parametrize("after", [False, True])
def test_wherever_the_loop_dies_each_attempt_and_each_record_is_made_once(
    own: GraphHouse, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    died = [at for at in range(24) if run_and_die(own, monkeypatch, at=at, after=after)]
    assert died == list(range(len(died)))
    assert len(died) > 12  # every call of a run was the last one once


def test_thirty_tasks_outlive_a_server_that_is_killed_in_their_midst(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    command = [sys.executable, "-m", "tests.jobs.graph_house", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as killed:
        until(lambda: mark.exists() and len(mark.read_text().split("\n")) > 5, "some have run")
        killed.kill()
    with job_house(tmp_path) as house:
        own = GraphHouse.of(house)
        row = own.submit(many(mark), key=KEY)
        tasks = own.until(row, *OVER)
        assert own.graphs.get(row.graph_id).phase is SUCCEEDED
        assert len(tasks) == MAPPED + 2
        effects = mark.read_text().splitlines()
        assert len(effects) == len(set(effects)) == MAPPED + 3  # an attempt never ran twice
        retried = [record.body["task"] for record in own.records("graph_task_retried")]
        assert retried == ["work[3]"]
        assert len(own.records("graph_submitted")) == len(own.records("graph_ended")) == 1
