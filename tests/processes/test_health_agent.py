"""A server and an agent as real processes: a GPU that fails or is missing empties its node."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.processes.caller import HttpCaller
from tests.processes.harness import Server, running
from tests.processes.node_agents import Agent, enrol
from tests.processes.sick_agent import ERRORS_FILE, GPUS
from tests.support.waiting import until

LIMITS = ("--health-limit", "look_every_ms=100", "--health-limit", "burn_in_s=0")


def test_a_failing_gpu_drains_its_node_and_it_takes_work_again_by_a_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors = tmp_path / "errors"
    errors.write_text("0", encoding="ascii")
    monkeypatch.setenv(ERRORS_FILE, str(errors))
    server = Server(tmp_path, "one", "--data-dir", str(tmp_path / "data"))
    with running(server), server.client() as caller:
        agent = enrol(caller, tmp_path, "g1", server)
        agent.start(options=("--trust-jobs", *LIMITS), program="tests.processes.sick_agent")
        try:
            until(lambda: is_known(caller), "the agent has told how its machine is")
            assert node(caller)["mode"] == "accepting"
            errors.write_text("3", encoding="ascii")
            until(lambda: node(caller)["mode"] == "drained", "the node is drained")
            ticket = caller.ask("GET", "/v1/nodes/g1/ticket")
            assert "GPU 0: memory errors that could not be corrected (3" in ticket["text"]
            caller.ask("POST", "/v1/nodes/g1/open", key="open-1")
            until(lambda: outcome(caller) == "failed", "the test has found it, too")
            assert node(caller)["mode"] == "returning"
            errors.write_text("0", encoding="ascii")
            caller.ask("PUT", "/v1/nodes/g1/test", key="test-1")
            until(lambda: node(caller)["mode"] == "accepting", "the node takes work again")
            assert outcome(caller) == "passed"
            assert node(caller)["takes_leases"]
        finally:
            agent.close()


def test_an_agent_that_begins_with_a_gpu_less_than_its_node_is_known_with_drains_the_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ERRORS_FILE, str(tmp_path / "none"))
    server = Server(tmp_path, "one", "--data-dir", str(tmp_path / "data"))
    with running(server), server.client() as caller:
        first = enrol(caller, tmp_path, "g1", server)
        again = Agent(tmp_path / "again", "g1", server)
        again.folder.mkdir()
        shutil.copy2(first.folder / "token", again.folder / "token")

        def start(agent: Agent, gpus: int) -> None:
            monkeypatch.setenv(GPUS, str(gpus))
            agent.start(options=("--trust-jobs", *LIMITS), program="tests.processes.sick_agent")

        try:
            start(first, 3)
            until(lambda: is_known(caller), "the agent has told how its machine is")
            start(again, 2)  # the first one beats on: the node departs on no machine, however slow
            until(lambda: node(caller)["mode"] == "drained", "the node is drained")
            (found,) = node(caller)["health"]["findings"]
            assert (found["check"], found["level"], found["value"]) == ("driver", "fail", 1)
            assert len(node(caller)["gpus"]) == 3
        finally:
            again.close()
            first.close()


def node(caller: HttpCaller) -> Any:
    """The node as it is shown."""
    return caller.ask("GET", "/v1/nodes/g1")


def is_known(caller: HttpCaller) -> bool:
    """Whether the agent has said that it can test."""
    rows = {row["node"]: row for row in caller.ask("GET", "/v1/nodes")["items"]}
    found = rows.get("g1", {}).get("health")
    return found is not None and found["can_test"]


def outcome(caller: HttpCaller) -> str | None:
    """How its last test ended."""
    tests = node(caller)["health"]["tests"]
    return tests[0]["outcome"] if tests else None
