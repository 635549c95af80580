"""Graphs outlive whoever runs them: servers, agents and whole machines end without warning.

The judge is in :mod:`tests.support.graph_story`. With a thousand tasks: ``make graphs``.
"""

from __future__ import annotations

import base64
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.processes.caller import HttpCaller
from tests.processes.harness import Server, leader_of, running
from tests.processes.node_agents import Agent, agents
from tests.processes.test_jobs_survive import no_process_left_behind, processes_of
from tests.support.graph_story import (
    HOW_MANY,
    STUCK,
    TENANT,
    check,
    graph,
    node_of,
    submit,
    until_done,
    until_over,
)
from tests.support.postgres import PostgresServer, start_or_skip
from tests.support.waiting import until

pytestmark = pytest.mark.parametrize("elements", HOW_MANY)


def test_a_graph_outlives_the_server_that_runs_its_jobs(tmp_path: Path, elements: int) -> None:
    data, mark = tmp_path / "data", tmp_path / "mark"
    server = Server(tmp_path, "one", "--data-dir", str(data), "--trust-jobs", is_node=True)
    with no_process_left_behind(tmp_path), running(server):
        server.wait_for_its_node()
        with server.client() as caller:
            graph_id = submit(caller, graph(str(mark), elements), "local")
            for share in (1, elements // 3, 2 * elements // 3):
                until_done(caller, graph_id, share)
                server.kill9()
                server.start()
            again = check(until_over(caller, graph_id, elements), [mark])
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


def test_a_graph_outlives_an_agent_and_a_machine_with_all_that_runs_on_it(
    tmp_path: Path, elements: int
) -> None:
    server = Server(tmp_path, "one", "--data-dir", str(tmp_path / "data"))
    with running(server), server.client() as caller, agents(server, tmp_path, caller) as both:
        graph_id = submit(caller, graph("mark", elements, stuck=True), "node")
        until_done(caller, graph_id, 2)
        both[0].kill9()  # its jobs go on, and it finds them again
        server.kill9()
        server.start()
        both[0].start()
        until_done(caller, graph_id, elements // 2)
        node = until(lambda: node_of(caller, graph_id, f"work[{STUCK}]"), "the stuck one runs")
        machine = next(agent for agent in both if agent.node == node)
        die(machine)
        machine.start()
        again = check(until_over(caller, graph_id, elements), marks_of(both))
        assert again.pop("exit_code") == 1
        assert again.pop("node_lost") >= 1, "what was lost with its machine was tried again"
        assert not again


def die(agent: Agent) -> None:
    """End an agent and all that runs under it, as a power cut would."""
    agent.kill9()
    # Nobody sees another die: all stand still before the first is ended.
    for blow in (signal.SIGSTOP, signal.SIGKILL):
        for pid in processes_of(agent.folder):
            with suppress(ProcessLookupError):
                os.kill(pid, blow)


def begin_job(caller: HttpCaller) -> dict[str, Any]:
    """A job on the second node that goes on until it is told to end."""
    text = "echo one >> effect; echo begun; until [ -e go ]; do sleep 0.05; done; echo done"
    body = TENANT | {
        "command": ["/bin/sh", "-c", text],
        "resources": {"cpu_milli": 100, "mem_bytes": 2**26},
        "labels": ["executor=node", "site=n2"],
        "ttl_ms": 600_000,
    }
    job_id = int(caller.ask("POST", "/v1/jobs", body, key="long")["job_id"])
    return job_in(caller, job_id, "running")


def job_in(caller: HttpCaller, job_id: int, wanted: str) -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        found: dict[str, Any] = caller.ask("GET", f"/v1/jobs/{job_id}")
        assert found["phase"] in ("waiting", "starting", "running", wanted), found
        return found if found["phase"] == wanted else None

    return until(look, f"job {job_id} is {wanted}")


def check_job(
    servers: list[Server], caller: HttpCaller, *, begun: dict[str, Any], agent: Agent
) -> None:
    """It went on under three leaders, ends once, and every replica tells what it printed."""
    work = agent.folder / "jobs" / str(begun["lease_id"]) / "work"
    (work / "go").touch()
    done = job_in(caller, begun["job_id"], "succeeded")
    assert (done["attempt"], done["lease_id"]) == (1, begun["lease_id"])
    assert (work / "effect").read_text() == "one\n", "it ran once"
    for server in servers:
        with server.client() as one:
            told = one.ask("GET", f"/v1/jobs/{begun['job_id']}/output")
            assert base64.b64decode(told["data"]) == b"begun\ndone\n", server.name


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    with start_or_skip() as server:
        yield server


def test_a_graph_outlives_its_leader_among_three_replicas(
    tmp_path: Path, postgres: PostgresServer, *, elements: int
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
            begun = begin_job(caller)
            graph_id = submit(caller, graph("mark", elements), "node")
            for share in (2, elements // 2):
                until_done(caller, graph_id, share)
                leader = until(lambda: leader_of(servers), "somebody leads")
                leader.kill9()
                leader.start(wait=False)
            again = check(until_over(caller, graph_id, elements), marks_of(both))
            check_job(servers, caller, begun=begun, agent=both[1])
            assert again.pop("exit_code") == 1
            assert again.keys() <= {"node_lost"}, "a job that was refused by a deposed leader"
