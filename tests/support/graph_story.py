"""A graph whose tasks write down that they ran, and the judge of what they wrote.

What judges is not the product: every attempt writes down its task's key and its own number, where
it runs. An attempt must never be there twice, every task must be there, and a task that is there
more than once must be told as tried again, with why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.processes.caller import HttpCaller
from tests.support.waiting import until

TENANT = {"tenant": "main", "project": "default"}
FLAKY = 3
"""The element that fails at first, by its own doing."""
STUCK = 5
"""The element that ends at first only with its machine, in a graph that has such a one."""
HOW_MANY = (30, pytest.param(1_000, marks=(pytest.mark.long, pytest.mark.timeout(7200))))
"""Elements of the map in the middle of each graph."""


def graph(
    mark: str,
    elements: int,
    *,
    stuck: bool = False,
    go: Path | None = None,
    needs: str = "cpus: 0.05, mem: 16MiB",
    at_once: int = 16,
) -> str:
    """One, a map after it, one after that; one element fails at first, by its own doing.

    One that is ``stuck`` ends at first only with its machine. Where a cluster may forget an attempt
    by itself, that would be too soon to be the end of it: there it is stuck, however often it is
    tried, until there is the file ``go``.
    """
    effect = f'echo "$TASK_KEY $TASK_ATTEMPT" >> {mark}; sleep 0.1'
    flaky = f'{effect}; case "$TASK_INDEX $TASK_ATTEMPT" in "{FLAKY} 1") exit 75;;'
    if stuck:
        which = f'"{STUCK} 1")' if go is None else f'"{STUCK} "*) [ -e {go} ] ||'
        flaky += f" {which} exec sleep 1000;;"
    flaky += " esac"
    return f"""
running_max: {at_once}
tasks:
  prep: {{command: [/bin/sh, -c, '{effect}'], {needs}}}
  work:
    command: [/bin/sh, -c, '{flaky}']
    map: {elements}
    after: [prep]
    {needs.replace(", ", chr(10) + "    ")}
    retry: {{exit_code: 1, exit_codes: [75], node_lost: 99, pause: 10ms}}
  last: {{command: [/bin/sh, -c, '{effect}'], after: [work], {needs}}}
"""


def submit(caller: HttpCaller, document: str, executor: str) -> int:
    """The graph's number; asked twice, it is one graph."""
    body = TENANT | {"document": document, "executor": executor}
    made = caller.ask("POST", "/v1/graphs", body, key="graph")
    assert caller.ask("POST", "/v1/graphs", body, key="graph")["graph_id"] == made["graph_id"]
    return int(made["graph_id"])


def until_done(caller: HttpCaller, graph_id: int, tasks: int) -> None:
    """Wait until so many of its tasks have succeeded; each wait is for one more of them."""
    done = 0
    while done < tasks:  # bounded: it grows
        look = partial(_progress, caller, graph_id, done)
        done = until(look, f"more than {done} of graph {graph_id} are done")


def _progress(caller: HttpCaller, graph_id: int, done: int, /) -> int | None:
    (found,) = [
        each for each in caller.ask("GET", "/v1/graphs")["items"] if each["graph_id"] == graph_id
    ]
    if found["phase"] not in ("running", "succeeded"):
        raise AssertionError(caller.ask("GET", f"/v1/graphs/{graph_id}"))
    now = int(found["counts"].get("succeeded", 0))
    return now if now > done else None


def until_over(caller: HttpCaller, graph_id: int, elements: int) -> dict[str, Any]:
    """The graph with its tasks, once all of them have succeeded."""
    until_done(caller, graph_id, elements + 2)

    def look() -> dict[str, Any] | None:
        found: dict[str, Any] = caller.ask("GET", f"/v1/graphs/{graph_id}")
        return found if found["graph"]["phase"] == "succeeded" else None

    return until(look, f"graph {graph_id} has succeeded")


def check(found: dict[str, Any], marks: Iterable[Path]) -> Counter[str]:
    """Each attempt ran once at most, each task did its work; how often what was tried again."""
    effects = [line for mark in marks for line in mark.read_text().splitlines()]
    assert len(effects) == len(set(effects)), "an attempt never runs twice"
    name = f"graph-{found['graph']['graph_id']}"
    by_task = Counter(line.rpartition(" ")[0] for line in effects)
    assert by_task.keys() == {f"{name}/{task['name']}" for task in found["tasks"]}
    again = Counter[str]()
    for task in found["tasks"]:
        again.update(task["failures"])
        # Whatever ran more than once is told as tried again, with why.
        told = sum(task["failures"].values())
        assert (task["phase"], task["attempt"]) == ("succeeded", 1 + told), task
        assert by_task[f"{name}/{task['name']}"] <= task["attempt"]
    told_again = Counter(str(past["category"]) for past in found["tried_again"])
    assert told_again == again, "why, as its jobs tell it"
    for past in found["tried_again"]:
        is_told = past["ended_ms"] and past["job_id"] and (past["node"] or past["reason"])
        assert is_told, f"when and where, or why it never had a place: {past}"
    return again


def node_of(caller: HttpCaller, graph_id: int, name: str) -> str | None:
    """Where a task runs, once it does."""
    tasks = caller.ask("GET", f"/v1/graphs/{graph_id}")["tasks"]
    (job_id,) = [task["job_id"] for task in tasks if task["name"] == name]
    job = {} if job_id is None else caller.ask("GET", f"/v1/jobs/{job_id}")
    return str(job["node"]) if job.get("phase") == "running" else None
