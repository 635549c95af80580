"""A server and an agent as real processes: a failing GPU empties its node, and a test opens it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.processes.caller import HttpCaller
from tests.processes.harness import Server, running
from tests.processes.node_agents import enrol
from tests.processes.sick_agent import ERRORS_FILE
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
