"""Graphs outlive whoever runs them: servers, agents and whole machines end without warning.

What judges is not the product: every attempt writes down its task's key and its own number, where
it runs. An attempt must never be there twice, every task must be there, and a task that is there
more than once must be told as tried again, with why.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.processes.caller import HttpCaller
from tests.processes.harness import Server, leader_of, running
from tests.processes.node_agents import Agent, agents
from tests.processes.test_jobs_survive import no_process_left_behind, processes_of
from tests.support.postgres import PostgresServer, start_or_skip
from tests.support.waiting import until

TASKS = int(os.environ.get("BAILIWICK_GRAPH_TASKS", "30"))
"""Elements of the map in the middle of each graph."""
TENANT = {"tenant": "main", "project": "default"}


def graph(mark: str, *, stuck: bool = False) -> str:
    """One, a map after it, one after that; one element fails at first, by its own doing.

    One that is ``stuck`` ends at first only with its machine.
    """
    effect = f'echo "$TASK_KEY $TASK_ATTEMPT" >> {mark}; sleep 0.1'
    flaky = f'{effect}; case "$TASK_INDEX $TASK_ATTEMPT" in "3 1") exit 75;;'
    flaky += ' "5 1") exec sleep 1000;; esac' if stuck else " esac"
    return f"""
running_max: 16
tasks:
  prep: {{command: [/bin/sh, -c, '{effect}'], cpus: 0.05, mem: 16MiB}}
  work:
    command: [/bin/sh, -c, '{flaky}']
    map: {TASKS}
    after: [prep]
    cpus: 0.05
    mem: 16MiB
    retry: {{exit_code: 1, exit_codes: [75], node_lost: 5, pause: 10ms}}
  last: {{command: [/bin/sh, -c, '{effect}'], after: [work], cpus: 0.05, mem: 16MiB}}
"""


def submit(caller: HttpCaller, document: str, executor: str) -> int:
    body = TENANT | {"document": document, "executor": executor}
    made = caller.ask("POST", "/v1/graphs", body, key="graph")
    assert caller.ask("POST", "/v1/graphs", body, key="graph")["graph_id"] == made["graph_id"]
    return int(made["graph_id"])


def until_done(caller: HttpCaller, graph_id: int, tasks: int) -> None:
    """Wait until so many of its tasks have succeeded."""

    def look() -> bool:
        counts = caller.ask("GET", f"/v1/graphs/{graph_id}")["graph"]["counts"]
        return int(counts.get("succeeded", 0)) >= tasks

    until(look, f"{tasks} tasks of graph {graph_id} have succeeded")


def until_over(caller: HttpCaller, graph_id: int) -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        found: dict[str, Any] = caller.ask("GET", f"/v1/graphs/{graph_id}")
        assert found["graph"]["phase"] in ("running", "succeeded"), found["graph"]
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
    return again


def test_a_graph_outlives_the_server_that_runs_its_jobs(tmp_path: Path) -> None:
    data, mark = tmp_path / "data", tmp_path / "mark"
    server = Server(tmp_path, "one", "--data-dir", str(data), "--trust-jobs", is_node=True)
    with no_process_left_behind(tmp_path), running(server):
        server.wait_for_its_node()
        with server.client() as caller:
            graph_id = submit(caller, graph(str(mark)), "local")
            for share in (1, TASKS // 3, 2 * TASKS // 3):
                until_done(caller, graph_id, share)
                server.kill9()
                server.start()
            again = check(until_over(caller, graph_id), [mark])
            assert again == {"exit_code": 1}
            until(lambda: not caller.ask("GET", "/v1/leases")["items"], "all leases are back")
        assert "Traceback" not in server.errors
        assert server.stop() == 0
    check_journal(data, graph_id)


def check_journal(data: Path, graph_id: int) -> None:
    """Taken up, tried again and ended: each told once, in a chain that holds."""
    command = (sys.executable, "-m", "bailiwick.cli.main", "journal", "verify", str(data))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    from bailiwick.journal.record import parse_record
    from bailiwick.store import open_store

    store = open_store(str(data))
    told = Counter[str]()
    for line in store.read(0, 10**6):
        record = parse_record(line.rstrip(b"\n"))
        if record.kind.value.startswith("graph_") and record.body["graph_id"] == graph_id:
            told[record.kind.value] += 1
    assert told == {"graph_submitted": 1, "graph_task_retried": 1, "graph_ended": 1}


def marks_of(both: list[Agent]) -> list[Path]:
    return [mark for agent in both for mark in agent.folder.glob("jobs/*/work/mark")]


def test_a_graph_outlives_an_agent_and_a_machine_with_all_that_runs_on_it(tmp_path: Path) -> None:
    server = Server(tmp_path, "one", "--data-dir", str(tmp_path / "data"))
    with running(server), server.client() as caller, agents(server, tmp_path, caller) as both:
        graph_id = submit(caller, graph("mark", stuck=True), "node")
        until_done(caller, graph_id, 2)
        both[0].kill9()  # its jobs go on, and it finds them again
        server.kill9()
        server.start()
        both[0].start()
        until_done(caller, graph_id, TASKS // 2)
        node = until(lambda: node_of(caller, graph_id, "work[5]"), "the stuck one runs")
        machine = next(agent for agent in both if agent.node == node)
        die(machine)
        machine.start()
        again = check(until_over(caller, graph_id), marks_of(both))
        assert again.pop("exit_code") == 1
        assert again.pop("node_lost") >= 1, "what was lost with its machine was tried again"
        assert not again


def node_of(caller: HttpCaller, graph_id: int, name: str) -> str | None:
    """Where a task runs, once it does."""
    tasks = caller.ask("GET", f"/v1/graphs/{graph_id}")["tasks"]
    (job_id,) = [task["job_id"] for task in tasks if task["name"] == name]
    job = {} if job_id is None else caller.ask("GET", f"/v1/jobs/{job_id}")
    return str(job["node"]) if job.get("phase") == "running" else None


def die(agent: Agent) -> None:
    """End an agent and all that runs under it, as a power cut would."""
    agent.kill9()
    for pid in processes_of(agent.folder):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    with start_or_skip() as server:
        yield server


def test_a_graph_outlives_its_leader_among_three_replicas(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    url = postgres.new_database()
    servers = [Server(tmp_path, name, "--database", url) for name in ("ada", "ben", "cleo")]
    with running(*servers):
        until(lambda: leader_of(servers), "somebody leads")
        addresses = [server.address for server in servers]
        with (
            HttpCaller(addresses, servers[0].token) as caller,
            agents(servers[0], tmp_path, caller, other=servers[1]) as both,
        ):
            graph_id = submit(caller, graph("mark"), "node")
            for share in (2, TASKS // 2):
                until_done(caller, graph_id, share)
                leader = until(lambda: leader_of(servers), "somebody leads")
                leader.kill9()
                leader.start(wait=False)
            again = check(until_over(caller, graph_id), marks_of(both))
            assert again.pop("exit_code") == 1
            assert again.keys() <= {"node_lost"}, "a job that was refused by a deposed leader"
