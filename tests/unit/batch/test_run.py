"""What a run hands on from task to task, and in which order it starts them."""

from __future__ import annotations

from bailiwick.batch import (
    CancelAsked,
    GraphRun,
    GraphStep,
    RerunAsked,
    RetryPolicy,
    RetryTask,
    StartTask,
    StopTask,
    TaskCheckpointed,
    TaskDef,
    TaskFailed,
    TaskGraph,
    TaskResult,
    TaskSucceeded,
    Upstream,
    next_steps,
)
from bailiwick.vocab.graphs import FailureCategory, GraphPhase, TaskFault, TaskPhase, UpstreamResult
from bailiwick.vocab.words import Priority

ONE, TWO = ("sha256:" + digit * 64 for digit in "12")
AGAIN = RetryPolicy(retries={FailureCategory.PREEMPTED: 1}, jitter_milli=0)


def _tell(run: GraphRun, *results: TaskResult, now_ms: int = 0) -> list[GraphStep]:
    return next_steps(run, now_ms=now_ms, results=results)


def _starts(steps: list[GraphStep]) -> list[str]:
    return [step.task for step in steps if isinstance(step, StartTask)]


def test_what_one_makes_another_takes_by_its_content() -> None:
    make = TaskDef("make", ("m",), outputs=("model",))
    use = TaskDef("use", ("u",), inputs={"model": "make/model", "data": TWO})
    run = GraphRun(TaskGraph([make, use]), graph_id=1)
    assert _starts(_tell(run)) == ["make"]
    (start,) = _tell(run, TaskSucceeded("make", 1, {"model": ONE, "more": TWO}))
    assert isinstance(start, StartTask)
    assert start.inputs == {"model": ONE, "data": TWO}


def test_an_element_takes_what_its_own_twin_made() -> None:
    make = TaskDef("make", ("m",), over=("a", "b"), outputs=("x",))
    use = TaskDef(
        "use", ("u",), over=("a", "b"), after=(Upstream("make", each=True),), inputs={"x": "make/x"}
    )
    run = GraphRun(TaskGraph([make, use]), graph_id=1)
    _tell(run)
    (start,) = _tell(run, TaskSucceeded("make[1]", 1, {"x": TWO}))
    assert isinstance(start, StartTask)
    assert (start.task, start.inputs) == ("use[1]", {"x": TWO})


def test_who_does_not_make_what_it_promised_has_failed() -> None:
    run = GraphRun(TaskGraph([TaskDef("make", ("m",), outputs=("x",))]), graph_id=1)
    _tell(run)
    _tell(run, TaskSucceeded("make", 1))
    found = run.standing("make")
    assert (found.phase, found.reason) == (TaskPhase.FAILED, TaskFault.OUTPUT_MISSING)
    assert run.phase is GraphPhase.FAILED


def test_an_input_that_was_never_made_is_no_reason_to_start() -> None:
    make = TaskDef("make", ("m",), outputs=("x",))
    after = (Upstream("make", UpstreamResult.ENDED),)
    use = TaskDef("use", ("u",), after=after, inputs={"x": "make/x"})
    run = GraphRun(TaskGraph([make, use]), graph_id=1)
    _tell(run)
    steps = _tell(run, TaskFailed("make", 1, FailureCategory.EXIT_CODE, 1))
    assert _starts(steps) == []
    found = run.standing("use")
    assert (found.category, found.reason) == (FailureCategory.DENIED, TaskFault.INPUT_MISSING)


def test_a_preempted_task_goes_on_where_it_was() -> None:
    run = GraphRun(TaskGraph([TaskDef("t", ("t",), checkpoint="/c", retry=AGAIN)]), graph_id=9)
    (first,) = _tell(run)
    assert _tell(run, TaskCheckpointed("t", 1, "/c/step-40")) == []
    assert run.under_way() == [first], "what was told stays as it was told"
    (retry,) = _tell(run, TaskFailed("t", 1, FailureCategory.PREEMPTED, None, "quota_rebalance"))
    assert retry == RetryTask("t", 1, FailureCategory.PREEMPTED, None, "quota_rebalance", 1_000)
    assert (_tell(run, now_ms=999), run.next_due_ms) == ([], 1_000)
    (second,) = _tell(run, now_ms=1_000)
    assert isinstance(first, StartTask)
    assert isinstance(second, StartTask)
    assert (first.checkpoint, second.checkpoint) == ("/c", "/c/step-40")
    assert (first.key, second.key) == ("graph-9/t/1", "graph-9/t/2")
    assert first.effect_key == second.effect_key == "graph-9/t"
    _tell(run, TaskFailed("t", 2, FailureCategory.PREEMPTED), now_ms=1_001)
    assert run.phase is GraphPhase.FAILED, "tried again once, as it says"


def test_the_more_urgent_start_first_and_no_more_than_may() -> None:
    tasks = [TaskDef(name, (name,)) for name in "abc"]
    urgent = TaskDef("d", ("d",), priority=Priority.HIGH)
    run = GraphRun(TaskGraph([*tasks, urgent], running_max=2), graph_id=1)
    assert _starts(_tell(run)) == ["d", "a"]
    assert _starts(_tell(run, TaskSucceeded("d", 1))) == ["b"]


def test_a_change_is_done_again_as_far_as_its_content_goes() -> None:
    def graph(word: str) -> TaskGraph:
        make = TaskDef("make", (word,), outputs=("x",))
        return TaskGraph([make, TaskDef("use", ("u",), inputs={"x": "make/x"})])

    first = GraphRun(graph("old"), graph_id=1)
    _tell(first)
    _tell(first, TaskSucceeded("make", 1, {"x": ONE}))
    _tell(first, TaskSucceeded("use", 1))
    done = {each.digest or "": each.outputs for each in first.standings}
    same = GraphRun(graph("new"), graph_id=2, done=done)
    assert _starts(_tell(same)) == ["make"]
    assert _starts(_tell(same, TaskSucceeded("make", 1, {"x": ONE}))) == []
    assert same.standing("use").phase is TaskPhase.REUSED
    other = GraphRun(graph("new"), graph_id=3, done=done)
    _tell(other)
    assert _starts(_tell(other, TaskSucceeded("make", 1, {"x": TWO}))) == ["use"]


def test_a_cancelled_graph_can_be_taken_up_again() -> None:
    graph = TaskGraph([TaskDef("a", ("a",)), TaskDef("b", ("b",), after=("a",))])
    run = GraphRun(graph, graph_id=1)
    _tell(run)
    assert _tell(run, CancelAsked()) == [StopTask("a", 1, "graph-1/a/1")]
    assert run.under_way() == [StopTask("a", 1, "graph-1/a/1")]
    _tell(run, TaskFailed("a", 1, FailureCategory.EXIT_CODE, None))
    assert run.phase is GraphPhase.CANCELLED
    assert _starts(_tell(run, RerunAsked())) == ["a"]
    assert _starts(_tell(run, TaskSucceeded("a", 1))) == [], "an attempt that is long over"
    assert _starts(_tell(run, TaskSucceeded("a", 2))) == ["b"]


def test_only_named_tasks_are_tried_again() -> None:
    alone = [TaskDef(name, (name,)) for name in "ab"]
    graph = TaskGraph([*alone, TaskDef("c", ("c",), after=("a",))])
    run = GraphRun(graph, graph_id=1)
    _tell(run)
    _tell(run, *(TaskFailed(name, 1, FailureCategory.EXIT_CODE, 1) for name in "ab"))
    assert run.standing("c").phase is TaskPhase.SKIPPED
    assert _starts(_tell(run, RerunAsked(frozenset({"a"})))) == ["a"]
    assert _starts(_tell(run, TaskSucceeded("a", 2))) == ["c"]
    _tell(run, TaskSucceeded("c", 1))
    assert run.phase is GraphPhase.FAILED, "b is as it was"
