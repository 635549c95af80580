"""Graphs as rows: once for each key, one writer at a time, and read back as they were."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from bailiwick.batch.task_state import TaskState
from bailiwick.store.graph_rows import (
    AttemptReport,
    GraphBook,
    GraphChange,
    GraphRow,
    NewGraphRow,
    TaskRow,
)
from bailiwick.vocab.errors import LimitReached, Stale
from bailiwick.vocab.graphs import FailureCategory, GraphPhase, TaskPhase
from tests.store.conftest import Place


def new(**how: Any) -> NewGraphRow:
    told: dict[str, Any] = {
        "tenant": "lab",
        "project": None,
        "name": None,
        "submitter": "ann",
        "submitter_kind": "human",
        "submitter_keys": ("queue.submit",),
        "correlation_id": "c",
        "key": None,
        "digest": "d",
        "document": "tasks: {}",
        "executor": None,
        "tasks": 2,
        "submitted_ms": 5,
    }
    return NewGraphRow(**(told | how))


def state(phase: TaskPhase = TaskPhase.SUBMITTED) -> TaskState:
    made = TaskState(0)
    made.phase, made.attempt, made.outputs = phase, 2, {"data": "sha256:" + "0" * 64}
    made.category, made.reason, made.exit_code = FailureCategory.EXIT_CODE, "why", 7
    made.failures, made.reported = Counter({FailureCategory.EXIT_CODE: 1}), "/there"
    return made


def plain(found: TaskState) -> dict[str, Any]:
    return {name: getattr(found, name) for name in TaskState.__slots__}


def moved(*tasks: TaskRow, phase: GraphPhase = GraphPhase.RUNNING, **how: Any) -> GraphChange:
    return GraphChange(phase=phase, tasks=tasks, ended_ms=how.pop("ended_ms", None), **how)


def test_a_key_makes_one_graph_and_there_is_a_bound(place: Place) -> None:
    book = GraphBook(place.open())
    one = book.insert(new(key="k"), live_max=2)
    assert book.insert(new(key="k"), live_max=2) == one == book.get(one.graph_id)
    book.insert(new(submitter="bob", key="k"), live_max=2)
    with pytest.raises(LimitReached):
        book.insert(new(), live_max=2)


def test_a_round_is_read_back_as_it_was_and_only_one_may_write(place: Place) -> None:
    book, other = GraphBook(place.open()), GraphBook(place.open())
    row = book.insert(new(), live_max=9)
    version = book.change(row, moved(TaskRow(1, "b", state(), 4)))
    with pytest.raises(Stale):
        other.change(row, moved(TaskRow(1, "b", state(TaskPhase.FAILED), 4)))
    (task,) = other.tasks_of(row.graph_id)
    assert (task.number, task.name, task.job_id) == (1, "b", 4)
    assert plain(task.state) == plain(state())
    found = other.get(row.graph_id)
    assert found is not None
    assert found.version == version
    book.change(found, moved(TaskRow(1, "b", state(TaskPhase.SUCCEEDED), 4)))
    book.note_jobs(row.graph_id, {1: 8})
    assert book.tasks_of(row.graph_id)[0].job_id == 8
    assert book.counts([row.graph_id]) == {row.graph_id: {TaskPhase.SUCCEEDED: 1}}


def test_what_is_asked_is_taken_up_once(place: Place) -> None:
    book = GraphBook(place.open())
    row = book.insert(new(), live_max=9)
    assert not book.ask_rerun(row.graph_id, ())
    assert book.ask_cancel(row.graph_id)
    book.change(row, moved(phase=GraphPhase.CANCELLED, ended_ms=9))
    assert book.due() == []
    assert not book.ask_cancel(row.graph_id)
    assert book.ask_rerun(row.graph_id, ("b", "a"))
    (due,) = book.due()
    assert (due.rerun_asked, due.ended_ms) == ('["a", "b"]', 9)
    book.change(due, moved(rerun_taken=due.rerun_asked))
    (again,) = book.due()
    assert (again.rerun_asked, again.cancel_asked, again.ended_ms) == (None, False, None)


def test_a_page_is_of_the_tenants_and_projects_that_are_named(place: Place) -> None:
    book = GraphBook(place.open())
    rows: list[GraphRow] = [
        book.insert(new(tenant=tenant, project=project), live_max=9)
        for tenant, project in (("lab", None), ("lab", "p"), ("else", None))
    ]
    ids = [row.graph_id for row in rows]
    assert [row.graph_id for row in book.page(None)] == ids[::-1]
    assert [row.graph_id for row in book.page([("lab", None)])] == ids[1::-1]
    assert [row.graph_id for row in book.page([("lab", "p")])] == [ids[1]]
    assert book.page([]) == []
    assert [row.graph_id for row in book.page(None, before=ids[2], limit=1)] == [ids[1]]


def test_of_what_an_attempt_says_the_last_counts(place: Place) -> None:
    book = GraphBook(place.open())
    for report in (
        AttemptReport(1, 1, {}, "/a"),
        AttemptReport(1, 1, {"x": "y"}, None),
        AttemptReport(1, 2, {}, "/b"),
    ):
        book.report(3, report)
    assert sorted(book.reports(3), key=lambda each: each.attempt) == [
        AttemptReport(1, 1, {"x": "y"}, None),
        AttemptReport(1, 2, {}, "/b"),
    ]
    assert book.job_under("ann", "graph-1/a/1") is None
    assert book.ends([1, 2]) == []
