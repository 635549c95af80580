"""A server and an agent as real processes: an order reaches the machine, and its node is back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.processes.caller import HttpCaller
from tests.processes.harness import Server, running
from tests.processes.node_agents import enrol
from tests.support.waiting import until


def test_a_gpu_is_divided_and_made_whole_and_its_node_takes_work_again(tmp_path: Path) -> None:
    server = Server(tmp_path, "one", "--data-dir", str(tmp_path / "data"))
    with running(server), server.client() as caller:
        agent = enrol(caller, tmp_path, "g1", server)
        agent.start(options=("--trust-jobs",), has_gpu=True)
        try:
            until(lambda: "g1" in nodes(caller), "the node is reported")
            for profiles in (["3g.71gb", "4g.71gb"], []):
                wish = {"gpus": [1], "profiles": profiles, "grace_ms": 0}
                caller.ask("POST", "/v1/nodes/g1/mig", wish, key=f"mig-{len(profiles)}")
                wanted = [False, bool(profiles)]
                until(lambda wanted=wanted: is_back(caller, wanted), f"GPU 1 is {profiles}")
        finally:
            agent.close()


def nodes(caller: HttpCaller) -> dict[str, Any]:
    return {row["node"]: row for row in caller.ask("GET", "/v1/nodes")["items"]}


def is_back(caller: HttpCaller, wanted: list[bool]) -> bool:
    """Whether the node takes work, with GPUs that are divided as they should be."""
    found = nodes(caller).get("g1")
    if found is None or found["mig"] is not None or not found["takes_leases"]:
        return False
    return [gpu["partitionable"] for gpu in found["gpus"]] == wanted
