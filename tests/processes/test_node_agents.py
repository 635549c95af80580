"""Two agents and a server as real processes: jobs run where they land, and each effect once.

What judges is not the product: jobs write down themselves that they ran.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from tests.processes.caller import HttpCaller
from tests.processes.harness import Server, running
from tests.processes.node_agents import Agent, agents
from tests.support.waiting import until

TENANT = {"tenant": "main", "project": "default"}


def submit(caller: HttpCaller, node: str, text: str, *, key: str) -> int:
    body: dict[str, Any] = TENANT | {
        "command": ["/bin/sh", "-c", text],
        "resources": {"cpu_milli": 100, "mem_bytes": 2**28},
        "labels": ["executor=node", f"site={node}"],
        "ttl_ms": 600_000,
    }
    return int(caller.ask("POST", "/v1/jobs", body, key=key)["job_id"])


def phase(caller: HttpCaller, job_id: int, *wanted: str) -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        found: dict[str, Any] = caller.ask("GET", f"/v1/jobs/{job_id}")
        return found if found["phase"] in wanted else None

    return until(look, f"job {job_id} is {' or '.join(wanted)}")


def output(caller: HttpCaller, job_id: int) -> str:
    found = caller.ask("GET", f"/v1/jobs/{job_id}/output")
    return base64.b64decode(found["data"]).decode()


def work_of(agent: Agent, job: dict[str, Any]) -> Path:
    """The folder in which a job runs: what it leaves there can be seen from outside."""
    return agent.folder / "jobs" / str(job["lease_id"]) / "work"


def test_jobs_run_where_they_land_and_outlive_their_agent_and_the_server(tmp_path: Path) -> None:
    server = Server(tmp_path, "one", "--data-dir", str(tmp_path / "data"))
    wait = "until [ -e go ]; do sleep 0.05; done"
    with running(server), server.client() as caller, agents(server, tmp_path, caller) as both:
        first = submit(caller, "n1", f"echo one >> mark; echo begun; {wait}; echo done", key="a")
        other = submit(caller, "n2", "echo two >> mark; exit 3", key="b")
        stays = submit(caller, "n2", "echo three >> mark; sleep 1000", key="c")
        places = {"two": work_of(both[1], phase(caller, other, "failed"))}
        assert caller.ask("GET", f"/v1/jobs/{other}")["exit_code"] == 3
        begun = phase(caller, first, "running")
        assert begun["node"] == "n1"
        places["one"] = work_of(both[0], begun)
        until(lambda: "begun" in output(caller, first), "its output comes while it runs")
        places["three"] = work_of(both[1], phase(caller, stays, "running"))
        both[0].kill9()
        server.kill9()
        server.start()
        both[0].start()
        caller.ask("DELETE", f"/v1/jobs/{stays}", key="cancel")
        phase(caller, stays, "cancelled")
        (places["one"] / "go").touch()
        assert phase(caller, first, "succeeded")["exit_code"] == 0
        assert output(caller, first) == "begun\ndone\n"
        again = submit(caller, "n1", "echo $BAILIWICK_SERVER", key="d")
        phase(caller, again, "succeeded")
        assert output(caller, again) == f"{server.address}\n"
        for word, place in places.items():
            assert (place / "mark").read_text() == f"{word}\n", "its effect happened once"
