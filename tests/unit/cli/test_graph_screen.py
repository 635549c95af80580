"""What is said of a graph: what failed, what was tried again and why, and how a stage looks."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from bailiwick.cli.trees.graph_picture import draw_svg, state_of
from bailiwick.cli.trees.graph_screen import TOLD_MAX, advice, summary, why
from bailiwick.phrases.times import clock
from bailiwick.vocab.graphs import FailureCategory, GraphPhase, TaskPhase
from bailiwick.wire.graphs import Graph, GraphDetail, GraphStage, GraphTask, PastAttempt

LOST, CODE = FailureCategory.NODE_LOST, FailureCategory.EXIT_CODE


def task(name: str, phase: TaskPhase, **told: Any) -> GraphTask:
    plain: dict[str, Any] = {"category": None, "reason": None, "exit_code": None, "failures": {}}
    plain |= {"due_ms": None, "job_id": 7, "outputs": {}, "checkpoint": None, "attempt": 1} | told
    return GraphTask(name=name, stage=name.partition("[")[0], phase=phase, **plain)


def detail(*tasks: GraphTask) -> GraphDetail:
    stages = dict.fromkeys(each.stage for each in tasks)
    graph = Graph(
        graph_id=7, tenant="lab", project=None, name="<night>", submitter="ann", executor=None,
        reuses=None, phase=GraphPhase.FAILED, cancel_asked=False, tasks=len(tasks), counts={},
        submitted_ms=0, ended_ms=1,
    )  # fmt: skip
    rows = [GraphStage(name=name, tasks=1, after=[]) for name in stages]
    return GraphDetail(graph=graph, stages=rows, tasks=list(tasks))


def test_what_was_tried_again_is_told_with_why_also_if_it_came_right() -> None:
    found = detail(
        task("a", TaskPhase.SUCCEEDED, failures={LOST: 2}),
        task("b", TaskPhase.FAILED, category=CODE, exit_code=75, failures={CODE: 3, LOST: 1}),
        task("c", TaskPhase.FAILED, category=CODE, exit_code=1, failures={CODE: 1}),
    )
    assert list(summary(found)) == [
        "graph-7: tried again after 3 node_lost, 2 exit_code: a, b",
        "graph-7: b failed: exit_code 75, tried again after 2 exit_code, 1 node_lost",
        "graph-7: c failed: exit_code 1",
    ]
    assert list(advice(found)) == [
        "bailiwick graph logs graph-7 b",
        "bailiwick graph retry graph-7",
    ]
    assert why(task("d", TaskPhase.SUCCEEDED)) == "-"


def test_each_attempt_that_was_followed_by_another_is_told_with_when_where_and_why() -> None:
    past = PastAttempt(
        task="b", attempt=1, category=CODE, reason=None, exit_code=75, node="n1", job_id=3,
        started_ms=0, ended_ms=1_000,
    )  # fmt: skip
    lost = {"category": LOST, "exit_code": None, "reason": "other_boot", "attempt": 2}
    silent = {"reason": "output_missing", "exit_code": 0, "node": None, "attempt": 3}
    found = detail(task("b", TaskPhase.SUCCEEDED, failures={CODE: 1, LOST: 1}))
    again = [past, *(past.model_copy(update=each) for each in (lost, silent))]
    found = found.model_copy(update={"tried_again": again})
    at = clock(1_000)
    assert list(summary(found)) == [
        "graph-7: tried again after 1 exit_code, 1 node_lost: b",
        f"  {at}: b, attempt 1 on n1: exit_code 75",
        f"  {at}: b, attempt 2 on n1: node_lost, other_boot",
        f"  {at}: b, attempt 3: exit_code 0, output_missing",
    ]


def test_of_many_that_failed_a_few_are_named() -> None:
    told = {"category": CODE, "exit_code": 1, "failures": {CODE: 1}}
    many = [task(f"m[{n}]", TaskPhase.FAILED, **told) for n in range(TOLD_MAX + 5)]
    lines = list(summary(detail(*many)))
    assert len(lines) == TOLD_MAX + 1
    assert lines[-1] == "graph-7: 5 more tasks failed"


@pytest.mark.parametrize(
    ("phases", "state"),
    [
        ([TaskPhase.SUCCEEDED, TaskPhase.SKIPPED], "done"),
        ([TaskPhase.SUCCEEDED, TaskPhase.FAILED], "failed"),
        ([TaskPhase.SUCCEEDED, TaskPhase.BLOCKED], "running"),
        ([TaskPhase.SKIPPED], "idle"),
        ([TaskPhase.CANCELLED, TaskPhase.CANCELLED], "idle"),
    ],
)
def test_a_stage_in_a_word(phases: list[TaskPhase], state: str) -> None:
    assert state_of(dict.fromkeys(phases, 1)) == state


def test_a_picture_is_well_formed_whatever_the_graph_is_called() -> None:
    root = ElementTree.fromstring(draw_svg(detail(task("a", TaskPhase.READY))))
    texts = [each.text for each in root.iter() if each.tag.endswith(("text", "title"))]
    assert texts == ["graph-7 <night>: failed", "a", "ready"]
